"""Removes what loops carry without need.

That are numbers which stay as far from the loop's variable as they begin, and what nothing but the
loop itself uses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from xtile.dialects.effects import is_pure
from xtile.dialects.shapes import bits_of
from xtile.dialects.walk import walk
from xtile.rewrite.facts import constant_of
from xtile.rewrite.rebuilder import again
from xtile.text.value_names import copy_name


def drop_unused(function: Operation) -> None:
    """Removes values that `scf.for` carries only to compute the next ones, in place."""
    loops = [operation for operation in walk(function) if isinstance(operation, scf.ForOp)]
    # What an inner loop does not carry any more, an outer one may not need either.
    for loop in reversed(loops):
        unused = [i for i in range(len(loop.iter_args)) if _is_unused(loop, i)]
        if unused:
            _without(loop, unused)


def count_with_variables(functions: Iterable[Operation]) -> bool:
    """Replaces numbers that `scf.for` carries and adds its own step to, in place.

    Such a number is the loop's variable plus how far they begin apart, which must be known.

    Returns:
        Whether there was any.
    """
    loops = [each for function in functions for each in walk(function)]
    found = [
        _counts_with_variable(loop, number)
        for loop in loops
        if isinstance(loop, scf.ForOp)
        for number in range(len(loop.iter_args))
    ]
    return any(found)


def _counts_with_variable(loop: scf.ForOp, number: int) -> bool:
    block = loop.body.block
    variable, argument = block.args[0], block.args[1 + number]
    assert block.last_op is not None
    following = block.last_op.operands[number]
    ahead = _ahead(loop.iter_args[number], loop.lb)
    step, added = constant_of(loop.step), _ahead(following, argument)
    if (
        argument.type != variable.type
        or argument is following
        or ahead is None
        or step is None
        or step != added
    ):
        return False
    for value, distance in ((argument, ahead), (following, ahead + step)):
        value.replace_all_uses_with(_sum(loop, distance))
    return True


def _sum(loop: scf.ForOp, number: int) -> SSAValue:
    """A loop's variable plus a number, computed first in the loop."""
    block = loop.body.block
    variable, first = block.args[0], block.first_op
    if not number:
        return variable
    assert first is not None
    half = 1 << (bits_of(variable.type) - 1)
    type_ = cast("IndexType | IntegerType", variable.type)
    constant = arith.ConstantOp(IntegerAttr((number + half) % (2 * half) - half, type_))
    total = arith.AddiOp(constant.result, variable)
    for operation in (constant, total):
        operation.location = loop.location
        block.insert_op_before(operation, first)
    return total.result


def _ahead(value: SSAValue, other: SSAValue) -> int | None:
    """By how much a number is known to be greater than another one, where nothing wraps around."""
    if value is other:
        return 0
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in ("arith.addi", "arith.subi"):
        return None
    first, second = owner.operands
    if owner.name == "arith.addi" and second is other:
        first, second = second, first
    constant = constant_of(second)
    if first is not other or constant is None:
        return None
    return constant if owner.name == "arith.addi" else -constant


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
        copy_name(result, loop.results[number])
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
