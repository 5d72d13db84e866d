"""Names of values: as the source spells them, and as MLIR prints them.

xDSL takes digits behind `_` at the end of a name for a number of its own and drops them, so that
`%x_1` and `%x_2` both become `x`. But the names of a kernel's parameters are what its callers know.

MLIR numbers a value without a name. The values of a region are numbered before those of the regions
in it, which go on from there. A name that is taken gets the next number of the region.

Source: LLVM 22, `SSANameState` in `mlir/lib/IR/AsmPrinter.cpp`.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.ir import Block, Operation, Region, SSAValue

_NAME = re.compile(r"[A-Za-z$._-][A-Za-z0-9$._-]*")
_NUMBER = re.compile(r"(?:_\d+)+$")

OperationT = TypeVar("OperationT", bound=Operation)


def give_name(value: SSAValue | Block, name: str | None) -> None:
    """Gives a value, or a block, the whole of a name.

    Raises:
        ValueError: It is no name in xDSL.
    """
    if not value.is_valid_name(name):
        raise ValueError(f"{name!r} is no name of a value or a block")
    value._name = name  # pyright: ignore[reportPrivateUsage]


def give_checked_name(value: SSAValue, name: str) -> None:
    """Gives a value the whole of a name that is known to be one."""
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


@dataclass(slots=True)
class _Numbers:
    """The next numbers of values, of arguments and of names that are taken."""

    value: int = 0
    argument: int = 0
    conflict: int = 0


@dataclass(slots=True)
class _Scope:
    """What is taken in a region and in those around it."""

    names: ChainMap[str, None]
    numbers: _Numbers

    def number(self) -> str:
        """The next number of a value."""
        self.numbers.value += 1
        return str(self.numbers.value - 1)

    def argument_name(self) -> str:
        """The next name of an argument of a region."""
        self.numbers.argument += 1
        return f"arg{self.numbers.argument - 1}"

    def unique(self, name: str) -> str:
        """The name, or the name and a number where it is taken."""
        found = name
        # xDSL takes a number at the end for its own, and would confuse `x_1_0` with `x_1`.
        stem = _NUMBER.sub("", name) if name in self.names else name
        while found in self.names:
            found = f"{stem}_{self.numbers.conflict}"
            self.numbers.conflict += 1
        self.names[found] = None
        return found


def name_values(
    operation: Operation, known: Mapping[SSAValue, str], is_unique: bool
) -> dict[SSAValue, str]:
    """Returns the names of all values in an operation, without `%`.

    Results of one operation that share a name are told apart by `#` and a number.

    Args:
        operation: What is printed.
        known: Names of values that are not their name hints.
        is_unique: Whether numbers go on from one region to its neighbours, as MLIR's do in the
            generic form, so that no two values in the text share one.
    """
    names: dict[SSAValue, str] = {}
    outermost = _Scope(ChainMap({}), _Numbers())
    _name_results(operation, outermost, names, known)
    waiting = [(region, outermost.names, outermost.numbers) for region in operation.regions]
    while waiting:
        region, outer_names, numbers = waiting.pop()
        own_numbers = outermost.numbers if is_unique else replace(numbers)
        scope = _Scope(outer_names.new_child(), own_numbers)
        _name_region(region, scope, names, known)
        waiting += [
            (inner, scope.names, scope.numbers)
            for block in region.blocks
            for inner_operation in block.ops
            for inner in inner_operation.regions
        ]
    return names


def _name_region(
    region: Region, scope: _Scope, names: dict[SSAValue, str], known: Mapping[SSAValue, str]
) -> None:
    """Names the values of a region, without those of the regions in it."""
    for block in region.blocks:
        is_entry = block is region.blocks.first
        for argument in block.args:
            # An argument takes its number even where it has a name of its own.
            default = scope.argument_name() if is_entry else ""
            name = _name_of(argument, known) or default
            names[argument] = scope.unique(name) if name else scope.number()
        for operation in block.ops:
            _name_results(operation, scope, names, known)


def _name_results(
    operation: Operation, scope: _Scope, names: dict[SSAValue, str], known: Mapping[SSAValue, str]
) -> None:
    groups: list[tuple[str, list[SSAValue]]] = []
    for result in operation.results:
        name = _name_of(result, known)
        if groups and name in ("", groups[-1][0]):
            groups[-1][1].append(result)
        else:
            groups.append((name, [result]))
    for name, results in groups:
        shown = scope.unique(name) if name else scope.number()
        if len(results) == 1:
            names[results[0]] = shown
        else:
            names.update((result, f"{shown}#{index}") for index, result in enumerate(results))


def _name_of(value: SSAValue, known: Mapping[SSAValue, str]) -> str:
    """The name that a value has already, or an empty text."""
    name = known.get(value) or value.name_hint
    return name if name is not None and _NAME.fullmatch(name) else ""
