"""Which instructions older text writes in another way, and what reads them.

In text of an older revision these readers come first; they read the current spelling too. In
current text they come when the current grammar fails, and what they then read is warned about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Attribute

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.legacy import VIEWS
from xtile.dialects.tensorlang.legacy.access import read_alloca, read_load, read_size
from xtile.dialects.tensorlang.legacy.blas import ROWS, read_blas, read_store
from xtile.dialects.tensorlang.legacy.control import (
    read_for,
    read_foreach,
    read_func,
    read_if,
    read_yield,
)
from xtile.dialects.tensorlang.legacy.reshape import read_expand, read_fuse
from xtile.dialects.tensorlang.legacy.revisions import CURRENT
from xtile.dialects.tensorlang.legacy.scalars import (
    adjust_constant,
    read_arith,
    read_barrier,
    read_cast,
    read_cmp,
    read_group_id,
    read_group_size,
    read_math,
    read_plain_arithmetic,
)
from xtile.dialects.tensorlang.legacy.subview import read_subview
from xtile.dialects.tensorlang.legacy.terms import (
    Annotation,
    Operand,
    check_annotation,
    read_annotation,
    read_annotations,
)
from xtile.dialects.tensorlang.legacy.view_types import operand_style_result
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops.arithmetic import CastOp, ConstantOp
from xtile.dialects.tensorlang.ops.collective import BlasOperation
from xtile.dialects.tensorlang.ops.memory import StoreOp
from xtile.dialects.tensorlang.term_reader import FatalSyntaxError, ReadError
from xtile.dialects.tensorlang.types import type_text
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.legacy import Handler
    from xtile.dialects.tensorlang.reader import Reader

_HANDLERS: dict[str, Handler] = {
    "arith": read_arith,
    "cmp": read_cmp,
    "group_size": read_group_size,
    "hadamard_product": read_blas,
    "math": read_math,
    **dict.fromkeys(ROWS, read_blas),
    **dict.fromkeys(("add", "sub", "mul", "div", "rem", "neg"), read_plain_arithmetic),
    "alloca": read_alloca,
    "cast": read_cast,
    "expand": read_expand,
    "for": read_for,
    "foreach": read_foreach,
    "func": read_func,
    "fuse": read_fuse,
    "group_id": read_group_id,
    "if": read_if,
    "load": read_load,
    "size": read_size,
    "store": read_store,
    "subview": read_subview,
    "yield": read_yield,
}
"""Every instruction that some older revision writes in another way."""

_CURRENT_FORMS: dict[str, str] = {
    "alloca": "alloca : memref<f32x4,local>",
    "arith": "add %a, %b : f32",
    "cast": "cast %a : f32",
    "cmp": "less_than %a, %b : bool",
    "expand": "expand %A[0 -> 2 x %n] : memref<...>, with sizes or values and the result's type",
    "for": "for %i=%from,%to",
    "foreach": "foreach (%i)=(%from),(%to)",
    "func": "attributes{work_group_size=[16,1], subgroup_size=16}",
    "fuse": "fuse %A[0,1] : memref<...>, with the result's type",
    "group_id": "group_id.x : index",
    "group_size": "num_groups.x : index",
    "hadamard_product": "hadamard %alpha, %A, %B, %beta, %C",
    "if": "if %condition, with a value of type bool",
    "load": "load %A[%i] : f32, with the result's type",
    "math": "exp %a : f32",
    "size": "size %A[0] : index",
    "store": "store %a, %A[%i]",
    "subview": "subview %A[0:8,%i:%n] : memref<...>, with sizes or values and the result's type",
    "yield": "yield (%a)",
    "axpby": "axpby.atomic.n %alpha, %A, %beta, %B",
    "gemm": "gemm.atomic.n.n %alpha, %A, %B, %beta, %C",
    "gemv": "gemv.atomic.n %alpha, %A, %b, %beta, %c",
    "ger": "ger.atomic %alpha, %a, %b, %beta, %C",
    "hadamard": "hadamard.atomic %alpha, %A, %B, %beta, %C",
    "sum": "sum.atomic.n %alpha, %A, %beta, %b",
}
"""An example of each instruction's current spelling, for warnings."""


def handler_of(mnemonic: str) -> Handler | None:
    """What reads an instruction in older text first; None for the current grammar."""
    if mnemonic == "barrier":
        return read_barrier
    return _HANDLERS.get(mnemonic)


def warn_older_form(reader: Reader, span: Span, mnemonic: str, current: str = "") -> None:
    """Warns, in current text, about an instruction in an older form."""
    if reader.revision == CURRENT:
        current = current or _CURRENT_FORMS.get(mnemonic, f"{mnemonic} with values")
        reader.warn(span, f"this form of {mnemonic} is of an older revision; now it is {current}")


def reread(reader: Reader, mnemonic: str, end: int, error: ReadError) -> TensorLangOperation:
    """Reads an instruction again that does not follow the current grammar.

    Where it follows none, the error is the one that comes later in the text.
    """
    handler = _HANDLERS.get(mnemonic)
    if handler is None:
        raise error
    reader.lexer.move_to(end)
    reader.operand_spans.clear()
    try:
        operation = handler(reader, mnemonic)
    except FatalSyntaxError:
        raise
    except ReadError as second:
        raise second if second.span.start > error.span.start else error from None
    warn_older_form(reader, Span(end - len(mnemonic), end), mnemonic)
    return operation


# What the current grammar reads, but with an older annotation


def adjust(reader: Reader, cls: type[TensorLangOperation], parts: Parts, start: int) -> None:
    """Corrects an instruction that carries its operands' types, or a constant of another form."""
    if cls is ConstantOp:
        adjust_constant(reader, parts, Span(start, reader.lexer.previous_end))
    elif cls in VIEWS:
        result = operand_style_result(cls, parts)
        if result is not None:
            _replace_result(reader, cls, parts, result, Span(start, reader.lexer.previous_end))
    elif reader.next_is("->") and cls is CastOp:
        _adjust_cast(reader, parts)
    elif reader.next_is(":") and (issubclass(cls, BlasOperation) or cls is StoreOp):
        _drop_annotations(reader, cls, parts)


def _replace_result(
    reader: Reader,
    cls: type[TensorLangOperation],
    parts: Parts,
    result: Attribute,
    span: Span,
) -> None:
    operand = Operand(parts.operands[0], None, reader.operand_spans[0])
    check_annotation(reader, operand, Annotation(parts.result_types[0], span))
    parts.result_types[0] = result
    form = f"this annotation of {cls.mnemonic()} is the operand's type"
    reader.warn(span, f"{form}; now it is the result's, {type_text(result)}")


def _adjust_cast(reader: Reader, parts: Parts) -> None:
    reader.lexer.advance()
    span = reader.span()
    parts.result_types[0] = read_annotation(reader).type
    warn_older_form(reader, span, "cast")


def _drop_annotations(reader: Reader, cls: type[TensorLangOperation], parts: Parts) -> None:
    annotations = read_annotations(reader)
    span = Span(annotations[0].span.start, annotations[-1].span.end)
    values = parts.operands[1:2] if cls is StoreOp else parts.operands
    spans = reader.operand_spans[1:2] if cls is StoreOp else reader.operand_spans
    for value, position, annotation in zip(values, spans, annotations, strict=False):
        check_annotation(reader, Operand(value, None, position), annotation)
    warn_older_form(reader, span, cls.mnemonic())
