"""Elements of tiles chosen or counted by integers.

Source: triton-lang/triton, `TritonOps.td` (`tt.gather`, `tt.histogram`). CUDA Tile IR has neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import I64, IndexType, IntegerAttr, IntegerType, VectorType, i1
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import shape_of, vector_type, verify_type
from xtile.dialects.upstream import TypeWhere

INTEGERS = TypeWhere(
    "a vector of integers or indices",
    lambda type: (
        isinstance(type, VectorType)
        and isinstance(cast("VectorType", type).element_type, IntegerType | IndexType)
    ),
)


@op_definition
class GatherOp(IRDLOperation):
    """Elements of a tile, each from the position along a dimension that another tile says.

    ```
    %r = core.gather %v[%p] axis 1 : vector<4x8xf32>, vector<2x16xi32> -> vector<2x16xf32>
    ```

    Element [i, j] of the result is the element [i, %p[i, j]] of the source. Along other dimensions
    there may be fewer positions than elements. A position outside of the source is an error.
    """

    name = "core.gather"

    source = operand_def(VectorType)
    positions = operand_def(INTEGERS)
    axis = prop_def(IntegerAttr[I64])
    result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = (
        "$source `[` $positions `]` `axis` $axis attr-dict `:` "
        "type($source) `,` type($positions) `->` type($result)"
    )

    @override
    def verify_(self) -> None:
        source, positions = shape_of(self.source), shape_of(self.positions)
        axis = self.axis.value.data
        if not 0 <= axis < len(source):
            raise VerifyException(f"expected an axis from 0 to {len(source) - 1}, got {axis}")
        if not _fits(positions, source, axis):
            raise VerifyException(
                f"expected positions of {len(source)} dimensions, which are no larger than those "
                f"of {self.source.type} but along {axis}, got {self.positions.type}"
            )
        expected = VectorType(vector_type(self.source).element_type, positions)
        verify_type(self.result.type, expected, "the result")


def _fits(positions: Sequence[int], source: Sequence[int], axis: int) -> bool:
    return len(positions) == len(source) and all(
        own <= size or dimension == axis
        for dimension, (own, size) in enumerate(zip(positions, source, strict=True))
    )


@op_definition
class HistogramOp(IRDLOperation):
    """How many elements of a tile are 0, 1 and so on, of those for which a mask is true.

    ```
    %h = core.histogram %v, %mask : vector<64xi32>, vector<64xi1> -> vector<16xi32>
    ```

    The elements are numbers without a sign; one that counts and is not below the number of bins is
    an error. Without a mask all count.
    """

    name = "core.histogram"

    source = operand_def(INTEGERS)
    mask = opt_operand_def(VectorType)
    result = result_def(INTEGERS)

    traits = traits_def(Pure())

    assembly_format = (
        "$source (`,` $mask^)? attr-dict `:` type($source) (`,` type($mask)^)? `->` type($result)"
    )

    @override
    def verify_(self) -> None:
        if self.mask is not None:
            verify_type(self.mask.type, VectorType(i1, shape_of(self.source)), "the mask")
        if len(shape_of(self.result)) != 1:
            raise VerifyException(
                f"expected a result with a dimension for the bins, got {self.result.type}"
            )
