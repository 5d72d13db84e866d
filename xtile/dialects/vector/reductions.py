"""Reductions and scans along dimensions of vectors.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects import vector
from xdsl.dialects.builtin import I64, BoolAttr, DenseArrayBase, IntegerAttr, i64
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import shape_of, vector_type, verify_type
from xtile.dialects.vector.attributes import CombiningKind, verify_combining_kind
from xtile.dialects.vector.types import (
    VECTOR,
    VECTOR_WITH_DIMENSIONS,
    dimensions_of,
    element_type,
    make_vector,
)
from xtile.text.extensions import Extension, Table

_SCALAR = VarConstraint("SCALAR", AnyAttr())


def _verify_reduction(operation: vector.ReductionOp) -> None:
    """`vector.reduction`: combines the elements of a vector, and with `acc` if it is there.

    ```
    %r = vector.reduction <add>, %v, %acc fastmath<reassoc> : vector<16xf32> into f32
    ```
    """
    if len(shape_of(operation.vector)) > 1:
        raise VerifyException(
            f"expected a vector of one dimension, got {operation.vector.type}; "
            "vector.multi_reduction reduces others"
        )
    verify_type(operation.dest.type, element_type(operation.vector), "the result")
    verify_combining_kind(operation.kind, operation.dest.type)


@op_definition
class MultiDimReductionOp(IRDLOperation):
    """Combines the elements along some dimensions, and with `acc`.

    ```
    %r = vector.multi_reduction <add>, %v, %acc [1] : vector<4x8xf32> to vector<4xf32>
    ```
    """

    name = "vector.multi_reduction"

    T: ClassVar = VarConstraint("T", AnyAttr())

    source = operand_def(VECTOR_WITH_DIMENSIONS)
    acc = operand_def(T)
    kind = prop_def(CombiningKindAttr)
    reduction_dims = prop_def(DenseArrayBase.constr(i64))
    dest = result_def(T)

    traits = traits_def(Pure())

    assembly_format = (
        "custom<CombiningKind>($kind) `,` $source `,` $acc attr-dict $reduction_dims `:` "
        "type($source) `to` type($dest)"
    )
    custom_directives = (CombiningKind,)

    @override
    def verify_(self) -> None:
        reduced: list[int] = list(self.reduction_dims.get_values())
        dimensions = dimensions_of(vector_type(self.source))
        if len(set(reduced)) != len(reduced) or not set(reduced) <= set(range(len(dimensions))):
            raise VerifyException(
                f"dimensions must be different and from 0 to {len(dimensions) - 1}, got {reduced}"
            )
        kept = [dimension for i, dimension in enumerate(dimensions) if i not in reduced]
        element = element_type(self.source)
        expected = make_vector(element, kept) if kept else element
        verify_type(self.dest.type, expected, "the result")


@op_definition
class ScanOp(IRDLOperation):
    """Combines the elements along a dimension one by one, and keeps what each step comes to.

    An inclusive scan's first element is combined with the initial value; an exclusive scan starts
    with the initial value itself. The second result is what the last step comes to.

    ```
    %r, %last = vector.scan <add>, %v, %initial {inclusive = false, reduction_dim = 1 : i64}
        : vector<4x8xf32>, vector<4xf32>
    ```
    """

    name = "vector.scan"

    S: ClassVar = VarConstraint("S", VECTOR_WITH_DIMENSIONS)
    I: ClassVar = VarConstraint("I", VECTOR)  # noqa: E741

    kind = prop_def(CombiningKindAttr)
    source = operand_def(S)
    initial_value = operand_def(I)
    reduction_dim = prop_def(IntegerAttr[I64])
    inclusive = prop_def(BoolAttr)
    dest = result_def(S)
    accumulated_value = result_def(I)

    traits = traits_def(Pure())

    assembly_format = (
        "custom<CombiningKind>($kind) `,` $source `,` $initial_value attr-dict `:` "
        "type($source) `,` type($initial_value)"
    )
    custom_directives = (CombiningKind,)

    @override
    def verify_(self) -> None:
        shape = shape_of(self.source)
        along = self.reduction_dim.value.data
        if not 0 <= along < len(shape):
            raise VerifyException(f"the dimension must be from 0 to {len(shape) - 1}, got {along}")
        expected = (*shape[:along], *shape[along + 1 :])
        if shape_of(self.initial_value) != expected:
            raise VerifyException(
                f"the initial value must have the shape {list(expected)}, "
                f"got {self.initial_value.type}"
            )
        verify_combining_kind(self.kind, element_type(self.source))


EXTENSIONS: Table = {
    vector.ReductionOp: Extension(
        operands={"vector": VECTOR, "acc": _SCALAR},
        results={"dest": _SCALAR},
        assembly_format=(
            "custom<CombiningKind>($kind) `,` $vector (`,` $acc^)? (`fastmath` `` $fastmath^)? "
            "attr-dict `:` type($vector) `into` type($dest)"
        ),
        custom_directives=(CombiningKind,),
        verify=_verify_reduction,
    ),
}
"""What LLVM says of xDSL's operations of this module."""
