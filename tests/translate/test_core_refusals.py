"""A translation that has no rule for an operation of core says so at its place."""

from __future__ import annotations

from itertools import product

import pytest

from tests.transforms.distribute.kernels import read
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate

V = "vector<16xf32>"

PARAMETERS = "%m: memref<16xf32>, %x: !core.ptr<f32>"

SETUP = f"""%p = arith.constant dense<3> : vector<16xi32>
%c0 = arith.constant 0 : index
%zero = arith.constant 0.0 : f32
%v = vector.transfer_read %m[%c0], %zero {{in_bounds = [true]}} : memref<16xf32>, {V}
"""

ADD = "{ ^bb0(%a: f32, %b: f32): %c = arith.addf %a, %b : f32  core.yield %c : f32 }"
STORE = "memref.store %r, %m[%c0] : memref<16xf32>"
WRITE = f"vector.transfer_write %r, %m[%c0] {{in_bounds = [true]}} : {V}, memref<16xf32>"

OF_VECTORS = {
    "core.assume": (
        "%b = core.assume %c0 at_most 3 : index\nmemref.store %zero, %m[%b] : memref<16xf32>"
    ),
    "core.reduce": f"%r = core.reduce %v axis 0 : {V} -> f32 {ADD}\n{STORE}",
    "core.scan": f"%r = core.scan %v axis 0 : {V} -> {V} {ADD}\n{WRITE}",
}
"""Lines with each operation on vectors of subgroups, too, whose result is used."""

OF_TILES = {
    "core.atomic_compare_and_swap": (
        f"%r = core.atomic_compare_and_swap acq_rel device %v, %v, %m[%p] "
        f": {V}, memref<16xf32>[vector<16xi32>]\n{WRITE}"
    ),
    "core.atomic_rmw": (
        f"%r = core.atomic_rmw addf relaxed device %v, %m[%p] "
        f": {V}, memref<16xf32>[vector<16xi32>]\n{WRITE}"
    ),
    "core.gather": f"%r = core.gather %v[%p] axis 0 : {V}, vector<16xi32> -> {V}\n{WRITE}",
    "core.gather_load": (
        f"%r = core.gather_load %m[%p] : memref<16xf32>[vector<16xi32>] -> {V}\n{WRITE}"
    ),
    "core.histogram": (
        "%h = core.histogram %p : vector<16xi32> -> vector<16xi32>\n"
        f"%r = arith.sitofp %h : vector<16xi32> to {V}\n{WRITE}"
    ),
    "core.print": 'core.print "%f", %v : vector<16xf32>',
    "core.scatter_store": f"core.scatter_store %v, %m[%p] : {V}, memref<16xf32>[vector<16xi32>]",
}
"""The same with each operation on tiles only."""

OF_POINTERS = {
    "core.integer_to_pointer": "%n = arith.constant 0 : i64\n"
    "%q = core.integer_to_pointer %n : i64 -> !core.ptr<f32>",
    "core.pointer_add": "%q = core.pointer_add %x, %c0 : !core.ptr<f32>, index",
    "core.view": (
        "%w = core.view %x to offset: [0], sizes: [4], strides: [1] "
        ": !core.ptr<f32> to memref<4xf32>"
    ),
}
"""The same with operations that all levels have, but not XeGPU."""

SUBGROUP = (
    'core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32, '
    "known_block_size = array<i32: 16, 1, 1>"
)

WAYS = {
    "subgroups to XeGPU": (SUBGROUP, "core-to-xegpu", "pvc"),
    "subgroups to SPIR-V": (SUBGROUP, "core-to-spirv", "pvc"),
    "subgroups to a CPU": (SUBGROUP, "core-to-spirv", "cpu"),
    "lanes to SPIR-V": ("", "lane-to-spirv", "pvc"),
    "points to tiles": ('core.level = "block"', "core-to-tile", "sm_90"),
}
"""What the kernel is marked as, the translation, and the chip."""


ALLOWED = [
    ("core.assume", "points to tiles"),
    ("core.assume", "subgroups to SPIR-V"),
    ("core.assume", "subgroups to XeGPU"),
    *((name, "subgroups to a CPU") for name in OF_VECTORS),
    # Tiles, by way of which it goes, have pointers; nobody uses this one.
    ("core.integer_to_pointer", "subgroups to XeGPU"),
    ("core.view", "subgroups to XeGPU"),
]

CASES = [
    *(case for case in product(OF_VECTORS, WAYS) if case not in ALLOWED),
    *product(OF_TILES, ["lanes to SPIR-V"]),
    *(case for case in product(OF_POINTERS, ["subgroups to XeGPU"]) if case not in ALLOWED),
]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_refused_at_its_place(name: str, way: str) -> None:
    attributes, route, chip = WAYS[way]
    body = f"{SETUP}{ {**OF_VECTORS, **OF_TILES, **OF_POINTERS}[name] }\n"
    if way.startswith("points"):
        body = f"core.parallel {{\n{body}}}\n"
    text = (
        f"gpu.module @m {{\ngpu.func @k({PARAMETERS}) kernel attributes {{{attributes}}} {{\n"
        f"{body}gpu.return\n}}\n}}\n"
    )
    with pytest.raises(DiagnosticError) as caught:
        translate(read(text), route, Options(chip))
    (diagnostic,) = caught.value.diagnostics
    assert name in diagnostic.message
    assert diagnostic.span is not None
    assert name in text[diagnostic.span.start : diagnostic.span.end]
