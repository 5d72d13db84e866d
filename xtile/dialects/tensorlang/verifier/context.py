"""What rules need to know of the instructions around one."""

from __future__ import annotations

from functools import cache

from typing_extensions import TypeIs
from xdsl.ir import Block, Operation, Region

from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.verifier.constants import positive_integer


def is_instruction(operation: Operation) -> TypeIs[TensorLangOperation]:
    """Whether `operation` is of this dialect; quicker than isinstance on abstract classes."""
    return _is_instruction_class(type(operation))


@cache
def _is_instruction_class(cls: type[Operation]) -> bool:
    return issubclass(cls, TensorLangOperation)


def function_of(operation: Operation) -> FuncOp | None:
    """The function that `operation` stands in."""
    current: Operation | None = operation
    while current is not None and not isinstance(current, FuncOp):
        current = current.parent_op()
    return current


def subgroup_size_of(operation: Operation) -> int | None:
    """The subgroup size where the function's attributes give one."""
    function = function_of(operation)
    return None if function is None else positive_integer(function.properties.get("subgroup_size"))


def block_of(region: Region) -> Block | None:
    """The region's only block; None for a region that was left out or is empty."""
    return region.first_block
