"""The chips that kernels are compiled for: one row for each vendor, one default for each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


class OptionError(ValueError):
    """A chip, a translation or a device is none of those that there are."""


@dataclass(frozen=True)
class Vendor:
    """Who makes chips.

    Attributes:
        name: What messages call it.
        chips: The architectures that kernels are compiled for, and what each is.
        default: The one that is meant where none is named.
    """

    name: str
    chips: Mapping[str, str]
    default: str


INTEL = Vendor(
    "Intel",
    {
        "pvc": "Ponte Vecchio, Data Center GPU Max",
        "bmg": "Battlemage, Arc B",
        "dg2": "Alchemist, Arc A",
        "cpu": "any x86-64 CPU, through OpenCL",
        "cpu-amx": "a CPU with AMX, through OpenCL",
    },
    "pvc",
)

NVIDIA = Vendor(
    "NVIDIA",
    {
        "sm_80": "Ampere, A100",
        "sm_86": "Ampere, RTX 30, A10",
        "sm_89": "Ada, RTX 40, L4, L40S",
        "sm_90": "Hopper, H100, H200",
        "sm_100": "Blackwell, B200",
        "sm_103": "Blackwell Ultra, B300",
        "sm_110": "Blackwell, Jetson Thor",
        "sm_120": "Blackwell, RTX 50",
        "sm_121": "Blackwell, DGX Spark",
    },
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
