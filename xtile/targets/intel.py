"""Intel's chips.

Sources: MLIR (LLVM 22), `Dialect/XeGPU/uArch`; the OpenCL extensions
cl_intel_subgroup_2d_block_io (sections "New OpenCL C Functions" and "Restrictions"),
cl_intel_subgroup_matrix_multiply_accumulate and its `_tf32`, cl_intel_subgroups and
cl_intel_subgroup_local_block_io; for the CPU what Intel's OpenCL CPU
runtime 2026.2 reports, and Intel's "Architecture Instruction Set Extensions", chapter "AMX".
"""

from __future__ import annotations

from dataclasses import replace

from xtile.targets import LARGEST_WORK_GROUP
from xtile.targets.spellings import COOPERATIVE_MATRIX, FUNCTIONS, FUNCTIONS_AND_VISA
from xtile.targets.target import (
    BlockAccess,
    BlockShapes,
    MatrixUnit,
    Number,
    ProductTile,
    RowAccess,
    Target,
    TilePolicy,
    VectorUnit,
)


def _dpas(lanes: int, sums: dict[Number, tuple[Number, ...]]) -> tuple[MatrixUnit, ...]:
    """The systolic array: 8 words of 32 bits in a row of A, which it repeats 1 to 8 times.

    The extension has functions for 1, 2, 4 and 8 rows.

    Args:
        lanes: The columns of B, C and D, and the subgroup size that it needs.
        sums: The types of C and D for each type of A and B.
    """
    return tuple(
        MatrixUnit("dpas", factor, factor, total, rows, lanes, 8 * 32 // _BITS[factor], lanes)
        for factor, totals in sums.items()
        for total in totals
        for rows in (1, 2, 4, 8)
    )


_BITS: dict[Number, int] = {"f16": 16, "bf16": 16, "tf32": 32, "i8": 8, "si8": 8, "ui8": 8}

_BYTES: dict[Number, tuple[Number, ...]] = {"i8": ("i32",), "si8": ("i32",), "ui8": ("i32",)}
"""The products of bytes; one without a sign in its type has one."""

_HEIGHTS = (1, 2, 4, 8, 16, 32)

_XE2_BLOCK_ACCESS = BlockAccess(
    subgroup_size=16,
    load={
        1: BlockShapes((32,), _HEIGHTS, (1, 2)),
        2: BlockShapes((16,), _HEIGHTS, (1, 2)),
        4: BlockShapes((8, 16), _HEIGHTS, (1,)),
    },
    load_transformed={
        1: BlockShapes((16,), (32,), (1, 2, 4)),
        2: BlockShapes((16,), (16, 32), (1, 2)),
    },
    load_transposed={4: BlockShapes((8,), (16, 32), (1,))},
    store={
        1: BlockShapes((32,), (1, 2, 4, 8), (1,)),
        2: BlockShapes((16,), (1, 2, 4, 8), (1,)),
        4: BlockShapes((16,), (1, 2, 4, 8), (1,)),
    },
    prefetch={
        1: BlockShapes((32,), _HEIGHTS, (1, 2)),
        2: BlockShapes((16,), _HEIGHTS, (1, 2)),
        4: BlockShapes((16,), _HEIGHTS, (1,)),
    },
    base_alignment=64,
    pitch_alignment=16,
    least_pitch=64,
    least_width=64,
    width_alignment=4,
    most_extent=2**24,
)

_ROW_ACCESS = RowAccess(counts=(1, 2, 4, 8), load_alignment=4, alignment=16)

_SIZES = ((128, 128), (64, 64), (32, 32), (16, 16))

_TILES = TilePolicy(
    products={
        "f16": tuple(ProductTile(rows, columns, 32) for rows, columns in _SIZES),
        "bf16": tuple(ProductTile(rows, columns, 32) for rows, columns in _SIZES),
        "i8": tuple(ProductTile(rows, columns, 64) for rows, columns in _SIZES),
    }
)
"""Tiles of a work-group, of which each subgroup holds whole products of the matrix unit."""

PVC = Target(
    name="pvc",
    description="Ponte Vecchio, Data Center GPU Max",
    subgroup_sizes=(16, 32),
    subgroup_size=16,
    most_work_items=1024,
    local_memory=128 * 1024,
    registers=128,
    register_size=64,
    matrix_units=_dpas(
        16, {"f16": ("f32", "f16"), "bf16": ("f32", "bf16"), "tf32": ("f32",), **_BYTES}
    ),
    block_access=_XE2_BLOCK_ACCESS,
    row_access=_ROW_ACCESS,
    matrix_spelling=FUNCTIONS_AND_VISA,
    tiles=_TILES,
)

BMG = replace(PVC, name="bmg", description="Battlemage, Arc B")

DG2 = Target(
    name="dg2",
    description="Alchemist, Arc A",
    subgroup_sizes=(8, 16, 32),
    subgroup_size=16,
    most_work_items=1024,
    local_memory=64 * 1024,
    registers=128,
    register_size=32,
    # Without blocks rows are put together in registers, which takes as many again.
    vector_share=8,
    matrix_units=_dpas(8, {"f16": ("f32",), "bf16": ("f32",), **_BYTES}),
    row_access=_ROW_ACCESS,
    missing_types=("f64",),
    matrix_spelling=FUNCTIONS,
    tiles=_TILES,
)

CPU = Target(
    name="cpu",
    description="any x86-64 CPU, through OpenCL",
    subgroup_sizes=(4, 8, 16, 32, 64),
    subgroup_size=16,
    most_work_items=LARGEST_WORK_GROUP,
    local_memory=256 * 1024,
    registers=32,
    register_size=64,
    vector_unit=VectorUnit(bytes=64, registers=32),
)
"""A CPU under Intel's OpenCL runtime, with the registers of AVX-512."""

CPU_AVX2 = replace(
    CPU,
    name="cpu-avx2",
    description="a CPU with AVX2, through OpenCL",
    registers=16,
    register_size=32,
    vector_unit=VectorUnit(bytes=32, registers=16),
)
"""Code for `cpu` runs here, too; it spills."""

CPU_AMX = replace(
    CPU,
    name="cpu-amx",
    description="a CPU with AMX, through OpenCL",
    matrix_units=(
        MatrixUnit("AMX", "bf16", "bf16", "f32", 16, 16, 32, None),
        MatrixUnit("AMX", "i8", "i8", "i32", 16, 16, 64, None),
    ),
    matrix_spelling=COOPERATIVE_MATRIX,
)
"""The tiles of AMX have 16 rows of 64 bytes."""

TARGETS = (PVC, BMG, DG2, CPU, CPU_AVX2, CPU_AMX)
