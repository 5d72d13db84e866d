"""Reductions and scans with a region on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.transforms.distribute.kernels import arguments_of, function_of, read, run
from xtile.semantics.sanitizer import sanitize

Array = np.ndarray[Any, Any]

ARGMAX = """
^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
  %greater = arith.cmpf ogt, %a, %b : f32
  %equal = arith.cmpf oeq, %a, %b : f32
  %earlier = arith.cmpi slt, %j, %k : i32
  %tie = arith.andi %equal, %earlier : i1
  %first = arith.ori %greater, %tie : i1
  %x = arith.select %first, %a, %b : f32
  %y = arith.select %first, %j, %k : i32
  core.yield %x, %y : f32, i32
"""

BRANCHES = """
^bb0(%a: i32, %b: i32):
  %less = arith.cmpi slt, %a, %b : i32
  %r = scf.if %less -> (i32) {
    scf.yield %b : i32
  } else {
    scf.yield %a : i32
  }
  core.yield %r : i32
"""

FIRST = """
^bb0(%a: i32, %b: i32):
  core.yield %a : i32
"""

COMPOSE = """
^bb0(%a: i32, %b: i32, %c: i32, %d: i32):
  %e = arith.muli %a, %c : i32
  %f = arith.muli %b, %c : i32
  %g = arith.addi %f, %d : i32
  core.yield %e, %g : i32, i32
