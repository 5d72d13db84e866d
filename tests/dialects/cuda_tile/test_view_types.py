"""Types of views are equal only where all of their parameters are."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute

from xtile.dialects.cuda_tile.enumerations import PaddingValue
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
)

TENSOR = TensorViewType(f32, [8, 8], [8, 1])
OTHER = TensorViewType(f32, [16, 8], [8, 1])
PADDED = PaddingValue.NAN


@pytest.mark.parametrize(
    "types",
    [
        [
            PartitionViewType([2, 4], TENSOR),
            PartitionViewType([4, 4], TENSOR),
            PartitionViewType([2, 4], OTHER),
            PartitionViewType([2, 4], TENSOR, [1, 0]),
            PartitionViewType([2, 4], TENSOR, None, PADDED),
        ],
        [
            StridedViewType([2, 4], [2, 2], TENSOR),
            StridedViewType([4, 4], [2, 2], TENSOR),
            StridedViewType([2, 4], [2, 3], TENSOR),
            StridedViewType([2, 4], [2, 2], OTHER),
            StridedViewType([2, 4], [2, 2], TENSOR, [1, 0]),
            StridedViewType([2, 4], [2, 2], TENSOR, None, PADDED),
        ],
        [
            GatherScatterViewType([2, 4], TENSOR, 0),
            GatherScatterViewType([4, 4], TENSOR, 0),
            GatherScatterViewType([2, 4], OTHER, 0),
            GatherScatterViewType([2, 4], TENSOR, 1),
            GatherScatterViewType([2, 4], TENSOR, 0, PADDED),
        ],
    ],
    ids=["partition", "strided", "gather_scatter"],
)
def test_equality(types: list[Attribute]) -> None:
    """Each differs from each other one, and equals one that is made anew."""
    assert len(set(types)) == len(types)
    for type in types:
        assert [type == other for other in types].count(True) == 1
