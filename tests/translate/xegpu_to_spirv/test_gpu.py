"""Ids, barriers and exchanges on OpenCL's CPU device and on the reference device."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_seed
from tests.semantics.upstream.kernels import DTYPES
from tests.translate.xegpu_to_spirv.lane_kernels import (
    LaneKernel,
    LaneKernels,
    same,
    spirv_text,
    unwritten,
    validate,
)
from xtile.targets.intel import CPU, DG2, PVC
from xtile.targets.lanes import LaneTarget, for_spirv
from xtile.text.diagnostics import DiagnosticError

# --- where a work-item stands ---

_OF_DIMENSIONS = (
    "thread_id",
    "block_id",
    "block_dim",
    "grid_dim",
    "global_id",
    "cluster_id",
    "cluster_dim",
    "cluster_block_id",
    "cluster_dim_blocks",
)

_OF_SUBGROUPS = (
    ("lane_id", ""),
    ("subgroup_id", " : index"),
    ("num_subgroups", " : index"),
    ("subgroup_size", " : index"),
)

_NUMBER = """
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %bz = gpu.block_id z
    %gx = gpu.grid_dim x
    %gy = gpu.grid_dim y
    %dx = gpu.block_dim x
    %dy = gpu.block_dim y
    %dz = gpu.block_dim z
    %tx = gpu.thread_id x
    %ty = gpu.thread_id y
    %tz = gpu.thread_id z
    %0 = arith.muli %bz, %gy : index
    %1 = arith.addi %0, %by : index
    %2 = arith.muli %1, %gx : index
    %3 = arith.addi %2, %bx : index
    %4 = arith.muli %3, %dz : index
    %5 = arith.addi %4, %tz : index
    %6 = arith.muli %5, %dy : index
    %7 = arith.addi %6, %ty : index
    %8 = arith.muli %7, %dx : index
    %n = arith.addi %8, %tx : index
