"""Rules of views, loads, stores and atomics.

Source: tensor language reference, sections "Atomic load", "Atomic store", "Atomic update",
"Expand", "Fuse", "Load", "Size", "Store" and "Subview".
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import SSAValue

from xtile.dialects.tensorlang.ops.collective import AllocaOp
from xtile.dialects.tensorlang.ops.memory import (
    AtomicAddOp,
    AtomicLoadOp,
    AtomicMaxOp,
    AtomicMinOp,
    AtomicStoreOp,
    ExpandOp,
    FuseOp,
    LoadOp,
    SizeOp,
    StoreOp,
    SubviewOp,
)
from xtile.dialects.tensorlang.types import (
    COMPLEX_TYPES,
    DYNAMIC,
    GroupType,
    MemrefType,
    type_text,
)
from xtile.dialects.tensorlang.verifier.problem import (
    Problem,
    Problems,
    at_operand,
    counted,
    mnemonic_of,
    rule,
    shape_text,
    size_text,
)

AccessOp = AtomicLoadOp | AtomicStoreOp | AtomicAddOp | AtomicMaxOp | AtomicMinOp | LoadOp | StoreOp
UpdateOp = AtomicAddOp | AtomicMaxOp | AtomicMinOp
ViewOp = ExpandOp | FuseOp | SubviewOp

_MAX_VIEWS = 1000
"""Of memory whose size is looked for behind more views, nothing is known."""


# Access to elements


@rule(LoadOp, reads=("memref", "result"))
def load_types(operation: LoadOp) -> Problems:
    """An index for each mode gives the element; one index gives the memref of a group."""
    type = operation.memref.type
    if isinstance(type, GroupType):
        if len(operation.indices) != 1:
            message = f"a group has one index, but {len(operation.indices) or 'none'} given"
            yield Problem(operation, message)
        if operation.result.type != type.memref_type:
            message = f"the group holds {type_text(type.memref_type)}, so load cannot return "
            yield Problem(operation, f"{message}{type_text(operation.result.type)}", "result")
        return
    yield from _element(operation, operation.memref, operation.indices)
    yield from _returned_element(operation, operation.memref, operation.result)


@rule(AtomicLoadOp, reads=("memref", "result"))
def atomic_load_types(operation: AtomicLoadOp) -> Problems:
    """An index for each mode gives the element; a group's memrefs are not loaded atomically."""
    if isinstance(operation.memref.type, GroupType):
        message = "atomic_load takes a memref; load the group's memref with load first"
        yield at_operand(operation, "memref", message)
        return
    yield from _element(operation, operation.memref, operation.indices)
    yield from _returned_element(operation, operation.memref, operation.result)


@rule(StoreOp, AtomicStoreOp, AtomicAddOp, AtomicMaxOp, AtomicMinOp, reads=("memref",))
def stored_element(operation: StoreOp | AtomicStoreOp | UpdateOp) -> Problems:
    """There is an index for each mode."""
    return _element(operation, operation.memref, operation.indices)


@rule(StoreOp, AtomicStoreOp, AtomicAddOp, AtomicMaxOp, AtomicMinOp, reads=("memref", "value"))
def stored_type(operation: StoreOp | AtomicStoreOp | UpdateOp) -> Problems:
    """The value has the element type."""
    value_type, memref_type = operation.value.type, operation.memref.type
    assert isinstance(memref_type, MemrefType)
    if value_type != memref_type.element_type:
        message = f"the value is {type_text(value_type)} but the memref's element type is "
        message += f"{type_text(memref_type.element_type)}; they must be equal"
        yield at_operand(operation, "value", message)


@rule(AtomicAddOp, AtomicMaxOp, AtomicMinOp, reads=("memref", "value", "result"))
def updated_type(operation: UpdateOp) -> Problems:
    """The result is the element before the update; complex numbers have no maximum."""
    yield from _returned_element(operation, operation.memref, operation.result)
    type = operation.value.type
    if type in COMPLEX_TYPES and not isinstance(operation, AtomicAddOp):
        message = f"{mnemonic_of(operation)} does not take {type_text(type)}; complex numbers have "
        yield at_operand(operation, "value", f"{message}no order")


def _element(operation: AccessOp, memref: SSAValue, indices: Sequence[SSAValue]) -> Problems:
    assert isinstance(memref.type, MemrefType)
    order = memref.type.order
    if len(indices) != order:
        message = f"{counted(len(indices), 'index')} given, but {type_text(memref.type)} has order "
        yield Problem(operation, f"{message}{order}; write one index for each mode")


def _returned_element(operation: AccessOp, memref: SSAValue, result: SSAValue) -> Problems:
    assert isinstance(memref.type, MemrefType)
    element_type = memref.type.element_type
    if result.type != element_type:
        message = f"the element type is {type_text(element_type)}, so {mnemonic_of(operation)} "
        yield Problem(operation, f"{message}cannot return {type_text(result.type)}", "result")


