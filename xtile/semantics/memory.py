"""Memory: buffers, views on them, and groups of views.

A buffer is a one-dimensional array. A view addresses elements of a buffer; its offset, sizes and
strides are Python integers where all work-items agree, and int64 arrays that broadcast to
(subgroups, work-items in a subgroup) where not.

Source: tensor language reference, sections "Memref type", "Group type", "Load" and "Size".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xtile.semantics.errors import UnlocatedError
from xtile.semantics.interpretation import interpretation
from xtile.semantics.values import Array, Value, first_where, is_array

Mask: TypeAlias = "npt.NDArray[np.bool_] | None"
"""Which work-items are active; None: all. Broadcasts to (subgroups, work-items in each)."""

Index: TypeAlias = "int | npt.NDArray[np.int64]"
"""A number of elements: equal for all work-items, or one for each."""


def where_active(condition: Value, mask: Mask) -> npt.NDArray[np.bool_]:
    """The active work-items for which a condition holds."""
    return np.asanyarray(condition if mask is None else condition & mask)


@dataclass(frozen=True)
class Parts:
    """What belongs to each work-item of a buffer in which each has memory of its own.

    Attributes:
        starts: The first element of each; broadcasts to (subgroups, work-items in each).
        size: The number of elements of one.
    """

    starts: npt.NDArray[np.int64]
    size: int

    def scaled(self, old: int, new: int) -> Parts:
        """The same memory, counted in elements of `new` bytes instead of `old`."""
        return Parts(self.starts * old // new, self.size * old // new)

    def check(self, position: Index, mask: Mask, name: str) -> None:
        """Checks that the active work-items stay in their memory.

        Args:
            position: Positions in the buffer, whose first axes are those of `starts`.
            mask: The active work-items, in the shape of the positions.
            name: What messages call the memory.

        Raises:
            UnlocatedError: One does not.
        """
        axes = (1,) * (np.ndim(position) - self.starts.ndim)
        element = position - self.starts.reshape(*self.starts.shape, *axes)
        wrong = where_active((element < 0) | (element >= self.size), mask)
        if wrong.any():
            raise UnlocatedError(
                f"the access to element {first_where(element, wrong)} lies outside of the memory "
                f"of {name}, which has {self.size} elements"
            )


class Buffer:
    """Memory: elements that follow each other without gaps.

    Attributes:
        data: The elements, a one-dimensional array; empty for a null pointer.
        raw: The same memory as bytes.
        name: What messages call it.
        is_local: Whether only one work-group sees it.
        is_null: Whether it is what a null pointer points to.
        is_initialized: Whether it may be read before it is written.
        is_freed: Whether its memory was given back.
        parts: Where each work-item has memory of its own in the buffer, what belongs to it; None
            where all share the memory.
        root: The buffer itself, or the one whose memory it shows as elements of another type.
    """

    __slots__ = (
        "_shown_as",
        "data",
        "is_freed",
        "is_initialized",
        "is_local",
        "is_null",
        "name",
        "parts",
        "raw",
        "root",
    )

    def __init__(
        self,
        data: Array,
        name: str,
        *,
        is_local: bool = False,
        is_null: bool = False,
        is_initialized: bool = True,
        parts: Parts | None = None,
        root: Buffer | None = None,
    ) -> None:
        current = interpretation()
        self.data = data = data if current is None else current.memory(data)
        self.raw: npt.NDArray[np.uint8] = data.view(np.uint8)
        self.name = name
        self.is_local = is_local
        self.is_null = is_null
        self.is_initialized = is_initialized
        self.is_freed = False
        self.parts = parts
        self.root = self if root is None else root
        self._shown_as: dict[np.dtype[Any], Buffer] = {}

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.data.shape[0]

    def typed(self, dtype: np.dtype[Any]) -> Buffer:
        """The same memory as elements of another type; bytes that fill no element are left out."""
        root = self.root
        if dtype == root.data.dtype:
            return root
        if dtype not in root._shown_as:
            data = root.raw[: root.raw.size // dtype.itemsize * dtype.itemsize].view(dtype)
            scale = root.data.dtype.itemsize, dtype.itemsize
            root._shown_as[dtype] = Buffer(
                data,
                root.name,
                is_local=root.is_local,
                is_null=root.is_null,
                is_initialized=root.is_initialized,
                parts=None if root.parts is None else root.parts.scaled(*scale),
                root=root,
            )
        return root._shown_as[dtype]

    def free(self) -> None:
        """Gives the memory back, whatever type it is shown as; accesses are errors from then on.

        Raises:
            UnlocatedError: It was given back before.
        """
        root = self.root
        if root.is_freed:
            raise UnlocatedError(f"{root.name} was deallocated before")
        for buffer in (root, *root._shown_as.values()):
            buffer.data = np.empty(0, buffer.data.dtype)
            buffer.raw = buffer.data.view(np.uint8)
            buffer.is_freed = True

    def check(self, elements: Index) -> None:
        """Checks that places lie in the buffer.

        Raises:
            UnlocatedError: One does not, or the buffer is null or was given back.
        """
        if isinstance(elements, int):
            if 0 <= elements < self.data.shape[0]:
                return
            position = elements
        else:
            if elements.size == 0:
                return
            least, largest = int(elements.min()), int(elements.max())
            if least >= 0 and largest < self.data.shape[0]:
                return
            position = least if least < 0 else largest
        if self.is_null:
            raise UnlocatedError(f"{self.name} is not associated: its pointer is null")
        if self.is_freed:
            raise UnlocatedError(f"{self.name} is accessed after its deallocation")
        raise UnlocatedError(
            f"the access to element {position} lies outside of the memory of {self.name}, "
            f"which has {self.size} elements"
        )


class View:
    """A memref: a block of a buffer.

    Attributes:
        buffer: The memory.
        offset: The position of the first element.
        shape: Mode sizes in elements.
        strides: Strides in elements.
    """

    __slots__ = ("buffer", "offset", "shape", "strides")

    def __init__(
        self,
        buffer: Buffer,
        offset: Index,
        shape: tuple[Index, ...],
        strides: tuple[Index, ...],
    ) -> None:
        self.buffer = buffer
        self.offset = offset
        self.shape = shape
        self.strides = strides

    def element(self, indices: Sequence[Index]) -> Index:
        """The position in the buffer of the element at a multi-index."""
        position = self.offset
        for index, stride in zip(indices, self.strides, strict=True):
            position = position + index * stride
        return position

    def merged(self, mask: npt.NDArray[np.bool_], other: Memref) -> Memref:
        """This memref where the mask is set, `other` elsewhere."""
        if other is self:
            return self
        if isinstance(other, View) and other.buffer is self.buffer:
            return View(
                self.buffer,
                _either(mask, self.offset, other.offset),
                tuple(_either(mask, a, b) for a, b in zip(self.shape, other.shape, strict=True)),
                tuple(
                    _either(mask, a, b) for a, b in zip(self.strides, other.strides, strict=True)
                ),
            )
        return ViewChoice(np.zeros((1, 1), np.int64), {0: self}).merged(mask, other)

    def array(self) -> Array:
        """The whole block as an array that shares the memory. All work-items must agree on it.

        Raises:
            UnlocatedError: The block does not lie in the buffer, or the buffer is null.
        """
        shape, strides = uniform_integers(self.shape), uniform_integers(self.strides)
        (offset,) = uniform_integers((self.offset,))
        dtype = self.buffer.data.dtype
        if 0 in shape:
            return np.empty(shape, dtype)
        last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        self.buffer.check(offset)
        self.buffer.check(last)
        return strided(self.buffer, offset, shape, strides)


def strided(buffer: Buffer, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """Elements of a buffer as an array that shares it; offset and strides count elements."""
    data, step = buffer.data, buffer.data.dtype.itemsize
    steps = tuple(stride * step for stride in strides)
    array: Any = np.ndarray.__new__(
        type(data), shape, data.dtype, buffer.raw.data, offset * step, steps
    )
    array.__array_finalize__(data)
    return array


class ViewChoice:
    """A memref that differs between work-items in the buffer: one of several views for each.

    Attributes:
        selector: For each work-item the key of its view.
        views: The views.
    """

    __slots__ = ("selector", "views")

    def __init__(self, selector: npt.NDArray[np.int64], views: dict[int, View]) -> None:
        self.selector = selector
        self.views = views

    def transform(self, function: Callable[[View, Mask], View], mask: Mask) -> ViewChoice:
        """The choice between the results of `function`."""
        views = {
            key: function(view, where_active(self.selector == key, mask))
            for key, view in self.views.items()
        }
        return ViewChoice(self.selector, views)

    def merged(self, mask: npt.NDArray[np.bool_], other: Memref) -> ViewChoice:
        """This memref where the mask is set, `other` elsewhere."""
        if isinstance(other, View):
            other = ViewChoice(np.zeros((1, 1), np.int64), {0: other})
        first = 1 + max(self.views)
        views = {**self.views, **{first + key: view for key, view in other.views.items()}}
        return ViewChoice(np.where(mask, self.selector, first + other.selector), views)


def _either(mask: npt.NDArray[np.bool_], chosen: Index, other: Index) -> Index:
    """`chosen` where the mask is set, `other` elsewhere."""
    if isinstance(chosen, int) and isinstance(other, int) and chosen == other:
        return chosen
    return np.where(mask, chosen, other)


Memref: TypeAlias = View | ViewChoice
"""A memref at run time."""


def parts(memref: Memref, mask: Mask) -> Iterator[tuple[View, Mask]]:
    """Each view that a memref is for some active work-items, with the mask of these."""
    if isinstance(memref, View):
        yield memref, mask
        return
    for key, view in memref.views.items():
        chosen = where_active(memref.selector == key, mask)
        if chosen.any():
            yield view, chosen


def transform(memref: Memref, function: Callable[[View, Mask], View], mask: Mask) -> Memref:
    """Applies `function` to the view, or to each of a choice, with the active work-items it has."""
    return function(memref, mask) if isinstance(memref, View) else memref.transform(function, mask)


def combine(memref: Memref, function: Callable[[View], Any]) -> Value:
    """The value that `function` has for each work-item's view."""
    if isinstance(memref, View):
        return function(memref)
    values = [function(view) for view in memref.views.values()]
    return np.select([memref.selector == key for key in memref.views], values)


