"""Arithmetic, comparison, math, cast, builtins and constants as older text writes them.

Source: tensor language references of tinytc v0.1.0 ("Binary op", "Neg", "Group id", "Group
size") and v0.3.1 ("Arithmetic", "Cast", "Comparison").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import BoolAttr, FloatAttr, UnitAttr, f64
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.attributes import Component, ComponentAttr
from xtile.dialects.tensorlang.legacy.terms import (
    Annotation,
    Operand,
    bits_of,
    check_annotation,
    convert_literal,
    read_annotation,
    read_operand,
    resolve,
    sign_error,
)
from xtile.dialects.tensorlang.operation import TensorLangOperation, integer_attribute
from xtile.dialects.tensorlang.ops.arithmetic import (
    AndOp,
    BinaryArithmeticOperation,
    CastOp,
    DivOp,
    EqualOp,
    GreaterThanEqualOp,
    GreaterThanOp,
    LessThanEqualOp,
    LessThanOp,
    MathOperation,
    MaxOp,
    MinOp,
    NotEqualOp,
    NotOp,
    RemOp,
    ShrOp,
    UnaryArithmeticOperation,
    XorOp,
)
from xtile.dialects.tensorlang.ops.builtins import GroupIdOp, IndexBuiltinOperation, NumGroupsOp
from xtile.dialects.tensorlang.ops.control import IfOp, YieldOp
from xtile.dialects.tensorlang.ops.memory import BarrierOp
from xtile.dialects.tensorlang.printer import constant_text
from xtile.dialects.tensorlang.term_reader import ReadError
from xtile.dialects.tensorlang.types import BOOL, INDEX, INTEGER_TYPES, component_type, type_text
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader
    from xtile.dialects.tensorlang.term_reader import TermReader


COMPARISONS: dict[str, type[TensorLangOperation]] = {
    "eq": EqualOp,
    "ne": NotEqualOp,
    "gt": GreaterThanOp,
    "ge": GreaterThanEqualOp,
    "lt": LessThanOp,
    "le": LessThanEqualOp,
}
"""The conditions of `cmp`, by their spelling."""

_SIGN_DEPENDENT = frozenset({DivOp, RemOp, ShrOp, MaxOp, MinOp})
_SIGN_DEPENDENT_COMPARISONS = frozenset({"gt", "ge", "lt", "le"})


def _required_annotation(reader: Reader) -> Annotation:
    reader.punctuation(":")
    return read_annotation(reader)


def _member(reader: Reader, base: type[TensorLangOperation]) -> type[TensorLangOperation] | None:
    """Reads `.name` where an instruction of that name and of class `base` exists."""
    from xtile.dialects.tensorlang.ops import BY_MNEMONIC

    if reader.lexer.kind != "modifier":
        return None
    cls = BY_MNEMONIC.get(reader.lexer.value[1:])
    if cls is None or not issubclass(cls, base):
        return None
    reader.lexer.advance()
    return cls


# Arithmetic


def read_arith(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `arith.add %a, 5 : i32` and `arith.neg %a : f32`, which v0.3 has."""
    binary = _member(reader, BinaryArithmeticOperation)
    if binary is not None:
        return _binary(reader, binary)
    unary = _member(reader, UnaryArithmeticOperation)
    if unary is not None:
        return _unary(reader, unary)
    raise reader.unexpected("the name of an arithmetic instruction, e.g. '.add'")


