"""How kernels are cut into tiles for NVIDIA's GPUs, one row for each architecture.

Sources: CUDA Tile IR 13.3, sections "Types" and "Optimization hints"; the architectures are those
that `tileiras` 13.5 takes. Of sm_90 the tiles of products are measured on an H200 (driver 580,
CUDA 13.0, bf16, 8192 x 8192 x 8192): 256 x 256 x 64 with 8 warps and 2 CTAs is as fast as cuBLAS,
128 x 256 x 64 with 8 warps has 0.95 of its speed, and without a number of warps it spills to 0.07.
Products of 64 x 64 x 64 need an occupancy to be as fast as cuBLAS. Of loops that memory limits,
those over 1024 elements are the fastest; sums of tiles of 1024 to 8192 elements and the softmax of
rows that are tiles of 8192 elements are the fastest with 4 warps and 4 blocks at once: 1.1 and 2.1
of PyTorch's rate, without the occupancy 0.8 and 0.75. Of what is not measured the largest tiles are
chosen for which `tileiras` 13.5 spills no registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import bf16, f16, f32, f64, i8, i16, i32, i64
from xdsl.ir import Attribute


@dataclass(frozen=True)
class Hints:
    """How the tile compiler is to compile a kernel; what is None is its own choice.

    Attributes:
        num_worker_warps_per_cta: The warps that compute.
        num_cta_in_cga: The thread blocks that share the tiles of a block.
        occupancy: The blocks that a multiprocessor is to hold at once.
    """

    num_worker_warps_per_cta: int | None = None
    num_cta_in_cga: int | None = None
    occupancy: int | None = None


_SMALL = Hints(num_worker_warps_per_cta=4, occupancy=4)


@dataclass(frozen=True)
class ProductTile:
    """The tiles of a product of matrices.

    Attributes:
        rows: Rows of C.
        columns: Columns of C.
        depth: How many products of a row and a column are added up in one step.
        hints: How a kernel with this product is compiled.
    """

    rows: int
    columns: int
    depth: int
    hints: Hints = field(default_factory=Hints)


@dataclass(frozen=True)
class Device:
    """An architecture.

    Attributes:
        name: What `tileiras` calls it.
        products: For each type of factors the tiles of products, the largest one first.
        elements: The elements of a tile in a loop that memory limits.
        sum_elements: The same where tiles are added up.
        local_elements: The most elements of local memory that become one tile.
        elementwise_hints: How a kernel without products is compiled.
        large_elements: How many elements make a tile large.
        large_hints: How a kernel without products but with large tiles is compiled.
    """

    name: str
    products: Mapping[Attribute, tuple[ProductTile, ...]]
    elements: int = 1024
    sum_elements: int = 2048
    local_elements: int = 16384
    elementwise_hints: Hints = field(
        default_factory=lambda: Hints(num_worker_warps_per_cta=4, occupancy=4)
    )
    large_elements: int = 16384
    large_hints: Hints = field(default_factory=lambda: Hints(num_worker_warps_per_cta=8))

    def tiles_of(self, factor: Attribute) -> tuple[ProductTile, ...]:
        """The tiles of products of a type, the largest one first."""
        return self.products.get(factor, _OTHER_PRODUCTS)


_OTHER_PRODUCTS = (ProductTile(32, 32, 16), ProductTile(16, 16, 16))
"""Of factors that no matrix unit multiplies: they are broadcast, multiplied and added up."""

_WIDE = Hints(num_worker_warps_per_cta=8)
_CLUSTER = Hints(num_worker_warps_per_cta=8, num_cta_in_cga=2)

_HALF_ON_HOPPER = (
    ProductTile(256, 256, 64, _CLUSTER),
    ProductTile(128, 256, 64, _WIDE),
    ProductTile(256, 128, 64, _WIDE),
    ProductTile(128, 128, 64),
    ProductTile(64, 64, 64, _SMALL),
)
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
    ProductTile(64, 64, 64, Hints(num_worker_warps_per_cta=4)),
)
_BYTES_ON_ADA = _BYTES[1:]
_BYTES_ON_BLACKWELL = (
    ProductTile(128, 256, 128, _WIDE),
    ProductTile(128, 128, 128),
    ProductTile(64, 64, 64, Hints(num_worker_warps_per_cta=4)),
)
_SINGLE = (
    ProductTile(128, 64, 16, _WIDE),
    ProductTile(64, 64, 16, Hints(num_worker_warps_per_cta=4)),
)
"""f32 is multiplied without the matrix units, which would round it to tf32."""
_DOUBLE = (ProductTile(64, 64, 16, Hints(num_worker_warps_per_cta=4)),)
_OTHERS: Mapping[Attribute, tuple[ProductTile, ...]] = {
    f32: _SINGLE,
    f64: _DOUBLE,
    **dict.fromkeys((i16, i32, i64), _OTHER_PRODUCTS),
}

_AMPERE = {bf16: _HALF_ON_AMPERE, f16: _HALF_ON_AMPERE, i8: _BYTES, **_OTHERS}
_ADA = {
    **_OTHERS,
    bf16: _HALF_ON_ADA,
    f16: _HALF_ON_ADA,
    i8: _BYTES_ON_ADA,
    f32: _SINGLE[1:],
}
_HOPPER = {bf16: _HALF_ON_HOPPER, f16: _HALF_ON_HOPPER, i8: _BYTES, **_OTHERS}
_BLACKWELL = {
    bf16: _HALF_ON_BLACKWELL,
    f16: _HALF_ON_BLACKWELL,
    i8: _BYTES_ON_BLACKWELL,
    **_OTHERS,
}

DEVICES: Mapping[str, Device] = {
    device.name: device
    for device in (
        Device("sm_80", _AMPERE),
        Device("sm_86", _ADA),
        Device("sm_89", _ADA),
        Device("sm_90", _HOPPER),
        Device("sm_100", _BLACKWELL),
        Device("sm_103", _BLACKWELL),
        Device("sm_110", _BLACKWELL),
        Device("sm_120", _ADA),
        Device("sm_121", _ADA),
    )
}
"""The row of each architecture, by its name."""
