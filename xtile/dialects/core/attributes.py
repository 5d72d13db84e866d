"""The attributes of the `core` dialect."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, StringAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

LEVEL_ATTRIBUTE = "core.level"
"""The attribute of a `gpu.func` that names its level."""

MEMORY_ORDER_ATTRIBUTE = "core.memory_order"
"""The attribute of an atomic update of another dialect that says its order, as a string."""

MEMORY_SCOPE_ATTRIBUTE = "core.memory_scope"
"""The attribute of an atomic update of another dialect that says its scope, as a string."""

UNROLL_ATTRIBUTE = "core.unroll"
"""The attribute of a loop that says whether to unroll it, or how often."""


class Level(StrEnum):
    """What one value of a kernel in core form belongs to (docs/core-form.md).

    BLOCK: the whole work-group, whose collective operations are still whole.
    SUBGROUP: a subgroup, whose matrices are two-dimensional vectors; scalars are a work-item's.
    LANE: one work-item; vectors are its fragments.
    TILE: the whole work-group, whose vectors are tiles.
    """

    BLOCK = "block"
    SUBGROUP = "subgroup"
    LANE = "lane"
    TILE = "tile"


class AtomicKind(StrEnum):
    """What an atomic update does, with the names of upstream's `memref.atomic_rmw`."""

    ADD_FLOAT = "addf"
    ADD_INTEGER = "addi"
    ASSIGN = "assign"
    MAXIMUM_FLOAT = "maxnumf"
    MAXIMUM_SIGNED = "maxs"
    MINIMUM_FLOAT = "minnumf"
    MINIMUM_SIGNED = "mins"
    OR_INTEGER = "ori"


class ComplexPart(StrEnum):
    """A part of complex numbers."""

    REAL = "real"
    IMAGINARY = "imaginary"


class MemoryOrder(StrEnum):
    """What else an atomic update orders, of the accesses of the work-group that does it.

    RELAXED: nothing.
    ACQUIRE: the accesses after it come after it.
    RELEASE: the accesses before it come before it.
    ACQUIRE_RELEASE: both.
    """

    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQUIRE_RELEASE = "acq_rel"


class MemoryScope(StrEnum):
    """Whose accesses an atomic update is atomic with, and ordered for."""

    BLOCK = "block"
    DEVICE = "device"
    SYSTEM = "system"


@irdl_attr_definition
class MemoryOrderAttr(EnumAttribute[MemoryOrder], SpacedOpaqueSyntaxAttribute):
    """`#core<memory_order acq_rel>`."""

    name = "core.memory_order"


@irdl_attr_definition
class MemoryScopeAttr(EnumAttribute[MemoryScope], SpacedOpaqueSyntaxAttribute):
    """`#core<memory_scope device>`."""

    name = "core.memory_scope"


class ScanKind(StrEnum):
    """How a scan over a subgroup combines values; max and min ignore a NaN."""

    ADD = "add"
    MAX = "max"
    MIN = "min"


INDEPENDENT_ATTRIBUTE = "core.independent"
"""The attribute of a loop whose iterations access no memory that another one of them writes."""

BEGINS_INSIDE_ATTRIBUTE = "core.begins_inside"
"""The attribute of a transfer that promises that its first element is one of the memref's.

Where it is not, anything may happen; the reference device leaves out what is outside, as always.
"""

TILE_HINTS_ATTRIBUTE = "core.tile_hints"
"""The attribute of a `gpu.func` at level tile that says how a tile compiler is to compile it."""


SUBGROUP_GRID_ATTRIBUTE = "core.subgroup_grid"
"""The attribute of a `gpu.func` at level tile that says how many subgroups share its matrices.

They are counted along rows and columns. Where a chip has fewer subgroups, or its registers do not
hold their parts, it says nothing.
"""


def subgroup_grid_of(function: Operation) -> tuple[int, int] | None:
    """How many subgroups share the rows and the columns of a kernel's matrices, if it says so.

    Raises:
        ValueError: The attribute holds something else than two positive powers of two.
    """
    attribute: Attribute | None = function.attributes.get(SUBGROUP_GRID_ATTRIBUTE)
    if attribute is None:
        return None
    counts = list(attribute.get_values()) if isa(attribute, DenseArrayBase[IntegerType]) else []
    match [int(count) for count in counts]:
        case [rows, columns] if all(n > 0 and n & (n - 1) == 0 for n in (rows, columns)):
            return rows, columns
        case _:
            raise ValueError(f"{SUBGROUP_GRID_ATTRIBUTE} must be two powers of two")


def level_of(function: Operation) -> Level | None:
    """The level of a kernel, or None if it names none.

    Raises:
        ValueError: The attribute names no level.
    """
    attribute: Attribute | None = function.attributes.get(LEVEL_ATTRIBUTE)
    if attribute is None:
        return None
    if not isinstance(attribute, StringAttr):
        raise ValueError(f"{LEVEL_ATTRIBUTE} must be a string")
    return Level(attribute.data)
