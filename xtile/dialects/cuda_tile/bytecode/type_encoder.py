"""Types as bytes.

    Type = count (varint), offsets (4 bytes each), types

A type names its parts by their numbers, and stands after them. A size or a stride that is known
at run time only is the lowest number of 64 bits, in MLIR and in xDSL too.

Source: NVIDIA/cuda-tile 13.3.0, `BytecodeTypeCodeGen.cpp`; for 13.4 the writer of cuda-tile 1.7.0.
"""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute

from xtile.dialects.cuda_tile.bytecode.byte_streams import (
    write_numbers,
    write_table,
    write_varint,
)
from xtile.dialects.cuda_tile.bytecode.tables import (
    POINTER_FLAGS_SINCE,
    SIMPLE_TYPES,
    UNIFIED_FLAGS_SINCE,
    TypeTag,
)
from xtile.dialects.cuda_tile.enumerations import number_of
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
)
from xtile.dialects.cuda_tile.versions import Version

OFFSET_SIZE = 4


class UnwritableError(Exception):
    """What is to be written has no bytes in a version; the message says what has."""


class TypeWriter:
    """Collects types in the order of their first use, parts before what they are parts of.

    Args:
        version: The version that is written.
    """

    def __init__(self, version: Version) -> None:
        self._version = version
        self._indices: dict[Attribute, int] = {}
        # By identity, with the type so that it lives: hashing a type takes its time.
        self._known: dict[int, tuple[int, Attribute]] = {}
        self._entries: list[bytes] = []

    def index(self, type: Attribute) -> int:
        """The number of a type.

        Raises:
            UnwritableError: The version lacks it.
        """
        known = self._known.get(id(type))
        if known is not None:
            return known[0]
        index = self._indices.get(type)
        if index is None:
            out = bytearray()
            self._write(type, out)
            index = self._indices[type] = len(self._entries)
            self._entries.append(bytes(out))
        self._known[id(type)] = (index, type)
        return index

    def section(self) -> bytes:
        """The contents of the section."""
        out = bytearray()
        write_table(out, self._entries, OFFSET_SIZE)
        return bytes(out)

    def _write(self, type: Attribute, out: bytearray) -> None:
        simple = _SIMPLE_TAGS.get(type)
        if simple is not None:
            tag, since = simple
            self._require(type, since)
            write_varint(out, tag)
            return
        since = getattr(type, "SINCE", None)
        if isinstance(since, Version):
            self._require(type, since)
        self._write_composite(type, out)

    def _require(self, type: Attribute, since: Version) -> None:
        if self._version < since:
            raise UnwritableError(
                f"the type {type} needs version {since} of CUDA Tile IR, but {self._version} is "
                "written"
            )

    def _write_composite(self, type: Attribute, out: bytearray) -> None:
        match type:
            case PointerType():
                out.append(TypeTag.POINTER)
                self._write_pointer_flags(out)
                write_varint(out, self.index(type.pointee_type))
            case TileType():
                out.append(TypeTag.TILE)
                write_varint(out, self.index(type.element_type))
                write_numbers(out, type.get_shape(), 8)
            case TensorViewType():
                self._write_tensor_view(type, out)
            case PartitionViewType() | StridedViewType() | GatherScatterViewType():
                self._write_tile_view(type, out)
            case FunctionType():
                out.append(TypeTag.FUNCTION)
                for types in (type.inputs, type.outputs):
                    write_varint(out, len(types))
                    for part in types:
                        write_varint(out, self.index(part))
            case _:
                raise UnwritableError(f"the type {type} is none of CUDA Tile IR")

    def _write_tensor_view(self, type: TensorViewType, out: bytearray) -> None:
        out.append(TypeTag.TENSOR_VIEW)
        self._write_pointer_flags(out)
        write_varint(out, self.index(type.element_type))
        write_numbers(out, type.get_shape(), 8)
        write_numbers(out, type.get_strides(), 8)

    def _write_tile_view(
        self, type: PartitionViewType | StridedViewType | GatherScatterViewType, out: bytearray
    ) -> None:
        out.append(_VIEW_TAGS[type.name])
        padding = type.padding
        if self._version >= UNIFIED_FLAGS_SINCE:
            out.append(padding is not None)
        write_numbers(out, type.get_tile_shape(), 4)
        if isinstance(type, StridedViewType):
            write_numbers(out, type.get_traversal_strides(), 4)
        write_varint(out, self.index(type.tensor_view))
        if isinstance(type, GatherScatterViewType):
            write_varint(out, type.sparse_dim.data)
        else:
            write_numbers(out, type.get_dim_map(), 4)
        if self._version < UNIFIED_FLAGS_SINCE:
            out.append(padding is not None)
        if padding is not None:
            write_varint(out, number_of(padding))

    def _write_pointer_flags(self, out: bytearray) -> None:
        if self._version >= POINTER_FLAGS_SINCE:
            out.append(0)


_SIMPLE_TAGS: dict[Attribute, tuple[int, Version]] = {
    type: (tag, since) for tag, (type, since) in SIMPLE_TYPES.items()
}

_VIEW_TAGS = {
    PartitionViewType.name: TypeTag.PARTITION_VIEW,
    StridedViewType.name: TypeTag.STRIDED_VIEW,
    GatherScatterViewType.name: TypeTag.GATHER_SCATTER_VIEW,
}
