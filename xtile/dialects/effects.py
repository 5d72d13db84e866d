"""What operations do beside computing their results, in one table for all languages.

xDSL's traits say which operations have no effect. The table says what they cannot, or do not: which
operand is the memory, what is done to it in one step, and that a division may fail.

Importing this loads no dialect: rows are found by the operation's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import NoMemoryEffect

from xtile.dialects.core.attributes import MEMORY_ORDER_ATTRIBUTE

_OVERWRITING = (
    "linalg.abs",
    "linalg.add",
    "linalg.broadcast",
    "linalg.ceil",
    "linalg.copy",
    "linalg.div",
    "linalg.div_unsigned",
    "linalg.erf",
    "linalg.exp",
    "linalg.fill",
    "linalg.floor",
    "linalg.log",
    "linalg.map",
    "linalg.max",
    "linalg.min",
    "linalg.mul",
    "linalg.negf",
    "linalg.powf",
    "linalg.reciprocal",
    "linalg.round",
    "linalg.rsqrt",
    "linalg.select",
    "linalg.sqrt",
    "linalg.square",
    "linalg.sub",
    "linalg.tanh",
    "linalg.transpose",
)
"""Operations of linalg whose outputs hold what follows from the inputs alone."""

_ACCUMULATING = (
    "linalg.batch_matmul",
    "linalg.batch_matvec",
    "linalg.batch_vecmat",
    "linalg.conv_2d_nchw_fchw",
    "linalg.conv_2d_ngchw_fgchw",
    "linalg.conv_2d_ngchw_gfchw",
    "linalg.conv_2d_nhwc_fhwc",
    "linalg.conv_2d_nhwc_hwcf",
    "linalg.conv_2d_nhwgc_gfhwc",
    "linalg.dot",
    "linalg.generic",
    "linalg.matmul",
    "linalg.matvec",
    "linalg.pooling_nchw_max",
    "linalg.quantized_matmul",
    "linalg.reduce",
    "linalg.vecmat",
)
"""Operations of linalg that also read what their outputs hold before, or may."""

READS: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(_OVERWRITING, (0,)),
    **dict.fromkeys(_ACCUMULATING, (0, 1)),
    "affine.load": (0,),
    "affine.vector_load": (0,),
    "amdg.buffer_load": (0,),
    "amdg.buffer_load_to_local": (1,),
    "amdg.local_load_packed_transposed": (0,),
    "core.axpby": (1, 3),
    "core.cooperative_matrix_load": (0,),
    "core.cumsum": (1, 3),
    "core.gather_load": (0,),
    "core.gemm": (1, 2, 4),
    "core.gemv": (1, 2, 4),
    "core.ger": (1, 2, 4),
    "core.hadamard": (1, 2, 4),
    "core.sum": (1, 3),
    "cuda_tile.load_ptr_tko": (0,),
    "cuda_tile.load_view_tko": (0,),
    "gpu.memcpy": (-1,),
    "memref.copy": (0,),
    "memref.load": (0,),
    "spirv.AtomicLoad": (0,),
    "spirv.CooperativeMatrixLoadKHR": (0,),
    "spirv.Load": (0,),
    "spirv.Subgroup2DBlockLoadINTEL": (4,),
    "spirv.Subgroup2DBlockLoadTransformINTEL": (4,),
    "spirv.Subgroup2DBlockLoadTransposeINTEL": (4,),
    "spirv.Subgroup2DBlockStoreINTEL": (4,),
    "spirv.SubgroupBlockReadINTEL": (0,),
    "tensorlang.atomic_load": (0,),
    "tensorlang.axpby": (1, 3),
    "tensorlang.cooperative_matrix_atomic_load": (0,),
    "tensorlang.cooperative_matrix_load": (0,),
    "tensorlang.cumsum": (1, 3),
    "tensorlang.gemm": (1, 2, 4),
    "tensorlang.gemv": (1, 2, 4),
    "tensorlang.ger": (1, 2, 4),
    "tensorlang.hadamard": (1, 2, 4),
    "tensorlang.load": (0,),
    "tensorlang.sum": (1, 3),
    "tt.atomic_load": (0,),
    "tt.atomic_poll": (0,),
    "tt.descriptor_gather": (0,),
    "tt.descriptor_load": (0,),
    "tt.load": (0,),
    "ttg.async_copy_global_to_local": (0,),
    "ttg.local_gather": (0,),
    "ttg.local_load": (0,),
    "vector.expandload": (0,),
    "vector.gather": (0,),
    "vector.load": (0,),
    "vector.maskedload": (0,),
    "vector.transfer_read": (0,),
    "xegpu.load": (0,),
    "xegpu.load_matrix": (0,),
    "xegpu.load_nd": (0,),
}
"""Operations that read memory, and which operands say where.

