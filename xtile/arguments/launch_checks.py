"""What a kernel relies on that only a launch can tell: between which numbers integers lie.

A kernel says it in `core.launch_checks` (docs/core-form.md, "Launch checks").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from xtile.arguments.errors import UnfitLaunchError

Expression: TypeAlias = "int | tuple[Any, ...]"
"""A number, or one of these:

| | |
|---|---|
| `("argument", 3)` | the integer that parameter 3 of the kernel's source is |
| `("block", 0)`, `("grid", 0)` | the index of a work-group along x, and how many there are |
| `("between", a, b)` | any number from the least that `a` is to the greatest that `b` is |
| `("mul", 32, a, b)` | an operation on numbers of so many bits, one of `OPERATIONS` |
| `("cast", 32, a)` | a number in so many bits |
"""

Range: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class LaunchCheck:
    """Something that a launch must find.

    Attributes:
        expression: An integer.
        least: The least that it may be.
        most: The greatest that it may be.
    """

    expression: Expression
    least: int
    most: int

    def __str__(self) -> str:
        return f"{text_of(self.expression)} is from {self.least} to {self.most}"


def first_failing(
    checks: Sequence[LaunchCheck], arguments: Sequence[Any], grid: Sequence[int]
) -> LaunchCheck | None:
    """The first check that does not hold, or of which it is not known whether it does.

    Args:
        checks: What a kernel relies on.
        arguments: What it is launched on, for each parameter of its source.
        grid: How many work-groups there are along each dimension.
    """
    for check in checks:
        low, high = _range(check.expression, arguments, grid)
        if low < check.least or high > check.most:
            return check
    return None


def check_launch(
    kernel: str, checks: Sequence[LaunchCheck], arguments: Sequence[Any], grid: Sequence[int]
) -> None:
    """Checks what a kernel relies on.

    Raises:
        UnfitLaunchError: It does not hold for the launch.
    """
    failing = first_failing(checks, arguments, grid)
    if failing is not None:
        raise UnfitLaunchError(
            f"@{kernel} was translated for launches in which {failing}, which is not so here; "
            "launch the kernel that it was made of"
        )


def _range(expression: Expression, arguments: Sequence[Any], grid: Sequence[int]) -> Range:
    """Between which numbers an integer lies, in all work-groups."""
    if isinstance(expression, int):
        return expression, expression
    kind: str = expression[0]
    rest: list[Any] = list(expression[1:])
    match kind:
        case "argument":
            number = int(arguments[int(rest[0])])
        case "grid":
            number = grid[int(rest[0])]
        case "block":
            return 0, grid[int(rest[0])] - 1
        case "between":
            low, high = (_range(each, arguments, grid) for each in rest)
            return low[0], max(low[0], high[1])
        case _:
            bits, *operands = rest
            ranges = [_range(each, arguments, grid) for each in operands]
            return _in_bits(bits, ranges[0] if kind == "cast" else OPERATIONS[kind](*ranges))
    return number, number


def _in_bits(bits: int, range_: Range | None) -> Range:
    """What is left of numbers in so many bits; any where they may wrap around."""
    half = 1 << (bits - 1)
    if range_ is None or range_[0] < -half or range_[1] >= half:
        return -half, half - 1
    return range_


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _quotient(divide: Callable[[int, int], int]) -> Callable[[Range, Range], Range | None]:
    def combine(a: Range, b: Range) -> Range | None:
        if b[0] <= 0:
            return None
        corners = [divide(x, y) for x in a for y in b]
        return min(corners), max(corners)

    return combine


def _remainder(a: Range, b: Range) -> Range | None:
    if a[0] < 0 or b[0] <= 0:
        return None
    return 0, min(a[1], b[1] - 1)


def _toward_zero(a: int, b: int) -> int:
    return a // b if a >= 0 else -(-a // b)


OPERATIONS: Mapping[str, Callable[[Range, Range], Range | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _product,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "div": _quotient(_toward_zero),
    "floordiv": _quotient(lambda a, b: a // b),
    "ceildiv": _quotient(lambda a, b: -(-a // b)),
    "rem": _remainder,
}
"""For an operation the range of its result; None where nothing is known. Numbers have signs."""


def text_of(expression: Expression) -> str:
    """An expression as messages show it."""
    if isinstance(expression, int):
        return str(expression)
    kind, *rest = expression
    if kind in _SIMPLE:
        return f"{_SIMPLE[kind]} {rest[0] if kind == 'argument' else 'xyz'[rest[0]]}"
    if kind == "between":
        return f"[{text_of(rest[0])} .. {text_of(rest[1])}]"
    if kind == "cast":
        return text_of(rest[1])
    a, b = (text_of(each) for each in rest[1:])
    sign = _SIGNS.get(kind)
    return f"{kind}({a}, {b})" if sign is None else f"({a} {sign} {b})"


_SIMPLE = {"argument": "argument", "block": "block", "grid": "blocks"}

_SIGNS = {"add": "+", "sub": "-", "mul": "*"}


# --- words, for files and the cache ---


def words_of(check: LaunchCheck) -> list[Any]:
    """A check in lists, numbers and strings."""
    return [_listed(check.expression), check.least, check.most]


def check_of(words: Sequence[Any]) -> LaunchCheck:
    """The check that words are."""
    expression, least, most = words
    return LaunchCheck(_tupled(expression), least, most)


def _listed(expression: Any) -> Any:
    if isinstance(expression, tuple):
        return [_listed(each) for each in cast("tuple[Any, ...]", expression)]
    return expression


def _tupled(words: Any) -> Any:
    if isinstance(words, list):
        return tuple(_tupled(each) for each in cast("list[Any]", words))
    return words
