"""The way of a tensor's elements through local memory, without conflicts of banks.

Source: "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (2025),
section "Optimal swizzling"; Triton 3.8, `lib/Tools/GenericSwizzling.cpp`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from xtile.layouts import bits
from xtile.layouts.layout import Digit, Layout
from xtile.layouts.linear import UNITS, LayoutError, LinearLayout, log2


@dataclass(frozen=True)
class Banks:
    """Memory of a work-group, in banks that can be reached at the same time.

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
class Offsets:
    """Where in memory the elements in registers lie.

    Attributes:
        registers: From registers, lanes and subgroups to the indices of the tensor.
        memory: From an `offset` in elements to these indices.
    """

    registers: Layout
    memory: Layout

    def apply(self, **numbers: int) -> int:
        """The offset of what a register of a lane of a subgroup has; numbers not given are 0."""
        index = self.registers.apply(**numbers)
        (offset,) = self._offsets.apply(**dict(zip(self._names, index, strict=True)))
        return offset

    @property
    def linear(self) -> LinearLayout | None:
        """The same as one layout; None if it is not linear."""
        if self.registers.is_linear and self.memory.is_linear:
            return self.registers.linear.invert_and_compose(self.memory.linear)
        return None

    @cached_property
    def _offsets(self) -> Layout:
        return self.memory.inverse()

    @property
    def _names(self) -> tuple[str, ...]:
        return self.registers.linear.output_names


@dataclass(frozen=True)
class ThroughLocalMemory:
    """All lanes write their elements to local memory, wait for each other, and read.

    Offsets count the elements of the whole tensor, also where a work-group has a part of it only.

    Attributes:
        memory: From an `offset` in elements to the indices of the tensor.
        store: The offsets of the old registers.
        load: The offsets of the new ones.
        vector: How many elements a lane writes or reads at once.
    """

    memory: Layout
    store: Offsets
    load: Offsets
    vector: int


def of_one_tensor(
    source: LinearLayout | Layout, target: LinearLayout | Layout
) -> tuple[Layout, Layout]:
    """Both layouts with all inputs in one order.

    Raises:
        LayoutError: They are of other tensors.
    """

    def with_all_inputs(layout: Layout) -> Layout:
        digits = {name: layout.digits_of(name) for name in UNITS}
        counts = dict(zip(layout.linear.output_names, layout.counts, strict=True))
        return Layout.of(layout.linear.reordered(*UNITS), digits, counts)

    given = (x if isinstance(x, Layout) else Layout.of(x) for x in (source, target))
    old, new = map(with_all_inputs, given)
    if old.outputs != new.outputs:
        before, after = (", ".join(f"{name} < {n}" for name, n in x.outputs) for x in (old, new))
        raise LayoutError(f"a layout to {before} and one to {after} do not hold the same tensor")
    return old, new


