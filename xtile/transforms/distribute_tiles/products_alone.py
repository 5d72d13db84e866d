"""Kernels that are one product of matrices in memory, and nothing else that takes registers.

Such a subgroup holds its sums and the factors of one step of the depth, which blocks of memory
bring right before its products. So half of its registers can have sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import gcd, prod
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.views import ViewOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.shapes import as_vector, dimensions_of
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.dialects.walk import walk
from xtile.rewrite.contractions import MATMUL, iteration_maps
from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import mixed
from xtile.targets.blocks import Bytes, Region, least_alignment, region_obstacles
from xtile.targets.target import BlockAccess, Target

_OF_SUMS = frozenset(
    {
        "arith.constant",
        "arith.extf",
        "arith.truncf",
        "arith.trunci",
        "scf.for",
        "scf.if",
        "scf.yield",
        "vector.contract",
    }
)
"""Operations on sums after which their registers have something else, or still have them."""

_WIDEST = 2
"""Bytes of an element of the factors: wider ones are rounded before, in registers of their own."""


def is_product_alone(kernel: FuncOp, chip: Target) -> bool:
    """Whether a kernel of tiles is one product on the matrix unit, all of whose memory is blocks.

    Args:
        kernel: The kernel at level "tile".
        chip: What it is made for.
    """
    access = chip.block_access
    operations = walk(kernel)
    products = [each for each in operations if isinstance(each, ContractionOp)]
    if access is None or len(products) != 1 or not _is_on_matrix_unit(products[0], chip):
        return False
    facts = _facts_of(operations)
    factors = [products[0].lhs.owner, products[0].rhs.owner]
    if not all(_is_factor(each, access, facts) for each in factors):
        return False
    size = _elements(products[0].result)
    return all(
        _is_of_sums(each, access, facts)
        for each in operations
        if each not in factors and _largest([*each.operands, *each.results]) >= size
    )


def _is_on_matrix_unit(product: ContractionOp, chip: Target) -> bool:
    factors = [str(value_type(each.type)) for each in (product.lhs, product.rhs)]
    is_known = any([unit.a, unit.b] == factors for unit in chip.units("dpas"))
    return iteration_maps(product) == MATMUL and is_known


def _facts_of(operations: Sequence[Operation]) -> Facts:
    """What is known of numbers, of those that loops count with, too."""
    facts = Facts()
    for each in operations:
        if isinstance(each, scf.ForOp):
            divisor = gcd(facts.divisor(each.lb), facts.divisor(each.step))
            has_sign = UNSIGNED not in each.properties
            is_not_negative = has_sign and facts.is_not_negative(each.lb)
            facts.assume(each.body.block.args[0], divisor, is_not_negative)
    return facts


def _is_factor(operation: object, access: BlockAccess, facts: Facts) -> bool:
    """Whether an operation reads a matrix that nothing but one product needs."""
    return (
        isinstance(operation, TransferReadOp)
        and operation.result.has_one_use()
        and _bytes(operation.result) <= _WIDEST
        and _is_block(operation, access, facts)
    )


def _is_of_sums(operation: Operation, access: BlockAccess, facts: Facts) -> bool:
    if isinstance(operation, TransferWriteOp):
        return _is_block(operation, access, facts)
    return operation.name in _OF_SUMS


def _is_block(
    operation: TransferReadOp | TransferWriteOp, access: BlockAccess, facts: Facts
) -> bool:
    """Whether a transfer is one of blocks for certain, of rows that lie so in memory."""
    view = operation.source.owner
    is_plain = operation.mask is None and dimensions_of(operation.permutation_map) == [0, 1]
    if not is_plain or not isinstance(view, ViewOp) or operation.permutation_map.data.num_dims != 2:
        return False
    (pitch, step), (_, width) = (
        mixed(static, given)
        for static, given in (
            (view.static_strides, view.strides),
            (view.static_sizes, view.sizes),
        )
    )
    (offset,) = mixed(view.static_offsets, view.offsets)
    column, size = operation.indices[1], _bytes(view.result)
    is_inside = bool(operation.in_bounds.data[1].value.data)
    width = pitch if is_inside else width
    alignment = facts.divisor(view.pointer)
    is_aligned = alignment % access.base_alignment == 0 and offset == 0

    def known(number: Index) -> Bytes:
        return Bytes(facts.divisor(number) * size, facts.least(number) * size)

    address = Bytes(gcd(alignment, facts.divisor(offset) * size), 0)
    region = Region(address, known(pitch), known(width), known(column))
    return (
        step == 1
        and (is_inside or 1 not in view.unknown_extents)
        and not region_obstacles(access, region, alignment=least_alignment(access, size))
        and (is_inside or is_aligned or facts.is_not_negative(column))
    )


def _largest(values: Iterable[SSAValue]) -> int:
    return max(map(_elements, values), default=0)


def _elements(value: SSAValue) -> int:
    vector = as_vector(value.type)
    return 0 if vector is None else prod(vector.get_shape())


def _bytes(value: SSAValue) -> int:
    element = cast("Attribute", getattr(value.type, "element_type", value.type))
    return element.size if isinstance(element, FixedBitwidthType) else 1
