"""Constants as bytes, and the section that holds them.

    Constant = count (varint), offsets (8 bytes each), constants
    constant = size (varint), elements

Elements stand in row-major order, each in as many bytes as its bits need: four bits take one byte
and tf32 takes three. Elements of i1 are packed, eight to a byte. Where all are equal, one stands
for all; for i1 that is the byte 0xFF or 0x00.

Source: NVIDIA/cuda-tile 13.3.0, `BytecodeWriter.cpp`, "Constant Section Management"; LLVM,
`DenseElementsAttr`, `isValidRawBuffer`.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from xtile.dialects.cuda_tile.bytecode.byte_streams import ByteReader, write_table, write_varint
from xtile.dialects.cuda_tile.bytecode.container import Entries, read_entries
from xtile.dialects.cuda_tile.types import TileType
from xtile.text.mlir_attributes import dense_elements
from xtile.text.mlir_numbers import Scalar, as_scalar, bit_width, from_mlir_bytes, mlir_bytes

_OFFSET_SIZE = 8

MAXIMUM_BYTES = 1 << 30
"""How many bytes the elements of all constants of a file may take; one byte of a file can stand
for 2^24 elements."""


def raw_bytes(value: DenseIntOrFPElementsAttr) -> bytes:
    """The elements of a constant as the file holds them."""
    element = cast("Scalar", value.get_element_type())
    data = value.data.data
    size = element.compile_time_size
    first = data[:size]
    if data != first * (len(data) // size):
        return mlir_bytes(element, data)
    if bit_width(element) == 1:
        return b"\xff" if any(first) else b"\x00"
    return mlir_bytes(element, first)


class ConstantWriter:
    """Collects constants in the order of their first use."""

    def __init__(self) -> None:
        self._indices: dict[DenseIntOrFPElementsAttr, int] = {}

    def index(self, value: DenseIntOrFPElementsAttr) -> int:
        """The number of a constant."""
        return self._indices.setdefault(value, len(self._indices))

    def section(self) -> bytes | None:
        """The contents of the section; None if there are no constants."""
        if not self._indices:
            return None
        entries: list[bytes] = []
        for value in self._indices:
            data = raw_bytes(value)
            entry = bytearray()
            write_varint(entry, len(data))
            entries.append(bytes(entry) + data)
        out = bytearray()
        write_table(out, entries, _OFFSET_SIZE)
        return bytes(out)


class ConstantReader:
    """The constants of a section.

    Args:
        section: The section; None if the file has none.

    Raises:
        DiagnosticError: The section is damaged.
    """

    def __init__(self, section: ByteReader | None) -> None:
        self._entries: Entries | None = None
        if section is not None:
            self._entries = read_entries(section, "constants", _OFFSET_SIZE, section.position)
        # By the type's identity, because hashing a type of many sizes takes its time.
        self._known: dict[tuple[int, int], DenseIntOrFPElementsAttr] = {}
        self._bytes_left = MAXIMUM_BYTES

    def get(self, reader: ByteReader, type: TileType) -> DenseIntOrFPElementsAttr:
        """Reads the number of a constant, and returns it as a constant of a type.

        Raises:
            DiagnosticError: There is no such constant, or it is none of the type.
        """
        start = reader.position
        index = reader.varint()
        key = (index, id(type))
        known = self._known.get(key)
        if known is not None:
            return known
        count = 0 if self._entries is None else len(self._entries.starts)
        if self._entries is None or index >= count:
            raise reader.error(f"there is no constant {index}; there are {count}", start)
        entry = self._entries.entry(index, "constant")
        value = self._known[key] = self._read(entry, index, type)
        return value

    def _read(self, entry: ByteReader, index: int, type: TileType) -> DenseIntOrFPElementsAttr:
        start = entry.position
        size = entry.count("bytes")
        data = entry.data[entry.position : entry.position + size]
        entry.skip(size)
        entry.expect_end(f"constant {index}")
        element = as_scalar(type.element_type)
        if element is None:
            raise entry.error(f"a constant holds numbers, no {type.element_type.name}", start)
        elements = type.number_of_elements
        self._bytes_left -= elements * element.compile_time_size
        if self._bytes_left < 0:
            raise entry.error(
                f"the constants of the file take more than {MAXIMUM_BYTES} bytes", start
            )
        stored = from_mlir_bytes(element, data, elements)
        if stored is None:
            raise entry.error(
                f"constant {index} has {size} bytes, which is neither one element nor {elements} "
                f"of {type.element_type.name}",
                start,
            )
        return dense_elements(type, stored)
