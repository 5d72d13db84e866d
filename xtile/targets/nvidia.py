"""NVIDIA's chips, for which `tileiras` chooses the instructions of products and memory.

Sources: CUDA Tile IR 13.3, sections "Types" and "Optimization hints"; the architectures are those
that `tileiras` 13.5 takes; CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute
Capability". Of sm_90 the tiles of products are measured on an H200 (driver 580,
CUDA 13.0, bf16, 8192 x 8192 x 8192): 256 x 256 x 64 with 8 warps and 2 CTAs is as fast as cuBLAS,
128 x 256 x 64 with 8 warps has 0.95 of its speed, and without a number of warps it spills to 0.07.
A tile of fewer than 16 rows or columns, or of fewer than 16 x 8 elements for each warp,
`tileiras` 13.5 multiplies by fused multiply-adds, on all chips: 18 times as long for 16 x 16.
Products of 64 x 64 x 64 need an occupancy to be as fast as cuBLAS. Of loops that memory limits,
those over 1024 elements are the fastest; sums of tiles of 1024 to 8192 elements and the softmax of
rows that are tiles of 8192 elements are the fastest with 4 warps and 4 blocks at once: 1.1 and 2.1
of PyTorch's rate, without the occupancy 0.8 and 0.75. Attention of 64 queries, 64 keys and 64
numbers has 422 TFLOP/s with 4 blocks at once, and 231 without; of 128 queries with 8 warps and 2
blocks 425, with 4 warps 266; with 128 keys and numbers 512 and 223. Of what is not measured the
largest tiles are chosen for which `tileiras` 13.5 spills no registers.
"""

from __future__ import annotations

from collections.abc import Mapping

from xtile.targets.target import (
    NO_HINTS,
    ChainedProducts,
    Hints,
    Number,
    ProductTile,
    Target,
    TilePolicy,
)

GREATEST_SIZE = 2**31 - 1
"""No dimension of an argument is larger: compiled kernels rely on it, and a launch checks it.

`tileiras` 13.5 uses the tensor memory accelerator only for views whose sizes are known to fit 31
bits; its remark is "hardware coordinate limits exceeded".
"""

GREATEST_STRIDE = 2**37 - 1
"""No stride is larger: 2^40 bytes are what the tensor memory accelerator takes at most."""

LONGEST_ROW = 256
"""Elements of a row that the tensor memory accelerator fetches at once.

Longer ones are fetched in parts, which tileiras 13.5 does one after the other: rows of 8192
elements of f32 as tiles of views have half of the rate of tiles of pointers (H100, softmax, layer
norm).
"""

_FEW = Hints(num_worker_warps_per_cta=4)
_FEWER = Hints(num_worker_warps_per_cta=2)
_SMALL = Hints(num_worker_warps_per_cta=4, occupancy=4)
_WIDE = Hints(num_worker_warps_per_cta=8)
_WIDEST = Hints(num_worker_warps_per_cta=16)
_PAIR = Hints(num_worker_warps_per_cta=4, occupancy=2)
_WIDE_PAIR = Hints(num_worker_warps_per_cta=8, occupancy=2)
_CLUSTER = Hints(num_worker_warps_per_cta=8, num_cta_in_cga=2)

