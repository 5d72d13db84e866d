"""Tiles in other shapes, parts of tiles, positions, gathers, and scalars among them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.distribute.kernels import read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_function,
    tile_kernel,
)
from xtile.targets import NVIDIA
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.core_to_cuda_tile import translate_module

_V = "vector<4x8xf32>"

_OPERATIONS = {
    "broadcast_scalar": (
        (
            "%s = memref.load %a[%c0, %n] : memref<4x8xf32>\n"
            "%r = vector.broadcast %s : f32 to vector<2x4xf32>"
        ),
        "2x4xf32",
    ),
    "broadcast_line": (
        (
            "%l = vector.extract %v[1] : vector<8xf32> from vector<4x8xf32>\n"
            "%r = vector.broadcast %l : vector<8xf32> to vector<2x4x8xf32>"
        ),
        "2x4x8xf32",
    ),
    "broadcast_ones": (
        (
            "%l = vector.shape_cast %v : vector<4x8xf32> to vector<4x1x8xf32>\n"
            "%r = vector.broadcast %l : vector<4x1x8xf32> to vector<4x2x8xf32>"
        ),
        "4x2x8xf32",
    ),
    "shape_cast": ("%r = vector.shape_cast %v : vector<4x8xf32> to vector<2x16xf32>", "2x16xf32"),
    "transpose": (
        "%r = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>",
        "8x4xf32",
    ),
    "step": (
        (
            "%i = vector.step : vector<8xindex>\n"
            "%j = arith.index_cast %i : vector<8xindex> to vector<8xi32>\n"
            "%r = arith.sitofp %j : vector<8xi32> to vector<8xf32>"
        ),
        "8xf32",
    ),
    "extract": (
        (
            "%e = vector.extract %v[2, 3] : f32 from vector<4x8xf32>\n"
            "%r = vector.broadcast %e : f32 to vector<4xf32>"
        ),
        "4xf32",
    ),
    "extract_dynamic": (
        (
            "%e = vector.extract %v[%n, 3] : f32 from vector<4x8xf32>\n"
            "%r = vector.broadcast %e : f32 to vector<4xf32>"
        ),
        "4xf32",
    ),
    "insert_line": (
        (
            "%l = vector.extract %v[1] : vector<8xf32> from vector<4x8xf32>\n"
            "%r = vector.insert %l, %v [3] : vector<8xf32> into vector<4x8xf32>"
        ),
        "4x8xf32",
    ),
    "insert_dynamic": (
        (
            "%e = arith.constant 7.0 : f32\n"
            "%r = vector.insert %e, %v [%n, 2] : f32 into vector<4x8xf32>"
        ),
        "4x8xf32",
    ),
    "slice": (
        (
            "%r = vector.extract_strided_slice %v {offsets = [2, 4], sizes = [2, 4], "
            "strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>"
        ),
        "2x4xf32",
    ),
    "mask": (
        (
            "%c3 = arith.constant 3 : index\n"
            "%m = vector.create_mask %c3, %n : vector<4x8xi1>\n"
            "%z = arith.constant dense<0.5> : vector<4x8xf32>\n"
            "%r = arith.select %m, %v, %z : vector<4x8xi1>, vector<4x8xf32>"
        ),
        "4x8xf32",
    ),
    "constant_mask": (
        (
            "%m = vector.constant_mask [3, 5] : vector<4x8xi1>\n"
            "%z = arith.constant dense<0.5> : vector<4x8xf32>\n"
            "%r = arith.select %m, %v, %z : vector<4x8xi1>, vector<4x8xf32>"
        ),
        "4x8xf32",
    ),
    "constants": (
        (
            "%z = arith.constant dense<[[1.0, 2.0], [-0.0, 0x7FC00000]]> : vector<2x2xf32>\n"
            "%o = arith.constant dense<1.0> : vector<2x2xf32>\n"
            "%r = arith.addf %z, %o : vector<2x2xf32>"
        ),
        "2x2xf32",
    ),
    "choice_of_tiles": (
        (
            "%c2 = arith.constant 2 : index\n"
            "%y = arith.cmpi slt, %n, %c2 : index\n%w = arith.negf %v : vector<4x8xf32>\n"
            "%r = arith.select %y, %v, %w : vector<4x8xf32>"
        ),
        "4x8xf32",
    ),
    "gather": (
        (
            "%i = arith.constant dense<[0, 9, 3, 30]> : vector<4xindex>\n"
            "%m = arith.constant dense<[true, true, false, true]> : vector<4xi1>\n"
            "%p = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : vector<4xf32>\n"
            "%r = vector.gather %a[%c0, %c1] [%i], %m, %p : memref<4x8xf32>, vector<4xindex>, "
            "vector<4xi1>, vector<4xf32> into vector<4xf32>"
        ),
        "4xf32",
    ),
}


def _kernel(name: str) -> tuple[str, str]:
    operation, result = _OPERATIONS[name]
    rank = result.count("x")
    at = ", ".join(["%c0"] * rank)
    body = f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %v = vector.load %a[%c0, %c0] : memref<4x8xf32>, {_V}
        {operation}
        vector.store %r, %out[{at}] : memref<{result}>, vector<{result}>"""
    return f"%a: memref<4x8xf32>, %n: index, %out: memref<{result}>", body


