"""Matrices that a subgroup holds as a whole: the instructions of SPV_KHR_cooperative_matrix.

Intel's OpenCL runtime for CPUs compiles them to AMX if

- B is loaded packed, with the distance of its rows counted in components;
- bf16 components are declared as `i16`, and the product says that they are bf16;
- distances of rows are `i64`, and accesses have no memory operands;
- the module declares no capability but CooperativeMatrixKHR, although packed memory and products of
  bf16 belong to others.

It ends the whole process where it does not know what to do, so that what it does not know is
refused here.

Source: SPV_KHR_cooperative_matrix; SPV_INTEL_joint_matrix (`PackedINTEL`,
`MatrixAAndBBFloat16ComponentsINTEL`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, i32
from xdsl.ir import SSAValue

from xtile.dialects.core.cooperative_matrix import (
    WORD_BITS,
    CooperativeMatrixFillOp,
    CooperativeMatrixLoadOp,
    CooperativeMatrixMultiplyAddOp,
    CooperativeMatrixStoreOp,
    CooperativeMatrixType,
    MatrixUse,
    has_words,
    type_of,
)
from xtile.rewrite.descriptors import Descriptor
from xtile.rewrite.rebuilder import Rule
from xtile.targets.products import unit_for
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import bitcast_pointer, location, pointer_to
from xtile.translate.xegpu_to_spirv.types import cooperative_matrix_type, memory_type

_SIGNED_COMPONENTS = "|".join(
    f"Matrix{matrix}SignedComponentsKHR" for matrix in ("A", "B", "C", "Result")
)

_BFLOAT16_COMPONENTS = 0x40
"""MatrixAAndBBFloat16ComponentsINTEL, which Khronos's grammar does not have."""

_ROW_MAJOR = 0
_PACKED = 2
"""Layouts in memory: RowMajorKHR, and PackedINTEL, which Khronos's grammar does not have."""


def _load(operation: CooperativeMatrixLoadOp, lowering: Lowering) -> None:
    matrix = type_of(operation.result)
    is_packed = operation.packed is not None
    if matrix.use.data == MatrixUse.MATRIX_B and not is_packed:
        raise lowering.error(f"{lowering.target.name} loads {matrix} from packed memory only")
    memory = lowering.descriptor(operation.memory)
    # The words of an A hold its rows as they are.
    layout = _PACKED if matrix.use.data == MatrixUse.MATRIX_B else _ROW_MAJOR
    pointer = _pointer(lowering, memory, operation.indices, matrix)
    has_whole_words = is_packed and has_words(operation.memory)
    pitch = lowering.multiply(
        memory.strides[-2], WORD_BITS // matrix.bits if has_whole_words else 1
    )
    loaded = lowering.compute(
        "CooperativeMatrixLoadKHR",
        cooperative_matrix_type(matrix),
        pointer,
        lowering.integer(layout, i32),
        lowering.as_value(pitch),
    )
    lowering.define(operation.result, loaded)


def _store(operation: CooperativeMatrixStoreOp, lowering: Lowering) -> None:
    matrix = type_of(operation.matrix)
    memory = lowering.descriptor(operation.memory)
    lowering.do(
        "CooperativeMatrixStoreKHR",
        _pointer(lowering, memory, operation.indices, matrix),
        lowering.value(operation.matrix),
        lowering.integer(_ROW_MAJOR, i32),
        lowering.as_value(memory.strides[-2]),
    )


def _pointer(
    lowering: Lowering,
    memory: Descriptor,
    indices: tuple[SSAValue, ...],
    matrix: CooperativeMatrixType,
) -> SSAValue:
    """Points to the first component of a block."""
    first = location(lowering, memory, lowering.numbers(indices))
    pointer = pointer_to(lowering, memory, first)
    return bitcast_pointer(lowering, pointer, memory_type(matrix.component_type))


def _fill(operation: CooperativeMatrixFillOp, lowering: Lowering) -> None:
    """OpConstantNull is no way to fill a matrix with zeros: the runtime ends the process."""
    matrix = cooperative_matrix_type(type_of(operation.result))
    value = lowering.value(operation.value)
    lowering.define(operation.result, lowering.compute("CompositeConstruct", matrix, value))


def _multiply_add(operation: CooperativeMatrixMultiplyAddOp, lowering: Lowering) -> None:
    a, b, c = (type_of(operand) for operand in operation.operands)
    _check_product(lowering, a, b, c)
    is_bfloat16 = isinstance(a.component_type, BFloat16Type)
    product = lowering.compute(
        "CooperativeMatrixMulAddKHR",
        cooperative_matrix_type(c),
        *(lowering.value(operand) for operand in operation.operands),
        _BFLOAT16_COMPONENTS if is_bfloat16 else _SIGNED_COMPONENTS,
    )
    lowering.define(operation.result, product)


def _check_product(
    lowering: Lowering,
    a: CooperativeMatrixType,
    b: CooperativeMatrixType,
    c: CooperativeMatrixType,
) -> None:
    """Checks that the chip has a product."""
    target, units = lowering.target, lowering.target.cooperative_matrices
    (rows, depth), columns = a.shape, b.shape[1]
    factors, shape = (a.component_type, b.component_type), (rows, columns, depth)
    if not isinstance(unit_for(target, units, factors, c.component_type, shape=shape), str):
        return
    if not units:
        raise lowering.error(f"{target.name} has no cooperative matrices; cpu-amx has")
    shapes = ", ".join(f"{unit.rows} x {unit.columns} x {unit.depth} of {unit.a}" for unit in units)
    raise lowering.error(
        f"{target.name} has no product of {rows} x {columns} x {depth} elements of "
        f"{a.component_type}; it has {shapes}"
    )


RULES: dict[str, Rule] = {
    CooperativeMatrixFillOp.name: _fill,
    CooperativeMatrixLoadOp.name: _load,
    CooperativeMatrixMultiplyAddOp.name: _multiply_add,
    CooperativeMatrixStoreOp.name: _store,
}
"""The rule of each operation, by name."""
