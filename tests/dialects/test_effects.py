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

import xtile
from xtile.dialects import effects
from xtile.dialects.arith import Arith
from xtile.dialects.registry import all_dialects
from xtile.dialects.spirv import operation as spirv
from xtile.dialects.spirv.instruction import Instruction

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
    {"a", "b", "base", "c", "desc", "dest", "destination", "dst", "dstMemref", "mem_desc", "memory"}
    | {"memref", "pointers", "source", "src", "srcMemref", "tensorDesc", "TensorDesc", "view"}
    | {"init", "input", "inputs", "outputs", "ptr", "result"}
)
"""What operands are called that say which memory is accessed."""

_WITHOUT_ROW = frozenset(
    # Their regions may have effects.
    {"affine.for", "affine.if", "affine.parallel", "core.map", "core.parallel", "core.yield"}
    | {"memref.alloc", "memref.alloca", "memref.alloca_scope", "memref.alloca_scope.return"}
    | {"memref.atomic_yield", "memref.distinct_objects", "memref.global"}
    # Taken to read and to write whatever they are given.
    | {"memref.dealloc", "memref.dma_start", "memref.dma_wait", "memref.realloc"}
    | {"core.print", "vector.mask", "vector.print"}
    | {"linalg.index", "linalg.yield"}  # They belong to the operation around them.
)
"""Operations on memory that have neither a row nor a trait."""


_DIALECTS = [
    "affine",
    "amdg",
    "arith",
    "core",
    "cuda_tile",
    "gpu",
    "index",
    "linalg",
    "memref",
    "spirv",
    "tensorlang",
    "tt",
    "ttg",
    "vector",
    "xegpu",
]


@cache
def _classes() -> dict[str, type[Operation]]:
    dialects = all_dialects()
    return {kind.name: kind for name in _DIALECTS for kind in dialects[name]().operations}


def _of(*dialects: str) -> Iterator[type[Operation]]:
    return (kind for kind in _classes().values() if kind.dialect_name() in dialects)


@pytest.mark.parametrize("name", sorted(_NAMES))
def test_row_is_of_an_operation(name: str) -> None:
    assert name in _classes()


@pytest.mark.parametrize("table", ["READS", "WRITES", "UPDATES"])
def test_operand_is_memory(table: str) -> None:
    for name, numbers in getattr(effects, table).items():
        kind = _classes()[name]
        if issubclass(kind, IRDLOperation):
            operands = kind.get_irdl_definition().operands
            assert all(operands[number][0] in _MEMORY for number in numbers), name
        else:  # SPIR-V's grammar names no operands.
            assert issubclass(kind, Instruction)
            assert all(number < len(kind.entry.operands) for number in numbers), name


@pytest.mark.parametrize("dialect", ["affine", "core", "linalg", "memref", "vector"])
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


def test_inputs_and_outputs_of_linalg() -> None:
    """Several of each count, tensors and numbers do not."""
    module = xtile.parse(
        """#id = affine_map<(i) -> (i)>
        #number = affine_map<(i) -> ()>
        func.func @f(%a: memref<4xf32>, %b: memref<4xf32>, %c: f32,
            %t: tensor<4xf32>, %z: memref<f32>) {
          linalg.fill ins(%c : f32) outs(%a : memref<4xf32>)
          linalg.generic {indexing_maps = [#id, #number, #id, #id], iterator_types = ["parallel"]}
              ins(%a, %c : memref<4xf32>, f32) outs(%a, %b : memref<4xf32>, memref<4xf32>) {
          ^bb0(%x: f32, %y: f32, %l: f32, %r: f32):
            linalg.yield %x, %y : f32, f32
          }
          linalg.reduce {arith.addf} ins(%a : memref<4xf32>) outs(%z : memref<f32>) dimensions = [0]
          linalg.exp ins(%t : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
          return
        }""",
        language="mlir",
    )
    found = {
        operation.name: tuple(
            [value.name_hint for value in operands]
            for operands in (effects.read_operands(operation), effects.written_operands(operation))
        )
        for operation in module.walk()
        if operation.name in _ROWS
    }
    assert found == {
        "linalg.fill": ([], ["a"]),
        "linalg.generic": (["a", "a", "b"], ["a", "b"]),
        "linalg.reduce": (["a", "z"], ["z"]),
        "linalg.exp": ([], []),
    }
