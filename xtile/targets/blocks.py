"""Whether a block or a row of memory can be accessed by one instruction of a subgroup.

Sources: OpenCL extensions cl_intel_subgroup_2d_block_io, section "Restrictions", and
cl_intel_subgroups; SPIR-V extension SPV_INTEL_subgroups, `OpSubgroupBlockReadINTEL`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from math import lcm

from xtile.targets.lanes import LaneTarget
from xtile.targets.target import BlockAccess, BlockShapes


class Action(Enum):
    """What an access does; the value is what messages call it."""

    LOAD = "load"
    LOAD_TRANSFORMED = "packed load"
    LOAD_TRANSPOSED = "transposed load"
    STORE = "store"
    PREFETCH = "prefetch"


@dataclass(frozen=True)
class Bytes:
    """What is known of a number of bytes.

    Attributes:
        divisor: What divides it; 0 if it is 0.
        least: The least that it can be.
        number: The number itself; None if it is known at run time only.
    """

    divisor: int
    least: int
    number: int | None = None

    @staticmethod
    def of(number: int) -> Bytes:
        """A number that is known."""
        return Bytes(number, number, number)


@dataclass(frozen=True)
class Region:
    """The matrix in memory that a block is a part of; what is None is taken to be legal.

    Attributes:
        address: Where it begins.
        pitch: From one row to the next.
        width: Of a row.
        column: From the beginning of a row to the block.
        height: Rows.
    """

    address: Bytes | None = None
    pitch: Bytes | None = None
    width: Bytes | None = None
    column: Bytes | None = None
    height: int | None = None


def shapes_of(access: BlockAccess, action: Action) -> Mapping[int, BlockShapes]:
    """The shapes that an action has, by the bytes of an element."""
    return {
        Action.LOAD: access.load,
        Action.LOAD_TRANSFORMED: access.load_transformed,
        Action.LOAD_TRANSPOSED: access.load_transposed,
        Action.STORE: access.store,
        Action.PREFETCH: access.prefetch,
    }[action]


def access_for(target: LaneTarget, lanes: int, *, is_global: bool) -> BlockAccess | str:
    """The block accesses of a subgroup, or why it has none.

    Args:
        target: What the code is made for.
        lanes: The lanes of the subgroup.
        is_global: Whether the memory is global memory.
    """
    access = target.block_access
    if access is None:
        return f"{target.name} has no two-dimensional block accesses"
    if lanes != access.subgroup_size:
        return f"block accesses need subgroups of {access.subgroup_size} lanes"
    if not is_global:
        return "two-dimensional block accesses reach global memory only"
    return access


def shape_obstacle(
    access: BlockAccess, action: Action, size: int, rows: int, columns: int, count: int = 1
) -> str | None:
    """Why no instruction accesses so many blocks of a shape; None if one does.

    Args:
        access: The block accesses.
        action: What is done.
        size: Bytes of an element.
        rows: The rows of a block in memory.
        columns: Its columns.
        count: How many blocks lie next to each other.
    """
    shapes = shapes_of(access, action).get(size)
    if (
        shapes is not None
        and columns in shapes.widths
        and rows in shapes.heights
        and count in shapes.counts
    ):
        return None
    blocks = f"{count} blocks" if count > 1 else "a block"
    return f"there is no {action.value} of {blocks} of {rows}x{columns} elements of {size * 8} bits"


def least_alignment(access: BlockAccess, size: int) -> int:
    """What the address of a matrix must be a multiple of that can be accessed from before it.

    The access begins at the multiple of `base_alignment` before the address. What that is too far
    ahead, in whole elements, is added to the columns and to the width, which may then exceed the
    pitch. Intel's compiler for Triton does so.

    Args:
        access: The block accesses.
        size: Bytes of an element.
    """
    return lcm(access.width_alignment, size)


def region_obstacles(
    access: BlockAccess, region: Region, *, alignment: int | None = None
) -> list[str]:
    """The restrictions that a matrix in memory does not meet, or is not known to meet.

    Args:
        access: The block accesses.
        region: The matrix.
        alignment: What its address must be a multiple of; None for what instructions need.
    """
    checks = (
        (("the address", "be", "is"), region.address, alignment or access.base_alignment, 0),
        (("the pitch", "be", "is"), region.pitch, access.pitch_alignment, access.least_pitch),
        (("a row", "have", "has"), region.width, access.width_alignment, access.least_width),
        (("the first column", "be", "is at"), region.column, access.width_alignment, 0),
    )
    found = [
        message
        for words, number, alignment, least in checks
        if number is not None
        for message in _misfits(words, number, alignment, least)
    ]
    extents = [region.height, *(n.number for n in (region.width, region.pitch) if n is not None)]
    if any(extent is not None and extent > access.most_extent for extent in extents):
        most = access.most_extent
        found.append(f"there are more than {most} rows, or bytes from one row to the next")
    return found


def row_obstacle(
    target: LaneTarget,
    action: Action,
    lanes: int,
    elements: int,
    step: int | None,
    address: Bytes | None = None,
) -> str | None:
    """Why no instruction accesses elements that follow each other; None if one does.

    Args:
        target: What the code is made for.
        action: What is done to global memory.
        lanes: The lanes of the subgroup, each of which accesses every so many-th element.
        elements: How many elements are accessed.
        step: From one element to the next, in elements; None if it is known at run time only.
        address: Of the first one; None if it is taken to be legal.
    """
    access = target.row_access
    if access is None:
        return f"{target.name} has no accesses of rows"
    if step != 1:
        return "the elements of a row are not next to each other"
    if elements % lanes or elements // lanes not in access.counts:
        return f"there is no {action.value} of {elements} elements by {lanes} lanes"
    if address is None:
        return None
    alignment = access.load_alignment if action is Action.LOAD else access.alignment
    return next(_misfits(("the address", "be", "is"), address, alignment, 0), None)


def _misfits(
    words: tuple[str, str, str], number: Bytes, alignment: int, least: int
) -> Iterator[str]:
    """What is wrong with a number of bytes, or not known to be right.

    The words are what the number is of, and two forms of the verb that tells it.
    """
    subject, infinitive, verb = words
    if number.number is None:
        unknown = f"{subject} is not known to {infinitive}"
        wrong = f"{unknown} a multiple of {alignment} bytes", f"{unknown} at least {least} bytes"
    else:
        known = f"{subject} {verb} {number.number} bytes"
        wrong = f"{known}, no multiple of {alignment}", f"{known}, less than {least}"
    if number.divisor % alignment:
        yield wrong[0]
    if number.least < least:
        yield wrong[1]
