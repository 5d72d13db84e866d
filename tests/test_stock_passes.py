"""Stock passes of xDSL's do through `xtile-opt` what they do through stock `xdsl-opt`."""

from __future__ import annotations

import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from xdsl.ir import BlockArgument, Region
from xdsl.xdsl_opt_main import xDSLOptMain

from xtile.dialects.registry import make_context
from xtile.opt import main
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import read_mlir
from xtile.text.mlir_printer import MlirPrinter
from xtile.text.source import Source

PASSES = (
    "approximate-math-with-bitcast",
    "arith-add-fastmath",
    "canonicalize",
    "constant-fold-interp",
    "control-flow-hoist",
    "convert-arith-to-varith",
    "convert-memref-to-ptr",
    "convert-scf-to-cf",
    "convert-scf-to-openmp",
    "convert-scf-to-riscv-scf",
    "convert-vector-to-ptr",
    "cse",
    "dce",
    "expand-math-to-polynomials",
    "function-persist-arg-names",
    "licm",
    "lift-arith-to-linalg",
    "loop-hoist-memref",
    "lower-affine",
    "reconcile-unrealized-casts",
    "scf-for-loop-flatten",
    "scf-for-loop-range-folding",
    "scf-for-loop-unroll",
    "test-constant-folding",
    "vector-split-load-extract",
)

KERNELS = {
    "constants": """
func.func @constants(%x: i32) -> (i32, i32, f32, i1) {
  %a = arith.constant 3 : i32
  %b = arith.constant 5 : i32
  %c = arith.addi %a, %b : i32
  %d = arith.muli %c, %a overflow<nsw> : i32
  %e = arith.constant 1.5 : f32
  %f = arith.addf %e, %e : f32
  %g = arith.mulf %f, %e fastmath<contract> : f32
  %h = arith.cmpi slt, %c, %d : i32
  %i = arith.addi %x, %x : i32
  %j = arith.addi %i, %x : i32
  func.return %d, %j, %g, %h : i32, i32, f32, i1
}
""",
    "repeated": """
func.func @repeated(%x: f32, %y: f32, %n: index) -> (f32, index) {
  %a = arith.addf %x, %y : f32
  %b = arith.addf %x, %y : f32
  %c = arith.mulf %a, %b : f32
  %d = arith.subf %c, %b : f32
  %unused = arith.divf %c, %b : f32
  %zero = arith.constant 0 : index
  %same = arith.addi %n, %zero : index
  func.return %d, %same : f32, index
}
""",
    "sum": """
func.func @sum(%memory: memref<64xf32>) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 8 : index
  %start = arith.constant 0.0 : f32
  %sum = scf.for %i = %zero to %count step %one iter_args(%s = %start) -> (f32) {
    %double = arith.addi %count, %count : index
    %value = memref.load %memory[%double] : memref<64xf32>
    %next = arith.addf %s, %value : f32
    scf.yield %next : f32
  }
  func.return %sum : f32
}
""",
    "nested": """
func.func @nested(%a: memref<16x16xf32>, %b: memref<16x16xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 16 : index
  scf.for %i = %zero to %count step %one {
    scf.for %j = %zero to %count step %one {
      %value = memref.load %a[%i, %j] : memref<16x16xf32>
      %double = arith.addf %value, %value : f32
      memref.store %double, %b[%j, %i] : memref<16x16xf32>
    }
  }
  func.return
}
""",
    "branch": """
func.func @branch(%x: i32, %y: i32) -> i32 {
  %greater = arith.cmpi sgt, %x, %y : i32
  %chosen = arith.select %greater, %x, %y : i32
  %result = scf.if %greater -> (i32) {
    %difference = arith.subi %x, %y : i32
    scf.yield %difference : i32
  } else {
    %difference = arith.subi %y, %x : i32
    scf.yield %difference : i32
  }
  %sum = arith.addi %result, %chosen : i32
  func.return %sum : i32
}
""",
    "casts": """
func.func @casts(%x: i8, %y: f32, %n: index) -> (i64, f16, i64) {
  %wide = arith.extsi %x : i8 to i32
  %wider = arith.extui %wide : i32 to i64
  %half = arith.truncf %y : f32 to f16
  %single = arith.extf %half : f16 to f32
  %less = arith.truncf %single : f32 to f16
  %integer = arith.fptosi %y : f32 to i32
  %float = arith.sitofp %integer : i32 to f32
  %index = arith.index_cast %n : index to i64
  func.return %wider, %less, %index : i64, f16, i64
}
""",
    "math": """
func.func @math(%x: f32, %memory: memref<8xf32>, %i: index) {
  %e = math.exp %x : f32
  %l = math.log %x : f32
  %f = math.fma %e, %l, %x : f32
  %r = arith.maximumf %f, %e : f32
  memref.store %r, %memory[%i] : memref<8xf32>
  func.return
}
""",
    "vectors": """
func.func @vectors(%a: memref<64xf32>, %i: index, %x: f32) {
  %v = vector.load %a[%i] : memref<64xf32>, vector<4xf32>
  %b = vector.broadcast %x : f32 to vector<4xf32>
  %s = arith.mulf %v, %b : vector<4xf32>
  %f = vector.fma %v, %b, %s : vector<4xf32>
  vector.store %f, %a[%i] : memref<64xf32>, vector<4xf32>
  func.return
}
""",
}


