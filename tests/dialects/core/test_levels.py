"""A kernel holds only what its level may hold."""

from __future__ import annotations

import pytest

from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import read_mlir
from xtile.text.source import Source

SUM = "core.sum %x, %a, %x, %b : f32, memref<4x8xf32>, f32, memref<4xf32>"

RIGHT = [
    ("block", SUM),
    ("block", "core.parallel { %lane = gpu.lane_id }"),
    ("block", "core.parallel { %v = vector.broadcast %x : f32 to vector<8x16xf32> }"),
    ("block", "%g = gpu.block_id x"),
    ("block", "gpu.barrier"),
    ("block", "%v = arith.constant dense<0.0> : vector<8x16xf32>"),
    ("subgroup", "%lane = gpu.lane_id"),
    ("subgroup", "%v = vector.broadcast %x : f32 to vector<8x16xf32>"),
    ("subgroup", "%s = core.subgroup_scan add %x : f32 -> f32"),
    ("lane", "%v = vector.broadcast %x : f32 to vector<8xf32>"),
    ("lane", "gpu.barrier"),
    ("tile", "%g = gpu.block_id x"),
    ("tile", "%v = vector.broadcast %x : f32 to vector<2x4x8xf32>"),
]

WRONG = [
    ("block", "%lane = gpu.lane_id", "gpu.lane_id must stand in core.parallel"),
    (
        "block",
        "%v = vector.broadcast %x : f32 to vector<8xf32>",
        "vector.broadcast must stand in core.parallel, because vectors belong to subgroups",
    ),
    ("block", f"core.parallel {{ {SUM} }}", "core.sum is work of all work-items"),
    ("subgroup", SUM, "core.sum must be distributed first, with the pass core-distribute"),
    (
        "subgroup",
        "core.parallel { %lane = gpu.lane_id }",
        "core.parallel must be distributed first",
    ),
    ("lane", "%s = core.subgroup_scan add %x : f32 -> f32", "core.subgroup_scan must be lowered"),
    (
        "lane",
        "%v = vector.broadcast %x : f32 to vector<8x16xf32>",
        "vector.broadcast has a matrix, which belongs to a subgroup and not to a lane",
    ),
    ("tile", SUM, "core.sum must be tiled first, with the pass core-tile-linalg"),
    ("tile", "core.parallel { %g = gpu.block_id x }", "core.parallel must be tiled first"),
    ("tile", "gpu.barrier", "gpu.barrier is for work-items and subgroups, which tiles do not have"),
    ("tile", "%lane = gpu.lane_id", "gpu.lane_id is for work-items and subgroups"),
    (
        "tile",
        "%v = vector.broadcast %x : f32 to vector<[8]xf32>",
        "the sizes of vector<[8]xf32> are not known",
    ),
    ("warp", "gpu.barrier", 'core.level must be one of "block", "subgroup", "lane", "tile"'),
]


def errors_of(level: str, line: str) -> list[str]:
    text = (
        "gpu.module @m {\n"
        "gpu.func @f(%x: f32, %a: memref<4x8xf32>, %b: memref<4xf32>) kernel "
        f'attributes {{core.level = "{level}"}} {{\n'
        f"{line}\n"
        "gpu.return\n"
        "}\n"
        "}\n"
    )
    diagnostics = Diagnostics()
    module = read_mlir(Source("k.mlir", text), diagnostics, make_context())
    assert module is not None, [str(d.message) for d in diagnostics]
    verify_module(module, diagnostics)
    return [diagnostic.render().splitlines()[0] for diagnostic in diagnostics]


@pytest.mark.parametrize(("level", "line"), RIGHT)
def test_may_stand_there(level: str, line: str) -> None:
    assert errors_of(level, line) == []


@pytest.mark.parametrize(("level", "line", "message"), WRONG)
def test_may_not_stand_there(level: str, line: str, message: str) -> None:
    (error,) = errors_of(level, line)
    assert message in error
    assert error.startswith("k.mlir:2." if level == "warp" else "k.mlir:3.")
    assert level == "warp" or error.endswith(f"; the kernel is at level {level}")
