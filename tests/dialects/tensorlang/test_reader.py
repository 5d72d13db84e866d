"""What the reader says about mistakes, how it goes on after them, and the preprocessor."""

from __future__ import annotations

import re

import pytest

from tests.dialects.tensorlang.round_trip import ir_text, module_from_ir
from xtile.dialects.tensorlang.reader import read
from xtile.dialects.tensorlang.types import type_text
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source


def diagnostics_of(text: str) -> Diagnostics:
    diagnostics = Diagnostics()
    read(Source("f.ir", text), diagnostics)
    return diagnostics


def messages(text: str) -> list[str]:
    """Each diagnostic's location and message, with those of its notes behind it."""
    lines = diagnostics_of(text).render().splitlines()
    return [line.removeprefix("f.ir:") for line in lines if line.startswith("f.ir:")]


def messages_in(body: str) -> list[str]:
    """The messages for lines in a function; the first of them is line 2."""
    header = "func @f(%x: f32, %i: index, %A: memref<f32x?>)"
    return messages(f"{header} {{\n{body}\n}}\n")


NOT_DEFINED = "is not defined here; define it before its use, in this region or one around it"
REDEFINED = "is already defined; choose another name"
FIRST = "note: it is first defined here"


# Names


def test_an_undefined_name_is_reported_once() -> None:
    assert diagnostics_of("func @f() {\n    %y = add %x, %x : f32\n}\n").render() == (
        f"f.ir:2.14-15: error: %x {NOT_DEFINED}\n    %y = add %x, %x : f32\n             ~~"
    )


def test_a_name_that_is_defined_after_its_use() -> None:
    body = "%z = add %y, %x : f32\n%y = neg %x : f32\n%w = add %z, %y : f32"
    assert messages_in(body) == [f"2.10-11: error: %y {NOT_DEFINED}"]


def test_a_name_that_is_defined_in_another_region() -> None:
    body = "parallel {\n%y = neg %x : f32\n}\nparallel {\n%z = neg %y : f32\n}"
    assert messages_in(body) == [f"6.10-11: error: %y {NOT_DEFINED}"]


def test_a_name_used_outside_and_defined_inside() -> None:
    body = "%z = neg %y : f32\nparallel {\n%y = neg %x : f32\n%w = neg %y : f32\n}"
    assert messages_in(body) == [f"2.10-11: error: %y {NOT_DEFINED}"]


def test_a_loop_variable_in_its_own_bounds() -> None:
    assert messages_in("for %n=%n,%i {\n}") == [f"2.8-9: error: %n {NOT_DEFINED}"]


def test_redefinitions() -> None:
    text = "func @f(%x: f32) {\n    %x = neg %x : f32\n}\n"
    assert diagnostics_of(text).render() == (
        f"f.ir:2.5-6: error: %x {REDEFINED}\n"
        "    %x = neg %x : f32\n"
        "    ~~\n"
        f"f.ir:1.9-10: {FIRST}\n"
        "func @f(%x: f32) {\n"
        "        ~~"
    )


@pytest.mark.parametrize(
    ("body", "position", "first"),
    [
        ("%y = neg %x : f32\n%y = neg %x : f32", "3.1-2", "2.1-2"),
        ("for %x=%i,%i {\n}", "2.5-6", "1.9-10"),
        ("foreach (%x)=(%i),(%i) {\n}", "2.10-11", "1.9-10"),
        ("foreach (%n)=(%i),(%i) {\n%n = neg %x : f32\n}", "3.1-2", "2.10-11"),
        ("foreach_tile (%m)=(%i),(%i) as (%m)<=(16) {\n}", "2.33-34", "2.15-16"),
    ],
)
def test_redefinitions_by_regions(body: str, position: str, first: str) -> None:
    name = "%n" if "%n" in body else "%m" if "%m" in body else "%x" if "%y" not in body else "%y"
    assert messages_in(body) == [f"{position}: error: {name} {REDEFINED}", f"{first}: {FIRST}"]


