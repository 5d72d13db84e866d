"""Global variables of a module keep their values from one launch to the next access."""

from __future__ import annotations

import numpy as np
import pytest

from tests.transforms.distribute.kernels import printed, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_function,
    unordered_accesses,
)
from xtile.text.diagnostics import DiagnosticError

BODY = """
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%one = arith.constant 1 : i32
%table = memref.get_global @table : memref<2x4xf32>
%count = memref.get_global @count : memref<2xi32>
%v = vector.load %table[%c0, %c0] : memref<2x4xf32>, vector<2x4xf32>
vector.store %v, %o[%c0, %c0] : memref<2x4xf32>, vector<2x4xf32>
%a = memref.atomic_rmw addi %one, %count[%c1] : (i32, memref<2xi32>) -> i32
%b = memref.load %count[%c1] : memref<2xi32>
memref.store %b, %n[%c0] : memref<1xi32>
"""


def module_of(variables: str, body: str = BODY) -> str:
    function = tile_function("%o: memref<2x4xf32>, %n: memref<1xi32>", body)
    return f"gpu.module @m {{\n{variables}\n{function}\n}}\n"


TEXT = module_of(
    """memref.global "private" constant @table : memref<2x4xf32> =
        dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]>
    memref.global @count : memref<2xi32> = dense<40>"""
)


def test_values() -> None:
    module = lowered(TEXT)
    for is_translated in (False, True):
        out, count = np.full((2, 4), np.nan, np.float32), np.zeros(1, np.int32)
        if is_translated:
            run_entry(TEXT, module, out, count)
        else:
            run(read(TEXT), out, count)
        assert out.ravel().tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
        assert count.tolist() == [41]
    assert unordered_accesses(TEXT, module, out, count) == []
    text = printed(module)
    assert "constant @table alignment = 128" in text
    assemble_for_all(module)


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        (
            "memref.global @count : memref<2xi32, #gpu.address_space<workgroup>> = uninitialized",
            "@count of type memref<2xi32, #gpu.address_space<workgroup>> cannot be translated to",
        ),
        ("memref.global @count : memref<2xcomplex<f32>> = uninitialized", "integers or floats"),
        ('memref.global "private" @count : memref<2xi32>', "@count is declared only"),
    ],
)
def test_refused(variable: str, message: str) -> None:
    text = module_of(variable, "%c0 = arith.constant 0 : index")
    with pytest.raises(DiagnosticError) as caught:
        lowered(text)
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.span is not None
    assert text[diagnostic.span.start :].startswith("memref.global")
