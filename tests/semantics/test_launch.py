"""Sizes of launches, parallel processes, progress, and what launch refuses."""

from __future__ import annotations

import numpy as np
import pytest

from xtile.semantics.arguments import MemrefArgument, ScalarArgument
from xtile.semantics.configuration import configuration_of
from xtile.semantics.engine import launch
from xtile.semantics.errors import ExecutionError

SCALE = """func @scale(%alpha: f32, %A: memref<f32x16x?>, %B: memref<f32x16x?>) {
    %zero = constant 0.0 : f32
    %g = group_id.x : index
    %a = subview %A[0:16,%g] : memref<f32x16>
    %b = subview %B[0:16,%g] : memref<f32x16>
    axpby %alpha, %a, %zero, %b
}"""


def sizes(function, attributes: str, body: str = "") -> tuple[int, tuple[int, int]]:
    text = f"func @f(%a: memref<f32x4>) {attributes} {{ {body} }}"
    found = configuration_of(function(text), (1, 1, 1))
    return found.subgroup_size, found.work_group_size


def test_default_sizes(function) -> None:
    blas = "%one = constant 1.0 : f32  axpby %one, %a, %one, %a"
    assert sizes(function, "") == (16, (16, 1))
    assert sizes(function, "", blas) == (16, (32, 2))
    assert sizes(function, "attributes {subgroup_size=32}", blas) == (32, (64, 2))
    assert sizes(function, "attributes {work_group_size=[48,3]}") == (16, (48, 3))
    assert sizes(function, "attributes {work_group_size=[8,3]}") == (8, (8, 3))
    attributes = "attributes {subgroup_size=32, work_group_size=[64,4]}"
    assert sizes(function, attributes) == (32, (64, 4))


def test_num_subgroups(function) -> None:
    text = "func @f() attributes {subgroup_size=16, work_group_size=[64,3]} { }"
    configuration = configuration_of(function(text), (1, 1, 1))
    assert configuration.num_subgroups == (4, 3, 1)
    assert configuration.subgroups == 12


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3, 20])
def test_workers_share_the_groups(workers, run, rng) -> None:
    a = np.asfortranarray(rng.standard_normal((16, 11)).astype(np.float32))
    b = np.full((16, 11), np.nan, np.float32, order="F")
    calls: list[tuple[int, int]] = []
    run(
        SCALE, 3.0, a, b, grid=(11, 1, 1), workers=workers,
        progress=lambda done, total: calls.append((done, total)),
    )  # fmt: skip
    np.testing.assert_array_equal(b, np.float32(3) * a)
    assert calls == [(done, 11) for done in range(1, 12)]


@pytest.mark.slow
def test_workers_with_one_array_as_input_and_output(run, rng) -> None:
    a = np.asfortranarray(rng.standard_normal((16, 7)).astype(np.float32))
    expected = np.float32(2) * a
    run(SCALE, 2.0, a, a, grid=(7, 1, 1), workers=2)
    np.testing.assert_array_equal(a, expected)


def test_atomics_stay_in_one_process(run) -> None:
    a = np.zeros(1, np.int64)
    run(
        "func @f(%a: memref<i64x1>) attributes {subgroup_size=16, work_group_size=[16,1]} {"
        " %g = group_id.x : index  parallel { %z = constant 0 : index"
        " %g64 = cast %g : i64  %o = atomic_add %g64, %a[%z] : i64 } }",
        a, grid=(50, 1, 1), workers=2,
    )  # fmt: skip
    assert a[0] == 16 * sum(range(50))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_errors_name_the_instruction(workers, run) -> None:
    text = (
        "func @f(%a: memref<i32x8>) {\n%g = group_id.x : index\n"
        "%x = load %a[%g] : i32\n%one = constant 1 : i32\n%q = div %one, %x : i32\n"
        "store %q, %a[%g]\n}"
    )
    a = np.array([1, 1, 1, 0, 1, 1, 1, 1], np.int32)
    with pytest.raises(ExecutionError, match="division by zero") as error:
        run(text, a, grid=(8, 1, 1), workers=workers)
    assert error.value.operation.name == "tensorlang.div"
    assert str(error.value).startswith("<text>:5.6-")


