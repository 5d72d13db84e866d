"""Compares what this package reads and prints with mlir-opt, for tables of pieces of MLIR text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from typing import TypeVar

from tests.mlir_opt import run_mlir_opt
from xtile.dialects.languages import mlir_parser_for
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source

_SEPARATOR = "\n// -----\n"


@dataclass(frozen=True)
class Forms:
    """A piece in the two forms of MLIR text."""

    custom: str
    generic: str


def in_function(arguments: str, body: str) -> str:
    """Returns a function with arguments and a body that returns nothing."""
    return f"func.func @f({arguments}) {{\n{body}\nfunc.return\n}}\n"


def without_names(text: str) -> str:
    """Returns text without the names of values and blocks, which every printer chooses itself.

    `%a:2 =` and `%a, %b =` are the same; so are the two ways to write builtin's and func's names.
    """
    text = re.sub(r"%[\w.$-]+:(\d+)", lambda match: ", ".join("%" * int(match[1])), text)
    text = re.sub(r"%[\w.$-]+(?:#\d+)?", "%", text)
    text = re.sub(r"\^[\w.$-]+", "^", text)
    text = re.sub(r"^(\s*)func\.return", r"\1return", text, flags=re.MULTILINE)
    return re.sub(r"^builtin\.module", "module", text, flags=re.MULTILINE).strip()


def read(text: str) -> Forms | str:
    """Reads, verifies and prints a piece; returns the errors if there are any."""
    diagnostics = Diagnostics()
    source = Source("piece.mlir", text)
    module = read_mlir(source, diagnostics, make_context(), mlir_parser_for(source))
    if module is not None:
        verify_module(module, diagnostics)
    if module is None or diagnostics.has_errors:
        return diagnostics.render()
    custom, generic = StringIO(), StringIO()
    print_mlir(module, custom)
    print_mlir(module, generic, generic=True)
    return Forms(custom.getvalue(), generic.getvalue())


@lru_cache
def accepted(text: str) -> Forms:
    """Reads a piece that must be right."""
    forms = read(text)
    assert isinstance(forms, Forms), forms
    return forms


@lru_cache
def upstream(pieces: tuple[str, ...]) -> list[Forms]:
    """Reads and prints pieces with mlir-opt, which must accept them all."""
    text = _SEPARATOR.join(pieces)
    custom = run_mlir_opt(text, "-split-input-file")
    assert custom.returncode == 0, custom.stderr
    generic = run_mlir_opt(text, "-split-input-file", "-mlir-print-op-generic")
    return [
        Forms(*forms) for forms in zip(_split(custom.stdout), _split(generic.stdout), strict=True)
    ]


@lru_cache
def upstream_errors(pieces: tuple[str, ...]) -> list[str]:
    """Returns mlir-opt's first error for each piece; an empty text for one that it accepts."""
    result = run_mlir_opt(_SEPARATOR.join(pieces), "-split-input-file")
    starts: list[int] = []
    line = 1
    for piece in pieces:
        starts.append(line)
        line += piece.count("\n") + _SEPARATOR.count("\n")
    errors = [""] * len(pieces)
    for match in re.finditer(r"^<stdin>:(\d+):\d+: error: (.*)$", result.stderr, re.MULTILINE):
        index = sum(start <= int(match[1]) for start in starts) - 1
        errors[index] = errors[index] or match[2]
    return errors


_Name = TypeVar("_Name")
"""What a table calls its pieces."""


def check_agreement(pieces: Mapping[_Name, str], name: _Name) -> None:
    """Checks that one of the pieces reads and prints as mlir-opt does, in both forms.

    Whichever form is read, both forms that are printed are mlir-opt's up to the names of values,
    and mlir-opt reads our text of the piece as what it is. mlir-opt gets all pieces at once.
    """
    texts, index = tuple(pieces.values()), list(pieces).index(name)
    expected = upstream(texts)[index]
    for text in (texts[index], expected.custom, expected.generic):
        forms = accepted(text)
        assert without_names(forms.custom) == without_names(expected.custom)
        assert without_names(forms.generic) == without_names(expected.generic)
    ours = tuple(accepted(piece).custom for piece in texts)
    assert without_names(upstream(ours)[index].custom) == without_names(expected.custom)


def check_refusal(pieces: Mapping[_Name, tuple[str, str]], name: _Name) -> None:
    """Checks that one of the pieces is refused as mlir-opt does, with the message beside it."""
    piece, message = pieces[name]
    errors = upstream_errors(tuple(piece for piece, _ in pieces.values()))
    assert errors[list(pieces).index(name)] != ""
    rendered = read(piece)
    assert isinstance(rendered, str), rendered.custom
    assert message in rendered


def _split(output: str) -> list[str]:
    return re.split(r"^// -----$", output, flags=re.MULTILINE)
