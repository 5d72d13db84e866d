"""What 13.4 brought: replaced parts, integer powers, and operations that only hand tokens on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FloatTF32Type

from tests.seeds import fresh_generator
from tests.semantics.cuda_tile.entries import constants, reports
from tests.semantics.cuda_tile.tiles import NUMBERS, evaluate, random_bits, random_floats
from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.ops.conversions import FToFOp
from xtile.dialects.cuda_tile.ops.mathematics import FPowIOp
from xtile.dialects.cuda_tile.ops.parts import InsertOp
from xtile.dialects.cuda_tile.types import TileType
from xtile.semantics.errors import ExecutionError

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

POINTER = "%a: tile<ptr<i32>>"


def test_a_part_is_replaced_and_the_rest_stays() -> None:
    whole = np.arange(64, dtype=np.int32).reshape(8, 8)
    part = np.array([[-1, -2, -3, -4], [-5, -6, -7, -8]], np.int32)

    def replaced(*indices: int) -> Any:
        numbers = [(np.int32(index), "i32") for index in indices]
        return evaluate(lambda s, d, *i: InsertOp(s, d, i), (part, "i32"), (whole, "i32"), *numbers)

    expected = whole.copy()
    expected[6:8, 4:8] = part
    assert replaced(3, 1).tolist() == expected.tolist()
    assert whole[6, 4] == 52
    with pytest.raises(ExecutionError, match="there is no part 4 along dimension 0: a size of 8"):
        replaced(4, 0)


def test_a_number_is_replaced_by_another() -> None:
    assert (
        evaluate(lambda s, d: InsertOp(s, d, ()), (np.float32(2), "f32"), (np.float32(1), "f32"))
        == 2
    )


@pytest.mark.parametrize("type", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("exponent", ["i8", "i16", "i32"])
def test_powers_have_signed_exponents(type: str, exponent: str) -> None:
    bases = random_floats(type, 64)
    exponents = fresh_generator().integers(-4, 5, 64).astype(NUMBERS[exponent].dtype)
    found = evaluate(FPowIOp, (bases, type), (exponents, exponent))
    # The reference computes in f64 as this does, and rounds once.
    wide = bases.astype(np.float64) ** exponents.astype(np.float64)
    assert found.tobytes() == np.asarray(NUMBERS[type].rounded(wide)).tobytes()


def test_tf32_is_rounded_to_zero_by_cutting_bits_off() -> None:
    largest = np.array([np.finfo(np.float32).max, -np.finfo(np.float32).max], np.float32)
    values = np.concatenate([random_bits("f32", 126), largest])
    found = evaluate(
        lambda v: FToFOp(v, TileType((128,), FloatTF32Type()), rounding_mode=RoundingMode.ZERO),
        (values, "f32"),
    )
    is_nan = np.isnan(values)
    cut = values.view(np.uint32) & np.uint32(0xFFFF_E000)
    assert found[~is_nan].tobytes() == cut.view(np.float32)[~is_nan].tobytes()
    assert np.isnan(found[is_nan]).all()


def test_ties_away_from_zero() -> None:
    half = 2.0**-11
    exact = [1 + half, -1 - half, 1 + 3 * half, 1 + half - 2.0**-23, 1 + half + 2.0**-23, 0.0, -0.0]
    values = np.array([*exact, np.inf], np.float32)
    found = evaluate(
        lambda v: FToFOp(
            v, TileType((8,), FloatTF32Type()), rounding_mode=RoundingMode.NEAREST_AWAY
        ),
        (values, "f32"),
    )
    expected = [1 + 2 * half, -1 - 2 * half, 1 + 4 * half, 1.0, 1 + 2 * half, 0.0, -0.0, np.inf]
    assert found.tobytes() == np.array(expected, np.float32).tobytes()


def test_special_powers() -> None:
    bases = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -2.0, 2.0, 1.0], np.float32)
    found = evaluate(FPowIOp, (bases, "f32"), (np.array([0, -1, -3, 3, 0, 3, -149, 9]), "i32"))
    assert found.tolist() == [1.0, -np.inf, 0.0, -np.inf, 1.0, -8.0, 2.0**-149, 1.0]


@pytest.mark.parametrize(
    "between",
    [
        "%o = gdc_wait_tko token = %s -> token",
        "%o = gdc_launch_dependents_tko token = %s -> token",
        "%o = memory_fence_alias_tko %s",
    ],
)
def test_accesses_are_ordered_through_a_token(between: str) -> None:
    lines = [
        constants([0, 1]),
        "%s = store_ptr_tko weak %a, %c1 : tile<ptr<i32>>, tile<i32> -> token",
        between,
        "%x, %t = load_ptr_tko weak %a token=%o : tile<ptr<i32>> -> tile<i32>, token",
    ]
    assert reports(POINTER, "\n".join(lines), np.zeros(8, np.int32)) == []


def test_a_wait_without_a_token_orders_nothing() -> None:
    lines = [
        constants([0, 1]),
        "%s = store_ptr_tko weak %a, %c1 : tile<ptr<i32>>, tile<i32> -> token",
        "%o = gdc_wait_tko -> token",
        "%x, %t = load_ptr_tko weak %a token=%o : tile<ptr<i32>> -> tile<i32>, token",
    ]
    assert len(reports(POINTER, "\n".join(lines), np.zeros(8, np.int32))) == 1
