"""Modules, types and arguments as MLIR's text."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import FunctionType, IntegerType, VectorType, f16, f32, i32
from xdsl.dialects.builtin import ModuleOp as BuiltinModuleOp
from xdsl.ir import Attribute, Block

from tests.dialects.spirv.kernels import Kernel, copy_kernel
from tests.generators.spirv_modules import random_module
from tests.seeds import share_of
from tests.spirv_tools import problems_of
from xtile.dialects.registry import make_context
from xtile.dialects.spirv import (
    ArgumentsAttr,
    ArrayType,
    CooperativeMatrixType,
    IdType,
    ModuleOp,
    OtherType,
    PointerType,
    StructType,
    VoidType,
    encode,
    operation,
)
from xtile.dialects.spirv.arguments import Argument, ConstantId, FloatLiteral, Target
from xtile.dialects.spirv.dialect import INSTRUCTIONS
from xtile.dialects.spirv.grammar import instructions
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.mlir_attribute_printer import attribute_text
from xtile.text.mlir_parser import MlirParser
from xtile.text.source import Source


def text_of(module: ModuleOp) -> str:
    """A module as MLIR's text."""
    stream = StringIO()
    print_mlir(BuiltinModuleOp([module.clone()]), stream)
    return stream.getvalue()


def read(text: str) -> ModuleOp:
    """The module of a text that must have no mistakes."""
    diagnostics = Diagnostics()
    module = read_mlir(Source("k.mlir", text), diagnostics, make_context())
    assert not diagnostics, diagnostics.render()
    assert module is not None
    verify_module(module, diagnostics)
    assert not diagnostics, diagnostics.render()
    inner = module.body.block.first_op
    assert isinstance(inner, ModuleOp)
    return inner


COPY = """\
module {
  "spirv.module"() <{addressing_model = "Physical64", memory_model = "OpenCL", \
version = [1 : i32, 4 : i32]}> ({
    "spirv.EntryPoint"() <{arguments = #spirv.arguments<"Kernel", "f", "f">}> : () -> ()
    "spirv.func"() <{function_control = "None", function_type = \
(!spirv.ptr<f32, CrossWorkgroup>, !spirv.ptr<f32, CrossWorkgroup>, i64) -> (), \
sym_name = "f"}> ({
    ^bb0(%arg0: !spirv.ptr<f32, CrossWorkgroup>, %arg1: !spirv.ptr<f32, CrossWorkgroup>, \
%arg2: i64):
      %0 = "spirv.InBoundsPtrAccessChain"(%arg0, %arg2) : \
(!spirv.ptr<f32, CrossWorkgroup>, i64) -> !spirv.ptr<f32, CrossWorkgroup>
      %1 = "spirv.Load"(%0) <{arguments = #spirv.arguments<_, "Aligned", 4>}> : \
(!spirv.ptr<f32, CrossWorkgroup>) -> f32
      "spirv.Store"(%arg1, %1) <{arguments = #spirv.arguments<_, _, "Aligned", 4>}> : \
(!spirv.ptr<f32, CrossWorkgroup>, f32) -> ()
      "spirv.Return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
}
"""


def test_a_kernel() -> None:
    text = text_of(copy_kernel())
    for named, numbered in (("%source", "%arg0"), ("%element", "%1")):
        text = text.replace(named, numbered)
    assert text == COPY
    assert read(COPY).is_structurally_equivalent(copy_kernel())


def test_the_example_of_the_documentation() -> None:
    page = (Path(__file__).parents[3] / "docs" / "spirv.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```mlir\n(.*?)```", page, re.DOTALL)
    module = read(example)
    module.verify()
    assert problems_of(encode(module)) == ""


@settings(max_examples=share_of(20))
@given(st.integers(0, 2**32))
def test_random_modules(seed: int) -> None:
    module = random_module(Random(seed))
    again = read(text_of(module))
    assert again.is_structurally_equivalent(module)
    assert encode(again, names=False) == encode(module, names=False)


ARGUMENTS: list[tuple[tuple[Argument, ...], str]] = [
    ((None, "Aligned", 4), '_, "Aligned", 4'),
    ((None, Target(1), Target()), "_, block 1, block"),
    ((-5,), "-5"),
    ((FloatLiteral(0x3FC00000, f32),), "1.500000e+00 : f32"),
    ((FloatLiteral(0x80000000, f32),), "-0.000000e+00 : f32"),
    ((FloatLiteral(0x7FC00001, f32),), "0x7FC00001 : f32"),
    ((FloatLiteral(0x7C00, f16),), "0x7C00 : f16"),
    (
        ('a "b" \\', f32, PointerType(i32, "Function")),
        '"a \\22b\\22 \\\\", f32, !spirv.ptr<i32, Function>',
    ),
    ((ConstantId(4),), "constant 4"),
    ((), ""),
]


@pytest.mark.parametrize(("arguments", "text"), ARGUMENTS)
def test_arguments(arguments: tuple[Argument, ...], text: str) -> None:
    attribute = ArgumentsAttr(arguments)
    printed = attribute_text(attribute)
    assert printed == f"#spirv.arguments<{text}>"
    assert parsed(printed) == attribute


