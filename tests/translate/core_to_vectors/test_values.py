"""Cooperative matrices in private memory of a work-item compute what they do in a subgroup."""

from __future__ import annotations

from itertools import product

import pytest

from tests.samples import one_of
from tests.translate.core_to_vectors.vectorized import of_subgroups, vectors_agree

# --- memory ---


@pytest.mark.parametrize("transpose", ["n", "t"])
@pytest.mark.parametrize("checked", ["", ".rows_checked", ".cols_checked", ".both_checked"])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (-3, -2), (9, 5), (3, 30)])
@pytest.mark.parametrize(("type", "shape"), [("f32", "16x8"), ("f16", "13x5"), ("bf16", "32x3")])
def test_loads_and_stores(
    transpose: str, checked: str, x: int, y: int, type: str, shape: str
) -> None:
    text = of_subgroups(
        f"%A: memref<{type}x?x?>, %B: memref<{type}x40x40>",
        f"""
        %x = constant {x} : index
        %y = constant {y} : index
        %c2 = constant 2 : index
        %m = cooperative_matrix_load.{transpose}{checked} %A[%x,%y]
            : coopmatrix<{type}x{shape},matrix_acc>
        cooperative_matrix_store.{transpose}{checked} %m, %B[%x,%y]
        cooperative_matrix_store.{transpose} %m, %B[%c2,%c2]""",
    )
    # Without a check, an access outside can leave the memory, or touch what else is in it.
    assert vectors_agree(text) or checked != ".both_checked"


@pytest.mark.parametrize("transpose", ["n", "t"])
@pytest.mark.parametrize("checked", ["", ".both_checked"])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (1, 0), (0, 1), (-1, 2), (3, -1)])
def test_a_matrix_is_read_before_it_is_written(
    transpose: str, checked: str, x: int, y: int
) -> None:
    """Although what is between the two is one loop."""
    text = of_subgroups(
        "%A: memref<f32x80x80>",
        f"""
        %c4 = constant 4 : index
        %x = constant {4 + x} : index
        %y = constant {4 + y} : index
        %m = cooperative_matrix_load{checked} %A[%c4,%c4] : coopmatrix<f32x40x40,matrix_acc>
        %n = neg %m : coopmatrix<f32x40x40,matrix_acc>
        cooperative_matrix_store.{transpose}{checked} %n, %A[%x,%y]""",
    )
    assert vectors_agree(text)


@pytest.mark.parametrize("checked", ["n", "n.both_checked", "t"])
def test_memory_whose_rows_are_no_neighbours(checked: str) -> None:
    text = of_subgroups(
        "%A: memref<f32x20x10,strided<2,50>>, %B: memref<f32x20x10,strided<3,70>>",
        f"""
        %c3 = constant 3 : index
        %m = cooperative_matrix_load.{checked} %A[%c3,%c0] : coopmatrix<f32x8x4,matrix_acc>
        cooperative_matrix_store.{checked} %m, %B[%c3,%c0]""",
    )
    assert vectors_agree(text)


@pytest.mark.parametrize(
    ("kind", "transpose", "checked", "type"),
    one_of(
        2,
        product(
            ["add", "max", "min"],
            ["n", "t"],
            ["rows_checked", "cols_checked", "both_checked"],
            ["f32", "bf16", "i32", "index"],
        ),
    ),
)
def test_atomic_updates(kind: str, transpose: str, checked: str, type: str) -> None:
    access = f"{transpose}.{checked}"
    matrix = f"coopmatrix<{type}x16x8,matrix_acc>"
    text = of_subgroups(
        f"%A: memref<{type}x?x?>, %B: memref<{type}x40x40>",
        f"""
        %m = cooperative_matrix_atomic_load.{access} %A[%c0,%c0] : {matrix}
        %two = constant 2 : {type}
        %n = cooperative_matrix_scale %two, %m : {matrix}
        %old = cooperative_matrix_atomic_{kind}.{access} %n, %A[%c0,%c0] : {matrix}
        cooperative_matrix_atomic_store %old, %B[%c0,%c0]""",
    ).replace("constant 2 : ", "constant 2.0 : " if type in ("f32", "bf16") else "constant 2 : ")
    assert vectors_agree(text)


