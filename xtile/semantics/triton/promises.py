"""Tells an observer of values that are not what attributes of their operations promise.

A tensor is cut into groups of `tt.contiguity` numbers that count up by 1, or of pointers to
elements that follow each other, and into groups of `tt.constancy` equal ones, along each dimension.
`tt.divisibility` divides the first one of each group; without `tt.contiguity`, where they do not go
on counting.

Source: Triton 3.9, `include/triton/Analysis/AxisInfo.h`, `language/core.py` (`multiple_of`,
`max_contiguous`, `max_constancy`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from xtile.dialects.pointer_types import is_pointer
from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.promises import report_broken_promise
from xtile.semantics.state import State
from xtile.semantics.triton.tensors import pointee_storage
from xtile.semantics.values import Array

_CONTIGUITY, _CONSTANCY, _DIVISIBILITY = "tt.contiguity", "tt.constancy", "tt.divisibility"


def promising(operation: Operation, compiler: Compiler, step: Step) -> Step:
    """`step`, after which it is checked that the first result is what is promised of it."""
    names = (_CONTIGUITY, _CONSTANCY, _DIVISIBILITY)
    contiguity, constancy, divisibility = (_sizes(operation, name) for name in names)
    if not (contiguity or constancy or divisibility) or not operation.results:
        return step
    result = compiler.slot(operation.results[0])
    unit = _unit(operation.results[0])

    def checked_step(state: State) -> None:
        step(state)
        value = np.asanyarray(state.values[result])
        if value.dtype.kind != "i":
            return
        for axis, size in enumerate(contiguity):
            report(state, _CONTIGUITY, axis, size, ~_counts_up(value, axis, size, unit))
        for axis, size in enumerate(constancy):
            report(state, _CONSTANCY, axis, size, ~_is_constant(value, axis, size))
        for axis, size in enumerate(divisibility):
            broken = _indivisible(value, axis, size, contiguity, unit)
            report(state, _DIVISIBILITY, axis, size, broken)

    def report(state: State, name: str, axis: int, size: int, broken: Array) -> None:
        message = f"{name} = {size} is promised in dimension {axis}, but does not hold"
        report_broken_promise(state, operation, broken, message)

    return checked_step


def _sizes(operation: Operation, name: str) -> Sequence[int]:
    """What is promised along each dimension; nothing where there is no such attribute."""
    found: Any = operation.attributes.get(name)
    if found is None:
        return ()
    values = found.get_values() if hasattr(found, "get_values") else (found.value.data,)
    return [int(value) for value in values]


def _first_of_groups(value: Array, axis: int, size: int) -> tuple[Array, Array]:
    """For each number the first one of its group, and its position in the group."""
    if not value.ndim:
        return value, np.zeros_like(value)
    index = np.arange(int(value.shape[axis]))
    position = np.reshape(index % size, (-1,) + (1,) * (value.ndim - axis - 1))
    return np.take(value, index - index % size, axis), position


def _unit(value: SSAValue) -> int:
    """By how much numbers count up: pointers by the bytes of an element."""
    is_tile_of_pointers = is_pointer(getattr(value.type, "element_type", value.type))
    return pointee_storage(value).step if is_tile_of_pointers else 1


def _counts_up(value: Array, axis: int, size: int, unit: int) -> Array:
    first, position = _first_of_groups(value, axis, size)
    return value == first + position * unit


def _is_constant(value: Array, axis: int, size: int) -> Array:
    return value == _first_of_groups(value, axis, size)[0]


def _indivisible(
    value: Array, axis: int, divisor: int, contiguity: Sequence[int], unit: int
) -> Array:
    if not value.ndim:
        return np.asanyarray(value % divisor != 0)
    if contiguity:
        begins = _first_of_groups(value, axis, contiguity[axis])[1] == 0
    else:
        moved = np.moveaxis(value, axis, 0)
        goes_on = np.zeros(moved.shape, np.bool_)
        goes_on[1:] = moved[1:] == moved[:-1] + unit
        begins = ~np.moveaxis(goes_on, 0, axis)
    return begins & (value % divisor != 0)
