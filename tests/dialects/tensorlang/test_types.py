"""The types: what they know, what they refuse, and the order of promotion."""

from __future__ import annotations

import pytest
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from tests.dialects.tensorlang.round_trip import tensorlang_context
from xtile.dialects.tensorlang.attributes import AddressSpace, MatrixUse
from xtile.dialects.tensorlang.types import (
    BOOL,
    C32,
    C64,
    DYNAMIC,
    F16,
    F32,
    F64,
    I8,
    I32,
    INDEX,
    NUMBER_TYPES,
    SCALAR_TYPES,
    SIZE_IN_BYTES,
    CoopmatrixType,
    GroupType,
    MemrefType,
    VoidType,
    canonical_strides,
    component_type,
    is_cast_allowed,
    is_number,
    is_promotable,
    is_scalar,
    promote,
    real_part_type,
)

PROMOTION = """
       i8 i16 i32 i64 bf16 f16 f32 f64 c32 c64
i8      1   1   1   1    1   1   1   1   1   1
i16     .   1   1   1    .   .   1   1   1   1
i32     .   .   1   1    .   .   .   1   1   1
i64     .   .   .   1    .   .   .   .   .   .
bf16    .   .   .   .    1   .   1   1   1   1
f16     .   .   .   .    .   1   1   1   1   1
f32     .   .   .   .    .   .   1   1   1   1
f64     .   .   .   .    .   .   .   1   .   1
c32     .   .   .   .    .   .   .   .   1   1
c64     .   .   .   .    .   .   .   .   .   1
"""
"""The relation matrix of the reference, section "Scalar types"."""


def matrix_entries() -> list[tuple[str, str, bool]]:
    header, *rows = (line.split() for line in PROMOTION.strip().splitlines())
    return [
        (row[0], column, entry == "1")
        for row in rows
        for column, entry in zip(header, row[1:], strict=True)
    ]


@pytest.mark.parametrize(("source", "target", "expected"), matrix_entries())
def test_promotion(source: str, target: str, expected: bool) -> None:
    first, second = SCALAR_TYPES[source], SCALAR_TYPES[target]
    assert is_promotable(first, second) == expected
    if expected:
        assert promote(first, second) == promote(second, first) == second


@pytest.mark.parametrize("pair", [("bf16", "f16"), ("i64", "f64"), ("i16", "f16"), ("f64", "c32")])
def test_promotion_fails_both_ways(pair: tuple[str, str]) -> None:
    first, second = (SCALAR_TYPES[name] for name in pair)
    assert promote(first, second) is None
    assert promote(second, first) is None


def test_promotion_is_a_partial_order() -> None:
    numbers = NUMBER_TYPES.values()
    for a in numbers:
        assert is_promotable(a, a)
        for b in numbers:
            assert a == b or not (is_promotable(a, b) and is_promotable(b, a))


def test_bool_is_promotable_to_nothing() -> None:
    assert not any(is_promotable(BOOL, type) for type in SCALAR_TYPES.values())


def test_sizes() -> None:
    sizes = {name: SIZE_IN_BYTES[type] for name, type in NUMBER_TYPES.items()}
    assert sizes == {
        "i8": 1,
        "i16": 2,
        "i32": 4,
        "i64": 8,
        "index": 8,
        "bf16": 2,
        "f16": 2,
        "f32": 4,
        "f64": 8,
        "c32": 8,
        "c64": 16,
    }


def test_kinds_of_scalars() -> None:
    assert is_scalar(BOOL)
    assert not is_number(BOOL)
    assert all(is_scalar(type) and is_number(type) for type in NUMBER_TYPES.values())
    assert not is_scalar(MemrefType.get(F32))
    assert [real_part_type(type) for type in (C32, C64, F16, I8)] == [F32, F64, F16, I8]


@pytest.mark.parametrize(
    ("source", "target", "allowed"),
    [
        (I8, INDEX, True),
        (F64, I8, True),
        (I32, C32, True),
        (F32, C64, True),
        (C32, C64, True),
        (C64, C32, True),
        (C32, F32, False),
        (C64, I32, False),
        (BOOL, I32, False),
        (I32, BOOL, False),
    ],
)
def test_casts(source: Attribute, target: Attribute, allowed: bool) -> None:
    assert is_cast_allowed(source, target) == allowed