def test_what_is_read_before_it_is_overwritten_stays_what_it_was() -> None:
    text = of_subgroups(
        "%A: memref<f32x16x4>, %B: memref<f32x16x4>",
        """
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x16x4,matrix_acc>
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<f32x16x4,matrix_acc>
        cooperative_matrix_store %b, %A[%c0,%c0]
        cooperative_matrix_store %a, %B[%c0,%c0]""",
    )
    assert vectors_agree(text)


# --- products ---

PRODUCTS = [
    ("f16", "f16", "f32", "f32"),
    ("f16", "f16", "f16", "f32"),
    ("bf16", "bf16", "f32", "bf16"),
    ("bf16", "bf16", "f64", "f64"),
    ("f32", "f32", "f32", "f32"),
    ("i8", "i8", "i32", "i32"),
    ("i8", "i8", "i8", "i16"),
    ("i8", "f16", "f32", "f64"),
    ("i16", "i16", "index", "index"),
    ("f64", "f64", "f64", "f32"),
]


def _product(types: tuple[str, str, str, str], shape: tuple[int, int, int]) -> str:
    a, b, c, d = types
    m, n, k = shape
    return of_subgroups(
        f"%A: memref<{a}x{m}x{k}>, %B: memref<{b}x{k}x{n}>, %C: memref<{c}x{m}x{n}>, "
        f"%D: memref<{d}x{m}x{n}>",
        f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<{a}x{m}x{k},matrix_a>
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<{b}x{k}x{n},matrix_b>
        %c = cooperative_matrix_load %C[%c0,%c0] : coopmatrix<{c}x{m}x{n},matrix_acc>
        %d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<{d}x{m}x{n},matrix_acc>
        cooperative_matrix_store %d, %D[%c0,%c0]""",
        size=4,
        work_group_size=(4, 1),
    )


@pytest.mark.parametrize("types", PRODUCTS, ids=" ".join)
@pytest.mark.parametrize("shape", [(16, 6, 12), (28, 13, 5)], ids=str)
def test_products_of_each_type(
    types: tuple[str, str, str, str], shape: tuple[int, int, int]
) -> None:
    assert vectors_agree(_product(types, shape))


SHAPES = [
    (4, 1, 1),
    (4, 1, 9),
    (4, 17, 3),
    (20, 1, 3),
    (16, 16, 1),
    (32, 32, 16),
    (64, 8, 4),
    (28, 25, 6),
    (48, 37, 2),
    (64, 53, 20),
    (40, 98, 33),
    (128, 3, 2),
]
"""Rows, columns and depth in the tensor language: its rows are the elements of vectors."""


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("type", ["f32", "f16"])
def test_products_of_each_shape(type: str, shape: tuple[int, int, int]) -> None:
    assert vectors_agree(_product((type, type, "f32", "f32"), shape))


def test_products_of_what_is_computed() -> None:
    """Factors and sums that are computed where they are used."""
    text = of_subgroups(
        "%A: memref<f16x32x8>, %B: memref<f16x8x16>, %C: memref<f32x32x16>, %s: f32, %t: f16",
        """
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f16x32x8,matrix_a>
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<f16x8x16,matrix_b>
        %c = cooperative_matrix_load %C[%c0,%c0] : coopmatrix<f32x32x16,matrix_acc>
        %a2 = cooperative_matrix_scale %t, %a : coopmatrix<f16x32x8,matrix_a>
        %b2 = mul %b, %b : coopmatrix<f16x8x16,matrix_b>
        %c2 = cooperative_matrix_scale %s, %c : coopmatrix<f32x32x16,matrix_acc>
        %d = cooperative_matrix_mul_add %a2, %b2, %c2 : coopmatrix<f32x32x16,matrix_acc>
        %e = sub %d, %c : coopmatrix<f32x32x16,matrix_acc>
        cooperative_matrix_store %e, %C[%c0,%c0]""",
    )
    assert vectors_agree(text)


def test_a_product_with_constants() -> None:
    text = of_subgroups(
        "%B: memref<f32x5x16>, %C: memref<f32x32x16>",
        """
        %a = constant 3.0 : coopmatrix<f32x32x5,matrix_a>
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<f32x5x16,matrix_b>
        %c = constant 1.0 : coopmatrix<f32x32x16,matrix_acc>
        %d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<f32x32x16,matrix_acc>
        cooperative_matrix_store %d, %C[%c0,%c0]""",
    )
    assert vectors_agree(text)


@pytest.mark.parametrize("type", ["f16", "f32", "i8"])
def test_the_product_of_a_column_and_a_row(type: str) -> None:
    wide = "i32" if type == "i8" else "f32"
    text = of_subgroups(
        f"%A: memref<{type}x32x1>, %B: memref<{type}x1x9>, %C: memref<{wide}x32x9>",
        f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<{type}x32x1,matrix_a>
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<{type}x1x9,matrix_b>
        %c = cooperative_matrix_load %C[%c0,%c0] : coopmatrix<{wide}x32x9,matrix_acc>
        %d = cooperative_matrix_mul_add %a, %b, %c : coopmatrix<{wide}x32x9,matrix_acc>
        %e = mul %d, %c : coopmatrix<{wide}x32x9,matrix_acc>
        cooperative_matrix_store %e, %C[%c0,%c0]""",
    )
    assert vectors_agree(text)


