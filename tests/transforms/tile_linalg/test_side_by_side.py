"""Tiles of `foreach_tile` whose products are computed together."""

from __future__ import annotations

from string import Template

import pytest

import xtile
from tests.backends.intel.random_arguments import plain_numbers
from tests.transforms.tile_linalg.from_source import Shape, check
from xtile.semantics.configuration import Size3
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate

KERNEL = Template("""
$$c = coopmatrix<f32x16x8,matrix_acc>
$$a = coopmatrix<f16x16x8,matrix_a>
$$b = coopmatrix<f16x8x8,matrix_b>

func @k(%a: memref<f16x?x?>, %b: memref<f16x?x?>, %c: memref<f32x$columns>, %m: index) {
    %c0 = constant 0 : index
    %c8 = constant 8 : index
    %c24 = constant 24 : index
    %block = constant 64 : index
    %rows = size %c[0] : index
    %columns = size %c[1] : index
    %depth = size %a[1] : index
    %group = group_id.x : index
    %x = mul %group, %block : index
    %end = add %x, %block : index
    %x_end = min %end, $rows : index
    foreach_tile (%i,%j)=($first,%c0),($last,$width) as (%h,%w)<=(16,8) {
        %both = add %i, %j : index
        %before = cooperative_matrix_load.n$check %c[$place] : $$c
        %sum = for %k=%c0,%depth,%c8 init(%s=%before) -> ($$c) {
            %p = cooperative_matrix_load.n.both_checked %a[$row,%k] : $$a
            %q = cooperative_matrix_load.n.both_checked %b[%k,%j] : $$b
            %next = cooperative_matrix_mul_add %p, %q, %s : $$c
            yield (%next)
        }
        $more
        cooperative_matrix_store.n$check %sum, %c[$place]
    }
}
""")

USUAL = {
    "columns": "?x?",
    "rows": "%rows",
    "first": "%x",
    "last": "%x_end",
    "width": "%columns",
    "check": ".both_checked",
    "place": "%i,%j",
    "row": "%i",
    "more": "",
}

FEW: list[Shape] = [(150, 20), (20, 29), (150, 29)]

FORMS: dict[str, tuple[dict[str, str], Size3, list[Shape], str]] = {
    "blocks": ({}, (3, 1, 1), FEW, "128x64xf32"),
    "all rows in turns": (
        {"first": "%c0", "last": "%rows"},
        (1, 1, 1),
        [(300, 9), (9, 20), (300, 20)],
        "256x256xf32",
    ),
    "fewer rows than memory": ({"rows": "%m"}, (3, 1, 1), FEW, "128x64xf32"),
    "tiles that are inside": (
        {"check": ""},
        (2, 1, 1),
        [(128, 9), (9, 32), (128, 32)],
        "128x64xf32",
    ),
    "sizes that are known": (
        {"columns": "64x24", "first": "%c0", "last": "%block", "width": "%c24", "check": ""},
        (1, 1, 1),
        [(64, 20), (20, 24), (64, 24)],
        "32x64xf32",
    ),
    "a condition that is the same": (
        {"more": "if %has { cooperative_matrix_store.n.both_checked %sum, %c[%i,%j] }"},
        (3, 1, 1),
        FEW,
        "128x64xf32",
    ),
}
"""What is written otherwise, the launch, shapes, and the type of the product's result."""


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_values(name: str) -> None:
    words, grid, shapes, result = FORMS[name]
    text = KERNEL.substitute({**USUAL, **words})
    if "%has" in text:
        text = text.replace("%end = add", "%has = less_than %m, %block : bool\n    %end = add")
    module = check(text, 1, grid, plain_numbers, shapes={"k": shapes})
    assert f"into vector<{result}" in xtile.to_text(module, "mlir")


APART = {
    "a condition that differs": {
        "more": "%has = equal %h, %c8 : bool\n"
        "if %has { cooperative_matrix_store.n.both_checked %sum, %c[%i,%j] }"
    },
    "tiles that lie crosswise": {"row": "%both"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", APART)
def test_what_stays_in_turns(name: str) -> None:
    text = KERNEL.substitute({**USUAL, **APART[name]})
    module = check(text, 1, (3, 1, 1), plain_numbers, shapes={"k": FEW})
    assert "into vector<8x16xf32>" in xtile.to_text(module, "mlir")


def test_remarks() -> None:
    diagnostics = Diagnostics()
    module = xtile.parse(KERNEL.substitute(USUAL), language="tensorlang")
    translate(module, "tensorlang-to-tile", Options("sm_90"), diagnostics)
    assert "4 x 16 tiles are computed together" in [each.message for each in diagnostics]
