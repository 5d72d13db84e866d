"""Atomic exchanges in each language: they read memory only where something takes what was there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from xtile.arguments.arrays import Output
from xtile.arguments.writes import written_parameters
from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.core.attributes import AtomicKind
from xtile.dialects.cuda_tile.enumerations import AtomicRMWMode
from xtile.dialects.effects import EXCHANGES, exchanges, read_operands, written_operands
from xtile.dialects.triton.tt.enumerations import RMWOp
from xtile.launch import SanitizerError

_CUDA_TILE = """
cuda_tile.module @m {{
entry @k(%m: tile<ptr<i32>>, %o: tile<ptr<i32>>) {{
  %v = constant <i32: 7> : tile<i32>
  %old, %t = atomic_rmw_tko relaxed device %m, {kind}, %v
    : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  {taken}
  %after, %u = load_ptr_tko weak %m token=%t : tile<ptr<i32>> -> tile<i32>, token
  return
}}
}}
"""

_TRITON = """
tt.func public @k(%m: !tt.ptr<i32>, %o: !tt.ptr<i32>) {{
  %v = arith.constant 7 : i32
  %old = tt.atomic_rmw {kind}, relaxed, gpu, %m, %v : (!tt.ptr<i32>, i32) -> i32
  {taken}
  tt.return
}}
"""

_CORE = """
gpu.module @m {{
  gpu.func @k(%m: memref<1xi32>, %o: memref<1xi32>) kernel
      attributes {{known_block_size = array<i32: 1, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %v = arith.constant 7 : i32
    {update}
    {taken}
    gpu.return
  }}
}}
"""

_UPDATES = {
    "memref.atomic_rmw": (
        "%old = memref.atomic_rmw {kind} %v, %m[%c0] : (i32, memref<1xi32>) -> i32"
    ),
    "core.atomic_rmw": (
        "%old = core.atomic_rmw {kind} relaxed device %v, %m[%c0] : i32, memref<1xi32>[index]"
    ),
    "core.atomic_update": (
        "%old = core.atomic_update {kind} %v, %m[%c0] checked [] : i32, memref<1xi32> -> i32"
    ),
}

_KERNELS = {
    "cuda_tile.atomic_rmw_tko": (
        _CUDA_TILE,
        ("xchg", "add"),
        "%s = store_ptr_tko weak %o, %old : tile<ptr<i32>>, tile<i32> -> token",
    ),
    "tt.atomic_rmw": (_TRITON, ("exch", "add"), "tt.store %o, %old : !tt.ptr<i32>"),
    **{
        name: (
            _CORE.replace("{update}", update),
            ("assign", "addi"),
            "memref.store %old, %o[%c0] : memref<1xi32>",
        )
        for name, update in _UPDATES.items()
    },
}
"""For each operation a kernel, the words for an exchange and a sum, and what takes the result."""


def _kernel(name: str, *, is_exchange: bool, is_taken: bool) -> Any:
    text, kinds, taken = _KERNELS[name]
    made = text.format(kind=kinds[not is_exchange], taken=taken if is_taken else "")
    return xtile.parse(made, language="mlir")


def _update(kernel: Any, name: str) -> Any:
    return next(each for each in kernel.walk() if each.name == name)


@pytest.mark.parametrize("name", _KERNELS)
def test_an_exchange_only_writes(name: str) -> None:
    kernel = _kernel(name, is_exchange=True, is_taken=False)
    memory = np.full(1, -1, np.int32)
    xtile.run(kernel, [Output(memory), np.zeros(1, np.int32)], sanitize=True)
    assert memory.tolist() == [7]
    update = _update(kernel, name)
    assert exchanges(update)
    assert (read_operands(update), len(written_operands(update))) == ((), 1)
    function = next(each for each in kernel.walk() if each.name.endswith((".func", ".entry")))
    assert written_parameters(function) == {0}


@pytest.mark.parametrize(("is_exchange", "is_taken"), [(True, True), (False, False)])
@pytest.mark.parametrize("name", _KERNELS)
def test_other_updates_read(name: str, is_exchange: bool, is_taken: bool) -> None:
    kernel = _kernel(name, is_exchange=is_exchange, is_taken=is_taken)
    with pytest.raises(SanitizerError, match="is read, but nothing was written to it"):
        xtile.run(kernel, [Output(np.zeros(1, np.int32)), np.zeros(1, np.int32)], sanitize=True)
    update = _update(kernel, name)
    assert not exchanges(update)
    assert read_operands(update) == written_operands(update) != ()


def test_the_kinds_in_the_table() -> None:
    kinds = {
        "amdg": RMWOp.EXCH,
        "core": AtomicRMWKind.assign,
        "cuda_tile": list(AtomicRMWMode).index(AtomicRMWMode.XCHG),
        "memref": AtomicRMWKind.assign,
        "tt": RMWOp.EXCH,
        "ttg": RMWOp.EXCH,
        "xegpu": AtomicRMWKind.assign,
    }
    for name, (_, kind) in EXCHANGES.items():
        dialect = name.partition(".")[0]
        assert kind == (AtomicKind.ASSIGN if name == "core.atomic_update" else kinds[dialect])
