"""Plans, carried out on every element; conflicts of banks, counted one by one."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from tests.layouts.enumerated import small_layouts
from tests.layouts.interpreter import carried_out, placed
from tests.seeds import fresh_random, share_of
from xtile.layouts import Digit, Layout, LayoutError, LinearLayout, Step, intel, triton
from xtile.layouts.linear import UNITS
from xtile.layouts.local_memory import (
    BANKS,
    Banks,
    Conflicts,
    Offsets,
    ThroughLocalMemory,
    access_conflicts,
    bank_conflicts,
    through_local_memory,
)
from xtile.layouts.plans import Nothing, PermuteInLane, Plan, RenameRegisters, Shuffle, plan


def of_bits(cuts: tuple[int, int, int], order: tuple[int, ...], rows: int = 1) -> LinearLayout:
    """A layout of single bits of an index in some order: so many registers, lanes, subgroups."""
    images = [(0, 1 << bit) for bit in order]
    first, second = cuts[0], cuts[0] + cuts[1]
    parts = images[:first], images[first:second], images[second : second + cuts[2]]
    return LinearLayout.of(
        {**dict(zip(UNITS, parts, strict=False)), "block": []},
        {"dim0": rows, "dim1": 1 << len(order)},
    )


def checked(source: LinearLayout | Layout, target: LinearLayout | Layout) -> Plan:
    """A plan, after it was carried out."""
    made = plan(source, target)
    assert carried_out(made, placed(source), target) == placed(target)
    return made


# --- what kind of plan there is ---


def test_nothing() -> None:
    layout = of_bits((1, 2, 1), (0, 1, 2, 3))
    assert checked(layout, layout) == Nothing()


def test_rename_registers() -> None:
    made = checked(of_bits((2, 2, 0), (0, 1, 2, 3)), of_bits((2, 2, 0), (1, 0, 2, 3)))
    assert made == RenameRegisters((0, 2, 1, 3))


def test_registers_that_are_left_out_or_repeated() -> None:
    wide = LinearLayout.of({"register": [(1,), (2,)], "lane": []}, {"x": 4})
    narrow = LinearLayout.of({"register": [(2,)], "lane": []}, {"x": 4})
    twice = LinearLayout.of({"register": [(0,), (1,), (2,)], "lane": []}, {"x": 4})
    assert checked(wide, narrow) == RenameRegisters((0, 2))
    assert checked(wide, twice) == RenameRegisters((0, 0, 1, 1, 2, 2, 3, 3))


def test_permute_in_lane() -> None:
    source = LinearLayout.of({"register": [(1, 0)], "lane": [(0, 1)]}, {"x": 2, "y": 2})
    target = LinearLayout.of({"register": [(1, 0)], "lane": [(1, 1)]}, {"x": 2, "y": 2})
    assert checked(source, target) == PermuteInLane(((0, 1), (1, 0)))


def test_a_transpose_of_registers_and_lanes_takes_a_step_for_each_register() -> None:
    made = checked(of_bits((2, 2, 0), (0, 1, 2, 3)), of_bits((2, 2, 0), (2, 3, 0, 1)))
    assert isinstance(made, Shuffle)
    assert len(made.steps) == 4
    assert made.exchanges == 3
    assert made.steps[0].is_local


def test_a_broadcast_among_lanes() -> None:
    source = of_bits((0, 2, 0), (0, 1))
    target = LinearLayout.of({"register": [], "lane": [(0, 2), (0, 0)]}, {"dim0": 1, "dim1": 4})
    made = checked(source, target)
    assert isinstance(made, Shuffle)
    assert [step.reads for step in made.steps] == [(0, 2, 0, 2)]


def test_more_than_one_step_for_a_register_where_lanes_need_others_of_one_lane() -> None:
    source = LinearLayout.of({"register": [(1,)], "lane": [(0,)]}, {"x": 2})
    moved = LinearLayout.of({"register": [(1,)], "lane": [(2,)]}, {"x": 4})
    target = LinearLayout.of({"register": [], "lane": [(1,)]}, {"x": 4})
    assert isinstance(checked(source, source), Nothing)
    made = checked(moved, target)
    assert isinstance(made, Shuffle)
    assert [step.writes for step in made.steps] == [(0, None), (None, 0)]


def test_local_memory_between_subgroups() -> None:
    made = checked(of_bits((1, 2, 1), (0, 1, 2, 3)), of_bits((1, 2, 1), (0, 1, 3, 2)))
    assert isinstance(made, ThroughLocalMemory)
    assert made.vector == 2


def test_local_memory_where_each_subgroup_reads_other_lanes() -> None:
    source = LinearLayout.of({"lane": [(1,)], "subgroup": [(2,)]}, {"x": 4})
    target = LinearLayout.of({"lane": [(1,)], "subgroup": [(3,)]}, {"x": 4})
    assert isinstance(checked(source, target), ThroughLocalMemory)


def test_no_way_between_work_groups() -> None:
    source = LinearLayout.of({"lane": [(1,)], "block": [(2,)]}, {"x": 4})
    target = LinearLayout.of({"lane": [(2,)], "block": [(1,)]}, {"x": 4})
    with pytest.raises(LayoutError, match="elements would move between work-groups"):
        plan(source, target)


def test_the_same_digits_are_planned_once() -> None:
    def rows(count: int) -> Layout:
        steps = {"register": [Step(2, "x"), Step(count, "x", 4)], "lane": [Step(2, "x", 2)]}
        return Layout.strided(steps, {"x": 4 * count})

    turned = Layout.strided(
        {"register": [Step(2, "x", 2), Step(3, "x", 4)], "lane": [Step(2, "x")]}, {"x": 12}
    )
    made, before, after = plan(rows(3), turned), placed(rows(3)), placed(turned)
    assert isinstance(made, Shuffle)
    for first in (0, 2, 4):
        part = {units: registers[first : first + 2] for units, registers in before.items()}
        found = carried_out(made, part, turned.linear)
        assert all(after[units][first : first + 2] == found[units] for units in found)
    assert plan(rows(3), rows(3)) == Nothing()


# --- counts that are no powers of two, placed in different ways ---


def test_local_memory_where_digits_differ() -> None:
    rows = {"register": [Step(2, "x"), Step(6, "x", 4)], "lane": [Step(2, "x", 2)]}
    columns = {"register": [Step(2, "x"), Step(6, "x", 2)], "lane": [Step(2, "x", 12)]}
    made = checked(Layout.strided(rows, {"x": 24}), Layout.strided(columns, {"x": 24}))
    assert isinstance(made, ThroughLocalMemory)
    assert made.memory.outputs == (("x", 24),)
    # The registers of a pair follow each other on both sides, wherever the rest goes.
    assert made.vector == 2


def test_registers_that_are_counted_differently_stay_in_the_lane() -> None:
    lane, sizes = [Step(2, "x")], {"x": 2, "y": 6, "z": 1}
    up = Layout.strided({"register": [Step(6, "y")], "lane": lane}, sizes)
    turned = Layout.strided({"register": [Step(3, "y", 2), Step(2, "y")], "lane": lane}, sizes)
    assert checked(up, turned) == RenameRegisters((0, 2, 4, 1, 3, 5))
    one = LinearLayout.of({"register": [], "lane": [(1, 0, 0)]}, {"x": 2, "y": 1, "z": 1})
    digits = [Digit(6, (0, 1, 0))]
    crossed = LinearLayout.of({"register": [(0, 1, 0)], "lane": [(1, 1, 0)]}, sizes | {"y": 2})
    made = checked(
        Layout.of(crossed, {"register": [Digit(3, (0, 1, 0))]}, {"y": 3}),
        Layout.of(one, {"register": digits}, {"y": 6}),
    )
    assert made == PermuteInLane(((0, 1), (1, 0), (2, 3), (3, 2), (4, 5), (5, 4)))


def test_what_no_plan_can_do_with_digits() -> None:
    def steps(**units: list[Step]) -> Layout:
        given = {"register": [], "lane": [], "block": [], **units}
        return Layout.strided(given, {"x": 12})

    rows = steps(register=[Step(3, "x")], lane=[Step(2, "x", 3)], block=[Step(2, "x", 6)])
    turned = steps(register=[Step(3, "x", 4)], lane=[Step(2, "x")], block=[Step(2, "x", 2)])
    with pytest.raises(LayoutError, match="elements would move between work-groups"):
        plan(rows, turned)
    with pytest.raises(LayoutError, match=r"index \(3,\) has no number"):
        plan(steps(register=[Step(3, "x")]), steps(register=[Step(12, "x")]))
    part = Layout.strided({"register": [Step(3, "x")], "lane": []}, {"x": 3})
    message = "a layout to x < 12 and one to x < 3 do not hold the same tensor"
    with pytest.raises(LayoutError, match=message):
        plan(rows, part)


def random_strided(sizes: dict[str, int], factors: list[tuple[str, int]]) -> Layout:
    """Factors of sizes, fast and slow ones in any order, dealt to registers, lanes, subgroups."""
    random = fresh_random()
    random.shuffle(factors)
    reached = dict.fromkeys(sizes, 1)
    steps: dict[str, list[Step]] = {name: [] for name in UNITS}
    for name, factor in factors:
        steps[random.choice(UNITS[:3])].append(Step(factor, name, reached[name]))
        reached[name] *= factor
    for given in steps.values():
        random.shuffle(given)
    return Layout.strided(steps, sizes)


FACTORS = [("x", 2), ("x", 3), ("x", 2), ("y", 2), ("y", 2), ("y", 5)]


@pytest.mark.parametrize("attempt", range(share_of(40)))
def test_plans_of_random_layouts_with_digits(attempt: int) -> None:
    factors = FACTORS[attempt % 2 :]
    sizes = {"x": 12 if attempt % 2 == 0 else 6, "y": 20}
    source, target = (random_strided(sizes, list(factors)) for _ in range(2))
    if (source.digits, source.counts) != (target.digits, target.counts):
        checked(source, target)
    way = through_local_memory(source, target, 16)
    assert carried_out(way, placed(source), target) == placed(target)
    offsets = [way.memory.apply(offset=offset) for offset in range(sizes["x"] * 20)]
    assert sorted(offsets) == sorted(product(range(sizes["x"]), range(20)))
    for access, found in zip((way.store, way.load), conflicts_of(way, 16), strict=True):
        assert found == max(counted(access, way.vector, 16, BANKS))


def conflicts_of(way: ThroughLocalMemory, element_bits: int) -> tuple[int, int]:
    found = bank_conflicts(way, element_bits)
    return found.store, found.load


@pytest.mark.parametrize("element_bits", [8, 16, 32, 64])
def test_lanes_in_one_copy_of_the_linear_part_have_no_conflicts(element_bits: int) -> None:
    for digits in ([Digit(2, (3,)), Digit(3, (1,))], [Digit(3, (2,)), Digit(2, (1,))]):
        source = Layout.of(random_layout(3, 4, 1, 8), {"register": [Digit(6, (1,))]}, {"x": 6})
        target = Layout.of(random_layout(3, 4, 1, 8), {"register": digits}, {"x": 6})
        way = plan(source, target, element_bits)
        assert isinstance(way, ThroughLocalMemory)
        assert carried_out(way, placed(source), target) == placed(target)
        assert bank_conflicts(way, element_bits) == Conflicts(0, 0)
        assert counted(way.store, way.vector, element_bits, BANKS) == {0}
        assert counted(way.load, way.vector, element_bits, BANKS) == {0}


# --- every plan does what it is for ---


@pytest.mark.slow
def test_plans_of_all_small_layouts() -> None:
    kinds: set[type] = set()
    layouts = [*small_layouts(2, (2, 2)), *small_layouts(3, (2, 2))]
    surjective = [layout for layout in layouts if layout.is_surjective]
    assert len(surjective) > 100
    for source in surjective[::2]:
        for target in layouts[::5]:
            if source.size("lane") == target.size("lane"):
                kinds.add(type(checked(source, target)))
    assert kinds == {Nothing, RenameRegisters, PermuteInLane, Shuffle}


@pytest.mark.parametrize("cuts", [(1, 1, 2), (2, 1, 1), (1, 2, 1), (0, 2, 2), (2, 2, 0)])
def test_plans_of_all_orders_of_bits(cuts: tuple[int, int, int]) -> None:
    source = of_bits(cuts, (0, 1, 2, 3))
    for order in permutations(range(4)):
        target = of_bits(cuts, order)
        made = checked(source, target)
        crosses = set(order[cuts[0] + cuts[1] :]) != set(range(cuts[0] + cuts[1], 4)) or (
            order[cuts[0] + cuts[1] :] != tuple(range(cuts[0] + cuts[1], 4))
        )
        assert isinstance(made, ThroughLocalMemory) == crosses


def random_layout(registers: int, lanes: int, subgroups: int, size: int) -> LinearLayout:
    """Any layout that holds each element: sums of bits instead of single ones."""
    random = fresh_random()
    while True:
        images = [(random.randrange(1 << size),) for _ in range(registers + lanes + subgroups)]
        layout = LinearLayout.of(
            {
                "register": images[:registers],
                "lane": images[registers : registers + lanes],
                "subgroup": images[registers + lanes :],
            },
            {"x": 1 << size},
        )
        if layout.is_surjective:
            return layout


@pytest.mark.parametrize("attempt", range(share_of(30)))
def test_plans_of_random_layouts(attempt: int) -> None:
    subgroups = attempt % 3
    source = random_layout(3, 3, subgroups, 5 + subgroups)
    target = random_layout(3, 3, subgroups, 5 + subgroups)
    checked(source, target)
    way = through_local_memory(source, target)
    assert way.memory.is_linear
    assert way.memory.linear.is_surjective
    assert way.memory.linear.is_injective
    assert carried_out(way, placed(source), target) == placed(target)


@pytest.mark.parametrize("attempt", range(share_of(30)))
def test_a_shuffle_takes_a_step_for_each_register(attempt: int) -> None:
    lanes = 1 + attempt % 4
    made = checked(random_layout(3, lanes, 0, 3 + lanes), random_layout(3, lanes, 0, 3 + lanes))
    if isinstance(made, Shuffle):
        assert len(made.steps) == 8


MATRICES = [
    (triton.Blocked([1, 4], [8, 8], [2, 1], [1, 0]), triton.Mfma(3, [1, 2], [32, 32])),
    (triton.Mfma(3, [2, 1], [16, 16]), triton.Mfma(3, [1, 2], [16, 16], True)),
    (
        triton.Mfma(3, [2, 1], [16, 16], True),
        triton.DotOperand(0, triton.Mfma(3, [1, 2], [16, 16]), 4),
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), MATRICES)
def test_plans_of_tritons_layouts(source: triton.Parent, target: triton.Parent) -> None:
    old, new = source.layout([32, 32]), target.layout([32, 32])
    made = checked(old, new)
    assert isinstance(made, ThroughLocalMemory)
    assert bank_conflicts(made) == Conflicts(0, 0)


def test_the_result_of_a_product_as_an_operand_of_the_next_stays_in_the_lane() -> None:
    """With transposed results, lanes hold what they need (Triton's `isTransposed`)."""
    result = triton.Mfma(3, [1, 1], [16, 16], is_transposed=True)
    operand = triton.DotOperand(0, result, 4)
    assert plan(result.layout([32, 32]), operand.layout([32, 32])) == Nothing()


def test_the_result_of_dpas_as_a_left_operand_stays_in_the_lane() -> None:
    left = intel.dpas_a(8, 8, 16, 16)
    assert plan(intel.dpas_c(8, 16), left) == Nothing()
    assert isinstance(plan(intel.dpas_c(8, 8), intel.dpas_a(8, 4, 8, 16)), Nothing)


# --- local memory ---


def counted(
    access: LinearLayout | Offsets, vector: int, element_bits: int, banks: Banks
) -> set[int]:
    """How often memory is reached again, for each time that lanes act at once."""
    layout = access if isinstance(access, LinearLayout) else access.registers
    size = element_bits // 8
    at_once = banks.count * banks.bytes // max(banks.bytes, vector * size)
    found: set[int] = set()
    lanes = range(layout.size("lane"))
    groups = [lanes[i : i + at_once] for i in range(0, len(lanes), at_once)]
    for register, subgroup in product(
        range(layout.size("register")), range(layout.size("subgroup"))
    ):
        for group in groups:
            words: dict[int, set[int]] = {}
            for lane in group:
                found_at = access.apply(register=register, lane=lane, subgroup=subgroup)
                offset = found_at if isinstance(found_at, int) else found_at[0]
                first = offset // vector * vector * size
                for byte in range(first, first + vector * size):
                    word = byte // banks.bytes
                    words.setdefault(word % banks.count, set()).add(word)
            found.add(max(map(len, words.values())) - 1)
    return found


@pytest.mark.parametrize("element_bits", [8, 16, 32, 64])
@pytest.mark.parametrize("banks", [BANKS, Banks(16, 4), Banks(4, 8)])
def test_ways_through_memory_have_no_conflicts(element_bits: int, banks: Banks) -> None:
    for _ in range(share_of(4)):
        source, target = random_layout(3, 4, 1, 8), random_layout(3, 4, 1, 8)
        way = through_local_memory(source, target, element_bits, banks)
        assert bank_conflicts(way, element_bits, banks) == Conflicts(0, 0)
        assert counted(way.store, way.vector, element_bits, banks) == {0}
        assert counted(way.load, way.vector, element_bits, banks) == {0}


def test_the_elements_of_a_vector_have_the_same_positions_in_all_lanes() -> None:
    for _ in range(share_of(20)):
        source, target = random_layout(4, 3, 1, 6), random_layout(4, 3, 1, 6)
        way = through_local_memory(source, target, 16)
        for access in (way.store, way.load):
            lanes = list(product(range(8), range(2)))
            for register in range(16):
                positions = {
                    access.apply(register=register, lane=a, subgroup=b) % way.vector
                    for a, b in lanes
                }
                assert len(positions) == 1
            for a, b in lanes:
                offsets = {access.apply(register=r, lane=a, subgroup=b) for r in range(16)}
                starts = {offset // way.vector * way.vector for offset in offsets}
                assert offsets == {s + i for s in starts for i in range(way.vector)}


def test_vectors_are_as_long_as_they_can_be() -> None:
    rows = of_bits((3, 3, 1), (0, 1, 2, 3, 4, 5, 6))
    other = of_bits((3, 3, 1), (0, 1, 6, 5, 4, 3, 2))
    assert through_local_memory(rows, other, 32).vector == 4
    assert through_local_memory(rows, other, 64).vector == 2
    assert through_local_memory(rows, other, 64, most_bytes=8).vector == 1
    assert through_local_memory(rows, other, 8).vector == 4


@pytest.mark.parametrize("element_bits", [8, 16, 32, 64])
def test_conflicts_of_memory_that_is_not_swizzled(element_bits: int) -> None:
    """Rows of a matrix are written, and columns read, as they lie."""
    for columns, vector in product((4, 16, 64), (1, 2)):
        lanes = [(1 << bit, 0) for bit in range(5)]
        down = LinearLayout.of(
            {"register": [], "lane": lanes, "subgroup": []}, {"dim0": 32, "dim1": columns}
        ).flatten()
        expected = counted(down, vector, element_bits, BANKS)
        assert {access_conflicts(down, vector, element_bits)} == expected
    assert access_conflicts(down, 1, 32) == 31


def test_conflicts_of_any_access() -> None:
    random = fresh_random()
    for _ in range(share_of(200)):
        vector, bits_ = random.choice((1, 2, 4)), random.choice((8, 16, 32))
        images = [(random.randrange(1 << 10) // vector * vector,) for _ in range(5)]
        access = LinearLayout.of(
            {"register": [], "lane": images, "subgroup": []}, {"offset": 1 << 10}
        )
        assert {access_conflicts(access, vector, bits_)} == counted(access, vector, bits_, BANKS)
