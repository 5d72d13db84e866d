"""Loops of host code as kernels, each iteration a work-item.

A reference that a host computes with loops of billions of steps takes minutes in numpy, and
seconds on the device that runs the host's kernels. Only arithmetic whose results are the same in
every bit is handed over, and only accesses that are known to stay inside of their memory.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    MemRefType,
    ModuleOp,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.effects import may_fail
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import FuncOp, ReturnOp
from xtile.dialects.gpu.indices import BlockIdOp, ThreadIdOp
from xtile.dialects.gpu.modules import ModuleOp as DeviceCode
from xtile.rewrite.facts import constant_of

BLOCK = 64
"""The work-items of a work-group."""

_EXACT_MATH = frozenset(
    {"math.absf", "math.absi", "math.ceil", "math.copysign", "math.floor", "math.fma", "math.sqrt"}
)

_NUMBERS = (Float16Type, Float32Type, Float64Type, IndexType)
"""The types of numbers that kernels take, beside integers of 32 and 64 bits."""


@dataclass(frozen=True)
class LoopKernel:
    """A loop, or two loops with nothing but numbers between them, as a kernel.

    Attributes:
        loops: The loops, from the outside to the inside.
        function: The kernel. It takes `captured`, then the lower bound and the step of each loop,
            and how many iterations the inner one has.
        captured: The values from outside of the loops that they use, but constants.
    """

    loops: tuple[Operation, ...]
    function: FuncOp
    captured: tuple[SSAValue, ...]

    def grid(self, counts: Sequence[int]) -> tuple[int, int, int]:
        """The work-groups for these numbers of iterations."""
        *outer, inner = counts
        return (-(-inner // BLOCK), prod(outer), 1)


def kernel_of(loops: Sequence[Operation]) -> LoopKernel | None:
    """Makes a kernel of loops whose iterations are independent; None where numbers might differ."""
    outermost = loops[0]
    if not all(map(_is_exact, outermost.walk())):
        return None
    captured = tuple(_captured(loops))
    if not all(_can_be_given(value.type) for value in captured):
        return None
    types: list[Attribute] = [value.type for value in captured]
    index = IndexType()
    block = Block(arg_types=[*types, *([index] * (2 * len(loops) + 1))])
    names: dict[SSAValue, SSAValue] = dict(zip(captured, block.args, strict=False))
    _Body(loops, block, names).emit(block.args[len(captured) :])
    function = FuncOp(
        "loop",
        (tuple(block.arg_types), ()),
        Region(block),
        kernel=True,
        known_block_size=(BLOCK, 1, 1),
    )
    ModuleOp([DeviceCode("loops", Region(Block([function])))])
    return LoopKernel(tuple(loops), function, captured)


def _is_exact(operation: Operation) -> bool:
    """Whether each device computes the same bits, and no error can come."""
    if may_fail(operation):
        return False
    dialect = operation.dialect_name()
    return dialect in ("arith", "memref", "scf") or operation.name in _EXACT_MATH


def _can_be_given(type_: Attribute) -> bool:
    return type_ in (i32, i64) or isinstance(type_, (MemRefType, *_NUMBERS))


def _captured(loops: Sequence[Operation]) -> Iterator[SSAValue]:
    """The values from outside that the body uses, but constants."""
    outermost = loops[0]
    seen: set[SSAValue] = set()
    for operation in outermost.walk():
        if operation in loops:
            continue
        for operand in operation.operands:
            if operand in seen or is_within(operand, outermost) or _constant(operand) is not None:
                continue
            seen.add(operand)
            yield operand


def is_within(value: SSAValue, loop: Operation) -> bool:
    """Whether a value is one of a loop's own."""
    owner = value.owner
    around = owner if isinstance(owner, Operation) else owner.parent_op()
    return around is not None and around is not loop.parent_op() and loop.is_ancestor(around)


def _constant(value: SSAValue) -> arith.ConstantOp | None:
    return value.owner if isinstance(value.owner, arith.ConstantOp) else None


