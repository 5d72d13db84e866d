"""Constants, variables, assumptions and output: text that is right, and what is refused."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.kernel_text import errors_in, printed_lines, round_trip

RIGHT = [
    "%r = insert %y, %x[%i] : tile<4xf32>, tile<8xf32>",
    'assert %m, "all of it" : tile<8xi1>',
    "%r = assume div_by<16>, %p : tile<8xptr<f32>>",
    "%r = assume div_by<4, every 8 along 0>, %n : tile<8xi32>",
    "%r = assume div_by<4611686018427387904>, %tv : tensor_view<?x64xf32, strides=[?,1]>",
    "%r = assume same_elements<[2, 8]>, %w : tile<8x8xi32>",
    "%r = assume bounded<0, ?>, %i : tile<i32>",
    "%r = assume bounded<?, -1>, %n : tile<8xi32>",
    '%r = print_tko "100%%" -> token',
    (
        '%r = print_tko "%5.2f, %+d, %%%lld", %x, %i, %l token=%t : tile<8xf32>, '
        "tile<i32>, tile<i64> -> token"
    ),
    "%r = constant <i1: true> : tile<8xi1>",
    "%r = constant <i8: -128> : tile<i8>",
    "%r = constant <i16: [[1, 2], [-1, 4]]> : tile<2x2xi16>",
    "%r = constant <f32: [0x7F800000, -0.000000e+00]> : tile<2xf32>",
    "%r = constant <bf16: 1.500000e+00> : tile<4x4xbf16>",
    "%r = constant <tf32: 2.500000e-01> : tile<tf32>",
    "%r = constant <f8E4M3FN: [1.000000e+00, 4.480000e+02]> : tile<2xf8E4M3FN>",
    "%r = constant <f8E8M0FNU: 4.000000e+00> : tile<f8E8M0FNU>",
    "%r = constant <f4E2M1FN: [5.000000e-01, 6.000000e+00]> : tile<2xf4E2M1FN>",
]


@pytest.mark.parametrize("lines", RIGHT)
def test_text_is_printed_as_it_was_read(lines: str) -> None:
    assert printed_lines(lines) == lines
    assert round_trip(lines).count("\n") == lines.count("\n")


WRONG = [
    (
        "%r = insert %y, %h[%i] : tile<4xf32>, tile<8xf16>",
        (
            "'cuda_tile.insert': expected a result of f16, as the operand is, but got "
            "!cuda_tile.tile<4xf32>"
        ),
    ),
    (
        "%r = assume div_by<3>, %i : tile<i32>",
        "'cuda_tile.assume': the divisor of div_by must be a power of two, but is 3",
    ),
    (
        "%r = assume div_by<9223372036854775808>, %i : tile<i32>",
        (
            "'cuda_tile.assume': the divisor of div_by must be at most 4611686018427387904, but is "
            "9223372036854775808"
        ),
    ),
    (
        "%r = assume div_by<4, every 2 along 0>, %i : tile<i32>",
        "'cuda_tile.assume': 'every' and 'along' of div_by are not for a scalar",
    ),
    (
        "%r = assume div_by<4, every 16 along 0>, %n : tile<8xi32>",
        "'cuda_tile.assume': 'every' of div_by must be 0 to 8, but is 16",
    ),
    (
        "%r = assume div_by<4, every 2 along 1>, %n : tile<8xi32>",
        "'cuda_tile.assume': 'along' of div_by must be 0 to 0, but is 1",
    ),
    (
        "%r = assume div_by<4, every 2 along 0>, %tv : tensor_view<?x64xf32, strides=[?,1]>",
        "'cuda_tile.assume': 'every' and 'along' of div_by are not for a tensor_view",
    ),
    (
        "%r = assume div_by<4>, %x : tile<8xf32>",
        (
            "'cuda_tile.assume': div_by is said about a tile of integers or pointers, not about "
            "!cuda_tile.tile<8xf32>"
        ),
    ),
    (
        "%r = assume same_elements<[2, 2]>, %n : tile<8xi32>",
        (
            "'cuda_tile.assume': same_elements must have a number for each dimension of "
            "!cuda_tile.tile<8xi32>, but has 2"
        ),
    ),
    (
        "%r = assume same_elements<[16]>, %n : tile<8xi32>",
        "'cuda_tile.assume': a number in same_elements must be 0 to 8, but is 16",
    ),
    (
        "%r = assume same_elements<[2]>, %x : tile<8xf32>",
        (
            "'cuda_tile.assume': same_elements is said about a tile of integers or pointers, not "
            "about !cuda_tile.tile<8xf32>"
        ),
    ),
    (
        "%r = assume bounded<0, 3000000000>, %i : tile<i32>",
        "'cuda_tile.assume': a bound of i32 must be -2147483648 to 2147483647, but is 3000000000",
    ),
    (
        "%r = assume bounded<3, 2>, %i : tile<i32>",
        "'cuda_tile.assume': the lower bound 3 is greater than the upper bound 2",
    ),
    (
        "%r = assume bounded<?, ?>, %p : tile<8xptr<f32>>",
        (
            "'cuda_tile.assume': bounded is said about a tile of integers, not about "
            "!cuda_tile.tile<8xptr<f32>>"
        ),
    ),
    (
        "%r = assume small<3>, %i : tile<i32>",
        "expected one of div_by, same_elements, bounded",
    ),
    (
        '%t1 = print_tko "%d" -> token',
        (
            "'cuda_tile.print_tko': expected an operand for each conversion in the format, 1 in "
            "all, "
            "but got 0"
        ),
    ),
    (
        '%t1 = print_tko "%d %%", %i, %i : tile<i32>, tile<i32> -> token',
        (
            "'cuda_tile.print_tko': expected an operand for each conversion in the format, 1 in "
            "all, "
            "but got 2"
        ),
    ),
    (
        '%t1 = print_tko "50%" -> token',
        "'cuda_tile.print_tko': '%' in the format has no end such as %d",
    ),
    (
        'assert %n, "x" : tile<8xi32>',
        "expected a tile of i1, but got !cuda_tile.tile<8xi32>",
    ),
    (
        "%r = get_global @nowhere : tile<ptr<f32>>",
        "'cuda_tile.get_global': there is no global '@nowhere'",
    ),
    (
        "%r = constant <f32: [1.0, 2.0]> : tile<4xf32>",
        "these elements have the shape 2, but their type has 4",
    ),
    (
        "%r = constant <f32: 1.0> : tile<f16>",
        "this is a tile of f16, but the elements are f32",
    ),
    (
        "%r = constant <i4: 1> : tile<2xi4>",
        (
            "the elements of a constant are i1, i8, i16, i32, i64, f16, bf16, f32, tf32, f64, "
            "f8E4M3FN, f8E5M2, f8E8M0FNU or f4E2M1FN, not i4"
        ),
    ),
    (
        "%r = constant <i8: 256> : tile<i8>",
        (
            "Integer value 256 is out of range for type i8 which supports values in the range "
            "[-128, "
            "256)"
        ),
    ),
    (
        "%r = constant <f32: 1> : tile<f32>",
        "an integer is no value of f32; add a dot to make it a floating-point number: 1.0",
    ),
    (
        "%r = constant <f32: 1.0> : f32",
        "expected the type of the constant, a tile of f32, but got f32",
    ),
    (
        (
            '%r = "cuda_tile.constant"() <{value = dense<1.0> : !cuda_tile.tile<f32>}> : () -> '
            "!cuda_tile.tile<2xf32>"
        ),
        (
            "'cuda_tile.constant': the value is a !cuda_tile.tile<f32>; it must be the result's "
            "!cuda_tile.tile<2xf32>"
        ),
    ),
    (
        "%r = constant <f16: 0x12345> : tile<f16>",
        "0x12345 has more bits than the 16 of f16",
    ),
    (
        "%r = constant <i8: true> : tile<i8>",
        "'true' is a value of i1, not of i8",
    ),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_what_is_wrong_is_said_where_it_stands(line: str, message: str) -> None:
    assert (message, 1) in errors_in(line)
