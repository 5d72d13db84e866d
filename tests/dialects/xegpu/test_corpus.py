"""Every piece of the corpus has the same verdict as from mlir-opt, the same text and the message
that it states."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, upstream_errors
from tests.dialects.xegpu.pieces import Piece, read_corpus
from xtile.dialects.languages import mlir_parser_for
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.expected import check_expectations
from xtile.text.mlir import read_mlir
from xtile.text.source import Source

CORPUS = read_corpus()
RIGHT = [piece for piece in CORPUS if not piece.is_wrong]
WRONG = [piece for piece in CORPUS if piece.is_wrong]


def name_of(piece: Piece) -> str:
    return f"{piece.file}-{piece.name}"


def errors_of(piece: Piece) -> list[str]:
    """Reads a piece, checks that its errors are those it states, and returns them."""
    diagnostics = Diagnostics(limit=None)
    source = Source("piece.mlir", piece.text)
    module = read_mlir(source, diagnostics, make_context(), mlir_parser_for(source))
    if module is not None:
        verify_module(module, diagnostics, source)
    reported = diagnostics.sorted()
    assert [problem.message for problem in check_expectations(source, reported, "//")] == []
    return [diagnostic.message for diagnostic in reported]


def test_size() -> None:
    assert len(CORPUS) >= 250
    assert min(len(RIGHT), len(WRONG)) >= 90
    assert len({name_of(piece) for piece in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("piece", WRONG, ids=name_of)
def test_both_refuse_what_is_wrong(piece: Piece) -> None:
    verdicts = upstream_errors(tuple(other.text for other in WRONG if other.file == piece.file))
    index = [other.name for other in WRONG if other.file == piece.file].index(piece.name)
    assert errors_of(piece) != []
    assert verdicts[index] != ""


@pytest.mark.parametrize("piece", RIGHT, ids=name_of)
def test_both_accept_and_print_what_is_right(piece: Piece) -> None:
    family = [other for other in RIGHT if other.file == piece.file]
    assert errors_of(piece) == []
    check_agreement({other: other.text for other in family}, piece)
