"""How the elements of a tensor get from one layout to another.

Source: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (2025),
sections "Layout conversions" and "Optimal swizzling"; Triton 3.8,
`lib/Conversion/TritonGPUToLLVM/ConvertLayoutOpToLLVM.cpp` and `lib/Tools/GenericSwizzling.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xtile.layouts import bits
from xtile.layouts.layout import Layout
from xtile.layouts.linear import UNITS, LayoutError, LinearLayout, log2


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


@dataclass(frozen=True)
class Banks:
    """Memory of a work-group, which can be reached in so many places at once.

    Attributes:
        count: How many banks there are.
        bytes: How many bytes that follow each other one bank has.
    """

    count: int
    bytes: int

    def lanes_at_once(self, size: int) -> int:
        """How many lanes that follow each other act at once, each on so many bytes."""
        return max(1, self.count * self.bytes // max(self.bytes, size))


BANKS = Banks(32, 4)
"""The banks of local memory on GPUs of NVIDIA and AMD, and as many as Intel's has at least."""


@dataclass(frozen=True)
class ThroughLocalMemory:
    """All lanes write their elements to local memory, wait for each other, and read.

    Offsets count the elements of the whole tensor, also where a work-group has a part of it only.

    Attributes:
        memory: From an `offset` in elements to the indices of the tensor.
        store: From the old registers, lanes and subgroups to an `offset`.
        load: From the new ones to an `offset`.
        vector: How many elements a lane writes or reads at once.
    """

    memory: LinearLayout
    store: LinearLayout
    load: LinearLayout
    vector: int


Plan: TypeAlias = Nothing | RenameRegisters | PermuteInLane | Shuffle | ThroughLocalMemory


def plan(
    source: LinearLayout | Layout,
    target: LinearLayout | Layout,
    element_bits: int = 32,
    banks: Banks = BANKS,
    most_bytes: int = 16,
) -> Plan:
    """The cheapest way from one layout of a tensor to another.

    Where the layouts have digits, which must be the same, the plan is for each of their numbers.

    Args:
        source: Where the elements are.
        target: Where they are wanted.
        element_bits: Bits of an element, for a way through local memory.
        banks: The local memory.
        most_bytes: How many bytes a lane writes or reads at once at most.

    Raises:
        LayoutError: They are of other tensors, elements would move between work-groups, or counts
            that are no powers of two are placed in different ways.
    """
    old, new = _linear_parts(source, target)
    where = new.invert_and_compose(old)
    if not _stays(where, "block"):
        raise LayoutError("elements would move between work-groups, which have no common memory")
    # Registers and lanes that differ between subgroups are no plan of one subgroup.
    differ = any(image[:2] != (0, 0) for name in UNITS[2:] for image in where.images(name))
    if differ or not _stays(where, "subgroup"):
        return through_local_memory(old, new, element_bits, banks, most_bytes)
    if not _stays(where, "lane"):
        return _shuffle(where)
    if any(register for register, *_ in where.images("lane")):
        return _permutation(where)
    registers = tuple(
        where.apply(register=register)[0] for register in range(where.size("register"))
    )
    is_same = registers == tuple(range(old.size("register")))
    return Nothing() if is_same else RenameRegisters(registers)


def _linear_parts(
    source: LinearLayout | Layout, target: LinearLayout | Layout
) -> tuple[LinearLayout, LinearLayout]:
    """The linear parts with all inputs and the outputs in one order."""
    old, new = (x if isinstance(x, Layout) else Layout.of(x) for x in (source, target))
    digits = [{name: layout.digits_of(name) for name in UNITS} for layout in (old, new)]
    if digits[0] != digits[1] or old.counts != new.counts:
        raise LayoutError("counts that are no powers of two are placed in different ways")
    return old.linear.reordered(*UNITS), new.linear.reordered(*UNITS)