def through_local_memory(
    source: LinearLayout | Layout,
    target: LinearLayout | Layout,
    element_bits: int = 32,
    banks: Banks = BANKS,
    most_bytes: int = 16,
) -> ThroughLocalMemory:
    """A way through local memory in which lanes that act at once reach different banks.

    What both layouts leave linear of the tensor is swizzled, and copies of it follow each other in
    memory; lanes that act at once on several copies may reach the same bank.

    Args:
        source: Where the elements are.
        target: Where they are wanted.
        element_bits: Bits of an element.
        banks: The local memory.
        most_bytes: How many bytes a lane writes or reads at once at most.

    Raises:
        LayoutError: They are of other tensors.
    """
    old, new = of_one_tensor(source, target)
    names = old.linear.output_names
    sizes = dict(zip(names, map(min, old.linear.shape, new.linear.shape), strict=True))
    writers, readers = _inside(old.linear, sizes), _inside(new.linear, sizes)
    linear, vector = _swizzled(writers, readers, element_bits, banks, most_bytes)
    counts = {name: size // sizes[name] for name, size in old.outputs}
    digits = [
        Digit(counts[name], tuple(int(name == other) for other in names))
        for name in reversed(names)
        if counts[name] > 1
    ]
    memory = Layout.of(linear, {"offset": digits}, counts)
    return ThroughLocalMemory(memory, Offsets(old, memory), Offsets(new, memory), vector)


def _inside(layout: LinearLayout, sizes: Mapping[str, int]) -> LinearLayout:
    """A layout with indices modulo sizes, without registers that change what is left out."""
    images = {
        name: [
            tuple(index % size for index, size in zip(image, sizes.values(), strict=True))
            for image in layout.images(name)
        ]
        for name in UNITS
    }
    images["register"] = [
        image
        for image, whole in zip(images["register"], layout.images("register"), strict=True)
        if image == whole
    ]
    return LinearLayout.of(images, sizes)


def _swizzled(
    source: LinearLayout, target: LinearLayout, element_bits: int, banks: Banks, most_bytes: int
) -> tuple[LinearLayout, int]:
    """From an `offset` to indices, and how many elements are a vector.

    Elements that a lane has in registers on both sides follow each other in memory, and are a
    vector. Behind their bits come those inside of a bank, where a vector does not fill it, then
    those that choose a bank, and then those that choose a row of banks: differences by which
    neither lanes that write at once differ, nor lanes that read at once.
    """
    old, new = source.flatten(), target.flatten()
    element_bytes = max(1, element_bits // 8)
    # The elements of a vector must have the same position in it in each lane.
    units = [x for side in (old, new) for name in UNITS[1:] for x in side.columns_of(name)]
    common = bits.intersection(old.columns_of("register"), new.columns_of("register"))
    vector = bits.independent(common, units)[: log2(max(1, most_bytes // element_bytes))]
    inside = max(0, log2(max(1, banks.bytes // element_bytes)) - len(vector))
    at_once = log2(banks.lanes_at_once(element_bytes << len(vector)))
    writers, readers = (side.columns_of("lane")[:at_once] for side in (old, new))
    every = bits.independent([*units, *bits.units(source.output_bits)], vector)
    word = bits.independent([*bits.intersection(writers, readers), *every])[:inside]
    rows = _rows(bits.independent(writers, word), bits.independent(readers, word), every, word)
    rows = rows[: max(0, len(every) - len(word) - at_once)]
    chosen = bits.independent([*writers, *readers, *every], [*word, *rows])
    offsets = [(image,) for image in (*vector, *word, *chosen, *rows)]
    memory = LinearLayout.of({"offset": offsets}, dict(old.outputs)).reshape(dict(source.outputs))
    return memory, 1 << len(vector)


def _rows(
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


# --- conflicts ---


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
            max(_conflicts(access, way.vector, element_bits, banks))
            for access in (way.store, way.load)
        )
    )


def _conflicts(access: Offsets, vector: int, element_bits: int, banks: Banks) -> Iterator[int]:
    """The conflicts of an access: counted where it is not linear, each time that lanes act."""
    if access.linear is not None:
        yield access_conflicts(access.linear, vector, element_bits, banks)
        return
    element_bytes = max(1, element_bits // 8)
    at_once = banks.lanes_at_once(vector * element_bytes)
    registers, lanes, *units = (range(access.registers.size(name)) for name in UNITS)
    for register, subgroup, block in product(registers, *units):
        others = {"register": register, "subgroup": subgroup, "block": block}
        offsets = [access.apply(lane=lane, **others) // vector * vector for lane in lanes]
        for first in range(0, len(lanes), at_once):
            starts = {offset * element_bytes for offset in offsets[first : first + at_once]}
            words = {
                byte // banks.bytes
                for start in starts
                for byte in range(start, start + vector * element_bytes)
            }
            yield max(Counter(word % banks.count for word in words).values()) - 1


def strided_conflicts(
    layout: Layout, strides: Sequence[int], element_bits: int = 32, banks: Banks = BANKS
) -> int:
    """The conflicts where lanes reach their elements of a box in memory with strides.

    Args:
        layout: From registers and lanes to the indices of the box.
        strides: Elements from one index to the next, along each dimension.
        element_bits: Bits of an element.
        banks: The local memory.
    """
    element_bytes = max(1, element_bits // 8)
    lanes, at_once = layout.size("lane"), banks.lanes_at_once(element_bytes)
    worst = 1
    for first in range(0, lanes, at_once):
        words: set[int] = set()
        for lane in range(first, min(first + at_once, lanes)):
            index = layout.apply(lane=lane)
            start = sum(i * s for i, s in zip(index, strides, strict=False)) * element_bytes
            words.update(byte // banks.bytes for byte in range(start, start + element_bytes))
        worst = max(worst, *Counter(word % banks.count for word in words).values())
    return worst - 1


def padding_of_rows(
    accesses: Sequence[tuple[Layout, Sequence[int]]],
    columns: int,
    element_bits: int = 32,
    banks: Banks = BANKS,
) -> int:
    """How many elements between rows of a matrix in memory leave the fewest conflicts.

    Args:
        accesses: For each access the layout of the box that a subgroup reaches, and for each of its
            dimensions which one of the matrix it is: 0 for rows, 1 for columns.
        columns: The columns of the matrix.
        element_bits: Bits of an element.
        banks: The local memory.
    """
    word = max(1, banks.bytes * 8 // element_bits)

    def conflicts(padding: int) -> int:
        strides = columns + padding, 1
        return sum(
            strided_conflicts(layout, [strides[d] for d in dimensions], element_bits, banks)
            for layout, dimensions in accesses
        )

    return min(range(0, banks.count * word, word), key=conflicts)


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
