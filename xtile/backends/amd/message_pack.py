"""Reading MessagePack, in which an hsaco says what it holds.

Source: MessagePack specification, section "Formats"; without extensions.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

_NUMBERS: Mapping[int, str] = {
    **dict(zip(range(0xCA, 0xCC), (">f", ">d"), strict=True)),
    **dict(zip(range(0xCC, 0xD0), (">B", ">H", ">I", ">Q"), strict=True)),
    **dict(zip(range(0xD0, 0xD4), (">b", ">h", ">i", ">q"), strict=True)),
}
_WORDS: Mapping[int, Any] = {0xC0: None, 0xC2: False, 0xC3: True}


def read_message(data: bytes) -> Any:
    """The value that bytes begin with.

    Raises:
        ValueError: It is cut off, or of a kind that is not known.
    """
    try:
        return _Reader(data).value()
    except (IndexError, struct.error):
        raise ValueError("it is cut off") from None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def value(self) -> Any:
        """The next value."""
        kind = self._number(">B")
        if kind <= 0x7F:
            return kind
        if kind >= 0xE0:
            return kind - 0x100
        if kind in _WORDS:
            return _WORDS[kind]
        if kind in _NUMBERS:
            return self._number(_NUMBERS[kind])
        if 0x80 <= kind <= 0x8F:
            return self._map(kind & 0x0F)
        if 0x90 <= kind <= 0x9F:
            return self._list(kind & 0x0F)
        if 0xA0 <= kind <= 0xBF:
            return self._text(kind & 0x1F)
        return self._counted(kind)

    def _counted(self, kind: int) -> Any:
        """A value whose size stands between its kind and itself."""
        readers: list[tuple[int, str, Callable[[int], Any]]] = [
            (0xC4, "BHI", self._bytes),
            (0xD9, "BHI", self._text),
            (0xDC, "HI", self._list),
            (0xDE, "HI", self._map),
        ]
        for first, sizes, read in readers:
            if first <= kind < first + len(sizes):
                return read(self._number(f">{sizes[kind - first]}"))
        raise ValueError(f"it has a value of the kind {kind:#x}")

    def _number(self, form: str) -> Any:
        (number,) = struct.unpack_from(form, self._data, self._position)
        self._position += struct.calcsize(form)
        return number

    def _bytes(self, size: int) -> bytes:
        end = self._position + size
        if end > len(self._data):
            raise IndexError
        found = self._data[self._position : end]
        self._position = end
        return found

    def _text(self, size: int) -> str:
        return self._bytes(size).decode()

    def _list(self, count: int) -> list[Any]:
        return [self.value() for _ in range(count)]

    def _map(self, count: int) -> dict[Any, Any]:
        return {self.value(): self.value() for _ in range(count)}
