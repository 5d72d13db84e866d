"""Instructions are built from values, literals, enumerants and blocks."""

from __future__ import annotations

import struct

import pytest
from xdsl.dialects.builtin import f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Block
from xdsl.traits import IsTerminator

from xtile.dialects.spirv import PointerType, decorate, instruction_class, operation
from xtile.dialects.spirv.arguments import FloatLiteral, Target
from xtile.dialects.spirv.instruction import TERMINATORS, Instruction, decorations_of

BLOCK = Block(arg_types=[f32, f32, i1, PointerType(f32, "Function")])
X, Y, CONDITION, POINTER = BLOCK.args


def test_values_only() -> None:
    made = operation("FAdd", f32, X, Y, name_hint="sum")
    assert (made.name, type(made).__name__) == ("spirv.FAdd", "FAdd")
    assert made.entry.number == 129
    assert made.values == (X, Y)
    assert made.arguments == (None, None)
    assert not made.properties
    assert (made.result.type, made.result.name_hint) == (f32, "sum")
    assert {use.operation for use in X.uses} >= {made}


def test_an_operation_stands_for_its_result() -> None:
    first = operation("FAdd", f32, X, Y)
    assert operation("FMul", f32, first, X).values == (first.result, X)


def test_an_enumerant_with_parameters() -> None:
    made = operation("Load", f32, POINTER, ("Aligned", 4))
    assert made.arguments == (None, "Aligned", 4)
    assert (
        made.properties["arguments"]
        is operation("Load", f32, X, "Aligned", 4).properties["arguments"]
    )


def test_blocks_with_arguments() -> None:
    then, otherwise = Block(arg_types=[f32, f32]), Block()
    made = operation("BranchConditional", None, CONDITION, (then, X, Y), otherwise, 3, 1)
    assert made.arguments == (None, Target(2), Target(0), 3, 1)
    assert tuple(made.successors) == (then, otherwise)
    assert made.values == (CONDITION, X, Y)
    assert not made.results


@pytest.mark.parametrize(
    ("type", "number", "bits"),
    [
        (f32, 1.5, 0x3FC00000),
        (f32, 1, 0x3F800000),
        (f32, -0.0, 0x80000000),
        (f16, 0.1, 0x2E66),
        (f64, 0.1, 0x3FB999999999999A),
        (f32, float("inf"), 0x7F800000),
    ],
)
def test_a_float_is_rounded_to_its_type(type: type, number: float, bits: int) -> None:
    assert operation("Constant", type, number).arguments == (FloatLiteral(bits, type),)


@pytest.mark.parametrize(
    ("type", "number", "expected"),
    [(i32, 5, 5), (i32, -1, -1), (i32, 0xFFFFFFFF, -1), (i8, 200, -56), (i64, 1 << 40, 1 << 40)],
)
def test_equal_integer_constants_are_equal(type: type, number: int, expected: int) -> None:
    assert operation("Constant", type, number).arguments == (expected,)


def test_a_number_beside_a_float_result_stays_an_integer() -> None:
    vector = operation("Undef", f32)
    assert operation("CompositeExtract", f32, vector, 3).arguments == (None, 3)


def test_decorations() -> None:
    made = operation("FAdd", f32, X, Y)
    decorate(made, ("FPFastMathMode", "Fast"))
    decorate(made, "NoContraction")
    assert [decoration.data for decoration in decorations_of(made)] == [
        ("FPFastMathMode", "Fast"),
        ("NoContraction",),
    ]


def test_extended_instructions_are_not_those_of_the_core() -> None:
    assert operation("CL.exp", f32, X).name == "spirv.CL.exp"
    assert instruction_class("CL.select") is not instruction_class("Select")
    assert instruction_class("CL.exp").is_extended


def test_an_alias_has_the_class_of_its_instruction() -> None:
    assert instruction_class("DecorateStringGOOGLE") is instruction_class("DecorateString")


def test_terminators() -> None:
    assert {name for name in TERMINATORS if instruction_class_or_none(name)} >= {
        "Branch",
        "Return",
        "Switch",
    }
    assert operation("Return", None).has_trait(IsTerminator)
    assert not operation("FAdd", f32, X, Y).has_trait(IsTerminator)


def instruction_class_or_none(name: str) -> type[Instruction] | None:
    """The class of an instruction, or None."""
    try:
        return instruction_class(name)
    except ValueError:
        return None


def test_an_instruction_that_is_not_there() -> None:
    with pytest.raises(ValueError, match="SPIR-V has no instruction FPlus"):
        operation("FPlus", f32, X, Y)


def test_a_literal_is_no_argument_of_a_block() -> None:
    with pytest.raises(ValueError, match="a block's arguments become values, not 3"):
        operation("Branch", None, (Block(arg_types=[i32]), 3))


def test_a_clone_is_equivalent() -> None:
    made = operation("Load", f32, POINTER, ("Aligned", 4))
    assert made.clone().is_structurally_equivalent(made)


@pytest.mark.slow
def test_many_kinds_of_arguments_do_not_share_an_attribute() -> None:
    # More than are kept for reuse.
    many = [operation("CompositeExtract", f32, X, index).arguments for index in range(20_000)]
    assert many == [(None, index) for index in range(20_000)]


def test_bits_of_a_nan_stay() -> None:
    (nan,) = struct.unpack("<f", struct.pack("<I", 0x7FC00001))
    (argument,) = operation("Constant", f32, nan).arguments
    assert isinstance(argument, FloatLiteral)
    assert argument.bits & 0x7FC00000 == 0x7FC00000
