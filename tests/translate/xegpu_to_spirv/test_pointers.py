"""Pointers of work-items lead OpenCL's CPU device to the memory that they lead to here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import DTYPES
from tests.translate.xegpu_to_spirv.lane_kernels import (
    LaneKernel,
    LaneKernels,
    same,
    spirv_text,
    unwritten,
    validate,
)
from xtile.api import parse
from xtile.backends.intel.compilation import spirv_in
from xtile.dialects.spirv import encode
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate

TYPES = ("i1", "i8", "i16", "i32", "i64", "index", "f16", "bf16", "f32", "f64", "complex<f32>")

START = """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
%c8 = arith.constant 8 : index
"""


def _turned(element: str) -> str:
    """Elements are turned around, by steps of the element's size."""
    return f"""{START}
      scf.for %i = %c0 to %c8 step %c1 {{
        %p = core.pointer_add %x, %i : !core.ptr<{element}>, index
        %last = arith.constant 7 : i16
        %e = core.pointer_add %o, %last : !core.ptr<{element}>, i16
        %j = arith.subi %c0, %i : index
        %q = core.pointer_add %e, %j : !core.ptr<{element}>, index
        %m = core.view %p to offset: [0], sizes: [], strides: []
            : !core.ptr<{element}> to memref<{element}>
        %w = core.view %q to offset: [0], sizes: [*], strides: [1]
            : !core.ptr<{element}> to memref<?x{element}>
        %v = memref.load %m[] : memref<{element}>
        memref.store %v, %w[%c0] : memref<?x{element}>
      }}
    """


# The list goes through the nodes in a given order; each is an address and a number.
LIST = f"""{START}
%c7 = arith.constant 7 : index
%zero = arith.constant 0 : i64
%links = core.pointer_cast %nodes : !core.ptr<i64> -> !core.ptr<!core.ptr<i64>>
%table = core.view %links to offset: [0], sizes: [8], strides: [2]
    : !core.ptr<!core.ptr<i64>> to memref<8x!core.ptr<i64>, strided<[2]>>
%null = core.integer_to_pointer %zero : i64 -> !core.ptr<i64>
%end = memref.load %order[%c7] : memref<8xindex>
memref.store %null, %table[%end] : memref<8x!core.ptr<i64>, strided<[2]>>
scf.for %i = %c0 to %c7 step %c1 {{
  %j = arith.addi %i, %c1 : index
  %this = memref.load %order[%i] : memref<8xindex>
  %next = memref.load %order[%j] : memref<8xindex>
  %to = arith.muli %next, %c2 : index
  %q = core.pointer_add %nodes, %to : !core.ptr<i64>, index
  memref.store %q, %table[%this] : memref<8x!core.ptr<i64>, strided<[2]>>
}}
%begin = memref.load %order[%c0] : memref<8xindex>
%at_begin = arith.muli %begin, %c2 : index
%head = core.pointer_add %nodes, %at_begin : !core.ptr<i64>, index
%stop, %count = scf.while (%p = %head, %n = %c0) : (!core.ptr<i64>, index)
    -> (!core.ptr<i64>, index) {{
  %address = core.pointer_to_integer %p : !core.ptr<i64> -> i64
  %goes_on = arith.cmpi ne, %address, %zero : i64
  scf.condition(%goes_on) %p, %n : !core.ptr<i64>, index
}} do {{
^bb0(%p: !core.ptr<i64>, %n: index):
  %node = core.view %p to offset: [0], sizes: [2], strides: [1] : !core.ptr<i64> to memref<2xi64>
  %number = memref.load %node[%c1] : memref<2xi64>
  memref.store %number, %o[%n] : memref<8xi64>
  %link = core.pointer_cast %p : !core.ptr<i64> -> !core.ptr<!core.ptr<i64>>
  %at = core.view %link to offset: [0], sizes: [], strides: []
      : !core.ptr<!core.ptr<i64>> to memref<!core.ptr<i64>>
  %next = memref.load %at[] : memref<!core.ptr<i64>>
  %m = arith.addi %n, %c1 : index
  scf.yield %next, %m : !core.ptr<i64>, index
}}
scf.for %i = %c0 to %c8 step %c1 {{
  memref.store %null, %table[%i] : memref<8x!core.ptr<i64>, strided<[2]>>
}}
"""

CHOSEN = f"""{START}
scf.for %i = %c0 to %c8 step %c1 {{
  %n = memref.load %flags[%i] : memref<8xi32>
  %k = arith.trunci %n : i32 to i1
  %p = arith.select %k, %x, %y : !core.ptr<f32>
  %m = core.view %p to offset: [%i], sizes: [1], strides: [1]
      : !core.ptr<f32> to memref<1xf32, strided<[1], offset: ?>>
  %v = memref.load %m[%c0] : memref<1xf32, strided<[1], offset: ?>>
  memref.store %v, %o[%i] : memref<8xf32>
}}
"""

