"""Older spellings inside current text: they read, and each is warned about."""

from __future__ import annotations

from collections.abc import Callable

import pytest


def _form(mnemonic: str, current: str) -> str:
    return f"warning: this form of {mnemonic} is of an older revision; now it is {current}"


SUBVIEW = _form(
    "subview",
    "subview %A[0:8,%i:%n] : memref<...>, with sizes or values and the result's type",
)
COMPARISON = _form("cmp", "less_than %a, %b : bool")
INDEX = "an integer as an operand is a spelling of older revisions; "

# Parameters, text, current text, warnings.
CASES: list[tuple[str, str, str, list[str]]] = [
    (
        "%x: i32, %y: i32",
        "%p = cmp.le %x, %y : bool",
        "%p = less_than_equal %x, %y : bool",
        [f"2.6-8: {COMPARISON}"],
    ),
    (
        "%x: i32",
        "%p = cmp.lt %x, 16 : i32",
        "%c16_i32 = constant 16 : i32\n%p = less_than %x, %c16_i32 : bool",
        [f"2.6-8: {COMPARISON}"],
    ),
    (
        "%x: f32",
        "%y = math.native_exp %x : f32",
        "%y = native_exp %x : f32",
        [f"2.6-9: {_form('math', 'exp %a : f32')}"],
    ),
    (
        "%x: c32",
        "%y = arith.conj %x : c32",
        "%y = conj %x : c32",
        [f"2.6-10: {_form('arith', 'add %a, %b : f32')}"],
    ),
    (
        "%A: memref<f32x10x?>, %i: index",
        "%x = load %A[5, %i] : f32",
        "%c5 = constant 5 : index\n%x = load %A[%c5,%i] : f32",
        [f"2.14: warning: {INDEX}write %c = constant 5 : index and use %c"],
    ),
    (
        "%A: memref<f32x56x9x?>",
        "%g = group_id.x : index\n%x = subview %A[0:?,:,%g] : memref<f32x56x9>",
        "%g = group_id.x : index\n%x = subview %A[0:56,0:9,%g] : memref<f32x56x9>",
        [f"3.6-12: {SUBVIEW}"],
    ),
    (
        "%A: memref<f32x56x9x?>",
        "%g = group_id.x : index\n%x = subview %A[4:8,%g,:] : memref<f32x8x?,strided<1,?>>",
        (
            "%g = group_id.x : index\n%A_size2 = size %A[2] : index\n"
            "%x = subview %A[4:8,%g,0:%A_size2] : memref<f32x8x?,strided<1,?>>"
        ),
        [f"3.6-12: {SUBVIEW}"],
    ),
    (
        "%A: memref<f32x56x9x?>",
        "%g = group_id.x : index\n%x = subview %A[4:8,0:9,%g] : memref<f32x56x9x?>",
        "%g = group_id.x : index\n%x = subview %A[4:8,0:9,%g] : memref<f32x8x9,strided<1,56>>",
        [
            (
                "3.14-48: warning: this annotation of subview is the operand's type; "
                "now it is the result's, memref<f32x8x9,strided<1,56>>"
            )
        ],
    ),
    (
        "%A: group<memref<f32x9>x?>",
        "%g = group_id.x : index\n%x = load %A[%g] : group<memref<f32x9>x?>",
        "%g = group_id.x : index\n%x = load %A[%g] : memref<f32x9>",
        [
            (
                "3.11-41: warning: this annotation of load is the operand's type; "
                "now it is the result's, memref<f32x9>"
            )
        ],
    ),
    (
        "%A: memref<f32x32x16>",
        "%x = expand %A[1 -> 2 x ?] : memref<f32x32x2x8>\n%y = constant 1 : i32",
        "%x = expand %A[1 -> 2 x 8] : memref<f32x32x2x8>\n%y = constant 1 : i32",
        [
            "2.6-11: "
            + _form(
                "expand",
                "expand %A[0 -> 2 x %n] : memref<...>, with sizes or values and the result's type",
            )
        ],
    ),
    (
        "%a: f32, %A: memref<f32x9x1>, %B: memref<f32x1x9>, %C: memref<f32x9x9>",
        "%one = constant 1.0 : f32\ngemm.n.n.atomic %a, %A, %B, %one, %C",
        "%one = constant 1.0 : f32\ngemm.atomic %a, %A, %B, %one, %C",
        [f"3.1-4: {_form('gemm', 'gemm.atomic.n.n %alpha, %A, %B, %beta, %C')}"],
    ),
    (
        "%a: f32, %A: memref<f32x9>",
        (
            "%one = constant 1.0 : f32\n"
            "axpby.n %a, %A, %one, %A : f32, memref<f32x9>, f32, memref<f32x9>"
        ),
        "%one = constant 1.0 : f32\naxpby %a, %A, %one, %A",
        [f"3.28-65: {_form('axpby', 'axpby.atomic.n %alpha, %A, %beta, %B')}"],
    ),
    (
        "%x: i32",
        "%one = constant 1 : i32\n%i = cast %x : i32 -> index",
        "%one = constant 1 : i32\n%i = cast %x : index",
        [f"3.23-27: {_form('cast', 'cast %a : f32')}"],
    ),
    (
        "%x: i32, %y: i32",
        (
            "%p = equal %x, %y : bool\n%z = if %p -> (i32) {\n    yield %x\n} else {\n"
            "    yield (%y)\n}"
        ),
        (
            "%p = equal %x, %y : bool\n%z = if %p -> (i32) {\n    yield (%x)\n} else {\n"
            "    yield (%y)\n}"
        ),
        [f"4.5-9: {_form('yield', 'yield (%a)')}"],
    ),
    (
        "",
        "%one = constant 1.0 : f32\n%t = alloca -> memref<f32x9>",
        "%one = constant 1.0 : f32\n%t = alloca : memref<f32x9,local>",
        [f"3.6-11: {_form('alloca', 'alloca : memref<f32x4,local>')}"],
    ),
]