@pytest.mark.parametrize(
    ("shape", "strides"),
    [
        ((), ()),
        ((7,), (1,)),
        ((5, 6, 7), (1, 5, 30)),
        ((DYNAMIC,), (1,)),
        ((4, DYNAMIC, 8), (1, 4, DYNAMIC)),
        ((DYNAMIC, 4, 8), (1, DYNAMIC, DYNAMIC)),
    ],
)
def test_canonical_strides(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    assert canonical_strides(shape) == strides
    type = MemrefType.get(F32, shape)
    assert type.strides == strides
    assert type.is_packed
    assert type == MemrefType.get(F32, shape, strides)


def test_a_memref_knows_its_parts() -> None:
    type = MemrefType.get(C32, (4, DYNAMIC), (2, 16), AddressSpace.LOCAL)
    assert (type.order, type.shape, type.strides) == (2, (4, DYNAMIC), (2, 16))
    assert (type.element_type, type.address_space) == (C32, AddressSpace.LOCAL)
    assert not type.is_packed
    assert not type.has_static_shape
    assert type.allocated_elements is None


@pytest.mark.parametrize(
    ("type", "count"),
    [
        (MemrefType.get(F64), 1),
        (MemrefType.get(F32, (4, 8)), 32),
        (MemrefType.get(F32, (4, 8), (1, 10)), 80),
        (MemrefType.get(F32, (4,), (3,)), 12),
        (MemrefType.get(F32, (4, 1), (1, 48)), 48),
        (MemrefType.get(F32, (0, 4)), 0),
        (MemrefType.get(F32, (4, 8), (1, DYNAMIC)), None),
    ],
)
def test_allocated_elements(type: MemrefType, count: int | None) -> None:
    assert type.allocated_elements == count


def test_a_group_and_a_coopmatrix_know_their_parts() -> None:
    element = MemrefType.get(F32, (4,))
    group = GroupType.get(element, 3, DYNAMIC)
    assert (group.element, group.size, group.offset) == (element, 3, DYNAMIC)
    matrix = CoopmatrixType.get(I8, 8, 16, MatrixUse.B)
    assert (matrix.shape, matrix.rows, matrix.columns) == ((8, 16), 8, 16)
    assert (matrix.use, component_type(matrix), component_type(F32)) == (MatrixUse.B, I8, F32)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("memref<4xi1>", "a memref holds numbers, but its element type is bool"),
        ("memref<4xi7>", "a memref holds numbers, but its element type is i7"),
        ("memref<4xf32, strided<0>>", "stride S_1 is 0 but must be at least 1 (1 <= S_1)"),
        (
            "memref<4x8xf32, strided<1, 3>>",
            "stride S_2 is 3 but must be at least 4 (S_1 s_1 <= S_2)",
        ),
        (
            "memref<4x?x8xf32, strided<2, ?, 1>>",
            None,
        ),
        (
            "memref<4xf32, strided<1, 4>>",
            ("the shape has 1 modes but 2 strides are given; write one stride for each mode"),
        ),
        ("group<f32 x 4>", "a group collects memrefs, but its entry is f32"),
        (
            "group<!tensorlang.memref<f32> x -3>",
            "group size -3 is negative; write a size or '?'",
        ),
        (
            "group<!tensorlang.memref<f32> x ?, offset: -3>",
            "group offset -3 is negative; write 0 or more",
        ),
        (
            "coopmatrix<4x4xi1, matrix_a>",
            "a coopmatrix holds numbers, but its component type is bool",
        ),
        ("coopmatrix<4xf32, matrix_a>", "a coopmatrix has two modes: rows and columns"),
        ("coopmatrix<0x4xf32, matrix_a>", "coopmatrix mode size 0 must be at least 1"),
        (
            "coopmatrix<4x?xf32, matrix_a>",
            "a coopmatrix has no dynamic modes; write sizes in place of '?'",
        ),
    ],
)
def test_types_refuse(text: str, message: str | None) -> None:
    parser = Parser(tensorlang_context(), f"!tensorlang.{text}")
    if message is None:
        assert str(parser.parse_type()) == f"!tensorlang.{text}"
        return
    with pytest.raises((ParseError, VerifyException)) as error:
        parser.parse_type()
    assert message in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "memref<f32>",
        "memref<4x?xf32>",
        "memref<4x?xf32, strided<1, 8>, local>",
        "memref<complex<f32>, local>",
        "group<!tensorlang.memref<4xf32> x ?, offset: ?>",
        "group<!tensorlang.memref<4xf32> x 8>",
        "coopmatrix<16x8xbf16, matrix_acc>",
        "void",
    ],
)
def test_mlir_text(text: str) -> None:
    type = Parser(tensorlang_context(), f"!tensorlang.{text}").parse_type()
    assert str(type) == f"!tensorlang.{text}"
    assert (type == VoidType()) == (text == "void")
