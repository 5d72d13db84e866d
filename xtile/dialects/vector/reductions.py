"""Reductions over dimensions of vectors, and products of vectors.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from typing import Any

from typing_extensions import override
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    StringAttr,
    VectorType,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.vector.types import element_type, shape_of


class IteratorType(StrEnum):
    """What a dimension of a contraction's iterations is."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"


@irdl_attr_definition
class IteratorTypeAttr(EnumAttribute[IteratorType]):
    """`#vector.iterator_type<parallel>`."""

    name = "vector.iterator_type"

    @override
    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> IteratorType:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(IteratorType)


@irdl_op_definition
class MultiDimReductionOp(IRDLOperation):
    """Combines the elements along some dimensions, and with `acc`.

    ```
    %r = vector.multi_reduction <add>, %v, %acc [1] : vector<4x8xf32> to vector<4xf32>
    ```
    """

    name = "vector.multi_reduction"

    source = operand_def(VectorType)
    acc = operand_def()
    kind = prop_def(CombiningKindAttr)
    reduction_dims = prop_def(DenseArrayBase.constr(i64))
    dest = result_def()

    traits = traits_def(Pure())

    @classmethod
    @override
    def parse(cls, parser: Parser) -> MultiDimReductionOp:
        kind = CombiningKindAttr(CombiningKindAttr.parse_parameter(parser))
        parser.parse_punctuation(",")
        source = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        acc = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        dims = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_keyword("to")
        type_ = parser.parse_type()
        return cls.build(
            operands=[
                parser.resolve_operand(source, source_type),
                parser.resolve_operand(acc, type_),
            ],
            result_types=[type_],
            properties={"kind": kind, "reduction_dims": DenseArrayBase.from_list(i64, dims)},
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(f" <{self.kind.data}>, ")
        printer.print_operand(self.source)
        printer.print_string(", ")
        printer.print_operand(self.acc)
        printer.print_op_attributes(self.attributes)
        dims: list[int] = list(self.reduction_dims.get_values())
        printer.print_string(f" [{', '.join(map(str, dims))}] : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.dest.type)

    @override
    def verify_(self) -> None:
        dims: list[int] = list(self.reduction_dims.get_values())
        shape = shape_of(self.source)
        if len(set(dims)) != len(dims) or any(not 0 <= d < len(shape) for d in dims):
            raise VerifyException(
                f"dimensions must be different and from 0 to {len(shape) - 1}, got {dims}"
            )
        kept = [size for i, size in enumerate(shape) if i not in dims]
        element = element_type(self.source)
        expected = VectorType(element, kept) if kept else element
        for type_ in (self.dest.type, self.acc.type):
            if type_ != expected:
                raise VerifyException(f"acc and the result must be {expected}, got {type_}")


@irdl_op_definition
class ContractionOp(IRDLOperation):
    """Sums up products of the operands' elements, which maps of the iterations choose.

    ```
    %r = vector.contract {indexing_maps = [#lhs, #rhs, #acc], iterator_types = ["parallel",
        "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c
        : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
    ```
    """

    name = "vector.contract"

    lhs = operand_def(VectorType)
    rhs = operand_def(VectorType)
    acc = operand_def()
    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])
    iterator_types = prop_def(ArrayAttr[IteratorTypeAttr])
    kind = prop_def(CombiningKindAttr, default_value=CombiningKindAttr(CombiningKindFlag.ADD))
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ContractionOp:
        start = parser.pos
        attributes: dict[str, Any] = dict(parser.parse_optional_attr_dict())
        maps = attributes.pop("indexing_maps", None)
        iterators = attributes.pop("iterator_types", None)
        if maps is None or iterators is None:
            parser.raise_error("expected indexing_maps and iterator_types", start, parser.pos)
        kind = attributes.pop("kind", CombiningKindAttr(CombiningKindFlag.ADD))
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        parser.parse_punctuation(":")
        types = [parser.parse_type()]
        parser.parse_punctuation(",")
        types.append(parser.parse_type())
        parser.parse_keyword("into")
        types.append(parser.parse_type())
        return cls.build(
            operands=[parser.resolve_operand(o, t) for o, t in zip(operands, types, strict=True)],
            result_types=[types[-1]],
            properties={
                "indexing_maps": maps,
                "iterator_types": ArrayAttr(_iterator(parser, each) for each in iterators),
                "kind": kind,
            },
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        shown: dict[str, Attribute] = {
            "indexing_maps": self.indexing_maps,
            "iterator_types": ArrayAttr(StringAttr(str(each.data)) for each in self.iterator_types),
            "kind": self.kind,
            **self.attributes,
        }
        printer.print_string(" ")
        printer.print_attr_dict(shown)
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(" : ")
        printer.print_list((self.lhs.type, self.rhs.type), printer.print_attribute)
        printer.print_string(" into ")
        printer.print_attribute(self.acc.type)

    @override
    def verify_(self) -> None:
        if len(self.indexing_maps) != 3:
            raise VerifyException(f"expected 3 indexing maps, got {len(self.indexing_maps)}")
        count = len(self.iterator_types)
        for i, attribute in enumerate(self.indexing_maps):
            if attribute.data.num_dims != count:
                raise VerifyException(
                    f"map {i} must have {count} dimensions, one for each iterator, but has "
                    f"{attribute.data.num_dims}"
                )
        if self.acc.type != self.result.type:
            raise VerifyException(f"the result must be {self.acc.type} as the accumulator is")


def _iterator(parser: Parser, attribute: Attribute) -> IteratorTypeAttr:
    if isinstance(attribute, IteratorTypeAttr):
        return attribute
    if not isinstance(attribute, StringAttr) or attribute.data not in tuple(IteratorType):
        parser.raise_error('an iterator type is "parallel" or "reduction"')
    return IteratorTypeAttr(IteratorType(attribute.data))