def _function(parameters: str, body: str) -> str:
    return f"func @f({parameters}) {{\n{body}\n}}\n"


@pytest.mark.parametrize(("parameters", "text", "current", "warnings"), CASES)
def test_mixed_text(
    parameters: str,
    text: str,
    current: str,
    warnings: list[str],
    migrate: Callable[..., str],
    diagnose: Callable[..., list[str]],
) -> None:
    body = "\n".join(f"    {line}" for line in current.split("\n"))
    assert migrate(_function(parameters, text), "v0.4", warns=True) == _function(parameters, body)
    assert diagnose(_function(parameters, text), "v0.4") == warnings


def test_the_later_error_is_reported(diagnose: Callable[..., list[str]]) -> None:
    text = "func @f(%A: memref<f32x9>) {\n%x = subview %A[0:?,?] : memref<f32x9>\n}\n"
    assert diagnose(text, "v0.4") == [
        "2.21: error: expected an integer for the offset, but found '?'"
    ]


def test_a_whole_view_is_no_older_annotation(diagnose: Callable[..., list[str]]) -> None:
    text = "func @f(%A: memref<f32x9>) {\n%x = subview %A[0:9] : memref<f32x9>\n}\n"
    assert diagnose(text, "v0.4") == []


def test_current_text_reads_alike_in_every_revision(migrate: Callable[..., str]) -> None:
    text = """func @f(%A: memref<f32x9x?>, %n: i32) attributes {subgroup_size=16} {
    %c0 = constant 0 : i32
    %c0f = constant 0.0 : f32
    %s = for %i=%c0,%n init(%x=%c0f) -> (f32) {
        yield (%x)
    } attributes {unroll=4}
    foreach (%i,%j)=(%c0,%c0),(%n,%n) {
        %k = cast %j : index
        %x = load %A[%k,%k] : f32
        store %x, %A[%k,%k]
    }
    %p = less_than %c0, %n : bool
    if %p {
        barrier.local
    }
    %m = size %A[1] : index
    %v = subview %A[0:4,0:%m] : memref<f32x4x?,strided<1,?>>
}
"""
    assert migrate(text, "v0.4") == migrate(text, "v0.3") == migrate(text, "v0.1") == text
