"""Makes accesses of elements by their indices in a memref what they are, where they are of boxes.

Work-items that access one element each, next to each other, access a box of memory together: a
line of it where work-items and subgroups follow each other, a rectangle where each subgroup has a
row of its own. `structure/` does the same for tiles of pointers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial, reduce
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseIntOrFPElementsAttr,
    MemRefType,
    ModuleOp,
    VectorType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.scf.loops import UNSIGNED
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import AnyMemRef, subview
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.memref_layouts import kept_dimensions, mixed
from xtile.rewrite.rebuilder import RuleTable, copy
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, source_of
from xtile.transforms.structure.affine import Affine, NotAffineError
from xtile.transforms.structure.bounds import Bounds
from xtile.transforms.structure.masks import box_of, differences_of
from xtile.transforms.structure.numbers import Numbers
from xtile.transforms.structure.polynomials import ONE, Polynomial, is_inside
from xtile.transforms.structure.provenance import Provenance

Access: TypeAlias = GatherLoadOp | ScatterStoreOp


def box_accesses(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Returns a module in which gathers and scatters of boxes of memrefs are transfers.

    Everything else stays as it is; without such an access it is the module itself.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go, which say why accesses stay what they are; None drops them.
    """

    def is_chosen(kernel: FuncOp) -> bool:
        return level_of(kernel) is Level.TILE and any(map(is_by_index, walk(kernel)))

    source = source_of(module)
    return with_kernels_replaced(
        module, is_chosen, lambda kernel: rebuilt(kernel, _Boxing(kernel, source, diagnostics))
    )


def is_by_index(operation: Operation) -> bool:
    """Whether an operation accesses elements by their indices in a memref."""
    return isinstance(operation, GatherLoadOp | ScatterStoreOp) and isinstance(
        operation.memory.type, MemRefType
    )


# --- which elements ---


@dataclass(frozen=True)
class _Line:
    """The indices of a box in one dimension of memory.

    Attributes:
        begin: The first one.
        along: The dimensions of the tile along which they follow each other, the slowest first.
        size: How many there are.
        ends: Where they end at the latest; nothing where all of them are accessed.
    """

    begin: Polynomial
    along: tuple[int, ...]
    size: int
    ends: tuple[Polynomial, ...] = ()


@dataclass(frozen=True)
class _Accessed:
    """A box of memory that is accessed.

    Attributes:
        lines: Its indices in each dimension.
        conditions: Numbers; nothing is accessed where one is negative.
    """

    lines: tuple[_Line, ...]
    conditions: tuple[Polynomial, ...]


def _accessed(operation: Access, provenance: Provenance) -> _Accessed:
    """The box that an operation accesses.

    Raises:
        NotAffineError: It is none, as far as it is known.
    """
    tile = operation.result if isinstance(operation, GatherLoadOp) else operation.value
    shape = shape_of(tile.type)
    if not shape:
        raise NotAffineError("it is one element")
    if operation.order is not None:
        raise NotAffineError("it is atomic")
    if pointer_of(value_type(tile.type)) is not None:
        raise NotAffineError("its elements are pointers")
    indices = [_spread(provenance.integers(each), shape) for each in operation.indices]
    along = [_along(each) for each in indices]
    used = [dimension for each in along for dimension in each]
    if len(used) != len(set(used)) or not used:
        raise NotAffineError("its indices are not those of a box")
    if isinstance(operation, ScatterStoreOp) and prod(shape[i] for i in used) != prod(shape):
        raise NotAffineError("several of its elements are written to one location")
    ends, conditions = _ends_of(operation.mask, indices, provenance)
    lines = tuple(
        _Line(index.base, axes, prod(shape[i] for i in axes), tuple(end))
        for index, axes, end in zip(indices, along, ends, strict=True)
    )
    return _Accessed(lines, tuple(conditions))


