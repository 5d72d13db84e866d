"""Layouts as plain tables: what every property is checked against."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from xtile.layouts import Image, Layout, LinearLayout

Numbers = tuple[tuple[str, int], ...]
"""A number of each input."""


def numbers_of(layout: Layout | LinearLayout) -> Iterator[dict[str, int]]:
    """Yields every choice of a number of each input."""
    names = layout.input_names
    for numbers in product(*(range(layout.size(name)) for name in names)):
        yield dict(zip(names, numbers, strict=True))


def table(layout: Layout | LinearLayout) -> dict[Numbers, Image]:
    """The index of every choice of numbers."""
    return {tuple(numbers.items()): layout.apply(**numbers) for numbers in numbers_of(layout)}


def small_layouts(bits: int, shape: tuple[int, ...]) -> Iterator[LinearLayout]:
    """Yields every layout with so many bits of registers and lanes of a tensor."""
    outputs = {f"dim{i}": size for i, size in enumerate(shape)}
    images = list(product(*map(range, shape)))
    for registers in range(bits + 1):
        for chosen in product(images, repeat=bits):
            yield LinearLayout.of(
                {"register": chosen[:registers], "lane": chosen[registers:]}, outputs
            )


def all_small_layouts() -> Iterator[LinearLayout]:
    """Yields every layout of 2 x 2 elements with up to three bits, and of 4 x 2 with up to two."""
    for bits in range(4):
        yield from small_layouts(bits, (2, 2))
    for bits in range(3):
        yield from small_layouts(bits, (4, 2))
