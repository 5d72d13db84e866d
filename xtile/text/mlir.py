"""Reads and prints MLIR text, with the location of every operation kept."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.mlir_resources import attach_resources, resources_of, resources_text
from xtile.text.nesting import find_deep_nesting
from xtile.text.source import Source, Span, attach_source, source_of

if TYPE_CHECKING:
    from xtile.text.mlir_parser import MlirParser
    from xtile.text.mlir_printer import MlirPrinter

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


def read_mlir(
    source: Source,
    diagnostics: Diagnostics,
    context: Context,
    parser_class: type[MlirParser] | None = None,
) -> ModuleOp | None:
    """Reads MLIR text into a module, which the source stays attached to.

    An empty text is an empty module. Whatever is wrong becomes an error in `diagnostics`; xDSL
    stops at the first one.

    Args:
        source: The text; the locations of operations and values are recorded in it.
        diagnostics: Where errors go.
        context: The dialects to read.
        parser_class: What reads the text; None for MLIR's own forms.

    Returns:
        The module, which is not verified yet; None after an error.
    """
    deep = find_deep_nesting(source.text, MAXIMUM_NESTING, comment="//")
    if deep is not None:
        message = f"brackets nest deeper than {MAXIMUM_NESTING} levels"
        diagnostics.error(source, deep, message)
        return None
    from xtile.text.mlir_parser import MlirParser

    parser: MlirParser | None = None
    try:
        parser = (parser_class or MlirParser)(context, source)
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
        position = Span(0, 0) if parser is None else parser.position
        diagnostics.error(source, position, _reason(error))
        return None
    attach_source(module, source)
    attach_resources(module, parser.resources)
    return module


def print_mlir(
    module: ModuleOp,
    stream: IO[str],
    *,
    generic: bool = False,
    debuginfo: bool = False,
    local_scope: bool = False,
    context: Context | None = None,
    printer_class: type[MlirPrinter] | None = None,
) -> None:
    """Prints a module as MLIR text that ends with a line end.

    A module that is wrong in a way that custom forms cannot show is printed in the generic form.

    Args:
        module: What to print.
        stream: Where to print it.
        generic: Whether to print every operation in MLIR's generic form.
        debuginfo: Whether to print locations.
        local_scope: Whether to print attributes and locations in full instead of by aliases. xDSL
            reads no alias that is used before its definition, as those of locations are.
        context: The dialects whose resources are printed after the module, beside builtin's.
        printer_class: What prints it, for a form of its own; None takes MLIR's.
    """
    try:
        text = _mlir_text(module, generic, debuginfo, local_scope, context, printer_class)
    except Exception:
        if generic:
            raise
        # The custom forms rely on what the verifier checks; the generic form shows everything.
        text = _mlir_text(module, True, debuginfo, local_scope, context, printer_class)
    stream.write(text)


def _mlir_text(
    module: ModuleOp,
    generic: bool,
    debuginfo: bool,
    local_scope: bool,
    context: Context | None,
    printer_class: type[MlirPrinter] | None,
) -> str:
    from xdsl.dialects.builtin import Builtin

    from xtile.text.mlir_printer import MlirPrinter

    source = source_of(module)
    printer = (printer_class or MlirPrinter)(
        print_generic_format=generic,
        print_debuginfo=debuginfo,
        has_aliases=not local_scope,
        known_names={} if source is None else source.names,
    )
    text, definitions = printer.print_top_level(module)
    loaded = () if context is None else context.loaded_dialects
    dialects = {Builtin.name: Builtin, **{dialect.name: dialect for dialect in loaded}}.values()
    return (
        text + definitions + resources_text(resources_of(module, printer.resource_keys, dialects))
    )


def _report_parse_error(error: ParseError, source: Source, diagnostics: Diagnostics) -> None:
    """Adds an error of xDSL's parser and the further locations that it names."""
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
