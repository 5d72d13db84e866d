"""What each instruction becomes."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.translate.tensorlang_to_core.case import Case
from tests.translate.tensorlang_to_core.cases import CASES
from xtile.dialects.tensorlang.ops import OPERATIONS
from xtile.translate.tensorlang_to_core import RULES, translate_module


def _generic_text(module: ModuleOp) -> str:
    output = StringIO()
    Printer(output, print_generic_format=True).print_op(module)
    return output.getvalue()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_becomes(case: Case) -> None:
    assert case.translated() == case.expected.strip("\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_verifies_and_reads_back(case: Case) -> None:
    text = xtile.to_text(translate_module(case.module()), "mlir")
    assert xtile.to_text(xtile.parse(text, language="mlir"), "mlir") == text


def test_mlir_opt_accepts_every_row() -> None:
    texts = [_generic_text(translate_module(case.module())) for case in CASES]
    result = run_mlir_opt(
        "\n// -----\n".join(texts), "-allow-unregistered-dialect", "-split-input-file"
    )
    assert result.stderr == ""
    assert result.returncode == 0


def test_every_instruction_has_a_rule() -> None:
    assert not {operation.name for operation in OPERATIONS if RULES.get(operation.name) is None}


@pytest.mark.slow
def test_every_instruction_has_a_row() -> None:
    tested = {operation.name for case in CASES for operation in case.module().walk()}
    assert {operation.name for operation in OPERATIONS} <= tested
