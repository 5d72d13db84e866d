"""Structured control flow, which hands on what changes of a descriptor: its offsets, its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from xtile.dialects.xegpu.types import TYPES
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule, again
from xtile.text.value_names import copy_name
from xtile.translate.xegpu_to_core import raising as form
from xtile.translate.xegpu_to_core.raising import Barrier, Meaning, Raising

_DESCRIPTORS = tuple(TYPES)


def has_descriptors(values: Sequence[SSAValue]) -> bool:
    """Whether some values have a type of XeGPU, which the core form has not."""
    return any(isinstance(value.type, _DESCRIPTORS) for value in values)


def _parts(meaning: Meaning) -> list[Index]:
    """What a value is made of: of a descriptor, its memory and its offsets."""
    match meaning:
        case form.Block():
            return [meaning.memory, *meaning.offsets]
        case form.Points():
            return [meaning.memory, meaning.offsets]
        case form.Matrix():
            return [meaning.memory]
        case Barrier():
            return []
        case _:
            return [meaning]


def _like(meaning: Meaning, parts: Sequence[Index]) -> Meaning:
    """A value of the same kind, of other parts."""
    first = parts[0] if parts else 0
    if isinstance(meaning, Barrier):
        return meaning
    assert not isinstance(first, int)
    match meaning:
        case form.Block():
            return form.Block(first, tuple(parts[1:]))
        case form.Points():
            offsets = parts[1]
            assert not isinstance(offsets, int)
            return form.Points(first, offsets)
        case form.Matrix():
            return replace(meaning, memory=first)
        case _:
            return first


class _Handed:
    """Values that control flow hands on.

    Args:
        raising: The kernel.
        old: The values of the source.
    """

    def __init__(self, raising: Raising, old: Sequence[SSAValue]) -> None:
        self._raising = raising
        self._meanings: list[Meaning] = [raising.meaning(value) for value in old]

    @property
    def owners(self) -> list[int]:
        """For each part the number of the value that it belongs to."""
        return [number for number, meaning in enumerate(self._meanings) for _ in _parts(meaning)]

    @property
    def parts(self) -> list[Index]:
        """All their parts."""
        return [part for meaning in self._meanings for part in _parts(meaning)]

    def values(self) -> list[SSAValue]:
        """All their parts as values."""
        return [self._raising.as_value(part) for part in self.parts]

    def types(self) -> list[Attribute]:
        """The types of these."""
        return [IndexType() if isinstance(part, int) else part.type for part in self.parts]

    def define(self, old: Sequence[SSAValue], parts: Sequence[Index]) -> None:
        """Records what values of the same kinds have become, of other parts."""
        rest = list(parts)
        for value, meaning in zip(old, self._meanings, strict=True):
            count = len(_parts(meaning))
            own, rest = rest[:count], rest[count:]
            for part in own:
                if not isinstance(part, int) and part.name_hint is None:
                    copy_name(part, value)
            self._raising.define(value, _like(meaning, own))


def _translate_body(raising: Raising, old: Block, new: Block) -> _Handed:
    """Translates a block without its end, and returns what that hands on."""
    end = _end_of(old)
    with raising.at_end_of(new):
        for operation in old.ops:
            if operation is not end:
                raising.translate(operation)
    return _Handed(raising, end.operands)


def _end_of(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _ended(raising: Raising, old: Block, new: Block, values: Sequence[SSAValue]) -> Region:
    """Ends a block as `old` does, with other values, and returns its region."""
    end = _end_of(old)
    with raising.at_end_of(new):
        raising.emit(type(end).create(operands=values, attributes=end.attributes.copy()))
    return Region([new])


# --- loops ---


def _for(operation: scf.ForOp, raising: Raising) -> None:
    old, initial = operation.body.block, _Handed(raising, operation.iter_args)
    starts = initial.values()
    block = Block(arg_types=[operation.lb.type, *initial.types()])
    raising.define(old.args[0], block.args[0])
    initial.define(old.args[1:], block.args[1:])
    after = _translate_body(raising, old, block)
    loop = _Loop(raising, block, raising.values([operation.lb, operation.ub, operation.step]))
    with raising.at_end_of(block):
        ends = after.values()
    known = dict[SSAValue, SSAValue]()
    if has_descriptors(operation.iter_args):
        used = [bool(operation.results[number].uses) for number in initial.owners]
        for argument, start, end, is_used in zip(block.args[1:], starts, ends, used, strict=True):
            value = loop.without_carrying(argument, start, end, is_used=is_used)
            if value is not None:
                known[argument] = value
    kept = [argument not in known for argument in block.args[1:]]
    ends = [known.get(end, end) for end in ends]
    for argument, value in known.items():
        argument.replace_all_uses_with(value)
        block.erase_arg(cast("BlockArgument", argument))
    region = _ended(raising, old, block, _chosen(ends, kept))
    carried = _chosen(starts, kept)
    types = [value.type for value in carried]
    new = raising.emit(again(operation, [*loop.bounds, *carried], types, regions=[region]))
    results = iter(new.results)
    # What has been replaced and moves is no result that anybody uses.
    last = [next(results) if keeps else start for keeps, start in zip(kept, starts, strict=True)]
    initial.define(operation.results, last)


def _chosen(values: Sequence[SSAValue], kept: Sequence[bool]) -> list[SSAValue]:
    return [value for value, keeps in zip(values, kept, strict=True) if keeps]


@dataclass(frozen=True)
class _Loop:
    """A loop that is being built.

    Attributes:
        raising: The kernel.
        block: Its body.
        bounds: Where it begins and ends, and its step.
    """

    raising: Raising
    block: Block
    bounds: Sequence[SSAValue]

    def without_carrying(
        self, argument: SSAValue, start: SSAValue, end: SSAValue, *, is_used: bool
    ) -> SSAValue | None:
        """What an argument of the body is, if it need not be handed on; None if it must.

        It does not change, or moves as the loop's variable does, by which translations know what
        it is a multiple of and where it ends.

        Args:
            argument: The argument.
            start: What it is at first.
            end: What is handed on in its place.
            is_used: Whether it is used after the loop.
        """
        if end is argument:
            return start
        pace = None if is_used else self._pace(argument, end)
        return None if pace is None else self._moved(start, pace)

    def _pace(self, argument: SSAValue, end: SSAValue) -> int | None:
        """How much faster than the loop's variable an index moves; None if that is not known."""
        owner, step = end.owner, constant_of(self.bounds[2])
        if not isinstance(owner, arith.AddiOp) or owner.lhs is not argument or not step:
            return None
        by = constant_of(owner.rhs)
        are_indices = all(isinstance(each.type, IndexType) for each in (argument, self.bounds[0]))
        is_whole = are_indices and by is not None and by % step == 0
        return by // step if by is not None and is_whole else None

    def _moved(self, start: SSAValue, pace: int) -> SSAValue:
        """An index that begins at a number and moves so much faster than the loop's variable."""
        value, made = self.block.args[0], list[Operation]()
        if constant_of(self.bounds[0]) != 0:
            made.append(arith.SubiOp(value, self.bounds[0]))
            value = made[-1].results[0]
        if pace != 1:
            made.append(arith.MuliOp(value, self.raising.index(pace)))
            value = made[-1].results[0]
        if constant_of(start) != 0:
            made.append(arith.AddiOp(start, value))
            value = made[-1].results[0]
        first = self.block.first_op
        assert first is not None
        self.block.insert_ops_before(made, first)
        return value


