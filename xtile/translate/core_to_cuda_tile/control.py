"""Structured control flow, which carries the tokens of memory, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.arith.comparisons import CMPI_PREDICATES
from xtile.dialects.core.attributes import INDEPENDENT_ATTRIBUTE
from xtile.dialects.cuda_tile.ops import control_flow, loops
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.memory_order import Carried, State
from xtile.translate.tiles.loop_counter import LoopCounter

# --- loops ---


def _for(operation: scf.ForOp, lowering: Lowering) -> None:
    variable, *sums = operation.body.block.args
    counter = LoopCounter(operation, lowering)
    order = lowering.order
    carried, before = order.carried(operation), order.state()
    independent = _Independent(lowering, before) if _is_independent(operation) else None
    initial = [*lowering.flat(operation.iter_args), *order.tokens(carried)]
    types = [counter.lower.type, *(value.type for value in initial)]
    block = Block(arg_types=types)
    count = len(initial) - len(carried)
    with lowering.at_end_of(block):
        lowering.define(variable, counter.variable(block.args[0]))
        lowering.define_flat(sums, block.args[1 : 1 + count])
        tokens = block.args[1 + count :]
        _name_tokens(tokens)
        order.take(carried, tokens)
        if independent is not None:
            independent.enter(carried)
        yielded = _translate_body(operation.body.block, lowering)
        last = order.tokens(carried)
        if independent is not None:
            last = independent.leave(tokens, last)
        lowering.emit(control_flow.ContinueOp([*lowering.flat(yielded), *last]))
    loop = loops.ForOp(
        counter.lower,
        counter.upper,
        counter.step,
        initial,
        Region(block),
        unsigned_cmp=counter.is_unsigned,
    )
    results = lowering.emit(loop).results
    lowering.define_flat(operation.results, results[:count])
    _leave(lowering, carried, before, results[count:])


def _is_independent(operation: Operation) -> bool:
    return INDEPENDENT_ATTRIBUTE in operation.attributes


class _Independent:
    """The tokens of a loop whose iterations do not wait for each other.

    Each iteration waits for what was before the loop, and what is after it for all iterations.
    """

    def __init__(self, lowering: Lowering, before: State) -> None:
        self._lowering = lowering
        self._before = before

    def enter(self, carried: Carried) -> None:
        """Starts an iteration."""
        self._lowering.order.rewind(self._before, carried)

    def leave(self, before: Sequence[SSAValue], own: Sequence[SSAValue]) -> list[SSAValue]:
        """The tokens that an iteration hands on."""
        join = self._lowering.order.joined
        return [join(pair) for pair in zip(before, own, strict=True)]


def _translate_body(block: Block, lowering: Lowering) -> Sequence[SSAValue]:
    """Translates the operations of a block but the last one, and returns the operands of that."""
    last = block.last_op
    for operation in block.ops:
        if operation is not last or operation.name != "scf.yield":
            lowering.translate(operation)
    return () if last is None or last.name != "scf.yield" else last.operands


def _leave(lowering: Lowering, carried: Carried, before: State, tokens: Sequence[SSAValue]) -> None:
    """Goes on behind a loop or a branch."""
    _name_tokens(tokens)
    lowering.order.restore(before)
    lowering.order.take(carried, tokens)


def _name_tokens(tokens: Sequence[SSAValue]) -> None:
    for token in tokens:
        token.name_hint = "token"


def _while(operation: scf.WhileOp, lowering: Lowering) -> None:
    order = lowering.order
    carried, before = order.carried(operation), order.state()
    initial = [*lowering.flat(operation.arguments), *order.tokens(carried)]
    block = Block(arg_types=[value.type for value in initial])
    count = len(initial) - len(carried)
    first, second = operation.before_region.block, operation.after_region.block
    with lowering.at_end_of(block):
        lowering.define_flat(first.args, block.args[:count])
        order.take(carried, block.args[count:])
        last = first.last_op
        assert isinstance(last, scf.ConditionOp)
        for inner in first.ops:
            if inner is not last:
                lowering.translate(inner)
        handed = [*lowering.flat(last.args), *order.tokens(carried)]
        goes_on, ends = Block(), Block()
        with lowering.at_end_of(goes_on):
            lowering.emit(control_flow.YieldOp([]))
        with lowering.at_end_of(ends):
            lowering.emit(control_flow.BreakOp(handed))
        lowering.emit(
            control_flow.IfOp(lowering.value(last.condition), [], Region(goes_on), Region(ends))
        )
        for was, becomes in zip(second.args, last.args, strict=True):
            lowering.define(was, lowering.meaning(becomes))
        yielded = _translate_body(second, lowering)
        lowering.emit(control_flow.ContinueOp([*lowering.flat(yielded), *order.tokens(carried)]))
    types = [value.type for value in handed]
    results = lowering.emit(loops.LoopOp(initial, types, Region(block))).results
    kept = len(handed) - len(carried)
    lowering.define_flat(operation.results, results[:kept])
    _leave(lowering, carried, before, results[kept:])


# --- branches ---


def _if(operation: scf.IfOp, lowering: Lowering) -> None:
    condition = lowering.value(operation.cond)
    bodies = [_body_of(region, lowering) for region in operation.regions]
    bounds = dict(_bounds(operation.cond, lowering))
    chosen = bodies[0]

    def body() -> Sequence[SSAValue]:
        assert chosen is not None, "only the second region may be left out"
        with lowering.facts.bounded(bounds):
            return chosen()

    _branch(operation, lowering, condition, [body, *bodies[1:]])


def _bounds(condition: SSAValue, lowering: Lowering) -> Iterator[tuple[SSAValue, Index]]:
    """Indices with a size of memory that is greater where a condition holds."""
    owner = condition.owner
    if isinstance(owner, arith.AndIOp):
        for operand in owner.operands:
            yield from _bounds(operand, lowering)
    if isinstance(owner, arith.CmpiOp) and owner.predicate.value.data == _LESS_THAN:
        value, bound = (lowering.number(operand) for operand in owner.operands)
        is_size = isinstance(bound, int) or isinstance(owner.rhs.owner, memref.DimOp)
        if isinstance(value, SSAValue) and is_size:
            yield value, bound


_LESS_THAN = CMPI_PREDICATES.index("slt")


Body = Callable[[], Sequence[SSAValue]]
"""Emits what is done in a branch, and returns what it yields, as values of the source."""


def _body_of(region: Region, lowering: Lowering) -> Body | None:
    block = region.blocks.first
    return None if block is None else lambda: _translate_body(block, lowering)


def _branch(
    operation: Operation,
    lowering: Lowering,
    condition: SSAValue,
    bodies: Sequence[Body | None],
) -> None:
    order = lowering.order
    carried, before = order.carried(operation), order.state()
    types = [type_ for result in operation.results for type_ in lowering.flat_types(result.type)]
    tokens = order.token_types(carried)
    blocks: list[Block | None] = []
    for body in bodies:
        if body is None and not tokens:
            blocks.append(None)
            continue
        block = Block()
        with lowering.at_end_of(block):
            yielded = () if body is None else body()
            values = [*lowering.flat(yielded), *order.tokens(carried)]
            lowering.emit(control_flow.YieldOp(values))
        blocks.append(block)
        order.restore(before)
    chosen, other = blocks
    assert chosen is not None
    regions = Region(chosen), None if other is None else Region(other)
    emitted = control_flow.IfOp(condition, [*types, *tokens], *regions)
    results = lowering.emit(emitted).results
    lowering.define_flat(operation.results, results[: len(types)])
    _leave(lowering, carried, before, results[len(types) :])


def _index_switch(operation: scf.IndexSwitchOp, lowering: Lowering) -> None:
    raise lowering.error("scf.index_switch cannot be translated to CUDA Tile IR; use scf.if")


RULES: dict[str, Rule] = {
    "scf.for": _for,
    "scf.if": _if,
    "scf.index_switch": _index_switch,
    "scf.while": _while,
}
"""The rule of each operation, by name."""
