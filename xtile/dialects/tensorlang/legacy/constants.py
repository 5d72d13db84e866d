"""Constants as older generators write them: `constant 0 : f32` for 0.0.

The older revisions have no constant instruction, but immediates, which take the annotated type
whatever they look like. Generators that were moved to the constant instruction kept writing the
numbers that way; only text that has older constructs besides is read so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FloatAttr, f64

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.legacy.terms import convert_literal
from xtile.dialects.tensorlang.printer import constant_text
from xtile.dialects.tensorlang.term_reader import ReadError
from xtile.dialects.tensorlang.types import component_type, type_text
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader
    from xtile.dialects.tensorlang.term_reader import TermReader


def adjust_constant(reader: Reader, parts: Parts, span: Span) -> None:
    """Gives a constant the form that its type asks for, where it has one.

    The others the verifier reports.
    """
    if not reader.has_older_constructs:
        return
    type = parts.result_types[0]
    try:
        value = convert_literal(parts.properties["value"], component_type(type), span)
    except ReadError:
        return
    parts.properties["value"] = value
    _warn(reader, span, f"{constant_text(value)} : {type_text(type)}")


def read_integer_part(reader: TermReader) -> FloatAttr:
    """Reads the integer `1` as the part `1.0` of a complex constant."""
    span = reader.span()
    value = FloatAttr(float(reader.integer("part")), f64)
    _warn(reader, span, constant_text(value))
    return value


def _warn(reader: TermReader, span: Span, current: str) -> None:
    text = reader.source.text[span.start : span.end]
    reader.warn(span, f"{text} is a spelling of older generators; write {current}")
