"""The rules of XeGPU, which are loaded where a module has its operations only."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Attribute

from xtile.dialects.xegpu.types import TensorDescType
from xtile.translate.rule import Rule
from xtile.translate.xegpu_to_spirv import block_access, block_descriptors, matrix_products
from xtile.translate.xegpu_to_spirv.carried import Carried

RULES: dict[str, Rule] = {
    **block_access.RULES,
    **block_descriptors.RULES,
    **matrix_products.RULES,
}
"""The rule of each operation, by name."""

CARRIED: Mapping[type[Attribute], type[Carried]] = {
    TensorDescType: block_descriptors.BlockDescriptor,
}
"""What values of these types are while a kernel is translated."""
