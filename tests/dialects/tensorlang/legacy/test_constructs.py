"""Every construct of the older revisions, and what it is now."""

from __future__ import annotations

import re
from collections.abc import Callable
from textwrap import dedent, indent

import pytest

MATRICES = "%a: f32, %A: memref<f32x9x9>, %B: memref<f32x9x9>, %C: memref<f32x9x9>"
VECTORS = "%a: f32, %A: memref<f32x9x4>, %b: memref<f32x4>, %c: memref<f32x9>"
TYPES_OF_GEMM = "f32, memref<f32x9x9>, memref<f32x9x9>, f32, memref<f32x9x9>"

# Parameters, old instructions, current instructions.
CASES: dict[str, tuple[str, str, str]] = {
    "group_id": ("", "%g = group_id", "%g = group_id.x : index"),
    "group_size": ("", "%g = group_size", "%g = num_groups.x : index"),
    "alloca": (
        "",
        "%t = alloca -> memref<f32x20x9>",
        "%t = alloca : memref<f32x20x9,local>",
    ),
    "alloca with strides": (
        "",
        "%t = alloca -> memref<f64x20x9,strided<1,32>>",
        "%t = alloca : memref<f64x20x9,strided<1,32>,local>",
    ),
    "lifetime_stop": (
        "",
        "%t = alloca -> memref<f32x9>\nlifetime_stop %t",
        "%t = alloca : memref<f32x9,local>\nlifetime_stop %t",
    ),
    "barrier": ("", "%g = group_id\nbarrier", "%g = group_id.x : index\nbarrier.global.local"),
    "v0.1 arithmetic": (
        "%x: i32",
        "%y = add %x, 5 : i32\n%z = sub 5, %y : i32\n%n = neg %z : i32",
        (
            "%c5_i32 = constant 5 : i32\n%y = add %x, %c5_i32 : i32\n"
            "%z = sub %c5_i32, %y : i32\n%n = neg %z : i32"
        ),
    ),
    "v0.3 arithmetic": (
        "%x: index",
        (
            "%y = arith.mul %x, 9 : index\n%z = arith.neg %y : index\n"
            "%s = arith.shl %z, 2 : index\n"
            "%n = arith.not %s : index"
        ),
        (
            "%c9 = constant 9 : index\n%y = mul %x, %c9 : index\n%z = neg %y : index\n"
            "%c2 = constant 2 : index\n%s = shl %z, %c2 : index\n%n = not %s : index"
        ),
    ),
    "an immediate alone": (
        "",
        "%x = arith.neg 1.5 : f32",
        "%c1p5_f32 = constant 1.5 : f32\n%x = neg %c1p5_f32 : f32",
    ),
    "an integer immediate of a floating type": (
        "%x: f64",
        "%y = arith.mul %x, 2 : f64",
        "%c2_f64 = constant 2.0 : f64\n%y = mul %x, %c2_f64 : f64",
    ),
    "a hexadecimal immediate": (
        "%x: f32",
        "%y = arith.add %x, 0x1.8p1 : f32",
        "%c3_f32 = constant 3.0 : f32\n%y = add %x, %c3_f32 : f32",
    ),
    "zeros of both signs": (
        "%x: f32",
        "%y = arith.add %x, -0.0 : f32\n%z = arith.add %y, 0.0 : f32",
        (
            "%cm0_f32 = constant -0.0 : f32\n%y = add %x, %cm0_f32 : f32\n"
            "%c0_f32 = constant 0.0 : f32\n%z = add %y, %c0_f32 : f32"
        ),
    ),
    "a long immediate": (
        "%x: f64",
        "%y = arith.add %x, 3.14159265358979 : f64\n%z = arith.add %y, 2.71828182845904 : f64",
        (
            "%cst_f64 = constant 3.14159265358979 : f64\n%y = add %x, %cst_f64 : f64\n"
            "%cst_f64_0 = constant 2.71828182845904 : f64\n%z = add %y, %cst_f64_0 : f64"
        ),
    ),
    "cmp": (
        "%x: i32",
        "%c = cmp.lt %x, 16 : i32\n%d = cmp.ge %x, 0 : i32\n%e = arith.and %c, %d : i1",
        (
            "%c16_i32 = constant 16 : i32\n%c = less_than %x, %c16_i32 : bool\n"
            "%c0_i32 = constant 0 : i32\n%d = greater_than_equal %x, %c0_i32 : bool\n"
            "%e = and %c, %d : bool"
        ),
    ),
    "every condition": (
        "%x: f32, %y: f32",
        "\n".join(f"%{c} = cmp.{c} %x, %y : f32" for c in ("eq", "ne", "gt", "ge", "lt", "le")),
        (
            "%eq = equal %x, %y : bool\n%ne = not_equal %x, %y : bool\n"
            "%gt = greater_than %x, %y : bool\n%ge = greater_than_equal %x, %y : bool\n"
            "%lt = less_than %x, %y : bool\n%le = less_than_equal %x, %y : bool"
        ),
    ),
    "cmp of bools": (
        "%x: i32",
        "%p = cmp.eq %x, 1 : i32\n%q = cmp.ne %p, true : i1\n%r = cmp.eq %p, %q : i1",
        (
            "%c1_i32 = constant 1 : i32\n%p = equal %x, %c1_i32 : bool\n"
            "%true = constant true : bool\n%q = xor %p, %true : bool\n"
            "%differ = xor %p, %q : bool\n%r = not %differ : bool"
        ),
    ),
    "cast": ("%x: i32", "%i = cast %x : i32 -> index", "%i = cast %x : index"),
    "cast of an immediate": (
        "",
        "%i = cast 7 : i32 -> index",
        "%c7_i32 = constant 7 : i32\n%i = cast %c7_i32 : index",
    ),
    "cast of a bool": (
        "%x: i32",
        "%p = cmp.eq %x, %x : i32\n%n = cast %p : i1 -> i32",
        (
            "%p = equal %x, %x : bool\n%c1_i32 = constant 1 : i32\n%c0_i32 = constant 0 : i32\n"
            "%n = if %p -> (i32) {\n    yield (%c1_i32)\n} else {\n    yield (%c0_i32)\n}"
        ),
    ),
    "cast to a bool": (
        "%x: f32",
        "%p = cast %x : f32 -> i1",
        "%c0_f32 = constant 0.0 : f32\n%p = not_equal %x, %c0_f32 : bool",
    ),
    "if with an immediate": (
        "",
        "if true {\n}",
        "%true = constant true : bool\nif %true {\n}",
    ),
    "if and yield": (
        "%x: i32",
        (
            "%p = cmp.lt %x, 16 : i32\n%y, %z = if %p -> (i32, f32) {\nyield %x, 1.0 : i32, f32\n"
            "} else {\nyield 16, 0.5 : i32, f32\n}"
        ),
        (
            "%c16_i32 = constant 16 : i32\n%p = less_than %x, %c16_i32 : bool\n"
            "%y, %z = if %p -> (i32,f32) {\n    %c1_f32 = constant 1.0 : f32\n"
            "    yield (%x,%c1_f32)\n} else {\n    %c0p5_f32 = constant 0.5 : f32\n"
            "    yield (%c16_i32,%c0p5_f32)\n}"
        ),
    ),
    "yield of nothing": (
        "%x: i32",
        "%p = cmp.lt %x, %x : i32\nif %p -> () {\nyield :\n} else {\nyield :\n}",
        "%p = less_than %x, %x : bool\nif %p {\n    yield ()\n} else {\n    yield ()\n}",
    ),
    "for": (
        "%n: index",
        "for %i = 0, %n {\n}",
        "%c0 = constant 0 : index\nfor %i=%c0,%n {\n}",
    ),
    "for with a step and a type": (
        "",
        "for %i = -2, 20, 2 : i16 {\n}",
        (
            "%cm2_i16 = constant -2 : i16\n%c20_i16 = constant 20 : i16\n"
            "%c2_i16 = constant 2 : i16\n"
            "for %i=%cm2_i16,%c20_i16,%c2_i16 {\n}"
        ),
    ),
    "for without an immediate": (
        "%n: i32, %m: i32",
        "for %i = %n, %m : i32 {\n}",
        "for %i=%n,%m {\n}",
    ),
    "foreach": (
        "%n: i32",
        "foreach %i = 0, %n : i32 {\n}",
        "%c0_i32 = constant 0 : i32\nforeach (%i)=(%c0_i32),(%n) {\n}",
    ),
    "load with integer indices": (
        "%A: memref<f32x10x?>, %i: index",
        "%x = load %A[5, %i] : memref<f32x10x?>",
        "%c5 = constant 5 : index\n%x = load %A[%c5,%i] : f32",
    ),
    "load from a scalar memref": (
        "%A: memref<f32>",
        "%g = group_id\n%x = load %A[] : memref<f32>",
        "%g = group_id.x : index\n%x = load %A[] : f32",
    ),
    "store": (
        "%A: memref<f32x10x?>, %x: f32, %i: index",
        "store %x, %A[5, %i] : memref<f32x10x?>",
        "%c5 = constant 5 : index\nstore %x, %A[%c5,%i]",
    ),
    "size": (
        "%A: memref<f32x10x?>",
        "%n = size %A[1] : memref<f32x10x?>",
        "%n = size %A[1] : index",
    ),
    "gemm": (
        MATRICES,
        f"gemm.n.t 1.0, %A, %B, 0.0, %C : {TYPES_OF_GEMM}",
        (
            "%c1_f32 = constant 1.0 : f32\n%c0_f32 = constant 0.0 : f32\n"
            "gemm.n.t %c1_f32, %A, %B, %c0_f32, %C"
        ),
    ),
    "gemm with the comma of the v0.1 grammar": (
        MATRICES,
        f"gemm.n.n, %a, %A, %B, 1.0, %C : {TYPES_OF_GEMM}",
        "%c1_f32 = constant 1.0 : f32\ngemm %a, %A, %B, %c1_f32, %C",
    ),
    "gemm, atomic last": (
        MATRICES,
        f"gemm.t.n.atomic %a, %A, %B, 1.0, %C : {TYPES_OF_GEMM}",
        "%c1_f32 = constant 1.0 : f32\ngemm.atomic.t %a, %A, %B, %c1_f32, %C",
    ),
    "gemv": (
        VECTORS,
        "gemv.n %a, %A, %b, 0.0, %c : f32, memref<f32x9x4>, memref<f32x4>, f32, memref<f32x9>",
        "%c0_f32 = constant 0.0 : f32\ngemv %a, %A, %b, %c0_f32, %c",
    ),
    "gemv as the v0.1 grammar spells it": (
        VECTORS,
        "gemm.n, %a, %A, %b, 0.0, %c : f32, memref<f32x9x4>, memref<f32x4>, f32, memref<f32x9>",
        "%c0_f32 = constant 0.0 : f32\ngemv %a, %A, %b, %c0_f32, %c",
    ),
    "ger": (
        VECTORS,
        "ger.atomic %a, %c, %b, 1.0, %A : f32, memref<f32x9>, memref<f32x4>, f32, memref<f32x9x4>",
        "%c1_f32 = constant 1.0 : f32\nger.atomic %a, %c, %b, %c1_f32, %A",
    ),
    "axpby": (
        MATRICES,
        "axpby.t %a, %A, 0.0, %C : f32, memref<f32x9x9>, f32, memref<f32x9x9>",
        "%c0_f32 = constant 0.0 : f32\naxpby.t %a, %A, %c0_f32, %C",
    ),
    "sum": (
        VECTORS,
        "sum.n 1.0, %A, 1.0, %c : f32, memref<f32x9x4>, f32, memref<f32x9>",
        "%c1_f32 = constant 1.0 : f32\nsum %c1_f32, %A, %c1_f32, %c",
    ),
    "hadamard_product": (
        VECTORS,
        (
            "hadamard_product.atomic %a, %c, %c, 1.0, %c : "
            "f32, memref<f32x9>, memref<f32x9>, f32, memref<f32x9>"
        ),
        "%c1_f32 = constant 1.0 : f32\nhadamard.atomic %a, %c, %c, %c1_f32, %c",
    ),
    "hadamard": (
        VECTORS,
        "hadamard %a, %c, %c, 0.0, %c : f32, memref<f32x9>, memref<f32x9>, f32, memref<f32x9>",
        "%c0_f32 = constant 0.0 : f32\nhadamard %a, %c, %c, %c0_f32, %c",
    ),
    "group without a size": (
        "%A: group<memref<f32x20x9>>, %g: index",
        "%x = load %A[%g] : group<memref<f32x20x9>>",
        "%x = load %A[%g] : memref<f32x20x9>",
    ),
    "group with an offset": (
        "%A: group<memref<f32x42>, offset: ?>",
        "%x = load %A[3] : group<memref<f32x42>, offset: ?>",
        "%c3 = constant 3 : index\n%x = load %A[%c3] : memref<f32x42>",
    ),
    "a view of local memory is local": (
        "",
        (
            "%t = alloca -> memref<f32x20x9>\n%v = subview %t[4:8,:] : memref<f32x20x9>\n"
            "%w = subview %v[:,3] : memref<f32x8x9,strided<1,20>>"
        ),
        (
            "%t = alloca : memref<f32x20x9,local>\n"
            "%v = subview %t[4:8,0:9] : memref<f32x8x9,strided<1,20>,local>\n"
            "%w = subview %v[0:8,3] : memref<f32x8,local>"
        ),
    ),
}


