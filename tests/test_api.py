"""Reading, printing and verifying from Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.text.diagnostics import DiagnosticError, Diagnostics, SourceWarning
from xtile.text.source import source_of

KERNEL = """\
func @add(%A: memref<f32x4>, %B: memref<f32x4>) {
    %one = constant 1.0 : f32
    axpby %one, %A, %one, %B
}
"""
WRONG = "func @f(%A: memref<f32x4>) {\n    axpby %A, %A, %A, %A\n}\n"


def test_text_of_either_language() -> None:
    module = xtile.parse(KERNEL)
    assert xtile.to_text(module) == KERNEL
    mlir = xtile.to_text(module, "mlir")
    assert mlir.startswith("module {\n  tensorlang.func @add(")
    assert xtile.to_text(xtile.parse(mlir)) == KERNEL


@pytest.mark.parametrize("kind", [str, Path])
def test_files(tmp_path: Path, kind: type[str] | type[Path]) -> None:
    path = tmp_path / "kernel.ir"
    path.write_text(KERNEL)
    module = xtile.parse(kind(path))
    assert xtile.to_text(module) == KERNEL
    source = source_of(module)
    assert source is not None
    assert source.name == str(path)


def test_a_file_of_another_name_needs_a_language(tmp_path: Path) -> None:
    path = tmp_path / "kernel.txt"
    path.write_text(KERNEL)
    assert xtile.to_text(xtile.parse(path, language="tensorlang")) == KERNEL
    with pytest.raises(ValueError, match=r"kernel\.txt: expected a file ending with \.ir, .*\.spv"):
        xtile.parse(path)


def test_a_missing_file_is_an_error() -> None:
    with pytest.raises(DiagnosticError) as error:
        xtile.parse("no/such.ir")
    assert str(error.value) == (
        "no/such.ir: error: cannot read the file: No such file or directory"
    )


def test_errors_are_raised_together() -> None:
    with pytest.raises(DiagnosticError) as error:
        xtile.parse(WRONG)
    assert len(error.value.diagnostics) >= 2
    assert str(error.value).startswith("<text>:2.11-12: error: ")


def test_without_the_check_the_errors_come_later() -> None:
    module = xtile.parse(WRONG, check=False)
    with pytest.raises(DiagnosticError) as error:
        xtile.verify(module)
    assert str(error.value).startswith("<text>:2.11-12: error: ")
    xtile.verify(xtile.parse(KERNEL))


def test_languages_that_there_are_not() -> None:
    known = (
        "'tensorlang' or 'mlir' or 'ttir' or 'ttgir' or 'spirv' or 'spirv-asm' or 'tileir-bytecode'"
    )
    with pytest.raises(ValueError, match=f"expected language {known}, but got 'x'"):
        xtile.parse(KERNEL, language="x")  # type: ignore[arg-type]
    known = "'tensorlang' or 'mlir' or 'spirv-asm'"
    with pytest.raises(ValueError, match=f"expected language {known}, but got 'x'"):
        xtile.to_text(ModuleOp([]), "x")  # type: ignore[arg-type]


def test_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    from xtile.text.source import Span

    def warn(module: ModuleOp, diagnostics: Diagnostics, source: object) -> None:
        diagnostics.warning(source_of(module), Span(0, 4), "old spelling")

    monkeypatch.setattr("xtile.dialects.reading.verify_module", warn)
    with pytest.warns(SourceWarning, match=r"<text>:1\.1-4: warning: old spelling"):
        xtile.parse(KERNEL)
    diagnostics = Diagnostics()
    xtile.parse(KERNEL, diagnostics=diagnostics)
    assert [d.message for d in diagnostics] == ["old spelling"]
