"""Cooperative matrices: what they become computes the same on the reference device."""

from __future__ import annotations

from random import Random

import pytest

import xtile
from tests.translate.tensorlang_to_core.agreement import agrees, pairs
from xtile.translate.tensorlang_to_core import translate_module


def _agree(text: str) -> bool:
    """Whether a function can be executed, and agrees with what it becomes."""
    source = xtile.parse(text, language="tensorlang")
    ((function, kernel),) = pairs(source, translate_module(source))
    return all(agrees(function, kernel, Random(seed)) for seed in range(2))


def _spmd(parameters: str, body: str, attributes: str = "subgroup_size=16") -> str:
    """A function whose instructions are executed by two subgroups."""
    return (
        f"func @f({parameters}) attributes {{{attributes}, work_group_size=[32,1]}} {{\n"
        f"    %c0 = constant 0 : index\n    parallel {{\n{body}\n    }}\n}}\n"
    )


@pytest.mark.parametrize("transpose", ["n", "t"])
@pytest.mark.parametrize("checked", ["", ".rows_checked", ".cols_checked", ".both_checked"])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (-3, 0), (0, -2), (9, 5)])
def test_loads_and_stores(transpose: str, checked: str, x: int, y: int) -> None:
    text = _spmd(
        "%A: memref<f32x?x?>, %B: memref<f32x40x40>",
        f"""
        %x = constant {x} : index
        %y = constant {y} : index
        %c8 = constant 8 : index
        %m = cooperative_matrix_load.{transpose}{checked} %A[%x,%y]
            : coopmatrix<f32x16x8,matrix_acc>
        cooperative_matrix_store.{transpose}{checked} %m, %B[%x,%y]
        cooperative_matrix_store.{transpose} %m, %B[%c8,%c8]""",
    )
    # Without a check, an access to a negative index can leave the memory.
    assert _agree(text) or (min(x, y) < 0 and checked != ".both_checked")


@pytest.mark.parametrize("kind", ["add", "max", "min"])
@pytest.mark.parametrize("transpose", ["n", "t"])
@pytest.mark.parametrize("checked", ["rows_checked", "cols_checked", "both_checked"])
def test_atomic_updates(kind: str, transpose: str, checked: str) -> None:
    access = f"{transpose}.{checked}"
    text = _spmd(
        "%A: memref<f32x?x?>, %B: memref<f32x40x40>",
        f"""
        %m = cooperative_matrix_atomic_load.{access} %A[%c0,%c0] : coopmatrix<f32x16x8,matrix_acc>
        %two = constant 2.5 : f32
        %n = cooperative_matrix_scale %two, %m : coopmatrix<f32x16x8,matrix_acc>
        %old = cooperative_matrix_atomic_{kind}.{access} %n, %A[%c0,%c0]
            : coopmatrix<f32x16x8,matrix_acc>
        cooperative_matrix_atomic_store %old, %B[%c0,%c0]""",
    )
    assert _agree(text)


PRODUCTS = [
    ("f16", "f16", "f32", "f32"),
    ("f16", "f16", "f16", "f32"),
    ("bf16", "bf16", "f32", "bf16"),
    ("i8", "i8", "i32", "i32"),
    ("i8", "i8", "i8", "i16"),
    ("i8", "f16", "f32", "f64"),
    ("i16", "i16", "index", "index"),
    ("f64", "f64", "f64", "f32"),
]


