"""Products of matrices: loops over tiles of C and, inside of them, over the depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    f32,
    i8,
    i16,
    i32,
)
from xdsl.ir import Attribute, Block, SSAValue

from xtile.dialects.core.blas import GemmOp
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp, product_of_matrices
from xtile.dialects.walk import walk_block
from xtile.rewrite.contractions import feeds_another, is_of_matrices
from xtile.rewrite.indices import Index
from xtile.rewrite.tile_emitter import shape_of
from xtile.targets.target import ProductTile
from xtile.transforms.distribute.local_memory import size_in_bytes
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import (
    Operand,
    operand_of,
    separated,
    size_of,
    span_along,
)
from xtile.transforms.tile_linalg.spans import Span, power_of_two, upper_bound
from xtile.transforms.tile_linalg.tiles import Tile, part_of
from xtile.transforms.tile_linalg.update import Update, update_of

_MOST_BYTES = 16384
"""Of the tiles of A and B together that are read at once beyond the chip's depth."""

_MOST_BYTES_OF_SUMS = 2**17
"""Of the sums of a block that have several parts each: half of a multiprocessor's registers."""

_PRODUCT = 2**24
"""Products decide about hints, rather than other operations on tiles of any size."""


@dataclass(frozen=True)
class _Types:
    """The types of a product.

    Attributes:
        a: That of the elements of A that are multiplied; a complex one, if they are.
        b: That of the elements of B.
        total: That in which products are added up; a complex one, if they are.
    """

    a: Attribute
    b: Attribute
    total: Attribute


def gemm(operation: GemmOp, kernel: Kernel) -> None:
    """Computes C := alpha op(A) op(B) + beta C."""
    update = update_of(operation, kernel)
    a, b, c = operand_of(kernel, operation.a), operand_of(kernel, operation.b), update.output
    of_a = (1, 0) if operation.transpose_a is not None else (0, 1)
    of_b = (1, 0) if operation.transpose_b is not None else (0, 1)
    types = _types(a.element, b.element, update.wide)
    limits = (size_of(kernel, (c, 0), (a, of_a[0])), size_of(kernel, (c, 1), (b, of_b[1])))
    parts = 2 if isinstance(types.total, ComplexType) else 1
    product = product_tile(kernel, part_of(types.a), [_limit(size) for size in limits], parts)
    rows = _side(kernel, product.rows, types, (c, 0), (a, of_a[0]))
    columns = _side(kernel, product.columns, types, (c, 1), (b, of_b[1]))
    depth = size_of(kernel, (a, of_a[1]), (b, of_b[0]))
    edges = (rows.tile + columns.tile) * size_in_bytes(part_of(types.a))
    most = _depth(depth, product.depth, edges)
    steps = kernel.span(depth, most, is_whole=a.is_tile or b.is_tile)
    shape = rows.tile, columns.tile
    use_product_hints(kernel, part_of(types.a), prod(shape), shape, has_steps=not steps.is_single)
    a, b = (separated(kernel, operand, c, (rows, columns)) for operand in (a, b))
    factors = _Factors(a, b, of_a, of_b, types, rows, columns, steps)
    with kernel.tiles([rows, columns]) as at:
        total = _multiply(factors, update, at)
        update.apply(tiles.converted(kernel, total, update.wide), at, (rows, columns))


def _side(kernel: Kernel, most: int, types: _Types, *equal: tuple[Operand, int]) -> Span:
    """The tiles of rows or columns, which are no smaller than a matrix unit multiplies."""
    span, policy = span_along(kernel, most, *equal), kernel.target.tiles
    is_whole = any(operand.is_tile for operand, _ in equal)
    if is_whole or span.tile >= policy.least_side or not policy.is_of_matrix_unit(types.a):
        return span
    return replace(span, tile=policy.least_side, is_even=False)


@dataclass(frozen=True)
class _Factors:
    """The factors of a product, with the dimensions of op(A) and op(B) in memory."""

    a: Operand
    b: Operand
    of_a: Sequence[int]
    of_b: Sequence[int]
    types: _Types
    rows: Span
    columns: Span
    steps: Span


def _multiply(factors: _Factors, update: Update, at: Sequence[Index]) -> Tile:
    """A tile of op(A) op(B)."""
    kernel, types, steps = update.kernel, factors.types, factors.steps
    shape = (factors.rows.tile, factors.columns.tile)
    nothing = tiles.zeros(kernel, types.total, shape)
    stop = steps.tile if steps.is_one else steps.size
    with kernel.loop(0, stop, steps.tile, nothing.parts, "k") as loop:
        k = loop.index
        a = factors.a.read((at[0], k), (factors.rows, steps), factors.of_a, clean=(1,))
        b = factors.b.read((k, at[1]), (steps, factors.columns), factors.of_b, clean=(0,))
        a, b = tiles.converted(kernel, a, types.a), tiles.converted(kernel, b, types.b)
        loop.results = _contract_parts(kernel, a, b, loop.carried)
    return Tile(tuple(loop.results), types.total, shape)


