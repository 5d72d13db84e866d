"""Changing how a vector is spread.

Source: MLIR (LLVM 22), `XeGPUOps.td` and `XeGPUOps.cpp`, `convert_layout`.
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    VarConstraint,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.xegpu.constraints import LAYOUT, SOURCE_VECTOR
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.operation import Operand, XeGPUOperation, shape_of, shape_text
from xtile.text.directives import PropDict


@irdl_custom_directive
class LayoutsPropDict(PropDict):
    """The properties of a change of layout."""

    input_layout: AttributeVariable
    target_layout: AttributeVariable


@op_definition
class ConvertLayoutOp(XeGPUOperation):
    """Moves the elements of a vector between subgroups or lanes.

    ```
    %w = xegpu.convert_layout %v
      <{input_layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [2, 1]>,
        target_layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>}>
      : vector<32x64xf16>
    ```
    """

    name = "xegpu.convert_layout"

    T: ClassVar = VarConstraint("T", SOURCE_VECTOR)

    source = operand_def(T)
    input_layout = prop_def(LAYOUT)
    target_layout = prop_def(LAYOUT)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$source custom<LayoutsPropDict>($input_layout, $target_layout) attr-dict `:` type($source)"
    )
    custom_directives: ClassVar = (LayoutsPropDict,)

    def __init__(
        self,
        source: Operand,
        input_layout: DistributeLayoutAttr,
        target_layout: DistributeLayoutAttr,
    ) -> None:
        super().__init__(
            operands=[source],
            properties={"input_layout": input_layout, "target_layout": target_layout},
            result_types=[SSAValue.get(source).type],
        )

    @override
    def verify_(self) -> None:
        layouts = {"input_layout": self.input_layout, "target_layout": self.target_layout}
        levels: set[bool] = set()
        for name, layout in layouts.items():
            assert isinstance(layout, DistributeLayoutAttr)
            levels.add(layout.is_for_workgroup)
            shape = shape_of(self.source.type)
            if not layout.is_distributable(shape):
                raise VerifyException(
                    f"{shape_text(shape)} cannot be spread evenly with {name} = {layout}; each "
                    "size must be a multiple of the layout, and each part a multiple of its data"
                )
        if len(levels) > 1:
            raise VerifyException(
                "one of input_layout and target_layout has an sg_layout; either both are for a "
                "work-group or none"
            )


OPERATIONS: list[type[Operation]] = [ConvertLayoutOp]
"""Every operation of this module."""
