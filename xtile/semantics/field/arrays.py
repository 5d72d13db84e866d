"""Arrays of numbers of the field, which numpy's functions take like arrays of floats.

A `FieldArray` has the type, shape and strides of the array that it stands for, so that whatever
moves numbers need not know of it; but its own bytes mean nothing. The numbers stand in a shadow: an
array of cells beside the memory of the array, in which an element's cell is found by the element's
address. So views share their cells as they share their memory.

There are two kinds. An array of elements has one cell for each, and holds what was computed. An
array of bytes has one for each byte, and is memory, or the bits of numbers: there a number is a
cell for each of its bytes, and so keeps its identity through views as other types, packing and
copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from xtile.semantics.field import bits, functions, moves, numbers
from xtile.semantics.field.bits import Bits
from xtile.semantics.field.numbers import (
    CELL,
    HELD,
    LOST,
    TYPES,
    Cells,
    RefusedError,
    is_hidden,
    is_unknown,
    known,
    whole,
)
from xtile.semantics.upstream.numbers import FLOATS
from xtile.semantics.values import Exact

_NUMBERS = {dtype: index for index, dtype in enumerate(TYPES)}

_BITS_OF_NUMBERS = "arithmetic on the bits of a number is not followed in the field"


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether an array of a type holds floats."""
    return dtype in _NUMBERS


def is_numpy(value: Any) -> bool:
    """Whether a value is an array or a number of numpy's."""
    return isinstance(value, np.ndarray | np.generic)


