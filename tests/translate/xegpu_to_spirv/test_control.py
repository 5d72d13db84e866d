"""Control flow on OpenCL's CPU device does what it does on the reference device."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.translate.loop_ends import ALL, NAMES, Loop, constants_text, summary_text
from tests.translate.xegpu_to_spirv.lane_kernels import (
    LaneKernel,
    LaneKernels,
    spirv_text,
    unwritten,
    validate,
)
from xtile.text.diagnostics import DiagnosticError

_SIZE = 64

_PARAMETERS = f"%a: memref<{_SIZE}xi32>, %out: memref<{_SIZE}xi32>"

_START = f"""
    %x = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %seven = arith.constant 7 : i32
    %v = memref.load %a[%x] : memref<{_SIZE}xi32>
"""

_BODIES = {
    "a loop over its variable": """
        %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %v) -> (i32) {
          %n = arith.index_cast %i : index to i32
          %t = arith.addi %s, %n : i32
          scf.yield %t : i32
        }
    """,
    "a loop that runs no iteration": """
        %r = scf.for %i = %c5 to %c1 step %c1 iter_args(%s = %v) -> (i32) {
          scf.yield %zero : i32
        }
    """,
    "a loop of which each work-item does its own part": """
        %r = scf.for %i = %zero to %v step %seven iter_args(%s = %zero) -> (i32) : i32 {
          %t = arith.addi %s, %i : i32
          scf.yield %t : i32
        }
    """,
    "a loop that swaps what it carries": """
        %p:2 = scf.for %i = %c0 to %c5 step %c3 iter_args(%s = %v, %t = %one) -> (i32, i32) {
          scf.yield %t, %s : i32, i32
        }
        %d = arith.muli %p#0, %seven : i32
        %r = arith.subi %d, %p#1 : i32
    """,
    "nested loops": """
        %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %v) -> (i32) {
          %j = arith.index_cast %i : index to i32
          %u = scf.for %k = %zero to %j step %one iter_args(%w = %s) -> (i32) : i32 {
            %q = arith.muli %w, %seven : i32
            %y = arith.addi %q, %k : i32
            scf.yield %y : i32
          }
          scf.yield %u : i32
        }
    """,
    "a loop without a sign": """
        %big = arith.constant -3 : i32
        %end = arith.constant -1 : i32
        %r = scf.for unsigned %i = %big to %end step %one iter_args(%s = %v) -> (i32) : i32 {
          %t = arith.addi %s, %i : i32
          scf.yield %t : i32
        }
    """,
    "a loop whose variable would wrap around": """
        %first = arith.constant 120 : i8
        %last = arith.constant 127 : i8
        %step = arith.constant 5 : i8
        %r = scf.for %i = %first to %last step %step iter_args(%s = %v) -> (i32) : i8 {
          %n = arith.extsi %i : i8 to i32
          %t = arith.addi %s, %n : i32
          scf.yield %t : i32
        }
    """,
    "a branch with a result": """
        %is = arith.cmpi sgt, %v, %seven : i32
        %r = scf.if %is -> (i32) {
          %t = arith.muli %v, %seven : i32
          scf.yield %t : i32
        } else {
          scf.yield %one : i32
        }
    """,
    "branches in branches": """
        %is = arith.cmpi sgt, %v, %seven : i32
        %odd = arith.trunci %v : i32 to i1
        %r = scf.if %is -> (i32) {
          %t = scf.if %odd -> (i32) {
            scf.yield %one : i32
          } else {
            %y = arith.addi %v, %v : i32
            scf.yield %y : i32
          }
          %w = arith.addi %t, %seven : i32
          scf.yield %w : i32
        } else {
          scf.yield %v : i32
        }
    """,
    "a branch without a result": """
        %is = arith.cmpi sgt, %v, %seven : i32
        scf.if %is {
          memref.store %one, %a[%x] : memref<64xi32>
        }
        %r = memref.load %a[%x] : memref<64xi32>
    """,
    "while": """
        %r:2 = scf.while (%s = %v, %n = %zero) : (i32, i32) -> (i32, i32) {
          %is = arith.cmpi sgt, %s, %zero : i32
          %t = arith.addi %n, %one : i32
          scf.condition(%is) %s, %t : i32, i32
        } do {
        ^bb0(%s: i32, %n: i32):
          %t = arith.divsi %s, %seven : i32
          scf.yield %t, %n : i32, i32
        }
    """,
    "while with a loop in its condition": """
        %r = scf.while (%s = %v) : (i32) -> i32 {
          %t = scf.for %i = %c0 to %c3 step %c1 iter_args(%w = %s) -> (i32) {
            %y = arith.addi %w, %one : i32
            scf.yield %y : i32
          }
          %limit = arith.constant 1000 : i32
          %is = arith.cmpi slt, %t, %limit : i32
          scf.condition(%is) %t : i32
        } do {
        ^bb0(%s: i32):
          %t = arith.muli %s, %seven : i32
          %y = arith.maxsi %t, %seven : i32
          scf.yield %y : i32
        }
    """,
    "a switch": """
        %n = arith.remui %x, %c5 : index
        %r = scf.index_switch %n -> i32
        case 1 {
          %t = arith.muli %v, %seven : i32
          scf.yield %t : i32
        }
        case 3 {
          scf.yield %one : i32
        }
        default {
          scf.yield %v : i32
        }
    """,
    "a region that is executed where it stands": """
        %r = scf.execute_region -> i32 {
          %t = arith.muli %v, %seven : i32
          scf.yield %t : i32
        }
    """,
    "memory that a scope allocates": """
        %r = memref.alloca_scope -> (i32) {
          %m = memref.alloca() : memref<4xi32>
          memref.store %v, %m[%c3] : memref<4xi32>
          %t = memref.load %m[%c3] : memref<4xi32>
          memref.alloca_scope.return %t : i32
        }
    """,
    "parallel loops": """
        %r = scf.parallel (%i, %j) = (%c0, %c1) to (%c3, %c5) step (%c1, %c3) init (%v) -> i32 {
          %n = arith.muli %i, %j : index
          %t = arith.index_cast %n : index to i32
          scf.reduce(%t : i32) {
          ^bb0(%before: i32, %own: i32):
            %y = arith.muli %before, %seven : i32
            %w = arith.addi %y, %own : i32
            scf.reduce.return %w : i32
          }
        }
    """,
    "functions that are called": """
        %w, %is = func.call @half(%v) : (i32) -> (i32, i1)
        %t, %no = func.call @half(%w) : (i32) -> (i32, i1)
        %r = arith.select %is, %t, %w : i32
    """,
    "blocks that follow each other": """
        cf.br ^next(%v : i32)
      ^next(%w: i32):
        %t = arith.muli %w, %seven : i32
        cf.br ^end
      ^end:
        %r = arith.addi %t, %one : i32
    """,
}


FUNCTIONS = """
    func.func @half(%v: i32) -> (i32, i1) {
      %two = arith.constant 2 : i32
      %h = arith.floordivsi %v, %two : i32
      %odd = func.call @is_odd(%v) : (i32) -> i1
      return %h, %odd : i32, i1
    }
    func.func @is_odd(%v: i32) -> i1 {
      %b = arith.trunci %v : i32 to i1
      return %b : i1
    }
