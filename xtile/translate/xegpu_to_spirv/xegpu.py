"""The rules of XeGPU, which are loaded where a module has its operations only."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.xegpu.types import TensorDescType
from xtile.translate.rule import Rule
from xtile.translate.xegpu_to_spirv import (
    block_access,
    block_descriptors,
    local_matrices,
    matrix_products,
    scattered_access,
    xegpu_barriers,
)
from xtile.translate.xegpu_to_spirv.block_descriptors import BlockDescriptor
from xtile.translate.xegpu_to_spirv.carried import Carried
from xtile.translate.xegpu_to_spirv.local_matrices import LocalMatrix
from xtile.translate.xegpu_to_spirv.scattered_access import ScatteredDescriptor

RULES: dict[str, Rule] = {
    **block_access.RULES,
    **block_descriptors.RULES,
    **local_matrices.RULES,
    **matrix_products.RULES,
    **scattered_access.RULES,
    **xegpu_barriers.RULES,
}
"""The rule of each operation, by name."""


def rebuilt(type_: Attribute, values: Iterator[SSAValue]) -> Carried:
    """What a value of a type of XeGPU is, made from the next of some values."""
    if isinstance(type_, TensorDescType) and type_.is_scattered:
        return ScatteredDescriptor.rebuilt(type_, values)
    if isinstance(type_, TensorDescType):
        return BlockDescriptor.rebuilt(type_, values)
    return LocalMatrix.rebuilt(type_, values)
