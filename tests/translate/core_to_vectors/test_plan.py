"""How few loops and how little memory the matrices of a kernel need."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.ir import Operation

import xtile
from tests.translate.core_to_vectors.vectorized import of_subgroups, source_of, vectorize
from tests.translate.ported import kernels_of
from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE
from xtile.dialects.gpu.functions import FuncOp
from xtile.translate.route import Options, translate

EXAMPLES = Path(__file__).parents[3] / "examples"

_MATRIX = "coopmatrix<f32x16x8,matrix_acc>"


def _names(kernel: FuncOp) -> list[str]:
    return [operation.name for operation in kernel.walk()]


_PARAMETERS = "%A: memref<f32x16x8>, %B: memref<f32x16x8>"


def _kernel(body: str, parameters: str = _PARAMETERS) -> FuncOp:
    return vectorize(source_of(of_subgroups(parameters, body)))


def test_a_chain_of_elementwise_operations_is_one_loop_without_memory() -> None:
    names = _names(
        _kernel(f"""
        %two = constant 2.0 : f32
        %a = cooperative_matrix_load %A[%c0,%c0] : {_MATRIX}
        %b = cooperative_matrix_scale %two, %a : {_MATRIX}
        %c = neg %b : {_MATRIX}
        %d = cast %c : coopmatrix<f16x16x8,matrix_acc>
        %e = cast %d : {_MATRIX}
        cooperative_matrix_store %e, %B[%c0,%c0]""")
    )
    assert names.count("scf.for") == 1
    assert names.count("vector.load") == names.count("vector.store") == 1
    assert "memref.alloca" not in names


@pytest.mark.parametrize(
    ("source", "target", "buffers"),
    [
        ("%A[%c0,%c0]", "%A[%c0,%c0]", 0),
        ("%A[%c0,%c0]", "%B[%c0,%c0]", 0),
        ("%A[%c0,%c0]", "%A[%c0,%n]", 1),
        ("%V[%c0,%c0]", "%A[%c0,%c0]", 1),
        ("%V[%c0,%c0]", "%B[%c0,%c0]", 0),
    ],
)
def test_memory_is_read_first_where_it_may_be_written(
    source: str, target: str, buffers: int
) -> None:
    names = _names(
        _kernel(
            f"""
        %V = subview %A[%n:16,0:8] : memref<f32x16x8,strided<1,40>>
        %a = cooperative_matrix_load {source} : {_MATRIX}
        %b = neg %a : {_MATRIX}
        cooperative_matrix_store %b, {target}""",
            "%A: memref<f32x40x40>, %B: memref<f32x40x40>, %n: index",
        )
    )
    assert names.count("memref.alloca") == buffers


def test_what_is_used_twice_is_stored_once() -> None:
    names = _names(
        _kernel(f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : {_MATRIX}
        %b = neg %a : {_MATRIX}
        %c = neg %b : {_MATRIX}
        %d = mul %b, %c : {_MATRIX}
        cooperative_matrix_store %d, %B[%c0,%c0]""")
    )
    assert names.count("memref.alloca") == 1


def test_what_one_operation_uses_twice_is_computed_once() -> None:
    names = _names(
        _kernel(f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : {_MATRIX}
        %b = neg %a : {_MATRIX}
        %c = mul %b, %b : {_MATRIX}
        %d = mul %c, %c : {_MATRIX}
        cooperative_matrix_store %d, %B[%c0,%c0]""")
    )
    assert names.count("memref.alloca") == 0
    assert names.count("arith.negf") == 1
    assert names.count("arith.mulf") == 2


def test_memory_is_used_again() -> None:
    """Each matrix dies where the one after the next is born."""
    lines = [f"%x0 = cooperative_matrix_load %A[%c0,%c0] : {_MATRIX}"]
    for i in range(6):
        lines += [f"%y{i} = neg %x{i} : {_MATRIX}", f"%x{i + 1} = mul %x{i}, %y{i} : {_MATRIX}"]
    lines += ["cooperative_matrix_store %x6, %B[%c0,%c0]"]
    names = _names(_kernel("\n".join(lines)))
    assert names.count("memref.alloca") == 2


def test_a_product_adds_to_a_loops_matrix_in_place() -> None:
    names = _names(
        _kernel(
            f"""
        %c4 = constant 4 : index
        %none = constant 0.0 : {_MATRIX}
        %sum = for %k=%c0,%n,%c4 init(%s=%none) -> ({_MATRIX}) {{
            %a = cooperative_matrix_load %A[%c0,%k] : coopmatrix<f32x16x4,matrix_a>
            %b = cooperative_matrix_load %B[%k,%c0] : coopmatrix<f32x4x8,matrix_b>
            %next = cooperative_matrix_mul_add %a, %b, %s : {_MATRIX}
            yield (%next)
        }}
        cooperative_matrix_store %sum, %C[%c0,%c0]""",
            "%A: memref<f32x16x?>, %B: memref<f32x?x8>, %C: memref<f32x16x8>, %n: index",
        )
    )
    # The sum, and the factor whose elements are read one by one.
    assert names.count("memref.alloca") == 2


def test_the_depth_of_a_product_is_a_loop() -> None:
    """Code does not grow with the depth."""

    def count(depth: int) -> int:
        return len(
            _names(
                _kernel(
                    f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x16x{depth},matrix_a>
        %b = cooperative_matrix_load %B[%c0,%c0] : coopmatrix<f32x{depth}x8,matrix_b>
        %c = constant 0.0 : {_MATRIX}
        %d = cooperative_matrix_mul_add %a, %b, %c : {_MATRIX}
        cooperative_matrix_store %d, %C[%c0,%c0]""",
                    f"%A: memref<f32x16x{depth}>, %B: memref<f32x{depth}x8>, %C: memref<f32x16x8>",
                )
            )
        )

    assert abs(count(8) - count(128)) < 10