"""


def _kernel(body: str) -> LaneKernel:
    result = "%r#0" if "%r:2" in body else "%r"
    store = f"memref.store {result}, %out[%x] : memref<{_SIZE}xi32>"
    return LaneKernel(_PARAMETERS, f"{_START}{body}{store}", (_SIZE, 1, 1))


KERNELS = {f"k{i}": _kernel(body) for i, body in enumerate(_BODIES.values())}


@pytest.fixture(scope="module")
def kernels() -> LaneKernels:
    return LaneKernels({**KERNELS, **CARRIED}, around=FUNCTIONS)


@pytest.mark.parametrize(("name", "what"), list(zip(KERNELS, _BODIES, strict=True)))
def test_values(name: str, what: str, kernels: LaneKernels) -> None:
    values = np.random.default_rng(fresh_seed()).integers(-20, 60, _SIZE).astype(np.int32)
    *_, (expected, found) = kernels.on_both(name, values, unwritten(_SIZE, "i32"))
    np.testing.assert_array_equal(found, expected, err_msg=what)


def test_module_is_valid(kernels: LaneKernels) -> None:
    validate(kernels.program.spirv)


# --- what control flow carries ---

_TYPES = ("i1", "i8", "i64", "index", "f16", "bf16", "f64", "complex<f32>", "vector<7xf32>")


def _carrying(type: str) -> LaneKernel:
    """A kernel that takes a value through a loop, a branch and a while loop."""
    element = type.partition("x")[2].removesuffix(">") if type.startswith("vector") else type
    length = 7 if type.startswith("vector") else 1
    access = "vector" if length > 1 else "memref"
    tail = f", {type}" if length > 1 else ""
    body = f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %n = arith.constant {length} : index
        %v = {access}.load %a[%c0] : memref<{2 * length}x{element}>{tail}
        %w = {access}.load %a[%n] : memref<{2 * length}x{element}>{tail}
        %p:2 = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %v, %t = %w) -> ({type}, {type}) {{
          scf.yield %t, %s : {type}, {type}
        }}
        %x = gpu.block_id x
        %is = arith.cmpi eq, %x, %c0 : index
        %q = scf.if %is -> ({type}) {{
          scf.yield %p#0 : {type}
        }} else {{
          scf.yield %p#1 : {type}
        }}
        %r:2 = scf.while (%s = %q, %k = %c0) : ({type}, index) -> ({type}, index) {{
          %go = arith.cmpi ult, %k, %c2 : index
          scf.condition(%go) %s, %k : {type}, index
        }} do {{
        ^bb0(%s: {type}, %k: index):
          %m = arith.addi %k, %c1 : index
          scf.yield %s, %m : {type}, index
        }}
        %f = arith.muli %x, %n : index
        {access}.store %r#0, %out[%f] : memref<{2 * length}x{element}>{tail}
    """
    parameters = f"%a: memref<{2 * length}x{element}>, %out: memref<{2 * length}x{element}>"
    return LaneKernel(parameters, body)


