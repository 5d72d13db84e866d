"""The table of effects names operations and operands that exist, and none is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from xdsl.dialects.builtin import UnregisteredOp, f32, i32
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsTerminator, MemoryReadEffect, MemoryWriteEffect, NoMemoryEffect

from xtile.dialects import effects
from xtile.dialects.arith import Arith
from xtile.dialects.registry import all_dialects
from xtile.dialects.spirv import operation as spirv

_ROWS = {**effects.READS, **effects.WRITES, **effects.UPDATES}
_NAMES = frozenset[str]().union(
    _ROWS,
    effects.BARRIERS,
    effects.HARMLESS,
    effects.MAY_FAIL,
    effects.OF_LANES,
    effects.PURE,
)

_MEMORY = frozenset(
    {"a", "b", "base", "c", "dest", "destination", "dst", "dstMemref", "mem_desc", "memory"}
    | {"memref", "pointers", "source", "src", "srcMemref", "tensorDesc", "TensorDesc", "view"}
)
"""What operands are called that say which memory is accessed."""

_WITHOUT_ROW = frozenset(
    {"core.map", "core.parallel", "core.yield"}  # Their regions may have effects.
    | {"memref.alloc", "memref.alloca", "memref.alloca_scope", "memref.alloca_scope.return"}
    | {"memref.atomic_yield", "memref.distinct_objects", "memref.global"}
    # Taken to read and to write whatever they are given.
    | {"memref.dealloc", "memref.dma_start", "memref.dma_wait", "memref.realloc"}
    | {"core.print", "vector.mask", "vector.print"}
)
"""Operations of the core form's memory that have neither a row nor a trait."""


_DIALECTS = [
    "arith",
    "core",
    "cuda_tile",
    "gpu",
    "index",
    "memref",
    "tensorlang",
    "vector",
    "xegpu",
]


@cache
def _classes() -> dict[str, type[IRDLOperation]]:
    dialects = all_dialects()
    names = (
        "arith",
        "core",
        "cuda_tile",
        "gpu",
        "index",
        "memref",
        "tensorlang",
        "vector",
        "xegpu",
    )
    return {
        kind.name: kind
        for name in names
        for kind in dialects[name]().operations
        if issubclass(kind, IRDLOperation)
    }


def _of(*dialects: str) -> Iterator[type[IRDLOperation]]:
    return (kind for kind in _classes().values() if kind.dialect_name() in dialects)


@pytest.mark.parametrize("name", sorted(_NAMES))
def test_row_is_of_an_operation(name: str) -> None:
    assert name in _classes()


@pytest.mark.parametrize("table", ["READS", "WRITES", "UPDATES"])
def test_operand_is_memory(table: str) -> None:
    for name, numbers in getattr(effects, table).items():
        operands = _classes()[name].get_irdl_definition().operands
        assert all(operands[number][0] in _MEMORY for number in numbers), name


@pytest.mark.parametrize("dialect", ["core", "memref", "vector"])
def test_every_operation_is_known(dialect: str) -> None:
    unknown = {
        kind.name
        for kind in _of(dialect)
        if kind.name not in _NAMES and not kind.has_trait(NoMemoryEffect)
    }
    assert unknown == {name for name in _WITHOUT_ROW if name.startswith(f"{dialect}.")}


def test_traits_agree() -> None:
    """What xDSL says of an operation is no other than what the table does."""
    for kind in _classes().values():
        reads, writes = kind.has_trait(MemoryReadEffect), kind.has_trait(MemoryWriteEffect)
        if kind.name.startswith("memref.dma_"):
            continue
        if kind.has_trait(NoMemoryEffect):
            assert kind.name not in _ROWS, kind.name
        if reads or writes:
            assert kind.name in _ROWS, kind.name
            is_read = kind.name in effects.READS
            is_written = kind.name in effects.WRITES
            is_updated = kind.name in effects.UPDATES
            assert (is_read or is_updated, is_written or is_updated) == (reads, writes), kind.name


def _arith(name: str) -> Operation:
    a = AnyOp(result_types=[i32]).results[0]
    kind = next(kind for kind in Arith.operations if kind.name == name)
    return kind.create(operands=[a, a], result_types=[i32])


@pytest.mark.parametrize(("name", "fails"), [("addi", False), ("divsi", True), ("remui", True)])
def test_divisions_are_pure_and_may_fail(name: str, fails: bool) -> None:
    operation = _arith(f"arith.{name}")
    assert effects.is_pure(operation)
    assert effects.may_fail(operation) is fails


def test_extended_instructions_are_pure() -> None:
    value = AnyOp(result_types=[f32]).results[0]
    assert effects.is_pure(spirv("CL.sqrt", f32, value))


def test_unknown_operations_are_not_pure() -> None:
    unknown = UnregisteredOp.with_name("their.operation").create(result_types=[i32])
    assert not effects.is_pure(unknown)
    assert not effects.leaves_memory(unknown)


def test_ends_of_blocks_are_not_pure() -> None:
    ends = [kind for kind in _classes().values() if kind.has_trait(IsTerminator)]
    assert ends
    assert not any(effects.is_pure(kind.create()) for kind in ends)
