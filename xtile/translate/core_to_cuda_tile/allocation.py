"""Memory that is allocated by a tile block, and variables of the module."""

from __future__ import annotations

from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import SymbolRefAttr, UnitAttr, i1
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.constants import constant_attribute
from xtile.dialects.cuda_tile.ops import memory
from xtile.dialects.cuda_tile.ops.global_variables import GetGlobalOp
from xtile.dialects.cuda_tile.ops.global_variables import GlobalOp as CudaTileGlobalOp
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.memref.allocation import GlobalOp
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import TARGET, Lowering
from xtile.translate.core_to_cuda_tile.types import part_of, pointer_tile, size_in_bytes
from xtile.translate.tiles.descriptors import GLOBAL_MEMORY, Descriptor
from xtile.translate.tiles.types import is_local, memref_type, parts_per_element

_ALIGNMENT = 128
"""Bytes that memory is aligned to: a line of the cache."""

_WORD = 4
"""Bytes that atomic updates of narrow numbers swap, the last number's too."""


def _alloca(operation: Operation, lowering: Lowering) -> None:
    """New memory, whose content is undefined."""
    (result,) = operation.results
    type_ = memref_type(result.type)
    layout = layout_of(type_)
    if layout.unknowns:
        raise lowering.error(
            f"memory of type {type_} cannot be allocated in {TARGET}: its size must be known"
        )
    element, scale = type_.element_type, parts_per_element(type_.element_type)
    offset, sizes, strides = layout.filled(())
    count = scale * max(layout.allocated_elements(), 1)
    in_a_word = max(1, _WORD // size_in_bytes(part_of(element)))
    count = -(-count // in_a_word) * in_a_word
    pointer_type = pointer_tile(part_of(element))
    pointer = lowering.compute(memory.AllocaOp, count, _ALIGNMENT, pointer_type)
    alias_set = lowering.alias_set_of(result)
    if alias_set != GLOBAL_MEMORY:
        lowering.order.allocate(alias_set)
    lowering.define(
        result,
        Descriptor(
            pointer,
            element,
            lowering.multiply(offset, scale),
            tuple(sizes),
            tuple(lowering.multiply(stride, scale) for stride in strides),
            # With a promise of more, tileiras 13.5 fails to compile some kernels.
            size_in_bytes(part_of(element)),
            alias_set,
        ),
    )


def _global(operation: GlobalOp, lowering: Lowering) -> None:
    """A variable; one without first values begins with zeros."""
    name, type_ = operation.sym_name.data, memref_type(operation.type)
    if is_local(type_) or parts_per_element(type_.element_type) != 1 or type_.element_type == i1:
        raise lowering.error(
            f"@{name} of type {type_} cannot be translated to {TARGET}: variables hold integers or "
            "floats in global memory"
        )
    given = operation.properties.get("initial_value")
    if given is None:
        raise lowering.error(f"@{name} is declared only: nothing says what its memory holds")
    tile = TileType([max(1, prod(type_.get_shape()))], part_of(type_.element_type))
    numbers = [0] if isinstance(given, UnitAttr) else cast(Any, given).get_values()
    value = constant_attribute(tile, numbers)
    is_constant = operation.constant is not None
    lowering.emit(CudaTileGlobalOp(name, value, alignment=_ALIGNMENT, constant=is_constant))


def _get_global(operation: Operation, lowering: Lowering) -> None:
    (result,) = operation.results
    type_ = memref_type(result.type)
    offset, sizes, strides = layout_of(type_).filled(())
    name = cast("SymbolRefAttr", operation.properties["name"]).root_reference.data
    pointer = lowering.pure(GetGlobalOp, name, pointer_tile(part_of(type_.element_type)))
    lowering.define(
        result,
        Descriptor(
            pointer,
            type_.element_type,
            offset,
            tuple(sizes),
            tuple(strides),
            _ALIGNMENT,
            lowering.alias_set_of(result),
        ),
    )


RULES: dict[str, Rule] = {
    "memref.alloca": _alloca,
    "memref.get_global": _get_global,
    "memref.global": _global,
}
"""The rule of each operation, by name."""
