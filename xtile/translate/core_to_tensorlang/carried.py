"""What loops and branches carry for values of the source.

Numbers are carried as they are. A pointer is the number of the element that it points to, a memref
the numbers that are not known, a vector of lanes its elements. A tile is memory that loops and
branches write: its buffer stands before them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from xdsl.ir import SSAValue

from xtile.dialects.core.attributes import Level
from xtile.rewrite.indices import Index
from xtile.translate.core_to_tensorlang.lowering import ONE_MEMORY, Lowering, Values
from xtile.translate.core_to_tensorlang.memory import (
    BlockOfMemory,
    Elements,
    Group,
    Memory,
    Pointer,
)
from xtile.translate.core_to_tensorlang.types import shape_of


class Carrier:
    """The values that a loop or a branch carries.

    Args:
        r: Where to emit; buffers of tiles are allocated there.
        init: What a loop begins with; nothing for a branch.
        results: What it gives.
    """

    def __init__(self, r: Lowering, init: Sequence[SSAValue], results: Sequence[SSAValue]) -> None:
        self._r = r
        self._results = results
        self._tiles = _tiles(r, init or results)
        self._last: list[Any] = []
        self.init = self.yielded(init)
        self.last: Values = self.init

    def begin(self, arguments: Sequence[SSAValue], values: Values) -> None:
        """Records what the arguments of a region are."""
        self._define(arguments, values)

    def yielded(self, old: Sequence[SSAValue]) -> Values:
        """The values to yield, after which buffers hold the tiles."""
        meanings = [self._r.meaning(value) for value in old]
        if self._tiles and meanings:
            from xtile.translate.core_to_tensorlang.tiles import overwrite, tile_of

            given = {i: tile_of(self._r, old[i]) for i in self._tiles}
            overwrite(self._r, [(self._tiles[i], given[i]) for i in self._tiles])
            for i, tile in given.items():
                meanings[i] = replace(self._tiles[i], root=tile.root)
        if self._last and meanings:
            self._check(meanings)
        self._last = meanings or self._last
        self.last = [value for each in meanings for value in self._flat(each)]
        return self.last

    def finish(self, values: Values) -> None:
        """Records what the results are."""
        self._define(self._results, values)

    def _check(self, meanings: Sequence[Any]) -> None:
        for before, now in zip(self._last, meanings, strict=True):
            for each in (before, now):
                if isinstance(each, Group):
                    raise self._r.error("a group of memrefs cannot pass through control flow")
            if getattr(before, "root", None) is not getattr(now, "root", None):
                raise self._r.error(ONE_MEMORY)

    def _flat(self, meaning: Any) -> list[SSAValue]:
        if isinstance(meaning, Pointer):
            return [self._r.as_value(meaning.offset)]
        if isinstance(meaning, Elements):
            return [value for each in meaning.values for value in self._flat(each)]
        if isinstance(meaning, BlockOfMemory):
            return [self._r.as_value(offset) for offset in meaning.offsets]
        if isinstance(meaning, Memory):
            sizes, strides = meaning.sizes(self._r), meaning.known_strides(self._r)
            return [self._r.as_value(each) for each in (meaning.offset(self._r), *sizes, *strides)]
        return [meaning] if isinstance(meaning, SSAValue) else []

    def _define(self, old: Sequence[SSAValue], values: Values) -> None:
        remaining = iter(values)
        for value, like in zip(old, self._last, strict=True):
            self._r.define(value, self._built(like, remaining))

    def _built(self, like: Any, remaining: Iterator[SSAValue]) -> Any:
        if isinstance(like, Pointer):
            return replace(like, offset=next(remaining))
        if isinstance(like, Elements):
            return replace(like, values=tuple(self._built(e, remaining) for e in like.values))
        if isinstance(like, BlockOfMemory):
            return replace(like, offsets=tuple(next(remaining) for _ in like.offsets))
        if isinstance(like, Memory):
            return _memory(like, remaining)
        return next(remaining) if isinstance(like, SSAValue) else like


def _memory(like: Memory, remaining: Iterator[SSAValue]) -> Memory:
    offset = next(remaining)
    sizes: tuple[Index, ...] = tuple(next(remaining) for _ in range(like.rank))
    strides = tuple(next(remaining) for _ in range(like.rank))

    def given_offset(r: Lowering) -> Index:
        return offset

    def given_sizes(r: Lowering) -> tuple[Index, ...]:
        return sizes

    return replace(like, offset=given_offset, sizes=given_sizes, strides=strides, view=None)


def _tiles(r: Lowering, values: Sequence[SSAValue]) -> dict[int, Any]:
    """A buffer for each value that is a tile, by its number."""
    if r.level is not Level.TILE or not any(shape_of(value.type) for value in values):
        return {}
    from xtile.translate.core_to_tensorlang.tiles import buffer_for

    return {
        number: buffer_for(r, value) for number, value in enumerate(values) if shape_of(value.type)
    }
