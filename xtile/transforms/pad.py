"""Gives the vectors of tile-level kernels sizes that are powers of two, for compilers of tiles.

Each vector becomes one of the next powers of two. What lies beyond its own elements is unspecified,
and reaches nothing: memory is accessed through views that end where the vector did, products and
reductions get numbers that they leave out of account there, and divisors are 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import IRDLOperation
from xdsl.utils.hints import isa

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.atomics import AtomicCompareAndSwapOp, AtomicRMWOp
from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.core.elements import GatherOp, HistogramOp
from xtile.dialects.core.extents import unknown_extents
from xtile.dialects.core.pointers import IntegerToPointerOp, PointerType
from xtile.dialects.core.reductions import ReduceOp, ScanOp
from xtile.dialects.core.scaled_products import ScaledContractOp, depths, group_size
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.subgroup import AtomicUpdateOp, YieldOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import AnyVector, as_vector
from xtile.dialects.vector.attributes import neutral_float, neutral_integer
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.masks import ConstantMaskOp
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import subview
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rule, RuleTable, again
from xtile.rewrite.tile_emitter import TileEmitter, shape_of
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir_attributes import splat_constant
from xtile.text.source import Source, source_of, spelling_of


def pad(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Returns a module in whose tile-level kernels all sizes of vectors are powers of two.

    Everything else stays as it is; without such a kernel it is the module itself.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go; None drops them.

    Raises:
        DiagnosticError: An operation has no form with other sizes.
    """
    source = source_of(module)
    return with_kernels_replaced(
        module, _is_uneven, lambda kernel: _padded(kernel, source, diagnostics)
    )


def _is_uneven(function: FuncOp) -> bool:
    """Whether a kernel is at level tile and has a size that is no power of two."""
    if level_of(function) is not Level.TILE:
        return False
    types = {result.type for operation in walk(function) for result in operation.results}
    return any(padded(type_) != type_ for type_ in types)


def padded(type_: Attribute) -> Attribute:
    """The type of a vector whose sizes are the next powers of two; other types stay."""
    vector = as_vector(type_)
    if vector is None:
        return type_
    sizes = [1 << (max(size, 1) - 1).bit_length() for size in vector.get_shape()]
    return VectorType(vector.element_type, sizes, vector.scalable_dims)


def _padded(function: FuncOp, source: Source | None, diagnostics: Diagnostics | None) -> FuncOp:
    table = RuleTable(otherwise=_pad, keeps_rounding=True)
    padder = _Padder(table, "tiles whose sizes are powers of two", source, diagnostics)
    return rebuilt(function, padder)


class _Padder(TileEmitter):
    """Rebuilds one kernel with other sizes."""

    def mask(self, shape: Sequence[int], dimensions: Sequence[int]) -> SSAValue | None:
        """Where the padded vector has own elements along dimensions; None if it is everywhere."""
        wide = cast("AnyVector", padded(VectorType(i1, shape))).get_shape()
        sizes = [own if i in dimensions else wide[i] for i, own in enumerate(shape)]
        if sizes == list(wide):
            return None
        numbers = DenseArrayBase.from_list(i64, sizes)

        def emit() -> SSAValue:
            operation = ConstantMaskOp.build(
                result_types=[VectorType(i1, wide)], properties={"mask_dim_sizes": numbers}
            )
            return self.emit(operation).results[0]

        return self.shared((ConstantMaskOp, *wide, *sizes), (), emit)

    def filled(self, old: SSAValue, dimensions: Sequence[int], number: Attribute) -> SSAValue:
        """What a vector has become, with a number beyond its own elements along dimensions."""
        value, mask = self.value(old), self.mask(_shape(old), dimensions)
        if mask is None:
            return value
        return self.pure(SelectOp, mask, value, self.splat(number, value.type))

    def splat(self, number: Attribute, type_: Attribute) -> SSAValue:
        """A vector of equal numbers."""
        value = cast("FloatAttr[AnyFloat] | IntegerAttr", number).value.data
        attribute = splat_constant(cast("Any", type_), value)
        return self.shared(
            ("splat", number, type_), (), lambda: self.emit(arith.ConstantOp(attribute)).result
        )

    def zero(self, element: Attribute) -> SSAValue:
        """The number 0, or the null pointer."""
        if isinstance(element, PointerType):
            address = self.constant(0, i64)
            null = IntegerToPointerOp.build(operands=[address], result_types=[element])
            return self.emit(null).results[0]
        return self.constant(0, element)

    def own_mask(self, old: SSAValue) -> SSAValue:
        """What a mask has become, false beyond its own elements."""
        return self.filled(old, range(len(_shape(old))), IntegerAttr(0, i1))


