"""What stock `xdsl-opt` finds of this package, through the entry point `xdsl.universe`.

xDSL refuses to start when two packages share a name, so a name that xDSL has itself is left out of
`XTILE_UNIVERSE`; this package's commands use `all_dialects`, where its completed versions of xDSL's
dialects stand in their place. Everything loads when it is first used.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from xdsl.universe import XDSL_UNIVERSE, Universe

from xtile.translate.route import ROUTES

if TYPE_CHECKING:
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass
    from xdsl.utils.target import Target


def _tensorlang() -> Dialect:
    from xtile.dialects.tensorlang import TensorLang

    return TensorLang


def _core() -> Dialect:
    from xtile.dialects.core import Core

    return Core


def _xegpu() -> Dialect:
    from xtile.dialects.xegpu import XeGPU

    return XeGPU


def _cuda_tile() -> Dialect:
    from xtile.dialects.cuda_tile.dialect import CudaTile

    return CudaTile


def _index() -> Dialect:
    from xtile.dialects.index import Index

    return Index


def _arith() -> Dialect:
    from xtile.dialects.arith import Arith

    return Arith


def _cf() -> Dialect:
    from xtile.dialects.cf import Cf

    return Cf


def _complex() -> Dialect:
    from xtile.dialects.complex import Complex

    return Complex


def _func() -> Dialect:
    from xtile.dialects.func import Func

    return Func


def _gpu() -> Dialect:
    from xtile.dialects.gpu import GPU

    return GPU


def _llvm() -> Dialect:
    from xtile.dialects.llvm import LLVM

    return LLVM


def _math() -> Dialect:
    from xtile.dialects.math import Math

    return Math


def _memref() -> Dialect:
    from xtile.dialects.memref import MemRef

    return MemRef


def _scf() -> Dialect:
    from xtile.dialects.scf import Scf

    return Scf


def _transform() -> Dialect:
    from xtile.dialects.transform import Transform

    return Transform


def _vector() -> Dialect:
    from xtile.dialects.vector import Vector

    return Vector


def _nvvm() -> Dialect:
    from xtile.dialects.compilation import NVVM

    return NVVM


def _rocdl() -> Dialect:
    from xtile.dialects.compilation import ROCDL

    return ROCDL


def _spirv() -> Dialect:
    from xtile.dialects.spirv.dialect import SPIRV

    return SPIRV


def _xevm() -> Dialect:
    from xtile.dialects.compilation import XeVM

    return XeVM


def _pass(name: str) -> type[ModulePass]:
    from xtile.translate.passes import pass_named

    return pass_named(name)


def _tensorlang_target() -> type[Target]:
    from xtile.output_formats import TensorLangFormat

    return TensorLangFormat


def _spirv_target() -> type[Target]:
    from xtile.output_formats import SPIRVFormat

    return SPIRVFormat


def _spirv_assembly_target() -> type[Target]:
    from xtile.output_formats import SPIRVAssemblyFormat

    return SPIRVAssemblyFormat


def _tile_bytecode_target() -> type[Target]:
    from xtile.output_formats import TileBytecodeFormat

    return TileBytecodeFormat


XTILE_UNIVERSE = Universe(
    all_dialects={
        "core": _core,
        "index": _index,
        "nvvm": _nvvm,
        "rocdl": _rocdl,
        "spirv": _spirv,
        "tensorlang": _tensorlang,
        "cuda_tile": _cuda_tile,
        "xegpu": _xegpu,
        "xevm": _xevm,
    },
    all_passes={name: partial(_pass, name) for name in ROUTES.names},
    all_targets={
        "spirv": _spirv_target,
        "spirv-asm": _spirv_assembly_target,
        "tensorlang": _tensorlang_target,
        "tileir-bytecode": _tile_bytecode_target,
    },
)

COMPLETED_DIALECTS: dict[str, Callable[[], Dialect]] = {
    "arith": _arith,
    "cf": _cf,
    "complex": _complex,
    "func": _func,
    "gpu": _gpu,
    "llvm": _llvm,
    "math": _math,
    "memref": _memref,
    "scf": _scf,
    "transform": _transform,
    "vector": _vector,
}
"""Dialects of xDSL's that this package completes with operations and with upstream's syntax."""


def all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Every dialect that this package's commands know, by name."""
    return {**XDSL_UNIVERSE.all_dialects, **XTILE_UNIVERSE.all_dialects, **COMPLETED_DIALECTS}
