"""Views: text that is right, and what is refused."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.kernel_text import errors_in, printed_lines, round_trip

RIGHT = [
    (
        "%r = make_tensor_view %q, shape = [%l, 64], strides = [%l, 1] : tile<i64> -> "
        "tensor_view<?x64xf32, strides=[?,1]>"
    ),
    (
        "%r = make_tensor_view %q, shape = [4, 64], strides = [64, 1] : "
        "tensor_view<4x64xf32, strides=[64,1]>"
    ),
    "%r = make_tensor_view %q, shape = [], strides = [] : tensor_view<f32>",
    (
        "%r = make_partition_view %tv : partition_view<tile=(8x8), tensor_view<?x64xf32, "
        "strides=[?,1]>>"
    ),
    (
        "%r = make_partition_view %tv : partition_view<tile=(4x2), padding_value = neg_inf, "
        "tensor_view<?x64xf32, strides=[?,1]>, dim_map=[1, 0]>"
    ),
    (
        "%r = make_strided_view %tv : strided_view<tile=(8x8), traversal_strides=[4,8], "
        "tensor_view<?x64xf32, strides=[?,1]>>"
    ),
    (
        "%r = make_gather_scatter_view %tv : gather_scatter_view<tile=(8x8), padding_value = "
        "nan, tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=1>"
    ),
    (
        "%r, %s = get_index_space_shape %pv : partition_view<tile=(8x8), "
        "tensor_view<?x64xf32, strides=[?,1]>> -> tile<i64>"
    ),
    "%r, %s = get_tensor_shape %tv : tensor_view<?x64xf32, strides=[?,1]> -> tile<i32>",
    (
        "%r, %s = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x8), "
        "tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x8xf32>, token"
    ),
    (
        "%r, %s = load_view_tko acquire device %sv[%l, %l] token = %t optimization_hints = "
        "<sm_90 = {allow_tma = true, latency = 4}> : strided_view<tile=(8x8), "
        "traversal_strides=[4,8], tensor_view<?x64xf32, strides=[?,1]>>, tile<i64> -> "
        "tile<8x8xf32>, token"
    ),
    (
        "%r, %s = load_view_tko weak %gv[%n, %i] : gather_scatter_view<tile=(8x8), "
        "tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, tile<8xi32>, tile<i32> -> "
        "tile<8x8xf32>, token"
    ),
    (
        "%r = store_view_tko weak %v, %pv[%i, %i] : tile<8x8xf32>, "
        "partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token"
    ),
    (
        "%r = store_view_tko release sys %v, %gv[%n, %l] token = %t : tile<8x8xf32>, "
        "gather_scatter_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>, "
        "sparse_dim=0>, tile<8xi32>, tile<i64> -> token"
    ),
    (
        "%r = atomic_red_view_tko relaxed tl_blk %pv[%i, %l], addf, %v token = %t : "
        "tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>>, "
        "tile<i32>, tile<i64> -> token"
    ),
]


@pytest.mark.parametrize("lines", RIGHT)
def test_text_is_printed_as_it_was_read(lines: str) -> None:
    assert printed_lines(lines) == lines
    assert round_trip(lines).count("\n") == lines.count("\n")


WRONG = [
    (
        (
            "%t1 = atomic_red_view_tko relaxed device %gv[%n, %i], addf, %v : tile<8x8xf32>, "
            "gather_scatter_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, "
            "tile<8xi32>, tile<i32> -> token"
        ),
        (
            "'cuda_tile.atomic_red_view_tko': a gather_scatter_view cannot be updated; use a "
            "partition_view"
        ),
    ),
    (
        (
            "%t1 = atomic_red_view_tko relaxed device %pz[%i, %i], addf, %v : tile<8x8xf32>, "
            "partition_view<tile=(8x8), padding_value = zero, tensor_view<?x64xf32, "
            "strides=[?,1]>>, "
            "tile<i32> -> token"
        ),
        (
            "'cuda_tile.atomic_red_view_tko': a view with a padding_value cannot be updated; leave "
            "it out"
        ),
    ),
    (
        (
            "%t1 = atomic_red_view_tko relaxed sys %pv[%i, %i], addf, %v : tile<8x8xf32>, "
            "partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token"
        ),
        (
            "'cuda_tile.atomic_red_view_tko': the scope of an update of a view must be tl_blk or "
            "device, not sys"
        ),
    ),
    (
        (
            "%t1 = atomic_red_view_tko acq_rel device %pv[%i, %i], addf, %v : tile<8x8xf32>, "
            "partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token"
        ),
        (
            "'cuda_tile.atomic_red_view_tko': memory_ordering_semantics must be one of relaxed, "
            "but "
            "is acq_rel"
        ),
    ),
    (
        (
            "%t1 = atomic_red_view_tko relaxed device %pv[%i, %i], xchg, %v : tile<8x8xf32>, "
            "partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token"
        ),
        "'cuda_tile.atomic_red_view_tko': xchg is no update of a view; use atomic_rmw_tko",
    ),
    (
        (
            "%t1 = atomic_red_view_tko relaxed %pv[%i, %i], addf, %v : tile<8x8xf32>, "
            "partition_view<tile=(8x8), tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token"
        ),
        "expected a memory_scope: tl_blk or device",
    ),
    (
        (
            "%r, %t1 = load_view_tko weak %pv[%i] : partition_view<tile=(8x8), "
            "tensor_view<?x64xf32, "
            "strides=[?,1]>>, tile<i32> -> tile<8x8xf32>, token"
        ),
        "'cuda_tile.load_view_tko': expected 2 indices, one for each dimension of the view, got 1",
    ),
    (
        (
            "%r, %t1 = load_view_tko weak %pv[%i, %l] : partition_view<tile=(8x8), "
            "tensor_view<?x64xf32, strides=[?,1]>>, tile<i32>, tile<i64> -> tile<8x8xf32>, token"
        ),
        (
            "'cuda_tile.load_view_tko': scalar indices must be of one type, but are "
            "!cuda_tile.tile<i32>, !cuda_tile.tile<i64>"
        ),
    ),
    (
        (
            "%r, %t1 = load_view_tko weak %pv[%i, %n] : partition_view<tile=(8x8), "
            "tensor_view<?x64xf32, strides=[?,1]>>, tile<i32>, tile<8xi32> -> tile<8x8xf32>, token"
        ),
        (
            "'cuda_tile.load_view_tko': index 1 must be a !cuda_tile.tile<i32>, but is a "
            "!cuda_tile.tile<8xi32>"
        ),
    ),
    (
        (
            "%r, %t1 = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x8), "
            "tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x8xf16>, token"
        ),
        (
            "'cuda_tile.load_view_tko': the tiles of the view are !cuda_tile.tile<8x8xf32>, not "
            "!cuda_tile.tile<8x8xf16>"
        ),
    ),
    (
        (
            "%r, %t1 = load_view_tko weak %pv[%i, %i] : partition_view<tile=(8x8), "
            "tensor_view<?x64xf32, strides=[?,1]>> -> tile<8x8xf32>, token"
        ),
        "expected the types of the 2 indices, or one for all, got 0",
    ),
    (
        (
            "%r, %t1 = load_view_tko weak %gv[%i, %i] : gather_scatter_view<tile=(8x8), "
            "tensor_view<?x64xf32, strides=[?,1]>, sparse_dim=0>, tile<i32> -> tile<8x8xf32>, token"
        ),
        (
            "'cuda_tile.load_view_tko': index 0 must be a !cuda_tile.tile<8xi32>, but is a "
            "!cuda_tile.tile<i32>"
        ),
    ),
    (
        (
            "%t1 = store_view_tko weak %x, %pv[%i, %i] : tile<8xf32>, partition_view<tile=(8x8), "
            "tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token"
        ),
        (
            "'cuda_tile.store_view_tko': the tiles of the view are !cuda_tile.tile<8x8xf32>, not "
            "!cuda_tile.tile<8xf32>"
        ),
    ),
    (
        (
            "%r = make_tensor_view %q, shape = [%l], strides = [1] : tile<i64> -> "
            "tensor_view<?x64xf32, strides=[?,1]>"
        ),
        "the tensor_view has 2 dimensions, but here are 1; expected a size for each",
    ),
    (
        (
            "%r = make_tensor_view %q, shape = [%l, 32], strides = [%l, 1] : tile<i64> -> "
            "tensor_view<?x64xf32, strides=[?,1]>"
        ),
        "the tensor_view has the size 64 here; expected 64, but got 32",
    ),
    (
        (
            "%r = make_tensor_view %q, shape = [4, 64], strides = [%l, 1] : tile<i64> -> "
            "tensor_view<?x64xf32, strides=[?,1]>"
        ),
        "the tensor_view has the size ? here; expected a value, but got 4",
    ),
    (
        "%r = make_tensor_view %q, shape = [%l, 64], strides = [%l, 1] : tile<i64> -> tile<i32>",
        "expected a tensor_view, but got !cuda_tile.tile<i32>",
    ),
    (
        "%r = make_tensor_view %q, shape = [x], strides = [1] : tensor_view<4xf32, strides=[1]>",
        "expected a size, a number or a value",
    ),
    (
        (
            "%r = make_partition_view %tv : strided_view<tile=(8x8), traversal_strides=[4,8], "
            "tensor_view<?x64xf32, strides=[?,1]>>"
        ),
        (
            "expected a partition_view, but got !cuda_tile.strided_view<tile=(8x8), "
            "traversal_strides=[4,8], tensor_view<?x64xf32, strides=[?,1]>>"
        ),
    ),
    (
        (
            '%r = "cuda_tile.make_partition_view"(%tv) : (!cuda_tile.tensor_view<?x64xf32, '
            "strides=[?,1]>) -> !cuda_tile.partition_view<tile=(8), tensor_view<4xf32, "
            "strides=[1]>>"
        ),
        (
            "'cuda_tile.make_partition_view': the view must be of the operand's type "
            "!cuda_tile.tensor_view<?x64xf32, strides=[?,1]>, but is of "
            "!cuda_tile.tensor_view<4xf32, strides=[1]>"
        ),
    ),
    (
        (
            '%r = "cuda_tile.get_tensor_shape"(%tv) : (!cuda_tile.tensor_view<?x64xf32, '
            "strides=[?,1]>) -> !cuda_tile.tile<i64>"
        ),
        "'cuda_tile.get_tensor_shape': expected 2 results, one for each dimension, got 1",
    ),
    (
        "%r = get_index_space_shape %tv : tensor_view<?x64xf32, strides=[?,1]> -> tile<i64>",
        (
            "cuda_tile.get_index_space_shape has no operand of type "
            "!cuda_tile.tensor_view<?x64xf32, "
            "strides=[?,1]>"
        ),
    ),
    (
        (
            "%r = get_tensor_shape %pv : partition_view<tile=(8x8), tensor_view<?x64xf32, "
            "strides=[?,1]>> -> tile<i64>"
        ),
        (
            "cuda_tile.get_tensor_shape has no operand of type "
            "!cuda_tile.partition_view<tile=(8x8), "
            "tensor_view<?x64xf32, strides=[?,1]>>"
        ),
    ),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_what_is_wrong_is_said_where_it_stands(line: str, message: str) -> None:
    assert (message, 1) in errors_in(line)
