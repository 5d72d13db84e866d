"""Products on the matrix unit of a CPU."""

from __future__ import annotations

import pytest

from tests.seeds import fresh_random
from tests.translate.core_to_vectors.vectorized import of_subgroups, source_of, vectorize
from tests.translate.ported import agrees
from xtile.dialects.gpu.functions import FuncOp


def _product(type: str, sums: str, shape: tuple[int, int, int], negate: bool = False) -> str:
    rows, columns, depth = shape
    factor = "%b2" if negate else "%b"
    return of_subgroups(
        f"%A: memref<{type}x{rows}x{depth}>, %B: memref<{type}x{depth}x{columns}>, "
        f"%C: memref<{sums}x{rows}x{columns}>",
        f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<{type}x{rows}x{depth},matrix_a>
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<{type}x{depth}x{columns},matrix_b>
        %b2 = neg %b : coopmatrix<{type}x{depth}x{columns},matrix_b>
        %c = cooperative_matrix_load %C[%c0,%c0] : coopmatrix<{sums}x{rows}x{columns},matrix_acc>
        %c2 = add %c, %c : coopmatrix<{sums}x{rows}x{columns},matrix_acc>
        %d = cooperative_matrix_mul_add %a, {factor}, %c2
            : coopmatrix<{sums}x{rows}x{columns},matrix_acc>
        %e = sub %d, %c : coopmatrix<{sums}x{rows}x{columns},matrix_acc>
        cooperative_matrix_store %e, %C[%c0,%c0]""",
    )


def _names(kernel: FuncOp) -> list[str]:
    return [operation.name for operation in kernel.walk()]


PRODUCTS = {
    ("bf16", "f32", (16, 16, 32)): 1,
    ("bf16", "f32", (32, 16, 64)): 2,
    ("bf16", "f32", (64, 48, 32)): 2,
    ("bf16", "f32", (32, 64, 96)): 4,
    ("i8", "i32", (16, 16, 64)): 1,
    ("i8", "i32", (32, 32, 128)): 4,
    # Other types and shapes.
    ("f16", "f32", (16, 16, 32)): 0,
    ("bf16", "f64", (16, 16, 32)): 0,
    ("bf16", "f32", (16, 8, 32)): 0,
    ("bf16", "f32", (16, 16, 16)): 0,
    ("i8", "i32", (16, 16, 32)): 0,
}
"""For each product how many of the matrix unit's there are in its inner loop."""


@pytest.mark.parametrize(("type", "sums", "shape"), PRODUCTS, ids=str)
def test_products(type: str, sums: str, shape: tuple[int, int, int]) -> None:
    function = source_of(_product(type, sums, shape))
    kernel = vectorize(function, chip="cpu-amx")
    count = _names(kernel).count("core.cooperative_matrix_multiply_add")
    assert count == PRODUCTS[type, sums, shape]
    for _ in range(2):
        assert agrees(function, kernel, fresh_random())


def test_a_factor_that_is_computed() -> None:
    function = source_of(_product("bf16", "f32", (32, 32, 64), negate=True))
    kernel = vectorize(function, chip="cpu-amx")
    assert "core.cooperative_matrix_load" in _names(kernel)
    assert agrees(function, kernel, fresh_random())


def test_a_cpu_without_matrix_unit() -> None:
    kernel = vectorize(source_of(_product("bf16", "f32", (16, 16, 32))))
    assert not any(name.startswith("core.") for name in _names(kernel))