def _pad(operation: Operation, padder: _Padder) -> None:
    """Applies the rule of an operation if a size of its vectors changes."""
    types = (*operation.operand_types, *operation.result_types)
    if all(padded(type_) == type_ for type_ in types):
        _rebuild(operation, padder)
    else:
        _RULES.get(operation.name, _pad_any)(operation, padder)


# --- operations on any sizes ---

_ELEMENTWISE = frozenset({"arith", "math", "ub"})

_OF_ANY_SIZE = frozenset(
    {
        "core.integer_to_pointer",
        "core.pack",
        "core.pointer_add",
        "core.pointer_cast",
        "core.pointer_to_integer",
        "core.unpack",
        "scf.condition",
        "scf.for",
        "scf.if",
        "scf.while",
        "scf.yield",
        "vector.bitcast",
        "vector.broadcast",
        "vector.constant_mask",
        "vector.create_mask",
        "vector.extract",
        "vector.fma",
        "vector.insert",
        "vector.outerproduct",
        "vector.splat",
        "vector.step",
        "vector.transpose",
    }
)
"""Operations whose own elements depend on own elements only, which are where they were."""


def _pad_any(operation: Operation, padder: _Padder) -> None:
    is_elementwise = operation.dialect_name() in _ELEMENTWISE
    if not is_elementwise and operation.name not in _OF_ANY_SIZE:
        name = spelling_of(operation)
        raise padder.error(f"{name} has no form for tiles whose sizes are no powers of two")
    _rebuild(operation, padder)


def _rebuild(
    operation: Operation, padder: _Padder, operands: Sequence[SSAValue] | None = None
) -> None:
    """Emits an operation again with vectors of other sizes, on its own operands or on others."""
    new = again(
        operation,
        padder.values(operation.operands) if operands is None else operands,
        [padded(result.type) for result in operation.results],
        regions=[_region(region, padder) for region in operation.regions],
    )
    padder.replace(operation, new)


def _region(old: Region, padder: _Padder) -> Region:
    if old.blocks.first is None:
        return Region()
    types = [padded(argument.type) for argument in old.block.args]
    return padder.translate_into(old, padder.new_block(old.block, types))


def _slice(operation: Operation, padder: _Padder) -> None:
    """A part is as large as its type; what is beyond it is what the vector has there.

    Raises:
        DiagnosticError: The vector ends before the padded part does.
    """
    sizes = _shape(operation.results[0])
    offsets = [number.value.data for number in cast("Any", operation.properties["offsets"])]
    wide = padded(operation.operands[0].type)
    assert isa(wide, VectorType)
    new = [1 << (size - 1).bit_length() for size in sizes]
    ends = (offset + size for offset, size in zip(offsets, new, strict=True))
    if any(end > whole for end, whole in zip(ends, wide.get_shape(), strict=True)):
        name = spelling_of(operation)
        raise padder.error(f"{name} takes a part that is no power of two at the end of a tile")
    made = type(operation).create(
        operands=padder.values(operation.operands),
        result_types=[padded(operation.results[0].type)],
        properties=operation.properties
        | {"sizes": ArrayAttr(IntegerAttr(size, i64) for size in new)},
    )
    padder.replace(operation, made)


def _constant(operation: arith.ConstantOp, padder: _Padder) -> None:
    value, type_ = operation.value, padded(operation.result.type)
    assert isa(value, DenseIntOrFPElementsAttr)
    assert isa(type_, VectorType)
    if value.is_splat():
        attribute = splat_constant(type_, value.get_values()[0])
    else:
        own, wide = _shape(operation.result), type_.get_shape()
        spread = _spread(list(value.get_values()), own, wide)
        attribute = DenseIntOrFPElementsAttr.from_list(cast("Any", type_), spread)
    padder.replace(operation, arith.ConstantOp(attribute))