@rule(SizeOp)
def size_mode(operation: SizeOp) -> Problems:
    """The mode is one of the memref's; a group has the mode 0."""
    type, mode = operation.tensor.type, operation.mode.value.data
    order = type.order if isinstance(type, MemrefType) else 1
    if not 0 <= mode < order:
        message = f"{type_text(type)} has no mode {mode}; "
        right = f"its modes are 0 to {order - 1}" if order > 1 else "its only mode is 0"
        yield Problem(operation, message + (right if order else "its order is 0"))


# Views


@rule(ExpandOp, FuseOp, SubviewOp, reads=("memref", "result"))
def view_kept(operation: ViewOp) -> Problems:
    """A view keeps the element type and the address space."""
    old, new = _types(operation)
    if new.element_type != old.element_type:
        message = f"the element type is {type_text(old.element_type)} and stays so; the result "
        yield Problem(operation, f"{message}cannot hold {type_text(new.element_type)}", "result")
    if new.address_space is not old.address_space:
        message = f"the memref is {old.address_space.value} and stays so; the result cannot be "
        yield Problem(operation, f"{message}{new.address_space.value}", "result")


def _types(operation: ViewOp) -> tuple[MemrefType, MemrefType]:
    old, new = operation.operand_types[0], operation.result_types[0]
    assert isinstance(old, MemrefType)
    assert isinstance(new, MemrefType)
    return old, new


def _check_view(operation: ViewOp, shape: Sequence[int], strides: Sequence[int]) -> Problems:
    """The result has this shape, and these strides or `?` in place of some."""
    _, new = _types(operation)
    given = new.shape
    if len(given) != len(shape):
        message = f"the result has order {len(shape)}, but {type_text(new)} has order {len(given)}"
        yield Problem(operation, message, "result")
    elif given != tuple(shape):
        message = f"the result has the shape {shape_text(shape)}, not {shape_text(given)}"
        yield Problem(operation, message, "result")
    elif any(
        stride not in (wanted, DYNAMIC) for wanted, stride in zip(strides, new.strides, strict=True)
    ):
        right, wrong = (",".join(map(size_text, values)) for values in (strides, new.strides))
        message = f"the result has strided<{right}>, or '?' for any of these, not strided<{wrong}>"
        yield Problem(operation, message, "result")


@rule(ExpandOp, reads=("memref", "result"))
def expand_shape(operation: ExpandOp) -> Problems:
    """The mode's size is the product of the new modes' sizes, and their strides are canonical."""
    old, _ = _types(operation)
    mode = operation.mode.value.data
    sizes = [int(size) for size in operation.static_expand_shape.get_values()]
    if sizes.count(DYNAMIC) != len(operation.expand_shape):
        yield Problem(operation, "static_expand_shape must have a '?' for each dynamic size")
    elif len(sizes) < 2:
        yield Problem(operation, "expand needs at least two new modes")
    elif not 0 <= mode < old.order:
        yield Problem(operation, f"{type_text(old)} has no mode {mode} to expand")
    elif (problem := _expand_product(operation, old.shape[mode], sizes)) is not None:
        yield problem
    else:
        strides = [*old.strides[:mode], *_strides(old.strides[mode], sizes)]
        shape = [*old.shape[:mode], *sizes, *old.shape[mode + 1 :]]
        yield from _check_view(operation, shape, [*strides, *old.strides[mode + 1 :]])


def _expand_product(operation: ExpandOp, size: int, sizes: Sequence[int]) -> Problem | None:
    if any(entry < 1 for entry in sizes if entry != DYNAMIC):
        return Problem(operation, "the sizes of the new modes must be at least 1")
    product = math.prod(entry for entry in sizes if entry != DYNAMIC)
    if size == DYNAMIC:
        return None
    if DYNAMIC not in sizes and product != size:
        message = f"the product of the new sizes is {product} but the mode has size {size}"
        return Problem(operation, f"{message}; they must be equal")
    if size % product != 0:
        message = f"the mode has size {size}, which is not a multiple of {product}, the product of "
        return Problem(operation, f"{message}the constant new sizes")
    return None


def _strides(first: int, sizes: Sequence[int]) -> list[int]:
    """The canonical strides of modes of these sizes, from the first stride on."""
    strides = [first]
    for size in sizes[:-1]:
        strides.append(DYNAMIC if DYNAMIC in (strides[-1], size) else strides[-1] * size)
    return strides