def test_an_error_without_a_source_names_the_location(function) -> None:
    from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

    copy = function("func @f(%n: i32) { %q = div %n, %n : i32 }").clone()
    assert copy.body.block.first_op is not None
    copy.body.block.first_op.location = FileLineColLoc(StringAttr("k.mlir"), IntAttr(7), IntAttr(3))
    with pytest.raises(ExecutionError, match=r"k\.mlir:7\.3: division by zero"):
        launch(copy, [ScalarArgument(0)], (1, 1, 1))


def test_launch_refuses_what_does_not_fit(function) -> None:
    f = function("func @f(%a: memref<f32x4>, %n: i32) { }")
    good = MemrefArgument(np.zeros(4, np.float32), (4,), (1,))
    launch(f, [good, ScalarArgument(1)], (1, 1, 1))
    for arguments in (
        [good],
        [ScalarArgument(1), ScalarArgument(1)],
        [good, good],
        [MemrefArgument(np.zeros(4, np.float64), (4,), (1,)), ScalarArgument(1)],
        [MemrefArgument(np.zeros(8, np.float32)[::2], (4,), (1,)), ScalarArgument(1)],
        [MemrefArgument(np.zeros(4, np.float32), (2, 2), (1, 2)), ScalarArgument(1)],
    ):
        with pytest.raises(ValueError, match=r"takes 2 arguments|has type|needs a contiguous"):
            launch(f, arguments, (1, 1, 1))


def test_scalars_are_rounded_to_the_parameters_type(run) -> None:
    out = np.zeros(3)
    run(
        "func @f(%x: f16, %n: i8, %b: bool, %o: memref<f64x3>) {"
        " %y = cast %x : f64  %m = cast %n : f64  %one = constant 1.0 : f64"
        " %zero = constant 0.0 : f64"
        " %t = if %b -> (f64) { yield (%one) } else { yield (%zero) }"
        " %c0 = constant 0 : index %c1 = constant 1 : index %c2 = constant 2 : index"
        " store %y, %o[%c0] store %m, %o[%c1] store %t, %o[%c2] }",
        0.1, 300, True, out,
    )  # fmt: skip
    assert out.tolist() == [float(np.float16(0.1)), 44, 1]


@pytest.mark.filterwarnings("error")
def test_constants_and_arguments_that_are_too_large_are_infinite(run) -> None:
    out = np.zeros(3, np.float16)
    run(
        "func @f(%x: f16, %o: memref<f16x3>) { %y = constant 1.0e300 : f16"
        " %c0 = constant 0 : index %c1 = constant 1 : index %c2 = constant 2 : index"
        " %z = mul %x, %x : f16"
        " store %x, %o[%c0] store %y, %o[%c1] store %z, %o[%c2] }",
        -1e5, out,
    )  # fmt: skip
    assert out.tolist() == [-np.inf, np.inf, np.inf]


@pytest.mark.parametrize(
    "body",
    [
        """%v = subview %a[%n:%n] : memref<i32x?>  %w = subview %v[%n:%n] : memref<i32x?>
        parallel { %lane = subgroup_local_id : i32 %l = cast %lane : index
        %x = load %w[%l] : i32 }""",
        "%m = neg %n : index\nforeach (%i,%j)=(%m,%m),(%n,%n) { }",
    ],
)
def test_numbers_beyond_64_bits_are_errors(body, run) -> None:
    with pytest.raises(ExecutionError, match="does not fit into 64 bits"):
        run(
            f"func @f(%a: memref<i32x8>, %n: index) {{ {body} }}",
            np.zeros(8, np.int32), 2**63 - 1,
        )  # fmt: skip


def test_an_empty_grid_runs_nothing(run) -> None:
    run("func @f(%n: i32) { %q = div %n, %n : i32 }", 0, grid=(0, 1, 1))
