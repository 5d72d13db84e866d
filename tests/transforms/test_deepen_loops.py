"""Loops over small tiles take larger steps where each element is computed by itself."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from xtile.targets import find_target
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.deepen_loops import deepen_loops

_KERNEL = """
gpu.module @kernels {{
  gpu.func @k(%x: memref<4x?x{t}> {x}, %y: memref<4x?x{t}> {y}, %r: memref<4x8x{t}> {x},
      %n: index) kernel attributes {{core.level = "{level}"}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant {zero} : {t}
    %size = memref.dim %x, %c1 : memref<4x?x{t}>
    %first = vector.transfer_read %r[%c0, %c0], %zero : memref<4x8x{t}>, vector<4x8x{t}>
    %to = memref.subview %y[0, 0] [4, %n] [1, 1] : memref<4x?x{t}>
        to memref<4x?x{t}, strided<[?, 1]>>
    %items = vector.step : vector<8xindex>
    %last = scf.for %i = %c0 to %n step %c8 iter_args(%s = %first) -> (vector<4x8x{t}>) {{
      %i8 = vector.broadcast %i : index to vector<8xindex>
      %at = arith.addi %items, %i8 : vector<8xindex>
      %end = vector.broadcast %n : index to vector<8xindex>
      %line = arith.cmpi slt, %at, %end : vector<8xindex>
      %acts = vector.broadcast %line : vector<8xi1> to vector<4x8xi1>
      %a = vector.transfer_read %x[%c0, %i], %zero : memref<4x?x{t}>, vector<4x8x{t}>
      {body}
    }}
    vector.transfer_write %last, %r[%c0, %c0] : vector<4x8x{t}>, memref<4x8x{t}>
    gpu.return
  }}
}}
"""

_YIELD = """
      %chosen = arith.select %acts, %next, %s : vector<4x8xi1>, vector<4x8x{t}>
      scf.yield %chosen : vector<4x8x{t}>"""

_NOALIAS = "{core.noalias}"

_WRITE = """
      vector.transfer_write %b, %to[%c0, %i]
          : vector<4x8x{t}>, memref<4x?x{t}, strided<[?, 1]>>
      %next = {maximum} %s, %b : vector<4x8x{t}>"""

_TWICE = "%b = {add} %a, %a : vector<4x8x{t}>"

COMBINED = [
    *(("f32", name) for name in ("addf", "maxnumf", "minnumf", "maximumf", "minimumf")),
    *(("i32", name) for name in ("addi", "andi", "maxsi", "maxui", "minsi", "minui")),
    *(("i32", name) for name in ("ori", "xori")),
]

BODIES = {
    "writes": _TWICE + _WRITE,
    "something that is the same each time": (
        "%w = vector.transfer_read %r[%c0, %c0], %zero : memref<4x8x{t}>, vector<4x8x{t}>\n"
        "      %b = {add} %a, %first : vector<4x8x{t}>\n      %c = {add} %b, %w : vector<4x8x{t}>"
        + _WRITE.replace("%b", "%c")
    ),
    "what it has read is written": (
        "%old = vector.transfer_read %to[%c0, %i], %zero"
        " : memref<4x?x{t}, strided<[?, 1]>>, vector<4x8x{t}>\n"
        "      %b = {add} %a, %old : vector<4x8x{t}>" + _WRITE
    ),
    "the next elements": (
        "%j = arith.addi %i, %c8 : index\n"
        "      %more = vector.transfer_read %x[%c0, %j], %zero : memref<4x?x{t}>, vector<4x8x{t}>\n"
        "      %b = {add} %a, %more : vector<4x8x{t}>" + _WRITE
    ),
}
"""What loops do that take larger steps."""

STAYING = {
    "elements of another turn are written": (
        "%j = arith.addi %i, %c8 : index\n"
        "      %old = vector.transfer_read %to[%c0, %j], %zero"
        " : memref<4x?x{t}, strided<[?, 1]>>, vector<4x8x{t}>\n"
        "      %b = {add} %a, %old : vector<4x8x{t}>" + _WRITE
    ),
    "elements behind the end are written": _TWICE
    + _WRITE.replace("%to", "%y").replace(", strided<[?, 1]>", ""),
    "what is carried is used otherwise": (
        "%b = {add} %a, %s : vector<4x8x{t}>" + _WRITE.replace("%s, %b", "%s, %a")
    ),
    "all elements of a tile": (
        "%all = vector.transpose %a, [1, 0] : vector<4x8x{t}> to vector<8x4x{t}>\n"
        "      %b = vector.shape_cast %all : vector<8x4x{t}> to vector<4x8x{t}>" + _WRITE
    ),
    "how far the loop is": (
        "%k = arith.index_cast %i : index to i32\n      %w = arith.sitofp %k : i32 to {t}\n"
        "      %v = vector.broadcast %w : {t} to vector<4x8x{t}>\n"
        "      %b = {add} %a, %v : vector<4x8x{t}>" + _WRITE
    ),
}
"""What other loops do."""


def _module(body: str, element: str = "f32", level: str = "tile") -> ModuleOp:
    is_float = element == "f32"
    words = {
        "t": element,
        "add": "arith.addf" if is_float else "arith.addi",
        "maximum": "arith.maxnumf" if is_float else "arith.maxsi",
    }
    body = (body + _YIELD).format(**words)
    zero = "0.0" if is_float else "0"
    text = _KERNEL.format(t=element, zero=zero, x=_NOALIAS, y=_NOALIAS, level=level, body=body)
    return xtile.parse(text, language="mlir")


def _numbers(element: str, shape: tuple[int, ...]) -> np.ndarray:
    random = fresh_generator()
    if element == "f32":
        return random.standard_normal(shape, np.float32)
    return random.integers(-(2**31), 2**31, shape, np.int32)


def _deepened(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    return deepen_loops(module, find_target("sm_90"), diagnostics)


def _results(module: ModuleOp, given: list[np.ndarray], n: int) -> list[np.ndarray]:
    arrays = [each.copy() for each in given]
    xtile.run(module, [*arrays, n], 1)
    return arrays


@pytest.mark.slow
@pytest.mark.parametrize(("element", "name"), COMBINED)
def test_what_is_carried(element: str, name: str) -> None:
    module = _module(f"%next = arith.{name} %a, %s : vector<4x8x{element}>", element)
    diagnostics = Diagnostics()
    deeper = _deepened(module, diagnostics)
    assert [each.message for each in diagnostics] == ["64 steps of 8 are one of 512"]
    given = [_numbers(element, shape) for shape in ((4, 600), (4, 600), (4, 8))]
    for n in (0, 5, 8, 512, 520, 600):
        before, after = (_results(each, given, n) for each in (module, deeper))
        # A sum of floats is made in another order.
        error = 600 * 2.0**-24 * np.abs(given[0]).sum() if name == "addf" else 0
        for a, b in zip(before, after, strict=True):
            np.testing.assert_allclose(b, a, rtol=0, atol=error)


@pytest.mark.slow
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("element", ["f32", "i32"])
def test_deeper_loops_compute_the_same(name: str, element: str) -> None:
    module = _module(BODIES[name], element)
    deeper = _deepened(module)
    text = xtile.to_text(deeper, "mlir")
    assert "%c512 " in text
    given = [_numbers(element, shape) for shape in ((4, 600), (4, 600), (4, 8))]
    for n in (0, 5, 519, 600):
        before, after = (_results(each, given, n) for each in (module, deeper))
        for a, b in zip(before, after, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(after[1][:, n:], given[1][:, n:])


@pytest.mark.slow
def test_memory_ends_where_a_loop_does_that_has_no_negative_end() -> None:
    text = xtile.to_text(_module(BODIES["writes"]), "mlir")
    for old, new in (
        ("to %n step", "to %floored step"),
        ("broadcast %n", "broadcast %floored"),
        ("%last = ", "%floored = arith.maxsi %n, %c0 : index\n      %last = "),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    module = xtile.parse(text, language="mlir")
    deeper = _deepened(module)
    assert "%c512 " in xtile.to_text(deeper, "mlir")
    given = [_numbers("f32", shape) for shape in ((4, 600), (4, 600), (4, 8))]
    for n in (0, 519, 600):
        before, after = (_results(each, given, n) for each in (module, deeper))
        for a, b in zip(before, after, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(after[1][:, n:], given[1][:, n:])


@pytest.mark.parametrize("name", STAYING)
def test_other_loops_stay(name: str) -> None:
    module = _module(STAYING[name])
    assert _deepened(module) is module


def test_loops_stay_that_may_read_what_they_write() -> None:
    text = xtile.to_text(_module(BODIES["writes"]), "mlir").replace("core.noalias", "core.unknown")
    module = xtile.parse(text, language="mlir")
    assert _deepened(module) is module


def test_kernels_of_other_levels_stay() -> None:
    module = _module(BODIES["writes"], level="subgroup")
    assert _deepened(module) is module


def test_loops_over_points_alone_stay() -> None:
    # Their tiles have the size that `foreach` chose for them.
    text = xtile.to_text(_module(BODIES["writes"]), "mlir")
    old = "scf.yield %chosen : vector<4x8xf32>\n      }"
    assert text.count(old) == 1
    module = xtile.parse(text.replace(old, f"{old} {{core.independent}}"), language="mlir")
    assert _deepened(module) is module
