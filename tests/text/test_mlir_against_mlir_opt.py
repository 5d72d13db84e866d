"""MLIR text beside what the real mlir-opt makes of it.

What mlir-opt prints is read and must be printed again character by character, in every form.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.text.mlir_text import from_mlir_opt, printed, read_well

FORMS = {
    "custom": (),
    "generic": ("-mlir-print-op-generic",),
    "locations": ("-mlir-print-debuginfo",),
    "generic with locations": ("-mlir-print-op-generic", "-mlir-print-debuginfo"),
}

LITERALS = """\
"test.op"() {a = dense<0xFF800000> : vector<8xf32>, b = dense<[0xFF800000, 1.0]> : vector<2xf32>,
  c = 0x7FC00000 : f32, d = array<f32: 0x7F800000, 1.0>, e = dense<"0x05"> : tensor<4xi1>,
  f = dense<(1.0, 0x7F800000)> : tensor<2xcomplex<f32>>, g = 0x7E01 : f16, h = 1.1 : bf16,
  i = [1, 2.0, 1 : i32, true, 0x7FF0000000000000 : f64], j = 1.0e-40 : f32, k = -0.0 : f64,
  l = distinct[4]<1 : i32>, m = distinct[5]<>, n = distinct[4]<1 : i32>, o = -1 : si8,
  p = sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>, q = sparse<> : tensor<3xi32>,
  r = dense<["a", "b"]> : tensor<2x!foo.s>, s = array<i1: true>, t = array<i32>, u = 255 : ui8,
  v = 1.2 : tf32, w = 0.5 : f8E5M2, x = dense<> : tensor<0x2xi32>, y = dense<-1> : tensor<i4>}
  : () -> ()
"test.op"() {a = @a::@b::@"c d", b = unit, c, d = i32, e = (i32) -> ((i32) -> ()), f = none,
  g = #foo.bar<abc>, h = !foo.baz<x [1]>, i = #foo<"x y">, j = #foo<bar>, "k l" = 1, m.n = 1,
  o = "a\\n\\t\\"\\\\é\\00", p = vector<[4]x2xf32>, q = tensor<2x?xf32, #foo.enc<1>>,
  r = memref<2xf32, strided<[1], offset: ?>>, s = memref<2xf32, affine_map<(d0) -> (d0)>, 3>,
  t = memref<2xf32, affine_map<(d0)[s0] -> (d0 + s0 * 3 - 2)>, 1 : i32>, u = tuple<i32, tuple<>>,
  v = affine_set<(d0)[s0] : (d0 - s0 <= 7, d0 == 4)>, w = strided<[1, ?], offset: 3>,
  x = affine_map<() -> ()>, y = memref<*xf32, 2>, z = {b = 1, a = [], "c d"}} : () -> ()
