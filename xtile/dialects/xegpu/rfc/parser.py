"""MLIR's parser, which also reads what the XeGPU RFC writes in other ways.

The form of LLVM 22 is tried first for an operation `xegpu.`; what it does not read, the reader of
the RFC's form does. An operation with the RFC's prefix `XeGPU.` is the RFC's from the start.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IntegerType, Signedness, f16, f32, f64
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xtile.dialects.xegpu.rfc.descriptor import TensorDescAttr, read_sg_map, read_tensor_desc
from xtile.dialects.xegpu.rfc.names import ATTRIBUTES, operation_name, scalar_type_name
from xtile.dialects.xegpu.rfc.operation_text import ARROWS, OperationText, read_operation_text
from xtile.dialects.xegpu.rfc.operations import OPERATIONS
from xtile.dialects.xegpu.rfc.read_barriers import BARRIER_READERS
from xtile.dialects.xegpu.rfc.read_blocks import BLOCK_READERS
from xtile.dialects.xegpu.rfc.read_dpas import DPAS_READERS
from xtile.dialects.xegpu.rfc.read_scattered import SCATTERED_READERS
from xtile.dialects.xegpu.types import NbarrierType, TensorDescType
from xtile.text.mlir_lexer import MlirLexer
from xtile.text.mlir_parser import MlirParser
from xtile.text.mlir_token_parser import TokenState
from xtile.text.source import Source

_ATTRIBUTES = {
    "xegpu.create_nd_tdesc": {"boundary_check", "memory_scope", "mode"},
    "xegpu.create_tdesc": {"chunk_size", "chunk_size_per_lane", "memory_scope", "mode"},
    "xegpu.dpas": {"mode"},
    "xegpu.load": {"mode", "transpose"},
    "xegpu.load_nd": {"mode", "transpose_bit_width", "vnni_axis"},
    "xegpu.store": {"mode", "transpose"},
    "xegpu.store_nd": {"mode"},
}
"""The attributes with which an operation is the RFC's."""


def is_rfc(operation: Operation) -> bool:
    """Whether an operation that was read in LLVM 22's form has what only the RFC gives a meaning.

    To LLVM 22 these attributes are no more than names.
    """
    names = _ATTRIBUTES.get(operation.name)
    if names is None:
        return False
    # `transpose = [1, 0]` instead of LLVM's `array<i64: 1, 0>`.
    has_list = isinstance(operation.properties.get("transpose"), ArrayAttr)
    return has_list or not names.isdisjoint(operation.attributes)


def is_refused(operation: Operation) -> bool:
    """Whether LLVM 22 refuses an operation, such as a `dpas` of matrices split for VNNI."""
    try:
        operation.verify_()
    except VerifyException:
        return True
    return False


_OF_THE_RFC = frozenset(operation.name for operation in OPERATIONS)

_READERS: dict[str, Callable[[OperationText], Operation]] = {
    **BARRIER_READERS,
    **BLOCK_READERS,
    **DPAS_READERS,
    **SCATTERED_READERS,
}


def build(text: OperationText) -> Operation:
    """Returns the operation that a text in the RFC's form stands for.

    Raises:
        ParseError: It stands for none.
    """
    try:
        return _READERS[text.name](text)
    except VerifyException as error:
        text.error(str(error))


_TYPOGRAPHIC_KIND = re.compile(r"(xegpu\.atomic_rmw\s*)“(\w+)”", re.IGNORECASE)

_DESCRIPTORS = ("tensor_desc", "tile")
"""What the RFC calls a descriptor's type, in lower case."""


@dataclass(frozen=True)
class _Reader:
    """Stands in for the class of an operation where xDSL lets that read the operation's text."""

    spelling: str
    name: str
    definition: type[Operation]

    def dialect_name(self) -> str:
        """The dialect whose operations may be written without its name inside of this one."""
        return self.definition.dialect_name()

    def parse(self, parser: XeGPUParser) -> Operation:
        """Reads the text after the name."""
        return parser.read_either(self.spelling, self.name, self.definition)


