"""The blocks of a function: what is emitted, and how far out."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue

from xtile.dialects.spirv import operation
from xtile.rewrite.indices import Index, IndexArithmetic
from xtile.rewrite.rebuilder import NOTHING, OperationT, Rebuilder, RuleTable
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.translate.xegpu_to_spirv.constants import Constants
from xtile.translate.xegpu_to_spirv.types import of_length

ResultT = TypeVar("ResultT")

_OF_ANY_TYPE = frozenset({"Bitcast"})
"""Those instructions that are shared whose operands do not tell the type of the result."""


def block_of(value: SSAValue) -> Block | None:
    """The block that defines a value; `isinstance` takes long for values."""
    if type(value) is OpResult:
        return value.op.parent
    return cast(BlockArgument, value).block


class BlockBuilder(Rebuilder, IndexArithmetic):
    """Builds the blocks of functions.

    A function's body is a list of blocks, but rules see the source's nesting: the innermost open
    block belongs to the construct that is being translated, those around it stay open until the
    construct is complete, so that `shared` can append to them what does not vary inside.

    Args:
        rules: What becomes of each operation.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self, rules: RuleTable, source: Source | None, diagnostics: Diagnostics | None
    ) -> None:
        super().__init__(rules, "SPIR-V", source, diagnostics)
        self.declarations = Block()
        self.constants = Constants(self.declarations)
        self.body = Region()
        self._declared: dict[Hashable, Any] = {}
        self._depths: dict[Block | None, int] = {}
        self._levels: list[list[Block]] = []
        self._known: list[dict[Hashable, Any]] = []

    # --- blocks ---

    @override
    @contextmanager
    def in_function(self, body: Block) -> Generator[Block]:
        """Appends to the body of a new function, which begins with a block."""
        region = body.parent
        assert region is not None
        before = self._open, self._known, self._depths, self._levels, self.body
        self._open, self._known, self._levels, self.body = [body], [{}], [[]], region
        self._depths = {self.declarations: 0, body: 0}
        yield body
        self._open, self._known, self._depths, self._levels, self.body = before

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Appends to a new block for a while, which is in the construct that is open."""
        self._depths[block] = len(self._open)
        self.body.add_block(block)
        self._open.append(block)
        self._known.append({})
        self._levels.append([block])
        yield
        self._open.pop()
        self._known.pop()
        # What is visible behind the construct belongs to the one around it from now on.
        complete = self._levels.pop()
        for inner in complete:
            self._depths[inner] -= 1
        self._levels[-1] += complete

    def continue_in(self, block: Block) -> None:
        """Goes on in a new block, which follows the current one."""
        self._depths[block] = len(self._open) - 1
        self._levels[-1].append(block)
        self.body.add_block(block)
        self._open[-1] = block

    @override
    def shared(
        self, key: Hashable, operands: Iterable[SSAValue], make: Callable[[], ResultT]
    ) -> ResultT:
        depth = self._depth_of(operands)
        known = self._known[depth]
        found = known.get(key, NOTHING)
        if found is NOTHING:
            found = known[key] = self._at(depth, make)
        return found

    def _depth_of(self, operands: Iterable[SSAValue]) -> int:
        """The innermost construct in which one of the values is computed; the function's is 0."""
        depth = 0
        depths = self._depths
        for value in operands:
            own = depths[block_of(value)]
            if own > depth:
                depth = own
        return depth

    def _at(self, depth: int, make: Callable[[], ResultT]) -> ResultT:
        """Appends what `make` emits to a construct that is open."""
        before = self._open
        if depth + 1 == len(before):
            return make()
        self._open = before[: depth + 1]
        made = make()
        self._open = before
        return made

    @override
    def depth(self, number: Index) -> int:
        """In how many constructs a number is computed; numbers that are known are in none."""
        return 0 if isinstance(number, int) else self._depths[block_of(number)]

    def place_at_entry(self, variable: Operation) -> None:
        """Puts a variable where SPIR-V has them, at the start of the function."""
        entry = self.body.blocks.first
        assert entry is not None
        first = entry.first_op
        if first is None:
            entry.add_op(variable)
        else:
            entry.insert_op_before(variable, first)

    def once(self, key: Hashable, declare: Callable[[], ResultT]) -> ResultT:
        """What `declare` makes for the module, once for each key."""
        known = self._declared.get(key)
        if known is None:
            known = self._declared[key] = declare()
        return known

    # --- emitters ---

    @override
    def emit(self, operation: OperationT) -> OperationT:
        if self._current is not None:
            operation.location = self._current.location
        self._open[-1].add_op(operation)
        return operation

    def compute(self, name: str, type_: Attribute, *arguments: Any) -> SSAValue:
        """Emits an instruction and returns its result."""
        return self.emit(operation(name, type_, *arguments)).results[0]

    def do(self, name: str, *arguments: Any) -> None:
        """Emits an instruction without a result."""
        self.emit(operation(name, None, *arguments))

    def shared_compute(self, name: str, type_: Attribute, *operands: SSAValue) -> SSAValue:
        """Emits an instruction that depends on its operands only, unless it was emitted before."""
        # Values are told apart by their addresses: hashing them takes longer.
        key = name, *map(id, operands), type_ if name in _OF_ANY_TYPE else None
        depth = self._depth_of(operands)
        known = self._known[depth]
        value = known.get(key)
        if value is None:
            value = known[key] = self._at(depth, lambda: self.compute(name, type_, *operands))
        return value

    def integer(self, number: int, type_: Attribute) -> SSAValue:
        """An integer constant, or a vector of equal ones."""
        return self.constants.integer(number, type_)

    def floating(self, number: float, type_: Attribute) -> SSAValue:
        """A constant of a floating type, or a vector of equal ones."""
        return self.constants.floating(number, type_)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a` where the condition holds, `b` elsewhere."""
        return self.compute("Select", a.type, condition, a, b)

    def splat(self, value: SSAValue, length: int) -> SSAValue:
        """A piece of which all elements are a scalar."""
        if length == 1:
            return value
        type_ = of_length(value.type, length)

        def make() -> SSAValue:
            nothing = self.constants.undefined(type_)
            first = self.compute("CompositeInsert", type_, value, nothing, 0)
            return self.compute("VectorShuffle", type_, first, nothing, *[0] * length)

        return self.shared(("splat", value, length), (value,), make)

    def true(self) -> SSAValue:
        """The condition that always holds."""
        return self.integer(1, i1)
