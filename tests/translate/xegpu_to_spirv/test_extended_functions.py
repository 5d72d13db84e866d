"""Functions that kernels call by MLIR's own `spirv` dialect, on OpenCL's CPU device."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.semantics.upstream.kernels import DTYPES
from tests.translate.xegpu_to_spirv.elementwise_kernels import COUNT, on_numbers, operands
from tests.translate.xegpu_to_spirv.lane_kernels import (
    LaneKernel,
    LaneKernels,
    spirv_text,
    unwritten,
    validate,
)
from xtile.dialects.spirv.mathematics import FUNCTIONS
from xtile.text.diagnostics import DiagnosticError

LENGTH = 8
"""The length of vectors."""

_TYPES = ("f16", "f32", "f64", "i8", "i16", "i32", "i64")

_CASES = [
    (name, type)
    for name, type in product(FUNCTIONS, _TYPES)
    if name.startswith("CL.") and type in FUNCTIONS[name].numbers.types
]


def _line(name: str, operand: str, shape: str) -> str:
    values = ", ".join(operand.format(i) for i in range(FUNCTIONS[name].operands))
    return f"spirv.{name} {values} : {shape}"


def _vectors(name: str, type: str) -> LaneKernel:
    count = FUNCTIONS[name].operands
    shape = f"memref<{COUNT}x{type}>"
    vector = f"vector<{LENGTH}x{type}>"
    loads = [f"%v{i} = vector.load %p{i}[%f] : {shape}, {vector}" for i in range(count)]
    body = [
        "%x = gpu.global_id x",
        f"%length = arith.constant {LENGTH} : index",
        "%f = arith.muli %x, %length : index",
        *loads,
        f"%r = {_line(name, '%v{}', vector)}",
        f"vector.store %r, %out[%f] : {shape}, {vector}",
    ]
    parameters = [*(f"%p{i}: {shape}" for i in range(count)), f"%out: {shape}"]
    return LaneKernel(", ".join(parameters), "\n".join(body), (1, 1, 1))


def _numbers(name: str, type: str) -> LaneKernel:
    count = FUNCTIONS[name].operands
    return on_numbers(_line(name, "{{{}}}", f"<<{type}>>"), (type,) * count, type)


def _key(name: str, type: str) -> str:
    return f"{name.partition('.')[2]}_{type}"


@pytest.fixture(scope="module")
def numbers() -> LaneKernels:
    return LaneKernels({_key(*case): _numbers(*case) for case in _CASES})


@pytest.fixture(scope="module")
def vectors() -> LaneKernels:
    return LaneKernels({_key(*case): _vectors(*case) for case in _CASES})


@pytest.mark.parametrize(("name", "type"), _CASES)
def test_numbers(name: str, type: str, numbers: LaneKernels) -> None:
    _check(name, type, numbers, COUNT // 64)


@pytest.mark.parametrize(("name", "type"), _CASES)
def test_vectors(name: str, type: str, vectors: LaneKernels) -> None:
    _check(name, type, vectors, COUNT // LENGTH)


_ULPS = {"atan2": 6, "erf": 16, "pow": 16, "tan": 5, "tanh": 5, "atan": 5, "atanh": 5}
"""Units in the last place that a device may be off (OpenCL C 3.0, 7.4), if more than 4."""


def _check(name: str, type: str, kernels: LaneKernels, groups: int) -> None:
    random = np.random.default_rng(fresh_seed())
    dtype = np.dtype(DTYPES[type])
    count = FUNCTIONS[name].operands
    short = name.partition(".")[2]
    if short == "mix":
        # A blend may be contracted, so that numbers of one size are as near as their roundings.
        given: list[Any] = [random.uniform(0, 1, COUNT).astype(dtype) for _ in range(count)]
    else:
        given = operands(random, (type,) * count, COUNT)
    *_, (expected, found) = kernels.on_both(
        _key(name, type), *given, unwritten(COUNT, type), grid=(groups, 1, 1)
    )
    if dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    # f16 is computed in f32, except for what is exact; 1 is what the reference device may be off.
    units = (_ULPS.get(short, 4) if type != "f16" or short == "mix" else 1) + 1
    epsilon = float(np.finfo(dtype).eps)
    with np.errstate(all="ignore"):
        near = np.isclose(
            found.astype(np.float64),
            expected.astype(np.float64),
            rtol=units * epsilon,
            atol=units * (epsilon if short == "mix" else float(np.finfo(dtype).smallest_subnormal)),
            equal_nan=True,
        )
    locations = np.flatnonzero(~near)[:5]
    assert near.all(), [(*[array[i] for array in given], found[i], expected[i]) for i in locations]


def test_modules_are_valid(numbers: LaneKernels, vectors: LaneKernels) -> None:
    validate(numbers.program.spirv)
    validate(vectors.program.spirv)


_BODY = """
    %c0 = arith.constant 0 : index
    %x = memref.load %a[%c0] : memref<4xf32>
    %r = spirv.{line}
    memref.store %r, %a[%c0] : memref<4xf32>
"""


@pytest.mark.parametrize("name", ["fmax", "log", "rsqrt", "fma", "mix"])
def test_it_is_the_instruction_of_that_name(name: str) -> None:
    values = ", ".join(["%x"] * FUNCTIONS[f"CL.{name}"].operands)
    text = spirv_text(_BODY.format(line=f"CL.{name} {values} : f32"), "%a: memref<4xf32>")
    assert text.count("OpExtInst ") == 1
    assert f" {name} " in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "GL.FMax %x, %x : f32",
            "function of GLSL.std.450, which kernels for OpenCL cannot call; write spirv.CL.fmax",
        ),
        ("GL.Normalize %x : f32", "which kernels for OpenCL cannot call"),
    ],
)
def test_functions_of_glsl_are_refused(line: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        spirv_text(_BODY.format(line=line), "%a: memref<4xf32>")
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.span is not None
