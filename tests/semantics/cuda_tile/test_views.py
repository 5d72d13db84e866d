"""Views: which elements make a tile, what lies outside of the tensor, and what is an error."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.semantics.cuda_tile.entries import blank, constants, failure, run

F32 = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>"


def loading(view: str, index: str, tile: str, type: str = "f32", indices: str = "tile<i32>") -> str:
    """Loads a tile from a view of %a, and stores it row by row from %b on."""
    kind, _, rest = view.partition("<")
    tensor = rest[rest.index("tensor_view<") : rest.index("]>") + 2]
    size, last = tile.split("x")
    whole = f"partition_view<tile=({tile}), tensor_view<{tile}x{type}, strides=[{last},1]>>"
    return f"""
    %tensor = make_tensor_view %a, shape = [{tensor_sizes(tensor)}], strides = [{strides(tensor)}]
      : {tensor}
    %view = make_{kind} %tensor : {view}
    %x, %t = load_view_tko weak %view[{index}] : {view}, {indices} -> tile<{tile}x{type}>, token
    %target = make_tensor_view %b, shape = [{size}, {last}], strides = [{last}, 1]
      : tensor_view<{tile}x{type}, strides=[{last},1]>
    %whole = make_partition_view %target : {whole}
    %o = constant <i32: 0> : tile<i32>
    %u = store_view_tko weak %x, %whole[%o, %o]
      : tile<{tile}x{type}>, {whole}, tile<i32> -> token
    """


def tensor_sizes(tensor: str) -> str:
    shape = tensor.removeprefix("tensor_view<").split(",")[0]
    return ", ".join(shape.split("x")[:-1])


def strides(tensor: str) -> str:
    return tensor[tensor.index("[") + 1 : tensor.index("]")].replace(",", ", ")


def numbers(rows: int, columns: int) -> Any:
    """A matrix of different numbers."""
    return np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)


def view(kind: str, tile: str, tensor: str, *, padding: str = "", **more: str) -> str:
    """The type of a view."""
    steps = f" traversal_strides={more['steps']}," if "steps" in more else ""
    value = f" padding_value = {padding}," if padding else ""
    order = f", dim_map={more['order']}" if "order" in more else ""
    sparse = f", sparse_dim={more['sparse']}" if "sparse" in more else ""
    return f"{kind}<tile=({tile}),{steps}{value} {tensor}{order}{sparse}>"


MATRIX = "tensor_view<5x7xf32, strides=[7,1]>"

PADDINGS = {"zero": 0, "neg_zero": -0.0, "nan": np.nan, "pos_inf": np.inf, "neg_inf": -np.inf}


@pytest.mark.parametrize("tensor", [
    "tensor_view<100000x100000xf32, strides=[4,1]>", "tensor_view<?x?xf32, strides=[?,1]>",
])  # fmt: skip
def test_a_tensor_is_larger_than_what_is_computed_with(tensor: str) -> None:
    """A view holds no elements, however many it shows."""
    a, b = numbers(2, 4), blank(2, 4)
    text = loading(view("partition_view", "2x4", tensor), "%z, %z", "2x4")
    if "?" in tensor:
        text = text.replace("[?, ?]", "[%n, %n]").replace("[?, 1]", "[%four, 1]")
        text = text.replace(f"\n      : {tensor}", f"\n      : tile<i32> -> {tensor}")
    values = {"n": 100000, "four": 4, "z": 0}
    lines = [f"%{name} = constant <i32: {value}> : tile<i32>" for name, value in values.items()]
    run(F32, "\n".join([*lines, text]), a, b)
    np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize("padding", PADDINGS)
def test_a_tile_at_the_edge_is_padded(padding: str) -> None:
    a, b = numbers(5, 7), blank(2, 4)
    type = view("partition_view", "2x4", MATRIX, padding=padding)
    run(F32, constants([2, 1]) + loading(type, "%c0, %c1", "2x4"), a, b)
    expected = np.full((2, 4), PADDINGS[padding], np.float32)
    expected[:1, :3] = a[4:, 4:]
    np.testing.assert_array_equal(b, expected)
    assert np.array_equal(np.signbit(b), np.signbit(expected))


def test_without_padding_all_bits_are_set() -> None:
    a, b = numbers(5, 7), np.zeros((2, 4), np.float32)
    type = view("partition_view", "2x4", MATRIX)
    run(F32, constants([2, 1]) + loading(type, "%c0, %c1", "2x4"), a, b)
    expected = blank(2, 4)
    expected[:1, :3] = a[4:, 4:]
    assert b.tobytes() == expected.tobytes()


@pytest.mark.parametrize(("row", "column"), [(0, 0), (1, 0), (1, 1)])
def test_the_order_of_dimensions(row: int, column: int) -> None:
    a, b = numbers(5, 7), blank(4, 2)
    type = view("partition_view", "4x2", MATRIX, order="[1, 0]", padding="zero")
    run(F32, constants([column, row]) + loading(type, "%c0, %c1", "4x2"), a, b)
    padded = np.zeros((6, 8), np.float32)
    padded[:5, :7] = a
    found = padded[2 * row :, 4 * column :][:2, :4]
    np.testing.assert_array_equal(b, found.T)


@pytest.mark.parametrize("steps", ["[1,1]", "[3,5]", "[2,4]"])
def test_tiles_with_gaps_or_overlaps(steps: str) -> None:
    a, b = numbers(5, 7), blank(2, 4)
    type = view("strided_view", "2x4", MATRIX, steps=steps, padding="zero")
    run(F32, constants([1, 1]) + loading(type, "%c0, %c1", "2x4"), a, b)
    first, second = map(int, steps.strip("[]").split(","))
    padded = np.zeros((9, 12), np.float32)
    padded[:5, :7] = a
    np.testing.assert_array_equal(b, padded[first : first + 2, second : second + 4])


def test_tiles_with_gaps_and_another_order() -> None:
    a, b = numbers(5, 7), blank(2, 4)
    type = view("strided_view", "2x4", MATRIX, steps="[3,1]", order="[1, 0]", padding="zero")
    run(F32, constants([1, 1]) + loading(type, "%c0, %c1", "2x4"), a, b)
    np.testing.assert_array_equal(b, a[1:5, 3:5].T)


ROWS = "%r = constant <i32: [3, -1, 5, 0]> : tile<4xi32>\n"


def test_gathered_rows() -> None:
    a, b = numbers(5, 7), blank(4, 4)
    type = view("gather_scatter_view", "4x4", MATRIX, padding="neg_inf", sparse="0")
    body = loading(type, "%r, %c0", "4x4", indices="tile<4xi32>, tile<i32>")
    run(F32, constants([5]) + ROWS + body, a, b)
    expected = np.full((4, 4), -np.inf, np.float32)
    # The index of a dimension that is not gathered counts elements.
    expected[0, :2], expected[3, :2] = a[3, 5:], a[0, 5:]
    np.testing.assert_array_equal(b, expected)


def test_gathered_columns() -> None:
    a, b = numbers(5, 7), blank(2, 4)
    type = view("gather_scatter_view", "2x4", MATRIX, padding="zero", sparse="1")
    body = loading(type, "%c0, %r", "2x4", indices="tile<i32>, tile<4xi32>")
    run(F32, constants([4]) + ROWS + body, a, b)
    np.testing.assert_array_equal(b, [[a[4, 3], 0, a[4, 5], a[4, 0]], [0] * 4])


def test_scattered_rows_outside_go_nowhere() -> None:
    b = np.zeros((5, 7), np.float32)
    type = view("gather_scatter_view", "4x2", MATRIX, sparse="0")
    body = f"""
    {constants([6])}{ROWS}
    %tensor = make_tensor_view %b, shape = [5, 7], strides = [7, 1] : {MATRIX}
    %view = make_gather_scatter_view %tensor : {type}
    %x = constant <f32: [[1.0, 9.0], [2.0, 9.0], [3.0, 9.0], [4.0, 9.0]]> : tile<4x2xf32>
    %t = store_view_tko weak %x, %view[%r, %c0]
      : tile<4x2xf32>, {type}, tile<4xi32>, tile<i32> -> token
    """
    run("%b: tile<ptr<f32>>", body, b)
    expected = np.zeros((5, 7), np.float32)
    expected[3, 6], expected[0, 6] = 1, 4
    np.testing.assert_array_equal(b, expected)


def test_stores_at_the_edge_stay_inside() -> None:
    b = np.zeros(40, np.float32)
    type = view("partition_view", "2x4", MATRIX)
    body = f"""
    {constants([2, 1])}
    %tensor = make_tensor_view %b, shape = [5, 7], strides = [7, 1] : {MATRIX}
    %view = make_partition_view %tensor : {type}
    %x = constant <f32: 1.0> : tile<2x4xf32>
    %t = store_view_tko weak %x, %view[%c0, %c1] : tile<2x4xf32>, {type}, tile<i32> -> token
    """
    run("%b: tile<ptr<f32>>", body, b)
    assert np.flatnonzero(b).tolist() == [32, 33, 34]


def test_sizes_and_strides_known_at_run_time() -> None:
    a, b = numbers(5, 7), blank(2)
    tensor = "tensor_view<?x?xf32, strides=[1,?]>"
    type = view("partition_view", "1x2", tensor)
    body = f"""
    {constants([3, 2])}
    %tensor = make_tensor_view %a, shape = [%m, %n], strides = [1, %s] : tile<i16> -> {tensor}
    %view = make_partition_view %tensor : {type}
    %x, %t = load_view_tko weak %view[%c0, %c1] : {type}, tile<i32> -> tile<1x2xf32>, token
    %two = make_tensor_view %b, shape = [1, 2], strides = [2, 1]
      : tensor_view<1x2xf32, strides=[2,1]>
    %target = make_partition_view %two
      : partition_view<tile=(1x2), tensor_view<1x2xf32, strides=[2,1]>>
    %o = constant <i32: 0> : tile<i32>
    %u = store_view_tko weak %x, %target[%o, %o]
      : tile<1x2xf32>, partition_view<tile=(1x2), tensor_view<1x2xf32, strides=[2,1]>>, tile<i32>
      -> token
    """
    run(f"{F32}, %m: tile<i16>, %n: tile<i16>, %s: tile<i16>", body, a, b, 7, 5, 7)
    # Element (i, j) is element (j, i) of the array.
    # The second one lies outside, and has all bits set.
    np.testing.assert_array_equal(b, [a[4, 3], np.nan])


def test_rows_of_elements_of_four_bits() -> None:
    values = np.array([[0, 0.5, 1, 1.5], [2, 3, 4, 6]], ml_dtypes.float4_e2m1fn)
    bits = values.view(np.uint8)
    a, b = bits[:, ::2] | bits[:, 1::2] << 4, blank(2, 2, dtype=np.uint8)
    type = view("partition_view", "2x2", "tensor_view<2x4xf4E2M1FN, strides=[4,1]>")
    body = loading(type, "%c0, %c1", "2x2", "f4E2M1FN")
    run(F32.replace("f32", "f4E2M1FN"), constants([0, 1]) + body, a, b)
    assert b.ravel()[:2].tolist() == a[:, 1].tolist()
    assert b.ravel()[2:].tolist() == [0xFF, 0xFF]


@pytest.mark.parametrize("type", ["i1", "i8", "i64", "f16", "bf16", "f64", "f8E4M3FN", "f8E5M2"])
def test_types_of_elements(type: str) -> None:
    dtypes = {
        "i1": np.bool_, "bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
        "f8E5M2": ml_dtypes.float8_e5m2, "i8": np.int8, "i64": np.int64, "f16": np.float16,
        "f64": np.float64,
    }  # fmt: skip
    a: Any = (numbers(4, 4) % 5).astype(dtypes[type])
    b = blank(2, 4, dtype=np.uint8 if type == "i1" else a.dtype).view(a.dtype)
    kind = view("partition_view", "2x4", f"tensor_view<3x3x{type}, strides=[4,1]>", padding="zero")
    body = constants([1, 0]) + loading(kind, "%c0, %c1", "2x4", type)
    run(F32.replace("f32", type), body, a, b)
    expected = np.zeros((2, 4), a.dtype)
    expected[0, :3] = a[2, :3]
    np.testing.assert_array_equal(b, expected)


SHAPES = [
    (view("partition_view", "2x4", MATRIX), [3, 2]),
    (view("partition_view", "4x2", MATRIX, order="[1, 0]"), [2, 3]),
    (view("strided_view", "2x4", MATRIX, steps="[1,3]"), [5, 3]),
    (view("gather_scatter_view", "4x4", MATRIX, sparse="0"), [5, 7]),
]


@pytest.mark.parametrize(("type", "expected"), SHAPES)
def test_shapes(type: str, expected: list[int]) -> None:
    b = np.zeros(4, np.int32)
    kind = type.partition("<")[0]
    stores = "".join(
        f"""
        %n{i} = constant <i32: {i}> : tile<i32>
        %p{i} = offset %b, %n{i} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %t{i} = store_ptr_tko weak %p{i}, %s{"ij"[i // 2]}#{i % 2} : tile<ptr<i32>>, tile<i32>
          -> token
        """
        for i in range(4)
    )
    body = f"""
    %tensor = make_tensor_view %a, shape = [5, 7], strides = [7, 1] : {MATRIX}
    %view = make_{kind} %tensor : {type}
    %si:2 = get_tensor_shape %tensor : {MATRIX} -> tile<i32>
    %sj:2 = get_index_space_shape %view : {type} -> tile<i32>
    {stores}
    """
    run("%a: tile<ptr<f32>>, %b: tile<ptr<i32>>", body, None, b)
    assert b.tolist() == [5, 7, *expected]


class TestErrors:
    def test_a_tensor_that_is_larger_than_its_memory(self) -> None:
        type = view("partition_view", "2x4", MATRIX)
        body = constants([2, 1]) + loading(type, "%c0, %c1", "2x4")
        message, _ = failure(F32, body, numbers(5, 6), blank(2, 4))
        assert message == (
            "the access to element 32 lies outside of the memory of %a, which has 30 elements"
        )

    def test_a_tile_that_must_not_leave_the_tensor(self) -> None:
        type = view("partition_view", "2x4", MATRIX, padding="zero")

        def promised(inbounds: str, row: int, column: int) -> str:
            body = constants([row, column]) + loading(type, "%c0, %c1", "2x4")
            return body.replace("[%c0, %c1] :", f"[%c0, %c1] inbounds = {inbounds} :")

        run(F32, promised("[true, true]", 1, 0), numbers(5, 7), blank(2, 4))
        run(F32, promised("[true, false]", 1, 1), numbers(5, 7), blank(2, 4))
        message, _ = failure(F32, promised("[true, false]", 2, 0), numbers(5, 7), blank(2, 4))
        assert message == (
            "the tile leaves the tensor in dimension 0, for which inbounds is promised"
        )

    @pytest.mark.parametrize("kind", ["partition_view", "gather_scatter_view"])
    def test_places_that_do_not_fit_into_64_bits(self, kind: str) -> None:
        tensor = "tensor_view<4x4xf4E2M1FN, strides=[?,1]>"
        type = view(kind, "4x2", tensor, **({"sparse": "0"} if "gather" in kind else {}))
        body = f"""
        %c0 = constant <i32: 1> : tile<i32>
        %r = constant <i32: [0, 3, 1, 2]> : tile<4xi32>
        %s = constant <i64: {2**62}> : tile<i64>
        %tensor = make_tensor_view %a, shape = [4, 4], strides = [%s, 1] : tile<i64> -> {tensor}
        %view = make_{kind} %tensor : {type}
        %x, %t = load_view_tko weak %view[INDEX] -> tile<4x2xf4E2M1FN>, token
        """
        indices = {
            "partition_view": f"%z, %z] : {type}, tile<i32>",
            "gather_scatter_view": f"%r, %z] : {type}, tile<4xi32>, tile<i32>",
        }
        body = "%z = constant <i32: 0> : tile<i32>\n" + body.replace("INDEX]", indices[kind])
        message, _ = failure("%a: tile<ptr<f4E2M1FN>>", body, np.zeros(64, np.uint8))
        assert message == ("a size, an index or a number of iterations does not fit into 64 bits")

    def test_a_negative_size(self) -> None:
        tensor = "tensor_view<?xf32, strides=[1]>"
        body = f"%tensor = make_tensor_view %a, shape = [%n], strides = [1] : tile<i32> -> {tensor}"
        message, text = failure("%a: tile<ptr<f32>>, %n: tile<i32>", body, None, -3)
        assert message == "a size of a tensor_view cannot be negative, but [-3] are given"
        assert text == body

    def test_a_size_that_does_not_fit(self) -> None:
        tensor = "tensor_view<300xf32, strides=[1]>"
        body = f"""
        %tensor = make_tensor_view %a, shape = [300], strides = [1] : {tensor}
        %s = get_tensor_shape %tensor : {tensor} -> tile<i8>
        """
        message, _ = failure("%a: tile<ptr<f32>>", body, None)
        assert message == "the size 300 does not fit into i8"
