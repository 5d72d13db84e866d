"""A translation that has no rule for an operation of core says so at its place."""

from __future__ import annotations

import pytest

from tests.transforms.distribute.kernels import read
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate

ADD = "{ ^bb0(%a: f32, %b: f32): %c = arith.addf %a, %b : f32  core.yield %c : f32 }"

PARAMETERS = "%m: memref<16xf32>"

SETUP = """%c0 = arith.constant 0 : index
%zero = arith.constant 0.0 : f32
%v = vector.transfer_read %m[%c0], %zero {in_bounds = [true]} : memref<16xf32>, vector<16xf32>
"""

STORE = "memref.store %r, %m[%c0] : memref<16xf32>"
WRITE = "vector.transfer_write %r, %m[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>"

OPERATIONS = {
    "core.reduce": f"%r = core.reduce %v axis 0 : vector<16xf32> -> f32 {ADD}\n{STORE}",
    "core.scan": f"%r = core.scan %v axis 0 : vector<16xf32> -> vector<16xf32> {ADD}\n{WRITE}",
}
"""Lines with each operation, whose result is used."""

SUBGROUP = (
    'core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32, '
    "known_block_size = array<i32: 16, 1, 1>"
)

WAYS = {
    "XeGPU": (SUBGROUP, "core-to-xegpu", "pvc"),
    "SPIR-V": (SUBGROUP, "core-to-spirv", "pvc"),
    "SPIR-V, CPU": (SUBGROUP, "core-to-spirv", "cpu"),
    "lanes to SPIR-V": ("", "xegpu-to-spirv", "pvc"),
    "points to tiles": ('core.level = "block"', "core-to-tile", "sm_90"),
}
"""What the kernel is marked as, the translation, and the chip."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_refused_at_its_place(name: str, way: str) -> None:
    attributes, route, chip = WAYS[way]
    body = f"{SETUP}{OPERATIONS[name]}\n"
    if '"block"' in attributes:
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
