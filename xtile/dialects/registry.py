"""The dialects by name, each loaded when it is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Dialect


def _loaded(module: str, name: str) -> Callable[[], Dialect]:
    """What loads a dialect: a name of a module."""

    def load() -> Dialect:
        return getattr(import_module(module), name)

    return load


OWN_DIALECTS: Mapping[str, Callable[[], Dialect]] = {
    "amdg": _loaded("xtile.dialects.triton.amdg.dialect", "AMDG"),
    "core": _loaded("xtile.dialects.core", "Core"),
    "index": _loaded("xtile.dialects.index", "Index"),
    "nvvm": _loaded("xtile.dialects.compilation", "NVVM"),
    "rocdl": _loaded("xtile.dialects.rocdl", "ROCDL"),
    "spirv": _loaded("xtile.dialects.spirv.dialect", "SPIRV"),
    "tensorlang": _loaded("xtile.dialects.tensorlang", "TensorLang"),
    "cuda_tile": _loaded("xtile.dialects.cuda_tile.dialect", "CudaTile"),
    "tt": _loaded("xtile.dialects.triton.tt.dialect", "TT"),
    "ttg": _loaded("xtile.dialects.triton.ttg.dialect", "TTG"),
    "xegpu": _loaded("xtile.dialects.xegpu", "XeGPU"),
    "xevm": _loaded("xtile.dialects.compilation", "XeVM"),
}
"""Dialects that xDSL does not have."""

COMPLETED_DIALECTS: Mapping[str, Callable[[], Dialect]] = {
    "affine": _loaded("xtile.dialects.affine", "Affine"),
    "arith": _loaded("xtile.dialects.arith", "Arith"),
    "cf": _loaded("xtile.dialects.cf", "Cf"),
    "complex": _loaded("xtile.dialects.complex", "Complex"),
    "func": _loaded("xtile.dialects.func", "Func"),
    "gpu": _loaded("xtile.dialects.gpu", "GPU"),
    "linalg": _loaded("xtile.dialects.linalg", "Linalg"),
    "llvm": _loaded("xtile.dialects.llvm", "LLVM"),
    "math": _loaded("xtile.dialects.math", "Math"),
    "memref": _loaded("xtile.dialects.memref", "MemRef"),
    "scf": _loaded("xtile.dialects.scf", "Scf"),
    "ub": _loaded("xtile.dialects.ub", "UB"),
    "vector": _loaded("xtile.dialects.vector", "Vector"),
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


def loaded_when_asked_for(module: str, name: str) -> Callable[[str], object]:
    """The `__getattr__` of a dialect's package, whose modules load without the whole dialect.

    Args:
        module: The module that has the whole dialect.
        name: The name of the dialect there and in the package.
    """
    load = _loaded(module, name)

    def find(asked: str) -> Dialect:
        if asked == name:
            return load()
        package = module.rpartition(".")[0]
        raise AttributeError(f"module '{package}' has no attribute '{asked}'")

    return find


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


def operations_of_families(package: str, families: Sequence[str]) -> Callable[[str], object]:
    """The `__getattr__` of a package of operations, which loads families as they are asked for.

    Args:
        package: The package.
        families: Its modules, searched in this order for the class that is asked for.
    """

    def find(name: str) -> object:
        # Python asks for the name of a module, too, before it imports the module.
        for family in families if name.endswith("Op") else ():
            module = import_module(f"{package}.{family}")
            value = vars(module).get(name)
            if getattr(value, "__module__", None) == module.__name__:
                setattr(sys.modules[package], name, value)
                return value
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return find
