"""How `tileiras` is to compile an entry."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i32
from xdsl.dialects.memref import AllocaOp
from xdsl.ir import Attribute

from xtile.dialects.core.attributes import TILE_HINTS_ATTRIBUTE
from xtile.dialects.core.signature import source_language
from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import shape_of
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.walk import walk
from xtile.rewrite.contractions import feeds_another, is_of_matrices
from xtile.targets.target import OWN_WARPS, Hints, Target, TilePolicy

_OWN_CHOICE = Hints(num_worker_warps_per_cta=OWN_WARPS)
"""What needs no hint."""

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
    allocates = AllocaOp in {type(each) for each in walk(function)}
    if hints and all(isinstance(each, DictionaryAttr) for each in hints.values()):
        chips = cast("dict[str, DictionaryAttr]", hints)
        if allocates:
            chips = {
                chip: DictionaryAttr({**each.data, **_OF_ONE_WARP}) for chip, each in chips.items()
            }
        return OptimizationHintsAttr(DictionaryAttr(chips))
    hints = hints or _hints_for_products(function, target)
    if allocates:
        hints |= _OF_ONE_WARP
    if not hints:
        return None
    return OptimizationHintsAttr(DictionaryAttr({target.name: DictionaryAttr(hints)}))


def _hints_for_products(function: FuncOp, target: Target) -> dict[str, Attribute]:
    """What the products of a kernel of another language need for their registers.

    They are compiled as one product with a result as large as all of theirs, and as the target says
    it where the result of one goes into another, as in attention. Kernels of CUDA Tile IR have the
    hints that their authors gave them.
    """
    if source_language(function) == "cuda_tile":
        return {}
    products: dict[Attribute, list[ContractionOp]] = {}
    for each in walk(function):
        if isinstance(each, ContractionOp) and is_of_matrices(each):
            products.setdefault(value_type(each.lhs.type), []).append(each)
    found = [_hints(target.tiles, factor, own) for factor, own in products.items()]
    largest = max(found, key=lambda each: each.num_worker_warps_per_cta or 0, default=Hints())
    if largest in (Hints(), _OWN_CHOICE):
        return {}
    given = largest._asdict().items()
    return {name: IntegerAttr(number, i32) for name, number in given if number is not None}


def _hints(tiles: TilePolicy, factor: Attribute, products: Sequence[ContractionOp]) -> Hints:
    """Those for all products of a type of factors."""
    shapes = [shape_of(each.results[0]) for each in products]
    area = sum(map(prod, shapes))
    if any(feeds_another(each, products) for each in products):
        chained = tiles.chained_hints(min(shape[-2:][0] for shape in shapes), area)
        if chained is not None:
            return chained
    shape = shapes[0][-2:] if len(shapes) == 1 else ()
    hints = tiles.product_hints(factor, 1 << (area - 1).bit_length(), shape).for_steps
    # Several products share no tile that two blocks could divide.
    return hints if len(products) == 1 else hints._replace(num_cta_in_cga=None)
