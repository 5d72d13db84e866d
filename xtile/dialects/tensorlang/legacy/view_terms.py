"""What the readers of views share: the operand, its annotation, and which type it is.

Source: tensor language references of tinytc v0.1.0, v0.3.1 and v0.4.0, sections "Expand",
"Fuse", "Load", "Size" and "Subview".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.tensorlang.legacy.revisions import CURRENT
from xtile.dialects.tensorlang.legacy.terms import (
    POISON,
    Annotation,
    Operand,
    check_annotation,
    read_annotation,
    same_type,
)
from xtile.dialects.tensorlang.term_reader import ReadError
from xtile.dialects.tensorlang.types import DYNAMIC, MemrefType, type_text
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader


def read_view_annotation(reader: Reader) -> Annotation | None:
    """Reads `: type` if it is there."""
    return read_annotation(reader) if reader.optional_punctuation(":") else None


def chosen_type(
    reader: Reader, operand: Operand, inferred: MemrefType, annotation: Annotation | None
) -> Attribute:
    """The result type, where the annotation is the operand's type or the result's.

    A type that fits neither is reported for older text, which annotates operands; in current
    text it is the result type, which the verifier checks.
    """
    if annotation is None or same_type(inferred, annotation.type):
        return inferred
    actual = operand.known_type
    if actual is not None and same_type(actual, annotation.type):
        return inferred
    if reader.revision == CURRENT:
        return annotation.type
    if _is_current_style(annotation.type, inferred):
        return annotation.type
    check_annotation(reader, operand, annotation)
    return inferred


def _is_current_style(annotated: Attribute, inferred: MemrefType) -> bool:
    """Whether a type can only be the result's: strides may be `?` where they are known."""
    return (
        isinstance(annotated, MemrefType)
        and annotated.element_type == inferred.element_type
        and annotated.shape == inferred.shape
        and annotated.address_space == inferred.address_space
        and all(a in (b, DYNAMIC) for a, b in zip(annotated.strides, inferred.strides, strict=True))
    )


def memref_operand(reader: Reader) -> Operand:
    """Reads the value that is viewed."""
    span = reader.span()
    return Operand(reader.operand(), None, span)


def memref_type(operand: Operand) -> MemrefType | None:
    """The operand's type; None where an earlier mistake left it unknown."""
    type = operand.known_type
    if type == POISON:
        return None
    if not isinstance(type, MemrefType):
        text = "nothing" if type is None else type_text(type)
        raise ReadError(operand.span, f"expected a memref, but this is of type {text}")
    return type


def infer(span: Span, infer: Callable[[], MemrefType]) -> MemrefType:
    """The inferred type; what the layout forbids is an error at `span`."""
    try:
        return infer()
    except VerifyException as error:
        raise ReadError(span, f"the result has no type: {error}") from None


def read_mode(reader: Reader, source: MemrefType | None) -> int:
    """Reads the number of a mode."""
    span = reader.span()
    mode = reader.integer("mode")
    if source is not None and not 0 <= mode < source.order:
        raise ReadError(span, f"the memref has no mode {mode}; its order is {source.order}")
    return mode
