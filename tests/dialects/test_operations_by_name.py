"""The operations of every dialect are imported by their names."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import pytest
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from xtile.dialects.registry import all_dialects
from xtile.dialects.spirv import instruction_class

DIALECTS = (
    *("affine", "linalg"),
    *("arith", "cf", "complex", "core", "cuda_tile", "func", "gpu", "index", "llvm", "math"),
    *("memref", "scf", "tensorlang", "ub"),
    *("vector", "xegpu"),
)
OWN = ("cuda_tile", "tensorlang", "xegpu")
"""The tile languages, whose operations have constructors of their own."""


def operations_of(dialect: str) -> list[type[Operation]]:
    """The operations of a dialect; those that only XeGPU's RFC has stand apart."""
    found = all_dialects()[dialect]().operations
    return [operation for operation in found if ".rfc." not in operation.__module__]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_operation_is_there(dialect: str) -> None:
    module = import_module(f"xtile.dialects.{dialect}.ops")
    for operation in operations_of(dialect):
        assert getattr(module, operation.__name__) is operation
    with pytest.raises(AttributeError, match=f"'xtile.dialects.{dialect}.ops' has no attribute"):
        _ = module.NoSuchOp


@pytest.mark.parametrize("dialect", DIALECTS)
def test_type_checkers_see_our_own(dialect: str) -> None:
    """What the module finds at run time, it imports for type checkers."""
    text = inspect.getsource(import_module(f"xtile.dialects.{dialect}.ops"))
    families = {operation.__module__ for operation in operations_of(dialect)}
    for family in families - {f"xtile.dialects.{dialect}.ops"}:
        short = family.rpartition(".")[2]
        is_ours = family.startswith("xtile.")
        assert not is_ours or f"from {family} import" in text or f"    {short},\n" in text, family


def test_instructions_of_spirv() -> None:
    from xtile.dialects.spirv.ops import FAddOp, FuncOp, ModuleOp

    assert FAddOp is instruction_class("FAdd")
    assert (FuncOp.name, ModuleOp.name) == ("spirv.func", "spirv.module")
    with pytest.raises(ImportError):
        from xtile.dialects.spirv.ops import NoSuchOp  # noqa: F401 # pyright: ignore


@pytest.mark.parametrize("dialect", OWN)
def test_constructors_have_types(dialect: str) -> None:
    for operation in operations_of(dialect):
        assert operation.__init__ is not IRDLOperation.__init__, operation
        parameters = list(inspect.signature(operation.__init__).parameters.values())[1:]
        for parameter in parameters:
            assert parameter.annotation is not inspect.Parameter.empty, (operation, parameter)
            assert parameter.kind is not inspect.Parameter.VAR_KEYWORD, (operation, parameter)


@pytest.mark.parametrize("dialect", ["cuda_tile", "xegpu"])
def test_one_family_loads_no_other(dialect: str) -> None:
    family = {"cuda_tile": "bitwise", "xegpu": "barriers"}[dialect]
    package = f"xtile.dialects.{dialect}.ops"
    code = (
        f"import sys; from {package} import {family}\n"
        f"print([m for m in sys.modules if m.startswith('{package}.') and 'rules' not in m])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    loaded = eval(done.stdout)
    assert f"{package}.{family}" in loaded
    assert len(loaded) <= 3, loaded