def test_siblings_may_use_a_name_anew() -> None:
    body = "parallel {\n%y = neg %x : f32\n}\nparallel {\n%y = neg %x : f32\n}"
    assert messages_in(body) == []


def test_two_parameters_of_one_name() -> None:
    assert messages("func @f(%x: f32, %x: f32) {\n}\n") == [
        f"1.18-19: error: %x {REDEFINED}",
        f"1.9-10: {FIRST}",
    ]


def test_what_a_damaged_instruction_defines_is_not_reported_again() -> None:
    assert messages_in("%y = negg %x : f32\n%z = add %y, %y : f32\nstore %z, %A[%y]") == [
        "2.6-9: error: unknown instruction 'negg'; did you mean 'neg'?"
    ]


# Instructions

ONE_LINERS = [
    ("frobnicate %x", "1-10: error: unknown instruction 'frobnicate'"),
    ("%y = ad %x, %x : f32", "6-7: error: unknown instruction 'ad'; did you mean 'and'?"),
    ("%y = 5 %x : f32", "6: error: expected an instruction, but found '5'"),
    ("%y = %x", "6-7: error: expected an instruction, but found '%x'"),
    ("%a, %b = neg %x : f32", "1-6: error: neg returns 1 value but 2 names are given"),
    ("neg %x : f32", "1-12: error: neg returns 1 value but no names are given"),
    ("%c = barrier", "1-2: error: barrier returns no values but 1 name is given"),
    ("%y = cos %x f32", "13-15: error: expected ':', but found 'f32'"),
    ("%y = cos : f32", "10: error: expected a local identifier '%name', but found ':'"),
    ("%y = add %x %x : f32", "13-14: error: expected ',', but found '%x'"),
    ("%e = constant : f32", "15: error: expected a constant, but found ':'"),
    ('%e = constant "a" : f32', "15-17: error: expected a constant, but found '\"a\"'"),
    ("%n = size %A[] : index", "14: error: expected an integer for the mode, but found ']'"),
    (
        "%n = size %A[0.5] : index",
        "14-16: error: expected an integer for the mode, but found '0.5'",
    ),
    ("%g = group_id.w : index", "14-15: error: expected '.x' or '.y' or '.z', but found '.w'"),
    ("%g = group_id.xy : index", "14-16: error: expected '.x' or '.y' or '.z', but found '.xy'"),
    (
        "cooperative_matrix_reduce_add %x : f32",
        "31-32: error: expected '.row' or '.column', but found '%x'",
    ),
    (
        "gemm.t.t.t %x, %A",
        "9-10: error: '.t' cannot stand here; gemm takes .atomic, then .n or .t, then .n or .t",
    ),
    ("exp.x %x : f32", "4-5: error: '.x' cannot stand here; exp takes no modifiers"),
    (
        "%y = cooperative_matrix_load.rows_checked.t %A[%i,%i] : coopmatrix<f32x4x4,matrix_a>",
        (
            "42-43: error: '.t' cannot stand here; cooperative_matrix_load takes .n or .t, "
            "then .rows_checked or .cols_checked or .both_checked"
        ),
    ),
    ("barrier.glob", "8-12: error: expected an instruction, but found '.glob'"),
    ("%y = load %A[%i : f32", "17: error: expected ']', but found ':'"),
    ("store %x, %A[%i,]", "17: error: expected a local identifier '%name', but found ']'"),
    ("for %n %i,%i {\n}", "8-9: error: expected '=', but found '%i'"),
    ("for %n=%i {\n}", "11: error: expected ',', but found '{'"),
    ("for %n=%i,%i init(%y=%x) {\n}", "26: error: expected '->', but found '{'"),
    ("foreach [%n]=(%i),(%i) {\n}", "9: error: expected '(', but found '['"),
    ("foreach_tile (%n)=(%i),(%i) {\n}", "29: error: expected 'as', but found '{'"),
    (
        "foreach_tile (%n)=(%i),(%i) as (%t)<=(%i) {\n}",
        "39-40: error: expected an integer for the tile size, but found '%i'",
    ),
    (
        "%e = expand %A[0 -> 4 x] : memref<f32>",
        "24: error: expected an integer for the expand shape entry, but found ']'",
    ),
    (
        "%e = expand %A[0 -> -4 x 2] : memref<f32>",
        "21-22: error: an expand shape entry must not be negative, but it is -4",
    ),
    (
        "%s = subview %A[0:-1] : memref<f32>",
        "19-20: error: a size must not be negative, but it is -1",
    ),
    ("func @g() {\n}", "1-4: error: a function must stand outside of other functions"),
    (
        "%w = alloca {alignment} : memref<f32,local>",
        "23: error: expected '=', but found '}'",
    ),
    ("%w = alloca {alignment=64 : memref<f32,local>", "27: error: expected '}', but found ':'"),
    (
        "%w = alloca {64=64} : memref<f32,local>",
        "14-15: error: expected an attribute name, but found '64'",
    ),
    (
        "%w = alloca {alignment=x} : memref<f32,local>",
        "24: error: expected an attribute, but found 'x'",
    ),
    (
        "%w = alloca {alignment=1.5} : memref<f32,local>",
        "24-26: error: expected an attribute, but found '1.5'",
    ),
    (
        "%w = alloca {alignment=64, alignment=32} : memref<f32,local>",
        "28-36: error: attribute alignment is given twice",
    ),
]


