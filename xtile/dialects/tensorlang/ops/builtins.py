"""Builtin values: where a work-item stands in the launch.

Source: tensor language reference, sections "Builtin (mixed)" and "Builtin (SPMD)".
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.irdl import prop_def, result_def

from xtile.dialects.definitions import op_definition
from xtile.dialects.tensorlang.attributes import Component, ComponentAttr
from xtile.dialects.tensorlang.constraints import I32_ONLY, INDEX_ONLY
from xtile.dialects.tensorlang.operation import Execution, TensorLangOperation
from xtile.dialects.tensorlang.types import I32, INDEX


class IndexBuiltinOperation(TensorLangOperation, ABC):
    """One component, of type index."""

    SYNTAX: ClassVar[str] = ".component : $result"

    component = prop_def(ComponentAttr)
    result = result_def(INDEX_ONLY)

    def __init__(self, component: Component) -> None:
        super().__init__(properties={"component": ComponentAttr(component)}, result_types=[INDEX])


class I32ComponentBuiltinOperation(TensorLangOperation, ABC):
    """One component, of type i32."""

    SYNTAX: ClassVar[str] = ".component : $result"

    component = prop_def(ComponentAttr)
    result = result_def(I32_ONLY)

    def __init__(self, component: Component) -> None:
        super().__init__(properties={"component": ComponentAttr(component)}, result_types=[I32])


class I32BuiltinOperation(TensorLangOperation, ABC):
    """A value of type i32 without components."""

    SYNTAX: ClassVar[str] = ": $result"

    result = result_def(I32_ONLY)

    def __init__(self) -> None:
        super().__init__(result_types=[I32])


@op_definition
class GroupIdOp(IndexBuiltinOperation):
    """One component of the work-group's id, from 0 to num_groups - 1.

    ```
    %r = group_id.x : index
    ```
    """

    name = "tensorlang.group_id"


@op_definition
class NumGroupsOp(IndexBuiltinOperation):
    """The number of work-groups in one launch dimension.

    ```
    %r = num_groups.x : index
    ```
    """

    name = "tensorlang.num_groups"


@op_definition
class NumSubgroupsOp(I32ComponentBuiltinOperation):
    """The number of subgroups in one dimension of the work-group.

    ```
    %r = num_subgroups.y : i32
    ```

    x: work_group_size[0] / subgroup_size; y: work_group_size[1]; z: 1.
    """

    name = "tensorlang.num_subgroups"


@op_definition
class SubgroupSizeOp(I32BuiltinOperation):
    """The number of work-items in a subgroup.

    ```
    %r = subgroup_size : i32
    ```
    """

    name = "tensorlang.subgroup_size"


@op_definition
class SubgroupIdOp(I32ComponentBuiltinOperation):
    """One component of the subgroup's id, from 0 to num_subgroups - 1.

    ```
    %r = subgroup_id.x : i32
    ```
    """

    name = "tensorlang.subgroup_id"
    EXECUTION: ClassVar[Execution] = Execution.SPMD


@op_definition
class SubgroupLinearIdOp(I32BuiltinOperation):
    """subgroup_id.x + subgroup_id.y * num_subgroups.x.

    ```
    %r = subgroup_linear_id : i32
    ```
    """

    name = "tensorlang.subgroup_linear_id"
    EXECUTION: ClassVar[Execution] = Execution.SPMD


@op_definition
class SubgroupLocalIdOp(I32BuiltinOperation):
    """The work-item's id within its subgroup, from 0 to subgroup_size - 1.

    ```
    %r = subgroup_local_id : i32
    ```
    """

    name = "tensorlang.subgroup_local_id"
    EXECUTION: ClassVar[Execution] = Execution.SPMD
