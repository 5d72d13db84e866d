"""What `ttg` and `amdg` have beside local memory: buffers and conversions.

Source: Triton 3.9, `TritonGPUOps.td`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float8E8M0FNUType,
    IntegerAttr,
    IntegerType,
    VectorType,
    f32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.atomic_kinds import kind_attribute
from xtile.dialects.core.atomics import AtomicCompareAndSwapOp, AtomicRMWOp
from xtile.dialects.core.packing import UnpackOp
from xtile.dialects.core.pointers import PointerAddOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.memory_orders import Ordering
from xtile.dialects.shapes import with_element
from xtile.dialects.triton.amdg.ops import (
    BufferAtomicCASOp,
    BufferAtomicRMWOp,
    BufferLoadOp,
    BufferLoadToLocalOp,
    BufferStoreOp,
    ConcatOp,
    ExtractSliceOp,
    ScaledUpcastFp4Op,
    ScaledUpcastFp8Op,
    UpcastMXFPOp,
)
from xtile.dialects.triton.amdg.ops.buffers import BufferOperation
from xtile.dialects.triton.tt.enumerations import (
    MemSemantic,
    MemSyncScope,
    RMWOp,
    ScaleDotElemType,
)
from xtile.dialects.triton.ttg.ops import Fp4ToFpOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.triton_to_core.arithmetic import converted
from xtile.translate.triton_to_core.local_memory import Token, copy_to, forget, memory_of
from xtile.translate.triton_to_core.memory import KINDS
from xtile.translate.triton_to_core.products import element_type, scales
from xtile.translate.triton_to_core.raising import Raising

# --- buffers ---


def _pointers(operation: BufferOperation, raising: Raising) -> SSAValue:
    """The pointer and the offsets, which are not negative, as a tile of pointers."""
    pointer, offsets = raising.values((operation.ptr, operation.offsets))
    spread = raising.spread(pointer, shape_of(offsets.type))
    return raising.compute(PointerAddOp, [spread, offsets], spread.type)


def _load(operation: BufferLoadOp, raising: Raising) -> None:
    """What is left out is 0 where nothing else is said."""
    type_ = raising.type(operation.result.type)
    mask, other = raising.optional(operation.mask), raising.optional(operation.other)
    if mask and not other:
        other = [raising.constant(0, type_)]
    pointers = _pointers(operation, raising)
    made = raising.compute(GatherLoadOp, [pointers, [], mask, other], type_)
    raising.define(operation.result, made)


def _store(operation: BufferStoreOp, raising: Raising) -> None:
    value, mask = raising.value(operation.value), raising.optional(operation.mask)
    pointers = _pointers(operation, raising)
    raising.emit(ScatterStoreOp.build(operands=[value, pointers, [], mask]))


def _load_to_local(operation: BufferLoadToLocalOp, raising: Raising) -> None:
    mask, other = raising.optional(operation.mask), raising.optional(operation.other)
    copy_to(
        raising,
        memory_of(raising, operation.dest),
        _pointers(operation, raising),
        mask[0] if mask else None,
        other[0] if other else None,
    )
    raising.define(operation.token, Token())


def _order(operation: BufferAtomicRMWOp | BufferAtomicCASOp) -> dict[str, Attribute]:
    semantic = MemSemantic(operation.sem.value.data)
    return Ordering.said(semantic, MemSyncScope(operation.scope.value.data)).properties


def _update(operation: BufferAtomicRMWOp, raising: Raising) -> None:
    kind = KINDS[RMWOp(operation.atomic_rmw_op.value.data)]
    value, mask = raising.value(operation.value), raising.optional(operation.mask)
    properties = {"kind": kind_attribute(kind), **_order(operation)}
    pointers = _pointers(operation, raising)
    made = raising.compute(AtomicRMWOp, [value, pointers, [], mask], value.type, properties)
    raising.define(operation.result, made)


def _compare_and_swap(operation: BufferAtomicCASOp, raising: Raising) -> None:
    expected, value = raising.values((operation.cmp, operation.val))
    pointers = _pointers(operation, raising)
    made = raising.compute(
        AtomicCompareAndSwapOp,
        [expected, value, pointers, [], []],
        value.type,
        _order(operation),
    )
    raising.define(operation.result, made)


# --- parts of tensors ---


def _extract_slice(operation: ExtractSliceOp, raising: Raising) -> None:
    value, type_ = raising.value(operation.source), raising.type(operation.result.type)
    offsets = [int(each) for each in operation.static_offsets.get_values()]
    raising.define(operation.result, raising.slice(value, offsets, shape_of(type_)))


def _concat(operation: ConcatOp, raising: Raising) -> None:
    """The sources are a grid in row-major order."""
    sources, shape = (
        raising.values(operation.sources),
        shape_of(raising.type(operation.result.type)),
    )
    part = shape_of(sources[0].type)
    counts = [size // own for size, own in zip(shape, part, strict=True)]
    assert prod(counts) == len(sources)
    joined = raising.reshape(raising.joined(sources, 0), [*counts, *part])
    rank = len(part)
    order = [axis for i in range(rank) for axis in (i, rank + i)]
    raising.define(operation.result, raising.reshape(raising.transposed(joined, order), shape))


# --- numbers ---


def _unpacked(raising: Raising, value: SSAValue, axis: int) -> SSAValue:
    """The numbers of 4 bits in bytes."""
    shape = list(shape_of(value.type))
    shape[axis] *= 2
    properties = {"axis": IntegerAttr(axis, i64)}
    return raising.compute(UnpackOp, [value], VectorType(Float4E2M1FNType(), shape), properties)


def _fp4_to_fp(operation: Fp4ToFpOp, raising: Raising) -> None:
    numbers = _unpacked(raising, raising.value(operation.src), operation.axis.value.data)
    element = value_type(raising.type(operation.result.type))
    raising.define(operation.result, converted(raising, numbers, element))


def _scaled(raising: Raising, numbers: SSAValue, scale: SSAValue, element: Attribute) -> SSAValue:
    """Numbers times powers of two, of which one may stand for several that follow each other."""
    given = value_type(scale.type)
    if isinstance(given, IntegerType):
        scale = scales(raising, scale)
    elif given != f32 and not isinstance(given, Float8E8M0FNUType):
        scale = converted(raising, scale, f32)
    wide = converted(raising, scale, f32)
    factors = _repeated(raising, wide, shape_of(numbers.type))
    product = raising.compute(
        arith.MulfOp, [converted(raising, numbers, f32), factors], factors.type
    )
    return converted(raising, product, element)


def _repeated(raising: Raising, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """A vector each of whose elements is repeated along dimensions that are larger in a shape."""
    before = shape_of(value.type)
    if tuple(before) == tuple(shape):
        return value
    split = [n for size in before for n in (size, 1)]
    spread = [n for size, own in zip(shape, before, strict=True) for n in (own, size // own)]
    return raising.reshape(raising.spread(raising.reshape(value, split), spread), shape)


def _upcast(operation: UpcastMXFPOp, raising: Raising) -> None:
    value, scale = raising.values((operation.src, operation.scale))
    kind = ScaleDotElemType(operation.fp_type.value.data)
    element = value_type(raising.type(operation.result.type))
    rank = len(shape_of(value.type))
    if operation.k_axis != rank - 1:
        scale = raising.transposed(scale, [*range(rank - 2), rank - 1, rank - 2])
    if kind is ScaleDotElemType.E2M1:
        value = _unpacked(raising, value, operation.k_axis)
    elif isinstance(value_type(value.type), IntegerType):
        type_ = with_element(value.type, element_type(raising, kind))
        value = raising.compute(arith.BitcastOp, [value], type_)
    raising.define(operation.result, _scaled(raising, value, scale, element))


def _scaled_upcast_fp4(operation: ScaledUpcastFp4Op, raising: Raising) -> None:
    value, scale = raising.values((operation.input, operation.scale))
    numbers = _unpacked(raising, value, operation.axis.value.data)
    element = value_type(raising.type(operation.output.type))
    raising.define(operation.output, _scaled(raising, numbers, scale, element))


def _scaled_upcast_fp8(operation: ScaledUpcastFp8Op, raising: Raising) -> None:
    value, scale = raising.values((operation.input, operation.scale))
    element = value_type(raising.type(operation.output.type))
    raising.define(operation.output, _scaled(raising, value, scale, element))


def _same(operation: Operation, raising: Raising) -> None:
    """The same elements, held by other lanes."""
    raising.define(operation.results[0], raising.value(operation.operands[0]))


RULES: dict[str, Rule] = {
    "amdg.async_wait": forget,
    "amdg.buffer_atomic_cas": _compare_and_swap,
    "amdg.buffer_atomic_rmw": _update,
    "amdg.buffer_load": _load,
    "amdg.buffer_load_to_local": _load_to_local,
    "amdg.buffer_store": _store,
    "amdg.concat": _concat,
    "amdg.extract_slice": _extract_slice,
    "amdg.in_thread_transpose": _same,
    "amdg.scaled_upcast_fp4": _scaled_upcast_fp4,
    "amdg.scaled_upcast_fp8": _scaled_upcast_fp8,
    "amdg.upcast_mxfp": _upcast,
    "ttg.convert_layout": _same,
    "ttg.fp4_to_fp": _fp4_to_fp,
}
"""The rule of each operation, by name."""
