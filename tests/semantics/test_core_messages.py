"""What kernels at tile level print and assert, here and as CUDA Tile IR."""

from __future__ import annotations

import numpy as np
import pytest

from tests.dialects.core.core_text import verified
from tests.transforms.distribute.kernels import printed, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_kernel,
    unordered_accesses,
)
from xtile.semantics.errors import ExecutionError

PRINTS = tile_kernel(
    "%m: memref<2x4xi32>, %n: index",
    r"""%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %half = arith.constant 0.5 : f32
    %v = vector.load %m[%c0, %c0] : memref<2x4xi32>, vector<2x4xi32>
    core.print "tile %d, 100%%, %.2f\n", %v, %half : vector<2x4xi32>, f32
    scf.for %i = %c0 to %c3 step %c1 {
      gpu.printf "turn %lld\n", %i : index
    }
    core.print "end\n"
    """,
)

TEXT = "tile [[0, 1, 2, 3], [4, 5, 6, 7]], 100%, 0.50\nturn 0\nturn 1\nturn 2\nend\n"


@pytest.mark.parametrize("is_translated", [False, True])
def test_print(is_translated: bool, capsys: pytest.CaptureFixture[str]) -> None:
    m = np.arange(8, dtype=np.int32).reshape(2, 4)
    if is_translated:
        run_entry(PRINTS, lowered(PRINTS), m, 3)
    else:
        run(read(PRINTS), m, 3)
    assert capsys.readouterr().out == TEXT


def test_texts_wait_for_each_other() -> None:
    module = lowered(PRINTS)
    lines = [line for line in printed(module).splitlines() if "print_tko" in line]
    assert ["token" in line.partition(" : ")[0] for line in lines] == [False, True, True]
    assert unordered_accesses(PRINTS, module, np.zeros((2, 4), np.int32), 3) == []
    assemble_for_all(module)


ASSERTS = tile_kernel(
    "%m: memref<8xi32>, %o: memref<1xi32>",
    """%c0 = arith.constant 0 : index
    %v = vector.load %m[%c0] : memref<8xi32>, vector<8xi32>
    %zero = arith.constant dense<0> : vector<8xi32>
    %true = arith.constant true
    %positive = arith.cmpi sgt, %v, %zero : vector<8xi32>
    %all = vector.multi_reduction <and>, %positive, %true [0] : vector<8xi1> to i1
    cf.assert %all, "a size is not positive"
    %one = arith.constant 1 : i32
    memref.store %one, %o[%c0] : memref<1xi32>
    """,
)


@pytest.mark.parametrize("is_translated", [False, True])
def test_assert(is_translated: bool) -> None:
    m, out = np.arange(1, 9, dtype=np.int32), np.zeros(1, np.int32)
    module = lowered(ASSERTS)

    def launch() -> None:
        if is_translated:
            run_entry(ASSERTS, module, m, out)
        else:
            run(read(ASSERTS), m, out)

    launch()
    assert out[0] == 1
    m[3] = 0
    with pytest.raises(ExecutionError, match=r"the assertion .* a size is not positive"):
        launch()
    assemble_for_all(module)


def test_text() -> None:
    parameters = "%x: vector<8xf32>, %n: i32"
    for line in ('core.print "x\\0A"', 'core.print "%f %d", %x, %n : vector<8xf32>, i32'):
        text, errors = verified(parameters, line)
        assert errors == []
        assert line in text
    _, (error,) = verified(parameters, 'core.print "%d", %n, %n : i32, i32')
    assert "expected an operand for each conversion in the format, 1 in all, but got 2" in error
    _, errors = verified(parameters, 'core.print "x"', "subgroup")
    assert errors == ["core.print is an operation on tiles; the kernel is at level subgroup"]
