"""How reductions and atomic updates combine two numbers."""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32, i1
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.vector.attributes import neutral_float, neutral_integer
from xtile.translate.xegpu_to_spirv import bfloat16
from xtile.translate.xegpu_to_spirv.arithmetic import FLOAT_ARITHMETIC, INTEGER_ARITHMETIC
from xtile.translate.xegpu_to_spirv.elementwise import like
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import bit_width, element_type, integer_width


def _plain(kind: str) -> str:
    """The name in the tables: `maxs` for `maxsi`, `add` for `addi` and `addf`."""
    is_bare = kind in INTEGER_ARITHMETIC or kind in FLOAT_ARITHMETIC
    return kind if is_bare else kind.removesuffix("i").removesuffix("f")


def combine(lowering: Lowering, kind: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """Combines two numbers, or two vectors element by element.

    Args:
        lowering: Where to emit.
        kind: How: `add`, `mul`, `and`, `maxsi`, `maxs`, `maximumf` and so on.
        a: The first number.
        b: The second one, of the same type.
    """
    type_ = a.type
    element = element_type(type_)
    name = _plain(kind)
    if integer_width(element):
        if name not in INTEGER_ARITHMETIC:
            raise lowering.error(f"<{kind}> cannot combine integers")
        of_integers, of_truth_values = INTEGER_ARITHMETIC[name]
        return (of_truth_values if element == i1 else of_integers)(lowering, type_, (a, b))
    compute = FLOAT_ARITHMETIC.get(kind) or FLOAT_ARITHMETIC.get(f"{name}f")
    if compute is None:
        raise lowering.error(f"<{kind}> cannot combine floating numbers")
    return compute(lowering, type_, (a, b))


def widened(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """A number or vector of one of the source's types in the type in which it is combined.

    That is f32 for f16 and bf16.
    """
    if isinstance(type_, BFloat16Type):
        return bfloat16.widen(lowering, value)
    if isinstance(type_, Float16Type):
        return lowering.compute("FConvert", like(value, f32), value)
    return value


def narrowed(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """The number or vector, rounded back to the source's type."""
    if isinstance(type_, BFloat16Type):
        return bfloat16.narrow(lowering, value)
    if isinstance(type_, Float16Type):
        return lowering.compute("FConvert", like(value, type_), value)
    return value


def neutral(lowering: Lowering, kind: str, type_: Attribute) -> SSAValue:
    """The number that changes no other one, or a vector of it; `type_` is that of registers."""
    element = element_type(type_)
    if not integer_width(element):
        return lowering.floating(neutral_float(kind), type_)
    return lowering.integer(neutral_integer(kind, bit_width(element)), type_)
