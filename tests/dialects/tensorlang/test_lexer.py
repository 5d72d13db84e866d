"""Into which tokens a text falls."""

from __future__ import annotations

import pytest

from xtile.dialects.tensorlang.lexer import END, Lexer


def tokens(text: str) -> list[tuple[str, str]]:
    lexer = Lexer(text)
    found: list[tuple[str, str]] = []
    while lexer.kind != END:
        found.append((lexer.kind, lexer.value))
        lexer.advance()
    return found


KINDS = [
    ("local", ["%0", "%12", "%a", "%A_1", "%alpha", "%x", "%inf", "%e5"]),
    ("global", ["@0", "@f", "@kernel_1"]),
    ("definition", ["$0", "$h", "$head_dim"]),
    ("word", ["func", "x", "xor", "x_y", "f32", "inf_", "nano", "infinity", "bf16", "_a", "true"]),
    ("integer", ["0", "007", "-1", "+1", "9223372036854775808"]),
    ("float", ["1.0", "-1.0", "+1.", ".5", "5.", "-.5", "1e5", "1E-5", "1.e+5", ".5e1", "5.e1"]),
    ("float", ["inf", "-inf", "+inf", "nan", "-nan"]),
    ("float", ["0x1.8p3", "0x.8", "0xA.", "0x1p-1074", "-0x1.fffffffffffffp+1023", "0xa.Bp1"]),
    ("punctuation", ["->", "<=", "=", ",", ":", "(", ")", "[", "]", "{", "}", "<", ">", "?"]),
    ("punctuation", ["^", "*", "/", "+", "%", "-"]),
    ("modifier", [".atomic", ".t", ".n", ".rows_checked", ".x"]),
    ("string", ['""', '"a"', '"with ; and { and \\ and ⪯"']),
    ("calc", ["!calc"]),
    ("unknown", ["!", "$", "@", "#", "'", "~", "\\", "|", "&", "⪯", "\x00", "."]),
]


@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in KINDS for text in texts]
)
def test_one_token(kind: str, text: str) -> None:
    assert tokens(text) == [(kind, text)]
    assert tokens(f" {text}\n; comment") == [(kind, text)]


SEQUENCES = [
    ("2x8", ["2", "x", "8"]),
    ("%1x5", ["%1", "x", "5"]),
    ("%x x5", ["%x", "x", "5"]),
    ("%1x%x", ["%1", "x", "%x"]),
    ("x2x3", ["x", "2", "x", "3"]),
    ("f32 x4", ["f32", "x", "4"]),
    ("x?x?", ["x", "?", "x", "?"]),
    ("1->2", ["1", "->", "2"]),
    ("1-2", ["1", "-2"]),
    ("1 - 2", ["1", "-", "2"]),
    ("%0[1,2]", ["%0", "[", "1", ",", "2", "]"]),
    ("gemm.atomic.n.t %a", ["gemm", ".atomic", ".n", ".t", "%a"]),
    ("group_id.x:index", ["group_id", ".x", ":", "index"]),
    ("(%i)<=(4)", ["(", "%i", ")", "<=", "(", "4", ")"]),
    ("[-inf,nan]", ["[", "-inf", ",", "nan", "]"]),
    ("0x", ["0", "x"]),
    ("1e", ["1", "e"]),
    ("1.5.2", ["1.5", ".2"]),
    ("- 1", ["-", "1"]),
    ("--1", ["-", "-1"]),
    ("%-1", ["%", "-1"]),
    ("%é", ["%", "é"]),
    ("%٣", ["%", "٣"]),
    ("٣", ["٣"]),
    ("@ f", ["@", "f"]),
    ("!calc(1 2 +)", ["!calc", "(", "1", "2", "+", ")"]),
    ("!calculate", ["!", "calculate"]),
    ('"a" "b"', ['"a"', '"b"']),
    ('"a\n"', ['"', "a", '"']),
    ('"""', ['""', '"']),
    ("a;b\nc", ["a", "c"]),
    ("a;", ["a"]),
    (";;;", []),
    ('a ; "b\nc"', ["a", "c", '"']),
    ("\ta\r\n\fb\u2028c", ["a", "b", "c"]),
]


@pytest.mark.parametrize(("text", "values"), SEQUENCES)
def test_several_tokens(text: str, values: list[str]) -> None:
    assert [value for _, value in tokens(text)] == values


def test_offsets() -> None:
    lexer = Lexer("  ab ; c\n %1 ")
    assert (lexer.previous_end, lexer.start, lexer.end) == (0, 2, 4)
    lexer.advance()
    assert (lexer.previous_end, lexer.start, lexer.end) == (4, 10, 12)
    lexer.advance()
    assert (lexer.kind, lexer.previous_end, lexer.start, lexer.end) == (END, 12, 13, 13)
    lexer.advance()
    assert (lexer.kind, lexer.value, lexer.start) == (END, "", 13)


def test_moving() -> None:
    lexer = Lexer("a bc d")
    lexer.move_to(3)
    assert (lexer.value, lexer.previous_end, lexer.start) == ("c", 3, 3)
    lexer.move_to(4)
    assert (lexer.value, lexer.previous_end, lexer.start) == ("d", 4, 5)
