"""What is known of a block of memory that may be accessed by a two-dimensional block instruction.

What such an instruction must meet stands in `xtile/targets/blocks.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd, lcm

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, i64
from xdsl.ir import SSAValue

from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index
from xtile.targets.blocks import Bytes, Region, access_for, least_alignment, region_obstacles
from xtile.translate.core_to_xegpu.lowering import LOCAL_MEMORY_SPACE, Lowering
from xtile.translate.core_to_xegpu.promises import missing_promise
from xtile.translate.core_to_xegpu.views import View, address_of, static_strides, type_of, view_of


@dataclass(frozen=True)
class Block:
    """A block in a two-dimensional memref.

    Attributes:
        memory: The memref.
        row: The dimension that the rows of the matrix run along; the columns run along the other.
        start: Where the block begins along each dimension.
        checked: Whether the block may reach beyond the memref along each dimension.
    """

    memory: SSAValue
    row: int
    start: tuple[Index, Index]
    checked: tuple[bool, bool]


@dataclass(frozen=True)
class Surface:
    """What a descriptor describes: a row-major matrix in memory, and a location in it.

    Attributes:
        view: The memref as a part of its root.
        height: Rows.
        width: Elements in a row that may be accessed.
        pitch: Elements from one row to the next.
        row: The row where the block begins.
        column: The column where the block begins.
        is_exact: Whether a row has no elements but the memref's, so that all of it may be read.
        base: The address that columns count from; None for where the view begins.
    """

    view: View
    height: Index
    width: Index
    pitch: Index
    row: Index
    column: Index
    is_exact: bool
    base: SSAValue | None = None


def surface_of(lowering: Lowering, block: Block) -> Surface | str:
    """The surface that a block is a part of, or why there is none."""
    is_global = type_of(block.memory).memory_space != LOCAL_MEMORY_SPACE
    access = access_for(lowering.target, lowering.subgroup_size, is_global=is_global)
    if isinstance(access, str):
        return access
    view = view_of(lowering, block.memory)
    contiguous = next((i for i in (1, 0) if view.strides[i] == 1), None)
    if contiguous is None:
        return "no dimension of the memref is known to be contiguous"
    across = 1 - contiguous
    width = _width(lowering, view, block, contiguous, across)
    return Surface(
        view,
        _height(lowering, view, block, across),
        width,
        view.strides[across],
        lowering.add(view.offsets[across], block.start[across]),
        lowering.add(view.offsets[contiguous], block.start[contiguous]),
        width == _extent(lowering, view, contiguous),
    )


def aligned(lowering: Lowering, surface: Surface, size: int) -> Surface:
    """The same surface from an address that instructions take (`blocks.least_alignment`).

    Args:
        lowering: Where to emit.
        surface: A surface without obstacles.
        size: Bytes of an element.
    """
    access, view = lowering.target.block_access, surface.view
    assert access is not None
    known = _alignment(lowering, surface, size)
    if known % access.base_alignment == 0:
        return surface
    address = address_of(lowering, view.root, view.outer, size)
    mask = lowering.constant(access.base_alignment - 1, i64)
    rest = lowering.pure(arith.AndIOp, address, mask)
    ahead = lowering.divide_exactly(lowering.pure(_as_index, rest), size)
    if isinstance(ahead, SSAValue):
        lowering.facts.assume(ahead, gcd(known, access.base_alignment) // size, True)
    return replace(
        surface,
        base=lowering.pure(arith.SubiOp, address, rest),
        width=lowering.add(surface.width, ahead),
        column=lowering.add(surface.column, ahead),
    )


def _as_index(value: SSAValue) -> arith.IndexCastOp:
    return arith.IndexCastOp(value, IndexType())


def is_transposed(block: Block, view: View) -> bool:
    """Whether the rows of the matrix are contiguous in memory."""
    return view.strides[1 - block.row] != 1


def _extent(lowering: Lowering, view: View, dimension: int) -> Index:
    return lowering.add(view.offsets[dimension], view.sizes[dimension])


def _height(lowering: Lowering, view: View, block: Block, across: int) -> Index:
    """An access that stays inside needs no exact height; that of a whole memref is no value."""
    root = type_of(view.root)
    is_part = view.outer == 0 and view.strides == static_strides(root)
    if block.checked[across] or not is_part or DYNAMIC_INDEX in root.get_shape():
        return _extent(lowering, view, across)
    return root.get_shape()[across]


def _width(lowering: Lowering, view: View, block: Block, contiguous: int, across: int) -> Index:
    """An access that stays inside needs no exact width, and the pitch is known more often."""
    if block.checked[contiguous]:
        return _extent(lowering, view, contiguous)
    return view.strides[across]


def obstacles(lowering: Lowering, block: Block, surface: Surface, size: int) -> list[str]:
    """The restrictions that a block of elements of `size` bytes is not known to meet."""
    alignment = _alignment(lowering, surface, size)
    return _violations(lowering, block, surface, size, lowering.facts, alignment)


def _alignment(lowering: Lowering, surface: Surface, size: int) -> int:
    """What is known to divide the address where a surface begins."""
    outer = lowering.facts.divisor(surface.view.outer) * size
    return gcd(lowering.alignment_of(surface.view.root), outer)


def remedy(lowering: Lowering, block: Block, surface: Surface, size: int) -> str | None:
    """What to promise of a parameter so that no obstacle is left; None if that is not enough."""
    access = lowering.target.block_access
    assert access is not None
    root = surface.view.root
    least = (access.base_alignment, access.pitch_alignment, access.least_pitch, access.least_width)
    attributes = missing_promise(
        lowering,
        root,
        lcm(*least, size) // size,
        lambda facts, base: not _violations(lowering, block, surface, size, facts, base),
    )
    name = root.name_hint
    return None if attributes is None or name is None else f"give %{name} {attributes}"


def _violations(
    lowering: Lowering, block: Block, surface: Surface, size: int, facts: Facts, alignment: int
) -> list[str]:
    access = lowering.target.block_access
    assert access is not None

    def known(number: Index) -> Bytes:
        exact = number * size if isinstance(number, int) else None
        return Bytes(facts.divisor(number) * size, facts.least(number) * size, exact)

    region = Region(
        Bytes(gcd(alignment, facts.divisor(surface.view.outer) * size), 0),
        known(surface.pitch),
        known(surface.width),
        known(surface.column),
        surface.height if isinstance(surface.height, int) else None,
    )
    found = region_obstacles(access, region, alignment=least_alignment(access, size))
    is_shifted = alignment % access.base_alignment != 0
    if not _stays_above(facts, block, surface.view, is_shifted=is_shifted):
        found.append("an index that is checked is not known to be 0 or more")
    return found


def _stays_above(facts: Facts, block: Block, view: View, *, is_shifted: bool) -> bool:
    """Whether no checked index can be negative: that is inside of the root if the view is.

    What lies before a surface is not accessed, unless that begins before the view.
    """
    return all(
        not checked
        or facts.is_not_negative(start)
        or (offset == 0 and not (is_shifted and stride == 1))
        for checked, offset, start, stride in zip(
            block.checked, view.offsets, block.start, view.strides, strict=True
        )
    )