def _spread(index: Affine, shape: Sequence[int]) -> Affine:
    """An index for each element of a tile."""
    if index.only or index.needs:
        raise NotAffineError("its indices are affine for some of its elements only")
    if not index.shape:
        return Affine.of(shape, index.base)
    return index.moved(
        [
            i if size == own else None
            for i, (size, own) in enumerate(zip(shape, index.shape, strict=True))
        ],
        shape,
    )


def _along(index: Affine) -> tuple[int, ...]:
    """The dimensions along which indices follow each other, the slowest first."""
    strides = [(index.strides[i].constant, i) for i in index.varying]
    if any(stride is None for stride, _ in strides):
        raise NotAffineError("its indices lie apart by numbers that are not known")
    found, size = list[int](), 1
    for stride, i in sorted(strides, key=lambda each: cast("int", each[0])):
        if stride != size:
            raise NotAffineError("its indices do not follow each other")
        found.insert(0, i)
        size *= index.shape[i]
    return tuple(found)


def _ends_of(
    mask: SSAValue | None, indices: Sequence[Affine], provenance: Provenance
) -> tuple[list[list[Polynomial]], list[Polynomial]]:
    """Where a mask ends the indices in each dimension of memory, and what is not negative in it."""
    ends: list[list[Polynomial]] = [[] for _ in indices]
    conditions: list[Polynomial] = []
    for difference in () if mask is None else differences_of(mask, provenance):
        if difference.needs:
            raise NotAffineError("its mask depends on what a launch checks")
        if provenance.bounds.range_of(difference)[0] >= 0:
            continue
        if difference.is_uniform:
            conditions.append(difference.base)
            continue
        # The difference is a number less an index.
        limits = [difference + index for index in indices]
        dimension = next(
            (d for d, each in enumerate(limits) if indices[d].varying and each.is_uniform), None
        )
        if dimension is None:
            raise NotAffineError("its mask is no end of its indices")
        ends[dimension].append(limits[dimension].base + ONE)
    return ends, conditions


# --- transfers ---


class _Boxing(Numbers):
    """Rebuilds a kernel."""

    def __init__(
        self, kernel: FuncOp, source: Source | None, diagnostics: Diagnostics | None
    ) -> None:
        super().__init__(kernel, _RULES, "boxes of memory", source, diagnostics)
        self.provenance = Provenance(Bounds(may_wrap=True), box_of)
        self._known: frozenset[Polynomial] = frozenset()
        self._stays = False

    def accessed(self, operation: Access) -> _Accessed | None:
        """The box that an access is of; None, with a remark, if it is none or stays one by one."""
        if self._stays or not is_by_index(operation):
            return None
        try:
            return _accessed(operation, self.provenance)
        except NotAffineError as reason:
            self.remark(f"{operation.name} stays: {reason}")
            return None

    def unknown(self, accessed: _Accessed, operation: Access) -> list[Polynomial]:
        """The numbers that must not be negative for anything to be accessed, and may be."""
        left = [end - line.begin - ONE for line in accessed.lines for end in line.ends]
        return [
            number
            for number in dict.fromkeys((*accessed.conditions, *left))
            if number not in self._known and not _is_known(number, operation, self.provenance)
        ]

    def unknown_before(self, loop: scf.ForOp, operation: Access) -> list[Polynomial]:
        """Those of these numbers that a loop around an access does not change."""
        if self._stays or not is_by_index(operation):
            return []
        try:
            accessed = _accessed(operation, self.provenance)
        except NotAffineError:
            return []
        numbers = self.unknown(accessed, operation)
        return [n for n in numbers if not any(is_inside(atom, loop) for atom in n.atoms)]

    def repeated(self, loop: scf.ForOp) -> list[SSAValue]:
        """The results of a loop, which is translated here."""
        copy(loop, self)
        return self.values(loop.results)

    def both_ways(self, loop: scf.ForOp, numbers: Sequence[Polynomial]) -> None:
        """A loop with boxes where numbers are not negative, else with elements one by one."""

        def with_boxes() -> list[SSAValue]:
            before, self._known = self._known, self._known | set(numbers)
            results = self.repeated(loop)
            self._known = before
            return results

        def one_by_one() -> list[SSAValue]:
            self._stays = True
            results = self.repeated(loop)
            self._stays = False
            return results

        results = self.choose_all(self.holds(numbers), with_boxes, one_by_one)
        for old, new in zip(loop.results, results, strict=True):
            self.define(old, new)

    def holds(self, numbers: Sequence[Polynomial]) -> SSAValue:
        """Whether no number is negative."""
        conditions = [self.compare("sge", self.number(each), 0) for each in numbers]
        return reduce(partial(self.pure, arith.AndIOp), conditions)


