"""Shapes, parts, constants and packed tiles of CUDA Tile IR."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.semantics.cuda_tile.tiles import (
    ELEMENTS,
    INTEGERS,
    NUMBERS,
    evaluate,
    random_bits,
    random_integers,
    tile,
)
from xtile.dialects.cuda_tile.constants import constant_attribute
from xtile.dialects.cuda_tile.ops import core as ops
from xtile.dialects.cuda_tile.ops import packing
from xtile.semantics.errors import ExecutionError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FLOATS = tuple(text for text in ELEMENTS if not text.startswith("i"))


@pytest.mark.parametrize("type", ["f32", "i1", "bf16", "i64"])
def test_other_shapes(type: str) -> None:
    values = random_bits(type, (2, 1, 8))
    assert np.array_equal(
        evaluate(lambda v: ops.BroadcastOp(v, (2, 4, 8)), (values, type)).view(np.uint8),
        np.repeat(values, 4, axis=1).view(np.uint8),
    )
    reshaped = evaluate(lambda v: ops.ReshapeOp(v, (4, 4)), (values, type))
    assert reshaped.tobytes() == values.tobytes()
    permuted = evaluate(lambda v: ops.PermuteOp(v, [2, 0, 1]), (values, type))
    assert permuted.shape == (8, 2, 1)
    assert all(
        permuted[k, i, j].tobytes() == values[i, j, k].tobytes()
        for i, j, k in np.ndindex(values.shape)
    )


def test_a_number_is_a_tile_of_any_rank() -> None:
    made = evaluate(lambda v: ops.ReshapeOp(v, (1, 1)), (np.float32(3), "f32"))
    assert made.tolist() == [[3.0]]
    number = evaluate(lambda v: ops.ReshapeOp(v, ()), (made, "f32"))
    assert np.shape(number) == ()
    assert number == 3


def test_tiles_are_joined_along_a_dimension() -> None:
    a, b = np.arange(8).reshape(2, 4), np.arange(8, 16).reshape(2, 4)
    rows = evaluate(lambda x, y: ops.CatOp(x, y, 0), (a, "i64"), (b, "i64"))
    assert rows.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
    columns = evaluate(lambda x, y: ops.CatOp(x, y, 1), (a, "i64"), (b, "i64"))
    assert columns.tolist() == [[0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]]


def test_a_part_is_counted_in_parts() -> None:
    whole = np.arange(64, dtype=np.int32).reshape(8, 8)

    def part(*indices: int) -> Any:
        numbers = [(np.int32(index), "i32") for index in indices]
        return evaluate(lambda v, *i: ops.ExtractOp(v, i, (2, 4)), (whole, "i32"), *numbers)

    assert part(3, 1).tolist() == whole[6:8, 4:8].tolist()
    assert part(0, 0).tolist() == whole[:2, :4].tolist()
    with pytest.raises(ExecutionError, match="there is no part 2 along dimension 1: a size of 8"):
        part(0, 2)
    # Indices have no sign.
    with pytest.raises(ExecutionError, match="there is no part 4294967295 along dimension 0"):
        part(-1, 0)


@pytest.mark.parametrize("type", INTEGERS[1:])
def test_iota_has_no_sign(type: str) -> None:
    result = evaluate(lambda: ops.IotaOp(tile((256,), type)))
    assert [int(value) % 256 for value in result] == list(range(256))


@pytest.mark.parametrize("type", ["f32", "i1", "f16", "i8"])
def test_a_condition_selects_each_element(type: str) -> None:
    condition = random_integers("i1", (4, 8))
    a, b = (random_integers("i8", (4, 8)).astype(NUMBERS[type].dtype) for _ in range(2))
    result = evaluate(ops.SelectOp, (condition, "i1"), (a, type), (b, type))
    assert np.array_equal(result, np.where(condition, a, b))


@pytest.mark.parametrize("type", FLOATS)
def test_constants_of_floats(type: str) -> None:
    values = [1.0, 2.0, 0.5, 4.0] if type == "f8E8M0FNU" else [1.0, -2.0, 0.5, -1.5]
    one = evaluate(lambda: ops.ConstantOp(constant_attribute(tile((4,), type), values)))
    assert one.astype(np.float64).tolist() == values
    same = evaluate(lambda: ops.ConstantOp(constant_attribute(tile((2, 4), type), [2.0])))
    assert same.astype(np.float64).tolist() == [[2.0] * 4] * 2


@pytest.mark.parametrize("type", INTEGERS)
def test_constants_of_integers(type: str) -> None:
    values = [0, 1, 1, 0] if type == "i1" else [0, -1, 100, -128]
    result = evaluate(lambda: ops.ConstantOp(constant_attribute(tile((2, 2), type), values)))
    assert result.reshape(-1).tolist() == values


PACKED = (
    *("i1", "i4", "i16", "i32", "i64"),
    *("f4E2M1FN", "f16", "bf16", "tf32", "f32", "f64"),
)


@pytest.mark.parametrize("type", PACKED)
def test_packed_tiles_are_as_in_memory(type: str) -> None:
    values = random_bits(type, 64)
    bits = {"tf32": 32}.get(type, NUMBERS[type].bits)
    packed = evaluate(packing.PackOp, (values, type))
    if bits >= 8:
        assert packed.tobytes() == values.tobytes()
    else:
        # The element with the lower index has the lower bits.
        raw = values.view(np.uint8) & (2**bits - 1)
        number = sum(int(each) << (bits * i) for i, each in enumerate(raw))
        assert packed.tobytes() == number.to_bytes(8 * bits, "little")
    back = evaluate(lambda v: packing.UnpackOp(v, ELEMENTS[type]), (packed, "i8"))
    assert back.tobytes() == values.tobytes()


def test_two_elements_of_four_bits_are_a_byte() -> None:
    halves = np.array([0.5, 1.5]).astype(NUMBERS["f4E2M1FN"].dtype)
    packed = evaluate(packing.PackOp, (halves, "f4E2M1FN"))
    assert packed.tolist() == [0x31]