@pytest.mark.parametrize(("line", "message"), ONE_LINERS)
def test_one_mistake_gives_one_error(line: str, message: str) -> None:
    assert messages_in(line) == [f"2.{message}"]


@pytest.mark.parametrize(("line", "message"), ONE_LINERS)
def test_reading_goes_on_with_the_next_line(line: str, message: str) -> None:
    next_line = 3 + line.count("\n")
    assert messages_in(f"{line}\nboo %x") == [
        f"2.{message}",
        f"{next_line}.1-3: error: unknown instruction 'boo'",
    ]


# Constants

OUT_OF_RANGE = "is out of range; it must lie in -2^63+1, ..., 2^63-1"
NO_DOUBLE = "is out of the range of double precision numbers; write inf if that is meant"


@pytest.mark.parametrize(
    ("constant", "message"),
    [
        ("9223372036854775808", f"15-33: error: integer 9223372036854775808 {OUT_OF_RANGE}"),
        ("-9223372036854775808", f"15-34: error: integer -9223372036854775808 {OUT_OF_RANGE}"),
        ("1e309", f"15-19: error: 1e309 {NO_DOUBLE}"),
        ("-0x1p1024", f"15-23: error: -0x1p1024 {NO_DOUBLE}"),
        ("[1.0]", "19: error: expected ',', but found ']'"),
        ("[1, 2]", "16: error: expected a floating constant, e.g. 1.0, but found '1'"),
        ("[1.0, 2.0", "25: error: expected ']', but found ':'"),
        ("$x", "15-16: error: $x is not defined; define it before its use"),
    ],
)
def test_constants_that_are_none(constant: str, message: str) -> None:
    assert messages_in(f"%e = constant {constant} : f64") == [f"2.{message}"]


