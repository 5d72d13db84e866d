"""Arithmetic, comparison, math, cast and constant instructions.

Source: tensor language reference, sections "Arithmetic (binary)", "Arithmetic (unary)",
"Comparison", "Math (unary)", "Cast" and "Constant".
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def

from xtile.dialects.definitions import op_definition
from xtile.dialects.tensorlang.constraints import (
    BOOLEAN,
    NUMBER,
    NUMBER_OR_MATRIX,
    SCALAR_OR_MATRIX,
)
from xtile.dialects.tensorlang.operation import Operand, TensorLangOperation
from xtile.dialects.tensorlang.types import (
    BOOL,
    COMPLEX_TYPES,
    F64,
    FLOATING_TYPES,
    I64,
    INTEGER_TYPES,
    CoopmatrixType,
    component_type,
    real_part_type,
    type_text,
)


class BinaryArithmeticOperation(TensorLangOperation, ABC):
    """Operands and result have one type; on cooperative matrices component by component."""

    SYNTAX: ClassVar[str] = "$a, $b : $result"

    a = operand_def(SCALAR_OR_MATRIX)
    b = operand_def(SCALAR_OR_MATRIX)
    result = result_def(SCALAR_OR_MATRIX)

    def __init__(self, a: Operand, b: Operand) -> None:
        super().__init__(operands=[a, b], result_types=[SSAValue.get(a).type])


class UnaryArithmeticOperation(TensorLangOperation, ABC):
    """One operand; on cooperative matrices component by component."""

    SYNTAX: ClassVar[str] = "$a : $result"

    a = operand_def(SCALAR_OR_MATRIX)
    result = result_def(SCALAR_OR_MATRIX)

    def __init__(self, a: Operand) -> None:
        type = SSAValue.get(a).type
        super().__init__(operands=[a], result_types=[self._result_type(type)])

    @classmethod
    def _result_type(cls, type: Attribute) -> Attribute:
        """The type of the result for an operand of a type."""
        return type


class RealPartOperation(UnaryArithmeticOperation, ABC):
    """The result of a complex operand has the type of its parts."""

    @classmethod
    @override
    def _result_type(cls, type: Attribute) -> Attribute:
        if isinstance(type, CoopmatrixType):
            return CoopmatrixType.get(real_part_type(type.component_type), *type.shape, type.use)
        return real_part_type(type)


class ComparisonOperation(TensorLangOperation, ABC):
    """Compares two numbers of one type and returns a bool."""

    SYNTAX: ClassVar[str] = "$a, $b : $result"

    a = operand_def(NUMBER)
    b = operand_def(NUMBER)
    result = result_def(BOOLEAN)

    def __init__(self, a: Operand, b: Operand) -> None:
        super().__init__(operands=[a, b], result_types=[BOOL])


class MathOperation(TensorLangOperation, ABC):
    """A function of one floating (or, for exp and exp2, complex) number."""

    SYNTAX: ClassVar[str] = "$a : $result"

    a = operand_def(NUMBER)
    result = result_def(NUMBER)

    def __init__(self, a: Operand) -> None:
        super().__init__(operands=[a], result_types=[SSAValue.get(a).type])


@op_definition
class AddOp(BinaryArithmeticOperation):
    """Sum of the operands.

    ```
    %r = add %a, %b : f32
    ```
    """

    name = "tensorlang.add"


@op_definition
class SubOp(BinaryArithmeticOperation):
    """Difference of the operands.

    ```
    %r = sub %a, %b : f32
    ```
    """

    name = "tensorlang.sub"


@op_definition
class MulOp(BinaryArithmeticOperation):
    """Product of the operands.

    ```
    %r = mul %a, %b : f32
    ```
    """

    name = "tensorlang.mul"


@op_definition
class DivOp(BinaryArithmeticOperation):
    """Quotient of the operands; integers round towards zero.

    ```
    %r = div %a, %b : f32
    ```
    """

    name = "tensorlang.div"


@op_definition
class RemOp(BinaryArithmeticOperation):
    """Remainder of the division; it has the sign of the first operand. Not for complex types.

    ```
    %r = rem %a, %b : f32
    ```
    """

    name = "tensorlang.rem"


@op_definition
class MaxOp(BinaryArithmeticOperation):
    """Maximum of the operands. Not for complex types.

    ```
    %r = max %a, %b : f32
    ```
    """

    name = "tensorlang.max"


@op_definition
class MinOp(BinaryArithmeticOperation):
    """Minimum of the operands. Not for complex types.

    ```
    %r = min %a, %b : f32
    ```
    """

    name = "tensorlang.min"


@op_definition
class ShlOp(BinaryArithmeticOperation):
    """Left shift of the first operand by the second. Integers only.

    ```
    %r = shl %a, %b : i32
    ```
    """

    name = "tensorlang.shl"


@op_definition
class ShrOp(BinaryArithmeticOperation):
    """Arithmetic right shift of the first operand by the second. Integers only.

    ```
    %r = shr %a, %b : i32
    ```
    """

    name = "tensorlang.shr"


@op_definition
class AndOp(BinaryArithmeticOperation):
    """Bitwise and. Integers and bool.

    ```
    %r = and %a, %b : i32
    ```
    """

    name = "tensorlang.and"


@op_definition
class OrOp(BinaryArithmeticOperation):
    """Bitwise or. Integers and bool.

    ```
    %r = or %a, %b : i32
    ```
    """

    name = "tensorlang.or"


@op_definition
class XorOp(BinaryArithmeticOperation):
    """Bitwise exclusive or. Integers and bool.

    ```
    %r = xor %a, %b : i32
    ```
    """

    name = "tensorlang.xor"


@op_definition
class AbsOp(RealPartOperation):
    """Absolute value; a complex operand gives its modulus, of the part's floating type.

    ```
    %r = abs %a : f32
    ```
    """

    name = "tensorlang.abs"


@op_definition
class NegOp(UnaryArithmeticOperation):
    """Negation.

    ```
    %r = neg %a : f32
    ```
    """

    name = "tensorlang.neg"


@op_definition
class NotOp(UnaryArithmeticOperation):
    """Bitwise not. Integers and bool.

    ```
    %r = not %a : i32
    ```
    """

    name = "tensorlang.not"


@op_definition
class ConjOp(UnaryArithmeticOperation):
    """Complex conjugate.

    ```
    %r = conj %a : c32
    ```
    """

    name = "tensorlang.conj"


@op_definition
class ImOp(RealPartOperation):
    """Imaginary part; the result has the part's floating type.

    ```
    %r = im %a : f32
    ```
    """

    name = "tensorlang.im"


@op_definition
class ReOp(RealPartOperation):
    """Real part; the result has the part's floating type.

    ```
    %r = re %a : f32
    ```
    """

    name = "tensorlang.re"


@op_definition
class EqualOp(ComparisonOperation):
    """a = b.

    ```
    %r = equal %a, %b : bool
    ```
    """

    name = "tensorlang.equal"


@op_definition
class NotEqualOp(ComparisonOperation):
    """a ≠ b.

    ```
    %r = not_equal %a, %b : bool
    ```
    """

    name = "tensorlang.not_equal"


@op_definition
class GreaterThanOp(ComparisonOperation):
    """a > b. Not for complex types.

    ```
    %r = greater_than %a, %b : bool
    ```
    """

    name = "tensorlang.greater_than"


@op_definition
class GreaterThanEqualOp(ComparisonOperation):
    """a ≥ b. Not for complex types.

    ```
    %r = greater_than_equal %a, %b : bool
    ```
    """

    name = "tensorlang.greater_than_equal"


@op_definition
class LessThanOp(ComparisonOperation):
    """a < b. Not for complex types.

    ```
    %r = less_than %a, %b : bool
    ```
    """

    name = "tensorlang.less_than"


@op_definition
class LessThanEqualOp(ComparisonOperation):
    """a ≤ b. Not for complex types.

    ```
    %r = less_than_equal %a, %b : bool
    ```
    """

    name = "tensorlang.less_than_equal"


@op_definition
class CosOp(MathOperation):
    """Cosine; floating types.

    ```
    %r = cos %a : f32
    ```
    """

    name = "tensorlang.cos"


@op_definition
class SinOp(MathOperation):
    """Sine; floating types.

    ```
    %r = sin %a : f32
    ```
    """

    name = "tensorlang.sin"


@op_definition
class ExpOp(MathOperation):
    """Base-e exponential function; floating and complex types.

    ```
    %r = exp %a : f32
    ```
    """

    name = "tensorlang.exp"


@op_definition
class Exp2Op(MathOperation):
    """Base-2 exponential function; floating and complex types.

    ```
    %r = exp2 %a : f32
    ```
    """

    name = "tensorlang.exp2"


@op_definition
class LogOp(MathOperation):
    """Base-e logarithm; floating types.

    ```
    %r = log %a : f32
    ```
    """

    name = "tensorlang.log"


@op_definition
class Log2Op(MathOperation):
    """Base-2 logarithm; floating types.

    ```
    %r = log2 %a : f32
    ```
    """

    name = "tensorlang.log2"


@op_definition
class NativeCosOp(MathOperation):
    """Cosine with implementation-defined error; floating types.

    ```
    %r = native_cos %a : f32
    ```
    """

    name = "tensorlang.native_cos"


@op_definition
class NativeSinOp(MathOperation):
    """Sine with implementation-defined error; floating types.

    ```
    %r = native_sin %a : f32
    ```
    """

    name = "tensorlang.native_sin"


@op_definition
class NativeExpOp(MathOperation):
    """Base-e exponential function with implementation-defined error; floating and complex types.

    ```
    %r = native_exp %a : f32
    ```
    """

    name = "tensorlang.native_exp"


@op_definition
class NativeExp2Op(MathOperation):
    """Base-2 exponential function with implementation-defined error; floating and complex types.

    ```
    %r = native_exp2 %a : f32
    ```
    """

    name = "tensorlang.native_exp2"


@op_definition
class NativeLogOp(MathOperation):
    """Base-e logarithm with implementation-defined error; floating types.

    ```
    %r = native_log %a : f32
    ```
    """

    name = "tensorlang.native_log"


@op_definition
class NativeLog2Op(MathOperation):
    """Base-2 logarithm with implementation-defined error; floating types.

    ```
    %r = native_log2 %a : f32
    ```
    """

    name = "tensorlang.native_log2"


@op_definition
class CastOp(TensorLangOperation):
    """Converts a number, or a cooperative matrix component by component ("Cast").

    ```
    %r = cast %a : f32
    ```

    A matrix keeps its shape; its use stays or goes from matrix_acc to matrix_a or matrix_b.
    Complex types do not convert to others.
    """

    name = "tensorlang.cast"
    SYNTAX: ClassVar[str] = "$a : $result"

    a = operand_def(NUMBER_OR_MATRIX)
    result = result_def(NUMBER_OR_MATRIX)

    def __init__(self, a: Operand, result_type: Attribute) -> None:
        super().__init__(operands=[a], result_types=[result_type])


@op_definition
class ConstantOp(TensorLangOperation):
    """A constant number or bool, or a cooperative matrix with that component ("Constant").

    ```
    %r = constant [0x1.8p1, -inf] : c32
    ```

    `value` is a BoolAttr, an IntegerAttr of i64, a FloatAttr of f64, or an ArrayAttr of two
    such FloatAttr (real and imaginary part); it is rounded to the result's type when used.
    """

    name = "tensorlang.constant"
    SYNTAX: ClassVar[str] = "constant(value) : $result"

    value = prop_def(Attribute)
    result = result_def(SCALAR_OR_MATRIX)

    def __init__(
        self, value: bool | int | float | complex | Attribute, result_type: Attribute
    ) -> None:
        attribute = (
            value if isinstance(value, Attribute) else constant_attribute(value, result_type)
        )
        super().__init__(properties={"value": attribute}, result_types=[result_type])


def constant_attribute(value: bool | int | float | complex, type: Attribute) -> Attribute:
    """The attribute in which a constant of a type is kept.

    Args:
        value: The number, which may be one of a smaller class than the type's.
        type: A scalar type, or that of a cooperative matrix with this component.

    Raises:
        ValueError: The type has no such numbers.
    """
    type = component_type(type)
    if type in COMPLEX_TYPES:
        number = complex(value)
        return ArrayAttr([FloatAttr(number.real, F64), FloatAttr(number.imag, F64)])
    if type in FLOATING_TYPES and not isinstance(value, complex):
        return FloatAttr(float(value), F64)
    if type == BOOL and isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if type in INTEGER_TYPES and isinstance(value, int) and not isinstance(value, bool):
        return IntegerAttr(value, I64)
    raise ValueError(f"{value!r} is no constant of type {type_text(type)}")


def is_constant_of(value: Attribute | None, type: Attribute) -> bool:
    """Whether `value` is what a `ConstantOp` of number, bool or component type `type` holds."""
    is_integer = type == BOOL or type in INTEGER_TYPES
    match value:
        case IntegerAttr():
            return value.type == (BOOL if type == BOOL else I64) and is_integer
        case FloatAttr():
            return value.type == F64 and type in FLOATING_TYPES
        case ArrayAttr(data=parts):
            return (
                type in COMPLEX_TYPES
                and len(parts) == 2
                and all(isinstance(part, FloatAttr) for part in parts)
            )
        case _:
            return False
