"""Control flow: loops and branches of `scf`, and blocks that branch to each other.

Triton's functions branch between blocks where they return early. Such blocks become branches of
`scf.if`: from a block that ends in a condition, both ways are followed to the first block that all
of them reach, or to the end of the function.

Source: MLIR, "scf Dialect", "cf Dialect"; Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import cf, scf
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.triton.tt.ops import CallOp, FuncOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.triton_to_core.raising import Raising

Values = Sequence[SSAValue]

# --- loops and branches ---


def _yielded(block: Block, raising: Raising) -> list[SSAValue]:
    """Translates a block of `scf`; returns what its last operation hands on."""
    last = block.last_op
    assert last is not None
    for operation in block.ops:
        if operation is not last:
            raising.translate(operation)
    return raising.all_parts(last.operands)


def _for(operation: scf.ForOp, raising: Raising) -> None:
    initial = raising.all_parts(operation.iter_args)
    first, last, step = raising.values((operation.lb, operation.ub, operation.step))
    old = operation.body.block
    block = Block(arg_types=[first.type, *(value.type for value in initial)])
    raising.define(old.args[0], block.args[0])
    raising.define_parts(old.args[1:], operation.iter_args, block.args[1:])
    with raising.at_end_of(block):
        raising.emit(scf.YieldOp(*_yielded(old, raising)))
    loop = raising.emit(scf.ForOp(first, last, step, initial, Region(block)))
    raising.define_parts(operation.results, operation.iter_args, loop.results)


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
