"""IR is of xDSL's classes where these hold it, and goes from theirs to ours and back."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import cast

import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, gpu, memref, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f32,
    i32,
)
from xdsl.ir import Block, Operation, Region
from xdsl.parser import Parser

from xtile.dialects.arith.casts import TruncFOp
from xtile.dialects.arith.comparisons import CmpIOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.normalisation import give_back, normalise, normalised
from xtile.dialects.registry import COMPLETED_DIALECTS, make_context
from xtile.text import EXTENSION_TABLES
from xtile.text.diagnostics import Diagnostics
from xtile.text.extensions import Replacement, Table
from xtile.text.mlir import read_mlir
from xtile.text.mlir_printer import MlirPrinter
from xtile.text.source import Source
from xtile.translate.route import translate

DOCUMENT = Path(__file__).parents[2] / "docs" / "xdsl-operations.md"


def read(text: str) -> ModuleOp:
    diagnostics = Diagnostics()
    module = read_mlir(Source("test.mlir", text), diagnostics, make_context())
    assert module is not None, [diagnostic.render() for diagnostic in diagnostics]
    return module


def text_of(module: ModuleOp) -> str:
    return MlirPrinter(print_generic_format=True).print_top_level(module)[0]


def kinds(module: ModuleOp) -> dict[str, type[Operation]]:
    return {operation.name: type(operation) for operation in module.walk()}


TEXT = """
func.func @f(%a: i32, %x: f32, %v: vector<4xi32>) {
  %0 = arith.addi %a, %a overflow<nsw> : i32
  %1 = arith.cmpi slt, %a, %0 : i32
  %2 = arith.truncf %x : f32 to f16
  %3 = arith.truncf %x upward : f32 to bf16
  %4 = arith.cmpi slt, %v, %v : vector<4xi32>
  %5 = arith.addi %v, %v : vector<4xi32>
  scf.if %1 {
  }
  return
}
"""


def test_a_name_is_of_one_class() -> None:
    found = kinds(read(TEXT))
    assert found["arith.addi"] is arith.AddiOp
    assert found["scf.if"] is scf.IfOp
    assert found["arith.cmpi"] is CmpIOp
    assert found["arith.truncf"] is TruncFOp


def test_what_xdsl_holds_is_given_back_and_taken_again() -> None:
    module = read(TEXT)
    before = [type(operation) for operation in module.walk()]
    give_back(module)
    given = [
        type(operation)
        for operation in module.walk()
        if operation.name in ("arith.cmpi", "arith.truncf")
    ]
    assert given == [arith.CmpiOp, arith.TruncFOp, TruncFOp, CmpIOp]
    module.verify()
    normalise(module)
    assert [type(operation) for operation in module.walk()] == before


NOT_HELD = {
    "memref.memory_space_cast": """
func.func @f(%a: memref<*xf32>) {
  %0 = memref.memory_space_cast %a : memref<*xf32> to memref<*xf32, 1>
  return
}
""",
    "memref.load": """
func.func @f(%a: memref<4xf32>) {
  %0 = "memref.load"(%a) : (memref<4xf32>) -> f32
  return
}
""",
    "gpu.func": """
gpu.module @m {
  "gpu.func"() <{function_type = () -> ()}> ({}) {sym_name = "f"} : () -> ()
}
""",
}


@pytest.mark.parametrize("name", NOT_HELD)
def test_what_xdsl_does_not_hold_stays_ours(name: str) -> None:
    """What xDSL's verifiers fail on is kept, right or, where nothing is verified, wrong."""
    module = Parser(make_context(), NOT_HELD[name]).parse_module()
    normalise(module)
    before = kinds(module)[name]
    give_back(module)
    assert kinds(module)[name] is before
    assert before.__module__.startswith("xtile.")


def test_other_failures_of_xdsl_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: arith.CmpiOp) -> None:
        raise RuntimeError("not a verdict")

    module = read(TEXT)
    monkeypatch.setattr(arith.CmpiOp, "verify_", fail)
    with pytest.raises(RuntimeError, match="not a verdict"):
        give_back(module)


def stock_kernel() -> ModuleOp:
    """A kernel that doubles 64 numbers, of xDSL's classes alone."""
    type = MemRefType(f32, [64])
    function = gpu.FuncOp("double", ([type], []), kernel=True, known_block_size=[16, 1, 1])
    block = function.body.block
    with ImplicitBuilder(block):
        x = gpu.DimensionAttr(gpu.DimensionEnum.X)
        index = gpu.GlobalIdOp(x).result
        value = memref.LoadOp.get(block.args[0], [index]).res
        memref.StoreOp.get(arith.AddfOp(value, value), block.args[0], [index])
        gpu.ReturnOp([])
    kernels = gpu.ModuleOp.create(
        properties={"sym_name": StringAttr("kernels")}, regions=[Region(Block([function]))]
    )
    module = ModuleOp([kernels])
    module.verify()
    return module


def test_kernels_of_xdsl_are_taken() -> None:
    module = stock_kernel()
    taken = normalised(module)
    function = next(each for each in taken.walk() if isinstance(each, FuncOp))
    assert function.is_kernel
    assert function.known_block_size == DenseArrayBase.from_list(i32, [16, 1, 1])
    assert kinds(module)["gpu.func"] is gpu.FuncOp


def test_kernels_of_xdsl_become_spirv() -> None:
    names = [operation.name for operation in translate(stock_kernel(), "core-to-spirv").walk()]
    assert "spirv.FAdd" in names


def test_kernels_go_back_without_loss() -> None:
    module = read("""
gpu.module @kernels {
  gpu.func @f(%a: memref<4xf32> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>} {
    %0 = gpu.thread_id  x upper_bound 4
    gpu.return
  }
}
""")
    expected = text_of(module)
    give_back(module)
    found = kinds(module)
    assert (found["gpu.func"], found["gpu.thread_id"]) == (gpu.FuncOp, gpu.ThreadIdOp)
    function = next(each for each in module.walk() if isinstance(each, gpu.FuncOp))
    assert function.kernel == UnitAttr()
    module.verify()
    normalise(module)
    assert text_of(module) == expected


def table(dialect: str) -> Table:
    return cast(Table, import_module(EXTENSION_TABLES[dialect]).OPERATIONS)


@pytest.mark.parametrize("dialect", sorted(EXTENSION_TABLES))
def test_document_lists_replaced_operations(dialect: str) -> None:
    section = DOCUMENT.read_text().partition(f"## {dialect}\n")[2].partition("\n## ")[0]
    replaced = {kind.name for kind, row in table(dialect).items() if isinstance(row, Replacement)}
    ours = section.partition("ours:")[2]
    listed = {f"{dialect}.{name}" for name in re.findall(r"`([\w.]+)`", ours.partition("\n\n")[0])}
    assert listed == replaced


@pytest.mark.parametrize("dialect", sorted(EXTENSION_TABLES))
def test_dialects_follow_the_tables(dialect: str) -> None:
    operations = {each.name: each for each in COMPLETED_DIALECTS[dialect]().operations}
    for kind, row in table(dialect).items():
        expected = row.load() if isinstance(row, Replacement) else kind
        assert operations[kind.name] is expected
