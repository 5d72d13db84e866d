"""The routes from one language to another, searched over the steps.

A route is called `a-to-b`. It begins with a language, and ends with a language or a level of the
core form. The core form is the middle: what lies between is nothing else, but for the last language
where that has levels, as Triton's kernels have no layouts at first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, cast

from xtile.targets import COMPILED_VENDORS, Vendor
from xtile.translate.contracts import Contract
from xtile.translate.forms import AMDG, BESIDE, CORE, FORMS, NO_LEVEL, TRITON, Form
from xtile.translate.steps import Step

Way = tuple[Step, ...]
"""Steps from one form to another, without the passes that clean up in between."""


class Route(NamedTuple):
    """From one language to another.

    Attributes:
        source: The language.
        target: The language, or the level of the core form.
    """

    source: str
    target: str

    @property
    def name(self) -> str:
        """What `--translate` and messages call it."""
        return f"{self.source}-to-{self.target}"


class Reached(NamedTuple):
    """How a form comes to the end of a route.

    Attributes:
        form: What it begins with.
        level: The level that it is asked to end with; None for the nearest one.
        way: The steps.
    """

    form: Form
    level: str | None
    way: Way


@dataclass(frozen=True)
class Table:
    """Steps, and the routes that they make.

    Attributes:
        steps: The steps.
    """

    steps: Sequence[Step]
    _ways: dict[tuple[str | None, ...], Mapping[Form, Way]] = field(
        default_factory=dict[tuple[str | None, ...], Mapping[Form, Way]], init=False, repr=False
    )

    @cached_property
    def by_name(self) -> Mapping[str, Step]:
        """The steps by their names."""
        return {step.name: step for step in self.steps}

    @cached_property
    def forms(self) -> Sequence[Form]:
        """The forms that kernels may have."""
        declared = (form for step in self.steps for form in (*step.takes, step.gives))
        return list(dict.fromkeys(form for form in (*FORMS, *declared) if form is not None))

    @cached_property
    def targets(self) -> Sequence[str]:
        """The languages, and the levels within the core form, that routes may end with."""
        ends: dict[str, None] = {}
        for step in self.steps:
            if step.gives is None:
                continue
            is_inside = step.gives.language == step.takes[0].language
            ends[(step.gives.level if is_inside else None) or step.gives.language] = None
        return list(ends)

    @cached_property
    def routes(self) -> Mapping[str, Route]:
        """Every route that there is, by name."""
        sources = dict.fromkeys(form.language for step in self.steps for form in step.takes)
        found = (
            Route(source, target)
            for source in sources
            for target in self.targets
            if any(end.form.language == source for end in self.all_ways(target, source))
        )
        return {route.name: route for route in found}

    @property
    def names(self) -> Sequence[str]:
        """The names of the steps and of the routes; one that is both means the same."""
        return sorted({*self.by_name, *self.routes})

    # --- searching ---

    def shortest_ways(
        self, form: Form, goals: Iterable[Form], vendor: Vendor | None = None
    ) -> list[Way]:
        """The shortest ways of steps to one of some forms.

        More than one are a mistake of the table.

        Args:
            form: What the ways begin with.
            goals: What they may end with.
            vendor: Whose chips they are for; None for anybody's.
        """
        ends, seen = set(goals), {form}
        layer: list[tuple[Form, Way]] = [(form, ())]
        while layer:
            found = [way for end, way in layer if way and end in ends]
            if found:
                giving_way = [sum(step.gives_way for step in way) for way in found]
                least = min(giving_way)
                return [way for way, n in zip(found, giving_way, strict=True) if n == least]
            layer = [
                (step.gives, (*way, step))
                for last, way in layer
                for step in self.steps
                if step.gives is not None and step.gives not in seen
                if not way or last.language in (CORE, step.gives.language)
                if last in step.takes and step.is_for(vendor)
            ]
            seen.update(last for last, _ in layer)
        return []

    def goals_of(self, target: str, level: str | None = None) -> list[Form]:
        """The forms that a language, or one level of it, or a level of the core form has.

        Triton with layouts is a level of its own, and is not what Triton's language means.
        """
        return [
            form
            for form in self.forms
            if (target == form.language and level in (None, form.level) and form != AMDG)
            or (target == form.level and form.language in (CORE, TRITON.language))
        ]

    def ways_to(
        self,
        target: str,
        source: str | None = None,
        vendor: Vendor | None = None,
        level: str | None = None,
    ) -> Mapping[Form, Way]:
        """The way of each form that has one, and is not there yet.

        Args:
            target: The language, or the level of the core form.
            source: The language that the forms belong to; None for any.
            vendor: Whose chips the ways are for; None for anybody's.
            level: The level of the language that the ways end with; None for any.
        """
        key = (target, source, None if vendor is None else vendor.name, level)
        if key not in self._ways:
            self._ways[key] = self._search(target, source, vendor, level)
        return self._ways[key]

    def levels_within(self, source: str | None, target: str) -> Sequence[str]:
        """The levels of a language in which a route stays."""
        levels = [form.level for form in self.forms if form.language == source == target != CORE]
        named = [level for level in levels if level is not None]
        return named if len(named) == len(levels) else ()

    def all_ways(
        self, target: str, source: str | None = None, vendor: Vendor | None = None
    ) -> Sequence[Reached]:
        """The ways of a route to the level that is nearest, or to each level of its language."""
        return [
            Reached(form, level, way)
            for level in self.levels_within(source, target) or (None,)
            for form, way in self.ways_to(target, source, vendor, level).items()
        ]

    def default_level(self, target: str, source: str | None) -> str | None:
        """The level that a route ends with if nobody asks for one; None for the nearest."""
        if not self.levels_within(source, target):
            return None
        return [each.level for each in self.all_ways(target, source)][-1]

    def _search(
        self, target: str, source: str | None, vendor: Vendor | None, level: str | None
    ) -> dict[Form, Way]:
        goals = self.goals_of(target, level)
        own = [form for form in self.forms if source in (None, form.language)]
        begins = [form for form in self.forms if form.is_one_of(own) and not form.is_one_of(goals)]
        ways = {form: self.shortest_ways(form, goals, vendor) for form in begins}
        return {form: found[0] for form, found in ways.items() if found}

    def steps_of(self, ways: Iterable[Way]) -> list[Step]:
        """The steps that take each form along its way, with the passes that clean up.

        The form that is farthest from the end goes first; each step takes all that have come to it.
        """
        left: list[Way] = [way for way in ways if way]
        steps: list[Step] = []
        while left:
            step = max(left, key=len)[0]
            if step.first is not None and step.first not in [last.name for last in steps[-1:]]:
                steps.append(self.by_name[step.first])
            steps.append(step)
            if step.then is not None:
                steps.append(self.by_name[step.then])
            advanced: list[Way] = [way[1:] if way[0] is step else way for way in left]
            left = [way for way in advanced if way]
        return steps

    # --- what a route is for ---

    def vendors_of(self, target: str, source: str | None = None) -> list[Vendor]:
        """Whose chips routes to a language or level are for."""
        return [vendor for vendor in COMPILED_VENDORS if self.all_ways(target, source, vendor)]

    def vendors_named(self, name: str) -> Sequence[Vendor]:
        """Whose chips the step or the route of a name is for."""
        if name in self.by_name:
            return self.by_name[name].vendors or COMPILED_VENDORS
        route = self.routes[name]
        return self.vendors_of(route.target, route.source)

    def options_of(self, target: str, source: str | None = None) -> set[str]:
        """The options, beside the chip, that routes to a language or level read."""
        ways = [each.way for each in self.all_ways(target, source)]
        return {option for way in ways for step in way for option in step.options}

    def extension_of(self, route: Route) -> str:
        """The extension of the files that a route begins with, without the dot."""
        return next(form.extension for form in self.forms if form.language == route.source)

    def is_device_code(self, target: str) -> bool:
        """Whether a module in a language holds kernels only."""
        return any(form.is_device_code for form in self.goals_of(target))

    def leaves_out_hosts(self, target: str) -> bool:
        """Whether functions of the host are left out where kernels become of a language."""
        return any(form.leaves_out_hosts for form in self.goals_of(target))

    # --- contracts ---

    def contract_of(self, name: str, vendor: Vendor | None = None) -> Contract:
        """What the step or the route of this name does with each form."""
        step = self.by_name.get(name)
        if step is None:
            route = self.routes[name]
            level = self.default_level(route.target, route.source)
            ways = self.ways_to(route.target, route.source, vendor, level)
            return self.contract_of_ways(name, route.target, ways)
        is_whole = step.gives is not None and step.gives.is_device_code
        others = [form for form in self.forms if form not in step.takes]
        return self._contract(name, step.takes, BESIDE if is_whole else others)

    def contract_of_ways(self, name: str, target: str, ways: Mapping[Form, Way]) -> Contract:
        """What a route does with each form: it takes those with a way, and keeps those at its end.

        Args:
            name: What messages call it.
            target: The language or the level that it ends with.
            ways: The ways of the forms that it takes.
        """
        goals = self.goals_of(target)
        there = [form for form in self.forms if form.is_one_of(goals) and form not in ways]
        kept = BESIDE if self.is_device_code(target) else (*there, *BESIDE)
        return self._contract(name, tuple(ways), kept, goals)

    def _contract(
        self,
        name: str,
        takes: Sequence[Form],
        keeps: Sequence[Form],
        goals: Sequence[Form] = (),
    ) -> Contract:
        def advice(form: Form) -> str:
            if form is NO_LEVEL:
                return "name its level"
            if form.is_device_code and form in goals:
                return "it is there already and has no room for others, so translate them alone"
            if form in goals:
                return "it is there already"
            ways = self.shortest_ways(form, takes)
            if not ways:
                return "no pass makes them of it"
            way = min(ways, key=lambda way: takes.index(cast(Form, way[-1].gives)))
            return f"run {', then '.join(step.name for step in way)} first"

        return Contract(name, tuple(takes), tuple(keeps), advice)
