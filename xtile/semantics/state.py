"""What changes while a work-group runs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from xtile.semantics.addresses import AddressSpace
from xtile.semantics.configuration import Configuration, Size3
from xtile.semantics.errors import RunWarnings
from xtile.semantics.memory import Buffer, Mask
from xtile.semantics.observer import Observer
from xtile.semantics.ordering import NOTHING, Token
from xtile.semantics.values import Array, Value, choose, is_array, with_axes

if TYPE_CHECKING:
    from xtile.semantics.unspecified import Variants


class State:
    """A work-group that runs in lockstep.

    A number that all work-items share is a numpy scalar. Any other is an array with the shape
    (rows, lanes), in which an axis along which it is constant may have length 1. A row is a
    subgroup and a lane a work-item.

    In the tensor language a cooperative matrix has the shape (rows, M, N), rows being 1 if all
    subgroups share it. Inside of a foreach there can be more rows than subgroups: then row r is a
    further trip of subgroup r modulo the number of subgroups. Inside of a cooperative_matrix_apply
    a lane can be a component.

    A vector of the upstream dialects always is an array with the shape (rows, lanes, *shape of the
    vector), in which rows and lanes may be 1 in the same way. So one that describes the data of a
    work-item varies along both, one that a subgroup holds together has the shape (rows, 1, ...),
    and one of a work-group (1, 1, ...).

    Tiles of CUDA Tile IR have no such axes: `cuda_tile/numbers.py` says how they are held.

    Whatever is no number, such as a memref, has a method `merged(mask, other)`, which gives the
    object that it is where the mask is set and that `other` is elsewhere.

    Attributes:
        values: The values of the function's SSA values, by slot.
        mask: The active work-items.
        rows: The number of rows.
        lanes: The number of lanes.
        level: What the function describes, where it says so.
        first_thread: The number of row 0, lane 0 among the threads that an observer is told of.
        is_collective: Whether a collective region runs.
        group: The work-group's id.
        observer: Who is told what happens.
        subgroups: The number of subgroups.
        subgroup_size: The number of work-items in a subgroup.
        addresses: Where the memory of the launch lies.
        before: What comes before the next access, where the accesses of a work-group follow its
            text and there is an observer.
        copies: Groups of asynchronous copies that nothing has waited for, the oldest first; the
            last one is still open.
        moves: Copies of a tensor data mover that nothing has waited for, the oldest first.
        shared: Memory of the work-group that is made when it is used first, by what declares it.
        unspecified: What would differ with other numbers in the place of unspecified ones, by slot;
            None: it is not followed.
        warnings: Where goes what is undefined, but has an effect that devices agree on.
    """

    __slots__ = (
        "addresses",
        "before",
        "copies",
        "first_thread",
        "group",
        "is_collective",
        "lanes",
        "level",
        "mask",
        "moves",
        "observer",
        "rows",
        "shared",
        "subgroup_size",
        "subgroups",
        "unspecified",
        "values",
        "warnings",
    )

    def __init__(
        self,
        values: list[Value],
        group: Size3,
        configuration: Configuration,
        addresses: AddressSpace,
        observer: Observer | None,
        is_collective: bool,
        warnings: RunWarnings | None = None,
    ) -> None:
        self.values = values
        self.rows = configuration.subgroups
        self.lanes = configuration.subgroup_size
        self.mask: Mask = _full_subgroups(configuration)
        self.level = configuration.level
        self.first_thread = 0
        self.is_collective = is_collective
        self.group = group
        self.observer = observer
        self.subgroups = configuration.subgroups
        self.subgroup_size = configuration.subgroup_size
        self.addresses = addresses
        self.before: Token = NOTHING
        self.copies: list[Token] = [NOTHING]
        self.moves: list[Token] = []
        self.shared: dict[Hashable, Buffer] = {}
        self.unspecified: dict[int, Variants] | None = None if observer is None else {}
        self.warnings = RunWarnings() if warnings is None else warnings

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and lanes."""
        return self.rows, self.lanes

    def actors(self, is_vector: bool) -> tuple[int, int]:
        """Rows and lanes of what acts on its own, as in an atomic update.

        A work-item does, where the function does not describe more. A function that describes a
        work-group acts as one. In one that describes subgroups, a vector is held by a subgroup,
        and a number is a work-item's.
        """
        if self.level in ("block", "tile"):
            return 1, 1
        if self.level == "subgroup" and is_vector:
            return self.rows, 1
        return self.shape

    def active(self) -> npt.NDArray[np.bool_]:
        """The active work-items, as an array with the shape (rows, lanes)."""
        if self.mask is None:
            return np.ones(self.shape, np.bool_)
        return np.broadcast_to(self.mask, self.shape)

    def active_rows(self) -> npt.NDArray[np.bool_] | None:
        """The rows with an active work-item; None: all."""
        return None if self.mask is None else np.logical_or.reduce(self.active(), axis=1)

    def threads(self) -> npt.NDArray[np.int64]:
        """The number of each thread, an array with the shape (rows, lanes)."""
        first = self.first_thread
        return np.arange(first, first + self.rows * self.lanes).reshape(self.shape)

    def linear_ids(self) -> Value:
        """The linear id of each row's subgroup, as int64."""
        if self.rows == 1:
            return np.int64(0)
        return (np.arange(self.rows) % self.subgroups)[:, np.newaxis]

    def full(self, value: Value) -> Array:
        """A scalar value as an array with the shape (rows, lanes)."""
        return np.broadcast_to(value, self.shape)


def _full_subgroups(configuration: Configuration) -> Mask:
    """The work-items that there are, where the last subgroup has fewer than the others."""
    if configuration.work_items % configuration.subgroup_size == 0:
        return None
    shape = configuration.subgroups, configuration.subgroup_size
    return np.arange(shape[0] * shape[1]).reshape(shape) < configuration.work_items


def per_row(value: Value, state: State) -> Value:
    """A value that the work-items of a subgroup agree on: a scalar, or an array (rows, 1).

    Where they do not agree, the first active work-item decides.
    """
    if not is_array(value) or value.shape[1] == 1:
        return value
    if state.mask is None:
        return value[:, :1]
    first = np.argmax(state.active(), axis=1)[:, np.newaxis]
    return np.take_along_axis(state.full(value), first, axis=1)


def select(mask: npt.NDArray[np.bool_], chosen: Value, other: Value, is_matrix: bool) -> Value:
    """`chosen` where the mask is set, `other` elsewhere.

    A subgroup takes a cooperative matrix from `chosen` if any of its work-items does.
    """
    if is_matrix:
        mask = np.logical_or.reduce(mask, axis=1)[:, np.newaxis, np.newaxis]
    return choose(mask, chosen, other)


def merged(mask: npt.NDArray[np.bool_], chosen: Value, other: Value) -> Value:
    """`chosen` where the mask is set, `other` elsewhere; what `other` is may not be known yet.

    It takes the values of the upstream dialects; `select` takes those of the tensor language.
    """
    if chosen is other or other is None:
        return chosen
    if isinstance(chosen, np.ndarray | np.generic):
        return choose(with_axes(mask, max(chosen.ndim, other.ndim) - 2), chosen, other)
    return chosen.merged(mask, other)


def any_active(condition: Value, state: State) -> bool:
    """Whether a condition on numbers or vectors holds for anything in an active work-item."""
    if not is_array(condition) or state.mask is None:
        return bool(np.any(condition))
    return bool((condition & with_axes(state.mask, condition.ndim - 2)).any())
