"""Made-up addresses: from memory to an address and back."""

from __future__ import annotations

import numpy as np
import pytest

from xtile.semantics.addresses import AddressSpace
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Buffer, View, ViewChoice, parts

F32 = np.dtype(np.float32)


@pytest.fixture
def buffers() -> list[Buffer]:
    return [Buffer(np.arange(8, dtype=np.float32) + 10 * i, f"%{i}") for i in range(3)]


def test_an_address_leads_back_to_its_memory(buffers: list[Buffer]) -> None:
    space = AddressSpace()
    addresses = [space.address_of(buffer) for buffer in buffers]
    assert addresses == [space.address_of(buffer) for buffer in buffers]
    assert len(set(addresses)) == 3
    view = space.memory_at(addresses[1] + 12, F32, None)
    assert isinstance(view, View)
    assert view.buffer is buffers[1]
    assert view.offset == 3


def test_addresses_of_each_work_item(buffers: list[Buffer]) -> None:
    space = AddressSpace()
    first, second, _ = (space.address_of(buffer) for buffer in buffers)
    lanes = np.arange(4)[np.newaxis, :]
    view = space.memory_at(first + 4 * lanes, F32, None)
    assert isinstance(view, View)
    np.testing.assert_array_equal(view.buffer.data[view.offset], [[0, 1, 2, 3]])
    mixed = space.memory_at(np.where(lanes < 2, first, second) + 4 * lanes, F32, None)
    assert isinstance(mixed, ViewChoice)
    found = np.zeros((1, 4), np.float32)
    for part, mask in parts(mixed, None):
        found = np.where(mask, part.buffer.data[part.offset], found)
    np.testing.assert_array_equal(found, [[0, 1, 12, 13]])


def test_what_is_not_active_may_have_any_address(buffers: list[Buffer]) -> None:
    space = AddressSpace()
    address = space.address_of(buffers[0])
    given = np.array([[address, 0, -5, address + 8]])
    mask = np.array([[True, False, False, True]])
    view = space.memory_at(given, F32, mask)
    assert isinstance(view, View)
    assert view.offset[mask].tolist() == [0, 2]
    with pytest.raises(UnlocatedError, match="address 0 is null"):
        space.memory_at(given, F32, np.array([[False, True, False, False]]))


def test_addresses_that_lead_nowhere(buffers: list[Buffer]) -> None:
    space = AddressSpace()
    address = space.address_of(buffers[0])
    null = Buffer(np.empty(0, np.float32), "%null", is_null=True)
    assert space.address_of(null) == 0
    with pytest.raises(UnlocatedError, match="address 0 is null"):
        space.memory_at(0, F32, None)
    with pytest.raises(UnlocatedError, match="belongs to no memory of the launch"):
        space.memory_at(50 * address, F32, None)
    with pytest.raises(UnlocatedError, match="must be a multiple of 4 bytes"):
        space.memory_at(address + 2, F32, None)


def test_memory_as_elements_of_another_type(buffers: list[Buffer]) -> None:
    space = AddressSpace()
    address = space.address_of(buffers[2])
    view = space.memory_at(address + 6, np.dtype(np.int16), None)
    assert isinstance(view, View)
    assert view.buffer is buffers[2].typed(np.dtype(np.int16))
    assert view.buffer.root is buffers[2]
    assert space.address_of(view.buffer) == address
    view.buffer.data[:] = 0
    assert not buffers[2].data.any()