CARRIED = {f"carried_{i}": _carrying(type) for i, type in enumerate(_TYPES)}


@pytest.mark.parametrize(("name", "type"), list(zip(CARRIED, _TYPES, strict=True)))
def test_values_that_are_carried(name: str, type: str, kernels: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    element = "f32" if type.startswith("vector") else type
    count = 14 if type.startswith("vector") else 2
    values = unwritten(count, element)
    values[:] = random.permutation(count)
    if type == "i1":
        values[:] = [True, False]
    _, (expected, found) = kernels.on_both(name, values, unwritten(count, element), grid=(2, 1, 1))
    np.testing.assert_array_equal(found, expected)


def test_memrefs_that_are_carried() -> None:
    """Two memrefs of different locations and strides change locations."""
    body = """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c3 = arith.constant 3 : index
        %a = memref.subview %m[1, %n] [4, 5] [1, 1]
            : memref<8x9xf32> to memref<4x5xf32, strided<[9, 1], offset: ?>>
        %b = memref.subview %m[0, 0] [4, 5] [2, 1]
            : memref<8x9xf32> to memref<4x5xf32, strided<[18, 1]>>
        %x = memref.cast %a
            : memref<4x5xf32, strided<[9, 1], offset: ?>>
              to memref<4x5xf32, strided<[?, 1], offset: ?>>
        %y = memref.cast %b
            : memref<4x5xf32, strided<[18, 1]>> to memref<4x5xf32, strided<[?, 1], offset: ?>>
        %p:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x, %t = %y)
            -> (memref<4x5xf32, strided<[?, 1], offset: ?>>,
                memref<4x5xf32, strided<[?, 1], offset: ?>>) {
          scf.yield %t, %s : memref<4x5xf32, strided<[?, 1], offset: ?>>,
              memref<4x5xf32, strided<[?, 1], offset: ?>>
        }
        %is = arith.cmpi eq, %n, %c1 : index
        %z = arith.select %is, %p#0, %p#1 : memref<4x5xf32, strided<[?, 1], offset: ?>>
        %v = memref.load %z[%c3, %n] : memref<4x5xf32, strided<[?, 1], offset: ?>>
        memref.store %v, %out[%c0] : memref<1xf32>
    """
    kernel = LaneKernel("%m: memref<8x9xf32>, %n: index, %out: memref<1xf32>", body)
    kernels = LaneKernels({"k": kernel})
    memory = np.arange(72, dtype=np.float32).reshape(8, 9)
    for n, location in ((1, (6, 1)), (2, (6, 2)), (3, (4, 6))):
        given = memory, np.int64(n), unwritten(1, "f32")
        _, (expected, found) = kernels.on_both("k", *given)
        assert found[0] == expected[0]
        # With an even number of swaps, %b is second; with one, it is first.
        assert found[0] == memory[location]


# --- what is written ---

_LOOP = """
    %c0 = arith.constant 0 : index
    %c9 = arith.constant 9 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c9 step %c1 {{
      memref.store %v, %out[%i] : memref<9xf32>
    }} {attributes}
"""


@pytest.mark.parametrize(
    ("attributes", "control"),
    [
        ("", "None"),
        ("{core.unroll = true}", "Unroll"),
        ("{core.unroll = false}", "DontUnroll"),
        ("{core.unroll = 4 : i32}", "PartialCount 4"),
        ("{core.unroll = 1 : i32}", "DontUnroll"),
    ],
)
def test_unrolling_is_told(attributes: str, control: str) -> None:
    text = spirv_text(_LOOP.format(attributes=attributes), "%v: f32, %out: memref<9xf32>")
    merge = next(line for line in text.splitlines() if "OpLoopMerge" in line)
    assert merge.split("OpLoopMerge ")[1].split(maxsplit=2)[2] == control


def test_what_does_not_vary_is_computed_before_the_loop() -> None:
    body = """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        scf.for %i = %c0 to %n step %c1 {
          scf.for %j = %c0 to %n step %c1 {
            %v = memref.load %m[%n, %i, %j] : memref<?x?x?xf32>
            memref.store %v, %m[%i, %n, %j] : memref<?x?x?xf32>
          }
        }
    """
    text = spirv_text(body, "%n: index, %m: memref<?x?x?xf32>")
    before, outer, inner = re.split(r"OpLoopMerge[^\n]*\n", text)
    assert before.count("OpIMul") == 2
    assert outer.count("OpIMul") == 2
    assert inner.count("OpIMul") == 0


# --- what is refused ---


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "cf.cond_br %c, ^a, ^a\n^a:",
            "cf.cond_br cannot be translated to SPIR-V; use scf.if or scf.while",
        ),
        (
            "cf.br ^a\n^a:\ncf.br ^a\n^b:",
            "a loop of blocks cannot be translated to SPIR-V; use scf.while",
        ),
        (
            """
            %p = memref.alloca() : memref<4xf32>
            %q = scf.if %c -> (memref<4xf32>) {
              scf.yield %p : memref<4xf32>
            } else {
              scf.yield %m : memref<4xf32>
            }
            """,
            "memrefs that are in different kinds of memory cannot meet here",
        ),
        (
            "func.call @around() : () -> ()",
            "@around calls itself: recursion cannot be translated to SPIR-V",
        ),
        (
            "func.call @nowhere() : () -> ()",
            "there is no function @nowhere with a body in the kernel's module",
        ),
    ],
)
def test_refused(body: str, message: str) -> None:
    kernel = LaneKernel("%m: memref<4xf32>, %n: i32", f"%c = arith.trunci %n : i32 to i1\n{body}")
    around = """
        func.func private @nowhere()
        func.func @around() {
          func.call @around() : () -> ()
          return
        }
    """
    with pytest.raises(DiagnosticError) as caught:
        _ = LaneKernels({"k": kernel}, around).program
    assert message in str(caught.value)