def _spread(numbers: list[Any], own: Sequence[int], wide: Sequence[int]) -> list[Any]:
    """Numbers in row-major order in the places that they have in a larger shape, among zeros."""
    if not own:
        return numbers
    step = len(numbers) // own[0]
    rows = [_spread(numbers[i : i + step], own[1:], wide[1:]) for i in range(0, len(numbers), step)]
    missing = [type(numbers[0])(0)] * (len(rows[0]) * (wide[0] - own[0]))
    return [number for row in rows for number in row] + missing


def _with_safe_right(number: int) -> Rule:
    """The rule of an operation that may not have just any number on the right."""

    def rule(operation: Operation, padder: _Padder) -> None:
        left, right = operation.operands
        every = range(len(_shape(right)))
        safe = padder.filled(right, every, IntegerAttr(number, cast("Any", _element(right))))
        _rebuild(operation, padder, [padder.value(left), safe])

    return rule


def _shape_cast(operation: Operation, padder: _Padder) -> None:
    """Elements stay where they are, or each is taken from where it is in the padded vector."""
    old, new = _shape(operation.operands[0]), _shape(operation.results[0])
    if _keeps_positions(old, new):
        _rebuild(operation, padder)
    else:
        padder.define(operation.results[0], _moved_elements(operation, padder))


def _keeps_positions(old: Sequence[int], new: Sequence[int]) -> bool:
    """Whether the elements of a reshape are where those of the padded one are."""
    sides = [[size for size in shape if size != 1] for shape in (old, new)]
    while all(sides):
        groups = [[sides[0].pop()], [sides[1].pop()]]
        products = [groups[0][0], groups[1][0]]
        while products[0] != products[1]:
            short = products.index(min(products))
            if not sides[short]:
                return False
            size = sides[short].pop()
            groups[short].append(size)
            products[short] *= size
        # Sizes were taken from the innermost on.
        if any(size & (size - 1) for group in groups for size in group[:-1]):
            return False
    return not any(sides)


def _moved_elements(operation: Operation, padder: _Padder) -> SSAValue:
    """The elements of a reshape, each from its position in the padded vector, row by row."""
    (source,), (result,) = operation.operands, operation.results
    old, new = _shape(source), _shape(result)
    wide = padder.value(source)
    target = padded(result.type)
    assert isa(target, VectorType)
    position = padder.spread(padder.index(0), target.get_shape())
    for axis, stride in enumerate(_strides(new)):
        numbers = padder.along(padder.step(target.get_shape()[axis]), axis, len(new))
        numbers = padder.spread(numbers, target.get_shape())
        position = _sum(padder, position, _times(padder, numbers, stride))
    moved = padder.spread(padder.index(0), target.get_shape())
    for size, stride, far in zip(old, _strides(old), _strides(shape_of(wide.type)), strict=True):
        digit = _with(padder, arith.DivUIOp, position, stride)
        digit = _with(padder, arith.RemUIOp, digit, size)
        moved = _sum(padder, moved, _times(padder, digit, far))
    line = padder.reshape(wide, [prod(shape_of(wide.type))])
    flat = padder.reshape(moved, [prod(target.get_shape())])
    type_ = VectorType(target.element_type, shape_of(flat.type))
    found = padder.compute(GatherOp, [line, flat], type_, {"axis": IntegerAttr(0, i64)})
    return padder.reshape(found, target.get_shape())


def _strides(shape: Sequence[int]) -> list[int]:
    return [prod(shape[i + 1 :]) for i in range(len(shape))]


def _sum(padder: _Padder, a: SSAValue, b: SSAValue) -> SSAValue:
    return padder.compute(arith.AddiOp, [a, b], a.type)


def _times(padder: _Padder, a: SSAValue, number: int) -> SSAValue:
    return _with(padder, arith.MuliOp, a, number)


def _with(padder: _Padder, kind: type[IRDLOperation], a: SSAValue, number: int) -> SSAValue:
    """An operation on indices and a number."""
    return padder.compute(kind, [a, padder.spread(padder.index(number), shape_of(a.type))], a.type)


# --- reductions and products ---


