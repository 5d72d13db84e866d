"""Every operation of XeGPU is built through its constructor, verified, printed and read back."""

from __future__ import annotations

from typing import Any

import pytest
from xdsl.dialects.builtin import (
    IndexType,
    IntegerType,
    MemRefType,
    ModuleOp,
    VectorType,
    f16,
    f32,
    i1,
    i8,
    i64,
)
from xdsl.dialects.test import TestOp as Source
from xdsl.ir import Attribute, Operation

import xtile
from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.registry import all_dialects
from xtile.dialects.xegpu import ops
from xtile.dialects.xegpu.attributes import CachePolicy, FenceScope, MemorySpace


class Body:
    """Collects operations; a call returns the result of the last one."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def __call__(self, *operations: Operation) -> Any:
        self.operations += operations
        results = operations[-1].results
        return results[0] if results else None

    def value(self, type: Attribute | str) -> Any:
        """A value of a type, from anywhere."""
        return self(Source(result_types=[parsed(type) if isinstance(type, str) else type]))


def parsed(type: str) -> Attribute:
    """A type of the dialect, as its text has it."""
    module = xtile.parse(f'%0 = "test.op"() : () -> {type}\n', language="mlir")
    (operation,) = module.body.block.ops
    return operation.results[0].type


BLOCK = "!xegpu.tensor_desc<8x16xf16>"
POINTS = "!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>"
LAYOUT = "!xegpu.tensor_desc<8x16xf16, #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>>"


def blocks(body: Body) -> None:
    memory = body.value(MemRefType(f16, [64, 64]))
    i = body.value(IndexType())
    address = body.value(i64)
    block = body(ops.CreateNdDescOp(memory, [0, i], result_type=parsed(BLOCK)))
    body(ops.CreateNdDescOp(address, None, [i, 64], [64, 1], result_type=parsed(BLOCK)))
    block = body(ops.UpdateNdOffsetOp(block, [8, i]))
    hints = {"l1_hint": CachePolicy.CACHED, "l2_hint": CachePolicy.UNCACHED}
    body(ops.PrefetchNdOp(block, **hints))
    value = body(ops.LoadNdOp(block, l3_hint=CachePolicy.STREAMING))
    assert value.type == VectorType(f16, [8, 16])
    whole = body(ops.CreateNdDescOp(memory, result_type=parsed("!xegpu.tensor_desc<16x16xf16>")))
    right = body(ops.LoadNdOp(whole, [0, i], VectorType(f16, [8, 16, 2]), packed=True))
    assert body(ops.LoadNdOp(whole, [i, 0], transpose=[1, 0])).type == VectorType(f16, [16, 16])
    total = body(ops.DpasOp(value, right, result_type=VectorType(f32, [8, 16])))
    assert body(ops.DpasOp(value, right, total)).type == total.type
    body(ops.StoreNdOp(value, block, l1_hint=CachePolicy.WRITE_BACK))
    layout = parsed(LAYOUT).layout  # pyright: ignore
    body(ops.ConvertLayoutOp(value, layout, layout))


def points(body: Body) -> None:
    address, mask = body.value(i64), body.value(VectorType(i1, [16]))
    offsets = body.value(VectorType(IndexType(), [16]))
    value = body.value(VectorType(f32, [16]))
    positions = body(ops.CreateDescOp(address, offsets, parsed(POINTS)))
    positions = body(ops.UpdateOffsetOp(positions, offsets))
    body(ops.PrefetchOp(positions, l1_hint=CachePolicy.CACHED))
    body(ops.PrefetchOp(address, offsets, offset_align_byte=4))
    body(ops.LoadGatherOp(positions, None, mask, VectorType(f32, [16])))
    body(ops.LoadGatherOp(address, offsets, mask, VectorType(f32, [16]), chunk_size=1))
    body(ops.StoreScatterOp(value, positions, None, mask, l1_hint=CachePolicy.WRITE_BACK))
    body(ops.AtomicRMWOp(AtomicRMWKind.addf, positions, mask, value))


def shared_memory(body: Body) -> None:
    memory = body.value("memref<2048xi8, 3>")
    matrix = body(ops.CreateMemDescOp(memory, parsed("!xegpu.mem_desc<16x64xf16>")))
    i = body.value(IndexType())
    value = body(ops.LoadMatrixOp(matrix, [i, 8], VectorType(f16, [8, 16])))
    body(ops.StoreMatrixOp(value, matrix, [0, i]))


def barriers(body: Body) -> None:
    number = body.value(IntegerType(8))
    assert number.type == i8
    body(ops.AllocNbarrierOp(8))
    barrier = body(ops.InitNbarrierOp(number, number))
    body(ops.NbarrierArriveOp(barrier), ops.NbarrierWaitOp(barrier))
    body(ops.FenceOp(MemorySpace.GLOBAL, FenceScope.GPU))


KERNELS = (blocks, points, shared_memory, barriers)


@pytest.mark.parametrize("build", KERNELS)
def test_what_is_built_is_right_and_read_back(build: Any) -> None:
    body = Body()
    build(body)
    module = ModuleOp(body.operations)
    xtile.verify(module)
    text = xtile.to_text(module, "mlir")
    again = xtile.parse(text, language="mlir")
    assert xtile.to_text(again, "mlir") == text
    assert again.is_structurally_equivalent(module)


def test_every_operation_is_built() -> None:
    body = Body()
    for build in KERNELS:
        build(body)
    known = {o for o in all_dialects()["xegpu"]().operations if ".rfc." not in o.__module__}
    assert known == {type(operation) for operation in body.operations} - {Source}


def test_results_that_nothing_determines() -> None:
    body = Body()
    value = body.value(VectorType(f16, [8, 16]))
    with pytest.raises(ValueError, match="needs a result_type"):
        ops.DpasOp(value, value)
    with pytest.raises(ValueError, match="needs a result_type"):
        ops.LoadNdOp(body.value(POINTS))
