"""How `tileiras` is to compile an entry."""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i32
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute

from xtile.dialects.core.attributes import TILE_HINTS_ATTRIBUTE
from xtile.dialects.core.signature import source_signature
from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import as_vector
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.walk import walk
from xtile.targets.target import Target

_OWN_CHOICE = 4
"""The warps that `tileiras` 13.5 takes without a hint."""

_WARPS = "num_worker_warps_per_cta"

_OF_ONE_WARP = {_WARPS: IntegerAttr(1, i32)}
"""The hint of an entry that allocates memory.

One warp allocates it and puts the address into shared memory. `tileiras` 13.5 does not wait there
until the other warps have read it, so the next exchange between warps may overwrite it.
"""


def hints_of(function: FuncOp, target: Target) -> OptimizationHintsAttr | None:
    """The hints of an entry: for the device, or for each one that is named."""
    given = function.attributes.get(TILE_HINTS_ATTRIBUTE)
    hints = dict(given.data) if isinstance(given, DictionaryAttr) else {}
    allocates = any(isinstance(each, AllocaOp) for each in walk(function))
    if hints and all(isinstance(each, DictionaryAttr) for each in hints.values()):
        chips = cast("dict[str, DictionaryAttr]", hints)
        if allocates:
            chips = {
                chip: DictionaryAttr({**each.data, **_OF_ONE_WARP}) for chip, each in chips.items()
            }
        return OptimizationHintsAttr(DictionaryAttr(chips))
    warps = 0 if hints else _warps_for_products(function, target)
    if warps > _OWN_CHOICE:
        hints[_WARPS] = IntegerAttr(warps, i32)
    if allocates:
        hints |= _OF_ONE_WARP
    if not hints:
        return None
    return OptimizationHintsAttr(DictionaryAttr({target.name: DictionaryAttr(hints)}))


def _warps_for_products(function: FuncOp, target: Target) -> int:
    """How many warps the products of a kernel of another language need for their registers.

    They are compiled as one product with a result as large as all of theirs. Kernels of CUDA Tile
    IR have the hints that their authors gave them.
    """
    source = source_signature(function)
    if source is not None and source.language == "cuda_tile":
        return 0
    areas: dict[Attribute, int] = {}
    for product in walk(function):
        sums = as_vector(product.results[0].type) if isinstance(product, ContractionOp) else None
        if sums is not None:
            factor = value_type(product.operands[0].type)
            areas[factor] = areas.get(factor, 0) + prod(sums.get_shape())
    hints = (
        target.tiles.product_hints(factor, 1 << (area - 1).bit_length())
        for factor, area in areas.items()
    )
    return max((each.num_worker_warps_per_cta or 0 for each in hints), default=0)
