"""What a port is made of: accesses to memory, products of matrix units, instructions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Operation

_STRUCTURED = frozenset(
    {
        *("xegpu.load_nd", "xegpu.store_nd", "xegpu.load_matrix", "xegpu.store_matrix"),
        *("cuda_tile.load_view_tko", "cuda_tile.store_view_tko", "cuda_tile.atomic_red_view_tko"),
        *("tt.descriptor_load", "tt.descriptor_store", "tt.descriptor_gather"),
        *("tt.descriptor_scatter", "tt.descriptor_reduce"),
        *("ttg.local_load", "ttg.local_store", "amdg.local_load_packed_transposed"),
        *("amdg.async_tdm_copy_global_to_local", "amdg.async_tdm_copy_local_to_global"),
        *("amdg.async_tdm_fused_copy_global_to_local", "amdg.async_tdm_gather"),
        "amdg.async_tdm_scatter",
        *("tensorlang.cooperative_matrix_load", "tensorlang.cooperative_matrix_store"),
        *("vector.transfer_read", "vector.transfer_write", "core.transfer_atomic"),
    }
)
"""Accesses whose address is a block of a matrix, so that hardware may move it as one."""

_SCATTERED = frozenset(
    {
        *("xegpu.load", "xegpu.store", "xegpu.atomic_rmw"),
        *("cuda_tile.load_ptr_tko", "cuda_tile.store_ptr_tko", "cuda_tile.atomic_rmw_tko"),
        *("cuda_tile.atomic_cas_tko", "tt.load", "tt.store", "tt.atomic_rmw", "tt.atomic_cas"),
        *("tt.atomic_load", "tt.atomic_store", "tt.atomic_poll"),
        *("ttg.async_copy_global_to_local", "ttg.local_gather", "ttg.local_scatter"),
        *("ttg.local_atomic_scatter_rmw", "amdg.masked_load", "amdg.masked_store"),
        *("amdg.buffer_load", "amdg.buffer_store", "amdg.buffer_load_to_local"),
        *("amdg.buffer_atomic_rmw", "amdg.buffer_atomic_cas", "amdg.async_copy_local_to_global"),
        *("tensorlang.load", "tensorlang.store", "tensorlang.atomic_add"),
        *("tensorlang.atomic_store", "tensorlang.atomic_load"),
        *("memref.load", "memref.store", "memref.atomic_rmw", "vector.load", "vector.store"),
        *("vector.maskedload", "vector.maskedstore", "vector.gather", "vector.scatter"),
        *("core.load", "core.store", "core.gather", "core.scatter", "core.atomic_update"),
    }
)
"""Accesses by an address or an offset for each element, or for each work-item."""

_PRODUCTS = frozenset(
    {
        *("xegpu.dpas", "cuda_tile.mmaf", "cuda_tile.mmai", "cuda_tile.mmaf_scaled"),
        *("tt.dot", "tt.dot_scaled", "tensorlang.cooperative_matrix_mul_add", "tensorlang.gemm"),
    }
)
"""Products of matrices, for a matrix unit where the chip has one for their types."""


@dataclass(frozen=True)
class Measures:
    """What a port is made of.

    Attributes:
        structured: Accesses to blocks of matrices.
        scattered: Other accesses.
        products: Products of matrices.
    """

    structured: int
    scattered: int
    products: int


def measure(module: Operation) -> Measures:
    """Counts the operations of a module."""
    names = Counter(operation.name for operation in module.walk())

    def count(wanted: frozenset[str]) -> int:
        return sum(names[name] for name in wanted)

    return Measures(count(_STRUCTURED), count(_SCATTERED), count(_PRODUCTS))


_SPIRV_INSTRUCTION = re.compile(r"\b(Op[A-Z]\w+)")

_DECLARATIONS = re.compile(
    r"Op(Type|Constant|Decorate|MemberDecorate|Name|Capability|Extension|MemoryModel|EntryPoint"
    r"|ExecutionMode|ExtInstImport|Source|Undef|String)"
)


def spirv_instructions(text: str) -> dict[str, int]:
    """How often each instruction is in assembled SPIR-V, without declarations."""
    found = Counter(_SPIRV_INSTRUCTION.findall(text))
    return by_frequency({name: n for name, n in found.items() if not _DECLARATIONS.match(name)})


def by_frequency(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts, the largest first."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
