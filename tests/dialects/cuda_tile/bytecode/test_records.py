"""The layouts that are derived from the classes, against the functions of NVIDIA's own writer.

cuda-tile has a function for each operation, generated from the same description as the dialect.
Each one writes what the record writes, byte by byte, for every version.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from enum import Enum
from struct import pack
from typing import Any, NamedTuple

import pytest
from cuda.tile._bytecode import attribute as cutile_attributes
from cuda.tile._bytecode import encodings
from cuda.tile._bytecode.basic import StringTable
from cuda.tile._bytecode.code_builder import CodeBuilder, Value
from cuda.tile._bytecode.constant import ConstantTable
from cuda.tile._bytecode.type import TypeId
from cuda.tile._bytecode.version import BytecodeVersion
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Region
from xdsl.irdl import OptionalDef

from xtile.dialects.cuda_tile.attributes import DivByAttr, OptimizationHintsAttr
from xtile.dialects.cuda_tile.bytecode import property_codecs as codecs
from xtile.dialects.cuda_tile.bytecode.attribute_encoder import AttributeWriter
from xtile.dialects.cuda_tile.bytecode.debug_encoder import DebugWriter
from xtile.dialects.cuda_tile.bytecode.operation_encoder import FunctionWriter
from xtile.dialects.cuda_tile.bytecode.records import Record, operations, record_of
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.cuda_tile.versions import V13_5, VERSIONS, Version
from xtile.text.diagnostics import DiagnosticError
from xtile.text.mlir_attributes import dense_elements

RENAMED = {"PowOp": "FPowFOp"}
"""What cuda-tile 1.7.0 calls an operation otherwise."""

ALIASES = {"operands": ("arguments", "sources")}
"""What the classes call operands otherwise, because xDSL's classes have these names."""

TILE = TileType([2], f32)
ARGUMENTS = 12
DATA = pack("<2f", 1.5, -2.5)


class Sample(NamedTuple):
    """A property, and what cuda-tile is given for it; an enumeration by the number."""

    ours: Attribute
    theirs: Any


LATENCY = cutile_attributes.Integer(TypeId(2), 32, 3)
"""The number 3; the types tile<2xf32>, f32 and i32 have the numbers 1, 0 and 2."""


def hints_sample() -> Sample:
    """Optimization hints."""
    ours = DictionaryAttr({"default": DictionaryAttr({"latency": IntegerAttr(3, i32)})})
    dictionary = cutile_attributes.Dictionary([("latency", LATENCY)])
    theirs = cutile_attributes.OptimizationHints([("default", dictionary)])
    return Sample(OptimizationHintsAttr(ours), theirs)


SAMPLES: dict[type[codecs.Codec], Sample] = {
    codecs.ArrayCodec: Sample(ArrayAttr([IntegerAttr(3, i32)]), [LATENCY]),
    codecs.BooleansCodec: Sample(DenseArrayBase.from_list(i1, [1, 0]), [True, False]),
    codecs.ElementsCodec: Sample(dense_elements(TILE, DATA), DATA),
    codecs.FlagCodec: Sample(UnitAttr(), True),
    codecs.HintsCodec: hints_sample(),
    codecs.NumbersCodec: Sample(DenseArrayBase.from_list(i32, [0, 1]), [0, 1]),
    codecs.PredicateCodec: Sample(DivByAttr(16, 4, 1), cutile_attributes.DivBy(16, 4, 1)),
    codecs.StringCodec: Sample(StringAttr("some text"), "some text"),
    codecs.SymbolCodec: Sample(SymbolRefAttr("name"), "name"),
}


def sample(codec: codecs.Codec, member: int) -> Sample:
    """A property of a kind; of an enumeration the member with a number."""
    match codec:
        case codecs.MemberCodec():
            return Sample(codec.members[member], member)
        case codecs.IntegerCodec():
            return Sample(IntegerAttr(1, codec.type), 1)
        case _:
            return SAMPLES[type(codec)]


def key(name: str) -> str:
    """A name without what the two spell differently."""
    return name.replace("_", "").lower()