@dataclass
class _Body:
    """Writes the body of a kernel.

    Attributes:
        loops: The loops of the host.
        block: Where to write.
        names: What each value of the host is called in the kernel.
    """

    loops: Sequence[Operation]
    block: Block
    names: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def emit(self, sizes: Sequence[SSAValue]) -> None:
        """Writes it, for the bounds and the steps that the kernel is given."""
        for constant in dict.fromkeys(self._constants()):
            self._add(constant.clone(self.names))
        size = self._add(arith.ConstantOp.from_int_and_width(BLOCK, IndexType()))
        group = self._add(BlockIdOp(Dimension.X))
        item = self._add(ThreadIdOp(Dimension.X))
        first = self._add(arith.MuliOp(group, size))
        numbers = [self._add(arith.AddiOp(first, item))]
        if len(self.loops) == 2:
            numbers.insert(0, self._add(BlockIdOp(Dimension.Y)))
        is_one = self._add(arith.CmpiOp(numbers[-1], sizes[-1], "slt"))
        around, self.block = self.block, Block()
        for loop, number, lower, step in zip(
            self.loops, numbers, sizes[0:-1:2], sizes[1:-1:2], strict=True
        ):
            offset = self._add(arith.MuliOp(number, step))
            variable = loop.regions[0].blocks[0].args[0]
            self.names[variable] = self._add(arith.AddiOp(offset, lower))
        self._copy(self.loops[0])
        self.block.add_op(scf.YieldOp())
        around.add_op(scf.IfOp(is_one, (), Region(self.block)))
        around.add_op(ReturnOp())

    def _constants(self) -> Iterator[arith.ConstantOp]:
        """The constants from outside."""
        for operation in self.loops[0].walk():
            for operand in operation.operands:
                constant = _constant(operand)
                if constant is not None and not is_within(operand, self.loops[0]):
                    yield constant

    def _copy(self, loop: Operation) -> None:
        for operation in loop.regions[0].blocks[0].ops:
            if operation in self.loops:
                self._copy(operation)
            elif operation is not loop.regions[0].blocks[0].last_op:
                self.block.add_op(operation.clone(self.names))

    def _add(self, operation: Operation) -> SSAValue:
        self.block.add_op(operation)
        return operation.results[0]


# --- what is known when a loop runs ---


def ranges_of(
    loops: Sequence[Operation], known: Mapping[SSAValue, int]
) -> dict[SSAValue, range] | None:
    """The numbers of each loop's variable, also of the loops within; None if one is not known.

    Args:
        loops: The loops.
        known: The numbers of the bounds that come from outside.
    """
    found: dict[SSAValue, range] = {}
    for operation in loops[0].walk():
        if not isinstance(operation, scf.ForOp):
            continue
        bounds: list[int] = []
        for bound in (operation.lb, operation.ub, operation.step):
            number = known.get(bound, constant_of(bound))
            if number is None:
                return None
            bounds.append(number)
        if bounds[2] < 1:
            return None
        found[operation.body.block.args[0]] = range(*bounds)
    return found


def steps_of(loop: Operation, ranges: Mapping[SSAValue, range]) -> int:
    """How many operations a loop executes."""
    block = loop.regions[0].blocks[0]
    each = sum(
        steps_of(operation, ranges) if isinstance(operation, scf.ForOp) else 1
        for operation in block.ops
    )
    return len(ranges[block.args[0]]) * each


_LARGEST = 2**62
"""A number that sums of indices must stay below, so that none wraps around."""


@dataclass(frozen=True)
class Intervals:
    """The least and the largest number that indices can be.

    Attributes:
        known: The numbers that come from outside.
        ranges: The numbers of loops' variables.
    """

    known: Mapping[SSAValue, int]
    ranges: Mapping[SSAValue, range]

    def is_inside(self, index: SSAValue, size: int) -> bool:
        """Whether an index is never negative, and always below a size."""
        found = self._of(index)
        return found is not None and found[0] >= 0 and found[1] < size

    def _of(self, index: SSAValue) -> tuple[int, int] | None:
        """Both numbers, or None where they are not known; a loop without iterations has 0."""
        number = self.known.get(index, constant_of(index))
        if number is not None:
            return number, number
        if index in self.ranges:
            numbers = self.ranges[index]
            return (numbers[0], numbers[-1]) if numbers else (0, 0)
        owner = index.owner
        if not isinstance(owner, arith.AddiOp | arith.SubiOp | arith.MuliOp):
            return None
        left, right = self._of(owner.lhs), self._of(owner.rhs)
        if left is None or right is None:
            return None
        ends = [_COMBINED[type(owner)](one, other) for one in left for other in right]
        return (min(ends), max(ends)) if max(map(abs, ends)) < _LARGEST else None


_COMBINED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: operator.add,
    arith.MuliOp: operator.mul,
    arith.SubiOp: operator.sub,
}
