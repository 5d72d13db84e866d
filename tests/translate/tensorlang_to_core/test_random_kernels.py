"""Random kernels: what they become is right for xtile and for mlir-opt."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

import xtile
from tests.generators.tensorlang_kernels import random_kernel
from tests.mlir_opt import run_mlir_opt
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.tensorlang_to_core import translate_module

KERNELS = 36
"""How many kernels each test takes."""


def _translated(first: int) -> Iterator[ModuleOp]:
    """Translated kernels."""
    for seed in range(first, first + KERNELS):
        try:
            yield translate_module(random_kernel(seed))
        except DiagnosticError as error:
            if "give the function the attribute subgroup_size" not in str(error):
                raise


def _generic_text(module: ModuleOp) -> str:
    output = StringIO()
    Printer(output, print_generic_format=True).print_op(module)
    return output.getvalue()


def test_mlir_opt_accepts() -> None:
    texts = [_generic_text(module) for module in _translated(0)]
    assert len(texts) > KERNELS // 2
    result = run_mlir_opt(
        "\n// -----\n".join(texts), "-allow-unregistered-dialect", "-split-input-file"
    )
    assert result.stderr == ""
    assert result.returncode == 0


def test_verifies_and_reads_back() -> None:
    for module in _translated(KERNELS):
        text = xtile.to_text(module, "mlir")
        assert xtile.to_text(xtile.parse(text, language="mlir"), "mlir") == text


@pytest.mark.parametrize("seed", range(3))
def test_leaves_the_source_as_it_was(seed: int) -> None:
    module = random_kernel(seed)
    before = xtile.to_text(module)
    try:
        translate_module(module)
    finally:
        assert xtile.to_text(module) == before
