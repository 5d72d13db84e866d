"""What functions become computes the same on the reference device, at level "block"."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import xtile
from tests.generators.tensorlang_kernels import random_kernel
from tests.translate.tensorlang_to_core.agreement import agrees, is_runnable, pairs
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.tensorlang_to_core import translate_module

EXAMPLES = Path(__file__).parents[3] / "examples"

KERNELS = 25
"""How many random kernels a test takes."""


def _agreeing(first_seed: int) -> int:
    """Compares random kernels and returns how many functions could be executed."""
    count = 0
    for seed in range(first_seed, first_seed + KERNELS):
        source = random_kernel(seed, 10)
        try:
            translated = translate_module(source)
        except DiagnosticError:
            continue
        for function, kernel in pairs(source, translated):
            if is_runnable(function) and is_runnable(kernel):
                count += agrees(function, kernel, Random(seed))
    return count


@pytest.mark.parametrize("first_seed", range(0, 8 * KERNELS, KERNELS))
def test_random_kernels(first_seed: int) -> None:
    assert _agreeing(first_seed) >= KERNELS // 10


@pytest.mark.parametrize(
    "name", ["axpby", "batched_gemm", "fused_kernel", "reductions", "old_syntax", "older_syntax"]
)
def test_examples(name: str) -> None:
    source = xtile.parse(EXAMPLES / f"{name}.ir")
    for function, kernel in pairs(source, translate_module(source)):
        agrees(function, kernel, Random(1))


PROGRAMS = {
    "collective atomics": """
        func @f(%A: memref<i32x4>, %B: memref<i32x4>) attributes {work_group_size=[32,2]} {
            %zero = constant 0 : index
            %three = constant 3 : i32
            %old = atomic_add %three, %A[%zero] : i32
            store %old, %B[%zero]
            %seven = constant 7 : i32
            %older = atomic_max %seven, %A[%zero] : i32
        }""",
    "trips of a foreach": """
        func @f(%A: memref<i32x7x5x3>, %n: i16)
                attributes {work_group_size=[32,2], subgroup_size=16} {
            %from = constant 1 : i16
            %a = constant 7 : i16
            %b = constant 4 : i16
            %c = constant 3 : i16
            foreach (%i,%j,%k)=(%from,%from,%from),(%a,%b,%c) {
                %x = cast %i : index
                %y = cast %j : index
                %z = cast %k : index
                %lane = subgroup_local_id : i32
                %group = subgroup_linear_id : i32
                %size = subgroup_size : i32
                %first = mul %group, %size : i32
                %number = add %first, %lane : i32
                store %number, %A[%x,%y,%z]
            }
        }""",
    "loops to the end of 64 bits": """
        func @f(%A: memref<i64x3>) {
            %zero = constant 0 : index
            %one = constant 1 : index
            %two = constant 2 : index
            %none = constant 0 : i64
            %turn = constant 1 : i64
            %from = constant 9223372036854775802 : i64
            %to = constant 9223372036854775806 : i64
            %step = constant 3 : i64
            %a = for %i=%from,%to,%step init(%s=%none) -> (i64) {
                %t = add %s, %turn : i64
                yield (%t)
            }
            store %a, %A[%zero]
            %first = cast %from : index
            %last = cast %to : index
            %five = constant 5 : index
            %b = for %i=%first,%last,%five init(%s=%none) -> (i64) {
                %t = add %s, %turn : i64
                yield (%t)
            }
            store %b, %A[%one]
            %least = constant -9223372036854775807 : index
            %far = constant 4611686018427387904 : index
            %c = for %i=%least,%last,%far init(%s=%none) -> (i64) {
                %t = add %s, %turn : i64
                yield (%t)
            }
            store %c, %A[%two]
        }""",
    "some of the subgroups": """
        func @f(%A: memref<f32x48x64>, %B: memref<f32x48x64>)
                attributes {work_group_size=[64,1], subgroup_size=16} {
            parallel {
                %c0 = constant 0 : index
                %group = subgroup_linear_id : i32
                %lanes = subgroup_size : i32
                %lane = subgroup_local_id : i32
                %first = mul %group, %lanes : i32
                %number = add %first, %lane : i32
                %bound = constant 32 : i32
                %is = less_than %number, %bound : bool
                if %is {
                    %column = cast %first : index
                    %a = cooperative_matrix_load.n %A[%c0,%column] : coopmatrix<f32x16x8,matrix_a>
                    %b = cooperative_matrix_load.t %A[%c0,%column] : coopmatrix<f32x8x16,matrix_b>
                    %z = constant 0.0 : coopmatrix<f32x16x16,matrix_acc>
                    %p = cooperative_matrix_mul_add %a, %b, %z : coopmatrix<f32x16x16,matrix_acc>
                    cooperative_matrix_store %p, %B[%c0,%column]
                }
            }
        }""",
    "an empty foreach": """
        func @f(%A: memref<i32x4>, %n: index) {
            %from = constant 9223372036854775807 : index
            %to = constant -9223372036854775807 : index
            %zero = constant 0 : index
            %one = constant 1 : i32
            foreach (%i)=(%from),(%to) {
                store %one, %A[%zero]
            }
        }""",
    "tiles of a foreach_tile": """
        func @f(%A: memref<i32x40x9>) attributes {work_group_size=[32,2], subgroup_size=16} {
            %from = constant 2 : i32
            %to = constant 40 : i32
            %last = constant 9 : i32
            foreach_tile (%i,%j)=(%from,%from),(%to,%last) as (%ti,%tj)<=(16,4) {
                %x = cast %i : index
                %y = cast %j : index
                %sizes = mul %ti, %tj : i32
                %group = subgroup_linear_id : i32
                %hundred = constant 100 : i32
                %high = mul %group, %hundred : i32
                %sum = add %high, %sizes : i32
                store %sum, %A[%x,%y]
            }
        }""",
    "subgroups in two dimensions": """
        func @f(%A: memref<i32x16x4x2x6>) attributes {work_group_size=[32,4], subgroup_size=16} {
            parallel {
                %x = subgroup_id.x : i32
                %y = subgroup_id.y : i32
                %lane = subgroup_local_id : i32
                %nx = num_subgroups.x : i32
                %ny = num_subgroups.y : i32
                %z = subgroup_id.z : i32
                %i = cast %lane : index
                %j = cast %y : index
                %k = cast %x : index
                %c0 = constant 0 : index
                %c1 = constant 1 : index
                %c2 = constant 2 : index
                %c3 = constant 3 : index
                store %x, %A[%i,%j,%k,%c0]
                store %y, %A[%i,%j,%k,%c1]
                store %nx, %A[%i,%j,%k,%c2]
                store %ny, %A[%i,%j,%k,%c3]
            }
        }""",
    "a loop to the end of its type": """
        func @f(%A: memref<i32x4>, %n: i8, %step: i8) {
            %from = constant 0 : i8
            %to = constant 127 : i8
            %stride = constant 100 : i8
            %zero = constant 0 : index
            %none = constant 0 : i32
            %one = constant 1 : i32
            %count = for %i=%from,%to,%stride init(%c=%none) -> (i32) {
                %next = add %c, %one : i32
                yield (%next)
            }
            store %count, %A[%zero]
        }""",
    "shifts beyond the width": """
        func @f(%A: memref<i8x4>) {
            %zero = constant 0 : index
            %one = constant 1 : index
            %x = constant -7 : i8
            %n = constant 9 : i8
            %left = shl %x, %n : i8
            %right = shr %x, %n : i8
            store %left, %A[%zero]
            store %right, %A[%one]
        }""",
    "expanded and fused modes": """
        func @f(%A: memref<f32x12x?>, %B: memref<f32x?x?>, %n: index) {
            %three = constant 3 : index
            %one = constant 1 : index
            %two = constant 2 : index
            %e = expand %A[0 -> 2 x %two x %three] : memref<f32x2x?x?x?>
            %x = load %e[%one,%one,%two,%one] : f32
            %f = fuse %e[0,1] : memref<f32x?x?x?,strided<1,?,?>>
            %y = load %f[%three,%one,%one] : f32
            %z = sub %x, %y : f32
            %zero = constant 0 : index
            store %z, %B[%zero,%zero]
        }""",
    "padding behind a mode": """
        func @f(%A: memref<f32x48x9>, %B: memref<f32x48x9>, %C: memref<f32x35x9>,
                %D: memref<f32x40x4,strided<1,45>>, %E: memref<f32x11x3>) {
            %one = constant 1.0 : f32
            %zero = constant 0.0 : f32
            %i = constant 5 : index
            %t = alloca : memref<f32x35x9,strided<1,48>,local>
            %all = subview %t[0:48,0:9] : memref<f32x48x9,local>
            axpby %one, %B, %zero, %all
            axpby %one, %t, %zero, %C
            %padding = subview %t[36:11,%i:3] : memref<f32x11x3,strided<1,48>,local>
            axpby %one, %padding, %one, %E
            %last = subview %t[0:35,8] : memref<f32x35,local>
            %longer = subview %last[0:40] : memref<f32x40,local>
            %column = subview %D[0:40,3] : memref<f32x40>
            axpby %one, %longer, %one, %column
            %some = subview %A[0:35,0:9] : memref<f32x35x9,strided<1,48>>
            %rows = subview %some[0:48,0:9] : memref<f32x48x9>
            axpby %one, %rows, %one, %B
            axpby %one, %B, %one, %rows
        }""",
    "padding of a view at an offset that is not known": """
        func @f(%A: memref<f64x7x6,strided<2,16>>, %B: memref<f64x8x2>, %n: index) {
            %one = constant 1.0 : f64
            %zero = constant 0.0 : f64
            %c3 = constant 3 : index
            %j = and %n, %c3 : index
            %t = alloca : memref<f64x7x5,strided<2,16>,local>
            %all = subview %t[0:8,0:5] : memref<f64x8x5,strided<2,16>,local>
            %source = subview %A[0:8,0:5] : memref<f64x8x5,strided<2,16>>
            axpby %one, %source, %zero, %all
            %part = subview %t[0:8,%j:2] : memref<f64x8x2,strided<2,16>,local>
            axpby %one, %part, %zero, %B
        }""",
}
"""Functions in which a mistake in one rule would show."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    source = xtile.parse(PROGRAMS[name], language="tensorlang")
    ((function, kernel),) = pairs(source, translate_module(source))
    assert all(agrees(function, kernel, Random(seed)) for seed in range(3))
