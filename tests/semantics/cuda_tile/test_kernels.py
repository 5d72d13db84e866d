"""Whole kernels of CUDA Tile IR on the reference device, against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.cuda_tile.entries import blank, constants, failure, pointers, reports, run

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def matrix(name: str, base: str, rows: int, columns: int, type: str, tile: str) -> str:
    """Operations that make `%name`, tiles of a matrix whose rows follow each other."""
    view = f"tensor_view<{rows}x{columns}x{type}, strides=[{columns},1]>"
    return f"""
    %{name}_t = make_tensor_view %{base}, shape = [{rows}, {columns}], strides = [{columns}, 1]
      : {view}
    %{name} = make_partition_view %{name}_t : partition_view<tile=({tile}), {view}>
    """


def partition(rows: int, columns: int, type: str, tile: str) -> str:
    """The type of the tiles of a matrix."""
    view = f"tensor_view<{rows}x{columns}x{type}, strides=[{columns},1]>"
    return f"partition_view<tile=({tile}), {view}>"


SOFTMAX = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    {constants([0])}
    {matrix("a", "in", 4, 64, "f32", "1x64")}
    {matrix("b", "out", 4, 64, "f32", "1x64")}
    %v, %t = load_view_tko weak %a[%x, %c0]
      : {partition(4, 64, "f32", "1x64")}, tile<i32> -> tile<1x64xf32>, token
    %m = reduce %v dim=1 identities=[0xFF800000 : f32] : tile<1x64xf32> -> tile<1xf32>
    (%e: tile<f32>, %p: tile<f32>) {{
      %r = maxf %e, %p : tile<f32>
      yield %r : tile<f32>
    }}
    %m1 = reshape %m : tile<1xf32> -> tile<1x1xf32>
    %mb = broadcast %m1 : tile<1x1xf32> -> tile<1x64xf32>
    %d = subf %v, %mb : tile<1x64xf32>
    %w = exp %d : tile<1x64xf32>
    %s = reduce %w dim=1 identities=[0.0 : f32] : tile<1x64xf32> -> tile<1xf32>
    (%e: tile<f32>, %p: tile<f32>) {{
      %r = addf %e, %p : tile<f32>
      yield %r : tile<f32>
    }}
    %s1 = reshape %s : tile<1xf32> -> tile<1x1xf32>
    %sb = broadcast %s1 : tile<1x1xf32> -> tile<1x64xf32>
    %q = divf %w, %sb : tile<1x64xf32>
    %u = store_view_tko weak %q, %b[%x, %c0]
      : tile<1x64xf32>, {partition(4, 64, "f32", "1x64")}, tile<i32> -> token
"""


def test_softmax() -> None:
    values = (10 * fresh_generator().standard_normal((4, 64))).astype(np.float32)
    values[0, 0] = -np.inf
    result = blank(4, 64)
    run("%in: tile<ptr<f32>>, %out: tile<ptr<f32>>", SOFTMAX, values, result, grid=4)
    wide = np.exp(values.astype(np.float64) - values.max(1, keepdims=True))
    # The sum of 64 numbers, a quotient and an exponential: each is off by half a unit.
    np.testing.assert_allclose(result, wide / wide.sum(1, keepdims=True), rtol=2.0**-17)


