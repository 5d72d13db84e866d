"""Work-groups with tiles side by side, several of which become one tile block."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from xtile.targets import find_target
from xtile.targets.target import ProductTile, Target
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.merge_work_groups import merge_work_groups

_SM_90 = find_target("sm_90")


def target_of(rows: int, columns: int) -> Target:
    """A chip whose tiles are small, so that the reference device has little to do."""
    tile = ProductTile(rows, columns, 16)
    tiles = replace(_SM_90.tiles, products={"f16": (tile,)}, updates={"f16": tile})
    return replace(_SM_90, tiles=tiles)


TARGET = target_of(32, 32)

KERNEL = """
gpu.module @kernels {{
  gpu.func @k(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>, %line: memref<?xf32>)
      kernel attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f16
    %none = arith.constant 0.0 : f32
    %x = gpu.block_id {x}
    %y = gpu.block_id {y}
    %rows = memref.dim %c, %c0 : memref<?x?xf32>
    %columns = memref.dim %c, %c1 : memref<?x?xf32>
    %depth = memref.dim %a, %c1 : memref<?x?xf16>
    %from_row = arith.muli %y, %c8 : index
    %i = arith.addi %from_row, {shift} : index
    %j = arith.muli %x, {step} : index
    %nothing = arith.constant dense<0.0> : vector<8x16xf32>
    {guard}
    %sum = scf.for %k = %c0 to %depth step %c16 iter_args(%s = %nothing)
        -> (vector<8x16xf32>) {{
      %p = vector.transfer_read %a[%i, %k], %zero {{in_bounds = [{inside}, false]}}
          : memref<?x?xf16>, vector<8x16xf16>
      %q = vector.transfer_read %b[%k, {column}], %zero {{in_bounds = [false, {inside}]}}
          : memref<?x?xf16>, vector<16x16xf16>
      %next = vector.contract {{
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
              affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
          %p, %q, %s : vector<8x16xf16>, vector<16x16xf16> into vector<8x16xf32>
      scf.yield %next : vector<8x16xf32>
    }}
    {more}
    vector.transfer_write {result}, %c[%i, %j] {{in_bounds = [{inside}, {inside}]}}
        : vector<8x16xf32>, memref<?x?xf32>
    {end}
    gpu.return
  }}
}}
"""

AS_USUAL = {
    "x": "x",
    "y": "y",
    "shift": "%c0",
    "step": "%c16",
    "column": "%j",
    "guard": "",
    "inside": "false",
    "more": "",
    "result": "%sum",
    "end": "",
}

UPDATE = {
    "more": """
    %before = vector.transfer_read %c[%i, %j], %none : memref<?x?xf32>, vector<8x16xf32>
    %two = arith.constant dense<2.0> : vector<8x16xf32>
    %more = arith.mulf %before, %two : vector<8x16xf32>
    %new = arith.addf %sum, %more : vector<8x16xf32>""",
    "result": "%new",
}

LINE = {
    "more": """
    %l = vector.transfer_read %line[%j], %none : memref<?xf32>, vector<16xf32>
    %lines = vector.broadcast %l : vector<16xf32> to vector<8x16xf32>
    %new = arith.subf %sum, %lines : vector<8x16xf32>""",
    "result": "%new",
}

GUARD = {
    "guard": """
    %end = arith.addi %j, %c16 : index
    %to = arith.minsi %end, %columns : index
    %larger = arith.maxsi %to, %j : index
    %length = arith.subi %larger, %j : index
    %count = arith.ceildivui %length, %c8 : index
    %has_columns = arith.cmpi sgt, %count, %c0 : index
    %has_rows = arith.cmpi slt, %i, %rows : index
    %is_there = arith.andi %has_rows, %has_columns : i1
    scf.if %is_there {""",
    "end": "}",
}

FORMS = {
    "a product": {},
    "an update": UPDATE,
    "numbers for each column": LINE,
    "under a guard": GUARD,
    "an update under a guard": {**UPDATE, **GUARD},
    "rows along x": {"x": "y", "y": "x"},
    "columns along z": {"x": "z"},
    "rows only": {"x": "z", "column": "%c5", "step": "%c0"},
    "after other rows": {"shift": "%c5"},
}


def parsed(form: dict[str, str]) -> ModuleOp:
    return xtile.parse(KERNEL.format(**{**AS_USUAL, **form}), language="mlir")


def launched(module: ModuleOp, seed: int, sizes: tuple[int, ...], grid: tuple[int, ...]) -> object:
    random = np.random.default_rng(seed)
    rows, columns, depth = sizes
    a = random.integers(-4, 5, (rows, depth)).astype(np.float16)
    b = random.integers(-4, 5, (depth, columns)).astype(np.float16)
    # What a block has no work-group for must stay as it is.
    c = random.integers(-9, 9, (rows, columns)).astype(np.float32)
    line = random.integers(-4, 5, columns).astype(np.float32)
    xtile.run(module, (a, b, c, line), grid)
    return c


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_values(form: str) -> None:
    """The same for grids that end within a block, before the end of memory, and behind it."""
    module = parsed(FORMS[form])
    merged = merge_work_groups(module, target_of(32, 16) if form == "rows only" else TARGET)
    assert merged is not module
    random = fresh_generator()
    for _ in range(4):
        sizes = tuple(int(n) for n in random.integers(1, 65, 3))
        grid = tuple(int(n) for n in random.integers(1, 6, 3))
        if "z" not in FORMS[form].values():
            grid = (*grid[:2], 1)
        seed = int(random.integers(1 << 30))
        expected, found = (launched(each, seed, sizes, grid) for each in (module, merged))
        np.testing.assert_array_equal(found, expected, err_msg=f"{sizes} {grid}")


@pytest.mark.slow
def test_unchecked_tiles() -> None:
    """A block that is there for some work-groups only checks what the source need not."""
    module = parsed({**UPDATE, "inside": "true"})
    module = xtile.parse(
        xtile.to_text(module, "mlir").replace("%before, %two", "%before, %before"), language="mlir"
    )
    merged = merge_work_groups(module, TARGET)
    assert merged is not module
    for grid in ((1, 1, 1), (3, 5, 1), (2, 4, 1), (4, 7, 1)):
        sizes, seed = (8 * grid[1], 16 * grid[0], 37), int(fresh_generator().integers(1 << 30))
        expected, found = (launched(each, seed, sizes, grid) for each in (module, merged))
        np.testing.assert_array_equal(found, expected)


def messages(module: ModuleOp) -> tuple[ModuleOp, list[str]]:
    diagnostics = Diagnostics()
    return merge_work_groups(module, TARGET, diagnostics), [each.message for each in diagnostics]


def test_text() -> None:
    """One tile of each factor, the first blocks along each axis, and what many work-groups are."""
    merged, remarks = messages(parsed({}))
    text = xtile.to_text(merged, "mlir")
    assert remarks == ["2 x 4 work-groups become one tile block"]
    assert "vector<32x16xf16>, vector<16x32xf16> into vector<32x32xf32>" in text
    assert text.count("vector.transfer_read") == 2
    assert text.count("vector.transfer_write") == 1
    assert "gather" not in text
    assert "scatter" not in text
    assert 'core.preferred_launches = [[["mul", 64, ["mul", 64, ["grid", 0]' in text
    assert ", 2048, " in text


APART = "each work-group stays a tile block of its own: "

OTHERS = {
    "tiles with gaps": (
        {"shift": "%c5", "step": "%c5"},
        "their tiles do not lie side by side",
    ),
    "one that differs along both sides": (
        {"column": "%i"},
        "a factor of a product differs along both of its sides",
    ),
    "another depth": (
        {
            "more": """
    %m = scf.for %n = %j to %depth step %c16 iter_args(%o = %none) -> (f32) {
      %p = arith.addf %o, %none : f32
      scf.yield %p : f32
    }"""
        },
        "a loop runs a different number of times in each of them",
    ),
    "a condition": (
        {"guard": "%odd = arith.cmpi eq, %j, %c16 : index\nscf.if %odd {", "end": "}"},
        "a branch is taken in some of them only",
    ),
    "another end": (
        {"guard": "%odd = arith.cmpi slt, %j, %depth : index\nscf.if %odd {", "end": "}"},
        "a branch is taken in some of them only",
    ),
    "atomic updates": (
        {"more": "%o = memref.atomic_rmw addf %none, %line[%c0] : (f32, memref<?xf32>) -> f32"},
        "memref.atomic_rmw has an effect of its own in each of them",
    ),
    "an element": (
        {"more": "memref.store %none, %line[%x] : memref<?xf32>"},
        "memref.store has an effect of its own in each of them",
    ),
}


@pytest.mark.parametrize("form", OTHERS)
def test_what_stays(form: str) -> None:
    changes, reason = OTHERS[form]
    module = parsed(changes)
    merged, remarks = messages(module)
    assert merged is module
    assert remarks == [APART + reason]


def test_large_tiles_stay() -> None:
    """Nothing is told of a kernel whose tiles are those of the chip."""
    module, diagnostics = parsed({}), Diagnostics()
    assert merge_work_groups(module, target_of(8, 16), diagnostics) is module
    assert list(diagnostics) == []


def test_a_block_is_no_larger_than_memory() -> None:
    text = KERNEL.format(**AS_USUAL).replace("memref<?x?xf32>", "memref<8x?xf32>")
    module, diagnostics = xtile.parse(text, language="mlir"), Diagnostics()
    assert merge_work_groups(module, target_of(32, 32), diagnostics) is module
    assert list(diagnostics) == []
    merged = merge_work_groups(module, target_of(8, 32), diagnostics)
    assert [each.message for each in diagnostics] == ["2 x 1 work-groups become one tile block"]
    wanted, found = (launched(each, 1, (8, 50, 40), (4, 1, 1)) for each in (module, merged))
    np.testing.assert_array_equal(found, wanted)
