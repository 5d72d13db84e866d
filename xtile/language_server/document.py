"""A text in an editor: what is wrong with it, and what the names in it mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from xtile.dialects.languages import LANGUAGES, Language
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.source import Source, Span

_RESULTS = re.compile(r"%[\w$.-]+(?::\d+)?(?:\s*,\s*%[\w$.-]+(?::\d+)?)*\s*=\s*")
"""The names of an operation's results, in front of it."""

_LARGEST_LEAD = 400
"""The characters in front of an operation that are searched for the names of its results."""

_NAME = re.compile(r"%[\w$.-]+")

_SYMBOL = re.compile(r'@(?:[\w$.-]+|"[^"\n]*")')


@dataclass(frozen=True)
class Name:
    """A name of a value in a text.

    Attributes:
        span: Where it stands.
        values: What it means; several for the name of all results of an operation.
    """

    span: Span
    values: tuple[SSAValue, ...]


class Document:
    """A text that was read.

    Args:
        name: Its path; what its name ends with tells its language.
        text: The text.

    Attributes:
        source: The text, with the spans in it.
        language: Its language.
        parts: The sources and modules between the lines that separate them; a module is None where
            nothing could be read. Offsets count from the beginning of the part.
        diagnostics: What is wrong.

    Raises:
        ValueError: No language has such files, or its files are no text.
    """

    def __init__(self, name: str, text: str) -> None:
        self.language = language_of(name)
        self.source = Source(name, text)
        self.parts: list[Part] = []
        self.diagnostics: list[Diagnostic] = []
        start = 0
        for source in self.language.split(self.source):
            start = text.index(source.text, start)
            diagnostics = Diagnostics()
            module = _read(source, self.language, diagnostics)
            self.parts.append(Part(source, start, module))
            self.diagnostics += diagnostics.sorted()
            start += len(source.text)

    @property
    def has_errors(self) -> bool:
        """Whether the text is wrong."""
        return any(each.severity is Severity.ERROR for each in self.diagnostics)

    def part_at(self, offset: int) -> Part | None:
        """The part in which a character of the text is."""
        found = [part for part in self.parts if part.start <= offset <= part.end]
        return found[-1] if found else None


def language_of(name: str) -> Language:
    """The language of a file.

    Raises:
        ValueError: No language has such files, or its files are no text.
    """
    language = LANGUAGES.get(name.rpartition(".")[2])
    if language is None or language.is_binary:
        raise ValueError(f"{name} is of no language that xtile reads as text")
    return language


def _read(source: Source, language: Language, diagnostics: Diagnostics) -> ModuleOp | None:
    """Reads and verifies a text; what could be read of a wrong one is there, too."""
    try:
        module = language.read(source, diagnostics, make_context(), None)
        if module is not None:
            verify_module(module, diagnostics, source)
    except DiagnosticError as error:
        for each in error.diagnostics:
            diagnostics.add(each)
        return None
    return module


class Part:
    """A module of a text.

    Args:
        source: Its text.
        start: Where it begins in the text.
        module: What was read; None for nothing.
    """

    def __init__(self, source: Source, start: int, module: ModuleOp | None) -> None:
        self.source = source
        self.start = start
        self.module = module

    @property
    def end(self) -> int:
        """Where it ends in the text."""
        return self.start + len(self.source.text)

    @cached_property
    def operations(self) -> Mapping[Operation, Span]:
        """The operations whose spans are known, with the names of their results."""
        if self.module is None:
            return {}
        found: dict[Operation, Span] = {}
        for operation in self.module.walk():
            span = self.source.span_of(operation)
            if span is not None:
                found[operation] = Span(self._lead(operation, span.start), span.end)
        return found

    def _lead(self, operation: Operation, start: int) -> int:
        """Where the names of results begin, which may stand in front of an operation's span."""
        if not operation.results:
            return start
        first = self.source.text.rfind("\n", max(0, start - _LARGEST_LEAD), start) + 1
        lead = _RESULTS.search(self.source.text, first, start)
        return lead.start() if lead is not None and lead.end() == start else start

    @cached_property
    def definitions(self) -> Mapping[SSAValue, Span]:
        """Where values are defined."""
        found: dict[SSAValue, Span] = {}
        for operation, span in self.operations.items():
            for block in (block for region in operation.regions for block in region.blocks):
                for argument in block.args:
                    of_argument = self.source.span_of(argument)
                    if of_argument is not None:
                        found[argument] = of_argument
            for name in self._names_of_results(operation, span):
                found |= dict.fromkeys(name.values, name.span)
        return found

    @cached_property
    def names(self) -> list[Name]:
        """All names of values, in definitions and in uses."""
        found = [
            Name(span, (value,))
            for value, span in self.definitions.items()
            if isinstance(value, BlockArgument)
        ]
        for operation, span in self.operations.items():
            found += self._names_of_results(operation, span)
            for index, value in enumerate(operation.operands):
                of_operand = self.source.operand_span(operation, index)
                if of_operand is not None:
                    found.append(Name(of_operand, (value,)))
        return found

    def _names_of_results(self, operation: Operation, span: Span) -> Iterator[Name]:
        text = self.source.text
        lead = _RESULTS.match(text, span.start, span.end)
        if lead is None:
            return
        waiting = list(operation.results)
        names = list(_NAME.finditer(text, lead.start(), lead.end()))
        for number, name in enumerate(names):
            # `%a:2` names two results.
            count = re.match(r":(\d+)", text[name.end() : lead.end()])
            is_last = number == len(names) - 1
            size = int(count[1]) if count else len(waiting) if is_last else 1
            yield Name(Span(*name.span()), tuple(waiting[:size]))
            waiting = waiting[size:]

    def operation_at(self, offset: int) -> Operation | None:
        """The innermost operation around a character."""
        around = [
            (span.end - span.start, number, operation)
            for number, (operation, span) in enumerate(self.operations.items())
            if span.start <= offset <= span.end
        ]
        return min(around)[2] if around else None

    def name_at(self, offset: int) -> Name | None:
        """The name of a value at a character."""
        return next((n for n in self.names if n.span.start <= offset <= n.span.end), None)

    def symbol_at(self, offset: int) -> tuple[str, Span] | None:
        """The name of a function or of a global at a character, without what marks it."""
        for match in _SYMBOL.finditer(self.source.text):
            if match.start() <= offset <= match.end():
                return match[0][1:].strip('"'), Span(*match.span())
        return None

    def definition_at(self, offset: int) -> Span | None:
        """Where the value, the function or the global at a character is defined."""
        name = self.name_at(offset)
        if name is not None:
            return self.definitions.get(name.values[0])
        symbol = self.symbol_at(offset)
        return None if symbol is None else self.definition_of_symbol(symbol[0])

    def definition_of_symbol(self, name: str) -> Span | None:
        """Where a function, a module or a global of a name is defined: the name itself."""
        for operation, span in self.operations.items():
            symbol = operation.get_attr_or_prop("sym_name")
            if getattr(symbol, "data", None) == name:
                for match in _SYMBOL.finditer(self.source.text, span.start, span.end):
                    if match[0][1:].strip('"') == name:
                        return Span(*match.span())
        return None
