"""Operations that make and rearrange tiles: what their shapes must be."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.numbers_text import errors, line_of, printed, program, read

TILES = {
    "a": "tile<1x8xf32>",
    "b": "tile<4x8xf32>",
    "c": "tile<4x8xf16>",
    "d": "tile<2x8xf32>",
    "e": "tile<8x16xf32>",
    "x": "tile<8xf32>",
    "s": "tile<f32>",
    "i": "tile<i32>",
    "j": "tile<1xi32>",
    "t": "tile<2x4x8xf32>",
    "p": "tile<8xptr<f32>>",
    "k": "tile<8xi16>",
    "m": "tile<4x8xi1>",
    "n": "tile<8x4xi1>",
    "f": "tile<4x8xf4E2M1FN>",
}

RIGHT = [
    "%r = broadcast %a : tile<1x8xf32> -> tile<4x8xf32>",
    "%r = broadcast %s : tile<f32> -> tile<f32>",
    "%r = cat %b, %b dim = 0 : tile<4x8xf32>, tile<4x8xf32> -> tile<8x8xf32>",
    "%r = cat %x, %x dim = 0 : tile<8xf32>, tile<8xf32> -> tile<16xf32>",
    "%r = extract %e[%i, %i] : tile<8x16xf32> -> tile<8x4xf32>",
    "%r = extract %s[] : tile<f32> -> tile<f32>",
    "%r = iota : tile<256xi8>",
    "%r = iota : tile<2xi1>",
    "%r = offset %p, %k : tile<8xptr<f32>>, tile<8xi16> -> tile<8xptr<f32>>",
    "%r = permute %b [1, 0] : tile<4x8xf32> -> tile<8x4xf32>",
    "%r = permute %t [2, 0, 1] : tile<2x4x8xf32> -> tile<8x2x4xf32>",
    "%r = reshape %b : tile<4x8xf32> -> tile<2x2x8xf32>",
    "%r = select %m, %b, %b : tile<4x8xi1>, tile<4x8xf32>",
]

WRONG = {
    "%r = broadcast %b : tile<4x8xf32> -> tile<8x8xf32>": "'cuda_tile.broadcast': expected "
    "dimension 0 of the operand to be 1 or 8, as that of the result is, but it is 4",
    "%r = broadcast %x : tile<8xf32> -> tile<4x8xf32>": "'cuda_tile.broadcast': expected a result "
    "of 1 dimensions, as !cuda_tile.tile<8xf32> has, but got !cuda_tile.tile<4x8xf32>",
    "%r = broadcast %a : tile<1x8xf32> -> tile<4x8xf16>": "'cuda_tile.broadcast': expected a "
    "result of f32, as the operand is, but got !cuda_tile.tile<4x8xf16>",
    "%r = cat %b, %b dim = 2 : tile<4x8xf32>, tile<4x8xf32> -> tile<8x8xf32>": "'cuda_tile.cat': "
    "expected dim to be from 0 to 1, but got 2",
    "%r = cat %b, %b dim = -1 : tile<4x8xf32>, tile<4x8xf32> -> tile<8x8xf32>": "'cuda_tile.cat': "
    "expected dim to be from 0 to 1, but got -1",
    "%r = cat %b, %d dim = 1 : tile<4x8xf32>, tile<2x8xf32> -> tile<4x16xf32>": "'cuda_tile.cat': "
    "expected dimension 0 of rhs to be 4, as that of lhs is, but it is 2",
    "%r = cat %b, %b dim = 0 : tile<4x8xf32>, tile<4x8xf32> -> tile<4x16xf32>": "'cuda_tile.cat': "
    "expected the result to have the shape [8, 8], but got !cuda_tile.tile<4x16xf32>",
    "%r = cat %b, %c dim = 0 : tile<4x8xf32>, tile<4x8xf16> -> tile<8x8xf32>": "'cuda_tile.cat': "
    "expected a result of f32, as the operand is, but got !cuda_tile.tile<4x8xf16>",
    "%r = extract %e[%i] : tile<8x16xf32> -> tile<8x4xf32>": "'cuda_tile.extract': expected 2 "
    "indices, one for each dimension, but got 1",
    "%r = extract %e[%i, %i] : tile<8x16xf32> -> tile<16x4xf32>": "'cuda_tile.extract': expected "
    "dimension 0 of the result to divide 8, the size of the operand's, but it is 16",
    "%r = iota : tile<512xi8>": "'cuda_tile.iota': expected at most 256 elements, as many as i8 "
    "has values, but got !cuda_tile.tile<512xi8>",
    "%r = iota : tile<2x2xi32>": "'cuda_tile.iota': expected a result of one dimension, but got "
    "!cuda_tile.tile<2x2xi32>",
    "%r = offset %p, %i : tile<8xptr<f32>>, tile<i32> -> tile<8xptr<f32>>": "'cuda_tile.offset': "
    "expected the offsets to have the shape of !cuda_tile.tile<8xptr<f32>>, as "
    "!cuda_tile.tile<8xi32> has, but got !cuda_tile.tile<i32>",
    "%r = permute %x [0] : tile<8xf32> -> tile<8xf32>": "'cuda_tile.permute': expected an operand "
    "of 2 or more dimensions, but got !cuda_tile.tile<8xf32>",
    "%r = permute %b [0, 0] : tile<4x8xf32> -> tile<4x4xf32>": "'cuda_tile.permute': expected the "
    "numbers from 0 to 1 in any order, but got [0, 0]",
    "%r = permute %b [0, 2] : tile<4x8xf32> -> tile<4x4xf32>": "'cuda_tile.permute': expected the "
    "numbers from 0 to 1 in any order, but got [0, 2]",
    "%r = permute %b [0] : tile<4x8xf32> -> tile<4x8xf32>": "'cuda_tile.permute': expected the "
    "numbers from 0 to 1 in any order, but got [0]",
    "%r = permute %b [1, 0] : tile<4x8xf32> -> tile<4x8xf32>": "'cuda_tile.permute': expected the "
    "result to have the shape [8, 4], but got !cuda_tile.tile<4x8xf32>",
    "%r = reshape %b : tile<4x8xf32> -> tile<64xf32>": "'cuda_tile.reshape': expected a result of "
    "32 elements, as many as !cuda_tile.tile<4x8xf32> has, but !cuda_tile.tile<64xf32> has 64",
    "%r = reshape %b : tile<4x8xf32> -> tile<32xi32>": "'cuda_tile.reshape': expected a result of "
    "f32, as the operand is, but got !cuda_tile.tile<32xi32>",
    "%r = select %n, %b, %b : tile<8x4xi1>, tile<4x8xf32>": "'cuda_tile.select': expected the "
    "condition to have the shape of !cuda_tile.tile<4x8xf32>, as !cuda_tile.tile<4x8xi1> has, but "
    "got !cuda_tile.tile<8x4xi1>",
    "%r = select %m, %f, %f : tile<4x8xi1>, tile<4x8xf4E2M1FN>": "'cuda_tile.select': elements of "
    "f4E2M1FN cannot be selected, as two share a byte",
}


@pytest.mark.parametrize("line", RIGHT)
def test_what_is_right(line: str) -> None:
    module = read(program(line, TILES))
    assert line_of(module) == line
    assert line_of(read(printed(module, generic=True))) == line


@pytest.mark.parametrize(("line", "message"), WRONG.items())
def test_what_is_wrong(line: str, message: str) -> None:
    assert errors(program(line, TILES)) == [message]
