"""The limits of Intel's devices, one row for each architecture.

Sources: MLIR (LLVM 22), `Dialect/XeGPU/uArch`; the OpenCL extensions
cl_intel_subgroup_2d_block_io (sections "New OpenCL C Functions" and "Restrictions"),
cl_intel_subgroup_matrix_multiply_accumulate and its `_tf32`, cl_intel_subgroups and
cl_intel_subgroup_local_block_io; for the CPU what Intel's OpenCL CPU
runtime 2026.2 reports, and Intel's "Architecture Instruction Set Extensions", chapter "AMX".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, bf16, f16, f32, f64, i8, i32
from xdsl.ir import Attribute


@dataclass(frozen=True)
class BlockShapes:
    """The shapes of a two-dimensional block access, in elements.

    Attributes:
        widths: The columns of a block.
        heights: The rows of a block.
        counts: How many blocks next to each other one instruction accesses.
    """

    widths: tuple[int, ...]
    heights: tuple[int, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class BlockAccess:
    """Two-dimensional block loads, stores and prefetches, by the size of an element in bytes.

    Attributes:
        subgroup_size: The subgroup size they need.
        load: The rows of the block become the rows of the matrix.
        load_transformed: Consecutive rows are packed in words of 32 bits, as dpas reads B (VNNI).
        load_transposed: The columns of the block become the rows of the matrix.
        store: The matrix becomes the block.
        prefetch: The block is brought into a cache.
        base_alignment: Bytes that the address of the memory is a multiple of.
        pitch_alignment: Bytes that the distance of two rows is a multiple of.
        least_pitch: The least distance of two rows in bytes.
        least_width: The least number of bytes in a row of the memory.
        width_alignment: Bytes that a row of the memory and an offset in it are a multiple of.
        most_extent: The largest width and pitch in bytes, and the largest height in rows.
    """

    subgroup_size: int
    load: Mapping[int, BlockShapes]
    load_transformed: Mapping[int, BlockShapes]
    load_transposed: Mapping[int, BlockShapes]
    store: Mapping[int, BlockShapes]
    prefetch: Mapping[int, BlockShapes]
    base_alignment: int
    pitch_alignment: int
    least_pitch: int
    least_width: int
    width_alignment: int
    most_extent: int


@dataclass(frozen=True)
class RowAccess:
    """Loads and stores of elements that follow each other, as many for each lane of a subgroup.

    Attributes:
        counts: How many each lane can have.
        load_alignment: Bytes that an address in global memory is a multiple of.
        alignment: Bytes that an address in local memory is a multiple of, and that of a store.
    """

    counts: tuple[int, ...]
    load_alignment: int
    alignment: int


@dataclass(frozen=True)
class MatrixUnit:
    """The systolic array, whose instruction is dpas: D (M x N) := A (M x K) B (K x N) + C.

    Attributes:
        execution_size: N, the columns of B, C and D; also the subgroup size it needs.
        systolic_depth: Words of 32 bits in a row of A.
        repeat_counts: M, the rows of A, C and D.
        accumulators: The types of C and D for each type of A and B.
    """

    execution_size: int
    systolic_depth: int
    repeat_counts: tuple[int, ...]
    accumulators: Mapping[Attribute, tuple[Attribute, ...]]

    def depth(self, factor: Attribute) -> int:
        """K, the columns of A, for A and B of a type."""
        return self.systolic_depth * 32 // cast("AnyFloat | IntegerType", factor).bitwidth

    def is_exact(self, factor: Attribute, total: Attribute) -> bool:
        """Whether there are products of a type that are summed up in another, wider one.

        Sums of the factors' own type are rounded at each step, and factors of f32 to tf32.
        """
        return factor != total and total in self.accumulators.get(factor, ())


@dataclass(frozen=True)
class VectorUnit:
    """The vector registers of a CPU, in which one work-item computes with whole vectors.

    Attributes:
        bytes: Bytes of a register.
        registers: The number of registers.
    """

    bytes: int
    registers: int


@dataclass(frozen=True)
class CooperativeMatrix:
    """A product D (M x N) := A (M x K) B (K x N) + C of SPV_KHR_cooperative_matrix.

    Attributes:
        rows: M.
        columns: N.
        depth: K.
        inputs: The type of A and B.
        accumulator: The type of C and D.
    """

    rows: int
    columns: int
    depth: int
    inputs: Attribute
    accumulator: Attribute


@dataclass(frozen=True)
class Device:
    """One architecture.

    Attributes:
        name: The name that `ocloc -device` and MLIR's `chip` know.
        subgroup_sizes: The subgroup sizes of kernels.
        subgroup_size: The one that is chosen where a kernel leaves it open.
        most_work_items: The largest work-group.
        local_memory: Bytes of local memory that a work-group can have.
        registers: General registers of a hardware thread, which executes one subgroup.
        register_size: Bytes of a register.
        matrix_unit: The matrix unit of a GPU; None if there is none.
        block_access: Two-dimensional block accesses; None if there are none.
        row_access: Accesses of rows; None if there are none.
        vector_unit: The vector registers, if a subgroup can be one work-item that computes with
            vectors, as on a CPU; None on GPUs, whose lanes are the vectors' elements.
        cooperative_matrices: The products of SPV_KHR_cooperative_matrix.
        missing_types: The types of numbers that kernels cannot compute with.
        matrix_spelling: How SPIR-V writes products and accesses of blocks (`spellings.py`) where
            nothing is known of the driver.
        is_for_llvm: Whether LLVM 22 lowers the XeGPU that kernels become. It has no products for
            subgroups of 8, whose lanes hold pairs of neighbours.
    """

    name: str
    subgroup_sizes: tuple[int, ...]
    subgroup_size: int
    most_work_items: int
    local_memory: int
    registers: int
    register_size: int
    matrix_unit: MatrixUnit | None
    block_access: BlockAccess | None
    row_access: RowAccess | None = None
    vector_unit: VectorUnit | None = None
    cooperative_matrices: tuple[CooperativeMatrix, ...] = ()
    missing_types: tuple[Attribute, ...] = ()
    matrix_spelling: str = "plain"
    is_for_llvm: bool = True


_HEIGHTS = (1, 2, 4, 8, 16, 32)

_XE2_BLOCK_ACCESS = BlockAccess(
    subgroup_size=16,
    load={
        1: BlockShapes((32,), _HEIGHTS, (1, 2)),
        2: BlockShapes((16,), _HEIGHTS, (1, 2)),
        4: BlockShapes((16,), _HEIGHTS, (1,)),
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

_REPEAT_COUNTS = (1, 2, 4, 8)
"""The array repeats 1 to 8 times; the extension has functions for these."""

SI8, UI8 = IntegerType(8, Signedness.SIGNED), IntegerType(8, Signedness.UNSIGNED)

_BYTES: Mapping[Attribute, tuple[Attribute, ...]] = dict.fromkeys((i8, SI8, UI8), (i32,))
"""The products of bytes; one without a sign in its type has one."""

_XE_MATRIX_UNIT = MatrixUnit(
    execution_size=16,
    systolic_depth=8,
    repeat_counts=_REPEAT_COUNTS,
    accumulators={f16: (f32, f16), bf16: (f32, bf16), f32: (f32,), **_BYTES},
)

PVC = Device(
    name="pvc",
    subgroup_sizes=(16, 32),
    subgroup_size=16,
    most_work_items=1024,
    local_memory=128 * 1024,
    registers=128,
    register_size=64,
    matrix_unit=_XE_MATRIX_UNIT,
    block_access=_XE2_BLOCK_ACCESS,
    row_access=_ROW_ACCESS,
    matrix_spelling="functions-and-visa",
)
"""Ponte Vecchio, the Data Center GPU Max. An input of type f32 is rounded to tf32."""

BMG = Device(
    name="bmg",
    subgroup_sizes=(16, 32),
    subgroup_size=16,
    most_work_items=1024,
    local_memory=128 * 1024,
    registers=128,
    register_size=64,
    matrix_unit=_XE_MATRIX_UNIT,
    block_access=_XE2_BLOCK_ACCESS,
    row_access=_ROW_ACCESS,
    matrix_spelling="functions-and-visa",
)
"""Battlemage, the Arc B series. An input of type f32 is rounded to tf32."""

DG2 = Device(
    name="dg2",
    subgroup_sizes=(8, 16, 32),
    subgroup_size=16,
    most_work_items=1024,
    local_memory=64 * 1024,
    registers=128,
    register_size=32,
    matrix_unit=MatrixUnit(
        execution_size=8,
        systolic_depth=8,
        repeat_counts=_REPEAT_COUNTS,
        accumulators={f16: (f32,), bf16: (f32,), **_BYTES},
    ),
    block_access=None,
    row_access=_ROW_ACCESS,
    matrix_spelling="functions",
    missing_types=(f64,),
)
"""Alchemist, the Arc A series."""

CPU = Device(
    name="cpu",
    subgroup_sizes=(4, 8, 16, 32, 64),
    subgroup_size=16,
    most_work_items=8192,
    local_memory=256 * 1024,
    registers=32,
    register_size=64,
    matrix_unit=None,
    block_access=None,
    vector_unit=VectorUnit(bytes=64, registers=32),
)
"""A CPU under Intel's OpenCL runtime, with the registers of AVX-512."""

CPU_AMX = replace(
    CPU,
    name="cpu-amx",
    cooperative_matrices=(
        CooperativeMatrix(16, 16, 32, bf16, f32),
        CooperativeMatrix(16, 16, 64, i8, i32),
    ),
    matrix_spelling="cooperative-matrix",
)
"""A CPU with AMX, whose tiles have 16 rows of 64 bytes."""

DEVICES: Mapping[str, Device] = {device.name: device for device in (PVC, BMG, DG2, CPU, CPU_AMX)}
"""Every architecture by its name."""

LARGEST_WORK_GROUP = max(device.most_work_items for device in DEVICES.values())
"""Work-items of a work-group that some device can have; NVIDIA's GPUs can have 1024."""