def _neutral(kind: str, element: Attribute) -> Attribute:
    """The number that a reduction of a kind leaves out of account."""
    if isinstance(element, AnyFloat):
        return FloatAttr(neutral_float(kind), element)
    if isinstance(element, IndexType):
        return IntegerAttr(neutral_integer(kind, 64), element)
    assert isa(element, IntegerType)
    number = neutral_integer(kind, element.width.data)
    return IntegerAttr(number & 1 if element == i1 else number, element)


def _kind(operation: Operation) -> str:
    return str(cast("Any", operation.properties["kind"]).data)


def _element(value: SSAValue) -> Attribute:
    return cast("AnyVector", value.type).element_type


def _reduce_along(operation: Operation, padder: _Padder, dimensions: Sequence[int]) -> None:
    source, *others = operation.operands
    number = _neutral(_kind(operation), _element(source))
    operands = [padder.filled(source, dimensions, number), *padder.values(others)]
    _rebuild(operation, padder, operands)


def _multi_reduction(operation: Operation, padder: _Padder) -> None:
    dimensions = cast("DenseArrayBase[Any]", operation.properties["reduction_dims"])
    _reduce_along(operation, padder, [int(each) for each in dimensions.get_values()])


def _reduction(operation: Operation, padder: _Padder) -> None:
    _reduce_along(operation, padder, [0])


def _scan(operation: Operation, padder: _Padder) -> None:
    """The last sum is that of the last own element."""
    dimension = cast("IntegerAttr", operation.properties["reduction_dim"]).value.data
    _reduce_along(operation, padder, [dimension])


def _aggregate(operation: ReduceOp | ScanOp, padder: _Padder) -> None:
    """A reduction or scan with a region, whose neutral elements are known or marked."""
    axis, identities = operation.axis.value.data, operation.identities
    is_harmless = isinstance(operation, ScanOp) and operation.reverse is None
    if is_harmless or padder.mask(_shape(operation.sources[0]), [axis]) is None:
        _rebuild(operation, padder)
    elif identities is not None:
        operands = [
            padder.filled(source, [axis], number)
            for source, number in zip(operation.sources, identities, strict=True)
        ]
        _rebuild(operation, padder, operands)
    else:
        _aggregate_marked(operation, padder, axis)


def _aggregate_marked(operation: ReduceOp | ScanOp, padder: _Padder, axis: int) -> None:
    """One more operand says which elements count: those that do not leave the others alone."""
    every = range(len(_shape(operation.sources[0])))
    sources = [
        padder.filled(source, every, _zero(_element(source))) for source in operation.sources
    ]
    marks = padder.mask(_shape(operation.sources[0]), [axis])
    assert marks is not None
    elements = [_element(source) for source in sources]
    block = Block(arg_types=[*elements, i1, *elements, i1])
    count = len(elements)
    first, second = block.args[: count + 1], block.args[count + 1 :]
    old = operation.body.block
    for was, becomes in zip(old.args, (*first[:-1], *second[:-1]), strict=True):
        padder.define(was, becomes)
    with padder.at_end_of(block):
        for inner in list(old.ops)[:-1]:
            padder.translate(inner)
        assert old.last_op is not None
        chosen = [
            _chosen(padder, a, b, both, first[-1], second[-1])
            for a, b, both in zip(
                first[:-1], second[:-1], padder.values(old.last_op.operands), strict=True
            )
        ]
        counts = padder.emit(arith.OrIOp(first[-1], second[-1])).result
        padder.emit(YieldOp(operands=[[*chosen, counts]]))
    totals = [padded(result.type) for result in operation.results]
    shape = totals[0].get_shape() if isa(totals[0], VectorType) else None
    marked = i1 if shape is None else VectorType(i1, shape)
    new = again(operation, [*sources, marks], [*totals, marked], regions=[Region(block)])
    padder.emit(new)
    for was, becomes in zip(operation.results, new.results[:-1], strict=True):
        padder.define(was, becomes)


def _zero(element: Attribute) -> Attribute:
    if isinstance(element, AnyFloat):
        return FloatAttr(0.0, element)
    return IntegerAttr(0, cast("IndexType", element))


def _chosen(
    padder: _Padder, a: SSAValue, b: SSAValue, both: SSAValue, has_a: SSAValue, has_b: SSAValue
) -> SSAValue:
    """What two elements are together, of which each counts or not."""
    with_a = padder.emit(SelectOp(has_b, both, a)).result
    return padder.emit(SelectOp(has_a, with_a, b)).result


