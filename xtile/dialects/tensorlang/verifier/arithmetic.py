"""Rules of arithmetic, comparisons, functions, casts and constants.

Source: tensor language reference, sections "Arithmetic (binary)", "Arithmetic (unary)",
"Comparison", "Math (unary)", "Cast" and "Constant".
"""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute

from xtile.dialects.tensorlang.attributes import MatrixUse
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.dialects.tensorlang.types import (
    BOOL,
    COMPLEX_TYPES,
    FLOATING_TYPES,
    INTEGER_TYPES,
    SIZE_IN_BYTES,
    CoopmatrixType,
    component_type,
    is_cast_allowed,
    real_part_type,
    type_text,
)
from xtile.dialects.tensorlang.verifier.constants import Constant, attribute_value, integer_of
from xtile.dialects.tensorlang.verifier.problem import (
    Problem,
    Problems,
    at_operand,
    listed,
    mnemonic_of,
    rule,
)

INTEGERS = ("integer",)
FLOATS = ("floating",)
COMPLEX = ("complex",)
FLOATS_OR_COMPLEX = ("floating", "complex")
REALS = ("integer", "floating")
NUMBERS = ("integer", "floating", "complex")
BOOL_OR_INTEGERS = ("bool", "integer")

_CLASS_OF: dict[Attribute, str] = {
    BOOL: "bool",
    **dict.fromkeys(INTEGER_TYPES, "integer"),
    **dict.fromkeys(FLOATING_TYPES, "floating"),
    **dict.fromkeys(COMPLEX_TYPES, "complex"),
}


def is_allowed(type: Attribute, allowed: Collection[str]) -> bool:
    """Whether the scalar or component type of `type` is in one of the allowed classes."""
    return _CLASS_OF.get(component_type(type)) in allowed


def not_allowed_message(what: str, mnemonic: str, type: Attribute, allowed: Collection[str]) -> str:
    """Says which type is wrong and which ones are right."""
    right = f"of {listed(allowed)} type"
    return f"{what} of {mnemonic} is {type_text(type)} but must be {right}"


ALLOWED_TYPES: dict[type[TensorLangOperation], tuple[str, ...]] = {
    ops.AddOp: NUMBERS,
    ops.SubOp: NUMBERS,
    ops.MulOp: NUMBERS,
    ops.DivOp: NUMBERS,
    ops.RemOp: REALS,
    ops.MaxOp: REALS,
    ops.MinOp: REALS,
    ops.ShlOp: INTEGERS,
    ops.ShrOp: INTEGERS,
    ops.AndOp: BOOL_OR_INTEGERS,
    ops.OrOp: BOOL_OR_INTEGERS,
    ops.XorOp: BOOL_OR_INTEGERS,
    ops.AbsOp: NUMBERS,
    ops.NegOp: NUMBERS,
    ops.NotOp: BOOL_OR_INTEGERS,
    ops.ConjOp: COMPLEX,
    ops.ImOp: COMPLEX,
    ops.ReOp: COMPLEX,
    ops.EqualOp: NUMBERS,
    ops.NotEqualOp: NUMBERS,
    ops.GreaterThanOp: REALS,
    ops.GreaterThanEqualOp: REALS,
    ops.LessThanOp: REALS,
    ops.LessThanEqualOp: REALS,
    ops.CosOp: FLOATS,
    ops.SinOp: FLOATS,
    ops.ExpOp: FLOATS_OR_COMPLEX,
    ops.Exp2Op: FLOATS_OR_COMPLEX,
    ops.LogOp: FLOATS,
    ops.Log2Op: FLOATS,
    ops.NativeCosOp: FLOATS,
    ops.NativeSinOp: FLOATS,
    ops.NativeExpOp: FLOATS_OR_COMPLEX,
    ops.NativeExp2Op: FLOATS_OR_COMPLEX,
    ops.NativeLogOp: FLOATS,
    ops.NativeLog2Op: FLOATS,
}
"""The operand types of each instruction; on matrices, the component types."""


@rule(*ALLOWED_TYPES)
def allowed_operand_type(operation: TensorLangOperation) -> Problems:
    """The first operand is of a type that the instruction is defined for."""
    operand, allowed = operation.operands[0].type, ALLOWED_TYPES[type(operation)]
    if not is_allowed(operand, allowed):
        message = not_allowed_message("the operand", mnemonic_of(operation), operand, allowed)
        yield Problem(operation, message, 0)


@rule(ops.BinaryArithmeticOperation)
def binary_types(operation: ops.BinaryArithmeticOperation) -> Problems:
    """Both operands and the result have one type."""
    yield from _same_type(operation, "b", operation.a.type)
    yield from _result_type(operation, operation.a.type)


@rule(ops.ComparisonOperation)
def comparison_types(operation: ops.ComparisonOperation) -> Problems:
    """Both operands have one type."""
    return _same_type(operation, "b", operation.a.type)


@rule(ops.MathOperation)
def math_type(operation: ops.MathOperation) -> Problems:
    """The result has the operand's type."""
    return _result_type(operation, operation.a.type)