Linear algebra reads its output, unless beta is 0. Of operations of linalg the inputs are 0 and the
outputs 1, however many there are. What SPIR-V's instructions write through their only pointer has
no row.

Sources: the SPIR-V Specification, "Memory Instructions"; SPV_INTEL_2d_block_io.
"""

WRITES: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys((*_OVERWRITING, *_ACCUMULATING), (1,)),
    "affine.store": (1,),
    "affine.vector_store": (1,),
    "amdg.buffer_load_to_local": (0,),
    "amdg.buffer_store": (1,),
    "core.axpby": (3,),
    "core.cooperative_matrix_store": (1,),
    "core.cumsum": (3,),
    "core.gemm": (4,),
    "core.gemv": (4,),
    "core.ger": (4,),
    "core.hadamard": (4,),
    "core.scatter_store": (1,),
    "core.sum": (3,),
    "cuda_tile.store_ptr_tko": (0,),
    "cuda_tile.store_view_tko": (1,),
    "gpu.memcpy": (-2,),
    "gpu.memset": (-2,),
    "memref.copy": (1,),
    "memref.store": (1,),
    "spirv.CooperativeMatrixStoreKHR": (0,),
    "spirv.Store": (0,),
    "spirv.Subgroup2DBlockLoadINTEL": (9,),
    "spirv.Subgroup2DBlockLoadTransformINTEL": (9,),
    "spirv.Subgroup2DBlockLoadTransposeINTEL": (9,),
    "spirv.Subgroup2DBlockStoreINTEL": (5,),
    "tensorlang.atomic_store": (1,),
    "tensorlang.axpby": (3,),
    "tensorlang.cooperative_matrix_atomic_store": (1,),
    "tensorlang.cooperative_matrix_store": (1,),
    "tensorlang.cumsum": (3,),
    "tensorlang.gemm": (4,),
    "tensorlang.gemv": (4,),
    "tensorlang.ger": (4,),
    "tensorlang.hadamard": (4,),
    "tensorlang.store": (1,),
    "tensorlang.sum": (3,),
    "tt.atomic_store": (0,),
    "tt.descriptor_scatter": (0,),
    "tt.descriptor_store": (0,),
    "tt.store": (0,),
    "ttg.async_copy_global_to_local": (1,),
    "ttg.local_scatter": (0,),
    "ttg.local_store": (1,),
    "vector.compressstore": (0,),
    "vector.maskedstore": (0,),
    "vector.scatter": (0,),
    "vector.store": (1,),
    "vector.transfer_write": (1,),
    "xegpu.store": (1,),
    "xegpu.store_matrix": (1,),
    "xegpu.store_nd": (1,),
}
"""Operations that write memory, and which operands say where."""

UPDATES: Mapping[str, tuple[int, ...]] = {
    "amdg.buffer_atomic_cas": (0,),
    "amdg.buffer_atomic_rmw": (0,),
    "core.atomic_compare_and_swap": (2,),
    "core.atomic_rmw": (1,),
    "core.atomic_update": (1,),
    "cuda_tile.atomic_cas_tko": (0,),
    "cuda_tile.atomic_red_view_tko": (0,),
    "cuda_tile.atomic_rmw_tko": (0,),
    "memref.atomic_rmw": (1,),
    "memref.generic_atomic_rmw": (0,),
    "tensorlang.atomic_add": (1,),
    "tensorlang.atomic_max": (1,),
    "tensorlang.atomic_min": (1,),
    "tensorlang.cooperative_matrix_atomic_add": (1,),
    "tensorlang.cooperative_matrix_atomic_max": (1,),
    "tensorlang.cooperative_matrix_atomic_min": (1,),
    "tt.atomic_cas": (0,),
    "tt.atomic_rmw": (0,),
    "tt.descriptor_reduce": (0,),
    "ttg.local_atomic_scatter_rmw": (0,),
    "xegpu.atomic_rmw": (0,),
}
"""Operations that read memory and write it in one step, and which operands say where."""

COMPARED: Mapping[str, int] = {
    "amdg.buffer_atomic_cas": 2,
    "core.atomic_compare_and_swap": 0,
    "cuda_tile.atomic_cas_tko": 1,
    "tt.atomic_cas": 1,
}
"""Updates that write only where memory holds a given number, and which operand is the number."""

EXCHANGES: Mapping[str, tuple[str, int | str]] = {
    "amdg.buffer_atomic_rmw": ("atomic_rmw_op", 10),
    "core.atomic_rmw": ("kind", 3),
    "core.atomic_update": ("kind", "assign"),
    "cuda_tile.atomic_rmw_tko": ("mode", 9),
    "memref.atomic_rmw": ("kind", 3),
    "tt.atomic_rmw": ("atomic_rmw_op", 10),
    "ttg.local_atomic_scatter_rmw": ("atomic_rmw_op", 10),
    "xegpu.atomic_rmw": ("kind", 3),
}
"""Which attribute of an update says that it stores its operand, whatever was there, and how.