# Types


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("i7", "1.13-14: error: expected a type, but found 'i7'"),
        ("f33", "1.13-15: error: expected a type, but found 'f33'"),
        ("memref", "1.19: error: expected '<', but found ')'"),
        ("memref<f32", "1.23: error: expected '>', but found ')'"),
        ("memref<>", "1.20: error: expected a type, but found '>'"),
        ("memref<f32 4>", "1.24: error: expected '>', but found '4'"),
        ("memref<f32x>", "1.24: error: expected an integer for the size, but found '>'"),
        ("memref<f32x-1>", "1.24-25: error: size -1 is negative; write a size or '?'"),
        (
            "memref<f32x4,remote>",
            "1.26-31: error: expected 'strided<...>', 'global' or 'local', but found 'remote'",
        ),
        (
            "memref<f32x4,local,strided<1>>",
            "1.31: error: expected '>', but found ','",
        ),
        (
            "memref<boolx4>",
            "1.13-26: error: a memref holds numbers, but its element type is bool",
        ),
        (
            "memref<f32x4,strided<0>>",
            "1.13-36: error: stride S_1 is 0 but must be at least 1 (1 <= S_1)",
        ),
        (
            "memref<f32x4x4,strided<1,3>>",
            "1.13-40: error: stride S_2 is 3 but must be at least 4 (S_1 s_1 <= S_2)",
        ),
        (
            "memref<f32x4,strided<1,4>>",
            (
                "1.13-38: error: the shape has 1 modes but 2 strides are given; "
                "write one stride for each mode"
            ),
        ),
        ("memref<memref<f32>x4>", "1.20-25: error: expected a number type, but found 'memref'"),
        ("group<group<f32>x4>", "1.19-23: error: expected a memref type, but found 'group'"),
        ("group<memref<f32>x-1>", "1.31-32: error: size -1 is negative; write a size or '?'"),
        ("group<memref<f32>x4, 8>", "1.34: error: expected 'offset', but found '8'"),
        ("group<memref<f32>x4, offset 8>", "1.41: error: expected ':', but found '8'"),
        (
            "coopmatrix<f32x4,matrix_a>",
            (
                "1.29: error: expected 'x' and a size: a coopmatrix has rows and columns, "
                "but found ','"
            ),
        ),
        (
            "coopmatrix<f32x4x4,matrix_d>",
            "1.32-39: error: expected 'matrix_a', 'matrix_b' or 'matrix_acc', but found 'matrix_d'",
        ),
        (
            "coopmatrix<f32x0x4,matrix_a>",
            "1.13-40: error: coopmatrix mode size 0 must be at least 1",
        ),
    ],
)
def test_types_that_are_none(type: str, message: str) -> None:
    assert messages(f"func @f(%x: {type}) {{\n}}\n") == [message]


# Functions


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("f()", "1.6: error: expected a global identifier '@name', but found 'f'"),
        ("@f", "1.9: error: expected '(', but found '{'"),
        ("@f(%x f32)", "1.12-14: error: expected ':', but found 'f32'"),
        ("@f(%x: f32", "1.17: error: expected ')', but found '{'"),
        ("@f(x: f32)", "1.9: error: expected a local identifier '%name', but found 'x'"),
        ("@f(%x: f32,)", "1.17: error: expected a local identifier '%name', but found ')'"),
        ("@f() attributes", "3.1: error: expected '=', but found '}'"),
        (
            "@f() attributes {subgroup_size=}",
            "1.37: error: expected an attribute, but found '}'",
        ),
    ],
)
def test_headers_of_functions(header: str, message: str) -> None:
    text = f"func {header} {{\n    boo\n}}\nfunc @g() {{\n    boo\n}}\n"
    boo = "5.5-7: error: unknown instruction 'boo'"
    assert messages(text) == [message, boo]


def test_what_stands_outside_of_functions() -> None:
    assert messages("add %x, %y : f32\nsub\n; fine\nfunc @f() {\n}\n}\n") == [
        "1.1-3: error: expected 'func' or a definition '$name = ...', but found 'add'",
        "6.1: error: expected 'func' or a definition '$name = ...', but found '}'",
    ]


def test_a_missing_brace_at_the_end() -> None:
    assert messages("func @f() {\n    parallel {\n    }\n") == [
        "4.1: error: the text ends inside a region; expected '}'",
        "1.11: note: the region is opened here",
    ]


