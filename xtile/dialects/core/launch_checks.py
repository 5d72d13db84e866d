"""What launches of a kernel check, as an attribute (docs/core-form.md, "Launch checks")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation

from xtile.dialects.shared_attributes import i64_attribute, string_attribute

CHECKS_ATTRIBUTE = "core.launch_checks"
"""The attribute of a kernel that lists what it relies on and only a launch can tell.

Each check is a list of an expression, the least and the greatest number that it may be.
"""


PREFERRED_ATTRIBUTE = "core.preferred_launches"
"""The attribute of a kernel that lists in the same way for which launches it is fast.

It is right for all others, too.
"""


def checks_attribute(words: Iterable[Any]) -> ArrayAttr[Attribute]:
    """Checks, as `xtile.arguments.launch_checks.words_of` writes them, as an attribute."""
    return cast("ArrayAttr[Attribute]", _attribute(list(words)))


def _attribute(words: Any) -> Attribute:
    if isinstance(words, list):
        return ArrayAttr([_attribute(each) for each in cast("list[Any]", words)])
    return string_attribute(words) if isinstance(words, str) else i64_attribute(words)


def check_words(function: Operation, name: str = CHECKS_ATTRIBUTE) -> list[Any]:
    """The checks of a kernel, in lists, numbers and strings; none if it has no such attribute.

    Args:
        function: The kernel.
        name: The attribute.

    Raises:
        ValueError: The attribute holds something else.
    """
    attribute = function.attributes.get(name)
    return [] if attribute is None else _words(attribute, name)


def problem_of_checks(function: Operation, name: str) -> str | None:
    """What is wrong with an attribute that lists checks, in words; None if nothing is."""
    try:
        words = check_words(function, name)
        is_right = isinstance(function.attributes[name], ArrayAttr) and all(
            _is_check(each) for each in words
        )
    except ValueError as error:
        return str(error)
    return None if is_right else f"{name} must list an expression and two numbers for each check"


def _is_check(words: Any) -> bool:
    if not isinstance(words, list):
        return False
    match cast("list[Any]", words):
        case [expression, int(), int()]:
            return _is_expression(expression)
        case _:
            return False


def _is_expression(words: Any) -> bool:
    match words:
        case int():
            return True
        case ["argument" | "block" | "grid", int()]:
            return True
        case ["between", a, b]:
            return _is_expression(a) and _is_expression(b)
        case ["cast", int(), a]:
            return _is_expression(a)
        case [str(operation), int(), a, b]:
            return operation in CHECK_OPERATIONS and _is_expression(a) and _is_expression(b)
        case _:
            return False


CHECK_OPERATIONS = ("add", "sub", "mul", "min", "max", "div", "floordiv", "ceildiv", "rem")
"""What an expression computes with; divisions of what is not positive may give anything."""


def _words(attribute: Attribute, name: str) -> Any:
    if isinstance(attribute, ArrayAttr):
        return [_words(each, name) for each in cast("ArrayAttr[Attribute]", attribute)]
    if isinstance(attribute, StringAttr):
        return attribute.data
    if isinstance(attribute, IntegerAttr):
        return cast("IntegerAttr[Any]", attribute).value.data
    raise ValueError(f"{name} holds lists, numbers and strings, got {attribute}")
