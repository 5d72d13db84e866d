"""Each restriction of the language, with the wrong text beside the right one.

In `restrictions/*.txt` a row is a title after `==`, a text, and the error after `!`. In the text
`«wrong|right»` stands for the part that is wrong and what would be right in its place. The wrong
text has exactly this one error, and the right text has none.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from xdsl.ir import Operation

from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import OPERATIONS
from xtile.dialects.tensorlang.ops.arithmetic import EqualOp, NotEqualOp
from xtile.dialects.tensorlang.ops.collective import ParallelOp
from xtile.dialects.tensorlang.ops.control import ForOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.reader import read
from xtile.dialects.tensorlang.verifier import arithmetic, collective, control, functions, verify
from xtile.dialects.tensorlang.verifier.kinds import check_kinds
from xtile.dialects.tensorlang.verifier.problem import Rule, registered_rules, rules_of
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source

_ALTERNATIVE = re.compile(r"«([^|»]*)\|([^»]*)»")


_NOT_IN_TEXT: dict[tuple[type[TensorLangOperation], Rule], str] = {
    (EqualOp, arithmetic.allowed_operand_type): "the definition takes only numbers",
    (NotEqualOp, arithmetic.allowed_operand_type): "the definition takes only numbers",
    (ForOp, control.for_arguments): "the text takes their types from the bounds and the results",
    (FuncOp, functions.function_name): "the text has only identifiers",
    (ParallelOp, collective.parallel_arguments): "the text has no arguments",
}
"""The rules that no text breaks, and why; test_every_operation.py breaks the last three."""

Row = tuple[str, str, str]


@cache
def _rows() -> list[Row]:
    """The text, the error and the name of each row."""
    rows: list[Row] = []
    for path in sorted(Path(__file__).with_name("restrictions").glob("*.txt")):
        for row in path.read_text(encoding="utf-8").split("== ")[1:]:
            title, _, rest = row.partition("\n")
            text, _, error = rest.rpartition("! ")
            rows.append((text, error.strip(), f"{path.stem}: {title}"))
    return rows


def _errors(text: str) -> list[str]:
    source, diagnostics = Source("kernel.ir", text), Diagnostics()
    verify(read(source, diagnostics, "v0.4"), diagnostics)
    return [error.render().splitlines()[0] for error in diagnostics.errors]


@pytest.mark.parametrize(
    ("text", "error"), [pytest.param(text, error, id=name) for text, error, name in _rows()]
)
def test_restriction(text: str, error: str) -> None:
    position, _, message = error.partition(": ")
    assert _errors(_ALTERNATIVE.sub(r"\1", text)) == [f"kernel.ir:{position}: error: {message}"]
    assert _errors(_ALTERNATIVE.sub(r"\2", text)) == []


# What the rows cover


@cache
def _operations() -> list[Operation]:
    """The operations of all wrong texts."""
    texts = [_ALTERNATIVE.sub(r"\1", text) for text, _, _ in _rows()]
    modules = [read(Source("kernel.ir", text), Diagnostics(), "v0.4") for text in texts]
    return [operation for module in modules for operation in module.walk()]


@cache
def _broken_rules() -> set[tuple[type[Operation], Rule]]:
    """The rules that an operation of a wrong text breaks."""
    return {
        (type(operation), rule)
        for operation in _operations()
        if isinstance(operation, TensorLangOperation) and check_kinds(operation, [])
        for rule in rules_of(type(operation))
        if list(rule(operation))
    }


@pytest.mark.slow
def test_every_operation_occurs_in_a_row() -> None:
    seen = {type(operation) for operation in _operations()}
    missing = [cls.mnemonic() for cls in OPERATIONS if cls not in seen]
    assert missing == [], "write a row of restrictions/*.txt for each of them"


def test_every_rule_is_broken_by_a_row() -> None:
    missing = [
        f"{rule.__module__}.{rule.__name__} for {cls.__name__}"
        for cls, rule in registered_rules()
        if not any(rule is broken and issubclass(owner, cls) for owner, broken in _broken_rules())
        and (cls, rule) not in _NOT_IN_TEXT
    ]
    assert missing == [], "write a row of restrictions/*.txt for each of them"