def test_a_missing_brace_before_the_next_function() -> None:
    text = """\
func @f(%a: f32) {
    parallel {
    boo
func @g(%a: f32) {
    boo
}
"""
    assert messages(text) == [
        "3.5-7: error: unknown instruction 'boo'",
        "4.1-4: error: the next function begins inside a region; expected '}'",
        "2.14: note: the region is opened here",
        "5.5-7: error: unknown instruction 'boo'",
    ]


def test_every_wrong_parameter_is_reported_and_the_body_is_read() -> None:
    text = """\
func @f(%a: f3, %b: memref<f32x4,strided<2,3>>, %c: memref<f32x-4>, %d: f32) {
    %x = add %d, %q : f32
    %y = mul %a, %x : f32
}
"""
    assert messages(text) == [
        "1.13-14: error: expected a type, but found 'f3'",
        (
            "1.21-46: error: the shape has 1 modes but 2 strides are given; "
            "write one stride for each mode"
        ),
        "1.64-65: error: size -4 is negative; write a size or '?'",
        (
            "2.18-19: error: %q is not defined here; define it before its use, "
            "in this region or one around it"
        ),
    ]


def test_an_operand_that_is_missing_at_the_end_of_a_line() -> None:
    text = "func @f(%a: f32) {\n    %b = add %a,\n    %c = mul %a, %b : f32\n}\n"
    assert messages(text) == [
        "3.5-6: error: an operand is missing in front of this instruction",
    ]


def test_mistyped_attribute_names() -> None:
    text = """\
func @f(%A: memref<f32x4> {shape_gdc=[4]}) attributes {subgroup_sise=16, "mine"=1, other=2} {
}
"""
    assert messages(text) == [
        "1.28-36: error: unknown attribute 'shape_gdc'; did you mean 'shape_gcd'?",
        "1.56-68: error: unknown attribute 'subgroup_sise'; did you mean 'subgroup_size'?",
        "1.84-88: error: unknown attribute 'other'; write a name of your own in quotes",
    ]


# Recovery

FIVE_MISTAKES = """\
$rows = 16
func @f(%A: memref<f32x16x?>, %i: index) attributes {subgroup_size=16} {
    %one = constant 1.0 : f33
    axpby %one, %A, %one, %A
    parallel {
        %value = load %A[%i,%j] : f32
        store %value, %A[%i,%j]
        %m = cooperative_matrix_load %A[%i,%i] : coopmatrix<f32x$rows x$columns,matrix_acc>
        cooperative_matrix_store %m, %A[%i,%i]
        for %k=%i,%i {
            %value = add %value, %value : f32
        } attributes{unroll}
        if %m {
            barrier.local
        }
    }
    parallel {
        %n = subgroup_size : i32
        %n2 = ad %n, %n : i32
        %n3 = add %n2, %n2 : i32
    }
}
"""


def test_five_mistakes_are_five_errors_in_order() -> None:
    assert messages(FIVE_MISTAKES) == [
        "3.27-29: error: expected a type, but found 'f33'",
        f"6.29-30: error: %j {NOT_DEFINED}",
        "8.72-79: error: $columns is not defined; define it before its use",
        "11.13-18: error: %value is already defined; choose another name",
        f"6.9-14: {FIRST}",
        "12.28: error: expected '=', but found '}'",
        "19.15-16: error: unknown instruction 'ad'; did you mean 'and'?",
    ]


def test_a_missing_end_of_a_line_costs_that_line_only() -> None:
    body = "%e = constant 1.0\n%g = neg %x : f32\n%h = neg %g : f32\nfor %n=%i,\nbarrier"
    assert messages_in(body) == [
        "3.1-2: error: expected ':', but found '%g'",
        "6.1-7: error: expected a local identifier '%name', but found 'barrier'",
    ]


def test_a_damaged_instruction_over_several_lines() -> None:
    body = "gemm %x, %A,\n     %A %x,\n     %A\nboo"
    assert messages_in(body) == [
        "3.9-10: error: expected ',', but found '%x'",
        "5.1-3: error: unknown instruction 'boo'",
    ]


