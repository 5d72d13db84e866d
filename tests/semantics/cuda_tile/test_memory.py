"""Memory through pointers: what is loaded and stored, and what is an error."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.semantics.cuda_tile.entries import blank, failure, pointers, run
from tests.semantics.cuda_tile.tiles import random_bits

BYTES = ["i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"]
"""The types of which an element takes all bits of its bytes."""


def copying(type: str, count: int = 8) -> str:
    """An entry that copies elements from %a to %b."""
    return f"""
    {pointers("p", "a", count, type)}
    {pointers("q", "b", count, type)}
    %x, %t = load_ptr_tko weak %p : tile<{count}xptr<{type}>> -> tile<{count}x{type}>, token
    %u = store_ptr_tko weak %q, %x : tile<{count}xptr<{type}>>, tile<{count}x{type}> -> token
    """


def two(type: str) -> str:
    return f"%a: tile<ptr<{type}>>, %b: tile<ptr<{type}>>"


@pytest.mark.parametrize("type", BYTES)
def test_copies_keep_all_bits(type: str) -> None:
    a: Any = random_bits(type, 8) if type[0] != "i" else np.asarray(random_bits(type, 8))
    b = blank(8, dtype=a.dtype)
    run(two(type), copying(type), a, b)
    assert a.tobytes() == b.tobytes()


def test_i1_is_any_byte_but_0() -> None:
    a, b = np.array([0, 1, 2, 255, 0, 128, 0, 0], np.uint8), blank(8, dtype=np.uint8)
    run(two("i1"), copying("i1"), a.view(np.bool_), b.view(np.bool_))
    np.testing.assert_array_equal(b, a != 0)


def test_tf32_keeps_bits_that_it_does_not_have() -> None:
    a: Any = random_bits("f32", 8)
    b = blank(8)
    run(two("tf32"), copying("tf32"), a, b)
    assert a.tobytes() == b.tobytes()


def test_elements_of_four_bits_share_bytes() -> None:
    a, b = np.array([0x21, 0x43, 0x65, 0x87], np.uint8), blank(4, dtype=np.uint8)
    body = f"""
    %one = constant <i32: 1> : tile<i32>
    %a1 = offset %a, %one : tile<ptr<f4E2M1FN>>, tile<i32> -> tile<ptr<f4E2M1FN>>
    {pointers("p", "a1", 4, "f4E2M1FN")}
    {pointers("q", "b", 4, "f4E2M1FN")}
    %x, %t = load_ptr_tko weak %p : tile<4xptr<f4E2M1FN>> -> tile<4xf4E2M1FN>, token
    %u = store_ptr_tko weak %q, %x : tile<4xptr<f4E2M1FN>>, tile<4xf4E2M1FN> -> token
    """
    run(two("f4E2M1FN"), body, a, b)
    assert b.tolist() == [0x32, 0x54, 0xFF, 0xFF]


MASKED = f"""
    {pointers("p", "a", 4, "f32")}
    {pointers("q", "b", 4, "f32")}
    %m = constant <i1: [true, false, true, false]> : tile<4xi1>
    %z = constant <f32: [7.0, 8.0, 9.0, 10.0]> : tile<4xf32>
