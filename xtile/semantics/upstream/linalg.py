"""The `linalg` dialect on memrefs: loops over numbers, and what each turn computes.

All turns of parallel loops are done at once, those of the others one after the other. An element of
an output that one turn writes must not be accessed by another one that differs in a parallel loop.

Source: MLIR (LLVM 22), `Dialect/Linalg/IR/LinalgInterfaces.td`; docs/linalg.md.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.linalg.structure import Structure, rank_of, structure_of
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import View, uniform_integers
from xtile.semantics.observer import Access, AccessKind
from xtile.semantics.state import State
from xtile.semantics.upstream.affine import evaluate
from xtile.semantics.values import Array, is_array

Numbers = Sequence[npt.NDArray[np.int64]]
"""The number of each loop, for each of some turns."""


def _structured(operation: Operation, compiler: Compiler) -> Step:
    try:
        structure = structure_of(operation)
    except VerifyException as error:
        raise UnlocatedError(str(error)) from None
    return _Turns(structure, compiler).run


class _Turns:
    """The loops of an operation, compiled."""

    def __init__(self, structure: Structure, compiler: Compiler) -> None:
        self._structure = structure
        self._operands = compiler.slots(structure.operands)
        self._elements = compiler.slots(structure.body.args)
        self._indices = [
            (compiler.slot(each.results[0]), _loop_of(each))
            for each in structure.body.walk()
            if each.name == "linalg.index"
        ]
        self._body = compiler.block(structure.body)
        self._used = [bool(argument.uses) for argument in structure.body.args]
        self._maps = [map_.results for map_ in structure.maps]

    def run(self, state: State) -> None:
        """Runs all turns."""
        memory = self._memory(state)
        sizes = self._sizes(memory)
        parallel = [size for size, is_parallel in self._loops(sizes) if is_parallel]
        others = [size for size, is_parallel in self._loops(sizes) if not is_parallel]
        points: Numbers = [each.reshape(1, -1) for each in np.indices(parallel, np.int64)]
        if state.observer is not None:
            self._report(state, memory, sizes)
        count = int(np.prod(parallel, dtype=np.int64))
        if count == 0:
            return
        with _as_lanes(state, count):
            for turn in np.ndindex(*others):
                self._turn(state, memory, self._numbers(points, turn))

    def _turn(self, state: State, memory: Sequence[View | None], numbers: Numbers) -> None:
        values = state.values
        for number, (slot, view) in enumerate(zip(self._operands, memory, strict=True)):
            if self._used[number]:
                read = (
                    values[slot] if view is None else view.array()[self._at(number, numbers, state)]
                )
                values[self._elements[number]] = read
        for slot, loop in self._indices:
            values[slot] = numbers[loop]
        self._body.run(state)
        first = len(self._structure.inputs)
        results = [values[slot] for slot in self._body.yields]
        for number, result in enumerate(results, first):
            view = memory[number]
            assert view is not None
            array, at = view.array(), self._at(number, numbers, state)
            is_one = not any(is_array(index) for index in at)
            array[at] = np.asanyarray(result).flat[0] if is_one else result

    def _at(self, number: int, numbers: Numbers, state: State) -> tuple[Any, ...]:
        """Where an operand is accessed; a memref without dimensions has one element."""
        dims = len(numbers)
        return tuple(evaluate(each, numbers, dims, state) for each in self._maps[number])

    def _numbers(self, points: Numbers, turn: tuple[int, ...]) -> Numbers:
        """The number of each loop, in a turn of those that are not parallel."""
        of_parallel, of_others = iter(points), iter(turn)
        return [
            next(of_parallel) if is_parallel else np.full((1, 1), next(of_others), np.int64)
            for is_parallel in self._structure.is_parallel
        ]

    def _loops(self, sizes: Sequence[int]) -> list[tuple[int, bool]]:
        return list(zip(sizes, self._structure.is_parallel, strict=True))

    def _memory(self, state: State) -> list[View | None]:
        """The memref of each operand; None for a scalar."""
        found: list[View | None] = []
        for slot, operand in zip(self._operands, self._structure.operands, strict=True):
            value = state.values[slot]
            if isinstance(value, View):
                found.append(value)
            elif rank_of(operand) or is_array(value):
                raise UnlocatedError("the operands differ between work-items")
            else:
                found.append(None)
        return found

    def _sizes(self, memory: Sequence[View | None]) -> list[int]:
        """How many numbers each loop has.

        Raises:
            UnlocatedError: The sizes of the operands do not fit each other.
        """
        shapes = [() if view is None else uniform_integers(view.shape) for view in memory]
        sizes = [shapes[number][dimension] for number, dimension in self._structure.sizes()]
        for number, shape in enumerate(shapes):
            for dimension, (size, result) in enumerate(zip(shape, self._maps[number], strict=True)):
                self._check(result, sizes, size, f"dimension {dimension} of operand {number}")
        return sizes

    def _check(self, result: AffineExpr, sizes: Sequence[int], size: int, what: str) -> None:
        if 0 in sizes:
            return
        first, last = (result.eval(ends, []) for ends in ([0] * len(sizes), [n - 1 for n in sizes]))
        reached = max(first, last) + 1
        is_exact = isinstance(result, AffineDimExpr)
        if min(first, last) < 0 or reached > size or (is_exact and reached != size):
            raise UnlocatedError(
                f"{what} has size {size}, but the loops reach from {min(first, last)} to "
                f"{reached - 1}"
            )

    def _report(self, state: State, memory: Sequence[View | None], sizes: Sequence[int]) -> None:
        """Tells the observer what is accessed, and of turns that depend on each other."""
        assert state.observer is not None
        operation, first = self._structure.operation, len(self._structure.inputs)
        turns: Numbers = [each.reshape(1, -1) for each in np.indices(sizes, np.int64)]
        owner = np.zeros(turns[0].shape if turns else (1, 1), np.int64)
        for number, (size, is_parallel) in zip(turns, self._loops(sizes), strict=True):
            owner = owner * size + number if is_parallel else owner
        positions = [
            None if view is None else self._positions(state, view, number, turns, owner.shape)
            for number, view in enumerate(memory)
        ]
        state.observer.on_phase()
        self._check_turns(state, memory, positions, owner)
        kinds = [
            (AccessKind.READ, range(len(memory))),
            (AccessKind.WRITE, range(first, len(memory))),
        ]
        for kind, numbers in kinds:
            for number in numbers:
                view, position = memory[number], positions[number]
                is_accessed = kind is AccessKind.WRITE or self._used[number]
                if view is not None and position is not None and is_accessed and position.size:
                    at = self._at(number, turns, state)
                    _report_positions(state, operation, kind, view, position, at)
        state.observer.on_phase()

    def _positions(
        self, state: State, view: View, number: int, turns: Numbers, shape: tuple[int, ...]
    ) -> Array:
        position = np.asanyarray(view.element(self._at(number, turns, state)))
        return np.broadcast_to(position, shape).ravel()

    def _check_turns(
        self,
        state: State,
        memory: Sequence[View | None],
        positions: Sequence[Array | None],
        owner: Array,
    ) -> None:
        """Tells the observer of an element that one turn writes and another one accesses."""
        assert state.observer is not None
        operation, owners = self._structure.operation, owner.ravel()
        for written in range(len(self._structure.inputs), len(memory)):
            view, position = memory[written], positions[written]
            if view is None or position is None or not position.size:
                continue
            by = np.full(view.buffer.size, -1, np.int64)
            by[position] = owners
            for number, (other, at) in enumerate(zip(memory, positions, strict=True)):
                if other is None or at is None or other.buffer is not view.buffer:
                    continue
                if not self._used[number] and number != written:
                    continue
                is_written = by[at] >= 0
                has_order = number == written or all(self._structure.is_parallel)
                wrong = is_written & (by[at] != owners) if has_order else is_written
                if wrong.any():
                    message = (
                        f"operand {number} has an element that another turn writes to operand "
                        f"{written}, and the order of turns is not defined"
                    )
                    state.observer.on_broken_promise(operation, message)
                    return


def _report_positions(
    state: State,
    operation: Operation,
    kind: AccessKind,
    view: View,
    position: Array,
    at: Sequence[Any],
) -> None:
    """Reports that the work-group accesses elements.

    Args:
        state: The work-group.
        operation: What accesses them.
        kind: How.
        view: The memref.
        position: The positions of the elements in the memory, for each turn.
        at: The indices of the elements, for each turn or for all of them.
    """
    assert state.observer is not None
    elements, first = np.unique(position, return_index=True)
    indices = tuple(np.broadcast_to(index, (1, len(position))).ravel()[first] for index in at)
    sizes = tuple(np.full(len(first), size) for size in uniform_integers(view.shape))
    state.observer.on_access(
        Access(operation, kind, view.buffer, elements, indices, sizes, None, None)
    )


@contextmanager
def _as_lanes(state: State, count: int) -> Generator[None]:
    """Gives the work-group as many lanes as there are turns at once, all of them active."""
    before = state.rows, state.lanes, state.mask
    state.rows, state.lanes, state.mask = 1, count, None
    try:
        yield
    finally:
        state.rows, state.lanes, state.mask = before


def _loop_of(operation: Operation) -> int:
    dim: Any = operation.properties["dim"]
    return dim.value.data


def _index(operation: Operation, compiler: Compiler) -> Step:
    """The operation around it sets the number."""
    return lambda state: None


def _names() -> Sequence[str]:
    from xtile.dialects.linalg import Linalg

    return [
        each.name for each in Linalg.operations if each.name not in ("linalg.index", "linalg.yield")
    ]


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(_names(), _structured),
    "linalg.index": _index,
}
"""The handler of each operation, by name."""