_HALF_ON_HOPPER = (
    ProductTile(256, 256, 64, _CLUSTER),
    ProductTile(128, 256, 64, _WIDE),
    ProductTile(256, 128, 64, _WIDE),
    ProductTile(128, 128, 64),
    ProductTile(128, 64, 64),
    ProductTile(64, 128, 64),
    ProductTile(64, 64, 64, _SMALL),
    ProductTile(64, 32, 128),
    ProductTile(32, 64, 128),
    ProductTile(64, 16, 128),
    ProductTile(16, 64, 128),
    ProductTile(32, 32, 128, _FEWER),
    ProductTile(32, 16, 128),
    ProductTile(16, 32, 256),
    ProductTile(16, 16, 128, _FEWER),
)
"""Measured on an H200, f16, as parts of cuBLAS's rate.

1024 x 1024 x 1024: 128 x 64 and 64 x 128 1.0, 64 x 64 0.69 and with 2 blocks at once 0.78.
64 x 4096 x 4096: 64 x 32 0.89, 64 x 64 0.86 and with 2 blocks at once 0.62, 32 x 64 0.59, 32 x 32
0.53 and with 4 warps 0.35.
16 x 4096 x 4096: 16 x 32 x 256 1.08 and 64 deep 0.67, 16 x 16 0.88, 16 x 64 0.87 and 64 deep 0.71.
"""

_UPDATE_ON_HOPPER = ProductTile(128, 128, 64, _WIDE)
"""f16 and bf16 that are added to a matrix of f32, of which a tile is read as a whole.

Measured on an H200, 4096 x 4096 x 4096: 128 x 128 has 601 TFLOP/s, with 4 warps 518, 128 x 256 318,
256 x 128 328, 256 x 256 as 2 thread blocks 326, 128 x 64 415; PyTorch has 775.
"""

_HALF_ON_BLACKWELL = (
    ProductTile(256, 256, 64, Hints(num_cta_in_cga=2)),
    ProductTile(128, 256, 64),
    ProductTile(256, 128, 64),
    ProductTile(128, 128, 64),
    ProductTile(64, 64, 64, _SMALL),
)
_HALF_ON_AMPERE = (
    ProductTile(128, 128, 64, _WIDE),
    ProductTile(64, 64, 64, _SMALL),
)
_HALF_ON_ADA = (
    ProductTile(128, 256, 32, _WIDE),
    ProductTile(128, 128, 64, _WIDE),
    ProductTile(64, 64, 64, _SMALL),
)
_BYTES = (
    ProductTile(128, 256, 64, _WIDE),
    ProductTile(128, 128, 64, _WIDE),
    ProductTile(64, 64, 64, _FEW),
)
_BYTES_ON_BLACKWELL = (
    ProductTile(128, 256, 128, _WIDE),
    ProductTile(128, 128, 128),
    ProductTile(64, 64, 64, _FEW),
)
_CHAINED_ON_HOPPER = (
    ChainedProducts(128, 32768, _WIDE_PAIR),
    ChainedProducts(64, 8192, _SMALL),
    ChainedProducts(64, 16384, _PAIR),
)
_STRIDED_ON_HOPPER = (2048, _WIDE_PAIR)
"""The elements of a tile where work-items stride through memory, and how that is compiled.

Measured on an H200, softmax of 8192 columns of 32768, which is read three times: 2048 elements with
8 warps and 2 blocks at once, whose columns stay in the cache, have 1.07 of PyTorch's rate, with 4
warps and 4 blocks 0.78, 1024 elements so 0.79, 4096 elements with 8 warps and 2 blocks 0.99.
"""

_SINGLE = (
    ProductTile(128, 64, 16, _WIDE),
    ProductTile(64, 64, 16, _FEW),
)
"""f32 is multiplied without the matrix units, which would round it to tf32."""

_SPLIT_ON_HOPPER = (
    ProductTile(256, 64, 32, _WIDE),
    ProductTile(128, 128, 32, _WIDE),
    ProductTile(128, 64, 32, _WIDE),
    ProductTile(64, 64, 16, _PAIR),
)
"""f32 as three products of tf32 parts, which become operands in registers: tiles have few columns.

Measured on an H200, 4096 x 4096 x 4096: 256 x 64 x 32 has 71 TFLOP/s, 128 x 128 x 32 65, and
factors in f32 have 6.5; PyTorch has 51. 10,000 products of 64 x 64 x 64: 64 x 64 x 16 with 2 blocks
at once 2.4 TB/s, with 3 and more 1.8, without an occupancy 1.6; PyTorch has 2.7.
"""

