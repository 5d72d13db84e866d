"""Recognises the loop that `foreach` is in core form: trips that work-items take in turn.

Trip t is done by work-item t modulo their number, and the first dimension varies fastest:
docs/semantics.md, "Execution", foreach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.subgroup import ParallelOp
from xtile.dialects.gpu import enumerations
from xtile.dialects.gpu.attributes import DimensionAttr
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.transforms.tile_linalg.kernel import Kernel

_X, _Y = enumerations.Dimension.X, enumerations.Dimension.Y
_POINT = (
    "arith.addi",
    ("arith.muli", ("gpu.thread_id", _Y), ("gpu.block_dim", _X)),
    ("gpu.thread_id", _X),
)
_POINTS = ("arith.muli", ("gpu.block_dim", _X), ("gpu.block_dim", _Y))
_SUBGROUP = ("gpu.subgroup_id",)
_SUBGROUPS = ("gpu.num_subgroups",)


@dataclass(frozen=True)
class Turns:
    """A loop whose trips are taken in turn.

    Attributes:
        loop: The loop.
        is_of_subgroups: Whether subgroups take them, instead of work-items.
    """

    loop: scf.ForOp
    is_of_subgroups: bool


def turns_of(parallel: ParallelOp) -> Turns | None:
    """The loop that a parallel region consists of, if it is one whose trips are taken in turn."""
    loop = parallel.body.block.last_op
    if not isinstance(loop, scf.ForOp) or loop.iter_args:
        return None
    others = [operation for operation in parallel.body.block.ops if operation is not loop]
    if any(not _is_number(operation) for operation in others):
        return None
    bounds = _term(loop.lb), _term(loop.step)
    if bounds == (_POINT, _POINTS):
        return Turns(loop, is_of_subgroups=False)
    if bounds == (_SUBGROUP, _SUBGROUPS):
        return Turns(loop, is_of_subgroups=True)
    return None


def _is_number(operation: Operation) -> bool:
    """Whether an operation tells where a work-item stands, or computes with that."""
    return not operation.regions and operation.dialect_name() in ("arith", "gpu")


def _term(value: SSAValue) -> tuple[object, ...]:
    """How a number follows from what the device tells: an operation's name and its operands."""
    operation = value.owner
    if not isinstance(operation, Operation):
        return ()
    if operation.dialect_name() == "gpu":
        dimension = operation.properties.get("dimension")
        along = (dimension.data,) if isinstance(dimension, DimensionAttr) else ()
        return (operation.name, *along)
    return (operation.name, *map(_term, operation.operands))


@dataclass(frozen=True)
class Dimension:
    """A dimension of the space.

    Attributes:
        numbers: The values that are the number along the dimension.
        size: How many numbers there are.
    """

    numbers: Sequence[SSAValue]
    size: Index


def dimensions_of(loop: scf.ForOp, kernel: Kernel) -> list[Dimension]:
    """The dimensions of the space whose points a loop numbers, the fastest one last."""
    rest: list[SSAValue] = [loop.body.block.args[0]]
    found: list[Dimension] = []
    divisors: list[SSAValue] = []
    while (divisor := _divisor(rest, loop)) is not None:
        found.append(Dimension(_results(rest, "arith.remui"), _size(divisor, kernel)))
        divisors.append(divisor)
        rest = _results(rest, "arith.divui")
    last = _last_size(loop.ub, divisors, kernel)
    return [Dimension(rest, last), *reversed(found)]


def is_numbering(operation: Operation, loop: scf.ForOp, dimensions: Sequence[Dimension]) -> bool:
    """Whether an operation computes the numbers of a point from the number of the trip."""
    if len(dimensions) == 1 or operation.name not in ("arith.remui", "arith.divui"):
        return False
    first: SSAValue = operation.operands[0]
    while isinstance(first.owner, Operation) and first.owner.name == "arith.divui":
        first = first.owner.operands[0]
    return first is loop.body.block.args[0]


def _divisor(numbers: Sequence[SSAValue], loop: scf.ForOp) -> SSAValue | None:
    """The only number that numbers are divided by, if that is all that is done with them."""
    users = [use.operation for number in numbers for use in number.uses]
    if not users or any(user.name not in ("arith.remui", "arith.divui") for user in users):
        return None
    divisors = [user.operands[1] for user in users]
    if any(user.operands[0] not in numbers for user in users):
        return None
    first = divisors[0]
    is_same = all(_is_same(first, other) for other in divisors)
    return first if is_same and not _is_inside(first, loop) else None


def _is_inside(value: SSAValue, loop: Operation) -> bool:
    operation = value.owner
    return isinstance(operation, Operation) and loop.is_ancestor(operation)


def _is_same(a: SSAValue, b: SSAValue) -> bool:
    return a is b or (constant_of(a) is not None and constant_of(a) == constant_of(b))


def _results(numbers: Sequence[SSAValue], name: str) -> list[SSAValue]:
    return [
        use.operation.results[0]
        for number in numbers
        for use in number.uses
        if use.operation.name == name
    ]


def _size(value: SSAValue, kernel: Kernel) -> Index:
    known = constant_of(value)
    return kernel.value(value) if known is None else known


def _last_size(trips: SSAValue, divisors: Sequence[SSAValue], kernel: Kernel) -> Index:
    """The size that gives the number of trips together with the others."""
    if not divisors:
        return _size(trips, kernel)
    operation = trips.owner
    if isinstance(operation, arith.MuliOp):
        a, b = operation.operands
        for product, factor in ((a, b), (b, a)):
            if _is_product(product, divisors):
                return _size(factor, kernel)
    known = [constant_of(value) for value in (trips, *divisors)]
    numbers = [number for number in known if number is not None]
    if len(numbers) == len(known):
        return numbers[0] // max(1, math.prod(numbers[1:]))
    product: SSAValue = kernel.value(divisors[0])
    for divisor in divisors[1:]:
        product = kernel.pure(arith.MuliOp, product, kernel.value(divisor))
    product = kernel.pure(arith.MaxUIOp, product, kernel.index(1))
    return kernel.pure(arith.DivUIOp, kernel.value(trips), product)


def _is_product(value: SSAValue, factors: Sequence[SSAValue]) -> bool:
    """Whether a number is the product of others."""
    if len(factors) == 1:
        return _is_same(value, factors[0])
    known = [constant_of(factor) for factor in factors]
    if None not in known and constant_of(value) is not None:
        return constant_of(value) == math.prod(number for number in known if number is not None)
    operation = value.owner
    if not isinstance(operation, arith.MuliOp):
        return False
    a, b = operation.operands
    *before, last = factors
    return (_is_product(a, before) and _is_same(b, last)) or (
        _is_product(b, before) and _is_same(a, last)
    )
