"""Views of unknown extent: nothing may ask how large they are (docs/core-form.md, "Pointers")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.hints import isa

from xtile.dialects.core.views import ViewOp
from xtile.dialects.shapes import dimensions_of

Dimensions: TypeAlias = frozenset[int]

NONE: Dimensions = frozenset()


def unknown_extents(memref: SSAValue) -> Dimensions:
    """The dimensions of a memref of whose extents nothing is known."""
    return _unknown(memref, set())


def _unknown(memref: SSAValue, seen: set[SSAValue]) -> Dimensions:
    if memref in seen:
        return NONE  # What a loop carries may come from itself, which adds nothing.
    seen.add(memref)
    owner = memref.owner
    if isinstance(owner, ViewOp):
        return owner.unknown_extents
    if isinstance(owner, Operation) and owner.name == "memref.transpose":
        order = dimensions_of(owner.properties["permutation"])
        inner = _unknown(owner.operands[0], seen)
        return frozenset(i for i, source in enumerate(order) if source in inner)
    if isinstance(owner, Operation) and owner.name in _SAME_SHAPE:
        return _unknown(owner.operands[0], seen)
    return NONE.union(*(_unknown(source, seen) for source in carried(memref)))


def problem_of_extents(operation: Operation) -> str | None:
    """What an operation asks of an extent that is not known; None if nothing."""
    for operand in operation.operands:
        if isa(operand.type, MemRefType) and (unknown := unknown_extents(operand)):
            problem = _problem(operation, unknown)
            if problem is not None:
                return problem
    return None


def has_unknown_extents(operation: Operation) -> bool:
    """Whether an operation is a view of unknown extent."""
    return isinstance(operation, ViewOp) and bool(operation.unknown_extents)


def carried(value: SSAValue) -> Iterator[SSAValue]:
    """What a value that control flow carries or selects may be."""
    if isinstance(value, BlockArgument):
        around = value.block.parent_op()
        if around is None:
            return
        if around.name == "scf.for" and value.index > 0:
            yield from _of_loop(around, value.index - 1, around.operands[3:])
        elif around.name == "scf.while":
            is_before = value.block.parent is around.regions[0]
            yield from _of_while(around, value.index, is_before)
        return
    owner, index = value.owner, cast("Any", value).index
    if not isinstance(owner, Operation):
        return
    if owner.name == "arith.select":
        yield from owner.operands[1:]
    elif owner.name == "scf.if":
        yield from (_last(region).operands[index] for region in owner.regions if region.blocks)
    elif owner.name == "scf.for":
        yield from _of_loop(owner, index, owner.operands[3:])
    elif owner.name == "scf.while":
        yield _last(owner.regions[0]).operands[1 + index]


def _of_loop(loop: Operation, number: int, first: Sequence[SSAValue]) -> Iterator[SSAValue]:
    yield first[number]
    yield _last(loop.regions[0]).operands[number]


def _of_while(loop: Operation, number: int, is_before: bool) -> Iterator[SSAValue]:
    if is_before:
        yield loop.operands[number]
        yield _last(loop.regions[1]).operands[number]
    else:
        yield _last(loop.regions[0]).operands[1 + number]


def _last(region: Any) -> Operation:
    operation = region.block.last_op
    assert operation is not None
    return operation


# --- what operations ask ---

_SAME_SHAPE = frozenset({"core.complex_part", "memref.assume_alignment", "memref.cast"})

_ASK_NOTHING = frozenset(
    {
        *_SAME_SHAPE,
        "arith.select",
        "core.atomic_compare_and_swap",
        "core.atomic_rmw",
        "core.gather_load",
        "core.scatter_store",
        "memref.atomic_rmw",
        "memref.extract_aligned_pointer_as_index",
        "memref.generic_atomic_rmw",
        "memref.load",
        "memref.rank",
        "memref.reinterpret_cast",
        "memref.store",
        "memref.subview",
        "memref.transpose",
        "scf.condition",
        "scf.for",
        "scf.while",
        "scf.yield",
        "vector.gather",
        "vector.load",
        "vector.maskedload",
        "vector.maskedstore",
        "vector.scatter",
        "vector.store",
    }
)
"""Operations that need no extents; a `memref.subview` has its own."""


def _asked_by_dim(operation: Operation) -> Sequence[int] | None:
    owner = operation.operands[1].owner
    value = owner.properties.get("value") if isinstance(owner, Operation) else None
    is_known = isinstance(value, IntegerAttr)
    return [cast("IntegerAttr[Any]", value).value.data] if is_known else None


def _asked_by_transfer(operation: Operation) -> Sequence[int]:
    given = cast("Any", operation)
    flags = [bool(flag.value.data) for flag in given.in_bounds]
    results = given.permutation_map.data.results
    return [
        result.position
        for result, is_inside in zip(results, flags, strict=True)
        if isinstance(result, AffineDimExpr) and not is_inside
    ]


def _asked_by_update(operation: Operation) -> Sequence[int]:
    return [int(dimension) for dimension in cast("Any", operation).checked.get_values()]


def _asked_by_metadata(operation: Operation) -> Sequence[int]:
    rank = (len(operation.results) - 2) // 2
    return [i for i in range(rank) if operation.results[2 + i].uses]


_ASKED: Mapping[str, Callable[[Operation], Sequence[int] | None]] = {
    "core.atomic_update": _asked_by_update,
    "memref.dim": _asked_by_dim,
    "memref.extract_strided_metadata": _asked_by_metadata,
    "vector.transfer_read": _asked_by_transfer,
    "vector.transfer_write": _asked_by_transfer,
}
"""The dimensions whose extents an operation asks for; None for any of them."""

_ADVICE = {
    "core.atomic_update": "leave it out of 'checked'",
    "vector.transfer_read": "say that it is in_bounds there, or mask it",
    "vector.transfer_write": "say that it is in_bounds there, or mask it",
}


def _problem(operation: Operation, unknown: Dimensions) -> str | None:
    name = operation.name
    if name == "memref.cast":
        return _problem_of_cast(operation, unknown)
    if name in _ASK_NOTHING:
        return None
    find = _ASKED.get(name)
    asked = None if find is None else find(operation)
    wrong = sorted(unknown if asked is None else unknown.intersection(asked))
    if not wrong:
        return None
    advice = _ADVICE.get(name, "give core.view its size")
    return f"{name} needs the extent of dimension {wrong[0]}, which is not known; {advice}"


def _problem_of_cast(operation: Operation, unknown: Dimensions) -> str | None:
    sizes = cast("MemRefType", operation.results[0].type).get_shape()
    wrong = [i for i in sorted(unknown) if sizes[i] != DYNAMIC_INDEX]
    if not wrong:
        return None
    return (
        f"memref.cast says that dimension {wrong[0]} has {sizes[wrong[0]]} elements, of which "
        "nothing is known; give core.view its size"
    )
