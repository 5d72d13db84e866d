"""Code of the host whose kernels an OpenCL device runs."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.host.programs import program
from tests.seeds import fresh_generator
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
