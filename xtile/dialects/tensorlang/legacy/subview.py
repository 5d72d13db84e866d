"""Subview as older text writes it, with `:` and `?`.

Source: tensor language references of tinytc v0.1.0 and v0.3.1, section "Subview".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.directives import MixedList
from xtile.dialects.tensorlang.legacy.revisions import CURRENT
from xtile.dialects.tensorlang.legacy.terms import (
    POISON,
    Operand,
)
from xtile.dialects.tensorlang.legacy.view_terms import (
    chosen_type,
    infer,
    memref_operand,
    memref_type,
    read_view_annotation,
)
from xtile.dialects.tensorlang.legacy.view_types import subview_type
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    integer_list_attribute,
)
from xtile.dialects.tensorlang.ops.arithmetic import SubOp
from xtile.dialects.tensorlang.ops.memory import SubviewOp
from xtile.dialects.tensorlang.term_reader import ReadError
from xtile.dialects.tensorlang.types import DYNAMIC, INDEX, MemrefType
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader


Item = int | SSAValue


def _static(item: Item) -> int:
    return item if isinstance(item, int) else DYNAMIC


def read_subview(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[:,%i:?,4:8,%j] : memref<...>`, with `?` for the rest of a mode."""
    operand = memref_operand(reader)
    source = memref_type(operand)
    reader.punctuation("[")
    slices: list[tuple[Item, Item, Span]] = []
    while not reader.next_is("]"):
        if slices:
            reader.punctuation(",")
        slices.append(_read_slice(reader, operand, source, len(slices)))
    end = reader.lexer.end
    reader.punctuation("]")
    span = Span(operand.span.start, end)
    if source is not None and len(slices) != source.order:
        raise ReadError(
            span,
            f"{len(slices)} slices are given for a memref of order {source.order}; "
            "write one for each mode",
        )
    annotation = read_view_annotation(reader)
    result: Attribute = POISON
    if source is not None:
        sizes = [_static(size) for _, size, _ in slices]
        inferred = infer(span, lambda: subview_type(source, sizes))
        result = chosen_type(reader, operand, inferred, annotation)
    return _build_subview(reader, operand, slices, result)


def _build_subview(
    reader: Reader, operand: Operand, slices: list[tuple[Item, Item, Span]], result: Attribute
) -> TensorLangOperation:
    offsets, sizes = MixedList(), MixedList()
    for offset, size, _ in slices:
        offsets.add(offset)
        sizes.add(size)
    parts = Parts(result_types=[result])
    assert operand.value is not None
    for values in ([operand.value], offsets.values, sizes.values):
        parts.add_operands(values)
    parts.properties["static_offsets"] = integer_list_attribute(offsets.constants)
    parts.properties["static_sizes"] = integer_list_attribute(sizes.constants)
    reader.operand_spans[:] = [operand.span] + [
        span
        for position in (0, 1)
        for *items, span in slices
        if isinstance(items[position], SSAValue)
    ]
    return parts.build(SubviewOp)


def _read_slice(
    reader: Reader, operand: Operand, source: MemrefType | None, mode: int
) -> tuple[Item, Item, Span]:
    start = reader.lexer.start
    offset: Item = 0
    is_whole = reader.next_is(":")
    if not is_whole:
        offset = reader.index_or_operand("an offset")
    if not reader.optional_punctuation(":"):
        return offset, 0, Span(start, reader.lexer.previous_end)
    if reader.optional_punctuation("?") or is_whole:
        span = Span(start, reader.lexer.previous_end)
        return offset, _rest_of_mode(reader, operand, source, mode, offset, span), span
    size = reader.index_or_operand("a size")
    span = Span(start, reader.lexer.previous_end)
    if size == 0 and reader.revision != CURRENT:
        raise ReadError(
            span, "the size of a slice must be positive; write the offset alone to drop the mode"
        )
    return offset, size, span


def _rest_of_mode(
    reader: Reader,
    operand: Operand,
    source: MemrefType | None,
    mode: int,
    offset: Item,
    span: Span,
) -> Item:
    """The mode's size less the offset, which is what `?` stands for."""
    if source is None or mode >= source.order:
        return 1  # One mistake or the other is reported anyway.
    extent = source.shape[mode]
    if extent != DYNAMIC and isinstance(offset, int):
        if offset >= extent:
            raise ReadError(
                span, f"offset {offset} leaves nothing of mode {mode}, whose size is {extent}"
            )
        return extent - offset
    assert operand.value is not None
    implied = reader.implied
    if extent == DYNAMIC:
        size = implied.size(operand.value, mode, span)
    else:
        size = implied.index(extent, span)
    if offset == 0:
        return size
    start = implied.index(offset, span) if isinstance(offset, int) else offset
    operation = SubOp.create(operands=[size, start], result_types=[INDEX])
    return implied.result(operation, "rest", span)