def _shape(value: SSAValue) -> tuple[int, ...]:
    return cast("AnyVector", value.type).get_shape()


def _contract(operation: ContractionOp, padder: _Padder) -> None:
    """A product; beyond the end of what is added up, factors are neutral and 1."""
    left, right, total = operation.operands
    maps = [each.data for each in operation.indexing_maps]
    kept = set(_dimensions(maps[2]))
    own = _shape(left), _shape(right)
    uneven = [
        {
            dimension: position
            for position, dimension in enumerate(_dimensions(map_))
            if dimension not in kept and padder.mask(shape, [position]) is not None
        }
        for map_, shape in zip(maps[:2], own, strict=True)
    ]
    if uneven[0].keys() != uneven[1].keys():
        raise padder.error(
            "a product that adds up along a dimension of one factor only has no form for tiles "
            "whose sizes are no powers of two; reduce that factor first"
        )
    numbers = _neutral(_kind(operation), _element(left)), _neutral("mul", _element(right))
    factors = [
        padder.filled(factor, sorted(where.values()), number)
        for factor, where, number in zip((left, right), uneven, numbers, strict=True)
    ]
    _rebuild(operation, padder, [*factors, padder.value(total)])


def _scaled_contract(operation: ScaledContractOp, padder: _Padder) -> None:
    """A product with scales; beyond the end of what is added up, factors are 0 and scales 1."""
    along = depths(operation)
    left, right = (
        padder.filled(factor, [depth], FloatAttr(0.0, _float(factor)))
        for factor, depth in zip((operation.lhs, operation.rhs), along, strict=True)
    )
    left_scale = _padded_scale(padder, operation.lhs, operation.lhs_scale, along[0])
    right_scale = _padded_scale(padder, operation.rhs, operation.rhs_scale, along[1])
    total, is_fast = padder.value(operation.acc), operation.fast is not None
    made = ScaledContractOp(left, right, total, left_scale, right_scale, fast=is_fast)
    padder.replace(operation, made)


def _padded_scale(
    padder: _Padder, factor: SSAValue, scale: SSAValue | None, depth: int
) -> SSAValue | None:
    """The scales of a factor, each for as many of it as before."""
    if scale is None:
        return None
    group = group_size(factor, scale, depth)
    if group & (group - 1):
        raise padder.error(
            f"groups of {group} factors that share a scale have no form for tiles whose sizes are "
            "powers of two"
        )
    return padder.filled(scale, [depth], FloatAttr(1.0, _float(scale)))


def _float(value: SSAValue) -> AnyFloat:
    return cast("AnyFloat", _element(value))


def _dimensions(map_: AffineMap) -> list[int]:
    return [cast("AffineDimExpr", result).position for result in map_.results]


# --- memory ---


def _read(operation: TransferReadOp, padder: _Padder) -> None:
    memory, indices, inside = _ending(operation, operation.result, padder)
    mask = [] if operation.mask is None else [padder.value(operation.mask)]
    new = TransferReadOp.build(
        operands=[memory, indices, padder.value(operation.padding), mask],
        result_types=[padded(operation.result.type)],
        properties=operation.properties | {"in_bounds": inside},
        attributes=operation.attributes.copy(),
    )
    padder.replace(operation, new)


def _write(operation: TransferWriteOp, padder: _Padder) -> None:
    memory, indices, inside = _ending(operation, operation.vector, padder)
    mask = [] if operation.mask is None else [padder.value(operation.mask)]
    new = TransferWriteOp.build(
        operands=[padder.value(operation.vector), memory, indices, mask],
        result_types=[[]],
        properties=operation.properties | {"in_bounds": inside},
        attributes=operation.attributes.copy(),
    )
    padder.emit(new)


