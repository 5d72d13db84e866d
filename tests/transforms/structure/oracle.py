"""Which accesses are boxes of strided memory: what the reference device sees them do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import numpy as np
from xdsl.ir import Operation

import xtile
from tests.transforms.structure.pointer_kernels import Case
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.shapes import as_vector
from xtile.semantics.core import HANDLERS
from xtile.semantics.vector.arrays import as_array
from xtile.translate.route import translate

Array = Any


def accesses_of(case: Case) -> dict[Operation, bool]:
    """Each access of a tile through pointers, and whether it was a box each time."""
    module = translate(xtile.parse(case.text(), language="mlir"), "cuda_tile-to-core")
    found: dict[Operation, bool] = defaultdict(lambda: True)

    def record(operation: Operation, addresses: Array, mask: Array) -> None:
        found[operation] &= _is_box(addresses, mask)

    with _recording(record):
        for arguments, grid in case.launches():
            xtile.run(module, arguments, grid)
    return dict(found)


@contextmanager
def _recording(record: Callable[[Operation, Array, Array], None]) -> Generator[None]:
    """Tells of each access through tiles of pointers while kernels run."""
    before = dict(HANDLERS)

    def recorded(operation: Any, compiler: Any) -> Any:
        step = before[operation.name](operation, compiler)
        pointers = compiler.slot(operation.memory)
        mask = None if operation.mask is None else compiler.slot(operation.mask)
        accessed = operation.result if isinstance(operation, GatherLoadOp) else operation.value
        vector = as_vector(accessed.type)

        def run(state: Any) -> None:
            if vector is not None:
                shape = vector.get_shape()
                values = state.values
                given = np.broadcast_to(True, shape) if mask is None else as_array(values[mask])
                record(operation, *(_of(each, shape) for each in (values[pointers], given)))
            step(state)

        return run

    HANDLERS.update({GatherLoadOp.name: recorded, ScatterStoreOp.name: recorded})
    try:
        yield
    finally:
        HANDLERS.update(before)


def _of(value: Any, shape: tuple[int, ...]) -> Array:
    """The elements of a tile, of which a tile block has one."""
    return np.array(as_array(value)).reshape(shape)


def _is_box(addresses: Array, mask: Array) -> bool:
    """Whether what a mask lets through is a box, and its addresses have a step along each axis."""
    if not mask.any():
        return True
    box = tuple(slice(at.min(), at.max() + 1) for at in np.nonzero(mask))
    inside = addresses[box].astype(np.int64)
    if not mask[box].all():
        return False
    return all(_has_one_step(inside, axis) for axis in range(inside.ndim))


def _has_one_step(addresses: Array, axis: int) -> bool:
    steps = np.diff(addresses, axis=axis)
    return steps.size == 0 or bool((steps == steps.flat[0]).all())
