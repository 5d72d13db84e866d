"""Cooperative matrices with complex components: two matrices, of the real and the imaginary parts.

Vectors hold no complex numbers. In memory, the parts are every second number
(`core.complex_part`); what has no arithmetic on parts is computed component by component
(`core.map`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.core.subgroup import MapOp, YieldOp
from xtile.dialects.tensorlang.ops import arithmetic
from xtile.dialects.tensorlang.ops import cooperative_matrix as ops
from xtile.dialects.tensorlang.types import COMPLEX_TYPES, I32, INDEX, CoopmatrixType
from xtile.dialects.tensorlang.verifier.constants import attribute_value
from xtile.rewrite.emitter import part_views
from xtile.rewrite.rebuilder import Rebuilder, Rule, Rules
from xtile.translate.tensorlang_to_core import cooperative_matrix, matrix_access
from xtile.translate.tensorlang_to_core.arithmetic import combine
from xtile.translate.tensorlang_to_core.casts import complex_parts, convert, create_complex
from xtile.translate.tensorlang_to_core.emit import accumulation_type, constant, emit
from xtile.translate.tensorlang_to_core.subgroup import is_uniform
from xtile.translate.tensorlang_to_core.types import core_type, element_of


@dataclass(frozen=True)
class ComplexMatrix:
    """What a matrix with complex components has become: the vectors of its parts."""

    real: SSAValue
    imaginary: SSAValue

    @property
    def parts(self) -> tuple[SSAValue, SSAValue]:
        """Both vectors."""
        return self.real, self.imaginary


def is_complex_matrix(type: Attribute) -> bool:
    """Whether a type is that of a matrix with complex components."""
    return isinstance(type, CoopmatrixType) and type.component_type in COMPLEX_TYPES


def with_parts(real: Rules, of_parts: Rules) -> Rules:
    """The rules of instructions of which some may be on matrices with complex components.

    Args:
        real: The rules on everything else.
        of_parts: Those on these matrices.
    """
    return {**real, **{each: _choice(real[each], rule) for each, rule in of_parts.items()}}


def _choice(real: Rule, of_parts: Rule) -> Rule:
    def rule(operation: Operation, r: Rebuilder) -> None:
        values = (*operation.operands, *operation.results)
        is_complex = any(is_complex_matrix(value.type) for value in values)
        (of_parts if is_complex else real)(operation, r)

    return rule


# Values in control flow


def flat(r: Rebuilder, old: Sequence[SSAValue]) -> list[SSAValue]:
    """What values have become, one after the other; a complex matrix is two."""
    meanings = [r.meaning(value) for value in old]
    return [
        value
        for meaning in meanings
        for value in (meaning.parts if isinstance(meaning, ComplexMatrix) else (meaning,))
    ]


def flat_types(old: Sequence[SSAValue]) -> list[Attribute]:
    """The types of what values become, one after the other."""
    return [
        core_type(value.type) for value in old for _ in range(1 + is_complex_matrix(value.type))
    ]


def define_flat(r: Rebuilder, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
    """Records what values have become, from all of it one after the other."""
    remaining = iter(new)
    for value in old:
        first = next(remaining)
        is_complex = is_complex_matrix(value.type)
        r.define(value, ComplexMatrix(first, next(remaining)) if is_complex else first)


# Memory


def _views(r: Rebuilder, memref: SSAValue) -> list[SSAValue]:
    return part_views(r, r.value(memref))


def _load(operation: ops.CooperativeMatrixLoadOp, r: Rebuilder) -> None:
    views = _views(r, operation.memref)
    parts = [matrix_access.load_from(operation, view, r) for view in views]
    r.define(operation.result, ComplexMatrix(*parts))


def _store(operation: ops.CooperativeMatrixStoreOp, r: Rebuilder) -> None:
    matrix: ComplexMatrix = r.meaning(operation.matrix)
    for part, view in zip(matrix.parts, _views(r, operation.memref), strict=True):
        matrix_access.store_to(operation, part, view, r)


def _atomic(operation: matrix_access.Atomic, r: Rebuilder) -> None:
    """Each part is updated on its own, which the reference allows."""
    parts: Sequence[SSAValue | None] = (None, None)
    if not isinstance(operation, ops.CooperativeMatrixAtomicLoadOp):
        parts = r.meaning(operation.matrix).parts
    views = _views(r, operation.memref)
    old = [
        matrix_access.update_of(operation, part, view, r)
        for part, view in zip(parts, views, strict=True)
    ]
    for result in operation.results:
        r.define(result, ComplexMatrix(*old))


# Arithmetic on the parts


def _part_by_part(operation: arithmetic.AddOp | arithmetic.SubOp, r: Rebuilder) -> None:
    a, b = r.meaning(operation.a), r.meaning(operation.b)
    parts = [combine(r, type(operation), x, y) for x, y in zip(a.parts, b.parts, strict=True)]
    r.define(operation.result, ComplexMatrix(*parts))


def _multiply(operation: arithmetic.MulOp, r: Rebuilder) -> None:
    a, b = r.meaning(operation.a), r.meaning(operation.b)
    r.define(operation.result, _product(r, a, b))


def _product(r: Rebuilder, a: ComplexMatrix, b: ComplexMatrix) -> ComplexMatrix:
    def times(x: SSAValue, y: SSAValue) -> SSAValue:
        return combine(r, arithmetic.MulOp, x, y)

    squares = times(a.real, b.real), times(a.imaginary, b.imaginary)
    mixed = times(a.real, b.imaginary), times(a.imaginary, b.real)
    return ComplexMatrix(
        combine(r, arithmetic.SubOp, *squares), combine(r, arithmetic.AddOp, *mixed)
    )


def _negated(r: Rebuilder, value: SSAValue) -> SSAValue:
    return emit(r, "arith.negf", [value], value.type)


def _neg(operation: arithmetic.NegOp, r: Rebuilder) -> None:
    a: ComplexMatrix = r.meaning(operation.a)
    r.define(operation.result, ComplexMatrix(*(_negated(r, part) for part in a.parts)))


def _conj(operation: arithmetic.ConjOp, r: Rebuilder) -> None:
    a: ComplexMatrix = r.meaning(operation.a)
    r.define(operation.result, ComplexMatrix(a.real, _negated(r, a.imaginary)))


def _re(operation: arithmetic.ReOp, r: Rebuilder) -> None:
    r.define(operation.result, r.meaning(operation.a).real)


def _im(operation: arithmetic.ImOp, r: Rebuilder) -> None:
    r.define(operation.result, r.meaning(operation.a).imaginary)


def _cast(operation: arithmetic.CastOp, r: Rebuilder) -> None:
    """To a complex matrix, from another one or from a real one without imaginary part."""
    type, meaning = core_type(operation.result.type), r.meaning(operation.a)
    if isinstance(meaning, ComplexMatrix):
        parts = [convert(r, part, type) for part in meaning.parts]
    else:
        parts = [convert(r, meaning, type), constant(r, 0, type)]
    r.define(operation.result, ComplexMatrix(*parts))


def _constant(operation: arithmetic.ConstantOp, r: Rebuilder) -> None:
    value, type = attribute_value(operation.value), core_type(operation.result.type)
    assert isinstance(value, complex)
    parts = (constant(r, number, type) for number in (value.real, value.imag))
    r.define(operation.result, ComplexMatrix(*parts))


def _construct(operation: ops.CooperativeMatrixConstructOp, r: Rebuilder) -> None:
    type = core_type(operation.result.type)
    r.define(operation.result, _splat(r, r.value(operation.number), type))


def _splat(r: Rebuilder, number: SSAValue, type: Attribute) -> ComplexMatrix:
    parts = complex_parts(r, number)
    return ComplexMatrix(*(emit(r, "vector.broadcast", [part], type) for part in parts))


# Component by component


def _by_component(
    r: Rebuilder,
    matrices: Sequence[ComplexMatrix],
    results: int,
    compute: Callable[[Block, list[SSAValue]], None],
) -> list[SSAValue]:
    """What a function of the components in one position gives.

    Args:
        r: Where to emit.
        matrices: The matrices.
        results: How many vectors of real numbers it gives.
        compute: Emits the function of the complex numbers, and what yields the results.
    """
    sources = [part for matrix in matrices for part in matrix.parts]
    type = sources[0].type
    body = Block(arg_types=[INDEX, INDEX, *[element_of(type)] * len(sources)])
    names = ("row", "column", *["real", "imaginary"] * len(matrices))
    for argument, name in zip(body.args, names, strict=True):
        argument.name_hint = name
    with r.at_end_of(body):
        pairs = zip(body.args[2::2], body.args[3::2], strict=True)
        compute(body, [create_complex(r, *pair) for pair in pairs])
    operands, types = [sources], [[type] * results]
    mapped = MapOp.build(operands=operands, result_types=types, regions=[Region([body])])
    return list(r.emit(mapped).results)


def component_parts(r: Rebuilder, old: SSAValue) -> list[SSAValue]:
    """A component as `core.yield` takes it: a complex one is two numbers."""
    value = r.value(old)
    return [*complex_parts(r, value)] if value.type in COMPLEX_TYPES else [value]


def _divide(operation: arithmetic.DivOp, r: Rebuilder) -> None:
    def quotient(_body: Block, numbers: list[SSAValue]) -> None:
        result = combine(r, arithmetic.DivOp, *numbers)
        r.emit(YieldOp(operands=[complex_parts(r, result)]))

    operands = [r.meaning(operation.a), r.meaning(operation.b)]
    r.define(operation.result, ComplexMatrix(*_by_component(r, operands, 2, quotient)))


def _abs(operation: arithmetic.AbsOp, r: Rebuilder) -> None:
    def size(body: Block, numbers: list[SSAValue]) -> None:
        type = body.args[2].type
        r.emit(YieldOp(operands=[[emit(r, "complex.abs", numbers, type)]]))

    (result,) = _by_component(r, [r.meaning(operation.a)], 1, size)
    r.define(operation.result, result)


def _scale(operation: ops.CooperativeMatrixScaleOp, r: Rebuilder) -> None:
    scalar, matrix = r.value(operation.scalar), r.meaning(operation.matrix)
    if is_uniform(operation.scalar):
        factor = _splat(r, scalar, matrix.real.type)
        r.define(operation.result, _product(r, factor, matrix))
        return

    # Each component is scaled by the number of the work-item that holds it.
    def product(_body: Block, numbers: list[SSAValue]) -> None:
        result = combine(r, arithmetic.MulOp, scalar, *numbers)
        r.emit(YieldOp(operands=[complex_parts(r, result)]))

    r.define(operation.result, ComplexMatrix(*_by_component(r, [matrix], 2, product)))


def _apply(operation: ops.CooperativeMatrixApplyOp, r: Rebuilder) -> None:
    """The source's row is the vector's column."""
    row, column, component = operation.body.block.args

    def region(body: Block, numbers: list[SSAValue]) -> None:
        r.define(row, convert(r, body.args[1], I32))
        r.define(column, convert(r, body.args[0], I32))
        r.define(component, numbers[0])
        r.translate_block(operation.body.block)

    parts = _by_component(r, [r.meaning(operation.matrix)], 2, region)
    r.define(operation.result, ComplexMatrix(*parts))


# Products, reductions and entries


def _mul_add(operation: ops.CooperativeMatrixMulAddOp, r: Rebuilder) -> None:
    """Products of the parts, in the accumulation type; A, B and C may be real."""
    (a, a_imaginary), (b, b_imaginary), c = (
        meaning.parts if isinstance(meaning, ComplexMatrix) else (meaning, None)
        for meaning in map(r.meaning, (operation.a, operation.b, operation.c))
    )
    result, narrow = core_type(operation.result.type), c[0].type
    wide = accumulation_type(narrow)
    real = cooperative_matrix.multiply_add(r, a, b, convert(r, c[0], wide))
    imaginary = constant(r, 0, wide) if c[1] is None else convert(r, c[1], wide)
    if a_imaginary is not None and b_imaginary is not None:
        minus = _negated(r, a_imaginary)
        real = cooperative_matrix.multiply_add(r, minus, b_imaginary, real)
    if b_imaginary is not None:
        imaginary = cooperative_matrix.multiply_add(r, a, b_imaginary, imaginary)
    if a_imaginary is not None:
        imaginary = cooperative_matrix.multiply_add(r, a_imaginary, b, imaginary)
    rounded = (convert(r, part, narrow) for part in (real, imaginary))
    r.define(operation.result, ComplexMatrix(*(convert(r, part, result) for part in rounded)))


def _reduce_add(operation: ops.CooperativeMatrixReduceAddOp, r: Rebuilder) -> None:
    matrix: ComplexMatrix = r.meaning(operation.matrix)
    parts = (cooperative_matrix.reduced(operation, part, r) for part in matrix.parts)
    r.define(operation.result, ComplexMatrix(*parts))


def _extract(operation: ops.CooperativeMatrixExtractOp, r: Rebuilder) -> None:
    matrix: ComplexMatrix = r.meaning(operation.matrix)
    parts = (cooperative_matrix.extracted(operation, part, r) for part in matrix.parts)
    r.define(operation.result, create_complex(r, *parts))


def _insert(operation: ops.CooperativeMatrixInsertOp, r: Rebuilder) -> None:
    matrix: ComplexMatrix = r.meaning(operation.matrix)
    values = complex_parts(r, r.value(operation.value))
    pairs = zip(values, matrix.parts, strict=True)
    parts = (cooperative_matrix.inserted(operation, *pair, r) for pair in pairs)
    r.define(operation.result, ComplexMatrix(*parts))


RULES: Rules = {
    arithmetic.AbsOp: _abs,
    arithmetic.AddOp: _part_by_part,
    arithmetic.CastOp: _cast,
    arithmetic.ConjOp: _conj,
    arithmetic.ConstantOp: _constant,
    arithmetic.DivOp: _divide,
    arithmetic.ImOp: _im,
    arithmetic.MulOp: _multiply,
    arithmetic.NegOp: _neg,
    arithmetic.ReOp: _re,
    arithmetic.SubOp: _part_by_part,
    ops.CooperativeMatrixApplyOp: _apply,
    ops.CooperativeMatrixAtomicAddOp: _atomic,
    ops.CooperativeMatrixAtomicLoadOp: _atomic,
    ops.CooperativeMatrixAtomicStoreOp: _atomic,
    ops.CooperativeMatrixConstructOp: _construct,
    ops.CooperativeMatrixExtractOp: _extract,
    ops.CooperativeMatrixInsertOp: _insert,
    ops.CooperativeMatrixLoadOp: _load,
    ops.CooperativeMatrixMulAddOp: _mul_add,
    ops.CooperativeMatrixReduceAddOp: _reduce_add,
    ops.CooperativeMatrixScaleOp: _scale,
    ops.CooperativeMatrixStoreOp: _store,
}
"""Instructions on matrices with complex components; control flow hands them on as two vectors."""
