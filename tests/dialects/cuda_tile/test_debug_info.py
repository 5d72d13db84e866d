"""The text of debug information: both ways, by aliases or in full, and what is wrong with it."""

from __future__ import annotations

import pytest

from xtile.dialects.registry import make_context
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source

TEXT = """\
module {
  "test.op"() : () -> () loc(#loc2)
  "test.op"() : () -> () loc(#loc4)
} loc(#loc)
#di_file = #cuda_tile.di_file<"kernels.py" in "/home/me">
#loc = loc(unknown)
#loc1 = loc("kernels.py":5:8)
#di_compile_unit = #cuda_tile.di_compile_unit<file = #di_file>
#di_subprogram = #cuda_tile.di_subprogram<file = #di_file, line = 3, name = "add", \
linkageName = "add_f32", compileUnit = #di_compile_unit, scopeLine = 4>
#di_lexical_block = #cuda_tile.di_lexical_block<scope = #di_subprogram, file = #di_file, \
line = 6, column = 2>
#loc2 = #cuda_tile.di_loc<#loc1 in #di_subprogram>
#loc3 = #cuda_tile.di_loc<#loc1 in #di_lexical_block>
#loc4 = loc(callsite(#loc2 at #loc3))
"""

FILE = '#cuda_tile.di_file<"a" in "b">'


def printed(text: str, local_scope: bool = False) -> str:
    """Reads a module and prints it with its locations."""
    from io import StringIO

    context = make_context()
    context.allow_unregistered = True
    diagnostics = Diagnostics()
    module = read_mlir(Source("a.mlir", text), diagnostics, context)
    if module is None:
        raise DiagnosticError(list(diagnostics))
    output = StringIO()
    print_mlir(module, output, debuginfo=True, local_scope=local_scope, context=context)
    return output.getvalue()


def test_aliases() -> None:
    """What is printed is read and printed again."""
    assert printed(TEXT) == TEXT


def test_in_full() -> None:
    """Without aliases, a position holds everything that it lies in."""
    text = printed(TEXT, local_scope=True)
    assert "#loc" not in text
    scope = (
        '#cuda_tile.di_subprogram<file = #cuda_tile.di_file<"kernels.py" in "/home/me">, line = 3, '
    )
    assert f'loc(#cuda_tile.di_loc<loc("kernels.py":5:8) in {scope}' in text
    assert printed(text, local_scope=True) == text


def test_members_in_any_order() -> None:
    """Names stand for the values, and what may be missing is 0 and not printed."""
    text = """\
    #f = #cuda_tile.di_file<"a" in "b">
    #u = #cuda_tile.di_compile_unit<file = #f>
    #s = #cuda_tile.di_subprogram<name = "n", line = 1, linkageName = "l", compileUnit = #u,
                                  file = #f>
    "test.op"() {a = #s} : () -> ()
    """
    expected = 'line = 1, name = "n", linkageName = "l", compileUnit = #di_compile_unit>\n'
    assert f"#cuda_tile.di_subprogram<file = #di_file, {expected}" in printed(text)


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ('#cuda_tile.di_file<"a" of "b">', "'in'"),
        ("#cuda_tile.di_compile_unit<files = 1>", "'files' is none of file"),
        (
            f"#cuda_tile.di_compile_unit<file = {FILE}, file = {FILE}>",
            "'file' is there twice",
        ),
        ("#cuda_tile.di_compile_unit<file = 1 : i32>", "di_file"),
        ("#cuda_tile.di_subprogram<line = 3>", "'file' is missing"),
        ('#cuda_tile.di_loc<loc("a":1:2) in 3 : i32>', "expected a scope"),
        (
            '#cuda_tile.di_lexical_block<scope = #cuda_tile.di_file<"a" in "b">>',
            "expected a scope: a di_subprogram or a di_lexical_block",
        ),
    ],
)
def test_errors(attribute: str, message: str) -> None:
    """What is wrong is told at its place."""
    with pytest.raises(DiagnosticError) as error:
        printed(f'"test.op"() {{a = {attribute}}} : () -> ()\n')
    assert message in str(error.value)
    assert str(error.value).startswith("a.mlir:1.")
