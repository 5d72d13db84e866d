"""Control flow, and assertions.

`continue` and `break` go to the innermost loop around them, through any `if`; `return` ends the
tile block. Where they stand at the end of a loop's own body the loop sees them; in an `if` they
raise `_Leaving`, which the loop or the entry catches.

Source: CUDA Tile IR specification, "Operations", "Control Flow"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, Region

from xtile.semantics.compiler import Body, Compiler, Handler, Step
from xtile.semantics.cuda_tile.memory import free
from xtile.semantics.cuda_tile.numbers import element_number
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.promises import assertion
from xtile.semantics.state import State
from xtile.semantics.unspecified import copy
from xtile.semantics.upstream.constants import has_flag

_FOR = "cuda_tile.for"
_LOOP = "cuda_tile.loop"
_ALLOCA = "cuda_tile.alloca"
_BREAK = "cuda_tile.break"
_RETURN = "cuda_tile.return"


class _Leaving(Exception):  # noqa: N818 - it is no error
    """Control goes from inside of an `if` to what is around it."""


class _Continue(_Leaving):
    """It goes to the next iteration of the innermost loop."""


class _Break(_Leaving):
    """It goes behind the innermost loop."""


class _Return(_Leaving):
    """It goes to the end of the tile block."""


class Scope:
    """A compiled region with one block, at the end of which the memory of its allocas is freed."""

    def __init__(self, region: Region, compiler: Compiler) -> None:
        """Compiles a region."""
        self._body: Body = compiler.region(region)
        self.yields = self._body.yields
        block = region.blocks.first
        operations = [] if block is None else list(block.ops)
        self._allocations = [each for each in operations if each.name == _ALLOCA]
        self.terminator = operations[-1] if operations else None

    @property
    def end(self) -> str:
        """The name of the operation that says where control goes."""
        return "" if self.terminator is None else self.terminator.name

    def run(self, state: State) -> None:
        """Executes it.

        Raises:
            ExecutionError: An operation cannot be executed.
        """
        if not self._allocations:
            self._body.run(state)
            return
        try:
            self._body.run(state)
        finally:
            for operation in self._allocations:
                free(state, operation)


def compile_entry(region: Region, compiler: Compiler) -> Step:
    """What executes the body of an entry."""
    scope = Scope(region, compiler)

    def step(state: State) -> None:
        try:
            scope.run(state)
        except _Return:
            return

    return step


def _if(operation: Operation, compiler: Compiler) -> Step:
    (condition,) = compiler.slots(operation.operands)
    then, otherwise = (_branch(operation, region, compiler) for region in operation.regions)

    def step(state: State) -> None:
        if state.values[condition]:
            then(state)
        else:
            otherwise(state)

    return step


def _branch(operation: Operation, region: Region, compiler: Compiler) -> Step:
    """What executes a branch of an `if` and goes where its terminator says."""
    scope = Scope(region, compiler)
    targets, leaving = _target(operation, scope.end, compiler)

    def step(state: State) -> None:
        scope.run(state)
        copy(state, scope.yields, targets)
        if leaving is not None:
            raise leaving

    return step


def _target(
    operation: Operation, end: str, compiler: Compiler
) -> tuple[tuple[int, ...], type[_Leaving] | None]:
    """Where a terminator in an `if` puts its operands, and how control leaves the `if`.

    Raises:
        ValueError: There is no loop around it.
    """
    match end:
        case "cuda_tile.break" | "cuda_tile.continue":
            loop = operation.parent_op()
            while loop is not None and loop.name not in (_FOR, _LOOP):
                loop = loop.parent_op()
            if loop is None:
                raise ValueError(f"{end} needs a loop around it")
            if end == _BREAK:
                return compiler.slots(loop.results), _Break
            return _carried(loop, compiler), _Continue
        case "cuda_tile.return":
            return (), _Return
        case _:
            return compiler.slots(operation.results), None


def _carried(loop: Operation, compiler: Compiler) -> tuple[int, ...]:
    """The slots of the values that one iteration gives to the next."""
    arguments = compiler.slots(loop.regions[0].blocks[0].args)
    return arguments[1:] if loop.name == _FOR else arguments


def _for(operation: Operation, compiler: Compiler) -> Step:
    first, last, stride, *inits = compiler.slots(operation.operands)
    number = element_number(operation.operands[0].type)
    interpret = number.unsigned if has_flag(operation, "unsignedCmp") else number.signed
    variable = compiler.slot(operation.regions[0].blocks[0].args[0])
    carried, results = _carried(operation, compiler), compiler.slots(operation.results)
    scope = Scope(operation.regions[0], compiler)

    def step(state: State) -> None:
        values = state.values
        start, stop = (int(interpret(np.asanyarray(values[slot]))) for slot in (first, last))
        increment = int(interpret(np.asanyarray(values[stride])))
        if increment < 1:
            raise UnlocatedError(f"the step of a for loop must be at least 1, but is {increment}")
        copy(state, inits, carried)
        for i in range(start, stop, increment):
            values[variable] = number.number(i)
            try:
                scope.run(state)
            except _Continue:
                continue
            copy(state, scope.yields, carried)
        copy(state, carried, results)

    return step


def _loop(operation: Operation, compiler: Compiler) -> Step:
    inits, results = compiler.slots(operation.operands), compiler.slots(operation.results)
    carried = _carried(operation, compiler)
    scope = Scope(operation.regions[0], compiler)
    is_broken_off, is_returning = scope.end == _BREAK, scope.end == _RETURN

    def step(state: State) -> None:
        copy(state, inits, carried)
        while True:
            try:
                scope.run(state)
            except _Continue:
                continue
            except _Break:
                return
            if is_returning:
                raise _Return
            if is_broken_off:
                copy(state, scope.yields, results)
                return
            copy(state, scope.yields, carried)

    return step


HANDLERS: dict[str, Handler] = {
    "cuda_tile.assert": assertion,
    "cuda_tile.for": _for,
    "cuda_tile.if": _if,
    "cuda_tile.loop": _loop,
}
"""The handler of each operation, by name; terminators belong to what is around them."""