def normal(text: str) -> str:
    """A module in MLIR's generic form, with values numbered."""
    diagnostics, context = Diagnostics(), make_context()
    context.allow_unregistered = True
    module = read_mlir(Source("stock.mlir", text), diagnostics, context)
    assert module is not None, [diagnostic.render() for diagnostic in diagnostics]
    for operation in module.walk():
        arguments = [argument for region in operation.regions for argument in _arguments(region)]
        for value in (*operation.results, *arguments):
            value.name_hint = None
    return MlirPrinter(print_generic_format=True).print_top_level(module)[0]


def _arguments(region: Region) -> list[BlockArgument]:
    return [argument for block in region.blocks for argument in block.args]


CHANGED = {
    "constants": 5,
    "repeated": 15,
    "sum": 9,
    "nested": 6,
    "branch": 3,
    "casts": 15,
    "math": 4,
    "vectors": 3,
}
"""How many of the passes change each kernel: 60 of 200 change one."""

REFUSED = {
    ("branch", "convert-scf-to-riscv-scf"): (1, "riscv_scf.yield"),
    ("branch", "test-constant-folding"): (3, "AssertionError"),
    ("constants", "test-constant-folding"): (3, "AttributeError"),
    ("repeated", "test-constant-folding"): (3, "AttributeError"),
}
"""What fails in xDSL itself, with the exit code of xtile-opt and what it says of it."""


def stock(path: Path, name: str) -> str | None:
    """What `xdsl-opt` prints for a kernel and a pass; None where it fails."""
    output = StringIO()
    try:
        with redirect_stdout(output):
            xDSLOptMain(args=[str(path), "-p", name]).run()
    # xDSL's command ends with whatever its pass raises.
    except (AssertionError, AttributeError):
        return None
    return output.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_stock_passes_do_the_same(
    kernel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kernel.mlir"
    path.write_text(KERNELS[kernel])
    before = normal(KERNELS[kernel])
    changed = 0
    for name in PASSES:
        expected = stock(path, name)
        code = main([str(path), "-p", name])
        found = capsys.readouterr()
        if (kernel, name) in REFUSED:
            expected_code, reason = REFUSED[kernel, name]
            assert (expected, code, found.out) == (None, expected_code, ""), name
            assert reason in found.err
            continue
        assert expected is not None, name
        assert (code, found.err) == (0, ""), name
        assert normal(found.out) == normal(expected), name
        changed += normal(found.out) != before
    assert changed == CHANGED[kernel]


def test_how_many_passes_change_a_kernel() -> None:
    assert sum(CHANGED.values()) == 60
    assert len(PASSES) * len(KERNELS) == 200


SAMPLE = {
    ("constants", "canonicalize"): "arith.constant 24 : i32",
    ("constants", "convert-arith-to-varith"): "varith.add %x, %x, %x : i32",
    ("repeated", "canonicalize"): "%d, %n : f32, index",
    ("repeated", "cse"): "arith.mulf %a, %a : f32",
    ("sum", "canonicalize"): "arith.constant 16 : index",
    ("sum", "convert-scf-to-cf"): "arith.cmpi slt, %i, %count : index",
    ("sum", "scf-for-loop-unroll"): "arith.constant 7 : index",
    ("nested", "convert-memref-to-ptr"): "ptr_xdsl.type_offset f32",
    ("nested", "scf-for-loop-unroll"): "arith.constant 15 : index",
    ("branch", "control-flow-hoist"): "else {\n      scf.yield %difference_",
    ("branch", "convert-scf-to-cf"): "cf.cond_br %greater, ^bb",
    ("casts", "dce"): "arith.truncf %single : f32 to f16\n    %index",
    ("math", "approximate-math-with-bitcast"): "arith.bitcast",
    ("math", "convert-memref-to-ptr"): "ptr_xdsl.store %r",
    ("vectors", "arith-add-fastmath"): "arith.mulf %v, %b fastmath<fast> : vector<4xf32>",
    ("vectors", "convert-vector-to-ptr"): "ptr_xdsl.load %offset_pointer",
}
"""What passes make of kernels, a part of the text of both commands."""


@pytest.mark.parametrize(("kernel", "name"), SAMPLE)
def test_the_commands_as_processes(kernel: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.mlir"
    path.write_text(KERNELS[kernel])
    stocks, ours = (
        subprocess.run(
            [Path(sys.executable).with_name(command), path, "-p", name],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for command in ("xdsl-opt", "xtile-opt")
    )
    assert normal(ours) == normal(stocks) != normal(KERNELS[kernel])
    assert SAMPLE[kernel, name] in stocks
    assert SAMPLE[kernel, name] in ours