def _contract_parts(kernel: Kernel, a: Tile, b: Tile, totals: Sequence[SSAValue]) -> list[SSAValue]:
    """Adds the product of two tiles to the parts of a total."""
    if len(totals) == 1:
        return [contract(kernel, a.parts[0], b.parts[0], totals[0])]
    real, imaginary = totals
    real = contract(kernel, a.parts[0], b.parts[0], real)
    if len(b.parts) == 2:
        imaginary = contract(kernel, a.parts[0], b.parts[1], imaginary)
    if len(a.parts) == 2:
        imaginary = contract(kernel, a.parts[1], b.parts[0], imaginary)
    if len(a.parts) == len(b.parts) == 2:
        negated = kernel.emit(arith.NegfOp(a.parts[1])).result
        real = contract(kernel, negated, b.parts[1], real)
    return [real, imaginary]


def contract(kernel: Kernel, a: SSAValue, b: SSAValue, total: SSAValue) -> SSAValue:
    """`a b + total` of matrices."""
    return kernel.emit(product_of_matrices(a, b, total)).result


def _types(a: Attribute, b: Attribute, wide: Attribute) -> _Types:
    """Narrow factors are multiplied as they are where a matrix unit adds up in the right type."""
    if a == b and isinstance(a, BFloat16Type | Float16Type) and wide == f32:
        return _Types(a, b, wide)
    if a == b == i8 and wide in (i16, i32):
        return _Types(a, b, i32)
    return _Types(wide, wide, wide)


def product_tile(
    kernel: Kernel, factor: Attribute, limits: Sequence[int | None], parts: int = 1
) -> ProductTile:
    """The largest tiles that a product fills; else those that it fills best.

    Args:
        kernel: The kernel that is built.
        factor: The type of the factors' elements.
        limits: How many rows and columns the product has at most; None if nobody knows.
        parts: How many parts a number of the product has.
    """
    rows, columns = limits
    known = kernel.target.tiles.products_of(factor)
    most = kernel.target.tiles.one_warp_elements
    if kernel.local.allocates and most is not None:
        known = [each for each in known if each.rows * each.columns <= most] or known[-1:]
    if parts > 1:
        bytes_ = parts * size_in_bytes(factor)
        fitting = [
            each for each in known if each.rows * each.columns * bytes_ <= _MOST_BYTES_OF_SUMS
        ]
        known = fitting or known[-1:]
    areas = {
        tile: min(tile.rows, rows or tile.rows) * min(tile.columns, columns or tile.columns)
        for tile in known
    }
    full = (tile for tile, area in areas.items() if area == tile.rows * tile.columns)
    return next(full, max(known, key=lambda tile: areas[tile]))


def _limit(size: Index) -> int | None:
    """A power of two that a size does not exceed."""
    limit = size if isinstance(size, int) else upper_bound(size)
    return None if limit is None else power_of_two(limit)


def use_product_hints(
    kernel: Kernel,
    factor: Attribute,
    area: int,
    shape: tuple[int, ...] = (),
    has_steps: bool = True,
) -> None:
    """Compiles the kernel as its largest product asks for."""
    hints = kernel.target.tiles.product_hints(factor, area, shape)
    kernel.use_hints(_PRODUCT + area, hints.for_steps if has_steps else hints)


def use_hints_of_contractions(kernel: Kernel, body: Block) -> None:
    """Compiles a kernel whose products nobody has counted yet, as what subgroups multiply.

    Their results are in registers together, so that they count as one. What products of products
    are compiled as is known when their shapes are.
    """
    if kernel.hints[0] >= _PRODUCT:
        return
    found = [each for each in walk_block(body) if isinstance(each, ContractionOp)]
    products = [each for each in found if is_of_matrices(each)]
    if any(feeds_another(each, products) for each in products):
        return
    areas: dict[Attribute, int] = {}
    for product in products:
        factor = value_type(product.lhs.type)
        areas[factor] = areas.get(factor, 0) + prod(shape_of(product.result.type))
    for factor, area in areas.items():
        use_product_hints(kernel, factor, power_of_two(area))


def _depth(size: Index, most: int, edges: int) -> int:
    """The depth of a step: the chip's, or all of it if that is not much.

    Args:
        size: The depth of the product.
        most: The chip's depth of a step.
        edges: The bytes of A and B for each number of the depth.
    """
    limit = _limit(size)
    return max(most, limit) if limit is not None and limit * edges <= _MOST_BYTES else most
