"""Carries plans out: what every lane has in its registers before and after."""

from __future__ import annotations

from itertools import product

from xtile.layouts import Image, Layout, LinearLayout
from xtile.layouts.linear import UNITS
from xtile.layouts.local_memory import Offsets, ThroughLocalMemory
from xtile.layouts.plans import Exchange, Nothing, PermuteInLane, Plan, RenameRegisters, Shuffle

Registers = dict[tuple[int, int, int], list[Image | None]]
"""What each register of a lane, by its lane, subgroup and block, has; None for nothing yet."""


def placed(layout: LinearLayout | Layout) -> Registers:
    """The index of the element in each register."""
    names = [name for name in UNITS if name in layout.input_names]
    lanes = product(*(range(layout.size(name)) for name in UNITS[1:]))
    return {
        units: [
            layout.apply(
                **{
                    name: number
                    for name, number in zip(UNITS, (register, *units), strict=True)
                    if name in names
                }
            )
            for register in range(layout.size("register"))
        ]
        for units in lanes
    }


def carried_out(plan: Plan, before: Registers, target: LinearLayout | Layout) -> Registers:
    """What registers have after a plan."""
    count = target.size("register")
    units = list(product(*(range(target.size(name)) for name in UNITS[1:])))
    match plan:
        case Nothing():
            return {unit: before[unit] for unit in units}
        case RenameRegisters(registers):
            return {unit: [before[unit][old] for old in registers] for unit in units}
        case PermuteInLane(registers):
            return {unit: [before[unit][old[unit[0]]] for old in registers] for unit in units}
        case Shuffle(steps):
            after: Registers = {unit: [None] * count for unit in units}
            for step in steps:
                _exchanged(step, before, after)
            return after
        case ThroughLocalMemory():
            return _through_memory(plan, before, units, count)


def _exchanged(step: Exchange, before: Registers, after: Registers) -> None:
    for (lane, *outer), registers in after.items():
        source, register = step.reads[lane], step.writes[lane]
        if register is not None:
            registers[register] = before[source, *outer][step.offers[source]]


def _offset(access: Offsets, register: int, units: tuple[int, ...]) -> int:
    return access.apply(**dict(zip(UNITS, (register, *units), strict=True)))


def _through_memory(
    plan: ThroughLocalMemory, before: Registers, units: list[tuple[int, ...]], count: int
) -> Registers:
    memory: dict[tuple[int, int], Image | None] = {}
    for (lane, subgroup, block), registers in before.items():
        for register, element in enumerate(registers):
            offset = _offset(plan.store, register, (lane, subgroup, block))
            assert memory.setdefault((block, offset), element) == element
    return {
        (lane, subgroup, block): [
            memory[block, _offset(plan.load, register, (lane, subgroup, block))]
            for register in range(count)
        ]
        for lane, subgroup, block in units
    }
