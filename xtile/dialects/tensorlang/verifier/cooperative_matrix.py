"""Rules of the cooperative matrix instructions.

Source: tensor language reference, the sections "Cooperative matrix ...".
"""

from __future__ import annotations

from xdsl.ir import Attribute

from xtile.dialects.tensorlang.attributes import MatrixUse, ReduceMode
from xtile.dialects.tensorlang.ops import cooperative_matrix as ops
from xtile.dialects.tensorlang.types import (
    COMPLEX_TYPES,
    I32,
    CoopmatrixType,
    MemrefType,
    is_cast_allowed,
    is_promotable,
    promote,
    type_text,
)
from xtile.dialects.tensorlang.verifier.problem import (
    Problem,
    Problems,
    at_operand,
    mnemonic_of,
    rule,
)
from xtile.dialects.tensorlang.verifier.regions import block_of, subgroup_size_of

LoadingOp = ops.CooperativeMatrixLoadOp | ops.CooperativeMatrixAtomicLoadOp
StoringOp = (
    ops.CooperativeMatrixStoreOp
    | ops.CooperativeMatrixAtomicStoreOp
    | ops.CooperativeMatrixAtomicUpdate
)


def _matrix(type: Attribute) -> CoopmatrixType:
    assert isinstance(type, CoopmatrixType)
    return type


