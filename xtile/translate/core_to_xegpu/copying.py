"""Operations that stay what they are: on scalars once, on matrices piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    f32,
    i16,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.assembly import ROUNDING_MODES
from xtile.dialects.core.levels import is_for_lanes
from xtile.dialects.core.pointers import is_on_pointers
from xtile.dialects.number_attributes import (
    FLUSH_ATTRIBUTE,
    NUMBER_ATTRIBUTES,
    SATURATE_ATTRIBUTE,
)
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import again, refuse_rounding
from xtile.targets.compilers import XTILE
from xtile.text.source import spelling_of
from xtile.translate.core_to_xegpu import bfloat16, narrow_integers, tf32, widening
from xtile.translate.core_to_xegpu.bfloat16 import (
    TO_NEAREST_EVEN,
    element_of,
    integer_to_single,
    is_bfloat16,
    like,
    widen,
)
from xtile.translate.core_to_xegpu.fragments import Fragment
from xtile.translate.core_to_xegpu.lowering import Lowering, carried_type, is_wide_integer
from xtile.translate.core_to_xegpu.tf32 import is_tf32

_ON_BITS = frozenset({"arith.select", "arith.bitcast"})
"""Operations of arithmetic that treat bf16 as bits."""

_ARITHMETIC = frozenset({"arith", "math"})


def copy(operation: Operation, lowering: Lowering) -> None:
    """Emits the operation again, with what its operands have become."""
    if any(type(value.type) is VectorType for value in _values(operation)):
        _copy_elementwise(operation, lowering)
        return
    operands = lowering.values(operation.operands)
    results = emit_on(operation, operands, operation.result_types, lowering)
    for old, new in zip(operation.results, results, strict=True):
        lowering.define(old, new)


def _values(operation: Operation) -> Sequence[SSAValue]:
    return (*operation.operands, *operation.results)


def _copy_elementwise(operation: Operation, lowering: Lowering) -> None:
    if operation.dialect_name() not in _ARITHMETIC:
        raise lowering.error(
            f"{spelling_of(operation)} on vectors cannot be spread over a subgroup's lanes; "
            "use element-wise arithmetic, vector.contract or vector.multi_reduction"
        )
    pieces: list[list[SSAValue]] = []
    form: Fragment | None = None
    for operand in operation.operands:
        meaning = lowering.meaning(operand)
        if isinstance(meaning, Fragment):
            form = meaning
            pieces.append(meaning.values)
        else:
            pieces.append([])
    if form is None:
        raise lowering.error(f"{spelling_of(operation)} needs a matrix as an operand")
    count = len(form.values)
    for i, operand in enumerate(operation.operands):
        pieces[i] = pieces[i] or [lowering.value(operand)] * count
    elements = [value_type(result.type) for result in operation.results]
    made: list[list[SSAValue]] = []
    for operands, shape in zip(zip(*pieces, strict=True), form.values, strict=True):
        types = [like(shape, element) for element in elements]
        made.append(emit_on(operation, list(operands), types, lowering))
    for result, values in zip(operation.results, zip(*made, strict=True), strict=True):
        lowering.define(result, form.with_values(list(values)))


def emit_on(
    operation: Operation,
    operands: list[SSAValue],
    result_types: Sequence[Attribute],
    lowering: Lowering,
) -> list[SSAValue]:
    """Emits the operation on other operands; bf16 and tf32 are computed in f32 and rounded.

    Subnormal numbers are made zeros where the operation says so.

    Raises:
        DiagnosticError: There is no such operation outside of the core form, or it says in which
            direction it rounds.
    """
    if not is_for_lanes(operation):
        raise lowering.error(f"{spelling_of(operation)} cannot be lowered to lanes")
    if is_on_pointers(operation) and lowering.target.compiler is not XTILE:
        raise lowering.error(
            f"{spelling_of(operation)} cannot be translated to XeGPU of lanes, which has no "
            "pointers; a kernel of tiles becomes level work-group or subgroup"
        )
    refuse_direction(operation, lowering)
    if FLUSH_ATTRIBUTE not in operation.attributes and _is_on_plain_numbers(operation):
        return _emit_as_it_is(operation, operands, result_types, lowering)
    if _is_arithmetic(operation) and widening.is_on_narrow_floats(operation):
        return [widening.emit_narrow(operation, operands, result_types[0], lowering)]
    if operation.name != "arith.select" and narrow_integers.is_on_narrow_integers(operation):
        (type_,) = result_types
        return [narrow_integers.emit_narrow_integer(operation, operands, type_, lowering)]
    if FLUSH_ATTRIBUTE not in operation.attributes:
        return _emit_rounded(operation, operands, result_types, lowering)
    from xtile.transforms.compose_flush import flushed

    own = [flushed(lowering, operand) for operand in operands]
    results = _emit_rounded(operation, own, result_types, lowering)
    return [flushed(lowering, result) for result in results]


_PLAIN_TYPES = frozenset({IndexType, Float16Type, Float32Type, Float64Type})


def _is_on_plain_numbers(operation: Operation) -> bool:
    """Whether an operation is on numbers alone that are carried as what they are.

    Most operations are.
    """
    types = map(value_type, (*operation.operand_types, *operation.result_types))
    return all(type(type_) in _PLAIN_TYPES or is_wide_integer(type_) for type_ in types)


def refuse_direction(operation: Operation, lowering: Lowering) -> None:
    """Refuses an operation that says more of rounding than lanes know of it.

    Raises:
        DiagnosticError: It does.
    """
    if not operation.attributes:
        return
    unknown = NUMBER_ATTRIBUTES & operation.attributes.keys() - {FLUSH_ATTRIBUTE}
    saturates = unknown <= {SATURATE_ATTRIBUTE}
    if unknown and not (saturates and widening.is_on_narrow_floats(operation)):
        refuse_rounding(operation, lowering)


def _is_arithmetic(operation: Operation) -> bool:
    """Whether an operation computes with numbers, and not with their bits."""
    return operation.dialect_name() in _ARITHMETIC and operation.name not in _ON_BITS


def _emit_rounded(
    operation: Operation,
    operands: list[SSAValue],
    result_types: Sequence[Attribute],
    lowering: Lowering,
) -> list[SSAValue]:
    """Emits the operation; bf16 and tf32 are computed in f32 and rounded."""
    is_arithmetic = _is_arithmetic(operation)
    if is_arithmetic and operation.operands:
        operands = [
            widen(lowering, new) if is_bfloat16(old.type) else new
            for old, new in zip(operation.operands, operands, strict=True)
        ]
    is_bf16 = is_arithmetic and is_bfloat16(result_types[0])
    rounds = is_bf16 or (is_arithmetic and is_tf32(result_types[0]))
    narrow = bfloat16.narrow if is_bf16 else tf32.narrow
    types = [_computed_type(type_, rounds) for type_ in result_types]
    if rounds and _is_conversion(operation, operands, types):
        return [narrow(lowering, operands[0], _rounding_mode(operation))]
    if rounds and is_bf16 and _is_of_wide_integers(operation):
        is_signed = operation.name == "arith.sitofp"
        return [narrow(lowering, integer_to_single(lowering, operands[0], is_signed))]
    if operation.name == "arith.extf" and operands[0].type == types[0]:
        return [operands[0]]
    if operation.name == "arith.bitcast" and operands[0].type == types[0]:
        return [operands[0]]
    results = _emit_as_it_is(operation, operands, types, lowering)
    return [narrow(lowering, value) if rounds else value for value in results]


def _emit_as_it_is(
    operation: Operation,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    lowering: Lowering,
) -> list[SSAValue]:
    new = again(operation, operands, result_types, regions=lowering.regions(operation))
    lowering.emit(new)
    new.attributes.pop(FLUSH_ATTRIBUTE, None)
    return list(new.results)


def _rounding_mode(operation: Operation) -> str:
    """How a conversion rounds."""
    mode = operation.properties.get("roundingmode")
    return ROUNDING_MODES[mode.value.data] if isa(mode, IntegerAttr) else TO_NEAREST_EVEN


def _computed_type(type_: Attribute, rounds: bool) -> Attribute:
    """The type of a copied operation's result; what is rounded afterwards is f32."""
    if isinstance(type_, VectorType):
        vector = cast("VectorType[Attribute]", type_)
        element = f32 if rounds else carried_type(vector.element_type)
        is_same = element == vector.element_type
        return vector if is_same else VectorType(element, vector.get_shape())
    return f32 if rounds else carried_type(type_)


def _is_conversion(
    operation: Operation, operands: list[SSAValue], types: Sequence[Attribute]
) -> bool:
    """Whether the operation only rounds a wider float."""
    return operation.name == "arith.truncf"


def _is_of_wide_integers(operation: Operation) -> bool:
    """Whether the operation makes floats of integers that f32 does not hold exactly."""
    if operation.name not in ("arith.sitofp", "arith.uitofp"):
        return False
    return cast(IntegerType, element_of(operation.operands[0])).bitwidth > i16.bitwidth
