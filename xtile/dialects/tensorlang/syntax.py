"""The text of an instruction, described once.

The `SYNTAX` of an operation class says what follows the instruction's name. Four programs read
it: the `.ir` reader and printer, and the parser and printer of MLIR's custom form. Its notation:

| notation | stands for |
|---|---|
| `.atomic` | a modifier, from the table `MODIFIERS` |
| `$alpha` | an operand; a comma-separated list where the operand is variadic |
| `#mode` | an integer property |
| `{alignment}` | an attribute dictionary that holds this property |
| `: $result` | the type of the result |
| `slices()` | one of the directives in `directives.py` |
| `, [ ] ( ) ->` | themselves |

White space in front of a piece is printed as it stands, except in front of modifiers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import VarOperandDef

from xtile.dialects.tensorlang.assembly import (
    Directive,
    Input,
    Output,
    Parts,
    split_dictionary,
    write_dictionary,
    write_list,
)
from xtile.dialects.tensorlang.attributes import (
    CheckedFlag,
    CheckedFlagAttr,
    Component,
    ComponentAttr,
    MemoryScope,
    MemoryScopeAttr,
    MemorySemantics,
    MemorySemanticsAttr,
    ReduceMode,
    ReduceModeAttr,
)
from xtile.dialects.tensorlang.directives import CUSTOM
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    integer_attribute,
    integer_value,
)

_UNIT = UnitAttr()
_TRANSPOSE: dict[str, Attribute | None] = {"n": None, "t": _UNIT}

MODIFIERS: dict[str, dict[str, Attribute | None]] = {
    "atomic": {"atomic": _UNIT},
    "transpose": _TRANSPOSE,
    "transpose_a": _TRANSPOSE,
    "transpose_b": _TRANSPOSE,
    "global_fence": {"global": _UNIT},
    "local_fence": {"local": _UNIT},
    "checked": {flag.value: CheckedFlagAttr(flag) for flag in CheckedFlag},
    "scope": {
        scope.value: None if scope == MemoryScope.WORK_GROUP else MemoryScopeAttr(scope)
        for scope in MemoryScope
    },
    "semantics": {
        semantics.value: None
        if semantics == MemorySemantics.RELAXED
        else MemorySemanticsAttr(semantics)
        for semantics in MemorySemantics
    },
    "component": {component.value: ComponentAttr(component) for component in Component},
    "reduce_mode": {mode.value: ReduceModeAttr(mode) for mode in ReduceMode},
}
"""Spellings of each modifier and the property value it stands for; None is the default."""

REQUIRED_MODIFIERS = frozenset({"component", "reduce_mode"})

# Every command that reads the language loads these: Python makes tuples with names in a tenth of
# the time of data classes.


class _Modifier(NamedTuple):
    name: str
    spellings: dict[str, Attribute | None]

    def read(self, source: Input, parts: Parts) -> None:
        spelling = source.modifier(self.spellings)
        if spelling is None:
            if self.name in REQUIRED_MODIFIERS:
                raise source.missing_modifier(list(self.spellings))
            return
        value = self.spellings[spelling]
        if value is not None:
            parts.properties[self.name] = value

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        value = operation.properties.get(self.name)
        # A lone modifier is the first operand's, so `.n` holds the location before `.t`.
        if value is None and (
            self.name != "transpose_a" or "transpose_b" not in operation.properties
        ):
            return
        for spelling, known in self.spellings.items():
            if known == value:
                output.modifier(spelling)
                return


class _Operand(NamedTuple):
    name: str
    lead: str

    def read(self, source: Input, parts: Parts) -> None:
        parts.operands.append(source.operand())

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        output.write(self.lead)
        output.operand(getattr(operation, self.name))


class _Operands(NamedTuple):
    name: str
    close: str

    def read(self, source: Input, parts: Parts) -> None:
        parts.operands.extend(source.index_operands(self.close))

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        write_list(output, getattr(operation, self.name))


class _Integer(NamedTuple):
    name: str
    lead: str

    def read(self, source: Input, parts: Parts) -> None:
        what = self.name.replace("_", " ")
        parts.properties[self.name] = integer_attribute(source.integer(what))

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        value = operation.properties[self.name]
        output.write(f"{self.lead}{integer_value(value)}")


class _Punctuation(NamedTuple):
    text: str
    lead: str

    def read(self, source: Input, parts: Parts) -> None:
        source.punctuation(self.text)

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        output.write(f"{self.lead}{self.text}")


class _Dictionary(NamedTuple):
    name: str

    def read(self, source: Input, parts: Parts) -> None:
        split_dictionary(source.dictionary(), [self.name], parts)

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        write_dictionary(output, operation, [self.name], " ")


class _ResultType(NamedTuple):
    lead: str

    def read(self, source: Input, parts: Parts) -> None:
        source.punctuation(":")
        parts.result_types.append(source.type())

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        output.write(f"{self.lead}: ")
        output.type(operation.results[0].type)


_PIECE = re.compile(
    r"(?P<lead>\s*)"
    r"(?:\.(?P<modifier>\w+)|(?P<result>: \$result)|\$(?P<operand>\w+)|#(?P<integer>\w+)"
    r"|\{(?P<dictionary>\w+)\}|(?P<custom>\w+)\(\w*\)|(?P<punctuation>->|[,\[\]():]))"
)


@cache
def directives_of(cls: type[TensorLangOperation]) -> tuple[Directive, ...]:
    """The pieces of `cls.SYNTAX`, compiled."""
    operands = dict(cls.get_irdl_definition().operands)
    directives: list[Directive] = []
    for match in _PIECE.finditer(cls.SYNTAX):
        lead = match["lead"] or ("" if match.start() else " ")
        if match["modifier"]:
            directives.append(_Modifier(match["modifier"], MODIFIERS[match["modifier"]]))
        elif match["result"]:
            directives.append(_ResultType(lead))
        elif (name := match["operand"]) is not None:
            variadic = isinstance(operands[name], VarOperandDef)
            close = cls.SYNTAX[match.end()] if variadic else ""
            directives.append(_Operands(name, close) if variadic else _Operand(name, lead))
        elif match["integer"]:
            directives.append(_Integer(match["integer"], lead))
        elif match["dictionary"]:
            directives.append(_Dictionary(match["dictionary"]))
        elif match["custom"]:
            directives.append(CUSTOM[match["custom"]])
        else:
            directives.append(_Punctuation(match["punctuation"], lead))
    return tuple(directives)


@cache
def modifiers_of(cls: type[TensorLangOperation]) -> tuple[tuple[str, ...], ...]:
    """The spellings of each of the instruction's modifiers, in the order of the text."""
    directives = directives_of(cls)
    return tuple(tuple(d.spellings) for d in directives if isinstance(d, _Modifier))


@cache
def has_dictionary(cls: type[TensorLangOperation]) -> bool:
    """Whether the instruction's text has a location for named attributes."""
    return bool(re.search(r"\{|\bfor\(|\bfunc\(", cls.SYNTAX))


@cache
def readers_of(cls: type[TensorLangOperation]) -> tuple[Callable[[Input, Parts], None], ...]:
    """The `read` of each directive, looked up once."""
    return tuple(directive.read for directive in directives_of(cls))
