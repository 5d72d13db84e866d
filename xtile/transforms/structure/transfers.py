"""Writes accesses of boxes: a view of the memory, and a transfer from or to it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from typing import cast

from xdsl.dialects import arith, scf, ub
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IndexType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    UnitAttr,
    VectorType,
    i64,
)
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.attributes import BEGINS_INSIDE_ATTRIBUTE, AtomicKind
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.subgroup import AtomicKindAttr, AtomicUpdateOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shared_attributes import numbers_attribute, truth_attribute
from xtile.dialects.ub import is_poison
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.dialects.walk import walk
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import rebuilt
from xtile.rewrite.rebuilder import RuleTable, again, copy
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.structure.accesses import (
    GREATEST_SIZE,
    SCATTERED,
    Access,
    Dimension,
    Scattered,
    Transfer,
    access_of,
    access_of_transfer,
    accessed_value,
)
from xtile.transforms.structure.affine import NotAffineError
from xtile.transforms.structure.bounds import Bounds, KernelChecks, Needs
from xtile.transforms.structure.boxes import Bound
from xtile.transforms.structure.common_memory import (
    BeginsInside,
    in_common_memory,
    loop_around,
)
from xtile.transforms.structure.demand import Demand
from xtile.transforms.structure.masks import box_of
from xtile.transforms.structure.numbers import Numbers
from xtile.transforms.structure.polynomials import ONE, ZERO, Polynomial, Rounds
from xtile.transforms.structure.provenance import Provenance
from xtile.transforms.structure.split_loops import Reach, Split, loops_of, split_of


class Structuring(Numbers):
    """Rebuilds one kernel."""

    def __init__(
        self,
        kernel: FuncOp,
        source: Source | None,
        diagnostics: Diagnostics | None,
        bounds: Bounds,
        common_memory: bool,
        longest_row: int | None,
    ) -> None:
        super().__init__(kernel, _RULES, "boxes of memory", source, diagnostics)
        self._kernel = kernel
        self.wants_common_memory = common_memory
        self.longest_row = longest_row
        self.provenance = Provenance(bounds, box_of)
        self.checks = KernelChecks(kernel, self.remark)
        self._demand: Demand | None = None
        self._inside: dict[scf.ForOp, Sequence[Reach]] = {}

    def rebuilt(self) -> FuncOp:
        """The new kernel."""
        result = rebuilt(self._kernel, self)
        self.checks.list_in(result)
        return result

    def require_within(self, tile: SSAValue, bounds: Sequence[Bound]) -> Needs | None:
        """What `Demand.require_within` says of a tile of the source."""
        if self._demand is None:
            self._demand = Demand(self._kernel, self.provenance)
        return self._demand.require_within(tile, bounds)

    def in_common_memory(self, access: Access, operation: Scattered | Transfer) -> Access:
        """An access as one of memory that other tiles are in, if that is wanted and known."""
        if not self.wants_common_memory:
            return access
        return in_common_memory(
            access, operation, self.provenance, self.require_within, self._begins_inside
        )

    def _begins_inside(self, start: Polynomial, end: Polynomial) -> bool:
        """Whether tiles begin before an end in those iterations that are being translated."""
        return any(Reach(start, end) in self._inside.get(loop, ()) for loop in loops_of(start))

    def split_of(self, loop: scf.ForOp) -> Split | None:
        """How a loop becomes two, so that more of its tiles are in one memory."""
        reaches: list[Reach] = []

        def record(start: Polynomial, end: Polynomial) -> bool:
            is_of_loop = loops_of(start) == {loop}
            if is_of_loop and Reach(start, end) not in reaches:
                reaches.append(Reach(start, end))
            return is_of_loop

        if self.wants_common_memory:
            for operation in walk(loop):
                if loop_around(operation) is loop:
                    self._ask(operation, record)
        return split_of(loop, reaches)

    def _ask(self, operation: Operation, begins_inside: BeginsInside) -> None:
        """Asks whether tiles begin inside, if the memory of an access depends on that."""
        try:
            if isinstance(operation, SCATTERED):
                access = access_of(operation, self.provenance, self.require_within)
                _check_row(access, self.longest_row)
            elif isinstance(operation, TransferReadOp | TransferWriteOp):
                access = access_of_transfer(operation, self.provenance)
            else:
                return
        except NotAffineError:
            return
        in_common_memory(access, operation, self.provenance, self.require_within, begins_inside)

    @contextmanager
    def inside(self, loop: scf.ForOp, reaches: Sequence[Reach]) -> Generator[None]:
        """Translates iterations of a loop in which tiles begin inside."""
        self._inside[loop] = reaches
        yield
        del self._inside[loop]

    # --- numbers ---

    def length(self, dimension: Dimension, begin: Polynomial) -> Index:
        """How long memory is along a dimension where it begins; negative is empty."""
        if dimension.ends:
            return self.extreme([end - begin for end in dimension.ends], is_least=True)
        return dimension.size if dimension.length is None else self.number(dimension.length)

    def extent(self, dimension: Dimension, length: Index) -> Index:
        """The size of memory that is as long as a number, or empty where that is negative.

        Where it begins with the tile, it need not be longer than the tile is.
        """
        longest = min(self.provenance.bounds.range_of_number(end)[1] for end in dimension.ends)
        is_at_tile = dimension.begins == (ZERO,) and not dimension.start.terms
        if is_at_tile and longest > GREATEST_SIZE:
            length = self.smaller(length, dimension.size)
        return self.larger(length, 0)

    def may_be_empty(self, dimension: Dimension) -> bool:
        """Whether a tile may have no element, as far as its length along a dimension tells."""
        return dimension.is_checked and any(
            self.provenance.bounds.range_of_number(end)[0] <= 0 for end in dimension.ends
        )

    def if_not_empty(self, access: Access, size: Index) -> Index:
        """The size of memory, or 0 where what an access depends on does not hold."""
        chosen = self.as_value(size)
        for condition in self.conditions(access):
            chosen = self.pure(SelectOp, condition, chosen, self.index(0))
        return chosen

    def conditions(self, access: Access) -> list[SSAValue]:
        """What must hold for anything to be accessed, beside the bounds of dimensions."""
        numbers = [self.number(each) for each in access.box.not_negative]
        return [
            *(self.value(each) for each in access.box.conditions),
            *(self.compare("sge", number, 0) for number in numbers),
        ]

    def start(self, dimension: Dimension) -> Index:
        """The index of memory that a tile begins at; where that is outside, 0 if it is read."""
        start = self.number(_in_variables(dimension.start))
        if not dimension.may_begin_outside or dimension.is_left_out:
            return start
        return self.pure(SelectOp, self.begins_inside(dimension), *map(self.as_value, (start, 0)))

    def begins_inside(self, dimension: Dimension) -> SSAValue:
        """Whether a tile begins before the end of memory."""
        start = self.number(_in_variables(dimension.start))
        return self.compare("slt", start, self.extreme(dimension.ends, is_least=True))

    def scalar(self, tile: SSAValue) -> SSAValue | None:
        """The number that all elements of a tile of the source are; None if it is not known."""
        owner = tile.owner
        if not isinstance(owner, Operation):
            return None
        if owner.name in ("vector.broadcast", "vector.splat", "vector.shape_cast"):
            source = owner.operands[0]
            return (
                self.scalar(source) if isinstance(source.type, VectorType) else self.value(source)
            )
        if not isinstance(owner, arith.ConstantOp):
            return None
        value = owner.value
        if not isinstance(value, DenseIntOrFPElementsAttr) or not value.is_splat():
            return None
        return self.constant(cast("float", value.get_values()[0]), value_type(tile.type))


# --- views ---


@dataclass(frozen=True)
class _Box:
    """Memory with a tile in it.

    Attributes:
        memory: The memory.
        starts: The index that the tile begins at.
        inside: For each dimension of the tile whether it is certainly inside.
        map: For each dimension of the tile that of memory.
        promise: What a transfer promises of where it begins.
        not_empty: What must hold for the tile to have an element, if it must have one to be
            accessed and may have none.
    """

    memory: SSAValue
    starts: list[SSAValue]
    inside: tuple[bool, ...]
    map: AffineMapAttr
    promise: Mapping[str, UnitAttr]
    not_empty: tuple[SSAValue, ...]


def _box(access: Access, writing: Structuring) -> _Box:
    """Emits the view that an access is a transfer from or to."""
    dimensions = access.dimensions
    further = access.further
    kept = [i for i, each in enumerate(dimensions) if not each.is_repeated]
    kept = kept or [0]
    # Vectors are of neighbours in the last dimension.
    kept.sort(key=lambda i: dimensions[i].stride.constant == 1)
    guarded = kept[0] if access.has_conditions else None
    offset, starts, sizes = access.offset, list[SSAValue](), list[Index]()
    numbers: list[Index] = []
    not_empty = writing.conditions(access) if guarded is not None else []
    for i in kept:
        own = dimensions[i]
        if len(own.begins) == 1:
            (begin,) = own.begins
            offset, start = offset + own.stride * begin, writing.number(-begin)
            start = writing.add(start, writing.start(own))
            length = writing.length(own, begin)
        else:
            first = writing.extreme(own.begins, is_least=False)
            numbers.append(writing.multiply(first, writing.number(own.stride)))
            start = writing.subtract(0, first)
            length = writing.add(writing.extreme(own.ends, is_least=True), start)
        if own.is_left_out:
            not_empty.append(writing.begins_inside(own))
        elif not own.start.terms and writing.may_be_empty(own):
            not_empty.append(writing.compare("sgt", writing.as_value(length), 0))
        if i == guarded:
            length = writing.if_not_empty(access, length)
        sizes.append(writing.extent(own, length) if own.is_checked else length)
        starts.append(writing.as_value(start))
    strides = [writing.number(dimensions[i].stride) for i in kept]
    for each in further:
        starts.insert(0, writing.as_value(writing.number(_in_variables(each.index))))
        sizes.insert(0, GREATEST_SIZE)
        strides.insert(0, writing.number(each.stride))
    numbers.append(writing.number(offset))
    memory = _view(access.base, writing.add_all(numbers), sizes, strides, writing)
    results: list[AffineExpr] = [
        AffineDimExpr(len(further) + kept.index(i)) if i in kept else AffineConstantExpr(0)
        for i in range(len(dimensions))
    ]
    inside = tuple(not each.is_checked and i != guarded for i, each in enumerate(dimensions))
    is_ahead = any(each.is_checked and each.start.terms for each in dimensions)
    promise = {BEGINS_INSIDE_ATTRIBUTE: UnitAttr()} if is_ahead else {}
    map_ = AffineMapAttr(AffineMap(len(further) + len(kept), 0, tuple(results)))
    guards = tuple(not_empty) if writing.wants_common_memory else ()
    return _Box(memory, starts, inside, map_, promise, guards)


def _view(
    base: SSAValue,
    offset: Index,
    sizes: Sequence[Index],
    strides: Sequence[Index],
    writing: Structuring,
) -> SSAValue:
    pointer = pointer_of(base.type)
    assert pointer is not None
    lists = {"offsets": [offset], "sizes": list(sizes), "strides": list(strides)}
    static = {
        f"static_{name}": numbers_attribute(
            tuple(n if isinstance(n, int) else DYNAMIC_INDEX for n in numbers)
        )
        for name, numbers in lists.items()
    }
    known = [n if isinstance(n, int) else NoneAttr() for n in (*strides, offset)]
    layout = StridedLayoutAttr(known[:-1], known[-1])
    shape = [n if isinstance(n, int) else DYNAMIC_INDEX for n in sizes]
    type_ = MemRefType(pointer.pointee_type, shape, layout, pointer.memory_space)
    operands = [[n for n in numbers if not isinstance(n, int)] for numbers in lists.values()]
    memory = writing.value(base)

    def emit() -> SSAValue:
        view = ViewOp.build(operands=[memory, *operands], result_types=[type_], properties=static)
        return writing.emit(view).result

    given = [memory, *(n for numbers in operands for n in numbers)]
    return writing.shared((ViewOp, type_, *static.values(), *given), given, emit)


def _in_variables(number: Polynomial) -> Polynomial:
    """A number with variables of loops in place of iterations, where steps divide its factors."""
    total = ZERO
    for product, factor in number.terms.items():
        counted = [atom for atom in product if isinstance(atom, Rounds)]
        each = Polynomial({product: factor})
        if len(counted) == 1:
            loop = counted[0].loop
            step, lower = constant_of(loop.step), constant_of(loop.lb)
            if step and lower is not None and not factor % step:
                others = tuple(atom for atom in product if atom not in counted)
                passed = Polynomial.of(loop.body.block.args[0]) - Polynomial.of(lower)
                each = passed * Polynomial({others: factor // step})
        total += each
    return total


# --- loops ---


def _for(loop: scf.ForOp, writing: Structuring) -> None:
    split = writing.split_of(loop)
    if split is None:
        copy(loop, writing)
        return
    lower, upper, step = (writing.number_of(each) for each in (loop.lb, loop.ub, loop.step))
    rounds = writing.divide_up(writing.larger(writing.subtract(upper, lower), 0), step)
    for left, divisor in split.limits:
        limit = writing.divide_up(writing.larger(writing.number(left), 0), divisor)
        rounds = writing.smaller(rounds, limit)
    middle = writing.smaller(upper, writing.add(lower, writing.multiply(rounds, step)))
    between = writing.as_value(middle)
    if not isinstance(loop.lb.type, IndexType):
        between = writing.emit(IndexCastOp(between, loop.lb.type)).result
    lower, upper, *carried = writing.values((loop.lb, loop.ub, *loop.iter_args))
    with writing.inside(loop, split.reaches):
        first = _part(loop, [lower, between], carried, writing)
    rest = _part(loop, [between, upper], first.results, writing)
    for result, made in zip(loop.results, rest.results, strict=True):
        writing.define(result, made)


def _part(
    loop: scf.ForOp, bounds: Sequence[SSAValue], carried: Sequence[SSAValue], writing: Structuring
) -> scf.ForOp:
    """Some iterations of a loop."""
    return writing.emit(
        again(
            loop, [*bounds, writing.value(loop.step), *carried], regions=[writing.region(loop.body)]
        )
    )


# --- transfers ---


def _access(operation: Scattered, writing: Structuring) -> Access | None:
    """The box that an operation accesses; None, with a remark, where it stays what it is."""
    try:
        access = access_of(operation, writing.provenance, writing.require_within)
        _check_row(access, writing.longest_row)
        access = writing.in_common_memory(access, operation)
    except NotAffineError as reason:
        is_by_index = isinstance(operation.memory.type, MemRefType)
        if isinstance(accessed_value(operation).type, VectorType) and not is_by_index:
            writing.remark(f"{operation.name} stays: {reason}")
        copy(operation, writing)
        return None
    writing.checks.rely_on(access.needs)
    return access


def _check_row(access: Access, longest: int | None) -> None:
    """Checks that a tile has no more neighbours in a row than are accessed at once."""
    for dimension in access.dimensions:
        if longest is not None and dimension.stride == ONE and dimension.size > longest:
            raise NotAffineError(
                f"its rows have more than the {longest} elements that are accessed at once"
            )


def _load(operation: GatherLoadOp, writing: Structuring) -> None:
    access = _access(operation, writing)
    if access is None:
        return
    box, result = _box(access, writing), operation.result
    given = operation.padding
    padding = None if given is None else writing.scalar(given)
    mixed = given if padding is None else None
    type_ = value_type(result.type)
    if padding is None and access.is_partial:
        padding = writing.constant(0, type_)
    if padding is None:
        padding = writing.shared(
            (ub.PoisonOp, type_), (), lambda: writing.emit(ub.PoisonOp(type_)).result
        )
    loaded = _emit_read(box, padding, result.type, writing)
    if mixed is not None and operation.mask is not None:
        mask, others = writing.values((operation.mask, mixed))
        loaded = writing.emit(SelectOp(mask, loaded, others)).result
    writing.define(result, loaded)


def _store(operation: ScatterStoreOp, writing: Structuring) -> None:
    access = _access(operation, writing)
    if access is None:
        return
    _emit_write(access, writing.value(operation.value), writing)


def _read(operation: TransferReadOp, writing: Structuring) -> None:
    access = _common_access(operation, writing)
    if access is not None:
        box, padding = _box(access, writing), writing.value(operation.padding)
        writing.define(operation.result, _emit_read(box, padding, operation.result.type, writing))


def _write(operation: TransferWriteOp, writing: Structuring) -> None:
    access = _common_access(operation, writing)
    if access is not None:
        _emit_write(access, writing.value(operation.vector), writing)


def _common_access(operation: Transfer, writing: Structuring) -> Access | None:
    """A transfer from or to memory that others share; None if it stays what it is."""
    try:
        own = access_of_transfer(operation, writing.provenance)
    except NotAffineError:
        copy(operation, writing)
        return None
    shared = writing.in_common_memory(own, operation)
    # Hardware makes a descriptor of a view, so a tile of one that may be empty is written anew.
    is_guarded = writing.wants_common_memory and any(map(writing.may_be_empty, own.dimensions))
    if shared is own and not is_guarded:
        copy(operation, writing)
        return None
    writing.checks.rely_on(shared.needs)
    return shared


def _emit_read(box: _Box, padding: SSAValue, tile: Attribute, writing: Structuring) -> SSAValue:
    def read() -> SSAValue:
        flags, type_ = truth_attribute(box.inside), cast("VectorType", tile)
        made = TransferReadOp(box.memory, box.starts, padding, type_, flags, box.map)
        made.attributes.update(box.promise)
        return writing.emit(made).result

    if not box.not_empty:
        return read()
    if is_poison(padding):
        padding = writing.constant(0, value_type(tile))
    return writing.choose(
        reduce(partial(writing.pure, arith.AndIOp), box.not_empty),
        read,
        lambda: writing.emit(BroadcastOp(padding, cast("VectorType", tile))).vector,
    )


def _emit_write(access: Access, value: SSAValue, writing: Structuring) -> None:
    box = _box(access, writing)
    with _where_guards_hold(access, box, writing):
        flags = truth_attribute(box.inside)
        write = TransferWriteOp(value, box.memory, box.starts, flags, permutation_map=box.map)
        write.attributes.update(box.promise)
        writing.emit(write)


def _update(operation: AtomicRMWOp, writing: Structuring) -> None:
    """An update of a box, which hardware has that fetches tiles by descriptors."""
    kind = _BOX_KINDS.get(kind_of(operation.kind).name)
    if kind is None or not writing.wants_common_memory:
        copy(operation, writing)
        return
    access = _access(operation, writing)
    if access is None:
        return
    box, value = _box(access, writing), writing.value(operation.value)
    axes = [each.position for each in box.map.data.results if isinstance(each, AffineDimExpr)]
    is_transposed = len(axes) == 2 and axes[0] > axes[1]
    if axes != sorted(axes) and not is_transposed:
        writing.remark(f"{operation.name} stays: its dimensions are in another order than memory's")
        copy(operation, writing)
        return
    checked = [axis for axis, inside in zip(axes, box.inside, strict=True) if not inside]
    with _where_guards_hold(access, box, writing):
        update = AtomicUpdateOp(
            operands=[value, box.memory, box.starts],
            result_types=[value.type],
            properties={
                "kind": AtomicKindAttr(kind),
                "checked": DenseArrayBase.from_list(i64, sorted(checked)),
                "transpose": UnitAttr() if is_transposed else None,
            },
        )
        update.attributes.update(box.promise)
        writing.emit(update)


_BOX_KINDS = {kind.value: kind for kind in AtomicKind if kind is not AtomicKind.ASSIGN}
"""The updates of boxes that hardware may have, by the names of updates."""


def _where_guards_hold(
    access: Access, box: _Box, writing: Structuring
) -> AbstractContextManager[None]:
    """Where a tile is written, if at all."""
    guards = [*(writing.conditions(access) if access.is_guarded else ()), *box.not_empty]
    guard = reduce(partial(writing.pure, arith.AndIOp), guards) if guards else None
    return nullcontext() if guard is None else writing.when(guard)


_RULES = RuleTable(
    {
        AtomicRMWOp.name: _update,
        GatherLoadOp.name: _load,
        ScatterStoreOp.name: _store,
        scf.ForOp.name: _for,
        TransferReadOp.name: _read,
        TransferWriteOp.name: _write,
    },
    otherwise=copy,
    keeps_rounding=True,
)
