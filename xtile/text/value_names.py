"""Names of values as the source spells them.

xDSL takes digits behind `_` at the end of a name for a number of its own and drops them, so that
`%x_1` and `%x_2` both become `x`. But the names of a kernel's parameters are what its callers know.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from xdsl.ir import Block, Operation, SSAValue

OperationT = TypeVar("OperationT", bound=Operation)


def give_name(value: SSAValue | Block, name: str | None) -> None:
    """Gives a value, or a block, the whole of a name.

    Raises:
        ValueError: It is no name in xDSL.
    """
    if not value.is_valid_name(name):
        raise ValueError(f"{name!r} is no name of a value or a block")
    value._name = name  # pyright: ignore[reportPrivateUsage]


def copy_name(value: SSAValue, other: SSAValue) -> None:
    """Gives a value the name of another, which is known to be one."""
    value._name = other._name  # pyright: ignore[reportPrivateUsage]


def clone_with_names(operation: OperationT) -> OperationT:
    """A copy of an operation, in which every value keeps the whole of its name."""
    copies: dict[SSAValue, SSAValue] = {}
    copy = operation.clone(copies)
    for old, new in copies.items():
        copy_name(new, old)
    return copy


def unique_names(names: Iterable[str]) -> list[str]:
    """The names, with a number behind each that is there already."""
    wanted = list(names)
    taken: set[str] = set()
    result: list[str] = []
    for name in wanted:
        found, number = name, 0
        while found in taken or (found != name and found in wanted):
            found, number = f"{name}_{number}", number + 1
        taken.add(found)
        result.append(found)
    return result
