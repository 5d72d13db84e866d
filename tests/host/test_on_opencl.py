"""Code of the host whose kernels an OpenCL device runs."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.host.programs import program
from tests.seeds import fresh_generator
from xtile.host import loops
from xtile.launch.hosted import HostedExecutable
from xtile.semantics.errors import ExecutionError, UnlocatedError
from xtile.semantics.state import State
from xtile.text.diagnostics import DiagnosticError

KERNELS = """
  gpu.module @kernels {
    gpu.func @scaled(%a: memref<?x?xf32, strided<[?, 1], offset: ?>>, %s: f32, %n: index) kernel {
      %x = gpu.thread_id x
      %y = gpu.block_id x
      %row = arith.addi %y, %n : index
      %old = memref.load %a[%row, %x] : memref<?x?xf32, strided<[?, 1], offset: ?>>
      %new = arith.mulf %old, %s : f32
      memref.store %new, %a[%row, %x] : memref<?x?xf32, strided<[?, 1], offset: ?>>
      gpu.return
    }
    gpu.func @signs(%a: memref<4x16xf32>) kernel {
      %x = gpu.thread_id x
      %y = gpu.thread_id y
      %old = memref.load %a[%y, %x] : memref<4x16xf32>
      %new = arith.negf %old : f32
      memref.store %new, %a[%y, %x] : memref<4x16xf32>
      gpu.return
    }
    gpu.func @refused(%flag: i1) kernel {
      gpu.return
    }
  }
"""

TWO_LAUNCHES = """
  func.func @scale(%a: memref<4x16xf32>, %s: f32) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %part = memref.subview %a[1, 2] [3, 3] [1, 1]
      : memref<4x16xf32> to memref<3x3xf32, strided<[16, 1], offset: 18>>
    %any = memref.cast %part : memref<3x3xf32, strided<[16, 1], offset: 18>>
      to memref<?x?xf32, strided<[?, 1], offset: ?>>
    gpu.launch_func @kernels::@scaled blocks in (%c2, %c1, %c1) threads in (%c3, %c1, %c1)
      args(%any : memref<?x?xf32, strided<[?, 1], offset: ?>>, %s : f32, %c1 : index)
    gpu.launch_func @kernels::@signs blocks in (%c1, %c1, %c1) threads in (%c16, %c4, %c1)
      args(%a : memref<4x16xf32>)
    return
  }
