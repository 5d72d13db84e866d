"""Structured control flow, which carries tiles of pointers as offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, MemRefType, VectorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.pointers import PointerType, pointer_of
from xtile.rewrite.facts import only_origin
from xtile.rewrite.rebuilder import Rule, again
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.tiles_to_xegpu.lowering import Lowering, Memory, Points


def _type(lowering: Lowering, type_: Attribute) -> Attribute:
    """The type in which control flow carries values of a type."""
    if isa(type_, MemRefType):
        raise lowering.error("memory cannot pass through control flow in XeGPU; pass a pointer")
    if isa(type_, VectorType) and pointer_of(type_) is not None:
        return VectorType(IndexType(), shape_of(type_))
    return lowering.type_of(type_)


def _carried(lowering: Lowering, old: Sequence[SSAValue]) -> list[SSAValue]:
    """What control flow carries for values of the source."""
    return [_offsets(lowering, value) for value in old]


def _offsets(lowering: Lowering, old: SSAValue) -> SSAValue:
    meaning = lowering.meaning(old)
    if isinstance(meaning, Memory):
        raise lowering.error("memory cannot pass through control flow in XeGPU; pass a pointer")
    return meaning.offsets if isinstance(meaning, Points) else meaning


def _define(lowering: Lowering, old: SSAValue, new: SSAValue) -> None:
    """Records what a carried value has become."""
    if isa(old.type, VectorType) and pointer_of(old.type) is not None:
        base = base_of(old)
        if base is None:
            raise lowering.error(
                "these pointers are not counted from one pointer in all branches and iterations, "
                "and XeGPU's loads and stores have one base; carry offsets instead"
            )
        lowering.define(old, Points(lowering.value(base), new))
    else:
        lowering.define(old, new)


def base_of(pointers: SSAValue) -> SSAValue | None:
    """The one pointer that a tile of pointers of the source is counted from, if there is one."""
    return only_origin(pointers, _sources)


_OF_FIRST = frozenset(
    {
        "core.assume",
        "core.pointer_add",
        "core.pointer_cast",
        "vector.broadcast",
        "vector.extract",
        "vector.extract_strided_slice",
        "vector.shape_cast",
        "vector.transpose",
    }
)
"""Operations whose pointers are counted from the base of their first operand."""


def _sources(value: SSAValue) -> list[SSAValue] | None:
    """The pointers that a tile of pointers is made of; None if it is of none, [] for a pointer."""
    if isinstance(value.type, PointerType):
        return []
    owner = value.owner
    if isinstance(owner, Operation) and owner.name in _OF_FIRST:
        return [owner.operands[0]]
    return handed_on(value)


def handed_on(value: SSAValue) -> list[SSAValue] | None:
    """The values that control flow, or a choice, hands on as a value; None if neither does."""
    if isinstance(value, BlockArgument):
        return _sources_of_argument(value)
    owner = value.owner
    assert isinstance(owner, Operation)
    if owner.name == "arith.select":
        return [*owner.operands[1:]]
    number = owner.results.index(value) if value in owner.results else -1
    if isinstance(owner, scf.ForOp):
        return [owner.iter_args[number], _end(owner.body.block).operands[number]]
    if isinstance(owner, scf.IfOp):
        return [_end(region.block).operands[number] for region in owner.regions]
    if isinstance(owner, scf.WhileOp):
        return [_end(owner.before_region.block).operands[1 + number]]
    return None


def _sources_of_argument(argument: BlockArgument) -> list[SSAValue] | None:
    owner = argument.block.parent_op()
    if isinstance(owner, scf.ForOp):
        number = argument.index - 1
        return [owner.iter_args[number], _end(argument.block).operands[number]]
    if isinstance(owner, scf.WhileOp):
        number = argument.index
        if argument.block is owner.before_region.block:
            after = _end(owner.after_region.block).operands[number]
            return [owner.arguments[number], after]
        return [_end(owner.before_region.block).operands[1 + number]]
    return None


def _end(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


# --- rules ---


def _body(lowering: Lowering, old: Block, new: Block, arguments: Sequence[BlockArgument]) -> None:
    """Translates a block whose arguments carry values."""
    with lowering.at_end_of(new):
        for was, becomes in zip(old.args, arguments, strict=True):
            becomes.name_hint = was.name_hint
            _define(lowering, was, becomes)
        lowering.translate_block(old)


def _new_block(lowering: Lowering, old: Block) -> Block:
    return Block(arg_types=[_type(lowering, argument.type) for argument in old.args])


def _region(lowering: Lowering, old: Region) -> Region:
    block = old.blocks.first
    if block is None:
        return Region()
    new = _new_block(lowering, block)
    _body(lowering, block, new, new.args)
    return Region(new)


def _structured(operation: Operation, lowering: Lowering) -> None:
    """A loop or a branch."""
    made = again(
        operation,
        _carried(lowering, operation.operands),
        [_type(lowering, result.type) for result in operation.results],
        regions=[_region(lowering, region) for region in operation.regions],
    )
    lowering.emit(made)
    for was, becomes in zip(operation.results, made.results, strict=True):
        becomes.name_hint = was.name_hint
        _define(lowering, was, becomes)


def _handing(operation: Operation, lowering: Lowering) -> None:
    """The end of a region, which hands values on."""
    made: Any = again(operation, _carried(lowering, operation.operands))
    lowering.emit(made)


RULES: dict[str, Rule] = {
    "scf.condition": _handing,
    "scf.execute_region": _structured,
    "scf.for": _structured,
    "scf.if": _structured,
    "scf.index_switch": _structured,
    "scf.while": _structured,
    "scf.yield": _handing,
}
"""The rule of each operation, by name."""
