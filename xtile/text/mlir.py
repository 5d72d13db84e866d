"""Reads and prints MLIR text, with the place of every operation kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO
from typing import IO

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, ModuleOp, StringAttr
from xdsl.dialects.builtin import UnknownLoc as UnknownLocation
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.lexer import Span as XdslSpan
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.nesting import find_deep_nesting
from xtile.text.source import Source, Span, attach_source

MAXIMUM_NESTING = 256
"""How many levels of brackets MLIR text may have.

xDSL reads, verifies and prints by recursion, with about ten Python frames for a level. The
commands of this package allow enough frames; Python's default of 1000 stops earlier, which is
reported as an error too.
"""

_CLEARER_MESSAGES = {
    "Could not parse entire input!": "expected an operation",
    # xDSL forgets to fill in the character.
    "Expected suffix identifier after {first_char}": "expected a name after this character",
}


class MlirParser(Parser):
    """xDSL's parser, which also records the places of operations, operands and arguments.

    An operation whose text gives no `loc(...)` gets its place in the source as its location.
    """

    def __init__(self, context: Context, source: Source) -> None:
        # xDSL would read the first token with its own lexer.
        super().__init__(context, "", source.name)
        self._source = source
        self._lexer = _Lexer(Input(source.text, source.name))
        self._parser_state = ParserState(self._lexer)
        self._file_name = StringAttr(source.name)
        # The operands read so far; an operation takes its own.
        self._operands: list[UnresolvedOperand] = []
        self._operation_starts: list[int] = []
        self._location_end = -1

    @property
    def is_at_end(self) -> bool:
        """Whether all of the text is read."""
        return self._current_token.kind is MLIRTokenKind.EOF

    @property
    def place(self) -> Span:
        """What was read of the operation that is being read, or the next token."""
        token = self._current_token.span
        if not self._operation_starts:
            return Span(token.start, token.end)
        start = self._operation_starts[-1]
        return Span(start, max(self._lexer.previous_end, start))

    @override
    def parse_operation(self) -> Operation:
        start = self.pos
        first_operand = len(self._operands)
        self._operation_starts.append(start)
        operation = super().parse_operation()
        self._operation_starts.pop()
        span = Span(start, self._lexer.previous_end)
        places = [self._place_of_operand(operand) for operand in self._operands[first_operand:]]
        del self._operands[first_operand:]
        self._source.record(operation, span, _operand_spans(operation, places, span))
        has_location = self._location_end == span.end
        if not has_location and isinstance(operation.location, UnknownLocation):
            operation.location = self._location_at(start)
        return operation

    @override
    def parse_optional_location(self) -> LocationAttr | None:
        location = super().parse_optional_location()
        if location is not None:
            self._location_end = self._lexer.previous_end
        return location

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
            if isinstance(value, BlockArgument):
                self._source.record(value, Span(span.start, span.end))

    def _place_of_operand(self, operand: UnresolvedOperand) -> tuple[SSAValue | None, Span]:
        """Returns the value of an operand, if it is known in this scope, and where it stands."""
        values = self.ssa_values.get(operand.operand_name, ())
        if operand.index < len(values):
            value = values[operand.index]
        else:
            forward = self.forward_ssa_references.get(operand.operand_name, {})
            value = forward.get(operand.index)
        return value, Span(operand.span.start, operand.span.end)

    def _location_at(self, offset: int) -> FileLineColLoc:
        """Returns the location attribute of a character offset."""
        line, column = self._source.position(offset)
        return FileLineColLoc(self._file_name, IntAttr(line), IntAttr(column))


def read_mlir(source: Source, diagnostics: Diagnostics, context: Context) -> ModuleOp | None:
    """Reads MLIR text into a module, which the source stays attached to.

    An empty text is an empty module. Whatever is wrong becomes an error in `diagnostics`; xDSL
    stops at the first one.

    Args:
        source: The text; the places of operations and values are recorded in it.
        diagnostics: Where errors go.
        context: The dialects to read.

    Returns:
        The module, which is not verified yet; None after an error.
    """
    deep = find_deep_nesting(source.text, MAXIMUM_NESTING, comment="//")
    if deep is not None:
        message = f"brackets nest deeper than {MAXIMUM_NESTING} levels"
        diagnostics.error(source, deep, message)
        return None
    parser: MlirParser | None = None
    try:
        parser = MlirParser(context, source)
        module = ModuleOp([]) if parser.is_at_end else parser.parse_module()
    except ParseError as error:
        _report_parse_error(error, source, diagnostics)
        return None
    except DiagnosticError as error:
        for diagnostic in error.diagnostics:
            diagnostics.add(diagnostic)
        return None
    # xDSL builds operations and attributes from what it has read, and lets every kind of
    # exception pass that their constructors raise for values they did not expect.
    except Exception as error:
        place = Span(0, 0) if parser is None else parser.place
        diagnostics.error(source, place, _reason(error))
        return None
    attach_source(module, source)
    return module


def print_mlir(
    module: ModuleOp,
    stream: IO[str],
    *,
    generic: bool = False,
    debuginfo: bool = False,
    context: Context | None = None,
) -> None:
    """Prints a module as MLIR text that ends with a line end.

    A module that is wrong in a way that custom forms cannot show is printed in the generic form.

    Args:
        module: What to print.
        stream: Where to print it.
        generic: Whether to print every operation in MLIR's generic form.
        debuginfo: Whether to print locations.
        context: The dialects whose resources are printed after the module, beside builtin's.
    """
    try:
        text = _mlir_text(module, generic, debuginfo, context)
    except Exception:
        if generic:
            raise
        # The custom forms rely on what the verifier checks; the generic form shows everything.
        text = _mlir_text(module, True, debuginfo, context)
    stream.write(text)


def _mlir_text(module: ModuleOp, generic: bool, debuginfo: bool, context: Context | None) -> str:
    from xdsl.dialects.builtin import Builtin
    from xdsl.printer import Printer

    stream = StringIO()
    printer = Printer(stream=stream, print_generic_format=generic, print_debuginfo=debuginfo)
    printer.print_op(module)
    loaded = () if context is None else context.loaded_dialects
    printer.print_metadata({Builtin.name: Builtin, **{d.name: d for d in loaded}}.values())
    stream.write("\n")
    return stream.getvalue()


class _Lexer(MLIRLexer):
    """xDSL's lexer, which also remembers where the token before the newest one ended.

    xDSL prints characters beyond ASCII as escaped bytes, and would read those back as bytes
    instead of a string.
    """

    # xDSL's pattern takes exponential time on a string that is not closed. This one matches the
    # same strings and never goes back.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    previous_end: int = 0

    @override
    def lex(self) -> MLIRToken:
        self.previous_end = self.pos
        return super().lex()

    @override
    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT and _is_text(token.span):
            return MLIRToken(MLIRTokenKind.STRING_LIT, token.span)
        return token


def _is_text(literal: XdslSpan) -> bool:
    """Whether the bytes that a string literal stands for are valid UTF-8."""
    contents = StringLiteral(literal.start, literal.end, literal.input).bytes_contents
    try:
        contents.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _operand_spans(
    operation: Operation, places: list[tuple[SSAValue | None, Span]], default: Span
) -> list[Span]:
    """Returns where each operand stands; `default` for one that the text does not show.

    The text may show operands in another order than the operation holds them.
    """
    spans: list[Span] = []
    for operand in operation.operands:
        index = next((i for i, (value, _) in enumerate(places) if value is operand), None)
        spans.append(default if index is None else places.pop(index)[1])
    return spans


def _report_parse_error(error: ParseError, source: Source, diagnostics: Diagnostics) -> None:
    """Adds an error of xDSL's parser and the further places that it names."""
    notes: list[Diagnostic] = []
    if isinstance(error, MultipleSpansParseError):
        for span, text in error.refs:
            message = text or error.ref_text or "see here"
            notes.append(Diagnostic(Severity.NOTE, message, source, Span(span.start, span.end)))
    span = Span(error.span.start, error.span.end)
    diagnostics.error(source, span, _clearer_message(error.msg), notes)


def _clearer_message(message: str) -> str:
    """Returns a message of xDSL's parser in words that stand on their own."""
    # xDSL appends what it was reading to the message, and sometimes there is no message.
    if message.startswith(" "):
        return f"unexpected text{message}"
    return _CLEARER_MESSAGES.get(message, message)


def _reason(error: Exception) -> str:
    """Returns what to tell a user about an exception that xDSL did not mean for them."""
    if isinstance(error, RecursionError):
        return "the text nests too deeply"
    text = str(error).strip()
    if text.startswith("Exceeds the limit"):
        return "an integer has too many digits"
    if text.startswith("zip()"):
        return "a type or an attribute has the wrong number of parameters"
    return text or f"this text cannot be read ({type(error).__name__})"