@dataclass(frozen=True)
class _Box:
    """Memory with a box in it.

    Attributes:
        memory: The memory.
        starts: The index of the first element.
        order: The dimensions of the tile in the order in which the box has them.
        sizes: The sizes of the box, of which each is one or several dimensions of the tile.
        inside: For each size whether the box is certainly inside.
        map: For each size the dimension of the memory.
        condition: What must hold for anything to be accessed, if that is not known.
    """

    memory: SSAValue
    starts: list[SSAValue]
    order: list[int]
    sizes: list[int]
    inside: tuple[bool, ...]
    map: AffineMapAttr
    condition: SSAValue | None


def _box(operation: Access, boxing: _Boxing) -> _Box | None:
    """Emits what the box of an access is in; None if it stays what it is."""
    accessed = boxing.accessed(operation)
    if accessed is None:
        return None
    lines, numbers = accessed.lines, boxing.unknown(accessed, operation)
    starts = [boxing.as_value(boxing.number(line.begin)) for line in lines]
    varying = [dimension for dimension, line in enumerate(lines) if line.along]
    varying.sort(key=lambda dimension: lines[dimension].along)
    rank, results = len(lines), tuple(AffineDimExpr(dimension) for dimension in varying)
    return _Box(
        _ending(operation.memory, lines, boxing),
        starts,
        [i for dimension in varying for i in lines[dimension].along],
        [lines[dimension].size for dimension in varying],
        tuple(not lines[dimension].ends for dimension in varying),
        AffineMapAttr(AffineMap(rank, 0, results)),
        boxing.holds(numbers) if numbers else None,
    )


def _is_known(number: Polynomial, operation: Access, provenance: Provenance) -> bool:
    """Whether a number is certainly not negative, as the rest of what a loop around runs over."""
    if provenance.bounds.range_of_number(number)[0] >= 0:
        return True
    around = operation.parent_op()
    while around is not None:
        if isinstance(around, scf.ForOp) and UNSIGNED not in around.properties:
            end, variable = provenance.number(around.ub), around.body.block.args[0]
            if number == end - Polynomial.of(variable) - ONE:
                return True
        around = around.parent_op()
    return False


def _ending(old: SSAValue, lines: Sequence[_Line], boxing: _Boxing) -> SSAValue:
    """Memory that ends where the lines end at the latest."""
    memory = boxing.value(old)
    sizes: list[Index] = [boxing.size((memory, dimension)) for dimension in range(len(lines))]
    before = list(sizes)
    for dimension, line in enumerate(lines):
        others = [end for end in line.ends if not _is_size(end, old, dimension, boxing.provenance)]
        if others:
            end = boxing.larger(boxing.extreme(others, is_least=True), 0)
            sizes[dimension] = boxing.smaller(before[dimension], end)
    return memory if sizes == before else subview(boxing, memory, [0] * len(lines), sizes)


