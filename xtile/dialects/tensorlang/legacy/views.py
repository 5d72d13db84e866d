"""Views, loads and sizes as older text writes them: annotated with the operand's type.

Source: tensor language references of tinytc v0.1.0 and v0.3.1, sections "Expand", "Fuse",
"Load", "Size" and "Subview".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.attributes import AddressSpace
from xtile.dialects.tensorlang.directives import MixedList
from xtile.dialects.tensorlang.legacy.revisions import CURRENT
from xtile.dialects.tensorlang.legacy.terms import (
    POISON,
    Annotation,
    Operand,
    check_annotation,
    read_annotation,
    same_type,
)
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    integer_attribute,
    integer_list_attribute,
)
from xtile.dialects.tensorlang.ops.arithmetic import DivOp, MulOp, SubOp
from xtile.dialects.tensorlang.ops.collective import AllocaOp
from xtile.dialects.tensorlang.ops.memory import ExpandOp, FuseOp, LoadOp, SizeOp, SubviewOp
from xtile.dialects.tensorlang.term_reader import ReadError
from xtile.dialects.tensorlang.types import DYNAMIC, INDEX, GroupType, MemrefType, type_text
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader

Item = int | SSAValue


def _static(item: Item) -> int:
    return item if isinstance(item, int) else DYNAMIC


# Result types (sections "Expand", "Fuse" and "Subview", "The output type is ...")


def _view(source: MemrefType, shape: Sequence[int], strides: Sequence[int]) -> MemrefType:
    return MemrefType.get(source.element_type, shape, strides, source.address_space)


def subview_type(source: MemrefType, sizes: Sequence[int]) -> MemrefType:
    """The type of a subview; a mode of size 0, which is one without a size, is left out."""
    kept = [mode for mode, size in enumerate(sizes) if size != 0]
    strides = source.strides
    return _view(source, [sizes[mode] for mode in kept], [strides[mode] for mode in kept])


def expand_type(source: MemrefType, mode: int, sizes: Sequence[int]) -> MemrefType:
    """The type of an expand, with canonical strides for the new modes."""
    shape, strides = source.shape, source.strides
    inner = [strides[mode]]
    for size in sizes[:-1]:
        inner.append(DYNAMIC if DYNAMIC in (size, inner[-1]) else inner[-1] * size)
    return _view(
        source,
        [*shape[:mode], *sizes, *shape[mode + 1 :]],
        [*strides[:mode], *inner, *strides[mode + 1 :]],
    )


def fuse_type(source: MemrefType, from_mode: int, to_mode: int) -> MemrefType:
    """The type of a fuse; its size is dynamic where one of the fused sizes is."""
    shape, strides = source.shape, source.strides
    fused = shape[from_mode : to_mode + 1]
    size = DYNAMIC if DYNAMIC in fused else math.prod(fused)
    return _view(
        source,
        [*shape[:from_mode], size, *shape[to_mode + 1 :]],
        [*strides[: from_mode + 1], *strides[to_mode + 1 :]],
    )


# Annotations


def _read_view_annotation(reader: Reader) -> Annotation | None:
    return read_annotation(reader) if reader.optional_punctuation(":") else None


def _chosen_type(
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


def _memref_operand(reader: Reader) -> Operand:
    span = reader.span()
    return Operand(reader.operand(), None, span)


def _memref_type(operand: Operand) -> MemrefType | None:
    """The operand's type; None where an earlier mistake left it unknown."""
    type = operand.known_type
    if type == POISON:
        return None
    if not isinstance(type, MemrefType):
        text = "nothing" if type is None else type_text(type)
        raise ReadError(operand.span, f"expected a memref, but this is of type {text}")
    return type


def _infer(span: Span, infer: Callable[[], MemrefType]) -> MemrefType:
    try:
        return infer()
    except VerifyException as error:
        raise ReadError(span, f"the result has no type: {error}") from None


# Subview


