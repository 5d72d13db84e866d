"""Ports with one mistake each, chosen by a seed and without a look at what they compute.

A mistake changes one operation: operands are swapped, a result is replaced by an operand (a term,
a factor, a maximum or a function is dropped), a constant is one more or less (bounds, strides,
offsets, sizes of masks, factors), or a comparison is another one. What the verifier refuses is no
mutant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.constants import constant_attribute
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics

SEED = 20261123
"""What the mutants follow from."""

_COMMUTE = (
    *("add", "addf", "addi", "and", "andi", "max", "maxf", "maxi", "maximumf", "maxnumf", "maxsi"),
    *("maxui", "min", "minf", "mini", "minimumf", "minnumf", "minsi", "minui", "mul", "mulf"),
    *("muli", "or", "ori", "xori"),
)

_MEANS_NOTHING = ("assume", "prefetch")

_COMPARED = ("cmpi", "cmpf")


@dataclass(frozen=True)
class Mutant:
    """A port with a mistake.

    Attributes:
        module: The port.
        kind: What kind of mistake it is.
        what: The operation that was changed, and how.
    """

    module: ModuleOp
    kind: str
    what: str


@dataclass(frozen=True)
class _Change:
    """A change of an operation, which is found again by its number in a copy of the module."""

    number: int
    kind: str
    how: str
    apply: Callable[[Operation], None]


def mutants(module: ModuleOp, count: int, name: str) -> list[Mutant]:
    """Up to `count` ports with a mistake; `name` tells the choices for different ports apart."""
    random = Random(f"{SEED} {name}")
    changes = [change for i, op in enumerate(module.walk()) for change in _changes(i, op)]
    by_kind: dict[str, list[_Change]] = {}
    for change in changes:
        by_kind.setdefault(change.kind, []).append(change)
    for each in by_kind.values():
        random.shuffle(each)
    found: list[Mutant] = []
    # Kinds take turns, because constants are more frequent than everything else.
    while by_kind and len(found) < count:
        for kind in list(by_kind):
            if len(found) == count:
                break
            mutant = _mutated(module, by_kind[kind].pop())
            if mutant is not None:
                found.append(mutant)
            if not by_kind[kind]:
                del by_kind[kind]
    return found


def _mutated(module: ModuleOp, change: _Change) -> Mutant | None:
    copy = module.clone()
    operation = next(op for i, op in enumerate(copy.walk()) if i == change.number)
    text = operation.name
    try:
        change.apply(operation)
    except VerifyException:
        return None
    problems = Diagnostics()
    verify_module(copy, problems)
    if problems.has_errors:
        return None
    return Mutant(copy, change.kind, f"{text}: {change.how}")


def _changes(number: int, operation: Operation) -> Iterator[_Change]:
    name = operation.name.partition(".")[2]
    if name in _MEANS_NOTHING:
        return
    if len(operation.results) == 1 and not operation.regions:
        yield from _swaps(number, operation, name)
        yield from _drops(number, operation)
    constant = _number(operation.get_attr_or_prop("value")) if name == "constant" else None
    if constant is not None:
        for step in (-1, 1):
            yield _Change(number, "constant", f"{constant} {step:+}", _add(step))
    for key in ("predicate", "comparison_predicate") if name in _COMPARED else ():
        if operation.get_attr_or_prop(key) is not None:
            yield _Change(number, "comparison", key, _compare(key))


def _swaps(number: int, operation: Operation, name: str) -> Iterator[_Change]:
    operands = operation.operands
    for a, b in ((0, 1), (1, 2)) if name not in _COMMUTE else ():
        if len(operands) <= b or operands[a] is operands[b]:
            continue
        if operands[a].type == operands[b].type:
            yield _Change(number, "operands swapped", f"operands {a} and {b}", _swap(a, b))


def _drops(number: int, operation: Operation) -> Iterator[_Change]:
    (result,) = operation.results
    kind = "term, factor or limit" if len(operation.operands) > 1 else "function"
    for i, operand in enumerate(operation.operands):
        if operand.type == result.type and list(result.uses):
            yield _Change(number, f"{kind} dropped", f"replaced by operand {i}", _drop(i))


def _swap(a: int, b: int) -> Callable[[Operation], None]:
    def apply(operation: Operation) -> None:
        first, second = operation.operands[a], operation.operands[b]
        operation.operands[a], operation.operands[b] = second, first

    return apply


def _drop(index: int) -> Callable[[Operation], None]:
    def apply(operation: Operation) -> None:
        operation.results[0].replace_all_uses_with(operation.operands[index])

    return apply


def _number(value: Any) -> int | float | None:
    """The number that a constant is, if it is one."""
    if isinstance(value, IntegerAttr | FloatAttr):
        return cast("Any", value).value.data
    if isinstance(value, DenseIntOrFPElementsAttr) and value.is_splat():
        found = value.get_values()[0]
        return found if isinstance(found, int | float) else None
    return None


def _add(step: int) -> Callable[[Operation], None]:
    def apply(operation: Operation) -> None:
        value = cast("Any", operation.get_attr_or_prop("value"))
        changed = _number(value)
        assert changed is not None
        if isinstance(value, DenseIntOrFPElementsAttr):
            make: Any = DenseIntOrFPElementsAttr.from_list
            if isinstance(value.type, TileType):
                make = constant_attribute
            made: Any = make(value.type, [changed + step])
        else:
            made = type(value)(changed + step, value.type)
        _set(operation, "value", made)

    return apply


_STRICT = {2: 3, 3: 2, 4: 5, 5: 4, 6: 7, 7: 6, 8: 9, 9: 8, 0: 1, 1: 0}
"""For the number of each predicate of `arith` one that differs from it in few cases."""

_WORDS = {
    "equal": "not_equal",
    "not_equal": "equal",
    "less_than": "less_than_or_equal",
    "less_than_or_equal": "less_than",
    "greater_than": "greater_than_or_equal",
    "greater_than_or_equal": "greater_than",
}


def _compare(key: str) -> Callable[[Operation], None]:
    def apply(operation: Operation) -> None:
        value = cast("Any", operation.get_attr_or_prop(key))
        if isinstance(value, IntegerAttr):
            number = cast("Any", value).value.data
            table = _STRICT if operation.name.endswith("cmpi") else _ORDERED
            changed: Any = IntegerAttr(table.get(number, number), cast("Any", value).type)
        else:
            changed = type(value)(type(value.data)(_WORDS[value.data.value]))
        _set(operation, key, changed)

    return apply


_ORDERED = {1: 6, 2: 3, 3: 2, 4: 5, 5: 4, 6: 1, 8: 13, 13: 8, 9: 10, 10: 9, 11: 12, 12: 11}


def _set(operation: Operation, key: str, value: Any) -> None:
    holder = operation.properties if key in operation.properties else operation.attributes
    holder[key] = value
