"""Positions in the grid, global variables, and prints.

Source: CUDA Tile IR specification, "Operations"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import Attribute, Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.configuration import Size3
from xtile.semantics.cuda_tile.memory import pointee_storage
from xtile.semantics.cuda_tile.numbers import Tile, element_number
from xtile.semantics.cuda_tile.shapes import constant_tile
from xtile.semantics.memory import Buffer
from xtile.semantics.ordering import NOTHING
from xtile.semantics.state import State
from xtile.semantics.storage import Storage
from xtile.semantics.upstream.constants import has_flag
from xtile.semantics.upstream.func import symbol
from xtile.semantics.upstream.numbers import Kind, Number
from xtile.semantics.upstream.printf import Converter, formatter
from xtile.semantics.values import Array


def _get_tile_block_id(operation: Operation, compiler: Compiler) -> Step:
    return _three(operation, compiler, lambda state: state.group)


def _get_num_tile_blocks(operation: Operation, compiler: Compiler) -> Step:
    grid = compiler.configuration.grid
    return _three(operation, compiler, lambda state: grid)


def _three(operation: Operation, compiler: Compiler, sizes: Callable[[State], Size3]) -> Step:
    results = compiler.slots(operation.results)

    def step(state: State) -> None:
        for result, size in zip(results, sizes(state), strict=True):
            state.values[result] = np.int32(size)

    return step


def _get_global(operation: Operation, compiler: Compiler) -> Step:
    variable = symbol(operation, cast("Any", operation.properties["name"]))
    storage = pointee_storage(operation.results[0])
    (result,) = compiler.slots(operation.results)
    if variable not in compiler.globals:
        compiler.globals[variable] = _global_memory(variable, storage)
    buffer = compiler.globals[variable]
    scale = 2 if storage.is_packed else 1

    def step(state: State) -> None:
        state.values[result] = np.int64(scale * state.addresses.address_of(buffer))

    return step


def _global_memory(variable: Operation, storage: Storage) -> Buffer:
    """The memory of a global variable at the start of a launch."""
    values = np.ravel(constant_tile(variable.properties["value"]))
    name = f"@{cast('StringAttr', variable.properties['sym_name']).data}"
    count = -(-values.size // 2) if storage.is_packed else values.size
    buffer = Buffer(np.zeros(count, storage.dtype), name)
    storage.write(buffer, np.arange(values.size), values)
    buffer.data.flags.writeable = not has_flag(variable, "constant")
    return buffer


def _print(operation: Operation, compiler: Compiler) -> Step:
    given: Any = operation
    text = cast("StringAttr", operation.properties["str"]).data
    fill = formatter(text, [_promoted(each.type) for each in given.args], _tile_text)
    arguments = compiler.slots(given.args)
    token = None if given.token is None else compiler.slot(given.token)
    result = compiler.slot(given.result_token)

    def step(state: State) -> None:
        values = state.values
        sys.stdout.write(fill([values[slot] for slot in arguments]))
        if state.observer is None:
            values[result] = None
        else:
            values[result] = NOTHING if token is None else values[token]

    return step


def _promoted(type: Attribute) -> Number:
    """What C's printf is given for elements of a type: narrow integers become 32 bits wide."""
    number = element_number(type)
    is_narrow = number.kind is Kind.INTEGER and 1 < number.bits < i32.width.data
    return element_number(i32) if is_narrow else number


def _tile_text(tile: Tile, convert: Converter) -> str:
    """A tile as `[a, b, ...]`; one without dimensions as its only element."""
    array: Array = np.asanyarray(tile)
    if array.ndim == 0:
        return convert(array[()])
    return f"[{', '.join(_tile_text(part, convert) for part in array)}]"


HANDLERS: dict[str, Handler] = {
    "cuda_tile.get_global": _get_global,
    "cuda_tile.get_num_tile_blocks": _get_num_tile_blocks,
    "cuda_tile.get_tile_block_id": _get_tile_block_id,
    "cuda_tile.print_tko": _print,
}
"""The handler of each operation, by name."""
