"""The sanitizer looks for conflicts in memory, whatever arguments it is reached through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.launch import Output, SanitizerError

COPY = """
func @copy(%A: memref<f32x?,strided<?>>, %B: memref<f32x?,strided<?>>) {
    %zero = constant 0 : index
    %n = size %A[0] : index
    foreach (%i)=(%zero),(%n) {
        %x = load %A[%i] : f32
        store %x, %B[%i]
    }
}
"""

COLLECTIVE = """
func @copy(%A: memref<f32x?,strided<?>>, %B: memref<f32x?,strided<?>>) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    axpby %one, %A, %zero, %B
}
"""

XEGPU = """
gpu.module @m {
  gpu.func @copy(%A: memref<?xf32, strided<[?]>>, %B: memref<?xf32, strided<[?]>>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %i = gpu.thread_id x
    %x = memref.load %A[%i] : memref<?xf32, strided<[?]>>
    memref.store %x, %B[%i] : memref<?xf32, strided<[?]>>
    gpu.return
  }
}
"""

GROUP = """
func @copy(%G: group<memref<f32x?,strided<?>>x2>) {
    %zero = constant 0 : index
    %one = constant 1 : index
    %A = load %G[%zero] : memref<f32x?,strided<?>>
    %B = load %G[%one] : memref<f32x?,strided<?>>
    %n = size %A[0] : index
    foreach (%i)=(%zero),(%n) {
        %x = load %A[%i] : f32
        store %x, %B[%i]
    }
}
"""

MIXED = """
gpu.module @m {
  gpu.func @copy(%A: memref<16xi8>, %B: memref<16xi32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %i = gpu.thread_id x
    %x = memref.load %A[%i] : memref<16xi8>
    %y = arith.extsi %x : i8 to i32
    memref.store %y, %B[%i] : memref<16xi32>
    gpu.return
  }
}
"""

TILE = """
cuda_tile.module @m {
  entry @copy(%A: tile<ptr<f32>>, %B: tile<ptr<f32>>) {
    %i = iota : tile<16xi32>
    %a0 = reshape %A : tile<ptr<f32>> -> tile<1xptr<f32>>
    %a1 = broadcast %a0 : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %a = offset %a1, %i : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %b0 = reshape %B : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b1 = broadcast %b0 : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %b = offset %b1, %i : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %x, %t = load_ptr_tko weak %a : tile<16xptr<f32>> -> tile<16xf32>, token
    %s = store_ptr_tko weak %b, %x : tile<16xptr<f32>>, tile<16xf32> -> token
    return
  }
}
"""


def values() -> Any:
    return fresh_generator().standard_normal(33).astype(np.float32)


def found(kernel: str, *arguments: Any) -> list[str]:
    try:
        xtile.run(kernel, list(arguments), sanitize=True)
    except SanitizerError as error:
        return [diagnostic.message for diagnostic in error.diagnostics]
    return []


KERNELS = {"work-items": COPY, "collective": COLLECTIVE, "gpu": XEGPU}

OVERLAPS = {
    "from the left": lambda x: (x[:16], x[1:17]),
    "from the right": lambda x: (x[1:17], x[:16]),
    "by the last element": lambda x: (x[:16], x[15:31]),
    "interleaved": lambda x: (x[0:32:2], x[2:34:2][:16]),
}

SEPARATE = {
    "side by side": lambda x: (x[:16], x[16:32]),
    "between each other": lambda x: (x[0:32:2], x[1:33:2]),
    "different arrays": lambda x: (x[:16], x[:16].copy()),
}


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("cut", OVERLAPS.values(), ids=OVERLAPS)
def test_arguments_that_overlap(kernel: str, cut: Any) -> None:
    (message,) = found(kernel, *cut(values()))
    assert "of memory %B is accessed (write)" in message


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("cut", SEPARATE.values(), ids=SEPARATE)
def test_arguments_that_do_not(kernel: str, cut: Any) -> None:
    assert not found(kernel, *cut(values()))


def test_the_same_memref_twice_is_no_mistake() -> None:
    x = values()
    for kernel in (COPY, COLLECTIVE, XEGPU):
        assert not found(kernel, x[:16], x[:16])


def test_entries_of_a_group() -> None:
    x = values()
    (message,) = found(GROUP, [x[:16], x[1:17]])
    assert "while another work-item accesses it with load" in message
    assert not found(GROUP, [x[:16], x[16:32]])


def test_elements_of_several_sizes() -> None:
    memory = np.arange(80, dtype=np.int8)
    assert len(found(MIXED, memory[:16], memory[:64].view(np.int32))) == 1
    assert not found(MIXED, memory[64:], memory[:64].view(np.int32))


def test_tokens_order_memory_and_not_parameters() -> None:
    x = values()
    (message,) = found(TILE, x[:16], x[1:17])
    assert "no token orders the two" in message
    assert not found(TILE, x[:16], x[16:32])


def test_what_one_argument_holds_another_may_read() -> None:
    whole = values()[:32]
    assert not found(COPY, Output(whole[:16]), whole[:16])
    (message,) = found(COPY, Output(whole[:16]), whole[16:])
    assert "element [0] of memory %A is read, but nothing was written to it" in message
