"""Makes accesses of elements by their indices in a memref what they are, where they are of boxes.

Work-items that access one element each, next to each other, access a box of memory together: a
line of it where work-items and subgroups follow each other, a rectangle where each subgroup has a
row of its own. `structure/` does the same for tiles of pointers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects import arith, memref
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
from xtile.dialects.core import GatherLoadOp, Level, ScatterStoreOp, level_of
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import AnyMemRef, subview
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import kernels_of, rebuilt, with_kernels_replaced
from xtile.rewrite.memref_layouts import kept_dimensions, mixed
from xtile.rewrite.rebuilder import RuleTable, copy
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source, source_of
from xtile.transforms.structure.affine import Affine, NotAffineError
from xtile.transforms.structure.bounds import Bounds
from xtile.transforms.structure.masks import box_of, differences_of
from xtile.transforms.structure.numbers import Numbers
from xtile.transforms.structure.polynomials import ONE, Polynomial
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

    if not any(map(is_chosen, kernels_of(module))):
        return module
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


def _lines_of(operation: Access, provenance: Provenance) -> tuple[list[_Line], list[Polynomial]]:
    """The box that an operation accesses, and numbers without which it accesses nothing.

    Nothing is accessed where one of the numbers is negative.

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
    lines = [
        _Line(index.base, axes, prod(shape[i] for i in axes), tuple(end))
        for index, axes, end in zip(indices, along, ends, strict=True)
    ]
    return lines, conditions


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
    """

    memory: SSAValue
    starts: list[SSAValue]
    order: list[int]
    sizes: list[int]
    inside: tuple[bool, ...]
    map: AffineMapAttr


def _box(operation: Access, boxing: _Boxing) -> _Box | None:
    """Emits what the box of an access is in; None, with a remark, if it is none."""
    try:
        if not isinstance(operation.memory.type, MemRefType):
            return None
        lines, conditions = _lines_of(operation, boxing.provenance)
        starts = [boxing.as_value(boxing.number(line.begin)) for line in lines]
    except NotAffineError as reason:
        boxing.remark(f"{operation.name} stays: {reason}")
        return None
    varying = [dimension for dimension, line in enumerate(lines) if line.along]
    varying.sort(key=lambda dimension: lines[dimension].along)
    rank, results = len(lines), tuple(AffineDimExpr(dimension) for dimension in varying)
    guarded = varying[0] if conditions else None
    return _Box(
        _ending(operation.memory, lines, guarded, conditions, boxing),
        starts,
        [i for dimension in varying for i in lines[dimension].along],
        [lines[dimension].size for dimension in varying],
        tuple(not lines[dimension].ends and dimension != guarded for dimension in varying),
        AffineMapAttr(AffineMap(rank, 0, results)),
    )


def _ending(
    old: SSAValue,
    lines: Sequence[_Line],
    guarded: int | None,
    conditions: Sequence[Polynomial],
    boxing: _Boxing,
) -> SSAValue:
    """Memory that ends where the lines end, in one dimension at once where a number is negative."""
    memory = boxing.value(old)
    sizes: list[Index] = [boxing.size((memory, dimension)) for dimension in range(len(lines))]
    before = list(sizes)
    for dimension, line in enumerate(lines):
        others = [end for end in line.ends if not _is_size(end, old, dimension, boxing.provenance)]
        if others:
            end = boxing.larger(boxing.extreme(others, is_least=True), 0)
            sizes[dimension] = boxing.smaller(before[dimension], end)
    if guarded is not None:
        least = boxing.extreme(list(conditions), is_least=True)
        size = boxing.as_value(sizes[guarded])
        is_there = boxing.compare("sge", least, 0)
        sizes[guarded] = boxing.emit(SelectOp(is_there, size, boxing.index(0))).result
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
    read = TransferReadOp(
        box.memory, box.starts, padding, type_, truth_attribute(box.inside), box.map
    )
    value = boxing.reshape(boxing.emit(read).result, [shape[i] for i in box.order])
    value = boxing.transposed(value, sorted(range(len(box.order)), key=box.order.__getitem__))
    value = boxing.reshape(value, [n if i in box.order else 1 for i, n in enumerate(shape)])
    value = boxing.spread(value, shape)
    if is_mixed and operation.mask is not None and operation.padding is not None:
        mask, others = boxing.values((operation.mask, operation.padding))
        value = boxing.emit(SelectOp(mask, value, others)).result
    boxing.define(operation.result, value)


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
    flags = truth_attribute(box.inside)
    boxing.emit(TransferWriteOp(value, box.memory, box.starts, flags, permutation_map=box.map))


_RULES = RuleTable(
    {GatherLoadOp.name: _load, ScatterStoreOp.name: _store}, otherwise=copy, keeps_rounding=True
)
"""The rule of each operation, by name."""
