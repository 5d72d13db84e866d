"""Constants whose form is not that of their type, as generators of older text write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from xtile.dialects.tensorlang.reader import read
from xtile.dialects.tensorlang.verifier import verify
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source

OLDER = "%A: memref<f32x56x9>", "%x = subview %A[0:?,0:9] : memref<f32x56x9>"
"""A parameter, and an instruction that only older text has: the size is a question mark."""

CASES: list[tuple[str, str]] = [
    ("0 : f32", "0.0 : f32"),
    ("-1 : f64", "-1.0 : f64"),
    ("3 : bf16", "3.0 : bf16"),
    ("$one : f16", "1.0 : f16"),
    ("2 : c32", "[2.0, 0.0] : c32"),
    ("-2.5 : c64", "[-2.5, 0.0] : c64"),
    ("1 : coopmatrix<f32x8x16,matrix_acc>", "1.0 : coopmatrix<f32x8x16,matrix_acc>"),
    ("1 : coopmatrix<c64x8x16,matrix_acc>", "[1.0, 0.0] : coopmatrix<c64x8x16,matrix_acc>"),
    ("4.0 : i32", "4 : i32"),
    ("1 : bool", "true : bool"),
    ("false : i8", "0 : i8"),
]
"""What older text says and the current form of it."""


def _function(*instructions: str) -> str:
    body = "\n".join(f"    {instruction}" for instruction in instructions)
    return f"$one = 1\nfunc @f({OLDER[0]}) {{\n{body}\n}}\n"


def _errors(text: str) -> list[str]:
    diagnostics = Diagnostics()
    module = read(Source("kernel.ir", text), diagnostics)
    if not diagnostics.has_errors:
        verify(module, diagnostics)
    heads = [diagnostic.render().partition("\n")[0] for diagnostic in diagnostics.sorted()]
    return [head for head in heads if ": error: " in head]


@pytest.mark.parametrize(("written", "current"), CASES)
@pytest.mark.parametrize("comes_first", [True, False])
def test_form_of_the_constant(
    written: str,
    current: str,
    comes_first: bool,
    migrate: Callable[..., str],
    diagnose: Callable[..., list[str]],
) -> None:
    constant, view = f"%c = constant {written}", OLDER[1]
    text = _function(constant, view) if comes_first else _function(view, constant)
    assert f"    %c = constant {current}\n" in migrate(text, warns=True)
    line, columns = 3 if comes_first else 4, f"19-{18 + len(written)}"
    message = f"{written} is a spelling of older generators; write {current}"
    assert f"{line}.{columns}: warning: {message}" in diagnose(text)


def test_integer_parts(migrate: Callable[..., str], diagnose: Callable[..., list[str]]) -> None:
    text = _function("%c = constant [1, -2.5] : c32", OLDER[1])
    assert "    %c = constant [1.0, -2.5] : c32\n" in migrate(text, warns=True)
    assert "3.20: warning: 1 is a spelling of older generators; write 1.0" in diagnose(text)


@pytest.mark.parametrize("revision", ["v0.1", "v0.3"])
def test_a_revision_given_makes_text_older(revision: str, migrate: Callable[..., str]) -> None:
    text = _function("%c = constant 0 : f32")
    assert "    %c = constant 0.0 : f32\n" in migrate(text, revision, warns=True)


@pytest.mark.parametrize(("written", "current"), CASES)
def test_current_text_has_current_constants(written: str, current: str) -> None:
    assert len(_errors(_function(f"%c = constant {written}"))) == 1
    assert _errors(_function(f"%c = constant {current}")) == []


def test_current_complex_constants_have_floating_parts() -> None:
    assert _errors(_function("%c = constant [1, 2.0] : c32")) == [
        "kernel.ir:3.20: error: expected a floating constant, e.g. 1.0, but found '1'"
    ]


@pytest.mark.parametrize(
    ("written", "needed", "found"),
    [
        ("2.5 : i16", "i16 needs an integer constant, such as 1", "a floating constant"),
        ("1e300 : i64", "i64 needs an integer constant, such as 1", "a floating constant"),
        ("inf : index", "index needs an integer constant, such as 1", "a floating constant"),
        ("[1.0, 0.0] : f32", "f32 needs a floating constant, such as 1.0", "a complex constant"),
        ("2 : bool", "bool needs a boolean constant, such as true", "an integer constant"),
    ],
)
def test_other_forms_stay_errors(written: str, needed: str, found: str) -> None:
    position = f"kernel.ir:4.10-{18 + len(written)}"
    text = _function(OLDER[1], f"%c = constant {written}")
    assert _errors(text) == [f"{position}: error: {needed}, but this is {found}"]


def test_immediate_out_of_range(diagnose: Callable[..., list[str]]) -> None:
    text = "func @f(%x: i64) {\n%y = arith.add %x, 1e300 : i64\n}\n"
    assert diagnose(text, "v0.3") == ["2.20-24: error: this constant is not of type i64"]