"""


def test_masked_elements_are_the_padding() -> None:
    a, b = np.arange(3, dtype=np.float32), blank(4)
    body = f"""{MASKED}
    %x, %t = load_ptr_tko weak %p, %m, %z
      : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
    %u = store_ptr_tko weak %q, %x : tile<4xptr<f32>>, tile<4xf32> -> token
    """
    run(two("f32"), body, a, b)
    # Element 3 of %a is not there, but is not accessed either.
    assert b.tolist() == [0, 8, 2, 10]


def test_masked_elements_without_padding_have_all_bits_set() -> None:
    a, b = np.arange(3, dtype=np.float32), np.zeros(4, np.float32)
    body = f"""{MASKED}
    %x, %t = load_ptr_tko weak %p, %m : tile<4xptr<f32>>, tile<4xi1> -> tile<4xf32>, token
    %u = store_ptr_tko weak %q, %x : tile<4xptr<f32>>, tile<4xf32> -> token
    """
    run(two("f32"), body, a, b)
    assert b.view(np.uint32).tolist() == [0, 2**32 - 1, 0x40000000, 2**32 - 1]


def test_masked_stores_leave_memory_as_it_is() -> None:
    a, b = np.arange(4, dtype=np.float32), np.full(3, -1, np.float32)
    body = f"""{MASKED}
    %x, %t = load_ptr_tko weak %p : tile<4xptr<f32>> -> tile<4xf32>, token
    %u = store_ptr_tko weak %q, %x, %m : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> token
    """
    run(two("f32"), body, a, b)
    assert b.tolist() == [0, -1, 2]


def test_nothing_is_accessed_where_no_mask_is_set() -> None:
    b = np.zeros(4, np.float32)
    body = f"""
    {pointers("p", "a", 4, "f32")}
    {pointers("q", "b", 4, "f32")}
    %m = constant <i1: false> : tile<4xi1>
    %z = constant <f32: 3.0> : tile<4xf32>
    %x, %t = load_ptr_tko weak %p, %m, %z
      : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
    %u = store_ptr_tko weak %q, %x : tile<4xptr<f32>>, tile<4xf32> -> token
    """
    run(two("f32"), body, None, b)
    assert b.tolist() == [3] * 4


def test_scalars_and_tiles_of_any_rank() -> None:
    a, b = np.arange(8, dtype=np.int16), np.zeros(8, np.int16)
    body = f"""
    {pointers("p", "a", 8, "i16")}
    {pointers("q", "b", 8, "i16")}
    %p2 = reshape %p : tile<8xptr<i16>> -> tile<2x2x2xptr<i16>>
    %q2 = reshape %q : tile<8xptr<i16>> -> tile<2x2x2xptr<i16>>
    %r = permute %p2 [2, 0, 1] : tile<2x2x2xptr<i16>> -> tile<2x2x2xptr<i16>>
    %x, %t = load_ptr_tko weak %r : tile<2x2x2xptr<i16>> -> tile<2x2x2xi16>, token
    %u = store_ptr_tko weak %q2, %x : tile<2x2x2xptr<i16>>, tile<2x2x2xi16> -> token
    %y, %v = load_ptr_tko weak %a : tile<ptr<i16>> -> tile<i16>, token
    %w = store_ptr_tko weak %b, %y token=%u : tile<ptr<i16>>, tile<i16> -> token
    """
    run(two("i16"), body, a, b)
    assert b.tolist() == np.arange(8).reshape(2, 2, 2).transpose(2, 0, 1).ravel().tolist()


def test_the_last_of_several_elements_stays() -> None:
    b = np.zeros(2, np.int32)
    body = """
    %z = constant <i32: 0> : tile<4xi32>
    %x = constant <i32: [1, 2, 3, 4]> : tile<4xi32>
    %q1 = reshape %b : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q = broadcast %q1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %u = store_ptr_tko weak %q, %x : tile<4xptr<i32>>, tile<4xi32> -> token
    """
    run("%b: tile<ptr<i32>>", body, b)
    assert b.tolist() == [4, 0]


def test_pointers_may_lead_to_several_arrays() -> None:
    a, b, c = np.array([5, 6], np.int32), np.array([7, 8], np.int32), np.zeros(2, np.int32)
    body = f"""
    {pointers("w", "words", 2, "i64")}
    %x, %t = load_ptr_tko weak %w : tile<2xptr<i64>> -> tile<2xi64>, token
    %p = int_to_ptr %x : tile<2xi64> -> tile<2xptr<i32>>
    %i = iota : tile<2xi32>
    %q = offset %p, %i : tile<2xptr<i32>>, tile<2xi32> -> tile<2xptr<i32>>
    %y, %u = load_ptr_tko weak %q : tile<2xptr<i32>> -> tile<2xi32>, token
    {pointers("r", "c", 2, "i32")}
    %v = store_ptr_tko weak %r, %y : tile<2xptr<i32>>, tile<2xi32> -> token
    %s = store_ptr_tko weak %q, %i : tile<2xptr<i32>>, tile<2xi32> -> token
    """
    run("%words: tile<ptr<i64>>, %c: tile<ptr<i32>>", body, [a, b], c)
    assert c.tolist() == [5, 8]
    assert (a.tolist(), b.tolist()) == ([0, 6], [7, 1])


def test_offsets_are_signed_and_count_elements() -> None:
    a, b = np.arange(8, dtype=np.float64), blank(1, dtype=np.float64)
    body = """
    %n = constant <i8: 6> : tile<i8>
    %m = constant <i64: -2> : tile<i64>
    %p = offset %a, %n : tile<ptr<f64>>, tile<i8> -> tile<ptr<f64>>
    %q = offset %p, %m : tile<ptr<f64>>, tile<i64> -> tile<ptr<f64>>
    %x, %t = load_ptr_tko weak %q : tile<ptr<f64>> -> tile<f64>, token
    %u = store_ptr_tko weak %b, %x : tile<ptr<f64>>, tile<f64> -> token
    """
    run(two("f64"), body, a, b)
    assert b.tolist() == [4]


def test_memory_seen_as_another_type() -> None:
    a, b = np.array([1.0, -2.0], np.float32), blank(2, dtype=np.int32)
    body = f"""
    %i = ptr_to_ptr %a : tile<ptr<f32>> -> tile<ptr<i32>>
    {pointers("p", "i", 2, "i32")}
    {pointers("q", "b", 2, "i32")}
    %x, %t = load_ptr_tko weak %p : tile<2xptr<i32>> -> tile<2xi32>, token
    %u = store_ptr_tko weak %q, %x : tile<2xptr<i32>>, tile<2xi32> -> token
    """
    run("%a: tile<ptr<f32>>, %b: tile<ptr<i32>>", body, a, b)
    np.testing.assert_array_equal(b, a.view(np.int32))


LOAD = "%x, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token"


class TestErrors:
    def test_outside_of_the_memory(self) -> None:
        body = f"""
        %n = constant <i32: 4> : tile<i32>
        %p = offset %a, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
        {LOAD}
        """
        message, text = failure("%a: tile<ptr<f32>>", body, np.zeros(4, np.float32))
        assert message == (
            "the access to element 4 lies outside of the memory of %a, which has 4 elements"
        )
        assert text == LOAD

    def test_null(self) -> None:
        body = LOAD.replace("%p", "%a")
        for null in (None, 0):
            message, _ = failure("%a: tile<ptr<f32>>", body, null)
            assert message == "the address 0 is null"

    def test_between_elements(self) -> None:
        body = f"""
        %n = constant <i32: 2> : tile<i32>
        %b = ptr_to_ptr %a : tile<ptr<f32>> -> tile<ptr<i8>>
        %c = offset %b, %n : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
        %p = ptr_to_ptr %c : tile<ptr<i8>> -> tile<ptr<f32>>
        {LOAD}
        """
        message, _ = failure("%a: tile<ptr<f32>>", body, np.zeros(4, np.float32))
        assert message == (
            "the address lies between elements of %a: it must be a multiple of 4 bytes"
        )


class TestAlloca:
    def test_memory_of_a_tile_block(self) -> None:
        b = blank(8, dtype=np.int32)
        body = f"""
        %m = alloca num_elem = 4, alignment = 16 : tile<ptr<i32>>
        {pointers("p", "m", 4, "i32")}
        {pointers("q", "b", 4, "i32")}
        %x, %t = load_ptr_tko weak %p : tile<4xptr<i32>> -> tile<4xi32>, token
        %bx, %by, %bz = get_tile_block_id : tile<i32>
        %y1 = reshape %bx : tile<i32> -> tile<1xi32>
        %y = broadcast %y1 : tile<1xi32> -> tile<4xi32>
        %u = store_ptr_tko weak %p, %y token=%t : tile<4xptr<i32>>, tile<4xi32> -> token
        %z, %v = load_ptr_tko weak %p token=%u : tile<4xptr<i32>> -> tile<4xi32>, token
        %s = addi %x, %z : tile<4xi32>
        %four = constant <i32: 4> : tile<4xi32>
        %d = muli %y, %four : tile<4xi32>
        %r = offset %q, %d : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
        %w = store_ptr_tko weak %r, %s : tile<4xptr<i32>>, tile<4xi32> -> token
        """
        run("%b: tile<ptr<i32>>", body, b, grid=2)
        # What it holds at first has all bits set, in each tile block anew.
        assert b.tolist() == [-1] * 4 + [0] * 4

    def test_it_ends_with_its_block(self) -> None:
        body = """
        %true = constant <i1: true> : tile<i1>
        %m = if %true -> (tile<ptr<f32>>) {
          %n = alloca num_elem = 4, alignment = 16 : tile<ptr<f32>>
          yield %n : tile<ptr<f32>>
        } else {
          yield %a : tile<ptr<f32>>
        }
        %x, %t = load_ptr_tko weak %m : tile<ptr<f32>> -> tile<f32>, token
        """
        message, _ = failure("%a: tile<ptr<f32>>", body, np.zeros(4, np.float32))
        assert message == "%n is accessed after its deallocation"

    def test_more_than_there_is(self) -> None:
        body = f"%m = alloca num_elem = {2**62}, alignment = 16 : tile<ptr<f64>>"
        message, text = failure("", body)
        assert message == f"{2**62} elements do not fit into memory"
        assert text == body

    def test_elements_of_four_bits(self) -> None:
        b = blank(2, dtype=np.uint8)
        body = f"""
        %m = alloca num_elem = 4, alignment = 1 : tile<ptr<f4E2M1FN>>
        {pointers("p", "m", 4, "f4E2M1FN")}
        {pointers("q", "b", 4, "f4E2M1FN")}
        %x = constant <f4E2M1FN: [1.0, 2.0, 3.0, -6.0]> : tile<4xf4E2M1FN>
        %t = store_ptr_tko weak %p, %x : tile<4xptr<f4E2M1FN>>, tile<4xf4E2M1FN> -> token
        %y, %u = load_ptr_tko weak %p token=%t
          : tile<4xptr<f4E2M1FN>> -> tile<4xf4E2M1FN>, token
        %v = store_ptr_tko weak %q, %y : tile<4xptr<f4E2M1FN>>, tile<4xf4E2M1FN> -> token
        """
        run("%b: tile<ptr<f4E2M1FN>>", body, b)
        values = np.array([1, 2, 3, -6], ml_dtypes.float4_e2m1fn).view(np.uint8)
        assert b.tolist() == [values[0] | values[1] << 4, values[2] | values[3] << 4]
