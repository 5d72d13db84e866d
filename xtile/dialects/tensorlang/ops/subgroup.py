"""The subgroup instructions: work-items of a subgroup exchange values.

Source: tensor language reference, sections "Subgroup broadcast" and "Subgroup operation".
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, result_def

from xtile.dialects.definitions import op_definition
from xtile.dialects.tensorlang.constraints import I32_ONLY, NUMBER
from xtile.dialects.tensorlang.operation import Execution, Operand, TensorLangOperation


@op_definition
class SubgroupBroadcastOp(TensorLangOperation):
    """The value of one work-item, for all of the subgroup ("Subgroup broadcast").

    ```
    %r = subgroup_broadcast %x, %local_id : f32
    ```
    """

    name = "tensorlang.subgroup_broadcast"
    EXECUTION: ClassVar[Execution] = Execution.SPMD
    SYNTAX: ClassVar[str] = "$a, $index : $result"

    a = operand_def(NUMBER)
    index = operand_def(I32_ONLY)
    result = result_def(NUMBER)

    def __init__(self, a: Operand, index: Operand) -> None:
        super().__init__(operands=[a, index], result_types=[SSAValue.get(a).type])


class SubgroupOperation(TensorLangOperation, ABC):
    """Combines the values of a subgroup's work-items."""

    EXECUTION: ClassVar[Execution] = Execution.SPMD
    SYNTAX: ClassVar[str] = "$a : $result"

    a = operand_def(NUMBER)
    result = result_def(NUMBER)

    def __init__(self, a: Operand) -> None:
        super().__init__(operands=[a], result_types=[SSAValue.get(a).type])


@op_definition
class SubgroupExclusiveScanAddOp(SubgroupOperation):
    """Sum of the values of the work-items before this one ("Subgroup operation").

    ```
    %r = subgroup_exclusive_scan_add %x : f32
    ```
    """

    name = "tensorlang.subgroup_exclusive_scan_add"


@op_definition
class SubgroupExclusiveScanMaxOp(SubgroupOperation):
    """Maximum of the values of the work-items before this one ("Subgroup operation").

    ```
    %r = subgroup_exclusive_scan_max %x : f32
    ```
    """

    name = "tensorlang.subgroup_exclusive_scan_max"


@op_definition
class SubgroupExclusiveScanMinOp(SubgroupOperation):
    """Minimum of the values of the work-items before this one ("Subgroup operation").

    ```
    %r = subgroup_exclusive_scan_min %x : f32
    ```
    """

    name = "tensorlang.subgroup_exclusive_scan_min"


@op_definition
class SubgroupInclusiveScanAddOp(SubgroupOperation):
    """Sum of the values of the work-items up to this one ("Subgroup operation").

    ```
    %r = subgroup_inclusive_scan_add %x : f32
    ```
    """

    name = "tensorlang.subgroup_inclusive_scan_add"


@op_definition
class SubgroupInclusiveScanMaxOp(SubgroupOperation):
    """Maximum of the values of the work-items up to this one ("Subgroup operation").

    ```
    %r = subgroup_inclusive_scan_max %x : f32
    ```
    """

    name = "tensorlang.subgroup_inclusive_scan_max"


@op_definition
class SubgroupInclusiveScanMinOp(SubgroupOperation):
    """Minimum of the values of the work-items up to this one ("Subgroup operation").

    ```
    %r = subgroup_inclusive_scan_min %x : f32
    ```
    """

    name = "tensorlang.subgroup_inclusive_scan_min"


@op_definition
class SubgroupReduceAddOp(SubgroupOperation):
    """Sum of the values of all work-items ("Subgroup operation").

    ```
    %r = subgroup_reduce_add %x : f32
    ```
    """

    name = "tensorlang.subgroup_reduce_add"


@op_definition
class SubgroupReduceMaxOp(SubgroupOperation):
    """Maximum of the values of all work-items ("Subgroup operation").

    ```
    %r = subgroup_reduce_max %x : f32
    ```
    """

    name = "tensorlang.subgroup_reduce_max"


@op_definition
class SubgroupReduceMinOp(SubgroupOperation):
    """Minimum of the values of all work-items ("Subgroup operation").

    ```
    %r = subgroup_reduce_min %x : f32
    ```
    """

    name = "tensorlang.subgroup_reduce_min"