def read_math(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `math.exp %a : f32`, which examples of the current reference have."""
    cls = _member(reader, MathOperation)
    if cls is None:
        raise reader.unexpected("the name of a math instruction, e.g. '.exp'")
    return _unary(reader, cls)


def read_plain_arithmetic(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `add %a, 5 : i32` and `neg %a : f32`, which v0.1 has."""
    from xtile.dialects.tensorlang.ops import BY_MNEMONIC

    cls = BY_MNEMONIC[mnemonic]
    if issubclass(cls, BinaryArithmeticOperation):
        return _binary(reader, cls)
    return _unary(reader, cls)


def _binary(reader: Reader, cls: type[TensorLangOperation]) -> TensorLangOperation:
    a = read_operand(reader)
    reader.punctuation(",")
    b = read_operand(reader)
    annotation = _required_annotation(reader)
    if annotation.unsigned and cls in _SIGN_DEPENDENT:
        raise sign_error(annotation.span, cls.mnemonic())
    return Parts(
        operands=_annotated(reader, [a, b], annotation), result_types=[annotation.type]
    ).build(cls)


def _unary(reader: Reader, cls: type[TensorLangOperation]) -> TensorLangOperation:
    a = read_operand(reader)
    annotation = _required_annotation(reader)
    if cls.mnemonic() in ("neg", "not"):
        operands = _annotated(reader, [a], annotation)
    else:
        # The others may return another type than their operand's, and take no immediate.
        operands = [resolve(reader, a, None)]
    return Parts(operands=operands, result_types=[annotation.type]).build(cls)


def _annotated(reader: Reader, operands: list[Operand], annotation: Annotation) -> list[SSAValue]:
    """The operands of an instruction that is annotated with their type."""
    for operand in operands:
        check_annotation(reader, operand, annotation)
    return [resolve(reader, item, annotation.type, annotation.unsigned) for item in operands]


# Comparison


def read_cmp(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `cmp.lt %a, 16 : i32`, and `cmp.lt %a, %b : bool` of the current examples."""
    lexer = reader.lexer
    condition = lexer.value[1:]
    cls = COMPARISONS.get(condition) if lexer.kind == "modifier" else None
    if cls is None:
        raise reader.unexpected("a condition: .eq, .ne, .gt, .ge, .lt or .le")
    lexer.advance()
    a = read_operand(reader)
    reader.punctuation(",")
    b = read_operand(reader)
    annotation = _required_annotation(reader)
    known = a.known_type or b.known_type
    if annotation.type == BOOL and known != BOOL:
        operands = [resolve(reader, a, known), resolve(reader, b, known)]
        return Parts(operands=operands, result_types=[BOOL]).build(cls)
    if annotation.unsigned and condition in _SIGN_DEPENDENT_COMPARISONS:
        raise sign_error(annotation.span, f"cmp.{condition}")
    operands = _annotated(reader, [a, b], annotation)
    if annotation.type == BOOL:
        return _compare_bools(reader, condition, operands, annotation.span)
    return Parts(operands=operands, result_types=[BOOL]).build(cls)


def _compare_bools(
    reader: Reader, condition: str, operands: list[SSAValue], span: Span
) -> TensorLangOperation:
    """Bools differ where their exclusive or is true; comparisons now take numbers only."""
    if condition in _SIGN_DEPENDENT_COMPARISONS:
        raise ReadError(
            span,
            f"cmp.{condition} of bools has no counterpart: comparisons take numbers; "
            "write it with and, or and not",
        )
    xor = Parts(operands=operands, result_types=[BOOL]).build(XorOp)
    if condition == "ne":
        return xor
    differ = reader.implied.result(xor, "differ", span)
    return Parts(operands=[differ], result_types=[BOOL]).build(NotOp)


# Cast


def read_cast(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `cast %a : i32 -> index`."""
    a = read_operand(reader)
    first = _required_annotation(reader)
    if not reader.optional_punctuation("->"):
        return Parts(operands=[resolve(reader, a, None)], result_types=[first.type]).build(CastOp)
    target = read_annotation(reader)
    check_annotation(reader, a, first)
    value = resolve(reader, a, first.type, first.unsigned)
    span = Span(first.span.start, target.span.end)
    if BOOL in (first.type, target.type):
        return _cast_bool(reader, value, first, target, span)
    if first.unsigned or target.unsigned:
        return _cast_unsigned(reader, value, first, target, span)
    return Parts(operands=[value], result_types=[target.type]).build(CastOp)


def _cast_bool(
    reader: Reader, value: SSAValue, source: Annotation, target: Annotation, span: Span
) -> TensorLangOperation:
    """`cast` takes and returns numbers now: true is 1, and every number but 0 is true."""
    if source.type == target.type:
        operands = [value, reader.implied.constant(BoolAttr.from_bool(False), BOOL, span)]
        return Parts(operands=operands, result_types=[BOOL]).build(XorOp)
    if target.type == BOOL:
        zero = _number(reader, 0, source.type, span)
        return Parts(operands=[value, zero], result_types=[BOOL]).build(NotEqualOp)
    numbers = [_number(reader, number, target.type, span) for number in (1, 0)]
    regions = [_yielding_region(reader, number, span) for number in numbers]
    return Parts(operands=[value], result_types=[target.type], regions=regions).build(IfOp)


def _number(reader: Reader, value: int, type: Attribute, span: Span) -> SSAValue:
    return reader.implied.constant(
        convert_literal(integer_attribute(value), type, span), type, span
    )


def _yielding_region(reader: Reader, value: SSAValue, span: Span) -> Region:
    operation = Parts(operands=[value]).build(YieldOp)
    reader.locate(operation, span.start, span.end)
    return Region(Block([operation]))


def _cast_unsigned(
    reader: Reader, value: SSAValue, source: Annotation, target: Annotation, span: Span
) -> TensorLangOperation:
    """A cast that keeps or cuts off bits; widening clears the sign bits that `cast` fills in."""
    if not {source.type, target.type} <= INTEGER_TYPES:
        other = target if source.unsigned else source
        raise sign_error(span, f"a conversion to or from {type_text(other.type)}")
    cast = Parts(operands=[value], result_types=[target.type]).build(CastOp)
    if not source.unsigned or bits_of(target.type) <= bits_of(source.type):
        return cast
    widened = reader.implied.result(cast, "widened", span)
    mask = integer_attribute((1 << bits_of(source.type)) - 1)
    operands = [widened, reader.implied.constant(mask, target.type, span)]
    return Parts(operands=operands, result_types=[target.type]).build(AndOp)


# Builtins and barrier


def read_group_id(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `group_id`: older launches have one dimension, which is x now."""
    return _one_dimensional(reader, GroupIdOp)


def read_group_size(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `group_size`: the number of work-groups."""
    return _one_dimensional(reader, NumGroupsOp)


def _one_dimensional(reader: Reader, cls: type[IndexBuiltinOperation]) -> TensorLangOperation:
    if reader.lexer.kind == "modifier":
        return reader.read_as(cls)
    if reader.next_is(":"):
        _required_annotation(reader)
    parts = Parts(result_types=[INDEX])
    parts.properties["component"] = ComponentAttr(Component.X)
    return parts.build(cls)


def read_barrier(reader: Reader, mnemonic: str) -> TensorLangOperation:
    """Reads `barrier`, which in older revisions orders all memory."""
    operation = reader.read_as(BarrierOp)
    if not operation.properties:
        operation.properties.update({"global_fence": UnitAttr(), "local_fence": UnitAttr()})
    return operation


# Constants
#
# The older revisions have no constant instruction, but immediates, which take the annotated type
# whatever they look like. Generators that were moved to the constant instruction kept writing the
# numbers that way, `constant 0 : f32` for 0.0; only text that has older constructs besides is read
# so.


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
