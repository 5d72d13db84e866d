"""The steps and the routes as passes, for compilers that embed xDSL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xtile.dialects.normalisation import give_back
from xtile.targets import check_chip
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.contracts import warn_of_left_out
from xtile.translate.route import ROUTES, Options, translate
from xtile.translate.steps import Step


class TranslationFailedError(DiagnosticError, PassFailedException):
    """Something cannot be translated; xDSL's own tools know this as a failed pass."""


@dataclass(frozen=True)
class TranslationPass(ModulePass):
    """A step or a route that is the same for all chips.

    Raises:
        TranslationFailedError: Something cannot be translated.
    """

    @property
    def options(self) -> Options:
        """What it may depend on."""
        return Options()

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if _leaves_out_hosts(self.name):
            warn_of_left_out(op)
        try:
            new = translate(op, self.name, self.options)
        except DiagnosticError as error:
            raise TranslationFailedError(error.diagnostics) from error
        if new is not op:
            _replace_content(op, new)
        give_back(op)


@dataclass(frozen=True)
class PassForChip(TranslationPass):
    """A step or a route for a chip.

    Attributes:
        chip: The device; None for the default one of the vendor that it is for.

    Raises:
        OptionError: It is not for the chip.
        TranslationFailedError: Something cannot be translated.
    """

    chip: str | None = None

    def __post_init__(self) -> None:
        if self.chip is not None:
            check_chip(self.chip, self.name, *ROUTES.vendors_named(self.name))

    @property
    @override
    def options(self) -> Options:
        return Options(self.chip)


@dataclass(frozen=True)
class PassForOverlaps(TranslationPass):
    """A step that says whether arguments may overlap.

    Attributes:
        may_overlap: Whether arguments of a kernel may overlap although one of them is written,
            where its language or its attributes exclude it.
    """

    may_overlap: bool = False

    @property
    @override
    def options(self) -> Options:
        return Options(may_overlap=self.may_overlap)


@dataclass(frozen=True)
class PassForChipAndOverlaps(PassForChip):
    """A step or a route for a chip that depends on whether arguments may overlap.

    Attributes:
        may_overlap: As in `PassForOverlaps`.
    """

    may_overlap: bool = False

    @property
    @override
    def options(self) -> Options:
        return Options(self.chip, may_overlap=self.may_overlap)


@dataclass(frozen=True)
class PassForProducts(PassForChipAndOverlaps):
    """A step or a route that chooses how matrices are multiplied.

    Attributes:
        exact: Whether products of f32 are fused multiply-adds where a chip has products of parts
            of them.
    """

    exact: bool = False

    @property
    @override
    def options(self) -> Options:
        return Options(self.chip, may_overlap=self.may_overlap, exact=self.exact)


@dataclass(frozen=True)
class PassForChipAndLevel(PassForChip):
    """A route from level to level of XeGPU.

    Attributes:
        level: The level that kernels are to have; None for that of lanes.
    """

    level: str | None = None

    @property
    @override
    def options(self) -> Options:
        return Options(self.chip, xegpu_level=self.level)


_KINDS: Mapping[tuple[bool, bool], type[TranslationPass]] = {
    (False, False): TranslationPass,
    (False, True): PassForOverlaps,
    (True, False): PassForChip,
    (True, True): PassForChipAndOverlaps,
}
"""The class of a pass, by whether it is for a chip and whether it depends on overlaps."""


@cache
def pass_named(name: str) -> type[TranslationPass]:
    """The pass that does what the step or the route of a name says.

    Args:
        name: One of `ROUTES.names`.
    """
    steps = _steps_of(name)
    is_for_chip = any(step.vendors for step in steps)
    read = {option for step in steps for option in step.options}
    kind = PassForProducts if "exact" in read else _KINDS[is_for_chip, "may_overlap" in read]
    if _is_between_levels(name):
        kind = PassForChipAndLevel
    title = "".join(part.capitalize() for part in name.replace("_", "-").split("-"))
    words = " ".join(step.words for step in steps)
    members = {"name": name, "__doc__": words, "__module__": __name__}
    return cast("type[TranslationPass]", type(f"{title}Pass", (kind,), members))


def _steps_of(name: str) -> list[Step]:
    """The steps that a pass may take."""
    if name in ROUTES.by_name:
        return [ROUTES.by_name[name]]
    route = ROUTES.routes[name]
    return ROUTES.steps_of(each.way for each in ROUTES.all_ways(route.target, route.source))


def _is_between_levels(name: str) -> bool:
    """Whether a route stays in a language, so that the level must be named."""
    route = ROUTES.routes.get(name)
    return route is not None and bool(ROUTES.levels_within(route.source, route.target))


def _leaves_out_hosts(name: str) -> bool:
    gives = [step.gives for step in _steps_of(name) if step.gives is not None]
    return bool(gives) and gives[-1].leaves_out_hosts


def _replace_content(module: ModuleOp, new: ModuleOp) -> None:
    """Gives a module the operations and attributes of another one, which is left empty."""
    module.body.detach_block(module.body.block).erase()
    block = new.body.detach_block(new.body.block)
    module.body.add_block(block)
    module.attributes = new.attributes
