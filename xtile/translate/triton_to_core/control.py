"""Control flow: loops and branches of `scf`, and blocks that branch to each other.

Triton's functions branch between blocks where they return early. Such blocks become branches of
`scf.if`: from a block that ends in a condition, both ways are followed to the first block that all
of them reach, or to the end of the function.

Source: MLIR, "scf Dialect", "cf Dialect"; Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

from xdsl.dialects import cf, scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.triton.tt.ops import AdvanceOp, CallOp, FuncOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.triton_to_core.blocks import BlockPointer
from xtile.translate.triton_to_core.raising import Raising, constant_of

Values = Sequence[SSAValue]

# --- loops and branches ---


def _translated(block: Block, raising: Raising) -> Operation:
    """Translates a block of `scf`; returns its last operation, which hands on its operands."""
    last = block.last_op
    assert last is not None
    for operation in block.ops:
        if operation is not last:
            raising.translate(operation)
    return last


def _check_parts(values: Values, types: Sequence[Attribute], raising: Raising) -> None:
    """Raises an error if what is handed on has other parts than what it takes turns with."""
    if [value.type for value in values] != list(types):
        raise raising.error(
            "of the pointers to blocks or descriptors that take turns here, one has a constant "
            "size or stride where another has none; give both the same, or none"
        )


def _yielded(block: Block, raising: Raising) -> list[SSAValue]:
    """Translates a block of `scf`; returns what its last operation hands on."""
    return raising.all_parts(_translated(block, raising).operands)


def _for(operation: scf.ForOp, raising: Raising) -> None:
    first, last, step = raising.values((operation.lb, operation.ub, operation.step))
    loop = _Loop(operation, raising)
    carried = [n for n, advanced in enumerate(loop.advanced) if advanced is None]
    examples = [operation.iter_args[n] for n in carried]
    old = operation.body.block
    block = Block(arg_types=[first.type, *(each.type for each in raising.all_parts(examples))])
    variable = block.args[0]
    raising.define(old.args[0], variable)
    if raising.facts.is_not_negative(first):
        divisor = gcd(raising.facts.divisor(first), raising.facts.divisor(step))
        raising.facts.assume(variable, divisor, True)
    raising.define_parts([old.args[1 + n] for n in carried], examples, block.args[1:])
    with raising.at_end_of(block):
        loop.define_advanced(raising.index_of(old.args[0]))
        end = _translated(old, raising)
        values = raising.all_parts(end.operands[n] for n in carried)
        _check_parts(values, [argument.type for argument in block.args[1:]], raising)
        raising.emit(scf.YieldOp(*values))
    initial = raising.all_parts(examples)
    made = raising.emit(scf.ForOp(first, last, step, initial, Region(block)))
    raising.define_parts([operation.results[n] for n in carried], examples, made.results)
    loop.define_results()


class _Loop:
    """A loop, of which pointers to blocks may move by as much in each iteration.

    Args:
        operation: The loop.
        raising: Where to emit.

    Attributes:
        advanced: For each value that the loop carries, by how many elements such a pointer moves
            for each unit of the loop's variable; None for other values.
    """

    def __init__(self, operation: scf.ForOp, raising: Raising) -> None:
        self._operation, self._raising = operation, raising
        step = constant_of(operation.step)
        self.advanced = [
            None if step is None else self._advanced(number, step)
            for number in range(len(operation.iter_args))
        ]

    def _advanced(self, number: int, step: int) -> tuple[int, ...] | None:
        pointer = self._raising.meaning(self._operation.iter_args[number])
        block = self._operation.body.block
        assert block.last_op is not None
        if not isinstance(pointer, BlockPointer):
            return None
        total, value = [0] * len(pointer.offsets), block.last_op.operands[number]
        while isinstance(value.owner, AdvanceOp):
            moves = [constant_of(offset) for offset in value.owner.offsets]
            if any(move is None or move % step for move in moves):
                return None
            total = [a + (b or 0) // step for a, b in zip(total, moves, strict=True)]
            value = value.owner.ptr
        return tuple(total) if value is block.args[1 + number] else None

    def define_advanced(self, variable: Index) -> None:
        """Records what such pointers are in an iteration, by the loop's variable."""
        body = self._operation.body.block
        self._define(body.args[1:], variable)

    def define_results(self) -> None:
        """Records what such pointers are behind the loop, if anybody asks."""
        results = self._operation.results
        pairs = zip(results, self.advanced, strict=True)
        if not any(result.uses for result, each in pairs if each is not None):
            return
        raising, operation = self._raising, self._operation
        first, last, step = (
            raising.index_of(each) for each in (operation.lb, operation.ub, operation.step)
        )
        length = raising.larger(raising.subtract(last, first), 0)
        end = raising.multiply(raising.divide_up(length, step), step)
        self._define(results, raising.add(first, end))

    def _define(self, values: Sequence[SSAValue], variable: Index) -> None:
        raising = self._raising
        first = raising.index_of(self._operation.lb)
        for number, each in enumerate(self.advanced):
            if each is None:
                continue
            pointer: BlockPointer = raising.meaning(self._operation.iter_args[number])
            done = raising.subtract(variable, first)
            moved = pointer.moved(raising, [raising.multiply(done, factor) for factor in each])
            raising.define(values[number], moved)


