"""What launches check so that tiles are known to lie inside of memory, on chips without blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.arguments.launch_checks import UnfitLaunchError, check_of, first_failing
from xtile.dialects.core.launch_checks import check_words
from xtile.dialects.gpu.functions import FuncOp
from xtile.targets import INTEL
from xtile.targets.compilers import XTILE
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.promise_edges import promise_edges
from xtile.translate.route import Options, translate_to

COPY = """
gpu.module @kernels {{
  gpu.func @copy(%x: memref<{rows}x64xf16>, %y: memref<{rows}x64xf16>, %z: memref<?x64xf16>)
      kernel attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %size = arith.constant 16 : index
    %end = arith.constant 64 : index
    %zero = arith.constant 0.0 : f16
    %block = gpu.block_id x
    %word = arith.index_cast %block : index to i32
    %same = arith.index_castui %word : i32 to index
    %row = arith.muli %same, %size : index
    %is_there = arith.cmpi slt, %row, %end : index
    %first = arith.select %is_there, %row, %c0 : index
    scf.for %column = %c0 to %end step %size {{
      %v = vector.transfer_read %x[%first, %column], %zero {{in_bounds = [false, false]}}
          : memref<{rows}x64xf16>, vector<16x16xf16>
      vector.transfer_write %v, %{to}[%row, %column] {{in_bounds = [false, false]}}
          : vector<16x16xf16>, memref<{shape}x64xf16>
    }}
    gpu.return
  }}
}}
"""


def copy(rows: int = 64, to: str = "y") -> Any:
    shape = rows if to == "y" else "?"
    return xtile.parse(COPY.format(rows=rows, to=to, shape=shape), language="mlir")


def promised(module: Any, chip: str = "dg2", **options: Any) -> Any:
    return promise_edges(module, for_spirv(INTEL.chips[chip]), **options)


def test_tiles_lie_inside() -> None:
    """The columns are known; of rows it takes a grid that is no larger than the memory."""
    remarks = Diagnostics()
    module = promised(copy(), diagnostics=remarks)
    (function,) = (each for each in module.walk() if isinstance(each, FuncOp))
    assert [each.message for each in remarks] == [
        "a launch checks that (block x * 16) is from 0 to 48"
    ]
    text = xtile.to_text(module, "mlir")
    assert text.count("in_bounds = [true, true]") == 2
    checks = [check_of(words) for words in check_words(function)]
    assert first_failing(checks, (), (4, 1, 1)) is None
    assert first_failing(checks, (), (5, 1, 1)) is not None


@pytest.mark.parametrize(("rows", "to", "inside"), [(60, "y", 0), (64, "z", 1)])
def test_sizes_that_tiles_do_not_divide_or_nobody_knows(rows: int, to: str, inside: int) -> None:
    text = xtile.to_text(promised(copy(rows, to)), "mlir")
    assert text.count("in_bounds = [true, true]") == inside


def test_nothing_is_promised_without_launches_or_on_chips_with_blocks() -> None:
    module = copy()
    assert promised(module, may_wrap=True) is module
    assert promised(module, "pvc") is module
    assert promised(module, "cpu") is module


@pytest.mark.parametrize("rows", [64, 60])
def test_values(rows: int) -> None:
    made = translate_to(copy(rows), "lane", Options("dg2", compiler=XTILE))
    assert ("scf.if" not in xtile.to_text(made, "mlir")) == (rows == 64)
    x = fresh_generator().standard_normal((rows, 64)).astype(np.float16)
    y, unused = np.full_like(x, np.nan), np.zeros((1, 64), np.float16)
    xtile.run(made, (x, y, unused), 4)
    np.testing.assert_array_equal(y, x)
    if rows == 64:
        with pytest.raises(UnfitLaunchError, match="block x \\* 16"):
            xtile.run(made, (x, y, unused), 5)
