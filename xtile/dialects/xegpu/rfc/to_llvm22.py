"""Says in LLVM 22's form what only the RFC's has, where other words mean exactly the same.

Source: RFC, `load_nd`: `vnni_axis = 1` does not move data, and `transpose_bit_width` transposes
groups of elements; `load_gather`: `transpose` puts the chunks along the first dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, StringAttr, VectorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.dialects.xegpu.attributes import (
    FenceScope,
    FenceScopeAttr,
    MemorySpace,
    MemorySpaceAttr,
)
from xtile.dialects.xegpu.ops.barriers import FenceOp
from xtile.dialects.xegpu.rfc.names import (
    BOUNDARY_CHECK,
    MEMORY_SCOPE,
    MODE,
    RFC_ATTRIBUTES,
    TRANSPOSE_BIT_WIDTH,
)
from xtile.dialects.xegpu.rfc.operations import OPERATIONS, MfenceOp
from xtile.dialects.xegpu.rfc.verifier import is_only_rfc, vnni_factor
from xtile.dialects.xegpu.types import TensorDescType
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of, span_of
from xtile.text.value_names import copy_name

_FORM = "cannot be said in LLVM 22's form of XeGPU; --xegpu-syntax=rfc prints it"


def to_llvm22(module: ModuleOp) -> None:
    """Replaces the operations of a module that LLVM 22 has no form for, in place.

    Raises:
        DiagnosticError: There is no other way to say one; there is an error for each of these, and
            the module is as it was.
    """
    operations = [operation for operation in module.walk() if _is_foreign(operation)]
    _check(module, operations)
    steps = [step for operation in operations for step in _rewrite(operation)]
    # A load's result that only products used is taken by these before its shape changes.
    for step in reversed(steps):
        if isinstance(step, ShapeCastOp) and not any(result.uses for result in step.results):
            copy_name(step.source, step.result)
            Rewriter.erase_op(step)


def _is_foreign(operation: Operation) -> bool:
    return is_only_rfc(operation) or operation.name in _DROPPED


def _rewrite(operation: Operation) -> list[Operation]:
    """Puts operations in the place of one, whose result the last of them gives."""
    steps = _REWRITES[operation.name](operation)
    for step in steps:
        step.location = operation.location
    Rewriter.replace_op(operation, steps, steps[-1].results)
    # xDSL gives the name of the old result to all of the new ones.
    for result in [result for step in steps[:-1] for result in step.results]:
        result.name_hint = None
    return steps


def _check(module: ModuleOp, operations: Sequence[Operation]) -> None:
    """Raises an error for each operation that there are no other words for."""
    source = source_of(module)
    diagnostics = Diagnostics()
    for operation in operations:
        reason = _reason(operation)
        if reason is not None:
            message = f"{reason}, which {_FORM}"
            diagnostics.error(source, span_of(operation, source), message)
    diagnostics.raise_if_errors()


def _reason(operation: Operation) -> str | None:
    """Why LLVM 22 cannot say an operation at all; None if it can."""
    name, attributes = operation.name, operation.attributes
    if name in _DROPPED and not _is_plain_fence(operation):
        return f"'{name}' is an operation of the RFC"
    if attributes.get(MODE) == StringAttr("simt"):
        return f"'{name}' works on the fragments that a sg_map gives to work items"
    if BOUNDARY_CHECK in attributes:
        return f"'{name}' switches boundary_check off, which its result's type has on"
    if MEMORY_SCOPE in attributes:
        has_shape = name == "xegpu.create_tdesc" or "const_shape" in operation.properties
        lack = "outside of global memory" if has_shape else "without the shape of its memory"
        return f"'{name}' takes an address {lack}"
    if name in ("xegpu.load", "xegpu.store") and len(_shape(operation.operands[-1])) > 1:
        return f"'{name}' has a mask with one element for each element of a chunk"
    return None


_DROPPED = {definition.name for definition in OPERATIONS}
"""The operations that LLVM 22 does not have."""


def _is_plain_fence(operation: Operation) -> bool:
    """Whether it is the fence of a work-group's global memory, which caches stay out of."""
    if not isinstance(operation, MfenceOp):
        return False
    words = (operation.memory_kind.data, operation.fence_op.data, operation.fence_scope.data)
    return words == ("ugm", "none", "local")


def _rewrite_mfence(operation: Operation) -> list[Operation]:
    fence = FenceOp.build(
        properties={
            "memory_kind": MemorySpaceAttr(MemorySpace.GLOBAL),
            "fence_scope": FenceScopeAttr(FenceScope.WORKGROUP),
        }
    )
    return [fence]


