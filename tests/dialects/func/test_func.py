"""The `func`, `cf` and `ub` dialects against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

RIGHT = {
    "declaration": "func.func private @f(f32, memref<4xf32>) -> (i32, i1)",
    "declaration with attributes": (
        "func.func private @f(memref<4xf32> {llvm.noalias}, i32) attributes {t.a, t.b = 1 : i32}"
    ),
    "definition": "func.func @f(%a: f32) -> f32 {\nreturn %a : f32\n}",
    "attributes of arguments and results": (
        "func.func @f(%a: f32 {t.a = 1 : i32}, %b: i32) -> (f32 {t.b}, i32) "
        "attributes {t.c} {\nfunc.return %a, %b : f32, i32\n}"
    ),
    "private definition": "func.func private @f() {\nreturn\n}",
    "call": (
        "func.func private @g(f32, i32) -> (f32, i32)\nfunc.func private @h()\n"
        + in_function(
            "%a: f32, %b: i32",
            "%0:2 = func.call @g(%a, %b) : (f32, i32) -> (f32, i32)\n"
            "%1:2 = call @g(%0#0, %0#1) {t.a} : (f32, i32) -> (f32, i32)\n"
            "call @h() : () -> ()",
        )
    ),
    "indirect call": (
        "func.func private @g(f32) -> f32\n"
        + in_function(
            "%a: f32",
            "%0 = constant @g : (f32) -> f32\n%1 = call_indirect %0(%a) : (f32) -> f32",
        )
    ),
    "labelled first block": "func.func @f() {\n^a:\nreturn\n}",
    "branches": (
        "func.func @f(%c: i1, %a: f32, %i: i32) -> f32 {\n"
        "cf.cond_br %c, ^a(%a : f32), ^b\n^a(%x: f32):\ncf.br ^c(%x, %i : f32, i32)\n^b:\n"
        "cf.br ^c(%a, %i : f32, i32)\n^c(%y: f32, %j: i32):\nreturn %y : f32\n}"
    ),
    "branch weights": (
        "func.func @f(%c: i1) {\ncf.cond_br %c weights([1, 3]), ^a, ^a\n^a:\nreturn\n}"
    ),
    "assert": in_function("%c: i1", 'cf.assert %c, "must hold"'),
    "poison": in_function(
        "", "%0 = ub.poison : i32\n%1 = ub.poison : vector<4xf32>\n%2 = ub.poison : index"
    ),
    "unreachable": "func.func @f() {\nub.unreachable\n}",
    "unrealized_conversion_cast": in_function(
        "%a: f32, %i: i32",
        "%0 = builtin.unrealized_conversion_cast %a : f32 to i32\n"
        "%1:2 = builtin.unrealized_conversion_cast %a, %i : f32, i32 to i64, i64 {t.a}\n"
        "%2 = builtin.unrealized_conversion_cast to i32",
    ),
}

WRONG = {
    "return of another type": (
        "func.func @f(%a: f32) -> i32 {\nreturn %a : f32\n}",
        "Expected arguments to have the same types as the function output types",
    ),
    "call of nothing": (
        in_function("", "call @g() : () -> ()"),
        "'@g' could not be found in symbol table",
    ),
    "call with other operands": (
        "func.func private @g(f32)\n" + in_function("%i: i32", "call @g(%i) : (i32) -> ()"),
        "expected operand type f32, but provided i32",
    ),
    "function without an end": (
        "func.func @f() {\n%0 = ub.poison : i32\n}",
        "ends with 'ub.poison', which is not a terminator",
    ),
    "constant of nothing": (
        in_function("", "%0 = constant @g : () -> ()"),
        "'@g' does not reference a function",
    ),
    "indirect call with other operands": (
        in_function("%g: (f32) -> f32, %i: i32", "%0 = call_indirect %g(%i) : (i32) -> f32"),
        "operand is used with type (i32) -> f32",
    ),
    "branch with other values": (
        "func.func @f(%i: i32) {\ncf.br ^a(%i : i32)\n^a(%x: f32):\nreturn\n}",
        "expected values of types f32 for the block, got i32",
    ),
    "branch to nowhere": (
        "func.func @f() {\ncf.br ^a\n}",
        "missing block declarations for block(s) a",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