KERNELS = {
    **{
        f"turned_{element.translate(str.maketrans('<>', '__'))}": LaneKernel(
            f"%x: !core.ptr<{element}>, %o: !core.ptr<{element}>", _turned(element)
        )
        for element in TYPES
    },
    "linked": LaneKernel(
        "%nodes: !core.ptr<i64>, %order: memref<8xindex>, %o: memref<8xi64>", LIST
    ),
    "chosen": LaneKernel(
        "%x: !core.ptr<f32>, %y: !core.ptr<f32>, %flags: memref<8xi32>, %o: memref<8xf32>", CHOSEN
    ),
}


@pytest.fixture(scope="module")
def kernels() -> LaneKernels:
    return LaneKernels(KERNELS)


@pytest.mark.parametrize("element", TYPES)
def test_all_types(element: str, kernels: LaneKernels) -> None:
    x = fresh_generator().integers(0, 2, 8).astype(DTYPES[element])
    name = f"turned_{element.translate(str.maketrans('<>', '__'))}"
    _, (expected, found) = kernels.on_both(name, x, unwritten(8, element))
    assert (expected == x[::-1]).all()
    assert same(expected, found).all()


def test_a_linked_list(kernels: LaneKernels) -> None:
    rng = fresh_generator()
    nodes: Any = rng.integers(1, 100, (8, 2))
    order = rng.permutation(8)
    *_, (expected, found) = kernels.on_both("linked", nodes, order, unwritten(8, "i64"))
    assert (expected == nodes[order, 1]).all()
    assert (found == expected).all()


def test_one_of_two_arrays(kernels: LaneKernels) -> None:
    rng = fresh_generator()
    x, y = (rng.standard_normal(8).astype(np.float32) for _ in range(2))
    flags = rng.integers(0, 2, 8, np.int32)
    *_, (expected, found) = kernels.on_both("chosen", x, y, flags, unwritten(8, "f32"))
    assert (expected == np.where(flags == 1, x, y)).all()
    assert (found == expected).all()


def test_a_pointer_of_an_argument_is_the_argument() -> None:
    body = """
      %c3 = arith.constant 3 : index
      %one = arith.constant 1 : i32
      %q = core.pointer_cast %p : !core.ptr<f32> -> !core.ptr<i32>
      %m = core.view %q to offset: [0], sizes: [*], strides: [1] : !core.ptr<i32> to memref<?xi32>
      memref.store %one, %m[%c3] : memref<?xi32>
    """
    text = spirv_text(body, "%p: !core.ptr<f32>")
    assert "OpConvertUToPtr" not in text
    assert "OpBitcast" in text


BLOCK = """
gpu.module @m {
  gpu.func @k(%x: !core.ptr<f32>, %y: memref<9x12xf32>, %n: index) kernel
      attributes {core.level = "block"} {
    %two = arith.constant 2.0 : f32
    %p = core.pointer_add %x, %n : !core.ptr<f32>, index
    %m = core.view %p to offset: [0], sizes: [9, 12], strides: [12, 1]
        : !core.ptr<f32> to memref<9x12xf32>
    core.axpby %two, %y, %two, %m : f32, memref<9x12xf32>, f32, memref<9x12xf32>
    core.axpby %two, %m, %two, %y : f32, memref<9x12xf32>, f32, memref<9x12xf32>
    gpu.return
  }
}
"""


def test_block_level_kernels_on_opencl(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(BLOCK)
    rng = fresh_generator()
    x, y = (rng.standard_normal(size).astype(np.float32) for size in (120, (9, 12)))
    given, other = x.copy(), y.copy()
    xtile.run(path, [x, y, 5])
    xtile.run(path, [given, other, 5], device="opencl")
    np.testing.assert_allclose(given, x, rtol=1e-6)
    np.testing.assert_allclose(other, y, rtol=1e-6)


TABLE = """
gpu.module @m {
  gpu.func @k(%t: memref<?x!core.ptr<f32>>, %i: index, %o: memref<4xf32>) kernel
      attributes {core.level = "block"} {
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %p = memref.load %t[%i] : memref<?x!core.ptr<f32>>
    %m = core.view %p to offset: [0], sizes: [4], strides: [1] : !core.ptr<f32> to memref<4xf32>
    core.axpby %one, %m, %zero, %o : f32, memref<4xf32>, f32, memref<4xf32>
    gpu.return
  }
}
"""


def test_lists_of_arrays_on_opencl(tmp_path: Path) -> None:
    path = tmp_path / "k.mlir"
    path.write_text(TABLE)
    rows: Any = fresh_generator().standard_normal((3, 4)).astype(np.float32)
    for device in ("reference", "opencl"):
        out = np.full(4, np.nan, np.float32)
        xtile.run(path, [[rows[0], None, rows[2]], 2, out], device=device)
        np.testing.assert_array_equal(out, rows[2])


@pytest.mark.parametrize("chip", ["pvc", "dg2"])
def test_block_level_kernels_for_gpus(chip: str) -> None:
    module = translate(parse(BLOCK, language="mlir"), "core-to-spirv", Options(chip))
    validate(encode(spirv_in(module)))


def test_xegpu_has_no_pointers() -> None:
    with pytest.raises(DiagnosticError, match=r"which has no pointers; a kernel of tiles becomes"):
        translate(parse(BLOCK, language="mlir"), "core-to-xegpu", Options("pvc"))