# --- reductions ---


@pytest.mark.parametrize(
    ("mode", "kind", "type", "shape"),
    one_of(
        2,
        product(
            ["row", "column"],
            ["add", "max", "min"],
            ["f16", "bf16", "i8", "f32", "f64", "index"],
            [(16, 6), (44, 3), (4, 21), (64, 1)],
        ),
    ),
    ids=str,
)
def test_reductions(mode: str, kind: str, type: str, shape: tuple[int, int]) -> None:
    m, n = shape
    result = f"{m if mode == 'row' else 1}x{n if mode == 'column' else 1}"
    text = of_subgroups(
        f"%A: memref<{type}x{m}x{n}>, %B: memref<{type}x64x64>",
        f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<{type}x{m}x{n},matrix_acc>
        %b = add %a, %a : coopmatrix<{type}x{m}x{n},matrix_acc>
        %r = cooperative_matrix_reduce_{kind}.{mode} %b : coopmatrix<{type}x{result},matrix_acc>
        %s = add %r, %r : coopmatrix<{type}x{result},matrix_acc>
        cooperative_matrix_store %s, %B[%c0,%c0]""",
        size=4,
        work_group_size=(4, 1),
    )
    assert vectors_agree(text)


def test_the_maximum_of_what_is_no_number() -> None:
    text = of_subgroups(
        "%B: memref<f32x16x1>",
        """
        %a = constant nan : coopmatrix<f32x16x6,matrix_acc>
        %r = cooperative_matrix_reduce_max.row %a : coopmatrix<f32x16x1,matrix_acc>
        cooperative_matrix_store %r, %B[%c0,%c0]""",
    )
    assert vectors_agree(text)


# --- elementwise ---


@pytest.mark.parametrize("to", ["f16", "bf16", "f32", "f64", "i8", "i64"])
@pytest.mark.parametrize("type", ["f16", "bf16", "f32", "f64", "i8", "i64"])
def test_casts(type: str, to: str) -> None:
    text = of_subgroups(
        f"%A: memref<{type}x19x5>, %B: memref<{to}x19x5>",
        f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<{type}x19x5,matrix_acc>
        %b = cast %a : coopmatrix<{to}x19x5,matrix_acc>
        cooperative_matrix_store %b, %B[%c0,%c0]""",
    )
    assert vectors_agree(text)


