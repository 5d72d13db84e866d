"""Which products the matrix unit computes.

This stands apart from how it does it, so that kernels without matrices load no vectors.
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from xtile.rewrite.emitter import AnyMemRef, element_type
from xtile.targets.products import unit_for
from xtile.targets.target import MatrixUnit
from xtile.transforms.distribute.effects import Space, space_of
from xtile.transforms.distribute.product import Product
from xtile.transforms.distribute.update import Update

HEIGHTS = (32, 16, 8)
"""Rows of C that a subgroup computes at once: multiples of the most that dpas repeats."""


def unit_of(product: Product, update: Update) -> MatrixUnit | str:
    """What the matrix unit computes a product with, or why it does not."""
    kernel = update.kernel
    unit = unit_for(
        kernel.target,
        kernel.target.matrix_units,
        (element_type(product.a), element_type(product.b)),
        update.wide,
        lanes=kernel.subgroup_size,
    )
    if isinstance(unit, str):
        return unit
    if any(space_of(memory) is not Space.GLOBAL for memory in (product.a, product.b)):
        return "an input is not in global memory"
    if not all(_is_contiguous(memory) for memory in (product.a, product.b)):
        return "an input is not known to be contiguous along a dimension"
    least = (HEIGHTS[-1], unit.columns, unit.depth)
    sizes = (product.rows, product.columns, product.depth)
    if any(isinstance(size, int) and size < low for size, low in zip(sizes, least, strict=True)):
        return f"the product is smaller than {least[0]} x {least[1]} x {least[2]}"
    return unit


def _is_contiguous(memory: SSAValue) -> bool:
    return 1 in (cast("AnyMemRef", memory.type).get_strides() or ())
