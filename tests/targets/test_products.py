"""Which product of a matrix unit is chosen, and why none is, in words."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import FloatTF32Type, bf16, f16, f32, i8, i16, i32
from xdsl.ir import Attribute

from tests.lane_targets import for_either, for_llvm
from xtile.targets import INTEL
from xtile.targets.lanes import LaneTarget, for_spirv
from xtile.targets.products import unit_for
from xtile.targets.spellings import PLAIN
from xtile.targets.target import MatrixUnit

PVC, DG2, CPU, AMX = (for_spirv(INTEL.chips[chip]) for chip in ("pvc", "dg2", "cpu", "cpu-amx"))


@pytest.mark.parametrize(
    ("factor", "sums", "depth"),
    [(f16, f32, 16), (bf16, f32, 16), (FloatTF32Type(), f32, 8), (i8, i32, 32)],
)
def test_exact_products(factor: Attribute, sums: Attribute, depth: int) -> None:
    unit = unit_for(PVC, PVC.matrix_units, (factor, factor), sums, lanes=16)
    assert isinstance(unit, MatrixUnit)
    assert (unit.a, unit.sums, unit.columns, unit.depth) == (str(factor), str(sums), 16, depth)


@pytest.mark.parametrize(
    ("target", "types", "more", "problem"),
    [
        (CPU, (f16, f16, f32), {}, "cpu has none"),
        (PVC, (f16, bf16, f32), {}, "it has no products of f16 and bf16"),
        (PVC, (i16, i16, i32), {}, "it has no products of i16 and i16"),
        (PVC, (f32, f32, f32), {}, "it rounds factors of f32 to tf32"),
        (DG2, (f32, f32, f32), {}, "it has no products of f32 and f32"),
        (PVC, (f16, f16, f16), {}, "it has no exact products of f16 with sums of f16"),
        (
            PVC,
            (f16, f16, i32),
            {"rounds": True},
            "it has no products of f16 with sums of i32",
        ),
        (PVC, (f16, f16, f32), {"lanes": 32}, "it needs subgroups of 16 lanes"),
        (PVC, (f16, f16, f32), {"shape": (3, 16, 16)}, "it has no products with 3 rows"),
        (PVC, (f16, f16, f32), {"shape": (8, 8, 16)}, "it has no products with 8 columns"),
        (
            PVC,
            (f16, f16, f32),
            {"shape": (8, 16, 8)},
            "it has no products of f16 with a depth of 8",
        ),
    ],
)
def test_obstacles(
    target: LaneTarget,
    types: tuple[Attribute, Attribute, Attribute],
    more: dict[str, Any],
    problem: str,
) -> None:
    a, b, sums = types
    assert unit_for(target, target.matrix_units, (a, b), sums, **more) == problem


def test_products_that_round() -> None:
    """Code that asks for the instruction itself gets it: it says that it wants tf32."""
    unit = unit_for(
        PVC, PVC.matrix_units, ("tf32", "tf32"), f32, lanes=16, shape=(8, 16, 8), rounds=True
    )
    assert unit == MatrixUnit("dpas", "tf32", "tf32", "f32", 8, 16, 8, 16)
    unit = unit_for(PVC, PVC.matrix_units, (f16, f16), f16, rounds=True)
    assert unit == MatrixUnit("dpas", "f16", "f16", "f16", 1, 16, 16, 16)


# --- what compiles the code of lanes ---


def test_llvm_has_no_products_of_tf32() -> None:
    for target in (for_llvm(INTEL.chips["pvc"]), for_either(INTEL.chips["pvc"])):
        found = unit_for(target, target.matrix_units, ("tf32", "tf32"), f32)
        assert found == "LLVM has no products of tf32"


def test_llvm_has_no_products_for_subgroups_of_eight() -> None:
    for target in (for_llvm(INTEL.chips["dg2"]), for_either(INTEL.chips["dg2"])):
        assert unit_for(target, target.matrix_units, (f16, f16), f32) == (
            "LLVM has none for subgroups of 8 lanes"
        )
    assert isinstance(unit_for(DG2, DG2.matrix_units, (f16, f16), f32, lanes=8), MatrixUnit)


def test_what_each_consumer_uses_of_a_gpu() -> None:
    pvc = INTEL.chips["pvc"]
    assert for_llvm(pvc).row_access is for_either(pvc).row_access is None
    assert for_spirv(pvc).row_access is pvc.row_access is not None
    for target in (for_llvm(pvc), for_either(pvc), for_spirv(pvc)):
        assert target.block_access is pvc.block_access is not None
        assert target.matrix_units == pvc.matrix_units
        assert target.vector_unit is None


def test_what_each_consumer_uses_of_a_cpu() -> None:
    amx = INTEL.chips["cpu-amx"]
    assert for_llvm(amx).vector_unit is None
    assert for_llvm(amx).cooperative_matrices == ()
    assert for_either(amx).vector_unit is for_spirv(amx).vector_unit is amx.vector_unit
    assert for_either(amx).cooperative_matrices == amx.matrix_units
    assert for_spirv(amx).cooperative_matrices == amx.matrix_units
    assert for_spirv(amx, PLAIN).cooperative_matrices == ()
    assert AMX.matrix_units == ()
