"""Types that the current revision does not have: an exact meaning, or an error that says why."""

from __future__ import annotations

from collections.abc import Callable

import pytest

SIGN = (
    "depends on the sign, and the current revision has signed integers only; cast the operands "
    "to a wider signed type first, or write a signed type if no value reaches the sign bit"
)

EXACT: list[tuple[str, str, str]] = [
    ("%x: u32", "%y = add %x, 1 : u32", "%c1_i32 = constant 1 : i32\n%y = add %x, %c1_i32 : i32"),
    (
        "%x: u32",
        "%y = mul %x, 4000000000 : u32",
        "%cm294967296_i32 = constant -294967296 : i32\n%y = mul %x, %cm294967296_i32 : i32",
    ),
    ("%x: u8", "%y = neg %x : u8", "%y = neg %x : i8"),
    ("%x: u64, %y: u64", "%p = cmp.eq %x, %y : u64", "%p = equal %x, %y : bool"),
    ("%x: u64", "%y = cast %x : u64 -> u16", "%y = cast %x : i16"),
    ("%x: i32", "%y = cast %x : i32 -> u64", "%y = cast %x : i64"),
    (
        "%x: u16",
        "%y = cast %x : u16 -> index",
        (
            "%widened = cast %x : index\n%c65535 = constant 65535 : index\n"
            "%y = and %widened, %c65535 : index"
        ),
    ),
    (
        "%A: memref<u32x4>, %x: u32, %i: index",
        "store %x, %A[%i] : memref<u32x4>\n%y = load %A[%i] : memref<u32x4>",
        "store %x, %A[%i]\n%y = load %A[%i] : i32",
    ),
    (
        "%a: u32, %A: memref<u32x4>, %B: memref<u32x4>",
        "axpby.n %a, %A, 1, %B : u32, memref<u32x4>, u32, memref<u32x4>",
        "%c1_i32 = constant 1 : i32\naxpby %a, %A, %c1_i32, %B",
    ),
    (
        "",
        "for %i = 0, 100 : u8 {\n}",
        "%c0_i8 = constant 0 : i8\n%c100_i8 = constant 100 : i8\nfor %i=%c0_i8,%c100_i8 {\n}",
    ),
]

WRONG: list[tuple[str, str, str]] = [
    (
        "%x: u32",
        "%y = div %x, 2 : u32",
        f"2.18-20: error: div of an unsigned type {SIGN}",
    ),
    (
        "%x: u32",
        "%y = rem %x, 2 : u32",
        f"2.18-20: error: rem of an unsigned type {SIGN}",
    ),
    (
        "%x: u32",
        "%y = cmp.lt %x, 2 : u32",
        f"2.21-23: error: cmp.lt of an unsigned type {SIGN}",
    ),
    (
        "%x: u32",
        "%y = cast %x : u32 -> f32",
        f"2.16-25: error: a conversion to or from f32 of an unsigned type {SIGN}",
    ),
    (
        "%n: u32",
        "for %i = 0, %n : u32 {\n}",
        f"2.18-20: error: a for loop of an unsigned type {SIGN}",
    ),
    (
        "",
        "for %i = 0, 200 : u8 {\n}",
        f"2.19-20: error: a for loop of an unsigned type {SIGN}",
    ),
    (
        "%a: u32, %A: memref<u32x4>, %B: memref<i64x4>",
        "axpby.n %a, %A, 1, %B : u32, memref<u32x4>, i64, memref<i64x4>",
        f"2.25-27: error: a product of several widths of an unsigned type {SIGN}",
    ),
    (
        "%A: memref<i1x4>",
        "%g = group_id",
        (
            "1.20-21: error: memory of i1 has no counterpart: a memref of the current revision "
            "holds numbers, not bools; write i8, and compare what is loaded with 0"
        ),
    ),
    (
        "%x: i32",
        "%p = cmp.eq %x, 1 : i32\n%q = cmp.lt %p, true : i1",
        (
            "3.24-25: error: cmp.lt of bools has no counterpart: comparisons take numbers; "
            "write it with and, or and not"
        ),
    ),
    ("%x: u8", "%y = add %x, 256 : u8", "2.14-16: error: this constant is not of type i8"),
]


def _function(parameters: str, body: str) -> str:
    return f"func @f({parameters}) {{\n{body}\n}}\n"


@pytest.mark.parametrize(("parameters", "old", "new"), EXACT)
def test_exact_meaning(parameters: str, old: str, new: str, migrate: Callable[..., str]) -> None:
    current = parameters.replace(": u", ": i").replace("<u", "<i")
    printed = migrate(_function(parameters, old), "v0.1")
    body = "\n".join(f"    {line}" for line in new.split("\n"))
    assert printed == _function(current, body)


@pytest.mark.parametrize(("parameters", "old", "message"), WRONG)
def test_no_silent_change(
    parameters: str, old: str, message: str, diagnose: Callable[..., list[str]]
) -> None:
    assert diagnose(_function(parameters, old), "v0.1") == [message]


def test_unsigned_types_are_no_current_types(diagnose: Callable[..., list[str]]) -> None:
    assert diagnose("func @f(%x: u32) {\n}\n", "v0.4") == [
        (
            "1.13-15: error: u32 ended with v0.1: the current revision has signed integers only; "
            "write i32, or read the text with revision v0.1"
        )
    ]


def test_i1_in_current_text_is_bool(diagnose: Callable[..., list[str]]) -> None:
    text = "func @f(%x: i32) {\n%p = equal %x, %x : i1\n}\n"
    assert diagnose(text) == ["2.21-22: warning: i1 is a spelling of older revisions; write bool"]