def test_the_body_of_a_damaged_loop_is_skipped() -> None:
    body = "for %n %i,%i {\n    boo %x\n    parallel {\n    }\n}\nbar"
    assert messages_in(body) == [
        "2.8-9: error: expected '=', but found '%i'",
        "7.1-3: error: unknown instruction 'bar'; did you mean 'barrier'?",
    ]


def test_comments_after_a_damaged_instruction_stay_with_the_next() -> None:
    text = "func @f() {\n    boo ; of boo\n    ; of barrier\n    barrier\n}\n"
    module = read(Source("f.ir", text), Diagnostics())
    assert ir_text(module) == "func @f() {\n    ; of barrier\n    barrier\n}\n"


# The preprocessor

DEFINITIONS = """\
$h = 16
$dtype = f16
$one = 1.0
$yes = true
$i = [0.5, -1.0]
$double = !calc($h 2 *)
$alias = $double
$matrix = memref<$dtype x $h x?>
$gcd = {stride_gcd=[1,$h], alignment=64}
$list = [1,$h]
$text = "a text"
"""

PREPROCESSED = f"""\
{DEFINITIONS}
func @f(%A: $matrix $gcd,
        %B: memref<$dtype x $h x$alias x?, strided<1,$h,?>> {{stride_gcd=$list}},
        %C: group<memref<$dtype x$h> x $h, offset: $double> {{shape_gcd=[$h], "note"=$text}},
        %i: index)
        attributes {{subgroup_size=$h, work_group_size=[$double,$h]}} {{
    %a = constant $one : $dtype
    %b = constant $yes : bool
    %c = constant $i : c32
    %d = constant $alias : i32
    %m = alloca {{alignment=$h}} : memref<$dtype x$h,local>
    %s = subview %A[0:$h,$h] : memref<$dtype x$h>
    %e = expand %A[0 -> 2 x $h] : memref<$dtype x2x$h x?,strided<1,2,32>>
    %u = fuse %B[0,$n] : memref<$dtype x 512 x?,strided<1,?>>
    cumsum %a, %A, $n, %a, %A
    foreach_tile (%x)=(%i),(%i) as (%t)<=($h) {{
        cooperative_matrix_prefetch $n, %A[%i,%i], $h, $double
        %p = constant $one : coopmatrix<$dtype x$h x$h,matrix_a>
        %q = cooperative_matrix_extract %p[$n] : $dtype
    }}
    for %x=%i,%i {{
    }} attributes $unroll
}}
""".replace("func @f", "$n = 1\n$unroll = {unroll=$n}\nfunc @f")

POSTPROCESSED = """\
func @f(%A: memref<f16x16x?> {stride_gcd=[1,16], alignment=64}, \
%B: memref<f16x16x32x?,strided<1,16,?>> {stride_gcd=[1,16]}, \
%C: group<memref<f16x16>x16, offset: 32> {shape_gcd=[16], "note"="a text"}, \
%i: index) attributes {subgroup_size=16, work_group_size=[32,16]} {
    %a = constant 1.0 : f16
    %b = constant true : bool
    %c = constant [0.5, -1.0] : c32
    %d = constant 32 : i32
    %m = alloca {alignment=16} : memref<f16x16,local>
    %s = subview %A[0:16,16] : memref<f16x16>
    %e = expand %A[0 -> 2 x 16] : memref<f16x2x16x?>
    %u = fuse %B[0,1] : memref<f16x512x?,strided<1,?>>
    cumsum %a, %A, 1, %a, %A
    foreach_tile (%x)=(%i),(%i) as (%t)<=(16) {
        cooperative_matrix_prefetch 1, %A[%i,%i], 16, 32
        %p = constant 1.0 : coopmatrix<f16x16x16,matrix_a>
        %q = cooperative_matrix_extract %p[1] : f16
    }
    for %x=%i,%i {
    } attributes {unroll=1}
}
"""


