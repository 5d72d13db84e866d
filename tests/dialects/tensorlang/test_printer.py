"""How `.ir` text is printed: names, comments, attributes, and what it cannot hold."""

from __future__ import annotations

from io import StringIO

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FloatAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f64,
)
from xdsl.ir import Attribute

from tests.dialects.tensorlang.round_trip import ir_text, module_from_ir, module_from_mlir
from xtile.dialects.tensorlang.operation import integer_attribute
from xtile.dialects.tensorlang.ops.arithmetic import NegOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.printer import attribute_text, constant_text, print_module
from xtile.text.diagnostics import DiagnosticError


def function_of(module: ModuleOp) -> FuncOp:
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


# Names


def test_names_stay() -> None:
    text = (
        "func @f(%A: f32, %12: f32) {\n    %007 = add %A, %12 : f32\n    %b_0 = neg %007 : f32\n}\n"
    )
    assert ir_text(module_from_ir(text)) == text


def test_values_without_names_are_numbered() -> None:
    text = "tensorlang.func @f() {\n  %0 = tensorlang.constant 1 : i8\n  tensorlang.parallel {\n"
    text += "    %1 = tensorlang.neg %0 : i8\n  }\n  %2 = tensorlang.neg %0 : i8\n}\n"
    assert ir_text(module_from_mlir(text)) == (
        "func @f() {\n    %0 = constant 1 : i8\n    parallel {\n        %1 = neg %0 : i8\n    }\n"
        "    %1 = neg %0 : i8\n}\n"
    )


def test_new_values_get_numbers_above_those_of_the_text() -> None:
    module = module_from_ir("func @f(%5: f32) {\n    %9 = neg %5 : f32\n}\n")
    block = function_of(module).body.block
    block.add_op(NegOp.create(operands=[block.args[0]], result_types=[block.args[0].type]))
    assert "    %10 = neg %5 : f32\n" in ir_text(module)


def test_equal_names_get_suffixes() -> None:
    module = module_from_ir("func @f(%x: f32) {\n}\n")
    block = function_of(module).body.block
    for hint in ("x", "x", "x_1"):
        operation = NegOp.create(operands=[block.args[0]], result_types=[block.args[0].type])
        operation.results[0].name_hint = hint
        block.add_op(operation)
    assert ir_text(module) == (
        "func @f(%x: f32) {\n    %x_0 = neg %x : f32\n    %x_1 = neg %x : f32\n"
        "    %x_2 = neg %x : f32\n}\n"
    )


@pytest.mark.parametrize("hint", ["_x", "a.b", "a$b", "a-b"])
def test_names_that_the_language_does_not_have_become_numbers(hint: str) -> None:
    module = module_from_mlir("tensorlang.func @f(%x: f32) {\n}\n")
    function_of(module).parameters[0].name_hint = hint
    assert ir_text(module) == "func @f(%0: f32) {\n}\n"


def test_names_are_free_again_behind_a_region() -> None:
    text = (
        "func @f(%i: index, %c: f32) {\n"
        "    for %n=%i,%i {\n        %x = neg %c : f32\n    }\n"
        "    for %n=%i,%i {\n        %x = neg %c : f32\n    }\n"
        "    %x = neg %c : f32\n}\n"
    )
    assert ir_text(module_from_ir(text)) == text


def test_the_names_of_a_loops_results_differ_from_those_within() -> None:
    text = (
        "func @f(%i: index, %c: f32) {\n"
        "    %x = for %n=%i,%i init(%y=%c) -> (f32) {\n        yield (%y)\n    }\n"
        "    %y = neg %x : f32\n}\n"
    )
    assert ir_text(module_from_ir(text)) == text


# Comments


COMMENTED = """\
; one
;
; two ; and more
func @f(%x: f32) {
    ; above
    %y = neg %x : f32 ; behind
    %z = neg %x : f32
    ; in front of a region
    parallel {
        ; inside
        barrier ; x
    } ; behind a region
    %w = neg %x : f32
}

; of the second function
func @g() {
}
"""


def test_comments_stay() -> None:
    assert ir_text(module_from_ir(COMMENTED)) == COMMENTED


def test_comments_in_front_of_definitions_go_to_what_follows() -> None:
    text = (
        "; about h\n$h = 4\n; about f\nfunc @f() {\n    ; a\n    $x = 1\n    ; b\n    barrier\n}\n"
    )
    assert ir_text(module_from_ir(text)) == (
        "; about h\n; about f\nfunc @f() {\n    ; a\n    ; b\n    barrier\n}\n"
    )


