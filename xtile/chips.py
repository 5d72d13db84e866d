"""The chips that kernels are compiled for: one row for each vendor, one default for each row."""

from __future__ import annotations

from dataclasses import dataclass


class OptionError(ValueError):
    """A chip, a translation or a device is none of those that there are."""


@dataclass(frozen=True)
class Vendor:
    """Who makes chips.

    Attributes:
        name: What messages call it.
        chips: The architectures that kernels are compiled for.
        default: The one that is meant where none is named.
    """

    name: str
    chips: tuple[str, ...]
    default: str


INTEL = Vendor("Intel", ("pvc", "bmg", "dg2", "cpu", "cpu-amx"), "pvc")

NVIDIA = Vendor(
    "NVIDIA",
    (
        "sm_80",
        "sm_86",
        "sm_89",
        "sm_90",
        "sm_100",
        "sm_103",
        "sm_110",
        "sm_120",
        "sm_121",
    ),
    "sm_90",
)

VENDORS = (INTEL, NVIDIA)
"""Every vendor."""


def check_chip(chip: str, user: str, *vendors: Vendor) -> str:
    """Returns a chip that is one of the vendors'.

    Args:
        chip: Its name.
        user: What needs the chip, for the message: a language, a pass or a kind of file.
        vendors: Whose chips it takes.

    Raises:
        OptionError: The chip is another vendor's, or nobody's.
    """
    if any(chip in vendor.chips for vendor in vendors):
        return chip
    maker = next((vendor.name for vendor in VENDORS if chip in vendor.chips), None)
    wrong = f"there is no chip '{chip}'" if maker is None else f"'{chip}' is a chip of {maker}'s"
    known = ", ".join(name for vendor in vendors for name in vendor.chips)
    raise OptionError(f"{wrong}; {user} is for {known}")
