"""The dialects by name, each loaded when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Dialect


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


def _affine() -> Dialect:
    from xtile.dialects.affine import Affine

    return Affine


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


def _linalg() -> Dialect:
    from xtile.dialects.linalg import Linalg

    return Linalg


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


def _ub() -> Dialect:
    from xtile.dialects.ub import UB

    return UB


def _vector() -> Dialect:
    from xtile.dialects.vector import Vector

    return Vector


def _nvvm() -> Dialect:
    from xtile.dialects.compilation import NVVM

    return NVVM


def _rocdl() -> Dialect:
    from xtile.dialects.rocdl import ROCDL

    return ROCDL


def _spirv() -> Dialect:
    from xtile.dialects.spirv.dialect import SPIRV

    return SPIRV


def _xevm() -> Dialect:
    from xtile.dialects.compilation import XeVM

    return XeVM


def _tt() -> Dialect:
    from xtile.dialects.triton.tt.dialect import TT

    return TT


def _ttg() -> Dialect:
    from xtile.dialects.triton.ttg.dialect import TTG

    return TTG


def _amdg() -> Dialect:
    from xtile.dialects.triton.amdg.dialect import AMDG

    return AMDG


OWN_DIALECTS: Mapping[str, Callable[[], Dialect]] = {
    "amdg": _amdg,
    "core": _core,
    "index": _index,
    "nvvm": _nvvm,
    "rocdl": _rocdl,
    "spirv": _spirv,
    "tensorlang": _tensorlang,
    "cuda_tile": _cuda_tile,
    "tt": _tt,
    "ttg": _ttg,
    "xegpu": _xegpu,
    "xevm": _xevm,
}
"""Dialects that xDSL does not have."""

COMPLETED_DIALECTS: Mapping[str, Callable[[], Dialect]] = {
    "affine": _affine,
    "arith": _arith,
    "cf": _cf,
    "complex": _complex,
    "func": _func,
    "gpu": _gpu,
    "linalg": _linalg,
    "llvm": _llvm,
    "math": _math,
    "memref": _memref,
    "scf": _scf,
    "ub": _ub,
    "vector": _vector,
}
"""Dialects of xDSL's that this package completes with operations and with upstream's syntax."""


def all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Every dialect that this package's commands know, by name."""
    from xdsl.universe import XDSL_UNIVERSE

    return {**XDSL_UNIVERSE.all_dialects, **OWN_DIALECTS, **COMPLETED_DIALECTS}


def make_context() -> Context:
    """Returns a context that loads any dialect of xDSL and of this package on first use."""
    from xdsl.context import Context

    context = Context()
    for name, factory in all_dialects().items():
        context.register_dialect(name, factory)
    return context


def operations_by_name(dialect: str) -> Callable[[str], type[Any]]:
    """The `__getattr__` of a module that has the operations of a dialect, each by its class's name.

    Args:
        dialect: The dialect, which is loaded when an operation is first asked for.
    """

    def find(name: str) -> type[Any]:
        for operation in all_dialects()[dialect]().operations if name.endswith("Op") else ():
            if operation.__name__ == name:
                return operation
        raise AttributeError(f"module 'xtile.dialects.{dialect}.ops' has no attribute '{name}'")

    return find