def test_white_space_within_comments_stays() -> None:
    text = "; a\tb  c\u2028d\x0be\nfunc @f() {\n}\n"
    assert ir_text(module_from_ir(text)) == text


def test_a_line_end_in_a_comment_of_mlir_text() -> None:
    module = module_from_ir("func @f() {\n}\n")
    comments = ArrayAttr([StringAttr("a\nfunc @g() {")])
    function_of(module).attributes["tensorlang.comments"] = comments
    assert ir_text(module) == "; a func @g() {\nfunc @f() {\n}\n"


# Attributes and constants


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        (integer_attribute(-4), "-4"),
        (BoolAttr.from_bool(True), "true"),
        (StringAttr("a \\ b"), '"a \\ b"'),
        (ArrayAttr([]), "[]"),
        (ArrayAttr([integer_attribute(1), BoolAttr.from_bool(False)]), "[1,false]"),
        (DictionaryAttr({}), "{}"),
        (
            DictionaryAttr({"alignment": integer_attribute(4), "unroll 2": StringAttr("")}),
            '{alignment=4, "unroll 2"=""}',
        ),
    ],
)
def test_attribute_text(attribute: Attribute, text: str) -> None:
    assert attribute_text(attribute) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1e22, "1e+22"),
        (-0.0, "-0.0"),
        (123456789.0, "123456789.0"),
        (float("nan"), "nan"),
        (-float("nan"), "-nan"),
        (float("-inf"), "-inf"),
        (5e-324, "0x0.0000000000001p-1022"),
    ],
)
def test_floats_are_printed_exactly(value: float, text: str) -> None:
    assert constant_text(FloatAttr(value, f64)) == text


# What the text cannot hold


def error_of(module: ModuleOp) -> str:
    with pytest.raises(DiagnosticError) as error:
        print_module(module, StringIO())
    return str(error.value)


def test_another_dialect_at_the_top() -> None:
    assert error_of(ModuleOp([test.TestOp()])) == (
        "error: 'test.op' has no tensor language text; "
        "translate the module to the tensorlang dialect first"
    )


def test_another_dialect_in_a_function_is_located() -> None:
    module = module_from_mlir(
        'tensorlang.func @f() {\n  "builtin.unrealized_conversion_cast"() : () -> ()\n}\n'
    )
    assert error_of(module) == (
        "f.mlir:2.3-51: error: 'builtin.unrealized_conversion_cast' has no tensor language text; "
        "translate the module to the tensorlang dialect first\n"
        '  "builtin.unrealized_conversion_cast"() : () -> ()\n'
        "  " + "~" * 49
    )


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ("{x = 1.5 : f32}", "the attribute 1.500000e+00 : f32 has no tensor language text"),
        ("{x = i32}", "the attribute i32 has no tensor language text"),
        (
            '{x = "a \\"b\\""}',
            "a string with quotes or line ends has no tensor language text: 'a \"b\"'",
        ),
        (
            '{"a\\nb" = 1 : i64}',
            "a string with quotes or line ends has no tensor language text: 'a\\nb'",
        ),
    ],
)
def test_attributes_without_text(attributes: str, reason: str) -> None:
    module = module_from_mlir(f"tensorlang.func @f() attributes {attributes} {{\n}}\n")
    message, *_ = error_of(module).splitlines()
    assert message.partition("error: ")[2] == reason


def test_an_attribute_that_only_is_there_is_true() -> None:
    module = module_from_mlir("tensorlang.func @f() attributes {x} {\n}\n")
    assert ir_text(module) == 'func @f() attributes {"x"=true} {\n}\n'


def test_a_function_whose_name_is_none() -> None:
    module = module_from_mlir('tensorlang.func @"my kernel"() {\n}\n')
    assert error_of(module).splitlines()[0] == (
        "f.mlir:1.1-2.1: error: 'my kernel' cannot be the name of a function in the tensor "
        "language; write a letter, then letters, digits and underscores"
    )


def test_nothing_else_than_attributes_is_lost_without_text() -> None:
    function = function_of(module_from_ir("func @f() {\n    barrier\n}\n"))
    barrier = function.body.block.first_op
    assert barrier is not None
    barrier.attributes["note"] = UnitAttr()
    module = function.parent_op()
    assert isinstance(module, ModuleOp)
    assert ir_text(module) == "func @f() {\n    barrier\n}\n"
