"""Memory through pointers, tokens and atomic updates: text that is right, and what is refused."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.kernel_text import (
    errors_in,
    printed_lines,
    round_trip,
)

RIGHT = [
    "%r = alloca num_elem = 0, alignment = 1 : tile<ptr<i1>>",
    "%r = alloca num_elem = 64, alignment = 128 global : tile<ptr<f64>>",
    "%r = make_token : token",
    "%r = gdc_wait_tko -> token",
    "%r = gdc_wait_tko token = %t -> token",
    "%r = gdc_launch_dependents_tko token = %t -> token",
    "%r = memory_fence_alias_tko %t",
    "%r = join_tokens %t, %t, %t : token",
    "%r, %s = load_ptr_tko weak %p : tile<8xptr<f32>> -> tile<8xf32>, token",
    ("%r, %s = load_ptr_tko weak %p, %m : tile<8xptr<f32>>, tile<8xi1> -> tile<8xf32>, token"),
    "%r, %s = load_ptr_tko weak %p, %x : tile<8xptr<f32>>, tile<8xf32> -> tile<8xf32>, token",
    (
        "%r, %s = load_ptr_tko acquire sys %p, %m, %x token=%t optimization_hints = <default "
        "= {latency = 3}> : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token"
    ),
    "%r, %s = load_ptr_tko relaxed tl_blk %q : tile<ptr<f32>> -> tile<f32>, token",
    "%r = store_ptr_tko weak %p, %x : tile<8xptr<f32>>, tile<8xf32> -> token",
    (
        "%r = store_ptr_tko release device %p, %x, %m token=%t optimization_hints = <sm_100 "
        "= {latency = 1}, sm_90 = {latency = 2}> : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> "
        "-> token"
    ),
    (
        "%r, %s = atomic_cas_tko acq_rel sys %pi, %n, %n, %m token=%t : tile<8xptr<i32>>, "
        "tile<8xi32>, tile<8xi1> -> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_cas_tko relaxed device %q, %f, %f : tile<ptr<f32>>, tile<f32> -> "
        "tile<f32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko relaxed tl_blk %pi, and, %n : tile<8xptr<i32>>, tile<8xi32> "
        "-> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko acquire tl_blk %pi, or, %n : tile<8xptr<i32>>, tile<8xi32> "
        "-> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko release tl_blk %pi, xor, %n : tile<8xptr<i32>>, tile<8xi32> "
        "-> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko acq_rel tl_blk %pi, add, %n : tile<8xptr<i32>>, tile<8xi32> "
        "-> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko relaxed tl_blk %pi, max, %n : tile<8xptr<i32>>, tile<8xi32> "
        "-> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko acquire tl_blk %pi, min, %n : tile<8xptr<i32>>, tile<8xi32> "
        "-> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko release tl_blk %pi, umax, %n : tile<8xptr<i32>>, "
        "tile<8xi32> -> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko acq_rel tl_blk %pi, umin, %n : tile<8xptr<i32>>, "
        "tile<8xi32> -> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko relaxed tl_blk %pi, xchg, %n : tile<8xptr<i32>>, "
        "tile<8xi32> -> tile<8xi32>, token"
    ),
    (
        "%r, %s = atomic_rmw_tko relaxed device %ph, addf, %h, %m : tile<8xptr<f16>>, "
        "tile<8xf16>, tile<8xi1> -> tile<8xf16>, token"
    ),
]


@pytest.mark.parametrize("lines", RIGHT)
def test_text_is_printed_as_it_was_read(lines: str) -> None:
    assert printed_lines(lines) == lines
    assert round_trip(lines).count("\n") == lines.count("\n")


WRONG = [
    (
        "%r, %t1 = load_ptr_tko weak %p : tile<8xptr<f32>> -> tile<8xf16>, token",
        "'cuda_tile.load_ptr_tko': the pointers point to f32, but the values are f16",
    ),
    (
        "%r, %t1 = load_ptr_tko weak %p : tile<8xptr<f32>> -> tile<4xf32>, token",
        (
            "'cuda_tile.load_ptr_tko': expected the values to have the shape of "
            "!cuda_tile.tile<8xptr<f32>>, as !cuda_tile.tile<8xf32> has, but got "
            "!cuda_tile.tile<4xf32>"
        ),
    ),
    (
        "%r, %t1 = load_ptr_tko weak device %p : tile<8xptr<f32>> -> tile<8xf32>, token",
        "'cuda_tile.load_ptr_tko': an access that is weak has no memory_scope",
    ),
    (
        "%r, %t1 = load_ptr_tko acquire %p : tile<8xptr<f32>> -> tile<8xf32>, token",
        "'cuda_tile.load_ptr_tko': an access that is acquire needs a memory_scope",
    ),
    (
        "%r, %t1 = load_ptr_tko release device %p : tile<8xptr<f32>> -> tile<8xf32>, token",
        (
            "'cuda_tile.load_ptr_tko': memory_ordering_semantics must be one of weak, relaxed, "
            "acquire, but is release"
        ),
    ),
    (
        "%r, %t1 = load_ptr_tko strong %p : tile<8xptr<f32>> -> tile<8xf32>, token",
        (
            "expected memory_ordering_semantics to be one of 'weak', 'relaxed', 'acquire', "
            "'release', 'acq_rel'"
        ),
    ),
    (
        "%r, %t1 = load_ptr_tko weak %p, %o : tile<8xptr<f32>>, tile<4xi1> -> tile<8xf32>, token",
        (
            "'cuda_tile.load_ptr_tko': expected the mask to have the shape of "
            "!cuda_tile.tile<8xptr<f32>>, as !cuda_tile.tile<8xi1> has, but got "
            "!cuda_tile.tile<4xi1>"
        ),
    ),
    (
        (
            "%r, %t1 = load_ptr_tko weak %p, %m, %h : tile<8xptr<f32>>, tile<8xi1>, tile<8xf16> -> "
            "tile<8xf32>, token"
        ),
        (
            "'cuda_tile.load_ptr_tko': the padding_value must be of the result's type "
            "!cuda_tile.tile<8xf32>, but is !cuda_tile.tile<8xf16>"
        ),
    ),
    (
        (
            "%r, %t1 = load_ptr_tko weak %p, %h : tile<8xptr<f32>>, tile<8xf16> -> tile<8xf32>, "
            "token"
        ),
        (
            "'cuda_tile.load_ptr_tko': the padding_value must be of the result's type "
            "!cuda_tile.tile<8xf32>, but is !cuda_tile.tile<8xf16>"
        ),
    ),
    (
        "%t1 = store_ptr_tko weak %p, %h : tile<8xptr<f32>>, tile<8xf16> -> token",
        "'cuda_tile.store_ptr_tko': the pointers point to f32, but the values are f16",
    ),
    (
        "%t1 = store_ptr_tko acquire sys %p, %x : tile<8xptr<f32>>, tile<8xf32> -> token",
        (
            "'cuda_tile.store_ptr_tko': memory_ordering_semantics must be one of weak, relaxed, "
            "release, but is acquire"
        ),
    ),
    (
        "%t1 = store_ptr_tko weak %p, %x, %o : tile<8xptr<f32>>, tile<8xf32>, tile<4xi1> -> token",
        (
            "'cuda_tile.store_ptr_tko': expected the mask to have the shape of "
            "!cuda_tile.tile<8xptr<f32>>, as !cuda_tile.tile<8xi1> has, but got "
            "!cuda_tile.tile<4xi1>"
        ),
    ),
    (
        "%r = alloca num_elem = 4, alignment = 2 : tile<ptr<f32>>",
        "'cuda_tile.alloca': alignment must be at least the 4 bytes of f32, but is 2",
    ),
    (
        "%r = alloca num_elem = 4, alignment = 6 : tile<ptr<f32>>",
        "'cuda_tile.alloca': alignment must be a power of two, but is 6",
    ),
    (
        "%r = alloca num_elem = -4, alignment = 8 : tile<ptr<f32>>",
        "'cuda_tile.alloca': num_elem must not be negative, but is -4",
    ),
    (
        "%r = alloca num_elem = 4, alignment = 8 : tile<8xptr<f32>>",
        "expected a scalar tile of a pointer, but got !cuda_tile.tile<8xptr<f32>>",
    ),
    (
        "%r = join_tokens %t : token",
        "'cuda_tile.join_tokens': expected two or more tokens, got 1",
    ),
    (
        (
            "%r, %t1 = atomic_cas_tko weak device %pi, %n, %n : tile<8xptr<i32>>, tile<8xi32> -> "
            "tile<8xi32>, token"
        ),
        (
            "'cuda_tile.atomic_cas_tko': memory_ordering_semantics must be one of relaxed, "
            "acquire, "
            "release, acq_rel, but is weak"
        ),
    ),
    (
        (
            "%r, %t1 = atomic_cas_tko relaxed %pi, %n, %n : tile<8xptr<i32>>, tile<8xi32> -> "
            "tile<8xi32>, token"
        ),
        "expected a memory_scope: tl_blk, device or sys",
    ),
    (
        (
            "%r, %t1 = atomic_cas_tko relaxed device %ph, %h, %h : tile<8xptr<f16>>, tile<8xf16> "
            "-> "
            "tile<8xf16>, token"
        ),
        "'cuda_tile.atomic_cas_tko': the values must be i32, i64, f32 or f64, not f16",
    ),
    (
        (
            "%r, %t1 = atomic_cas_tko relaxed device %p, %n, %n : tile<8xptr<f32>>, tile<8xi32> -> "
            "tile<8xi32>, token"
        ),
        "'cuda_tile.atomic_cas_tko': the pointers point to f32, but the values are i32",
    ),
    (
        (
            "%r, %t1 = atomic_cas_tko relaxed device %pi, %n, %n, %o : tile<8xptr<i32>>, "
            "tile<8xi32>, tile<4xi1> -> tile<8xi32>, token"
        ),
        (
            "'cuda_tile.atomic_cas_tko': expected the mask to have the shape of "
            "!cuda_tile.tile<8xptr<i32>>, as !cuda_tile.tile<8xi1> has, but got "
            "!cuda_tile.tile<4xi1>"
        ),
    ),
    (
        (
            "%r, %t1 = atomic_rmw_tko relaxed device %pi, addf, %n : tile<8xptr<i32>>, tile<8xi32> "
            "-> tile<8xi32>, token"
        ),
        "'cuda_tile.atomic_rmw_tko': addf takes f16, bf16, f32 or f64, not i32",
    ),
    (
        (
            "%r, %t1 = atomic_rmw_tko relaxed device %p, add, %x : tile<8xptr<f32>>, tile<8xf32> "
            "-> "
            "tile<8xf32>, token"
        ),
        "'cuda_tile.atomic_rmw_tko': add takes i32 or i64, not f32",
    ),
    (
        (
            "%r, %t1 = atomic_rmw_tko relaxed device %ph, xchg, %h : tile<8xptr<f16>>, tile<8xf16> "
            "-> tile<8xf16>, token"
        ),
        "'cuda_tile.atomic_rmw_tko': xchg takes i32, i64, f32 or f64, not f16",
    ),
    (
        (
            "%r, %t1 = atomic_rmw_tko relaxed device %pt, addf, %u : tile<8xptr<tf32>>, "
            "tile<8xtf32> -> tile<8xtf32>, token"
        ),
        "'cuda_tile.atomic_rmw_tko': addf takes f16, bf16, f32 or f64, not tf32",
    ),
    (
        (
            "%r, %t1 = atomic_rmw_tko relaxed device %pi, mul, %n : tile<8xptr<i32>>, "
            "tile<8xi32> -> "
            "tile<8xi32>, token"
        ),
        (
            "expected mode to be one of 'and', 'or', 'xor', 'add', 'addf', 'max', 'min', 'umax', "
            "'umin', 'xchg'"
        ),
    ),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_what_is_wrong_is_said_where_it_stands(line: str, message: str) -> None:
    assert (message, 1) in errors_in(line)


PADDING_OF_I1 = (
    '%r, %s = "cuda_tile.load_ptr_tko"(%pb, %m) <{memory_ordering_semantics = 0 : i32, '
    "operandSegmentSizes = array<i32: 1, 0, 1, 0>}> : (!cuda_tile.tile<8xptr<i1>>, "
    "!cuda_tile.tile<8xi1>) -> (!cuda_tile.tile<8xi1>, !cuda_tile.token)"
)


def test_padding_of_i1_without_a_mask_has_the_generic_form() -> None:
    assert printed_lines(PADDING_OF_I1) == PADDING_OF_I1
    mask = "%r, %s = load_ptr_tko weak %pb, %m : tile<8xptr<i1>>, tile<8xi1> -> tile<8xi1>, token"
    assert printed_lines(mask) == mask
