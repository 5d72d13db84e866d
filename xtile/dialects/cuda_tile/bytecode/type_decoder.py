"""Types from bytes; `type_encoder.py` describes them.

Types are read when they are asked for. What a type may be a part of is so little that types
nest only finitely: functions hold tiles, tiles hold pointers, and pointers numbers.
"""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.bytecode.byte_streams import ByteReader
from xtile.dialects.cuda_tile.bytecode.container import Entries, read_entries
from xtile.dialects.cuda_tile.bytecode.tables import (
    POINTER_FLAGS_SINCE,
    SIMPLE_TYPES,
    UNIFIED_FLAGS_SINCE,
    TypeTag,
)
from xtile.dialects.cuda_tile.bytecode.type_encoder import OFFSET_SIZE
from xtile.dialects.cuda_tile.enumerations import PaddingValue
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
)
from xtile.dialects.cuda_tile.versions import Version

_TypeT = TypeVar("_TypeT", bound=Attribute)

_SINCE: dict[int, Version] = {
    TypeTag.POINTER: PointerType.SINCE,
    TypeTag.TILE: TileType.SINCE,
    TypeTag.TENSOR_VIEW: TensorViewType.SINCE,
    TypeTag.PARTITION_VIEW: PartitionViewType.SINCE,
    TypeTag.STRIDED_VIEW: StridedViewType.SINCE,
    TypeTag.GATHER_SCATTER_VIEW: GatherScatterViewType.SINCE,
}

_MAXIMUM_DEPTH = 8
"""How deep types are read into each other; what is right nests 4 deep."""


class TypeReader:
    """The types of a section.

    Args:
        section: The section; None if the file has none.
        version: The file's version.

    Raises:
        DiagnosticError: The section is damaged.
    """

    def __init__(self, section: ByteReader | None, version: Version) -> None:
        self._version = version
        self._entries: Entries | None = None
        if section is not None:
            self._entries = read_entries(section, "types", OFFSET_SIZE, section.position)
        self._known: dict[int, TypeAttribute] = {}
        self._depth = 0

    def get(self, reader: ByteReader) -> TypeAttribute:
        """Reads the number of a type, and returns the type.

        Raises:
            DiagnosticError: There is no such type, or it is damaged.
        """
        start = reader.position
        index = reader.varint()
        known = self._known.get(index)
        return self._load(reader, index, start) if known is None else known

    def get_of(self, reader: ByteReader, kind: type[_TypeT], what: str) -> _TypeT:
        """Reads the number of a type of one class.

        Raises:
            DiagnosticError: There is no such type, or it is damaged or of another class.
        """
        start = reader.position
        type = self.get(reader)
        if not isinstance(type, kind):
            raise reader.error(f"expected {what}, got {type.name}", start)
        return type

    def _load(self, reader: ByteReader, index: int, start: int) -> TypeAttribute:
        count = 0 if self._entries is None else len(self._entries.starts)
        if self._entries is None or index >= count:
            raise reader.error(f"there is no type {index}; there are {count}", start)
        if self._depth == _MAXIMUM_DEPTH:
            raise reader.error(f"type {index} contains itself", start)
        entry = self._entries.entry(index, "type")
        self._depth += 1
        type = self._read(entry, index)
        self._depth -= 1
        entry.expect_end(f"type {index}")
        self._known[index] = type
        return type

    def _read(self, entry: ByteReader, index: int) -> TypeAttribute:
        start = entry.position
        tag = entry.varint()
        simple = SIMPLE_TYPES.get(tag)
        since = _SINCE.get(tag, self._version) if simple is None else simple[1]
        if self._version < since:
            raise entry.error(
                f"type {index} needs version {since}, but the file has {self._version}", start
            )
        if simple is not None:
            return simple[0]
        try:
            return self._read_composite(entry, tag, start)
        except VerifyException as error:
            raise entry.error(f"type {index}: {error}", start) from None

    def _read_composite(self, entry: ByteReader, tag: int, start: int) -> TypeAttribute:
        match tag:
            case TypeTag.POINTER:
                self._read_pointer_flags(entry)
                return PointerType(self.get(entry))
            case TypeTag.TILE:
                element_type = self.get(entry)
                return TileType(_numbers(entry, 8), element_type)
            case TypeTag.TENSOR_VIEW:
                return self._read_tensor_view(entry)
            case TypeTag.PARTITION_VIEW | TypeTag.STRIDED_VIEW | TypeTag.GATHER_SCATTER_VIEW:
                return self._read_tile_view(entry, tag)
            case TypeTag.FUNCTION:
                return self._read_function(entry)
            case _:
                raise entry.error(f"there is no type with the tag {tag}", start)

    def _read_tensor_view(self, entry: ByteReader) -> TensorViewType:
        self._read_pointer_flags(entry)
        element_type = self.get(entry)
        shape = _numbers(entry, 8)
        return TensorViewType(element_type, shape, _numbers(entry, 8))

    def _read_tile_view(self, entry: ByteReader, tag: int) -> TypeAttribute:
        is_unified = self._version >= UNIFIED_FLAGS_SINCE
        has_padding = _flags(entry, 1) == 1 if is_unified else False
        tile = _numbers(entry, 4)
        strides = _numbers(entry, 4) if tag == TypeTag.STRIDED_VIEW else []
        tensor = self.get_of(entry, TensorViewType, "a tensor_view")
        if tag == TypeTag.GATHER_SCATTER_VIEW:
            sparse = entry.varint()
            padding = _padding(entry, is_unified, has_padding)
            return GatherScatterViewType(tile, tensor, sparse, padding)
        order = _numbers(entry, 4)
        padding = _padding(entry, is_unified, has_padding)
        if tag == TypeTag.STRIDED_VIEW:
            return StridedViewType(tile, strides, tensor, order, padding)
        return PartitionViewType(tile, tensor, order, padding)

    def _read_function(self, entry: ByteReader) -> FunctionType:
        parts: list[list[Attribute]] = []
        for what in ("parameters", "results"):
            types: list[Attribute] = []
            for _ in range(entry.count(what)):
                start = entry.position
                type = self.get(entry)
                if isinstance(type, FunctionType):
                    raise entry.error("a function is no parameter of a function", start)
                types.append(type)
            parts.append(types)
        return FunctionType.from_lists(*parts)

    def _read_pointer_flags(self, entry: ByteReader) -> None:
        if self._version >= POINTER_FLAGS_SINCE:
            _flags(entry, 0)


def _flags(entry: ByteReader, mask: int) -> int:
    """Reads flags of which only some are known.

    Raises:
        DiagnosticError: Another one is set.
    """
    start = entry.position
    flags = entry.varint()
    if flags & ~mask:
        raise entry.error(f"the flags are {flags:#x}; known are {mask:#x}", start)
    return flags


def _padding(entry: ByteReader, is_unified: bool, has_padding: bool) -> PaddingValue | None:
    if not is_unified:
        has_padding = entry.byte() != 0
    if not has_padding:
        return None
    start = entry.position
    number = entry.varint()
    values = list(PaddingValue)
    if number >= len(values):
        raise entry.error(f"there is no padding value {number}", start)
    return values[number]


def _numbers(entry: ByteReader, size: int) -> list[int]:
    return entry.fixed_numbers(entry.count("numbers", size), size, signed=True)
