"""The attributes that stand for enumerations, and the mappings of loops to the device.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`, `GPUDeviceMappingAttr.td` and
`ParallelLoopMapperAttr.td`.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from typing_extensions import override
from xdsl.dialects.gpu import LoopDimMapAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Data, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.gpu.enumerations import (
    AddressSpace,
    AllReduceOperation,
    BroadcastType,
    Dimension,
    ShuffleMode,
)

EnumT = TypeVar("EnumT", bound=StrEnum)


class AngleBracketed(Generic[EnumT], Data[EnumT]):
    """An enumeration that is written in angle brackets, as in `#gpu.block<x>`."""

    enum_type: type[EnumT]

    @override
    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data.value}>")

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> EnumT:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(cls.enum_type)


@irdl_attr_definition
class DimensionAttr(EnumAttribute[Dimension], SpacedOpaqueSyntaxAttribute):
    """A dimension: `#gpu<dim x>`."""

    name = "gpu.dim"


@irdl_attr_definition
class AllReduceOperationAttr(EnumAttribute[AllReduceOperation], SpacedOpaqueSyntaxAttribute):
    """A combiner: `#gpu<all_reduce_op add>`."""

    name = "gpu.all_reduce_op"


@irdl_attr_definition
class ShuffleModeAttr(EnumAttribute[ShuffleMode], SpacedOpaqueSyntaxAttribute):
    """A shuffle mode: `#gpu<shuffle_mode xor>`."""

    name = "gpu.shuffle_mode"


@irdl_attr_definition
class BroadcastTypeAttr(EnumAttribute[BroadcastType], SpacedOpaqueSyntaxAttribute):
    """Which lane is read: `#gpu<broadcast first_active_lane>`."""

    name = "gpu.broadcast"


@irdl_attr_definition
class AddressSpaceAttr(AngleBracketed[AddressSpace]):
    """An address space: `#gpu.address_space<workgroup>`."""

    name = "gpu.address_space"
    enum_type = AddressSpace


ATTRIBUTES: list[type[Attribute]] = [
    AddressSpaceAttr,
    AllReduceOperationAttr,
    BroadcastTypeAttr,
    DimensionAttr,
    LoopDimMapAttr,
    ShuffleModeAttr,
]
"""The attributes of this module."""
