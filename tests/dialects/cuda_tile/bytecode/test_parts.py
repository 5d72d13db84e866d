"""Numbers, types, attributes and constants, against NVIDIA's own writer and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from cuda.tile._bytecode import attribute as cutile
from cuda.tile._bytecode.basic import (
    StringTable,
    encode_int_list,
    encode_signed_varint,
    encode_varint,
)
from cuda.tile._bytecode.float import float_to_bits
from cuda.tile._bytecode.type import (
    PaddingValue as TheirPadding,
)
from cuda.tile._bytecode.type import PtrAttr, SimpleType, TypeTable
from cuda.tile._bytecode.version import BytecodeVersion
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    DictionaryAttr,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    FloatAttr,
    FloatTF32Type,
    IntegerAttr,
    IntegerType,
    StringAttr,
    f16,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute

from xtile.dialects.cuda_tile.attributes import (
    BoundedAttr,
    DivByAttr,
    OptimizationHintsAttr,
    SameElementsAttr,
)
from xtile.dialects.cuda_tile.bytecode.attribute_decoder import AttributeReader
from xtile.dialects.cuda_tile.bytecode.attribute_encoder import AttributeWriter
from xtile.dialects.cuda_tile.bytecode.byte_streams import (
    ByteReader,
    write_numbers,
    write_signed_varint,
    write_varint,
)
from xtile.dialects.cuda_tile.bytecode.constants import ConstantReader, raw_bytes
from xtile.dialects.cuda_tile.bytecode.string_table import StringReader
from xtile.dialects.cuda_tile.bytecode.type_decoder import TypeReader
from xtile.dialects.cuda_tile.bytecode.type_encoder import TypeWriter, UnwritableError
from xtile.dialects.cuda_tile.constants import constant_attribute
from xtile.dialects.cuda_tile.enumerations import PaddingValue, number_of
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TokenType,
)
from xtile.dialects.cuda_tile.versions import V13_1, V13_2, V13_3, VERSIONS, Version
from xtile.text.source import Source

INT64 = st.integers(-(1 << 63), (1 << 63) - 1)


def reader(data: bytes) -> ByteReader:
    """What reads bytes."""
    return ByteReader(Source("k.tileirbc", ""), data, 0, len(data), "Test")


# --- numbers ---


@given(st.integers(0, (1 << 64) - 1))
def test_varints(value: int) -> None:
    ours, theirs = bytearray(), bytearray()
    write_varint(ours, value)
    encode_varint(value, theirs)
    assert ours == theirs
    assert reader(bytes(ours)).varint() == value


@given(INT64)
def test_signed_varints(value: int) -> None:
    ours, theirs = bytearray(), bytearray()
    write_signed_varint(ours, value)
    encode_signed_varint(value, theirs)
    assert ours == theirs
    assert reader(bytes(ours)).signed_varint() == value


@given(st.lists(INT64))
def test_numbers_of_fixed_size(values: list[int]) -> None:
    ours, theirs = bytearray(), bytearray()
    write_numbers(ours, values, 8)
    encode_int_list(values, 8, theirs)
    assert ours == theirs
    again = reader(bytes(ours))
    assert again.fixed_numbers(again.varint(), 8, signed=True) == values


# --- types ---

TENSOR = TensorViewType(f16, [DYNAMIC_INDEX, 64], [DYNAMIC_INDEX, 1])

SIMPLE: dict[Attribute, tuple[SimpleType, Version]] = {
    i1: (SimpleType.I1, V13_1),
    i8: (SimpleType.I8, V13_1),
    IntegerType(16): (SimpleType.I16, V13_1),
    i32: (SimpleType.I32, V13_1),
    i64: (SimpleType.I64, V13_1),
    f16: (SimpleType.F16, V13_1),
    BFloat16Type(): (SimpleType.BF16, V13_1),
    f32: (SimpleType.F32, V13_1),
    FloatTF32Type(): (SimpleType.TF32, V13_1),
    f64: (SimpleType.F64, V13_1),
    Float8E4M3FNType(): (SimpleType.F8E4M3FN, V13_1),
    Float8E5M2Type(): (SimpleType.F8E5M2, V13_1),
    TokenType(): (SimpleType.Token, V13_1),
    Float8E8M0FNUType(): (SimpleType.F8E8M0FNU, V13_2),
    Float4E2M1FNType(): (SimpleType.F4E2M1FN, V13_3),
    IntegerType(4): (SimpleType.I4, V13_3),
}


def their_padding(padding: PaddingValue | None) -> TheirPadding:
    """What cuda-tile calls a padding value."""
    return TheirPadding.Missing if padding is None else TheirPadding(bytes([number_of(padding)]))


def their_type(table: TypeTable, type: Attribute) -> Any:
    """The number of a type in cuda-tile's table, which writes it."""
    match type:
        case PointerType():
            return table.pointer(their_type(table, type.pointee_type), PtrAttr.Missing)
        case TileType():
            return table.tile(their_type(table, type.element_type), type.get_shape())
        case TensorViewType():
            element = their_type(table, type.element_type)
            return table.tensor_view(element, type.get_shape(), type.get_strides(), PtrAttr.Missing)
        case PartitionViewType() | StridedViewType() | GatherScatterViewType():
            return their_view(table, type)
        case _:
            return table.simple(SIMPLE[type][0])


