"""The `scf` dialect against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

LOOP = "%i: index, %j: index, %k: index, %x: f32, %c: i1"

RIGHT = {
    "for": in_function(LOOP, "scf.for %n = %i to %j step %k {\n}"),
    "for with a body and attributes": in_function(
        LOOP, "scf.for %n = %i to %j step %k {\n%0 = arith.addi %n, %i : index\n} {a = 1 : i32}"
    ),
    "for of i32": in_function(
        "%i: i32, %x: f32",
        "scf.for %n = %i to %i step %i : i32 {\n%0 = arith.addi %n, %i : i32\n}\n"
        "%1 = scf.for %n = %i to %i step %i iter_args(%a = %x) -> (f32) : i32 {\n"
        "scf.yield %a : f32\n}",
    ),
    "unsigned for": in_function(
        LOOP,
        "scf.for unsigned %n = %i to %j step %k {\n}\n"
        "%0:2 = scf.for unsigned %n = %i to %j step %k iter_args(%a = %x, %b = %c) -> (f32, i1) "
        "{\nscf.yield %a, %b : f32, i1\n} {a}",
    ),
    "for with values": in_function(
        LOOP,
        "%0 = scf.for %n = %i to %j step %k iter_args(%a = %x) -> (f32) {\n"
        "%1 = arith.addf %a, %a : f32\nscf.yield %1 : f32\n}",
    ),
    "nested for": in_function(
        LOOP,
        "scf.for %n = %i to %j step %k {\nscf.for %m = %n to %j step %k {\n"
        "%0 = arith.addi %n, %m : index\n}\n}",
    ),
    "if": in_function(LOOP, "scf.if %c {\n%0 = arith.negf %x : f32\n}"),
    "if else": in_function(
        LOOP,
        "scf.if %c {\n%0 = arith.negf %x : f32\n} else {\n%1 = arith.addf %x, %x : f32\n} {a}",
    ),
    "if with values": in_function(
        LOOP,
        "%0 = scf.if %c -> (f32) {\nscf.yield %x : f32\n} else {\n%1 = arith.negf %x : f32\n"
        "scf.yield %1 : f32\n}\n"
        "%2:2 = scf.if %c -> (f32, index) {\nscf.yield %x, %i : f32, index\n} else {\n"
        "scf.yield %x, %j : f32, index\n} {a}",
    ),
    "while": in_function(
        LOOP,
        "%0 = scf.while (%a = %x) : (f32) -> f32 {\nscf.condition(%c) %a : f32\n} do {\n"
        "^bb0(%b: f32):\n%1 = arith.negf %b : f32\nscf.yield %1 : f32\n}",
    ),
    "while without values": in_function(
        LOOP,
        "scf.while : () -> () {\nscf.condition(%c)\n} do {\nscf.yield\n}",
    ),
    "while of other types": in_function(
        LOOP,
        "%0:2 = scf.while (%a = %x, %n = %i) : (f32, index) -> (i1, f32) {\n"
        "scf.condition(%c) %c, %a : i1, f32\n} do {\n^bb0(%b: i1, %d: f32):\n"
        "scf.yield %d, %j : f32, index\n} attributes {a = 1 : i32}",
    ),
    "execute_region": in_function(
        LOOP,
        "%0 = scf.execute_region -> f32 {\nscf.yield %x : f32\n}\n"
        "scf.execute_region {\nscf.yield\n} {a}\n"
        "%1:2 = scf.execute_region -> (f32, i1) no_inline {\n"
        "cf.cond_br %c, ^a, ^b\n^a:\nscf.yield %x, %c : f32, i1\n^b:\n"
        "scf.yield %x, %c : f32, i1\n}",
    ),
    "index_switch": in_function(
        LOOP,
        "%0 = scf.index_switch %i {a} -> f32\ncase 2 {\nscf.yield %x : f32\n}\n"
        "case -5 {\n%1 = arith.negf %x : f32\nscf.yield %1 : f32\n}\n"
        "default {\nscf.yield %x : f32\n}\n"
        "scf.index_switch %i\ncase 7 {\nscf.yield\n}\ndefault {\n}",
    ),
    "index_switch of two values": in_function(
        LOOP,
        "%0:2 = scf.index_switch %i -> f32, index\ndefault {\nscf.yield %x, %i : f32, index\n}",
    ),
    "parallel": in_function(
        LOOP,
        "scf.parallel (%n) = (%i) to (%j) step (%k) {\n%0 = arith.addi %n, %i : index\n}\n"
        "scf.parallel (%n, %m) = (%i, %i) to (%j, %j) step (%k, %k) {\nscf.reduce\n} {a}",
    ),
    "parallel with reductions": in_function(
        LOOP,
        "%0:2 = scf.parallel (%n) = (%i) to (%j) step (%k) init (%x, %x) -> (f32, f32) {\n"
        "scf.reduce(%x, %x : f32, f32) {\n^bb0(%a: f32, %b: f32):\n"
        "%1 = arith.addf %a, %b : f32\nscf.reduce.return %1 : f32\n}, {\n"
        "^bb0(%a: f32, %b: f32):\n%1 = arith.mulf %a, %b : f32\nscf.reduce.return %1 : f32\n}\n}",
    ),
    "parallel mapped to the device": in_function(
        LOOP,
        "scf.parallel (%n) = (%i) to (%j) step (%k) {\nscf.reduce\n} {mapping = "
        "[#gpu.loop_dim_map<processor = block_x, map = (d0) -> (d0), bound = (d0) -> (d0)>]}",
    ),
}

WRONG = {
    "for of floats": (
        in_function("%x: f32", "scf.for %n = %x to %x step %x : f32 {\n}"),
        "expected a signless integer or an index, got f32",
    ),
    "for without its yield": (
        in_function(LOOP, "%0 = scf.for %n = %i to %j step %k iter_args(%a = %x) -> (f32) {\n}"),
        "'scf.for' has an empty block, which must end with a terminator",
    ),
    "for that yields another type": (
        in_function(
            LOOP,
            "%0 = scf.for %n = %i to %j step %k iter_args(%a = %x) -> (f32) {\n"
            "scf.yield %c : i1\n}",
        ),
        "expected an scf.yield of types f32, got i1",
    ),
    "for with too few types": (
        in_function(
            LOOP,
            "%0 = scf.for %n = %i to %j step %k iter_args(%a = %x, %b = %x) -> (f32) {\n"
            "scf.yield %a : f32\n}",
        ),
        "expected 2 types, one for each value, got 1",
    ),
    "if with values but no else": (
        in_function(LOOP, "%0 = scf.if %c -> (f32) {\nscf.yield %x : f32\n}"),
        "an scf.if with results must have an else region",
    ),
    "if of an index": (in_function(LOOP, "scf.if %i {\n}"), "operand is used with type i1"),
    "if that yields another type": (
        in_function(
            LOOP,
            "%0 = scf.if %c -> (f32) {\nscf.yield %c : i1\n} else {\nscf.yield %x : f32\n}",
        ),
        "expected an scf.yield of types f32, got i1",
    ),
    "while whose condition passes too much": (
        in_function(
            LOOP,
            "scf.while : () -> () {\nscf.condition(%c) %x : f32\n} do {\nscf.yield\n}",
        ),
        "expected an scf.condition of types none, got f32",
    ),
    "while without a condition": (
        in_function(LOOP, "scf.while : () -> () {\nscf.yield\n} do {\nscf.yield\n}"),
        "the first region must end with an scf.condition",
    ),
    "while that yields another type": (
        in_function(
            LOOP,
            "%0 = scf.while (%a = %x) : (f32) -> f32 {\nscf.condition(%c) %a : f32\n} do {\n"
            "^bb0(%b: f32):\nscf.yield %c : i1\n}",
        ),
        "expected an scf.yield of types f32, got i1",
    ),
    "index_switch with a case twice": (
        in_function(
            LOOP,
            "scf.index_switch %i\ncase 7 {\nscf.yield\n}\ncase 7 {\nscf.yield\n}\ndefault {\n}",
        ),
        "every case must stand once, but 7 stands twice",
    ),
    "index_switch that yields another type": (
        in_function(LOOP, "%0 = scf.index_switch %i -> f32\ndefault {\nscf.yield %c : i1\n}"),
        "expected an scf.yield of types f32, got i1",
    ),
    "parallel with too few bounds": (
        in_function(LOOP, "scf.parallel (%n, %m) = (%i, %i) to (%j) step (%k, %k) {\n}"),
        "expected as many bounds as steps, got 2 lower and 1 upper bounds and 2 steps",
    ),
    "parallel without its reduction": (
        in_function(
            LOOP,
            "%0 = scf.parallel (%n) = (%i) to (%j) step (%k) init (%x) -> f32 {\nscf.reduce\n}",
        ),
        "expected an scf.reduce of types f32, got none",
    ),
    "reduction of another type": (
        in_function(
            LOOP,
            "%0 = scf.parallel (%n) = (%i) to (%j) step (%k) init (%x) -> f32 {\n"
            "scf.reduce(%x : f32) {\n^bb0(%a: f32, %b: f32):\n"
            "scf.reduce.return %c : i1\n}\n}",
        ),
        "expected an scf.reduce.return of types f32, got i1",
    ),
    "yield elsewhere": (
        "func.func @f() {\nscf.yield\n}",
        "'scf.yield' expects parent op to be one of",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
