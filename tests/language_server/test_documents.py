"""What an editor is told of a text: names, types, definitions, and its printed form."""

from __future__ import annotations

from pathlib import Path

import pytest

from xtile.language_server.document import Document
from xtile.language_server.formatting import UnformattedError, formatted
from xtile.language_server.hover import documentation_of, hover

EXAMPLES = Path(__file__).parents[2] / "examples"

TENSORLANG = """\
; Scales a vector.
func @scale(%alpha: f32, %x: memref<f32x?>) {
    %gid = group_id.x : index
    %a = load %x[%gid] : f32 ; one element
    %b = mul %alpha, %a : f32
    store %b, %x[%gid]
}
"""

MLIR = """\
func.func @two(%n: i32, %flag: i1) -> (i32, i32) {
  %parts:2 = scf.if %flag -> (i32, i32) {
    scf.yield %n, %n : i32, i32
  } else {
    scf.yield %n, %n : i32, i32
  }
  %sum = arith.addi %parts#0, %parts#1 : i32
  return %sum, %parts#1 : i32, i32
}
func.func @caller(%n: i32, %flag: i1) {
  %a, %b = func.call @two(%n, %flag) : (i32, i1) -> (i32, i32)
  return
}
"""


def shown(name: str, text: str, word: str, occurrence: int = 0) -> str:
    """What hovering over an occurrence of a word shows."""
    part = Document(name, text).parts[0]
    found = hover(part, _offset(text, word, occurrence))
    return "" if found is None else found[0]


def defined(name: str, text: str, word: str, occurrence: int) -> tuple[int, str] | None:
    """The line of the definition of an occurrence of a word, and its text."""
    part = Document(name, text).parts[0]
    span = part.definition_at(_offset(text, word, occurrence))
    if span is None:
        return None
    return part.source.position(span.start)[0], text[span.start : span.end]


def _offset(text: str, word: str, occurrence: int) -> int:
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(word, start + 1)
    return start + 1


def test_types_of_names() -> None:
    assert shown("k.ir", TENSORLANG, "%x") == (
        "```\n%x : memref<f32x?>\n```\nan argument of `func`"
    )
    assert shown("k.ir", TENSORLANG, "%gid", 1) == (
        "```\n%gid : index\n```\nresult of `group_id.x : index`"
    )
    assert shown("k.ir", TENSORLANG, "%b", 0).startswith("```\n%b : f32\n```")


def test_documentation_of_operations() -> None:
    of_store = shown("k.ir", TENSORLANG, "store")
    assert of_store.startswith("```\nstore (f32, memref<f32x?>, index)\n```\n")
    from xtile.dialects.tensorlang.ops import StoreOp

    assert documentation_of(StoreOp)
    assert of_store.endswith(documentation_of(StoreOp))


def test_definitions_of_names() -> None:
    assert defined("k.ir", TENSORLANG, "%x", 2) == (2, "%x")
    assert defined("k.ir", TENSORLANG, "%gid", 2) == (3, "%gid")
    assert defined("k.ir", TENSORLANG, "%b", 1) == (5, "%b")
    assert defined("k.ir", TENSORLANG, "memref", 0) is None


def test_definitions_in_mlir() -> None:
    text = MLIR
    assert not Document("k.mlir", text).has_errors
    assert defined("k.mlir", text, "%parts#1", 0) == (2, "%parts")
    assert defined("k.mlir", text, "%sum", 1) == (7, "%sum")
    assert defined("k.mlir", text, "@two", 1) == (1, "@two")
    # A name in a function is not the one of the same name in another.
    assert defined("k.mlir", text, "%n, %flag", 0) == (10, "%n")
    assert shown("k.mlir", text, "%parts:2").count("i32") >= 2
    assert shown("k.mlir", text, "%a, %b =").startswith("```\n%a : i32\n```")


def test_triton_knows_its_operations() -> None:
    text = (EXAMPLES / "triton" / "scale.ttir").read_text()
    assert shown("scale.ttir", text, "tt.make_range").startswith(
        "```\ntt.make_range () -> tensor<256xi32>\n```\n"
    )


def test_errors_and_what_could_be_read_beside_them() -> None:
    text = TENSORLANG.replace("mul %alpha, %a", "mul %alpha, %c")
    document = Document("k.ir", text)
    (error,) = (each for each in document.diagnostics)
    assert error.span is not None
    assert text[error.span.start : error.span.end] == "%c"
    assert defined("k.ir", text, "%gid", 2) == (3, "%gid")


def test_parts_count_from_the_beginning_of_the_text() -> None:
    text = TENSORLANG + "; -----\n" + TENSORLANG.replace("scale", "other")
    document = Document("k.ir", text)
    assert len(document.parts) == 2
    offset = text.rindex("%gid")
    part = document.part_at(offset)
    assert part is document.parts[1]
    span = part.definition_at(offset - part.start)
    assert span is not None
    assert part.source.position(span.start)[0] == 8 + 3


def test_a_file_of_another_language() -> None:
    with pytest.raises(ValueError, match="no language that xtile reads as text"):
        Document("k.py", "")


def test_the_printed_form_keeps_comments() -> None:
    messy = TENSORLANG.replace("    %b = mul", "  %b   =  mul ; twice\n").replace(
        "(%alpha: f32,", "(%alpha:f32,"
    )
    text = formatted(Document("k.ir", messy))
    assert "\n    %b = mul %alpha, %a : f32 ; twice\n" in text
    assert "; Scales a vector." in text
    assert "; one element" in text
    assert "; twice" in text
    assert formatted(Document("k.ir", text)) == text


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("k.ir", TENSORLANG.replace("f32 ;", "f64 ;"), "the text has errors"),
        ("k.ir", "$n = 16\n" + TENSORLANG.replace("x?", "x$n"), "the preprocessor would be lost"),
        ("k.ir", (EXAMPLES / "old_syntax.ir").read_text(), "of an older revision"),
        ("k.ir", TENSORLANG + "; -----\n" + TENSORLANG, "several parts"),
        ("k.mlir", "// A comment.\n" + MLIR, "A comment."),
        ("k.mlir", 'func.func @f() { return loc("a":1:1) }', "the locations in the text"),
    ],
)
def test_what_would_lose_something_is_not_formatted(name: str, text: str, why: str) -> None:
    with pytest.raises(UnformattedError, match=why):
        formatted(Document(name, text))


def test_mlir_without_comments_is_formatted() -> None:
    text = formatted(Document("k.mlir", MLIR))
    assert "%parts:2 = scf.if %flag -> (i32, i32) {\n" in text
    assert formatted(Document("k.mlir", text)) == text
