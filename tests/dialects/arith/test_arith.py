"""The `arith` dialect against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import (
    accepted,
    check_agreement,
    check_refusal,
    in_function,
    upstream,
    without_names,
)

VALUES = (
    "%i: i32, %n: index, %x: f32, %c: i1, %v: vector<4xi32>, %w: vector<4xf32>, %m: vector<4xi1>, "
    "%h: f16, %l: i64, %b: bf16, %t: tensor<2x?xf32>, %s: i8, %d: f64"
)

INTEGER = (
    "addi", "subi", "muli", "divui", "divsi", "ceildivui", "ceildivsi", "floordivsi", "remui",
    "remsi", "andi", "ori", "xori", "shli", "shrui", "shrsi", "maxsi", "maxui", "minsi", "minui",
)  # fmt: skip
OVERFLOW = ("addi", "subi", "muli", "shli")
EXACT = ("divui", "divsi", "shrui", "shrsi")
FLOAT = (
    "addf", "subf", "mulf", "divf", "remf", "maximumf", "maxnumf", "minimumf", "minnumf",
)  # fmt: skip
COMPARED_INTEGERS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
COMPARED_FLOATS = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
    "une", "uno", "true",
)  # fmt: skip


def piece(*lines: str) -> str:
    body = "\n".join(f"%{index} = arith.{line}" for index, line in enumerate(lines))
    return in_function(VALUES, body)


RIGHT = {
    **{
        name: piece(
            f"{name} %i, %i : i32", f"{name} %v, %v : vector<4xi32>", f"{name} %n, %n {{a}} : index"
        )
        for name in INTEGER
    },
    **{
        f"{name} without overflow": piece(
            f"{name} %i, %i overflow<nsw> : i32",
            f"{name} %v, %v overflow<nuw> {{a}} : vector<4xi32>",
        )
        for name in OVERFLOW
    },
    **{f"exact {name}": piece(f"{name} %i, %i exact {{a}} : i32") for name in EXACT},
    **{
        name: piece(
            f"{name} %x, %x : f32",
            f"{name} %w, %w {{a}} : vector<4xf32>",
            f"{name} %h, %h fastmath<fast> : f16",
            f"{name} %b, %b fastmath<nnan,contract> : bf16",
            f"{name} %t, %t : tensor<2x?xf32>",
        )
        for name in FLOAT
    },
    "negf": piece(
        "negf %x : f32", "negf %w {a} : vector<4xf32>", "negf %d fastmath<reassoc> : f64"
    ),
    "cmpi": piece(*(f"cmpi {name}, %i, %i : i32" for name in COMPARED_INTEGERS)),
    "cmpi of vectors": piece("cmpi slt, %v, %v {a} : vector<4xi32>", "cmpi eq, %n, %n : index"),
    "cmpf": piece(*(f"cmpf {name}, %x, %x : f32" for name in COMPARED_FLOATS)),
    "cmpf with fast mathematics": piece(
        "cmpf olt, %w, %w fastmath<nnan,ninf> : vector<4xf32>",
        "cmpf oeq, %t, %t {a} : tensor<2x?xf32>",
    ),
    "select": piece(
        "select %c, %x, %x : f32",
        "select %m, %w, %w : vector<4xi1>, vector<4xf32>",
        "select %c, %w, %w {a} : vector<4xf32>",
        "select %c, %n, %n : index",
    ),
    "extensions": piece(
        "extsi %i : i32 to i64",
        "extui %v {a} : vector<4xi32> to vector<4xi64>",
        "extui %i {nonNeg} : i32 to i64",
        "extui %c : i1 to i32",
    ),
    "truncations": piece(
        "trunci %i : i32 to i8",
        "trunci %v overflow<nsw> : vector<4xi32> to vector<4xi16>",
        "trunci %l overflow<nuw> {a} : i64 to i32",
    ),
    "extf": piece(
        "extf %h : f16 to f32",
        "extf %b fastmath<fast> : bf16 to f64",
        "extf %w {a} : vector<4xf32> to vector<4xf64>",
    ),
    "truncf": piece(
        "truncf %x : f32 to f16",
        "truncf %w {a} : vector<4xf32> to vector<4xbf16>",
        "truncf %d to_nearest_even : f64 to f32",
        "truncf %d downward fastmath<fast> : f64 to f32",
        "truncf %d upward {a} : f64 to f32",
        "truncf %d toward_zero : f64 to f32",
        "truncf %d to_nearest_away : f64 to f32",
        "truncf %x fastmath<contract> : f32 to f8E4M3FN",
    ),
    "scaling": in_function(
        "%a: f4E2M1FN, %s: f8E8M0FNU, %x: f32",
        "%0 = arith.scaling_extf %a, %s : f4E2M1FN, f8E8M0FNU to f32\n"
        "%1 = arith.scaling_extf %a, %s fastmath<fast> {a} : f4E2M1FN, f8E8M0FNU to f16\n"
        "%2 = arith.scaling_truncf %x, %s : f32, f8E8M0FNU to f4E2M1FN\n"
        "%3 = arith.scaling_truncf %x, %s to_nearest_even fastmath<fast> : "
        "f32, f8E8M0FNU to f4E2M1FN",
    ),
    "casts of integers and floats": piece(
        "sitofp %i : i32 to f32",
        "uitofp %v : vector<4xi32> to vector<4xf16>",
        "fptosi %x {a} : f32 to i8",
        "fptoui %w : vector<4xf32> to vector<4xi64>",
    ),
    "index casts": piece(
        "index_cast %n : index to i64",
        "index_cast %v : vector<4xi32> to vector<4xindex>",
        "index_castui %i {a} : i32 to index",
        "index_castui %v : vector<4xi32> to vector<4xindex>",
    ),
    "bitcast": piece(
        "bitcast %x : f32 to i32",
        "bitcast %w {a} : vector<4xf32> to vector<4xi32>",
        "bitcast %h : f16 to bf16",
    ),
    "bitcast of memrefs": in_function(
        "%a: memref<4xf32>, %b: memref<4xi32>",
        "%0 = arith.bitcast %a : memref<4xf32> to memref<4xi32>\n"
        "%1 = arith.index_cast %b : memref<4xi32> to memref<4xindex>",
    ),
    "addui_extended": in_function(
        VALUES,
        "%0, %1 = arith.addui_extended %i, %i : i32, i1\n"
        "%2:2 = arith.addui_extended %v, %v {a} : vector<4xi32>, vector<4xi1>",
    ),
    "extended products": in_function(
        VALUES,
        "%0, %1 = arith.mulsi_extended %i, %i : i32\n"
        "%2, %3 = arith.mului_extended %v, %v {a} : vector<4xi32>\n"
        "%4, %5 = arith.mului_extended %n, %n : index",
    ),
    "constants": piece(
        "constant 42 : i32",
        "constant -1 : i8",
        "constant true",
        "constant false",
        "constant 7 : index",
        "constant 1.5 : f32",
        "constant 1.0 : f16",
        "constant 0.1 : f64",
        "constant 1.0e-9 : bf16",
        "constant {a} 3 : i64",
        "constant 0x7F800000 : f32",
        "constant 0xFFC0 : bf16",
        "constant dense<1.0> : vector<4xf32>",
        "constant dense<[1, 2, 3]> : vector<3xindex>",
        "constant dense<[[1, 2], [3, 4]]> : vector<2x2xi8>",
        "constant dense<true> : vector<4xi1>",
        "constant dense<[true, false]> : vector<2xi1>",
        "constant dense<0xFF800000> : vector<8xf32>",
        "constant dense<0.0> : tensor<4xf16>",
        "constant dense<[0x7E00, 0x3C00]> : vector<2xf16>",
        "constant 5 : i128",
    ),
}

WRONG = {
    "sum of floats": (
        piece("addi %x, %x : f32"),
        "expected a signless integer, an index, or a vector or tensor of them, got f32",
    ),
    "sum of integers": (
        piece("addf %i, %i : i32"),
        "expected a float, or a vector or tensor of floats, got i32",
    ),
    "sum of two types": (
        in_function(VALUES, '%0 = "arith.addi"(%i, %l) : (i32, i64) -> i32'),
        "attribute i32 expected from variable 'T', but got i64",
    ),
    "sum of signed integers": (
        in_function("%i: si32", "%0 = arith.addi %i, %i : si32"),
        "expected a signless integer, an index, or a vector or tensor of them, got si32",
    ),
    "unknown overflow": (
        piece("addi %i, %i overflow<no> : i32"),
        "expected one of none, nsw, nuw, got no",
    ),
    "unknown fast mathematics": (
        piece("addf %x, %x fastmath<slow> : f32"),
        "Expected `reassoc`, `nnan`",
    ),
    "unknown comparison": (
        piece("cmpi lt, %i, %i : i32"),
        "expected one of eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge, got lt",
    ),
    "comparison of floats": (
        piece("cmpi slt, %x, %x : f32"),
        "or a vector or tensor of them, got f32",
    ),
    "comparison to an integer": (
        in_function(
            VALUES, '%0 = "arith.cmpi"(%i, %i) <{predicate = 2 : i64}> : (i32, i32) -> i32'
        ),
        "expected an i1, or a vector or tensor of i1, got i32",
    ),
    "extension to fewer bits": (
        piece("extsi %i : i32 to i8"),
        "expected a result wider than i32, got i8",
    ),
    "extension to as many bits": (
        piece("extui %i : i32 to i32"),
        "expected a result wider than i32, got i32",
    ),
    "truncation to more bits": (
        piece("trunci %i : i32 to i64"),
        "expected a result narrower than i32, got i64",
    ),
    "extf to fewer bits": (
        piece("extf %x : f32 to f16"),
        "expected a result wider than f32, got f16",
    ),
    "truncf to more bits": (
        piece("truncf %x : f32 to f64"),
        "expected a result narrower than f32, got f64",
    ),
    "truncf to as many bits": (
        piece("truncf %h : f16 to bf16"),
        "expected a result narrower than f16, got bf16",
    ),
    "unknown rounding": (piece("truncf %x up : f32 to f16"), "Expected ':'"),
    "extension to another shape": (
        piece("extsi %v : vector<4xi32> to vector<8xi64>"),
        "expected equal shapes, got vector<4xi32> and vector<8xi64>",
    ),
    "cast of a float": (
        piece("sitofp %x : f32 to f64"),
        "expected a signless integer, or a vector or tensor of them, got f32",
    ),
    "cast to an index": (
        piece("fptosi %x : f32 to index"),
        "expected a signless integer, or a vector or tensor of them, got index",
    ),
    "index cast between integers": (
        piece("index_cast %i : i32 to i64"),
        "expected a cast between an index and an integer, got i32 to i64",
    ),
    "index cast of a float": (
        piece("index_cast %x : f32 to index"),
        "a vector, tensor or memref of them, got f32",
    ),
    "bitcast to another width": (
        piece("bitcast %x : f32 to i64"),
        "expected types of equal width, got f32 and i64",
    ),
    "bitcast to another shape": (
        piece("bitcast %w : vector<4xf32> to vector<2xi32>"),
        "expected equal shapes, got vector<4xf32> and vector<2xi32>",
    ),
    "select by an integer": (piece("select %i, %x, %x : f32"), "operand is used with type i1"),
    "select of another shape": (
        in_function(
            "%c: vector<4xi1>, %a: vector<8xf32>",
            "%0 = arith.select %c, %a, %a : vector<4xi1>, vector<8xf32>",
        ),
        "expected a condition of type i1 or vector<8xi1>, got vector<4xi1>",
    ),
    "constant without a type": (piece("constant dense<1>"), "Expected ':' in dense attribute"),
    "constant of a float type": (piece("constant 1 : f32x"), "type expected"),
    "constant too wide": (
        piece("constant 300 : i8"),
        "Integer value 300 is out of range for type i8",
    ),
    "constant of signed integers": (
        piece("constant 3 : si8"),
        "Expected attribute #builtin.signedness<signless>",
    ),
    "overflow of another type": (
        in_function(VALUES, "%0, %1 = arith.addui_extended %i, %i : i32, i8"),
        "Expected attribute i1 but got i8",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


def test_prints_two_overflow_flags_as_mlir_opt() -> None:
    # xDSL's attribute stands without the space in the generic form.
    text = piece(
        "addi %n, %n overflow<nsw, nuw> : index", "trunci %l overflow<nsw,nuw> : i64 to i8"
    )
    (expected,) = upstream((text,))
    assert without_names(accepted(text).custom) == without_names(expected.custom)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
