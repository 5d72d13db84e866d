"""Layouts with counts that are no powers of two, against sums of distances."""

from __future__ import annotations

from itertools import product

import pytest

from tests.layouts.enumerated import numbers_of, table
from xtile.layouts import Digit, Layout, LayoutError, LinearLayout, Step


def summed(steps: list[Step], number: int, outputs: list[str]) -> list[int]:
    index = dict.fromkeys(outputs, 0)
    for size, output, distance in steps:
        number, digit = divmod(number, size)
        if output is not None:
            index[output] += digit * distance
    return list(index.values())


def row_major(counts: tuple[int, ...], axes: tuple[str, ...]) -> tuple[list[Step], dict[str, int]]:
    """Steps of the counts along alternating axes, so that each index is reached once."""
    sizes: dict[str, int] = {"x": 1, "y": 1}
    steps: list[Step] = []
    for size, axis in zip(counts, axes, strict=True):
        steps.append(Step(size, axis, sizes[axis]))
        sizes[axis] *= size
    return steps, sizes


ONCE = [
    (register, lane, sizes)
    for counts in product((1, 2, 3, 6), repeat=3)
    for axes in ("xxy", "xyx", "yxx")
    for cut in (1, 2)
    for steps, sizes in [row_major(counts, axes)]
    for register, lane in [(steps[:cut], steps[cut:]), (steps[cut:], steps[:cut])]
]


@pytest.mark.slow
def test_sums_of_distances() -> None:
    for register, lane, sizes in ONCE:
        layout = Layout.strided({"register": register, "lane": lane}, sizes)
        names = list(sizes)
        assert layout.outputs == tuple(sizes.items())
        for numbers in numbers_of(layout):
            a = summed(register, numbers["register"], names)
            b = summed(lane, numbers["lane"], names)
            assert layout.apply(**numbers) == tuple(i + j for i, j in zip(a, b, strict=True))


def test_the_linear_part_is_as_large_as_it_can_be() -> None:
    layout = Layout.strided({"register": [Step(2, "x"), Step(3, "x", 2)]}, {"x": 6})
    assert layout.linear == LinearLayout.identity(2, "register", "x")
    assert layout.digits == ((Digit(3, (1,)),),)
    assert Layout.strided({"lane": [Step(6, "x")]}, {"x": 6}) == Layout.strided(
        {"lane": [Step(2, "x"), Step(3, "x", 2)]}, {"x": 6}
    )
    assert Layout.strided({"lane": [Step(6, "x")]}, {"x": 6}) == Layout.strided(
        {"lane": [Step(3, "x"), Step(2, "x", 3)]}, {"x": 6}
    )
    nowhere = Layout.strided({"lane": [Step(3), Step(2)]}, {"x": 1})
    assert nowhere == Layout.strided({"lane": [Step(6)]}, {"x": 1})
    assert nowhere.steps("lane") == (Step(6),)
    powers = Layout.strided({"lane": [Step(4, "y"), Step(2, "x"), Step(2)]}, {"x": 2, "y": 4})
    assert powers.is_linear
    assert powers.linear.images("lane") == ((0, 1), (0, 2), (1, 0), (0, 0))


def test_steps_are_those_that_make_it_up() -> None:
    for register, lane, sizes in ONCE:
        layout = Layout.strided({"register": register, "lane": lane}, sizes)
        steps = {name: list(layout.steps(name)) for name in layout.input_names}
        assert Layout.strided(steps, sizes) == layout
        assert len(steps["register"]) <= len([step for step in register if step.size > 1])


def test_what_is_no_sum_of_distances_has_no_steps() -> None:
    swizzled = LinearLayout.of({"offset": [(1,), (3,)]}, {"x": 4})
    with pytest.raises(LayoutError, match="no sums of distances where bits have a part in common"):
        Layout.of(swizzled).steps("offset")
    diagonal = LinearLayout.of({"offset": [(1, 1)]}, {"x": 2, "y": 2})
    with pytest.raises(LayoutError, match="a digit of offset moves x and y"):
        Layout.of(diagonal).steps("offset")