SUM = """
gpu.module @kernels {{
  gpu.func @k(%a: memref<1x1024xf32>, %b: memref<1xf32>) kernel
      attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %none = arith.constant 0.0 : f32
    %nothing = arith.constant dense<0.0> : vector<1xf32>
    %x = vector.transfer_read %a[%c0, %c0], %none {{in_bounds = [true, true]}}
        : memref<1x1024xf32>, vector<1x1024xf32>
    %y = {function} %x : vector<1x1024xf32>
    %sum = vector.multi_reduction <add>, %y, %nothing [1] : vector<1x1024xf32> to vector<1xf32>
    vector.transfer_write %sum, %b[%c0] {{in_bounds = [true]}} : vector<1xf32>, memref<1xf32>
    gpu.return
  }}
}}"""


@pytest.mark.parametrize(("function", "in_loop"), [("arith.negf", 4), ("math.exp", 1)])
def test_sums_of_what_takes_long_are_one(function: str, in_loop: int) -> None:
    """Four sums wait for each other less, but powers take longer than that."""
    module = xtile.parse(SUM.format(function=function), language="mlir")
    (kernel,) = kernels_of(translate(module, "core-to-lane", Options("cpu-avx2")))
    (loop,) = (each for each in kernel.walk() if each.name == "scf.for")
    inside = [each.name for each in loop.walk()]
    assert inside.count(function) == in_loop == len(loop.results)


def test_flash_attention_is_small() -> None:
    """Spread over lanes by shuffles it has more than 10,000 operations."""
    source = xtile.parse(EXAMPLES / "flash_attention.ir")
    (kernel,) = kernels_of(translate(source, "tensorlang-to-lane", Options("cpu")))
    assert len(_names(kernel)) < 700


@pytest.mark.parametrize(("unroll", "is_kept"), [("false", True), ("true", False), ("4", False)])
def test_a_loop_that_hands_on_matrices_may_only_ask_to_stay_one(unroll: str, is_kept: bool) -> None:
    kernel = _kernel(
        f"""
        %c1 = constant 1 : index
        %a = cooperative_matrix_load %A[%c0,%c0] : {_MATRIX}
        %b = for %i=%c0,%n,%c1 init(%x=%a) -> ({_MATRIX}) {{
            %y = mul %x, %x : {_MATRIX}
            yield (%y)
        }} attributes{{unroll={unroll}}}
        cooperative_matrix_store %b, %B[%c0,%c0]""",
        f"{_PARAMETERS}, %n: index",
    )
    (loop,) = (
        operation
        for operation in kernel.walk()
        if operation.name == "scf.for" and _is_up_to(operation, "n")
    )
    assert (UNROLL_ATTRIBUTE in loop.attributes) == is_kept


def _is_up_to(loop: Operation, name: str) -> bool:
    return loop.operands[1].name_hint == name


@pytest.mark.parametrize(("rows", "loops"), [(64, 0), (80, 1)])
def test_a_few_vectors_are_no_loop(rows: int, loops: int) -> None:
    matrix = f"coopmatrix<f32x{rows}x1,matrix_acc>"
    names = _names(
        _kernel(
            f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : {matrix}
        cooperative_matrix_store %a, %B[%c0,%c0]""",
            f"%A: memref<f32x{rows}x1>, %B: memref<f32x{rows}x1>",
        )
    )
    assert names.count("scf.for") == loops


def test_vectors_of_a_long_row_are_combined_side_by_side() -> None:
    rows = 1024
    names = _names(
        _kernel(
            f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x{rows}x1,matrix_acc>
        %b = cooperative_matrix_reduce_max.column %a : coopmatrix<f32x1x1,matrix_acc>
        cooperative_matrix_store %b, %B[%c0,%c0]""",
            f"%A: memref<f32x{rows}x1>, %B: memref<f32x1x1>",
        )
    )
    # Four in the loop, three of what it hands on, four halvings, and the start.
    assert names.count("arith.maxnumf") == 4 + 3 + 4 + 1


def test_what_is_reduced_first_is_stored_on_the_way() -> None:
    """One loop computes and combines the components, the other one reads them again."""
    rows = 1024
    kernel = _kernel(
        f"""
        %a = cooperative_matrix_load %A[%c0,%c0] : coopmatrix<f32x{rows}x1,matrix_acc>
        %b = neg %a : coopmatrix<f32x{rows}x1,matrix_acc>
        %c = cooperative_matrix_reduce_max.column %b : coopmatrix<f32x1x1,matrix_acc>
        %d = mul %b, %b : coopmatrix<f32x{rows}x1,matrix_acc>
        cooperative_matrix_store %d, %B[%c0,%c0]
        cooperative_matrix_store %c, %C[%c0,%c0]""",
        f"%A: memref<f32x{rows}x1>, %B: memref<f32x{rows}x1>, %C: memref<f32x1x1>",
    )
    names = _names(kernel)
    assert names.count("scf.for") == 2
    assert names.count("arith.negf") == 4 + 4
