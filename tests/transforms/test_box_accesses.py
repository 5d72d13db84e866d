"""Gathers and scatters by indices in a memref are transfers where they access boxes of it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.box_accesses import box_accesses

_HEAD = """
gpu.module @kernels {
  gpu.func @k(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %n: index, %m: index) kernel
      attributes {core.level = "tile"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = memref.dim %x, %c0 : memref<?x?xf32>
    %columns = memref.dim %x, %c1 : memref<?x?xf32>
    %nothing = arith.constant dense<0.0> : vector<4x8xf32>
    %step4 = vector.step : vector<4xindex>
    %step8 = vector.step : vector<8xindex>
    %outer = vector.shape_cast %step4 : vector<4xindex> to vector<4x1xindex>
    %inner = vector.shape_cast %step8 : vector<8xindex> to vector<1x8xindex>
    %whole_outer = vector.broadcast %outer : vector<4x1xindex> to vector<4x8xindex>
    %whole_inner = vector.broadcast %inner : vector<1x8xindex> to vector<4x8xindex>
    %eight = arith.constant dense<8> : vector<4x8xindex>
    %lines = arith.muli %whole_outer, %eight : vector<4x8xindex>
    %line = arith.addi %lines, %whole_inner : vector<4x8xindex>
    %wide_n = vector.broadcast %n : index to vector<4x8xindex>
    %wide_m = vector.broadcast %m : index to vector<4x8xindex>
    %wide_columns = vector.broadcast %columns : index to vector<4x8xindex>
    %moved = arith.addi %line, %wide_n : vector<4x8xindex>
"""
_TAIL = """
    gpu.return
  }
}
"""

BOXES = {
    "a line of several rows": """
    %mask = arith.cmpi slt, %moved, %wide_columns : vector<4x8xindex>
    %v = core.gather_load %x[%c1, %moved], %mask, %nothing : memref<?x?xf32>[index,
        vector<4x8xindex>], vector<4x8xi1>, vector<4x8xf32> -> vector<4x8xf32>
    core.scatter_store %v, %y[%c1, %moved], %mask : vector<4x8xf32>, memref<?x?xf32>[index,
        vector<4x8xindex>], vector<4x8xi1>""",
    "an end before that of memory": """
    %mask = arith.cmpi sle, %moved, %wide_m : vector<4x8xindex>
    %v = core.gather_load %x[%c1, %moved], %mask, %nothing : memref<?x?xf32>[index,
        vector<4x8xindex>], vector<4x8xi1>, vector<4x8xf32> -> vector<4x8xf32>
    core.scatter_store %v, %y[%c1, %moved], %mask : vector<4x8xf32>, memref<?x?xf32>[index,
        vector<4x8xindex>], vector<4x8xi1>""",
    "a rectangle": """
    %mask = arith.cmpi slt, %whole_inner, %wide_m : vector<4x8xindex>
    %v = core.gather_load %x[%outer, %inner], %mask, %nothing : memref<?x?xf32>[
        vector<4x1xindex>, vector<1x8xindex>], vector<4x8xi1>, vector<4x8xf32> -> vector<4x8xf32>
    core.scatter_store %v, %y[%outer, %inner] : vector<4x8xf32>, memref<?x?xf32>[
        vector<4x1xindex>, vector<1x8xindex>]""",
    "a rectangle whose rows are columns of memory": """
    %rows_left = arith.cmpi slt, %step8, %step8_end : vector<8xindex>
    %mask = vector.broadcast %rows_left : vector<8xi1> to vector<4x8xi1>
    %v = core.gather_load %x[%inner, %outer], %mask, %nothing : memref<?x?xf32>[
        vector<1x8xindex>, vector<4x1xindex>], vector<4x8xi1>, vector<4x8xf32> -> vector<4x8xf32>
    core.scatter_store %v, %y[%inner, %outer], %mask : vector<4x8xf32>, memref<?x?xf32>[
        vector<1x8xindex>, vector<4x1xindex>], vector<4x8xi1>""",
    "one element for several": """
    %v = core.gather_load %x[%n, %inner] : memref<?x?xf32>[index, vector<1x8xindex>]
        -> vector<4x8xf32>
    core.scatter_store %v, %y[%outer, %inner] : vector<4x8xf32>, memref<?x?xf32>[
        vector<4x1xindex>, vector<1x8xindex>]""",
    "a part of memory": """
    %part = memref.subview %x[1, 2] [3, %m] [1, 1] : memref<?x?xf32>
        to memref<3x?xf32, strided<[?, 1], offset: ?>>
    %mask = arith.cmpi slt, %whole_inner, %wide_m : vector<4x8xindex>
    %v = core.gather_load %part[%c1, %inner], %mask, %nothing
        : memref<3x?xf32, strided<[?, 1], offset: ?>>[index, vector<1x8xindex>],
        vector<4x8xi1>, vector<4x8xf32> -> vector<4x8xf32>
    core.scatter_store %v, %y[%outer, %inner] : vector<4x8xf32>, memref<?x?xf32>[
        vector<4x1xindex>, vector<1x8xindex>]""",
    "padding that differs": """
    %numbers = arith.index_cast %line : vector<4x8xindex> to vector<4x8xi32>
    %padding = arith.sitofp %numbers : vector<4x8xi32> to vector<4x8xf32>
    %mask = arith.cmpi slt, %line, %wide_m : vector<4x8xindex>
    %v = core.gather_load %x[%c0, %line], %mask, %padding : memref<?x?xf32>[index,
        vector<4x8xindex>], vector<4x8xi1>, vector<4x8xf32> -> vector<4x8xf32>
    core.scatter_store %v, %y[%c0, %line] : vector<4x8xf32>, memref<?x?xf32>[index,
        vector<4x8xindex>]""",
}
"""Accesses of boxes: all of them become transfers."""

OTHERS = {
    "every second element": (
        """
    %twice = arith.addi %inner, %inner : vector<1x8xindex>
    %v = core.gather_load %x[%outer, %twice] : memref<?x?xf32>[
        vector<4x1xindex>, vector<1x8xindex>] -> vector<4x8xf32>""",
        "its indices do not follow each other",
    ),
    "a diagonal": (
        """
    %v = core.gather_load %x[%whole_inner, %inner] : memref<?x?xf32>[
        vector<4x8xindex>, vector<1x8xindex>] -> vector<4x8xf32>""",
        "its indices are not those of a box",
    ),
    "elements in the middle": (
        """
    %mask = arith.cmpi sge, %whole_inner, %wide_m : vector<4x8xindex>
    %v = core.gather_load %x[%outer, %inner], %mask, %nothing : memref<?x?xf32>[
        vector<4x1xindex>, vector<1x8xindex>], vector<4x8xi1>, vector<4x8xf32>
        -> vector<4x8xf32>""",
        "its mask is no end of its indices",
    ),
    "a mask of numbers in memory": (
        """
    %read = core.gather_load %x[%outer, %inner] : memref<?x?xf32>[
        vector<4x1xindex>, vector<1x8xindex>] -> vector<4x8xf32>
    %mask = arith.cmpf ogt, %read, %nothing : vector<4x8xf32>
    %v = core.gather_load %x[%outer, %inner], %mask, %nothing : memref<?x?xf32>[
        vector<4x1xindex>, vector<1x8xindex>], vector<4x8xi1>, vector<4x8xf32>
        -> vector<4x8xf32>""",
        "its mask comes from arith.cmpf",
    ),
}
"""Accesses that stay, and why; what they read is stored as a box."""

_STORED = """
    core.scatter_store %v, %y[%outer, %inner] : vector<4x8xf32>, memref<?x?xf32>[
        vector<4x1xindex>, vector<1x8xindex>]"""

_ENDS = """
    %step8_end = vector.broadcast %m : index to vector<8xindex>"""


def _module(body: str) -> ModuleOp:
    return xtile.parse(_HEAD + _ENDS + body + _TAIL, language="mlir")


def _result(module: ModuleOp, x: np.ndarray, n: int, m: int) -> np.ndarray:
    y = np.full(x.shape, np.nan, np.float32)
    xtile.run(module, (x.copy(), y, n, m), 1)
    return y


@pytest.mark.parametrize("name", BOXES)
def test_boxes_are_transfers(name: str) -> None:
    module = _module(BOXES[name])
    boxed = box_accesses(module)
    text = xtile.to_text(boxed, "mlir")
    assert "gather" not in text
    assert "scatter" not in text
    x = fresh_generator().standard_normal((9, 40), np.float32)
    for n, m in ((0, 8), (5, 3), (8, 0), (3, 30)):
        # What is accessed where no mask says otherwise is inside.
        m = min(m, 8) if "line" not in name and "end" not in name else m
        before, after = (_result(each, x, n, m) for each in (module, boxed))
        np.testing.assert_array_equal(before, after)
        assert np.isnan(after).any()


@pytest.mark.parametrize("name", OTHERS)
def test_others_stay(name: str) -> None:
    body, reason = OTHERS[name]
    module, diagnostics = _module(body + _STORED), Diagnostics()
    boxed = box_accesses(module, diagnostics)
    assert [each.message for each in diagnostics] == [f"core.gather_load stays: {reason}"]
    assert "scatter" not in xtile.to_text(boxed, "mlir")
    x = fresh_generator().standard_normal((9, 40), np.float32)
    before, after = (_result(each, x, 1, 5) for each in (module, boxed))
    np.testing.assert_array_equal(before, after)


def test_one_location_is_not_written_by_several() -> None:
    body = """
    core.scatter_store %nothing, %y[%c0, %inner] : vector<4x8xf32>, memref<?x?xf32>[
        index, vector<1x8xindex>]"""
    diagnostics = Diagnostics()
    box_accesses(_module(body), diagnostics)
    assert [each.message for each in diagnostics] == [
        "core.scatter_store stays: several of its elements are written to one location"
    ]


def test_without_such_an_access_it_is_the_module_itself() -> None:
    module = _module("")
    assert box_accesses(module) is module


@pytest.mark.parametrize("number", range(25))
def test_random_boxes(number: int) -> None:
    """Tiles of three dimensions, each of which lies along one of memory's."""
    random = Random(number)
    sizes = [random.choice((1, 2, 4)) for _ in range(3)]
    order = random.sample(range(3), 3)
    split = random.randint(0, 3)
    groups = order[:split], order[split:]
    shape = "x".join(map(str, sizes))
    whole, tile = f"vector<{shape}xindex>", f"vector<{shape}xf32>"
    lines: list[str] = []
    for dimension, group in enumerate(groups):
        lines.append(
            f"%at{dimension}_ = vector.broadcast %c{dimension} : index to vector<{shape}xindex>"
        )
        name, stride = f"%at{dimension}_", 1
        for axis in reversed(group):
            thin = "x".join(str(n if i == axis else 1) for i, n in enumerate(sizes))
            own, line = f"{dimension}{axis}", f"vector<{sizes[axis]}xindex>"
            lines += [
                f"%s{own} = vector.step : {line}",
                f"%t{own} = vector.shape_cast %s{own} : {line} to vector<{thin}xindex>",
                f"%u{own} = vector.broadcast %t{own} : vector<{thin}xindex> to {whole}",
                f"%k{own} = arith.constant dense<{stride}> : {whole}",
                f"%p{own} = arith.muli %u{own}, %k{own} : {whole}",
                f"%q{own} = arith.addi {name}, %p{own} : {whole}",
            ]
            name, stride = f"%q{own}", stride * sizes[axis]
        end = ("%n", "%m", "%rows", "%columns")[random.choice((dimension, dimension + 2))]
        lines += [
            f"%end{dimension} = vector.broadcast {end} : index to {whole}",
            f"%mask{dimension} = arith.cmpi slt, {name}, %end{dimension} : {whole}",
            f"%index{dimension} = arith.addi {name}, %zeros : {whole}",
        ]
    lines.insert(0, f"%zeros = arith.constant dense<0> : vector<{shape}xindex>")
    types = f"memref<?x?xf32>[{whole}, {whole}], vector<{shape}xi1>"
    lines += [
        f"%mask = arith.andi %mask0, %mask1 : vector<{shape}xi1>",
        f"%none = arith.constant dense<2.0> : {tile}",
        f"%v = core.gather_load %x[%index0, %index1], %mask, %none : {types}, {tile} -> {tile}",
        f"core.scatter_store %v, %y[%index0, %index1], %mask : vector<{shape}xf32>, {types}",
    ]
    module = _module("\n".join(lines))
    boxed = box_accesses(module)
    x = fresh_generator().standard_normal((10, 12), np.float32)
    for n, m in ((0, 3), (6, 9), (2, 1)):
        before, after = (_result(each, x, n, m) for each in (module, boxed))
        np.testing.assert_array_equal(before, after)
    if max(sizes) > 1:
        assert "transfer_read" in xtile.to_text(boxed, "mlir")
