"""The chips that kernels are compiled for: one record for each, of any vendor.

Nothing here knows a language or a pass, and the tables of a vendor are loaded when one of its chips
is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

from xtile.command import EXIT_USAGE_WRONG, CommandError

if TYPE_CHECKING:
    from xtile.targets.target import Target

LARGEST_WORK_GROUP = 8192
"""Work-items of a work-group that some chip can have: the CPU. It is for checks without a chip."""


class OptionError(CommandError, ValueError):
    """A chip, a translation or a device is none of those that there are."""

    EXIT_CODE = EXIT_USAGE_WRONG


@dataclass(frozen=True)
class Vendor:
    """Who makes chips.

    Attributes:
        name: What messages call it.
        default: The chip that is meant where none is named.
        languages: The languages, and levels of the core form, that kernels are translated to for
            its chips; without any there is no compiler for them yet.
    """

    name: str
    default: str
    languages: tuple[str, ...]

    @cached_property
    def chips(self) -> Mapping[str, Target]:
        """The record of each chip, by its name."""
        module = import_module(f"xtile.targets.{self.name.lower()}")
        return {target.name: target for target in module.TARGETS}


INTEL = Vendor("Intel", "pvc", ("tile", "subgroup", "lane", "xegpu", "spirv"))
NVIDIA = Vendor("NVIDIA", "sm_90", ("tile", "subgroup", "cuda_tile", "triton"))
AMD = Vendor("AMD", "gfx942", ("tile", "subgroup", "triton", "amdg"))

VENDORS = (INTEL, NVIDIA, AMD)
"""Every vendor."""

COMPILED_VENDORS = tuple(vendor for vendor in VENDORS if vendor.languages)
"""Those whose chips kernels are translated for."""

LAUNCHED_VENDORS = (INTEL, NVIDIA, AMD)
"""Those whose chips machine code is compiled for here, and run on."""


def chip_name(text: str) -> str:
    """The name of a chip without the features behind it, with which AMD's driver names its own.

    Code that names none of them runs with each: `gfx942:sramecc+:xnack-` is `gfx942`.
    """
    return text.partition(":")[0] if text.startswith("gfx") else text


def find_target(chip: str) -> Target:
    """The record of a chip.

    Raises:
        OptionError: There is no such chip.
    """
    return vendor_of(chip).chips[chip_name(chip)]


def vendor_of(chip: str) -> Vendor:
    """Who makes a chip.

    Raises:
        OptionError: There is no such chip.
    """
    for vendor in VENDORS:
        if chip_name(chip) in vendor.chips:
            return vendor
    raise OptionError(f"there is no chip '{chip}'")


def check_chip(chip: str, user: str, *vendors: Vendor) -> str:
    """Returns the name of a chip that is one of the vendors'.

    Args:
        chip: Its name.
        user: What needs the chip, for the message: a language, a pass or a kind of file.
        vendors: Whose chips it takes.

    Raises:
        OptionError: The chip is another vendor's, or nobody's.
    """
    name = chip_name(chip)
    if any(name in vendor.chips for vendor in vendors):
        return name
    maker = next((vendor.name for vendor in VENDORS if name in vendor.chips), None)
    wrong = f"there is no chip '{chip}'" if maker is None else f"'{chip}' is a chip of {maker}'s"
    known = ", ".join(name for vendor in vendors for name in vendor.chips)
    raise OptionError(f"{wrong}; {user} is for {known}")
