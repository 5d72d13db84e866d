"""Arithmetic, functions, conversions and products: text that is right, and is printed as read."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.numbers_text import (
    FACTORS,
    TILES,
    line_of,
    printed,
    product,
    program,
    read,
)

RIGHT = [
    *(f"%r = {name} %i32, %i32 : tile<4x8xi32>" for name in ("andi", "ori", "xori", "mulhii")),
    *(f"%r = {name} %i8, %i8 : tile<4x8xi8>" for name in ("addi", "subi", "muli", "shli")),
    *(
        f"%r = {name} %i64, %i64 overflow<no_{wrap}wrap> : tile<4x8xi64>"
        for name, wrap in (
            ("addi", "signed_"), ("subi", "unsigned_"), ("muli", ""), ("shli", "signed_"),
        )
    ),
    *(
        f"%r = {name} %i1, %i1 {sign} : tile<4x8xi1>"
        for name in ("maxi", "mini", "remi", "shri", "divi")
        for sign in ("signed", "unsigned")
    ),
    "%r = divi %i16, %i16 signed rounding<negative_inf> : tile<4x8xi16>",
    "%r = divi %i16, %i16 unsigned rounding<positive_inf> : tile<4x8xi16>",
    "%r = absi %small : tile<4xi32>",
    "%r = negi %i32 : tile<4x8xi32>",
    "%r = negi %i32 overflow<no_signed_wrap> : tile<4x8xi32>",
    "%r = negi %i32 overflow<no_wrap> {note = 1 : i8} : tile<4x8xi32>",
    *(
        f"%r = cmpi {name} %i32, %i32, signed : tile<4x8xi32> -> tile<4x8xi1>"
        for name in ("equal", "not_equal", "less_than", "less_than_or_equal")
    ),
    "%r = cmpi greater_than %i1, %i1, unsigned : tile<4x8xi1> -> tile<4x8xi1>",
    "%r = cmpf greater_than_or_equal ordered %f16, %f16 : tile<4x8xf16> -> tile<4x8xi1>",
    "%r = cmpf not_equal unordered %f64, %f64 : tile<4x8xf64> -> tile<4x8xi1>",
    *(
        f"%r = {name} %{type}, %{type} : tile<4x8x{type}>"
        for name in ("addf", "subf", "mulf", "divf", "remf", "maxf", "minf", "pow", "atan2")
        for type in ("f16", "bf16", "f32", "f64")
    ),
    *(
        f"%r = {name} %f64, %f64 rounding<{mode}> : tile<4x8xf64>"
        for name in ("addf", "subf", "mulf", "divf")
        for mode in ("zero", "negative_inf", "positive_inf")
    ),
    "%r = addf %f32, %f32 rounding<zero> flush_to_zero : tile<4x8xf32>",
    "%r = divf %f32, %f32 rounding<full> flush_to_zero : tile<4x8xf32>",
    "%r = divf %f32, %f32 rounding<approx> : tile<4x8xf32>",
    "%r = fma %f16, %f16, %f16 rounding<negative_inf> : tile<4x8xf16>",
    "%r = fma %f32, %f32, %f32 flush_to_zero : tile<4x8xf32>",
    "%r = maxf %f32, %f32 flush_to_zero propagate_nan : tile<4x8xf32>",
    "%r = minf %bf16, %bf16 propagate_nan : tile<4x8xbf16>",
    *(
        f"%r = {name} %bf16 : tile<4x8xbf16>"
        for name in (
            "absf", "ceil", "cos", "cosh", "exp", "exp2", "floor", "log", "log2", "negf", "rsqrt",
            "sin", "sinh", "sqrt", "tan", "tanh",
        )
    ),
    "%r = exp %f32 rounding<approx> : tile<4x8xf32>",
    "%r = tanh %f32 rounding<approx> : tile<4x8xf32>",
    "%r = sqrt %f32 rounding<approx> flush_to_zero : tile<4x8xf32>",
    "%r = sqrt %f64 rounding<zero> : tile<4x8xf64>",
    "%r = exp2 %f32 flush_to_zero : tile<4x8xf32>",
    "%r = rsqrt %f32 flush_to_zero : tile<4x8xf32>",
    "%r = bitcast %f8e5m2 : tile<4x8xf8E5M2> -> tile<4x8xi8>",
    "%r = exti %i4 signed : tile<4x8xi4> -> tile<4x8xi8>",
    "%r = exti %i1 unsigned : tile<4x8xi1> -> tile<4x8xi64>",
    "%r = trunci %i8 : tile<4x8xi8> -> tile<4x8xi4>",
    "%r = trunci %i64 overflow<no_wrap> : tile<4x8xi64> -> tile<4x8xi1>",
    "%r = ftof %f4e2m1fn : tile<4x8xf4E2M1FN> -> tile<4x8xf16>",
    "%r = ftof %f32 : tile<4x8xf32> -> tile<4x8xtf32>",
    "%r = ftof %f32 rounding<positive_inf> : tile<4x8xf32> -> tile<4x8xf8E8M0FNU>",
    "%r = ftof %f32 rounding<zero> : tile<4x8xf32> -> tile<4x8xf8E8M0FNU>",
    "%r = ftof %f32 rounding<zero> : tile<4x8xf32> -> tile<4x8xbf16>",
    "%r = ftof %f8e5m2 rounding<negative_inf> : tile<4x8xf8E5M2> -> tile<4x8xf16>",
    "%r = ftof %f8e8m0fnu rounding<positive_inf> : tile<4x8xf8E8M0FNU> -> tile<4x8xf64>",
    "%r = ftoi %f8e4m3fn unsigned : tile<4x8xf8E4M3FN> -> tile<4x8xi16>",
    "%r = itof %i1 unsigned : tile<4x8xi1> -> tile<4x8xbf16>",
    "%r = int_to_ptr %i64 : tile<4x8xi64> -> tile<4x8xptr<i8>>",
    "%r = ptr_to_int %p : tile<4x8xptr<f32>> -> tile<4x8xi64>",
    "%r = ptr_to_ptr %p : tile<4x8xptr<f32>> -> tile<4x8xptr<f8E8M0FNU>>",
    "%r = pack %nibbles : tile<64xi4> -> tile<32xi8>",
    "%r = pack %bits : tile<256xi1> -> tile<32xi8>",
    "%r = pack %words : tile<8xtf32> -> tile<32xi8>",
    "%r = unpack %bytes : tile<32xi8> -> tile<64xf4E2M1FN>",
    "%r = unpack %bytes : tile<32xi8> -> tile<8xf32>",
]  # fmt: skip

RIGHT_PRODUCTS = [
    product("mmaf %a, %b, %c"),
    product("mmaf %a, %b, %h"),
    product("mmaf %x, %y, %z"),
    product("mmaf %q, %w, %c", "fast_acc "),
    product("mmai %i, %j, %k", "signed unsigned "),
    product("mmaf_scaled %q, %w, %c, %s, %u"),
    product("mmaf_scaled %f, %g, %c, %m, %n"),
    product("mmaf_scaled %f, %g, %c, %s4, %u4"),
]


@pytest.mark.parametrize(
    ("line", "tiles"),
    [*((line, TILES) for line in RIGHT), *((line, FACTORS) for line in RIGHT_PRODUCTS)],
)
def test_both_forms(line: str, tiles: dict[str, str]) -> None:
    module = read(program(line, tiles))
    assert line_of(module) == line
    generic = printed(module, generic=True)
    assert '"cuda_tile.' in generic
    assert line_of(read(generic)) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "%r = addf %f32, %f32 rounding<nearest_even> : !cuda_tile.tile<4x8xf32>",
            "%r = addf %f32, %f32 : tile<4x8xf32>",
        ),
        (
            "%r = addi %i32, %i32 overflow<none> : tile<4x8xi32>",
            "%r = addi %i32, %i32 : tile<4x8xi32>",
        ),
        (
            "%r = maxf %f32, %f32 propagate_nan flush_to_zero : tile<4x8xf32>",
            "%r = maxf %f32, %f32 flush_to_zero propagate_nan : tile<4x8xf32>",
        ),
        ("%r = exp %f32 rounding<full> : tile<4x8xf32>", "%r = exp %f32 : tile<4x8xf32>"),
        (
            "%r = divi %i32, %i32 signed rounding<zero> : tile<4x8xi32>",
            "%r = divi %i32, %i32 signed : tile<4x8xi32>",
        ),
        (
            "%r = ftoi %f32 signed rounding<nearest_int_to_zero> : tile<4x8xf32> -> tile<4x8xi8>",
            "%r = ftoi %f32 signed : tile<4x8xf32> -> tile<4x8xi8>",
        ),
    ],
)
def test_what_need_not_be_said_is_not_printed(text: str, line: str) -> None:
    assert line_of(read(program(text))) == line


def test_the_generic_form_may_leave_out_defaults() -> None:
    text = program(
        '%r = "cuda_tile.addi"(%i32, %i32) : '
        "(!cuda_tile.tile<4x8xi32>, !cuda_tile.tile<4x8xi32>) -> !cuda_tile.tile<4x8xi32>"
    )
    assert line_of(read(text)) == "%r = addi %i32, %i32 : tile<4x8xi32>"
    assert "<{overflow = #cuda_tile.overflow<none>}>" in printed(read(text), generic=True)
