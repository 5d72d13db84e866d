"""Tensors of other shapes with the same elements.

Source: Triton 3.9, `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from math import prod
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    VarConstraint,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import (
    mask_of,
    parse_more_operands,
    print_attributes,
    print_types,
    print_values,
)
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    as_tensor,
    element_of,
    encoding_of,
    shape_of,
    verify_type,
    with_shape,
)
from xtile.dialects.triton.tt.constraints import BOOL, INTEGER_TENSOR, TENSOR, VALUE
from xtile.dialects.triton.versions import V3_5, Release

_SAME_TENSOR: VarConstraint[Attribute] = VarConstraint("T", TENSOR)


def _verify_elements(source: Attribute, result: Attribute) -> None:
    """Raises a VerifyException if two values have other elements, or only one has a layout."""
    if element_of(source) != element_of(result):
        raise VerifyException(
            f"the result is {result}, but src is {source}; they must have the same elements"
        )
    if as_tensor(source) is not None and (encoding_of(source) is None) != (
        encoding_of(result) is None
    ):
        raise VerifyException(
            f"the result is {result}, but src is {source}; both have a layout, or none has"
        )


@op_definition
class SplatOp(TritonOperation):
    """A tensor whose elements are all one scalar.

    ```
    %t = tt.splat %x : f32 -> tensor<8x16xf32>
    ```
    """

    name = "tt.splat"

    src = operand_def(VALUE)
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, result_type: Attribute) -> None:
        super().__init__(operands=[src], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        if element_of(self.src.type) != element_of(self.result.type):
            raise VerifyException(
                f"the result is {self.result.type}, but src is {self.src.type}; they must have the "
                "same elements"
            )


@op_definition
class UnsplatOp(TritonOperation):
    """The only element of a tensor.

    ```
    %x = tt.unsplat %t : tensor<1xf32>
    ```
    """

    name = "tt.unsplat"
    SINCE: ClassVar[Release] = V3_5

    src = operand_def(TENSOR)
    result = result_def(VALUE)

    traits = traits_def(Pure())

    def __init__(self, src: Operand) -> None:
        super().__init__(operands=[src], result_types=[element_of(SSAValue.get(src).type)])

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        operation = cls(parser.resolve_operand(operand, parser.parse_type()))
        operation.attributes.update(attributes)
        return operation

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.src])
        print_attributes(printer, self)
        print_types(printer, [self.src.type])

    @override
    def verify_(self) -> None:
        super().verify_()
        if prod(shape_of(self.src.type)) != 1:
            raise VerifyException(f"src has one element, but is {self.src.type}")
        verify_type("the result", self.result.type, element_of(self.src.type))


@op_definition
class ExpandDimsOp(TritonOperation):
    """A tensor with one dimension of size 1 more.

    ```
    %c = tt.expand_dims %v {axis = 1 : i32} : tensor<8xf32> -> tensor<8x1xf32>
    ```
    """

    name = "tt.expand_dims"

    src = operand_def(TENSOR)
    axis = prop_def(IntegerAttr.constr(i32))
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, axis: int, result_type: Attribute | None = None) -> None:
        type_ = SSAValue.get(src).type
        shape = shape_of(type_)
        super().__init__(
            operands=[src],
            properties={"axis": IntegerAttr(axis, i32)},
            result_types=[result_type or with_shape(type_, (*shape[:axis], 1, *shape[axis:]))],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_elements(self.src.type, self.result.type)
        shape, axis = shape_of(self.src.type), self.axis.value.data
        if not 0 <= axis <= len(shape):
            raise VerifyException(f"axis is {axis}; it must be 0 to {len(shape)}")
        if shape_of(self.result.type) != (*shape[:axis], 1, *shape[axis:]):
            raise VerifyException(
                f"the result is {self.result.type}; it must have src's shape with 1 at {axis}"
            )


@op_definition
class ReshapeOp(TritonOperation):
    """A tensor with the same elements in row-major order, or in any order with `allow_reorder`.

    ```
    %r = tt.reshape %t : tensor<8x16xf32> -> tensor<128xf32>
    ```
    """

    name = "tt.reshape"

    src = operand_def(TENSOR)
    allow_reorder = opt_prop_def(UnitAttr)
    efficient_layout = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = (
        "$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? "
        "attr-dict `:` type($src) `->` type($result)"
    )

    def __init__(
        self,
        src: Operand,
        result_type: Attribute,
        *,
        allow_reorder: bool = False,
        efficient_layout: bool = False,
    ) -> None:
        super().__init__(
            operands=[src],
            properties={
                "allow_reorder": UnitAttr() if allow_reorder else None,
                "efficient_layout": UnitAttr() if efficient_layout else None,
            },
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_elements(self.src.type, self.result.type)
        counts = [prod(shape_of(value.type)) for value in (self.src, self.result)]
        if counts[0] != counts[1]:
            raise VerifyException(
                f"src has {counts[0]} elements, but the result {counts[1]}; they must be the same"
            )


@op_definition
class BroadcastOp(TritonOperation):
    """A tensor repeated along dimensions of size 1.

    ```
    %m = tt.broadcast %c : tensor<8x1xf32> -> tensor<8x16xf32>
    ```
    """

    name = "tt.broadcast"

    src = operand_def(TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(self, src: Operand, result_type: Attribute) -> None:
        super().__init__(operands=[src], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_elements(self.src.type, self.result.type)
        source, result = shape_of(self.src.type), shape_of(self.result.type)
        if len(source) != len(result):
            raise VerifyException(
                f"src has {len(source)} dimensions, but the result {len(result)}; "
                "tt.expand_dims adds dimensions"
            )
        for dimension, (size, size_of_result) in enumerate(zip(source, result, strict=True)):
            if size not in (1, size_of_result):
                raise VerifyException(
                    f"dimension {dimension} has size {size} in src, but {size_of_result} in the "
                    "result; only sizes of 1 change"
                )


@op_definition
class CatOp(TritonOperation):
    """Two tensors one after the other; elements may come in any order.

    ```
    %c = tt.cat %a, %b : tensor<8xf32> -> tensor<16xf32>
    ```
    """

    name = "tt.cat"

    lhs = operand_def(_SAME_TENSOR)
    rhs = operand_def(_SAME_TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"

    def __init__(self, lhs: Operand, rhs: Operand, result_type: Attribute) -> None:
        super().__init__(operands=[lhs, rhs], result_types=[result_type])

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_type("rhs", self.rhs.type, self.lhs.type)
        _verify_elements(self.lhs.type, self.result.type)
        if prod(shape_of(self.result.type)) != 2 * prod(shape_of(self.lhs.type)):
            raise VerifyException(
                f"the result is {self.result.type}; it must have the elements of two "
                f"{self.lhs.type}"
            )


@op_definition
class JoinOp(TritonOperation):
    """Two tensors along a new last dimension of size 2.

    ```
    %j = tt.join %a, %b : tensor<4x8xf32> -> tensor<4x8x2xf32>
    ```
    """

    name = "tt.join"

    lhs = operand_def(_SAME_TENSOR)
    rhs = operand_def(_SAME_TENSOR)
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"

    def __init__(self, lhs: Operand, rhs: Operand, result_type: Attribute | None = None) -> None:
        type_ = SSAValue.get(lhs).type
        joined = result_type or with_shape(type_, (*shape_of(type_), 2))
        super().__init__(operands=[lhs, rhs], result_types=[joined])

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_type("rhs", self.rhs.type, self.lhs.type)
        _verify_elements(self.lhs.type, self.result.type)
        if shape_of(self.result.type) != (*shape_of(self.lhs.type), 2):
            raise VerifyException(
                f"the result is {self.result.type}; it must have the operands' shape and a last "
                "dimension of size 2"
            )


@op_definition
class SplitOp(TritonOperation):
    """The two halves of a tensor along its last dimension, which has size 2.

    ```
    %a, %b = tt.split %j : tensor<4x8x2xf32> -> tensor<4x8xf32>
    ```
    """

    name = "tt.split"

    src = operand_def(TENSOR)
    outLHS = result_def(VALUE)  # noqa: N815
    outRHS = result_def(VALUE)  # noqa: N815

    traits = traits_def(Pure())

    def __init__(self, src: Operand, result_type: Attribute | None = None) -> None:
        type_ = SSAValue.get(src).type
        half = result_type or with_shape(type_, shape_of(type_)[:-1])
        super().__init__(operands=[src], result_types=[half, half])

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        src = parser.resolve_operand(operand, parser.parse_type())
        parser.parse_punctuation("->")
        operation = cls(src, parser.parse_type())
        operation.attributes.update(attributes)
        return operation

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.src])
        print_attributes(printer, self)
        print_types(printer, [self.src.type])
        printer.print_string(" -> ")
        printer.print_attribute(self.outLHS.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_type("the second result", self.outRHS.type, self.outLHS.type)
        _verify_elements(self.src.type, self.outLHS.type)
        shape = shape_of(self.src.type)
        if shape[-1:] != (2,):
            raise VerifyException(
                f"the last dimension of src has size 2, but src is {self.src.type}"
            )
        if shape_of(self.outLHS.type) != shape[:-1]:
            raise VerifyException(
                f"the results are {self.outLHS.type}; they must have src's shape without its last "
                "dimension"
            )


@op_definition
class TransOp(TritonOperation):
    """A tensor whose dimension `i` is dimension `order[i]` of another.

    ```
    %t = tt.trans %m {order = array<i32: 1, 0>} : tensor<8x16xf32> -> tensor<16x8xf32>
    ```
    """

    name = "tt.trans"

    src = operand_def(TENSOR)
    order = prop_def(DenseArrayBase.constr(i32))
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"

    def __init__(
        self, src: Operand, order: list[int], result_type: Attribute | None = None
    ) -> None:
        type_ = SSAValue.get(src).type
        shape = [shape_of(type_)[dimension] for dimension in order]
        super().__init__(
            operands=[src],
            properties={"order": DenseArrayBase.from_list(i32, order)},
            result_types=[result_type or with_shape(type_, shape)],
        )

    @property
    def permutation(self) -> list[int]:
        """Which dimension of the operand each of the result is."""
        return [int(each) for each in self.order.get_values()]

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_elements(self.src.type, self.result.type)
        shape, order = shape_of(self.src.type), self.permutation
        if sorted(order) != list(range(len(shape))):
            raise VerifyException(
                f"order is {order}; it must name each of the {len(shape)} dimensions once"
            )
        if shape_of(self.result.type) != tuple(shape[dimension] for dimension in order):
            raise VerifyException(
                f"the result is {self.result.type}; it must have src's sizes in the order {order}"
            )


@op_definition
class GatherOp(TritonOperation):
    """Elements of a tensor, picked by an index along one dimension.

    ```
    %g = tt.gather %t[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>
    ```
    """

    name = "tt.gather"

    src = operand_def(TENSOR)
    indices = operand_def(INTEGER_TENSOR)
    axis = prop_def(IntegerAttr.constr(i32))
    efficient_layout = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    traits = traits_def(Pure())
    assembly_format = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)"

    def __init__(self, src: Operand, indices: Operand, axis: int) -> None:
        element = element_of(SSAValue.get(src).type)
        type_ = SSAValue.get(indices).type
        result = with_shape(element, shape_of(type_), encoding_of(type_))
        super().__init__(
            operands=[src, indices],
            properties={"axis": IntegerAttr(axis, i32)},
            result_types=[result],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        shape, indices = shape_of(self.src.type), shape_of(self.indices.type)
        if shape_of(self.result.type) != indices or element_of(self.result.type) != element_of(
            self.src.type
        ):
            raise VerifyException(
                f"the result is {self.result.type}; it must have the elements of src and the shape "
                "of indices"
            )
        if encoding_of(self.result.type) != encoding_of(self.indices.type):
            raise VerifyException("the result and indices must have the same layout")
        axis = self.axis.value.data
        if len(shape) != len(indices):
            raise VerifyException(
                f"src has {len(shape)} dimensions, but indices {len(indices)}; they must be as many"
            )
        if not 0 <= axis < len(shape):
            raise VerifyException(f"axis is {axis}; it must be 0 to {len(shape) - 1}")
        for dimension, (size, count) in enumerate(zip(shape, indices, strict=True)):
            if dimension != axis and count != size:
                raise VerifyException(
                    f"dimension {dimension} has size {count} in indices, but {size} in src; only "
                    "the sizes along axis may differ"
                )


@op_definition
class HistogramOp(TritonOperation):
    """How often each number from 0 on is in a tensor.

    ```
    %h = tt.histogram %t : tensor<128xi32> -> tensor<16xi32>
    ```
    """

    name = "tt.histogram"

    src = operand_def(INTEGER_TENSOR)
    mask = opt_operand_def(BOOL)
    result = result_def(INTEGER_TENSOR)

    traits = traits_def(Pure())

    def __init__(self, src: Operand, result_type: Attribute, mask: Operand | None = None) -> None:
        super().__init__(operands=[src, mask], result_types=[result_type])

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        operand = parser.parse_unresolved_operand()
        masks = parse_more_operands(parser, 1)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        src = parser.resolve_operand(operand, parser.parse_type())
        mask = [parser.resolve_operand(each, mask_of(src.type)) for each in masks]
        parser.parse_punctuation("->")
        operation = cls(src, parser.parse_type(), *mask)
        operation.attributes.update(attributes)
        return operation

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, self.operands)
        print_attributes(printer, self)
        print_types(printer, [self.src.type])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        if self.mask is not None:
            verify_type("mask", self.mask.type, mask_of(self.src.type))


OPERATIONS: list[type[Operation]] = [
    SplatOp,
    UnsplatOp,
    ExpandDimsOp,
    ReshapeOp,
    BroadcastOp,
    CatOp,
    JoinOp,
    SplitOp,
    TransOp,
    GatherOp,
    HistogramOp,
]
"""Every operation of this module."""
