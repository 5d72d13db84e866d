"""Arrays as groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.arguments.binding import bind
from xtile.arguments.kernel import find_function, signature_of
from xtile.arguments.stacks import Stack

DEVICES = pytest.mark.parametrize("device", ["reference", "opencl"])

DOUBLE = """
func @double(%A: group<memref<f32x?x?>x?>, %B: group<memref<f32x?x?>x?>) {
    %i = group_id.x : index
    %a = load %A[%i] : memref<f32x?x?>
    %b = load %B[%i] : memref<f32x?x?>
    %zero = constant 0 : index
    %m = size %a[0] : index
    %n = size %a[1] : index
    foreach (%j,%k)=(%zero,%zero),(%m,%n) {
        %x = load %a[%j,%k] : f32
        %y = add %x, %x : f32
        store %y, %b[%j,%k]
    }
}
"""

DOUBLE_ROWS = """
gpu.module @m {
  gpu.func @double(%A: memref<?xmemref<4xf32>>, %B: memref<?xmemref<4xf32>>) kernel {
    %i = gpu.block_id x
    %j = gpu.thread_id x
    %a = memref.load %A[%i] : memref<?xmemref<4xf32>>
    %b = memref.load %B[%i] : memref<?xmemref<4xf32>>
    %x = memref.load %a[%j] : memref<4xf32>
    %y = arith.addf %x, %x : f32
    memref.store %y, %b[%j] : memref<4xf32>
    gpu.return
  }
}
"""


def random(*shape: int) -> Any:
    return np.asfortranarray(fresh_generator().standard_normal(shape).astype(np.float32))


def bound_group(array: Any, type: str = "group<memref<f32x?x?>x?>") -> Any:
    signature = signature_of(find_function(f"func @f(%A: {type}) {{\n}}\n", None))
    return bind(signature, [array])[0]


@DEVICES
@pytest.mark.parametrize(
    "part",
    [
        (slice(None), slice(None), slice(None)),
        (slice(1, 4), slice(2, None), slice(2, 9, 3)),
        (slice(None), slice(None), slice(3, 3)),
        (slice(None), slice(None), slice(None, None, -1)),
        (slice(None), slice(None), slice(4, 5)),
    ],
    ids=["whole", "strided", "empty", "backwards", "one"],
)
def test_the_last_mode_counts_the_entries(device: str, part: Any) -> None:
    a, b = random(5, 6, 11), np.full((5, 6, 11), np.nan, np.float32, order="F")
    given, target = a[part], b[part]
    count = given.shape[2]
    if count:
        xtile.run(DOUBLE, [given, target], grid=count, device=device)
    assert len(bound_group(given).entries) == count
    # Doubling is exact.
    assert np.array_equal(target, 2 * given)
    target[...] = np.nan
    assert np.isnan(b).all()


@DEVICES
def test_the_first_mode_counts_the_entries_of_mlir(device: str) -> None:
    a, b = np.ascontiguousarray(random(7, 4)), np.full((7, 4), np.nan, np.float32)
    xtile.run(DOUBLE_ROWS, [a, b], grid=7, block=4, device=device)
    assert np.array_equal(b, 2 * a)


@DEVICES
def test_a_list_is_the_same(device: str) -> None:
    a, b = random(3, 2, 5), np.full((3, 2, 5), np.nan, np.float32, order="F")
    lists = [[array[..., i] for i in range(5)] for array in (a, b)]
    xtile.run(DOUBLE, lists, grid=5, device=device)
    assert np.array_equal(b, 2 * a)


def test_entries_are_views() -> None:
    array = random(3, 2, 5)
    stack = bound_group(array).entries
    assert isinstance(stack, Stack)
    assert (stack.shape, stack.strides, stack.distance) == ((3, 2), (1, 3), 24)
    assert [view.memory[0] for view in stack] == array[0, 0].tolist()
    assert [view.memory[0] for view in stack[1:3]] == array[0, 0, 1:3].tolist()
    stack[4].memory[0] = 77
    assert array[0, 0, 4] == 77
    assert stack.memory.shape == (30,)
    assert np.shares_memory(stack.memory, array)


def test_an_entry_that_all_pointers_point_to() -> None:
    array = np.broadcast_to(random(3, 2)[..., None], (3, 2, 4))
    stack = bound_group(array).entries
    assert isinstance(stack, Stack)
    assert stack.distance == 0
    assert len(stack) == 4
    assert stack.memory.shape == (6,)
