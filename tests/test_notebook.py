"""Notebooks show modules in colours, mistakes as messages, and tables of checks and ports."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.checking.kernels import rows
from xtile.notebook import html_of_error, html_of_text, load_ipython_extension
from xtile.text.diagnostics import DiagnosticError

EXAMPLES = Path(__file__).parents[1] / "examples"


class Shell:
    """What of IPython's shell the extension asks for."""

    def __init__(self) -> None:
        self.shown: dict[type, Any] = {}
        html = SimpleNamespace(for_type=self.shown.__setitem__)
        self.display_formatter = SimpleNamespace(formatters={"text/html": html})
        self.errors: tuple[type[BaseException], ...] = ()

    def set_custom_exc(self, kinds: tuple[type[BaseException], ...], handler: Any) -> None:
        self.errors = kinds


def test_the_extension() -> None:
    shell = Shell()
    load_ipython_extension(shell)
    assert xtile.load_ipython_extension is load_ipython_extension  # type: ignore[attr-defined]
    assert shell.errors == (DiagnosticError,)
    page = shell.shown[ModuleOp](xtile.parse(EXAMPLES / "axpby.ir"))
    assert '<span style="color: #6f42c1">@axpby</span>' in page
    assert '<span style="color: #005cc5">%alpha</span>: f32' in page
    assert '<span style="color: #6a737d">; B := alpha A + beta B' in page


def test_text_is_no_markup() -> None:
    page = html_of_text('%a = tt.load %p : !tt.ptr<f32> loc("<b>") // <i>')
    assert '<span style="color: #d73a49">tt.load</span>' in page
    assert "&lt;f32&gt;" in page
    assert "<b>" not in page
    assert "<i>" not in page


def test_an_error() -> None:
    with pytest.raises(DiagnosticError) as caught:
        xtile.parse("func @k(%a: f32) { oops }\n")
    page = html_of_error(caught.value)
    assert '<b style="color: #c00">' in page
    assert "oops" in page


@pytest.mark.slow
def test_a_check() -> None:
    result = xtile.check(rows(), rows(), devices=[], sizes={"x": (5, 16), "y": (5,)}, grid=6)
    page = result._repr_html_()
    assert page.startswith("<pre")
    assert "@k: agrees, seed" in page
