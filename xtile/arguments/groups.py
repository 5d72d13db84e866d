"""Arguments of group type: lists of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xtile.arguments.arrays import as_array
from xtile.arguments.device_memory import DeviceView, as_device_array
from xtile.arguments.errors import ArgumentError, describe_type, describe_value
from xtile.arguments.memory_types import DYNAMIC, GroupMemory, MemoryType
from xtile.arguments.stacks import bind_stack, is_stack
from xtile.arguments.views import (
    View,
    bind_memref,
    check_shape,
    check_strides,
    list_text,
    typed_array,
)
from xtile.semantics.values import Array

_TOO_FAR = 2**63
"""No offset is so large: it is an i64 in the calling convention."""


@dataclass(frozen=True)
class Group:
    """Arrays that are passed as one group; a plain list is a group without an offset.

    So is an array with a mode more than the memref, which counts the entries: the last mode, or in
    MLIR the first. With many entries this is faster than a list.

    Attributes:
        entries: The array at each pointer (or an `Output`), None for a null pointer. An entry has
            the shape of the group's memref. Behind an offset, or with `shapes`, an entry is the
            memory that the pointer points to instead: a one-dimensional contiguous array of at
            least offset + (elements of the memref) elements.
        offset: Elements added to each pointer; None if the type gives it, or for 0.
        shapes: The shape of the memref at each pointer (None for a null pointer). Needed where
            the memref's shape is dynamic and the entries are memory.
    """

    entries: Sequence[Any]
    offset: int | None = None
    shapes: Sequence[Sequence[int] | None] | None = None


@dataclass(frozen=True)
class GroupView:
    """A group argument that fits its type.

    Attributes:
        entries: The memory of each pointer, and the shape and strides of the memref that begins
            `offset` elements behind its start; None for a null pointer.
        offset: Elements between a pointer and its memref.
        is_associated: Whether there is a list of pointers at all; without, no entry can be loaded.
    """

    entries: Sequence[View | DeviceView | None]
    offset: int
    is_associated: bool = True


def bind_group(label: str, type: GroupMemory, value: Any, is_written: bool) -> GroupView:
    """Checks the argument of a group parameter; None is a null group.

    Each entry may have a shape and strides of its own, where the memref's are dynamic: the
    calling convention passes them as lists.

    Raises:
        ArgumentError: The argument is neither None nor a list nor an array, has the wrong length or
            offset, or an entry does not fit; the message names the entry.
    """
    if value is None:
        return GroupView((), 0 if type.offset == DYNAMIC else type.offset, is_associated=False)
    if is_stack(value) and type.offset in (DYNAMIC, 0):
        stack = bind_stack(label, type, value, is_written)
        _check_count(label, type, len(stack))
        return GroupView(stack, 0)
    group = value if isinstance(value, Group) else Group(_entries(label, value))
    offset = _checked_offset(label, type, group.offset)
    _check_count(label, type, len(group.entries))
    if group.shapes is not None and len(group.shapes) != len(group.entries):
        raise ArgumentError(
            f"{label}: expected a shape for each of the {len(group.entries)} entries, "
            f"given {len(group.shapes)} shapes"
        )
    views = [
        None
        if entry is None
        else _bind_entry(f"{label}: entry {index}", type, group, offset, index, is_written)
        for index, entry in enumerate(group.entries)
    ]
    return GroupView(tuple(views), offset)


def _check_count(label: str, type: GroupMemory, count: int) -> None:
    if type.size not in (DYNAMIC, count):
        raise ArgumentError(f"{label}: expected {type.size} entries, given {count}")


def _entries(label: str, value: Any) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value  # pyright: ignore[reportUnknownVariableType]
    raise ArgumentError(
        f"{label}: expected a list of arrays or an xtile.launch.Group, given {describe_type(value)}"
    )


def _checked_offset(label: str, type: GroupMemory, given: int | None) -> int:
    if given is None:
        return 0 if type.offset == DYNAMIC else type.offset
    if not 0 <= given < _TOO_FAR or type.offset not in (DYNAMIC, given):
        expected = (
            "an offset from 0 to 2^63 - 1" if type.offset == DYNAMIC else f"offset {type.offset}"
        )
        shown = describe_value(given)
        raise ArgumentError(f"{label}: expected {expected}, given offset {shown}")
    return given


def _bind_entry(
    label: str, type: GroupMemory, group: Group, offset: int, index: int, is_written: bool
) -> View | DeviceView:
    memref, entry = type.element, group.entries[index]
    is_on_device = as_device_array(label, memref, entry) is not None
    if is_on_device or (offset == 0 and group.shapes is None):
        return bind_memref(label, memref, entry, is_written)
    array = typed_array(label, memref, as_array(label, entry), is_written)
    shape = memref.shape if group.shapes is None else group.shapes[index]
    return _memory_view(label, memref, array, offset, shape)


def _memory_view(
    label: str, memref: MemoryType, memory: Array, offset: int, shape: Sequence[int] | None
) -> View:
    """The packed memref of `shape` that lies `offset` elements behind the start of `memory`."""
    if memory.ndim != 1 or (memory.size > 1 and memory.strides[0] != memory.itemsize):
        raise ArgumentError(
            f"{label}: expected memory, a contiguous array of order 1, because the group has an "
            f"offset or shapes; given shape {list_text(memory.shape)}"
        )
    if shape is None or DYNAMIC in shape:
        raise ArgumentError(
            f"{label}: its shape {list_text(memref.shape)} is dynamic; "
            "pass Group(entries, offset, shapes)"
        )
    check_shape(label, memref, shape)
    packed = memref.packed_strides(shape)
    strides = tuple(
        given if wanted == DYNAMIC else wanted
        for wanted, given in zip(memref.strides, packed, strict=True)
    )
    check_strides(label, memref, shape, strides)
    needed = offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if memory.size < needed:
        raise ArgumentError(
            f"{label}: expected memory of at least {needed} elements for offset {offset} and "
            f"shape {list_text(shape)}, given {memory.size}"
        )
    return View(memory, tuple(shape), strides)
