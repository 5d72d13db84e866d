"""Verdicts on operations of `ttg` and `amdg`, and their text, which Tritons judge."""

from __future__ import annotations

from itertools import product

import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.dialects.triton.layout_pieces import LAYOUT_PIECES, LayoutPiece
from tests.dialects.triton.modules import (
    LAYOUTS,
    module_text,
    printed_for,
    undefined,
    without_names,
)
from tests.samples import one_of
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import judge
from xtile.dialects.triton.versions import RELEASES, Release, parse_release
from xtile.text.diagnostics import DiagnosticError

RIGHT = [name for name, piece in LAYOUT_PIECES.items() if piece.wrong is None]


def _text(piece: LayoutPiece) -> str:
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in undefined(piece.body).items())
    return module_text(piece.body, arguments, layouts=LAYOUTS, blocks=piece.blocks)


def _for_release(module: ModuleOp, release: Release) -> str | None:
    """The text for a release; None if it does not have the operations."""
    try:
        return printed_for(module, release)
    except DiagnosticError:
        return None


@pytest.mark.parametrize("name", RIGHT)
def test_right_pieces_are_read_from_their_own_text(name: str) -> None:
    piece = LAYOUT_PIECES[name]
    module = xtile.parse(_text(piece), language="mlir")
    for release in RELEASES:
        text = _for_release(module, release)
        assert (text is not None) == piece.is_seen_by(release), release
        if text is not None:
            assert printed_for(xtile.parse(text, language="mlir"), release) == text


@pytest.mark.parametrize("name", sorted(LAYOUT_PIECES.keys() - set(RIGHT)))
def test_wrong_pieces_are_refused(name: str) -> None:
    piece = LAYOUT_PIECES[name]
    with pytest.raises(DiagnosticError) as error:
        xtile.parse(_text(piece), language="mlir")
    assert piece.wrong is not None
    assert piece.wrong in str(error.value)


@pytest.mark.parametrize(("name", "release"), one_of(2, product(LAYOUT_PIECES, releases())))
def test_what_tritons_say(name: str, release: str) -> None:
    piece, version = LAYOUT_PIECES[name], parse_release(release)
    text = _text(piece)
    try:
        module = xtile.parse(text, language="mlir", check=False)
    except DiagnosticError:
        assert piece.wrong is not None
    else:
        known = _for_release(module, version)
        if known is None:
            assert piece.wrong is not None or not piece.is_seen_by(version)
            return
        text = known
    verdict = judge(release, text)
    is_seen = piece.is_seen_by(version)
    is_right = is_seen if piece.wrong is None else not is_seen or piece.taken is not None
    assert verdict.accepted == is_right, (verdict.said, text)
    if verdict.accepted:
        assert without_names(text) == without_names(verdict.text)