def _ending(
    operation: TransferReadOp | TransferWriteOp, vector: SSAValue, padder: _Padder
) -> tuple[SSAValue, Sequence[SSAValue], ArrayAttr[BoolAttr]]:
    """The memory that ends where a vector does, indices in it, and what of it is inside."""
    shape, results = _shape(vector), operation.permutation_map.data.results
    flags = [bool(flag.value.data) for flag in operation.in_bounds]
    ends: dict[int, tuple[int, bool]] = {}
    counts: dict[int, int] = {}
    for position, result in enumerate(results):
        if not isinstance(result, AffineDimExpr):
            continue
        counts[result.position] = shape[position]
        if padder.mask(shape, [position]) is not None:
            ends[result.position] = shape[position], flags[position]
            flags[position] = False
    memory, indices = _part(padder, operation.source, operation.indices, ends, counts)
    return memory, indices, ArrayAttr([BoolAttr.from_bool(flag) for flag in flags])


def _part(
    padder: _Padder,
    old: SSAValue,
    indices: Sequence[SSAValue],
    ends: dict[int, tuple[int, bool]],
    counts: Mapping[int, int],
) -> tuple[SSAValue, Sequence[SSAValue]]:
    """Memory that ends so many elements after an index along some dimensions, and indices in it.

    Args:
        padder: Where to emit.
        old: The memory.
        indices: Where accesses of it begin.
        ends: For a dimension the number of elements, and whether memory has all of them.
        counts: How many elements are accessed along dimensions, if it is not one.
    """
    memory, starts = padder.value(old), [_index(padder, index) for index in indices]
    offsets: list[Index] = [0] * len(starts)
    unknown = unknown_extents(old) if ends else ()
    # Memory of unknown extent has what is accessed.
    sizes = [0 if i in unknown else padder.size((memory, i)) for i in range(len(starts))]
    ends |= {dimension: (counts.get(dimension, 1), True) for dimension in unknown}
    is_cut = False
    for dimension, (count, has_all) in ends.items():
        start, size = starts[dimension], sizes[dimension]
        end = padder.add(start, count)
        if isinstance(end, int) and end == size and dimension not in unknown:
            continue
        is_cut = True
        if has_all:
            offsets[dimension], sizes[dimension], starts[dimension] = start, count, 0
        else:
            # Before the start there may be nothing, so that indices stay what they are.
            sizes[dimension] = padder.smaller(size, padder.larger(end, 0))
    if is_cut:
        memory = subview(padder, memory, offsets, sizes)
    return memory, [padder.as_value(start) for start in starts]


def _index(padder: _Padder, old: SSAValue) -> Index:
    known = constant_of(old)
    return padder.value(old) if known is None else known


def _load(operation: Operation, padder: _Padder) -> None:
    """A load of a whole vector, which becomes a read that ends where the vector did."""
    base, *indices = operation.operands
    (result,) = operation.results
    memory, starts, properties = _whole(padder, base, indices, result)
    padding = padder.zero(_element(result))
    new = TransferReadOp.build(
        operands=[memory, starts, padding, []],
        result_types=[padded(result.type)],
        properties=properties,
    )
    padder.replace(operation, new)


def _store(operation: Operation, padder: _Padder) -> None:
    vector, base, *indices = operation.operands
    memory, starts, properties = _whole(padder, base, indices, vector)
    padder.emit(
        TransferWriteOp.build(
            operands=[padder.value(vector), memory, starts, []],
            result_types=[[]],
            properties=properties,
        )
    )


def _whole(
    padder: _Padder, base: SSAValue, indices: Sequence[SSAValue], vector: SSAValue
) -> tuple[SSAValue, Sequence[SSAValue], dict[str, Attribute]]:
    shape, rank = _shape(vector), len(indices)
    first = rank - len(shape)
    uneven = [i for i in range(len(shape)) if padder.mask(shape, [i]) is not None]
    counts = {first + i: size for i, size in enumerate(shape)}
    ends = {first + i: (shape[i], True) for i in uneven}
    memory, starts = _part(padder, base, indices, ends, counts)
    map_ = AffineMap(rank, 0, tuple(AffineDimExpr(first + i) for i in range(len(shape))))
    inside = ArrayAttr([BoolAttr.from_bool(i not in uneven) for i in range(len(shape))])
    return memory, starts, {"permutation_map": AffineMapAttr(map_), "in_bounds": inside}


def _with_mask(position: int) -> Rule:
    """The rule of an operation that has a mask among its operands, counted from the end."""

    def rule(operation: Operation, padder: _Padder) -> None:
        operands = padder.values(operation.operands)
        operands[position] = padder.own_mask(operation.operands[position])
        _rebuild(operation, padder, operands)

    return rule


