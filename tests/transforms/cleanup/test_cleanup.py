"""Control flow that constants decide, shared and moved computations, and dead code."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.transforms.cleanup.kernels import cleaned, kernel
from tests.transforms.distribute.kernels import printed, read
from xtile.text.source import source_of
from xtile.transforms.cleanup import clean_up

PARAMETERS = "%A: memref<8xf32>, %i: index, %j: index, %x: f32, %c: i1"

CASES: dict[str, tuple[str, str]] = {
    "a branch that is taken": (
        """
        %true = arith.constant true
        scf.if %true {
          memref.store %x, %A[%i] : memref<8xf32>
        } else {
          memref.store %x, %A[%j] : memref<8xf32>
        }
        """,
        """
        memref.store %x, %A[%i] : memref<8xf32>
        """,
    ),
    "a branch that is not there": (
        """
        %false = arith.constant false
        scf.if %false {
          memref.store %x, %A[%i] : memref<8xf32>
        }
        """,
        "",
    ),
    "results of a branch": (
        """
        %a = arith.constant 3 : index
        %b = arith.constant 4 : index
        %less = arith.cmpi slt, %b, %a : index
        %r = scf.if %less -> (index) {
          scf.yield %i : index
        } else {
          scf.yield %j : index
        }
        memref.store %x, %A[%r] : memref<8xf32>
        """,
        """
        memref.store %x, %A[%j] : memref<8xf32>
        """,
    ),
    "masks are shared, and what is read for nothing goes": (
        """
        %zero = arith.constant dense<0.000000e+00> : vector<4xf32>
        %m = vector.create_mask %i : vector<4xi1>
        %n = vector.create_mask %i : vector<4xi1>
        %r = vector.maskedload %A[%i], %m, %zero
            : memref<8xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
        vector.maskedstore %A[%i], %m, %zero : memref<8xf32>, vector<4xi1>, vector<4xf32>
        vector.maskedstore %A[%j], %n, %zero : memref<8xf32>, vector<4xi1>, vector<4xf32>
        """,
        """
        %zero = arith.constant dense<0.000000e+00> : vector<4xf32>
        %m = vector.create_mask %i : vector<4xi1>
        vector.maskedstore %A[%i], %m, %zero : memref<8xf32>, vector<4xi1>, vector<4xf32>
        vector.maskedstore %A[%j], %m, %zero : memref<8xf32>, vector<4xi1>, vector<4xf32>
        """,
    ),
    "a loop that runs once": (
        """
        %a = arith.constant 2 : index
        %b = arith.constant 4 : index
        %r = scf.for %k = %a to %b step %b iter_args(%y = %x) -> (f32) {
          memref.store %y, %A[%k] : memref<8xf32>
          %z = arith.addf %y, %y : f32
          scf.yield %z : f32
        }
        memref.store %r, %A[%i] : memref<8xf32>
        """,
        """
        %a = arith.constant 2 : index
        memref.store %x, %A[%a] : memref<8xf32>
        %z = arith.addf %x, %x : f32
        memref.store %z, %A[%i] : memref<8xf32>
        """,
    ),
    "a loop that never runs": (
        """
        %a = arith.constant 4 : index
        %r = scf.for %k = %a to %a step %i iter_args(%y = %x) -> (f32) {
          memref.store %y, %A[%k] : memref<8xf32>
          scf.yield %y : f32
        }
        memref.store %r, %A[%i] : memref<8xf32>
        """,
        """
        memref.store %x, %A[%i] : memref<8xf32>
        """,
    ),
    "a loop to 0 from a number that is not negative": (
        """
        %zero = arith.constant 0 : index
        %lane = gpu.lane_id
        %one = arith.constant 1 : index
        scf.for %k = %lane to %zero step %one {
          memref.store %x, %A[%k] : memref<8xf32>
        }
        """,
        "",
    ),
    "a loop to 0 from any number stays": (
        """
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        scf.for %k = %i to %zero step %one {
          memref.store %x, %A[%j] : memref<8xf32>
        }
        """,
        """
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        scf.for %k = %i to %zero step %one {
          memref.store %x, %A[%j] : memref<8xf32>
        }
        """,
    ),
    "a loop with an unknown step stays": (
        """
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        scf.for %k = %zero to %one step %i {
          memref.store %x, %A[%k] : memref<8xf32>
        }
        """,
        """
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        scf.for %k = %zero to %one step %i {
          memref.store %x, %A[%k] : memref<8xf32>
        }
        """,
    ),
    "a computation is shared": (
        """
        %a = arith.addi %i, %j : index
        %b = arith.addi %i, %j : index
        %y = arith.addf %x, %x : f32
        %z = arith.addf %x, %x : f32
        memref.store %y, %A[%a] : memref<8xf32>
        memref.store %z, %A[%b] : memref<8xf32>
        """,
        """
        %a = arith.addi %i, %j : index
        %y = arith.addf %x, %x : f32
        memref.store %y, %A[%a] : memref<8xf32>
        memref.store %y, %A[%a] : memref<8xf32>
        """,
    ),
    "flags keep computations apart": (
        """
        %y = arith.addf %x, %x : f32
        %z = arith.addf %x, %x fastmath<fast> : f32
        memref.store %y, %A[%i] : memref<8xf32>
        memref.store %z, %A[%j] : memref<8xf32>
        """,
        """
        %y = arith.addf %x, %x : f32
        %z = arith.addf %x, %x fastmath<fast> : f32
        memref.store %y, %A[%i] : memref<8xf32>
        memref.store %z, %A[%j] : memref<8xf32>
        """,
    ),
    "a computation in a branch is not used behind it": (
        """
        scf.if %c {
          %y = math.exp %x : f32
          memref.store %y, %A[%i] : memref<8xf32>
        }
        %z = math.exp %x : f32
        memref.store %z, %A[%j] : memref<8xf32>
        """,
        """
        scf.if %c {
          %y = math.exp %x : f32
          memref.store %y, %A[%i] : memref<8xf32>
        }
        %z = math.exp %x : f32
        memref.store %z, %A[%j] : memref<8xf32>
        """,
    ),
    "integers move out of loops, floats do not": (
        """
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        scf.for %k = %zero to %i step %one {
          %a = arith.muli %i, %j : index
          %b = arith.addi %a, %k : index
          %y = math.exp %x : f32
          memref.store %y, %A[%b] : memref<8xf32>
        }
        """,
        """
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %a = arith.muli %i, %j : index
        scf.for %k = %zero to %i step %one {
          %b = arith.addi %a, %k : index
          %y = math.exp %x : f32
          memref.store %y, %A[%b] : memref<8xf32>
        }
        """,
    ),
    "divisions stay where they are": (
        """
        scf.if %c {
          %a = arith.divsi %i, %j : index
          memref.store %x, %A[%a] : memref<8xf32>
        }
        """,
        """
        scf.if %c {
          %a = arith.divsi %i, %j : index
          memref.store %x, %A[%a] : memref<8xf32>
        }
        """,
    ),
    "loads are neither shared nor moved": (
        """
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        scf.for %k = %zero to %i step %one {
          %y = memref.load %A[%i] : memref<8xf32>
          %z = memref.load %A[%i] : memref<8xf32>
          %s = arith.addf %y, %z : f32
          memref.store %s, %A[%k] : memref<8xf32>
        }
        """,
        """
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        scf.for %k = %zero to %i step %one {
          %y = memref.load %A[%i] : memref<8xf32>
          %z = memref.load %A[%i] : memref<8xf32>
          %s = arith.addf %y, %z : f32
          memref.store %s, %A[%k] : memref<8xf32>
        }
        """,
    ),
    "what nobody uses goes": (
        """
        %a = arith.addi %i, %j : index
        %y = memref.load %A[%a] : memref<8xf32>
        %z = math.exp %y : f32
        %two = arith.constant 2 : index
        %b = arith.divsi %a, %two : index
        """,
        "",
    ),
    "a division by what may be 0 stays": (
        """
        %a = arith.divsi %i, %j : index
        %zero = arith.constant 0 : index
        %b = arith.remui %i, %zero : index
        """,
        """
        %a = arith.divsi %i, %j : index
        %zero = arith.constant 0 : index
        %b = arith.remui %i, %zero : index
        """,
    ),
    "what others see stays": (
        """
        %old = memref.atomic_rmw addf %x, %A[%i] : (f32, memref<8xf32>) -> f32
        gpu.barrier
        """,
        """
        %old = memref.atomic_rmw addf %x, %A[%i] : (f32, memref<8xf32>) -> f32
        gpu.barrier
        """,
    ),
    "a loop without a sign, which runs": (
        """
        %two = arith.constant 2 : i8
        %minus = arith.constant -3 : i8
        scf.for unsigned %k = %two to %minus step %two : i8 {
          memref.store %x, %A[%i] : memref<8xf32>
        }
        """,
        """
        %two = arith.constant 2 : i8
        %minus = arith.constant -3 : i8
        scf.for unsigned %k = %two to %minus step %two  : i8 {
          memref.store %x, %A[%i] : memref<8xf32>
        }
        """,
    ),
    "branches within loops": (
        """
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %three = arith.constant 3 : index
        scf.for %k = %zero to %three step %three {
          %is_first = arith.cmpi eq, %k, %zero : index
          scf.if %is_first {
            memref.store %x, %A[%k] : memref<8xf32>
          }
        }
        """,
        """
        %zero = arith.constant 0 : index
        memref.store %x, %A[%zero] : memref<8xf32>
        """,
    ),
}
"""Before and after."""


@pytest.mark.parametrize("name", CASES)
def test_cleaned_up(name: str) -> None:
    before, after = (dedent(text).strip("\n") for text in CASES[name])
    assert "\n".join(cleaned(before, PARAMETERS)) == after


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_left_for_a_second_time(name: str) -> None:
    once = clean_up(read(kernel(CASES[name][0], PARAMETERS)))
    assert printed(clean_up(once)) == printed(once)


def test_attributes_stay() -> None:
    text = (
        "module attributes {gpu.container_module} {\ngpu.module @m {\n"
        "gpu.func @k(%A: memref<8xf32> {core.alignment = 64 : i64}) kernel "
        'attributes {core.level = "subgroup", known_block_size = array<i32: 32, 1, 1>} {\n'
        "gpu.return\n}\n}\n}\n"
    )
    assert printed(clean_up(read(text))) == printed(read(text))


def test_messages_keep_their_places() -> None:
    module = read(kernel("%a = arith.divsi %i, %i : index", "%i: index"))
    result = clean_up(module)
    assert source_of(result) is source_of(module)
    (division,) = (op for op in result.walk() if op.name == "arith.divsi")
    (original,) = (op for op in module.walk() if op.name == "arith.divsi")
    assert division.location == original.location