"""
"""The composition of x -> a x + b and then x -> c x + d, which does not commute."""


def kernel(operation: str, level: str = "tile") -> str:
    """A kernel that reads %v and %n, and writes what `operation` makes to %o and %p."""
    size = "" if level == "tile" else ", known_block_size = array<i32: 16, 1, 1>"
    return f"""gpu.module @m {{
    gpu.func @k(%in: memref<8x16xELEMENT>, %places: memref<8x16xi32>, %o: memref<OUTxELEMENT>,
        %p: memref<OUTxi32>) kernel attributes {{core.level = "{level}"{size}}} {{
    %c0 = arith.constant 0 : index
    %v = vector.load %in[%c0, %c0] : memref<8x16xELEMENT>, vector<8x16xELEMENT>
    %n = vector.load %places[%c0, %c0] : memref<8x16xi32>, vector<8x16xi32>
    {operation}
    gpu.return
    }} }}"""


def two(operation: str, body: str, axis: int, element: str, kept: str, rest: str = "") -> str:
    """The lines of an operation on both vectors, and of the stores of its results."""
    source, result = f"vector<8x16x{element}>", f"vector<{kept}x{element}>"
    at = "%c0, %c0" if kept == "8x16" else "%c0"
    return f"""%r, %s = core.{operation} %v, %n axis {axis} {rest}
        : {source}, vector<8x16xi32> -> {result}, vector<{kept}xi32> {{ {body} }}
    vector.store %r, %o[{at}] : memref<{kept}x{element}>, {result}
    vector.store %s, %p[{at}] : memref<{kept}xi32>, vector<{kept}xi32>"""


def text_of(operation: str, element: str, kept: str, level: str = "tile") -> str:
    return kernel(operation, level).replace("ELEMENT", element).replace("OUT", kept)


@pytest.mark.parametrize("level", ["tile", "subgroup"])
@pytest.mark.parametrize("rest", ["", "identities [0xFF800000 : f32, 2147483647 : i32]"])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_place_of_the_largest(
    axis: int, rest: str, level: str, rng: np.random.Generator
) -> None:
    kept = ("16", "8")[axis]
    text = text_of(two("reduce", ARGMAX, axis, "f32", kept, rest), "f32", kept, level)
    # Few values, so that there are ties.
    a = rng.integers(0, 5, (8, 16)).astype(np.float32)
    along = np.arange(8)[:, None] if axis == 0 else np.arange(16)[None, :]
    b = np.ascontiguousarray(np.broadcast_to(along, (8, 16)).astype(np.int32))
    largest, position = np.full(int(kept), np.nan, np.float32), np.full(int(kept), -7, np.int32)
    run(read(text), a, b, largest, position)
    np.testing.assert_array_equal(largest, a.max(axis))
    np.testing.assert_array_equal(position, a.argmax(axis))


@pytest.mark.parametrize("reverse", ["", "reverse"])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_scan_keeps_the_order(axis: int, reverse: str, rng: np.random.Generator) -> None:
    text = text_of(two("scan", COMPOSE, axis, "i32", "8x16", reverse), "i32", "8x16")
    a, b = rng.integers(-9, 9, (2, 8, 16), np.int32)
    factor, offset = np.full((2, 8, 16), 77, np.int32)
    run(read(text), a, b, factor, offset)
    lines = [np.moveaxis(each, axis, 0)[:: -1 if reverse else 1] for each in (a, b)]
    expected = [[lines[0][0], lines[1][0]]]
    for c, d in zip(lines[0][1:], lines[1][1:], strict=True):
        before = expected[-1]
        expected.append([before[0] * c, before[1] * c + d])
    for given, made in zip((factor, offset), zip(*expected, strict=True), strict=True):
        ordered = np.moveaxis(given, axis, 0)[:: -1 if reverse else 1]
        np.testing.assert_array_equal(ordered, np.stack(made))


def test_branches_in_the_region_and_one_number(rng: np.random.Generator) -> None:
    text = text_of(
        f"""%line = vector.shape_cast %v : vector<8x16xi32> to vector<128xi32>
        %r = core.reduce %line axis 0 : vector<128xi32> -> i32 {{ {BRANCHES} }}
        memref.store %r, %o[%c0] : memref<1xi32>""",
        "i32",
        "1",
    )
    a, b = rng.integers(-(2**31), 2**31 - 1, (2, 8, 16), np.int32)
    out, unused = np.zeros((2, 1), np.int32)
    run(read(text), a, b, out, unused)
    assert out[0] == a.max()


def test_a_length_that_is_no_power_of_two(rng: np.random.Generator) -> None:
    text = """gpu.module @m {
    gpu.func @k(%a: memref<7xi32>, %o: memref<1xi32>, %p: memref<7xi32>) kernel
        attributes {core.level = "subgroup"} {
    %c0 = arith.constant 0 : index
    %v = vector.load %a[%c0] : memref<7xi32>, vector<7xi32>
    %r = core.reduce %v axis 0 : vector<7xi32> -> i32 {
    ^bb0(%x: i32, %y: i32):
      %s = arith.addi %x, %y : i32
      core.yield %s : i32
    }
    %t = core.scan %v axis 0 : vector<7xi32> -> vector<7xi32> {
    ^bb0(%x: i32, %y: i32):
      %s = arith.addi %x, %y : i32
      core.yield %s : i32
    }
    memref.store %r, %o[%c0] : memref<1xi32>
    vector.store %t, %p[%c0] : memref<7xi32>, vector<7xi32>
    gpu.return
    } }"""
    a = rng.integers(-100, 100, 7, np.int32)
    out, sums = np.zeros(1, np.int32), np.zeros(7, np.int32)
    run(read(text), a, out, sums)
    assert out[0] == a.sum()
    np.testing.assert_array_equal(sums, a.cumsum())


def findings(text: str, *arrays: Array) -> list[str]:
    """What the sanitizer says of a run."""
    report = sanitize(function_of(read(text)), arguments_of(arrays), (1, 1, 1))
    return [finding.message for finding in report]


def test_the_sanitizer_finds_what_depends_on_the_order() -> None:
    text = text_of(
        f"""%r = core.reduce %v axis 1 : vector<8x16xi32> -> vector<8xi32> {{ {FIRST} }}
        vector.store %r, %o[%c0] : memref<8xi32>, vector<8xi32>""",
        "i32",
        "8",
    )
    a = np.arange(128, dtype=np.int32).reshape(8, 16)
    out = np.zeros(8, np.int32)
    (message,) = findings(text, a, a.copy(), out, out.copy())
    assert "the result depends on the order of the elements" in message


def test_the_sanitizer_finds_identities_that_change_something() -> None:
    text = text_of(
        f"""%r = core.reduce %v axis 1 identities [3 : i32]
            : vector<8x16xi32> -> vector<8xi32> {{ {BRANCHES} }}
        vector.store %r, %o[%c0] : memref<8xi32>, vector<8xi32>""",
        "i32",
        "8",
    )
    a = np.full((8, 16), 3, np.int32)
    out = np.zeros(8, np.int32)
    assert findings(text, a, a.copy(), out, out.copy()) == []
    a[5] = 2
    (message,) = findings(text, a, a.copy(), out, out.copy())
    assert "combining an identity with the elements changes the result" in message
    assert "it is 2 without and 3 with one for each element, in element [5]" in message


@pytest.mark.parametrize("level", ["tile", "subgroup"])
@pytest.mark.parametrize("operation", ["reduce", "scan", "scan reverse"])
def test_the_sanitizer_finds_identities_that_change_floats(operation: str, level: str) -> None:
    kept = "8" if operation == "reduce" else "8x16"
    at = "%c0" if operation == "reduce" else "%c0, %c0"
    name, _, rest = operation.partition(" ")

    def found(identity: str, values: Array) -> list[str]:
        line = f"""%r = core.{name} %v axis 1 identities [{identity} : f32] {rest}
            : vector<8x16xf32> -> vector<{kept}xf32> {{
        ^bb0(%a: f32, %b: f32):
          %s = arith.addf %a, %b : f32
          core.yield %s : f32
        }}
        vector.store %r, %o[{at}] : memref<{kept}xf32>, vector<{kept}xf32>"""
        out = np.zeros((8,) if operation == "reduce" else (8, 16), np.float32)
        text = text_of(line, "f32", kept, level)
        unused = np.zeros((8, 16), np.int32)
        return findings(text, values, unused, out, np.zeros(out.shape, np.int32))

    zeros = np.full((8, 16), -0.0, np.float32)
    assert found("0.0", zeros) == []
    message = found("1.0", zeros)[0]
    total = {"reduce": "16.0", "scan": "1.0", "scan reverse": "16.0"}[operation]
    assert "combining an identity with the elements changes the result: it is" in message
    assert f"it is -0.0 without and {total} with one for each element, in element [" in message
