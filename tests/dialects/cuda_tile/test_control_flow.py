"""Conditions and loops: text that is right, and what is refused."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.kernel_text import errors_in, printed_lines, round_trip

RIGHT = [
    "if %c {\n}",
    "if %c {\n} else {\n}",
    (
        "%r:2 = if %c -> (tile<i32>, token) {\n  yield %i, %t : tile<i32>, token\n} else "
        "{\n  return\n}"
    ),
    "for %k in (%i to %i, step %i) : tile<i32> {\n}",
    ("for unsigned %k in (%l to %l, step %l) : tile<i64> {\n  if %c {\n    continue\n  }\n}"),
    (
        "%r = for %k in (%i to %i, step %i) : tile<i32> iter_values(%a = %x) -> "
        "(tile<8xf32>) {\n  continue %a : tile<8xf32>\n}"
    ),
    "loop {\n  break\n}",
    "loop {\n  if %c {\n    break\n  } else {\n    continue\n  }\n}",
    "loop {\n  return\n}",
    "loop {\n  if %c {\n    return\n  }\n}",
    "%r = loop : tile<i32> {\n  break %i : tile<i32>\n}",
    (
        "loop iter_values(%a = %x, %b = %t) : tile<8xf32>, token {\n  continue %a, %b : "
        "tile<8xf32>, token\n}"
    ),
    (
        "%r:2 = loop iter_values(%a = %x) : tile<8xf32> -> tile<8xf32>, tile<i32> {\n  break "
        "%a, %i : tile<8xf32>, tile<i32>\n}"
    ),
]


@pytest.mark.parametrize("lines", RIGHT)
def test_text_is_printed_as_it_was_read(lines: str) -> None:
    assert printed_lines(lines) == lines
    assert round_trip(lines).count("\n") == lines.count("\n")


WRONG = [
    (
        "if %c { break }",
        (
            "'cuda_tile.break': it must stand in 'cuda_tile.loop', with nothing but 'cuda_tile.if' "
            "between them, but found 'cuda_tile.testing$func'"
        ),
    ),
    (
        "if %c { continue }",
        (
            "'cuda_tile.continue': it must stand in 'cuda_tile.for' or 'cuda_tile.loop', with "
            "nothing but 'cuda_tile.if' between them, but found 'cuda_tile.testing$func'"
        ),
    ),
    (
        (
            "for %k in (%i to %i, step %i) : tile<i32> iter_values(%a = %x) -> (tile<8xf32>) { "
            "continue }"
        ),
        (
            "'cuda_tile.continue': what the loop carries on must be !cuda_tile.tile<8xf32>, but is "
            "nothing"
        ),
    ),
    (
        "for %k in (%i to %i, step %i) : tile<i32> iter_values(%a = %x) -> (tile<8xf32>) { }",
        (
            "'cuda_tile.continue': what the loop carries on must be !cuda_tile.tile<8xf32>, but is "
            "nothing"
        ),
    ),
    (
        "for %k in (%i to %i, step %i) : tile<i32> { break }",
        (
            "'cuda_tile.for': the region must end with 'cuda_tile.continue', not with "
            "'cuda_tile.break'"
        ),
    ),
    (
        "for %k in (%x to %x, step %x) : tile<8xf32> { }",
        (
            "'cuda_tile.for': operand 'lower_bound' at position 0 does not verify: expected a "
            "scalar "
            "tile of i1, i8, i16, i32 or i64, but got !cuda_tile.tile<8xf32>"
        ),
    ),
    (
        (
            "for %k in (%i to %i, step %i) : tile<i32> iter_values(%a = %tv) -> "
            "(tensor_view<?x64xf32, strides=[?,1]>) { continue %a : tensor_view<?x64xf32, "
            "strides=[?,1]> }"
        ),
        (
            "'cuda_tile.for': carried value 0 must not be a view, but is "
            "!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>"
        ),
    ),
    (
        (
            "for %k in (%i to %i, step %i) : tile<i32> iter_values(%a = %x, %b = %x) -> "
            "(tile<8xf32>) { }"
        ),
        "expected 2 types, one for each value, got 1",
    ),
    (
        "%r = loop iter_values(%a = %x) : tile<8xf32> -> tile<i32> { break %a : tile<8xf32> }",
        (
            "'cuda_tile.break': what leaves the loop must be !cuda_tile.tile<i32>, but is "
            "!cuda_tile.tile<8xf32>"
        ),
    ),
    (
        "%r = loop iter_values(%a = %x) : tile<8xf32> -> tile<i32> { continue %i : tile<i32> }",
        (
            "'cuda_tile.continue': what the loop carries on must be !cuda_tile.tile<8xf32>, but is "
            "!cuda_tile.tile<i32>"
        ),
    ),
    (
        "loop { yield }",
        (
            "'cuda_tile.loop': the region must end with 'cuda_tile.continue' or 'cuda_tile.break' "
            "or 'cuda_tile.return', not with 'cuda_tile.yield'"
        ),
    ),
    (
        "loop { for %k in (%i to %i, step %i) : tile<i32> { if %c { break } } }",
        (
            "'cuda_tile.break': it must stand in 'cuda_tile.loop', with nothing but 'cuda_tile.if' "
            "between them, but found 'cuda_tile.for'"
        ),
    ),
    (
        "%r = if %c -> (tile<i32>) { yield %i : tile<i32> }",
        "'cuda_tile.if': an 'if' with results must have an else branch",
    ),
    (
        "%r = if %c -> (tile<i32>) { yield %i : tile<i32> } else { yield %x : tile<8xf32> }",
        (
            "'cuda_tile.if': what the else branch yields must be !cuda_tile.tile<i32>, but is "
            "!cuda_tile.tile<8xf32>"
        ),
    ),
    (
        "%r = if %c -> (tile<i32>) { yield %i : tile<i32> } else { }",
        "'cuda_tile.if': what the else branch yields must be !cuda_tile.tile<i32>, but is nothing",
    ),
    (
        "if %c { yield %i : tile<i32> }",
        "'cuda_tile.if': what the then branch yields must be nothing, but is !cuda_tile.tile<i32>",
    ),
    (
        "if %m { }",
        (
            "operand is used with type !cuda_tile.tile<i1>, but has been previously used or "
            "defined "
            "with type !cuda_tile.tile<8xi1>"
        ),
    ),
    (
        (
            "%r = if %c -> (tensor_view<?x64xf32, strides=[?,1]>) { yield %tv : "
            "tensor_view<?x64xf32, strides=[?,1]> } else { return }"
        ),
        (
            "'cuda_tile.if': result 0 must not be a view, but is !cuda_tile.tensor_view<?x64xf32, "
            "strides=[?,1]>"
        ),
    ),
    (
        "for %k in (%i to %i, step %i) : tile<i32> { if %c { return } }",
        (
            "'cuda_tile.return': it must stand in 'cuda_tile.entry', with nothing but "
            "'cuda_tile.if' or 'cuda_tile.loop' between them, but found 'cuda_tile.for'"
        ),
    ),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_what_is_wrong_is_said_where_it_stands(line: str, message: str) -> None:
    assert (message, 1) in errors_in(line)