TYPES: list[tuple[Attribute, str]] = [
    (VoidType(), "!spirv.void"),
    (IdType(), "!spirv.id"),
    (PointerType(f32, "CrossWorkgroup"), "!spirv.ptr<f32, CrossWorkgroup>"),
    (PointerType(f32, "Function", 2), "!spirv.ptr<f32, Function, identity = 2>"),
    (ArrayType(VectorType(f32, [4]), 16), "!spirv.array<16 x vector<4xf32>>"),
    (ArrayType(f32, 4, 1), "!spirv.array<4 x f32, identity = 1>"),
    (StructType([f32, ArrayType(i32, 3)]), "!spirv.struct<(f32, !spirv.array<3 x i32>)>"),
    (StructType([], 1), "!spirv.struct<(), identity = 1>"),
    (
        CooperativeMatrixType(f32, "Subgroup", 8, 16, "MatrixAKHR"),
        "!spirv.coopmatrix<8x16xf32, Subgroup, MatrixA>",
    ),
    (
        CooperativeMatrixType(IntegerType(8), "Subgroup", 8, 16, "MatrixAccumulatorKHR"),
        "!spirv.coopmatrix<8x16xi8, Subgroup, MatrixAccumulator>",
    ),
    (OtherType("TypeEvent", ()), "!spirv.type<TypeEvent>"),
    (
        OtherType("TypeImage", (VoidType(), "2D", 0, ConstantId(3))),
        '!spirv.type<TypeImage, !spirv.void, "2D", 0, constant 3>',
    ),
    (
        PointerType(FunctionType.from_lists([f32], []), "Function"),
        "!spirv.ptr<(f32) -> (), Function>",
    ),
]


@pytest.mark.parametrize(("type", "text"), TYPES)
def test_types(type: Attribute, text: str) -> None:
    assert attribute_text(type) == text
    assert parsed(text) == type


def parsed(text: str) -> Attribute:
    """The attribute or type of a text."""
    return MlirParser(make_context(), Source("attribute", text)).parse_attribute()


def errors_of(text: str) -> str:
    """What reading and verifying a text says is wrong."""
    diagnostics = Diagnostics()
    module = read_mlir(Source("k.mlir", text), diagnostics, make_context())
    if module is not None:
        verify_module(module, diagnostics)
    return diagnostics.render()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            '"Aligned", 4>}> : (!spirv.ptr<f32, CrossWorkgroup>) -> f32',
            '"Aligned">}> : (!spirv.ptr<f32, CrossWorkgroup>) -> f32',
            "k.mlir:7.7-117: error: 'spirv.Load': argument 3 is missing, a LiteralInteger",
        ),
        (
            '_, "Aligned", 4>}> : (!spirv.ptr<f32, CrossWorkgroup>) -> f32',
            '"Aligned", 4>}> : (!spirv.ptr<f32, CrossWorkgroup>) -> f32',
            "'spirv.Load': expected 0 operands, got 1",
        ),
        (
            '"Physical64"',
            '"Physical128"',
            "'spirv.module': expected an AddressingModel as argument",
        ),
        (
            "version = [1 : i32, 4 : i32]",
            "version = 4 : i32",
            "'spirv.module' needs a version: version = [1 : i32, 4 : i32]",
        ),
        ('sym_name = "f"', 'sym_name = "g"', "'spirv.module': there is no function f"),
        (
            '"spirv.Return"() : () -> ()',
            '"spirv.Nop"() : () -> ()',
            "has a block that ends with 'spirv.Nop', which is not a terminator",
        ),
        ('"spirv.Return"()', '"spirv.Retrun"()', "Operation spirv.Retrun is not registered"),
        (
            "#spirv.arguments<_, _,",
            "#spirv.arguments<_, 1.5,",
            "expected ': ' and the number's type",
        ),
    ],
)
def test_mistakes(old: str, new: str, message: str) -> None:
    assert old in COPY
    assert message in errors_of(COPY.replace(old, new, 1))


def test_merges_stand_before_terminators() -> None:
    kernel = Kernel()
    end = Block()
    kernel.function.body.add_block(end)
    kernel.add("SelectionMerge", None, end, "None")
    kernel.add("Nop", None)
    kernel.add("Branch", None, end)
    kernel.block = end
    error = errors_of(text_of(kernel.finish()))
    assert "'spirv.SelectionMerge': must stand before the terminator of its block" in error


def test_the_dialect_has_every_instruction() -> None:
    names = {made.name for made in INSTRUCTIONS}
    computed = {"Capability", "Extension", "MemoryModel", "Function", "Label", "Phi"}
    expected = {
        f"spirv.{name}"
        for name in instructions().names
        if name not in computed and not name.startswith("Type")
    }
    assert expected <= names
    assert "spirv.CL.exp" in names
    assert len(names) == len(INSTRUCTIONS)


def test_stock_xdsl_verifies_modules() -> None:
    kernel = Kernel(f32)
    kernel.add("FAdd", f32, kernel.parameters[0], kernel.parameters[0])
    module = kernel.finish()
    module.verify()
    random_module(Random(3)).verify()
    module.block.add_op(operation("Constant", i32, 1))
    module.verify()
