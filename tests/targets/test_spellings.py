"""Which spelling is chosen for a device and its driver."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from xtile.targets import INTEL
from xtile.targets.spellings import SPELLINGS, is_possible, spelling_for_driver

PRODUCT_FUNCTIONS = "cl_intel_subgroup_matrix_multiply_accumulate"
BLOCK_FUNCTIONS = "cl_intel_subgroup_2d_block_io"
PRODUCT_EXTENSION = "SPV_INTEL_subgroup_matrix_multiply_accumulate"
BLOCK_EXTENSION = "SPV_INTEL_2d_block_io"


@pytest.mark.parametrize("chip", INTEL.chips)
def test_every_device_has_a_possible_one(chip: str) -> None:
    assert is_possible(INTEL.chips[chip].matrix_spelling, INTEL.chips[chip])


def test_names() -> None:
    assert all(spelling.name == name for name, spelling in SPELLINGS.items())


@pytest.mark.parametrize(
    ("chip", "names"),
    [
        ("pvc", {"extensions", "functions", "functions-and-visa", "inline-visa", "plain"}),
        ("dg2", {"extensions", "functions", "functions-and-visa", "inline-visa", "plain"}),
        ("cpu", {"plain"}),
        ("cpu-amx", {"plain", "cooperative-matrix"}),
    ],
)
def test_what_a_device_can_have(chip: str, names: set[str]) -> None:
    target = INTEL.chips[chip]
    assert {name for name, spelling in SPELLINGS.items() if is_possible(spelling, target)} == names


@pytest.mark.parametrize(
    ("chip", "reported", "name"),
    [
        ("pvc", [], "functions-and-visa"),
        ("pvc", [PRODUCT_FUNCTIONS], "functions-and-visa"),
        ("pvc", [PRODUCT_FUNCTIONS, BLOCK_FUNCTIONS], "functions"),
        ("bmg", [PRODUCT_EXTENSION, BLOCK_FUNCTIONS], "functions-and-visa"),
        (
            "bmg",
            [PRODUCT_FUNCTIONS, BLOCK_FUNCTIONS, PRODUCT_EXTENSION, BLOCK_EXTENSION],
            "extensions",
        ),
        # It has no accesses of blocks.
        ("dg2", [PRODUCT_EXTENSION], "extensions"),
        ("dg2", [], "functions"),
        ("cpu", [PRODUCT_EXTENSION, BLOCK_EXTENSION], "plain"),
        ("cpu-amx", [], "cooperative-matrix"),
    ],
)
def test_what_a_driver_reports(chip: str, reported: Collection[str], name: str) -> None:
    assert spelling_for_driver(INTEL.chips[chip], reported).name == name
