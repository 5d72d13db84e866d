"""Functions: calls, sizes of launches, what cannot be executed, and what is loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import DTYPES, elementwise, function_of, kernel, run
from xtile.api import parse
from xtile.semantics.configuration import configuration_of
from xtile.semantics.errors import ExecutionError


def test_calls() -> None:
    values, out = np.arange(8), np.zeros((8, 2), np.int64)
    text = kernel(
        "%in: memref<8xi64>, %out: memref<8x2xi64>",
        """%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %x = gpu.thread_id x
        %v = memref.load %in[%x] : memref<8xi64>
        %a, %b = func.call @twice(%v, %v) : (i64, i64) -> (i64, i64)
        %c, %d = func.call @twice(%b, %a) : (i64, i64) -> (i64, i64)
        memref.store %c, %out[%x, %c0] : memref<8x2xi64>
        memref.store %d, %out[%x, %c1] : memref<8x2xi64>""",
        around="""func.func @double(%a: i64) -> i64 {
          %b = arith.addi %a, %a : i64
          return %b : i64
        }
        func.func @twice(%a: i64, %b: i64) -> (i64, i64) {
          %c = func.call @double(%a) : (i64) -> i64
          %d = func.call @double(%c) : (i64) -> i64
          return %d, %b : i64, i64
        }""",
    )
    run(text, values, out, block=(8, 1, 1))
    # The first call gives (4 v, v), the second (4 v, 4 v).
    np.testing.assert_array_equal(out, np.stack([4 * values, 4 * values], axis=1))


def test_recursion_is_an_error() -> None:
    text = kernel(
        "%n: i64",
        "%r = func.call @f(%n) : (i64) -> i64",
        around="""func.func @f(%a: i64) -> i64 {
          %b = func.call @f(%a) : (i64) -> i64
          return %b : i64
        }""",
    )
    with pytest.raises(ExecutionError, match="@f calls itself: recursion cannot be executed"):
        run(text, 1)


def test_a_declared_function_is_an_error() -> None:
    text = kernel("", "func.call @f() : () -> ()", around="func.func private @f()")
    with pytest.raises(ExecutionError, match="@f is declared only"):
        run(text)


def test_blocks_that_follow_each_other() -> None:
    text = """gpu.module @m { gpu.func @k(%n: i64, %out: memref<2xi64>) kernel {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %m = arith.addi %n, %n : i64
      cf.br ^last(%n, %m : i64, i64)
    ^end:
      gpu.return
    ^last(%m2: i64, %n2: i64):
      memref.store %n2, %out[%zero] : memref<2xi64>
      memref.store %m2, %out[%one] : memref<2xi64>
      cf.br ^end
    } }"""
    out = np.zeros(2, np.int64)
    run(text, 21, out)
    np.testing.assert_array_equal(out, [42, 21])


@pytest.mark.parametrize(
    "branch", ["cf.br ^start", "cf.cond_br %c, ^start, ^end", "cf.cond_br %c, ^end, ^end"]
)
def test_other_branches_between_blocks_are_an_error(branch: str) -> None:
    text = f"""gpu.module @m {{ gpu.func @k() kernel {{
      %c = arith.constant true
      cf.br ^start
    ^start:
      {branch}
    ^end:
      gpu.return
    }} }}"""
    with pytest.raises(ExecutionError, match="branches between blocks cannot be executed"):
        run(text)


def test_an_operation_without_meaning_is_an_error() -> None:
    text = kernel("", "%a = tensor.empty() : tensor<4xf32>")
    with pytest.raises(ExecutionError, match=r"tensor\.empty cannot be executed"):
        run(text)


def test_sizes() -> None:
    plain = kernel("", "", attributes="known_block_size = array<i32: 8, 4, 1>")
    configuration = configuration_of(function_of(plain), (1, 2, 3))
    assert configuration.work_group_size == (8, 4, 1)
    assert configuration.num_subgroups == (2, 1, 1)
    given = configuration_of(function_of(kernel("", "")), (1, 1, 1), (20, 2, 1))
    assert (given.subgroups, given.work_items, given.subgroup_size) == (3, 40, 16)
    assert configuration_of(function_of(kernel("", "")), (1, 1, 1)).work_items == 1


@pytest.mark.parametrize("level", ["block", "subgroup", "lane"])
def test_levels(level: str) -> None:
    text = kernel("", "", attributes=f'core.level = "{level}"')
    assert configuration_of(function_of(text), (1, 1, 1)).level == level


@pytest.mark.slow
def test_workers_share_the_work_groups() -> None:
    values, out = fresh_generator().standard_normal(64), np.zeros(64)
    text = kernel(
        "%in: memref<64xf64>, %out: memref<64xf64>",
        """%x = gpu.global_id x
        %v = memref.load %in[%x] : memref<64xf64>
        %w = arith.mulf %v, %v : f64
        memref.store %w, %out[%x] : memref<64xf64>""",
    )
    run(text, values, out, grid=(8, 1, 1), block=(8, 1, 1), workers=3)
    np.testing.assert_array_equal(out, values * values)


def test_an_error_in_a_called_function_names_its_place() -> None:
    text = kernel(
        "%n: i64",
        "%r = func.call @f(%n) : (i64) -> i64",
        around="""func.func @f(%a: i64) -> i64 {
          %z = arith.constant 0 : i64
          %b = arith.divsi %a, %z : i64
          return %b : i64
        }""",
    )
    with pytest.raises(ExecutionError, match="division by zero") as error:
        run(text, 1)
    assert str(error.value).startswith("<text>:4.")


COMPLEX = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
}


@pytest.mark.parametrize("type", ["complex<f32>", "complex<f64>"])
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name: str, type: str) -> None:
    rng = fresh_generator()
    a, b = (
        (rng.standard_normal(16) + 1j * rng.standard_normal(16)).astype(DTYPES[type])
        for _ in range(2)
    )
    result = elementwise(f"complex.{name} {{0}}, {{1}} : {type}", [a, b], [type, type], type)
    exact = COMPLEX[name](a.astype(np.complex128), b.astype(np.complex128))
    np.testing.assert_allclose(result, exact, rtol=1e-6 if "32" in type else 1e-14)


def test_parts_of_complex_numbers() -> None:
    rng = fresh_generator()
    real, imaginary = rng.standard_normal(8).astype(np.float32), np.full(8, np.inf, np.float32)
    made = elementwise("complex.create {0}, {1} : complex<f32>", [real, imaginary], ["f32", "f32"],
                       "complex<f32>")  # fmt: skip
    np.testing.assert_array_equal(made.real, real)
    np.testing.assert_array_equal(made.imag, imaginary)
    finite = (real + 1j * real[::-1]).astype(np.complex64)
    for name, expected in {"re": finite.real, "im": finite.imag, "abs": np.abs(finite)}.items():
        given = elementwise(f"complex.{name} {{0}} : complex<f32>", [finite], ["complex<f32>"],
                            "f32")  # fmt: skip
        np.testing.assert_array_equal(given, expected)
    assert elementwise("complex.eq {0}, {0} : complex<f32>", [finite], ["complex<f32>"], "i1").all()


ROOT = Path(__file__).parents[3]

LOADED = """
import sys
from tests.semantics.upstream.kernels import function_of, kernel
from xtile.semantics.engine import launch
launch(function_of(kernel("", "%c = arith.constant 1 : index")), [], (1, 1, 1))
print([name for name in sys.modules if name.startswith("xtile.semantics.instructions.")])
print("xtile.semantics.upstream.math" in sys.modules)
"""

LOADED_BY_TENSORLANG = """
import sys
from xtile.api import parse
from xtile.semantics.engine import launch
module = parse("func @f() { %c = constant 1 : index }")
launch(module.body.block.first_op, [], (1, 1, 1))
print([name for name in sys.modules if name.startswith("xtile.semantics.upstream")])
"""


def test_only_the_dialects_that_are_used_are_loaded() -> None:
    def output(script: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=ROOT,
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        return done.stdout.splitlines()

    assert output(LOADED) == ["[]", "False"]
    assert output(LOADED_BY_TENSORLANG) == ["[]"]


def test_a_kernel_is_verified() -> None:
    assert parse(kernel("", ""), language="mlir") is not None
