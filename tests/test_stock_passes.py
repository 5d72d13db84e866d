"""Stock passes of xDSL's on IR that xtile reads: they do what they do on stock xdsl-opt's."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.ir import BlockArgument, Region
from xdsl.parser import Parser
from xdsl.passes import PassPipeline
from xdsl.universe import XDSL_UNIVERSE

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


def stock_context() -> Context:
    """What stock xdsl-opt knows."""
    context = Context()
    for name, factory in XDSL_UNIVERSE.all_dialects.items():
        context.register_dialect(name, factory)
    return context


def stock(text: str, name: str) -> str:
    """What stock xdsl-opt makes of a kernel by a pass; the error where the pass has one."""
    context = stock_context()
    module = Parser(context, text).parse_module()
    try:
        PassPipeline.parse_spec(XDSL_UNIVERSE.all_passes, name).apply(context, module)
        module.verify()
    except Exception as error:
        return type(error).__name__
    return normal(str(module))


def ours(path: Path, name: str, errors: pytest.CaptureFixture[str]) -> str | None:
    """What xtile-opt makes of a kernel by a stock pass; None where the pass has an error."""
    output = StringIO()
    with redirect_stdout(output):
        code = main([str(path), "-p", name])
    if code != 0:
        assert errors.readouterr().err
        return None
    return normal(output.getvalue())


@pytest.mark.parametrize("kernel", KERNELS)
def test_stock_passes_do_the_same(
    kernel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kernel.mlir"
    path.write_text(KERNELS[kernel])
    changed = 0
    for name in PASSES:
        expected = stock(KERNELS[kernel], name)
        found = ours(path, name, capsys)
        assert found == (expected if expected.startswith('"') else None), name
        changed += expected != normal(KERNELS[kernel])
    assert changed >= 2
