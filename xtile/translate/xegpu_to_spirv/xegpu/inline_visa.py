"""Accesses of blocks and products as instructions of the virtual ISA, in inline assembly.

An operand `rw` is a register of all lanes, `rw.u` a number that all lanes share. A register with a
word of 16 or 32 bits for each lane is what the instructions call a row.

Source: Intel Graphics Compiler, `documentation/visa`, LSC_UNTYPED and DPAS; SPIR-V extension
SPV_INTEL_inline_assembly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.xegpu.types import TensorDescType
from xtile.targets.blocks import Action
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    LEGAL_LENGTHS,
    bit_width,
    length_of,
    of_length,
)
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import BlockAccess
from xtile.translate.xegpu_to_spirv.xegpu.block_surfaces import surface_of
from xtile.translate.xegpu_to_spirv.xegpu.imports import assemble

_MOST_WORDS = LEGAL_LENGTHS[0]
"""How many words of a lane one instruction moves: the longest vector of SPIR-V."""

_ORDERS = {
    Action.LOAD: "nn",
    Action.LOAD_TRANSFORMED: "nt",
    Action.LOAD_TRANSPOSED: "tn",
    Action.STORE: "nn",
    Action.PREFETCH: "nn",
}
"""Whether rows and columns are swapped, and whether rows are packed: n is no."""

_SURFACE = 6
"""Operands that say where a block is: the address, width, height and pitch, column and row."""


class InlineVisa:
    """Accesses of blocks."""

    def load(
        self, lowering: Lowering, access: BlockAccess, action: Action, word: Attribute, count: int
    ) -> list[SSAValue]:
        """What a lane gets, in words, as vectors of legal lengths."""
        parts = list(_parts(lowering, access, action, count))
        words = count // len(parts)
        pieces: list[SSAValue] = []
        for part in parts:
            text = f"lsc_load_block2d.ugm (M1,1) $0:{_block(part, action)} flat[{_locations(1)}]"
            type_ = of_length(word, words)
            pieces += assemble(
                lowering,
                text,
                type_,
                surface_of(lowering, part, less=1).values,
                _constraints("=rw", _SURFACE),
                has_effects=True,
            )
        return pieces

    def store(self, lowering: Lowering, access: BlockAccess, pieces: Sequence[SSAValue]) -> None:
        """Stores what a lane has, vectors of words."""
        count = sum(length_of(piece.type) for piece in pieces)
        parts = _parts(lowering, access, Action.STORE, count)
        for part, piece in zip(parts, pieces, strict=True):
            block = _block(part, Action.STORE)
            assemble(
                lowering,
                f"lsc_store_block2d.ugm (M1,1) flat[{_locations(0)}] ${_SURFACE}:{block}",
                None,
                [*surface_of(lowering, part, less=1).values, piece],
                f"{_constraints('', _SURFACE)},rw",
                has_effects=True,
            )

    def prefetch(self, lowering: Lowering, access: BlockAccess) -> None:
        """Brings a block into the caches."""
        assemble(
            lowering,
            f"lsc_load_block2d.ugm.ca.ca (M1,1) %null:{_block(access, Action.PREFETCH)} "
            f"flat[{_locations(0)}]",
            None,
            surface_of(lowering, access, less=1).values,
            _constraints("", _SURFACE),
            has_effects=True,
        )


def _block(access: BlockAccess, action: Action) -> str:
    """The shape of a block, such as `d16.2x16x8nn`."""
    rows, columns = access.shape
    count = access.type.array_length
    blocks = f"{count}x" if count > 1 else ""
    return f"d{access.bits}.{blocks}{columns}x{rows}{_ORDERS[action]}"


def _locations(first: int) -> str:
    return ",".join(f"${first + i}" for i in range(_SURFACE))


def _constraints(result: str, shared: int) -> str:
    return ",".join([*([result] if result else []), *["rw.u"] * shared])


def _parts(
    lowering: Lowering, access: BlockAccess, action: Action, count: int
) -> Iterator[BlockAccess]:
    """Accesses that move no more words of a lane than a vector can have."""
    blocks = access.type.array_length
    rows, columns = access.shape
    cuts = -(-count // blocks // _MOST_WORDS)
    if blocks == cuts == 1:
        yield access
        return
    # The rows of what a transposing load delivers are the columns of the block.
    shape = (rows, columns // cuts) if action is Action.LOAD_TRANSPOSED else (rows // cuts, columns)
    for block in range(blocks):
        for cut in range(cuts):
            move = (cut * shape[0], block * columns)
            if action is Action.LOAD_TRANSPOSED:
                move = (0, block * columns + cut * shape[1])
            yield _part(lowering, access, shape, move)


def _part(
    lowering: Lowering, access: BlockAccess, shape: tuple[int, int], move: tuple[int, int]
) -> BlockAccess:
    moved = access.descriptor.moved(lowering, move)
    type_ = TensorDescType(shape, access.type.element_type)
    return replace(access, descriptor=replace(moved, type=type_))


def multiply_add(
    lowering: Lowering,
    precision: str,
    lanes: int,
    parts: Sequence[SSAValue],
    *,
    is_bfloat16: bool,
) -> SSAValue:
    """A product of matrices.

    Args:
        lowering: Where to emit.
        precision: The type of A and B as the instruction calls it.
        lanes: The number of lanes.
        parts: What a lane has of A, B and C; the result has the type of C's.
        is_bfloat16: Whether C and the result are bf16.
    """
    left, right, before = parts
    result = before.type
    aliases = [_alias("left", "ud", 1, left, lanes), _alias("right", "ud", 2, right, lanes)]
    source, target = "$3", "$0"
    if is_bfloat16:
        source, target = "before", "after"
        aliases.append(_alias(source, "bf", 3, before, lanes))
        aliases.append(_alias(target, "bf", 0, before, lanes))
    product = f"dpas.{precision}.{precision}.8.{length_of(result)} (M1,{lanes})"
    text = "\n".join(["{", *aliases, f"{product} {target}.0 {source}.0 right.0 left(0,0)", "}"])
    (value,) = assemble(lowering, text, result, parts, "=rw,rw,rw,rw", has_effects=False)
    return value


def round_to_tf32(lowering: Lowering, value: SSAValue, lanes: int) -> SSAValue:
    """Numbers of f32 rounded to tf32, a register of all lanes at a time."""
    aliases = [_alias("source", "f", 1, value, lanes), _alias("target", "ud", 0, value, lanes)]
    casts = (
        f"fcvt (M1,{lanes}) target({row},0)<1> source({row},0)<1;1,0>"
        for row in range(length_of(value.type))
    )
    text = "\n".join(["{", *aliases, *casts, "}"])
    (rounded,) = assemble(lowering, text, value.type, [value], "=rw,rw", has_effects=False)
    return rounded


_ALIAS_BITS = {"ud": 32, "f": 32, "bf": 16}


def _alias(name: str, type_: str, operand: int, part: SSAValue, lanes: int) -> str:
    """Another name, with another type of elements, for the registers of an operand."""
    count = bit_width(part.type) * lanes // _ALIAS_BITS[type_]
    return f".decl {name} v_type=G type={type_} num_elts={count} align=wordx32 alias=<${operand},0>"
