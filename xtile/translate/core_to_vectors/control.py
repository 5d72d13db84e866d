"""Structured control flow, through which matrices pass in private memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.translate.core_to_vectors.lowering import UNROLL_ATTRIBUTE, Vectors
from xtile.translate.core_to_vectors.matrix import Matrix, shape_of
from xtile.translate.rule import Rule


def _split(values: Sequence[SSAValue]) -> tuple[list[SSAValue], list[SSAValue]]:
    """Those values that are no matrices, and those that are."""
    matrices = [value for value in values if isinstance(value.type, VectorType)]
    return [value for value in values if not isinstance(value.type, VectorType)], matrices


def _variables(lowering: Vectors, values: Sequence[SSAValue]) -> list[Matrix]:
    """New private memory for matrices that control flow hands on."""
    made: list[Matrix] = []
    for value in values:
        element = lowering.component_type(value.type)
        rows, columns = shape_of(value.type)
        buffer = lowering.allocate(element, rows * columns)
        made.append(lowering.stored(buffer, (rows, columns), element))
    return made


def _define_all(lowering: Vectors, old: Sequence[SSAValue], new: Sequence[Matrix]) -> None:
    for value, matrix in zip(old, new, strict=True):
        lowering.define(value, matrix)


def _assign(lowering: Vectors, values: Sequence[SSAValue], targets: Sequence[Matrix]) -> None:
    """Stores matrices in the memory of others, as if all at once."""
    pairs: list[tuple[Matrix, SSAValue]] = []
    for value, target in zip(values, targets, strict=True):
        matrix = lowering.matrix(value)
        assert target.buffer is not None
        if matrix.buffer is not target.buffer:
            pairs.append((matrix, target.buffer))
    written = {buffer for _, buffer in pairs}
    copies: list[SSAValue] = []
    safe: list[tuple[Matrix, SSAValue]] = []
    for matrix, buffer in pairs:
        if matrix.others & written or matrix.aligned & (written - {buffer}):
            copy = lowering.allocate(matrix.element, matrix.count)
            lowering.store_matrix(matrix, copy)
            copies.append(copy)
            matrix = lowering.stored(copy, matrix.shape, matrix.element)
        safe.append((matrix, buffer))
    for matrix, buffer in safe:
        lowering.store_matrix(matrix, buffer)
    for copy in copies:
        lowering.free(copy)


def _region(
    lowering: Vectors, old: Region, variables: Sequence[Matrix], targets: Sequence[Matrix]
) -> Region:
    """A region of at most one block, translated.

    Args:
        lowering: Where to emit.
        old: The region.
        variables: What the matrices among its arguments have become.
        targets: Where the matrices go that it hands on.
    """
    if old.blocks.first is None:
        return Region()
    block = old.block
    scalars, matrices = _split(block.args)
    _define_all(lowering, matrices, variables)
    types = [t for scalar in scalars for t in lowering.types(scalar.type)]
    new = Block(arg_types=types)
    lowering.define_flat(scalars, list(new.args))
    with lowering.at_end_of(new):
        for operation in block.ops:
            if isinstance(operation, scf.YieldOp | scf.ConditionOp):
                _end(operation, lowering, targets)
            else:
                lowering.translate(operation)
    return Region([new])


def _end(operation: Operation, lowering: Vectors, targets: Sequence[Matrix]) -> None:
    scalars, matrices = _split(operation.operands)
    _assign(lowering, matrices, targets)
    lowering.emit(type(operation).create(operands=lowering.flat(scalars)))
    lowering.release_after(operation)


def _if(operation: scf.IfOp, lowering: Vectors) -> None:
    scalars, matrices = _split(operation.results)
    targets = _variables(lowering, matrices)
    types = [t for scalar in scalars for t in lowering.types(scalar.type)]
    condition = lowering.value(operation.cond)
    first, second = (_region(lowering, region, (), targets) for region in operation.regions)
    new = lowering.emit(scf.IfOp(condition, types, first, second))
    lowering.define_flat(scalars, list(new.results))
    _define_all(lowering, matrices, targets)


def _for(operation: scf.ForOp, lowering: Vectors) -> None:
    """A loop; what is known of its variable is recorded before its body is translated."""
    lower, upper, step = lowering.values([operation.lb, operation.ub, operation.step])
    scalars, matrices = _split(operation.iter_args)
    old = operation.body.block
    _, arguments = _split(old.args)
    variables = _variables(lowering, arguments)
    _assign(lowering, matrices, variables)
    _define_all(lowering, arguments, variables)
    own, _ = _split(old.args)
    block = Block(arg_types=[t for scalar in own for t in lowering.types(scalar.type)])
    lowering.define_flat(own, list(block.args))
    facts = lowering.facts
    divisor = gcd(facts.divisor(lower), facts.divisor(step))
    facts.assume(block.args[0], divisor, facts.is_not_negative(lower))
    with lowering.at_end_of(block):
        for inner in old.ops:
            if isinstance(inner, scf.YieldOp):
                _end(inner, lowering, variables)
            else:
                lowering.translate(inner)
    new = scf.ForOp(lower, upper, step, lowering.flat(scalars), Region([block]))
    for name, attribute in operation.attributes.items():
        # The operations on matrices are loops themselves.
        if name != UNROLL_ATTRIBUTE or not matrices:
            new.attributes[name] = attribute
    lowering.emit(new)
    results, made = _split(operation.results)
    lowering.define_flat(results, list(new.results))
    _define_all(lowering, made, variables)


def _while(operation: scf.WhileOp, lowering: Vectors) -> None:
    """The matrices of the condition and those of the body have memory of their own."""
    scalars, matrices = _split(operation.operands)
    before = _variables(lowering, matrices)
    _assign(lowering, matrices, before)
    results, made = _split(operation.results)
    after = _variables(lowering, made)
    types = [t for result in results for t in lowering.types(result.type)]
    regions = [
        _region(lowering, operation.before_region, before, after),
        _region(lowering, operation.after_region, after, before),
    ]
    new = scf.WhileOp.create(
        operands=lowering.flat(scalars),
        result_types=types,
        properties=operation.properties.copy(),
        attributes=operation.attributes.copy(),
        regions=regions,
    )
    lowering.emit(new)
    lowering.define_flat(results, list(new.results))
    _define_all(lowering, made, after)
    for variable in before:
        assert variable.buffer is not None
        lowering.free(variable.buffer)


RULES: dict[str, Rule] = {
    scf.ForOp.name: _for,
    scf.IfOp.name: _if,
    scf.WhileOp.name: _while,
}
