"""The attributes of the tensor language: its modifiers, one enumeration each.

A modifier's values are spelled as the tensor language spells them, without the leading dot.
Source: tensor language reference, sections named in each docstring.
"""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class AddressSpace(StrEnum):
    """Where a memref's memory is ("Memref type")."""

    GLOBAL = "global"
    LOCAL = "local"


class MatrixUse(StrEnum):
    """Position of a cooperative matrix in a matrix multiplication."""

    A = "matrix_a"
    B = "matrix_b"
    ACC = "matrix_acc"


class CheckedFlag(StrEnum):
    """Which modes of a cooperative matrix access are checked against the memref's shape."""

    ROWS = "rows_checked"
    COLS = "cols_checked"
    BOTH = "both_checked"


class MemoryScope(StrEnum):
    """Who observes an atomic operation ("Atomic load")."""

    CROSS_DEVICE = "cross_device"
    DEVICE = "device"
    WORK_GROUP = "work_group"
    SUBGROUP = "subgroup"


class MemorySemantics(StrEnum):
    """Ordering of an atomic operation ("Atomic load")."""

    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQUIRE_RELEASE = "acquire_release"
    SEQUENTIALLY_CONSISTENT = "sequentially_consistent"


class Component(StrEnum):
    """One of three launch dimensions ("Builtin")."""

    X = "x"
    Y = "y"
    Z = "z"


class ReduceMode(StrEnum):
    """Whether each row or each column is reduced ("Cooperative matrix reduce")."""

    ROW = "row"
    COLUMN = "column"


@irdl_attr_definition
class AddressSpaceAttr(EnumAttribute[AddressSpace], SpacedOpaqueSyntaxAttribute):
    """`#tensorlang<address_space local>`."""

    name = "tensorlang.address_space"


@irdl_attr_definition
class MatrixUseAttr(EnumAttribute[MatrixUse], SpacedOpaqueSyntaxAttribute):
    """`#tensorlang<matrix_use matrix_acc>`."""

    name = "tensorlang.matrix_use"


@irdl_attr_definition
class CheckedFlagAttr(EnumAttribute[CheckedFlag], SpacedOpaqueSyntaxAttribute):
    """`#tensorlang<checked_flag rows_checked>`."""

    name = "tensorlang.checked_flag"


@irdl_attr_definition
class MemoryScopeAttr(EnumAttribute[MemoryScope], SpacedOpaqueSyntaxAttribute):
    """`#tensorlang<memory_scope device>`."""

    name = "tensorlang.memory_scope"


@irdl_attr_definition
class MemorySemanticsAttr(EnumAttribute[MemorySemantics], SpacedOpaqueSyntaxAttribute):
    """`#tensorlang<memory_semantics acquire>`."""

    name = "tensorlang.memory_semantics"


@irdl_attr_definition
class ComponentAttr(EnumAttribute[Component], SpacedOpaqueSyntaxAttribute):
    """`#tensorlang<component x>`."""

    name = "tensorlang.component"


@irdl_attr_definition
class ReduceModeAttr(EnumAttribute[ReduceMode], SpacedOpaqueSyntaxAttribute):
    """`#tensorlang<reduce_mode row>`."""

    name = "tensorlang.reduce_mode"
