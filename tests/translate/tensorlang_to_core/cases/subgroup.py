"""Subgroup instructions."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

CASES = [
    Case(
        "subgroup_broadcast",
        "%r = subgroup_broadcast %a, %i : f32",
        """
%0 = arith.constant 16 : i32
%r:2 = gpu.shuffle  idx %a, %i, %0 : f32
""",
        parameters="%a: f32, %i: i32",
        is_spmd=True,
        attributes="{subgroup_size=16}",
    ),
    Case(
        "subgroup_broadcast of an unknown size",
        "%r = subgroup_broadcast %a, %i : i8",
        """
%0 = gpu.subgroup_size : index
%1 = arith.index_cast %0 : index to i32
%r:2 = gpu.shuffle  idx %a, %i, %1 : i8
""",
        parameters="%a: i8, %i: i32",
        is_spmd=True,
    ),
    Case(
        "subgroup_broadcast index",
        "%r = subgroup_broadcast %a, %i : index",
        """
%0 = arith.constant 32 : i32
%1 = arith.index_cast %a : index to i64
%2:2 = gpu.shuffle  idx %1, %i, %0 : i64
%r = arith.index_cast %2#0 : i64 to index
""",
        parameters="%a: index, %i: i32",
        is_spmd=True,
        attributes="{subgroup_size=32}",
    ),
    Case(
        "subgroup_broadcast c32",
        "%r = subgroup_broadcast %a, %i : c32",
        """
%0 = arith.constant 32 : i32
%1 = complex.re %a : complex<f32>
%2 = complex.im %a : complex<f32>
%3:2 = gpu.shuffle  idx %1, %i, %0 : f32
%4:2 = gpu.shuffle  idx %2, %i, %0 : f32
%r = complex.create %3#0, %4#0 : complex<f32>
""",
        parameters="%a: c32, %i: i32",
        is_spmd=True,
        attributes="{subgroup_size=32}",
    ),
    Case(
        "subgroup_reduce_add",
        """
%r = subgroup_reduce_add %a : f32
%s = subgroup_reduce_add %b : i32
""",
        """
%r = gpu.subgroup_reduce  add %a : (f32) -> f32
%s = gpu.subgroup_reduce  add %b : (i32) -> i32
""",
        parameters="%a: f32, %b: i32",
        is_spmd=True,
    ),
    Case(
        "subgroup_exclusive_scan_add",
        "%r = subgroup_exclusive_scan_add %a : f32",
        "%r = core.subgroup_scan add exclusive %a : f32 -> f32",
        parameters="%a: f32",
        is_spmd=True,
    ),
    Case(
        "subgroup_inclusive_scan_add",
        "%r = subgroup_inclusive_scan_add %a : f32",
        "%r = core.subgroup_scan add %a : f32 -> f32",
        parameters="%a: f32",
        is_spmd=True,
    ),
    Case(
        "subgroup_reduce_max",
        """
%r = subgroup_reduce_max %a : f32
%s = subgroup_reduce_max %b : i32
""",
        """
%r = gpu.subgroup_reduce  maxnumf %a : (f32) -> f32
%s = gpu.subgroup_reduce  maxsi %b : (i32) -> i32
""",
        parameters="%a: f32, %b: i32",
        is_spmd=True,
    ),
    Case(
        "subgroup_exclusive_scan_max",
        "%r = subgroup_exclusive_scan_max %a : f32",
        "%r = core.subgroup_scan max exclusive %a : f32 -> f32",
        parameters="%a: f32",
        is_spmd=True,
    ),
    Case(
        "subgroup_inclusive_scan_max",
        "%r = subgroup_inclusive_scan_max %a : f32",
        "%r = core.subgroup_scan max %a : f32 -> f32",
        parameters="%a: f32",
        is_spmd=True,
    ),
    Case(
        "subgroup_reduce_min",
        """
%r = subgroup_reduce_min %a : f32
%s = subgroup_reduce_min %b : i32
""",
        """
%r = gpu.subgroup_reduce  minnumf %a : (f32) -> f32
%s = gpu.subgroup_reduce  minsi %b : (i32) -> i32
""",
        parameters="%a: f32, %b: i32",
        is_spmd=True,
    ),
    Case(
        "subgroup_exclusive_scan_min",
        "%r = subgroup_exclusive_scan_min %a : f32",
        "%r = core.subgroup_scan min exclusive %a : f32 -> f32",
        parameters="%a: f32",
        is_spmd=True,
    ),
    Case(
        "subgroup_inclusive_scan_min",
        "%r = subgroup_inclusive_scan_min %a : f32",
        "%r = core.subgroup_scan min %a : f32 -> f32",
        parameters="%a: f32",
        is_spmd=True,
    ),
    Case(
        "sums of narrow types",
        """
%r = subgroup_reduce_add %a : f16
%s = subgroup_inclusive_scan_add %b : i8
""",
        """
%0 = arith.extf %a : f16 to f32
%1 = gpu.subgroup_reduce  add %0 : (f32) -> f32
%r = arith.truncf %1 : f32 to f16
%2 = arith.extsi %b : i8 to i32
%3 = core.subgroup_scan add %2 : i32 -> i32
%s = arith.trunci %3 : i32 to i8
""",
        parameters="%a: f16, %b: i8",
        is_spmd=True,
    ),
    Case(
        "maximum of narrow types",
        "%r = subgroup_exclusive_scan_max %a : bf16",
        "%r = core.subgroup_scan max exclusive %a : bf16 -> bf16",
        parameters="%a: bf16",
        is_spmd=True,
    ),
    Case(
        "sum of index",
        "%r = subgroup_reduce_add %a : index",
        """
%0 = arith.index_cast %a : index to i64
%1 = gpu.subgroup_reduce  add %0 : (i64) -> i64
%r = arith.index_cast %1 : i64 to index
""",
        parameters="%a: index",
        is_spmd=True,
    ),
    Case(
        "sum of c64",
        "%r = subgroup_exclusive_scan_add %a : c64",
        """
%0 = complex.re %a : complex<f64>
%1 = complex.im %a : complex<f64>
%2 = core.subgroup_scan add exclusive %0 : f64 -> f64
%3 = core.subgroup_scan add exclusive %1 : f64 -> f64
%r = complex.create %2, %3 : complex<f64>
""",
        parameters="%a: c64",
        is_spmd=True,
    ),
]
