"""Arithmetic, functions, conversions and products: what is refused, and in which words."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.numbers_text import FACTORS, errors, product, program

IEEE = "'nearest_even', 'zero', 'negative_inf', 'positive_inf'"
INTEGERS = "expected a tile of i1, i8, i16, i32 or i64, but got "
FLOATS = "expected a tile of f16, bf16, f32 or f64, but got "


def generic(name: str, operands: str, types: str, result: str, properties: str = "") -> str:
    """An operation in its generic form; types without `!cuda_tile.tile<4x8x`."""
    full = ", ".join(f"!cuda_tile.tile<4x8x{type}>" for type in types.split())
    return (
        f'%r = "cuda_tile.{name}"({operands}) {properties} : ({full}) -> '
        f"!cuda_tile.tile<4x8x{result}>"
    )


WRONG = {
    # Types.
    "%r = addi %i32, %i64 : tile<4x8xi32>": "operand is used with type "
    "!cuda_tile.tile<4x8xi32>, but has been previously used or defined with type "
    "!cuda_tile.tile<4x8xi64>",
    generic("addi", "%i32, %i64", "i32 i64", "i32"): "'cuda_tile.addi': operand 'rhs' at "
    "position 1 does not verify: expected !cuda_tile.tile<4x8xi32>, as the operands before it "
    "have, got !cuda_tile.tile<4x8xi64>",
    generic("addi", "%i32, %i32", "i32 i32", "i8"): "'cuda_tile.addi': result 'result' at "
    "position 0 does not verify: expected !cuda_tile.tile<4x8xi32>, as the operands before it "
    "have, got !cuda_tile.tile<4x8xi8>",
    "%r = addi %i4, %i4 : tile<4x8xi4>": f"{INTEGERS}!cuda_tile.tile<4x8xi4>",
    "%r = xori %f32, %f32 : tile<4x8xf32>": f"{INTEGERS}!cuda_tile.tile<4x8xf32>",
    "%r = maxi %token, %token signed : token": f"{INTEGERS}!cuda_tile.token",
    "%r = absi %i32 : i32": f"{INTEGERS}i32",
    "%r = addf %tf32, %tf32 : tile<4x8xtf32>": f"{FLOATS}!cuda_tile.tile<4x8xtf32>",
    "%r = sin %f8e5m2 : tile<4x8xf8E5M2>": f"{FLOATS}!cuda_tile.tile<4x8xf8E5M2>",
    "%r = pow %i32, %i32 : tile<4x8xi32>": f"{FLOATS}!cuda_tile.tile<4x8xi32>",
    # Properties.
    "%r = addi %i32, %i32 overflow<wrap> : tile<4x8xi32>": "expected overflow to be one of "
    "'none', 'no_signed_wrap', 'no_unsigned_wrap', 'no_wrap'",
    "%r = negi %i32 overflow<no_unsigned_wrap> : tile<4x8xi32>": "'cuda_tile.negi': negi takes "
    "its operand as signed; expected overflow 'none', 'no_signed_wrap' or 'no_wrap', but got "
    "'no_unsigned_wrap'",
    "%r = divi %i32, %i32 : tile<4x8xi32>": "expected signedness to be one of 'unsigned', 'signed'",
    "%r = divi %i32, %i32 unsigned rounding<negative_inf> : tile<4x8xi32>": "'cuda_tile.divi': "
    "rounding mode 'negative_inf' is for signed integers only; expected 'zero', which is the same "
    "for unsigned ones",
    "%r = divi %i32, %i32 signed rounding<full> : tile<4x8xi32>": "expected rounding mode to be "
    "one of 'zero', 'negative_inf', 'positive_inf', but got #cuda_tile.rounding<full>",
    "%r = addf %f32, %f32 rounding<approx> : tile<4x8xf32>": (
        f"expected rounding mode to be one of {IEEE}"
    ),
    "%r = fma %f32, %f32, %f32 rounding<up> : tile<4x8xf32>": (
        f"expected rounding mode to be one of {IEEE}"
    ),
    "%r = sqrt %f32 rounding<full> : tile<4x8xf32>": (
        f"expected rounding mode to be one of {IEEE}, 'approx'"
    ),
    "%r = divf %f32, %f32 rounding<nearest_int_to_zero> : tile<4x8xf32>": (
        f"expected rounding mode to be one of {IEEE}, 'approx', 'full'"
    ),
    "%r = tanh %f32 rounding<zero> : tile<4x8xf32>": (
        "expected rounding mode to be one of 'full', 'approx'"
    ),
    generic(
        "exp", "%f32", "f32", "f32", "<{rounding_mode = #cuda_tile.rounding<zero>}>"
    ): "'cuda_tile.exp': expected rounding mode to be one of 'full', 'approx', but got "
    "#cuda_tile.rounding<zero>",
    generic("addf", "%f32, %f32", "f32 f32", "f32"): (
        "'cuda_tile.addf': property 'rounding_mode' expected in operation 'cuda_tile.addf'"
    ),
    **{
        f"%r = {name} flush_to_zero : tile<4x8x{type}>": f"'cuda_tile.{name.split()[0]}': "
        f"'flush_to_zero' is for tiles of f32 only, but these have {type}"
        for name, type in (
            ("addf %f16, %f16", "f16"), ("fma %f64, %f64, %f64", "f64"), ("exp2 %bf16", "bf16"),
            ("rsqrt %f16", "f16"), ("sqrt %f64", "f64"), ("maxf %f16, %f16", "f16"),
            ("divf %bf16, %bf16", "bf16"),
        )
    },
    **{
        f"%r = {name} rounding<{mode}> : tile<4x8x{type}>": f"'cuda_tile.{name.split()[0]}': "
        f"rounding mode '{mode}' is for tiles of f32 only, but these have {type}"
        for name, mode, type in (
            ("divf %f16, %f16", "approx", "f16"), ("divf %f64, %f64", "full", "f64"),
            ("sqrt %bf16", "approx", "bf16"), ("exp %f16", "approx", "f16"),
            ("tanh %f64", "approx", "f64"),
        )
    },
    "%r = maxf %f32, %f32 flush_to_zero flush_to_zero : tile<4x8xf32>": "clause 'flush_to_zero' "
    "is given twice; it may be given once",
    # Comparisons.
    "%r = cmpi less_then %i32, %i32, signed : tile<4x8xi32> -> tile<4x8xi1>": "expected "
    "comparison_predicate to be one of 'equal', 'not_equal', 'less_than', 'less_than_or_equal', "
    "'greater_than', 'greater_than_or_equal'",
    "%r = cmpf less_than %f32, %f32 : tile<4x8xf32> -> tile<4x8xi1>": "expected "
    "comparison_ordering to be one of 'unordered', 'ordered'",
    "%r = cmpi less_than %i32, %i32, signed : tile<4x8xi32> -> tile<4xi1>": "'cuda_tile.cmpi': "
    "expected the result to be !cuda_tile.tile<4x8xi1>, but got !cuda_tile.tile<4xi1>",
    "%r = cmpf equal ordered %f32, %f32 : tile<4x8xf32> -> tile<4x8xi8>": (
        "expected a tile of i1, but got !cuda_tile.tile<4x8xi8>"
    ),
    # Conversions.
    "%r = bitcast %i32 : tile<4x8xi32> -> tile<4x8xf16>": "'cuda_tile.bitcast': the elements must "
    "be of equal width, but those of the operand have 32 bits and those of the result 16",
    "%r = bitcast %tf32 : tile<4x8xtf32> -> tile<4x8xf32>": "'cuda_tile.bitcast': the elements "
    "must be of equal width, but those of the operand have 19 bits and those of the result 32",
    "%r = bitcast %i32 : tile<4x8xi32> -> tile<8x4xf32>": "'cuda_tile.bitcast': expected the "
    "result to have the shape of the operand, as !cuda_tile.tile<4x8xf32> has, but got "
    "!cuda_tile.tile<8x4xf32>",
    "%r = bitcast %i64 : tile<4x8xi64> -> tile<4x8xptr<f32>>": "expected a tile of numbers, but "
    "got !cuda_tile.tile<4x8xptr<f32>>",
    "%r = exti %i32 signed : tile<4x8xi32> -> tile<4x8xi16>": "'cuda_tile.exti': expected wider "
    "integers than i32, but got i16",
    "%r = trunci %i32 : tile<4x8xi32> -> tile<4x8xi32>": "'cuda_tile.trunci': expected narrower "
    "integers than i32, but got i32",
    "%r = ftof %f32 : tile<4x8xf32> -> tile<4x8xf32>": "'cuda_tile.ftof': expected another type "
    "than !cuda_tile.tile<4x8xf32>, from which it converts",
    "%r = ftof %f32 rounding<zero> : tile<4x8xf32> -> tile<4x8xf8E5M2>": "'cuda_tile.ftof': "
    "expected rounding mode 'nearest_even' from f32 to f8E5M2, but got 'zero'",
    "%r = ftof %f32 rounding<negative_inf> : tile<4x8xf32> -> tile<4x8xf16>": "'cuda_tile.ftof': "
    "expected rounding mode 'nearest_even' or 'zero' from f32 to f16, but got 'negative_inf'",
    "%r = ftof %f32 : tile<4x8xf32> -> tile<4x8xf8E8M0FNU>": "'cuda_tile.ftof': expected rounding "
    "mode 'zero' or 'positive_inf' from f32 to f8E8M0FNU, but got 'nearest_even'",
    "%r = itof %i32 signed rounding<zero> : tile<4x8xi32> -> tile<4x8xf32>": "'cuda_tile.itof': "
    "expected rounding mode 'nearest_even', but got 'zero'",
    "%r = itof %i32 signed : tile<4x8xi32> -> tile<4x8xf8E8M0FNU>": "'cuda_tile.itof': integers "
    "are not converted to f8E8M0FNU; convert to another float first, and that with ftof",
    "%r = ftoi %f32 signed rounding<zero> : tile<4x8xf32> -> tile<4x8xi32>": "expected rounding "
    "mode to be one of 'nearest_int_to_zero'",
    "%r = int_to_ptr %i32 : tile<4x8xi32> -> tile<4x8xptr<f32>>": "expected a tile of i64, but "
    "got !cuda_tile.tile<4x8xi32>",
    "%r = ptr_to_ptr %p : tile<4x8xptr<f32>> -> tile<4xptr<i8>>": "'cuda_tile.ptr_to_ptr': "
    "expected the result to have the shape of the operand, as "
    "!cuda_tile.tile<4x8xptr<i8>> has, but got !cuda_tile.tile<4xptr<i8>>",
}  # fmt: skip

WRONG_PRODUCTS = {
    product("mmaf %a, %j, %c"): "expected a tile of f16, bf16, f32, f64, tf32, f8E4M3FN or "
    "f8E5M2, but got !cuda_tile.tile<64x8xi8>",
    product("mmaf %a, %b, %k"): "expected a tile of f16, f32 or f64, but got "
    "!cuda_tile.tile<16x8xi32>",
    product("mmaf %a, %e, %c"): "'cuda_tile.mmaf': expected elements of rhs of f16, as those of "
    "lhs, but got bf16",
    product("mmaf %a, %b, %d"): "'cuda_tile.mmaf': expected products of f16 to be accumulated in "
    "f16 or f32, not in f64",
    product("mmaf %a, %t, %c"): "'cuda_tile.mmaf': expected dimension 0 of rhs to be 64, as "
    "dimension 1 of lhs is, but it is 8; lhs is !cuda_tile.tile<16x64xf16>, rhs is "
    "!cuda_tile.tile<8x64xf16>",
    product("mmaf %t, %b, %c"): "'cuda_tile.mmaf': expected dimension 0 of acc to be 8, as "
    "dimension 0 of lhs is, but it is 16; lhs is !cuda_tile.tile<8x64xf16>, acc is "
    "!cuda_tile.tile<16x8xf32>",
    product("mmaf %a, %b, %a"): "'cuda_tile.mmaf': expected dimension 1 of acc to be 8, as "
    "dimension 1 of rhs is, but it is 64; rhs is !cuda_tile.tile<64x8xf16>, acc is "
    "!cuda_tile.tile<16x64xf16>",
    product("mmaf %x, %y, %z4"): "'cuda_tile.mmaf': expected dimension 0 of acc to be 2, as "
    "dimension 0 of lhs is, but it is 4; lhs is !cuda_tile.tile<2x16x64xf16>, acc is "
    "!cuda_tile.tile<4x16x8xf32>",
    product("mmaf %x, %y, %c"): "'cuda_tile.mmaf': expected operands of 2 dimensions, or all of "
    "3, but got !cuda_tile.tile<2x16x64xf16>, !cuda_tile.tile<2x64x8xf16>, "
    "!cuda_tile.tile<16x8xf32>",
    product("mmai %i, %j, %c", "signed signed "): "expected a tile of i32, but got "
    "!cuda_tile.tile<16x8xf32>",
    product("mmai %i, %j, %k", "signed "): "expected signedness to be one of 'unsigned', 'signed'",
    product("mmaf_scaled %q, %w, %c, %s, %n"): "'cuda_tile.mmaf_scaled': expected rhs_scale to be "
    "of f8E8M0FNU, as lhs_scale is, but got f8E4M3FN",
    product("mmaf_scaled %q, %w, %c, %m, %n"): "'cuda_tile.mmaf_scaled': expected scales of "
    "f8E4M3FN to be f8E8M0FNU, not f8E4M3FN",
    product("mmaf_scaled %q, %w, %c, %s4, %u4"): "'cuda_tile.mmaf_scaled': expected 32 elements "
    "of f8E4M3FN to share a scale of f8E8M0FNU, but lhs has 64 in a row and lhs_scale 4",
    product("mmaf_scaled %q, %w, %c, %s, %u4"): "'cuda_tile.mmaf_scaled': expected dimension 0 of "
    "rhs_scale to be 2, as dimension 1 of lhs_scale is, but it is 4; lhs_scale is "
    "!cuda_tile.tile<16x2xf8E8M0FNU>, rhs_scale is !cuda_tile.tile<4x8xf8E8M0FNU>",
    product("mmaf_scaled %q, %w, %c, %u, %u"): "'cuda_tile.mmaf_scaled': expected dimension 0 of "
    "lhs_scale to be 16, as dimension 0 of lhs is, but it is 2; lhs is "
    "!cuda_tile.tile<16x64xf8E4M3FN>, lhs_scale is !cuda_tile.tile<2x8xf8E8M0FNU>",
    product("mmaf_scaled %q, %w, %h, %s, %u"): "expected a tile of f32, but got "
    "!cuda_tile.tile<16x8xf16>",
}


@pytest.mark.parametrize(("line", "message"), WRONG.items())
def test_one_error(line: str, message: str) -> None:
    assert errors(program(line)) == [message]


@pytest.mark.parametrize(("line", "message"), WRONG_PRODUCTS.items())
def test_one_error_of_products(line: str, message: str) -> None:
    assert errors(program(line, FACTORS)) == [message]
