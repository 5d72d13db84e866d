"""Launches: kernels share the host's memory, sizes come from the host, bodies may stand inline."""

from __future__ import annotations

import pytest

from tests.host.programs import PRINT_F32, print_f32, printed
from xtile.semantics.errors import ExecutionError

NUMBERED = """
  gpu.module @kernels {
    gpu.func @number(%a: memref<?x4xf32>, %scale: f32) kernel {
      %x = gpu.thread_id x
      %y = gpu.global_id y
      %t = arith.index_cast %x : index to i32
      %u = arith.index_cast %y : index to i32
      %ten = arith.constant 10 : i32
      %v = arith.muli %u, %ten : i32
      %w = arith.addi %t, %v : i32
      %f = arith.sitofp %w : i32 to f32
      %g = arith.mulf %f, %scale : f32
      memref.store %g, %a[%y, %x] : memref<?x4xf32>
      gpu.return
    }
    gpu.func @shared(%out: memref<3xindex>) kernel {
      %memory = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %zero = arith.constant 0 : index
      %size = memref.dim %memory, %zero : memref<?xi8, #gpu.address_space<workgroup>>
      %id = gpu.block_id x
      memref.store %size, %out[%id] : memref<3xindex>
      gpu.return
    }
  }
"""

TYPE = "memref<4x4xf32>"


def test_a_kernel_writes_the_hosts_memory(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %A = memref.alloc() : memref<4x4xf32>
      %a = memref.cast %A : memref<4x4xf32> to memref<?x4xf32>
      %s = arith.constant 0.5 : f32
      gpu.launch_func @kernels::@number blocks in (%c1, %c2, %c1) threads in (%c4, %c2, %c1)
        args(%a : memref<?x4xf32>, %s : f32)
    """
    text = printed(body + print_f32("A", TYPE), capsys, NUMBERED + PRINT_F32)
    assert text.endswith(
        "[[0,   0.5,   1,   1.5], \n [5,   5.5,   6,   6.5], \n"
        " [10,   10.5,   11,   11.5], \n [15,   15.5,   16,   16.5]]\n"
    )


def test_tokens_order_what_the_device_does(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %two = arith.constant 2.0 : f32
      %t0 = gpu.wait async
      %G, %t1 = gpu.alloc async [%t0] (%c2) : memref<?x4xf32>
      %t2 = gpu.memset async [%t1] %G, %two : memref<?x4xf32>, f32
      %t3 = gpu.launch_func async [%t2] @kernels::@number
        blocks in (%c1, %c1, %c1) threads in (%c3, %c2, %c1)
        args(%G : memref<?x4xf32>, %two : f32)
      %A = memref.alloc() : memref<2x4xf32>
      %a = memref.cast %A : memref<2x4xf32> to memref<?x4xf32>
      %t4 = gpu.memcpy async [%t3] %a, %G : memref<?x4xf32>, memref<?x4xf32>
      %t5 = gpu.dealloc async [%t4] %G : memref<?x4xf32>
      gpu.wait [%t5]
    """
    text = printed(body + print_f32("A", "memref<2x4xf32>"), capsys, NUMBERED + PRINT_F32)
    assert text.endswith("[[0,   2,   4,   2], \n [20,   22,   24,   2]]\n")


def test_dynamic_shared_memory(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %bytes = arith.constant 100 : i32
      %O = memref.alloc() : memref<3xindex>
      gpu.launch_func @kernels::@shared blocks in (%c3, %c1, %c1) threads in (%c1, %c1, %c1)
        dynamic_shared_memory_size %bytes args(%O : memref<3xindex>)
      %u = memref.cast %O : memref<3xindex> to memref<*xindex>
      call @printMemrefInd(%u) : (memref<*xindex>) -> ()
    """
    around = NUMBERED + "func.func private @printMemrefInd(memref<*xindex>)"
    assert printed(body, capsys, around).endswith("\n[100,  100,  100]\n")


def test_an_inline_body_sees_the_hosts_values(capsys: pytest.CaptureFixture[str]) -> None:
    """Ids, sizes and values from outside, and memory that a work-group shares."""
    body = """
      %A = memref.alloc() : memref<2x4xf32>
      %half = arith.constant 0.5 : f32
      gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
          threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1)
          workgroup(%tile : memref<4xf32, #gpu.address_space<workgroup>>) {
        %n = arith.muli %bx, %sx : index
        %m = arith.addi %n, %tx : index
        %i = arith.index_cast %m : index to i32
        %f = arith.sitofp %i : i32 to f32
        %g = arith.mulf %f, %half : f32
        memref.store %g, %tile[%tx] : memref<4xf32, #gpu.address_space<workgroup>>
        gpu.barrier
        %last = arith.subi %sx, %c1 : index
        %other = arith.subi %last, %tx : index
        %h = memref.load %tile[%other] : memref<4xf32, #gpu.address_space<workgroup>>
        memref.store %h, %A[%bx, %tx] : memref<2x4xf32>
        gpu.terminator
      }
    """
    text = printed(body + print_f32("A", "memref<2x4xf32>"), capsys, PRINT_F32)
    assert text.endswith("[[1.5,   1,   0.5,   0], \n [3.5,   3,   2.5,   2]]\n")


def test_a_kernel_that_a_loop_launches(capsys: pytest.CaptureFixture[str]) -> None:
    body = """
      %A = memref.alloc() : memref<1x4xf32>
      %zero = arith.constant 0.0 : f32
      gpu.memset %A, %zero : memref<1x4xf32>, f32
      scf.for %i = %c0 to %c3 step %c1 {
        gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
            threads(%tx, %ty, %tz) in (%sx = %i, %sy = %c1, %sz = %c1) {
          gpu.terminator
        }
      }
    """
    with pytest.raises(ExecutionError, match=r"the block must be positive, but is \(0, 1, 1\)"):
        printed(body, capsys)


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        (
            (
                "gpu.launch_func @kernels::@number blocks in (%c0, %c1, %c1) threads in "
                "(%c1, %c1, %c1) args(%a : memref<?x4xf32>, %s : f32)"
            ),
            "the grid must be positive, but is (0, 1, 1)",
        ),
        (
            (
                "gpu.launch_func @kernels::@number blocks in (%c1, %c1, %c1) threads in "
                "(%c16, %c1, %c1) args(%a : memref<?x4xf32>, %s : f32)"
            ),
            "the access to element 15 lies outside of the memory of %A, which has 8 elements",
        ),
    ],
)
def test_mistakes(launch: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    body = f"""
      %A = memref.alloc() : memref<2x4xf32>
      %a = memref.cast %A : memref<2x4xf32> to memref<?x4xf32>
      %s = arith.constant 0.5 : f32
      {launch}
    """
    with pytest.raises(ExecutionError) as error:
        printed(body, capsys, NUMBERED)
    assert error.value.message == message