def their_view(
    table: TypeTable, type: PartitionViewType | StridedViewType | GatherScatterViewType
) -> Any:
    """The number of a view in cuda-tile's table."""
    tensor, padding = their_type(table, type.tensor_view), their_padding(type.padding)
    tile = type.get_tile_shape()
    if isinstance(type, GatherScatterViewType):
        return table.gather_scatter_view(tile, tensor, type.sparse_dim.data, padding)
    order = type.get_dim_map()
    if isinstance(type, PartitionViewType):
        return table.partition_view(tile, tensor, order, padding)
    return table.strided_view(tile, type.get_traversal_strides(), tensor, order, padding)


COMPOSITE = [
    PointerType(f32),
    TileType([], PointerType(i1)),
    TileType([4, 8], f32),
    TENSOR,
    TensorViewType(f32, [], []),
    PartitionViewType([4, 8], TENSOR),
    PartitionViewType([4, 8], TENSOR, [1, 0], PaddingValue.NEG_INF),
    StridedViewType([4, 8], [2, 3], TENSOR, None, PaddingValue.ZERO),
    StridedViewType([4, 8], [2, 3], TENSOR, [1, 0]),
    GatherScatterViewType([4, 8], TENSOR, 1, PaddingValue.NAN),
    GatherScatterViewType([4, 8], TENSOR, 0),
]


@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("type", [*SIMPLE, *COMPOSITE], ids=str)
def test_types(type: Attribute, version: Version) -> None:
    """Both write the same bytes, which are read as the same type; or the version lacks it."""
    writer = TypeWriter(version)
    # Their table begins with these.
    first = writer.index(i1), writer.index(i32)
    assert first == (0, 1)
    since = getattr(type, "SINCE", SIMPLE.get(type, (None, V13_1))[1])
    if version < since:
        with pytest.raises(UnwritableError, match=f"needs version {since} of CUDA Tile IR"):
            writer.index(type)
        return
    theirs = TypeTable(BytecodeVersion(version.major * 10_000 + version.minor * 100))
    index = writer.index(type)
    assert index == their_type(theirs, type).type_id
    section = writer.section()
    assert section.endswith(b"".join(theirs))
    assert TypeReader(reader(section), version).get(reader(bytes([index]))) == type


# --- attributes ---

MINUS_ZERO = FloatAttr(-0.0, f32)

ATTRIBUTES: list[tuple[Attribute, Callable[[TypeTable], Any]]] = [
    (IntegerAttr(3, i32), lambda types: cutile.Integer(types.I32, 32, 3)),
    (IntegerAttr(-3, i32), lambda types: cutile.Integer(types.I32, 32, -3)),
    (IntegerAttr(-3, i64), lambda types: cutile.Integer(types.I64, 64, -3)),
    (IntegerAttr(-128, i8), lambda types: cutile.Integer(types.simple(SimpleType.I8), 8, -128)),
    (IntegerAttr(1, i1), lambda types: cutile.Integer(types.I1, 1, 1)),
    (FloatAttr(1.5, f32), lambda types: cutile.Float(1.5, SimpleType.F32, types)),
    (MINUS_ZERO, lambda types: cutile.Float(-0.0, SimpleType.F32, types)),
    (FloatAttr(1e300, f64), lambda types: cutile.Float(1e300, SimpleType.F64, types)),
    (FloatAttr(float("inf"), f16), lambda types: cutile.Float(float("inf"), SimpleType.F16, types)),
    (
        FloatAttr(-448.0, Float8E4M3FNType()),
        lambda types: cutile.Float(-448.0, SimpleType.F8E4M3FN, types),
    ),
    (
        FloatAttr(3.5, FloatTF32Type()),
        lambda types: cutile.Float(3.5, SimpleType.TF32, types),
    ),
    (DivByAttr(16), lambda types: cutile.DivBy(16)),
    (DivByAttr(16, 4, 1), lambda types: cutile.DivBy(16, 4, 1)),
    (DivByAttr(1 << 63), lambda types: cutile.DivBy(1 << 63)),
    (BoundedAttr(None, None), lambda types: cutile.Bounded(None, None)),
    (BoundedAttr(-5, None), lambda types: cutile.Bounded(-5, None)),
    (BoundedAttr(-(1 << 63), 7), lambda types: cutile.Bounded(-(1 << 63), 7)),
    (
        ArrayAttr([IntegerAttr(3, i32), FloatAttr(1.5, f32)]),
        lambda types: cutile.AttributeArray(
            [cutile.Integer(types.I32, 32, 3), cutile.Float(1.5, SimpleType.F32, types)]
        ),
    ),
    (
        OptimizationHintsAttr(DictionaryAttr({"h": DictionaryAttr({"a": IntegerAttr(3, i32)})})),
        lambda types: cutile.OptimizationHints(
            [("h", cutile.Dictionary([("a", cutile.Integer(types.I32, 32, 3))]))]
        ),
    ),
]


