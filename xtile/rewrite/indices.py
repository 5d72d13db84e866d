"""Arithmetic of indices that folds: a number that is known needs no operation.

It is written once, for whatever emits: what emits indices derives from `IndexArithmetic` and says
what one operation becomes. `ArithBuilder` emits those of upstream's `arith`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from typing_extensions import override
from xdsl.dialects import arith, scf
from xdsl.ir import Block, Region, SSAValue

from xtile.dialects.arith.comparisons import CMPI_PREDICATES, CmpIOp
from xtile.dialects.arith.types import truth_type
from xtile.dialects.construction import made
from xtile.dialects.shared_attributes import INDEX, i64_attribute
from xtile.rewrite.folding import INDEX_WIDTH, wrap
from xtile.rewrite.rebuilder import Rebuilder

if TYPE_CHECKING:
    from xtile.layouts import Layout

Index: TypeAlias = int | SSAValue
"""A number that is known now, or the value of one."""


class IndexOperation(Enum):
    """What is computed of two indices, of 64 bits that wrap around.

    Divisions round down, and their operands are not negative; `DIVIDE_UP` rounds up. `SHIFT_RIGHT`
    keeps the sign.
    """

    ADD = auto()
    SUBTRACT = auto()
    MULTIPLY = auto()
    DIVIDE = auto()
    DIVIDE_UP = auto()
    REMAINDER = auto()
    SHIFT_RIGHT = auto()
    SMALLER = auto()
    LARGER = auto()


class IndexArithmetic(ABC):
    """Computes with indices, and emits what is not known."""

    @abstractmethod
    def as_value(self, number: Index) -> SSAValue:
        """An index as a value."""

    @abstractmethod
    def index_operation(self, operation: IndexOperation, a: SSAValue, b: SSAValue) -> SSAValue:
        """Emits an operation on indices."""

    def depth(self, number: Index) -> int:
        """How deep in loops and branches a number is born."""
        return 0

    def _emitted(self, operation: IndexOperation, a: Index, b: Index) -> SSAValue:
        return self.index_operation(operation, self.as_value(a), self.as_value(b))

    def add(self, a: Index, b: Index) -> Index:
        """The sum of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return wrap(a + b, INDEX_WIDTH)
        known, other = (a, b) if isinstance(a, int) else (b, a)
        if isinstance(known, int) and known == 0:
            return other
        return self._emitted(IndexOperation.ADD, a, b)

    def add_all(self, numbers: Iterable[Index]) -> Index:
        """The sum of indices; what varies least is added up first, outside of loops."""
        given = list(numbers)
        total: Index = wrap(sum(each for each in given if isinstance(each, int)), INDEX_WIDTH)
        varying = [number for number in given if not isinstance(number, int)]
        if len(varying) > 1:
            varying.sort(key=self.depth)
        for number in varying:
            total = self.add(total, number)
        return total

    def subtract(self, a: Index, b: Index) -> Index:
        """The difference of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return wrap(a - b, INDEX_WIDTH)
        return a if b == 0 else self._emitted(IndexOperation.SUBTRACT, a, b)

    def multiply(self, a: Index, b: Index) -> Index:
        """The product of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return wrap(a * b, INDEX_WIDTH)
        known, other = (a, b) if isinstance(a, int) else (b, a)
        if isinstance(known, int) and known in (0, 1):
            return other if known else 0
        return self._emitted(IndexOperation.MULTIPLY, a, b)

    def sum_of_products(self, numbers: Sequence[Index], factors: Sequence[Index]) -> Index:
        """The sum of products, such as an offset of indices and strides."""
        pairs = zip(numbers, factors, strict=True)
        return self.add_all([self.multiply(number, factor) for number, factor in pairs])

    def divide(self, a: Index, b: Index) -> Index:
        """The quotient of numbers that are not negative, rounded down."""
        if isinstance(a, int) and isinstance(b, int) and b:
            return a // b
        return a if b == 1 else self._emitted(IndexOperation.DIVIDE, a, b)

    def divide_up(self, a: Index, b: Index) -> Index:
        """The quotient of numbers that are not negative, rounded up."""
        if isinstance(a, int) and isinstance(b, int) and b:
            return -(-a // b)
        return a if b == 1 else self._emitted(IndexOperation.DIVIDE_UP, a, b)

    def divide_exactly(self, a: Index, b: int) -> Index:
        """The quotient of an index that is a multiple of `b`, a power of two; it has any sign."""
        if isinstance(a, int):
            return a // b
        return a if b == 1 else self._emitted(IndexOperation.SHIFT_RIGHT, a, b.bit_length() - 1)

    def remainder(self, a: Index, b: Index) -> Index:
        """The remainder of numbers that are not negative."""
        if isinstance(a, int) and isinstance(b, int) and b:
            return a % b
        return 0 if b == 1 else self._emitted(IndexOperation.REMAINDER, a, b)

    def smaller(self, a: Index, b: Index) -> Index:
        """The smaller one of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return self._emitted(IndexOperation.SMALLER, a, b)

    def larger(self, a: Index, b: Index) -> Index:
        """The larger one of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return self._emitted(IndexOperation.LARGER, a, b)


class ArithBuilder(Rebuilder, IndexArithmetic):
    """Emits indices in `arith`, each operation once and as early as possible, and choices."""

    @override
    def as_value(self, number: Index) -> SSAValue:
        return self.index(number) if isinstance(number, int) else number

    @override
    def index_operation(self, operation: IndexOperation, a: SSAValue, b: SSAValue) -> SSAValue:
        kind = ARITH_OPERATIONS[operation]
        properties = _NO_OVERFLOW if kind in _MAY_OVERFLOW else {}

        def emit() -> SSAValue:
            return self.emit(made(kind, (a, b), (INDEX,), properties)).results[0]

        return self.shared((kind, a, b), (a, b), emit)

    def pure(self, kind: Callable[..., Any], *operands: SSAValue) -> SSAValue:
        """The result of an operation without effects, computed once and as early as possible."""
        return self.shared(
            (kind, *operands), operands, lambda: self.emit(kind(*operands)).results[0]
        )

    def compare(self, predicate: str, a: Index, b: Index) -> SSAValue:
        """A comparison of integers, or of each element of vectors, such as `eq` or `slt`."""
        left, right = self.as_value(a), self.as_value(b)

        def emit() -> SSAValue:
            number = i64_attribute(CMPI_PREDICATES.index(predicate))
            types = (truth_type(left.type),)
            return self.emit(made(CmpIOp, (left, right), types, {"predicate": number})).result

        return self.shared(("cmpi", predicate, left, right), (left, right), emit)

    @overload
    def both(self, a: SSAValue | None, b: SSAValue) -> SSAValue: ...
    @overload
    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None: ...

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """Where both conditions hold; None holds everywhere."""
        if a is None or b is None:
            return b if a is None else a
        return self.pure(arith.AndIOp, a, b)

    def choose(
        self,
        condition: SSAValue,
        if_true: Callable[[], SSAValue],
        if_false: Callable[[], SSAValue],
    ) -> SSAValue:
        """What `if_true` or `if_false` emits, whichever the condition selects."""
        return self.choose_all(condition, lambda: [if_true()], lambda: [if_false()])[0]

    def choose_all(
        self,
        condition: SSAValue,
        if_true: Callable[[], Sequence[SSAValue]],
        if_false: Callable[[], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """The values that `if_true` or `if_false` emits, whichever the condition selects."""
        true_block, false_block = Block(), Block()
        with self.at_end_of(true_block):
            values = if_true()
            self.emit(made(scf.YieldOp, values, ()))
        with self.at_end_of(false_block):
            self.emit(made(scf.YieldOp, if_false(), ()))
        regions, types = (Region(true_block), Region(false_block)), [each.type for each in values]
        return self.emit(made(scf.IfOp, (condition,), types, regions=regions)).results


ARITH_OPERATIONS: dict[IndexOperation, type[Any]] = {
    IndexOperation.ADD: arith.AddiOp,
    IndexOperation.SUBTRACT: arith.SubiOp,
    IndexOperation.MULTIPLY: arith.MuliOp,
    IndexOperation.DIVIDE: arith.DivUIOp,
    IndexOperation.DIVIDE_UP: arith.CeilDivUIOp,
    IndexOperation.REMAINDER: arith.RemUIOp,
    IndexOperation.SHIFT_RIGHT: arith.ShRSIOp,
    IndexOperation.SMALLER: arith.MinSIOp,
    IndexOperation.LARGER: arith.MaxSIOp,
}
"""The operation of `arith` for each of indices."""


_MAY_OVERFLOW = frozenset({arith.AddiOp, arith.SubiOp, arith.MuliOp})

_NO_OVERFLOW = {"overflowFlags": arith.IntegerOverflowAttr("none")}
"""What operations say that do not promise that they never overflow."""


# --- indices of elements that differ between lanes, as a layout says ---


def share(
    indices: IndexArithmetic,
    layout: Layout,
    between: tuple[str, str],
    number: Index,
    wraps: bool = False,
) -> Index:
    """What a number of an input adds to the index in an output.

    Args:
        indices: Where to emit.
        layout: The layout.
        between: The input and the output.
        number: The number.
        wraps: Whether it may be too large; the index is then that of another one.

    Raises:
        LayoutError: The layout is no sum of distances.
    """
    input, output = between
    total: Index = 0
    position = 1
    for size, moved, distance in layout.steps(input):
        if moved == output:
            digit = indices.divide(number, position)
            if wraps or position * size < layout.size(input):
                digit = indices.remainder(digit, size)
            total = indices.add(total, indices.multiply(digit, distance))
        position *= size
    return total
