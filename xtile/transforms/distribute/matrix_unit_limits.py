"""Which products the matrix units compute.

This stands apart from how they do it, so that kernels without matrices load no vectors.
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from xtile.rewrite.emitter import AnyMemRef, element_type
from xtile.transforms.distribute.effects import Space, space_of
from xtile.transforms.distribute.product import Product
from xtile.transforms.distribute.update import Update

HEIGHTS = (32, 16, 8)
"""Rows of C that a subgroup computes at once: multiples of the most that dpas repeats."""


def misfit(product: Product, update: Update) -> str | None:
    """Why the matrix units do not compute a product; None if they do."""
    device, unit = update.kernel.device, update.kernel.device.matrix_unit
    element = element_type(product.a)
    if unit is None:
        return f"{device.name} has none"
    if device.block_access is None and device.is_for_llvm:
        return f"{device.name} has no two-dimensional block loads"
    if element != element_type(product.b) or element not in unit.accumulators:
        return f"they have no products of {element} and {element_type(product.b)}"
    if not unit.is_exact(element, update.wide):
        return f"they have no exact products of {element} with sums of {update.wide}"
    if unit.execution_size != update.kernel.subgroup_size:
        return f"they need subgroups of {unit.execution_size} work-items"
    if any(space_of(memory) is not Space.GLOBAL for memory in (product.a, product.b)):
        return "an input is not in global memory"
    if not all(_is_contiguous(memory) for memory in (product.a, product.b)):
        return "an input is not known to be contiguous along a dimension"
    least = (HEIGHTS[-1], unit.execution_size, unit.depth(element))
    sizes = (product.rows, product.columns, product.depth)
    if any(isinstance(size, int) and size < low for size, low in zip(sizes, least, strict=True)):
        return f"it is smaller than {least[0]} x {least[1]} x {least[2]}"
    return None


def _is_contiguous(memory: SSAValue) -> bool:
    return 1 in (cast("AnyMemRef", memory.type).get_strides() or ())
