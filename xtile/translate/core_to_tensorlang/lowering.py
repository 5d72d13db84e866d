"""What the rules of the core form to the tensor language share."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.attributes import Level
from xtile.dialects.tensorlang.ops import arithmetic, control
from xtile.dialects.tensorlang.types import (
    BOOL,
    COMPLEX_TYPES,
    FLOATING_TYPES,
    INDEX,
    SIZE_IN_BYTES,
    component_type,
    type_text,
)
from xtile.rewrite.folding import wrap
from xtile.rewrite.indices import Index, IndexArithmetic, IndexOperation
from xtile.rewrite.rebuilder import Rule, RuleTable, TypedRebuilder
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, spelling_of
from xtile.translate.rounding import rounded_float

TARGET = "the tensor language"

ONE_MEMORY = (
    f"{TARGET} has no pointers, and no views that may be of one memory or of another; let this be "
    "decided at each access"
)
"""What is said of memory that is chosen while a kernel runs."""

_LEAST = -(1 << 63)
"""The number of 64 bits that is no constant of the language."""

Values = Sequence[SSAValue]
Emit = Callable[[], SSAValue]
EmitAll = Callable[[], Values]


_DIVISIONS = (arithmetic.DivOp, arithmetic.RemOp)


class Lowering(TypedRebuilder, IndexArithmetic):
    """Rebuilds kernels of the core form as functions of the tensor language.

    A number becomes a value, a memref a `Memory`, a pointer a `Pointer`, a memref of memrefs a
    `Group`. What a vector becomes depends on the level: a cooperative matrix at level "subgroup",
    a `Tile` at level "tile" and `Elements` at level "lane".

    Args:
        rules: What becomes of each operation.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        level: The level of the kernel that is being translated.
        subgroup_size: The work-items of a subgroup in that kernel.
        block_size: The work-items of a work-group in that kernel along x, y and z, if it says so.
        surplus: The work-items that fill the last subgroup, and do nothing.
        outside: The block of the kernel's collective region, where local memory is allocated.
        counted: Indices that are certainly not negative.
    """

    level: Level
    subgroup_size: int | None
    block_size: tuple[int, int, int] | None
    surplus: int
    outside: Block

    def __init__(
        self,
        rules: RuleTable,
        source: Source | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> None:
        super().__init__(rules, TARGET, source, diagnostics)
        self.counted: set[SSAValue] = set()
        self._spmd: list[Block] = []
        self._body: Block | None = None
        self._loads: dict[tuple[Block, Hashable], SSAValue] = {}

    @override
    def value(self, old: SSAValue) -> SSAValue:
        meaning = self.meaning(old)
        if isinstance(meaning, SSAValue):
            return cast("SSAValue", meaning)
        return self._emitted_now(old, meaning)

    @override
    def values(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        return [self.value(each) for each in old]

    def _emitted_now(self, old: SSAValue, meaning: Any) -> SSAValue:
        emit = getattr(meaning, "emit", None)
        if emit is None and isinstance(old.type, MemRefType):
            raise self.error(ONE_MEMORY)
        if emit is None:
            raise self.error(f"{TARGET} has no numbers that are a {type_text(old.type)}")
        return self.as_value(emit(self))

    @property
    def is_collective(self) -> bool:
        """Whether what is emitted here is the work of the whole work-group."""
        return not any(block in self._spmd for block in self.open_blocks)

    @contextmanager
    def in_spmd(self, block: Block) -> Generator[Block]:
        """Appends to the body of an instruction that opens an SPMD region, which is new."""
        self._spmd.append(block)
        with self.at_end_of(block):
            yield block
        self._spmd.remove(block)

    @contextmanager
    def with_loads_of(self, body: Block) -> Generator[None]:
        """Remembers what is loaded in the body of a loop in which nothing is stored before."""
        before = self._body
        self._body = body
        yield
        self._body = before

    def loaded(self, key: Hashable, load: Emit) -> SSAValue:
        """What `load` gives, which is emitted once in the body of a loop."""
        blocks = self.open_blocks
        if self._body is None or self._body not in blocks:
            return load()
        for block in blocks[blocks.index(self._body) :]:
            if (block, key) in self._loads:
                return self._loads[block, key]
        value = self._loads[self.block, key] = load()
        return value

    def about(self, operation: Operation, emit: Emit) -> SSAValue:
        """What is emitted for an operation of the source after it has been translated."""
        before, self._current = self._current, operation
        value = emit()
        self._current = before
        return value

    # --- numbers ---

    def number(self, operation: Operation) -> SSAValue:
        """The only result of an operation that is emitted here."""
        return self.emit(operation).results[0]

    def pure(self, kind: Callable[..., Any], *operands: Any) -> SSAValue:
        """The result of an operation without effects, computed once and as early as possible.

        A quotient stays where it is: where it is not computed its divisor may be 0.
        """
        values = [cast("SSAValue", each) for each in operands if isinstance(each, SSAValue)]
        if kind in _DIVISIONS and not _is_constant_but_0(values[1]):
            return self.number(kind(*operands))
        return self.shared((kind, *operands), values, lambda: self.number(kind(*operands)))

    def constant(self, value: float | complex, type_: Attribute) -> SSAValue:
        """A number rounded to a scalar type, or a matrix of it; shared by the function."""
        given = _in_type(value, component_type(type_))
        if type_ == INDEX and given != _LEAST:
            return self.index(int(cast(int, given)))
        if given == _LEAST and isinstance(given, int):
            # The language's constants end one number before that of 64 bits.
            return self.pure(
                arithmetic.SubOp, self.constant(_LEAST + 1, type_), self.constant(1, type_)
            )
        return self.shared(
            ("constant", repr(given), type_),
            (),
            lambda: self.number(arithmetic.ConstantOp(given, type_)),
        )

    @override
    def _index(self, number: int) -> SSAValue:
        result = self.number(arithmetic.ConstantOp(number, INDEX))
        result.name_hint = f"c{number}" if number >= 0 else f"cm{-number}"
        return result

    def cast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """A number in another type."""
        return value if value.type == type_ else self.pure(arithmetic.CastOp, value, type_)

    # --- indices ---

    @override
    def as_value(self, number: Index) -> SSAValue:
        return self.index(number) if isinstance(number, int) else number

    @override
    def index_operation(self, operation: IndexOperation, a: SSAValue, b: SSAValue) -> SSAValue:
        if operation is IndexOperation.DIVIDE_UP:
            more = self.subtract(b, 1)
            return self.pure(arithmetic.DivOp, self.as_value(self.add(a, more)), b)
        return self.pure(_INDEX_OPERATIONS[operation], a, b)

    # --- choices ---

    def if_(self, condition: SSAValue, then: EmitAll, otherwise: EmitAll | None = None) -> Values:
        """What `then` or `otherwise` emits and returns, whichever the condition selects."""
        owner = condition.owner
        if isinstance(owner, arithmetic.ConstantOp):
            is_true = bool(cast("IntegerAttr[Any]", owner.value).value.data)
            return list(then() if is_true else otherwise() if otherwise is not None else ())
        block = Block()
        with self.at_end_of(block):
            values = list(then())
            if values:
                self.emit(control.YieldOp(values))
        regions = [Region([block])]
        if otherwise is not None:
            block = Block()
            with self.at_end_of(block):
                others = list(otherwise())
                if others:
                    self.emit(control.YieldOp(others))
            regions.append(Region([block]))
        return self.emit(
            control.IfOp(condition, [value.type for value in values], *regions)
        ).results

    def choose(self, condition: SSAValue, then: Emit, otherwise: Emit) -> SSAValue:
        """The number that `then` or `otherwise` emits."""
        return self.if_(condition, lambda: [then()], lambda: [otherwise()])[0]

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """One of two numbers."""
        if a is b:
            return a
        return self.shared(
            ("select", condition, a, b),
            (condition, a, b),
            lambda: self.choose(condition, lambda: a, lambda: b),
        )

    def for_(
        self,
        start: Index,
        stop: Index,
        step: Index,
        init: Values,
        emit_body: Callable[[SSAValue, Values], Values],
        unroll: Attribute | None = None,
    ) -> Values:
        """A loop over indices, which carries values; a work-item's vectors have none."""
        known = [each for each in (start, stop, step) if isinstance(each, int)]
        if self.level is Level.LANE and len(known) == 3 and unroll is None:
            for index in range(*known):
                init = emit_body(self.index(index), init)
            return init
        block = Block(arg_types=[INDEX, *(value.type for value in init)])
        if isinstance(start, int) and start >= 0:
            self.counted.add(block.args[0])
        with self.at_end_of(block):
            values = emit_body(block.args[0], block.args[1:])
            if values:
                self.emit(control.YieldOp(values))
        first, last = self.as_value(start), self.as_value(stop)
        loop = control.ForOp(
            first, last, None if step == 1 else self.as_value(step), init, Region([block])
        )
        if unroll is not None:
            loop.unroll = unroll
        return self.emit(loop).results