def _stays(where: LinearLayout, unit: str) -> bool:
    """Whether what a unit needs is found in the same one."""
    place = where.output_names.index(unit)
    return all(
        image[place] == (1 << bit if name == unit else 0)
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


# --- local memory ---


def through_local_memory(
    source: LinearLayout,
    target: LinearLayout,
    element_bits: int = 32,
    banks: Banks = BANKS,
    most_bytes: int = 16,
) -> ThroughLocalMemory:
    """A way through local memory in which lanes that act at once reach different banks.

    Elements that a lane has in registers on both sides follow each other in memory, and are a
    vector. Behind their bits come those inside of a bank, where a vector does not fill it, then
    those that choose a bank, and then those that choose a place in it: differences by which neither
    lanes that write at once differ, nor lanes that read at once.

    Args:
        source: Where the elements are.
        target: Where they are wanted.
        element_bits: Bits of an element.
        banks: The local memory.
        most_bytes: How many bytes a lane writes or reads at once at most.
    """
    old, new = source.flatten(), target.flatten()
    element_bytes = max(1, element_bits // 8)
    # The elements of a vector must have the same place in it in each lane.
    units = [x for side in (old, new) for name in UNITS[1:] for x in side.columns_of(name)]
    common = bits.intersection(old.columns_of("register"), new.columns_of("register"))
    vector = bits.independent(common, units)[: log2(max(1, most_bytes // element_bytes))]
    inside = max(0, log2(max(1, banks.bytes // element_bytes)) - len(vector))
    at_once = log2(banks.lanes_at_once(element_bytes << len(vector)))
    writers, readers = (side.columns_of("lane")[:at_once] for side in (old, new))
    every = bits.independent([*units, *bits.units(source.output_bits)], vector)
    word = bits.independent([*bits.intersection(writers, readers), *every])[:inside]
    places = _places(bits.independent(writers, word), bits.independent(readers, word), every, word)
    places = places[: max(0, len(every) - len(word) - at_once)]
    chosen = bits.independent([*writers, *readers, *every], [*word, *places])
    offsets = [(image,) for image in (*vector, *word, *chosen, *places)]
    memory = LinearLayout.of({"offset": offsets}, dict(old.outputs)).reshape(dict(source.outputs))
    return ThroughLocalMemory(
        memory,
        source.invert_and_compose(memory),
        target.invert_and_compose(memory),
        1 << len(vector),
    )


def _places(
    writers: Sequence[int], readers: Sequence[int], every: Sequence[int], word: Sequence[int]
) -> list[int]:
    """Differences of which no sum is one of lanes that write at once, or of lanes that read.

    These are all by which neither differ, and sums of one by which only those that write differ
    and one by which only those that read do; lanes that differ in a word only do not differ.
    """
    both = bits.intersection([*word, *writers], [*word, *readers])
    only = [bits.independent(lanes, both) for lanes in (writers, readers)]
    neither = bits.independent(every, [*word, *writers, *readers])
    return [*neither, *(a ^ b for a, b in zip(*only, strict=False))]


@dataclass(frozen=True)
class Conflicts:
    """How many times more than once the memory is reached for an access of a vector.

    Attributes:
        store: When the lanes of a subgroup write.
        load: When they read.
    """

    store: int
    load: int


def bank_conflicts(
    way: ThroughLocalMemory, element_bits: int = 32, banks: Banks = BANKS
) -> Conflicts:
    """The conflicts of a way through local memory.

    As many lanes that follow each other act at once as there are banks for. They are in conflict
    where they reach different words of a bank; the same word is reached once for all of them.

    Args:
        way: The way.
        element_bits: Bits of an element.
        banks: The local memory.
    """
    return Conflicts(
        *(
            access_conflicts(access, way.vector, element_bits, banks)
            for access in (way.store, way.load)
        )
    )


def access_conflicts(
    access: LinearLayout, vector: int, element_bits: int = 32, banks: Banks = BANKS
) -> int:
    """How many times more than once the memory is reached when a subgroup's lanes reach vectors.

    Args:
        access: From a `lane`, and other inputs, to an `offset` in elements.
        vector: How many elements that follow each other a lane reaches.
        element_bits: Bits of an element.
        banks: The local memory.
    """
    element_bytes = max(1, element_bits // 8)
    at_once = log2(banks.lanes_at_once(vector * element_bytes))
    lanes = access.columns_of("lane")[:at_once]
    own = log2(max(1, vector * element_bytes // banks.bytes))
    words = [*(x * element_bytes // banks.bytes for x in lanes), *bits.units(own)]
    return (1 << bits.rank(words) - bits.rank(word % banks.count for word in words)) - 1
