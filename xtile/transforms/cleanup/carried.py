"""Removes what loops carry and nothing but the loop itself uses."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from xtile.dialects.effects import is_pure
from xtile.dialects.walk import walk
from xtile.rewrite.rebuilder import again
from xtile.text.value_names import give_name


def drop_unused(function: Operation) -> None:
    """Removes values that `scf.for` carries only to compute the next ones, in place."""
    loops = [operation for operation in walk(function) if isinstance(operation, scf.ForOp)]
    # What an inner loop does not carry any more, an outer one may not need either.
    for loop in reversed(loops):
        unused = [i for i in range(len(loop.iter_args)) if _is_unused(loop, i)]
        if unused:
            _without(loop, unused)


def _is_unused(loop: scf.ForOp, number: int) -> bool:
    if loop.results[number].uses:
        return False
    return _feeds_only(loop.body.block.args[1 + number], loop.body.block.last_op, number)


def _feeds_only(value: SSAValue, last: Operation | None, number: int) -> bool:
    """Whether a value is only for what the end of a loop hands on as one of its values."""
    for use in value.uses:
        user = use.operation
        if user is last and use.index == number:
            continue
        # What has no results, such as the end of a branch, uses a value for something else.
        if user is last or user.regions or not user.results:
            return False
        if not (is_pure(user) or is_side_effect_free(user)):
            return False
        if not all(_feeds_only(result, last, number) for result in user.results):
            return False
    return True


def _without(loop: scf.ForOp, unused: Sequence[int]) -> None:
    """Puts a loop that does not carry some values in place of one that does."""
    block = loop.body.block
    kept = [i for i in range(len(loop.iter_args)) if i not in unused]
    last = block.last_op
    assert last is not None
    end = scf.YieldOp(*(last.operands[i] for i in kept))
    end.location = last.location
    block.add_op(end)
    last.detach()
    last.erase()
    for number in reversed(unused):
        argument = block.args[1 + number]
        _erase_users(argument)
        block.erase_arg(argument)
    new = again(
        loop,
        [loop.lb, loop.ub, loop.step, *(loop.iter_args[i] for i in kept)],
        [loop.results[i].type for i in kept],
        regions=[loop.detach_region(loop.body)],
    )
    new.location = loop.location
    around = loop.parent
    assert around is not None
    around.insert_op_before(new, loop)
    for number, result in zip(kept, new.results, strict=True):
        give_name(result, loop.results[number].name_hint)
        loop.results[number].replace_all_uses_with(result)
    loop.detach()
    loop.erase()


def _erase_users(value: SSAValue) -> None:
    for use in list(value.uses):
        user = use.operation
        for result in user.results:
            _erase_users(result)
        if user.parent is not None:
            user.detach()
            user.erase()
