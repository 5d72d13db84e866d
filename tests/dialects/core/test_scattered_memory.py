"""The text of operations for tiles' memory, and what their verifier refuses."""

from __future__ import annotations

from io import StringIO

import pytest

from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source

PARAMETERS = (
    "%m: memref<4x8xf32>, %c: memref<4x8xcomplex<f32>>, "
    "%d: memref<?x?xcomplex<f64>, strided<[?, 2], offset: ?>>, %i: index, "
    "%v: vector<8xf32>, %p: vector<8xindex>, %mask: vector<8xi1>, %w: vector<4xf32>"
)

RIGHT = [
    (
        "%r = core.complex_part real %c : memref<4x8xcomplex<f32>> "
        "to memref<4x8xf32, strided<[16, 2]>>"
    ),
    (
        "%r = core.complex_part imaginary %c : memref<4x8xcomplex<f32>> "
        "to memref<4x8xf32, strided<[16, 2], offset: 1>>"
    ),
    (
        "%r = core.complex_part imaginary %d "
        ": memref<?x?xcomplex<f64>, strided<[?, 2], offset: ?>> "
        "to memref<?x?xf64, strided<[?, 4], offset: ?>>"
    ),
]

WRONG = [
    (
        "%r = core.complex_part real %m : memref<4x8xf32> to memref<4x8xf32>",
        "expected a memref of complex numbers, got memref<4x8xf32>",
    ),
    (
        "%r = core.complex_part real %c : memref<4x8xcomplex<f32>> to memref<4x8xf32>",
        "expected the type memref<4x8xf32, strided<[16, 2]>>, got memref<4x8xf32>",
    ),
]


def verified(line: str) -> tuple[str, list[str]]:
    """The text of a function that is read and printed again, and the errors in it."""
    text = f"func.func @f({PARAMETERS}) {{\n{line}\nreturn\n}}\n"
    diagnostics = Diagnostics()
    module = read_mlir(Source("k.mlir", text), diagnostics, make_context())
    assert module is not None, diagnostics.render()
    verify_module(module, diagnostics)
    output = StringIO()
    print_mlir(module, output)
    return output.getvalue(), [diagnostic.message for diagnostic in diagnostics]


@pytest.mark.parametrize("line", RIGHT)
def test_round_trip(line: str) -> None:
    text, errors = verified(line)
    assert errors == []
    assert line in text


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_errors(line: str, message: str) -> None:
    _, (error,) = verified(line)
    assert message in error