class Group:
    """Pointers to memory.

    Attributes:
        views: The memref at each pointer, without the group's offset.
        offset: Elements added to each pointer.
        is_associated: Whether the pointer to the pointers is not null.
        name: What messages call it.
        pointers: The memory of the pointers, of which only the address is known.
    """

    __slots__ = ("is_associated", "name", "offset", "pointers", "views")

    def __init__(self, views: Sequence[View], offset: int, is_associated: bool, name: str) -> None:
        self.views = tuple(views)
        self.offset = offset
        self.is_associated = is_associated
        self.name = name
        pointers = np.zeros(len(self.views), np.int64)
        self.pointers = Buffer(pointers, name, is_null=not is_associated)

    def load(self, index: Index, mask: Mask) -> Memref:
        """The memref at an index.

        Raises:
            UnlocatedError: The index lies outside of the group, or the group is null.
        """
        if isinstance(index, int):
            return self._entry(index)
        active = index if mask is None else np.broadcast_arrays(index, mask)[0][_full(index, mask)]
        keys = [int(key) for key in np.unique(active)]
        if len(keys) == 1:
            return self._entry(keys[0])
        return ViewChoice(index, {key: self._entry(key) for key in keys})

    def _entry(self, index: int) -> View:
        if not self.is_associated:
            raise UnlocatedError(f"{self.name} is not associated: its pointer is null")
        if not 0 <= index < len(self.views):
            raise UnlocatedError(
                f"index {index} lies outside of {self.name}, which has {len(self.views)} entries"
            )
        view = self.views[index]
        return View(view.buffer, view.offset + self.offset, view.shape, view.strides)


def _full(index: Array, mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The mask in the shape that the index and the mask broadcast to."""
    return np.broadcast_to(mask, np.broadcast_shapes(index.shape, mask.shape))


def as_index(value: Value) -> Index:
    """A value of type index as a number of elements."""
    if is_array(value):
        return value.astype(np.int64, copy=False)
    return int(value)


def from_index(value: Index) -> Value:
    """A number of elements as a value of type index."""
    return np.int64(value) if isinstance(value, int) else value


def uniform_integers(values: Sequence[Index]) -> tuple[int, ...]:
    """Numbers of elements that all work-items must agree on.

    Raises:
        UnlocatedError: They do not.
    """
    return tuple(v if isinstance(v, int) else _agreed(v) for v in values)


def _agreed(values: npt.NDArray[np.int64]) -> int:
    first = values.flat[0]
    if (values != first).any():
        raise UnlocatedError(
            "the memref differs between work-items, but here it must be the same for all"
        )
    return int(first)
