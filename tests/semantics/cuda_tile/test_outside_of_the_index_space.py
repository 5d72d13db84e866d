"""Tiles at indices outside of a view's index space: undefined, but devices mask them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import xtile
from tests.semantics.cuda_tile.entries import blank, constants, failure, module, reports, run
from tests.semantics.cuda_tile.test_views import (
    F32,
    MATRIX,
    PADDINGS,
    ROWS,
    loading,
    numbers,
    view,
)
from xtile.launch import LaunchResult
from xtile.text.diagnostics import SourceWarning

MASKED = "; that is undefined, and here the access is left out, as on NVIDIA's GPUs"

VIEWS = {
    "partition": (view("partition_view", "2x4", MATRIX, padding="neg_inf"), (3, 2)),
    "strided": (
        view("strided_view", "2x4", MATRIX, steps="[1,3]", padding="neg_inf"),
        (5, 3),
    ),
    "with gaps": (
        view("strided_view", "2x4", MATRIX, steps="[4,6]", padding="neg_inf"),
        (2, 2),
    ),
    "the other order": (
        view("partition_view", "2x4", MATRIX, order="[1, 0]", padding="neg_inf"),
        (4, 2),
    ),
}
"""Views of a 5 x 7 matrix, and their index spaces."""


def outside(index: tuple[int, ...], space: tuple[int, ...]) -> str:
    """What the message says of an index."""
    dimension = next(i for i, (at, size) in enumerate(zip(index, space, strict=True)) if at >= size)
    given, sizes = ", ".join(map(str, index)), ", ".join(map(str, space))
    return (
        f"the index [{given}] lies outside of the view's index space [{sizes}] in dimension "
        f"{dimension}"
    )


def warnings_of(parameters: str, body: str, *arguments: Any) -> list[str]:
    """Runs an entry and returns its warnings, without the lines of the text."""
    with pytest.warns(SourceWarning):
        result = xtile.run(module(parameters, body), list(arguments))
    assert isinstance(result, LaunchResult)
    return [each.message for each in result.warnings]


@pytest.mark.slow
@pytest.mark.parametrize("name", VIEWS)
def test_a_load_gives_the_padding(name: str) -> None:
    type, space = VIEWS[name]
    for index in product(*((0, size, size + 3, 2**31 - 1) for size in space)):
        body = constants(index) + loading(type, "%c0, %c1", "2x4")
        a, b = numbers(5, 7), blank(2, 4)
        if index == (0, 0):
            run(F32, body, a, b)
            assert np.isfinite(b).all()
            continue
        assert warnings_of(F32, body, a, b) == [outside(index, space) + MASKED]
        np.testing.assert_array_equal(b, np.full((2, 4), -np.inf, np.float32))


@pytest.mark.parametrize("padding", PADDINGS)
def test_each_padding(padding: str) -> None:
    b = blank(2, 4)
    type = view("partition_view", "2x4", MATRIX, padding=padding)
    body = constants([0, 2]) + loading(type, "%c0, %c1", "2x4")
    warnings_of(F32, body, numbers(5, 7), b)
    np.testing.assert_array_equal(b, np.full((2, 4), PADDINGS[padding], np.float32))


def test_a_load_without_padding_gives_what_is_unspecified() -> None:
    b = np.zeros((2, 4), np.float32)
    type = view("partition_view", "2x4", MATRIX)
    warnings_of(F32, constants([0, 2]) + loading(type, "%c0, %c1", "2x4"), numbers(5, 7), b)
    assert b.tobytes() == blank(2, 4).tobytes()


def test_a_negative_index_is_a_large_one() -> None:
    b = blank(2, 4)
    type = view("partition_view", "2x4", MATRIX, padding="zero")
    body = constants([-1, 0]) + loading(type, "%c0, %c1", "2x4")
    assert "the index [4294967295, 0] lies" in warnings_of(F32, body, numbers(5, 7), b)[0]
    assert (b == 0).all()


def test_gathered_rows_may_lie_outside_but_other_indices_not() -> None:
    b = blank(4, 4)
    type = view("gather_scatter_view", "4x4", MATRIX, sparse="0", padding="zero")
    body = loading(type, "%r, %c0", "4x4", indices="tile<4xi32>, tile<i32>")
    found = warnings_of(F32, constants([7]) + ROWS + body, numbers(5, 7), b)
    assert found == [
        "the index [..., 7] lies outside of the view's index space [5, 7] in dimension 1" + MASKED
    ]
    assert (b == 0).all()


def test_a_tensor_without_memory_can_be_outside_of_everything() -> None:
    b = blank(2, 4)
    type = view("partition_view", "2x4", "tensor_view<?x7xf32, strides=[7,1]>", padding="zero")
    body = constants([0, 0]) + loading(type, "%c0, %c1", "2x4").replace("[?, 7]", "[%c0, 7]")
    body = body.replace(
        "strides = [7, 1]\n      : tensor", "strides = [7, 1]\n : tile<i32> -> tensor"
    )
    assert warnings_of(F32, body, None, b) == [outside((0, 0), (0, 2)) + MASKED]
    assert (b == 0).all()


def storing(index: str) -> str:
    """Stores a tile, and adds another, at an index of a view of %a."""
    type = view("partition_view", "2x4", MATRIX)
    return f"""
    %tensor = make_tensor_view %a, shape = [5, 7], strides = [7, 1] : {MATRIX}
    %view = make_partition_view %tensor : {type}
    %x = constant <f32: 100.0> : tile<2x4xf32>
    %t = store_view_tko weak %x, %view[{index}] : tile<2x4xf32>, {type}, tile<i32> -> token
    %u = atomic_red_view_tko relaxed device %view[{index}], addf, %x token = %t
      : tile<2x4xf32>, {type}, tile<i32> -> token
    """


def test_stores_and_updates_go_nowhere() -> None:
    a = numbers(5, 7)
    body = constants([3, 1]) + storing("%c0, %c1")
    # One warning for each operation, however often it runs.
    looped = f"""
    {constants([3, 1, 2])}
    for %i in (%c1 to %c2, step %c1) : tile<i32> {{ {storing("%c0, %i")} }}
    """
    for text in (body, looped):
        assert warnings_of("%a: tile<ptr<f32>>", text, a) == [outside((3, 1), (3, 2)) + MASKED] * 2
    np.testing.assert_array_equal(a, numbers(5, 7))


def test_the_sanitizer_takes_it_for_a_mistake() -> None:
    type, space = VIEWS["partition"]
    body = constants([0, 2]) + loading(type, "%c0, %c1", "2x4")
    ((message, text),) = reports(F32, body, numbers(5, 7), blank(2, 4))
    assert message.startswith(outside((0, 2), space))
    assert text.startswith("%x, %t = load_view_tko")
    body = constants([3, 1]) + storing("%c0, %c1")
    ((message, text),) = reports("%a: tile<ptr<f32>>", body, numbers(5, 7))
    assert message.startswith(outside((3, 1), space))
    assert text.startswith("%t = store_view_tko")


def test_a_promise_to_stay_inside_is_still_one() -> None:
    type = view("partition_view", "2x4", MATRIX, padding="zero")
    body = constants([0, 2]) + loading(type, "%c0, %c1", "2x4")
    promised = body.replace("[%c0, %c1] :", "[%c0, %c1] inbounds = [false, true] :")
    message, _ = failure(F32, promised, numbers(5, 7), blank(2, 4))
    assert message.startswith("the tile leaves the tensor in dimension 1")
