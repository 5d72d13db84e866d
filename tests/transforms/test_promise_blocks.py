"""What launches check so that memory can be accessed by two-dimensional blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.arguments.launch_checks import check_of, first_failing
from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.core.launch_checks import check_words
from xtile.dialects.core.views import ViewOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.targets import INTEL
from xtile.targets.compilers import XTILE
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.promise_blocks import promise_blocks
from xtile.translate.route import Options, translate_to

COPY = """
gpu.module @kernels {{
  gpu.func @copy(%p: !core.ptr<f16>, %q: !core.ptr<f16>, %rows: i32, %columns: i32, %pitch: i32)
      kernel attributes {{core.level = "tile"}} {{
    %base = core.assume %p divisible_by {alignment} : !core.ptr<f16>
    %to = core.assume %q divisible_by 64 : !core.ptr<f16>
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f16
    %m = arith.index_cast %rows : i32 to index
    %k = core.assume %columns divisible_by {divisor} : i32
    %n = arith.index_cast %k : i32 to index
    %s = core.assume %pitch divisible_by {divisor} : i32
    %d = arith.index_cast %s : i32 to index
    %x = core.view %base to offset: [0], sizes: [%m, %n], strides: [%d, 1]
        : !core.ptr<f16> to memref<?x?xf16, strided<[?, 1]>>
    %y = core.view %to to offset: [0], sizes: [32, 32], strides: [32, 1]
        : !core.ptr<f16> to memref<32x32xf16, strided<[32, 1]>>
    %v = vector.transfer_read %x[%c0, %c0], %zero {{in_bounds = [false, false]}}
        : memref<?x?xf16, strided<[?, 1]>>, vector<32x32xf16>
    vector.transfer_write %v, %y[%c0, %c0] {{in_bounds = [true, true]}}
        : vector<32x32xf16>, memref<32x32xf16, strided<[32, 1]>>
    gpu.return
  }}
}}
"""


def read(alignment: int = 16, divisor: int = 16) -> Any:
    return xtile.parse(COPY.format(alignment=alignment, divisor=divisor), language="mlir")


def promised(module: Any, **options: Any) -> Any:
    return promise_blocks(module, INTEL.chips["pvc"].block_access, **options)


def test_rows_are_long_enough() -> None:
    """A row has 64 bytes or more, and is that far from the next one, up to 2^24 bytes."""
    remarks = Diagnostics()
    module = promised(read(), diagnostics=remarks)
    (function,) = (each for each in module.walk() if isinstance(each, FuncOp))
    assert check_words(function) == [
        [["argument", 3], 32, 1 << 23],
        [["argument", 4], 32, 1 << 23],
    ]
    assert [each.message for each in remarks] == [
        "a launch checks that argument 3 is from 32 to 8388608",
        "a launch checks that argument 4 is from 32 to 8388608",
    ]
    view = next(each for each in module.walk() if isinstance(each, ViewOp))
    for number in (view.sizes[1], view.strides[0]):
        assume = number.owner
        assert isinstance(assume, AssumeOp)
        assert (assume.least, assume.most) == (32, 1 << 23)
    checks = [check_of(words) for words in check_words(function)]
    assert first_failing(checks, (0, 0, 5, 32, 48), (1, 1, 1)) is None
    for columns, pitch in ((16, 48), (32, 16), (1 << 24, 1 << 24)):
        assert first_failing(checks, (0, 0, 5, columns, pitch), (1, 1, 1)) is not None


@pytest.mark.parametrize(
    ("alignment", "divisor", "reason"),
    [(2, 16, "the address"), (16, 2, "the pitch"), (16, 1, "a row")],
)
def test_what_a_launch_does_not_check_must_be_known(
    alignment: int, divisor: int, reason: str
) -> None:
    assert "at_least" not in xtile.to_text(promised(read(alignment, divisor)), "mlir"), reason


def test_nothing_is_assumed_without_launches_or_blocks() -> None:
    module = read()
    assert promised(module, may_wrap=True) is module
    assert promise_blocks(module, INTEL.chips["dg2"].block_access) is module
    lanes = xtile.parse(COPY.format(alignment=16, divisor=16), language="mlir")
    made = translate_to(lanes, "lane", Options("pvc", compiler=XTILE, may_wrap=True))
    assert "xegpu.load_nd" not in xtile.to_text(made, "mlir")


@pytest.mark.parametrize(("rows", "columns", "pitch"), [(32, 32, 32), (17, 48, 64), (40, 32, 80)])
def test_values(rows: int, columns: int, pitch: int) -> None:
    made = translate_to(read(), "lane", Options("pvc", compiler=XTILE))
    assert "xegpu.load_nd" in xtile.to_text(made, "mlir")
    memory = np.full(64 * 128, np.nan, np.float16)
    matrix = memory[: 64 * pitch].reshape(64, pitch)
    matrix[:rows, :columns] = fresh_generator().standard_normal((rows, columns))
    out = np.full((32, 32), np.nan, np.float16)
    xtile.run(made, (memory, out, rows, columns, pitch), 1)
    expected = np.zeros((32, 32), np.float16)
    inside = min(rows, 32), min(columns, 32)
    expected[: inside[0], : inside[1]] = matrix[: inside[0], : inside[1]]
    np.testing.assert_array_equal(out, expected)


def test_rows_that_begin_with_a_tile_are_not_promised_to_be_long() -> None:
    """What is left of a row is short at its end, so that no launch would find it long enough."""
    text = COPY.format(alignment=16, divisor=16)
    text = text.replace("core.view %base to offset: [0]", "core.view %base to offset: [%first]")
    text = text.replace("strided<[?, 1]>>", "strided<[?, 1], offset: ?>>").replace(
        "%n = arith.index_cast %k : i32 to index",
        """%all = arith.index_cast %k : i32 to index
    %block = gpu.block_id x
    %c32 = arith.constant 32 : index
    %first = arith.muli %block, %c32 : index
    %n = arith.subi %all, %first : index""",
    )
    module = promised(xtile.parse(text, language="mlir"))
    (function,) = (each for each in module.walk() if isinstance(each, FuncOp))
    assert check_words(function) == []


def test_columns_that_are_checked_are_not_negative() -> None:
    """Before memory that begins between addresses of blocks lies other memory."""
    text = COPY.format(alignment=16, divisor=16).replace(
        "%v = vector.transfer_read %x[%c0, %c0]",
        """%c32 = arith.constant 32 : i32
    %block = gpu.block_id x
    %number = arith.index_cast %block : index to i32
    %quotient = arith.divsi %number, %k : i32
    %begin = arith.muli %quotient, %c32 : i32
    %column = arith.index_cast %begin : i32 to index
    %is_inside = arith.cmpi slt, %column, %n : index
    %first = arith.select %is_inside, %column, %c0 : index
    %v = vector.transfer_read %x[%c0, %first]""",
    )
    module = promised(xtile.parse(text, language="mlir"))
    (function,) = (each for each in module.walk() if isinstance(each, FuncOp))
    *_, check = check_words(function)
    quotient = ["div", 32, ["cast", 32, ["block", 0]], ["argument", 3]]
    assert check == [["mul", 32, quotient, 32], 0, 2**31 - 1]
    checks = [check_of(words) for words in check_words(function)]
    assert first_failing(checks, (0, 0, 5, 32, 48), (2**30, 1, 1)) is None
    assert first_failing(checks, (0, 0, 5, 32, 48), (2**31 + 64, 1, 1)) is not None
    made = translate_to(xtile.parse(text, language="mlir"), "lane", Options("pvc", compiler=XTILE))
    assert "xegpu.load_nd" in xtile.to_text(made, "mlir")