def test_definitions_stand_everywhere() -> None:
    assert ir_text(module_from_ir(PREPROCESSED)) == POSTPROCESSED


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7", 7),
        ("1 2 +", 3),
        ("1 2 -", -1),
        ("3 -4 *", -12),
        ("7 2 /", 3),
        ("-7 2 /", -3),
        ("7 2 %", 1),
        ("-7 2 %", -1),
        ("7 -2 %", 1),
        ("2 10 ^", 1024),
        ("-2 63 ^ 1 +", None),
        ("2 62 ^", 2**62),
        ("-1 9223372036854775807 ^", -1),
        ("1 9223372036854775807 ^", 1),
        ("0 0 ^", 1),
        ("3 5 min", 3),
        ("3 5 max", 5),
        ("1 2 3 4 + * -", -13),
        ("$h 1 + 2 *", 34),
        ("1 2+", 3),
        ("1 -2 -", 3),
    ],
)
def test_calculations(expression: str, value: int | None) -> None:
    text = f"$h = 16\n$r = !calc({expression})\nfunc @f() {{\n    %x = constant $r : i64\n}}\n"
    if value is None:
        assert len(messages(text)) == 1
    else:
        assert f"constant {value} : i64" in ir_text(module_from_ir(text))


@pytest.mark.parametrize(
    ("definition", "message"),
    [
        ("$a 1", "4: error: expected '=', but found '1'"),
        ("$b = $c", "6-7: error: $c is not defined; define it before its use"),
        ("$b = !calc(1 +)", "14: error: '+' needs two integers in front of it"),
        ("$b = !calc(1 0 /)", "16: error: division by zero"),
        ("$b = !calc(1 0 %)", "16: error: division by zero"),
        ("$b = !calc(1 2)", "15: error: the calculation leaves 2 integers; it must leave one"),
        ("$b = !calc()", "12: error: the calculation leaves 0 integers; it must leave one"),
        ("$b = !calc(2 -1 ^)", "17: error: the exponent must not be negative"),
        (
            "$b = !calc(9223372036854775807 1 +)",
            "34: error: 9223372036854775807 1 + is out of range",
        ),
        (
            "$b = !calc(1.5 2 +)",
            "12-14: error: expected an integer for the calculation, but found '1.5'",
        ),
        ("$b = !calc($t 1 +)", "12-13: error: expected an integer for the calculation"),
        ("$b = !calc 1", "12: error: expected '(', but found '1'"),
        ("$b = [1.0, 2.0, 3.0]", "15: error: expected ']', but found ','"),
        ("$b = {1}", "7: error: expected an attribute name, but found '1'"),
        ("$b = what", "6-9: error: expected a type, but found 'what'"),
    ],
)
def test_definitions_that_are_none(definition: str, message: str) -> None:
    text = f"$t = f32\n{definition}\nfunc @f() {{\n    %x = constant $b : f32\n}}\n"
    reported = messages(text)
    assert reported[0] == f"2.{message}"
    # What a damaged definition stands for is not an error of its own.
    assert len(reported) == 1 or definition.startswith("$a")


def test_definitions_are_assigned_once_in_their_reach() -> None:
    assert messages("$a = 1\n$a = 2\nfunc @f() {\n    $a = 3\n}\n") == [
        "2.1-2: error: $a is already defined; choose another name",
        f"1.1-2: {FIRST}",
        "4.5-6: error: $a is already defined; choose another name",
        f"1.1-2: {FIRST}",
    ]


