"""Which parameters Triton's kernels write to: a launch copies these back to the host."""

from __future__ import annotations

import pytest

import xtile
from xtile.arguments.kernel import find_function, signatures_of
from xtile.arguments.writes import locks

POINTERS = "tensor<8x!tt.ptr<f32>>"

BODIES: dict[str, set[int]] = {
    "tt.store %p, %v : !tt.ptr<f32>": {1},
    "%t = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>\n"
    "%at = tt.addptr %t, %lanes : tensor<8x!tt.ptr<f32>>, tensor<8xi32>\n"
    "tt.store %at, %vs : tensor<8x!tt.ptr<f32>>": {1},
    "%x = tt.load %p : !tt.ptr<f32>\n tt.store %q, %x : !tt.ptr<f32>": {2},
    "%x = tt.load %p : !tt.ptr<f32>": set(),
    "%x = tt.atomic_rmw fadd, relaxed, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32": {1},
    "%x = tt.atomic_cas relaxed, gpu, %i, %n, %n : (!tt.ptr<i32>, i32, i32) -> i32": {3},
    "%d = tt.make_tensor_descriptor %q, [%n, %n], [%one, %one] : !tt.ptr<f32>, "
    "!tt.tensordesc<4x4xf32>\n"
    "tt.descriptor_store %d[%n, %n], %vv : !tt.tensordesc<4x4xf32>, tensor<4x4xf32>": {2},
    "%c = arith.constant 4 : i32\n"
    "%end = scf.for %k = %n to %c step %c iter_args(%at = %p) -> (!tt.ptr<f32>) : i32 {\n"
    "  tt.store %at, %v : !tt.ptr<f32>\n"
    "  %next = tt.addptr %at, %c : !tt.ptr<f32>, i32\n"
    "  scf.yield %next : !tt.ptr<f32>\n}": {1},
    "cf.br ^next(%q, %p : !tt.ptr<f32>, !tt.ptr<f32>)\n"
    "^next(%to: !tt.ptr<f32>, %from: !tt.ptr<f32>):\n"
    "%x = tt.load %from : !tt.ptr<f32>\n tt.store %to, %x : !tt.ptr<f32>": {2},
    "%c = arith.cmpi eq, %n, %n : i32\n"
    "cf.cond_br %c, ^one(%p : !tt.ptr<f32>), ^two(%i, %q : !tt.ptr<i32>, !tt.ptr<f32>)\n"
    "^one(%to: !tt.ptr<f32>):\n tt.store %to, %v : !tt.ptr<f32>\n tt.return\n"
    "^two(%counter: !tt.ptr<i32>, %from: !tt.ptr<f32>):\n"
    "%x = tt.load %from : !tt.ptr<f32>\n tt.store %counter, %n : !tt.ptr<i32>": {1, 3},
}


@pytest.mark.parametrize("body", BODIES)
def test_what_is_written(body: str) -> None:
    text = f"""
tt.func public @k(%n: i32, %p: !tt.ptr<f32>, %q: !tt.ptr<f32>, %i: !tt.ptr<i32>, %v: f32) {{
  %one = arith.constant 1 : i64
  %lanes = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
  %vs = tt.splat %v : f32 -> tensor<8xf32>
  %vv = tt.splat %v : f32 -> tensor<4x4xf32>
  {body}
  tt.return
}}
"""
    module = xtile.parse(text, language="ttir")
    assert signatures_of(module)["k"].written == BODIES[body]


MEMREF = "memref<8xf32>"

