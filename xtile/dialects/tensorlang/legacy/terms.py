"""The terms of older text: immediate operands, operand-type annotations, dropped types.

Source: tensor language references of tinytc v0.1.0 and v0.3.1, sections "Constants", "Types"
and the argument lists of the instructions; how the parsers of these releases check annotations.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, BoolAttr, FloatAttr, IntegerAttr, IntegerType, f64
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.tensorlang.legacy.revisions import CURRENT
from xtile.dialects.tensorlang.operation import integer_attribute
from xtile.dialects.tensorlang.term_reader import INTEGER_RANGE, ReadError
from xtile.dialects.tensorlang.types import (
    BOOL,
    COMPLEX_TYPES,
    DYNAMIC,
    FLOATING_TYPES,
    I8,
    I16,
    I32,
    I64,
    INTEGER_TYPES,
    SIZE_IN_BYTES,
    GroupType,
    MemrefType,
    PoisonType,
    type_text,
)
from xtile.text.diagnostics import shorten
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader
    from xtile.dialects.tensorlang.term_reader import TermReader

_UNSIGNED_TYPES: dict[str, Attribute] = {"u8": I8, "u16": I16, "u32": I32, "u64": I64}
"""The unsigned types of v0.1, and the types that hold their bits."""

_DROPPED_NAME = re.compile(r"(i1|u1|u8|u16|u32|u64)(?:\b|(?=x[0-9?]))")
_UNSIGNED_NAME = re.compile(r"\bu(?:8|16|32|64)(?:\b|x)")

POISON = PoisonType()


@dataclass(frozen=True, slots=True)
class Operand:
    """A value, or an immediate whose type is not known yet."""

    value: SSAValue | None
    literal: Attribute | None
    span: Span

    @property
    def known_type(self) -> Attribute | None:
        """The value's type; None for an immediate."""
        return None if self.value is None else self.value.type


@dataclass(frozen=True, slots=True)
class Annotation:
    """A type as the text has it; `unsigned` tells the unsigned types of v0.1."""

    type: Attribute
    span: Span
    unsigned: bool = False


def read_operand(reader: TermReader) -> Operand:
    """Reads a local identifier or a constant."""
    lexer, span = reader.lexer, reader.span()
    if lexer.kind == "local":
        return Operand(reader.operand(), None, span)
    if lexer.kind in ("integer", "float", "definition") or lexer.value in ("true", "false"):
        reader.operand_spans.append(span)
        return Operand(None, reader.constant(), span)
    raise reader.unexpected("a local identifier '%name' or a constant")


def read_annotation(reader: TermReader) -> Annotation:
    """Reads a type that says what an operand is."""
    start = reader.lexer.start
    type = reader.type()
    span = Span(start, reader.lexer.previous_end)
    return Annotation(type, span, is_unsigned_text(reader, span))


def is_unsigned_text(reader: TermReader, span: Span) -> bool:
    """Whether the text of a type names an unsigned type."""
    return bool(_UNSIGNED_NAME.search(reader.source.text, span.start, span.end))


def read_annotations(reader: TermReader) -> list[Annotation]:
    """Reads `: type, type, ...` if it is there."""
    if not reader.optional_punctuation(":"):
        return []
    annotations = [read_annotation(reader)]
    while reader.optional_punctuation(","):
        annotations.append(read_annotation(reader))
    return annotations


def same_type(actual: Attribute, annotated: Attribute) -> bool:
    """Whether an operand of type `actual` may be annotated so.

    Older text has neither address spaces nor group sizes, and its parsers compare no group
    offsets.
    """
    if actual is annotated or actual == annotated:
        return True
    if isinstance(actual, GroupType) and isinstance(annotated, GroupType):
        return same_type(actual.memref_type, annotated.memref_type)
    return (
        isinstance(actual, MemrefType)
        and isinstance(annotated, MemrefType)
        and actual.element_type == annotated.element_type
        and actual.shape_attr == annotated.shape_attr
        and actual.strides_attr == annotated.strides_attr
    )


def check_annotation(reader: TermReader, operand: Operand, annotation: Annotation) -> None:
    """Reports an annotation that is not the operand's type."""
    actual = operand.known_type
    if actual is None or actual == POISON or same_type(actual, annotation.type):
        return
    name = shorten(reader.source.text[operand.span.start : operand.span.end], 40)
    reader.diagnostics.error(
        reader.source,
        annotation.span,
        f"{name} is of type {type_text(actual)}, but this annotation of it says "
        f"{type_text(annotation.type)}; both must be the same",
        notes=[reader.note(operand.span, f"{name} is used here")],
    )


def resolve(
    reader: Reader, operand: Operand, type: Attribute | None, unsigned: bool = False
) -> SSAValue:
    """The operand as a value; an immediate becomes a constant of `type`."""
    if operand.value is not None:
        return operand.value
    assert operand.literal is not None
    if type is None:
        raise ReadError(
            operand.span,
            "the type of this constant is not known here; write a constant instruction, "
            "e.g. %c = constant 1.0 : f32",
        )
    value = convert_literal(operand.literal, type, operand.span, unsigned)
    return reader.implied.constant(value, type, operand.span)


