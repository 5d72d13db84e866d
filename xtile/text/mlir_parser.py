"""The parser of MLIR text that records the locations of what it reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ComplexType,
    ContainerType,
    FileLineColLoc,
    FunctionType,
    IntAttr,
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
from xdsl.parser import ParserState, UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.lexer import Input
from xdsl.utils.lexer import Span as XdslSpan
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xtile.text.extensions import form_of
from xtile.text.mlir_lexer import MlirLexer
from xtile.text.mlir_resource_parser import ResourceParser
from xtile.text.mlir_resources import Resources
from xtile.text.source import Source, Span
from xtile.text.value_names import give_name

_OTHER_FORMS = {
    "spirv": (
        "; xtile reads MLIR's own spirv operations only where they are functions such as "
        "spirv.CL.exp, and MLIR's modules of SPIR-V as the .spv files that "
        "`mlir-translate --no-implicit-module --serialize-spirv` makes of them (docs/spirv.md)"
    ),
}
"""For a dialect that others have in another form, what messages say of it."""


_TYPE = re.compile(
    r"(?:tensor|vector|memref|!\w[\w.]*+)"
    r'<[^<>"]*+(?:<[^<>"]*+(?:<[^<>"]*+(?:<[^<>"]*+>[^<>"]*+)*+>[^<>"]*+)*+>[^<>"]*+)*+>'
)
"""A type with parameters, of which texts have many alike."""


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
        self._parser_state = ParserState(self._lexer)
        self._aliases = {}
        self._later_definitions = None
        self._distinct = {}
        self._resources = {}
        self._file_name = StringAttr(source.name)
        # The operands read so far; an operation takes its own.
        self._operands: list[UnresolvedOperand] = []
        # Where names stood first that were not defined before.
        self._first_uses: dict[str, XdslSpan] = {}
        self._operation_starts: list[int] = []
        self._name_starts: list[int] = []
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
        self._name_starts.append(start)
        operation = super().parse_operation()
        self._operation_starts.pop()
        name_start = self._name_starts.pop()
        span = Span(start, self.previous_end)
        positions = [
            self._position_of_operand(operand) for operand in self._operands[first_operand:]
        ]
        self._check_forward_references(operation, self._operands[first_operand:])
        del self._operands[first_operand:]
        self._source.record(operation, span, _operand_spans(operation, positions, span))
        has_location = self._location_end == span.end
        if not has_location and isinstance(operation.location, UnknownLocation):
            operation.location = self._location_at(name_start)
        return operation

    @override
    def _parse_op_result_list(self) -> list[tuple[XdslSpan, int]]:
        results = super()._parse_op_result_list()
        self._name_starts[-1] = self.pos
        return results

    @override
    def _get_op_by_name(self, name: str) -> type[Operation]:
        end = self.previous_end
        is_custom_form = not self._lexer.input.content.startswith('"', end - 1)
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
    def parse_optional_unresolved_operand(self) -> UnresolvedOperand | None:
        operand = super().parse_optional_unresolved_operand()
        if operand is not None:
            self._operands.append(operand)
        return operand

    @override
    def _register_ssa_definition(
        self, name: str, values: Sequence[SSAValue], span: XdslSpan
    ) -> None:
        super()._register_ssa_definition(name, values, span)
        for value in values:
            if SSAValue.is_valid_name(name):
                give_name(value, name)
            elif isinstance(value, BlockArgument) or not name.isdigit():
                self._source.names[value] = name
            if isinstance(value, BlockArgument):
                self._source.record(value, Span(span.start, span.end))
                is_given = self._location_end == self.previous_end
                if isinstance(value.location, UnknownLocation) and not is_given:
                    value.location = self._location_at(span.start)

    @override
    def parse_optional_type(self) -> TypeAttribute | None:
        """Reads a type; one whose text was read before is not read again."""
        start = self._current_token.span.start
        match = _TYPE.match(self._source.text, start)
        if match is None or "->" in match[0]:
            return super().parse_optional_type()
        known = self._types.get(match[0])
        if known is not None:
            self._resume_from(match.end())
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
        if operand.operand_name not in self.forward_ssa_references:
            self._first_uses[operand.operand_name] = operand.span
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

    def _check_forward_references(
        self, operation: Operation, operands: Sequence[UnresolvedOperand]
    ) -> None:
        """Checks that no operand is a value that a region of the operation defines.

        xDSL then takes what it resolved already for the operand.

        Raises:
            ParseError: One is.
        """
        if not any(isinstance(operand, ForwardDeclaredValue) for operand in operation.operands):
            return
        for operand in operands:
            if self._position_of_operand(operand)[0] is None:
                self.raise_error(
                    f"%{operand.operand_name} is not defined here: only a region of this operation "
                    "defines it",
                    operand.span,
                )

    def _position_of_operand(self, operand: UnresolvedOperand) -> tuple[SSAValue | None, Span]:
        """Returns the value of an operand, if it is known in this scope, and where it stands."""
        values = self.ssa_values.get(operand.operand_name, ())
        if operand.index < len(values):
            value = values[operand.index]
        else:
            forward = self.forward_ssa_references.get(operand.operand_name, {})
            value = forward.get(operand.index)
        return value, Span(operand.span.start, operand.span.end)

    def _location_at(self, offset: int) -> LocationAttr:
        """Returns the location attribute of a character offset."""
        line, column = self._source.position(offset)
        return FileLineColLoc(self._file_name, IntAttr(line), IntAttr(column))


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


def _operand_spans(
    operation: Operation, positions: list[tuple[SSAValue | None, Span]], default: Span
) -> list[Span]:
    """Returns where each operand stands; `default` for one that the text does not show.

    The text may show operands in another order than the operation holds them.
    """
    spans: list[Span] = []
    for operand in operation.operands:
        index = next((i for i, (value, _) in enumerate(positions) if value is operand), None)
        spans.append(default if index is None else positions.pop(index)[1])
    return spans
