"""The whole `tt` dialect, which loads every module of it."""

from xdsl.ir import Dialect, Operation

from xtile.dialects.triton.tt import types
from xtile.dialects.triton.tt.ops import (
    aggregates,
    atomics,
    block_pointers,
    descriptors,
    external,
    functions,
    memory,
    numbers,
    pointers,
    products,
    programs,
    shapes,
)

OPERATIONS: list[type[Operation]] = [
    *pointers.OPERATIONS,
    *numbers.OPERATIONS,
    *programs.OPERATIONS,
    *shapes.OPERATIONS,
    *memory.OPERATIONS,
    *atomics.OPERATIONS,
    *products.OPERATIONS,
    *aggregates.OPERATIONS,
    *external.OPERATIONS,
    *descriptors.OPERATIONS,
    *block_pointers.OPERATIONS,
    *functions.OPERATIONS,
]
"""Every operation of every release."""

TT = Dialect("tt", OPERATIONS, [*types.TYPES, *types.ATTRIBUTES])
