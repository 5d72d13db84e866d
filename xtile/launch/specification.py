"""What `xtile run` understands as the value of an argument.

A scalar is a number, `2`, `-1.5`, `inf`, `1+2j`, or `true` or `false`. An array is the path of an
`.npy` file, or one of `zeros`, `ones`, `nan` and `rand`, followed by `:` and its shape where the
type leaves it open (`zeros:16x16`); `null` is a null pointer. A group is a list of arrays between
commas, in which `*n` repeats an array (`rand:16x8*10`), or the path of an `.npz` file.
"""

from __future__ import annotations

import cmath
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from xtile.arguments.errors import ArgumentError
from xtile.arguments.groups import Group
from xtile.arguments.memory_types import DYNAMIC, GroupMemory, MemoryType, scalar_type_of
from xtile.arguments.signature import Parameter
from xtile.arguments.views import list_text
from xtile.dialects.tensorlang.types import BOOL
from xtile.semantics.upstream.numbers import Kind
from xtile.semantics.values import Array
from xtile.text.diagnostics import shorten

FILLS = ("zeros", "ones", "nan", "rand")

_LONGEST_TEXT = 80

_LARGEST_RANDOM_INTEGER = 8
"""Random integers are small, so that sums and products stay exact in most types."""

_FILL = re.compile("(" + "|".join(FILLS) + r")(?::(\d{1,15}(?:x\d{1,15})*))?(?:\*(\d{1,6}))?")
_SIZE = re.compile(r"(\d{1,15}(?:x\d{1,15})*)?(?:\*(\d{1,6}))?")


def value_of(parameter: Parameter, text: str, generator: np.random.Generator) -> Any:
    """Returns the argument that `text` describes for a parameter.

    Raises:
        ArgumentError: The text is no such description, or a file cannot be read.
    """
    if parameter.group is not None:
        return _group(parameter, parameter.group, text, generator)
    if parameter.memory is not None:
        return _array(str(parameter), parameter.memory, text, generator)
    return _number(parameter, text)


def random_value(parameter: Parameter, size: str | None, generator: np.random.Generator) -> Any:
    """Returns random memory for a memref or group parameter.

    Args:
        parameter: The parameter.
        size: Its shape as `64x64`, for a group `16x8*10`; None if the type gives it.
        generator: Where the numbers come from.

    Raises:
        ArgumentError: The size is missing or malformed.
    """
    match = _SIZE.fullmatch(size or "")
    if match is None:
        raise ArgumentError(f"{parameter}: expected a size such as 64x64, given '{size}'")
    shape_text, count = match.groups()
    _check_size_is_known(parameter, shape_text)
    shape = f":{shape_text}" if shape_text else ""
    if parameter.group is not None:
        count = count or _static_count(parameter, parameter.group)
        return value_of(parameter, f"rand{shape}*{count}", generator)
    return value_of(parameter, f"rand{shape}", generator)


def _check_size_is_known(parameter: Parameter, shape_text: str | None) -> None:
    group = parameter.group
    type = parameter.memory if group is None else group.element
    if shape_text is None and type is not None and type.is_open:
        raise ArgumentError(
            f"{parameter}: {_open_shape(type)}; "
            f"give it, e.g. --size {parameter.name}={_example_of(type)}"
        )


def _open_shape(type: MemoryType) -> str:
    if type.has_any_shape:
        return "its shape is not known"
    return f"its shape {list_text(type.shape)} is dynamic"


def _example_of(type: MemoryType) -> str:
    if type.has_any_shape:
        return "16x16"
    return "x".join("16" if size == DYNAMIC else str(size) for size in type.shape)


def _static_count(parameter: Parameter, type: GroupMemory) -> str:
    if type.size == DYNAMIC:
        raise ArgumentError(
            f"{parameter}: the number of entries is dynamic; give it, "
            f"e.g. --size {parameter.name}=16x16*4"
        )
    return str(type.size)


def _number(parameter: Parameter, text: str) -> bool | int | float | complex:
    if scalar_type_of(parameter.type) == BOOL:
        if text not in ("true", "false"):
            raise ArgumentError(f"{parameter}: expected true or false, given '{text}'")
        return text == "true"
    for kind in (int, float, float.fromhex, complex):
        try:
            number = kind(text)
        except (ValueError, OverflowError):
            continue
        if not isinstance(number, int) and cmath.isinf(number) and "inf" not in text.lower():
            break
        return number
    raise ArgumentError(f"{parameter}: expected a number, given '{shorten(text, _LONGEST_TEXT)}'")


def _array(label: str, type: MemoryType, text: str, generator: np.random.Generator) -> Array | None:
    if text == "null":
        return None
    match = _FILL.fullmatch(text)
    if match is None:
        return placed(type, _load(label, type, text))
    fill, shape, count = match.groups()
    if count is not None:
        raise ArgumentError(f"{label}: '*{count}' repeats an entry of a group, this is none")
    return _filled(label, type, fill, shape, generator)