def _while(operation: scf.WhileOp, raising: Raising) -> None:
    initial = raising.all_parts(operation.arguments)
    old_before, old_after = operation.before_region.block, operation.after_region.block
    before = Block(arg_types=[value.type for value in initial])
    raising.define_parts(old_before.args, operation.arguments, before.args)
    with raising.at_end_of(before):
        condition, *handed = _yielded(old_before, raising)
        raising.emit(scf.ConditionOp(condition, *handed))
    types = [value.type for value in handed]
    after = Block(arg_types=types)
    last = old_before.last_op
    assert last is not None
    raising.define_parts(old_after.args, last.operands[1:], after.args)
    with raising.at_end_of(after):
        raising.emit(scf.YieldOp(*_yielded(old_after, raising)))
    loop = raising.emit(scf.WhileOp(initial, types, Region(before), Region(after)))
    raising.define_parts(operation.results, last.operands[1:], loop.results)


def _if(operation: scf.IfOp, raising: Raising) -> None:
    condition = raising.value(operation.cond)
    regions: list[Region] = []
    types: list[Attribute] = []
    for old in operation.regions:
        if not old.blocks:
            regions.append(Region())
            continue
        block = Block()
        with raising.at_end_of(block):
            values = _yielded(old.block, raising)
            raising.emit(scf.YieldOp(*values))
        if regions:
            _check_parts(values, types, raising)
        types = [value.type for value in values]
        regions.append(Region(block))
    then, otherwise = regions
    made = raising.emit(scf.IfOp(condition, types, then, otherwise))
    last = operation.true_region.block.last_op
    raising.define_parts(operation.results, () if last is None else last.operands, made.results)


# --- functions ---


def run_function(function: FuncOp, raising: Raising) -> Values:
    """Translates the body of a function whose arguments are known; returns what it returns."""
    entry = function.body.blocks[0]
    return _Body(function, raising).run(entry, None)


class _Body:
    """The blocks of a function, which branch to each other.

    Args:
        function: The function.
        raising: Where to emit.
    """

    def __init__(self, function: FuncOp, raising: Raising) -> None:
        self._raising = raising
        self._result_types = [raising.type(each) for each in function.function_type.outputs]
        self._joins = _joins(list(function.body.blocks), self._refuse_loop)

    def _refuse_loop(self, operation: Operation) -> None:
        raise self._raising.error(
            "blocks that branch back are a loop that has no scf.for or scf.while; those two are "
            "translated",
            operation,
        )

    def run(self, block: Block, stop: Block | None) -> Values:
        """Translates from a block on.

        Args:
            block: The first block; its arguments are known.
            stop: The block before which to stop; None for the end of the function.

        Returns:
            What the block to stop at gets, or what the function returns.
        """
        raising, last = self._raising, block.last_op
        assert last is not None
        for operation in block.ops:
            if operation is not last:
                raising.translate(operation)
        if isinstance(last, cf.BranchOp):
            return self._go(last.successor, raising.values(last.arguments), stop)
        if isinstance(last, cf.ConditionalBranchOp):
            return self._branch(last, block, stop)
        return raising.values(last.operands)

    def _go(self, block: Block, values: Values, stop: Block | None) -> Values:
        if block is stop:
            return values
        for argument, value in zip(block.args, values, strict=True):
            self._raising.define(argument, value)
        return self.run(block, stop)

    def _branch(
        self, operation: cf.ConditionalBranchOp, block: Block, stop: Block | None
    ) -> Values:
        raising, join = self._raising, self._joins[block]
        target = stop if join is None else join
        condition = raising.value(operation.cond)
        ways = (
            (operation.then_block, raising.values(operation.then_arguments)),
            (operation.else_block, raising.values(operation.else_arguments)),
        )
        regions: list[Region] = []
        for successor, values in ways:
            way = Block()
            with raising.at_end_of(way):
                raising.emit(scf.YieldOp(*self._go(successor, values, target)))
            regions.append(Region(way))
        then, otherwise = regions
        types = self._types(target)
        results = raising.emit(scf.IfOp(condition, types, then, otherwise)).results
        return results if target is None or target is stop else self._go(target, results, stop)

    def _types(self, target: Block | None) -> list[Attribute]:
        """The types of what arrives at a block, or is returned."""
        return self._result_types if target is None else self._raising.types(target.args)


def _joins(
    blocks: Sequence[Block], refuse: Callable[[Operation], None]
) -> dict[Block, Block | None]:
    """For each block the first one that every way from it to the end passes; None if there is none.

    Args:
        blocks: The blocks of a function.
        refuse: Raises an error at an operation that branches back.
    """
    passed: dict[Block, list[Block]] = {}

    def visit(block: Block, path: tuple[Block, ...]) -> list[Block]:
        """The block, and those behind it that every way passes, in order."""
        if block in passed:
            return passed[block]
        last = block.last_op
        assert last is not None
        if any(successor in (*path, block) for successor in last.successors):
            refuse(last)
        ways = [visit(successor, (*path, block)) for successor in last.successors]
        common = [each for each in ways[0] if all(each in way for way in ways)] if ways else []
        passed[block] = [block, *common]
        return passed[block]

    visit(blocks[0], ())
    return {block: (order[1] if len(order) > 1 else None) for block, order in passed.items()}


def _call(operation: CallOp, raising: Raising) -> None:
    """The body of the function instead of the call."""
    module = raising.old_function().parent_op()
    assert module is not None
    name = operation.callee.root_reference.data
    (function,) = (
        each for each in module.walk() if isinstance(each, FuncOp) and each.sym_name.data == name
    )
    if function.is_declaration:
        raise raising.error(f"@{name} has no body; it is defined in another module")
    given = [raising.meaning(argument) for argument in operation.arguments]
    with raising.calling():
        for argument, meaning in zip(function.body.blocks[0].args, given, strict=True):
            raising.define(argument, meaning)
        results = run_function(function, raising)
    for was, becomes in zip(operation.results, results, strict=True):
        raising.define(was, becomes)


RULES: dict[str, Rule] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.while": _while,
    "tt.call": _call,
}
"""The rule of each operation, by name."""
