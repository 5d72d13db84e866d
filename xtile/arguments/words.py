"""Lists for kernels that read addresses, and maybe sizes, from memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xtile.arguments.arrays import Output, as_array, element_strides, settled_strides
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.errors import ArgumentError, describe_value
from xtile.arguments.gpu_arrays import gpu_array_of
from xtile.arguments.groups import Group
from xtile.arguments.memory_types import MemoryType
from xtile.arguments.views import View, check_shape, flat_memory, list_text

_BITS = 64


@dataclass(frozen=True)
class WordsView:
    """A list for a pointer to numbers of 64 bits.

    Attributes:
        entries: Memory, which stands for its address; or a number, 0 for a null pointer.
    """

    entries: tuple[View | DeviceView | int, ...]


def are_words(type: MemoryType, value: Any) -> bool:
    """Whether a list is given for memory of numbers that may be addresses."""
    return type.may_be_list and isinstance(value, list | tuple | Group)


def bind_words(
    label: str, type: MemoryType, value: Sequence[Any] | Group, is_written: bool
) -> WordsView:
    """Checks a list of arrays of any element types, and of numbers.

    cuTile's kernels take a list of arrays so: for each array its address, sizes and strides.

    Raises:
        ArgumentError: The memory has several dimensions or another size, or an entry is neither
            an integer nor an array, has negative strides, or is read-only although the kernel
            writes.
    """
    if isinstance(value, Group):
        if value.offset or value.shapes is not None:
            raise ArgumentError(f"{label}: expected a list, or a group without offset and shapes")
        value = value.entries
    if not type.has_any_shape:
        check_shape(label, type, (len(value),))
    entries = enumerate(value)
    return WordsView(tuple(_word(f"{label}: entry {i}", entry, is_written) for i, entry in entries))


def _word(label: str, entry: Any, is_written: bool) -> View | DeviceView | int:
    if entry is None:
        return 0
    if hasattr(entry, "__index__") and getattr(entry, "ndim", 0) == 0:
        number = int(cast("int", entry))
        if not -(2 ** (_BITS - 1)) <= number < 2 ** (_BITS - 1):
            raise ArgumentError(f"{label}: {describe_value(number)} does not fit into {_BITS} bits")
        return number
    gpu_array = gpu_array_of(label, entry)
    if gpu_array is not None:
        shape = gpu_array.shape
        strides = settled_strides(shape, gpu_array.element_strides(), is_row_major=True)
        return DeviceView(gpu_array.memory, shape, strides, 0)
    is_output = isinstance(entry, Output)
    array = as_array(label, entry.array if isinstance(entry, Output) else entry)
    if is_written and not array.flags.writeable:
        raise ArgumentError(f"{label}: the kernel writes to it, but the given array is read-only")
    strides = element_strides(label, array, is_row_major=True)
    if min(strides, default=0) < 0:
        raise ArgumentError(
            f"{label}: expected strides of at least 0, given strides {list_text(strides)}"
        )
    return View(flat_memory(array, strides), array.shape, strides, is_output)
