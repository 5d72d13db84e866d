"""What kernels print, and what they check.

Source: OpenCL SPIR-V Extended Instruction Set, "printf"; OpenCL C Specification, 6.15.14 "printf".
"""

from __future__ import annotations

import re
from typing import cast

from xdsl.dialects.builtin import AnyFloat, BFloat16Type, Float16Type, StringAttr, f32, i8, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.printing import CONVERSION
from xtile.dialects.spirv import ArrayType, PointerType, operation
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv import bfloat16
from xtile.translate.xegpu_to_spirv.control import do_where
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import integer_width

_UNSIGNED = "uxXoc"


def _printf(old: Operation, lowering: Lowering) -> None:
    text = cast("StringAttr", old.properties["format"]).data
    given = iter(old.operands)
    arguments: list[SSAValue] = []

    def converted(match: re.Match[str]) -> str:
        flags, letter = match.groups()
        if letter == "%":
            return "%%"
        argument = _argument(next(given), lowering, is_unsigned=letter in _UNSIGNED)
        arguments.append(argument)
        # OpenCL takes the size of a number from here.
        return f"%{flags}{'l' if integer_width(argument.type) == i64.bitwidth else ''}{letter}"

    _print(lowering, CONVERSION.sub(converted, text), *arguments)


def _argument(old: SSAValue, lowering: Lowering, *, is_unsigned: bool) -> SSAValue:
    """A number as `printf` takes it: integers have 32 or 64 bits, and floats 32 or 64."""
    value, type_ = lowering.condition(old), old.type
    if isinstance(type_, BFloat16Type):
        return bfloat16.widen(lowering, value)
    if isinstance(type_, Float16Type):
        return lowering.compute("FConvert", f32, value)
    width = integer_width(type_)
    if isinstance(type_, AnyFloat) or not 0 < width < i32.bitwidth:
        return value
    if width == 1:
        one, zero = (lowering.integer(number, i32) for number in (1, 0))
        return lowering.compute("Select", i32, value, one, zero)
    return lowering.compute("UConvert" if is_unsigned else "SConvert", i32, value)


def _assert(old: Operation, lowering: Lowering) -> None:
    """A message where the condition does not hold: nothing in OpenCL ends a kernel early."""
    message = cast("StringAttr", old.properties["msg"]).data.replace("%", "%%")
    text = f"assertion failed: {message}\n" if message else "assertion failed\n"
    holds = lowering.condition(old.operands[0])
    fails = lowering.compute("LogicalNot", holds.type, holds)
    do_where(lowering, fails, lambda: _print(lowering, text))


def _print(lowering: Lowering, text: str, *arguments: SSAValue) -> None:
    lowering.compute("CL.printf", i32, _string(lowering, text), *arguments)


def _string(lowering: Lowering, text: str) -> SSAValue:
    """A pointer to the bytes of a string that ends with a zero, in constant memory."""
    name = f"string {text}"
    pointer = lowering.variables.get(name)
    if pointer is None:
        codes = [*text.encode(), 0]
        type_ = ArrayType(i8, len(codes))
        bytes_ = [lowering.integer(code - 256 if code > 127 else code, i8) for code in codes]
        initial = lowering.constants.composite(bytes_, type_)
        variable = operation("Variable", _constant(type_), "UniformConstant", initial)
        lowering.declarations.add_op(variable)
        pointer = lowering.variables[name] = variable.results[0]
    zero = lowering.integer(0, i64)
    return lowering.compute("InBoundsAccessChain", _constant(i8), pointer, zero)


def _constant(type_: Attribute) -> PointerType:
    return PointerType(type_, "UniformConstant")


RULES: dict[str, Rule] = {
    "cf.assert": _assert,
    "gpu.printf": _printf,
}
"""The rule of each operation, by name."""
