"""The layouts of matrix units, and that what translations make for dpas has them."""

from __future__ import annotations

from itertools import product

import pytest

from xtile.layouts import Layout, LayoutError, LinearLayout, Step, intel
from xtile.layouts.matrix_units import operands
from xtile.layouts.plans import Nothing, plan
from xtile.targets import INTEL, VENDORS
from xtile.translate.core_to_xegpu.fragments import PIECE

PRODUCTS = [
    ("dpas", 8, 16, 16, 16, 2),
    ("dpas", 3, 16, 32, 8, 2),
    ("dpas", 8, 8, 16, 16, 2),
    ("dpas", 8, 16, 8, 32, 2),
    ("MFMA", 32, 32, 8, 16, 2),
    ("MFMA", 16, 16, 16, 16, 2),
    ("MFMA", 16, 16, 4, 64, 2),
    ("WMMA", 16, 16, 16, 16, 1),
    ("WMMA", 16, 16, 16, 16, 2),
    ("WMMA", 16, 16, 32, 16, 3),
    ("WMMA", 32, 16, 128, 8, 3),
    ("AMX", 16, 16, 32, 16, 2),
    ("AMX", 8, 16, 64, 8, 2),
]


@pytest.mark.parametrize("row", PRODUCTS)
def test_every_element_of_every_matrix_is_held(row: tuple[str, int, int, int, int, int]) -> None:
    _, rows, columns, depth, _, _ = row
    found = operands(*row)
    shapes = [(rows, depth), (depth, columns), (rows, columns)]
    for layout, shape in zip((found.a, found.b, found.c), shapes, strict=True):
        assert layout.shape == shape
        sizes = [range(layout.size(name)) for name in layout.input_names]
        held = {
            layout.apply(**dict(zip(layout.input_names, numbers, strict=True)))
            for numbers in product(*sizes)
        }
        assert held == set(product(*map(range, shape)))


@pytest.mark.parametrize("row", [row for row in PRODUCTS if row[0] in ("MFMA", "WMMA")])
def test_lanes_share_k_of_both_operands_in_the_same_way(
    row: tuple[str, int, int, int, int, int],
) -> None:
    """Of A a lane has the same numbers along K in its registers as of B."""
    found = operands(*row)
    a, b = found.a.linear.project("dim1"), found.b.linear.project("dim0")
    if row[1] == row[2]:
        assert a == b.renamed(outputs={"dim0": "dim1"})


def test_an_instruction_that_there_is_not() -> None:
    with pytest.raises(LayoutError, match="no matrix instruction HMMA; there are dpas, AMX, MFMA"):
        operands("HMMA", 16, 8, 16, 16)


@pytest.mark.slow
def test_every_row_of_every_chip_has_layouts() -> None:
    units = {
        unit
        for vendor in VENDORS
        for target in vendor.chips.values()
        for unit in target.matrix_units
    }
    assert {unit.instruction for unit in units} == {"dpas", "AMX", "MFMA", "WMMA"}
    for unit in units:
        rows, columns, depth = unit.rows, unit.columns, unit.depth
        found = unit.layouts
        shapes = [layout.shape for layout in (found.a, found.b, found.c)]
        assert shapes == [(rows, depth), (depth, columns), (rows, columns)]
        if unit.lanes is not None:
            assert {x.size("lane") for x in (found.a, found.b, found.c)} == {unit.lanes}


# --- what core-to-xegpu makes for the matrix unit ---

UNITS = sorted(
    {
        (unit.columns, unit.depth * unit.bits // 32, unit.bits)
        for target in INTEL.chips.values()
        for unit in target.units("dpas")
    }
)
"""Lanes, words along K and bits of the elements of each product that a matrix unit has."""

WITH_NEIGHBOURS = [
    (lanes, words, bits)
    for lanes, words, bits in UNITS
    if words * intel.elements_of_a_word(bits) >= lanes
]
"""Those whose rows of A have an element for each lane, as all that are translated to do."""


@pytest.mark.parametrize(("lanes", "words", "bits"), UNITS)
def test_accumulators_and_right_operands_are_vectors_of_the_core_form(
    lanes: int, words: int, bits: int
) -> None:
    """A block of columns of a vector is what dpas has; its pieces of rows are the products'."""
    depth = words * intel.elements_of_a_word(bits)
    for rows in (1, 2, 4, PIECE):
        layout = intel.VectorLayout(rows, lanes, lanes).layout
        assert plan(layout, intel.dpas_c(rows, lanes)) == Nothing()
    right = intel.VectorLayout(depth, lanes, lanes).layout
    assert plan(right, intel.dpas_b(words, lanes, bits)) == Nothing()


@pytest.mark.parametrize(("lanes", "words", "bits"), WITH_NEIGHBOURS)
def test_left_operands_are_loaded_as_neighbours(lanes: int, words: int, bits: int) -> None:
    """Blocks as wide as `BlockForm.neighbours` says are dealt to lanes as dpas has them."""
    depth = words * intel.elements_of_a_word(bits)
    loaded = intel.dealt((PIECE, depth), depth // lanes, lanes)
    assert plan(loaded, intel.dpas_a(PIECE, words, lanes, bits)) == Nothing()


@pytest.mark.parametrize(("lanes", "words", "bits"), WITH_NEIGHBOURS)
def test_interleaved_columns_multiply_interleaved_rows(lanes: int, words: int, bits: int) -> None:
    """`_as_neighbours` renumbers K of A and of B in the same way, so that products are the same.

    Registers of A go through blocks of columns first, and then through rows; those of B through
    pieces of as many rows as lanes first, and then inside of them.
    """
    depth = words * intel.elements_of_a_word(bits)
    count = depth // lanes
    left = Layout.strided(
        {
            "register": [Step(count, "dim1", lanes), Step(PIECE, "dim0")],
            "lane": [Step(lanes, "dim1")],
        },
        {"dim0": PIECE, "dim1": depth},
    )
    right = Layout.strided(
        {
            "register": [Step(count, "dim0", lanes), Step(lanes, "dim0")],
            "lane": [Step(lanes, "dim1")],
        },
        {"dim0": depth, "dim1": lanes},
    )
    unit = operands("dpas", PIECE, lanes, depth, bits)
    of_a = unit.a.inverse().then(left).linear
    of_b = unit.b.inverse().then(right).linear
    assert columns(of_a, "dim1") == columns(of_b, "dim0")
    assert of_a.restrict("dim0").project("dim0") == LinearLayout.identity(PIECE, "dim0", "dim0")
    assert of_b.restrict("dim1").project("dim1") == LinearLayout.identity(lanes, "dim1", "dim1")


def columns(layout: LinearLayout, name: str) -> tuple[tuple[int, ...], ...]:
    """What becomes of numbers along K, which stay numbers along K."""
    other = "dim0" if name == "dim1" else "dim1"
    assert all(image == (0,) for image in layout.project(other).images(name))
    return layout.project(name).images(name)