def _while(operation: scf.WhileOp, raising: Raising) -> None:
    initial = _Handed(raising, operation.arguments)
    starts = initial.values()
    old_before, old_after = operation.before_region.block, operation.after_region.block
    before = Block(arg_types=initial.types())
    initial.define(old_before.args, before.args)
    handed = _translate_body(raising, old_before, before)
    with raising.at_end_of(before):
        condition, *values = handed.values()
    first = _ended(raising, old_before, before, [condition, *values])
    results = _Handed(raising, _end_of(old_before).operands[1:])
    after = Block(arg_types=results.types())
    results.define(old_after.args, after.args)
    carried = _translate_body(raising, old_after, after)
    with raising.at_end_of(after):
        ends = carried.values()
    regions = [first, _ended(raising, old_after, after, ends)]
    new = raising.emit(again(operation, starts, results.types(), regions=regions))
    results.define(operation.results, new.results)


# --- branches ---


def _if(operation: scf.IfOp, raising: Raising) -> None:
    olds = [region.block for region in operation.regions if region.blocks]
    blocks = [Block() for _ in olds]
    ends = [_translate_body(raising, old, new) for old, new in zip(olds, blocks, strict=True)]
    # Both sides hand on equal parts of a descriptor only where these come from before the branch.
    pairs = list(zip(*(end.parts for end in ends), strict=True)) if operation.results else []
    kept = [len(set(pair)) > 1 for pair in pairs]
    if not has_descriptors(operation.results):
        kept = [True] * len(pairs)
    regions: list[Region] = []
    for old, block, end in zip(olds, blocks, ends, strict=True):
        with raising.at_end_of(block):
            values = _chosen(end.values(), kept) if operation.results else []
        regions.append(_ended(raising, old, block, values))
    regions += [Region() for region in operation.regions if not region.blocks]
    types = [type_ for type_, keeps in zip(ends[0].types(), kept, strict=True) if keeps]
    operands = raising.values(operation.operands)
    new = raising.emit(again(operation, operands, types, regions=regions))
    results = iter(new.results)
    parts = [next(results) if keeps else pair[0] for keeps, pair in zip(kept, pairs, strict=True)]
    ends[0].define(operation.results, parts)


RULES: dict[str, Rule] = {
    scf.ForOp.name: _for,
    scf.IfOp.name: _if,
    scf.WhileOp.name: _while,
}