class Shadow:
    """The cells beside an allocation.

    Attributes:
        base: The allocation, an array.
        start: Its first address.
        unit: How many bytes a cell stands for.
        cells: A cell for each unit.
        holds: Whether any of them may hold a number.
    """

    __slots__ = ("base", "cells", "holds", "start", "unit")

    def __init__(
        self, base: npt.NDArray[Any], unit: int, cells: Cells, *, holds: bool = True
    ) -> None:
        self.base = base
        self.start = _address(base)
        self.unit = unit
        self.cells = cells
        self.holds = holds

    def covers(self, array: npt.NDArray[Any]) -> bool:
        """Whether an array lies in the allocation."""
        return self.start <= _address(array) < self.start + self.base.nbytes or array.size == 0

    def of(self, array: npt.NDArray[Any], byte: int = 0) -> Cells:
        """The cells of an array's elements, or of one byte of each, as a view."""
        if array.size == 0:
            return np.zeros(array.shape, CELL)
        size = CELL.itemsize
        first = (_address(array) - self.start) // self.unit + byte
        strides = tuple(stride // self.unit * size for stride in array.strides)
        return np.ndarray(array.shape, CELL, self.cells.data, first * size, strides)


def _address(array: npt.NDArray[Any]) -> int:
    return array.__array_interface__["data"][0]


class FieldArray(Exact):
    """An array whose numbers stand in cells."""

    shadow: Shadow | None
    is_bytes: bool
    __hash__: ClassVar[None]  # type: ignore[assignment]

    @override
    def __array_finalize__(self, obj: Any) -> None:
        shadow = getattr(obj, "shadow", None)
        is_there = shadow is not None and shadow.covers(self)
        self.shadow = shadow if is_there else None
        self.is_bytes = getattr(obj, "is_bytes", False)

    # What numpy calls.

    @override
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **given: Any) -> Any:
        (out,) = given.pop("out", None) or (None,)
        result = _applied(ufunc, method, inputs, given)
        if out is None:
            return result
        if isinstance(result, FieldArray) and not isinstance(out, FieldArray):
            raise RefusedError(f"what {ufunc.__name__} gives goes to an array of floats")
        out[...] = result
        return out

    @override
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in moves.ALONE:
            return moved(args[0], lambda array: func(array, *args[1:], **kwargs))
        if func in moves.TOGETHER:
            return _gathered(*moves.indexed(func, args, kwargs))
        if func in _FUNCTIONS:
            return _FUNCTIONS[func](*args, **kwargs)
        if func in moves.SHAPES or func in _COMPOSED:
            return np.ndarray.__array_function__(self, func, types, args, kwargs)
        raise RefusedError(f"numpy's {func.__name__} is not followed in the field")

    # Elements.

    @override
    def __getitem__(self, index: Any) -> Any:
        plain = self.view(np.ndarray)
        raw = np.ndarray.__getitem__(plain, index)
        if np.ndim(raw) and np.may_share_memory(raw, plain):
            return np.ndarray.__getitem__(self, index)
        if not self.is_bytes:
            return made(np.asarray(self.cells()[index]), self.dtype)
        if not self._shadow().holds and not is_float(self.dtype):
            return raw
        parts = [np.asarray(part[index]) for part in self.parts()]
        if is_float(self.dtype):
            return made(_loaded(parts, np.asarray(raw)), self.dtype)
        return with_bytes(raw, np.stack(parts, axis=-1))

    @override
    def __setitem__(self, index: Any, value: Any) -> None:
        if not self.is_bytes:
            self.cells()[index] = cells_of(value)
        elif is_float(self.dtype):
            self._set_numbers(index, cells_of(value))
        elif isinstance(value, FieldArray) and value.holds_numbers:
            self._set_bytes(index, _bits(value).cells)
        else:
            plain = np.asarray(value)
            if self._shadow().holds:
                for part in self.parts():
                    part["state"][index] = 0
            self.view(np.ndarray)[index] = plain

    def _set_numbers(self, index: Any, cells: Cells) -> None:
        self._shadow().holds = True
        given = numbers.in_bytes(cells, self.dtype)
        given["type"] = _NUMBERS[self.dtype]
        for byte, part in enumerate(self.parts()):
            given["byte"] = byte
            part[index] = given
        self.view(np.ndarray)[index] = _floats(cells, self.dtype)

    def _set_bytes(self, index: Any, cells: Cells) -> None:
        self._shadow().holds = True
        for byte, part in enumerate(self.parts()):
            part[index] = cells[..., byte]

    def _shadow(self) -> Shadow:
        if self.shadow is None:
            raise RefusedError("an array of the field lost its numbers")
        return self.shadow

    def cells(self, byte: int = 0) -> Cells:
        """The cells of the elements, or of one byte of each, as a view."""
        return self._shadow().of(self, byte)

    def parts(self) -> list[Cells]:
        """The cells of each byte."""
        return [self.cells(byte) for byte in range(self.itemsize)]

    @property
    def holds_numbers(self) -> bool:
        """Whether there are numbers, or bytes of numbers that are not known."""
        if is_float(self.dtype):
            return True
        return self._shadow().holds and any(bool(is_hidden(part).any()) for part in self.parts())

    def numbers(self) -> Cells:
        """The numbers of an array of floats.

        Raises:
            RefusedError: Bytes of several numbers, or of a number of another type, make one.
        """
        if not self.is_bytes:
            return self.cells()
        return _loaded([part.copy() for part in self.parts()], self.view(np.ndarray))

    # Conversions and copies.

    @override
    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        target = np.dtype(dtype)
        if is_float(self.dtype):
            return _converted(self.numbers(), target)
        if not self.holds_numbers:
            return np.asarray(self).astype(target, *args, **kwargs)
        return _resized(_bits(self), target)

    @override
    def view(self, *args: Any, **kwargs: Any) -> Any:
        (dtype,) = args or tuple(kwargs.values()) or (self.dtype,)
        if dtype is np.ndarray:
            return np.ndarray.view(self, np.ndarray)
        if np.dtype(dtype) == self.dtype:
            return np.ndarray.view(self)
        source = self if self.is_bytes else _as_bytes(self)
        return np.ndarray.view(source, dtype)

    @override
    def copy(self, order: Any = "C") -> Any:
        if is_float(self.dtype):
            return made(self.numbers().copy(), self.dtype)
        return with_bytes(self.view(np.ndarray).copy(), np.stack(self.parts(), axis=-1))

    @override
    def fill(self, value: Any) -> None:
        self[...] = value

    @override
    def item(self, *args: Any) -> Any:
        return self._plain().item(*args)

    @override
    def tolist(self) -> Any:
        return self._plain().tolist()

    def __float__(self) -> float:
        return float(self._plain())

    def __int__(self) -> int:
        return int(self._plain())

    def __index__(self) -> int:
        return int(self._plain())

    def __bool__(self) -> bool:
        return bool(self != 0)

    def _plain(self) -> npt.NDArray[Any]:
        """The values, which must be known."""
        if not is_float(self.dtype):
            if self.holds_numbers:
                raise RefusedError(_BITS_OF_NUMBERS)
            return self.view(np.ndarray)
        cells = self.numbers()
        if is_unknown(cells).any():
            raise RefusedError("the value of a number is asked for, which the field does not have")
        return cells["key"]

    @property
    def flat(self) -> Any:  # type: ignore[override]
        """The elements in row-major order, as an array."""
        return self.reshape(-1)

    @override
    def reshape(self, *shape: Any, **kwargs: Any) -> Any:
        return moved(self, lambda array: np.ndarray.reshape(array, *shape, **kwargs))

    @override
    def ravel(self, order: Any = "C") -> Any:
        return moved(self, lambda array: np.ndarray.ravel(array, order))

    @override
    def flatten(self, order: Any = "C") -> Any:
        return moved(self, lambda array: np.ndarray.flatten(array, order))

    @override
    def repeat(self, repeats: Any, axis: Any = None) -> Any:
        return moved(self, lambda array: np.ndarray.repeat(array, repeats, axis))

    @override
    def take(self, *args: Any, **kwargs: Any) -> Any:
        return moved(self, lambda array: np.ndarray.take(array, *args, **kwargs))

    @override
    def argmax(self, axis: Any = None, out: Any = None, **kwargs: Any) -> Any:
        return self.numbers()["key"].argmax(axis, out, **kwargs)

    @override
    def argmin(self, axis: Any = None, out: Any = None, **kwargs: Any) -> Any:
        return self.numbers()["key"].argmin(axis, out, **kwargs)

    @override
    def argsort(self, *args: Any, **kwargs: Any) -> Any:
        return self.numbers()["key"].argsort(*args, **kwargs)

    @override
    def conj(self) -> Any:
        return self