"""
"""The number of a work-item in the whole launch."""


def _id_kernel(operation: str, block: tuple[int, int, int], lanes: int | None) -> LaneKernel:
    body = f"{_NUMBER}\n%r = gpu.{operation}\nmemref.store %r, %out[%n] : memref<?xindex>"
    return LaneKernel("%out: memref<?xindex>", body, block, lanes)


_DIMENSION_KERNELS = {
    f"{name}_{dimension}": _id_kernel(f"{name} {dimension}", (4, 3, 2), None)
    for name, dimension in product(_OF_DIMENSIONS, "xyz")
}

_BLOCKS = ((16, 1, 1), (64, 1, 1), (16, 4, 1), (32, 2, 2), (40, 1, 1), (8, 1, 1))

_SUBGROUP_KERNELS = {
    f"{name}_{'_'.join(map(str, block))}_{lanes}": _id_kernel(name + tail, block, lanes)
    for (name, tail), block, lanes in product(_OF_SUBGROUPS, _BLOCKS, (8, 16))
}

_GRID = (3, 2, 2)


@pytest.fixture(scope="module")
def ids() -> LaneKernels:
    return LaneKernels({**_DIMENSION_KERNELS, **_SUBGROUP_KERNELS})


@pytest.mark.parametrize("name", [*_DIMENSION_KERNELS, *_SUBGROUP_KERNELS])
def test_ids(name: str, ids: LaneKernels) -> None:
    block = {**_DIMENSION_KERNELS, **_SUBGROUP_KERNELS}[name].block
    count = int(np.prod(block) * np.prod(_GRID))
    ((expected, found),) = ids.on_both(name, unwritten(count, "index"), grid=_GRID)
    np.testing.assert_array_equal(found, expected)
    assert (expected >= 0).all()


def test_subgroups_of_a_cpu_lie_along_x() -> None:
    kernels = LaneKernels({"k": _id_kernel("lane_id", (8, 4, 1), 16)})
    with pytest.raises(DiagnosticError) as caught:
        _ = kernels.program
    assert "a CPU's subgroups lie along x, where this work-group has 8 work-items" in str(
        caught.value
    )


def test_a_device_has_only_some_sizes_of_subgroups() -> None:
    kernels = LaneKernels({"k": _id_kernel("lane_id", (64, 1, 1), 8)}, device=for_spirv(PVC))
    with pytest.raises(DiagnosticError) as caught:
        _ = kernels.program
    assert "pvc has no subgroups of 8 work-items; its sizes are 16, 32" in str(caught.value)


def test_what_a_launch_chooses_is_read_from_builtins() -> None:
    text = spirv_text(
        "%r = gpu.subgroup_id : index\nmemref.store %r, %out[%r] : memref<?xindex>",
        "%out: memref<?xindex>",
        for_spirv(DG2),
        block=(64, 1, 1),
    )
    assert "BuiltIn SubgroupId" in text
    assert "SubgroupSize 16" in text
    assert "LocalSize 64 1 1" in text
    on_cpu = spirv_text(
        "%r = gpu.subgroup_id : index\nmemref.store %r, %out[%r] : memref<?xindex>",
        "%out: memref<?xindex>",
        for_spirv(CPU),
        block=(64, 1, 1),
    )
    assert "BuiltIn SubgroupId" not in on_cpu


def test_a_size_of_subgroups_is_asked_for_only_where_lanes_matter() -> None:
    body = "%r = gpu.thread_id x\nmemref.store %r, %out[%r] : memref<?xindex>"
    assert "SubgroupSize" not in spirv_text(body, "%out: memref<?xindex>", block=(64, 1, 1))


@pytest.mark.parametrize(
    ("device", "block", "body", "is_told"),
    [
        (for_spirv(CPU), (1, 1, 1), "%r = gpu.block_id x", True),
        (for_spirv(CPU), (1, 4, 1), "%r = gpu.thread_id y", True),
        (for_spirv(CPU), (64, 1, 1), "%r = gpu.thread_id x", False),
        (for_spirv(CPU), (1, 1, 1), "%r = gpu.lane_id", False),
        (for_spirv(PVC), (1, 1, 1), "%r = gpu.block_id x", False),
    ],
)
def test_a_cpus_driver_is_told_that_work_items_are_no_vectors(
    device: LaneTarget, block: tuple[int, int, int], body: str, is_told: bool
) -> None:
    store = "memref.store %r, %out[%r] : memref<?xindex>"
    text = spirv_text(f"{body}\n{store}", "%out: memref<?xindex>", device, block=block)
    assert text.count("VecTypeHint 1048581") == is_told


# --- barriers and local memory ---

_REVERSE = LaneKernel(
    "%a: memref<64xf32>, %out: memref<64xf32>",
    """
    %x = gpu.thread_id x
    %last = arith.constant 63 : index
    %y = arith.subi %last, %x : index
    %0 = memref.load %a[%x] : memref<64xf32>
    memref.store %0, %tile[%x] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %1 = memref.load %tile[%y] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %1, %out[%x] : memref<64xf32>
    """,
    (64, 1, 1),
    attributions="workgroup(%tile : memref<64xf32, #gpu.address_space<workgroup>>)",
)


def test_work_items_see_what_was_written_before_a_barrier() -> None:
    kernels = LaneKernels({"reverse": _REVERSE})
    numbers = np.random.default_rng(fresh_seed()).normal(size=64).astype(np.float32)
    _, (_, found) = kernels.on_both("reverse", numbers, unwritten(64, "f32"))
    np.testing.assert_array_equal(found, numbers[::-1])


def test_a_barrier_is_one_of_the_work_group_and_of_both_kinds_of_memory() -> None:
    text = spirv_text("gpu.barrier")
    assert "OpControlBarrier %uint_2 %uint_2 %uint_776" in text


# --- exchanges ---

_TYPES = ("i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")

_MODES = ("xor", "up", "down", "idx")


def _exchange(operation: str, type: str, lanes: int = 16) -> LaneKernel:
    """A kernel of 2 subgroups, which stores a number and whether it is valid."""
    body = f"""
        %x = gpu.thread_id x
        %v = memref.load %a[%x] : memref<?x{type}>
        %o = memref.load %offsets[%x] : memref<?xi32>
        %eight = arith.constant 8 : i32
        %one = arith.constant 1 : i32
        %size = arith.constant {lanes} : i32
        %r, %ok = {operation}
        memref.store %r, %out[%x] : memref<?x{type}>
        memref.store %ok, %valid[%x] : memref<?xi1>
    """
    parameters = (
        f"%a: memref<?x{type}>, %offsets: memref<?xi32>, %out: memref<?x{type}>, "
        "%valid: memref<?xi1>"
    )
    return LaneKernel(parameters, body, (2 * lanes, 1, 1), lanes)


EXCHANGES = {
    **{
        f"{mode}_{width[1:]}_{offset[1:]}_{type}": _exchange(
            f"gpu.shuffle {mode} %v, {offset}, {width} : {type}", type
        )
        for mode, type, width, offset in product(
            _MODES, _TYPES, ("%size", "%eight"), ("%o", "%one")
        )
        if offset == "%o" or type == "f32"
    },
    **{
        f"rotate_{offset}_{width}": _exchange(f"gpu.rotate %v, {offset}, {width} : f32", "f32")
        for offset, width in ((1, 16), (5, 8), (0, 4))
    },
    "subgroups_of_8": _exchange("gpu.shuffle xor %v, %one, %eight : f32", "f32", 8),
    "subgroups_of_32": _exchange("gpu.shuffle down %v, %eight, %size : f32", "f32", 32),
}


@pytest.fixture(scope="module")
def exchanges() -> LaneKernels:
    return LaneKernels({**EXCHANGES, **REDUCTIONS, **OTHERS})


@pytest.mark.parametrize("name", EXCHANGES)
def test_shuffles(name: str, exchanges: LaneKernels) -> None:
    random = np.random.default_rng(fresh_seed())
    kernel = EXCHANGES[name]
    count = kernel.block[0]
    type_ = kernel.parameters.partition("memref<?x")[2].partition(">")[0]
    values = _numbers(random, type_, count)
    offsets = random.integers(0, 18, count).astype(np.int32)
    results = exchanges.on_both(
        name, values, offsets, unwritten(count, type_), np.zeros(count, np.bool_)
    )
    for expected, found in results[2:]:
        assert same(expected, found).all()


def _numbers(random: np.random.Generator, type: str, count: int) -> Any:
    dtype = np.dtype(DTYPES[type])
    if type == "i1":
        return random.integers(0, 2, count).astype(np.bool_)
    if dtype.kind == "i":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, count, dtype, endpoint=True)
    return random.integers(-8, 9, count).astype(dtype)


# --- reductions ---

_INTEGER_KINDS = ("add", "mul", "minui", "minsi", "maxui", "maxsi", "and", "or", "xor")

_FLOAT_KINDS = ("add", "mul", "minnumf", "maxnumf", "minimumf", "maximumf")


def _reduction(operation: str, type: str) -> LaneKernel:
    body = f"""
        %x = gpu.thread_id x
        %v = memref.load %a[%x] : memref<?x{type}>
        %r = {operation} : ({type}) -> {type}
        memref.store %r, %out[%x] : memref<?x{type}>
    """
    return LaneKernel(f"%a: memref<?x{type}>, %out: memref<?x{type}>", body, (32, 1, 1), 16)


REDUCTIONS = {
    **{
        f"{kind}_{type}": _reduction(f"gpu.subgroup_reduce {kind} %v", type)
        for kind, type in (
            *product(_INTEGER_KINDS, ("i1", "i8", "i16", "i32", "i64")),
            *product(_FLOAT_KINDS, ("f16", "bf16", "f32", "f64")),
        )
    },
    **{
        f"cluster_{size}_{stride}": _reduction(
            f"gpu.subgroup_reduce add %v cluster(size = {size}, stride = {stride})", "i32"
        )
        for size, stride in ((1, 1), (4, 1), (8, 1), (4, 2), (2, 8), (16, 1))
    },
    **{
        f"all_{kind}_{type}": _reduction(f"gpu.all_reduce {kind} %v {{}}", type)
        for kind, type in (
            *product(("add", "minsi", "maxsi", "minui", "maxui"), ("i32", "i64")),
            *product(("add", "minnumf", "maxnumf"), ("f16", "f32", "f64")),
        )
    },
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, exchanges: LaneKernels) -> None:
    """Numbers are small integers, whose sums and products are exact in any order."""
    random = np.random.default_rng(fresh_seed())
    type_ = REDUCTIONS[name].parameters.partition("memref<?x")[2].partition(">")[0]
    values = _numbers(random, type_, 32)
    if "mul" in name and np.dtype(DTYPES[type_]).kind != "i":
        values = random.choice([-2, -1, 1], 32).astype(DTYPES[type_])
    if "imumf" in name or "numf" in name:
        values[3] = np.nan
    _, (expected, found) = exchanges.on_both(name, values, unwritten(32, type_))
    equal = same(expected, found) | (expected == found)
    assert equal.all(), f"{found} instead of {expected} of {values}"


OTHERS = {
    "first": LaneKernel(
        "%a: memref<?xf32>, %out: memref<?xf32>",
        """
        %x = gpu.thread_id x
        %v = memref.load %a[%x] : memref<?xf32>
        %r = gpu.subgroup_broadcast %v, first_active_lane : f32
        memref.store %r, %out[%x] : memref<?xf32>
        """,
        (32, 1, 1),
        16,
    ),
    "specific": LaneKernel(
        "%a: memref<?xf32>, %out: memref<?xf32>",
        """
        %x = gpu.thread_id x
        %v = memref.load %a[%x] : memref<?xf32>
        %lane = arith.constant 5 : i32
        %r = gpu.subgroup_broadcast %v, specific_lane %lane : f32
        memref.store %r, %out[%x] : memref<?xf32>
        """,
        (32, 1, 1),
        16,
    ),
    "vector": LaneKernel(
        "%a: memref<?xf32>, %out: memref<?xf32>",
        """
        %x = gpu.thread_id x
        %three = arith.constant 3 : index
        %f = arith.muli %x, %three : index
        %v = vector.load %a[%f] : memref<?xf32>, vector<3xf32>
        %one = arith.constant 1 : i32
        %size = arith.constant 16 : i32
        %s, %ok = gpu.shuffle xor %v, %one, %size : vector<3xf32>
        %r = gpu.subgroup_reduce maxnumf %s : (vector<3xf32>) -> vector<3xf32>
        vector.store %r, %out[%f] : memref<?xf32>, vector<3xf32>
        """,
        (32, 1, 1),
        16,
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_broadcasts_and_vectors(name: str, exchanges: LaneKernels) -> None:
    values = np.random.default_rng(fresh_seed()).normal(size=96).astype(np.float32)
    _, (expected, found) = exchanges.on_both(name, values, unwritten(96, "f32"))
    np.testing.assert_array_equal(found, expected)


def test_active_work_items_exchange_values() -> None:
    """Half of a subgroup adds up its numbers."""
    body = """
        %x = gpu.thread_id x
        %v = memref.load %a[%x] : memref<16xf32>
        %eight = arith.constant 8 : index
        %is = arith.cmpi ult, %x, %eight : index
        scf.if %is {
          %r = gpu.subgroup_reduce add %v : (f32) -> f32
          memref.store %r, %out[%x] : memref<16xf32>
        }
    """
    kernel = LaneKernel("%a: memref<16xf32>, %out: memref<16xf32>", body, (16, 1, 1), 16)
    values = np.arange(16, dtype=np.float32)
    _, (expected, found) = LaneKernels({"k": kernel}).on_both("k", values, unwritten(16, "f32"))
    np.testing.assert_array_equal(found, expected)
    assert found[0] == 28


def test_modules_are_valid(ids: LaneKernels, exchanges: LaneKernels) -> None:
    validate(ids.program.spirv)
    validate(exchanges.program.spirv)


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            "gpu.all_reduce mul %v {} : (f32) -> f32",
            "gpu.all_reduce mul of f32 cannot be translated to SPIR-V: work-groups have sums,",
        ),
        (
            "gpu.subgroup_reduce add %v cluster(size = 16, stride = 2) : (f32) -> f32",
            "clusters of 16 work-items with stride 2 do not divide a subgroup of 16 work-items",
        ),
    ],
)
def test_refused(operation: str, message: str) -> None:
    kernel = LaneKernel("%v: f32", f"%r = {operation}", (16, 1, 1), 16)
    with pytest.raises(DiagnosticError) as caught:
        _ = LaneKernels({"k": kernel}).program
    assert message in str(caught.value)
