"""What a program knows of the grid, and ranges of numbers.

Source: Triton 3.9, `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, TensorType, i32
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.operation import TritonOperation, element_of, shape_of
from xtile.dialects.triton.tt.constraints import I32, INTEGER_TENSOR
from xtile.dialects.triton.tt.enumerations import ProgramIDDim, number
from xtile.dialects.triton.tt.keywords import Axis, verify_member
from xtile.dialects.triton.versions import V3_9, Release


class GridOperation(TritonOperation, ABC):
    """Something about a dimension of the grid."""

    axis = prop_def(IntegerAttr.constr(i32))
    result = result_def(I32)

    traits = traits_def(Pure())
    assembly_format = "custom<Axis>($axis) attr-dict `:` type($result)"
    custom_directives: ClassVar = (Axis,)

    def __init__(self, axis: ProgramIDDim | int) -> None:
        super().__init__(properties={"axis": number(ProgramIDDim(axis))}, result_types=[i32])

    @property
    def dimension(self) -> int:
        """The dimension, 0 to 2."""
        return self.axis.value.data

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(ProgramIDDim, "axis", self.axis)


@op_definition
class GetProgramIdOp(GridOperation):
    """Which program of the grid this is, along a dimension.

    ```
    %i = tt.get_program_id x : i32
    ```
    """

    name = "tt.get_program_id"


@op_definition
class GetNumProgramsOp(GridOperation):
    """How many programs the grid has along a dimension.

    ```
    %n = tt.get_num_programs x : i32
    ```
    """

    name = "tt.get_num_programs"


@op_definition
class MakeRangeOp(TritonOperation):
    """The numbers from `start` to `end`, without the end.

    ```
    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    ```
    """

    name = "tt.make_range"

    start = prop_def(IntegerAttr.constr(i32))
    end = prop_def(IntegerAttr.constr(i32))
    result = result_def(INTEGER_TENSOR)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, start: int, end: int, result_type: Attribute | None = None) -> None:
        super().__init__(
            properties={"start": IntegerAttr(start, i32), "end": IntegerAttr(end, i32)},
            result_types=[result_type or TensorType(i32, [end - start])],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        start, end = self.start.value.data, self.end.value.data
        if start >= end:
            raise VerifyException(f"the range from {start} to {end} is empty; start must be less")
        if shape_of(self.result.type) != (end - start,):
            raise VerifyException(
                f"the range from {start} to {end} has {end - start} numbers, but the result is "
                f"{self.result.type}"
            )
        if element_of(self.result.type) != i32:
            raise VerifyException(f"a range is a tensor of i32, not {self.result.type}")


@op_definition
class GridDependencyWaitOp(TritonOperation):
    """Waits for the launches that this one depends on, and sees what they wrote.

    ```
    tt.grid_dependency_wait
    ```
    """

    name = "tt.grid_dependency_wait"
    SINCE: ClassVar[Release] = V3_9

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@op_definition
class GridDependencyLaunchDependentsOp(TritonOperation):
    """Lets the launches that depend on this one begin.

    ```
    tt.grid_dependency_launch_dependents
    ```
    """

    name = "tt.grid_dependency_launch_dependents"
    SINCE: ClassVar[Release] = V3_9

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


OPERATIONS: list[type[Operation]] = [
    GetProgramIdOp,
    GetNumProgramsOp,
    MakeRangeOp,
    GridDependencyWaitOp,
    GridDependencyLaunchDependentsOp,
]
"""Every operation of this module."""