def made(cells: Cells, dtype: np.dtype[Any]) -> FieldArray:
    """An array of elements of a floating type with numbers."""
    cells = np.ascontiguousarray(cells).reshape(np.shape(cells))
    raw = np.full(cells.shape, _POISON[dtype], dtype)
    array = np.ndarray.view(raw, FieldArray)
    array.shadow, array.is_bytes = Shadow(raw, dtype.itemsize, cells.reshape(-1)), False
    return array


def memory(data: npt.NDArray[Any]) -> FieldArray:
    """Memory that holds no numbers yet, with the same bytes, and shares them."""
    array = np.ndarray.view(data, FieldArray)
    array.shadow = Shadow(data, 1, np.zeros(data.nbytes, CELL), holds=False)
    array.is_bytes = True
    return array


def with_bytes(raw: Any, cells: Cells) -> Any:
    """An array of integers whose bytes may be those of numbers; integers where none is.

    Args:
        raw: The integers; what stands where numbers are does not count.
        cells: The cell of each byte, along the last axis.
    """
    if not (cells["state"] & HELD).any():
        return raw
    data = np.ascontiguousarray(raw).reshape(np.shape(raw))
    array = np.ndarray.view(data, FieldArray)
    array.shadow = Shadow(data, 1, np.ascontiguousarray(cells).reshape(-1))
    array.is_bytes = True
    return array