def _function(parameters: str, body: str) -> str:
    return f"func @f({parameters}) {{\n{indent(body, '    ')}\n}}\n"


@pytest.mark.parametrize("name", CASES)
def test_construct(name: str, migrate: Callable[..., str]) -> None:
    parameters, old, new = CASES[name]
    current = re.sub(r"(group<memref<[^>]*>)", r"\1x?", parameters)
    revision = "v0.1" if "v0.1" in name else "v0.3"
    assert migrate(_function(parameters, old), revision) == _function(current, new)


VIEWS: list[tuple[str, str, str]] = [
    # operand type | older instruction | current instruction; the examples of the v0.1 reference
    ("f32x32x16", "subview %0[4:8,8:4]", "subview %0[4:8,8:4] : memref<f32x8x4,strided<1,32>>"),
    ("f32x16x8", "subview %0[2:4, %1]", "subview %0[2:4,%1] : memref<f32x4>"),
    ("f64x16x8", "subview %0[2:4, %1:1]", "subview %0[2:4,%1:1] : memref<f64x4x1,strided<1,16>>"),
    ("f32x16", "subview %0[%1:4]", "subview %0[%1:4] : memref<f32x4>"),
    ("f32x16", "subview %0[%2:%2]", "subview %0[%2:%2] : memref<f32x?>"),
    (
        "f32x16x42x13",
        "subview %0[2:4, %2:%2, 6:7]",
        "subview %0[2:4,%2:%2,6:7] : memref<f32x4x?x7,strided<1,16,672>>",
    ),
    (
        "f32x16x42x13,strided<1,?,?>",
        "subview %0[2:4, %2:%2, 6:7]",
        "subview %0[2:4,%2:%2,6:7] : memref<f32x4x?x7,strided<1,?,?>>",
    ),
    ("f32x16", "subview %0[:]", "subview %0[0:16] : memref<f32x16>"),
    ("f32x?", "subview %0[:]", "%size0 = size %0[0] : index\nsubview %0[0:%size0] : memref<f32x?>"),
    ("f32x16", "subview %0[5:?]", "subview %0[5:11] : memref<f32x11>"),
    (
        "f32x16",
        "subview %0[%2:?]",
        (
            "%c16 = constant 16 : index\n%rest = sub %c16, %2 : index\n"
            "subview %0[%2:%rest] : memref<f32x?>"
        ),
    ),
    (
        "f32x?",
        "subview %0[5:?]",
        (
            "%size0 = size %0[0] : index\n%c5 = constant 5 : index\n"
            "%rest = sub %size0, %c5 : index\nsubview %0[5:%rest] : memref<f32x?>"
        ),
    ),
    ("f32x32x16x8", "expand %0[1 -> 2x8]", "expand %0[1 -> 2 x 8] : memref<f32x32x2x8x8>"),
    ("f32x32x16x8", "expand %0[1 -> 2x?]", "expand %0[1 -> 2 x 8] : memref<f32x32x2x8x8>"),
    ("f32x32x16x8", "expand %0[1 -> ?x8]", "expand %0[1 -> 2 x 8] : memref<f32x32x2x8x8>"),
    (
        "f32x32x?x8",
        "expand %0[1 -> 2x?]",
        (
            "%size1 = size %0[1] : index\n%c2 = constant 2 : index\n"
            "%quotient = div %size1, %c2 : index\n"
            "expand %0[1 -> 2 x %quotient] : memref<f32x32x2x?x8>"
        ),
    ),
    (
        "f32x32x?x8",
        "expand %0[1 -> ?x4x8]",
        (
            "%size1 = size %0[1] : index\n%c32 = constant 32 : index\n"
            "%quotient = div %size1, %c32 : index\n"
            "expand %0[1 -> %quotient x 4 x 8] : memref<f32x32x?x4x8x8>"
        ),
    ),
    (
        "f32x32x?",
        "expand %0[1 -> %1 x ?]",
        (
            "%size1 = size %0[1] : index\n%quotient = div %size1, %1 : index\n"
            "expand %0[1 -> %1 x %quotient] : memref<f32x32x?x?>"
        ),
    ),
    (
        "f32x32x16",
        "expand %0[1 -> %1 x ?]",
        (
            "%c16 = constant 16 : index\n%quotient = div %c16, %1 : index\n"
            "expand %0[1 -> %1 x %quotient] : memref<f32x32x?x?>"
        ),
    ),
    (
        "f32x32x?",
        "expand %0[1 -> %1 x 2 x %2 x ?]",
        (
            "%size1 = size %0[1] : index\n%c2 = constant 2 : index\n"
            "%product = mul %c2, %1 : index\n"
            "%product_0 = mul %product, %2 : index\n%quotient = div %size1, %product_0 : index\n"
            "expand %0[1 -> %1 x 2 x %2 x %quotient] : memref<f32x32x?x2x?x?>"
        ),
    ),
    (
        "f32x32x?",
        "expand %0[1 -> 1x?]",
        "%size1 = size %0[1] : index\nexpand %0[1 -> 1 x %size1] : memref<f32x32x1x?>",
    ),
    ("f32x32x?", "expand %0[1 -> %1 x %2]", "expand %0[1 -> %1 x %2] : memref<f32x32x?x?>"),
    ("f32x32x?", "expand %0[1 -> 4 x %1]", "expand %0[1 -> 4 x %1] : memref<f32x32x4x?>"),
    (
        "f32x32x7,strided<2,64>",
        "expand %0[0->4x8]",
        "expand %0[0 -> 4 x 8] : memref<f32x4x8x7,strided<2,8,64>>",
    ),
    (
        "f32x32x7,strided<2,64>",
        "expand %0[0->4x?]",
        "expand %0[0 -> 4 x 8] : memref<f32x4x8x7,strided<2,8,64>>",
    ),
    (
        "f32x?x7,strided<2,?>",
        "expand %0[0->?x4]",
        (
            "%size0 = size %0[0] : index\n%c4 = constant 4 : index\n"
            "%quotient = div %size0, %c4 : index\n"
            "expand %0[0 -> %quotient x 4] : memref<f32x?x4x7,strided<2,?,?>>"
        ),
    ),
    (
        "f32x?x7,strided<2,?>",
        "expand %0[0->4x?]",
        (
            "%size0 = size %0[0] : index\n%c4 = constant 4 : index\n"
            "%quotient = div %size0, %c4 : index\n"
            "expand %0[0 -> 4 x %quotient] : memref<f32x4x?x7,strided<2,8,?>>"
        ),
    ),
    ("f32x32x16x8x4x42", "fuse %0[1,3]", "fuse %0[1,3] : memref<f32x32x512x42>"),
    (
        "f32x32x16x2x2,strided<1,48,768,1536>",
        "fuse %0[1,2]",
        "fuse %0[1,2] : memref<f32x32x32x2,strided<1,48,1536>>",
    ),
    ("f32x8x?x32,strided<1,?,?>", "fuse %0[0,1]", "fuse %0[0,1] : memref<f32x?x32>"),
]