MEMREF_BODIES = {
    f"%m = arith.select %is, %a, %b : {MEMREF}\nmemref.store %f, %m[%zero] : {MEMREF}": {1, 2},
    f"%x = memref.load %a[%zero] : {MEMREF}\n"
    f"%m = arith.select %is, %b, %c : {MEMREF}\nmemref.store %x, %m[%zero] : {MEMREF}": {2, 3},
    f"%r:2 = scf.for %i = %zero to %four step %four iter_args(%x = %a, %y = %b) "
    f"-> ({MEMREF}, {MEMREF}) {{\n"
    f"  memref.store %f, %x[%i] : {MEMREF}\n"
    f"  scf.yield %y, %x : {MEMREF}, {MEMREF}\n}}": {1, 2},
    f"%m = scf.if %is -> ({MEMREF}) {{\n  scf.yield %c : {MEMREF}\n}} else {{\n"
    f"  scf.yield %b : {MEMREF}\n}}\nmemref.store %f, %m[%zero] : {MEMREF}": {2, 3},
    f"%size = memref.dim %a, %zero : {MEMREF}\n"
    f"%m = arith.select %is, %b, %c : {MEMREF}\nmemref.store %f, %m[%size] : {MEMREF}": {2, 3},
    f"%own = memref.alloca() : memref<8xf32, 3>\n"
    f"memref.store %f, %own[%zero] : memref<8xf32, 3>\nmemref.store %f, %c[%zero] : {MEMREF}": {3},
}


@pytest.mark.parametrize("body", MEMREF_BODIES)
def test_what_is_written_through_memrefs(body: str) -> None:
    parameters = ", ".join(f"%{name}: {MEMREF}" for name in "abc")
    text = f"""
gpu.module @m {{
gpu.func @k(%is: i1, {parameters}) kernel {{
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %f = arith.constant 2.0 : f32
  {body}
  gpu.return
}}
}}
"""
    module = xtile.parse(text, language="mlir")
    assert signatures_of(module)["k"].written == MEMREF_BODIES[body]


LOCKS: dict[str, tuple[list[str], dict[int, int]]] = {
    "cas(%i, 7, 1) in a loop": (
        [
            "scf.while : () -> () {",
            "%was = tt.atomic_cas acquire, gpu, %i, %free, %n : (!tt.ptr<i32>, i32, i32) -> i32",
            "%busy = arith.cmpi ne, %was, %free : i32",
            "scf.condition(%busy)",
            "} do { scf.yield }",
        ],
        {3: 7},
    ),
    "the same of each element of a tensor": (
        [
            "%ps = tt.splat %i : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>",
            "%some = tt.splat %free : i32 -> tensor<8xi32>",
            "scf.while : () -> () {",
            "%was = tt.atomic_cas acquire, gpu, %ps, %some, %lanes",
            ": (tensor<8x!tt.ptr<i32>>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>",
            "scf.condition(%is)",
            "} do { scf.yield }",
        ],
        {3: 7},
    ),
    "once": (
        ["%was = tt.atomic_cas acquire, gpu, %i, %free, %n : (!tt.ptr<i32>, i32, i32) -> i32"],
        {},
    ),
    "cas of a number that is computed": (
        [
            "%other = math.ctpop %free : i32",
            "scf.while : () -> () {",
            "%was = tt.atomic_cas acquire, gpu, %i, %other, %n : (!tt.ptr<i32>, i32, i32) -> i32",
            "scf.condition(%is)",
            "} do { scf.yield }",
        ],
        {},
    ),
    "an update of whatever is there": (
        [
            "%first = tt.load %i : !tt.ptr<i32>",
            "%last = scf.while (%old = %first) : (i32) -> i32 {",
            "%was = tt.atomic_cas relaxed, gpu, %i, %old, %n : (!tt.ptr<i32>, i32, i32) -> i32",
            "%again = arith.cmpi ne, %was, %old : i32",
            "scf.condition(%again) %was : i32",
            "} do {",
            "^bb0(%next: i32):",
            "scf.yield %next : i32",
            "}",
        ],
        {},
    ),
}


@pytest.mark.parametrize("case", LOCKS)
def test_what_is_a_lock(case: str) -> None:
    """A loop swaps it until it holds a number that the kernel writes down, which is returned."""
    lines, expected = LOCKS[case]
    body = "\n".join(lines)
    text = f"""
tt.func public @k(%n: i32, %p: !tt.ptr<f32>, %is: i1, %i: !tt.ptr<i32>) {{
  %free = arith.constant 7 : i32
  %lanes = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
  {body}
  tt.return
}}
"""
    assert locks(find_function(xtile.parse(text, language="ttir"), None)) == expected