A number is that of an integer, and a word that of an enumeration.
"""

BARRIERS = frozenset(
    {
        "amdg.arrive_barrier",
        "amdg.async_copy_mbarrier_arrive",
        "amdg.async_tdm_intrinsic_wait",
        "amdg.async_tdm_wait",
        "amdg.async_wait",
        "amdg.cluster_barrier_arrive",
        "amdg.cluster_barrier_wait",
        "amdg.cond_barrier",
        "amdg.init_barrier",
        "amdg.wait_barrier",
        "cuda_tile.gdc_wait_tko",
        "cuda_tile.memory_fence_alias_tko",
        "gpu.barrier",
        "tensorlang.barrier",
        "ttg.async_commit_group",
        "ttg.async_wait",
        "ttg.barrier",
        "xegpu.fence",
        "xegpu.mfence",
        "xegpu.nbarrier_arrive",
        "xegpu.nbarrier_wait",
    }
)
"""Operations before and after which memory can hold different numbers, because others go on."""

HARMLESS = frozenset(
    {
        "amdg.instruction_sched_hint",
        "amdg.tdm_prefetch",
        "core.prefetch",
        "memref.prefetch",
        "spirv.CL.prefetch",
        "spirv.Subgroup2DBlockPrefetchINTEL",
        "spirv.SubgroupBlockPrefetchINTEL",
        "tensorlang.cooperative_matrix_prefetch",
        "xegpu.prefetch",
        "xegpu.prefetch_nd",
    }
)
"""Operations on memory that change nothing which can be seen."""

PURE = frozenset(
    {
        "arith.extsi",
        "arith.remui",
        "spirv.AccessChain",
        "spirv.Bitcast",
        "spirv.ConvertPtrToU",
        "spirv.CopyObject",
        "spirv.GenericCastToPtr",
        "spirv.GenericCastToPtrExplicit",
        "spirv.InBoundsAccessChain",
        "spirv.InBoundsPtrAccessChain",
        "spirv.PtrAccessChain",
        "spirv.PtrCastToGeneric",
        "spirv.PtrDiff",
        "spirv.PtrEqual",
        "spirv.PtrNotEqual",
        "spirv.Select",
        "vector.reduction",
        "vector.shuffle",
    }
)
"""Operations without effects of which no trait says so."""

MAY_FAIL = frozenset(
    {
        "arith.ceildivsi",
        "arith.ceildivui",
        "arith.divsi",
        "arith.divui",
        "arith.floordivsi",
        "arith.remsi",
        "arith.remui",
        "cuda_tile.divi",
        "cuda_tile.remi",
        "index.ceildivs",
        "index.ceildivu",
        "index.divs",
        "index.divu",
        "index.floordivs",
        "index.rems",
        "index.remu",
    }
)
"""Operations that are a mistake of the program for some operands: divisions by zero."""

OF_LANES = frozenset(
    {
        "core.fragment_extract",
        "core.fragment_insert",
        "core.subgroup_scan",
        "gpu.global_id",
        "gpu.lane_id",
        "gpu.rotate",
        "gpu.shuffle",
        "gpu.thread_id",
    }
)
"""Operations without effects whose results differ between lanes that give equal operands."""

OF_WORK_ITEMS = frozenset(
    {
        "core.fragment_extract",
        "core.fragment_insert",
        "core.subgroup_scan",
        "gpu.barrier",
        "gpu.block_dim",
        "gpu.lane_id",
        "gpu.num_subgroups",
        "gpu.shuffle",
        "gpu.subgroup_id",
        "gpu.subgroup_reduce",
        "gpu.subgroup_size",
        "gpu.thread_id",
    }
)
"""Operations that tell work-items apart, count them, or let them wait for each other."""


_ACCESSES = READS.keys() | WRITES.keys() | UPDATES.keys()


def read_operands(operation: Operation) -> tuple[SSAValue, ...]:
    """The operands that say which memory an operation reads, also in one step with writing it."""
    if exchanges(operation):
        return ()
    return _operands(operation, READS) or _operands(operation, UPDATES)


def written_operands(operation: Operation) -> tuple[SSAValue, ...]:
    """The operands that say which memory an operation writes, also in one step with reading it."""
    return _operands(operation, WRITES) or _operands(operation, UPDATES)


def _operands(operation: Operation, table: Mapping[str, tuple[int, ...]]) -> tuple[SSAValue, ...]:
    numbers = table.get(operation.name)
    if numbers is None:
        return ()
    if operation.dialect_name() == "linalg":
        return tuple(value for number in numbers for value in _memrefs(operation, number))
    return tuple(operation.operands[number] for number in numbers)


def _memrefs(operation: Operation, number: int) -> Iterator[SSAValue]:
    """The memrefs among the inputs (0) or the outputs (1) of an operation of linalg."""
    assert isinstance(operation, IRDLOperation)
    name, _ = operation.get_irdl_definition().operands[number]
    given: SSAValue | Sequence[SSAValue] = getattr(operation, name)
    for value in [given] if isinstance(given, SSAValue) else given:
        if isinstance(value.type, MemRefType | UnrankedMemRefType):
            yield value


def may_access(operation: Operation) -> bool:
    """Whether an operation has a row that says which memory it reads or writes."""
    return operation.name in _ACCESSES


def updates_memory(operation: Operation) -> bool:
    """Whether an operation reads memory and writes it in one step."""
    return operation.name in UPDATES


def exchanges(operation: Operation) -> bool:
    """Whether an atomic update only writes: it stores its operand, and nobody takes the old one."""
    row = EXCHANGES.get(operation.name)
    if row is None:
        return False
    attribute, kind = row
    given: Any = operation.get_attr_or_prop(attribute)
    # An integer holds its number in an attribute of its own.
    data: Any = getattr(given, "value", given)
    if getattr(data, "data", None) != kind:
        return False
    return all(
        result.first_use is None or result.type.name == _TOKEN for result in operation.results
    )


_TOKEN = "cuda_tile.token"
"""The type of results that only say what comes before what."""


def changes_memory(operation: Operation) -> bool:
    """Whether memory may hold other numbers after an operation; not asked of those nested in it."""
    name = operation.name
    return name in WRITES or name in UPDATES or name in BARRIERS


def only_reads(operation: Operation) -> bool:
    """Whether an operation reads memory and has no other effect."""
    return operation.name in READS and operation.name not in WRITES


_WITH_ORDER = frozenset(
    {
        "core.atomic_compare_and_swap",
        "core.atomic_rmw",
        "core.gather_load",
        "core.scatter_store",
    }
)
"""The accesses that have a word for their memory order; an attribute says that of others."""

_RELAXED = (None, "relaxed")


def synchronizes(operation: Operation) -> bool:
    """Whether an atomic access orders accesses of other memory, too: an acquire or a release."""
    if operation.name in _WITH_ORDER:
        said = operation.properties.get("order")
    else:
        said = operation.attributes.get(MEMORY_ORDER_ATTRIBUTE)
    return getattr(said, "data", None) not in _RELAXED


def leaves_memory(operation: Operation) -> bool:
    """Whether an operation certainly neither reads nor changes memory; not asked of nested ones."""
    return operation.name in HARMLESS or _has_no_effect(type(operation))


def is_pure(operation: Operation) -> bool:
    """Whether an operation has no effect but its results, which its operands determine.

    For some operands it may fail. An operation with regions is not called pure.
    """
    return bool(operation.results) and not operation.regions and _has_no_effect(type(operation))


@cache
def _has_no_effect(kind: type[Operation]) -> bool:
    return kind.name in PURE or kind.has_trait(NoMemoryEffect, value_if_unregistered=False)


def may_fail(operation: Operation) -> bool:
    """Whether an operation is a mistake of the program for some operands, as a division is."""
    return operation.name in MAY_FAIL


def differs_between_lanes(operation: Operation) -> bool:
    """Whether lanes that give an operation equal operands may get different results."""
    return operation.name in OF_LANES or operation.name in UPDATES
