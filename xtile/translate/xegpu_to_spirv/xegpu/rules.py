"""The rules of XeGPU, which are loaded where a module has its operations only."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.xegpu.rfc.verifier import is_only_rfc
from xtile.dialects.xegpu.types import TensorDescType
from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.xegpu_to_spirv.lowering import Carried, Lowering
from xtile.translate.xegpu_to_spirv.xegpu import (
    barriers,
    block_access,
    block_descriptors,
    local_matrices,
    matrix_products,
    scattered_access,
)
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import BlockDescriptor
from xtile.translate.xegpu_to_spirv.xegpu.lane_code import check_no_work_group
from xtile.translate.xegpu_to_spirv.xegpu.local_matrices import LocalMatrix
from xtile.translate.xegpu_to_spirv.xegpu.scattered_access import ScatteredDescriptor


def _of_lanes(rule: Rule) -> Rule:
    """A rule for what an operation is in LLVM 22's form, and in code of one lane only."""

    def checked(operation: Operation, lowering: Lowering) -> None:
        if is_only_rfc(operation):
            raise lowering.error(
                f"{spelling_of(operation)} cannot be translated to SPIR-V in the RFC's form; the "
                "pass xegpu-rfc-to-llvm22 gives it LLVM 22's form where there is one"
            )
        check_no_work_group(operation, lowering)
        rule(operation, lowering)

    return checked


RULES: dict[str, Rule] = {
    name: _of_lanes(rule)
    for module in (
        block_access,
        block_descriptors,
        local_matrices,
        matrix_products,
        scattered_access,
        barriers,
    )
    for name, rule in module.RULES.items()
}
"""The rule of each operation, by name."""


def rebuilt(type_: Attribute, values: Iterator[SSAValue]) -> Carried:
    """What a value of a type of XeGPU is, made from the next of some values."""
    if isinstance(type_, TensorDescType) and type_.is_scattered:
        return ScatteredDescriptor.rebuilt(type_, values)
    if isinstance(type_, TensorDescType):
        return BlockDescriptor.rebuilt(type_, values)
    return LocalMatrix.rebuilt(type_, values)
