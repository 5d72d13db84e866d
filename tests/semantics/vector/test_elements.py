"""Elements of vectors at positions that may differ between work-items."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.vector.operations import WORK_ITEMS, evaluate, random_operand
from xtile.semantics.errors import ExecutionError

WHOLE = "vector<3x4x2xf32>"
ITEMS = np.arange(WORK_ITEMS)


def test_an_element_is_extracted(rng: np.random.Generator) -> None:
    whole = random_operand(rng, WHOLE)
    found = evaluate(f"vector.extract {{0}}[2, 1, 0] : f32 from {WHOLE}", [(WHOLE, whole)], "f32")
    np.testing.assert_array_equal(found, whole[:, 2, 1, 0])


def test_a_part_is_extracted_where_each_work_item_says(rng: np.random.Generator) -> None:
    whole = random_operand(rng, WHOLE)
    position = rng.integers(0, 4, WORK_ITEMS)
    found = evaluate(
        f"vector.extract {{0}}[1, {{1}}] : vector<2xf32> from {WHOLE}",
        [(WHOLE, whole), ("index", position)],
        "vector<2xf32>",
    )
    np.testing.assert_array_equal(found, whole[ITEMS, 1, position])


def test_one_vector_for_all_and_a_position_for_each(rng: np.random.Generator) -> None:
    position = rng.integers(0, 4, WORK_ITEMS)
    found = evaluate(
        "vector.extract %v[{0}] : index from vector<4xindex>",
        [("index", position)],
        "index",
        before="%v = vector.step : vector<4xindex>",
    )
    np.testing.assert_array_equal(found, position)


def test_an_element_is_inserted_where_each_work_item_says(rng: np.random.Generator) -> None:
    whole, element = random_operand(rng, WHOLE), random_operand(rng, "f32")
    row, column = rng.integers(0, 3, WORK_ITEMS), rng.integers(0, 2, WORK_ITEMS)
    found = evaluate(
        f"vector.insert {{0}}, {{1}}[{{2}}, 3, {{3}}] : f32 into {WHOLE}",
        [("f32", element), (WHOLE, whole), ("index", row), ("index", column)],
        WHOLE,
    )
    expected = whole.copy()
    expected[ITEMS, row, 3, column] = element
    np.testing.assert_array_equal(found, expected)


def test_a_part_is_inserted_into_a_vector_for_all(rng: np.random.Generator) -> None:
    part = random_operand(rng, "vector<2xindex>")
    found = evaluate(
        "vector.insert {0}, %v[1] : vector<2xindex> into vector<2x2xindex>",
        [("vector<2xindex>", part)],
        "vector<2x2xindex>",
        before="%s = vector.step : vector<2xindex>\n"
        "%v = vector.broadcast %s : vector<2xindex> to vector<2x2xindex>",
    )
    np.testing.assert_array_equal(found[:, 0], np.tile([0, 1], (WORK_ITEMS, 1)))
    np.testing.assert_array_equal(found[:, 1], part)


def test_scalars_become_a_vector_and_back(rng: np.random.Generator) -> None:
    a, b = random_operand(rng, "f32"), random_operand(rng, "f32")
    first, last = evaluate(
        "vector.to_elements %v : vector<2x1xf32>",
        [("f32", a), ("f32", b)],
        "f32",
        "f32",
        before="%v = vector.from_elements %v1, %v0 : vector<2x1xf32>",
    )
    np.testing.assert_array_equal(first, b)
    np.testing.assert_array_equal(last, a)


def test_vectors_without_dimensions(rng: np.random.Generator) -> None:
    element = random_operand(rng, "f32")
    extracted, repeated = evaluate(
        "vector.to_elements %both : vector<2xf32>",
        [("f32", element)],
        "f32",
        "f32",
        before="""%z = arith.constant dense<0.0> : vector<f32>
        %v = vector.insert %v0, %z[] : f32 into vector<f32>
        %e = vector.extract %v[] : f32 from vector<f32>
        %w = vector.broadcast %v : vector<f32> to vector<1x3xf32>
        %l = vector.extract %w[0, 2] : f32 from vector<1x3xf32>
        %both = vector.from_elements %e, %l : vector<2xf32>""",
    )
    np.testing.assert_array_equal(extracted, element)
    np.testing.assert_array_equal(repeated, element)


def test_positions_of_poison() -> None:
    extracted, inserted = evaluate(
        "vector.to_elements %both : vector<2xi32>",
        [],
        "i32",
        "i32",
        before="""%v = arith.constant dense<5> : vector<4xi32>
        %w = arith.constant dense<6> : vector<1x4xi32>
        %a = vector.extract %v[-1] : i32 from vector<4xi32>
        %p = vector.insert %v, %w[-1] : vector<4xi32> into vector<1x4xi32>
        %b = vector.extract %p[0, 1] : i32 from vector<1x4xi32>
        %both = vector.from_elements %a, %b : vector<2xi32>""",
    )
    np.testing.assert_array_equal(extracted, np.full(WORK_ITEMS, -1))
    np.testing.assert_array_equal(inserted, np.full(WORK_ITEMS, -1))


def _extract_at_work_item(around: str) -> str:
    return kernel(
        "%out: memref<4xindex>",
        f"""%x = gpu.thread_id x
        %two = arith.constant 2 : index
        %v = vector.step : vector<2xindex>
        %is_inside = arith.cmpi ult, %x, %two : index
        {around.format("%e = vector.extract %v[%x] : index from vector<2xindex>")}""",
    )


def test_a_position_outside_of_the_vector_is_an_error() -> None:
    text = _extract_at_work_item("{}")
    with pytest.raises(ExecutionError, match="position 0 lies outside of a dimension of size 2"):
        run(text, np.zeros(4, np.int64), block=(4, 1, 1))


def test_a_position_outside_of_the_vector_does_not_matter_where_nobody_is_active() -> None:
    text = _extract_at_work_item(
        "scf.if %is_inside {{\n{}\nmemref.store %e, %out[%x] : memref<4xindex>\n}}"
    )
    out = np.full(4, 9, np.int64)
    run(text, out, block=(4, 1, 1))
    np.testing.assert_array_equal(out, [0, 1, 9, 9])
