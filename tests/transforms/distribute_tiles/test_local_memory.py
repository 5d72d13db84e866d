"""Tiles that go through local memory: lanes that act at once reach different banks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.ir import SSAValue

from tests.transforms.distribute_tiles.distributed import distributed, tile_kernel
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.shapes import as_vector, dimensions_of
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.layouts.intel import VectorLayout
from xtile.layouts.local_memory import BANKS
from xtile.translate.core_to_xegpu.views import static_strides, type_of

SIZES = [(32, 64), (64, 16), (16, 128), (64, 64), (8, 256)]
TYPES = ["f16", "bf16", "f32", "f64", "i8", "i32"]

TRANSPOSE = """
%z = arith.constant {zero} : {type}
%x = vector.transfer_read %a[%c0, %c0], %z {{in_bounds = [true, true]}}
    : memref<{m}x{n}x{type}>, vector<{m}x{n}x{type}>
%y = {op} %x, %x : vector<{m}x{n}x{type}>
%t = vector.transpose %y, [1, 0] : vector<{m}x{n}x{type}> to vector<{n}x{m}x{type}>
vector.transfer_write %t, %b[%c0, %c0] {{in_bounds = [true, true]}}
    : vector<{n}x{m}x{type}>, memref<{n}x{m}x{type}>
"""


def conflicts(access: TransferReadOp | TransferWriteOp, lanes: int) -> int:
    """How often more than once a bank is reached, the most of all elements of a lane."""
    tile = access.result if isinstance(access, TransferReadOp) else access.vector
    vector = as_vector(tile.type)
    assert vector is not None
    element = vector.element_type
    assert isinstance(element, FixedBitwidthType)
    strides = [static_strides(type_of(access.source))[d or 0] for d in _dimensions(access)]
    shape = vector.get_shape()
    rows, columns = shape if len(shape) == 2 else (shape[0], 1)
    layout = VectorLayout(rows, columns, lanes).layout
    size, worst = element.size, 0
    at_once = BANKS.lanes_at_once(size)
    for register in range(layout.size("register")):
        indices = [layout.apply(register=register, lane=lane) for lane in range(lanes)]
        starts = [
            size * sum(i * (stride or 0) for i, stride in zip(index, strides, strict=False))
            for index in indices
        ]
        for first in range(0, lanes, at_once):
            words = {
                byte // BANKS.bytes
                for start in starts[first : first + at_once]
                for byte in range(start, start + size)
            }
            worst = max(worst, *Counter(word % BANKS.count for word in words).values())
    return worst - 1


def _dimensions(access: TransferReadOp | TransferWriteOp) -> list[int | None]:
    return list(dimensions_of(access.permutation_map))


def accesses(module: ModuleOp) -> Iterator[TransferReadOp | TransferWriteOp]:
    """The accesses of local memory."""

    def is_local(memory: SSAValue) -> bool:
        return isinstance(type_of(memory).memory_space, AddressSpaceAttr)

    for operation in module.walk():
        if isinstance(operation, TransferReadOp | TransferWriteOp) and is_local(operation.source):
            yield operation


@pytest.mark.slow
@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("chip", ["pvc", "dg2"])
def test_transposed_tiles_have_no_conflicts_of_banks(type: str, chip: str) -> None:
    if (type, chip) == ("f64", "dg2"):
        type = "f32"
    seen = 0
    for m, n in SIZES:
        is_integer = type.startswith("i")
        words = {"zero": "0" if is_integer else "0.0", "type": type, "m": m, "n": n}
        body = TRANSPOSE.format(op="arith.addi" if is_integer else "arith.addf", **words)
        module = distributed(
            tile_kernel(f"%a: memref<{m}x{n}x{type}>, %b: memref<{n}x{m}x{type}>", body), chip=chip
        )
        for access in accesses(module):
            assert conflicts(access, 16) == 0, (m, n)
            seen += 1
    assert seen >= 2 * len(SIZES)


def test_rows_without_padding_would_have_conflicts() -> None:
    """The count would show it: 16 rows of 32 words begin in one bank."""
    module = distributed(
        tile_kernel(
            "%a: memref<64x32xf32>, %b: memref<32x64xf32>",
            TRANSPOSE.format(op="arith.addf", zero="0.0", type="f32", m=64, n=32),
        )
    )
    (read,) = (each for each in accesses(module) if isinstance(each, TransferReadOp))
    layout = type_of(read.source).layout
    text = str(layout)
    assert "strided<[1, 33]" in text