def _filled(
    label: str, type: MemoryType, fill: str, shape_text: str | None, generator: np.random.Generator
) -> Array:
    shape = type.shape
    if shape_text is not None:
        shape = tuple(int(size) for size in shape_text.split("x"))
    elif type.is_open:
        raise ArgumentError(
            f"{label}: {_open_shape(type)}; give it, e.g. {fill}:{_example_of(type)}"
        )
    try:
        return placed(type, _values(label, type, fill, shape, generator))
    except (MemoryError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{label}: shape {list_text(shape)} is too large") from None


def _values(
    label: str, type: MemoryType, fill: str, shape: Sequence[int], generator: np.random.Generator
) -> Array:
    element = type.dtype
    is_integer = type.is_integer
    if fill == "zeros":
        return np.zeros(shape, element)
    if fill == "ones":
        return np.ones(shape, element)
    if fill == "nan":
        if is_integer:
            raise ArgumentError(f"{label}: integers have no NaN; use zeros, ones or rand")
        return np.full(shape, np.nan, element)
    if is_integer:
        largest = _LARGEST_RANDOM_INTEGER
        return generator.integers(-largest, largest, shape, endpoint=True).astype(element)
    real = generator.standard_normal(shape)
    if type.number.kind is Kind.FLOAT:
        return np.asarray(real, element)
    return np.asarray(real + 1j * generator.standard_normal(shape), element)


def _group(
    parameter: Parameter, type: GroupMemory, text: str, generator: np.random.Generator
) -> Group:
    label = str(parameter)
    memref = type.element
    entries: list[Array | None] = []
    if text.endswith(".npz"):
        loaded = [_named_type(array, memref) for array in _read(label, text)]
        return _with_offset(type, [placed(memref, array) for array in loaded])
    for part in text.split(",") if text else []:
        base, star, count = part.rpartition("*")
        if not star or not re.fullmatch(r"\d{1,6}", count):
            base, count = part, "1"
        if base == "null":
            entries += [None] * int(count)
            continue
        entries += [_array(label, memref, base, generator) for _ in range(int(count))]
    return _with_offset(type, entries)


def _with_offset(type: GroupMemory, entries: list[Array | None]) -> Group:
    """Puts each array behind the group's offset, if its type has one; a dynamic one is 0."""
    if type.offset in (0, DYNAMIC):
        return Group(entries)
    memory = [
        None
        if entry is None
        else np.concatenate([np.zeros(type.offset, entry.dtype), entry.ravel(order="F")])
        for entry in entries
    ]
    return Group(memory, shapes=[None if entry is None else entry.shape for entry in entries])


def _load(label: str, type: MemoryType, path: str) -> Array:
    if not path.endswith(".npy"):
        fills = ", ".join(FILLS)
        raise ArgumentError(
            f"{label}: expected the path of an .npy file, null, or one of {fills}, given '{path}'"
        )
    arrays = _read(label, path)
    if len(arrays) != 1:
        raise ArgumentError(f"{label}: expected one array in {path}, given {len(arrays)}")
    return _named_type(arrays[0], type)


def _read(label: str, path: str) -> list[Array]:
    """Returns the array of an .npy file or those of an .npz file; never runs code from it."""
    try:
        content = np.load(path, allow_pickle=False)
        if isinstance(content, np.ndarray):
            return [content]
        return [np.asarray(content[name]) for name in content.files]
    except OSError as error:
        raise ArgumentError(f"{label}: cannot read {path}: {error.strerror or error}") from None
    # A damaged file makes numpy, zipfile, zlib and tokenize raise errors of many kinds.
    except Exception as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        if "pickle" in reason:
            reason = "it is damaged, or no .npy file"
        raise ArgumentError(f"{label}: {path} holds no array: {reason}") from None


def _named_type(array: Any, type: MemoryType) -> Array:
    """Gives bf16 its name back: the .npy format only stores that an element has two bytes."""
    wanted = type.dtype
    if array.dtype.kind == "V" and array.dtype.itemsize == wanted.itemsize:
        return array.view(wanted)
    return array


def placed(type: MemoryType, array: Array) -> Array:
    """Copies an array to memory with the type's strides; dynamic strides become packed ones.

    The command owns the memory, so a row-major file needs no preparation by its user.
    """
    if array.ndim != type.order or 0 in array.shape:
        return array
    strides = _strides(type, array.shape)
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True))
    memory = np.zeros(span, array.dtype)
    view = np.ndarray(
        array.shape, array.dtype, memory, 0, [stride * array.itemsize for stride in strides]
    )
    view[...] = array
    return view


def _strides(type: MemoryType, shape: Sequence[int]) -> list[int]:
    """The type's strides; a dynamic one follows from the mode that varies faster."""
    strides: list[int] = []
    packed = 1
    modes = list(zip(shape, type.strides, strict=True))
    for size, stride in reversed(modes) if type.is_row_major else modes:
        strides.append(packed if stride == DYNAMIC else stride)
        packed = strides[-1] * size
    return strides[::-1] if type.is_row_major else strides
