"""Reductions and scans: what their operands, identities and regions must be."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.numbers_text import errors, printed, read

TILES = (
    "%x: !cuda_tile.tile<8x4xf32>, %y: !cuda_tile.tile<8x4xi32>, %z: !cuda_tile.tile<4x8xi32>, "
    "%h: !cuda_tile.tile<8xf16>, %s: !cuda_tile.tile<f32>"
)
ONE = "%x : tile<8x4xf32>"
TWO = "%x, %y : tile<8x4xf32>, tile<8x4xi32>"
ZERO = "0.000000e+00 : f32"
ZEROS = f"{ZERO}, 0 : i32"
ARGUMENTS = "(%a: tile<f32>, %b: tile<f32>)"
SUM = "%c = addf %a, %b : tile<f32>\n    yield %c : tile<f32>"
TWO_ARGUMENTS = "(%a: tile<f32>, %b: tile<f32>, %c: tile<i32>, %d: tile<i32>)"
TWO_SUMS = "yield %a, %c : tile<f32>, tile<i32>"


def program(
    sources: str = ONE,
    results: str = "tile<4xf32>",
    *,
    name: str = "reduce",
    dim: str = "0",
    identities: str = ZERO,
    arguments: str = ARGUMENTS,
    body: str = SUM,
) -> str:
    """A function that holds a reduction or a scan, in the second line."""
    operands, types = sources.split(" : ")
    order = " reverse=false" if name == "scan" else ""
    return (
        f"func.func @f({TILES}) {{\n"
        f"  %r = cuda_tile.{name} {operands} dim={dim}{order} identities=[{identities}] : {types} "
        f"-> {results}\n  {arguments} {{\n    {body}\n  }}\n  return\n}}\n"
    )


RIGHT = {
    "reduce": program(),
    "reduce of dimension 1": program(results="tile<8xf32>", dim="1"),
    "scan": program(results="tile<8x4xf32>", name="scan"),
    "bf16 stands for f16": program(
        "%h : tile<8xf16>",
        "tile<f16>",
        identities="0.000000e+00 : bf16",
        arguments="(%a: tile<f16>, %b: tile<f16>)",
        body="%c = addf %a, %b : tile<f16>\n    yield %c : tile<f16>",
    ),
    "division": program(
        body="%i = constant <i32: 1> : tile<i32>\n    %d = divi %i, %i signed : tile<i32>\n"
        "    yield %a : tile<f32>"
    ),
    "conditions": program(
        body="%p = cmpf less_than ordered %a, %b : tile<f32> -> tile<i1>\n"
        "    %d = if %p -> (tile<f32>) {\n    yield %a : tile<f32>\n"
        "    } else {\n    yield %b : tile<f32>\n    }\n    yield %d : tile<f32>"
    ),
    "constants and selections": program(
        body="%c = constant <f32: 1.000000e+00> : tile<f32>\n"
        "    %p = cmpf less_than ordered %a, %b : tile<f32> -> tile<i1>\n"
        "    %q = select %p, %a, %c : tile<i1>, tile<f32>\n    yield %q : tile<f32>"
    ),
}

WRONG = {
    program(dim="2"): "'cuda_tile.reduce': expected dim to be a dimension of "
    "!cuda_tile.tile<8x4xf32>, counted from 0, but got 2",
    program("%s : tile<f32>", "tile<f32>"): "'cuda_tile.reduce': expected dim to be a dimension "
    "of !cuda_tile.tile<f32>, counted from 0, but got 0",
    program(results="tile<8xf32>"): "'cuda_tile.reduce': expected result 0 to be "
    "!cuda_tile.tile<4xf32>, but got !cuda_tile.tile<8xf32>",
    program(name="scan"): "'cuda_tile.scan': expected result 0 to be !cuda_tile.tile<8x4xf32>, "
    "but got !cuda_tile.tile<4xf32>",
    program(identities=ZEROS): "'cuda_tile.reduce': expected 1 identities, one for each tile, but "
    "got 2",
    program(identities="0 : i32"): "'cuda_tile.reduce': expected identity 0 to be of f32, got "
    "0 : i32",
    program(identities='"zero"'): "'cuda_tile.reduce': expected identity 0 to be of f32, got "
    '"zero"',
    program(arguments="(%a: tile<f32>)", body="yield %a : tile<f32>"): "'cuda_tile.reduce': "
    "expected 2 arguments of the region, two for each tile, but got 1",
    program(
        arguments="(%a: tile<f32>, %b: tile<i32>)", body="yield %a : tile<f32>"
    ): "'cuda_tile.reduce': expected argument 1 of the region to be !cuda_tile.tile<f32>, but got "
    "!cuda_tile.tile<i32>",
    program(
        arguments="(%a: tile<1xf32>, %b: tile<1xf32>)", body="yield %a : tile<1xf32>"
    ): "'cuda_tile.reduce': expected argument 0 of the region to be !cuda_tile.tile<f32>, but got "
    "!cuda_tile.tile<1xf32>",
    program(body=""): "'cuda_tile.reduce': expected the region to yield 1 values, one for each "
    "tile, but it yields 0",
    program(body="%i = constant <i32: 1> : tile<i32>\n    yield %i : tile<i32>"): "'cuda_tile."
    "reduce': expected the region to yield !cuda_tile.tile<f32> for tile 0, but it yields "
    "!cuda_tile.tile<i32>",
}

WRONG_PAIRS = {
    "%x, %z : tile<8x4xf32>, tile<4x8xi32>": (
        "tile<4xf32>, tile<4xi32>",
        (
            "expected tiles of one shape, but got !cuda_tile.tile<8x4xf32> and "
            "!cuda_tile.tile<4x8xi32>"
        ),
    ),
    TWO: (
        "tile<4xf32>, tile<4xf32>",
        "expected result 1 to be !cuda_tile.tile<4xi32>, but got !cuda_tile.tile<4xf32>",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right(name: str) -> None:
    module = read(RIGHT[name])
    text = printed(module)
    assert text == printed(read(text))
    assert text == printed(read(printed(module, generic=True)))


def test_two_tiles() -> None:
    text = program(
        TWO, "tile<4xf32>, tile<4xi32>", identities=ZEROS, arguments=TWO_ARGUMENTS, body=TWO_SUMS
    ).replace("%r =", "%r:2 =")
    assert "%r:2 = cuda_tile.reduce %x, %y dim=0 " in printed(read(text))


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_what_is_wrong(text: str, message: str) -> None:
    assert errors(text) == [message]


@pytest.mark.parametrize(("sources", "wrong"), WRONG_PAIRS.items())
def test_what_is_wrong_with_two_tiles(sources: str, wrong: tuple[str, str]) -> None:
    results, message = wrong
    text = program(
        sources, results, identities=ZEROS, arguments=TWO_ARGUMENTS, body=TWO_SUMS
    ).replace("%r =", "%r:2 =")
    assert errors(text) == [f"'cuda_tile.reduce': {message}"]


@pytest.mark.parametrize(
    "operation",
    [
        "%d = assume div_by<1>, %i : tile<i32>",
        '"some.operation"() : () -> ()',
        '%t = print_tko "x" -> token',
    ],
)
def test_operations_with_effects(operation: str) -> None:
    body = f"%i = constant <i32: 1> : tile<i32>\n    {operation}\n    yield %a : tile<f32>"
    text = program(body=body)
    (message,) = errors(text, line=5)
    assert message.endswith(
        "only operations without effects may stand in the region of 'cuda_tile.reduce'"
    )