_INDEX_OPERATIONS: dict[IndexOperation, type[arithmetic.BinaryArithmeticOperation]] = {
    IndexOperation.ADD: arithmetic.AddOp,
    IndexOperation.SUBTRACT: arithmetic.SubOp,
    IndexOperation.MULTIPLY: arithmetic.MulOp,
    IndexOperation.DIVIDE: arithmetic.DivOp,
    IndexOperation.REMAINDER: arithmetic.RemOp,
    IndexOperation.SHIFT_RIGHT: arithmetic.ShrOp,
    IndexOperation.SMALLER: arithmetic.MinOp,
    IndexOperation.LARGER: arithmetic.MaxOp,
}
"""The instruction for each operation on indices; divisions are of numbers that are not negative."""


def _in_type(value: float | complex, type_: Attribute) -> bool | int | float | complex:
    """A number as a type has it; integers wrap around."""
    if type_ == BOOL:
        return bool(value)
    if type_ in FLOATING_TYPES:
        assert not isinstance(value, complex)
        number = float(value)
        return number if math.isnan(number) else rounded_float(number, type_)
    if type_ in COMPLEX_TYPES:
        return complex(value)
    assert not isinstance(value, complex)
    return wrap(int(value), 8 * SIZE_IN_BYTES[type_])


def refuse_because(reason: str) -> Rule:
    """A rule that refuses an operation for a reason."""

    def refuse(operation: Operation, r: Lowering) -> None:
        raise r.error(f"{spelling_of(operation)} cannot be translated: {reason}")

    return refuse


def _is_constant_but_0(value: SSAValue) -> bool:
    constant = value.owner
    if not isinstance(constant, arithmetic.ConstantOp):
        return False
    return isa(constant.value, IntegerAttr) and constant.value.value.data != 0