def test_a_function_that_nobody_launches_is_refused() -> None:
    kernels = LaneKernels({"k": LaneKernel("", "")}, "gpu.func @f() { gpu.return }")
    with pytest.raises(DiagnosticError) as caught:
        _ = kernels.program
    assert "@f is neither launched nor called: write 'kernel'" in str(caught.value)


# --- loops near the end of their type ---


def _near_end(loop: Loop, is_known: bool) -> LaneKernel:
    """A kernel that counts iterations and adds up the variable.

    Args:
        loop: The loop.
        is_known: Whether its bounds are constants; else they are read from memory.
    """
    from_memory = "".join(
        f"%at{i} = arith.constant {i} : index\n"
        f"%{name} = memref.load %a[%at{i}] : memref<3x{loop.type}>\n"
        for i, name in enumerate(NAMES)
    )
    bounds = constants_text(loop) if is_known else from_memory
    parameters = f"%a: memref<3x{loop.type}>, %out: memref<2xi64>"
    return LaneKernel(parameters, bounds + summary_text(loop))


_ENDS = [(loop, is_known) for loop in ALL for is_known in (False, True)]


@pytest.fixture(scope="module")
def loops_near_ends() -> LaneKernels:
    return LaneKernels({f"end{i}": _near_end(*each) for i, each in enumerate(_ENDS)})


@pytest.mark.parametrize("i", range(len(_ENDS)))
def test_a_loop_ends_before_its_variable_wraps_around(i: int, loops_near_ends: LaneKernels) -> None:
    loop, _ = _ENDS[i]
    dtype = unwritten(1, loop.type).dtype
    bounds = np.array([loop.lower, loop.upper, loop.step], dtype)
    _, found = loops_near_ends.on_both(f"end{i}", bounds, unwritten(2, "i64"))
    assert [each.tolist() for each in found] == [loop.summary()] * 2