@rule(ops.NegOp, ops.NotOp, ops.ConjOp)
def unary_type(operation: ops.NegOp | ops.NotOp | ops.ConjOp) -> Problems:
    """The result has the operand's type."""
    return _result_type(operation, operation.a.type)


@rule(ops.AbsOp, ops.ImOp, ops.ReOp)
def real_part(operation: ops.AbsOp | ops.ImOp | ops.ReOp) -> Problems:
    """The result of a complex operand has the floating type of its parts."""
    type = operation.a.type
    if isinstance(type, CoopmatrixType):
        part = real_part_type(type.component_type)
        return _result_type(operation, CoopmatrixType.get(part, *type.shape, type.use))
    return _result_type(operation, real_part_type(type))


def _same_type(operation: TensorLangOperation, operand: str, wanted: Attribute) -> Problems:
    type: Attribute = getattr(operation, operand).type
    if type != wanted:
        message = f"the operands are {type_text(wanted)} and {type_text(type)}; "
        yield at_operand(operation, operand, f"{message}they must have one type")


def _result_type(operation: TensorLangOperation, wanted: Attribute) -> Problems:
    type = operation.results[0].type
    if type != wanted:
        message = f"{mnemonic_of(operation)} returns {type_text(wanted)} here, not "
        yield Problem(operation, f"{message}{type_text(type)}", "result")


@rule(ops.DivOp, ops.RemOp, reads=("b",))
def division_by_zero(operation: ops.DivOp | ops.RemOp) -> Problems:
    """The divisor is not an integer constant 0; floating types divide by zero as IEEE 754 says."""
    if component_type(operation.b.type) in INTEGER_TYPES and integer_of(operation.b) == 0:
        yield at_operand(operation, "b", "the divisor is the constant 0; integers have no quotient")


@rule(ops.CastOp)
def cast_types(operation: ops.CastOp) -> Problems:
    """Numbers become numbers and matrices matrices; complex types stay complex."""
    source, target = operation.a.type, operation.result.type
    if isinstance(source, CoopmatrixType) != isinstance(target, CoopmatrixType):
        message = f"cannot cast {type_text(source)} to {type_text(target)}; "
        yield Problem(operation, f"{message}a coopmatrix is only cast to a coopmatrix")
        return
    if isinstance(source, CoopmatrixType) and isinstance(target, CoopmatrixType):
        yield from _matrix_cast(operation, source, target)
    if not is_cast_allowed(component_type(source), component_type(target)):
        message = f"cannot cast {type_text(source)} to {type_text(target)}; "
        yield Problem(operation, f"{message}take its real part with re first")


def _matrix_cast(operation: ops.CastOp, source: CoopmatrixType, target: CoopmatrixType) -> Problems:
    if source.shape != target.shape:
        shapes = f"{source.rows}x{source.columns} to {target.rows}x{target.columns}"
        yield Problem(operation, f"a cast from {shapes} is not possible; the shape must stay")
    if source.use is not target.use and not (
        source.use is MatrixUse.ACC and target.use in (MatrixUse.A, MatrixUse.B)
    ):
        message = f"a cast from {source.use.value} to {target.use.value} is not possible; "
        message += "the use must stay, or go from matrix_acc to matrix_a or matrix_b"
        yield Problem(operation, message)


@rule(ops.ConstantOp)
def constant_value(operation: ops.ConstantOp) -> Problems:
    """The constant is written as its type asks for, and an integer fits into its type."""
    value, type = operation.value, component_type(operation.result.type)
    if not ops.is_constant_of(value, type):
        wanted, example = _constant_form(type)
        message = f"{type_text(operation.result.type)} needs {wanted} constant, such as {example}"
        yield Problem(operation, f"{message}, but this is {_found_form(attribute_value(value))}")
    elif isinstance(value, IntegerAttr) and type != BOOL:
        yield from _integer_range(operation, value.value.data, type)


def _constant_form(type: Attribute) -> tuple[str, str]:
    if type == BOOL:
        return "a boolean", "true"
    if type in INTEGER_TYPES:
        return "an integer", "1"
    return ("a floating", "1.0") if is_allowed(type, FLOATS) else ("a complex", "[1.0, 0.0]")


def _found_form(value: Constant | None) -> str:
    forms = {bool: "a boolean", int: "an integer", float: "a floating", complex: "a complex"}
    return f"{forms[value.__class__]} constant" if value is not None else "none of these"


def _integer_range(operation: ops.ConstantOp, value: int, type: Attribute) -> Problems:
    """Integers are signless, so both readings of their bits may be written.

    -2^63 is not an integer constant of the language, and i64 and index end at 2^63-1.
    """
    bits = 8 * SIZE_IN_BYTES[type]
    least, most = (-(2**63) + 1, 2**63 - 1) if bits == 64 else (-(2 ** (bits - 1)), 2**bits - 1)
    if not least <= value <= most:
        message = f"{value} does not fit in {type_text(type)}; "
        yield Problem(operation, f"{message}it must lie between {least} and {most}")