@rule(FuseOp)
def fuse_shape(operation: FuseOp) -> Problems:
    """The modes lie without gaps behind each other, and become one of their product's size."""
    old, _ = _types(operation)
    first, last = operation.from_mode.value.data, operation.to_mode.value.data
    if not 0 <= first < last < old.order:
        message = f"cannot fuse the modes {first} to {last} of {type_text(old)}; "
        yield Problem(operation, f"{message}need 0 <= from < to < {old.order}")
        return
    for mode in range(first, last):
        size, stride, next_stride = old.shape[mode], old.strides[mode], old.strides[mode + 1]
        if DYNAMIC not in (size, stride, next_stride) and size * stride != next_stride:
            message = f"modes {mode} and {mode + 1} cannot be fused: stride {mode} times size "
            message += f"{mode} is {stride * size} but stride {mode + 1} is {next_stride}; "
            yield at_operand(operation, "memref", f"{message}they must be equal")
    fused = old.shape[first : last + 1]
    product = DYNAMIC if DYNAMIC in fused else math.prod(fused)
    shape = [*old.shape[:first], product, *old.shape[last + 1 :]]
    yield from _check_view(operation, shape, [*old.strides[: first + 1], *old.strides[last + 1 :]])


@rule(SubviewOp, reads=("memref", "result"))
def subview_shape(operation: SubviewOp) -> Problems:
    """There is a slice for each mode; the result has the modes whose size is not 0."""
    old, _ = _types(operation)
    shape, strides = old.shape, old.strides
    offsets: Sequence[int] = operation.static_offsets.get_values()
    sizes: Sequence[int] = operation.static_sizes.get_values()
    if len(offsets) != len(shape) or len(sizes) != len(shape):
        message = f"{counted(len(offsets), 'slice')} given, but {type_text(old)} has order "
        yield Problem(operation, f"{message}{len(shape)}; write one slice for each mode")
        return
    dynamic = (offsets.count(DYNAMIC), sizes.count(DYNAMIC))
    if dynamic != (len(operation.offsets), len(operation.sizes)):
        yield Problem(operation, "static_offsets and static_sizes must have a '?' for each operand")
        return
    wrong = [*_slice_problems(operation, offsets, sizes, old)]
    yield from wrong
    if not wrong:
        kept = [mode for mode, size in enumerate(sizes) if size != 0]
        kept_strides = [strides[mode] for mode in kept]
        yield from _check_view(operation, [sizes[mode] for mode in kept], kept_strides)


def _slice_problems(
    operation: SubviewOp, offsets: Sequence[int], sizes: Sequence[int], old: MemrefType
) -> Problems:
    """Offsets and sizes are not negative, and where all is known, a slice is in the memory."""
    for mode, (offset, size) in enumerate(zip(offsets, sizes, strict=True)):
        if offset < 0 and offset != DYNAMIC:
            yield Problem(operation, f"offset {offset} of mode {mode} must not be negative")
            return
        if size < 0 and size != DYNAMIC:
            yield Problem(operation, f"size {size} of mode {mode} must not be negative")
            return
    local = _local_memory(operation.memref)
    if local is None:
        yield from _mode_problems(operation, offsets, sizes, old)
        return
    elements, start = local
    last = (
        start + _least_position(old, offsets) + _least_position(old, [size - 1 for size in sizes])
    )
    if last >= elements:
        message = f"the slices reach element {last} of local memory that has {elements} elements; "
        yield Problem(operation, f"{message}they must not leave it")


def _mode_problems(
    operation: SubviewOp, offsets: Sequence[int], sizes: Sequence[int], old: MemrefType
) -> Problems:
    """A slice is within its mode, or within the padding that the strides leave behind it."""
    for mode, (offset, size, mode_size) in enumerate(zip(offsets, sizes, old.shape, strict=True)):
        end = offset + max(size, 1)
        if DYNAMIC in (offset, size, mode_size) or end <= mode_size:
            continue
        stride, *following = old.strides[mode : mode + 2]
        if following and (DYNAMIC in (stride, *following) or end * stride <= following[0]):
            continue
        message = f"the slice of mode {mode} ends at {end}; it must not end behind the mode's size,"
        padded = following[0] // stride if following else mode_size
        padding = f", and its padding, which ends at {padded}" if padded > mode_size else ""
        yield Problem(operation, f"{message} {mode_size}{padding}")


def _local_memory(memref: SSAValue) -> tuple[int, int] | None:
    """How many elements the local memory of a memref has, and the first that it can begin at.

    None for a memref that is not known to come from an alloca.
    """
    start = 0
    for _ in range(_MAX_VIEWS):
        view, type = memref.owner, memref.type
        if not isinstance(type, MemrefType):
            return None
        if isinstance(view, AllocaOp):
            elements = type.allocated_elements
            return None if elements is None else (elements, start)
        if not isinstance(view, ExpandOp | FuseOp | SubviewOp):
            return None
        memref = view.operands[0]
        if isinstance(view, SubviewOp) and isinstance(memref.type, MemrefType):
            start += _least_position(memref.type, view.static_offsets.get_values())
    return None


def _least_position(type: MemrefType, indices: Sequence[int]) -> int:
    """How many elements behind a memref's first one an index leads at least."""
    pairs = zip(indices, type.strides, strict=False)
    return sum(max(index, 0) * max(stride, 1) for index, stride in pairs)
