"""Reads numbers from a part of a file, and writes them; what is missing is an error at its byte."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xtile.dialects.cuda_tile.bytecode.tables import PADDING_BYTE
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import Source


def error_at_byte(source: Source, offset: int, section: str, message: str) -> DiagnosticError:
    """An error at a byte of a section."""
    text = f"byte {offset} ({section}): {message}"
    return DiagnosticError([Diagnostic(Severity.ERROR, text, source, None)])


MAXIMUM_VARINT_BITS = 64
MAXIMUM_VARINT = (1 << MAXIMUM_VARINT_BITS) - 1


class ByteReader:
    """A location in a part of a file.

    Args:
        source: The file, for messages.
        data: All of its bytes.
        position: Where the part begins.
        end: Where it ends.
        section: What messages call the part.
    """

    __slots__ = ("data", "end", "position", "section", "source")

    def __init__(self, source: Source, data: bytes, position: int, end: int, section: str) -> None:
        self.source = source
        self.data = data
        self.position = position
        self.end = end
        self.section = section

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        return self.end - self.position

    def error(self, message: str, offset: int | None = None) -> DiagnosticError:
        """An error here, or at another byte."""
        position = self.position if offset is None else offset
        return error_at_byte(self.source, position, self.section, message)

    def part(self, length: int, section: str | None = None) -> ByteReader:
        """Skips as many bytes, and returns what reads them alone.

        Raises:
            DiagnosticError: There are not as many.
        """
        start = self.position
        self.skip(length)
        return ByteReader(self.source, self.data, start, self.position, section or self.section)

    def skip(self, length: int) -> None:
        """Skips bytes.

        Raises:
            DiagnosticError: There are not as many.
        """
        if length > self.end - self.position:
            raise self.error(f"expected {length} more bytes, but only {self.remaining} are left")
        self.position += length

    def byte(self) -> int:
        """Reads a byte.

        Raises:
            DiagnosticError: There is none.
        """
        position = self.position
        if position >= self.end:
            raise self.error("expected another byte, but the data ends here")
        self.position = position + 1
        return self.data[position]

    def varint(self) -> int:
        """Reads a number of 7 bits a byte, of which all but the last have the high bit.

        Bits above the 64th in the tenth byte are lost, as in NVIDIA's reader.

        Raises:
            DiagnosticError: It does not end, or has more than ten bytes.
        """
        position = self.position
        if position < self.end and (value := self.data[position]) < 0x80:
            self.position = position + 1
            return value
        return self._long_varint() & MAXIMUM_VARINT

    def _long_varint(self) -> int:
        start = self.position
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift >= MAXIMUM_VARINT_BITS:
                raise self.error("a number has at most 64 bits", start)
        return value

    def signed_varint(self) -> int:
        """Reads a number whose lowest bit is its sign.

        Raises:
            DiagnosticError: It does not end, or has more than 64 bits.
        """
        return _signed(self.varint())

    def word(self) -> int:
        """Reads a word of 64 bits that was written as a number with a sign.

        cuTile's writer takes a word whose highest bit is set for a positive number of 65 bits.

        Raises:
            DiagnosticError: It does not end, or has more than ten bytes.
        """
        return _signed(self._long_varint()) & MAXIMUM_VARINT

    def fixed(self, size: int, *, signed: bool = False) -> int:
        """Reads a number of a fixed number of bytes, the lowest first.

        Raises:
            DiagnosticError: There are not as many.
        """
        start = self.position
        self.skip(size)
        return int.from_bytes(self.data[start : self.position], "little", signed=signed)

    def fixed_numbers(self, count: int, size: int, *, signed: bool = False) -> list[int]:
        """Reads numbers of a fixed number of bytes each.

        Raises:
            DiagnosticError: There are not as many.
        """
        start = self.position
        self.skip(count * size)
        data, convert = self.data, int.from_bytes
        positions = range(start, self.position, size)
        return [
            convert(data[position : position + size], "little", signed=signed)
            for position in positions
        ]

    def count(self, what: str, size: int = 1) -> int:
        """Reads how many things follow, which take at least `size` bytes each.

        Raises:
            DiagnosticError: The rest cannot hold as many.
        """
        start = self.position
        count = self.varint()
        if count * size > self.end - self.position:
            raise self.error(
                f"there are said to be {count} {what}, but only {self.remaining} bytes are left",
                start,
            )
        return count

    def align(self, alignment: int, origin: int) -> None:
        """Skips padding up to a multiple of bytes after `origin`.

        Raises:
            DiagnosticError: The data ends before.
        """
        self.skip(-(self.position - origin) % alignment)

    def expect_end(self, what: str) -> None:
        """Checks that nothing is left.

        Raises:
            DiagnosticError: Something is.
        """
        if self.position != self.end:
            raise self.error(f"{what} ends here, but {self.remaining} more bytes belong to it")


def _signed(value: int) -> int:
    """The number whose lowest bit is its sign."""
    return value >> 1 ^ -(value & 1)


def write_varint(out: bytearray, value: int) -> None:
    """Writes a number that is not negative, 7 bits a byte, the lowest first."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def write_signed_varint(out: bytearray, value: int) -> None:
    """Writes a number of 64 bits with its sign as the lowest bit."""
    write_varint(out, value << 1 if value >= 0 else ~(value << 1))


def write_numbers(out: bytearray, values: Sequence[int], size: int) -> None:
    """Writes how many numbers there are, and each in `size` bytes."""
    write_varint(out, len(values))
    for value in values:
        out += value.to_bytes(size, "little", signed=True)


def align(out: bytearray, alignment: int) -> None:
    """Fills up to a multiple of bytes."""
    out += bytes([PADDING_BYTE]) * (-len(out) % alignment)


def write_table(out: bytearray, entries: Sequence[bytes], offset_size: int) -> None:
    """Writes entries: how many, where each begins after the last offset, and what each holds."""
    write_varint(out, len(entries))
    align(out, offset_size)
    write_offsets(out, map(len, entries), offset_size)
    for entry in entries:
        out += entry


def write_offsets(out: bytearray, lengths: Iterable[int], size: int) -> int:
    """Writes where each of some things begins, and returns where the last one ends."""
    offset = 0
    for length in lengths:
        out += offset.to_bytes(size, "little")
        offset += length
    return offset
