"""How views are made.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.types import PointerType, TensorViewType, TileView, tile_type


def verify_tensor_view(
    base: SSAValue,
    dynamic_shape: Sequence[SSAValue],
    dynamic_strides: Sequence[SSAValue],
    type: Attribute,
) -> None:
    """Checks the operands of `make_tensor_view`.

    Raises:
        VerifyException: They do not fit to the type.
    """
    assert isinstance(type, TensorViewType)
    pointer = tile_type(base).element_type
    assert isinstance(pointer, PointerType)
    if pointer.pointee_type != type.element_type:
        raise VerifyException(
            f"the pointer must point to {type.element_type} as the tensor_view holds, but is "
            f"{base.type}"
        )
    counts = {
        "sizes": (type.get_shape().count(DYNAMIC_INDEX), len(dynamic_shape)),
        "strides": (type.get_strides().count(DYNAMIC_INDEX), len(dynamic_strides)),
    }
    for name, (expected, found) in counts.items():
        if expected != found:
            raise VerifyException(
                f"expected {expected} {name}, one for each ? in the tensor_view, got {found}"
            )
    values = (*dynamic_shape, *dynamic_strides)
    for value in values:
        if value.type != values[0].type:
            raise VerifyException(
                f"sizes and strides must be of one type, but are {values[0].type} and {value.type}"
            )


def verify_view_of(tensor: SSAValue, view: Attribute) -> None:
    """Checks that a view is of a tensor view.

    Raises:
        VerifyException: It is of another.
    """
    assert isinstance(view, TileView)
    if view.tensor_view != tensor.type:
        raise VerifyException(
            f"the view must be of the operand's type {tensor.type}, but is of {view.tensor_view}"
        )


def verify_sizes(count: int, view: Attribute) -> None:
    """Checks that there is a result for each dimension.

    Raises:
        VerifyException: There is not.
    """
    if isinstance(view, TileView):
        rank = view.index_rank
    else:
        assert isinstance(view, TensorViewType)
        rank = view.rank
    if count != rank:
        raise VerifyException(f"expected {rank} results, one for each dimension, got {count}")
