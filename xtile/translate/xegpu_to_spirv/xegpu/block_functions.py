"""Accesses of blocks by the driver's functions, or by the instructions of SPV_INTEL_2d_block_io.

Both take the same operands, and move what a lane has through private memory.

Source: OpenCL extension cl_intel_subgroup_2d_block_io; SPV_INTEL_2d_block_io.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerType, VectorType, i32, i64
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.spirv import ArrayType, PointerType, operation
from xtile.targets.blocks import Action
from xtile.translate.xegpu_to_spirv.allocation import first_element
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import bitcast_pointer, load, store
from xtile.translate.xegpu_to_spirv.types import (
    bit_width,
    element_type,
    legal_lengths,
    length_of,
    of_length,
)
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import BlockAccess
from xtile.translate.xegpu_to_spirv.xegpu.block_surfaces import Surface, surface_of
from xtile.translate.xegpu_to_spirv.xegpu.function_names import block_name
from xtile.translate.xegpu_to_spirv.xegpu.imports import call

_VERBS = {
    Action.LOAD: "read",
    Action.LOAD_TRANSFORMED: "read_transform",
    Action.LOAD_TRANSPOSED: "read_transpose",
    Action.STORE: "write",
    Action.PREFETCH: "prefetch",
}

_INSTRUCTIONS = {
    Action.LOAD: "Subgroup2DBlockLoadINTEL",
    Action.LOAD_TRANSFORMED: "Subgroup2DBlockLoadTransformINTEL",
    Action.LOAD_TRANSPOSED: "Subgroup2DBlockLoadTransposeINTEL",
    Action.STORE: "Subgroup2DBlockStoreINTEL",
    Action.PREFETCH: "Subgroup2DBlockPrefetchINTEL",
}


class BlockFunctions:
    """Accesses of blocks.

    Args:
        are_instructions: Whether they are instructions of SPIR-V.
    """

    def __init__(self, are_instructions: bool) -> None:
        self._are_instructions = are_instructions

    def load(
        self, lowering: Lowering, access: BlockAccess, action: Action, word: Attribute, count: int
    ) -> list[SSAValue]:
        """What a lane gets, in words, as vectors of legal lengths."""
        memory = _private_memory(lowering, word, count)
        self._do(lowering, access, action, memory)
        alignment = bit_width(word) // 8
        return [
            load(lowering, _at(lowering, memory, first, of_length(word, length)), alignment)
            for first, length in _locations(count)
        ]

    def store(self, lowering: Lowering, access: BlockAccess, pieces: Sequence[SSAValue]) -> None:
        """Stores what a lane has, vectors of words."""
        count = sum(length_of(piece.type) for piece in pieces)
        word = element_type(pieces[0].type)
        memory = _private_memory(lowering, word, count)
        for (first, _), piece in zip(_locations(count), pieces, strict=True):
            pointer = _at(lowering, memory, first, piece.type)
            store(lowering, pointer, piece, bit_width(word) // 8)
        self._do(lowering, access, Action.STORE, memory)

    def prefetch(self, lowering: Lowering, access: BlockAccess) -> None:
        """Brings a block into the caches."""
        self._do(lowering, access, Action.PREFETCH, None)

    def _do(
        self, lowering: Lowering, access: BlockAccess, action: Action, memory: SSAValue | None
    ) -> None:
        surface = surface_of(lowering, access)
        if memory is not None:
            memory = bitcast_pointer(lowering, memory, IntegerType(_bits(memory)))
        if self._are_instructions:
            _execute(lowering, access, action, surface, memory)
        else:
            _call(lowering, access, action, surface, memory)


def _call(
    lowering: Lowering,
    access: BlockAccess,
    action: Action,
    surface: Surface,
    memory: SSAValue | None,
) -> None:
    word = "" if memory is None else f"u{_bits(memory)}"
    name = block_name(_VERBS[action], access.bits, access.shape, access.type.array_length, word)
    arguments = [surface.base, surface.width, surface.height, surface.pitch]
    arguments.append(_coordinate(lowering, surface))
    if memory is not None:
        arguments.append(memory)
    call(lowering, name, None, arguments)


def _execute(
    lowering: Lowering,
    access: BlockAccess,
    action: Action,
    surface: Surface,
    memory: SSAValue | None,
) -> None:
    rows, columns = access.shape
    numbers = (access.bits // 8, columns, rows, access.type.array_length)
    shape = [lowering.integer(number, i32) for number in numbers]
    region = [surface.base, surface.width, surface.height, surface.pitch]
    region.append(_coordinate(lowering, surface))
    private = [] if memory is None else [memory]
    # A store has its source before the region, a load its destination behind it.
    moved = [*private, *region] if action is Action.STORE else [*region, *private]
    lowering.do(_INSTRUCTIONS[action], *shape, *moved)


def _coordinate(lowering: Lowering, surface: Surface) -> SSAValue:
    return lowering.shared_compute(
        "CompositeConstruct", VectorType(i32, [2]), surface.column, surface.row
    )


def _private_memory(lowering: Lowering, word: Attribute, count: int) -> SSAValue:
    """Points to private memory for so many words."""
    type_ = PointerType(ArrayType(word, count), "Function")
    variable = operation("Variable", type_, "Function")
    lowering.place_at_entry(variable)
    return first_element(lowering, variable.results[0], word)


def _bits(memory: SSAValue) -> int:
    """The width of the words that a pointer points to."""
    return bit_width(cast(PointerType, memory.type).pointee)


def _locations(count: int) -> list[tuple[int, int]]:
    """The first word and the length of each piece."""
    lengths = legal_lengths(count)
    return [(sum(lengths[:i]), length) for i, length in enumerate(lengths)]


def _at(lowering: Lowering, memory: SSAValue, first: int, type_: Attribute) -> SSAValue:
    """Points to a piece in private memory, from a word on."""
    if first:
        index = lowering.integer(first, i64)
        memory = lowering.shared_compute("InBoundsPtrAccessChain", memory.type, memory, index)
    return bitcast_pointer(lowering, memory, type_)
