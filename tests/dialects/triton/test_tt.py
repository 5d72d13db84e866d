"""Verdicts on pieces of the `tt` dialect and their text in each release, which Tritons judge."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.dialects.triton.modules import printed, without_names
from tests.dialects.triton.pieces import PIECES
from tests.triton_releases.folders import releases
from tests.triton_releases.judges import judge
from xtile.dialects.triton.operation import TritonOperation
from xtile.dialects.triton.tt.dialect import OPERATIONS
from xtile.dialects.triton.versions import RELEASES, parse_release
from xtile.text.diagnostics import DiagnosticError

RIGHT = {name: piece for name, piece in PIECES.items() if piece.wrong is None}

ONLY_IN_OTHER_TEXTS = {
    *("tt.call", "tt.grid_dependency_wait", "tt.grid_dependency_launch_dependents"),
}
"""Operations that no piece has."""


def _read(text: str) -> ModuleOp:
    return xtile.parse(text, language="mlir")


@pytest.mark.parametrize("name", RIGHT)
def test_right_pieces_are_read_from_their_own_text(name: str) -> None:
    module = _read(RIGHT[name].text)
    custom, generic = printed(module), printed(module, generic=True)
    assert printed(_read(custom)) == custom
    assert printed(_read(generic)) == custom
    piece = RIGHT[name]
    for release in RELEASES:
        if not piece.since <= release <= piece.until:
            continue
        assert printed(_read(printed(module, release))) == custom


@pytest.mark.parametrize("name", sorted(PIECES.keys() - RIGHT.keys()))
def test_wrong_pieces_are_refused(name: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        _read(PIECES[name].text)
    wrong = PIECES[name].wrong
    assert wrong is not None
    assert wrong in str(error.value)


def test_every_operation_is_in_a_piece() -> None:
    found = {operation.name for piece in RIGHT.values() for operation in _read(piece.text).walk()}
    assert {operation.name for operation in OPERATIONS} - found == ONLY_IN_OTHER_TEXTS


@pytest.mark.parametrize("release", releases())
@pytest.mark.parametrize("name", PIECES)
def test_what_tritons_say(name: str, release: str) -> None:
    piece, version = PIECES[name], parse_release(release)
    is_known = piece.since <= version <= piece.until
    text = piece.text
    if piece.wrong is None and is_known:
        text = printed(_read(text), version)
    verdict = judge(release, text)
    assert verdict.accepted == (is_known == (piece.wrong is None)), (verdict.said, text)
    if verdict.accepted:
        assert without_names(text) == without_names(verdict.text)


def test_operations_know_their_releases() -> None:
    for piece in RIGHT.values():
        for operation in _read(piece.text).walk():
            if isinstance(operation, TritonOperation):
                assert piece.until >= operation.SINCE
                assert operation.UNTIL is None or piece.since <= operation.UNTIL


@pytest.mark.parametrize(
    ("target", "lanes", "message"),
    [
        ('ttg.target = "hip:gfx942", ', 64, None),
        ('ttg.target = "hip:gfx1100", ', 32, None),
        ('ttg.target = "cuda:90", ', 32, None),
        ('ttg.target = "hip:gfx1100", ', 64, "a warp of gfx1100 has 32 lanes"),
        ("", 64, "the module has ttg.threads-per-warp and no ttg.target"),
    ],
)
def test_layouts_are_for_the_target(target: str, lanes: int, message: str | None) -> None:
    """Triton takes all of them, and compiles them to something else."""
    text = (
        f'module attributes {{{target}"ttg.num-warps" = 4 : i32, '
        f'"ttg.threads-per-warp" = {lanes} : i32}} {{\n'
        "  tt.func public @k() {\n    tt.return\n  }\n}\n"
    )
    if message is None:
        _read(text)
        return
    with pytest.raises(DiagnosticError, match=message):
        _read(text)
