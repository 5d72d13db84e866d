"""The reader of `.ir` text.

Reading never stops at the first mistake: a damaged instruction is reported, its results become
poison, and reading goes on with the next instruction.

Source: tensor language reference; preprocessor reference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from typing_extensions import override
from xdsl.dialects.builtin import FileLineColLoc, FloatAttr, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.tensorlang import legacy, preprocessor
from xtile.dialects.tensorlang.assembly import Definition, Parts
from xtile.dialects.tensorlang.lexer import END
from xtile.dialects.tensorlang.operation import (
    BLANK_LINE,
    COMMENTS,
    COMMENTS_BEHIND,
    TRAILING_COMMENT,
)
from xtile.dialects.tensorlang.ops import BY_MNEMONIC
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.syntax import modifiers_of, readers_of
from xtile.dialects.tensorlang.term_reader import RESULTS, FatalSyntaxError, ReadError, TermReader
from xtile.dialects.tensorlang.types import SCALAR_TYPES
from xtile.text.diagnostics import Diagnostics, shorten
from xtile.text.source import Source, Span, attach_source

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.legacy.implied import ImpliedValues
    from xtile.dialects.tensorlang.operation import TensorLangOperation

MAX_REGION_DEPTH = 64
"""Regions may nest this deep; passes recurse over regions, and Python's stack is finite."""

_CONTINUATIONS = frozenset(
    {"as", "attributes", "else", "init", "x", "void", "memref", "group", "coopmatrix"}
) | frozenset(SCALAR_TYPES)
"""Words that may start a line in the middle of an instruction."""

_LANDMARK = re.compile(
    r"""[^{}\n;"]*+ (?: (?: ; [^\n]*+ | " [^"\n]*+ " | " ) [^{}\n;"]*+ )*+ ([{}\n])""", re.VERBOSE
)
"""The way to the next brace or line end that is in no comment or string.

Skipping token by token would take minutes on a line of 100 MB.
"""

_INSTRUCTION_START = re.compile(rf"(?:{RESULTS.pattern}\s*+)?+([a-z]\w*+)")


def read(source: Source, diagnostics: Diagnostics, revision: str | None = None) -> ModuleOp:
    """Reads `.ir` text into a module of `tensorlang.func` operations.

    Mistakes go to `diagnostics`, located; the module then holds what could be read. `revision`
    is "v0.1", "v0.3" or "v0.4", and detected from the text where it is None.
    """
    revision = revision or legacy.detect_revision(source.text)
    return Reader(source, diagnostics, revision).read_module()


