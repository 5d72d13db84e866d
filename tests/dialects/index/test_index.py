"""The `index` dialect against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function
from xtile.dialects.index import BinaryOperation, Index, IndexCmpPredicate

BINARY = [
    operation.name.removeprefix("index.")
    for operation in Index.operations
    if issubclass(operation, BinaryOperation)
]

RIGHT = {
    **{
        name: in_function("%a: index, %b: index", f"%0 = index.{name} %a, %b {{x}}")
        for name in BINARY
    },
    **{
        f"cmp {predicate}": in_function(
            "%a: index, %b: index", f"%0 = index.cmp {predicate.value}(%a, %b)"
        )
        for predicate in IndexCmpPredicate
    },
    "casts": in_function(
        "%a: index, %b: i32",
        "%0 = index.casts %a : index to i64\n%1 = index.casts %b {x} : i32 to index",
    ),
    "castu": in_function(
        "%a: index, %b: i32",
        "%0 = index.castu %a : index to i64\n%1 = index.castu %b : i32 to index",
    ),
    "constants": in_function(
        "",
        "%0 = index.constant 42\n%1 = index.constant -3\n%2 = index.constant {x} 0\n"
        "%3 = index.bool.constant true\n%4 = index.bool.constant false\n%5 = index.sizeof",
    ),
}

WRONG = {
    "sum of i32": (
        in_function("%a: i32", '%0 = "index.add"(%a, %a) : (i32, i32) -> index'),
        "Expected attribute index but got i32",
    ),
    "unknown comparison": (
        in_function("%a: index", "%0 = index.cmp lt(%a, %a)"),
        "Expected `eq`, `ne`, `slt`",
    ),
    "cast between integers": (
        in_function("%a: i32", "%0 = index.casts %a : i32 to i64"),
        "expected a cast between an index and an integer, got i32 to i64",
    ),
    "cast of a float": (
        in_function("%a: f32", "%0 = index.castu %a : f32 to index"),
        "expected an integer or an index, got f32",
    ),
}


def test_has_every_operation_of_mlir() -> None:
    assert len(BINARY) == 20
    assert len(list(Index.operations)) == 26


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
