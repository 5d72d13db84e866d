"""AMD's chips, for which Triton compiles.

Sources: AMD's instruction set architecture documents of CDNA 2 (gfx90a), CDNA 3 (gfx942), CDNA 4
(gfx950), RDNA 3 (gfx11) and RDNA 4 (gfx12), chapters on matrix instructions; LLVM's
`AMDGPUUsage.rst`, section "Processors" (which chip has which name); Triton 3.5,
`third_party/amd`: `MfmaGroup.cpp` and `WmmaGroup.cpp` (the instructions by version),
`TargetInfo.cpp` (local memory, lanes); LLVM 22, `AMDGPUBaseInfo.cpp` (registers) and the `wmma`
intrinsics of `IntrinsicsAMDGPU.td` (gfx1250).

Products of several small matrices at once (4x4x4 and their kin), of sparse matrices and of scaled
numbers are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from xtile.targets.target import MatrixUnit, Number, ProductTile, Target, TilePolicy

_OCP: tuple[Number, ...] = ("f8E4M3FN", "f8E5M2")
_FNUZ: tuple[Number, ...] = ("f8E4M3FNUZ", "f8E5M2FNUZ")
"""Floats of 8 bits that are half of what OCP's of the same bits are, without a negative zero."""

_Depths = tuple[int, ...]
"""K of the instructions of 32 x 32 and then those of 16 x 16, the preferred one first."""


def _mfma(
    factors: Iterable[Number], sums: Number, depths_32: _Depths, depths_16: _Depths
) -> Iterator[MatrixUnit]:
    """The products of all pairs of some types, which 64 lanes compute."""
    for a, b in product(tuple(factors), repeat=2):
        for size, depths in ((32, depths_32), (16, depths_16)):
            for depth in depths:
                yield MatrixUnit("MFMA", a, b, sums, size, size, depth, 64)


def _wmma(
    version: int, factors: Iterable[Number], sums: Iterable[Number], depths: _Depths
) -> Iterator[MatrixUnit]:
    """The products of 16 x 16 of all pairs of some types, which 32 lanes compute."""
    for a, b in product(tuple(factors), repeat=2):
        for total, depth in product(tuple(sums), depths):
            yield MatrixUnit("WMMA", a, b, total, 16, 16, depth, 32, version)


_SINGLE_AND_DOUBLE = (
    *_mfma(("f64",), "f64", (), (4,)),
    *_mfma(("f32",), "f32", (2,), (4,)),
)

_CDNA_2 = (
    *_SINGLE_AND_DOUBLE,
    *_mfma(("f16",), "f32", (8,), (16,)),
    *_mfma(("bf16",), "f32", (8, 4), (16, 8)),
    *_mfma(("i8",), "i32", (8,), (16,)),
)
_CDNA_3 = (
    *_SINGLE_AND_DOUBLE,
    *_mfma(("tf32",), "f32", (4,), (8,)),
    *_mfma(("f16",), "f32", (8,), (16,)),
    *_mfma(("bf16",), "f32", (8,), (16,)),
    *_mfma(_FNUZ, "f32", (16,), (32,)),
    *_mfma(("i8",), "i32", (16,), (32,)),
)
_CDNA_4 = (
    *_SINGLE_AND_DOUBLE,
    *_mfma(("f16",), "f32", (16, 8), (32, 16)),
    *_mfma(("bf16",), "f32", (16, 8), (32, 16)),
    *_mfma(_OCP, "f32", (16,), (32,)),
    *_mfma(("i8",), "i32", (32, 16), (64, 32)),
)
_RDNA_3 = (
    *_wmma(1, ("f16",), ("f32", "f16"), (16,)),
    *_wmma(1, ("bf16",), ("f32", "bf16"), (16,)),
    *_wmma(1, ("i8",), ("i32",), (16,)),
    *_wmma(1, ("i4",), ("i32",), (16,)),
)
_RDNA_4 = (
    *_wmma(2, ("f16",), ("f32", "f16"), (16,)),
    *_wmma(2, ("bf16",), ("f32", "bf16"), (16,)),
    *_wmma(2, _OCP, ("f32",), (16,)),
    *_wmma(2, ("i8",), ("i32",), (16,)),
    *_wmma(2, ("i4",), ("i32",), (32, 16)),
)
_GFX1250 = (
    *_wmma(3, ("f32",), ("f32",), (4,)),
    *_wmma(3, ("f16",), ("f32", "f16"), (32,)),
    *_wmma(3, ("bf16",), ("f32", "bf16"), (32,)),
    *_wmma(3, _OCP, ("f32", "f16"), (128, 64)),
    *_wmma(3, ("i8",), ("i32",), (64,)),
)

_HALF = (ProductTile(128, 128, 64), ProductTile(64, 64, 64), ProductTile(32, 32, 32))
_WIDE = (ProductTile(64, 64, 32), ProductTile(32, 32, 16))
_TILES = TilePolicy(
    {
        **dict.fromkeys(("f16", "bf16", "i8", "f8E4M3FN", "f8E5M2"), _HALF),
        **dict.fromkeys(("f8E4M3FNUZ", "f8E5M2FNUZ"), _HALF),
        **dict.fromkeys(("f32", "f64"), _WIDE),
    }
)
"""Tiles that fit twice into the 64 KiB of local memory that all of these chips have.

Nothing of it is measured: there is no such chip here.
"""


def _chip(
    name: str,
    description: str,
    matrix_units: tuple[MatrixUnit, ...],
    *,
    lanes: int,
    registers: int,
    kilobytes: int,
) -> Target:
    """A chip with waves of so many lanes, and so much local memory for a work-group."""
    return Target(
        name=name,
        description=description,
        subgroup_sizes=(lanes,),
        subgroup_size=lanes,
        most_work_items=1024,
        local_memory=kilobytes * 1024,
        registers=registers,
        register_size=lanes * 4,
        matrix_units=matrix_units,
        tiles=_TILES,
    )


TARGETS = (
    _chip("gfx90a", "CDNA 2, MI200", _CDNA_2, lanes=64, registers=512, kilobytes=64),
    _chip("gfx942", "CDNA 3, MI300", _CDNA_3, lanes=64, registers=512, kilobytes=64),
    _chip("gfx950", "CDNA 4, MI350", _CDNA_4, lanes=64, registers=512, kilobytes=160),
    _chip("gfx1100", "RDNA 3, RX 7900", _RDNA_3, lanes=32, registers=256, kilobytes=64),
    _chip("gfx1101", "RDNA 3, RX 7800", _RDNA_3, lanes=32, registers=256, kilobytes=64),
    _chip("gfx1151", "RDNA 3.5, Ryzen AI Max", _RDNA_3, lanes=32, registers=256, kilobytes=64),
    _chip("gfx1200", "RDNA 4, RX 9060", _RDNA_4, lanes=32, registers=256, kilobytes=64),
    _chip("gfx1201", "RDNA 4, RX 9070", _RDNA_4, lanes=32, registers=256, kilobytes=64),
    _chip("gfx1250", "MI400", _GFX1250, lanes=32, registers=1024, kilobytes=320),
)