class _Braces:
    """Counts the braces of a text, each of them once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._depth = 0
        self._total: int | None = None

    def surplus_from(self, offset: int) -> int:
        """Opening minus closing braces from `offset` to the end; offsets must not decrease."""
        self._depth += self._count(self._offset, offset)
        self._offset = offset
        if self._total is None:
            self._total = self._depth + self._count(offset, len(self._text))
        return self._total - self._depth

    def _count(self, start: int, end: int) -> int:
        depth = 0
        while match := _LANDMARK.match(self._text, start, end):
            start = match.end()
            depth += {"{": 1, "}": -1}.get(match[1], 0)
        return depth


class Reader(TermReader):
    """Reads functions, regions and instructions; `TermReader` reads what they consist of."""

    def __init__(self, source: Source, diagnostics: Diagnostics, revision: str) -> None:
        super().__init__(source, diagnostics, revision)
        self.blocks: list[Block] = []
        self._inner_comments: list[str] = []
        self._function_column = 0
        self._unclosed_at = -1
        self._braces = _Braces(source.text)
        self._filename = StringAttr(source.name)
        self._integers: dict[int, IntAttr] = {}
        self._header_end: int | None = None

    @override
    def find_older_constructs(self) -> bool:
        return legacy.has_older_constructs(self.source.text, self.revision)

    @override
    def read_dropped_type(self) -> Attribute:
        return legacy.read_dropped_type(self)

    @override
    def read_integer_part(self) -> FloatAttr:
        return legacy.read_integer_part(self)

    @override
    def missing_group_size(self, span: Span) -> int:
        return legacy.missing_group_size(self, span)

    @cached_property
    def implied(self) -> ImpliedValues:
        """What inserts the instructions that an older text implies."""
        return legacy.implied_values(self)

    def read_module(self) -> ModuleOp:
        """Reads the whole text."""
        module = ModuleOp([])
        attach_source(module, self.source)
        self.blocks.append(module.body.block)
        try:
            while self.lexer.kind != END:
                self._read_global()
        except FatalSyntaxError as error:
            self.report(error)
        self._keep_closing_comments()
        return module

    def _read_global(self) -> None:
        comments = self._comments()
        if self.lexer.kind == "definition":
            self._read_definition(comments)
        elif self.lexer.value == "func":
            self._function_column = self.source.position(self.lexer.start)[1]
            self._read_instruction(comments)
        else:
            self.report(self.unexpected("'func' or a definition '$name = ...'"))
            self._skip_to_global()

    def _skip_to_global(self) -> None:
        """Goes to the next line that starts a function, or a definition outside of functions."""
        offset = self.lexer.previous_end
        while (newline := self.source.text.find("\n", offset)) >= 0:
            # From the line's end on, so that comments below it belong to what follows.
            self.lexer.move_to(newline)
            if self.lexer.value == "func" or self._is_at_outer_definition():
                return
            offset = self.lexer.start
        self.lexer.move_to(len(self.source.text))

    def _is_at_outer_definition(self) -> bool:
        """Whether a definition stands at the margin, where none within a function does."""
        lexer = self.lexer
        return lexer.kind == "definition" and self.source.text[lexer.start - 1] == "\n"

    # Regions

    def region(self, arguments: Sequence[tuple[Definition, Attribute]] = ()) -> Region:
        """Reads `{ instruction* }`."""
        if self.lexer.value == "{" and len(self.blocks) > MAX_REGION_DEPTH:
            raise FatalSyntaxError(
                self.span(), f"regions are nested more than {MAX_REGION_DEPTH} deep"
            )
        header_end = self.lexer.previous_end
        self.punctuation("{")
        if self._header_end is None:
            self._header_end = header_end
        block = Block()
        self.blocks.append(block)
        self.names.enter()
        self.definitions.enter()
        for definition, type in arguments:
            value = block.insert_arg(type, len(block.args))
            self.source.record(value, (definition.start, definition.end))
            self.define(definition, value)
        try:
            self._read_instructions()
            self._keep_closing_comments()
        finally:
            self.names.leave()
            self.definitions.leave()
            self.blocks.pop()
        if not self.optional_punctuation("}"):
            self._report_missing_brace(header_end)
        return Region(block)

    def _report_missing_brace(self, opening: int) -> None:
        """Reports the innermost region that is not closed where the function ends."""
        if self.lexer.start == self._unclosed_at:
            return
        self._unclosed_at = self.lexer.start
        at_end = self.lexer.kind == END
        where = "the text ends" if at_end else "the next function begins"
        brace = self.source.text.find("{", opening)
        note = self.note(Span(brace, brace + 1), "the region is opened here")
        self.report(ReadError(self.span(), f"{where} inside a region; expected '}}'", [note]))

    def _is_at_end_of_function(self) -> bool:
        """Whether the text ends, or a function starts no deeper than the one that is read."""
        if self.lexer.kind == END:
            return True
        if self.lexer.value != "func" or not self._starts_line():
            return False
        is_deeper = self.source.position(self.lexer.start)[1] > self._function_column
        return not is_deeper and self._braces.surplus_from(self.lexer.start) >= 0

    def _read_instructions(self) -> None:
        while self.lexer.value != "}" and not self._is_at_end_of_function():
            comments = self._comments()
            if self.lexer.kind == "definition":
                self._read_definition(comments)
            else:
                self._read_instruction(comments)

    def _read_definition(self, comments: list[str]) -> None:
        start = self.lexer.start
        try:
            preprocessor.read_definition(self)
        except ReadError as error:
            self.report(error)
            self._skip(start)
        self._pending_comments = comments

    # Instructions

    def _read_instruction(self, comments: list[str]) -> None:
        results: list[Definition] = []
        start_depth = len(self.blocks)
        before, start = self.blocks[-1].last_op, self.lexer.start
        try:
            results = self._read_results()
            operations = self._read_operation()
        except ReadError as error:
            self.report(error)
            self._mark_incomplete()
            self._discard_after(before)
            if self.lexer.start <= start or not self._is_at_next_instruction(error):
                self._skip(start)
            for definition in results:
                self.define_poison(definition)
            assert len(self.blocks) == start_depth
            return
        self._append(operations, results, comments, before)

    def _read_results(self) -> list[Definition]:
        if self.lexer.kind != "local":
            return []
        results = [self.definition()]
        while self.optional_punctuation(","):
            results.append(self.definition())
        self.punctuation("=")
        return results

    def _read_operation(self) -> TensorLangOperation:
        start, mnemonic = self.lexer.start, self.lexer.value
        handler = legacy.handler_of(mnemonic, self.revision)
        cls = BY_MNEMONIC.get(mnemonic)
        if self.lexer.kind != "word" or (cls is None and handler is None):
            raise self._unknown_instruction(mnemonic)
        if (cls is FuncOp) != (len(self.blocks) == 1):
            raise ReadError(self.span(), "a function must stand outside of other functions")
        outer_header_end, self._header_end = self._header_end, None
        outer_spans, self.operand_spans = self.operand_spans, []
        self.lexer.advance()
        try:
            if handler is not None:
                operation = handler(self, mnemonic)
                span = Span(start, start + len(mnemonic))
                legacy.warn_older_form(self, span, mnemonic)
            else:
                assert cls is not None
                operation = self._read_current(cls, start + len(mnemonic))
            end = self._header_end or self.lexer.previous_end
            self.locate(operation, start, end, self.operand_spans)
            self._inner_comments = self._comments_within(start, end)
        finally:
            self._header_end = outer_header_end
            self.operand_spans = outer_spans
        return operation

    def _read_current(self, cls: type[TensorLangOperation], start: int) -> TensorLangOperation:
        """Reads the current form of an instruction, or else an older one."""
        before = self.blocks[-1].last_op
        try:
            return self.read_as(cls)
        except FatalSyntaxError:
            raise
        except ReadError as error:
            if self._header_end is not None:
                raise  # A region has been read, and must not be read twice.
            self._discard_after(before)
            if self.source.text.startswith(".", error.span.start):
                error = _modifier_error(cls, self.source.text, error.span)
            return legacy.reread(self, cls.mnemonic(), start, error)

    def read_as(self, cls: type[TensorLangOperation]) -> TensorLangOperation:
        """Reads what follows the name of an instruction of the current revision."""
        parts, start = Parts(), self.lexer.start
        for read_piece in readers_of(cls):
            read_piece(self, parts)
        if legacy.has_older_annotation(self, cls, parts):
            legacy.adjust(self, cls, parts, start)
        return parts.build(cls)

    def _append(
        self,
        operation: TensorLangOperation,
        results: list[Definition],
        comments: list[str],
        before: Operation | None,
    ) -> None:
        """Adds an operation behind what was inserted for it since `before`."""
        block = self.blocks[-1]
        block.add_op(operation)
        if len(results) != len(operation.results):
            self._report_result_count(operation, results)
        for definition, value in zip(results, operation.results, strict=False):
            self.define(definition, value)
        for definition in results[len(operation.results) :]:
            self.define_poison(definition)
        inner, self._inner_comments = self._inner_comments, []
        trailing = self._trailing_comment()
        if not trailing and len(inner) == 1 and not operation.regions:
            trailing = inner.pop()
        if trailing:
            operation.attributes[TRAILING_COMMENT] = StringAttr(trailing)
        if comments or inner:
            first = block.first_op if before is None else before.next_op
            (first or operation).attributes[COMMENTS] = _string_array(comments + inner)

    def _report_result_count(
        self, operation: TensorLangOperation, results: list[Definition]
    ) -> None:
        returned, named = len(operation.results), len(results)
        if not named and type(operation).mnemonic() in ("if", "for"):
            return
        span = self.source.span_of(operation)
        if results:
            span = Span(results[0].start, results[-1].end)
        self.diagnostics.error(
            self.source,
            span,
            f"{type(operation).mnemonic()} returns {_count(returned, 'value')} "
            f"but {_count(named, 'name')} {'is' if named == 1 else 'are'} given",
        )

    def insert(self, operation: Operation, start: int, end: int) -> None:
        """Puts an operation that the text only implies in front of the one being read."""
        self.locate(operation, start, end)
        self.blocks[-1].add_op(operation)

    def locate(
        self, operation: Operation, start: int, end: int, operand_spans: Sequence[Span] = ()
    ) -> None:
        """Remembers where an operation stands in the text."""
        operation.location = self._location(start)
        operands = [offset for span in operand_spans for offset in (span.start, span.end)]
        self.source.record(operation, (start, end, *operands))

    def _discard_after(self, last: Operation | None) -> None:
        """Takes back what was inserted for an instruction that could not be read."""
        block = self.blocks[-1]
        while (operation := block.last_op) is not last and operation is not None:
            block.detach_op(operation)
            self.implied.forget(operation)

    def _unknown_instruction(self, mnemonic: str) -> ReadError:
        from difflib import get_close_matches

        if self.lexer.kind != "word":
            return self.unexpected("an instruction")
        close = get_close_matches(shorten(mnemonic, 40), BY_MNEMONIC, 1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        return ReadError(self.span(), f"unknown instruction '{shorten(mnemonic, 40)}'{hint}")

    def index_immediate(self) -> SSAValue:
        """Reads an integer where the current revision wants an index value."""
        return legacy.read_index_immediate(self)

    def _mark_incomplete(self) -> None:
        """Remembers that the enclosing regions lost an instruction, for the verifier."""
        self.source.incomplete.add(self.blocks[-1])

    def _location(self, start: int) -> FileLineColLoc:
        line, column = self.source.position(start)
        return FileLineColLoc(self._filename, self._integer(line), self._integer(column))

    def _integer(self, value: int) -> IntAttr:
        attribute = self._integers.get(value)
        if attribute is None:
            attribute = self._integers[value] = IntAttr(value)
        return attribute

    # Recovery

    def _is_at_next_instruction(self, error: ReadError) -> bool:
        """Whether a damaged instruction is behind, because its end is wrong or missing."""
        if not self._starts_line():
            return False
        if self.lexer.start > error.span.start:
            # The mistake was found when the whole instruction had been read.
            return self._may_start_instruction()
        match = _INSTRUCTION_START.match(self.source.text, self.lexer.start)
        return match is not None and self._is_mnemonic(match[1])

    def _skip(self, start: int) -> None:
        """Goes from a mistake in what begins at `start` to where reading may go on."""
        if len(self.blocks) == 1:
            self._skip_to_global()
        else:
            self._skip_instruction(self._unclosed_braces(start))

    def _unclosed_braces(self, start: int) -> int:
        """The number of braces that are open between `start` and the current token."""
        depth, offset = 0, start
        while match := _LANDMARK.match(self.source.text, offset, self.lexer.start):
            offset = match.end()
            if match[1] == "{":
                depth += 1
            elif match[1] == "}":
                depth -= 1
        return max(depth, 0)

    def _skip_instruction(self, unclosed: int) -> None:
        """Goes to the next line that starts an instruction, or to the region's end.

        So many closing braces on the same line end an attribute, not the region.
        """
        depth, offset = 0, self.lexer.start
        while match := _LANDMARK.match(self.source.text, offset):
            offset = match.end()
            if match[1] == "{":
                depth += 1
            elif match[1] == "}":
                depth -= 1
                if depth + unclosed < 0:
                    self.lexer.move_to(offset - 1)
                    return
            elif depth <= 0:
                # From the line's end on, so that comments below it belong to what follows.
                self.lexer.move_to(offset - 1)
                if self._may_start_instruction():
                    return
                offset, depth, unclosed = self.lexer.start, 0, 0
        self.lexer.move_to(len(self.source.text))

    def _starts_line(self) -> bool:
        text, lexer = self.source.text, self.lexer
        return lexer.previous_end == 0 or "\n" in text[lexer.previous_end : lexer.start]

    def _may_start_instruction(self) -> bool:
        lexer = self.lexer
        if lexer.kind == "word":
            return lexer.value not in _CONTINUATIONS
        if lexer.kind == "local":
            return RESULTS.match(self.source.text, lexer.start) is not None
        return lexer.kind in ("definition", "unknown") or lexer.value == "}"

    def _is_mnemonic(self, word: str) -> bool:
        return word in BY_MNEMONIC or legacy.handler_of(word, self.revision) is not None

    # Comments

    def _comments(self) -> list[str]:
        """The comments in front of the current token, and those a definition left behind."""
        pending, self._pending_comments = self._pending_comments, []
        gap = self.source.text[self.lexer.previous_end : self.lexer.start]
        if ";" not in gap:
            return pending
        # What follows a token on its own line belongs to that token's instruction, unless a
        # region has just begun.
        is_first = self.source.text.endswith("{", 0, self.lexer.previous_end)
        lines = gap.split("\n")[0 if is_first or self.lexer.previous_end == 0 else 1 :]
        return pending + _comment_lines(lines)

    def _keep_closing_comments(self) -> None:
        """Keeps the comments at the end of a region with its last operation."""
        comments, last = self._comments(), self.blocks[-1].last_op
        if comments and comments[-1] == BLANK_LINE:
            comments.pop()
        if comments and last is not None:
            last.attributes[COMMENTS_BEHIND] = _string_array(comments)

    def _comments_within(self, start: int, end: int) -> list[str]:
        """The comments inside an instruction's text, in front of its region."""
        text = self.source.text
        if text.find(";", start, end) < 0 or text.find('"', start, end) >= 0:
            return []
        lines = text[start:end].split("\n")
        return [line.partition(";")[2].strip() for line in lines if ";" in line]

    def _trailing_comment(self) -> str:
        gap = self.source.text[self.lexer.previous_end : self.lexer.start]
        line = gap.partition("\n")[0]
        return line.strip()[1:].strip() if ";" in line else ""


def _modifier_error(cls: type[TensorLangOperation], text: str, span: Span) -> ReadError:
    """The error that a modifier is wrong or stands in the wrong order."""
    modifiers = [" or ".join(f".{name}" for name in names) for names in modifiers_of(cls)]
    takes = f"takes {', then '.join(modifiers)}" if modifiers else "takes no modifiers"
    wrong = shorten(text[span.start : span.end], 40)
    return ReadError(span, f"'{wrong}' cannot stand here; {cls.mnemonic()} {takes}")


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _comment_lines(lines: list[str]) -> list[str]:
    """The texts of comment lines; blank lines between and behind them count as one.

    The last line is the one in which the next token stands.
    """
    comments: list[str] = []
    for number, line in enumerate(lines, 1):
        if ";" in line:
            comments.append(line.strip()[1:].strip())
        elif comments and comments[-1] != BLANK_LINE and number < len(lines):
            comments.append(BLANK_LINE)
    return comments


def _string_array(lines: list[str]) -> Attribute:
    from xdsl.dialects.builtin import ArrayAttr

    return ArrayAttr(StringAttr(line) for line in lines)
