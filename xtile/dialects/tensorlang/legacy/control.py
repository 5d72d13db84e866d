"""Functions, loops, conditionals and yield as older text writes them.

Source: tensor language references of tinytc v0.1.0 and v0.3.1, sections "Functions", "For",
"Foreach", "If" and "Yield".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.directives import (
    finish_if,
    finish_loop,
    read_function_attributes,
    read_signature,
)
from xtile.dialects.tensorlang.legacy.terms import (
    Annotation,
    Operand,
    check_annotation,
    largest_value,
    read_annotation,
    read_annotations,
    read_operand,
    resolve,
    sign_error,
)
from xtile.dialects.tensorlang.operation import TensorLangOperation, integer_attribute
from xtile.dialects.tensorlang.ops.collective import ForeachOp
from xtile.dialects.tensorlang.ops.control import ForOp, IfOp, YieldOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.term_reader import ReadError
from xtile.dialects.tensorlang.types import BOOL, INDEX
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader


# Functions


def read_func(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `@f(%A: memref<f32>) work_group_size(16,1) subgroup_size(16) {...}`."""
    parts = Parts()
    arguments = read_signature(reader, parts)
    while reader.lexer.value in ("work_group_size", "subgroup_size"):
        _read_size_attribute(reader, parts)
    read_function_attributes(reader, parts)
    parts.regions.append(reader.region(arguments))
    return parts.build(FuncOp)


def _read_size_attribute(reader: Reader, parts: Parts) -> None:
    name, span = reader.lexer.value, reader.span()
    if name in parts.properties:
        raise ReadError(span, f"{name} is given twice")
    reader.lexer.advance()
    reader.punctuation("(")
    sizes = [_positive(reader, name)]
    if name == "work_group_size":
        reader.punctuation(",")
        sizes.append(_positive(reader, name))
    reader.punctuation(")")
    parts.properties[name] = sizes[0] if name == "subgroup_size" else ArrayAttr(sizes)


def _positive(reader: Reader, what: str) -> Attribute:
    span = reader.span()
    value = reader.integer(what)
    if value < 1:
        raise ReadError(span, f"{what} must be positive, but it is {value}")
    return integer_attribute(value)


# Loops


def read_for(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%i=0,%n,2 : i32 {...}`; the type is index where it is not given."""
    variable = reader.definition()
    bounds = _read_bounds(reader)
    type, values = _loop_values(reader, bounds, "for")
    parts = Parts()
    for value in ([values[0]], [values[1]], values[2:]):
        parts.add_operands(value)
    finish_loop(reader, parts, variable, type)
    return parts.build(ForOp)


def read_foreach(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%i=0,%n : i32 {...}`."""
    if reader.next_is("("):
        return reader.read_as(ForeachOp)
    variable = reader.definition()
    bounds = _read_bounds(reader)
    type, values = _loop_values(reader, bounds, "foreach")
    if len(values) > 2:
        raise ReadError(bounds[2].span, "foreach takes no step")
    parts = Parts()
    for value in values:
        parts.add_operands([value])
    parts.regions.append(reader.region([(variable, type)]))
    return parts.build(ForeachOp)


def _read_bounds(reader: Reader) -> list[Operand]:
    reader.punctuation("=")
    bounds = [read_operand(reader)]
    reader.punctuation(",")
    bounds.append(read_operand(reader))
    if reader.optional_punctuation(","):
        bounds.append(read_operand(reader))
    return bounds


def _loop_values(
    reader: Reader, bounds: list[Operand], what: str
) -> tuple[Attribute, list[SSAValue]]:
    """The loop variable's type, and the bounds as values of it."""
    type: Attribute = INDEX
    unsigned = False
    if reader.optional_punctuation(":"):
        annotation = read_annotation(reader)
        for bound in bounds:
            check_annotation(reader, bound, annotation)
        _check_signs(bounds, annotation, what)
        type, unsigned = annotation.type, annotation.unsigned
    else:
        type = next((bound.value.type for bound in bounds if bound.value is not None), INDEX)
    return type, [resolve(reader, bound, type, unsigned) for bound in bounds]


def _check_signs(bounds: list[Operand], annotation: Annotation, what: str) -> None:
    """A loop over an unsigned type is the same over a signed one up to its largest value."""
    if not annotation.unsigned:
        return
    largest = largest_value(annotation.type)
    for bound in bounds:
        literal = bound.literal
        if not isinstance(literal, IntegerAttr) or not 0 <= literal.value.data <= largest:
            raise sign_error(annotation.span, f"a {what} loop")


# If and yield


def read_if(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `true -> (i32) {...} else {...}`; the condition may be an immediate."""
    condition = resolve(reader, read_operand(reader), BOOL)
    parts = Parts(operands=[condition])
    finish_if(reader, parts)
    return parts.build(IfOp)


def read_yield(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%a, 1.0 : i32, f32`, `:` and, in current text, `%a`."""
    if reader.next_is("("):
        return _read_current_yield(reader)
    operands: list[Operand] = []
    start = reader.lexer.start
    if not reader.next_is(":") and not reader.next_is("}"):
        operands.append(read_operand(reader))
        while reader.optional_punctuation(","):
            operands.append(read_operand(reader))
    span = Span(start, reader.lexer.previous_end)
    annotations = _read_yield_types(reader, bool(operands))
    if annotations is None:
        values = [resolve(reader, operand, None) for operand in operands]
    elif len(annotations) != len(operands):
        raise ReadError(
            span,
            f"{len(operands)} values are given but {len(annotations)} types; "
            "write one type for each value",
        )
    else:
        values = [
            _typed(reader, operand, annotation)
            for operand, annotation in zip(operands, annotations, strict=True)
        ]
    return Parts(operands=values).build(YieldOp)


def _read_current_yield(reader: Reader) -> TensorLangOperation:
    parts = Parts()
    reader.punctuation("(")
    if not reader.next_is(")"):
        operands = [read_operand(reader)]
        while reader.optional_punctuation(","):
            operands.append(read_operand(reader))
        parts.operands = [resolve(reader, operand, None) for operand in operands]
    reader.punctuation(")")
    return parts.build(YieldOp)


def _read_yield_types(reader: Reader, has_values: bool) -> list[Annotation] | None:
    """The types behind the colon; a colon alone ends a list of no values."""
    if has_values:
        return read_annotations(reader) or None
    reader.optional_punctuation(":")
    return []


def _typed(reader: Reader, operand: Operand, annotation: Annotation) -> SSAValue:
    check_annotation(reader, operand, annotation)
    return resolve(reader, operand, annotation.type, annotation.unsigned)