class XeGPUParser(MlirParser):
    """Reads MLIR text in which XeGPU has LLVM 22's form or the RFC's, operation by operation.

    Attributes:
        is_rfc: Whether the text read so far has something that only the RFC's form has. It decides
            about operations that both forms write in the same way and only the RFC accepts.
    """

    is_rfc: bool = False
    _is_in_operation: bool = False

    def __init__(self, context: Context, source: Source) -> None:
        super().__init__(context, source)
        plain = _with_plain_quotes(source.text)
        if plain != source.text:
            self._lexer = MlirLexer(Input(plain, source.name))
            self._parser_state = TokenState(self._lexer)

    @property
    def text(self) -> str:
        """All of the text that is read."""
        return self._source.text

    def parse_optional_keyword_value(self) -> str | None:
        """Reads a word that is no number, type or attribute of MLIR, such as `cached` or `vc`."""
        token = self._current_token
        is_word = token.kind is MLIRTokenKind.BARE_IDENT and token.text not in ("true", "false")
        # `array<i64: 1, 0>` is an attribute.
        if not is_word or self.text.startswith("<", token.span.end):
            return None
        self._consume_token()
        return token.text

    def parse_operation_type(self) -> Attribute:
        """Reads a type in the RFC's form or in MLIR's."""
        return self.expect(self.parse_optional_operation_type, "type expected")

    def parse_optional_operation_type(self) -> Attribute | None:
        """Reads a type in the RFC's form or in MLIR's, if one is there."""
        was_in_operation = self._is_in_operation
        self._is_in_operation = True
        try:
            return self.parse_optional_type()
        finally:
            self._is_in_operation = was_in_operation

    @override
    def parse_optional_type(self) -> TypeAttribute | None:
        if self._is_in_operation and self._current_token.kind is MLIRTokenKind.BARE_IDENT:
            found = self._parse_optional_rfc_type(self._current_token.text)
            if found is not None:
                return found
        return super().parse_optional_type()

    @override
    def parse_optional_attribute(self) -> Attribute | None:
        token = self._current_token
        is_name = token.kind is MLIRTokenKind.BARE_IDENT
        if is_name and token.text.lower().startswith("xegpu."):
            # The RFC's examples define `#map = xegpu.sg_map<...>`.
            self._consume_token()
            return self._parse_extended_type_or_attribute(token.text, False)
        return super().parse_optional_attribute()

    @override
    def _get_op_by_name(self, name: str) -> type[Operation]:
        known = operation_name(name)
        # The generic form has its operands in parentheses, and the RFC has no generic form.
        if known is None or self._current_token.kind is MLIRTokenKind.L_PAREN:
            return super()._get_op_by_name(name)
        reader = _Reader(name, known, super()._get_op_by_name(known))
        return cast("type[Operation]", reader)

    @override
    def _parse_extended_type_or_attribute(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, attr_or_dialect_name: str, is_type: bool
    ) -> Attribute:
        name = attr_or_dialect_name
        prefix, _, mnemonic = name.partition(".")
        if prefix.lower() == "xegpu":
            found = self._parse_optional_xegpu(mnemonic)
            if found is not None:
                return found
            # MLIR writes some attributes as `#xegpu<memory_space slm>`.
            name = f"xegpu.{mnemonic}" if mnemonic else "xegpu"
            is_type = is_type and mnemonic not in ATTRIBUTES
        elif (
            name.lower() == "scattered" and not is_type and self._value_of_alias(f"#{name}") is None
        ):
            return self._rfc(TensorDescAttr.scattered())
        return super()._parse_extended_type_or_attribute(name, is_type)

    def read_either(self, spelling: str, name: str, definition: type[Operation]) -> Operation:
        """Reads an operation, whose name is read, in the form that it has.

        Raises:
            ParseError: It has neither form.
        """
        if not spelling.startswith("xegpu.") or name in _OF_THE_RFC:
            return self._read_rfc(spelling, name)
        start = self.pos
        try:
            operation = definition.parse(self)
        except ParseError as error:
            self._resume_from(start)
            return self._read_rfc_instead(spelling, name, error)
        if is_rfc(operation) or self._is_at_arrow() or (self.is_rfc and is_refused(operation)):
            operation.erase()
            self._resume_from(start)
            return self._read_rfc(spelling, name)
        return operation

    def _read_rfc_instead(self, spelling: str, name: str, other: ParseError) -> Operation:
        """Reads an operation that LLVM 22's form does not fit.

        Raises:
            ParseError: The RFC's does not either; the error is of the one that fits further.
        """
        try:
            return self._read_rfc(spelling, name)
        except ParseError as error:
            raise self._better(error, other) from None

    def _read_rfc(self, spelling: str, name: str) -> Operation:
        operation = build(read_operation_text(self, spelling, name))
        self.is_rfc = True
        return operation

    def _is_at_arrow(self) -> bool:
        """Whether a result's type follows that LLVM 22 does not write."""
        token = self._current_token
        return token.kind is MLIRTokenKind.ARROW or token.text in ARROWS

    def _better(self, rfc: ParseError, llvm: ParseError) -> ParseError:
        """Returns the error of the form that a text is more likely meant to have."""
        return rfc if self.is_rfc or rfc.span.start > llvm.span.start else llvm

    def _rfc(self, attribute: Attribute) -> Attribute:
        """Returns an attribute that only the RFC's form has."""
        self.is_rfc = True
        return attribute

    def _parse_optional_rfc_type(self, name: str) -> TypeAttribute | None:
        """Reads a type that the RFC writes without MLIR's `!xegpu.`, or under a name of its own."""
        scalar = scalar_type_name(name)
        if scalar is not None:
            self._consume_token()
            return _scalar_type(scalar)
        if name == "Vector":
            self._consume_token()
            self.parse_punctuation("<")
            vector = self._parse_vector_attrs()
            self.parse_punctuation(">")
            return vector
        if name in _DESCRIPTORS:
            self._consume_token()
            return read_tensor_desc(self)
        if name == "nbarrier":
            self._consume_token()
            return NbarrierType()
        return None

    def _parse_optional_xegpu(self, mnemonic: str) -> Attribute | None:
        """Reads a type or an attribute of XeGPU that the RFC's form has; its name is read."""
        if mnemonic in _DESCRIPTORS:
            return self._parse_descriptor()
        if mnemonic == "scattered":
            return self._rfc(TensorDescAttr.scattered())
        if mnemonic == "sg_map":
            return self._rfc(read_sg_map(self))
        if mnemonic == "tdesc_attr":
            return self._rfc(TensorDescAttr.new(TensorDescAttr.parse_parameters(self)))
        return None

    def _parse_descriptor(self) -> Attribute:
        """Reads a descriptor's type in the form that it has; its name is read."""
        start = self.pos
        try:
            return TensorDescType.new(TensorDescType.parse_parameters(self))
        except ParseError as error:
            self._resume_from(start)
            try:
                descriptor = read_tensor_desc(self)
            except ParseError as rfc_error:
                raise self._better(rfc_error, error) from None
        return self._rfc(descriptor)


def _with_plain_quotes(text: str) -> str:
    """Returns a text whose `atomic_rmw “addf”`, as the RFC's page shows it, has MLIR's quotes.

    Every character stays at its place.
    """
    return _TYPOGRAPHIC_KIND.sub(r'\1"\2"', text) if "“" in text else text


def _scalar_type(name: str) -> TypeAttribute:
    """Returns the type of numbers that MLIR calls so."""
    if name.startswith("f"):
        return _FLOATS[name]
    sign = Signedness.UNSIGNED if name.startswith("u") else Signedness.SIGNLESS
    return IntegerType(int(name.lstrip("ui")), sign)


_FLOATS: dict[str, TypeAttribute] = {"f16": f16, "f32": f32, "f64": f64}