class Case:
    """An operation with everything that may be left out, or without it.

    Args:
        record: The layout of the operation in the newest version.
        is_full: Whether everything is there.
    """

    def __init__(self, record: Record, is_full: bool) -> None:
        self.record = record
        self.block = Block(arg_types=[TILE] * ARGUMENTS)
        self.theirs: dict[str, Any] = {}
        sizes: list[int] = []
        operands = dict(record.definition.get_irdl_definition().operands)
        for field in record.operands:
            is_optional = isinstance(operands[field.name], OptionalDef)
            sizes.append(self._size(is_optional, field.is_variadic, is_full))
            first = sum(sizes[:-1])
            values = [Value(number) for number in range(first, first + sizes[-1])]
            single = values[0] if values else None
            is_group = field.is_variadic and not is_optional
            self.theirs[key(field.name)] = values if is_group else single
        properties: dict[str, Attribute] = {}
        for property in record.properties:
            # Only rounding to nearest even is as old as conversions of floats.
            member = 0 if record.definition.__name__ == "FToFOp" else 1
            ours, theirs = sample(property.codec, member)
            is_bounds = isinstance(property.codec, codecs.BooleansCodec)
            is_there = is_full or (property.bit is None and not is_bounds)
            self.theirs[key(property.name)] = theirs if is_there else [] if is_bounds else None
            if is_there:
                properties[property.name] = ours
        if record.is_segmented:
            properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, sizes)
        definition = record.definition
        model = definition.get_irdl_definition()
        counts = [
            2 if type(result).__name__ == "VarResultDef" else 1 for _, result in model.results
        ]
        self.results = counts
        operation = definition.create(
            operands=self.block.args[: sum(sizes)],
            result_types=[TILE] * sum(counts),
            properties=properties,
            regions=[Region() for _ in range(record.regions)],
        )
        self.block.add_op(operation)

    @staticmethod
    def _size(is_optional: bool, is_variadic: bool, is_full: bool) -> int:
        if is_optional:
            return int(is_full)
        return (2 if is_full else 0) if is_variadic else 1

    def our_bytes(self, version: Version) -> bytes:
        """What this package writes."""
        attributes = AttributeWriter(version)
        for type in (f32, TILE, i32):
            attributes.types.index(type)
        debug = DebugWriter(attributes.strings, version)
        return bytes(FunctionWriter(attributes, debug).body(self.block))

    def their_bytes(self, version: Version) -> bytes:
        """What cuda-tile writes; our regions without blocks are added."""
        name = self.record.definition.__name__
        function = getattr(encodings, f"encode_{RENAMED.get(name, name)}")
        builder = CodeBuilder(
            bytearray(),
            BytecodeVersion(version.major * 10_000 + version.minor * 100),
            StringTable(),
            ConstantTable(),
            [],
            ARGUMENTS,
        )
        function(builder, **self._arguments(function, version))
        return bytes(builder.buf) + bytes(self.record.regions)

    def _arguments(self, function: Callable[..., object], version: Version) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
            kind = parameter.annotation
            if kind == TypeId:
                arguments[name] = TypeId(1)
            elif "TypeId" in str(kind):
                late = record_of(self.record.definition, version).late_results
                optional = None if late else TypeId(1)
                arguments[name] = (
                    optional if "Optional" in str(kind) else [TypeId(1)] * sum(self.results)
                )
            else:
                arguments[name] = self._value(name, kind)
        return arguments

    def _value(self, name: str, kind: Any) -> Any:
        names = map(key, (name, f"is_{name}", *ALIASES.get(name, ())))
        value = next((self.theirs[part] for part in names if part in self.theirs), ...)
        assert value is not ..., f"no field for {name}"
        kinds = [kind, *getattr(kind, "__args__", ())]
        members = [part for part in kinds if isinstance(part, type) and issubclass(part, Enum)]
        return members[0](bytes([value])) if members and value is not None else value


@pytest.mark.parametrize("is_full", [False, True], ids=["bare", "full"])
@pytest.mark.parametrize("definition", operations(), ids=lambda definition: definition.__name__)
def test_record(definition: type[CudaTileOperation], is_full: bool) -> None:
    """Both write the same bytes, or both refuse."""
    case = Case(record_of(definition, V13_5), is_full)
    written = 0
    for version in VERSIONS:
        if version < definition.SINCE:
            with pytest.raises(DiagnosticError, match=f"needs version {definition.SINCE}"):
                case.our_bytes(version)
            continue
        try:
            expected = case.their_bytes(version)
        except (AssertionError, ValueError):
            with pytest.raises(DiagnosticError, match=r"needs version 13\.\d of CUDA Tile IR"):
                case.our_bytes(version)
            continue
        assert case.our_bytes(version) == expected, f"version {version}"
        written += 1
    assert written


def test_every_operation() -> None:
    """No two operations share an opcode, and the list is not empty."""
    opcodes = [definition.OPCODE for definition in operations()]
    assert len(opcodes) == len(set(opcodes)) > 0
