"""Functions of libraries and inline assembly."""

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


def _assembled(text: str, operands: list[Any], types: str, results: list[str], pack: int) -> Any:
    values = ", ".join(f"%{i}" for i in range(len(operands)))
    made = ", ".join(f"%r{i}" for i in range(len(results)))
    shaped = ", ".join(f"tensor<{_COUNT}x{each}>" for each in results)
    body = (
        f'{made} = tt.elementwise_inline_asm "{text}" {{constraints = "", packed_element = '
        f"{pack} : i32, pure = true}} {values} : {types} -> {shaped}"
    )
    return computed(body, operands, [((_COUNT,), each) for each in results])


@pytest.mark.parametrize("text", ["shl.b32 $0, $1, 3;", "v_lshlrev_b32 $0, 3, $1"])
def test_shift(text: str) -> None:
    n = fresh_generator().integers(-(2**31), 2**31, _COUNT, np.int32)
    (found,) = _assembled(text, [n], f"tensor<{_COUNT}xi32>", ["i32"], 1)
    np.testing.assert_array_equal(found, n << 3)


def test_shift_of_four_bytes_at_once() -> None:
    """A register holds four bytes, and what leaves one enters the next."""
    n = fresh_generator().integers(-128, 128, _COUNT, np.int8)
    (found,) = _assembled("shl.b32 $0, $1, 3;", [n], f"tensor<{_COUNT}xi8>", ["i8"], 4)
    expected = (n.view(np.uint32) << np.uint32(3)).view(np.int8)
    np.testing.assert_array_equal(found, expected)


def _reciprocal_root(x: Any) -> Any:
    return 1 / np.sqrt(x)


def test_approximations() -> None:
    x = fresh_generator().uniform(0.1, 4.0, _COUNT).astype(np.float32)
    functions: dict[str, Callable[[Any], Any]] = {
        "ex2.approx.ftz.f32 $0, $1;": np.exp2,
        "tanh.approx.f32 $0, $1;": np.tanh,
        "v_rcp_f32 $0, $1": np.reciprocal,
        "rsqrt.approx.f32 $0, $1;": _reciprocal_root,
    }
    for text, function in functions.items():
        (found,) = _assembled(text, [x], _VALUES, ["f32"], 1)
        np.testing.assert_allclose(found, function(x.astype(np.float64)), rtol=1e-6)


def test_several_instructions_with_registers_of_their_own() -> None:
    """Bytes become floats, of which and of others the larger ones are taken."""
    n = fresh_generator().integers(0, 128, _COUNT, np.int8)
    x = fresh_generator().uniform(0, 128, _COUNT).astype(np.float32)
    text = (
        "{ .reg .b8 t<4>; mov.b32 {t0, t1, t2, t3}, $8; "
        + " ".join(f"cvt.u32.u8 ${i}, t{i};" for i in range(4))
        + " }{ "
        + " ".join(f"cvt.rn.f32.s32 ${4 + i}, ${i};" for i in range(4))
        + " ".join(f"max.f32 ${4 + i}, ${4 + i}, ${9 + i};" for i in range(4))
        + " }"
    )
    types = f"tensor<{_COUNT}xi8>, {_VALUES}"
    whole, largest = _assembled(text, [n, x], types, ["i32", "f32"], 4)
    np.testing.assert_array_equal(whole, n)
    np.testing.assert_array_equal(largest, np.maximum(n.astype(np.float32), x))


def test_truth_table_and_comparison() -> None:
    a, b = fresh_generator().integers(-(2**31), 2**31, (2, _COUNT), np.int32)
    types = ", ".join([f"tensor<{_COUNT}xi32>"] * 2)
    # (a & 0x0f0f0f0f) | b
    (found,) = _assembled("lop3.b32 $0, $1, 0x0f0f0f0f, $2, 0xea;", [a, b], types, ["i32"], 1)
    np.testing.assert_array_equal(found, (a & 0x0F0F0F0F) | b)
    text = "{ .reg .pred p; setp.lt.s32 p, $1, $2; selp.b32 $0, $1, $2, p; }"
    (found,) = _assembled(text, [a, b], types, ["i32"], 1)
    np.testing.assert_array_equal(found, np.minimum(a, b))


def test_instruction_that_is_not_known() -> None:
    body = (
        '%r0 = tt.elementwise_inline_asm "dp4a.s32.s32 $0, $1, $1, $1;" {constraints = "=r,r", '
        f"packed_element = 1 : i32, pure = true}} %0 : tensor<{_COUNT}xi32> -> "
        f"tensor<{_COUNT}xi32>"
    )
    module, arrays = kernel(body, [np.zeros(_COUNT, np.int32)], [((_COUNT,), "i32")])
    with pytest.raises(DiagnosticError, match=r"'dp4a.s32.s32 \$0, \$1, \$1, \$1' is not known"):
        xtile.run(module, arrays)
