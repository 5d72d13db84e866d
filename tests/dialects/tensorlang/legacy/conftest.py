"""What the tests of older revisions share."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from xtile.dialects.tensorlang.printer import print_module
from xtile.dialects.tensorlang.reader import read
from xtile.dialects.tensorlang.verifier import verify
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source

Migrate = Callable[..., str]


def _printed(text: str, revision: str | None, diagnostics: Diagnostics) -> str:
    module = read(Source("kernel.ir", text), diagnostics, revision)
    assert not diagnostics.has_errors, diagnostics.render()
    verify(module, diagnostics)
    assert not diagnostics.has_errors, diagnostics.render()
    output = io.StringIO()
    print_module(module, output)
    return output.getvalue()


@pytest.fixture
def migrate() -> Migrate:
    """Reads text, verifies it and prints it; what is printed reads as itself, without warnings."""

    def run(text: str, revision: str | None = None, warns: bool = False) -> str:
        diagnostics = Diagnostics()
        printed = _printed(text, revision, diagnostics)
        assert bool(len(diagnostics)) == warns, diagnostics.render()
        again = Diagnostics()
        assert _printed(printed, "v0.4", again) == printed
        assert len(again) == 0, again.render()
        return printed

    return run


@pytest.fixture
def diagnose() -> Callable[..., list[str]]:
    """The messages about a text, each as `line.column-column: severity: message`."""

    def run(text: str, revision: str | None = None) -> list[str]:
        diagnostics = Diagnostics()
        read(Source("kernel.ir", text), diagnostics, revision)
        heads = [diagnostic.render().partition("\n")[0] for diagnostic in diagnostics.sorted()]
        return [head.removeprefix("kernel.ir:") for head in heads]

    return run
