"""Finds memory that several arguments share although a kernel says `core.noalias`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import BlockArgument, Operation

from xtile.dialects.core.arguments import (
    NOALIAS_ATTRIBUTE,
    argument_of,
    is_noalias,
    leads_to_memory,
)
from xtile.dialects.effects import read_operands, written_operands
from xtile.dialects.gpu.functions import FuncOp
from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument
from xtile.semantics.memory import Buffer
from xtile.semantics.observer import Access, Launch
from xtile.semantics.sanitizer.memories import AccessedUnits, Memory


@dataclass
class _Through:
    """For each unit of memory the arguments that it was reached through, as bits.

    Attributes:
        unit: The bytes of a unit.
        accessed: By any access.
        written: By a write.
    """

    unit: int
    accessed: npt.NDArray[Any]
    written: npt.NDArray[Any]

    def split(self, unit: int) -> None:
        """Goes on with smaller units."""
        count, self.unit = self.unit // unit, unit
        if count > 1:
            self.accessed, self.written = self.accessed.repeat(count), self.written.repeat(count)


class Disjointness:
    """The promise of a launch's kernel that memory is written through one argument only."""

    def __init__(self, launch: Launch) -> None:
        function = launch.function
        arguments = function.arguments if isinstance(function, FuncOp) else ()
        memory = [each for each in arguments if leads_to_memory(each.type)]
        alone = [each for each in memory if is_noalias(each)]
        self._bits = {each: 1 << number for number, each in enumerate(memory)}
        self._alone = sum(self._bits[each] for each in alone)
        self._given = {each: launch.arguments[each.index] for each in memory}
        self._known: dict[Memory, _Through] = {}
        self._operands: dict[tuple[Operation, bool], list[BlockArgument]] = {}

    def broken(
        self, access: Access, memory: Memory, accessed: AccessedUnits
    ) -> tuple[int, str] | None:
        """The position in an access where it breaks the promise, and in which way.

        Args:
            access: The access.
            memory: What it accesses.
            accessed: The units of its elements that lie in the memory.
        """
        argument = self._argument(access) if self._alone else None
        if argument is None:
            return None
        through, bit = self._through(memory), self._bits[argument]
        past = through.accessed if access.kind.writes else through.written
        others = (sum(self._bits.values()) if is_noalias(argument) else self._alone) & ~bit
        broken = past[accessed.units] & others != 0
        through.accessed[accessed.units] |= bit
        if access.kind.writes:
            through.written[accessed.units] |= bit
        if not broken.any():
            return None
        first = int(np.argmax(broken))
        found = int(past[accessed.units[first]]) & others
        other = next(each for each, its in self._bits.items() if its & found)
        before = "accessed" if access.kind.writes else "written"
        return int(accessed.positions[first]), (
            f"is accessed ({access.kind.value}) through {_name(argument)} and was {before} through "
            f"{_name(other)}, which {NOALIAS_ATTRIBUTE} of "
            f"{_name(argument if is_noalias(argument) else other)} excludes"
        )

    def _through(self, memory: Memory) -> _Through:
        through = self._known.get(memory)
        if through is None:
            bits = np.dtype(np.int64 if len(self._bits) < _BITS else object)
            accessed, written = (np.zeros(memory.size, bits) for _ in range(2))
            through = self._known[memory] = _Through(memory.unit, accessed, written)
        through.split(memory.unit)
        return through

    def _argument(self, access: Access) -> BlockArgument | None:
        """The argument that an access goes through; None where that is not known."""
        reached = self._reached(access.operation, access.kind.writes)
        if len(reached) > 1:
            reached = [each for each in reached if _holds(self._given[each], access.buffer)]
        return reached[0] if reached else None

    def _reached(self, operation: Operation, writes: bool) -> list[BlockArgument]:
        """The arguments whose memory an operation writes, or reads."""
        if (operation, writes) not in self._operands:
            memory = (written_operands if writes else read_operands)(operation)
            found = map(argument_of, memory)
            self._operands[operation, writes] = [each for each in found if each is not None]
        return self._operands[operation, writes]


_BITS = 63


def _holds(argument: Argument, buffer: Buffer) -> bool:
    """Whether memory is that of an argument."""
    entries = argument.entries if isinstance(argument, GroupArgument) else (argument,)
    start = buffer.root.data.ctypes.data
    return any(
        isinstance(entry, MemrefArgument)
        and entry.base is not None
        and entry.base.ctypes.data == start
        for entry in entries
    )


def _name(argument: BlockArgument) -> str:
    return f"%{argument.name_hint or argument.index}"
