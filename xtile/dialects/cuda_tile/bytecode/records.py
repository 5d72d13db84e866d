"""How each operation is laid out in the bytecode, which its class tells.

    operation = opcode, types of results, flags, properties, operands, regions

- Types of results: their number comes first if an operand or a result is variadic.
- Flags: a bit for each property and operand that may be left out, those of earlier versions
  first, and within a version the properties first. A property without contents is only there.
  They are left out where the version has nothing to tell.
- Operands: where several groups are variadic or optional, each variadic group has its number
  before it; where one is, the number of all operands comes first.
- Regions: their number, and for each the number of its blocks and the blocks.

Source: NVIDIA/cuda-tile 13.3.0, `tools/cuda-tile-tblgen/BytecodeGen.cpp`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    OpDef,
    OperandDef,
    OptionalDef,
    PropertyDef,
    ResultDef,
    VariadicDef,
)

from xtile.dialects.cuda_tile.bytecode.property_codecs import (
    BooleansCodec,
    Codec,
    codec_of,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.versions import Version


@dataclass(frozen=True, slots=True)
class PropertyField:
    """A property.

    Attributes:
        name: What the operation's `properties` call it.
        since: The version that it came in with.
        codec: What writes and reads it.
        bit: Its bit in the flags; None if it is always there.
        default: What it is where it is not said.
    """

    name: str
    since: Version
    codec: Codec
    bit: int | None
    default: Attribute | None


@dataclass(frozen=True, slots=True)
class ValueField:
    """A group of operands or results.

    Attributes:
        name: What the class calls it.
        since: The version that it came in with.
        bit: The bit of an optional operand in the flags; None if it has none.
        is_variadic: Whether there may be none or several of it.
    """

    name: str
    since: Version
    bit: int | None
    is_variadic: bool


@dataclass(frozen=True, slots=True)
class Record:
    """How an operation is laid out in one version.

    Attributes:
        definition: The operation's class.
        opcode: What the bytecode calls it.
        since: The version that the operation came in with.
        has_result_count: Whether the number of results comes before their types.
        results: The results that the version has.
        late_results: Those that it has not, which are the last ones.
        has_flags: Whether there are flags.
        mask: The flags that are known.
        properties: The properties that the version has.
        late_properties: Those that it has not.
        operands: All groups of operands.
        is_segmented: Whether each variadic group of operands has its number before it.
        has_operand_count: Whether the number of all operands comes before them.
        regions: How many regions there are.
        has_newer_uses: Whether what fields say may have come later than they.
    """

    definition: type[CudaTileOperation]
    opcode: int
    since: Version
    has_result_count: bool
    results: tuple[ValueField, ...]
    late_results: tuple[ValueField, ...]
    has_flags: bool
    mask: int
    properties: tuple[PropertyField, ...]
    late_properties: tuple[PropertyField, ...]
    operands: tuple[ValueField, ...]
    is_segmented: bool
    has_operand_count: bool
    regions: int
    has_newer_uses: bool

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.definition.name


@cache
def records_by_opcode(version: Version) -> dict[int, Record]:
    """The layouts of all operations in a version, those that came later included."""
    records = [record_of(definition, version) for definition in operations()]
    return {record.opcode: record for record in records}


TOP_LEVEL = ("cuda_tile.module", "cuda_tile.entry", "cuda_tile.global")
"""The operations that have sections of their own, and no records."""


@cache
def operations() -> tuple[type[CudaTileOperation], ...]:
    """The classes of the operations that stand in functions."""
    from xtile.dialects.cuda_tile.dialect import OPERATIONS

    known = cast("list[type[CudaTileOperation]]", OPERATIONS)
    return tuple(definition for definition in known if definition.name not in TOP_LEVEL)


@cache
def record_of(definition: type[CudaTileOperation], version: Version) -> Record:
    """The layout of an operation in a version."""
    model = definition.get_irdl_definition()
    is_segmented = any(isinstance(option, AttrSizedOperandSegments) for option in model.options)
    bits, flags_since = _bits(definition, model, is_segmented)
    results = [_result(definition, name) for name, _ in model.results]
    properties = [
        _property(definition, model, name, field, bits.get(name))
        for name, field in _properties(model)
    ]
    operands = [
        ValueField(name, _since(definition, name), bits.get(name), isinstance(field, VariadicDef))
        for name, field in model.operands
    ]
    values = (field for _, field in (*model.operands, *model.results))
    has_flags = flags_since is not None and version >= flags_since
    return Record(
        definition=definition,
        opcode=definition.OPCODE,
        since=definition.SINCE,
        has_result_count=any(_is_variadic(field) for field in values),
        results=tuple(field for field in results if version >= field.since),
        late_results=tuple(field for field in results if version < field.since),
        has_flags=has_flags,
        mask=sum(
            1 << field.bit
            for field in (*properties, *operands)
            if field.bit is not None and version >= field.since
        ),
        properties=tuple(field for field in properties if version >= field.since),
        late_properties=tuple(field for field in properties if version < field.since),
        operands=tuple(operands),
        is_segmented=is_segmented,
        has_operand_count=not is_segmented and any(field.is_variadic for field in operands),
        regions=len(model.regions),
        has_newer_uses=definition.newer_uses is not CudaTileOperation.newer_uses,
    )


def _is_variadic(field: OperandDef | ResultDef) -> bool:
    """Whether there may be any number of it; an optional one is not meant."""
    return isinstance(field, VariadicDef) and not isinstance(field, OptionalDef)


def _since(definition: type[CudaTileOperation], name: str) -> Version:
    return definition.SINCE_OF.get(name, definition.SINCE)


def _result(definition: type[CudaTileOperation], name: str) -> ValueField:
    return ValueField(name, _since(definition, name), None, False)


def _properties(model: OpDef) -> list[tuple[str, PropertyDef]]:
    """The properties that the bytecode has, in their order."""
    segments = AttrSizedOperandSegments.attribute_name
    return [item for item in model.properties.items() if item[0] != segments]


def _property(
    definition: type[CudaTileOperation],
    model: OpDef,
    name: str,
    field: PropertyDef,
    bit: int | None,
) -> PropertyField:
    since = _since_of_property(definition, model, name)
    return PropertyField(name, since, codec_of(field.constr), bit, field.default_value)


def _since_of_property(definition: type[CudaTileOperation], model: OpDef, name: str) -> Version:
    """Since when a property is there; its class may call it by another name."""
    accessors = [key for key, (value, _) in model.accessor_names.items() if value == name]
    for key in (name, *accessors):
        if key in definition.SINCE_OF:
            return definition.SINCE_OF[key]
    return definition.SINCE


def _bits(
    definition: type[CudaTileOperation], model: OpDef, is_segmented: bool
) -> tuple[dict[str, int], Version | None]:
    """The bits of what may be left out, and the version of the first of it."""
    optional = [
        (_since_of_property(definition, model, name), name)
        for name, field in _properties(model)
        if isinstance(field, OptionalDef)
        and field.default_value is None
        and not isinstance(codec_of(field.constr), BooleansCodec)
    ]
    if is_segmented:
        optional += [
            (_since(definition, name), name)
            for name, field in model.operands
            if isinstance(field, OptionalDef)
        ]
    optional.sort(key=_version)
    bits = {name: bit for bit, (_, name) in enumerate(optional)}
    return bits, optional[0][0] if optional else None


def _version(item: tuple[Version, str]) -> Version:
    return item[0]
