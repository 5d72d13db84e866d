"""Masks.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import vector_type
from xtile.dialects.upstream import completes
from xtile.dialects.vector.types import (
    TRUTH_VECTOR,
    Dimension,
    dimensions_of,
)


@completes(results={"mask_vector": TRUTH_VECTOR}, traits=(Pure(),))
class CreateMaskOp(vector.CreateMaskOp):
    """A mask that is true where every position is below the operand for its dimension.

    ```
    %r = vector.create_mask %rows, %columns : vector<4x8xi1>
    ```
    """

    @override
    def verify_(self) -> None:
        _verify_count(len(self.mask_dim_sizes), self.mask_vector)


@op_definition
class ConstantMaskOp(IRDLOperation):
    """A mask that is true where every position is below the number for its dimension.

    ```
    %r = vector.constant_mask [3, 2] : vector<4x8xi1>
    ```
    """

    name = "vector.constant_mask"

    mask_dim_sizes = prop_def(DenseArrayBase.constr(i64))
    result = result_def(TRUTH_VECTOR)

    traits = traits_def(Pure())

    assembly_format = "$mask_dim_sizes attr-dict `:` type($result)"

    @override
    def verify_(self) -> None:
        sizes: list[int] = list(self.mask_dim_sizes.get_values())
        _verify_count(len(sizes), self.result)
        dimensions = dimensions_of(vector_type(self.result)) or (Dimension(1, is_scalable=False),)
        for size, dimension in zip(sizes, dimensions, strict=True):
            if not 0 <= size <= dimension.size:
                raise VerifyException(
                    f"a size for a dimension {dimension} must be from 0 to {dimension.size}, "
                    f"got {size}"
                )
            if dimension.is_scalable and size not in (0, dimension.size):
                raise VerifyException(
                    f"a scalable dimension {dimension} is masked whole or not at all, got {size}"
                )
        if 0 in sizes and any(sizes):
            raise VerifyException(f"if a size is 0, all must be 0, got {sizes}")


def _verify_count(found: int, mask: SSAValue) -> None:
    """Checks that there is a size for each dimension; a mask without dimensions has one too."""
    expected = max(1, vector_type(mask).get_num_dims())
    if found != expected:
        raise VerifyException(f"expected {expected} sizes for {mask.type}, got {found}")