@pytest.mark.parametrize("revision", ["v0.1", "v0.3", "v0.4"])
@pytest.mark.parametrize(("operand", "old", "new"), VIEWS)
def test_view(operand: str, old: str, new: str, revision: str, migrate: Callable[..., str]) -> None:
    """The examples of the reference; in current text they warn unless both revisions agree."""
    parameters = f"%0: memref<{operand}>, %1: index, %2: index"
    *before, last = new.split("\n")
    expected = "\n".join([*before, f"%v = {last}"])
    warns = revision == "v0.4" and not last.endswith(f": memref<{operand}>")
    warns |= revision == "v0.4" and ("?]" in old or ":]" in old or "?x" in old)
    text = _function(parameters, f"%v = {old} : memref<{operand}>")
    assert migrate(text, revision, warns) == _function(parameters, expected)


def test_function_attributes(migrate: Callable[..., str]) -> None:
    old = dedent(
        """\
        func @a() work_group_size(128, 4) {
        }

        func @b() work_group_size(128, 4) subgroup_size(16) {
        }

        func @c() subgroup_size(32) {
        }
        """
    )
    new = dedent(
        """\
        func @a() attributes {work_group_size=[128,4]} {
        }

        func @b() attributes {subgroup_size=16, work_group_size=[128,4]} {
        }

        func @c() attributes {subgroup_size=32} {
        }
        """
    )
    assert migrate(old, "v0.1") == migrate(old, "v0.3") == migrate(old) == new
    assert migrate(old, "v0.4", warns=True) == new