def read_tagged(writer: AttributeWriter, data: bytes, version: Version = V13_3) -> Attribute:
    """Reads an attribute that was written."""
    strings = StringReader(reader(writer.strings.section()))
    types = TypeReader(reader(writer.types.section()), version)
    section = writer.constants.section()
    constants = ConstantReader(None if section is None else reader(section))
    return AttributeReader(strings, types, constants).read_tagged(reader(data))


@pytest.mark.parametrize(("ours", "theirs"), ATTRIBUTES, ids=[str(ours) for ours, _ in ATTRIBUTES])
def test_attributes(ours: Attribute, theirs: Callable[[TypeTable], Any]) -> None:
    """Both write the same bytes, which are read as the same attribute."""
    writer = AttributeWriter(V13_3)
    table = TypeTable(BytecodeVersion.V_13_3)
    expected = theirs(table)
    for type in (i1, i32, i8, i64, f32, f64, f16, Float8E4M3FNType(), FloatTF32Type()):
        # The numbers of their types, in their order.
        if SIMPLE[type][0].value in table:
            assert writer.types.index(type) == table[SIMPLE[type][0].value].type_id
    out, their_out = bytearray(), bytearray()
    writer.write_tagged(out, ours)
    expected.encode_tagged(StringTable(), their_out)
    assert out == their_out
    assert read_tagged(writer, bytes(out)) == ours


@pytest.mark.parametrize(
    "attribute",
    [
        FloatAttr(-1e300, f64),
        FloatAttr(float("-inf"), f64),
        SameElementsAttr([1, 4, 1 << 40]),
        StringAttr("naïve \\0"),
        f32,
        DictionaryAttr({"b": i32, "a": StringAttr("")}),
        constant_attribute(TileType([2], f32), [1.0, 2.0]),
    ],
    ids=str,
)
def test_attributes_that_cutile_does_not_write(attribute: Attribute) -> None:
    writer = AttributeWriter(V13_3)
    out = bytearray()
    writer.write_tagged(out, attribute)
    assert read_tagged(writer, bytes(out)) == attribute


def test_negative_doubles_of_cutile() -> None:
    """cuda-tile 1.7.0 writes 65 bits for these, of which NVIDIA's reader loses the last, a sign."""
    table = TypeTable(BytecodeVersion.V_13_3)
    writer = AttributeWriter(V13_3)
    theirs, ours = bytearray(), bytearray()
    number = cutile.Float(float("-inf"), SimpleType.F64, table)
    number.encode_tagged(StringTable(), theirs)
    for type in (i1, i32, f64):
        writer.types.index(type)
    writer.write_tagged(ours, FloatAttr(float("-inf"), f64))
    assert theirs != ours
    assert read_tagged(writer, bytes(theirs)) == FloatAttr(float("-inf"), f64)


# --- constants ---

NUMBERS = [type for type in SIMPLE if type not in (i1, TokenType())]


@pytest.mark.parametrize(
    ("type", "values", "expected"),
    [
        (TileType([], i1), [1], b"\xff"),
        (TileType([8], i1), [0], b"\x00"),
        (TileType([2], i1), [1, 0], b"\x01"),
        (TileType([16], i1), [1, 0, 1, 1, 0, 0, 0, 0] + [0] * 7 + [1], b"\x0d\x80"),
        (TileType([4], i8), [-1], b"\xff"),
        (TileType([2], i8), [-1, 127], b"\xff\x7f"),
        (TileType([2], i32), [1, -2], b"\x01\x00\x00\x00\xfe\xff\xff\xff"),
        (TileType([2], FloatTF32Type()), [1.0, -2.0], b"\x00\xfc\x01\x00\x00\x06"),
        (TileType([2], Float4E2M1FNType()), [0.5, -6.0], b"\x01\x0f"),
        (TileType([4], Float8E8M0FNUType()), [2.0], b"\x80"),
        (TileType([2], f16), [1.0, -2.0], b"\x00\x3c\x00\xc0"),
    ],
    ids=str,
)
def test_constants(type: TileType, values: list[float], expected: bytes) -> None:
    """The bytes are MLIR's, which pack i1 and round other widths up to bytes."""
    value = constant_attribute(type, values)
    assert raw_bytes(value) == expected
    writer = AttributeWriter(V13_3)
    index = writer.constants.index(value)
    section = writer.constants.section()
    assert section is not None
    assert ConstantReader(reader(section)).get(reader(bytes([index])), type) == value


@pytest.mark.parametrize("element", NUMBERS, ids=str)
def test_splats(element: Attribute) -> None:
    """One element stands for all that are equal, as in cuda-tile."""
    type = TileType([4], element)
    data = raw_bytes(constant_attribute(type, [2]))
    if isinstance(element, IntegerType):
        assert data == (2).to_bytes((element.width.data + 7) // 8, "little")
    else:
        assert int.from_bytes(data, "little") == float_to_bits(2.0, SIMPLE[element][0])
