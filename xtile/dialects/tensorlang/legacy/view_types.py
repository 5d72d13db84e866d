"""The result types of views, which older text leaves to be inferred.

Source: tensor language references of tinytc v0.1.0 and v0.3.1, "The output type is ..." in the
sections "Expand", "Fuse" and "Subview".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.attributes import AddressSpace
from xtile.dialects.tensorlang.legacy.terms import (
    same_type,
)
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    integer_value,
)
from xtile.dialects.tensorlang.ops.memory import ExpandOp, LoadOp, SizeOp, SubviewOp
from xtile.dialects.tensorlang.types import DYNAMIC, INDEX, GroupType, MemrefType


def _view(source: MemrefType, shape: Sequence[int], strides: Sequence[int]) -> MemrefType:
    space = source.address_space
    return _memref(source.element_type, tuple(shape), tuple(strides), space)


@lru_cache(maxsize=256)
def _memref(
    element: Attribute, shape: tuple[int, ...], strides: tuple[int, ...], space: AddressSpace
) -> MemrefType:
    """A type; the same few return again and again, and building one takes its time."""
    return MemrefType.get(element, shape, strides, space)


def subview_type(source: MemrefType, sizes: Sequence[int]) -> MemrefType:
    """The type of a subview; a mode of size 0, which is one without a size, is left out."""
    kept = [mode for mode, size in enumerate(sizes) if size != 0]
    strides = source.strides
    return _view(source, [sizes[mode] for mode in kept], [strides[mode] for mode in kept])


def expand_type(source: MemrefType, mode: int, sizes: Sequence[int]) -> MemrefType:
    """The type of an expand, with canonical strides for the new modes."""
    shape, strides = source.shape, source.strides
    inner = [strides[mode]]
    for size in sizes[:-1]:
        inner.append(DYNAMIC if DYNAMIC in (size, inner[-1]) else inner[-1] * size)
    return _view(
        source,
        [*shape[:mode], *sizes, *shape[mode + 1 :]],
        [*strides[:mode], *inner, *strides[mode + 1 :]],
    )


def fuse_type(source: MemrefType, from_mode: int, to_mode: int) -> MemrefType:
    """The type of a fuse; its size is dynamic where one of the fused sizes is."""
    shape, strides = source.shape, source.strides
    fused = shape[from_mode : to_mode + 1]
    size = DYNAMIC if DYNAMIC in fused else math.prod(fused)
    return _view(
        source,
        [*shape[:from_mode], size, *shape[to_mode + 1 :]],
        [*strides[: from_mode + 1], *strides[to_mode + 1 :]],
    )


def _static_values(parts: Parts, name: str) -> list[int]:
    values = parts.properties[name]
    assert isinstance(values, DenseArrayBase)
    return [int(value) for value in values.get_values()]


def _inferred_of_parts(
    cls: type[TensorLangOperation], source: MemrefType, parts: Parts
) -> MemrefType | None:
    """The result type that the parts of a view imply, or None where they are wrong."""
    try:
        if cls is SubviewOp:
            sizes = _static_values(parts, "static_sizes")
            return subview_type(source, sizes) if len(sizes) == source.order else None
        if cls is ExpandOp:
            mode = integer_value(parts.properties["mode"])
            sizes = _static_values(parts, "static_expand_shape")
            return expand_type(source, mode, sizes) if 0 <= mode < source.order else None
        first, last = (integer_value(parts.properties[name]) for name in ("from_mode", "to_mode"))
        return fuse_type(source, first, last) if 0 <= first < last < source.order else None
    except VerifyException:
        return None


def operand_style_result(cls: type[TensorLangOperation], parts: Parts) -> Attribute | None:
    """The result type of an instruction that is annotated with its operand's type.

    None where the annotation may be the result's, as the current revision has it.
    """
    actual, annotated = parts.operands[0].type, parts.result_types[0]
    if cls is SizeOp:
        return None if annotated == INDEX else INDEX
    if cls is LoadOp:
        if isinstance(actual, GroupType) and isinstance(annotated, GroupType):
            return actual.memref_type
        if isinstance(actual, MemrefType) and isinstance(annotated, MemrefType):
            return actual.element_type
        return None
    if not isinstance(actual, MemrefType) or not same_type(actual, annotated):
        return None
    inferred = _inferred_of_parts(cls, actual, parts)
    return None if inferred is None or same_type(inferred, annotated) else inferred
