"""What the kernels of each level may hold (docs/core-form.md, "Levels")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import FixedBitwidthType, IndexType, VectorType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, Level, level_of
from xtile.dialects.core.blas import BlasOperation
from xtile.dialects.core.cooperative_matrix import is_on_cooperative_matrices
from xtile.dialects.core.extents import has_unknown_extents, problem_of_extents
from xtile.dialects.core.pointers import PointerType, is_on_pointers
from xtile.dialects.core.subgroup import ParallelOp, is_collective
from xtile.dialects.effects import OF_WORK_ITEMS
from xtile.dialects.number_attributes import problem_of, says_how_to_round
from xtile.dialects.walk import walk

Problem = tuple[Operation, str]
"""An operation, and what is wrong with it."""

_DIFFERENT = frozenset(
    {
        "gpu.lane_id",
        "gpu.shuffle",
        "gpu.subgroup_id",
        "gpu.subgroup_reduce",
        "gpu.thread_id",
    }
)
"""Operations by which work-items differ."""

_OF_TILES = frozenset(
    {
        "core.atomic_compare_and_swap",
        "core.atomic_rmw",
        "core.gather",
        "core.gather_load",
        "core.histogram",
        "core.pack",
        "core.print",
        "core.scaled_contract",
        "core.scatter_store",
        "core.unpack",
    }
)
"""Operations that level tile only has."""


def find_problems(function: Operation) -> Iterator[Problem]:
    """Finds what a kernel holds that its level may not."""
    try:
        level = level_of(function)
    except ValueError:
        levels = ", ".join(f'"{level}"' for level in Level)
        yield function, f"{LEVEL_ATTRIBUTE} must be one of {levels}"
        return
    operations = list(walk(function))
    yield from _find_any_level(operations)
    if level is None:
        return
    for operation in operations[1:]:
        problem = _CHECKS[level](operation)
        if level is not Level.TILE:
            problem = _problem_of_tiles(operation, level) or problem
        if problem is not None:
            yield operation, f"{problem}; the kernel is at level {level}"


def _find_any_level(operations: Sequence[Operation]) -> Iterator[Problem]:
    """Finds what is wrong at any level."""
    has_unknown = any(map(has_unknown_extents, operations))
    for operation in operations:
        problem = problem_of(operation) if says_how_to_round(operation) else None
        if problem is None and has_unknown:
            problem = problem_of_extents(operation)
        if problem is not None:
            yield operation, problem


def _problem_of_tiles(operation: Operation, level: Level) -> str | None:
    """What only level tile may have of an operation; updates of vectors are for subgroups, too."""
    is_update = operation.name == "core.atomic_rmw" and _holds_vectors(operation, 1)
    if operation.name in _OF_TILES and not (is_update and level is Level.SUBGROUP):
        return f"{operation.name} is an operation on tiles"
    if _has_tile_of_pointers(operation):
        return f"{operation.name} has a vector of pointers, which is a tile"
    return None


def _has_tile_of_pointers(operation: Operation) -> bool:
    types = (*operation.operand_types, *operation.result_types)
    return any(
        isa(type_, VectorType) and isinstance(type_.element_type, PointerType) for type_ in types
    )


def _check_block(operation: Operation) -> str | None:
    if isinstance(operation, BlasOperation):
        return None if is_collective(operation) else f"{operation.name} is work of all work-items"
    if not is_collective(operation):
        return None
    if is_on_cooperative_matrices(operation):
        return f"{operation.name} must stand in core.parallel, because matrices belong to subgroups"
    if operation.name in _DIFFERENT:
        return f"{operation.name} must stand in core.parallel, where work-items act on their own"
    # A constant belongs to nobody.
    if operation.name != "arith.constant" and _holds_vectors(operation, 1):
        return f"{operation.name} must stand in core.parallel, because vectors belong to subgroups"
    return None


def _check_subgroup(operation: Operation) -> str | None:
    if isinstance(operation, BlasOperation | ParallelOp):
        return f"{operation.name} must be distributed first, with the pass core-distribute"
    return None


def is_for_lanes(operation: Operation) -> bool:
    """Whether an operation may stand in the code of a work-item: of `core`, few do."""
    if operation.dialect_name() != "core" or is_on_cooperative_matrices(operation):
        return True
    return is_on_pointers(operation)


def _check_lane(operation: Operation) -> str | None:
    if not is_for_lanes(operation):
        return f"{operation.name} must be lowered first"
    if _holds_vectors(operation, 2):
        return f"{operation.name} has a matrix, which belongs to a subgroup and not to a lane"
    return None


_NOT_OF_TILES = OF_WORK_ITEMS | {"core.map", "core.prefetch"}
"""Operations of work-items, and those that stand for what each subgroup does."""


def _check_tile(operation: Operation) -> str | None:
    if isinstance(operation, BlasOperation | ParallelOp):
        return f"{operation.name} must be tiled first, with the pass core-tile-linalg"
    if operation.name in _NOT_OF_TILES or is_on_cooperative_matrices(operation):
        return f"{operation.name} is for work-items and subgroups, which tiles do not have"
    types = (*operation.operand_types, *operation.result_types)
    return next((problem for type_ in types if (problem := _check_tile_type(type_))), None)


def _check_tile_type(type: Attribute) -> str | None:
    if not isa(type, VectorType):
        return None
    if not isinstance(type.element_type, FixedBitwidthType | IndexType | PointerType):
        return f"the elements of {type} are no real numbers"
    if type.get_num_scalable_dims():
        return f"the sizes of {type} are not known"
    return None


_CHECKS = {
    Level.BLOCK: _check_block,
    Level.SUBGROUP: _check_subgroup,
    Level.LANE: _check_lane,
    Level.TILE: _check_tile,
}


def _holds_vectors(operation: Operation, least_rank: int) -> bool:
    types = (*operation.operand_types, *operation.result_types)
    return any(isa(type_, VectorType) and type_.get_num_dims() >= least_rank for type_ in types)