_Scattered: TypeAlias = AtomicCompareAndSwapOp | AtomicRMWOp | GatherLoadOp | ScatterStoreOp


def _counted(padder: _Padder, mask: SSAValue | None, value: SSAValue) -> list[SSAValue]:
    """The mask of an operation on the own elements of a vector for which another one holds."""
    if mask is not None:
        return [padder.own_mask(mask)]
    shape = _shape(value)
    inside = padder.mask(shape, range(len(shape)))
    return [] if inside is None else [inside]


def _gather(operation: GatherOp, padder: _Padder) -> None:
    positions = operation.positions
    every = range(len(_shape(positions)))
    at = padder.filled(positions, every, _zero(_element(positions)))
    _rebuild(operation, padder, [padder.value(operation.source), at])


def _histogram(operation: HistogramOp, padder: _Padder) -> None:
    source = operation.source
    operands = [padder.value(source), *_counted(padder, operation.mask, source)]
    _rebuild(operation, padder, operands)


def _scattered(operation: _Scattered, padder: _Padder) -> None:
    """An access to elements anywhere, which is one to those of the own elements."""
    shaped = operation.result if isinstance(operation, GatherLoadOp) else operation.value
    groups: list[Sequence[SSAValue]] = []
    for name, _ in operation.get_irdl_definition().operands:
        given = getattr(operation, name)
        if name == "mask":
            groups.append(_counted(padder, operation.mask, shaped))
        else:
            several: Any = [given] if isinstance(given, SSAValue) else given or []
            groups.append(padder.values(several))
    new = type(operation).build(
        operands=groups,
        result_types=[padded(result.type) for result in operation.results],
        properties=operation.properties.copy(),
        attributes=operation.attributes.copy(),
    )
    padder.replace(operation, new)


def _atomic_update(operation: AtomicUpdateOp, padder: _Padder) -> None:
    """Updates of a block of memory, which ends where the vector did."""
    shape, rank = _shape(operation.value), len(operation.indices)
    order = range(len(shape))
    dimensions = [rank - len(shape) + i for i in order]
    if operation.transpose is not None:
        dimensions.reverse()
    checked = [int(each) for each in operation.checked.get_values()]
    ends = {
        dimensions[i]: (shape[i], dimensions[i] not in checked)
        for i in order
        if padder.mask(shape, [i]) is not None
    }
    counts = {dimensions[i]: shape[i] for i in order}
    memory, indices = _part(padder, operation.memory, operation.indices, ends, counts)
    new = AtomicUpdateOp.build(
        operands=[padder.value(operation.value), memory, indices],
        result_types=[padded(operation.result.type)],
        properties=operation.properties
        | {"checked": DenseArrayBase.from_list(i64, sorted({*checked, *ends}))},
        attributes=operation.attributes.copy(),
    )
    padder.replace(operation, new)


_DIVISIONS = ("ceildivsi", "ceildivui", "divsi", "divui", "floordivsi", "remsi", "remui")

_SHIFTS = ("shli", "shrsi", "shrui")

_RULES: dict[str, Rule] = {
    **{f"arith.{name}": _with_safe_right(1) for name in _DIVISIONS},
    **{f"arith.{name}": _with_safe_right(0) for name in _SHIFTS},
    "arith.constant": _constant,
    AtomicCompareAndSwapOp.name: _scattered,
    AtomicRMWOp.name: _scattered,
    AtomicUpdateOp.name: _atomic_update,
    GatherLoadOp.name: _scattered,
    GatherOp.name: _gather,
    HistogramOp.name: _histogram,
    ReduceOp.name: _aggregate,
    ScanOp.name: _aggregate,
    ScaledContractOp.name: _scaled_contract,
    ScatterStoreOp.name: _scattered,
    "vector.contract": _contract,
    "vector.extract_strided_slice": _slice,
    "vector.gather": _with_mask(-2),
    "vector.load": _load,
    "vector.multi_reduction": _multi_reduction,
    "vector.reduction": _reduction,
    "vector.scan": _scan,
    "vector.scatter": _with_mask(-2),
    "vector.shape_cast": _shape_cast,
    "vector.store": _store,
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
"""The rule of each operation whose meaning depends on the size."""
