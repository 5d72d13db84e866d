"""What attributes promise of a kernel's arguments."""

from __future__ import annotations

import pytest

from xtile.dialects.core.arguments import argument_of, forget_noalias, is_noalias
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import read_mlir
from xtile.text.source import Source

KERNEL = """
gpu.module @m {
  gpu.func @f(%a: memref<8xf32> {core.noalias}, %b: memref<8xf32>, %n: index,
              %g: memref<2xmemref<8xf32>> {core.alignment = 64 : i64, core.noalias})
      workgroup(%w: memref<8xf32, #gpu.address_space<workgroup>>) kernel {
    %view = memref.cast %a : memref<8xf32> to memref<?xf32>
    %part = memref.subview %view[2] [4] [1]
        : memref<?xf32> to memref<4xf32, strided<[1], offset: 2>>
    %entry = memref.load %g[%n] : memref<2xmemref<8xf32>>
    %local = memref.alloca() : memref<8xf32>
    %none = memref.cast %local : memref<8xf32> to memref<?xf32>
    gpu.return
  }
}
"""


def read(text: str) -> tuple[FuncOp, list[str]]:
    diagnostics = Diagnostics()
    module = read_mlir(Source("k.mlir", text), diagnostics, make_context())
    assert module is not None, diagnostics.render()
    verify_module(module, diagnostics)
    (function,) = (each for each in module.walk() if isinstance(each, FuncOp))
    return function, [diagnostic.message for diagnostic in diagnostics]


def test_which_arguments_overlap_no_other() -> None:
    function, errors = read(KERNEL)
    assert errors == []
    alone = [is_noalias(each) for each in function.body.block.args]
    assert alone == [True, False, False, True, False]


def test_what_memory_is_a_part_of() -> None:
    function, _ = read(KERNEL)
    roots = {
        value.name_hint: argument_of(value) for each in function.walk() for value in each.results
    }
    names = {name: None if root is None else root.name_hint for name, root in roots.items()}
    assert names == {"view": "a", "part": "a", "entry": "g", "local": None, "none": None}
    assert argument_of(function.body.block.args[-1]) is None


def test_all_may_overlap() -> None:
    function, _ = read(KERNEL)
    forget_noalias(function)
    assert not any(map(is_noalias, function.arguments))
    assert "core.alignment" in str(function.arg_attrs)


WRONG = {
    "gpu.func @f(%a: f32 {core.noalias}) kernel": (
        "core.noalias of argument 0 is for memory, but the argument is of type f32"
    ),
    "gpu.func @f(%n: index, %a: memref<8xf32> {core.noalias = true}) kernel": (
        "core.noalias of argument 1 takes no value, given true"
    ),
    "gpu.func @f(%a: memref<8xf32> {core.noalias})": (
        "core.noalias of argument 0 is for the arguments of a kernel"
    ),
}


@pytest.mark.parametrize("function", WRONG)
def test_what_is_refused(function: str) -> None:
    text = f"gpu.module @m {{\n{function} {{\ngpu.return\n}}\n}}\n"
    assert read(text)[1] == [WRONG[function]]


def test_functions_that_are_called() -> None:
    called = "func.func @g(%a: memref<8xf32> {core.noalias}) {\nreturn\n}\n"
    _, errors = read(KERNEL + called)
    assert errors == ["core.noalias is for the arguments of a kernel"]


def test_pointers_lead_to_arguments() -> None:
    function, errors = read("""
gpu.module @m {
  gpu.func @k(%p: !core.ptr<f32> {core.noalias}, %q: !core.ptr<!core.ptr<f32>>, %n: i32) kernel {
    %far = core.pointer_add %p, %n : !core.ptr<f32>, i32
    %bits = core.pointer_cast %far : !core.ptr<f32> -> !core.ptr<i32>
    %view = core.view %bits to offset: [0], sizes: [8], strides: [1]
        : !core.ptr<i32> to memref<8xi32>
    %address = core.pointer_to_integer %p : !core.ptr<f32> -> i64
    %any = core.integer_to_pointer %address : i64 -> !core.ptr<f32>
    %table = core.view %q to offset: [0], sizes: [], strides: []
        : !core.ptr<!core.ptr<f32>> to memref<!core.ptr<f32>>
    %loaded = memref.load %table[] : memref<!core.ptr<f32>>
    gpu.return
  }
}
""")
    assert errors == []
    names: dict[str | None, str | None] = {}
    for each in function.body.block.ops:
        for value in each.results:
            root = argument_of(value)
            names[value.name_hint] = None if root is None else root.name_hint
    assert names == {
        "far": "p",
        "bits": "p",
        "view": "p",
        "address": "p",
        "any": None,
        "table": "q",
        "loaded": None,
    }
