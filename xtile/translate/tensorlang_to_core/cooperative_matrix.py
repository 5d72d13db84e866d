"""Cooperative matrix instructions that compute, on the vectors of the transposed matrices.

The `vector` dialect is loaded where a kernel has matrices only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.subgroup import FragmentExtractOp, FragmentInsertOp, MapOp, YieldOp
from xtile.dialects.tensorlang.attributes import MatrixUse, ReduceMode
from xtile.dialects.tensorlang.operation import integer_value
from xtile.dialects.tensorlang.ops import arithmetic
from xtile.dialects.tensorlang.ops import cooperative_matrix as ops
from xtile.dialects.tensorlang.types import (
    FLOATING_TYPES,
    I32,
    INDEX,
    SIZE_IN_BYTES,
    CoopmatrixType,
)
from xtile.dialects.tensorlang.verifier.regions import subgroup_size_of
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.arithmetic import combine
from xtile.translate.tensorlang_to_core.casts import convert
from xtile.translate.tensorlang_to_core.emit import (
    accumulation_type,
    constant,
    emit,
    make,
)
from xtile.translate.tensorlang_to_core.subgroup import is_uniform
from xtile.translate.tensorlang_to_core.types import core_type, element_of


def _matrix(type: Attribute) -> CoopmatrixType:
    assert isinstance(type, CoopmatrixType)
    return type


# Products


def _combining_kind(name: str) -> Attribute:
    """How a reduction combines components, such as `add`."""
    from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag

    return CombiningKindAttr(CombiningKindFlag(name))


def _mul_add(operation: ops.CooperativeMatrixMulAddOp, r: Rebuilder) -> None:
    """D^T := B^T A^T + C^T, in the accumulation type (docs/semantics.md 5.3)."""
    a, b, c = r.values((operation.a, operation.b, operation.c))
    product = multiply_add(r, a, b, convert(r, c, accumulation_type(c.type)))
    rounded = convert(r, product, c.type)
    r.define(operation.result, convert(r, rounded, core_type(operation.result.type)))


def multiply_add(r: Rebuilder, a: SSAValue, b: SSAValue, wide: SSAValue) -> SSAValue:
    """A B + C in the type of C, from and to the vectors of the transposed matrices."""
    from xtile.dialects.vector.contractions import product_of_matrices

    if not _contracts(element_of(a.type), element_of(b.type), element_of(wide.type)):
        a, b = convert(r, a, wide.type), convert(r, b, wide.type)
    return r.emit(product_of_matrices(b, a, wide)).result


def _contracts(a: Attribute, b: Attribute, wide: Attribute) -> bool:
    """Whether `vector.contract` itself extends the factors to the type of the sum."""
    both_floating = a in FLOATING_TYPES and wide in FLOATING_TYPES
    both_integer = isinstance(a, IntegerType) and isinstance(wide, IntegerType)
    return a == b and (both_floating or both_integer)


# Element by element


def _construct(operation: ops.CooperativeMatrixConstructOp, r: Rebuilder) -> None:
    type = core_type(operation.result.type)
    r.replace(operation, make("vector.broadcast", [r.value(operation.number)], [type]))


def _scale(operation: ops.CooperativeMatrixScaleOp, r: Rebuilder) -> None:
    scalar, matrix = r.values((operation.scalar, operation.matrix))
    if is_uniform(operation.scalar):
        factor = emit(r, "vector.broadcast", [scalar], matrix.type)
        r.define(operation.result, combine(r, arithmetic.MulOp, factor, matrix))
        return
    # Each component is scaled by the number of the work-item that holds it.
    body = _map_body(matrix.type)
    with r.at_end_of(body):
        product = combine(r, arithmetic.MulOp, scalar, body.args[2])
        r.emit(YieldOp(operands=[[product]]))
    r.replace(operation, _map(matrix, matrix.type, body))


def _apply(operation: ops.CooperativeMatrixApplyOp, r: Rebuilder) -> None:
    """The source's row is the vector's column."""
    matrix = r.value(operation.matrix)
    body = _map_body(matrix.type)
    row, column, component = operation.body.block.args
    with r.at_end_of(body):
        r.define(row, convert(r, body.args[1], I32))
        r.define(column, convert(r, body.args[0], I32))
        r.define(component, body.args[2])
        r.translate_block(operation.body.block)
    r.replace(operation, _map(matrix, core_type(operation.result.type), body))


def _map_body(type: Attribute) -> Block:
    body = Block(arg_types=[INDEX, INDEX, element_of(type)])
    for argument, name in zip(body.args, ("row", "column", "value"), strict=True):
        argument.name_hint = name
    return body


def _map(matrix: SSAValue, type: Attribute, body: Block) -> MapOp:
    return MapOp.build(operands=[[matrix]], result_types=[[type]], regions=[Region([body])])


# Reductions


@dataclass(frozen=True)
class _Reduction:
    """How a reduction combines floats and integers."""

    floating: str
    integer: str


_REDUCTIONS: dict[type[ops.CooperativeMatrixReduce], _Reduction] = {
    ops.CooperativeMatrixReduceAddOp: _Reduction("add", "add"),
    ops.CooperativeMatrixReduceMaxOp: _Reduction("maxnumf", "maxsi"),
    ops.CooperativeMatrixReduceMinOp: _Reduction("minnumf", "minsi"),
}


def _reduce(operation: ops.CooperativeMatrixReduce, r: Rebuilder) -> None:
    r.define(operation.result, reduced(operation, r.value(operation.matrix), r))


def reduced(operation: ops.CooperativeMatrixReduce, matrix: SSAValue, r: Rebuilder) -> SSAValue:
    """What a reduction makes of a translated matrix.

    Sums are computed in the accumulation type and rounded once (docs/semantics.md 5.4).
    """
    result = core_type(operation.result.type)
    is_sum = isinstance(operation, ops.CooperativeMatrixReduceAddOp)
    wide = convert(r, matrix, accumulation_type(matrix.type)) if is_sum else matrix
    element = element_of(wide.type)
    reduction = _REDUCTIONS[type(operation)]
    kind = reduction.floating if element in FLOATING_TYPES else reduction.integer
    # The source's rows run along the vector's columns.
    dimension = 0 if operation.reduce_mode.data is ReduceMode.ROW else 1
    sums = _line(wide.type, 1 - dimension)
    properties = {
        "kind": _combining_kind(kind),
        "reduction_dims": DenseArrayBase.from_list(i64, [dimension]),
    }
    operands = [wide, constant(r, _neutral(kind, element), sums)]
    combined = emit(r, "vector.multi_reduction", operands, sums, properties)
    narrow = convert(r, combined, element_of(result))
    return emit(r, "vector.shape_cast", [narrow], result)


def _line(type: Attribute, dimension: int) -> VectorType:
    assert isa(type, VectorType)
    return VectorType(type.element_type, [type.get_shape()[dimension]])


def _neutral(kind: str, type: Attribute) -> float | int:
    """What combined with any number gives that number."""
    if kind == "add":
        return 0
    if type in FLOATING_TYPES:
        # The result is a NaN if there are only NaNs, so that no number can be neutral.
        return math.nan
    most = 1 << (8 * SIZE_IN_BYTES[type] - 1)
    return -most if kind == "maxsi" else most - 1


# Entries of the work-items' vectors


def _extract(operation: ops.CooperativeMatrixExtractOp, r: Rebuilder) -> None:
    r.define(operation.result, extracted(operation, r.value(operation.matrix), r))


def extracted(
    operation: ops.CooperativeMatrixExtractOp, matrix: SSAValue, r: Rebuilder
) -> SSAValue:
    """The entry of a translated matrix that an instruction names."""
    extract = FragmentExtractOp.build(
        operands=[matrix],
        result_types=[element_of(matrix.type)],
        properties={"index": _entry(operation, r)},
    )
    return r.emit(extract).result


def _insert(operation: ops.CooperativeMatrixInsertOp, r: Rebuilder) -> None:
    value, matrix = r.values((operation.value, operation.matrix))
    r.define(operation.result, inserted(operation, value, matrix, r))


def inserted(
    operation: ops.CooperativeMatrixInsertOp, value: SSAValue, matrix: SSAValue, r: Rebuilder
) -> SSAValue:
    """A translated matrix in which a value replaces the entry that an instruction names."""
    insert = FragmentInsertOp.build(
        operands=[value, matrix],
        result_types=[matrix.type],
        properties={"index": _entry(operation, r)},
    )
    return r.emit(insert).result


def _entry(
    operation: ops.CooperativeMatrixExtractOp | ops.CooperativeMatrixInsertOp, r: Rebuilder
) -> IntegerAttr:
    """The core form's number of an entry (docs/semantics.md 5.2, docs/core-form.md "Fragments").

    Both number the columns of a block of rows first and then the blocks, but the source stores
    8-bit blocks of a matrix_b in pairs.

    Raises:
        DiagnosticError: The number depends on the subgroup size, which is not known.
    """
    type, entry = _matrix(operation.matrix.type), integer_value(operation.index)
    if type.use is not MatrixUse.B or SIZE_IN_BYTES[type.component_type] != 1:
        return IntegerAttr(entry, i64)
    size = subgroup_size_of(operation)
    if size is None:
        raise r.error(
            f"which component entry {entry} of {type.text()} is depends on the subgroup size; "
            "give the function the attribute subgroup_size"
        )
    rows = min(type.rows, size)
    blocks, columns = type.rows // rows, -(-type.columns * rows // size)
    pair = 2 if blocks % 2 == 0 else 1
    first, column, group = entry % pair, entry // pair % columns, entry // (pair * columns)
    return IntegerAttr(column + (first + group * pair) * columns, i64)


RULES: Rules = {
    ops.CooperativeMatrixApplyOp: _apply,
    ops.CooperativeMatrixConstructOp: _construct,
    ops.CooperativeMatrixExtractOp: _extract,
    ops.CooperativeMatrixInsertOp: _insert,
    ops.CooperativeMatrixMulAddOp: _mul_add,
    ops.CooperativeMatrixReduceAddOp: _reduce,
    ops.CooperativeMatrixReduceMaxOp: _reduce,
    ops.CooperativeMatrixReduceMinOp: _reduce,
    ops.CooperativeMatrixScaleOp: _scale,
}
