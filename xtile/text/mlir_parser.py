"""The parser of MLIR text that records the locations of what it reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import is_
from typing import cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ComplexType,
    ContainerType,
    FunctionType,
    LocationAttr,
    ModuleOp,
    NoneType,
    StringAttr,
    TupleType,
    UnregisteredOp,
    VectorType,
)
from xdsl.dialects.builtin import UnknownLoc as UnknownLocation
from xdsl.ir import Attribute, AttributeInvT, BlockArgument, Operation, SSAValue, TypeAttribute
from xdsl.parser import UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.lexer import Input
from xdsl.utils.lexer import Span as XdslSpan
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xtile.text.extensions import form_of
from xtile.text.mlir_lexer import MlirLexer, MlirToken
from xtile.text.mlir_locations import file_location
from xtile.text.mlir_resource_parser import ResourceParser
from xtile.text.mlir_resources import Resources
from xtile.text.mlir_token_parser import NamedOperand, TokenState
from xtile.text.source import Source, Span
from xtile.text.value_names import give_checked_name

_OTHER_FORMS = {
    "spirv": (
        "; xtile reads MLIR's own spirv operations only where they are functions such as "
        "spirv.CL.exp, and MLIR's modules of SPIR-V as the .spv files that "
        "`mlir-translate --no-implicit-module --serialize-spirv` makes of them (docs/spirv.md)"
    ),
    "xegpu": "; xtile reads the operations that XeGPU has in LLVM 22",
}
"""For a dialect that others have in another form, or with more operations, what messages say."""


_TYPE = re.compile(
    r"(?:i[1-9][0-9]*+|index|bf16|f16|f32|f64)(?![\w.$<])"
    r"|(?:tensor|vector|memref|!\w[\w.]*+)"
    r'<[^<>"]*+(?:<[^<>"]*+(?:<[^<>"]*+(?:<[^<>"]*+>[^<>"]*+)*+>[^<>"]*+)*+>[^<>"]*+)*+>'
)
"""A number's type, or one with parameters, of which texts have many alike."""


