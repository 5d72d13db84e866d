"""Reductions and scans with any combination of elements, and functions of elements.

These operations have the generic form only.

Source: Triton 3.9, `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    lazy_traits_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import HasParent, IsTerminator, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    element_of,
    shape_of,
    verify_same_form,
    with_shape,
)
from xtile.dialects.triton.tt.constraints import TENSOR, VALUE
from xtile.dialects.triton.versions import V3_5, Release


class AggregateOperation(TritonOperation, ABC):
    """Combines the elements of tensors along an axis.

    The region has two arguments for each tensor: first what was combined of each, then the next
    element of each. It returns one value for each tensor.
    """

    srcs = var_operand_def(TENSOR)
    axis = prop_def(IntegerAttr.constr(i32))
    combineOp = region_def("single_block")  # noqa: N815

    @property
    def dimension(self) -> int:
        """Along which dimension."""
        return self.axis.value.data

    @property
    def combination(self) -> Block:
        """What combines elements."""
        return self.combineOp.block

    @override
    def verify_(self) -> None:
        super().verify_()
        if not self.srcs:
            raise VerifyException(f"{self.name} has at least one operand")
        verify_same_form({f"operand {i}": value.type for i, value in enumerate(self.srcs)})
        rank = len(shape_of(self.srcs[0].type))
        if not 0 <= self.dimension < rank:
            raise VerifyException(f"axis is {self.dimension}; it must be 0 to {rank - 1}")
        if len(self.results) != len(self.srcs):
            raise VerifyException(
                f"there are {len(self.srcs)} operands, but {len(self.results)} results; they must "
                "be as many"
            )
        elements = [element_of(value.type) for value in self.srcs]
        given = [argument.type for argument in self.combination.args]
        if given != [*elements, *elements]:
            wanted = ", ".join(str(each) for each in [*elements, *elements])
            raise VerifyException(f"the arguments of the region must be {wanted}")
        last = self.combination.last_op
        returned = [] if last is None else [value.type for value in last.operands]
        if returned != elements:
            raise VerifyException(
                f"the region must return {', '.join(str(each) for each in elements)}"
            )


def _combination(srcs: Sequence[Operand], region: Region | None) -> Region:
    elements = [element_of(SSAValue.get(value).type) for value in srcs]
    return Region(Block(arg_types=[*elements, *elements])) if region is None else region


@op_definition
class ReduceOp(AggregateOperation):
    """All elements along an axis, combined in any order.

    ```
    %sum = "tt.reduce"(%t) <{axis = 1 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<8x16xf32>) -> tensor<8xf32>
    ```
    """

    name = "tt.reduce"

    result = var_result_def(VALUE)

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        srcs: Sequence[Operand],
        axis: int,
        body: Region | None = None,
        result_types: Sequence[Attribute] | None = None,
    ) -> None:
        types = [SSAValue.get(value).type for value in srcs]
        reduced = [
            with_shape(type_, [size for i, size in enumerate(shape_of(type_)) if i != axis])
            for type_ in types
        ]
        super().__init__(
            operands=[srcs],
            properties={"axis": IntegerAttr(axis, i32)},
            regions=[_combination(srcs, body)],
            result_types=[result_types or reduced],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        shape = shape_of(self.srcs[0].type)
        reduced = (*shape[: self.dimension], *shape[self.dimension + 1 :])
        for source, result in zip(self.srcs, self.results, strict=True):
            if shape_of(result.type) != reduced or element_of(result.type) != element_of(
                source.type
            ):
                raise VerifyException(
                    f"a result is {result.type}; it must have the elements of {source.type} and "
                    f"its shape without dimension {self.dimension}"
                )


@op_definition
class ReduceReturnOp(TritonOperation):
    """What two elements are combined to.

    ```
    tt.reduce.return %c : f32
    ```
    """

    name = "tt.reduce.return"

    result = var_operand_def()

    traits = lazy_traits_def(lambda: (HasParent(ReduceOp), IsTerminator(), Pure()))
    assembly_format = "$result attr-dict `:` type($result)"

    def __init__(self, *result: Operand) -> None:
        super().__init__(operands=[result])


@op_definition
class ScanOp(AggregateOperation):
    """Each element along an axis, combined with all before it, or after it with `reverse`.

    ```
    %sums = "tt.scan"(%t) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<8xf32>) -> tensor<8xf32>
    ```
    """

    name = "tt.scan"

    reverse = prop_def(IntegerAttr)
    result = var_result_def(TENSOR)

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        srcs: Sequence[Operand],
        axis: int,
        body: Region | None = None,
        *,
        reverse: bool = False,
    ) -> None:
        super().__init__(
            operands=[srcs],
            properties={"axis": IntegerAttr(axis, i32), "reverse": BoolAttr.from_bool(reverse)},
            regions=[_combination(srcs, body)],
            result_types=[[SSAValue.get(value).type for value in srcs]],
        )

    @property
    def is_reverse(self) -> bool:
        """Whether it begins at the end."""
        return self.reverse.value.data != 0

    @override
    def verify_(self) -> None:
        super().verify_()
        for source, result in zip(self.srcs, self.results, strict=True):
            if result.type != source.type:
                raise VerifyException(f"a result is {result.type}; it must be {source.type}")


@op_definition
class ScanReturnOp(TritonOperation):
    """What two elements are combined to.

    ```
    tt.scan.return %c : f32
    ```
    """

    name = "tt.scan.return"

    result = var_operand_def()

    traits = lazy_traits_def(lambda: (HasParent(ScanOp), IsTerminator(), Pure()))
    assembly_format = "$result attr-dict `:` type($result)"

    def __init__(self, *result: Operand) -> None:
        super().__init__(operands=[result])


@op_definition
class MapElementwiseOp(TritonOperation):
    """A function of scalars, applied to each element, or to `pack` elements at once.

    The region's arguments are `pack` elements of each operand, operand by operand.

    ```
    %r = "tt.map_elementwise"(%t) <{pack = 1 : i32}> ({
    ^bb0(%a: f32):
      %b = arith.addf %a, %a : f32
      tt.map_elementwise.return %b : f32
    }) : (tensor<8xf32>) -> tensor<8xf32>
    ```
    """

    name = "tt.map_elementwise"
    SINCE: ClassVar[Release] = V3_5

    srcs = var_operand_def(TENSOR)
    pack = prop_def(IntegerAttr.constr(i32))
    result = var_result_def(TENSOR)
    scalarOp = region_def()  # noqa: N815

    traits = traits_def(RecursiveMemoryEffect())

    def __init__(
        self,
        srcs: Sequence[Operand],
        body: Region,
        result_types: Sequence[Attribute],
        pack: int = 1,
    ) -> None:
        super().__init__(
            operands=[srcs],
            properties={"pack": IntegerAttr(pack, i32)},
            regions=[body],
            result_types=[result_types],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        values = {f"operand {i}": value.type for i, value in enumerate(self.srcs)}
        values |= {f"result {i}": value.type for i, value in enumerate(self.results)}
        verify_same_form(values)
        pack = self.pack.value.data
        given = [argument.type for argument in self.scalarOp.blocks[0].args]
        wanted = [element_of(value.type) for value in self.srcs for _ in range(pack)]
        if given != wanted:
            words = ", ".join(str(each) for each in wanted)
            raise VerifyException(f"the arguments of the region must be {words}")


@op_definition
class MapElementwiseReturnOp(TritonOperation):
    """What a function of scalars gives.

    ```
    tt.map_elementwise.return %b : f32
    ```
    """

    name = "tt.map_elementwise.return"
    SINCE: ClassVar[Release] = V3_5

    result = var_operand_def()

    traits = lazy_traits_def(lambda: (HasParent(MapElementwiseOp), IsTerminator(), Pure()))
    assembly_format = "attr-dict ($result^ `:` type($result))?"

    def __init__(self, *result: Operand) -> None:
        super().__init__(operands=[result])


OPERATIONS: list[type[Operation]] = [
    ReduceOp,
    ReduceReturnOp,
    ScanOp,
    ScanReturnOp,
    MapElementwiseOp,
    MapElementwiseReturnOp,
]
"""Every operation of this module."""