"""


@pytest.mark.slow
def test_kernels_get_the_hosts_memory_and_numbers() -> None:
    text = program("", KERNELS + TWO_LAUNCHES)
    given = fresh_generator().standard_normal((4, 16)).astype(np.float32)
    wanted = -given
    wanted[2:4, 2:5] *= np.float32(2.5)
    for device in ("reference", "opencl"):
        found = given.copy()
        xtile.run(text, [found, 2.5], device=device, entry="scale")
        np.testing.assert_array_equal(found, wanted)


def _failure(body: str) -> str:
    with pytest.raises(DiagnosticError) as raised:
        xtile.run(program(body, KERNELS), [], device="opencl")
    return str(raised.value)


def test_launches_that_no_device_makes() -> None:
    inline = """
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
          threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
        gpu.terminator
      }
    """
    assert "gpu-kernel-outlining" in _failure(inline)
    shared = """
      %A = memref.alloc() : memref<4x16xf32>
      %bytes = arith.constant 8 : i32
      gpu.launch_func @kernels::@signs blocks in (%c1, %c1, %c1) threads in (%c16, %c4, %c1)
        dynamic_shared_memory_size %bytes args(%A : memref<4x16xf32>)
    """
    assert "opencl gives kernels no dynamic shared memory" in _failure(shared)


def test_only_kernels_that_are_launched_need_be_compiled() -> None:
    """The other tests do not launch the kernel that cannot be compiled."""
    launch = """
      %true = arith.constant true
      gpu.launch_func @kernels::@refused blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%true : i1)
    """
    assert "a truth value cannot be passed to a kernel" in _failure(launch)


LOOPS = {
    "products": """
      scf.for %i = %c0 to %n step %c1 {
        scf.for %j = %c0 to %n step %c1 {
          %old = memref.load %C[%i, %j] : memref<40x40xf32>
          %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %old) -> (f32) {
            %a = memref.load %A[%i, %k] : memref<40x40xf16>
            %b = memref.load %B[%k, %j] : memref<40x40xf16>
            %p = arith.mulf %a, %b : f16
            %e = arith.extf %p : f16 to f32
            %s = arith.addf %acc, %e : f32
            scf.yield %s : f32
          }
          memref.store %sum, %C[%i, %j] : memref<40x40xf32>
        }
      }""",
    "steps, and numbers from outside": """
      scf.for %i = %c1 to %n step %c3 {
        scf.for %j = %c2 to %n step %c4 {
          %a = memref.load %A[%i, %c3] : memref<40x40xf16>
          %e = arith.extf %a : f16 to f32
          %p = arith.mulf %e, %scale : f32
          memref.store %p, %C[%i, %j] : memref<40x40xf32>
        }
      }""",
    "sums of indices": """
      %m = arith.subi %n, %c3 : index
      %off = arith.addi %c1, %c2 : index
      scf.for %i = %c0 to %m step %c1 {
        scf.for %j = %c0 to %c16 step %c1 {
          %r = arith.addi %off, %i : index
          %s = arith.muli %j, %c2 : index
          %a = memref.load %A[%r, %s] : memref<40x40xf16>
          %e = arith.extf %a : f16 to f32
          memref.store %e, %C[%r, %j] : memref<40x40xf32>
        }
      }""",
    "rows": """
      scf.for %i = %c0 to %n step %c1 {
        %zero = arith.constant 0.0 : f32
        %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f32) {
          %a = memref.load %C[%i, %k] : memref<40x40xf32>
          %s = arith.addf %acc, %a : f32
          scf.yield %s : f32
        }
        scf.for %k = %c0 to %n step %c1 {
          %a = memref.load %C[%i, %k] : memref<40x40xf32>
          %is_low = arith.cmpi ult, %k, %c16 : index
          scf.if %is_low {
            %q = arith.divf %a, %sum : f32
            memref.store %q, %C[%i, %k] : memref<40x40xf32>
          }
        }
      }""",
}
"""Loops that a device runs."""

NO_KERNELS = {
    "an index that is not followed": """
      scf.for %i = %c0 to %c16 step %c1 {
        %j = arith.xori %i, %c1 : index
        %a = memref.load %A[%j, %j] : memref<40x40xf16>
        %e = arith.extf %a : f16 to f32
        memref.store %e, %C[%i, %c0] : memref<40x40xf32>
      }""",
    "functions that differ in the last bits": """
      scf.for %i = %c0 to %n step %c1 {
        %a = memref.load %C[%i, %c1] : memref<40x40xf32>
        %e = math.exp %a : f32
        memref.store %e, %C[%i, %c1] : memref<40x40xf32>
      }""",
    "rows that two iterations have": """
      scf.for %i = %c0 to %c16 step %c1 {
        %r = arith.addi %i, %c1 : index
        %a = memref.load %C[%i, %c1] : memref<40x40xf32>
        memref.store %a, %C[%r, %c1] : memref<40x40xf32>
      }""",
    "divisions": """
      scf.for %i = %c0 to %n step %c1 {
        %q = arith.divui %i, %c3 : index
        %t = arith.index_cast %q : index to i32
        %f = arith.sitofp %t : i32 to f32
        memref.store %f, %C[%i, %c0] : memref<40x40xf32>
      }""",
    "the last store stays": """
      scf.for %i = %c0 to %n step %c1 {
        %a = memref.load %A[%i, %c1] : memref<40x40xf16>
        %e = arith.extf %a : f16 to f32
        memref.store %e, %C[%c2, %c1] : memref<40x40xf32>
      }""",
    "memory that overlaps": """
      %D = memref.cast %C : memref<40x40xf32> to memref<?x?xf32>
      scf.for %i = %c0 to %n step %c1 {
        %a = memref.load %D[%c1, %i] : memref<?x?xf32>
        memref.store %a, %C[%i, %c1] : memref<40x40xf32>
      }""",
}
"""Loops that run in numpy, whatever their length is."""


def _loop(name: str) -> str:
    body = {**LOOPS, **NO_KERNELS}[name]
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 16))
    return f"""module attributes {{gpu.container_module}} {{
      {KERNELS}
      func.func @main(%A: memref<40x40xf16>, %B: memref<40x40xf16>, %C: memref<40x40xf32>,
                      %n: index, %scale: f32) {{
        {constants}
        {body}
        return
      }}
    }}"""


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each loop that could be a kernel was one, where no loop is too short for it."""
    found: list[bool] = []
    run = loops._OnDevice.run  # pyright: ignore[reportPrivateUsage]

    def noted(self: loops._OnDevice, state: State) -> bool:  # pyright: ignore[reportPrivateUsage]
        found.append(run(self, state))
        return found[-1]

    monkeypatch.setattr(loops._OnDevice, "run", noted)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(loops, "_LONG", 0)
    return found


