"""Every operation of the upstream dialects has a meaning, or a reason for having none."""

from __future__ import annotations

from importlib import import_module

import pytest

from xtile.dialects.registry import all_dialects

DIALECTS = (
    "affine",
    "arith",
    "complex",
    "func",
    "gpu",
    "index",
    "linalg",
    "math",
    "memref",
    "scf",
    "ub",
)
MODULES = {"ub": "assumptions"}
"""Where the meanings of a dialect stand that has no module of its own."""

TERMINATORS = {
    "affine.yield",
    "func.return",
    "gpu.return",
    "gpu.terminator",
    "gpu.yield",
    "memref.alloca_scope.return",
    "linalg.yield",
    "memref.atomic_yield",
    "scf.condition",
    "scf.reduce",
    "scf.reduce.return",
    "scf.yield",
    "ub.unreachable",
}
"""The operation around a block takes what they yield."""

DECLARATIONS = {"func.func", "gpu.binary", "gpu.func", "gpu.module", "memref.global"}
"""They stand beside what is executed."""

NOT_IN_KERNELS = {
    "gpu.alloc",
    "gpu.dealloc",
    "gpu.host_register",
    "gpu.host_unregister",
    "gpu.launch",
    "gpu.launch_func",
    "gpu.memcpy",
    "gpu.memset",
    "gpu.set_default_device",
    "gpu.wait",
    "memref.dma_start",
    "memref.dma_wait",
    "memref.realloc",
}
"""Operations of the host."""

NOT_YET = {
    "affine.vector_load",
    "affine.vector_store",
    "func.call_indirect",
    "func.constant",
}
"""Operations that no kernel in the project's languages has."""


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_operation_has_a_meaning(dialect: str) -> None:
    handlers = import_module(f"xtile.semantics.upstream.{MODULES.get(dialect, dialect)}").HANDLERS
    names = {operation.name for operation in all_dialects()[dialect]().operations}
    without = TERMINATORS | DECLARATIONS | NOT_IN_KERNELS | NOT_YET
    assert names - set(handlers) == names & without