"test.op"() {a = dense_resource<blob> : tensor<1xi64>, b = dense_resource<"b c"> : tensor<1xi8>}
  : () -> ()
{-#
  dialect_resources: {
    builtin: {"b c": "0x0100000007", blob: "0x080000000100000000000000",
              unused: "0x0100000008"}
  },
  external_resources: { foo: { bar: "x", baz: true } }
#-}
"""

OPERATIONS = """\
module @m attributes {x.b = 1, x.a = "x"} {
  func.func private @declared(i32, f32) -> (i32 {x.z}, f32) attributes {x.b, x.a = 2}
  func.func public @one() -> i32 { %c = arith.constant 1 : i32  func.return %c : i32 }
  func.func @f(%a: i32 {x.y}, %b: f32 loc("arg":1:2)) -> (f32 {x.z = 1}) attributes {x.c} {
    %0:2 = "test.two"(%a) : (i32) -> (i32, i32)
    %x, %y = "test.two"(%0#0, %0#1) <{b = 1, a = 2}> {d = 1, c} : (i32, i32) -> (i32, i32)
    %r:3 = "test.three"() ({
      ^bb0(%q: i32, %w: i32):
        "test.yield"(%q, %0#1) : (i32, i32) -> ()
    }, {
      "test.yield"() : () -> ()
    }, {}) : () -> (i32, i32, i32)
    %d = "test.empty"() ({
      ^bb0:
    }) : () -> i32
    %cond = arith.constant true
    cf.br ^bb1(%b : f32)
  ^bb1(%z: f32):
    cf.cond_br %cond, ^bb1(%z : f32), ^bb2
  ^bb2:
    return %z : f32
  ^bb3:
    return %b : f32
  }
  func.func @names(%a: i32, %b: i32) {
     %l = arith.constant 1 : index
     %one = arith.constant 1.0 : f32
     %two = arith.constant 2.0 : f32
     scf.for %i = %l to %l step %l {
       %three = arith.constant 3.0 : f32
       %1 = "test.op"() : () -> i32
     }
     %7 = "test.op"() : () -> i32
     %8 = func.call @one() : () -> i32
     %9 = builtin.unrealized_conversion_cast %7 : i32 to i64
    return
  }
  module @inner { }
}
"""

LOCATIONS = """\
#later = loc("b.c":3:4)
#loc = loc("a.c":1:2)
#nested = loc(callsite(#later at #loc))
#map = affine_map<(d0) -> (d0 + 1)>
module {
  "a"() {m = #map, l = #nested, d = distinct[3]<#map>} : () -> () loc(fused<"meta">[#loc, #nested,
    unknown, "n"("x.py":1:2 to :5), "m", "x.py":1:2 to 3:4])
  "b"() ({
   ^bb0(%a: i32 loc(#nested), %b: i64 loc("u"(callsite("p" at "q":0:0)))):
    %c:2 = "c"() : () -> (i32, i32) loc(unknown)
    "b2"() : () -> () loc("n"(unknown))
  }) : () -> () loc(#later)
  func.func @f(%x: i32 loc("arg"), %y: i32) -> i32 {
    return %x : i32 loc(fused[#loc])
  } loc(#late2)
} loc(unknown)
#late2 = loc(fused<#map>["a":1:1])
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [LITERALS, OPERATIONS, LOCATIONS], ids=["l", "o", "loc"])
def test_what_mlir_opt_prints_is_printed_again(text: str, form: str) -> None:
    arguments = FORMS[form]
    expected = from_mlir_opt(text, *arguments)
    module = read_well(expected)
    generic = "-mlir-print-op-generic" in arguments
    debuginfo = "-mlir-print-debuginfo" in arguments
    assert printed(module, generic=generic, debuginfo=debuginfo) == expected


@pytest.mark.parametrize("local_scope", [False, True], ids=["aliases", "local scope"])
def test_mlir_opt_reads_what_is_printed(local_scope: bool) -> None:
    module = read_well(LOCATIONS)
    text = printed(module, debuginfo=True, local_scope=local_scope)
    direct = from_mlir_opt(printed(module, debuginfo=True), "-mlir-print-debuginfo")
    assert from_mlir_opt(text, "-mlir-print-debuginfo") == direct
    assert printed(read_well(direct), debuginfo=True) == direct


WIDTHS = {
    "f16": 16,
    "bf16": 16,
    "f32": 32,
    "f64": 64,
    "tf32": 19,
    "f8E5M2": 8,
    "f8E4M3": 8,
    "f8E4M3FN": 8,
    "f8E5M2FNUZ": 8,
    "f8E4M3FNUZ": 8,
    "f8E4M3B11FNUZ": 8,
    "f8E3M4": 8,
    "f8E8M0FNU": 8,
    "f6E2M3FN": 6,
    "f6E3M2FN": 6,
    "f4E2M1FN": 4,
}
INTEGERS = {"i1": 1, "i4": 4, "i8": 8, "i24": 24, "i32": 32, "i64": 64, "ui8": 8, "ui32": 32}


def random_numbers(rng: random.Random) -> Iterator[str]:
    """Attributes of random bits, of all bits of narrow types, and of decimal numbers."""
    for element, width in WIDTHS.items():
        bits = range(2**width) if width <= 8 else [rng.getrandbits(width) for _ in range(300)]
        yield f"[{', '.join(f'{value:#x} : {element}' for value in bits)}]"
        for count in (8, 100, 101):
            values = ", ".join(f"{rng.getrandbits(width):#x}" for _ in range(count))
            yield f"dense<[{values}]> : tensor<{count}x{element}>"
    for element in ("f16", "bf16", "f32", "f64"):
        texts = [f"{rng.uniform(-10, 10) * 10 ** rng.randint(-9, 9):.7e}" for _ in range(200)]
        texts += [f"{rng.getrandbits(20)}.{rng.choice('0125')}" for _ in range(200)]
        yield f"[{', '.join(f'{text} : {element}' for text in texts)}]"
    for element, width in INTEGERS.items():
        for count in (1, 7, 8, 9, 100, 101, 130):
            values = ", ".join(str(rng.getrandbits(width)) for _ in range(count))
            yield f"dense<[{values}]> : vector<{count}x{element}>"
    for element in ("f32", "f16", "i32", "i8", "i4"):
        for count in (5, 101):
            parts = [rng.randint(-8, 7) for _ in range(2 * count)]
            texts = [f"{part}.5" if "f" in element else str(part) for part in parts]
            pairs = (f"({texts[i]}, {texts[i + 1]})" for i in range(0, 2 * count, 2))
            yield f"dense<[{', '.join(pairs)}]> : tensor<{count}xcomplex<{element}>>"


def affine_expression(rng: random.Random, depth: int, symbolic: bool) -> str:
    leaves = ["s0", "s1"] if symbolic else ["d0", "d1", "d2", "s0", "s1"]
    if depth == 0 or rng.random() < 0.25:
        return rng.choice([*leaves, str(rng.randint(-4, 8))])
    left = affine_expression(rng, depth - 1, symbolic)
    operator = rng.choice(["+", "-", "*", "floordiv", "ceildiv", "mod", "negative"])
    if operator == "negative":
        return f"-({left})"
    if operator in ("+", "-"):
        return f"({left} {operator} {affine_expression(rng, depth - 1, symbolic)})"
    if operator == "*":
        return f"({left} * {affine_expression(rng, depth - 1, True)})"
    return f"({left} {operator} {rng.choice(['s0', *map(str, range(1, 9))])})"


def random_affine(rng: random.Random) -> Iterator[str]:
    space = "(d0, d1, d2)[s0, s1]"
    for _ in range(300):
        results = ", ".join(affine_expression(rng, depth, False) for depth in (4, 3, 2))
        yield f"affine_map<{space} -> ({results})>"
    for _ in range(60):
        left, right = (affine_expression(rng, depth, False) for depth in (3, 2))
        yield f"affine_set<{space} : ({left} {rng.choice(['>=', '<=', '=='])} {right})>"


@pytest.mark.parametrize("kind", [random_numbers, random_affine])
def test_random_attributes(kind: object) -> None:
    rng = random.Random(20)
    attributes = list(random_numbers(rng) if kind is random_numbers else random_affine(rng))
    text = "".join(f'"test.op"() {{a = {attribute}}} : () -> ()\n' for attribute in attributes)
    expected = from_mlir_opt(text, "-mlir-print-local-scope")
    ours = printed(read_well(text), local_scope=True)
    different = [
        pair
        for pair in zip(expected.split("\n"), ours.split("\n"), strict=True)
        if pair[0] != pair[1]
    ]
    assert different == []