@pytest.mark.parametrize("name", _OPERATIONS)
def test_operations(name: str) -> None:
    text = tile_kernel(*_kernel(name))
    module = lowered(text)
    a = np.random.default_rng(4).normal(size=(4, 8)).astype(np.float32)
    shape = [int(size) for size in _OPERATIONS[name][1].split("x")[:-1]]
    for n in (1, 3):
        expected, found = (np.full(shape, 77, np.float32) for _ in range(2))
        run(read(text), a, n, expected)
        run_entry(text, module, a, n, found)
        assert np.array_equal(expected, found, equal_nan=True)


def test_scatter() -> None:
    text = tile_kernel(
        "%a: memref<4x8xf32>, %out: memref<4x8xf32, strided<[16, 2]>>",
        """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %v = vector.load %a[%c0, %c0] : memref<4x8xf32>, vector<4xf32>
        %i = arith.constant dense<[0, 9, 3, 21]> : vector<4xi32>
        %m = arith.constant dense<[true, true, false, true]> : vector<4xi1>
        vector.scatter %out[%c0, %c1] [%i], %m, %v : memref<4x8xf32, strided<[16, 2]>>,
            vector<4xi32>, vector<4xi1>, vector<4xf32>""",
    )
    a = np.random.default_rng(4).normal(size=(4, 8)).astype(np.float32)
    wholes = [np.full((4, 16), 7, np.float32) for _ in range(2)]
    run(read(text), a, wholes[0][:, ::2])
    run_entry(text, lowered(text), a, wholes[1][:, ::2])
    assert np.array_equal(*wholes)


def test_assembler() -> None:
    functions = [tile_function(*_kernel(name), name=name) for name in _OPERATIONS]
    text = "gpu.module @m {\n" + "\n".join(functions) + "\n}"
    assemble_for_all(translate_module(read(text), NVIDIA.chips["sm_90"]))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            (
                "%r = vector.extract_strided_slice %v {offsets = [1, 0], sizes = [2, 8], "
                "strides = [1, 1]} : vector<4x8xf32> to vector<2x8xf32>"
            ),
            "no multiple of its size",
        ),
        ("%r = vector.extract %v[-1] : vector<8xf32> from vector<4x8xf32>", "position of poison"),
    ],
)
def test_refused(operation: str, message: str) -> None:
    body = f"""
        %c0 = arith.constant 0 : index
        %v = vector.load %a[%c0, %c0] : memref<4x8xf32>, {_V}
        {operation}"""
    with pytest.raises(DiagnosticError, match=message):
        lowered(tile_kernel("%a: memref<4x8xf32>", body))