def test_definitions_end_with_their_region() -> None:
    body = (
        "$a = 3\nparallel {\n$b = 4\n%y = constant $b : i32\n%z = constant $a : i32\n}\n"
        "parallel {\n$b = f32\n%y = constant 1.0 : $b\n}\n%w = constant $b : i32"
    )
    assert messages_in(body) == ["12.15-16: error: $b is not defined; define it before its use"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "%y = constant $t : f32",
            "15-16: error: expected a constant, but the name stands for something else",
        ),
        (
            "%y = neg %x : $n",
            "15-16: error: expected a type, but the name stands for something else",
        ),
        ("%y = size %A[$t] : index", "14-15: error: expected an integer for the mode"),
        ("%y = size %A[$b] : index", "14-15: error: expected an integer for the mode"),
        (
            "%y = alloca {alignment=$t} : memref<f32,local>",
            "24-25: error: expected an attribute, but the name stands for something else",
        ),
        (
            "%y = alloca {alignment=$c} : memref<f32,local>",
            "24-25: error: expected an attribute, but the name stands for something else",
        ),
        ("%y = alloca $n : memref<f32,local>", "13-14: error: expected an attribute dictionary"),
        ("%y = alloca : memref<f32x$t>", "26-27: error: expected an integer for the size"),
    ],
)
def test_names_that_stand_for_something_else(line: str, message: str) -> None:
    definitions = "$t = f32\n$n = 4\n$b = true\n$c = [1.0, 2.0]\n"
    assert messages_in(definitions + line) == [f"6.{message}"]


def test_an_undefined_definition_is_reported_once() -> None:
    body = "%y = constant $a : i32\n%z = constant $a : i32\n$a = 1\n%w = constant $a : i32"
    assert messages_in(body) == ["2.15-16: error: $a is not defined; define it before its use"]


# Tokens that look like others


def test_names_in_front_of_an_x() -> None:
    text = """\
func @f(%A: memref<f32x16>, %1: index, %x: index, %x5: index) {
    %a = expand %A[0 -> %1x5] : memref<f32x?x5>
    %b = expand %A[0 -> %x x 5] : memref<f32x?x5>
    %c = expand %A[0 -> %x x%1 x%x5] : memref<f32x?x?x?>
    %d = expand %A[0 -> 2x8] : memref<f32x2x8>
    %e = expand %A[0->2x%1x%x] : memref<f32x2x?x?>
}
"""
    shapes = ["%1 x 5", "%x x 5", "%x x %1 x %x5", "2 x 8", "2 x %1 x %x"]
    printed = ir_text(module_from_ir(text))
    assert re.findall(r"\[0 -> (.*)\]", printed) == shapes


def test_everything_on_one_line() -> None:
    text = "func @f(%x:f32){%y=neg %x:f32 barrier.local parallel{}}func @g(){}"
    assert ir_text(module_from_ir(text)) == (
        "func @f(%x: f32) {\n    %y = neg %x : f32\n    barrier.local\n    parallel {\n    }\n}\n"
        "\nfunc @g() {\n}\n"
    )


def test_every_token_on_a_line_of_its_own() -> None:
    text = "func @f(%x: memref<f32x4x?>) { %y = subview %x[0:2,1] : memref<f32x2> }"
    apart = "\n".join(
        text.replace("<", " < ").replace(">", " > ").replace("x4x?", " x 4 x ?").split()
    )
    module = module_from_ir(apart)
    assert ir_text(module) == (
        "func @f(%x: memref<f32x4x?>) {\n    %y = subview %x[0:2,1] : memref<f32x2>\n}\n"
    )


def test_keywords_as_names() -> None:
    text = (
        "func @func(%for: f32, %if: f32, %x: f32, %inf: f32) {\n"
        "    %add = add %for, %if : f32\n    %nan = add %inf, %x : f32\n}\n"
    )
    assert ir_text(module_from_ir(text)) == text


def test_type_text_of_what_was_read() -> None:
    module = module_from_ir("func @f(%x: memref<f32x4,strided<1>>) {\n}\n")
    (function,) = module.body.block.ops
    assert type_text(function.regions[0].block.args[0].type) == "memref<f32x4>"