_SIDES = {
    "scf.parallel": """
        %r = scf.parallel (%i) = (%lower) to (%upper) step (%step) init (%zero) -> i64 {
          scf.reduce(%one : i64) {
          ^bb0(%p: i64, %q: i64):
            %s = arith.addi %p, %q : i64
            scf.reduce.return %s : i64
          }
        }
        memref.store %r, %out[%c0] : memref<1xi64>""",
}


@pytest.mark.parametrize("name", _SIDES)
def test_nests_of_loops_end_before_their_variables_wrap_around(name: str) -> None:
    body = f"""
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0 : i64
        %one = arith.constant 1 : i64
        {_SIDES[name]}
    """
    parameters = "%lower: index, %upper: index, %step: index, %out: memref<1xi64>"
    kernels = LaneKernels({"k": LaneKernel(parameters, body)})
    bounds = np.array([2**63 - 6, 2**63 - 2, 3])
    (found,) = kernels.on_both("k", *bounds, unwritten(1, "i64"))
    assert [each.tolist() for each in found] == [[2], [2]]


def test_only_a_loop_that_may_wrap_around_pays_for_it() -> None:
    """Numbers, sizes of memory and what is cut by them are far from the end of 64 bits."""

    def selects(upper: str, step: int = 16) -> int:
        body = f"""
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %step = arith.constant {step} : index
            {upper}
            scf.for %i = %c0 to %upper step %step {{
              %v = memref.load %a[%i, %c0] : memref<?x?xf32>
              memref.store %v, %out[%c0] : memref<8xf32>
            }}
        """
        parameters = "%a: memref<?x?xf32>, %n: index, %w: i32, %out: memref<8xf32>"
        text = spirv_text(body, parameters)
        return len(re.findall(r"OpSelect\b", text))

    assert selects("%upper = arith.constant 64 : index") == 0
    assert selects("%upper = memref.dim %a, %c1 : memref<?x?xf32>") == 0
    assert selects("%upper = arith.index_cast %w : i32 to index") == 0
    assert selects("%upper = arith.addi %n, %c1 : index", step=1) == 0
    assert selects("%upper = arith.addi %n, %c1 : index") == 1


# --- vectors that a phi names before they exist ---


_BUILT = {
    "scf.for": """
        %p:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %v, %t = %v)
            -> (vector<8xf32>, vector<8xf32>) {
          {built}
          scf.yield %a, %b : vector<8xf32>, vector<8xf32>
        }""",
    "scf.while": """
        %p:2 = scf.while (%s = %v, %t = %v) : (vector<8xf32>, vector<8xf32>)
            -> (vector<8xf32>, vector<8xf32>) {
          %first = vector.extract %s[0] : f32 from vector<8xf32>
          %go = arith.cmpf olt, %first, %x : f32
          scf.condition(%go) %s, %t : vector<8xf32>, vector<8xf32>
        } do {
        ^bb0(%s: vector<8xf32>, %t: vector<8xf32>):
          {built}
          scf.yield %a, %b : vector<8xf32>, vector<8xf32>
        }""",
}


@pytest.mark.parametrize("name", _BUILT)
def test_no_phi_names_a_vector_that_is_built(name: str) -> None:
    """Intel's compiler of graphics drivers would abort."""
    lines: list[str] = []
    for of, to in (("s", "a"), ("t", "b")):
        for i in range(8):
            lines.append(f"%{to}{i} = vector.extract %{of}[{i}] : f32 from vector<8xf32>")
            lines.append(f"%{to}next{i} = arith.addf %{to}{i}, %x : f32")
        entries = ", ".join(f"%{to}next{i}" for i in range(8))
        lines.append(f"%{to} = vector.from_elements {entries} : vector<8xf32>")
    built = "\n".join(lines)
    text = spirv_text(
        f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c8 = arith.constant 8 : index
        %v = vector.load %m[%c0] : memref<16xf32>, vector<8xf32>
        {_BUILT[name].replace("{built}", built)}
        vector.store %p#0, %m[%c0] : memref<16xf32>, vector<8xf32>
        vector.store %p#1, %m[%c8] : memref<16xf32>, vector<8xf32>
        """,
        "%m: memref<16xf32>, %n: index, %x: f32",
    )
    made = dict(re.findall(r"(%\S+) = (Op\w+)", text))
    named = [x for line in re.findall(r"OpPhi %v8float (.*)", text) for x in line.split()[::2]]
    assert len(named) == 4
    assert [made[x] for x in named].count("OpVectorShuffle") == 2
    assert "OpCompositeConstruct" in made.values()
    assert "OpCompositeConstruct" not in [made[x] for x in named]
