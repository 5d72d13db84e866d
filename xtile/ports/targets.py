"""What a kernel is ported to: the language, its files, and the chips that it is for."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from xtile.backends.machine_code import HSACO
from xtile.targets import AMD, OptionError, vendor_of
from xtile.translate.route import ROUTES


@dataclass(frozen=True)
class PortTarget:
    """A language that kernels are ported to.

    Attributes:
        name: The language.
        text: What the name of a file with its text ends with.
        binaries: What the names of files end with that it is compiled to, where the tools are.
    """

    name: str
    text: str
    binaries: tuple[str, ...] = ()

    def binaries_for(self, chip: str | None) -> tuple[str, ...]:
        """The files that a port for a chip is compiled to.

        An hsaco is made where one of AMD's chips is named: other vendors' have other functions.
        """
        is_amd = chip is not None and vendor_of(chip) is AMD
        return tuple(each for each in self.binaries if is_amd or each != HSACO.extension)


PORT_TARGETS = (
    PortTarget("tensorlang", ".ir"),
    PortTarget("xegpu", ".mlir"),
    PortTarget("spirv", ".spvasm", (".spv",)),
    PortTarget("cuda_tile", ".mlir", (".tileirbc", ".cubin")),
    PortTarget("triton", ".ttir", (".hsaco",)),
    PortTarget("amdg", ".ttgir", (".hsaco",)),
)
"""The languages, in the order of reports."""

ALL = "all"
"""Every language but the source's own."""


def chosen_targets(names: Sequence[str], source: Collection[str]) -> list[PortTarget]:
    """The targets that a command line names.

    Args:
        names: Languages, several of them between commas, or `all`.
        source: The language of the source and its level, which are not in `all`.

    Raises:
        OptionError: There is no such language.
    """
    wanted = [each for name in names for each in name.split(",")]
    known = {target.name: target for target in PORT_TARGETS}
    for name in wanted:
        if name != ALL and name not in known:
            raise OptionError(
                f"there is no port to '{name}'; there are {', '.join(known)} and {ALL}"
            )
    return [
        target
        for target in PORT_TARGETS
        if target.name in wanted or (ALL in wanted and target.name not in source)
    ]


def chip_for(target: PortTarget, chips: Sequence[str]) -> str | None:
    """The chip among those that are named that a language is for; None for the default one.

    Raises:
        OptionError: There is no such chip.
    """
    vendors = ROUTES.vendors_of(target.name)
    return next((chip for chip in chips if vendor_of(chip) in vendors), None)


def check_chips(targets: Sequence[PortTarget], chips: Sequence[str]) -> None:
    """Checks that each chip is for a language.

    Raises:
        OptionError: One is for none, or there is no such chip.
    """
    for chip in chips:
        if not any(chip_for(target, [chip]) for target in targets):
            names = ", ".join(target.name for target in targets)
            raise OptionError(f"the chip '{chip}' is for none of {names}")
