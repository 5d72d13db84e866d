"""The names that `.ir` text defines, and where they are visible.

A name is visible in the region that defines it and in the regions within; it must not be defined
again there, but sibling regions may use it anew.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from xtile.dialects.tensorlang.assembly import Definition

NamedT = TypeVar("NamedT")


class NameTable(Generic[NamedT]):
    """Names and what they stand for: `%name` and its value, `$name` and its definition."""

    def __init__(self) -> None:
        self._visible: dict[str, tuple[NamedT, Definition]] = {}
        # For each region its names, and what they stand for outside of it.
        self._scopes: list[dict[str, tuple[NamedT, Definition] | None]] = [{}]

    def enter(self) -> None:
        """Opens a region."""
        self._scopes.append({})

    def leave(self) -> None:
        """Closes the innermost region and forgets its names."""
        for name, outer in self._scopes.pop().items():
            if outer is None:
                del self._visible[name]
            else:
                self._visible[name] = outer

    def get(self, name: str) -> NamedT | None:
        """What a visible name stands for."""
        entry = self._visible.get(name)
        return None if entry is None else entry[0]

    def define(self, definition: Definition, named: NamedT) -> Definition | None:
        """Makes a name visible; returns the earlier definition where there is one."""
        entry = self._visible.get(definition.name)
        if entry is not None:
            return entry[1]
        self._visible[definition.name] = (named, definition)
        self._scopes[-1][definition.name] = None
        return None

    def redefine(self, definition: Definition, named: NamedT) -> None:
        """Lets a visible name stand for something else until the end of the innermost region."""
        name = definition.name
        self._scopes[-1].setdefault(name, self._visible[name])
        self._visible[name] = (named, definition)
