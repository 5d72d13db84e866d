"""Functions of OpenCL.std and GLSL.std.450 in MLIR's text, against mlir-opt."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import f32
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.universe import XDSL_UNIVERSE

from tests.dialects.spirv.kernels import Kernel
from tests.dialects.spirv.test_mlir_text import read as read_module
from tests.dialects.spirv.test_mlir_text import text_of
from tests.dialects.upstream_text import check_agreement, check_refusal, in_function, read
from xtile.dialects.spirv.mathematics import FUNCTIONS
from xtile.universe import XTILE_UNIVERSE

VALUES = (
    "%x: f32, %h: f16, %b: bf16, %t: tf32, %d: f64, %w: vector<4xf16>, %m: vector<2x2xf32>, "
    "%five: vector<5xf32>, %one: vector<1xf32>, %scalable: vector<[4]xf32>, "
    "%tensor: tensor<4xf32>, %i: i32, %c: i8, %l: i64, %s: si16, %u: ui32, "
    "%v: vector<16xi32>, %p: i1, %n: index"
)

_OF_KIND = {
    "FLOAT": (("%x", "f32"), ("%h", "f16"), ("%d", "f64"), ("%m", "vector<2x2xf32>")),
    "HALF_OR_SINGLE": (("%x", "f32"), ("%h", "f16"), ("%w", "vector<4xf16>")),
    "INTEGER": (("%c", "i8"), ("%l", "i64"), ("%s", "si16"), ("%u", "ui32")),
    "I32": (("%i", "i32"), ("%v", "vector<16xi32>")),
}


def _values_for(name: str) -> tuple[tuple[str, str], ...]:
    types = FUNCTIONS[name].numbers.types
    if "f32" in types:
        return _OF_KIND["FLOAT" if "f64" in types else "HALF_OR_SINGLE"]
    return _OF_KIND["INTEGER" if "i64" in types else "I32"]


def _right(name: str) -> str:
    count = FUNCTIONS[name].operands
    lines: list[str] = []
    for index, (value, type) in enumerate(_values_for(name)):
        operands = ", ".join([value] * count)
        attributes = " {b = 1 : i32, a}" if index % 2 else ""
        before, after = ("", attributes) if count == 1 else (attributes, "")
        lines.append(f"%{index} = spirv.{name} {operands}{before} : {type}{after}")
    return in_function(VALUES, "\n".join(lines))


RIGHT = {name: _right(name) for name in FUNCTIONS}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


_FLOAT = "expected a float of 16, 32 or 64 bits, or a fixed-length vector of 2, 3, 4, 8 or 16 of"
_INTEGER = "expected an integer of 8, 16, 32 or 64 bits, or a fixed-length vector of"
_SERIALIZE = "mlir-translate --no-implicit-module --serialize-spirv"

WRONG = {
    "bf16": ("%0 = spirv.CL.exp %b : bf16", f"{_FLOAT} them, got bf16"),
    "tf32": ("%0 = spirv.CL.exp %t : tf32", f"{_FLOAT} them, got tf32"),
    "an integer": ("%0 = spirv.CL.exp %i : i32", f"{_FLOAT} them, got i32"),
    "five": ("%0 = spirv.CL.exp %five : vector<5xf32>", f"{_FLOAT} them, got vector<5xf32>"),
    "one": ("%0 = spirv.CL.exp %one : vector<1xf32>", f"{_FLOAT} them, got vector<1xf32>"),
    "scalable": ("%0 = spirv.CL.exp %scalable : vector<[4]xf32>", _FLOAT),
    "a tensor": ("%0 = spirv.CL.exp %tensor : tensor<4xf32>", _FLOAT),
    "a float": (
        "%0 = spirv.CL.s_max %x, %x : f32",
        f"{_INTEGER} 2, 3, 4, 8 or 16 of them, got f32",
    ),
    "a truth value": ("%0 = spirv.CL.s_abs %p : i1", _INTEGER),
    "an index": ("%0 = spirv.CL.u_min %n, %n : index", _INTEGER),
    "GLSL in double precision": ("%0 = spirv.GL.Cos %d : f64", "expected a float of 16 or 32 bits"),
    "ui32 for i32": ("%0 = spirv.GL.FindUMsb %u : ui32", "expected an i32"),
    "one operand for two": (
        '%0 = "spirv.CL.fmax"(%x) : (f32) -> f32',
        "expected 2 operands and 1 result, got 1 and 1",
    ),
    "two operands for one": (
        '%0 = "spirv.CL.exp"(%x, %x) : (f32, f32) -> f32',
        "expected 1 operand and 1 result, got 2 and 1",
    ),
    "two types": (
        '%0 = "spirv.CL.fmax"(%x, %x) : (f32, f32) -> f64',
        "operands and result must be of one type, got f32 and f64",
    ),
    "attributes before the type": ("%0 = spirv.CL.exp %x {a} : f32", "Expected ':'"),
    "attributes after the type": ("%0 = spirv.CL.fmax %x, %x : f32 {a}", "piece.mlir:2"),
    "a missing operand": ("%0 = spirv.CL.fma %x, %x : f32", "Expected ','"),
    "a function that MLIR lacks": ("%0 = spirv.CL.exp2 %x : f32", "has only the generic form"),
    "no function": ("%0 = spirv.CL.expp %x : f32", "spirv.CL.expp is not registered"),
}


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    wrong = {key: (in_function(VALUES, body), message) for key, (body, message) in WRONG.items()}
    check_refusal(wrong, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("spirv.module Logical GLSL450 {\n}\n", "spirv.module"),
        ('spirv.func @f() "None" { spirv.Return }\n', "spirv.func"),
        (in_function(VALUES, "%0 = spirv.FAdd %x, %x : f32"), "spirv.FAdd"),
        (in_function(VALUES, "%0 = spirv.Constant 1.0 : f32"), "spirv.Constant"),
        (in_function(VALUES, "%0 = spirv.GL.Ldexp %x : f32, %i : i32 -> f32"), "spirv.GL.Ldexp"),
        (
            in_function(VALUES, "%0 = spirv.mlir.addressof @v : !spirv.ptr<f32, Input>"),
            "spirv.mlir",
        ),
    ],
)
def test_other_operations_of_mlir_are_told_apart(text: str, name: str) -> None:
    rendered = read(text)
    assert isinstance(rendered, str), rendered.custom
    first, second, third, *_ = rendered.splitlines()
    assert f"error: Operation {name}" in first
    assert _SERIALIZE in first
    # The name is what is underlined.
    start = third.index("~")
    assert second[start:].startswith(name)


def test_what_only_binaries_have_is_refused_elsewhere() -> None:
    body = '%0 = "spirv.CL.exp"(%x) <{arguments = #spirv.arguments<_>}> : (f32) -> f32'
    rendered = read(in_function(VALUES, body))
    assert isinstance(rendered, str), rendered.custom
    assert "arguments can stand in 'spirv.module' only" in rendered


def test_the_instruction_of_a_module_has_the_same_text() -> None:
    kernel = Kernel(f32)
    kernel.add("CL.exp", f32, kernel.parameters[0])
    module = kernel.finish()
    text = text_of(module)
    assert "= spirv.CL.exp %" in text
    again = read_module(text)
    assert again.is_structurally_equivalent(module)
    generic = text.replace("spirv.CL.exp %arg0 : f32", '"spirv.CL.exp"(%arg0) : (f32) -> f32')
    assert read_module(generic).is_structurally_equivalent(module)


def test_stock_xdsl_reads_and_prints_them() -> None:
    text = in_function("%x: f32", "%0 = spirv.CL.fmax %x, %x {a} : f32\n%1 = spirv.GL.Sin %0 : f32")
    module = Parser(stock_context(), text).parse_module()
    module.verify()
    stream = StringIO()
    Printer(stream).print_op(module)
    assert "= spirv.CL.fmax %x, %x {a} : f32" in stream.getvalue()
    assert "= spirv.GL.Sin %0 : f32" in stream.getvalue()
    # Nothing uses them, and they have no effects.
    DeadCodeElimination().apply(stock_context(), module)
    assert "spirv." not in str(module)


def stock_context() -> Context:
    context = Context()
    for name, dialect in (XDSL_UNIVERSE.all_dialects | XTILE_UNIVERSE.all_dialects).items():
        context.register_dialect(name, dialect)
    return context
