"""Expand, with `?`, and fuse as older text writes them.

Source: tensor language references of tinytc v0.1.0 and v0.3.1, sections "Expand" and "Fuse".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.directives import MixedList
from xtile.dialects.tensorlang.legacy.terms import (
    POISON,
    Operand,
)
from xtile.dialects.tensorlang.legacy.view_terms import (
    chosen_type,
    infer,
    memref_operand,
    memref_type,
    read_mode,
    read_view_annotation,
)
from xtile.dialects.tensorlang.legacy.view_types import expand_type, fuse_type
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    integer_attribute,
    integer_list_attribute,
)
from xtile.dialects.tensorlang.ops.arithmetic import DivOp, MulOp
from xtile.dialects.tensorlang.ops.memory import ExpandOp, FuseOp
from xtile.dialects.tensorlang.term_reader import ReadError
from xtile.dialects.tensorlang.types import DYNAMIC, INDEX, MemrefType
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader


Item = int | SSAValue


def read_expand(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[1 -> 4 x ?] : memref<...>`, with `?` for what the other sizes leave."""
    operand = memref_operand(reader)
    source = memref_type(operand)
    reader.punctuation("[")
    mode = read_mode(reader, source)
    reader.punctuation("->")
    start = reader.lexer.start
    entries = [_read_entry(reader)]
    while reader.optional_punctuation("x"):
        entries.append(_read_entry(reader))
    span = Span(start, reader.lexer.previous_end)
    reader.punctuation("]")
    sizes = _complete_shape(reader, operand, source, mode, entries, span)
    annotation = read_view_annotation(reader)
    shape = MixedList()
    for size in sizes:
        shape.add(size)
    result: Attribute = POISON
    if source is not None:
        inferred = infer(span, lambda: expand_type(source, mode, shape.constants))
        result = chosen_type(reader, operand, inferred, annotation)
    assert operand.value is not None
    reader.operand_spans[1:] = [span] * len(shape.values)
    parts = Parts(operands=[operand.value, *shape.values], result_types=[result])
    parts.properties["mode"] = integer_attribute(mode)
    parts.properties["static_expand_shape"] = integer_list_attribute(shape.constants)
    return parts.build(ExpandOp)


def _read_entry(reader: Reader) -> Item | None:
    if reader.optional_punctuation("?"):
        return None
    return reader.index_or_operand("an expand shape entry")


def _complete_shape(
    reader: Reader,
    operand: Operand,
    source: MemrefType | None,
    mode: int,
    entries: list[Item | None],
    span: Span,
) -> list[Item]:
    """The expand shape with its `?` as a number or a value."""
    if len(entries) < 2:
        raise ReadError(span, "an expand shape needs at least two sizes")
    given = [entry for entry in entries if entry is not None]
    if len(given) == len(entries):
        return given
    if len(given) < len(entries) - 1:
        raise ReadError(span, "at most one size of an expand shape may be '?'")
    inferred: Item = 1
    if source is not None:
        inferred = _inferred_size(reader, operand, source, mode, given, span)
    return [inferred if entry is None else entry for entry in entries]


def _inferred_size(
    reader: Reader,
    operand: Operand,
    source: MemrefType,
    mode: int,
    given: list[Item],
    span: Span,
) -> Item:
    """The mode's size divided by the product of the other sizes."""
    extent = source.shape[mode]
    static = math.prod(size for size in given if isinstance(size, int))
    values = [size for size in given if not isinstance(size, int)]
    if static == 0:
        raise ReadError(span, "a size of 0 divides no mode size; write positive sizes")
    if extent != DYNAMIC and not values:
        if extent % static:
            raise ReadError(
                span, f"{static} does not divide the size of mode {mode}, which is {extent}"
            )
        return extent // static
    assert operand.value is not None
    implied = reader.implied
    if extent == DYNAMIC:
        size = implied.size(operand.value, mode, span)
    else:
        size = implied.index(extent, span)
    if static != 1:
        values.insert(0, implied.index(static, span))
    if not values:
        return size  # The others are all 1.
    product = values[0]
    for value in values[1:]:
        multiply = MulOp.create(operands=[product, value], result_types=[INDEX])
        product = implied.result(multiply, "product", span)
    divide = DivOp.create(operands=[size, product], result_types=[INDEX])
    return implied.result(divide, "quotient", span)


def read_fuse(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[1,3] : memref<...>`."""
    operand = memref_operand(reader)
    source = memref_type(operand)
    reader.punctuation("[")
    start = reader.lexer.start
    from_mode = read_mode(reader, source)
    reader.punctuation(",")
    to_mode = read_mode(reader, source)
    span = Span(start, reader.lexer.previous_end)
    reader.punctuation("]")
    if from_mode >= to_mode:
        raise ReadError(span, "the first mode to fuse must be less than the last")
    annotation = read_view_annotation(reader)
    result: Attribute = POISON
    if source is not None:
        inferred = infer(span, lambda: fuse_type(source, from_mode, to_mode))
        result = chosen_type(reader, operand, inferred, annotation)
    assert operand.value is not None
    parts = Parts(operands=[operand.value], result_types=[result])
    parts.properties["from_mode"] = integer_attribute(from_mode)
    parts.properties["to_mode"] = integer_attribute(to_mode)
    return parts.build(FuseOp)
