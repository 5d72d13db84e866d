"""Products in loops that multiply the factors of many iterations at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate

KERNEL = """
gpu.module @kernels {{
  gpu.func @k(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<16x32xf32>, %last: {type})
      kernel attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %first = arith.constant {first} : {type}
    %end = arith.constant {end} : {type}
    %step = arith.constant {step} : {type}
    %outside = arith.constant {padding} : f32
    %nothing = arith.constant dense<0.0> : vector<16x16xf32>
    {before}
    %sum{results} = scf.for {unsigned} %i = %first to {last} step %step
        iter_args(%s = %nothing{carried}) -> (vector<16x16xf32>{types}) : {type} {{
      {index}
      %x = vector.transfer_read %a[%c0, %k], %outside : memref<?x?xf32>, vector<16x4xf32>
      %y = vector.transfer_read %b[%k, %c0], %outside : memref<?x?xf32>, vector<4x16xf32>
      {product}
      {inside}
      scf.yield %product{handed} : vector<16x16xf32>{types}
    }}
    {after}
    vector.transfer_write %sum{first_result}, %c[%c0, %c0] {{in_bounds = [true, true]}}
        : vector<16x16xf32>, memref<16x32xf32>
    gpu.return
  }}
}}
"""


def multiplied(
    left: str, right: str, sums: str, types: str = "vector<16x4xf32>, vector<4x16xf32>"
) -> str:
    """A product added to sums."""
    return f"""vector.contract {{
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
              affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
          {left}, {right}, {sums} : {types} into vector<16x16xf32>"""


IN_TILES = {
    "type": "i32",
    "first": "0",
    "end": "70",
    "last": "%last",
    "step": "1",
    "padding": "0.0",
    "unsigned": "",
    "index": "%n = arith.index_castui %i : i32 to index\n      %k = arith.muli %n, %c4 : index",
    "before": "",
    "product": "%product = " + multiplied("%x", "%y", "%s"),
    "inside": "",
    "after": "",
    "carried": "",
    "types": "",
    "handed": "",
    "results": "",
    "first_result": "",
}
"""A loop over the numbers of tiles."""

IN_ELEMENTS = {
    **IN_TILES,
    "type": "index",
    "step": "4",
    "index": "%k = arith.addi %i, %c3 : index",
}
"""A loop over the first elements of tiles."""

_WRITE = (
    "vector.transfer_write {}, %c[%c0, %c16] {{in_bounds = [true, true]}} "
    ": vector<16x16xf32>, memref<16x32xf32>"
)

DEEP = {
    "numbers of tiles": IN_TILES,
    "from a negative number on": {
        **IN_ELEMENTS,
        "first": "-5",
        "index": "%k = arith.maxsi %i, %c0 : index",
    },
    "all known": {**IN_TILES, "last": "%end"},
    "all known, few": {**IN_TILES, "last": "%end", "end": "3"},
    "elements": IN_ELEMENTS,
    "a number outside": {**IN_ELEMENTS, "padding": "1.0"},
    "steps that skip": {**IN_ELEMENTS, "step": "7"},
    "the same tile again": {**IN_TILES, "index": "%k = arith.constant 4 : index"},
    "a quotient, which is computed where there are iterations": {
        **IN_ELEMENTS,
        "index": "%e = arith.divui %c3, %last : index\n      %k = arith.addi %i, %e : index",
    },
    "an index that is carried": {
        **IN_TILES,
        "index": "",
        "carried": ", %k = %c3",
        "types": ", index",
        "inside": "%next = arith.addi %k, %c4 : index",
        "handed": ", %next",
        "results": ":2",
        "first_result": "#0",
    },
    "factors that are computed": {
        **IN_TILES,
        "product": "%e = math.absf %x : vector<16x4xf32>\n      %f = arith.mulf %y, %y : "
        "vector<4x16xf32>\n      %product = " + multiplied("%e", "%f", "%s"),
    },
    "factors in another order": {
        **IN_TILES,
        "product": """%t = vector.transpose %x, [1, 0] : vector<16x4xf32> to vector<4x16xf32>
      %product = vector.contract {
          indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (k, j)>,
              affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
          %t, %y, %s : vector<4x16xf32>, vector<4x16xf32> into vector<16x16xf32>""",
    },
    "a list of products": {
        **IN_TILES,
        "product": """%p = vector.shape_cast %x : vector<16x4xf32> to vector<2x16x2xf32>
      %z = vector.extract_strided_slice %y
          {offsets = [0, 0], sizes = [4, 8], strides = [1, 1]} : vector<4x16xf32> to vector<4x8xf32>
      %h = vector.shape_cast %z : vector<4x8xf32> to vector<2x2x8xf32>
      %r = vector.shape_cast %s : vector<16x16xf32> to vector<2x16x8xf32>
      %r2 = vector.contract {
          indexing_maps = [affine_map<(l, i, j, k) -> (l, i, k)>,
              affine_map<(l, i, j, k) -> (l, k, j)>, affine_map<(l, i, j, k) -> (l, i, j)>],
          iterator_types = ["parallel", "parallel", "parallel", "reduction"],
          kind = #vector.kind<add>}
          %p, %h, %r : vector<2x16x2xf32>, vector<2x2x8xf32> into vector<2x16x8xf32>
      %product = vector.shape_cast %r2 : vector<2x16x8xf32> to vector<16x16xf32>""",
    },
    "two sums": {
        **IN_TILES,
        "carried": ", %t = %nothing",
        "types": ", vector<16x16xf32>",
        "inside": "%e = arith.negf %x : vector<16x4xf32>\n      %other = "
        + multiplied("%e", "%y", "%t"),
        "handed": ", %other",
        "results": ":2",
        "first_result": "#0",
        "after": _WRITE.format("%sum#1"),
    },
    "a tile beside": {
        **IN_TILES,
        "carried": ", %t = %nothing",
        "types": ", vector<16x16xf32>",
        "inside": "%column = vector.multi_reduction <maximumf>, %x, %t0 [1] : vector<16x4xf32> to "
        "vector<16xf32>\n      %tall = vector.shape_cast %column : vector<16xf32> to "
        "vector<16x1xf32>"
        "\n      %wide = vector.broadcast %tall : vector<16x1xf32> to vector<16x16xf32>"
        "\n      %other = arith.maximumf %wide, %t : vector<16x16xf32>",
        "before": "%t0 = arith.constant dense<-3.0> : vector<16xf32>",
        "handed": ", %other",
        "results": ":2",
        "first_result": "#0",
        "after": _WRITE.format("%sum#1"),
    },
    "a store between": {
        **IN_TILES,
        "inside": "%e = vector.broadcast %i2 : f32 to vector<16x16xf32>\n      "
        + _WRITE.format("%e"),
        "index": IN_TILES["index"] + "\n      %i2 = arith.sitofp %i : i32 to f32",
    },
}


@pytest.mark.parametrize("form", DEEP)
def test_what_products_of_many_iterations_add_up(form: str) -> None:
    """On OpenCL's CPU device, with as many iterations as are multiplied at once, fewer and more."""
    source, remarks = _translated(DEEP[form])
    assert len([each for each in remarks if "are multiplied at once" in each]) == 1
    for iterations in (0, 1, 31, 64, 65, 70):
        _compare(source, iterations * int(DEEP[form]["step"]))


def _translated(form: dict[str, str]) -> tuple[ModuleOp, Sequence[str]]:
    source, diagnostics = xtile.parse(KERNEL.format(**form), language="mlir"), Diagnostics()
    translate(source, "core-to-lane", Options("cpu-avx2"), diagnostics)
    return source, [each.message for each in diagnostics]


def _compare(source: ModuleOp, last: int) -> None:
    random = fresh_generator()
    a = random.integers(-4, 5, (16, 261)).astype(np.float32)
    b = random.integers(-4, 5, (261, 16)).astype(np.float32)
    results = [np.full((16, 32), np.nan, np.float32) for _ in range(2)]
    for device, c in zip(("reference", "opencl"), results, strict=True):
        xtile.run(source, (a, b, c, last), 1, device=device)
    assert not np.isnan(results[0][:, :16]).any()
    wanted, found = results
    np.testing.assert_array_equal(found, wanted)


SHALLOW = {
    "one iteration": {**IN_TILES, "last": "%end", "end": "1"},
    "unsigned bounds": {**IN_TILES, "unsigned": "unsigned"},
    "a sum that is used otherwise": {
        **IN_TILES,
        "product": "%e = arith.negf %s : vector<16x16xf32>\n      %product = "
        + multiplied("%x", "%y", "%e"),
    },
    "a product that is used otherwise": {
        **IN_TILES,
        "inside": _WRITE.format("%product"),
    },
    "a sum that is handed on as another one": {
        **IN_TILES,
        "carried": ", %t = %nothing",
        "types": ", vector<16x16xf32>",
        "product": "%product = arith.negf %t : vector<16x16xf32>\n      %other = "
        + multiplied("%x", "%y", "%s"),
        "handed": ", %other",
        "results": ":2",
        "first_result": "#0",
    },
}


@pytest.mark.parametrize("form", SHALLOW)
def test_products_that_stay_as_they_are(form: str) -> None:
    source, remarks = _translated(SHALLOW[form])
    assert not [each for each in remarks if "are multiplied at once" in each]
    _compare(source, 6)


def test_the_number_of_iterations_suits_the_cache() -> None:
    """256 deep are 64 iterations of 4."""
    (remark,) = _translated(IN_TILES)[1]
    assert remark == "factors of 64 iterations are multiplied at once"