def convert_literal(
    literal: Attribute, type: Attribute, span: Span, unsigned: bool = False
) -> Attribute:
    """An immediate as `ConstantOp` keeps a constant of `type`.

    Older text gives an immediate the annotated type whatever it looks like: 1 may be an f32,
    and `true` is the integer 1.
    """
    converted: Attribute | None = None
    if isinstance(literal, IntegerAttr):
        value = literal.value.data
        is_bool = cast("IntegerAttr[IntegerType]", literal).type == BOOL
        # A BoolAttr keeps true as -1.
        converted = _integer_literal(abs(value) if is_bool else value, type, unsigned)
    elif isinstance(literal, FloatAttr):
        converted = _float_literal(literal.value.data, type)
    if converted is None:
        raise ReadError(span, f"this constant is not of type {type_text(type)}")
    return converted


def _integer_literal(value: int, type: Attribute, unsigned: bool) -> Attribute | None:
    if type in INTEGER_TYPES:
        if unsigned:
            return _wrapped(value, bits_of(type))
        return integer_attribute(value)
    if type == BOOL and value in (0, 1):
        return BoolAttr.from_bool(bool(value))
    return _float_literal(float(value), type)


def _wrapped(value: int, bits: int) -> Attribute | None:
    """The signed integer with the bits of an unsigned one."""
    if not 0 <= value < 1 << bits:
        return None
    return integer_attribute(value - (1 << bits) if value >> (bits - 1) else value)


def _float_literal(value: float, type: Attribute) -> Attribute | None:
    if type in FLOATING_TYPES:
        return FloatAttr(value, f64)
    if type in COMPLEX_TYPES:
        return ArrayAttr([FloatAttr(value, f64), FloatAttr(0.0, f64)])
    if type in INTEGER_TYPES and value.is_integer() and int(value) in INTEGER_RANGE:
        return integer_attribute(int(value))
    return None


def read_index_immediate(reader: Reader) -> SSAValue:
    """Reads an integer where the current revision wants an index value."""
    span = reader.span()
    reader.operand_spans.append(span)
    value = reader.integer("index")
    if reader.revision == CURRENT:
        reader.warn(
            span,
            "an integer as an operand is a spelling of older revisions; "
            f"write %c = constant {value} : index and use %c",
        )
    return reader.implied.index(value, span)


def read_dropped_type(reader: TermReader) -> Attribute:
    """Reads a type that the current revision does not have.

    i1 is what bool is now. An unsigned type becomes the integer type of its width; instructions
    whose result depends on the sign check their annotations.
    """
    lexer = reader.lexer
    match = _DROPPED_NAME.match(reader.source.text, lexer.start)
    if lexer.kind != "word" or match is None:
        raise reader.unexpected("a type")
    name, span = match[1], Span(match.start(), match.end(1))
    if name in _UNSIGNED_TYPES and reader.revision == CURRENT:
        raise ReadError(
            span,
            f"{name} ended with v0.1: the current revision has signed integers only; write "
            f"{type_text(_UNSIGNED_TYPES[name])}, or read the text with revision v0.1",
        )
    if name not in _UNSIGNED_TYPES:
        _check_bool_position(reader, name, span)
    lexer.move_to(span.end)
    lexer.previous_end = span.end
    return _UNSIGNED_TYPES.get(name, BOOL)


def _check_bool_position(reader: TermReader, name: str, span: Span) -> None:
    if reader.source.text[reader.lexer.previous_end - 1 : reader.lexer.previous_end] == "<":
        raise ReadError(
            span,
            f"memory of {name} has no counterpart: a memref of the current revision holds "
            "numbers, not bools; write i8, and compare what is loaded with 0",
        )
    if reader.revision == CURRENT:
        reader.warn(span, f"{name} is a spelling of older revisions; write bool")


def missing_group_size(reader: TermReader, span: Span) -> int:
    """The size of a group that is written without one: the launch gives it."""
    if not (reader.next_is(">") or reader.next_is(",")):
        raise reader.unexpected("'x' and the group's size")
    if reader.revision == CURRENT:
        reader.warn(
            Span(span.start, reader.lexer.previous_end),
            "a group without a size is a spelling of older revisions; write x? behind the memref",
        )
    return DYNAMIC


def bits_of(type: Attribute) -> int:
    """The width of an integer type."""
    return 8 * SIZE_IN_BYTES[type]


def largest_value(type: Attribute) -> int:
    """The largest value of a signed integer type."""
    return (1 << (bits_of(type) - 1)) - 1


def sign_error(span: Span, what: str) -> ReadError:
    """The error that an unsigned type cannot become a signed one in this instruction."""
    return ReadError(
        span,
        f"{what} of an unsigned type depends on the sign, and the current revision has signed "
        "integers only; cast the operands to a wider signed type first, or write a signed type "
        "if no value reaches the sign bit",
    )
