"""The numbers that the ids of assembler text get."""

from __future__ import annotations

from collections.abc import Iterable


class AssemblyIds:
    """Numbers names in the order in which they first appear.

    Args:
        preserved: Names that keep their number if they are one.
    """

    def __init__(self, preserved: Iterable[str]) -> None:
        self.bound = 1
        """One more than the largest id."""
        numbers = map(_number, preserved)
        self._preserved = {number for number in numbers if number is not None}
        self._ids: dict[str, int] = {}
        self._next = 1

    def of(self, name: str) -> int:
        """The number of a name."""
        found = self._ids.get(name)
        if found is None:
            number = _number(name)
            found = number if number in self._preserved else None
            found = self._ids[name] = found or self._new()
            self.bound = max(self.bound, found + 1)
        return found

    def _new(self) -> int:
        while self._next in self._preserved:
            self._next += 1
        self._next += 1
        return self._next - 1


def _number(name: str) -> int | None:
    """The number that a name is, if it can be an id."""
    if not name.isascii() or not name.isdigit() or name[0] == "0" or len(name) > 10:
        return None
    number = int(name)
    return number if number < (1 << 32) - 1 else None