def _rewrite_load_nd(operation: Operation) -> list[Operation]:
    """Loads the block as it is, and orders its elements afterwards."""
    descriptor = cast("TensorDescType", operation.operands[0].type)
    result = operation.results[0].type
    count = descriptor.array_length
    blocks = () if count == 1 else (count,)
    block = VectorType(descriptor.element_type, (*blocks, *descriptor.get_shape()))
    steps = [_plain(operation, operation.operands, [block])]
    if TRANSPOSE_BIT_WIDTH in operation.attributes:
        steps += _transposed_groups(steps[-1].results[0], blocks, descriptor)
    if steps[-1].results[0].type != result:
        steps.append(_shape_cast(steps[-1].results[0], result))
    return steps


def _transposed_groups(
    value: SSAValue, blocks: tuple[int, ...], descriptor: TensorDescType
) -> list[Operation]:
    """Returns what swaps the rows of a block with its columns of 32 bits."""
    factor = vnni_factor(descriptor.element_type)
    rows, columns = descriptor.get_shape()
    groups = VectorType(descriptor.element_type, (*blocks, rows, columns // factor, factor))
    split = _shape_cast(value, groups)
    first = len(blocks)
    order = (*range(first), first + 1, first, first + 2)
    return [split, _transpose(split.results[0], order)]


def _rewrite_dpas(operation: Operation) -> list[Operation]:
    """Multiplies matrices of two dimensions."""
    lhs, *others = operation.operands
    element_type = cast("VectorType[Attribute]", lhs.type).element_type
    rows, *columns = _shape(lhs)
    matrix = VectorType(element_type, (rows, prod(columns)))
    if _before_cast(lhs).type == matrix:
        lhs = _before_cast(lhs)
    if lhs.type == matrix:
        return [_plain(operation, (lhs, *others), operation.result_types)]
    reshaped = _shape_cast(lhs, matrix)
    operands = (reshaped.results[0], *others)
    return [reshaped, _plain(operation, operands, operation.result_types)]


def _rewrite_load(operation: Operation) -> list[Operation]:
    """Loads the chunks as they lie in memory, and swaps the dimensions afterwards."""
    descriptor = cast("TensorDescType", operation.operands[0].type)
    chunks = VectorType(descriptor.element_type, descriptor.get_shape())
    load = _plain(operation, operation.operands, [chunks])
    return [load, _transpose(load.results[0], (1, 0))]


def _rewrite_store(operation: Operation) -> list[Operation]:
    """Swaps the dimensions, and stores the chunks as they lie in memory."""
    value, *others = operation.operands
    chunks = _transpose(value, (1, 0))
    return [chunks, _plain(operation, (chunks.results[0], *others), [])]


_REWRITES: dict[str, Callable[[Operation], list[Operation]]] = {
    "xegpu.dpas": _rewrite_dpas,
    "xegpu.load": _rewrite_load,
    "xegpu.load_nd": _rewrite_load_nd,
    "xegpu.mfence": _rewrite_mfence,
    "xegpu.store": _rewrite_store,
}
"""What says an operation in other words, by its name."""


def _plain(
    operation: Operation, operands: Sequence[SSAValue], result_types: Sequence[Attribute]
) -> Operation:
    """Returns an operation without what LLVM 22's form has no words for."""
    own = RFC_ATTRIBUTES[operation.name]
    ordered = TRANSPOSE_BIT_WIDTH in operation.attributes
    return type(operation).create(
        operands=operands,
        result_types=result_types,
        properties={
            name: value
            for name, value in operation.properties.items()
            if not (ordered and name == "transpose")
        },
        attributes={name: value for name, value in operation.attributes.items() if name not in own},
    )


def _shape_cast(value: SSAValue, result_type: Attribute) -> Operation:
    """Returns a vector with its elements in another shape."""
    return ShapeCastOp.create(operands=[value], result_types=[result_type])


def _before_cast(value: SSAValue) -> SSAValue:
    """Returns what a value was before it got its shape."""
    owner = value.owner
    return owner.source if isinstance(owner, ShapeCastOp) else value


def _transpose(value: SSAValue, order: Sequence[int]) -> Operation:
    """Returns a vector with its dimensions in another order."""
    vector = cast("VectorType[Attribute]", value.type)
    shape = [vector.get_shape()[dimension] for dimension in order]
    return TransposeOp.create(
        operands=[value],
        properties={"permutation": DenseArrayBase.from_list(i64, order)},
        result_types=[VectorType(vector.element_type, shape)],
    )


def _shape(value: SSAValue) -> tuple[int, ...]:
    return cast("VectorType[Attribute]", value.type).get_shape()
