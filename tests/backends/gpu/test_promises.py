"""What machine code may rely on in a launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from xtile.arguments.binding import bind
from xtile.arguments.kernel import signatures_of
from xtile.backends.gpu.promises import promises_of
from xtile.backends.machine_code import Promises
from xtile.launch import DeviceArray

KERNEL = """
func @k(%n: index, %a: f32, %A: memref<f32x?x8>, %z: c32, %B: memref<f16x16>) {
}
"""
"""Machine code has n, a, the address, size and stride of A, two parts of z, the address of B."""

N, A, A_SIZE, A_STRIDE, B = 0, 2, 3, 4, 7


def found(*arguments: Any) -> Promises:
    (signature,) = signatures_of(xtile.parse(KERNEL, language="tensorlang")).values()
    return promises_of(signature, bind(signature, arguments))


def aligned(count: int, dtype: Any, offset: int = 0) -> Any:
    """Memory whose address 64 divides, but for some bytes."""
    memory = np.zeros(count * np.dtype(dtype).itemsize + 128, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64 + offset
    return memory[start:][: count * np.dtype(dtype).itemsize].view(dtype)


@pytest.mark.parametrize(
    ("n", "rows", "stride", "offset", "divisible"),
    [
        (32, 48, 64, 0, {N, A, A_SIZE, A_STRIDE, B}),
        (8, 48, 64, 0, {A, A_SIZE, A_STRIDE, B}),
        (0, 47, 64, 0, {N, A, A_STRIDE, B}),
        (-16, 47, 50, 4, {N, B}),
    ],
)
def test_what_16_divides(n: int, rows: int, stride: int, offset: int, divisible: set[int]) -> None:
    memory = aligned(stride * 8, np.float32, offset)
    array = memory.reshape(8, stride).T[:rows]
    promises = found(n, 1.0, array, 1j, aligned(16, np.float16))
    assert promises == Promises(frozenset(divisible), frozenset({A, B}))


def test_memory_that_offsets_of_32_bits_do_not_reach() -> None:
    """The last byte counts, and not how many there are."""
    half = aligned(16, np.float16)
    for stride, in_reach in ((2**26, {A, B}), (2**29 // 7 // 16 * 16, {A, B}), (2**27, {B})):
        array = DeviceArray(1 << 40, (16, 8), (1, stride))
        assert found(1, 1.0, array, 0j, half).in_reach == in_reach, stride


def test_no_memory() -> None:
    promises = found(16, 1.0, None, 0j, aligned(16, np.float16))
    assert promises.in_reach == {A, B}
