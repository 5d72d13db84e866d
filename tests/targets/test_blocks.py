"""Which blocks of memory an instruction accesses, and why one does not, in words."""

from __future__ import annotations

import pytest

from tests.lane_targets import for_llvm
from xtile.targets import INTEL
from xtile.targets.blocks import (
    Action,
    Bytes,
    Region,
    access_for,
    least_alignment,
    region_obstacles,
    row_obstacle,
    shape_obstacle,
)
from xtile.targets.lanes import for_spirv
from xtile.targets.spellings import PLAIN
from xtile.targets.target import BlockAccess


def _access() -> BlockAccess:
    access = INTEL.chips["pvc"].block_access
    assert access is not None
    return access


PVC = _access()


@pytest.mark.parametrize(
    ("chip", "lanes", "is_global", "problem"),
    [
        ("dg2", 16, True, "dg2 has no two-dimensional block accesses"),
        ("pvc", 32, True, "block accesses need subgroups of 16 lanes"),
        ("pvc", 16, False, "two-dimensional block accesses reach global memory only"),
    ],
)
def test_subgroups_without_blocks(chip: str, lanes: int, is_global: bool, problem: str) -> None:
    assert access_for(for_spirv(INTEL.chips[chip]), lanes, is_global=is_global) == problem


def test_a_subgroup_with_blocks() -> None:
    assert access_for(for_spirv(INTEL.chips["pvc"]), 16, is_global=True) is PVC


@pytest.mark.parametrize(
    ("action", "size", "shape", "problem"),
    [
        (Action.LOAD, 2, (32, 16, 2), None),
        (Action.LOAD, 2, (3, 16, 1), "there is no load of a block of 3x16 elements of 16 bits"),
        (Action.LOAD, 4, (8, 16, 2), "there is no load of 2 blocks of 8x16 elements of 32 bits"),
        (Action.LOAD, 8, (8, 8, 1), "there is no load of a block of 8x8 elements of 64 bits"),
        (Action.LOAD_TRANSFORMED, 1, (32, 16, 4), None),
        (
            Action.LOAD_TRANSFORMED,
            1,
            (16, 16, 1),
            "there is no packed load of a block of 16x16 elements of 8 bits",
        ),
        (Action.LOAD_TRANSPOSED, 4, (16, 8, 1), None),
        (
            Action.LOAD_TRANSPOSED,
            4,
            (16, 4, 1),
            "there is no transposed load of a block of 16x4 elements of 32 bits",
        ),
        (Action.STORE, 2, (16, 16, 1), "there is no store of a block of 16x16 elements of 16 bits"),
        (Action.PREFETCH, 1, (32, 32, 1), None),
    ],
)
def test_shapes(
    action: Action, size: int, shape: tuple[int, int, int], problem: str | None
) -> None:
    assert shape_obstacle(PVC, action, size, *shape) == problem


GOOD = Region(Bytes(64, 0), Bytes.of(128), Bytes.of(128), Bytes.of(0), 2**24)


def test_a_region_that_is_legal() -> None:
    assert region_obstacles(PVC, GOOD) == []
    assert region_obstacles(PVC, Region()) == []


@pytest.mark.parametrize(("size", "alignment"), [(1, 4), (2, 4), (4, 4), (8, 8)])
def test_a_matrix_that_is_accessed_from_before_it(size: int, alignment: int) -> None:
    """Whole elements, and words of 32 bits, lie between the two addresses."""
    assert least_alignment(PVC, size) == alignment
    region = Region(address=Bytes(alignment, 0))
    assert region_obstacles(PVC, region, alignment=alignment) == []
    (problem,) = region_obstacles(
        PVC, Region(address=Bytes(alignment // 2, 0)), alignment=alignment
    )
    assert problem == f"the address is not known to be a multiple of {alignment} bytes"


@pytest.mark.parametrize(
    ("region", "problems"),
    [
        (
            Region(address=Bytes(32, 0)),
            ["the address is not known to be a multiple of 64 bytes"],
        ),
        (
            Region(pitch=Bytes(2, 2)),
            [
                "the pitch is not known to be a multiple of 16 bytes",
                "the pitch is not known to be at least 64 bytes",
            ],
        ),
        (
            Region(pitch=Bytes.of(72)),
            ["the pitch is 72 bytes, no multiple of 16"],
        ),
        (
            Region(width=Bytes.of(48)),
            ["a row has 48 bytes, less than 64"],
        ),
        (
            Region(column=Bytes(2, 0)),
            ["the first column is not known to be a multiple of 4 bytes"],
        ),
        (
            Region(height=2**24 + 1),
            ["there are more than 16777216 rows, or bytes from one row to the next"],
        ),
        (
            Region(pitch=Bytes.of(2**25)),
            ["there are more than 16777216 rows, or bytes from one row to the next"],
        ),
    ],
)
def test_restrictions(region: Region, problems: list[str]) -> None:
    assert region_obstacles(PVC, region) == problems


DG2 = for_spirv(INTEL.chips["dg2"])


@pytest.mark.parametrize(
    ("action", "elements", "step", "address", "problem"),
    [
        (Action.LOAD, 16, 1, None, None),
        (Action.LOAD, 128, 1, Bytes(4, 0), None),
        (Action.STORE, 32, 1, Bytes(16, 0), None),
        (Action.LOAD, 16, 2, None, "the elements of a row are not next to each other"),
        (Action.LOAD, 16, None, None, "the elements of a row are not next to each other"),
        (Action.LOAD, 48, 1, None, "there is no load of 48 elements by 16 lanes"),
        (Action.STORE, 24, 1, None, "there is no store of 24 elements by 16 lanes"),
        (
            Action.LOAD,
            16,
            1,
            Bytes(2, 0),
            "the address is not known to be a multiple of 4 bytes",
        ),
        (
            Action.STORE,
            16,
            1,
            Bytes(8, 0),
            "the address is not known to be a multiple of 16 bytes",
        ),
    ],
)
def test_rows(
    action: Action, elements: int, step: int | None, address: Bytes | None, problem: str | None
) -> None:
    assert row_obstacle(DG2, action, 16, elements, step, address) == problem


def test_code_without_rows() -> None:
    chip = INTEL.chips["dg2"]
    for target in (for_llvm(chip), for_spirv(chip, PLAIN)):
        problem = row_obstacle(target, Action.LOAD, 16, 16, 1)
        assert problem == "dg2 has no accesses of rows"
