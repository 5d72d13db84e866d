"""What a format remembers of types lets nothing pass that it would refuse the first time."""

from __future__ import annotations

import pytest

import xtile
from xtile.text.diagnostics import DiagnosticError

MODULE = """\
cuda_tile.module @kernels {{
  entry @kernel(%f: tile<f32>, %g: tile<f64>, %i: tile<i32>) {{
    {first}
    {second}
    return
  }}
}}
"""

CASES = {
    "%x = addf %i, %i : tile<i32>": "expected a tile of f16, bf16, f32 or f64",
    "%x = addf %f, %g : tile<f32>": "operand is used with type",
    "%x = addf %f, %f : tile<f64>": "operand is used with type",
    "%x = addf %f, %f rounding<full> : tile<f32>": "expected rounding mode to be one of",
    "%x = addf %f : tile<f32>": "Expected ','",
    "%x:2 = addf %f, %f : tile<f32>": "Operation has 1 results, but was given 2 to bind.",
}


def _error(first: str, second: str) -> tuple[str, tuple[int, int]]:
    with pytest.raises(DiagnosticError) as raised:
        xtile.parse(MODULE.format(first=first, second=second), language="mlir")
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.source is not None
    assert diagnostic.span is not None
    return diagnostic.message, diagnostic.source.position(diagnostic.span.start)


@pytest.mark.parametrize("wrong", CASES)
def test_errors_after_operations_like_them(wrong: str) -> None:
    first = _error("", wrong)
    assert CASES[wrong] in first[0]
    assert _error("%y = addf %f, %f : tile<f32>", wrong) == first


def test_types_are_inferred_for_each_combination() -> None:
    lines = "".join(f"%{n} = addf %{n[0]}, %{n[0]} : tile<{t}> " for n, t in _NAMES)
    module = xtile.parse(MODULE.format(first=lines, second=""), language="mlir")
    found = [str(each.results[0].type) for each in module.walk() if each.name == "cuda_tile.addf"]
    assert found == [f"!cuda_tile.tile<{type}>" for _, type in _NAMES]


_NAMES = (("f0", "f32"), ("g0", "f64"), ("f1", "f32"), ("g1", "f64"))
