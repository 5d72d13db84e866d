"""Reductions and scans of vectors with any combination of elements.

Both are what CUDA Tile IR's and Triton's operations of these names share: several vectors of one
shape, one dimension, and a region that combines two tuples of elements.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td` (`reduce`, `scan`); triton-lang/triton, `TritonOps.td`
(`tt.reduce`, `tt.scan`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import I64, ArrayAttr, FloatAttr, IntegerAttr, UnitAttr, VectorType
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, is_side_effect_free
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.core.subgroup import YieldOp
from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import AnyVector
from xtile.dialects.verification import VerifyExceptionAt


class AggregateOperation(IRDLOperation, ABC):
    """Combines the elements of vectors along a dimension.

    The region gets an element of each vector, or what was combined of several, and then those of
    elements that come later in each vector; it yields a value for each.
    """

    sources = var_operand_def(VectorType)
    axis = prop_def(IntegerAttr[I64])
    identities = opt_prop_def(ArrayAttr)
    totals = var_result_def(Attribute)
    body = region_def("single_block")

    traits = traits_def(Pure())

    @property
    def elements(self) -> list[Attribute]:
        """The types of the vectors' elements."""
        return [source.element_type for source in self._vectors()]

    def _vectors(self) -> list[AnyVector]:
        return [source.type for source in self.sources if isa(source.type, VectorType)]

    @abstractmethod
    def result_type(self, source: AnyVector) -> Attribute:
        """The type of the result for a vector."""

    @override
    def verify_(self) -> None:
        vectors, axis = self._vectors(), self.axis.value.data
        if len({vector.get_shape() for vector in vectors}) != 1:
            raise VerifyException("expected one or more vectors of one shape")
        rank = vectors[0].get_num_dims()
        if not 0 <= axis < rank:
            raise VerifyException(f"expected an axis from 0 to {rank - 1}, got {axis}")
        expected = [self.result_type(vector) for vector in vectors]
        if list(self.totals.types) != expected:
            raise VerifyException(f"expected results {_list(expected)}")
        self._verify_identities()
        self._verify_body()

    def _verify_identities(self) -> None:
        if self.identities is None:
            return
        types = [_type_of_number(each) for each in self.identities]
        if types != self.elements:
            raise VerifyException(f"expected identities of types {_list(self.elements)}")

    def _verify_body(self) -> None:
        elements, block = self.elements, self.body.block
        if [argument.type for argument in block.args] != [*elements, *elements]:
            raise VerifyException(
                f"expected a region of two tuples of elements, {_list([*elements, *elements])}"
            )
        end = block.last_op
        if not isinstance(end, YieldOp) or [value.type for value in end.operands] != elements:
            raise VerifyException(f"expected core.yield with {_list(elements)}")
        for operation in block.ops:
            if operation is not end and not is_side_effect_free(operation):
                raise VerifyExceptionAt(
                    f"{operation.name} has effects, which the region of {self.name} may not have",
                    operation,
                )


def _type_of_number(attribute: Attribute) -> Attribute | None:
    return attribute.type if isa(attribute, FloatAttr | IntegerAttr) else None


def _list(types: Sequence[Attribute]) -> str:
    return f"({', '.join(str(type) for type in types)})"


_OPERANDS = "$sources `axis` $axis (`identities` $identities^)?"
_REST = " `:` type($sources) `->` type($totals) $body attr-dict"


@op_definition
class ReduceOp(AggregateOperation):
    """Combines all elements along a dimension of vectors, in any order.

    ```
    %m, %i = core.reduce %v, %n axis 1 identities [0xFF800000 : f32, -1 : i32]
        : vector<4x8xf32>, vector<4x8xi32> -> vector<4xf32>, vector<4xi32> {
    ^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
      %first = arith.cmpf oge, %a, %b : f32
      %x = arith.select %first, %a, %b : f32
      %y = arith.select %first, %j, %k : i32
      core.yield %x, %y : f32, i32
    }
    ```

    The combination must be associative and commutative. A vector of one dimension gives a number.
    """

    name = "core.reduce"

    assembly_format = _OPERANDS + _REST

    @override
    def result_type(self, source: AnyVector) -> Attribute:
        shape, axis = source.get_shape(), self.axis.value.data
        kept = (*shape[:axis], *shape[axis + 1 :])
        return VectorType(source.element_type, kept) if kept else source.element_type


@op_definition
class ScanOp(AggregateOperation):
    """Combines each element along a dimension of vectors with all before it.

    ```
    %s = core.scan %v axis 0 reverse : vector<8xf32> -> vector<8xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      core.yield %c : f32
    }
    ```

    With `reverse`, with all after it; these then count as the earlier ones. The combination must
    be associative.
    """

    name = "core.scan"

    reverse = opt_prop_def(UnitAttr)

    assembly_format = _OPERANDS + " (`reverse` $reverse^)?" + _REST

    @override
    def result_type(self, source: AnyVector) -> Attribute:
        return source
