"""`assume`: passes its operand on; an observer learns of what is not so.

Source: CUDA Tile IR specification, "Operations", "Miscellaneous"; NVIDIA/cuda-tile 13.3.0,
`AttrDefs.td` (`div_by`, `same_elements`, `bounded`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Attribute, Operation

from xtile.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SameElementsAttr
from xtile.dialects.cuda_tile.types import PointerType, TensorViewType, TileType
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.numbers import element_number
from xtile.semantics.cuda_tile.tensor_views import TensorView
from xtile.semantics.promises import report_broken_promise
from xtile.semantics.state import State
from xtile.semantics.storage import Storage, storage_of
from xtile.semantics.values import Array, Value

_Check = Callable[[Value], Array]
"""For a value which of its elements are not as assumed."""


def _assume(operation: Operation, compiler: Compiler) -> Step:
    (source,) = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    predicate = operation.properties["predicate"]
    check = _check(predicate, operation.operands[0].type) if compiler.is_observed else None

    def step(state: State) -> None:
        value = state.values[source]
        if check is not None:
            report_broken_promise(state, operation, check(value), _message(predicate))
        state.values[result] = value

    return step


def _message(predicate: Attribute) -> str:
    return f"{str(predicate).removeprefix('#cuda_tile.')} is assumed, but does not hold"


def _check(predicate: Attribute, type: Attribute) -> _Check:
    match predicate:
        case BoundedAttr():
            return _bounded(predicate, type)
        case SameElementsAttr():
            return _same_elements(predicate)
        case DivByAttr():
            return _div_by(predicate, type)
        case _:
            raise ValueError(f"{predicate} cannot be checked")


def _bounded(predicate: BoundedAttr, type: Attribute) -> _Check:
    signed = element_number(type).signed
    least, largest = predicate.lower_bound, predicate.upper_bound

    def check(value: Value) -> Array:
        numbers = np.asanyarray(signed(value))
        broken = np.zeros(numbers.shape, np.bool_)
        if least is not None:
            broken |= numbers < least
        if largest is not None:
            broken |= numbers > largest
        return broken

    return check


def _same_elements(predicate: SameElementsAttr) -> _Check:
    sizes = predicate.get_values()

    def check(value: Value) -> Array:
        first = np.asanyarray(value)
        for dimension, size in enumerate(sizes):
            first = _first_of_groups(first, size, dimension)
        return np.asanyarray(value) != first

    return check


def _first_of_groups(value: Array, size: int, dimension: int) -> Array:
    """For each element the first one of its group along a dimension."""
    index = np.arange(int(value.shape[dimension]))
    return np.take(value, index - index % size, dimension)


def _div_by(predicate: DivByAttr, type: Attribute) -> _Check:
    divisor, group = predicate.divisor.data, predicate.group
    storage = _pointee(type)
    # Pointers to halves of bytes are counted in these.
    scale = 2 if storage is not None and storage.is_packed else 1
    if isinstance(type, TensorViewType):
        return lambda tensor: np.asanyarray(_address(tensor) % (divisor * scale) != 0)
    step = 1 if storage is None else storage.step

    def check(value: Value) -> Array:
        numbers = np.asanyarray(value).astype(np.int64)
        if group is None:
            return numbers % (divisor * scale) != 0
        size, dimension = group
        first = _first_of_groups(numbers, size, dimension)
        axes = (1,) * (numbers.ndim - dimension - 1)
        index = np.arange(int(numbers.shape[dimension]))
        position = (index % size).reshape(-1, *axes)
        return (first % (divisor * scale) != 0) | (numbers != first + step * position)

    return check


def _address(tensor: TensorView) -> int:
    return tensor.address


def _pointee(type: Attribute) -> Storage | None:
    """How that lies in memory which a tile of pointers or a tensor_view points to."""
    if isinstance(type, TensorViewType):
        return storage_of(type.element_type)
    if isinstance(type, TileType) and isinstance(type.element_type, PointerType):
        return storage_of(type.element_type.pointee_type)
    return None


HANDLERS: dict[str, Handler] = {"cuda_tile.assume": _assume}
"""The handler of each operation, by name."""
