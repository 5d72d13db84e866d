"""Matrix products, and blocks of memory that a subgroup loads and stores.

Source: SPV_KHR_cooperative_matrix, SPV_INTEL_2d_block_io,
SPV_INTEL_subgroup_matrix_multiply_accumulate.
"""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.rules.types import (
    Rule,
    for_all,
    require_kind,
    require_pointer,
    require_same,
    require_values,
    require_word,
    result_of,
)
from xtile.dialects.spirv.types import CooperativeMatrixType, PointerType
from xtile.dialects.spirv.words import ArgumentError


def _multiply_subgroup(instruction: Instruction) -> None:
    """K Dim, Matrix A, Matrix B, Matrix C."""
    result = result_of(instruction)
    types = require_values(instruction, 4)
    require_word(instruction.values[0], "K Dim", is_constant=True)
    for what, type in zip(("Matrix A", "Matrix B"), types[1:3], strict=True):
        require_kind(type, "numbers", what)
    require_kind(result, "numbers", "the result")
    require_same(types[3], result, "Matrix C")


_BLOCK = ("Element Size", "Block Width", "Block Height", "Block Count")
_SURFACE = ("Memory Width", "Memory Height", "Memory Pitch")


def _block_access(pointers: tuple[str, ...], has_destination: bool) -> Rule:
    """A block's sizes, the pointers, the surface's sizes, the coordinate, the destination."""
    count = len(_BLOCK) + len(pointers) + len(_SURFACE) + 1 + has_destination

    def check(instruction: Instruction) -> None:
        require_values(instruction, count)
        values = iter(instruction.values)
        for what in _BLOCK:
            require_word(next(values), what, is_constant=True)
        for what in pointers:
            is_global = what.endswith("Base Pointer")
            _require_storage(next(values), what, "CrossWorkgroup" if is_global else "Function")
        for what in _SURFACE:
            require_word(next(values), what)
        require_same(next(values).type, VectorType(i32, (2,)), "Coordinate")
        if has_destination:
            _require_storage(next(values), "Dst Pointer", "Function")

    return check


def _require_storage(value: SSAValue, what: str, storage_class: str) -> None:
    pointer = require_pointer(value.type, what)
    if pointer.storage_class.data != storage_class:
        raise ArgumentError(f"{what} points to {storage_class}, got {pointer}")


def _multiply_cooperative(instruction: Instruction) -> None:
    result = _require_matrix(result_of(instruction), "the result")
    a, b, c, *_ = map(_require_matrix, require_values(instruction, 3), ("A", "B", "C"))
    require_same(c, result, "C")
    for what, matrix, use in (
        ("A", a, "MatrixAKHR"),
        ("B", b, "MatrixBKHR"),
        ("C", c, "MatrixAccumulatorKHR"),
    ):
        if matrix.use.data != use:
            raise ArgumentError(f"{what} is used as {use}, got {matrix}")
        if matrix.scope != result.scope:
            raise ArgumentError(f"the scope of {what} is not that of the result")
    if (a.rows, b.columns) != (c.rows, c.columns) or a.columns != b.rows:
        raise ArgumentError(f"a product of {a} and {b} has not the size of {c}")


def _load_cooperative(instruction: Instruction) -> None:
    _require_matrix(result_of(instruction), "the result")
    pointer, layout, *_ = require_values(instruction, 2)
    _require_memory(pointer, layout)


def _store_cooperative(instruction: Instruction) -> None:
    pointer, matrix, layout, *_ = require_values(instruction, 3)
    _require_matrix(matrix, "Object")
    _require_memory(pointer, layout)


def _require_memory(pointer: Attribute, layout: Attribute) -> None:
    if isinstance(pointer, PointerType):
        require_kind(pointer.pointee, "numbers", "what Pointer points to")
    require_same(layout, i32, "MemoryLayout")


def _require_matrix(type: Attribute, what: str) -> CooperativeMatrixType:
    if not isinstance(type, CooperativeMatrixType):
        raise ArgumentError(f"expected a cooperative matrix as {what}, got {type}")
    return type


RULES: dict[str, Rule] = dict(
    (
        *for_all("SubgroupMatrixMultiplyAccumulateINTEL", _multiply_subgroup),
        *for_all(
            "Subgroup2DBlockLoadINTEL Subgroup2DBlockLoadTransformINTEL "
            "Subgroup2DBlockLoadTransposeINTEL",
            _block_access(("Src Base Pointer",), has_destination=True),
        ),
        *for_all(
            "Subgroup2DBlockPrefetchINTEL",
            _block_access(("Src Base Pointer",), has_destination=False),
        ),
        *for_all(
            "Subgroup2DBlockStoreINTEL",
            _block_access(("Src Pointer", "Dst Base Pointer"), has_destination=False),
        ),
        *for_all("CooperativeMatrixMulAddKHR", _multiply_cooperative),
        *for_all("CooperativeMatrixLoadKHR", _load_cooperative),
        *for_all("CooperativeMatrixStoreKHR", _store_cooperative),
    )
)
"""The rule of each instruction."""