@pytest.mark.parametrize("types", PRODUCTS, ids=" ".join)
def test_products(types: tuple[str, str, str, str]) -> None:
    a, b, c, d = types
    text = _spmd(
        f"%A: memref<{a}x16x12>, %B: memref<{b}x12x6>, %C: memref<{c}x16x6>, %D: memref<{d}x16x6>",
        f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<{a}x16x12,matrix_a>
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<{b}x12x6,matrix_b>
        %c = cooperative_matrix_load %C[%c0,%c0] : coopmatrix<{c}x16x6,matrix_acc>
        %d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<{d}x16x6,matrix_acc>
        cooperative_matrix_store %d, %D[%c0,%c0]""",
    )
    assert _agree(text)


@pytest.mark.parametrize(("mode", "shape"), [("row", "16x1"), ("column", "1x6")])
@pytest.mark.parametrize("kind", ["add", "max", "min"])
@pytest.mark.parametrize("type", ["f16", "i8", "f32", "index"])
def test_reductions(mode: str, shape: str, kind: str, type: str) -> None:
    text = _spmd(
        f"%A: memref<{type}x16x6>, %B: memref<{type}x16x6>",
        f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<{type}x16x6,matrix_acc>
        %r = cooperative_matrix_reduce_{kind}.{mode} %a : coopmatrix<{type}x{shape},matrix_acc>
        cooperative_matrix_store %r, %B[%c0,%c0]""",
    )
    assert _agree(text)


def test_the_maximum_of_what_is_no_number() -> None:
    text = _spmd(
        "%B: memref<f32x16x1>",
        """
        %a = constant nan : coopmatrix<f32x16x6,matrix_acc>
        %r = cooperative_matrix_reduce_max.row %a : coopmatrix<f32x16x1,matrix_acc>
        cooperative_matrix_store %r, %B[%c0,%c0]""",
    )
    assert _agree(text)


@pytest.mark.parametrize("use", ["matrix_a", "matrix_b", "matrix_acc"])
@pytest.mark.parametrize("type", ["i8", "i16", "f32"])
@pytest.mark.parametrize(("rows", "columns", "length"), [(64, 3, 12), (32, 5, 10), (8, 5, 3)])
def test_entries(use: str, type: str, rows: int, columns: int, length: int) -> None:
    """Each entry of each work-item, and a matrix in which each one has replaced it."""
    matrix = f"coopmatrix<{type}x{rows}x{columns},{use}>"
    lines = [f"        %m = cooperative_matrix_load %A[%c0,%c0] : {matrix}"]
    lines += ["        %lane = subgroup_local_id : i32", "        %i = cast %lane : index"]
    lines += [f"        %new = cast %lane : {type}"]
    for entry in range(length):
        lines += [
            f"        %j{entry} = constant {entry} : index",
            f"        %e{entry} = cooperative_matrix_extract %m[{entry}] : {type}",
            f"        store %e{entry}, %B[%i,%j{entry}]",
            f"        %n{entry} = cooperative_matrix_insert %new, %m[{entry}] : {matrix}",
            f"        %x{entry} = constant {entry * 5} : index",
            f"        cooperative_matrix_store %n{entry}, %C[%c0,%x{entry}]",
        ]
    parameters = (
        f"%A: memref<{type}x{rows}x{columns}>, %B: memref<{type}x16x{length}>, "
        f"%C: memref<{type}x{rows}x{5 * length + columns}>"
    )
    assert _agree(_spmd(parameters, "\n".join(lines)))


def test_components_see_their_place_and_their_work_item() -> None:
    text = _spmd(
        "%A: memref<f32x32x5>, %B: memref<f32x32x5>, %C: memref<f32x32x5>, %D: memref<f32x32x5>",
        """
        %m = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x32x5,matrix_acc>
        %lane = subgroup_local_id : i32
        %factor = cast %lane : f32
        %r = cooperative_matrix_apply (%i,%j,%v)=%m -> coopmatrix<f32x32x5,matrix_acc> {
            %hundred = constant 100 : i32
            %high = mul %i, %hundred : i32
            %place = add %high, %j : i32
            %number = cast %place : f32
            %sum = add %number, %v : f32
            %own = add %sum, %factor : f32
            %x = cast %i : index
            %y = cast %j : index
            store %own, %D[%x,%y]
            yield (%own)
        }
        cooperative_matrix_store %r, %B[%c0,%c0]
        %s = cooperative_matrix_scale %factor, %m : coopmatrix<f32x32x5,matrix_acc>
        cooperative_matrix_store %s, %C[%c0,%c0]""",
    )
    assert _agree(text)
