"""Copies of the host's memory, for devices that do not share it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from xtile.backends.host_memory import HostMemory, host_address
from xtile.backends.intel.opencl.device import find_devices
from xtile.backends.intel.opencl.memory import CopiedMemory, SystemMemory
from xtile.backends.intel.opencl.session import own_queue

QUEUE = own_queue(next(device for device in find_devices() if device.is_cpu))


def at(address: int, like: Any) -> Any:
    """The array at an address, of a size and type like another one."""
    return np.ctypeslib.as_array(
        (np.ctypeslib.as_ctypes_type(like.dtype) * like.size).from_address(address)
    )


@contextmanager
def copied(*pieces: tuple[Any, bool] | tuple[Any, bool, int]) -> Iterator[list[Any]]:
    """The copies of arrays while a kernel runs, which the body stands for."""
    memory = [HostMemory(*piece) if len(piece) == 3 else HostMemory(*piece, 1) for piece in pieces]
    copies = CopiedMemory(QUEUE, memory)
    yield [at(copies.address_of(piece.array), piece.array) for piece in memory]
    copies.bring_back()


def random(count: int) -> Any:
    return fresh_generator().random(count)


def test_only_what_is_written_comes_back() -> None:
    a, b = random(100), random(100)
    old_a, old_b = a.copy(), b.copy()
    with copied((a, False), (b, True)) as (copy_of_a, copy_of_b):
        assert np.array_equal(copy_of_a, a)
        assert np.array_equal(copy_of_b, b)
        copy_of_a[:] = -1
        copy_of_b[:50] = -2
        assert np.array_equal(b, old_b)
    assert np.array_equal(a, old_a)
    assert (b[:50] == -2).all()
    assert np.array_equal(b[50:], old_b[50:])


@pytest.mark.parametrize("is_first_written", [False, True])
def test_overlapping_views_are_one_memory(is_first_written: bool) -> None:
    storage = random(100)
    old = storage.copy()
    first, second, inner = storage[:60], storage[40:90], storage[50:55]
    pieces = ((second, not is_first_written), (first, is_first_written), (inner, False))
    with copied(*pieces) as (copy_of_second, copy_of_first, copy_of_inner):
        copy_of_first[50] = -1
        assert copy_of_second[10] == copy_of_inner[0] == -1
    assert storage[50] == -1
    storage[50] = old[50]
    assert np.array_equal(storage, old)


def test_neighbours() -> None:
    storage = random(30)
    old = storage.copy()
    left, middle, right = storage[:10], storage[10:20], storage[20:]
    with copied((left, True), (right, False), (middle, True)) as copies:
        copy_of_left, _, copy_of_middle = copies
        # Those that are written lie together.
        assert host_address(copy_of_middle) == host_address(copy_of_left) + 80
        for copy in copies:
            copy[:] = -1
    assert (storage[:20] == -1).all()
    assert np.array_equal(storage[20:], old[20:])


def test_nothing() -> None:
    empty = np.empty(0)
    with copied((empty, True), (empty, False)) as (first, second):
        assert host_address(first) == host_address(second)


@pytest.mark.parametrize("alignment", [1, 64, 128, 4096])
def test_alignment(alignment: int) -> None:
    storage = random(10_000)
    for first in range(16):
        array = storage[first : first + 9000]
        with copied((array, True, alignment)) as (copy,):
            assert host_address(copy) % alignment == 0
            if alignment == 1:
                # What is aligned by chance stays so.
                assert host_address(copy) % 128 == host_address(array) % 128


def test_overlapping_views_of_which_one_is_aligned() -> None:
    storage = random(1000)
    first = -(host_address(storage) // 8) % 16 + 1
    for outer, inner in ((0, first), (first, 0)):
        pieces = ((storage[outer:500], True, 1), (storage[inner:600], False, 64))
        with copied(*pieces) as (_, copy):
            assert host_address(copy) % 64 == 0


def test_integers_stay_until_the_end() -> None:
    for memory in (SystemMemory(), CopiedMemory(QUEUE, [])):
        held = [memory.hold(np.arange(start, start + 100)) for start in (0, 2**62)]
        held.append(memory.hold(np.empty(0, np.int64)))
        assert len(set(held)) == 3
        for start, address in zip((0, 2**62), held, strict=False):
            found = at(address, np.empty(100, np.int64))
            assert found.tolist() == list(range(start, start + 100))
        memory.bring_back()


def test_many_pieces() -> None:
    storage = random(20_000)
    pieces = [storage[start : start + 9] for start in range(0, 20_000, 10)]
    with copied(*((piece, True) for piece in pieces)) as copies:
        for number, copy in enumerate(copies):
            copy[:] = number
    assert all((piece == number).all() for number, piece in enumerate(pieces))