class MlirParser(ResourceParser):
    """The parser of all of MLIR's text, which records where operations, operands and arguments are.

    An operation or an argument whose text gives no `loc(...)` gets its span in the source as its
    location.
    """

    def __init__(self, context: Context, source: Source) -> None:
        # xDSL would read the first token with its own lexer.
        super().__init__(context, "", source.name)
        self._source = source
        self._lexer = MlirLexer(Input(source.text, source.name))
        self._parser_state = TokenState(self._lexer)
        self._aliases = {}
        self._later_definitions = None
        self._distinct = {}
        self._resources = {}
        self._file_name = StringAttr(source.name)
        # Where names stood first that were not defined before.
        self._first_uses: dict[str, XdslSpan] = {}
        self._operation_starts: list[int] = []
        # What reads operations, by their names and the dialects whose names may be left out.
        self._operations: dict[tuple[str | bool, ...], type[Operation]] = {}
        self._types: dict[str, TypeAttribute] = {}

    @property
    def resources(self) -> Resources:
        """The resources that were read."""
        return self._resources

    @property
    def is_at_end(self) -> bool:
        """Whether all of the text is read."""
        return self._current_token.kind is MLIRTokenKind.EOF

    @property
    def position(self) -> Span:
        """What was read of the operation that is being read, or the next token."""
        token = self._current_token.span
        if not self._operation_starts:
            return Span(token.start, token.end)
        start = self._operation_starts[-1]
        return Span(start, max(self.previous_end, start))

    @override
    def parse_operation(self) -> Operation:
        start = self.pos
        first_operand = len(self._operands)
        self._operation_starts.append(start)
        results = self._parse_results()
        name_start = self.pos
        operation = self._parse_named_operation()
        self._define_results(operation, results)
        self._operation_starts.pop()
        end = self.previous_end
        self._record(operation, start, end, self._operands[first_operand:])
        del self._operands[first_operand:]
        if self._location_end != end and isinstance(operation.location, UnknownLocation):
            operation.location = self._location_at(name_start)
        return operation

    def _parse_results(self) -> list[tuple[MlirToken, int]]:
        """Reads `%a, %b:2 =` where an operation has results: their names, and how many each is."""
        if self._parser_state.current_token.kind is not MLIRTokenKind.PERCENT_IDENT:
            return []
        results = [self._parse_result()]
        while self.parse_optional_punctuation(",") is not None:
            results.append(self._parse_result())
        self.parse_punctuation("=", " after operation result list")
        return results

    def _parse_result(self) -> tuple[MlirToken, int]:
        name = self._parse_token(MLIRTokenKind.PERCENT_IDENT, "Expected result SSA value!")
        if self._parser_state.current_token.kind is not MLIRTokenKind.COLON:
            return name, 1
        self._consume_token()
        size = self._parse_token(MLIRTokenKind.INTEGER_LIT, "Expected SSA value tuple size")
        return name, size.kind.get_int_value(size.span)

    def _parse_named_operation(self) -> Operation:
        """Reads an operation, whose results are read, in its custom or its generic form."""
        dialects = self._parser_state.dialect_stack
        name = self._parse_optional_token(MLIRTokenKind.BARE_IDENT)
        if name is None:
            quoted = self.expect(self.parse_optional_str_literal, "operation name expected")
            kind = self._get_op_by_name(quoted)
            dialects.append(kind.dialect_name())
            operation = self._parse_generic_operation(kind)
            dialects.pop()
            return operation
        kind = self._get_op_by_name(name.text)
        dialects.append(kind.dialect_name())
        operation = kind.parse(self)
        dialects.pop()
        location = self.parse_optional_location()
        if location is not None:
            operation.location = location
        return operation

    def _define_results(self, operation: Operation, results: list[tuple[MlirToken, int]]) -> None:
        """Gives the names of results to those that an operation has."""
        if not results:
            return
        values = operation.results
        if len(results) == 1 and results[0][1] == len(values):
            # As nearly all results are.
            self._define(values, results[0][0])
            return
        count = sum(size for _, size in results)
        if count not in (0, len(values)):
            self.raise_error(
                f"Operation has {len(values)} results, but was given {count} to bind.",
                results[0][0].span,
            )
        first = 0
        for token, size in results:
            self._define(values[first : first + size], token)
            first += size

    def _define(self, values: Sequence[SSAValue], token: MlirToken) -> None:
        """Gives the name of a result, or of several, to values."""
        name = token.text[1:]
        if name in self.ssa_values or name in self.forward_ssa_references:
            super()._register_ssa_definition(name, values, token.span)
        else:
            self.ssa_values[name] = tuple(values)
        self._give_name(values, name)

    def _record(
        self, operation: Operation, start: int, end: int, shown: Sequence[NamedOperand]
    ) -> None:
        """Records where an operation stands, and its operands among those that its text shows.

        The text may show operands in another order than the operation holds them. One that it does
        not show stands where the operation does.
        """
        values: list[SSAValue | None] = []
        for operand in shown:
            value = self._value_of(operand) if operand.value is None else operand.value
            if value is None:
                self._check_forward_references(operation, operand)
            values.append(value)
        tokens = [operand.token for operand in shown]
        offsets = [start, end]
        operands = operation.operands
        if len(values) == len(operands) and all(map(is_, values, operands)):
            for token in tokens:
                offsets += (token.start, token.end)
            self._source.record(operation, tuple(offsets))
            return
        for operand in operands:
            for index, value in enumerate(values):
                if value is operand:
                    token = tokens.pop(index)
                    del values[index]
                    offsets += (token.start, token.end)
                    break
            else:
                offsets += (start, end)
        self._source.record(operation, tuple(offsets))

    @override
    def _get_op_by_name(self, name: str) -> type[Operation]:
        end = self.previous_end
        is_custom_form = not self.text.startswith('"', end - 1)
        key = (name, is_custom_form, *self._parser_state.dialect_stack)
        known = self._operations.get(key)
        if known is None:
            known = self._operations[key] = self._find_operation(name, end, is_custom_form)
        return known

    def _find_operation(self, name: str, end: int, is_custom_form: bool) -> type[Operation]:
        """Returns what reads an operation whose name ends at an offset.

        Raises:
            ParseError: There is no such operation, or it has no custom form.
        """
        start = end - len(name) - (0 if is_custom_form else 2)
        operation = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        other_form = _OTHER_FORMS.get(name.partition(".")[0], "") if is_custom_form else ""
        if operation is None:
            self.raise_error(f"Operation {name} is not registered{other_form}", start, end)
        if is_custom_form and issubclass(operation, UnregisteredOp):
            message = (
                f"Operation {name} is not registered, and of such operations only the generic form "
                f'can be read: "{name}"(...){other_form}'
            )
            self.raise_error(message, start, end)
        if not is_custom_form:
            return operation
        form = form_of(operation)
        if form.parse is None:
            message = f'Operation {name} has only the generic form: "{name}"(...){other_form}'
            self.raise_error(message, start, end)
        # Of what reads a custom form xDSL asks for its dialect and calls `parse`.
        return cast("type[Operation]", form)

    @override
    def _register_ssa_definition(
        self, name: str, values: Sequence[SSAValue], span: XdslSpan
    ) -> None:
        super()._register_ssa_definition(name, values, span)
        self._give_name(values, name)
        for value in values:
            if isinstance(value, BlockArgument):
                self._source.record(value, (span.start, span.end))
                is_given = self._location_end == self.previous_end
                if isinstance(value.location, UnknownLocation) and not is_given:
                    value.location = self._location_at(span.start)

    def _give_name(self, values: Sequence[SSAValue], name: str) -> None:
        """Names values as the text does; numbers that stand for names of results are none."""
        is_name = SSAValue.is_valid_name(name)
        for value in values:
            if is_name:
                give_checked_name(value, name)
            elif isinstance(value, BlockArgument) or not name.isdigit():
                self._source.names[value] = name

    @override
    def parse_optional_type(self) -> TypeAttribute | None:
        """Reads a type; one whose text was read before is not read again."""
        match = _TYPE.match(self._source.text, self.pos)
        if match is None or "->" in match[0]:
            return super().parse_optional_type()
        known = self._types.get(match[0])
        if known is not None:
            self.skip_to(match.end())
            return known
        read = super().parse_optional_type()
        if read is not None and self.previous_end == match.end():
            self._types[match[0]] = read
        return read

    @override
    def _parse_optional_builtin_parametrized_type(self) -> TypeAttribute | None:
        start = self.pos
        try:
            type = super()._parse_optional_builtin_parametrized_type()
            if isa(type, VectorType):
                _verify_vector_type(type)
        except VerifyException as error:
            self.raise_error(str(error), start, self.previous_end)
        return type

    @override
    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        values = self.ssa_values.get(operand.operand_name)
        if values is None:
            if operand.operand_name not in self.forward_ssa_references:
                self._first_uses[operand.operand_name] = operand.span
        elif operand.index < len(values):
            value = values[operand.index]
            known = value.type
            # Most types are the very same object, which is found out sooner.
            if known is type or known == type:
                if isinstance(operand, NamedOperand):
                    operand.value = value
                return cast("SSAValue[AttributeInvT]", value)
        return super().resolve_operand(operand, type)

    @override
    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            return super().parse_module(allow_implicit_module)
        except ParseError as error:
            # xDSL would name the values at the end of the text.
            if not error.msg.startswith("values used but not defined"):
                raise
            name = next(iter(self.forward_ssa_references))
            self.raise_error(f"%{name} is used but not defined", self._first_uses[name])

    def _check_forward_references(self, operation: Operation, operand: UnresolvedOperand) -> None:
        """Checks that an operand is not a value that only a region of the operation defines.

        xDSL then takes what it resolved already for the operand.

        Raises:
            ParseError: It is.
        """
        if any(isinstance(each, ForwardDeclaredValue) for each in operation.operands):
            self.raise_error(
                f"%{operand.operand_name} is not defined here: only a region of this operation "
                "defines it",
                operand.span,
            )

    def _value_of(self, operand: UnresolvedOperand) -> SSAValue | None:
        """Returns the value of an operand, if it is known in this scope."""
        values = self.ssa_values.get(operand.operand_name, ())
        if operand.index < len(values):
            return values[operand.index]
        return self.forward_ssa_references.get(operand.operand_name, {}).get(operand.index)

    def _location_at(self, offset: int) -> LocationAttr:
        """Returns the location attribute of a character offset."""
        return file_location(self._file_name, *self._source.position(offset))


def _verify_vector_type(type: VectorType[Attribute]) -> None:
    """Checks what xDSL does not: that a vector has elements, and of a type that vectors hold.

    Raises:
        VerifyException: It has not.
    """
    for size in type.get_shape():
        if size < 1:
            raise VerifyException(f"the sizes of a vector must be at least 1, got {size}")
    element = type.element_type
    if isinstance(element, ContainerType | ComplexType | NoneType | FunctionType | TupleType):
        raise VerifyException(
            f"a vector holds integers, indices, floats or pointers, got {element}"
        )