@pytest.mark.slow
def test_equal_maps_are_equal_layouts() -> None:
    found: dict[object, Layout] = {}
    for register, lane, sizes in ONCE:
        layout = Layout.strided({"register": register, "lane": lane}, sizes)
        key = tuple(sizes.items()), tuple(table(layout).items())
        assert found.setdefault(key, layout) == layout


@pytest.mark.slow
def test_inverse() -> None:
    for register, lane, sizes in ONCE[::3]:
        layout = Layout.strided({"register": register, "lane": lane}, sizes)
        back = layout.inverse()
        for numbers in numbers_of(layout):
            index = dict(zip(sizes, layout.apply(**numbers), strict=True))
            assert dict(zip(layout.input_names, back.apply(**index), strict=True)) == numbers
        assert table(back.inverse()) == table(layout)


@pytest.mark.slow
def test_composition_of_equal_cuts() -> None:
    for register, lane, sizes in ONCE[::5]:
        layout = Layout.strided({"register": register, "lane": lane}, sizes)
        back = layout.inverse()
        whole = layout.then(back)
        for numbers in numbers_of(layout):
            assert whole.apply(**numbers) == tuple(numbers.values())


def test_text() -> None:
    layout = Layout.strided(
        {"register": [Step(3, "row", 2)], "lane": [Step(2, "column"), Step(2, "row")]},
        {"row": 6, "column": 2},
    )
    assert str(layout) == (
        "register 0 only\n"
        "lane 1 -> (0, 1), 2 -> (1, 0)\n"
        "to row < 2, column < 2\n"
        "outer register 3 by (2, 0)\n"
        "to row < 6, column < 2"
    )


def three(output: str, size: int = 3) -> Layout:
    return Layout.strided({"register": [Step(size, output)]}, {output: size})


def renamed(layout: Layout, name: str) -> Layout:
    return Layout(layout.linear.renamed({"register": name}), layout.digits, layout.counts)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: three("x").apply(register=3), "register is 3; it has the numbers below 3"),
        (lambda: three("x").apply(lane=0), "there is no input lane, but register"),
        (lambda: three("x").then(renamed(three("y", 5), "x")), "x has 3 outer indices, but 5 are"),
        (
            lambda: Layout.strided({"a": [Step(3, "x")], "b": [Step(3, "x", 3)]}, {"x": 9}).then(
                Layout.strided({"x": [Step(9, "y", 3)]}, {"y": 27}).then(
                    Layout.strided({"y": [Step(3, "z"), Step(3), Step(3, "w")]}, {"z": 3, "w": 3})
                )
            ),
            "steps of the first layout carry from digit to digit of the next",
        ),
        (
            lambda: Layout.strided({"a": [Step(2, "x")], "b": [Step(2, "x")]}, {"x": 4}),
            "two bits move an index by the same distance",
        ),
        (lambda: Layout.strided({"a": [Step(3, "x")]}, {"x": 2}), "the index 2 of x is reached"),
        (
            lambda: Layout.strided({"a": [Step(3)]}, {"x": 1}).inverse(),
            "a digit that moves no index, or several, has no inverse",
        ),
        (
            lambda: Layout.strided({"a": [Step(3, "x", 3)]}, {"x": 9}).inverse(),
            "the digits do not reach each outer index of x once",
        ),
        (
            lambda: Layout.strided({"a": [Step(3, "x")]}, {"x": 9}).inverse(),
            "the digits reach 3 of 9 outer indices of x",
        ),
    ],
)
def test_what_is_not_defined_is_refused_in_words(make: object, words: str) -> None:
    assert callable(make)
    with pytest.raises(LayoutError) as caught:
        make()
    assert words in str(caught.value)