def product(type: str, accumulator: str) -> str:
    """A matrix product of 32x64 and 64x16 in tiles of 16x16."""
    tile = "tile<16x16x"
    return f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    {constants([0, 1, 4])}
    {matrix("a", "A", 32, 64, type, "16x16")}
    {matrix("b", "B", 64, 16, type, "16x16")}
    {matrix("c", "C", 32, 16, accumulator, "16x16")}
    %zero = constant <{accumulator}: 0.0> : {tile}{accumulator}>
    %sum = for %k in (%c0 to %c2, step %c1) : tile<i32>
           iter_values(%acc = %zero) -> ({tile}{accumulator}>) {{
      %l, %t = load_view_tko weak %a[%x, %k]
        : {partition(32, 64, type, "16x16")}, tile<i32> -> {tile}{type}>, token
      %r, %u = load_view_tko weak %b[%k, %c0]
        : {partition(64, 16, type, "16x16")}, tile<i32> -> {tile}{type}>, token
      %n = mmaf %l, %r, %acc : {tile}{type}>, {tile}{type}>, {tile}{accumulator}>
      continue %n : {tile}{accumulator}>
    }}
    %v = store_view_tko weak %sum, %c[%x, %c0]
      : {tile}{accumulator}>, {partition(32, 16, accumulator, "16x16")}, tile<i32> -> token
    """


@pytest.mark.parametrize(
    ("type", "accumulator"), [("f16", "f32"), ("bf16", "f32"), ("f8E4M3FN", "f32"), ("f64", "f64")]
)
def test_a_matrix_product(type: str, accumulator: str) -> None:
    dtype = {"bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn}.get(type, type)
    dtypes = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
    a, b = (
        fresh_generator().standard_normal(shape).astype(dtypes.get(type, dtype))
        for shape in ((32, 64), (64, 16))
    )
    c = blank(32, 16, dtype=dtypes[accumulator])
    parameters = f"%A: tile<ptr<{type}>>, %B: tile<ptr<{type}>>, %C: tile<ptr<{accumulator}>>"
    run(parameters, product(type, accumulator), a, b, c, grid=2)
    wide = a.astype(np.float64), b.astype(np.float64)
    bound = 8 * np.finfo(c.dtype).eps * (np.abs(wide[0]) @ np.abs(wide[1])).max()
    np.testing.assert_allclose(c, wide[0] @ wide[1], rtol=0, atol=bound)


def philox_round(count: int) -> str:
    """Two rounds of Philox2x32, a counter-based random number generator."""
    tile = f"tile<{count}xi32>"
    rounds = ""
    left, right, key = "%left", "%right", "%key"
    for i in range(2):
        rounds += f"""
        %h{i} = mulhii {left}, %multiplier : {tile}
        %l{i} = muli {left}, %multiplier : {tile}
        %k{i} = xori %h{i}, {key} : {tile}
        %n{i} = xori %k{i}, {right} : {tile}
        %w{i} = addi {key}, %weyl : {tile}
        """
        left, right, key = f"%n{i}", f"%l{i}", f"%w{i}"
    return f"""
    {pointers("p", "out", count, "i32")}
    %left = iota : {tile}
    %right = constant <i32: 0> : {tile}
    %key = constant <i32: 12345> : {tile}
    %multiplier = constant <i32: 0xD256D193> : {tile}
    %weyl = constant <i32: 0x9E3779B9> : {tile}
    {rounds}
    %t = store_ptr_tko weak %p, {left} : tile<{count}xptr<i32>>, {tile} -> token
    """


def test_random_numbers_from_high_products() -> None:
    result = blank(64, dtype=np.int32)
    run("%out: tile<ptr<i32>>", philox_round(64), result)
    for i in range(64):
        left, right, key = i, 0, 12345
        for _ in range(2):
            full = left * 0xD256D193
            left, right = (full >> 32) ^ key ^ right, full % 2**32
            key = (key + 0x9E3779B9) % 2**32
        assert int(result[i]) % 2**32 == left


QUANTIZED = f"""
    {pointers("p", "in", 32, "f32")}
    {pointers("q", "out", 32, "f8E4M3FN")}
    %x, %t = load_ptr_tko weak %p : tile<32xptr<f32>> -> tile<32xf32>, token
    %a = absf %x : tile<32xf32>
    %m = reduce %a dim=0 identities=[0.0 : f32] : tile<32xf32> -> tile<f32>
    (%e: tile<f32>, %r: tile<f32>) {{
      %n = maxf %e, %r propagate_nan : tile<f32>
      yield %n : tile<f32>
    }}
    %largest = constant <f32: 448.0> : tile<f32>
    %f = divf %largest, %m : tile<f32>
    %f1 = reshape %f : tile<f32> -> tile<1xf32>
    %fb = broadcast %f1 : tile<1xf32> -> tile<32xf32>
    %y = mulf %x, %fb : tile<32xf32>
    %z = ftof %y : tile<32xf32> -> tile<32xf8E4M3FN>
    %u = store_ptr_tko weak %q, %z : tile<32xptr<f8E4M3FN>>, tile<32xf8E4M3FN> -> token
"""


def test_quantization_to_eight_bits() -> None:
    values = fresh_generator().standard_normal(32).astype(np.float32)
    result = blank(32, dtype=ml_dtypes.float8_e4m3fn)
    run("%in: tile<ptr<f32>>, %out: tile<ptr<f8E4M3FN>>", QUANTIZED, values, result)
    scaled = values.astype(np.float64) * (448 / np.abs(values).max())
    # Half a unit of three bits of fraction; below 2^-6 numbers are subnormal.
    np.testing.assert_allclose(result.astype(np.float64), scaled, rtol=2.0**-4, atol=2.0**-10)
    assert np.abs(result.astype(np.float64)).max() == 448


DIVIDED = f"""
    {pointers("p", "in", 8, "i32")}
    %x, %t = load_ptr_tko weak %p : tile<8xptr<i32>> -> tile<8xi32>, token
    %hundred = constant <i32: 100> : tile<8xi32>
    %y = divi %hundred, %x signed : tile<8xi32>
    %u = store_ptr_tko weak %p, %y token = %t : tile<8xptr<i32>>, tile<8xi32> -> token
"""


def test_errors_are_shown_at_the_operation() -> None:
    values = np.array([1, 2, 3, 4, 5, 0, 7, 8], np.int32)
    message, where = failure("%in: tile<ptr<i32>>", DIVIDED, values)
    assert "division by zero in element [5]" in message
    assert "divi" in where
    values[5] = 6
    run("%in: tile<ptr<i32>>", DIVIDED, values)
    assert values.tolist() == [100, 50, 33, 25, 20, 16, 14, 12]


SUMMED = f"""
    {pointers("p", "in", 8, "i32")}
    %x, %t = load_ptr_tko weak %p : tile<8xptr<i32>> -> tile<8xi32>, token
    %y = addi %x, %x overflow<no_signed_wrap> : tile<8xi32>
    %u = store_ptr_tko weak %p, %y token = %t : tile<8xptr<i32>>, tile<8xi32> -> token
"""


def test_broken_promises_are_shown_at_the_operation() -> None:
    small = np.arange(8, dtype=np.int32)
    assert reports("%in: tile<ptr<i32>>", SUMMED, small) == []
    large = np.array([1, 2**30, 3, 4, 5, 6, 7, 8], np.int32)
    ((message, where),) = reports("%in: tile<ptr<i32>>", SUMMED, large)
    assert "no_signed_wrap is promised, but 2147483648 does not fit into i32" in message
    assert "in element [1]" in message
    assert "addi" in where
