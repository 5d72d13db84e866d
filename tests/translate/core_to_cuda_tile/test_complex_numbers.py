"""Complex scalars are pairs of tiles: their functions, memory, arguments and control flow."""

from __future__ import annotations

import zlib
from itertools import product

import numpy as np
import pytest

from tests.transforms.distribute.kernels import read, run
from tests.translate.core_to_cuda_tile.entries import body_of, lowered, run_entry, tile_kernel
from tests.translate.core_to_cuda_tile.tile_functions import TileKernels, on_scalar, unwritten

_BINARY = ("add", "atan2", "div", "mul", "pow", "sub")
_REAL = ("abs", "angle", "im", "re")
_UNARY = (
    *("conj", "cos", "exp", "expm1", "log", "log1p", "neg", "rsqrt", "sign"),
    *("sin", "sqrt", "tan", "tanh"),
)
_PARTS = {"complex<f32>": "f32", "complex<f64>": "f64"}
_TOLERANCES = {"f32": 4e-6, "f64": 1e-14}
"""Of the modulus: both runs compute with the reference device's functions of real numbers, which
are combined in a few more steps here."""


def _kernel(name: str, type: str) -> tuple[tuple[str, str], tuple[str, ...], str]:
    types = (type,) * (2 if name in _BINARY else 1)
    values = ", ".join(f"{{{i}}}" for i in range(len(types)))
    result = _PARTS[type] if name in _REAL else type
    return on_scalar(f"complex.{name} {values} : {type}", types, result), types, result


_NAMES = [f"{name}_{part}" for name, part in product((*_BINARY, *_REAL, *_UNARY), _PARTS.values())]


@pytest.fixture(scope="module")
def kernels() -> TileKernels:
    made: dict[str, tuple[str, str]] = {}
    for name in _NAMES:
        function, part = name.split("_")
        made[name] = _kernel(function, f"complex<{part}>")[0]
    return TileKernels(made)


@pytest.mark.parametrize("name", _NAMES)
def test_functions(name: str, kernels: TileKernels) -> None:
    function, part = name.split("_")
    _, types, result = _kernel(function, f"complex<{part}>")
    random = np.random.default_rng(zlib.crc32(name.encode()))
    dtype = np.complex64 if part == "f32" else np.complex128
    given = [
        (random.normal(0, 1.5, 512) + 1j * random.normal(0, 1.5, 512)).astype(dtype) for _ in types
    ]
    *_, (expected, found) = kernels.on_both(name, *given, unwritten(result))
    scale = np.maximum(np.abs(expected), 1)
    # e^(b log a) multiplies the error of the logarithm by its own size.
    factor = 20 if function in ("pow", "tan", "tanh", "atan2") else 1
    assert (np.abs(expected - found) <= factor * _TOLERANCES[part] * scale).all()


def test_assembler(kernels: TileKernels) -> None:
    kernels.assemble()


@pytest.mark.parametrize("name", ["eq", "neq"])
def test_comparisons(name: str) -> None:
    types = ("complex<f32>", "complex<f32>")
    kernels = TileKernels(
        {"k": on_scalar(f"complex.{name} {{0}}, {{1}} : complex<f32>", types, "i1")}
    )
    numbers = np.array([0, 1, 1j, np.nan, complex(1, np.nan)] * 103, np.complex64)[:512]
    *_, (expected, found) = kernels.on_both("k", numbers, np.roll(numbers, 2), unwritten("i1"))
    assert np.array_equal(expected, found)


_LOOP = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = complex.constant [0.0 : f32, 1.0 : f32] : complex<f32>
    %n = memref.dim %a, %c0 : memref<?x3xcomplex<f32>>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %x) -> (complex<f32>) {
      %v = memref.load %a[%k, %c1] : memref<?x3xcomplex<f32>>
      %re = complex.re %v : complex<f32>
      %zero = arith.constant 0.0 : f32
      %yes = arith.cmpf ogt, %re, %zero : f32
      %w = scf.if %yes -> (complex<f32>) {
        %p = complex.mul %v, %i : complex<f32>
        scf.yield %p : complex<f32>
      } else {
        scf.yield %v : complex<f32>
      }
      %t = complex.add %s, %w : complex<f32>
      memref.store %t, %a[%k, %c0] : memref<?x3xcomplex<f32>>
      scf.yield %t : complex<f32>
    }
    memref.store %sum, %out[] : memref<complex<f32>>
"""


def test_memory_and_control_flow() -> None:
    parameters = "%x: complex<f32>, %a: memref<?x3xcomplex<f32>>, %out: memref<complex<f32>>"
    text = tile_kernel(parameters, _LOOP)
    random = np.random.default_rng(3)
    a = (random.normal(size=(9, 3)) + 1j * random.normal(size=(9, 3))).astype(np.complex64)
    expected, found = a.copy(), a.copy()
    sums = [np.zeros((), np.complex64) for _ in range(2)]
    run(read(text), 1 + 2j, expected, sums[0])
    run_entry(text, lowered(text), 1 + 2j, found, sums[1])
    assert np.array_equal(expected, found)
    assert np.array_equal(*sums)


def test_an_argument_is_two_numbers() -> None:
    body = "memref.store %x, %out[] : memref<complex<f64>>"
    module = lowered(tile_kernel("%x: complex<f64>, %out: memref<complex<f64>>", body))
    lines = body_of(module)
    stores = [line for line in lines if "store_ptr_tko" in line]
    assert len(stores) == 2
    assert ", %x :" in stores[0]
    assert ", %x_im " in stores[1]