def work_item_vector_length(type: CoopmatrixType, subgroup_size: int) -> int:
    """How many components of a matrix each work-item of a subgroup holds.

    The rows are split into blocks of at most the subgroup size; a block's columns are dealt out to
    the work-items, `subgroup_size / rows` columns at a time (reference implementation: "Coopmatrix
    layout").
    """
    rows = min(type.rows, subgroup_size)
    blocks = type.rows // rows
    return blocks * -(-rows * type.columns // subgroup_size)


# Memory


@rule(ops.CooperativeMatrixLoadOp, ops.CooperativeMatrixAtomicLoadOp, reads=("memref", "result"))
def loaded_type(operation: LoadingOp) -> Problems:
    """The memref is a matrix of the component type."""
    yield from _matrix_memref(operation, operation.memref.type)
    yield from _component(operation, _matrix(operation.result.type), operation.memref.type)


@rule(
    ops.CooperativeMatrixStoreOp,
    ops.CooperativeMatrixAtomicStoreOp,
    ops.CooperativeMatrixAtomicUpdate,
    reads=("memref", "matrix"),
)
def stored_type(operation: StoringOp) -> Problems:
    """The memref is a matrix of the component type."""
    yield from _matrix_memref(operation, operation.memref.type)
    yield from _component(operation, _matrix(operation.matrix.type), operation.memref.type)


@rule(ops.CooperativeMatrixAtomicUpdate, reads=("matrix", "result"))
def updated_type(operation: ops.CooperativeMatrixAtomicUpdate) -> Problems:
    """The result has the matrix' type; complex numbers have no maximum."""
    yield from _result_type(operation, operation.matrix.type)
    if not isinstance(operation, ops.CooperativeMatrixAtomicAddOp):
        yield from _ordered(operation, _matrix(operation.matrix.type))


@rule(ops.CooperativeMatrixPrefetchOp)
def prefetched_block(operation: ops.CooperativeMatrixPrefetchOp) -> Problems:
    """The memref is a matrix, the cache level not negative and the block not empty."""
    yield from _matrix_memref(operation, operation.memref.type)
    if operation.level.value.data < 0:
        message = f"the cache level is {operation.level.value.data} but must not be negative"
        yield Problem(operation, message)
    for what in ("rows", "columns"):
        size: int = getattr(operation, what).value.data
        if size < 1:
            yield Problem(operation, f"the number of {what} is {size} but must be at least 1")


def _matrix_memref(operation: ops.CooperativeMatrixOperation, type: Attribute) -> Problems:
    assert isinstance(type, MemrefType)
    if type.order != 2:
        message = f"{type_text(type)} has order {type.order} but must be a matrix (order 2)"
        yield at_operand(operation, "memref", message)


def _component(
    operation: ops.CooperativeMatrixOperation, matrix: CoopmatrixType, memref: Attribute
) -> Problems:
    assert isinstance(memref, MemrefType)
    if matrix.component_type != memref.element_type:
        message = f"the component type is {type_text(matrix.component_type)} but the memref's "
        message += f"element type is {type_text(memref.element_type)}; they must be equal"
        yield at_operand(operation, "memref", message)


# Values


@rule(ops.CooperativeMatrixApplyOp)
def applied_region(operation: ops.CooperativeMatrixApplyOp) -> Problems:
    """The region's arguments are the row, the column and the component."""
    type = _matrix(operation.result.type)
    yield from _result_type(operation, operation.matrix.type)
    block = block_of(operation.body)
    given = [argument.type for argument in block.args] if block else []
    wanted = [I32, I32, type.component_type]
    if block is None or len(given) != 3:
        message = f"the region has {len(given) or 'no'} arguments but needs row, column and "
        yield Problem(operation, f"{message}component", "header")
        return
    for argument, type in zip(block.args, wanted, strict=True):
        if argument.type != type:
            message = f"the argument is {type_text(argument.type)} but must be {type_text(type)}"
            yield Problem(operation, message, argument)


@rule(ops.CooperativeMatrixConstructOp)
def constructed_type(operation: ops.CooperativeMatrixConstructOp) -> Problems:
    """The number has the component type."""
    yield from _scalar(operation, "number", _matrix(operation.result.type))


@rule(ops.CooperativeMatrixExtractOp)
def extracted_type(operation: ops.CooperativeMatrixExtractOp) -> Problems:
    """The result has the component type, and the index is in the work-item's vector."""
    type = _matrix(operation.matrix.type)
    yield from _result_type(operation, type.component_type)
    yield from _vector_index(operation, operation.index.value.data, type)


@rule(ops.CooperativeMatrixInsertOp)
def inserted_type(operation: ops.CooperativeMatrixInsertOp) -> Problems:
    """The value has the component type, and the index is in the work-item's vector."""
    type = _matrix(operation.matrix.type)
    yield from _scalar(operation, "value", type)
    yield from _result_type(operation, type)
    yield from _vector_index(operation, operation.index.value.data, type)


@rule(ops.CooperativeMatrixScaleOp)
def scaled_type(operation: ops.CooperativeMatrixScaleOp) -> Problems:
    """The scalar has the component type."""
    yield from _scalar(operation, "scalar", _matrix(operation.matrix.type))
    yield from _result_type(operation, operation.matrix.type)


def _scalar(
    operation: ops.CooperativeMatrixOperation, operand: str, matrix: CoopmatrixType
) -> Problems:
    type: Attribute = getattr(operation, operand).type
    if type != matrix.component_type:
        message = f"the {operand} is {type_text(type)} but the component type is "
        message += f"{type_text(matrix.component_type)}; they must be equal"
        yield at_operand(operation, operand, message)


def _result_type(operation: ops.CooperativeMatrixOperation, wanted: Attribute) -> Problems:
    type = operation.results[0].type
    if type != wanted:
        message = f"{mnemonic_of(operation)} returns {type_text(wanted)} here, not "
        yield Problem(operation, f"{message}{type_text(type)}", "result")


def _ordered(operation: ops.CooperativeMatrixOperation, matrix: CoopmatrixType) -> Problems:
    if matrix.component_type in COMPLEX_TYPES:
        message = f"{mnemonic_of(operation)} does not take {type_text(matrix.component_type)}; "
        yield at_operand(operation, "matrix", f"{message}complex numbers have no order")


def _vector_index(
    operation: ops.CooperativeMatrixOperation, index: int, matrix: CoopmatrixType
) -> Problems:
    subgroup_size = subgroup_size_of(operation)
    if index < 0:
        yield Problem(operation, f"the index is {index} but must not be negative")
    elif subgroup_size is not None:
        length = work_item_vector_length(matrix, subgroup_size)
        if index >= length:
            message = f"the index is {index} but must be less than {length}, the number of "
            yield Problem(operation, f"{message}components that each work-item holds")


# Matrix operations


@rule(ops.CooperativeMatrixMulAddOp)
def multiplied_uses(operation: ops.CooperativeMatrixMulAddOp) -> Problems:
    """A is a matrix_a, B a matrix_b, and C and D are matrix_acc."""
    uses = (("a", MatrixUse.A), ("b", MatrixUse.B), ("c", MatrixUse.ACC))
    for operand, use in uses:
        type = _matrix(getattr(operation, operand).type)
        if type.use is not use:
            message = f"{operand.upper()} is a {type.use.value} but must be a {use.value}"
            yield at_operand(operation, operand, message)
    result = _matrix(operation.result.type)
    if result.use is not MatrixUse.ACC:
        message = f"the result is a {result.use.value} but must be a matrix_acc"
        yield Problem(operation, message, "result")


@rule(ops.CooperativeMatrixMulAddOp)
def multiplied_shapes(operation: ops.CooperativeMatrixMulAddOp) -> Problems:
    """C and D are the size of AB, and their rows are split evenly over the subgroup."""
    a, b, c = (_matrix(operand.type) for operand in operation.operands)
    d = _matrix(operation.result.type)
    if a.columns != b.rows:
        message = f"A has {a.columns} columns but B has {b.rows} rows; they must be equal"
        yield at_operand(operation, "b", message)
    if c.shape != (a.rows, b.columns):
        message = f"C is {c.rows}x{c.columns} but must be {a.rows}x{b.columns}, the shape of AB"
        yield at_operand(operation, "c", message)
    if d.shape != c.shape:
        message = f"the result is {d.rows}x{d.columns} but C is {c.rows}x{c.columns}; "
        yield Problem(operation, f"{message}they must have one shape", "result")
    # The rows of C and D are those of A.
    yield from _rows_over_subgroup(operation, "a", "A", a)


@rule(ops.CooperativeMatrixMulAddOp)
def multiplied_types(operation: ops.CooperativeMatrixMulAddOp) -> Problems:
    """promote(type(A), type(B)) ⪯ type(C), and C can be cast to D."""
    a, b, c = (_matrix(operand.type).component_type for operand in operation.operands)
    d = _matrix(operation.result.type).component_type
    product = promote(a, b)
    if product is None:
        message = f"the component types of A and B are {type_text(a)} and {type_text(b)}; "
        yield at_operand(operation, "b", f"{message}one must be promotable to the other")
    elif not is_promotable(product, c):
        message = f"the component type of AB is {type_text(product)}, which cannot be promoted to "
        yield at_operand(operation, "c", f"{message}{type_text(c)}, that of C")
    if not is_cast_allowed(c, d):
        message = f"the component type of C is {type_text(c)}, which cannot be cast to "
        yield Problem(operation, f"{message}{type_text(d)}, that of the result", "result")


@rule(ops.CooperativeMatrixReduce)
def reduced_type(operation: ops.CooperativeMatrixReduce) -> Problems:
    """A row reduction leaves one column, a column reduction one row."""
    matrix = _matrix(operation.matrix.type)
    by_rows = operation.reduce_mode.data is ReduceMode.ROW
    rows, columns = (matrix.rows, 1) if by_rows else (1, matrix.columns)
    wanted = CoopmatrixType.get(matrix.component_type, rows, columns, matrix.use)
    yield from _result_type(operation, wanted)
    yield from _rows_over_subgroup(operation, "matrix", "the matrix", matrix)
    if not isinstance(operation, ops.CooperativeMatrixReduceAddOp):
        yield from _ordered(operation, matrix)


def _rows_over_subgroup(
    operation: ops.CooperativeMatrixOperation, operand: str, name: str, matrix: CoopmatrixType
) -> Problems:
    subgroup_size = subgroup_size_of(operation)
    if subgroup_size is not None and matrix.rows % subgroup_size != 0:
        message = f"{name} has {matrix.rows} rows, which must be a multiple of the subgroup size, "
        yield at_operand(operation, operand, f"{message}{subgroup_size}")