def test_components_see_their_place() -> None:
    text = of_subgroups(
        "%A: memref<f32x37x5>, %B: memref<f32x37x5>, %n: i32",
        """
        %m = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x37x5,matrix_acc>
        %r = cooperative_matrix_apply (%i,%j,%v)=%m -> coopmatrix<f32x37x5,matrix_acc> {
            %hundred = constant 100 : i32
            %high = mul %i, %hundred : i32
            %place = add %high, %j : i32
            %number = cast %place : f32
            %is_low = less_than %i, %n : bool
            %x = if %is_low -> (f32) {
                %sum = add %number, %v : f32
                yield (%sum)
            } else {
                yield (%v)
            }
            yield (%x)
        }
        cooperative_matrix_store %r, %B[%c0,%c0]""",
    )
    assert vectors_agree(text, 4)


def test_components_that_are_computed_one_by_one() -> None:
    """The body loads, stores, divides and loops."""
    text = of_subgroups(
        "%A: memref<i32x32x5>, %B: memref<i32x32x5>, %C: memref<i32x32x5>, %D: memref<i32x32>",
        """
        %c3 = constant 3 : index
        %c1 = constant 1 : index
        %m = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<i32x32x5,matrix_acc>
        %r = cooperative_matrix_apply (%i,%j,%v)=%m -> coopmatrix<i32x32x5,matrix_acc> {
            %x = cast %i : index
            %y = cast %j : index
            %d = load %D[%x] : i32
            %zero = constant 0 : i32
            %has_divisor = not_equal %d, %zero : bool
            %q = if %has_divisor -> (i32) {
                %quotient = div %v, %d : i32
                yield (%quotient)
            } else {
                yield (%v)
            }
            %s = for %k=%c0,%c3 init(%sum=%q) -> (i32) {
                %next = add %sum, %i : i32
                yield (%next)
            }
            store %s, %C[%x,%y]
            yield (%s)
        }
        cooperative_matrix_store %r, %B[%c0,%c0]""",
    )
    assert vectors_agree(text)


# --- control flow ---

_MATRIX = "coopmatrix<f32x16x5,matrix_acc>"


def test_matrices_that_a_loop_exchanges() -> None:
    text = of_subgroups(
        "%A: memref<f32x16x5>, %B: memref<f32x16x5>, %n: index",
        f"""
        %c1 = constant 1 : index
        %c5 = constant 5 : index
        %a = cooperative_matrix_load %A[%c0,%c0] : {_MATRIX}
        %b = cooperative_matrix_load %B[%c0,%c0] : {_MATRIX}
        %x, %y, %z = for %k=%c0,%c5,%c1 init(%p=%a, %q=%b, %r=%a)
                -> ({_MATRIX},{_MATRIX},{_MATRIX}) {{
            %s = add %p, %q : {_MATRIX}
            yield (%q, %s, %p)
        }}
        %d = sub %y, %z : {_MATRIX}
        cooperative_matrix_store %x, %A[%c0,%c0]
        cooperative_matrix_store %d, %B[%c0,%c0]""",
    )
    assert vectors_agree(text)


def test_a_loop_whose_matrices_are_computed_in_place_and_needed_before() -> None:
    """The first matrix of an iteration is still needed when the next one is known."""
    text = of_subgroups(
        "%A: memref<f32x16x5>, %B: memref<f32x16x16>",
        f"""
        %c1 = constant 1 : index
        %c4 = constant 4 : index
        %a = cooperative_matrix_load %A[%c0,%c0] : {_MATRIX}
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<f32x16x16,matrix_a>
        %x, %y = for %k=%c0,%c4,%c1 init(%p=%a, %q=%a) -> ({_MATRIX},{_MATRIX}) {{
            %f = cast %p : coopmatrix<f32x16x5,matrix_b>
            %next = cooperative_matrix_mul_add %b, %f, %p : {_MATRIX}
            %growth = sub %next, %p : {_MATRIX}
            %sum = add %growth, %q : {_MATRIX}
            %half = constant 0.03125 : f32
            %small = cooperative_matrix_scale %half, %next : {_MATRIX}
            yield (%small, %sum)
        }}
        cooperative_matrix_store %y, %A[%c0,%c0]""",
    )
    assert vectors_agree(text)