@pytest.mark.parametrize("name", [*LOOPS, *NO_KERNELS])
def test_long_loops_are_kernels(name: str, launched: list[bool]) -> None:
    rng = fresh_generator()
    a, b = (rng.standard_normal((40, 40)).astype(np.float16) for _ in range(2))
    c = rng.uniform(0.5, 2, (40, 40)).astype(np.float32)
    found: list[np.ndarray] = []
    for device in ("reference", "opencl"):
        result = c.copy()
        xtile.run(_loop(name), [a, b, result, 40, 1.75], device=device, entry="main")
        found.append(result)
    np.testing.assert_array_equal(found[0].view(np.uint32), found[1].view(np.uint32))
    assert not np.array_equal(found[0], c)
    assert any(launched) == (name in LOOPS)


def test_a_kernel_of_a_loop_does_not_leave_its_memory(launched: list[bool]) -> None:
    a, c = np.ones((40, 40), np.float16), np.ones((40, 40), np.float32)
    with pytest.raises(ExecutionError, match="lies outside of the memory"):
        xtile.run(_loop("products"), [a, a, c, 41, 1.0], device="opencl", entry="main")
    assert not any(launched)


def test_barriers_of_as_many_subgroups_as_a_launch_has() -> None:
    """The kernel says nothing of its work-groups."""
    text = """module attributes {gpu.container_module} {
      gpu.module @kernels {
        gpu.func @swapped(%a: memref<4xf32>) workgroup(%m: memref<4xf32, 3>) kernel
            attributes {VectorComputeFunctionINTEL} {
          %one = arith.constant 1 : i8
          %all = arith.constant 4 : i8
          %c3 = arith.constant 3 : index
          %b = xegpu.init_nbarrier %one, %all : i8, i8 -> !xegpu.nbarrier
          %id = gpu.thread_id x
          %v = memref.load %a[%id] : memref<4xf32>
          memref.store %v, %m[%id] : memref<4xf32, 3>
          xegpu.nbarrier_arrive %b : !xegpu.nbarrier
          xegpu.nbarrier_wait %b : !xegpu.nbarrier
          %other = arith.subi %c3, %id : index
          %w = memref.load %m[%other] : memref<4xf32, 3>
          memref.store %w, %a[%id] : memref<4xf32>
          gpu.return
        }
      }
      func.func @main(%a: memref<4xf32>) {
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        gpu.launch_func @kernels::@swapped blocks in (%c1, %c1, %c1) threads in (%c4, %c1, %c1)
          args(%a : memref<4xf32>)
        return
      }
    }"""
    given = fresh_generator().standard_normal(4).astype(np.float32)
    for device in ("reference", "opencl"):
        found = given.copy()
        xtile.run(text, [found], device=device, entry="main")
        np.testing.assert_array_equal(found, given[::-1])


def test_a_loop_that_the_device_refuses_runs_in_numpy(
    launched: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise UnlocatedError("no such kernel")

    monkeypatch.setattr(HostedExecutable, "_launch", refuse)
    a, c = np.ones((40, 40), np.float16), np.zeros((40, 40), np.float32)
    xtile.run(_loop("products"), [a, a, c, 40, 1.0], device="opencl", entry="main")
    np.testing.assert_array_equal(c, np.full((40, 40), 40, np.float32))
    assert launched == [False]
