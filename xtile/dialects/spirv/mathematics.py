"""The functions of OpenCL.std and GLSL.std.450 as MLIR's own `spirv` dialect has them.

They stand in kernels of other dialects, and there they are what mlir-opt takes them for:
`%c = spirv.CL.fmax %a, %b : f32`.

Source: MLIR (LLVM 22), `Dialect/SPIRV/IR/SPIRVCLOps.td` and `SPIRVGLOps.td`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, OpTraits
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.text.extensions import GenericFormIf, never_ambiguous

ARGUMENTS = "arguments"
"""The property of instructions that take more than values."""


@dataclass(frozen=True)
class Numbers:
    """What numbers a function takes: scalars, or vectors of 2, 3, 4, 8 or 16 of them.

    Attributes:
        description: One of them in the words of messages.
        types: The types of one.
    """

    description: str
    types: frozenset[str]


_FLOAT = Numbers("a float of 16, 32 or 64 bits", frozenset({"f16", "f32", "f64"}))
_FLOAT_16_OR_32 = Numbers("a float of 16 or 32 bits", frozenset({"f16", "f32"}))
_INTEGER = Numbers(
    "an integer of 8, 16, 32 or 64 bits",
    frozenset(f"{sign}{width}" for sign in ("i", "si", "ui") for width in (8, 16, 32, 64)),
)
_I32 = Numbers("an i32", frozenset({"i32"}))

_LENGTHS = (2, 3, 4, 8, 16)
"""How many numbers a vector may have."""


@dataclass(frozen=True)
class Function:
    """A function whose operands and result are of one type.

    Attributes:
        operands: How many operands it has.
        numbers: What its operands may be.
        counterpart: The operation of `arith` or `math` that computes the same; empty if none does.
    """

    operands: int
    numbers: Numbers
    counterpart: str = ""


FUNCTIONS: Mapping[str, Function] = {
    "CL.acos": Function(1, _FLOAT, "math.acos"),
    "CL.acosh": Function(1, _FLOAT, "math.acosh"),
    "CL.asin": Function(1, _FLOAT, "math.asin"),
    "CL.asinh": Function(1, _FLOAT, "math.asinh"),
    "CL.atan": Function(1, _FLOAT, "math.atan"),
    "CL.atan2": Function(2, _FLOAT, "math.atan2"),
    "CL.atanh": Function(1, _FLOAT, "math.atanh"),
    "CL.ceil": Function(1, _FLOAT, "math.ceil"),
    "CL.cos": Function(1, _FLOAT, "math.cos"),
    "CL.cosh": Function(1, _FLOAT, "math.cosh"),
    "CL.erf": Function(1, _FLOAT, "math.erf"),
    "CL.exp": Function(1, _FLOAT, "math.exp"),
    "CL.fabs": Function(1, _FLOAT, "math.absf"),
    "CL.floor": Function(1, _FLOAT, "math.floor"),
    "CL.fma": Function(3, _FLOAT, "math.fma"),
    "CL.fmax": Function(2, _FLOAT, "arith.maxnumf"),
    "CL.fmin": Function(2, _FLOAT, "arith.minnumf"),
    "CL.log": Function(1, _FLOAT, "math.log"),
    "CL.mix": Function(3, _FLOAT),
    "CL.pow": Function(2, _FLOAT, "math.powf"),
    "CL.rint": Function(1, _FLOAT, "math.roundeven"),
    "CL.round": Function(1, _FLOAT, "math.round"),
    "CL.rsqrt": Function(1, _FLOAT, "math.rsqrt"),
    "CL.s_abs": Function(1, _INTEGER, "math.absi"),
    "CL.s_max": Function(2, _INTEGER, "arith.maxsi"),
    "CL.s_min": Function(2, _INTEGER, "arith.minsi"),
    "CL.sin": Function(1, _FLOAT, "math.sin"),
    "CL.sinh": Function(1, _FLOAT, "math.sinh"),
    "CL.sqrt": Function(1, _FLOAT, "math.sqrt"),
    "CL.tan": Function(1, _FLOAT, "math.tan"),
    "CL.tanh": Function(1, _FLOAT, "math.tanh"),
    "CL.u_max": Function(2, _INTEGER, "arith.maxui"),
    "CL.u_min": Function(2, _INTEGER, "arith.minui"),
    "GL.Acos": Function(1, _FLOAT_16_OR_32, "math.acos"),
    "GL.Acosh": Function(1, _FLOAT_16_OR_32, "math.acosh"),
    "GL.Asin": Function(1, _FLOAT_16_OR_32, "math.asin"),
    "GL.Asinh": Function(1, _FLOAT_16_OR_32, "math.asinh"),
    "GL.Atan": Function(1, _FLOAT_16_OR_32, "math.atan"),
    "GL.Atanh": Function(1, _FLOAT_16_OR_32, "math.atanh"),
    "GL.Ceil": Function(1, _FLOAT, "math.ceil"),
    "GL.Cos": Function(1, _FLOAT_16_OR_32, "math.cos"),
    "GL.Cosh": Function(1, _FLOAT_16_OR_32, "math.cosh"),
    "GL.Cross": Function(2, _FLOAT),
    "GL.Exp": Function(1, _FLOAT_16_OR_32, "math.exp"),
    "GL.Exp2": Function(1, _FLOAT_16_OR_32, "math.exp2"),
    "GL.FAbs": Function(1, _FLOAT, "math.absf"),
    "GL.FClamp": Function(3, _FLOAT, "math.clampf"),
    "GL.FMax": Function(2, _FLOAT, "arith.maxnumf"),
    "GL.FMin": Function(2, _FLOAT, "arith.minnumf"),
    "GL.FSign": Function(1, _FLOAT),
    "GL.FindILsb": Function(1, _INTEGER),
    "GL.FindSMsb": Function(1, _I32),
    "GL.FindUMsb": Function(1, _I32),
    "GL.Floor": Function(1, _FLOAT, "math.floor"),
    "GL.Fma": Function(3, _FLOAT, "math.fma"),
    "GL.Fract": Function(1, _FLOAT),
    "GL.InverseSqrt": Function(1, _FLOAT, "math.rsqrt"),
    "GL.Log": Function(1, _FLOAT_16_OR_32, "math.log"),
    "GL.Log2": Function(1, _FLOAT_16_OR_32, "math.log2"),
    "GL.Normalize": Function(1, _FLOAT),
    "GL.Pow": Function(2, _FLOAT_16_OR_32, "math.powf"),
    "GL.Reflect": Function(2, _FLOAT),
    "GL.Round": Function(1, _FLOAT, "math.round"),
    "GL.RoundEven": Function(1, _FLOAT, "math.roundeven"),
    "GL.SAbs": Function(1, _INTEGER, "math.absi"),
    "GL.SClamp": Function(3, _INTEGER),
    "GL.SMax": Function(2, _INTEGER, "arith.maxsi"),
    "GL.SMin": Function(2, _INTEGER, "arith.minsi"),
    "GL.SSign": Function(1, _INTEGER),
    "GL.Sin": Function(1, _FLOAT_16_OR_32, "math.sin"),
    "GL.Sinh": Function(1, _FLOAT_16_OR_32, "math.sinh"),
    "GL.Sqrt": Function(1, _FLOAT, "math.sqrt"),
    "GL.Tan": Function(1, _FLOAT_16_OR_32, "math.tan"),
    "GL.Tanh": Function(1, _FLOAT_16_OR_32, "math.tanh"),
    "GL.UClamp": Function(3, _INTEGER),
    "GL.UMax": Function(2, _INTEGER, "arith.maxui"),
    "GL.UMin": Function(2, _INTEGER, "arith.minui"),
}
"""Each function by its name after `spirv.`."""


def _has_several_types(operation: Operation) -> bool:
    """Whether the one type of the custom form would not say all."""
    types = {value.type for value in (*operation.operands, *operation.results)}
    return len(operation.results) != 1 or len(types) != 1


@never_ambiguous
class FunctionOperation(Operation):
    """One of `FUNCTIONS`, in MLIR's text."""

    name = "spirv.function"
    traits = OpTraits(lambda: (Pure(), GenericFormIf(_has_several_types)))
    function: ClassVar[Function]

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        operands = [parser.parse_unresolved_operand()]
        for _ in range(cls.function.operands - 1):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        # The attributes of those with one operand stand behind the type.
        is_unary = cls.function.operands == 1
        attributes = {} if is_unary else parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if is_unary:
            attributes = parser.parse_optional_attr_dict()
        properties = {name: attributes[name] for name in attributes if name == ARGUMENTS}
        return cls.create(
            operands=[parser.resolve_operand(operand, type) for operand in operands],
            result_types=[type],
            properties=properties,
            attributes={name: attributes[name] for name in attributes if name not in properties},
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        attributes = dict(sorted({**self.properties, **self.attributes}.items()))
        is_unary = self.function.operands == 1
        if not is_unary:
            printer.print_op_attributes(attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)
        if is_unary:
            printer.print_op_attributes(attributes)

    @override
    def verify_(self) -> None:
        count = self.function.operands
        if len(self.operands) != count or len(self.results) != 1:
            operands = "1 operand" if count == 1 else f"{count} operands"
            raise VerifyException(
                f"expected {operands} and 1 result, got {len(self.operands)} and "
                f"{len(self.results)}"
            )
        if self.properties:
            raise VerifyException(f"{', '.join(self.properties)} can stand in 'spirv.module' only")
        type = self.results[0].type
        for operand in self.operands:
            if operand.type != type:
                raise VerifyException(
                    f"operands and result must be of one type, got {operand.type} and {type}"
                )
        _verify_numbers(self.function.numbers, type)


def _verify_numbers(numbers: Numbers, type: Attribute) -> None:
    element = type
    if isa(type, VectorType):
        is_fixed = not type.get_num_scalable_dims() and type.element_count() in _LENGTHS
        element = type.element_type if is_fixed else type
    if str(element) not in numbers.types:
        words = numbers.description
        raise VerifyException(
            f"expected {words}, or a fixed-length vector of 2, 3, 4, 8 or 16 of them, got {type}"
        )


def operation_class(name: str) -> type[FunctionOperation]:
    """The class of a function of GLSL.std.450, such as `GL.FMax`."""
    contents = {"name": f"spirv.{name}", "function": FUNCTIONS[name]}
    return type(name, (FunctionOperation,), contents)
