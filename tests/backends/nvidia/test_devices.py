"""The table of NVIDIA's architectures agrees with itself and with what tiles can be."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import bf16, f16, f32, i64

from xtile.backends.nvidia.devices import DEVICES, Device, Hints, ProductTile
from xtile.chips import NVIDIA

ALL = pytest.mark.parametrize("device", DEVICES.values(), ids=list(DEVICES))

MOST_ELEMENTS = 2**24


def test_every_architecture_is_found_by_its_name() -> None:
    assert tuple(DEVICES) == tuple(NVIDIA.chips)
    assert all(device.name == name for name, device in DEVICES.items())
    assert NVIDIA.default in DEVICES


@ALL
def test_tiles_are_powers_of_two_and_the_largest_is_first(device: Device) -> None:
    for tiles in (*device.products.values(), device.tiles_of(i64)):
        areas = [tile.rows * tile.columns for tile in tiles]
        assert areas == sorted(areas, reverse=True)
        sizes = [size for tile in tiles for size in (tile.rows, tile.columns, tile.depth)]
        assert all(size & (size - 1) == 0 for size in sizes)
        assert max(areas) <= MOST_ELEMENTS
    assert device.elements & (device.elements - 1) == 0
    assert device.sum_elements & (device.sum_elements - 1) == 0


@ALL
def test_large_tiles_have_the_warps_that_keep_them_in_registers(device: Device) -> None:
    for factor in (bf16, f16):
        for tile in device.tiles_of(factor):
            sums = tile.rows * tile.columns * 4
            registers = 255 * 4 * 32 * (tile.hints.num_worker_warps_per_cta or 4)
            is_in_tensor_memory = device.name.startswith(("sm_10", "sm_11"))
            clusters = tile.hints.num_cta_in_cga or 1
            assert is_in_tensor_memory or sums <= registers * clusters


def test_clusters_are_of_hopper_and_its_successors() -> None:
    with_clusters = {
        name
        for name, device in DEVICES.items()
        for tile in device.tiles_of(bf16)
        if tile.hints.num_cta_in_cga is not None
    }
    assert with_clusters == {"sm_90", "sm_100", "sm_103", "sm_110"}


def test_what_is_not_in_the_table() -> None:
    assert DEVICES["sm_90"].tiles_of(i64)[0].rows == 32
    assert DEVICES["sm_90"].tiles_of(f32)[0] == ProductTile(
        128, 64, 16, Hints(num_worker_warps_per_cta=8)
    )
