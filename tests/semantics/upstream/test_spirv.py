"""Functions of MLIR's own `spirv` dialect on the reference device, against numpy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.semantics.upstream.kernels import DTYPES, elementwise, kernel, run
from xtile.dialects.spirv.mathematics import FUNCTIONS
from xtile.semantics.errors import ExecutionError
from xtile.semantics.upstream.spirv import HANDLERS

WITHOUT_MEANING = {
    "GL.Cross",
    "GL.FindILsb",
    "GL.FindSMsb",
    "GL.FindUMsb",
    "GL.Normalize",
    "GL.Reflect",
}


def _away(x: Any) -> Any:
    return np.trunc(x + np.copysign(0.5, x))


_FLOATS: dict[str, Callable[..., Any]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "ceil": np.ceil,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": np.vectorize(math.erf),
    "exp": np.exp,
    "exp2": np.exp2,
    "fabs": np.abs,
    "fclamp": lambda x, low, high: np.fmin(np.fmax(x, low), high),
    "floor": np.floor,
    "fma": lambda a, b, c: a * b + c,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fract": lambda x: x - np.floor(x),
    "fsign": np.sign,
    "inversesqrt": lambda x: 1 / np.sqrt(x),
    "log": np.log,
    "log2": np.log2,
    "mix": lambda x, y, a: x + (y - x) * a,
    "pow": np.power,
    "rint": np.rint,
    "round": _away,
    "roundeven": np.rint,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
}

_INTEGERS: dict[str, Callable[..., Any]] = {
    "s_abs": np.abs,
    "sabs": np.abs,
    "s_max": np.maximum,
    "smax": np.maximum,
    "s_min": np.minimum,
    "smin": np.minimum,
    "sclamp": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "ssign": np.sign,
    "u_max": lambda a, b: np.maximum(_unsigned(a), _unsigned(b)),
    "umax": lambda a, b: np.maximum(_unsigned(a), _unsigned(b)),
    "u_min": lambda a, b: np.minimum(_unsigned(a), _unsigned(b)),
    "umin": lambda a, b: np.minimum(_unsigned(a), _unsigned(b)),
    "uclamp": lambda x, low, high: np.minimum(
        np.maximum(_unsigned(x), _unsigned(low)), _unsigned(high)
    ),
}


def _unsigned(value: Any) -> Any:
    return value.view(f"u{value.itemsize}")


def _cases() -> list[tuple[str, str]]:
    types = ("f16", "f32", "f64", "i8", "i16", "i32", "i64")
    return [
        (name, type)
        for name, function in FUNCTIONS.items()
        for type in types
        if type in function.numbers.types and name not in WITHOUT_MEANING
    ]


def test_every_function_has_a_meaning() -> None:
    named = {name.removeprefix("spirv.") for name in HANDLERS}
    assert named == set(FUNCTIONS) - WITHOUT_MEANING


@pytest.mark.parametrize(("name", "type"), _cases())
def test_it_computes_what_numpy_does(name: str, type: str) -> None:
    random = np.random.default_rng(fresh_seed())
    short, count = name.partition(".")[2].lower(), FUNCTIONS[name].operands
    dtype = np.dtype(DTYPES[type])
    text = f"spirv.{name} {', '.join(f'{{{i}}}' for i in range(count))} : {type}"
    if dtype.kind == "f":
        # From 1 on, acosh is defined, and up to 1 acos is.
        low, high = (1.0, 4.0) if short == "acosh" else (0.01, 0.99)
        operands = [random.uniform(low, high, 64).astype(dtype) for _ in range(count)]
        if short in ("rint", "round", "roundeven", "ceil", "floor", "fabs", "fract", "fsign"):
            operands = [(random.integers(-20, 21, 64) / 4).astype(dtype)]
        if short == "fclamp":
            operands[1:] = [np.minimum(*operands[1:]), np.maximum(*operands[1:])]
        expected = _FLOATS[short](*(operand.astype(np.float64) for operand in operands))
        result = elementwise(text, operands, [type] * count, type)
        epsilon = float(np.finfo(dtype).eps)
        # The steps of a blend are rounded one by one.
        np.testing.assert_allclose(
            result.astype(np.float64), expected, rtol=4 * epsilon, atol=4 * epsilon
        )
        return
    information = np.iinfo(dtype)
    operands = [
        random.integers(information.min, information.max, 64, dtype, endpoint=True)
        for _ in range(count)
    ]
    expected = _INTEGERS[short](*operands).astype(dtype)
    np.testing.assert_array_equal(elementwise(text, operands, [type] * count, type), expected)


def test_the_maximum_is_the_number_where_one_is_none() -> None:
    a = np.array([np.nan, 1.0, np.nan, -np.inf], np.float32)
    b = np.array([2.0, np.nan, np.nan, np.inf], np.float32)
    largest = elementwise("spirv.CL.fmax {0}, {1} : f32", [a, b], ["f32", "f32"], "f32")
    smallest = elementwise("spirv.CL.fmin {0}, {1} : f32", [a, b], ["f32", "f32"], "f32")
    np.testing.assert_array_equal(largest, np.array([2.0, 1.0, np.nan, np.inf], np.float32))
    np.testing.assert_array_equal(smallest, np.array([2.0, 1.0, np.nan, -np.inf], np.float32))


def test_vectors() -> None:
    random = np.random.default_rng(fresh_seed())
    a, b = random.normal(size=(2, 8)).astype(np.float32)
    out = np.full(8, np.nan, np.float32)
    body = """
      %c0 = arith.constant 0 : index
      %0 = vector.load %a[%c0] : memref<8xf32>, vector<8xf32>
      %1 = vector.load %b[%c0] : memref<8xf32>, vector<8xf32>
      %2 = spirv.CL.fmax %0, %1 : vector<8xf32>
      vector.store %2, %o[%c0] : memref<8xf32>, vector<8xf32>
    """
    run(kernel("%a: memref<8xf32>, %b: memref<8xf32>, %o: memref<8xf32>", body), a, b, out)
    np.testing.assert_array_equal(out, np.maximum(a, b))


@pytest.mark.parametrize(
    "line",
    [
        "%r = spirv.GL.Normalize %x : f32",
        '%r = "spirv.FAdd"(%x, %x) : (f32, f32) -> f32',
        '%r = "spirv.CL.exp2"(%x) : (f32) -> f32',
    ],
)
def test_other_operations_are_refused_at_their_place(line: str) -> None:
    with pytest.raises(ExecutionError) as caught:
        run(kernel("%x: f32", line), np.float32(1.0))
    assert "spirv." in str(caught.value)