def read_subview(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[:,%i:?,4:8,%j] : memref<...>`, with `?` for the rest of a mode."""
    operand = _memref_operand(reader)
    source = _memref_type(operand)
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
    annotation = _read_view_annotation(reader)
    result: Attribute = POISON
    if source is not None:
        sizes = [_static(size) for _, size, _ in slices]
        inferred = _infer(span, lambda: subview_type(source, sizes))
        result = _chosen_type(reader, operand, inferred, annotation)
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


# Expand and fuse


def read_expand(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[1 -> 4 x ?] : memref<...>`, with `?` for what the other sizes leave."""
    operand = _memref_operand(reader)
    source = _memref_type(operand)
    reader.punctuation("[")
    mode = _read_mode(reader, source)
    reader.punctuation("->")
    start = reader.lexer.start
    entries = [_read_entry(reader)]
    while reader.optional_punctuation("x"):
        entries.append(_read_entry(reader))
    span = Span(start, reader.lexer.previous_end)
    reader.punctuation("]")
    sizes = _complete_shape(reader, operand, source, mode, entries, span)
    annotation = _read_view_annotation(reader)
    shape = MixedList()
    for size in sizes:
        shape.add(size)
    result: Attribute = POISON
    if source is not None:
        inferred = _infer(span, lambda: expand_type(source, mode, shape.constants))
        result = _chosen_type(reader, operand, inferred, annotation)
    assert operand.value is not None
    reader.operand_spans[1:] = [span] * len(shape.values)
    parts = Parts(operands=[operand.value, *shape.values], result_types=[result])
    parts.properties["mode"] = integer_attribute(mode)
    parts.properties["static_expand_shape"] = integer_list_attribute(shape.constants)
    return parts.build(ExpandOp)


def _read_mode(reader: Reader, source: MemrefType | None) -> int:
    span = reader.span()
    mode = reader.integer("mode")
    if source is not None and not 0 <= mode < source.order:
        raise ReadError(span, f"the memref has no mode {mode}; its order is {source.order}")
    return mode


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
    product = values[0]
    for value in values[1:]:
        multiply = MulOp.create(operands=[product, value], result_types=[INDEX])
        product = implied.result(multiply, "product", span)
    divide = DivOp.create(operands=[size, product], result_types=[INDEX])
    return implied.result(divide, "quotient", span)


def read_fuse(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[1,3] : memref<...>`."""
    operand = _memref_operand(reader)
    source = _memref_type(operand)
    reader.punctuation("[")
    start = reader.lexer.start
    from_mode = _read_mode(reader, source)
    reader.punctuation(",")
    to_mode = _read_mode(reader, source)
    span = Span(start, reader.lexer.previous_end)
    reader.punctuation("]")
    if from_mode >= to_mode:
        raise ReadError(span, "the first mode to fuse must be less than the last")
    annotation = _read_view_annotation(reader)
    result: Attribute = POISON
    if source is not None:
        inferred = _infer(span, lambda: fuse_type(source, from_mode, to_mode))
        result = _chosen_type(reader, operand, inferred, annotation)
    assert operand.value is not None
    parts = Parts(operands=[operand.value], result_types=[result])
    parts.properties["from_mode"] = integer_attribute(from_mode)
    parts.properties["to_mode"] = integer_attribute(to_mode)
    return parts.build(FuseOp)


# Load, size, alloca


def read_load(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[5,%i] : memref<...>` or `%A[%i] : group<...>`."""
    operand = _memref_operand(reader)
    reader.punctuation("[")
    indices = reader.index_operands("]")
    reader.punctuation("]")
    annotation = _read_view_annotation(reader)
    result = _loaded_type(operand)
    if annotation is not None and not same_type(result, annotation.type):
        check_annotation(reader, operand, annotation)
    assert operand.value is not None
    return Parts(operands=[operand.value, *indices], result_types=[result]).build(LoadOp)


def _loaded_type(operand: Operand) -> Attribute:
    type = operand.known_type
    if isinstance(type, GroupType):
        return type.memref_type
    if isinstance(type, MemrefType):
        return type.element_type
    if type == POISON:
        return POISON
    text = "nothing" if type is None else type_text(type)
    raise ReadError(operand.span, f"expected a memref or a group, but this is of type {text}")


def read_size(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `%A[1] : memref<...>`."""
    operand = _memref_operand(reader)
    reader.punctuation("[")
    mode = reader.integer("mode")
    reader.punctuation("]")
    annotation = _read_view_annotation(reader)
    if annotation is not None and annotation.type != INDEX:
        check_annotation(reader, operand, annotation)
    assert operand.value is not None
    parts = Parts(operands=[operand.value], result_types=[INDEX])
    parts.properties["mode"] = integer_attribute(mode)
    return parts.build(SizeOp)


def read_alloca(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `-> memref<...>`; what alloca returns is local memory in every revision."""
    if not reader.optional_punctuation("->"):
        return reader.read_as(AllocaOp)
    span = reader.span()
    type = reader.type()
    if not isinstance(type, MemrefType):
        raise ReadError(span, f"alloca returns a memref, not a {type_text(type)}")
    local = MemrefType.get(type.element_type, type.shape, type.strides, AddressSpace.LOCAL)
    return Parts(result_types=[local]).build(AllocaOp)


# Current text whose annotation is the operand's type


def _static_values(parts: Parts, name: str) -> list[int]:
    values = parts.properties[name]
    assert isinstance(values, DenseArrayBase)
    return [int(value) for value in values.get_values()]


def _integer_value(parts: Parts, name: str) -> int:
    value = parts.properties[name]
    assert isinstance(value, IntegerAttr)
    return value.value.data


def _inferred_of_parts(
    cls: type[TensorLangOperation], source: MemrefType, parts: Parts
) -> MemrefType | None:
    """The result type that the parts of a view imply, or None where they are wrong."""
    try:
        if cls is SubviewOp:
            sizes = _static_values(parts, "static_sizes")
            return subview_type(source, sizes) if len(sizes) == source.order else None
        if cls is ExpandOp:
            mode = _integer_value(parts, "mode")
            sizes = _static_values(parts, "static_expand_shape")
            return expand_type(source, mode, sizes) if 0 <= mode < source.order else None
        first, last = _integer_value(parts, "from_mode"), _integer_value(parts, "to_mode")
        return fuse_type(source, first, last) if 0 <= first < last < source.order else None
    except VerifyException:
        return None


def operand_style_result(cls: type[TensorLangOperation], parts: Parts) -> Attribute | None:
    """The result type of an instruction that is annotated with its operand's type.

    None where the annotation may be the result's, as the current revision has it.
    """
    actual, annotated = parts.operands[0].type, parts.result_types[0]
    if cls is SizeOp:
        return None if annotated == INDEX else INDEX
    if cls is LoadOp:
        if isinstance(actual, GroupType) and isinstance(annotated, GroupType):
            return actual.memref_type
        if isinstance(actual, MemrefType) and isinstance(annotated, MemrefType):
            return actual.element_type
        return None
    if not isinstance(actual, MemrefType) or not same_type(actual, annotated):
        return None
    inferred = _inferred_of_parts(cls, actual, parts)
    return None if inferred is None or same_type(inferred, annotated) else inferred


VIEWS = frozenset({SubviewOp, ExpandOp, FuseOp, LoadOp, SizeOp})
"""The instructions whose annotation older text makes the operand's type."""