@pytest.mark.parametrize("n", [0, 1])
def test_matrices_of_a_branch(n: int) -> None:
    text = of_subgroups(
        "%A: memref<f32x16x5>, %B: memref<f32x16x5>",
        f"""
        %n = constant {n} : index
        %size = size %A[0] : index
        %m = load %A[%c0,%c0] : f32
        %zero = constant 0.0 : f32
        %is = greater_than %m, %zero : bool
        %a = cooperative_matrix_load %A[%c0,%n] : {_MATRIX.replace("x5", "x4")}
        %x, %k = if %is -> ({_MATRIX.replace("x5", "x4")}, f32) {{
            %b = add %a, %a : {_MATRIX.replace("x5", "x4")}
            yield (%b, %m)
        }} else {{
            yield (%a, %zero)
        }}
        %y = cooperative_matrix_scale %k, %x : {_MATRIX.replace("x5", "x4")}
        cooperative_matrix_store %y, %B[%c0,%c0]""",
    )
    assert vectors_agree(text, 6)


# --- subgroups ---


def test_subgroups_and_sizes() -> None:
    """Four work-items do the work of 2 x 2 subgroups, and see the sizes of the source."""
    text = of_subgroups(
        "%A: memref<i32x64x8>, %B: memref<i32x64x8>",
        """
        %x = subgroup_id.x : i32
        %y = subgroup_id.y : i32
        %nx = num_subgroups.x : i32
        %ny = num_subgroups.y : i32
        %s = subgroup_size : i32
        %i = mul %x, %s : i32
        %j0 = mul %y, %ny : i32
        %j = add %j0, %nx : i32
        %ii = cast %i : index
        %jj = cast %j : index
        %m = cooperative_matrix_load %A[%ii,%c0] : coopmatrix<i32x16x2,matrix_acc>
        %n = cooperative_matrix_scale %s, %m : coopmatrix<i32x16x2,matrix_acc>
        cooperative_matrix_store %n, %B[%ii,%jj]""",
        work_group_size=(32, 2),
    )
    assert vectors_agree(text)


def test_subgroups_exchange_matrices_through_local_memory() -> None:
    text = of_subgroups(
        "%A: memref<f32x64x4>, %B: memref<f32x64x4>",
        """
        %x = subgroup_id.x : i32
        %three = constant 3 : i32
        %other = sub %three, %x : i32
        %size = constant 16 : i32
        %i = mul %x, %size : i32
        %j = mul %other, %size : i32
        %ii = cast %i : index
        %jj = cast %j : index
        %m = cooperative_matrix_load %A[%ii,%c0] : coopmatrix<f32x16x4,matrix_acc>
        cooperative_matrix_store %m, %memory[%ii,%c0]
        barrier.local
        %n = cooperative_matrix_load %memory[%jj,%c0] : coopmatrix<f32x16x4,matrix_acc>
        cooperative_matrix_store %n, %B[%ii,%c0]""",
        work_group_size=(64, 1),
    ).replace("    parallel {", "    %memory = alloca : memref<f32x64x4,local>\n    parallel {")
    assert vectors_agree(text)


def test_what_the_first_work_item_does_for_all() -> None:
    """Outside of a parallel region a number is stored once."""
    text = of_subgroups(
        "%A: memref<f32x16x4>, %s: memref<f32>",
        """
        %m = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x16x4,matrix_acc>
        %n = cooperative_matrix_scale %v, %m : coopmatrix<f32x16x4,matrix_acc>
        %i = subgroup_id.x : i32
        %z = constant 0 : i32
        %is_first = equal %i, %z : bool
        barrier.global
        if %is_first {
            cooperative_matrix_store %n, %A[%c0,%c0]
        }""",
        work_group_size=(64, 1),
    ).replace(
        "    parallel {", "    %v = load %A[%c0,%c0] : f32\n    store %v, %s[]\n    parallel {"
    )
    assert vectors_agree(text)
