"""Sums of products of vectors, which maps of the iterations choose.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DictionaryAttr,
    IntegerType,
    StringAttr,
    VectorType,
)
from xdsl.dialects.vector import CombiningKindAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import as_vector, verify_type
from xtile.dialects.upstream import is_signless_integer
from xtile.dialects.vector.attributes import (
    ADD,
    IteratorType,
    IteratorTypeAttr,
    verify_combining_kind,
)
from xtile.dialects.vector.types import (
    VECTOR_WITH_DIMENSIONS,
    Dimension,
    dimensions_of,
    element_type,
    make_vector,
    verify_elements,
)

_NAMES = ("the first operand", "the second operand", "the accumulator")


@op_definition
class ContractionOp(IRDLOperation):
    """Sums up products of the operands' elements, which maps of the iterations choose.

    ```
    %r = vector.contract {indexing_maps = [#lhs, #rhs, #acc], iterator_types = ["parallel",
        "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c
        : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
    ```
    """

    name = "vector.contract"

    lhs = operand_def(VECTOR_WITH_DIMENSIONS)
    rhs = operand_def(VECTOR_WITH_DIMENSIONS)
    acc = operand_def()
    indexing_maps = prop_def(ArrayAttr[AffineMapAttr])
    iterator_types = prop_def(ArrayAttr[IteratorTypeAttr])
    kind = prop_def(CombiningKindAttr, default_value=ADD)
    result = result_def()

    traits = traits_def(Pure())

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ContractionOp:
        properties = _parse_trait(parser)
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = [parser.parse_type()]
        parser.parse_punctuation(",")
        types.append(parser.parse_type())
        named = _parse_optional_type(parser)
        parser.parse_keyword("into")
        start = parser.pos
        types.append(parser.parse_type())
        if named not in (None, types[-1]):
            parser.raise_error(f"expected the accumulator's type {named}", start, parser.pos)
        names = cls.get_irdl_definition().properties
        return cls.build(
            operands=[parser.resolve_operand(o, t) for o, t in zip(operands, types, strict=True)],
            result_types=[types[-1]],
            properties={name: value for name, value in properties.items() if name in names},
            attributes={
                **{name: value for name, value in properties.items() if name not in names},
                **attributes,
            },
        )

    @override
    def print(self, printer: Printer) -> None:
        shown: dict[str, Attribute] = {
            "indexing_maps": self.indexing_maps,
            "iterator_types": ArrayAttr(
                StringAttr(each.data.value) for each in self.iterator_types
            ),
            "kind": self.kind,
        }
        printer.print_string(" ")
        printer.print_attr_dict(shown)
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_list((self.lhs.type, self.rhs.type), printer.print_attribute)
        printer.print_string(" into ")
        printer.print_attribute(self.result.type)

    @override
    def verify_(self) -> None:
        verify_type(self.result.type, self.acc.type, "the result")
        element = element_type(self.lhs)
        verify_elements(self.rhs.type, element, "the second operand")
        if isa(element, IntegerType) and not is_signless_integer(element):
            raise VerifyException(f"expected signless integers such as i32, got {element}")
        maps = [attribute.data for attribute in self.indexing_maps]
        if len(maps) != 3:
            raise VerifyException(f"expected 3 indexing maps, got {len(maps)}")
        for map, value, name in zip(maps, self.operands, _NAMES, strict=True):
            self._verify_map(map, value, name)
        extents = self._extents(maps)
        accumulator = as_vector(self.acc.type)
        result = self.acc.type if accumulator is None else accumulator.element_type
        if set(range(len(extents))) == self._contracted(maps):
            verify_type(self.acc.type, result, "the accumulator of a contraction of all dimensions")
        elif accumulator is None:
            raise VerifyException(f"the accumulator must be a vector, got {self.acc.type}")
        else:
            expected = make_vector(result, [extents[i] for i in _positions(maps[2])])
            if accumulator.get_shape() != expected.get_shape():
                verify_type(self.acc.type, expected, "the accumulator")
        verify_combining_kind(self.kind, result)

    def iteration_sizes(self) -> list[Dimension]:
        """Returns the sizes of the iterations, by which masks are shaped.

        Raises:
            VerifyException: The operands do not agree on them.
        """
        return self._extents([attribute.data for attribute in self.indexing_maps])

    def _verify_map(self, map: AffineMap, value: SSAValue, name: str) -> None:
        """Checks that a map chooses an element of an operand in every iteration."""
        count = len(self.iterator_types)
        vector = as_vector(value.type)
        rank = 0 if vector is None else vector.get_num_dims()
        if map.num_symbols:
            raise VerifyException(f"the map of {name} must have no symbols, got {map}")
        if map.num_dims != count:
            raise VerifyException(
                f"the map of {name} must have {count} dimensions, one for each iterator, got {map}"
            )
        if len(map.results) != rank:
            raise VerifyException(f"the map of {name} must have {rank} results, got {map}")
        positions = _positions(map)
        if len(positions) != rank or len(set(positions)) != rank:
            raise VerifyException(f"the results of {name}'s map must be different dimensions")

    def _extents(self, maps: list[AffineMap]) -> list[Dimension]:
        """Returns the sizes of the iterations."""
        extents: dict[int, Dimension] = {}
        for map, value, name in zip(maps[:2], (self.lhs, self.rhs), _NAMES[:2], strict=True):
            vector = as_vector(value.type)
            assert vector is not None
            for position, dimension in zip(_positions(map), dimensions_of(vector), strict=True):
                known = extents.setdefault(position, dimension)
                if known.size != dimension.size:
                    raise VerifyException(
                        f"iteration d{position} has size {known}, but {dimension} in {name}"
                    )
        if not self._contracted(maps):
            raise VerifyException("both operands must have a reduction dimension in common")
        for position in range(len(self.iterator_types)):
            if position not in extents:
                raise VerifyException(f"iteration d{position} is a dimension of no operand")
        return [extents[position] for position in range(len(self.iterator_types))]

    def _contracted(self, maps: list[AffineMap]) -> set[int]:
        """Returns the iterations along which products are summed up."""
        reductions = {
            position
            for position, each in enumerate(self.iterator_types)
            if each.data is IteratorType.REDUCTION
        }
        return reductions & set(_positions(maps[0])) & set(_positions(maps[1]))


def _parse_trait(parser: Parser) -> Mapping[str, Attribute]:
    """Reads the dictionary before the operands, which may be an alias."""
    start = parser.pos
    trait = parser.parse_attribute()
    if not isinstance(trait, DictionaryAttr):
        parser.raise_error("expected a dictionary of indexing_maps and iterator_types", start)
    iterators = trait.data.get("iterator_types")
    if "indexing_maps" not in trait.data or not isa(iterators, ArrayAttr):
        parser.raise_error("expected indexing_maps and iterator_types", start, parser.pos)
    converted = ArrayAttr(_iterator(parser, each, start) for each in iterators)
    return {"kind": ADD, **trait.data, "iterator_types": converted}


def _parse_optional_type(parser: Parser) -> Attribute | None:
    """Reads the accumulator's type after the operands', where older text has it."""
    return None if parser.parse_optional_punctuation(",") is None else parser.parse_type()


def _iterator(parser: Parser, attribute: Attribute, start: int) -> IteratorTypeAttr:
    if not isinstance(attribute, StringAttr) or attribute.data not in tuple(IteratorType):
        parser.raise_error('an iterator type is "parallel" or "reduction"', start, parser.pos)
    return IteratorTypeAttr(IteratorType(attribute.data))


def _positions(map: AffineMap) -> list[int]:
    """Returns the positions of the dimensions among the results of a map."""
    return [result.position for result in map.results if isinstance(result, AffineDimExpr)]


def product_of_matrices(lhs: SSAValue, rhs: SSAValue, acc: SSAValue) -> ContractionOp:
    """The product of two matrices and a sum; with three dimensions the first counts products."""
    rank = cast("VectorType[Attribute]", acc.type).get_num_dims()
    return ContractionOp.build(
        operands=[lhs, rhs, acc],
        result_types=[acc.type],
        properties=dict(_properties_of_product(rank)),
    )


@cache
def _properties_of_product(rank: int) -> Mapping[str, Attribute]:
    *batch, i, j, k = map(AffineExpr.dimension, range(rank + 1))
    read = [(*batch, i, k), (*batch, k, j), (*batch, i, j)]
    maps = (AffineMapAttr(AffineMap(rank + 1, 0, each)) for each in read)
    kinds = [IteratorType.PARALLEL] * rank + [IteratorType.REDUCTION]
    return {
        "indexing_maps": ArrayAttr(maps),
        "iterator_types": ArrayAttr(map(IteratorTypeAttr, kinds)),
        "kind": ADD,
    }
