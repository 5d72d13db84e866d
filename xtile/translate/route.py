"""Runs routes and steps, and checks both ends of each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xtile.garbage import without_collections
from xtile.targets import AMD, OptionError, Vendor, check_chip
from xtile.translate.contracts import check_result, refuse_level
from xtile.translate.forms import (
    AMDG,
    BESIDE,
    XEGPU_WORK_GROUP,
    Form,
    Found,
    forms_of,
    insist_on_xegpu_level,
)
from xtile.translate.search import Table
from xtile.translate.steps import STEPS, Options, Step

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from xtile.text.diagnostics import Diagnostics

__all__ = [
    "ROUTES",
    "Options",
    "Watcher",
    "check_route",
    "check_target",
    "translate",
    "translate_to",
]

Watcher = Callable[[str, "ModuleOp"], None]
"""Called before each step of a translation with the step's name and the module that it gets."""

ROUTES = Table(STEPS)
"""The routes that there are."""


def check_route(name: str, chip: str | None = None, table: Table = ROUTES) -> None:
    """Checks that there is a step or a route, and that it is for a chip, if one is named.

    Raises:
        OptionError: There is none of this name, or it is for other chips.
    """
    if name not in table.names:
        raise OptionError(_no_route(name, table))
    if chip is not None:
        route = table.routes.get(name)
        check_chip(chip, route.target if route else name, *table.vendors_named(name))


def _no_route(name: str, table: Table) -> str:
    source, _, target = name.partition("-to-")
    known = [route.target for route in table.routes.values() if route.source == source]
    if not known:
        return f"there is no translation '{name}'; there are {', '.join(table.routes)}"
    return f"{source} cannot be translated to '{target}'; it can to {', '.join(known)}"


def check_target(target: str, chip: str | None = None, table: Table = ROUTES) -> None:
    """Checks that something becomes a language or level, and for a chip, if one is named.

    Raises:
        OptionError: There is none, or it is for other chips.
    """
    if target not in table.targets:
        is_known = target in [form.language for form in table.forms]
        wrong = f"nothing becomes '{target}'" if is_known else f"there is no language '{target}'"
        raise OptionError(f"{wrong}; kernels can be translated to {', '.join(table.targets)}")
    if chip is not None:
        check_chip(chip, target, *table.vendors_of(target))


def translate(
    module: ModuleOp,
    name: str,
    options: Options | None = None,
    diagnostics: Diagnostics | None = None,
    watcher: Watcher | None = None,
) -> ModuleOp:
    """Translates a module along a route, or by one step.

    Args:
        module: What to translate; it stays as it is.
        name: The name of the route or of the step.
        options: What the translation may depend on.
        diagnostics: Where warnings and remarks go; None drops them.
        watcher: Sees each step begin.

    Returns:
        The new module, with the source of the old one for messages.

    Raises:
        DiagnosticError: Something in the module cannot be translated, or there is nothing that the
            route is for.
        OptionError: There is no such route, or it is not for the chip.
    """
    return Run(ROUTES, options or Options(), diagnostics, watcher).named(module, name)


def translate_to(
    module: ModuleOp,
    target: str,
    options: Options | None = None,
    diagnostics: Diagnostics | None = None,
    watcher: Watcher | None = None,
) -> ModuleOp:
    """Like `translate`, from whatever languages and levels the kernels of a module have.

    Args:
        module: What to translate.
        target: The language, or the level of the core form.
        options: What the translation may depend on.
        diagnostics: Where warnings and remarks go; None drops them.
        watcher: Sees each step begin.

    Returns:
        The new module; the old one where all of it is there already.

    Raises:
        DiagnosticError: Something in the module cannot be translated, or there is no kernel.
        OptionError: There is no such language, or no way to it for the chip.
    """
    return Run(ROUTES, options or Options(), diagnostics, watcher).to(module, target)


