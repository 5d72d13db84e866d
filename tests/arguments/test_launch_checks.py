"""What launches check of kernels: ranges of expressions, their words, and what is no check."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.arguments.errors import ArgumentError
from xtile.arguments.launch_checks import (
    OPERATIONS,
    LaunchCheck,
    check_launch,
    check_of,
    first_failing,
    words_of,
)
from xtile.dialects.core.launch_checks import CHECK_OPERATIONS
from xtile.text.diagnostics import DiagnosticError

GRID = (3, 2, 1)


def _random_expression(generator: np.random.Generator, depth: int) -> Any:
    kind = generator.integers(5 if depth else 3)
    if kind == 0:
        return int(generator.integers(-20, 21))
    if kind == 1:
        return "argument", int(generator.integers(2))
    if kind == 2:
        return str(generator.choice(["block", "grid"])), int(generator.integers(3))
    a, b = (_random_expression(generator, depth - 1) for _ in "ab")
    if kind == 3:
        return "cast", 8, a
    return str(generator.choice(CHECK_OPERATIONS)), int(generator.choice([8, 64])), a, b


def _wrapped(number: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (number + half) % (1 << bits) - half


def _value(expression: Any, arguments: list[int], block: tuple[int, ...]) -> int:
    """What an expression is in one work-group."""
    if isinstance(expression, int):
        return expression
    kind, *rest = expression
    if kind in ("argument", "block", "grid"):
        numbers = {"argument": tuple(arguments), "block": block, "grid": GRID}
        return numbers[kind][int(rest[0])]
    bits, *operands = rest
    a, *others = (_value(each, arguments, block) for each in operands)
    if kind == "cast":
        return _wrapped(a, bits)
    b = others[0]
    if b == 0 and kind in ("div", "floordiv", "ceildiv", "rem"):
        return 0
    compute = {
        "add": lambda: a + b,
        "sub": lambda: a - b,
        "mul": lambda: a * b,
        "min": lambda: min(a, b),
        "max": lambda: max(a, b),
        "div": lambda: int(a / b),
        "floordiv": lambda: a // b,
        "ceildiv": lambda: -(-a // b),
        "rem": lambda: a - b * int(a / b),
    }
    return _wrapped(compute[kind](), bits)


def _holds(expression: Any, least: int, most: int, arguments: list[int]) -> bool:
    return first_failing([LaunchCheck(expression, least, most)], arguments, GRID) is None


@pytest.mark.slow
def test_no_number_is_outside_of_the_range_that_is_found() -> None:
    generator = fresh_generator()
    for _ in range(3000):
        expression = _random_expression(generator, 3)
        arguments = [int(each) for each in generator.integers(-20, 21, 2)]
        blocks = list(product(*map(range, GRID)))
        values = [_value(expression, arguments, block) for block in blocks]
        assert not _holds(expression, min(values) + 1, 1 << 70, arguments)
        assert not _holds(expression, -(1 << 70), max(values) - 1, arguments)


def test_ranges_are_exact_where_each_number_occurs_once() -> None:
    expression = "add", 32, ("mul", 32, ("block", 0), ("argument", 0)), ("between", 0, 15)
    assert _holds(expression, 0, 2 * 5 + 15, [5])
    assert not _holds(expression, 0, 2 * 5 + 14, [5])
    assert not _holds(("mul", 32, ("argument", 0), 2), 0, 1 << 40, [1 << 30])
    assert _holds(("mul", 64, ("argument", 0), 2), 0, 1 << 40, [1 << 30])


def test_each_operation_has_a_range() -> None:
    assert {*OPERATIONS} == {*CHECK_OPERATIONS}


def test_a_check_is_the_same_in_words_and_in_messages() -> None:
    check = LaunchCheck(("mul", 32, ("cast", 32, ("block", 1)), ("argument", 3)), 0, 9)
    assert check_of(words_of(check)) == check
    with pytest.raises(ArgumentError) as failing:
        check_launch("k", [check], [0, 0, 0, 5], (1, 4, 1))
    assert str(failing.value) == (
        "@k was translated for launches in which (block y * argument 3) is from 0 to 9, which is "
        "not so here; launch the kernel that it was made of"
    )


KERNEL = """
gpu.module @m {{
  gpu.func @k(%x: memref<4xf32>, %n: i32) kernel attributes {{core.launch_checks = {checks}}} {{
    gpu.return
  }}
}}
"""


def test_a_kernel_says_what_is_checked() -> None:
    text = KERNEL.format(checks='[[["argument", 1], 0, 4]]')
    xtile.run(text, [np.zeros(4, np.float32), 4])
    with pytest.raises(ArgumentError, match="argument 1 is from 0 to 4"):
        xtile.run(text, [np.zeros(4, np.float32), 5])


@pytest.mark.parametrize(
    "checks", ["5", "[5]", "[[5, 0]]", '[[["power", 32, 1, 2], 0, 1]]', "[[1.0, 0, 1]]"]
)
def test_what_is_no_check_is_an_error(checks: str) -> None:
    with pytest.raises(DiagnosticError, match=r"core\.launch_checks"):
        xtile.verify(xtile.parse(KERNEL.format(checks=checks), language="mlir"))