_DOUBLE = (ProductTile(64, 64, 16, _FEW),)

_DOUBLE_ON_HOPPER = (ProductTile(128, 128, 8, _WIDE), *_DOUBLE)
"""Measured on an H200, 4096 x 4096 x 4096: 128 x 128 x 8 has 28.8 TFLOP/s, 64 x 128 x 8 27.8,
128 x 64 x 8 27.3, 128 x 128 x 16 23.7, 64 x 64 x 16 21.7, and 256 x 128 x 8, which spills, 12.6;
PyTorch has 60.4.
"""


def _tiles(
    half: tuple[ProductTile, ...],
    bytes_: tuple[ProductTile, ...],
    single: tuple[ProductTile, ...] = _SINGLE,
    double: tuple[ProductTile, ...] = _DOUBLE,
    chained: tuple[ChainedProducts, ...] = (),
    split: tuple[ProductTile, ...] = (),
    strided: tuple[int, Hints] = (1024, NO_HINTS),
    whole_hints: Hints = _WIDE,
    updates: Mapping[Number, ProductTile] | None = None,
) -> TilePolicy:
    """The tiles of a generation, by the width of factors."""
    products: Mapping[Number, tuple[ProductTile, ...]] = {
        "bf16": half,
        "f16": half,
        "i8": bytes_,
        "f32": single,
        "f64": double,
    }
    parts: Mapping[Number, tuple[ProductTile, ...]] = {"f32": split} if split else {}
    return TilePolicy(
        products,
        parts,
        warp_elements=16 * 8,
        least_side=16,
        one_warp_elements=64 * 64,
        updates=updates or {},
        strided_elements=strided[0],
        strided_hints=strided[1],
        elementwise_hints=_SMALL,
        large_hints=_WIDE,
        whole_hints=whole_hints,
        chained=chained,
    )


_AMPERE = _tiles(_HALF_ON_AMPERE, _BYTES)
_ADA = _tiles(_HALF_ON_ADA, _BYTES[1:], _SINGLE[1:])
_HOPPER = _tiles(
    _HALF_ON_HOPPER,
    _BYTES,
    double=_DOUBLE_ON_HOPPER,
    chained=_CHAINED_ON_HOPPER,
    split=_SPLIT_ON_HOPPER,
    updates=dict.fromkeys(("bf16", "f16"), _UPDATE_ON_HOPPER),
    strided=_STRIDED_ON_HOPPER,
    whole_hints=_WIDEST,
)
_BLACKWELL = _tiles(_HALF_ON_BLACKWELL, _BYTES_ON_BLACKWELL)


def _chip(name: str, description: str, kilobytes: int, tiles: TilePolicy) -> Target:
    """A chip with so much local memory, which NVIDIA calls shared memory."""
    return Target(
        name=name,
        description=description,
        subgroup_sizes=(32,),
        subgroup_size=32,
        most_work_items=1024,
        local_memory=kilobytes * 1024,
        registers=255,
        register_size=32 * 4,
        tiles=tiles,
    )


TARGETS = (
    _chip("sm_80", "Ampere, A100", 163, _AMPERE),
    _chip("sm_86", "Ampere, RTX 30, A10", 99, _ADA),
    _chip("sm_89", "Ada, RTX 40, L4, L40S", 99, _ADA),
    _chip("sm_90", "Hopper, H100, H200", 227, _HOPPER),
    _chip("sm_100", "Blackwell, B200", 227, _BLACKWELL),
    _chip("sm_103", "Blackwell Ultra, B300", 227, _BLACKWELL),
    _chip("sm_110", "Blackwell, Jetson Thor", 227, _BLACKWELL),
    _chip("sm_120", "Blackwell, RTX 50", 99, _ADA),
    _chip("sm_121", "Blackwell, DGX Spark", 99, _ADA),
)
