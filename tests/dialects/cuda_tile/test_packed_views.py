"""Views of f4E2M1FN, of which two elements share a byte."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.numbers_text import errors, program, read

SHARE = "two elements of f4E2M1FN share a byte"


def load(strides: str, sparse: int | None = None) -> tuple[str, dict[str, str]]:
    """A load from a view with strides, and what it names."""
    tensor = f"tensor_view<64x64xf4E2M1FN, strides=[{strides}]>"
    view = f"partition_view<tile=(8x8), {tensor}>"
    indices = ["tile<i32>", "tile<i32>"]
    if sparse is not None:
        view = f"gather_scatter_view<tile=(8x8), {tensor}, sparse_dim={sparse}>"
        indices[sparse] = "tile<8xi32>"
    types = f"{view}, {', '.join(indices if sparse is not None else indices[:1])}"
    line = (
        f"%r, %t = cuda_tile.load_view_tko weak %v[%i, %j] : {types} -> tile<8x8xf4E2M1FN>, token"
    )
    return line, {"v": view, "i": indices[0], "j": indices[1]}


@pytest.mark.parametrize(("strides", "sparse"), [("64,1", None), ("?,1", None), ("1,64", 1)])
def test_one_dimension_is_packed(strides: str, sparse: int | None) -> None:
    line, operands = load(strides, sparse)
    read(program(line, operands))


@pytest.mark.parametrize("strides", ["1,1", "64,2", "?,?"])
def test_which_dimension_is_packed_must_be_known(strides: str) -> None:
    line, operands = load(strides)
    assert errors(program(line, operands)) == [
        (
            f"'cuda_tile.load_view_tko': {SHARE}, so exactly one stride must be 1, but the view "
            f"is of !cuda_tile.tensor_view<64x64xf4E2M1FN, strides=[{strides}]>"
        )
    ]


def test_the_packed_dimension_cannot_be_sparse() -> None:
    line, operands = load("64,1", 1)
    assert errors(program(line, operands)) == [
        f"'cuda_tile.load_view_tko': {SHARE} along dimension 1, so this cannot be the sparse one"
    ]