def _is_size(end: Polynomial, memory: SSAValue, dimension: int, provenance: Provenance) -> bool:
    """Whether a number is the size of memory."""
    owner, known = memory.owner, cast("AnyMemRef", memory.type).get_shape()[dimension]
    if known >= 0:
        return end.constant == known
    if isinstance(owner, memref.SubviewOp):
        sizes = mixed(owner.properties["static_sizes"], list(owner.sizes))
        size = sizes[kept_dimensions(owner)[dimension]]
        return isinstance(size, SSAValue) and provenance.number(size) == end
    atoms = [atom.owner for atom in end.atoms if isinstance(atom, SSAValue)]
    if len(atoms) != 1 or not isinstance(atoms[0], memref.DimOp):
        return False
    told = atoms[0]
    is_it = told.source is memory and constant_of(told.index) == dimension
    return is_it and end == Polynomial.of(told.result)


def _load(operation: GatherLoadOp, boxing: _Boxing) -> None:
    box = _box(operation, boxing)
    if box is None:
        copy(operation, boxing)
        return
    shape, element = shape_of(operation.result.type), value_type(operation.result.type)
    number = None if operation.padding is None else _number_of(operation.padding)
    is_mixed = operation.padding is not None and number is None
    if number is not None or is_mixed:
        padding = boxing.constant(number or 0, element)
    else:
        padding = boxing.poison(element)
    type_ = cast("VectorType", with_shape(element, box.sizes))

    def read() -> SSAValue:
        flags = truth_attribute(box.inside)
        made = TransferReadOp(box.memory, box.starts, padding, type_, flags, box.map)
        return boxing.emit(made).result

    value = _where(box, boxing, read, lambda: boxing.spread(padding, box.sizes))
    value = boxing.reshape(value, [shape[i] for i in box.order])
    value = boxing.transposed(value, sorted(range(len(box.order)), key=box.order.__getitem__))
    value = boxing.reshape(value, [n if i in box.order else 1 for i, n in enumerate(shape)])
    value = boxing.spread(value, shape)
    if is_mixed and operation.mask is not None and operation.padding is not None:
        mask, others = boxing.values((operation.mask, operation.padding))
        value = boxing.emit(SelectOp(mask, value, others)).result
    boxing.define(operation.result, value)


def _where(
    box: _Box, boxing: _Boxing, read: Callable[[], SSAValue], nothing: Callable[[], SSAValue]
) -> SSAValue:
    """What is read, or something else where nothing may be."""
    return read() if box.condition is None else boxing.choose(box.condition, read, nothing)


def _number_of(tile: SSAValue) -> float | None:
    """The number that all elements of a tile are; None if it is not known."""
    owner = tile.owner
    value = owner.value if isinstance(owner, arith.ConstantOp) else None
    if not isinstance(value, DenseIntOrFPElementsAttr) or not value.is_splat():
        return None
    return cast("float", value.get_values()[0])


def _store(operation: ScatterStoreOp, boxing: _Boxing) -> None:
    box = _box(operation, boxing)
    if box is None:
        copy(operation, boxing)
        return
    value = boxing.value(operation.value)
    shape = shape_of(value.type)
    value = boxing.reshape(value, [shape[i] for i in sorted(box.order)])
    value = boxing.transposed(value, [sorted(box.order).index(i) for i in box.order])
    value = boxing.reshape(value, box.sizes)
    write = TransferWriteOp(
        value, box.memory, box.starts, truth_attribute(box.inside), permutation_map=box.map
    )
    with nullcontext() if box.condition is None else boxing.when(box.condition):
        boxing.emit(write)


def _for(operation: scf.ForOp, boxing: _Boxing) -> None:
    """Whether there is anything to access is asked before a loop that does not change it."""
    numbers = dict[Polynomial, None]()
    for each in walk(operation):
        if isinstance(each, GatherLoadOp | ScatterStoreOp):
            numbers |= dict.fromkeys(boxing.unknown_before(operation, each))
    if numbers:
        boxing.both_ways(operation, list(numbers))
    else:
        copy(operation, boxing)


_RULES = RuleTable(
    {GatherLoadOp.name: _load, ScatterStoreOp.name: _store, scf.ForOp.name: _for},
    otherwise=copy,
    keeps_rounding=True,
)
"""The rule of each operation, by name."""
