"""The verifier: all rules on all operations of a module."""

from __future__ import annotations

from collections.abc import Container, Iterator

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.verifier.control import missing_yields
from xtile.dialects.tensorlang.verifier.kinds import check_kinds
from xtile.dialects.tensorlang.verifier.problem import (
    Note,
    Part,
    Problem,
    Problems,
    mnemonic_of,
    reads_poison,
    rules_of,
)
from xtile.dialects.tensorlang.verifier.regions import (
    function_of,
    is_instruction,
    nesting_problems,
    walk,
)
from xtile.dialects.tensorlang.verifier.uniformity import UniformityAnalysis
from xtile.text.diagnostics import Diagnostic, Diagnostics, Severity
from xtile.text.extensions import verify_operation
from xtile.text.source import Source, Span, source_of, span_of


def verify(module: ModuleOp, diagnostics: Diagnostics, source: Source | None = None) -> None:
    """Checks every operation of a module and reports all mistakes, in source order.

    Args:
        module: What to check. It may be damaged in any way.
        diagnostics: Receives an error for each mistake.
        source: The text that the module was read from; by default the one attached to it.
    """
    source = source or source_of(module)
    incomplete = source.incomplete if source is not None else ()
    for problem in _module_problems(module, incomplete):
        report(problem, diagnostics, source)


def operation_problems(operation: Operation) -> Iterator[Problem]:
    """The problems of one operation; of a function, also those of how its operations interact."""
    if not is_instruction(operation):
        return
    problems: list[Problem] = []
    is_sound = check_kinds(operation, problems)
    yield from problems
    if not problems:
        yield from _rule_problems(operation, is_sound)
    if is_sound:
        yield from missing_yields(operation)
        if type(operation) is FuncOp:
            yield from _interaction_problems(operation)


def _rule_problems(operation: TensorLangOperation, is_sound: bool) -> Iterator[Problem]:
    """The broken rules; where not all is sound but poison, those that do not read it."""
    for rule in rules_of(type(operation)):
        if is_sound or not reads_poison(rule, operation):
            yield from rule(operation)


def _interaction_problems(function: FuncOp) -> Iterator[Problem]:
    """What the rules of single operations cannot see: nesting and uniformity."""
    uniformity = UniformityAnalysis()
    for operation, entered, in_spmd in walk(function):
        if not entered:
            uniformity.leave(operation)
            continue
        is_sound = True
        if is_instruction(operation):
            is_sound = check_kinds(operation, [])
            yield from nesting_problems(operation, in_spmd)
        yield from uniformity.enter(operation, in_spmd, is_sound)


def _module_problems(module: ModuleOp, incomplete: Container[Block]) -> Iterator[Problem]:
    uniformity = UniformityAnalysis()
    symbols: dict[tuple[Block | None, str], Operation] = {}
    for operation, entered, in_spmd in walk(module):
        if not entered:
            uniformity.leave(operation)
        elif is_instruction(operation):
            problems: list[Problem] = []
            is_sound = check_kinds(operation, problems)
            yield from problems
            if not problems:
                yield from _rule_problems(operation, is_sound)
            yield from missing_yields(operation, incomplete)
            yield from nesting_problems(operation, in_spmd)
            yield from uniformity.enter(operation, in_spmd, is_sound)
        else:
            yield from _foreign_problems(operation)
            yield from uniformity.enter(operation, in_spmd, True)
        if entered and "sym_name" in operation.properties:
            yield from _duplicate_name(operation, symbols)


def _duplicate_name(
    operation: Operation, symbols: dict[tuple[Block | None, str], Operation]
) -> Problems:
    name = operation.properties["sym_name"]
    if isinstance(name, StringAttr):
        first = symbols.setdefault((operation.parent, name.data), operation)
        if first is not operation:
            message = f"@{name.data} is already defined; choose another name"
            yield Problem(operation, message, "header", (Note(first, "it is first defined here"),))


def _foreign_problems(operation: Operation) -> Problems:
    """What an operation of another dialect says about itself."""
    if isinstance(operation, ModuleOp):
        # Its own verifier would only repeat which names are defined twice.
        if [len(region.blocks) for region in operation.regions] != [1]:
            yield Problem(operation, "a module has one region of one block")
        return
    try:
        # `Operation.verify` would print the whole module for each error.
        verify_operation(operation)
    except Exception as error:  # A damaged operation may raise anything.
        reason = " ".join(str(error).split()) or type(error).__name__
        yield Problem(operation, f"'{operation.name}': {reason}")


# Reporting


def report(problem: Problem, diagnostics: Diagnostics, source: Source | None) -> None:
    """Adds a problem to `diagnostics`, located as well as is known."""
    span = _span(problem.operation, problem.part, source)
    notes = [_note(note, source) for note in problem.notes]
    if span is None:
        diagnostics.error(None, None, _position_text(problem.operation) + problem.message, notes)
    else:
        diagnostics.error(source, span, problem.message, notes)


def _note(note: Note, source: Source | None) -> Diagnostic:
    span = _item_span(note.item, source)
    message = note.message
    if span is None and isinstance(note.item, Operation):
        message = _position_text(note.item) + message
    return Diagnostic(Severity.NOTE, message, source, span)


def _span(operation: Operation, part: Part, source: Source | None) -> Span | None:
    span = None
    if source is not None and isinstance(part, int):
        span = source.operand_span(operation, part)
    elif source is not None and isinstance(part, SSAValue):
        span = source.span_of(part)
    return span or span_of(operation, source)


def _item_span(item: Operation | SSAValue, source: Source | None) -> Span | None:
    if isinstance(item, Operation):
        return span_of(item, source)
    return None if source is None else source.span_of(item)


def _position_text(operation: Operation) -> str:
    """Where an operation is, for a message without a source text: `a.py:3.7: `, `in @f, add: `."""
    location = operation.location
    if isinstance(location, FileLineColLoc):
        return f"{location.filename.data}:{location.line.data}.{location.column.data}: "
    function = function_of(operation)
    names = [] if function is None else [f"in {_function_text(function)}"]
    # The messages of other dialects name the operation.
    if operation is not function and is_instruction(operation):
        names.append(mnemonic_of(operation))
    return f"{', '.join(names)}: " if names else ""


def _function_text(function: FuncOp) -> str:
    name = function.properties.get("sym_name")
    return f"@{name.data}" if isinstance(name, StringAttr) else "a function without a name"
