"""Functions of libraries."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.triton.programs import computed, kernel
from xtile.text.diagnostics import DiagnosticError

_COUNT = 64

_VALUES = f"tensor<{_COUNT}xf32>"


def _called(symbol: str, operands: list[Any], result: str) -> Any:
    names: dict[np.dtype[Any], str] = {
        np.dtype(np.float32): "f32",
        np.dtype(np.float64): "f64",
        np.dtype(np.int32): "i32",
    }
    names[np.dtype(np.int64)] = "i64"
    types = ", ".join(f"tensor<{_COUNT}x{names[each.dtype]}>" for each in operands)
    values = ", ".join(f"%{i}" for i in range(len(operands)))
    body = (
        f'%r0 = tt.extern_elementwise {values} {{libname = "", libpath = "", pure = true, '
        f'symbol = "{symbol}"}} : ({types}) -> tensor<{_COUNT}x{result}>'
    )
    (found,) = computed(body, operands, [((_COUNT,), result)])
    return found


_OF_ONE: dict[str, Callable[[float], float]] = {
    "acos": math.acos,
    "asinh": math.asinh,
    "cbrt": np.cbrt,
    "cos": math.cos,
    "erf": math.erf,
    "erfc": math.erfc,
    "erfinv": lambda x: _inverse_error(x),
    "exp10": lambda x: 10.0**x,
    "expm1": math.expm1,
    "lgamma": math.lgamma,
    "log1p": math.log1p,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "sinpi": lambda x: math.sin(math.pi * x),
    "tanh": math.tanh,
    "tgamma": math.gamma,
    "trunc": math.trunc,
}


def _inverse_error(x: float) -> float:
    """By bisection, as slow as it is sure."""
    low, high = -10.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < x else (low, middle)
    return low


@pytest.mark.parametrize("name", _OF_ONE)
@pytest.mark.parametrize("pattern", ["__nv_{}f", "__ocml_{}_f32"])
def test_functions_of_one(name: str, pattern: str) -> None:
    x = fresh_generator().uniform(0.01, 0.99, _COUNT).astype(np.float32)
    expected = np.array([float(_OF_ONE[name](float(each))) for each in x])
    np.testing.assert_allclose(_called(pattern.format(name), [x], "f32"), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("symbol", "function"),
    [
        ("__nv_atan2f", np.arctan2),
        ("__nv_powf", np.power),
        ("__ocml_hypot_f32", np.hypot),
        ("__nv_fast_fdividef", np.divide),
        ("__nv_fmodf", np.fmod),
        ("__nv_fadd_rn", np.add),
        ("__ocml_copysign_f32", np.copysign),
        ("__nv_nextafterf", np.nextafter),
    ],
)
def test_functions_of_two(symbol: str, function: Callable[..., Any]) -> None:
    x, y = fresh_generator().uniform(0.5, 4.0, (2, _COUNT)).astype(np.float32)
    np.testing.assert_allclose(_called(symbol, [x, y], "f32"), function(x, y), rtol=2e-6)


def test_functions_of_integers_and_tests() -> None:
    n = fresh_generator().integers(-(2**31), 2**31, _COUNT, np.int32)
    n[:3] = 0, 1, -1
    bits = [f"{int(each) & 0xFFFFFFFF:032b}" for each in n]
    np.testing.assert_array_equal(_called("__nv_popc", [n], "i32"), [b.count("1") for b in bits])
    zeros = [32 if "1" not in b else b.index("1") for b in bits]
    np.testing.assert_array_equal(_called("__nv_clz", [n], "i32"), zeros)
    reversed_bits = np.array([int(b[::-1], 2) for b in bits], np.uint32).view(np.int32)
    np.testing.assert_array_equal(_called("__nv_brev", [n], "i32"), reversed_bits)
    firsts = [0 if "1" not in b else 32 - b.rindex("1") for b in bits]
    np.testing.assert_array_equal(_called("__nv_ffs", [n], "i32"), firsts)
    x = fresh_generator().standard_normal(_COUNT).astype(np.float32) * 100
    x[:3] = np.nan, np.inf, -np.inf
    np.testing.assert_array_equal(_called("__nv_isnanf", [x], "i32"), np.isnan(x))
    np.testing.assert_array_equal(_called("__nv_isinff", [x], "i32"), np.isinf(x))
    np.testing.assert_array_equal(_called("__nv_float_as_int", [x], "i32"), x.view(np.int32))
    down = _called("__nv_float2int_rd", [x], "i32")
    np.testing.assert_array_equal(down[3:], np.floor(x[3:]))


def test_function_that_is_not_known() -> None:
    body = (
        f'%r0 = tt.extern_elementwise %0 {{libname = "", libpath = "", pure = true, '
        f'symbol = "__my_function"}} : ({_VALUES}) -> {_VALUES}'
    )
    module, arrays = kernel(body, [np.zeros(_COUNT, np.float32)], [((_COUNT,), "f32")])
    with pytest.raises(DiagnosticError, match="the function '__my_function' is not known"):
        xtile.run(module, arrays)
