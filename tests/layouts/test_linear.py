"""Linear layouts, against tables of all their numbers."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from tests.layouts.enumerated import all_small_layouts, numbers_of, small_layouts, table
from xtile.layouts import LayoutError, LinearLayout

SMALL = list(all_small_layouts())


def test_an_index_is_the_exclusive_or_of_the_bits_images() -> None:
    layout = LinearLayout.of({"register": [(0, 1), (3, 0)], "lane": [(1, 1)]}, {"a": 4, "b": 2})
    assert layout.apply(register=0, lane=0) == (0, 0)
    assert layout.apply(register=3, lane=1) == (2, 0)
    assert layout.apply(register=2) == (3, 0)
    assert layout.images("subgroup") == ()
    assert (layout.size("register"), layout.size("lane"), layout.size("block")) == (4, 2, 1)


def test_constructors() -> None:
    assert [LinearLayout.identity(4, "lane", "x").apply(lane=i) for i in range(4)] == [
        (0,),
        (1,),
        (2,),
        (3,),
    ]
    strided = LinearLayout.strided(4, 8, "lane", "x")
    assert [strided.apply(lane=i) for i in range(4)] == [(0,), (8,), (16,), (24,)]
    assert strided.shape == (32,)
    zeros = LinearLayout.zeros(4, "lane", "x", 2)
    assert {zeros.apply(lane=i) for i in range(4)} == {(0,)}
    assert zeros.shape == (2,)
    assert LinearLayout.empty() * strided == strided == strided * LinearLayout.empty()


def test_text() -> None:
    layout = LinearLayout.of({"register": [(0, 1), (2, 0)], "lane": []}, {"dim0": 4, "dim1": 2})
    assert str(layout) == ("register 1 -> (0, 1), 2 -> (2, 0)\nlane 0 only\nto dim0 < 4, dim1 < 2")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LinearLayout.identity(6, "lane", "x"), "the size of lane is 6; it must be a po"),
        (lambda: LinearLayout.strided(4, 3, "lane", "x"), "the stride is 3; it must be a power"),
        (lambda: LinearLayout.of({"a": [(4,)]}, {"x": 4}), "a has the index 4 in x, whose size"),
        (lambda: LinearLayout.of({"a": [(1, 0)]}, {"x": 4}), "a has an image of 2 indices; there"),
        (lambda: LinearLayout((("a", ()), ("a", ())), ()), "a, a are not all different"),
        (lambda: LinearLayout.identity(4, "a", "x").apply(a=4), "a is 4; it has the numbers below"),
        (lambda: LinearLayout.identity(4, "a", "x").apply(b=1), "there is no input b, but a"),
        (lambda: LinearLayout.zeros(4, "a", "x", 2).inverse(), "several numbers have the same"),
        (lambda: LinearLayout.zeros(4, "a", "x", 2).pseudo_inverse(), "not every index has a num"),
        (
            lambda: LinearLayout.identity(4, "a", "x").then(LinearLayout.identity(8, "x", "y")),
            "a layout to x < 4 cannot be followed by one from x < 8",
        ),
        (
            lambda: LinearLayout.identity(4, "a", "x").invert_and_compose(
                LinearLayout.zeros(4, "a", "x", 4)
            ),
            "index (1,) has no number",
        ),
        (
            lambda: LinearLayout.identity(4, "a", "x").invert_and_compose(
                LinearLayout.identity(4, "a", "y")
            ),
            "a layout to x < 4 and one to y < 4 do not hold the same tensor",
        ),
        (lambda: LinearLayout.identity(4, "a", "x").reshape({"y": 2}), "x < 4 cannot be reshaped"),
        (lambda: LinearLayout.identity(4, "a", "x").reshape_inputs({"b": 2}), "2 bits of inputs"),
        (lambda: LinearLayout.identity(4, "a", "x").transpose("y"), "y are not x"),
        (lambda: LinearLayout.identity(4, "a", "x").reordered("b"), "the inputs a are left out"),
    ],
)
def test_what_is_not_defined_is_refused_in_words(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(LayoutError) as caught:
        make()
    assert words in str(caught.value)


# --- questions ---


def test_surjective_injective_and_free_variables() -> None:
    for layout in SMALL:
        images = list(table(layout).values())
        assert layout.is_injective == (len(set(images)) == len(images))
        assert layout.is_surjective == (set(images) == set(product(*map(range, layout.shape))))
        free = layout.free_variables
        used = [n for n in numbers_of(layout) if not any(n[k] & free[k] for k in n)]
        assert len({layout.apply(**numbers) for numbers in used}) == len(used)
        assert {layout.apply(**numbers) for numbers in used} == set(images)


# --- layouts from layouts ---


@pytest.mark.slow
def test_product_places_copies_next_to_each_other() -> None:
    outers = list(small_layouts(2, (2, 2)))[::3]
    for inner in SMALL[::7]:
        for outer in outers:
            both = inner * outer
            for numbers in numbers_of(both):
                low = {k: v % inner.size(k) for k, v in numbers.items()}
                high = {k: v // inner.size(k) for k, v in numbers.items()}
                pairs = zip(inner.apply(**low), outer.apply(**high), inner.shape, strict=True)
                assert both.apply(**numbers) == tuple(a + b * size for a, b, size in pairs)


def test_product_of_other_names() -> None:
    both = LinearLayout.identity(2, "lane", "x") * LinearLayout.identity(4, "register", "y")
    assert both == LinearLayout.of(
        {"lane": [(1, 0)], "register": [(0, 1), (0, 2)]}, {"x": 2, "y": 4}
    )


@pytest.mark.slow
def test_composition() -> None:
    following = [layout.renamed({"register": "dim0", "lane": "dim1"}) for layout in SMALL]
    following = [layout for layout in following if layout.size("dim0") == layout.size("dim1") == 2]
    for first in SMALL[::3]:
        if first.shape != (2, 2):
            continue
        for second in following:
            both = first.then(second)
            for numbers in numbers_of(first):
                a, b = first.apply(**numbers)
                assert both.apply(**numbers) == second.apply(dim0=a, dim1=b)


def test_inverse_and_pseudo_inverse() -> None:
    seen = 0
    for layout in SMALL:
        if not layout.is_surjective:
            continue
        back = layout.pseudo_inverse()
        for index in product(*map(range, layout.shape)):
            numbers = back.apply(**dict(zip(layout.output_names, index, strict=True)))
            assert layout.apply(**dict(zip(layout.input_names, numbers, strict=True))) == index
        if layout.is_injective:
            assert layout.inverse() == back
            assert back.inverse() == layout
        seen += 1
    assert seen > 150


@pytest.mark.slow
def test_invert_and_compose_says_where_an_index_is() -> None:
    layouts = [layout for layout in SMALL if layout.shape == (2, 2)]
    found = 0
    for source in layouts:
        reached = set(table(source).values())
        for target in layouts[::11]:
            if not set(table(target).values()) <= reached:
                continue
            where = target.invert_and_compose(source)
            assert where.then(source) == target
            found += 1
    assert found > 5_000


@pytest.mark.slow
def test_invert_and_compose_stays_where_it_can() -> None:
    """A number is read from itself, but for its register, wherever that has the element."""
    layouts = [layout for layout in SMALL if layout.shape == (2, 2)]
    for source in layouts:
        held: dict[int, set[tuple[int, ...]]] = {}
        for numbers in numbers_of(source):
            held.setdefault(numbers["lane"], set()).add(source.apply(**numbers))
        for target in layouts[::11]:
            lanes = range(target.size("lane"))
            if target.size("lane") > source.size("lane"):
                continue
            needed = [
                {target.apply(register=r, lane=lane) for r in range(target.size("register"))}
                for lane in lanes
            ]
            if all(needed[lane] <= held[lane] for lane in lanes):
                where = target.invert_and_compose(source).project("lane")
                assert all(
                    where.apply(**numbers) == (numbers["lane"],) for numbers in numbers_of(target)
                )


@pytest.mark.slow
def test_restrict_project_and_reorder() -> None:
    for layout in SMALL:
        lanes = layout.restrict("lane")
        assert [lanes.apply(lane=i) for i in range(layout.size("lane"))] == [
            layout.apply(lane=i) for i in range(layout.size("lane"))
        ]
        for names in permutations(layout.output_names):
            turned = layout.transpose(*names)
            for numbers in numbers_of(layout):
                given = dict(zip(layout.output_names, layout.apply(**numbers), strict=True))
                assert turned.apply(**numbers) == tuple(given[name] for name in names)
        sliced = layout.project("dim1")
        for numbers in numbers_of(layout):
            assert sliced.apply(**numbers) == layout.apply(**numbers)[1:]
        assert layout.reordered("block", "lane", "register").input_names == (
            "block",
            "lane",
            "register",
        )


@pytest.mark.slow
def test_reshape_counts_with_the_last_index_fastest() -> None:
    for layout in SMALL:
        elements = layout.shape[0] * layout.shape[1]
        flat = layout.flatten()
        other = layout.reshape({"a": 2, "b": 1, "c": elements // 2})
        for numbers in numbers_of(layout):
            i, j = layout.apply(**numbers)
            number = i * layout.shape[1] + j
            assert flat.apply(**numbers) == (number,)
            assert other.apply(**numbers) == (
                number // (elements // 2),
                0,
                number % (elements // 2),
            )
        assert other.reshape(dict(layout.outputs)) == layout


def test_reshape_inputs_counts_with_the_first_one_fastest() -> None:
    for layout in SMALL:
        one = layout.reshape_inputs({"all": layout.size("register") * layout.size("lane")})
        for numbers in numbers_of(layout):
            number = numbers["register"] + numbers["lane"] * layout.size("register")
            assert one.apply(all=number) == layout.apply(**numbers)


@pytest.mark.slow
def test_quotient() -> None:
    tiles = [layout for layout in SMALL if layout.shape == (2, 2)][:80]
    outers = list(small_layouts(2, (2, 2)))
    for tile in tiles:
        for outer in outers:
            assert (tile * outer).divide_left(tile) == outer


def test_no_quotient() -> None:
    whole = LinearLayout.identity(8, "lane", "x")
    assert whole.divide_left(LinearLayout.strided(2, 2, "lane", "x")) is None
    assert whole.divide_left(LinearLayout.identity(2, "register", "x")) is None
    assert whole.divide_left(LinearLayout.identity(2, "lane", "y")) is None
    assert whole.divide_left(LinearLayout.identity(16, "lane", "x")) is None