def agree(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Whether elements of arrays are equal numbers, integers, or bytes of equal numbers."""
    if not (isinstance(a, FieldArray) and isinstance(b, FieldArray)):
        return np.asarray(a == b)
    if is_float(a.dtype):
        return numbers.agree(a.numbers(), b.numbers())
    equal = np.ones(a.shape, np.bool_)
    held = np.zeros(a.shape, np.bool_)
    for left, right in zip(a.parts(), b.parts(), strict=True):
        held |= is_hidden(left) | is_hidden(right)
        equal &= (left["byte"] == right["byte"]) & numbers.agree(left, right)
    return np.where(held, equal, a.view(np.ndarray) == b.view(np.ndarray))


def states(array: npt.NDArray[Any]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which elements are numbers that are not known, and which were computed and tell nothing."""
    if not (isinstance(array, FieldArray) and is_float(array.dtype)):
        return np.zeros(array.shape, np.bool_), np.zeros(array.shape, np.bool_)
    cells = array.numbers()
    is_written = array.cells()["state"] & HELD != 0
    return is_unknown(cells), is_written & numbers.is_unseen(cells)


def cells_of(value: Any) -> Cells:
    """The numbers of any array of floats, or of integers as floats."""
    if isinstance(value, FieldArray):
        if is_float(value.dtype):
            return value.numbers()
        if value.holds_numbers:
            raise RefusedError(_BITS_OF_NUMBERS)
        return known(value.view(np.ndarray))
    plain = np.asarray(value)
    if plain.dtype.kind == "c":
        raise RefusedError("complex numbers are not followed in the field")
    return known(plain)


def _poison(dtype: np.dtype[Any]) -> Any:
    """The NaN that shows that something took the bytes; f8 and smaller types have none."""
    if dtype == _BF16:
        return np.array([0x7F80 | LOST], np.uint16).view(dtype)[0]
    return np.array([LOST << 45 | 0x7FF << 52], np.uint64).view(np.float64).astype(dtype)[0]


_BF16 = FLOATS["bf16"].dtype


_POISON = {dtype: _poison(dtype) for dtype in TYPES}


def _converted(cells: Cells, target: np.dtype[Any]) -> Any:
    """Numbers of any floating type as another; numbers as integers."""
    if is_float(target):
        return made(cells.copy(), target)
    if target.kind == "c":
        raise RefusedError("complex numbers are not followed in the field")
    if target.kind == "b":
        return (cells["key"] != 0)[()]
    integers = whole(np.trunc, cells)["key"]
    with np.errstate(invalid="ignore"):
        return integers.astype(target)[()]


def _as_bytes(array: FieldArray) -> FieldArray:
    """An array of elements as one of bytes."""
    cells = numbers.in_bytes(array.numbers(), array.dtype)
    raw = _floats(cells, array.dtype)
    raw = np.ascontiguousarray(raw).reshape(array.shape)
    parts = np.repeat(cells[..., np.newaxis], array.itemsize, axis=-1)
    parts["type"] = _NUMBERS[array.dtype]
    parts["byte"] = np.arange(array.itemsize)
    bytes_ = np.ndarray.view(raw, FieldArray)
    bytes_.shadow = Shadow(raw, 1, np.ascontiguousarray(parts).reshape(-1))
    bytes_.is_bytes = True
    return bytes_


def _floats(cells: Cells, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The floats in the memory of numbers; those of numbers that are not known say nothing."""
    with np.errstate(over="ignore"):
        return np.where(is_unknown(cells), 0.0, cells["key"]).astype(dtype)


def _loaded(parts: list[Cells], raw: npt.NDArray[Any]) -> Cells:
    """The numbers whose bytes have these cells; floats where no byte is one of a number."""
    head = np.array(parts[0])
    is_held = head["state"] & HELD != 0
    fits = is_held & (head["byte"] == 0) & (head["type"] == _NUMBERS[raw.dtype])
    hidden = is_hidden(head) & is_held
    for byte, part in enumerate(parts[1:], 1):
        fits &= (part["byte"] == byte) & (part["residues"] == head["residues"]).all(-1)
        is_held |= part["state"] & HELD != 0
        hidden |= is_hidden(part)
    if (hidden & ~fits).any():
        raise RefusedError(
            f"a number of type {raw.dtype.name} is made of bytes of other numbers, which is not "
            "followed in the field"
        )
    plain = ~is_held | ~fits
    if plain.any():
        head[plain] = known(raw[plain])
    return head


def _bits(value: Any) -> Bits:
    """Integers with the cells of their bytes."""
    if isinstance(value, FieldArray):
        parts = [part.copy() for part in value.parts()]
        return Bits(value.view(np.ndarray), np.stack(parts, axis=-1))
    raw = np.asarray(value)
    return Bits(raw, np.zeros((*raw.shape, raw.dtype.itemsize), CELL))


def _resized(value: Bits, target: np.dtype[Any]) -> Any:
    """Integers that hold bytes of numbers as integers of another width."""
    if target.kind not in "iu":
        raise RefusedError(_BITS_OF_NUMBERS)
    cells = value.cells
    missing = target.itemsize - value.raw.dtype.itemsize
    if missing > 0 and value.raw.dtype.kind != "u" and value.is_held[..., -1].any():
        raise RefusedError(_BITS_OF_NUMBERS)
    if missing > 0:
        cells = np.concatenate((cells, np.zeros((*cells.shape[:-1], missing), CELL)), axis=-1)
    return with_bytes(value.raw.astype(target), cells[..., : target.itemsize])


def moved(array: FieldArray, move: Callable[[Any], Any]) -> Any:
    """What a function gives that moves the elements of an array: a view, where numpy gives one."""
    plain: Any = array.view(np.ndarray)
    result = move(plain)
    if is_numpy(result) and np.may_share_memory(result, plain):
        seen: FieldArray = np.ndarray.view(result, FieldArray)
        seen.shadow, seen.is_bytes = array.shadow, array.is_bytes
        return seen
    places = cast("Any", np.arange(plain.size))
    return _gathered([array], move(places.reshape(plain.shape)))


def _gathered(sources: Sequence[Any], places: Any) -> Any:
    """The elements of arrays that stand at places, which count through all of them."""
    if isinstance(places, list | tuple):
        parts = cast("Any", places)
        return [_gathered(sources, each) for each in parts]
    dtype = np.result_type(*(_typed(source) for source in sources))
    if is_float(dtype):
        cells = np.concatenate([cells_of(source).reshape(-1) for source in sources])
        return made(cells[places], dtype)
    held = [_bits(_integers(source, dtype)) for source in sources]
    size = dtype.itemsize
    cells = np.concatenate([each.cells.reshape(-1, size) for each in held])
    raw = np.concatenate([each.raw.reshape(-1) for each in held])
    return with_bytes(raw[places], cells[places])


def _typed(value: Any) -> Any:
    """What stands for a value where numpy looks for a common type."""
    return value.dtype if is_numpy(value) else value


def _integers(value: Any, dtype: np.dtype[Any]) -> Any:
    return value.astype(dtype) if isinstance(value, FieldArray) else np.asarray(value, dtype)


def _applied(ufunc: Any, method: str, inputs: Sequence[Any], given: dict[str, Any]) -> Any:
    """What a universal function, or a method of one, gives."""
    arrays = [each for each in inputs if isinstance(each, FieldArray)]
    if any(each.holds_numbers and not is_float(each.dtype) for each in arrays):
        return _of_bits(ufunc, method, inputs)
    operands = [_without_numbers(each) for each in inputs]
    if not any(isinstance(each, FieldArray) for each in operands):
        return getattr(ufunc, method)(*operands, **given)
    if given.pop("where", True) is not True:
        raise RefusedError(f"{ufunc.__name__} of some elements is not followed in the field")
    if method == "__call__":
        return _called(ufunc, operands)
    if method in _METHODS:
        return _METHODS[method](ufunc, *operands, **given)
    raise RefusedError(f"{ufunc.__name__}.{method} is not followed in the field")


def _without_numbers(value: Any) -> Any:
    """An array of integers as numpy's own."""
    if isinstance(value, FieldArray) and not is_float(value.dtype):
        return value.view(np.ndarray)
    return value


def _called(ufunc: Any, operands: Sequence[Any]) -> Any:
    rule = functions.rule(ufunc)
    cells = [cells_of(each) for each in operands]
    result = _matmul(*cells) if ufunc is np.matmul else rule(*cells)
    return result[()] if result.dtype != CELL else made(result, _result_type(ufunc, operands))


def _matmul(a: Cells, b: Cells) -> Cells:
    """Products of vectors and matrices, as numpy's `matmul` takes them."""
    left = a[np.newaxis, :] if a.ndim == 1 else a
    right = b[:, np.newaxis] if b.ndim == 1 else b
    result = numbers.matrix_product(left, right)
    result = result[..., 0, :] if a.ndim == 1 else result
    return result[..., 0] if b.ndim == 1 else result


def _result_type(ufunc: Any, operands: Sequence[Any]) -> np.dtype[Any]:
    """The type that numpy gives the results."""
    return _type_of_results(ufunc, *(_typed(each) for each in operands))


def _is_type(value: Any) -> bool:
    return isinstance(value, np.dtype)


@lru_cache(maxsize=1024)
def _type_of_results(ufunc: Any, *types: Any) -> np.dtype[Any]:
    shape = (1, 1) if ufunc is np.matmul else (1,)
    samples = [np.ones(shape, each) if _is_type(each) else each for each in types]
    dtype = ufunc(*samples).dtype
    return np.dtype(np.float64) if dtype == np.dtype(object) else dtype


def _of_bits(ufunc: Any, method: str, inputs: Sequence[Any]) -> Any:
    if method != "__call__":
        raise RefusedError(_BITS_OF_NUMBERS)
    dtype = np.result_type(*(_typed(each) for each in inputs))
    operands = [_bits(_integers(each, dtype)) for each in inputs]
    result = bits.applied(ufunc.__name__, operands)
    return with_bytes(result.raw, result.cells)


def _axes(axis: Any, rank: int) -> list[int]:
    """Axes, the last one first."""
    if axis is None:
        return list(reversed(range(rank)))
    given = cast("Any", axis) if isinstance(axis, Iterable) else (axis,)
    return sorted((int(each) % rank for each in given), reverse=True)


def _reduced(
    ufunc: Any,
    array: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
) -> Any:
    """What a universal function makes of the numbers along axes."""
    cells = cells_of(array)
    rule = functions.rule(ufunc)
    if ufunc.__name__.startswith("logical"):
        return ufunc.reduce(cells["key"] != 0, axis=axis, keepdims=keepdims)
    rank = cells.ndim
    axes = _axes(axis, rank)
    for each in axes:
        cells = _along(ufunc, rule, cells, each)
    if initial is not None:
        cells = rule(known(initial), cells)
    if keepdims:
        cells = np.expand_dims(cells, tuple(axes))
    return made(cells, np.dtype(dtype) if dtype is not None else array.dtype)


def _along(ufunc: Any, rule: functions.Rule, cells: Cells, axis: int) -> Cells:
    name = ufunc.__name__
    if cells.shape[axis] == 0:
        shape = (*cells.shape[:axis], *cells.shape[axis + 1 :])
        return np.broadcast_to(known(functions.IDENTITIES[name]), shape)
    if name in functions.TOTALS:
        return functions.TOTALS[name](cells, axis)
    return numbers.reduced(rule, cells, axis)


def _accumulated(ufunc: Any, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    cells = numbers.accumulated(functions.rule(ufunc), cells_of(array), axis)
    return made(cells, np.dtype(dtype) if dtype is not None else array.dtype)


def _at(ufunc: Any, array: Any, indices: Any, *values: Any) -> None:
    """Updates elements one after another."""
    (given,) = np.broadcast_arrays(*values) if values else (None,)
    for place, index in np.ndenumerate(indices):
        operands = () if given is None else (given[place],)
        array[index] = ufunc(array[index], *operands)


_METHODS: dict[str, Callable[..., Any]] = {
    "accumulate": _accumulated,
    "at": _at,
    "reduce": _reduced,
}
"""What the methods of universal functions do."""

_COMPOSED: frozenset[Any] = frozenset(
    getattr(np, name)
    for name in (
        *("all", "any", "argmax", "argmin", "argsort", "array_equal", "clip", "cumsum", "max"),
        *("mean", "min", "prod", "sum"),
    )
)
"""Functions of numpy's that are made of others, which are followed."""


def _broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    del subok
    shape = np.broadcast_shapes(*(np.shape(array) for array in arrays))
    return tuple(np.broadcast_to(array, shape) for array in arrays)


def _full_like(array: Any, value: Any, dtype: Any = None, shape: Any = None, **_: Any) -> Any:
    target = array.dtype if dtype is None else np.dtype(dtype)
    size = np.shape(array) if shape is None else shape
    if not is_float(target):
        plain = np.full(size, value, target)
        holds = isinstance(array, FieldArray) and array.is_bytes and dtype is None
        return memory(plain) if holds else plain
    return made(np.broadcast_to(cells_of(value), size).copy(), target)


def _zeros_like(
    array: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None
) -> Any:
    del order, subok
    return _full_like(array, 0, dtype, shape)


def _copyto(target: Any, source: Any, casting: Any = None, where: Any = True) -> None:
    del casting
    if not isinstance(target, FieldArray):
        raise RefusedError("numbers are copied to an array of floats")
    if where is True:
        target[...] = source
        return
    chosen = np.broadcast_to(where, target.shape)
    target[chosen] = np.broadcast_to(source, target.shape)[chosen]


def _real(array: Any) -> Any:
    return array


def _einsum(subscripts: str, *operands: Any, **_: Any) -> Any:
    """A sum of products of two arrays, by letters for their axes."""
    if len(operands) != 2:
        raise RefusedError("einsum of other than two arrays is not followed in the field")
    left, right = (cells_of(each) for each in operands)
    names, result = subscripts.replace(" ", "").split("->")
    first, second = names.split(",")
    first, left_rest = _spelled(first, left.ndim)
    second, right_rest = _spelled(second, right.ndim)
    rest = max(left_rest, right_rest, key=len)
    cells = _contracted(left, first, right, second, result.replace("...", rest))
    return made(cells, np.result_type(*(_typed(each) for each in operands)))


_ELLIPSIS = "0123456789"


def _spelled(letters: str, rank: int) -> tuple[str, str]:
    """Letters with digits in the place of `...`, and these digits."""
    count = rank - len(letters.replace("...", ""))
    rest = _ELLIPSIS[len(_ELLIPSIS) - count :] if "..." in letters else ""
    return letters.replace("...", rest), rest


def _contracted(left: Cells, first: str, right: Cells, second: str, result: str) -> Cells:
    batch = [each for each in result if each in first and each in second]
    # What only one of them has before the ellipsis' digits of the other broadcasts.
    rows = [each for each in result if each in first and each not in second]
    columns = [each for each in result if each in second and each not in first]
    summed = [each for each in first if each in second and each not in result]
    left, first = _summed_up(left, first, {*batch, *rows, *summed})
    right, second = _summed_up(right, second, {*batch, *columns, *summed})
    left = left.transpose([first.index(each) for each in (*batch, *rows, *summed)])
    right = right.transpose([second.index(each) for each in (*batch, *summed, *columns)])
    b, m, k = len(batch), len(rows), len(summed)
    a = left.reshape(*left.shape[:b], _size(left.shape[b : b + m]), _size(left.shape[b + m :]))
    c = right.reshape(*right.shape[:b], _size(right.shape[b : b + k]), _size(right.shape[b + k :]))
    product = numbers.matrix_product(a, c)
    shape = (*product.shape[:b], *left.shape[b : b + m], *right.shape[b + k :])
    order = [*batch, *rows, *columns]
    return product.reshape(shape).transpose([order.index(each) for each in result])


def _summed_up(cells: Cells, letters: str, kept: set[str]) -> tuple[Cells, str]:
    for each in letters:
        if each not in kept:
            cells = numbers.total(cells, letters.index(each))
            letters = letters.replace(each, "")
    return cells, letters


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(shape))


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.broadcast_arrays: _broadcast_arrays,
    np.copyto: _copyto,
    np.einsum: _einsum,
    np.empty_like: _zeros_like,
    np.full_like: _full_like,
    np.real: _real,
    np.zeros_like: _zeros_like,
}
"""What other functions of numpy's do."""
