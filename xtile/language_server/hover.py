"""What an editor shows of a name or an operation: types, and what the operation does."""

from __future__ import annotations

import inspect

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from xtile.language_server.document import Part
from xtile.text.source import Span, spelling_of


def hover(part: Part, offset: int) -> tuple[str, Span] | None:
    """What is known of a character of a text, as Markdown, and which characters it is about."""
    name = part.name_at(offset)
    if name is not None:
        text = part.source.text[name.span.start : name.span.end]
        shown = [_of_value(text, value, part) for value in name.values]
        return "\n\n".join(shown), name.span
    operation = part.operation_at(offset)
    if operation is None or isinstance(operation, ModuleOp):
        return None
    return of_operation(operation), part.operations[operation]


def _of_value(name: str, value: SSAValue, part: Part) -> str:
    text = f"```\n{name} : {_type(value.type)}\n```"
    if isinstance(value, BlockArgument):
        owner = value.block.parent_op()
        return text if owner is None else f"{text}\nan argument of `{spelling_of(owner)}`"
    source = part.source
    span = source.span_of(value.owner) if isinstance(value.owner, Operation) else None
    if span is None:
        return text
    line = source.text[span.start : span.end].splitlines()[0]
    return f"{text}\nresult of `{line.strip()}`"


def of_operation(operation: Operation) -> str:
    """An operation's name, the types of its operands and results, and what it does."""
    signature = ", ".join(_type(value.type) for value in operation.operands)
    results = ", ".join(_type(value.type) for value in operation.results)
    arrow = f" -> {results}" if results else ""
    text = f"```\n{spelling_of(operation)} ({signature}){arrow}\n```"
    documentation = documentation_of(type(operation))
    return f"{text}\n{documentation}" if documentation else text


def documentation_of(cls: type[Operation]) -> str:
    """The documentation of a class of operations; empty where it has none of its own."""
    return inspect.cleandoc(cls.__doc__ or "")


def _type(attribute: Attribute) -> str:
    """A type as its language spells it."""
    if attribute.name.startswith("tensorlang."):
        from xtile.dialects.tensorlang.types import type_text

        return type_text(attribute)
    return str(attribute)
