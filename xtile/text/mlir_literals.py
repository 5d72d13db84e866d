"""Reads MLIR's numbers and elements: scalars, `dense`, `sparse`, `array` and `distinct`.

A hexadecimal literal of a floating-point type is the bits of the number, and a string of elements
the bytes of all. Source: MLIR, "Builtin Dialect", "Attributes"; where it is silent, LLVM 22's
`mlir/lib/AsmParser/AttributeParser.cpp`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeGuard, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    AnyDenseElement,
    ArrayAttr,
    BytesAttr,
    ComplexType,
    ContainerType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IndexType,
    IntAttr,
    RankedStructure,
    ShapedType,
    StringAttr,
    TensorType,
    UnitAttr,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, BuiltinAttribute
from xdsl.ir.affine import AffineMap, AffineSet
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind, StringLiteral

from xtile.text.mlir_affine_parser import MlirAffineParser
from xtile.text.mlir_attributes import (
    DenseStringElementsAttr,
    DistinctAttr,
    SparseElementsAttr,
    dense_elements,
    equal_elements,
)
from xtile.text.mlir_lexer import MlirLexer
from xtile.text.mlir_number_parser import Number, NumberParser
from xtile.text.mlir_numbers import Scalar, as_scalar, bit_width, from_mlir_bytes, is_boolean
from xtile.text.mlir_token_parser import TokenState

_DenseType: TypeAlias = RankedStructure[AnyDenseElement]


@dataclass(frozen=True, slots=True)
class _Complex:
    """A complex number whose type is not known yet."""

    real: Number
    imaginary: Number
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _String:
    """A string."""

    contents: bytes
    start: int
    end: int


_Element: TypeAlias = Number | _Complex | _String


class LiteralParser(NumberParser):
    """The parser of numbers with MLIR's lists of them."""

    _distinct: dict[int, DistinctAttr]

    @classmethod
    def in_place_of(cls, parser: Parser) -> LiteralParser:
        """Returns a parser that reads on where any parser of xDSL's stands, and moves it along."""
        if isinstance(parser, LiteralParser):
            return parser
        state = cast(TokenState, parser._parser_state)
        lexer = MlirLexer(state.lexer.input)
        lexer.pos = state.lexer.pos
        lexer.previous_end = state.current_token.span.start
        reader = cls(parser.ctx, "")
        state.lexer = reader._lexer = lexer
        reader._parser_state = state
        return reader

    @override
    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        attribute = self._parse_dense(type)
        if isinstance(attribute, DenseStringElementsAttr):
            self.raise_error("expected elements that are numbers, but these are strings")
        return attribute

    @override
    def _parse_builtin_dense_attr(self) -> DenseIntOrFPElementsAttr:
        # xDSL only hands the result on as an attribute.
        return cast(DenseIntOrFPElementsAttr, self._parse_dense(None))

    @override
    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        self.parse_punctuation("<", " in dense array")
        start = self.pos
        element = as_scalar(self.parse_type())
        if (
            element is None
            or isinstance(element, IndexType)
            or (bit_width(element) % 8 and not is_boolean(element))
        ):
            message = (
                "the elements of an array must be integers or floating-point numbers of one bit "
                "or of whole bytes"
            )
            self.raise_error(message, start, self.pos)
        numbers: list[Number] = []
        if self.parse_optional_punctuation(":") is not None:
            numbers = self.parse_comma_separated_list(self.Delimiter.NONE, self._parse_number)
        data = self._bytes(numbers, element)
        self.parse_punctuation(">", " in dense array")
        return DenseArrayBase(element, BytesAttr(data))

    @override
    def _parse_builtin_dense_resource_attr(self) -> DenseResourceAttr:
        self.parse_punctuation("<", " in dense_resource attribute")
        key = self.parse_identifier_or_str_literal(" for resource handle")
        self.parse_punctuation(">", " in dense_resource attribute")
        self.parse_punctuation(":", " in dense_resource attribute")
        start = self.pos
        shaped = self.parse_type()
        if not isinstance(shaped, ShapedType):
            self.raise_error("a dense_resource must have a shaped type", start, self.pos)
        return DenseResourceAttr.from_params(key, shaped)

    @override
    def _parse_optional_builtin_parametrized_attr(self) -> Attribute | None:
        if self.parse_optional_keyword("sparse") is not None:
            return self._parse_sparse()
        if self.parse_optional_keyword("distinct") is not None:
            return self._parse_distinct()
        return super()._parse_optional_builtin_parametrized_attr()

    @override
    def parse_affine_map(self) -> AffineMap:
        return MlirAffineParser(self._parser_state).parse_affine_map()

    @override
    def parse_affine_set(self) -> AffineSet:
        return MlirAffineParser(self._parser_state).parse_affine_set()

    def _parse_distinct(self) -> DistinctAttr:
        """Reads `[0]<attribute>`; the same number stands for the same attribute."""
        start = self.pos
        self.parse_punctuation("[", " in distinct attribute")
        identifier = self.parse_integer(False, False, " in distinct attribute")
        self.parse_punctuation("]", " in distinct attribute")
        self.parse_punctuation("<", " in distinct attribute")
        referenced: Attribute = UnitAttr()
        if self.parse_optional_punctuation(">") is None:
            referenced = self.parse_attribute()
            self.parse_punctuation(">", " in distinct attribute")
        attribute = DistinctAttr(IntAttr(identifier), referenced)
        if self._distinct.setdefault(identifier, attribute) != attribute:
            message = (
                f"distinct[{identifier}] has another attribute than before; give it a number of "
                "its own"
            )
            self.raise_error(message, start, self.pos)
        return attribute

    def _parse_sparse(self) -> SparseElementsAttr:
        """Reads `<indices, values> : type`."""
        self.parse_punctuation("<", " in sparse attribute")
        indices: list[_Element] = []
        values: list[_Element] = []
        shape: list[int] = []
        start = end = self.pos
        if self.parse_optional_punctuation(">") is None:
            indices, shape = self._parse_elements()
            self.parse_punctuation(",", " after the indices of a sparse attribute")
            values, _ = self._parse_elements()
            end = self.previous_end
            self.parse_punctuation(">", " in sparse attribute")
        self.parse_punctuation(":", " in sparse attribute")
        dense_type = self._parse_dense_type()
        rank = dense_type.get_num_dims()
        if not shape:
            shape = [1 if indices else 0, rank]
        if len(shape) != 2 or shape[1] != rank:
            message = (
                f"the indices of a sparse attribute must be rows of {rank} numbers, because its "
                f"type has {rank} dimensions"
            )
            self.raise_error(message, start, end)
        if len(values) not in (shape[0], 1 if indices else 0):
            message = f"expected {shape[0]} values, one for each row of indices"
            self.raise_error(message, start, end)
        index_type = cast(_DenseType, TensorType(i64, shape))
        value_type = cast(_DenseType, TensorType(dense_type.get_element_type(), shape[:1]))
        return SparseElementsAttr(
            self._dense_numbers(indices, index_type),
            self._dense_elements(values, value_type),
            dense_type,
        )

    def _parse_dense(
        self, dense_type: _DenseType | None
    ) -> DenseIntOrFPElementsAttr | DenseStringElementsAttr:
        """Reads `<elements>`, and `: type` if no type is given."""
        self.parse_punctuation("<", " in dense attribute")
        if dense_type is None:
            return self._parse_dense_contents(self._parse_type_of_dense)
        return self._parse_dense_contents(lambda: dense_type)

    def parse_elements_with(self, parse_type: Callable[[], _DenseType]) -> DenseIntOrFPElementsAttr:
        """Reads `elements> : type` of a dialect's own text.

        Args:
            parse_type: Reads the type.

        Raises:
            ParseError: The text is malformed, or its elements are none of the type.
        """

        def parse_after_colon() -> _DenseType:
            self.parse_punctuation(":", " after the elements")
            return parse_type()

        attribute = self._parse_dense_contents(parse_after_colon)
        if isinstance(attribute, DenseStringElementsAttr):
            self.raise_error("expected elements that are numbers, but these are strings")
        return attribute

    def _parse_type_of_dense(self) -> _DenseType:
        self.parse_punctuation(":", " in dense attribute")
        return self._parse_dense_type()

    def _parse_dense_contents(
        self, parse_type: Callable[[], _DenseType]
    ) -> DenseIntOrFPElementsAttr | DenseStringElementsAttr:
        """Reads `elements>` and what gives their type."""
        elements: list[_Element] = []
        shape: list[int] | None = None
        start = self.pos
        end = start + 1
        if self.parse_optional_punctuation(">") is None:
            elements, shape = self._parse_elements()
            end = self.previous_end
            self.parse_punctuation(">", " in dense attribute")
        dense_type = parse_type()
        count = math.prod(dense_type.get_shape())
        if shape is None and count != 0:
            self.raise_error(f"expected {count} elements, but found none", start, end)
        if shape and shape != list(dense_type.get_shape()) and (elements or count):
            found = "x".join(map(str, shape))
            expected = "x".join(map(str, dense_type.get_shape())) or "no dimensions"
            message = f"these elements have the shape {found}, but their type has {expected}"
            self.raise_error(message, start, end)
        first = elements[0] if len(elements) == 1 and not shape else None
        element_type: Attribute = dense_type.get_element_type()
        is_numeric = isinstance(element_type, ComplexType) or as_scalar(element_type) is not None
        if isinstance(first, _String) and is_numeric:
            return self._dense_of_bytes(first, dense_type)
        return self._dense_elements(elements, dense_type)

    def _parse_dense_type(self) -> _DenseType:
        """Reads a tensor or vector type of known shape, or a type of a dialect that is like one."""
        start = self.pos
        dense_type = self.parse_type()
        if not _has_elements(dense_type):
            message = "elements must have a ranked tensor type or a vector type"
            self.raise_error(message, start, self.pos)
        if any(size < 0 for size in dense_type.get_shape()):
            message = "elements must have a type whose sizes are all known"
            self.raise_error(message, start, self.pos)
        return dense_type

    def _parse_elements(self) -> tuple[list[_Element], list[int]]:
        """Reads elements in nested brackets; returns them in order, and their shape."""
        if self._current_token.kind is not MLIRTokenKind.L_SQUARE:
            return [self._parse_element()], []
        start = self.pos
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_elements)
        if not parts:
            return [], [0]
        shape = parts[0][1]
        if any(part[1] != shape for part in parts):
            message = "these lists of elements differ in length; all must have the same shape"
            self.raise_error(message, start, self.previous_end)
        return [element for part in parts for element in part[0]], [len(parts), *shape]

    def _parse_element(self) -> _Element:
        """Reads a number, a complex number or a string."""
        token = self._current_token
        if token.kind in (MLIRTokenKind.STRING_LIT, MLIRTokenKind.BYTES_LIT):
            self._consume_token()
            return _String(
                StringLiteral.from_span(token.span).bytes_contents, token.span.start, token.span.end
            )
        if token.kind is not MLIRTokenKind.L_PAREN:
            return self._parse_number()
        self._consume_token()
        real = self._parse_number()
        self.parse_punctuation(",", " in complex number")
        imaginary = self._parse_number()
        self.parse_punctuation(")", " in complex number")
        return _Complex(real, imaginary, token.span.start, self.previous_end)

    def _dense_elements(
        self, elements: Sequence[_Element], dense_type: _DenseType
    ) -> DenseIntOrFPElementsAttr | DenseStringElementsAttr:
        if elements and all(isinstance(element, _String) for element in elements):
            strings = cast(Sequence[_String], elements)
            if len(set(strings)) == 1:
                strings = strings[:1]
            decoded = [StringAttr(self._decoded(string)) for string in strings]
            return DenseStringElementsAttr(ArrayAttr(decoded), cast(Attribute, dense_type))
        return self._dense_numbers(elements, dense_type)

    def _dense_numbers(
        self, elements: Sequence[_Element], dense_type: _DenseType
    ) -> DenseIntOrFPElementsAttr:
        element_type = dense_type.get_element_type()
        if isinstance(element_type, ComplexType):
            scalar = cast(Scalar, element_type.element_type)
            numbers = [part for element in elements for part in self._parts(element)]
        else:
            scalar = element_type
            numbers = [self._as_number(element) for element in elements]
        data = self._bytes(numbers, scalar)
        if len(elements) == 1:
            return equal_elements(cast(Attribute, dense_type), data)
        return dense_elements(cast(Attribute, dense_type), data)

    def _dense_of_bytes(self, string: _String, dense_type: _DenseType) -> DenseIntOrFPElementsAttr:
        """Elements that a string such as `"0x0000803F"` holds in little-endian order."""
        element_type = dense_type.get_element_type()
        text = string.contents.decode("latin-1")
        try:
            raw = bytes.fromhex(text[2:]) if text.startswith("0x") else None
        except ValueError:
            raw = None
        if raw is None:
            message = 'expected a string of bytes in hexadecimal such as "0x0000803F"'
            self.raise_error(message, string.start, string.end)
        count = math.prod(dense_type.get_shape())
        one = from_mlir_bytes(element_type, raw, 1)
        # Each bit of a byte is an i1 of its own, unless they are equal.
        is_equal = element_type != i1 or raw in (b"\x00", b"\xff")
        if one is not None and is_equal and count > 1:
            return equal_elements(cast(Attribute, dense_type), one)
        data = from_mlir_bytes(element_type, raw, count)
        if data is None:
            message = f"{len(raw)} bytes are neither one element nor the {count} of the type"
            self.raise_error(message, string.start, string.end)
        return dense_elements(cast(Attribute, dense_type), data)

    def _as_number(self, element: _Element) -> Number:
        if isinstance(element, _Complex):
            message = "a complex number is an element of a complex type only"
            self.raise_error(message, element.start, element.end)
        if isinstance(element, _String):
            message = "a string is no number; write numbers, or all bytes as one string"
            self.raise_error(message, element.start, element.end)
        return element

    def _parts(self, element: _Element) -> tuple[Number, Number]:
        if not isinstance(element, _Complex):
            message = "expected a complex number such as (1.0, 2.0)"
            self.raise_error(message, element.start, element.end)
        return element.real, element.imaginary

    def _decoded(self, string: _String) -> str:
        try:
            return string.contents.decode("utf-8")
        except UnicodeDecodeError:
            self.raise_error("this string is not valid UTF-8", string.start, string.end)


def _has_elements(type: Attribute) -> TypeGuard[_DenseType]:
    """Whether a type may be that of elements."""
    if isinstance(type, BuiltinAttribute):
        return isinstance(type, TensorType | VectorType)
    return isinstance(type, ShapedType) and isinstance(type, ContainerType)
