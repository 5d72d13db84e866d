"""How the elements of a tensor get from one layout to another.

Source: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (2025),
section "Layout conversions"; Triton 3.8,
`lib/Conversion/TritonGPUToLLVM/ConvertLayoutOpToLLVM.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from xtile.layouts import bits
from xtile.layouts.layout import Layout
from xtile.layouts.linear import UNITS, Image, LayoutError, LinearLayout
from xtile.layouts.local_memory import (
    BANKS,
    Banks,
    ThroughLocalMemory,
    of_one_tensor,
    through_local_memory,
)


@dataclass(frozen=True)
class Nothing:
    """Every register already holds its element."""


@dataclass(frozen=True)
class RenameRegisters:
    """Every lane takes its registers in another order; nothing is computed.

    Attributes:
        registers: For each new register the old one.
    """

    registers: tuple[int, ...]


@dataclass(frozen=True)
class PermuteInLane:
    """Every lane has its elements, but which register has which differs between lanes.

    Attributes:
        registers: For each new register, and each lane of a subgroup, the old one.
    """

    registers: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Exchange:
    """What the lanes of a subgroup do together in one step of a shuffle.

    Attributes:
        offers: For each lane the old register whose number it offers to others.
        reads: For each lane the lane whose offer it takes.
        writes: For each lane the new register for what it takes; None if it drops it.
    """

    offers: tuple[int, ...]
    reads: tuple[int, ...]
    writes: tuple[int | None, ...]

    @property
    def is_local(self) -> bool:
        """Whether each lane takes its own offer, so that nothing moves."""
        return all(lane == source for lane, source in enumerate(self.reads))


@dataclass(frozen=True)
class Shuffle:
    """Elements move between the lanes of a subgroup.

    Attributes:
        steps: The exchanges, which may be done in any order.
    """

    steps: tuple[Exchange, ...]

    @property
    def exchanges(self) -> int:
        """How many steps move something between lanes."""
        return sum(not step.is_local for step in self.steps)


Plan: TypeAlias = Nothing | RenameRegisters | PermuteInLane | Shuffle | ThroughLocalMemory


def plan(
    source: LinearLayout | Layout,
    target: LinearLayout | Layout,
    element_bits: int = 32,
    banks: Banks = BANKS,
    most_bytes: int = 16,
) -> Plan:
    """The cheapest way from one layout of a tensor to another.

    Where both layouts have the same digits, the plan is for each of their numbers.

    Args:
        source: Where the elements are.
        target: Where they are wanted.
        element_bits: Bits of an element, for a way through local memory.
        banks: The local memory.
        most_bytes: How many bytes a lane writes or reads at once at most.

    Raises:
        LayoutError: They are of other tensors, an element is wanted that is nowhere, or elements
            would move between work-groups.
    """
    old, new = of_one_tensor(source, target)
    if (old.digits, old.counts) == (new.digits, new.counts):
        old, new = Layout.of(old.linear), Layout.of(new.linear)
        within = _linear_plan(old.linear, new.linear)
    else:
        within = _plan_within_lanes(old, new)
    return within or through_local_memory(old, new, element_bits, banks, most_bytes)


def _linear_plan(
    old: LinearLayout, new: LinearLayout
) -> Nothing | RenameRegisters | PermuteInLane | Shuffle | None:
    """The cheapest way inside of subgroups; None if there is none."""
    where = new.invert_and_compose(old)
    if not _stays(where, "block"):
        raise LayoutError(_BETWEEN_WORK_GROUPS)
    # Registers and lanes that differ between subgroups are no plan of one subgroup.
    differ = any(image[:2] != (0, 0) for name in UNITS[2:] for image in where.images(name))
    if differ or not _stays(where, "subgroup"):
        return None
    if not _stays(where, "lane"):
        return _shuffle(where)
    if any(register for register, *_ in where.images("lane")):
        return _permutation(where)
    registers = tuple(
        where.apply(register=register)[0] for register in range(where.size("register"))
    )
    return _renaming(registers, old.size("register"))


_BETWEEN_WORK_GROUPS = "elements would move between work-groups, which have no common memory"


def _renaming(registers: tuple[int, ...], count: int) -> Nothing | RenameRegisters:
    """What is done if each lane takes these of its `count` registers."""
    return Nothing() if registers == tuple(range(count)) else RenameRegisters(registers)


def _stays(where: LinearLayout, unit: str) -> bool:
    """Whether what a unit needs is found in the same one."""
    position = where.output_names.index(unit)
    return all(
        image[position] == (1 << bit if name == unit else 0)
        for name, images in where.inputs
        for bit, image in enumerate(images)
    )


def _permutation(where: LinearLayout) -> PermuteInLane:
    lanes = range(where.size("lane"))
    return PermuteInLane(
        tuple(
            tuple(where.apply(register=register, lane=lane)[0] for lane in lanes)
            for register in range(where.size("register"))
        )
    )


# --- counts that are no powers of two ---


def _plan_within_lanes(
    old: Layout, new: Layout
) -> Nothing | RenameRegisters | PermuteInLane | None:
    """The cheapest way inside of lanes, found element by element; None if there is none."""
    before, after = _elements(old), _elements(new)
    _check_work_groups(before, after)
    registers = {unit: {index: i for i, index in enumerate(before[unit])} for unit in before}
    found: dict[int, tuple[int, ...]] = {}
    for unit, indices in after.items():
        own = registers.get(unit, {})
        if not own.keys() >= set(indices):
            return None
        taken = tuple(own[index] for index in indices)
        if found.setdefault(unit[0], taken) != taken:
            return None
    if len(set(found.values())) == 1:
        return _renaming(found[0], old.size("register"))
    return PermuteInLane(tuple(zip(*found.values(), strict=True)))


_Elements: TypeAlias = dict[tuple[int, int, int], list[Image]]
"""The index of the element in each register, by lane, subgroup and block."""


def _elements(layout: Layout) -> _Elements:
    registers, *units = (range(layout.size(name)) for name in UNITS)
    return {
        (lane, subgroup, block): [
            layout.apply(register=register, lane=lane, subgroup=subgroup, block=block)
            for register in registers
        ]
        for lane, subgroup, block in product(*units)
    }


def _check_work_groups(before: _Elements, after: _Elements) -> None:
    """Checks that each work-group has what it wants.

    Raises:
        LayoutError: It does not.
    """
    held: dict[int, set[Image]] = {}
    for unit, indices in before.items():
        held.setdefault(unit[-1], set()).update(indices)
    for unit, indices in after.items():
        missing = sorted(set(indices) - held.get(unit[-1], set()))
        if missing and any(missing[0] in group for group in held.values()):
            raise LayoutError(_BETWEEN_WORK_GROUPS)
        if missing:
            raise LayoutError(f"index {missing[0]} has no number")


# --- between lanes ---


def _shuffle(where: LinearLayout) -> Shuffle:
    """The exchanges of a subgroup: one for each new register, where that is possible."""
    where = where.restrict("register", "lane").project("register", "lane")
    turned = _turns(where)
    if turned is None:
        return Shuffle(tuple(_one_by_one(where)))
    registers, lanes = range(where.size("register")), range(where.size("lane"))
    steps: list[Exchange] = []
    for first in registers:
        writes = [first ^ turned.apply(lane=lane)[0] for lane in lanes]
        found = [where.apply(register=writes[lane], lane=lane) for lane in lanes]
        offers = [0] * len(lanes)
        for register, lane in found:
            offers[lane] = register
        reads = tuple(lane for _, lane in found)
        steps.append(Exchange(tuple(offers), reads, tuple(writes)))
    return Shuffle(tuple(steps))


def _turns(where: LinearLayout) -> LinearLayout | None:
    """By how much each lane's new register differs from that of lane 0 in a step; None if by none.

    In a step a lane can offer one register only. So new registers are chosen for lanes such that
    those that read the same lane read the same register: where two lanes would read different
    registers of a lane, one of them takes another new register in this step.
    """
    vectors, lane_size = where.vectors, dict(where.outputs)["lane"]
    turns: list[tuple[int]] = []
    reached: list[int] = []
    for vector in vectors["lane"]:
        for turn in range(where.size("register")):
            found = vector ^ bits.combined(vectors["register"], turn)
            if _one_register_each([*reached, found], lane_size):
                turns.append((turn,))
                reached.append(found)
                break
        else:
            return None
    return LinearLayout.of({"lane": turns}, {"register": where.size("register")})


def _one_register_each(reached: Sequence[int], lane_size: int) -> bool:
    """Whether of what is reached no two are different registers of the same lane."""
    return bits.rank(reached) == bits.rank(vector % lane_size for vector in reached)


def _one_by_one(where: LinearLayout) -> Iterable[Exchange]:
    """An exchange for each new register and each old one that some lane needs for it."""
    lanes = range(where.size("lane"))
    for register in range(where.size("register")):
        found = [where.apply(register=register, lane=lane) for lane in lanes]
        for old in sorted({source for source, _ in found}):
            yield Exchange(
                (old,) * len(lanes),
                tuple(lane for _, lane in found),
                tuple(register if source == old else None for source, _ in found),
            )