@dataclass(frozen=True)
class Run:
    """Runs steps; both ends of each are checked.

    Attributes:
        table: The steps that there are.
        options: What they may depend on.
        diagnostics: Where warnings and remarks go; None drops them.
        watcher: Sees each step begin.
    """

    table: Table
    options: Options
    diagnostics: Diagnostics | None = None
    watcher: Watcher | None = None

    def named(self, module: ModuleOp, name: str) -> ModuleOp:
        """Does what the step or the route of a name says."""
        check_route(name, self.options.chip, self.table)
        route = self.table.routes.get(name)
        module = self._prepared(module, None if route is None else route.target)
        found = forms_of(module, self.table.forms)
        if route is None:
            self.table.contract_of(name).check(module, found)
            return self._steps(module, found, [self.table.by_name[name]])
        return self._route(module, found, name, route.target, route.source)

    def to(self, module: ModuleOp, target: str) -> ModuleOp:
        """Takes the kernels of a module to a language or level, if they are not there already."""
        check_target(target, self.options.chip, self.table)
        module = self._prepared(module, target)
        goals = self.table.goals_of(target, self._level_of(target))
        if AMDG in goals:
            module = self._without_other_layouts(module)
        found = forms_of(module, self.table.forms)
        kernels = [each.form for each in found if each.form not in BESIDE]
        if kernels and all(form.is_one_of(goals) for form in kernels):
            return module
        return self._route(module, found, f"the translation to {target}", target, None)

    def _without_other_layouts(self, module: ModuleOp) -> ModuleOp:
        """The kernels, in the core form where they have layouts for another chip than is asked for.

        Raises:
            DiagnosticError: They have, and cannot be raised.
        """
        from xtile.dialects.triton.module_attributes import own_chip

        own = own_chip(module)
        wanted = self.options.chip or (own if own in AMD.chips else AMD.default)
        return module if own in (None, wanted) else self.named(module, "triton-to-core")

    def _level_of(self, target: str, source: str | None = None) -> str | None:
        """The level that kernels in a language are to have; None for any."""
        if target != XEGPU_WORK_GROUP.language:
            return None
        return self.options.xegpu_level or self.table.default_level(target, source)

    def _prepared(self, module: ModuleOp, target: str | None) -> ModuleOp:
        """The module of our classes without `affine`, or a copy that options say more of.

        Its arguments may overlap then, or its kernels of XeGPU are at a level, unless that is the
        level that others are to have.
        """
        from xtile.dialects.normalisation import normalised
        from xtile.dialects.walk import walk

        module = normalised(module)
        if any(each.name.startswith("affine.") for each in walk(module)):
            from xtile.rewrite.affine_control import with_affine_lowered

            module = with_affine_lowered(module)
        level = self.options.xegpu_level if target != XEGPU_WORK_GROUP.language else None
        if not self.options.may_overlap and level is None:
            return module
        from xtile.dialects.core.arguments import forget_noalias
        from xtile.text.source import clone_with_source

        copy = clone_with_source(module)
        if self.options.may_overlap:
            forget_noalias(copy)
        if level is not None:
            insist_on_xegpu_level(copy, level)
        return copy

    def _route(
        self, module: ModuleOp, found: Sequence[Found], name: str, target: str, source: str | None
    ) -> ModuleOp:
        """Takes every kernel of a module along its own way.

        Args:
            module: The module.
            found: Its functions.
            name: What messages call the route.
            target: The language or the level that it ends with.
            source: The language that it begins with; None for any.
        """
        kernels = [each.form for each in found]
        vendor = self._vendor(target, source, kernels)
        level = self._level_of(target, source)
        ways = self.table.ways_to(target, source, vendor, level)
        goals = self.table.goals_of(target, level)
        for each in found:
            if level is not None and each.form not in ways and not each.form.is_one_of(goals):
                self._check_level(module, each, (source, target), vendor, level)
        self.table.contract_of_ways(name, target, ways).check(module, found)
        forms = dict.fromkeys(each.form for each in found)
        steps = self.table.steps_of(ways[form] for form in forms if form in ways)
        return self._steps(module, found, steps)

    def _check_level(
        self,
        module: ModuleOp,
        found: Found,
        ends: tuple[str | None, str],
        vendor: Vendor,
        level: str,
    ) -> None:
        """Checks that a kernel which has no way to a level has none to the language.

        Raises:
            DiagnosticError: It has a way to other levels only.
        """
        source, target = ends
        levels = [
            form.level or ""
            for form in self.table.goals_of(target)
            if found.form in self.table.ways_to(target, source, vendor, form.level)
        ]
        if levels:
            refuse_level(module, found, levels, level)

    def _vendor(self, target: str, source: str | None, kernels: Sequence[Form]) -> Vendor:
        """Whose chips a route is for: those of the chip, or of whom the most kernels have a way."""
        vendors, chip = self.table.vendors_of(target, source), self.options.chip

        def ways(vendor: Vendor) -> tuple[int, int]:
            known = self.table.ways_to(target, source, vendor)
            return sum(form in known for form in kernels), len(known)

        named = [vendor for vendor in vendors if chip in vendor.chips]
        return named[0] if named else max(vendors, key=ways)

    def _steps(self, module: ModuleOp, found: Sequence[Found], steps: Sequence[Step]) -> ModuleOp:
        """Applies steps one after the other.

        Raises:
            ContractError: A step gives what it does not declare.
            DiagnosticError: Something cannot be translated.
        """
        from xtile.text.source import attach_source, source_of

        options = self._options_of(steps)
        source = source_of(module)
        with without_collections():
            for step in steps:
                if self.watcher is not None:
                    self.watcher(step.name, module)
                module = step.run(module, options, self.diagnostics)
                if source is not None:
                    attach_source(module, source)
                if step.gives is not None:
                    after = forms_of(module, self.table.forms)
                    check_result(step.name, found, after, step.takes, step.gives)
                    found = after
        return module

    def _options_of(self, steps: Sequence[Step]) -> Options:
        """The options, with what steps together decide."""
        compilers = [step.compiler for step in steps if step.compiler is not None]
        chips = [step.default_chip for step in steps if step.default_chip is not None]
        options = self.options
        if compilers:
            options = replace(options, compiler=compilers[-1])
        if chips and options.chip is None:
            options = replace(options, chip=chips[0])
        if any(step.is_exact for step in steps):
            options = replace(options, exact=True)
        return options
