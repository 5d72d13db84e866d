"""Verifying a module collects every error."""

from __future__ import annotations

from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import read_mlir
from xtile.text.source import Source


def errors(text: str) -> list[str]:
    """Returns the first lines of what is wrong with MLIR text that can be read."""
    diagnostics = Diagnostics()
    context = make_context()
    context.allow_unregistered = True
    module = read_mlir(Source("t.mlir", text), diagnostics, context)
    assert module is not None, diagnostics.render()
    verify_module(module, diagnostics)
    return [diagnostic.render().split("\n")[0] for diagnostic in diagnostics]


def test_all_errors_in_source_order() -> None:
    text = """\
func.func @f(%x: i32) {
  %a = "arith.addi"(%x) : (i32) -> i32
  %b = "arith.negf"(%x) : (i32) -> i32
  func.return
}
"""
    first, second = errors(text)
    assert first.startswith("t.mlir:2.3-38: error: 'arith.addi': ")
    assert second.startswith("t.mlir:3.3-38: error: 'arith.negf': ")
    assert "\n" not in first


def test_a_valid_module_has_none() -> None:
    assert errors("func.func @f() {\n  func.return\n}\n") == []
    assert (
        errors('"a.b"() ({\n  "a.c"(%x) : (i32) -> ()\n  %x = "a.d"() : () -> i32\n}) : () -> ()')
        == []
    )


def test_a_block_needs_a_terminator() -> None:
    message = (
        "t.mlir:1.1-3.1: error: 'func.func' has a block that ends with 'test.op', "
        "which is not a terminator"
    )
    assert errors('func.func @f() {\n  "test.op"() : () -> ()\n}') == [message]
    assert errors("%c = arith.constant true\nscf.if %c {\n}") == []
    text = '%c = arith.constant true\n"scf.if"(%c) ({\n^a:\n}, {}) : (i1) -> ()'
    assert "has an empty block, which must end with a terminator" in errors(text)[0]


def test_a_successor_must_end_its_block() -> None:
    text = """\
func.func @f() {
  "cf.br"()[^a] : () -> ()
  func.return
^a:
  func.return
}
"""
    assert errors(text)[0] == (
        "t.mlir:2.3-26: error: 'cf.br' has successors and must be the last of its block"
    )


def test_an_operand_must_be_defined_before() -> None:
    text = """\
func.func @f() {
  "test.op"(%x) : (i32) -> ()
  %c = arith.constant true
  scf.if %c {
    "test.op"(%x) : (i32) -> ()
  }
  %x = "test.op"() : () -> i32
  func.return
}
"""
    assert errors(text) == [
        "t.mlir:2.3-29: error: operand 0 of 'test.op' is used before its definition",
        "t.mlir:5.5-31: error: operand 0 of 'test.op' is used before its definition",
    ]


def test_blocks_of_a_graph_may_stand_in_any_order() -> None:
    text = """\
func.func @f() {
  "cf.br"()[^b] : () -> ()
^a:
  "test.op"(%x) : (i32) -> ()
  func.return
^b:
  %x = "test.op"() : () -> i32
  "cf.br"()[^a] : () -> ()
}
"""
    assert errors(text) == []


def test_a_dialect_with_a_verifier_of_its_own() -> None:
    text = """\
tensorlang.func @f(%A: !tensorlang.memref<4xf32>) {
  "tensorlang.lifetime_stop"(%B) : (!tensorlang.memref<4xf32, local>) -> ()
  %B = "tensorlang.alloca"() : () -> !tensorlang.memref<4xf32, local>
  tensorlang.sum %A, %A, %A, %A
}
"""
    first, *others = errors(text)
    assert first == (
        "t.mlir:2.3-75: error: operand 0 of 'tensorlang.lifetime_stop' is used before its "
        "definition"
    )
    assert [error.partition(" ")[0] for error in others] == ["t.mlir:4.18-19:", "t.mlir:4.26-27:"]


def test_other_dialects_beside_it_are_checked_once() -> None:
    text = """tensorlang.func @f(%x: i32) {
}
%y = "test.op"() : () -> i32
%z = "arith.negf"(%y) : (i32) -> i32
"""
    (error,) = errors(text)
    assert error.startswith("t.mlir:4.1-36: error: 'arith.negf': ")


def test_blocks_of_other_dialects_beside_it_are_checked() -> None:
    text = """\
tensorlang.func @f() {
}
func.func @g() {
  %y = "test.op"() : () -> i32
}
"""
    message = (
        "t.mlir:3.1-5.1: error: 'func.func' has a block that ends with 'test.op', "
        "which is not a terminator"
    )
    assert errors(text) == [message]
