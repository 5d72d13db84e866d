"""Vectors of a subgroup: cooperative matrices, and the entries of them that work-items hold.

A vector of R rows and C columns is the cooperative matrix of its transpose, of C rows and R
columns; one of one dimension has one column, unless it comes of a reduction to one row. What the
tensor language does not compute on matrices is computed on their entries, which are `Elements` of a
work-item in the order of docs/core-form.md, "Fragments"; vectors of truth values are that always.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, BoolAttr, DenseArrayBase, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.core import subgroup as core_subgroup
from xtile.dialects.core.attributes import AtomicKind
from xtile.dialects.tensorlang.attributes import CheckedFlag, MatrixUse, ReduceMode
from xtile.dialects.tensorlang.ops import arithmetic, control
from xtile.dialects.tensorlang.ops import cooperative_matrix as ops
from xtile.dialects.tensorlang.ops.memory import ExpandOp
from xtile.dialects.tensorlang.types import BOOL, I32, INDEX, CoopmatrixType, is_number
from xtile.rewrite.folding import constant_number
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_tensorlang import memory as accesses
from xtile.translate.core_to_tensorlang.arithmetic import DIRECT
from xtile.translate.core_to_tensorlang.gpu import is_uniform, linear_work_item
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values
from xtile.translate.core_to_tensorlang.memory import Elements, Memory, said_modifiers, with_view
from xtile.translate.core_to_tensorlang.numbers import COMPUTE, numbers_of
from xtile.translate.core_to_tensorlang.types import (
    element_of,
    matrix_type,
    scalar_type,
    shape_of,
)
from xtile.translate.core_to_tensorlang.views import is_neutral, memory_of, part_of

_DEFAULT_SUBGROUP_SIZE = 16


def _subgroup_size(r: Lowering) -> int:
    """The work-items of a subgroup, which the function says where its code depends on them."""
    r.subgroup_size = r.subgroup_size or _DEFAULT_SUBGROUP_SIZE
    return r.subgroup_size


@dataclass(frozen=True)
class Layout:
    """Which entries of a matrix a work-item holds.

    Attributes:
        rows: The rows of the matrix.
        columns: Its columns.
        size: The work-items of a subgroup.
    """

    rows: int
    columns: int
    size: int

    @property
    def side(self) -> int:
        """The rows of a block, side by side in the subgroup."""
        return min(self.rows, self.size)

    @property
    def per_block(self) -> int:
        """The entries that a work-item holds of a block."""
        return -(-self.columns * self.side // self.size)

    @property
    def count(self) -> int:
        """The entries that a work-item holds."""
        return self.per_block * (self.rows // self.side)

    def component(self, r: Lowering, entry: int) -> tuple[Index, Index]:
        """The row and the column of an entry."""
        lane = r.remainder(linear_work_item(r), self.size)
        block, step = entry // self.per_block, entry % self.per_block
        row = r.add(r.remainder(lane, self.side), block * self.side)
        column = r.add(r.divide(lane, self.side), step * self.size // self.side)
        return row, column

    @property
    def has_padding(self) -> bool:
        """Whether some work-items hold entries that are no components."""
        return self.per_block * self.size != self.columns * self.side


def _layout_of(r: Lowering, type_: Attribute, like: Any = None) -> Layout:
    given: Attribute | None = cast("SSAValue", like).type if isinstance(like, SSAValue) else None
    if isinstance(given, CoopmatrixType):
        rows, columns = given.shape
    elif isinstance(like, Elements) and like.shape:
        rows, columns = like.shape
    else:
        shape = shape_of(type_)
        if len(shape) > 2:
            raise r.error(f"a matrix of the tensor language has two dimensions, and not {type_}")
        columns, rows = shape if len(shape) == 2 else (1, math.prod(shape))
    layout = Layout(rows, columns, _subgroup_size(r))
    if rows % layout.side or layout.size % layout.side:
        raise r.error(
            f"the entries of {rows} rows are not spread evenly over a subgroup of {layout.size}"
        )
    return layout


def _layout_like(r: Lowering, elements: Elements) -> Layout:
    rows, columns = elements.shape
    return Layout(rows, columns, _subgroup_size(r))


def as_matrix(r: Lowering, old: SSAValue, use: MatrixUse = MatrixUse.ACC) -> SSAValue:
    """A vector of the source as a cooperative matrix."""
    meaning = r.meaning(old)
    if isinstance(meaning, Elements):
        meaning = _assembled(r, meaning, old.type)
    assert isinstance(meaning.type, CoopmatrixType)
    if meaning.type.use is use:
        return meaning
    return r.cast(
        meaning, CoopmatrixType.get(meaning.type.component_type, *meaning.type.shape, use)
    )


def _assembled(r: Lowering, elements: Elements, type_: Attribute) -> SSAValue:
    element = element_of(type_)
    if element == BOOL:
        raise r.error("the tensor language has no matrices of truth values")
    rows, columns = elements.shape
    matrix_of = CoopmatrixType.get(element, rows, columns, MatrixUse.ACC)
    matrix = r.constant(0, matrix_of)
    for entry, value in enumerate(elements.values):
        matrix = r.number(ops.CooperativeMatrixInsertOp(value, matrix, entry))
    return matrix


def entries_of(r: Lowering, old: SSAValue) -> Elements:
    """A vector of the source as the entries that the work-item holds."""
    meaning = r.meaning(old)
    if isinstance(meaning, Elements):
        return meaning
    layout = _layout_of(r, old.type, meaning)
    if meaning.type.use is not MatrixUse.ACC:
        raise r.error("the entries of a factor of a product are not those of a sum")
    values = tuple(
        r.number(ops.CooperativeMatrixExtractOp(meaning, entry)) for entry in range(layout.count)
    )
    return Elements((layout.rows, layout.columns), values)


# --- element by element ---

_CASTS = frozenset(
    {"arith.extf", "arith.extsi", "arith.fptosi", "arith.sitofp", "arith.truncf", "arith.trunci"}
)


def constant(operation: Operation, r: Lowering) -> None:
    """A constant vector."""
    numbers = numbers_of(operation.properties["value"])
    if len(numbers) == 1:
        splat(operation, r, numbers[0])
        return
    result = operation.results[0]
    layout = _layout_of(r, result.type)
    element = scalar_type(element_of(result.type))

    def value(row: Index, column: Index) -> SSAValue:
        position = r.add(r.multiply(column, layout.rows), row)
        chosen = r.constant(numbers[0], element)
        for number in range(1, len(numbers)):
            is_it = r.pure(arithmetic.EqualOp, r.as_value(position), r.index(number))
            chosen = r.select(is_it, r.constant(numbers[number], element), chosen)
        return chosen

    _define(r, result, _by_position(r, layout, value))


def splat(operation: Operation, r: Lowering, number: float) -> None:
    """A vector of equal numbers."""
    result = operation.results[0]
    element = scalar_type(element_of(result.type))
    if element == BOOL:
        layout = _layout_of(r, result.type)
        values = (r.constant(number, BOOL),) * layout.count
        r.define(result, Elements((layout.rows, layout.columns), values))
        return
    r.define(result, r.constant(number, matrix_type(cast(Any, result.type), _use(result))))


def _use(value: SSAValue) -> MatrixUse:
    """How a vector is best held: as the factor that it is in all products that use it."""
    uses = [(use.operation.name, use.index) for use in value.uses]
    if uses and all(each == ("vector.contract", 1) for each in uses):
        return MatrixUse.A
    if uses and all(each == ("vector.contract", 0) for each in uses):
        return MatrixUse.B
    return MatrixUse.ACC


def _by_position(
    r: Lowering, layout: Layout, value: Callable[[Index, Index], SSAValue]
) -> Elements:
    values = tuple(value(*layout.component(r, entry)) for entry in range(layout.count))
    return Elements((layout.rows, layout.columns), values)


def _define(r: Lowering, old: SSAValue, elements: Elements) -> None:
    """Records a vector; numbers become a matrix, which loops carry as one value."""
    is_truth = element_of(old.type) == BOOL
    r.define(old, elements if is_truth else _assembled(r, elements, old.type))


def elementwise(operation: Operation, r: Lowering) -> None:
    """An operation on each element of vectors."""
    if _on_matrices(operation, r):
        return
    vectors = [value for value in operation.operands if shape_of(value.type)]
    parts = {value: entries_of(r, value) for value in vectors}
    first = parts[vectors[0]]
    results: list[list[SSAValue]] = [[] for _ in operation.results]
    for entry in range(len(first.values)):
        values = [
            parts[value].values[entry] if value in parts else r.value(value)
            for value in operation.operands
        ]
        for own, new in zip(results, COMPUTE[operation.name](r, operation, values), strict=True):
            own.append(new)
    for old, own in zip(operation.results, results, strict=True):
        _define(r, old, Elements(first.shape, tuple(own)))


def _on_matrices(operation: Operation, r: Lowering) -> bool:
    """Computes on matrices what the tensor language can; returns whether it can."""
    name, result = operation.name, operation.results[0]
    types = {element_of(value.type) for value in (*operation.operands, result)}
    if not all(is_number(each) for each in types) or INDEX in types:
        return False
    if any(isinstance(r.meaning(value), Elements) for value in operation.operands):
        return False
    values = [as_matrix(r, value) for value in operation.operands]
    if name in DIRECT:
        r.define(result, r.number(DIRECT[name](*values)))
    elif name in _CASTS:
        (value,) = values
        assert isinstance(value.type, CoopmatrixType)
        to = CoopmatrixType.get(element_of(result.type), *value.type.shape, value.type.use)
        r.define(result, r.cast(value, to))
    elif name in ("math.absf", "math.absi", "arith.negf"):
        kind = arithmetic.NegOp if name == "arith.negf" else arithmetic.AbsOp
        r.define(result, r.number(kind(values[0])))
    elif (
        name.startswith("math.")
        and len(values) == 1
        and operation.results[0].type == (operation.operands[0].type)
    ):
        r.define(result, _applied(r, values[0], lambda value: COMPUTE[name](r, operation, [value])))
    else:
        return False
    return True


def _applied(r: Lowering, matrix: SSAValue, emit: Callable[[SSAValue], Values]) -> SSAValue:
    """A function of each component."""
    apply = ops.CooperativeMatrixApplyOp(matrix)
    body = apply.body.block
    with r.in_spmd(body):
        r.emit(control.YieldOp(emit(body.args[2])))
    return r.number(apply)


def _map(operation: core_subgroup.MapOp, r: Lowering) -> None:
    """The source's column is the matrix's row."""
    body = operation.body.block
    sources, results = operation.sources, operation.mapped
    is_plain = len(sources) == len(results) == 1 and sources[0].type == results[0].type
    end = cast("core_subgroup.YieldOp", body.last_op)
    if is_plain and not isinstance(r.meaning(sources[0]), Elements):
        apply = ops.CooperativeMatrixApplyOp(as_matrix(r, sources[0]))
        row, column, value = apply.body.block.args
        with r.in_spmd(apply.body.block):
            r.define(body.args[0], r.cast(column, INDEX))
            r.define(body.args[1], r.cast(row, INDEX))
            r.define(body.args[2], value)
            r.translate_block(body)
            r.emit(control.YieldOp(r.values(end.values)))
        r.define(results[0], r.number(apply))
        return
    parts = [entries_of(r, source) for source in sources]
    layout = _layout_like(r, parts[0])
    made: list[list[SSAValue]] = [[] for _ in results]
    for entry in range(layout.count):
        row, column = layout.component(r, entry)
        r.define(body.args[0], r.as_value(column))
        r.define(body.args[1], r.as_value(row))
        for argument, part in zip(body.args[2:], parts, strict=True):
            r.define(argument, part.values[entry])
        r.translate_block(body)
        for own, value in zip(made, r.values(end.values), strict=True):
            own.append(value)
    for old, own in zip(results, made, strict=True):
        _define(r, old, Elements(parts[0].shape, tuple(own)))


def _core_yield(operation: Operation, r: Lowering) -> None:
    """What it returns is read where its region ends."""


# --- shapes ---


def _broadcast(operation: Operation, r: Lowering) -> None:
    (source,), (result,) = operation.operands, operation.results
    if not shape_of(source.type):
        type_ = cast("VectorType[Attribute]", result.type)
        if element_of(result.type) == BOOL or not is_uniform(source):
            layout = _layout_of(r, result.type)
            values = (r.value(source),) * layout.count
            _define(r, result, Elements((layout.rows, layout.columns), values))
            return
        matrix = matrix_type(type_, _use(result))
        r.define(result, r.number(ops.CooperativeMatrixConstructOp(r.value(source), matrix)))
        return
    before, after = _padded_shape(shape_of(source.type)), _padded_shape(shape_of(result.type))
    if math.prod(before) == 1:
        raise r.error("the tensor language does not repeat a matrix of one component")
    line = entries_of(r, source)
    layout = _layout_of(r, result.type)
    _define(r, result, _repeated(r, line, layout, before, after))


def _padded_shape(shape: Sequence[int]) -> tuple[int, int]:
    return (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])


def _repeated(
    r: Lowering, line: Elements, layout: Layout, before: tuple[int, int], after: tuple[int, int]
) -> Elements:
    """The entries of a matrix whose columns, or rows, are all one line."""
    if before == after:
        return line
    source = _layout_like(r, line)
    values: list[SSAValue] = []
    for entry in range(layout.count):
        row, column = layout.component(r, entry)
        at = row if before[0] == 1 else column
        # All work-items find what they want in the same entry of others.
        first = entry // layout.per_block * layout.side
        step = entry % layout.per_block * layout.size // layout.side
        number = (first if before[0] == 1 else step) // source.size
        if (source.rows > 1 and source.columns == 1) or source.rows == 1:
            values.append(_of_lane(r, line.values[number], r.remainder(at, source.size)))
        else:
            raise r.error("the tensor language repeats lines only")
    return Elements((layout.rows, layout.columns), tuple(values))


def _of_lane(r: Lowering, value: SSAValue, lane: Index) -> SSAValue:
    from xtile.translate.core_to_tensorlang.gpu import take

    return take(r, value, r.cast(r.as_value(lane), I32))


def _shape_cast(operation: Operation, r: Lowering) -> None:
    """Between a line and a matrix with one row or column."""
    (source,), (result,) = operation.operands, operation.results
    shape = shape_of(result.type)
    meaning = r.meaning(source)
    own = meaning.shape if isinstance(meaning, Elements) else meaning.type.shape
    wanted = (shape[-1], shape[0]) if len(shape) == 2 else None
    if (wanted is None and 1 in own) or wanted == own:
        r.define(result, meaning)
    else:
        raise r.error("the tensor language does not change the shape of a matrix")


def _transpose(operation: Operation, r: Lowering) -> None:
    raise r.error(
        "the tensor language transposes matrices in memory only; transpose where this is loaded"
    )


# --- reductions ---

_REDUCTIONS: Mapping[str, type[ops.CooperativeMatrixReduce]] = {
    "add": ops.CooperativeMatrixReduceAddOp,
    "maxnumf": ops.CooperativeMatrixReduceMaxOp,
    "maxsi": ops.CooperativeMatrixReduceMaxOp,
    "minnumf": ops.CooperativeMatrixReduceMinOp,
    "minsi": ops.CooperativeMatrixReduceMinOp,
}

_COMBINATIONS: Mapping[str, type[arithmetic.BinaryArithmeticOperation]] = {
    "add": arithmetic.AddOp,
    "maxnumf": arithmetic.MaxOp,
    "maxsi": arithmetic.MaxOp,
    "minnumf": arithmetic.MinOp,
    "minsi": arithmetic.MinOp,
}


def _multi_reduction(operation: Operation, r: Lowering) -> None:
    source, accumulator = operation.operands
    result = operation.results[0]
    kind = cast(Any, operation.properties["kind"]).data.value
    given = cast("DenseArrayBase[Any]", operation.properties["reduction_dims"]).get_values()
    dimensions = [int(each) for each in given]
    if kind not in _REDUCTIONS or len(dimensions) != 1 or len(shape_of(source.type)) != 2:
        raise r.error(f"the tensor language has no reduction {kind} of these dimensions")
    matrix = as_matrix(r, source)
    mode = ReduceMode.ROW if dimensions[0] == 0 else ReduceMode.COLUMN
    reduced = r.number(_REDUCTIONS[kind](mode, matrix))
    if not _is_neutral(kind, accumulator):
        reduced = r.number(_COMBINATIONS[kind](reduced, _line_like(r, accumulator, reduced)))
    r.define(result, reduced)


def _line_like(r: Lowering, old: SSAValue, like: SSAValue) -> SSAValue:
    matrix = as_matrix(r, old)
    if matrix.type == like.type:
        return matrix
    number = constant_number(old)
    if number is None:
        raise r.error("the tensor language does not turn a line of a matrix")
    return r.constant(number, like.type)


def _is_neutral(kind: str, value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name != "arith.constant":
        return False
    numbers = numbers_of(owner.properties["value"])
    if len(numbers) != 1:
        return False
    (number,), width = numbers, cast(Any, element_of(value.type))
    if kind == "add":
        return number == 0
    if kind in ("maxnumf", "minnumf"):
        return number != number or number == (-math.inf if kind == "maxnumf" else math.inf)
    half = 1 << (getattr(width, "bitwidth", 64) - 1)
    return number == (-half if kind == "maxsi" else half - 1)


# --- products ---

_PRODUCT = (
    AffineMap.from_callable(lambda row, column, depth: (row, depth)),
    AffineMap.from_callable(lambda row, column, depth: (depth, column)),
    AffineMap.from_callable(lambda row, column, depth: (row, column)),
)


def _contract(operation: Operation, r: Lowering) -> None:
    """D^T := B^T A^T + C^T is D := A B + C."""
    left, right, sum_ = operation.operands
    maps = tuple(
        cast("AffineMapAttr", each).data
        for each in cast("ArrayAttr[Attribute]", operation.properties["indexing_maps"])
    )
    kind = operation.properties.get("kind")
    if maps != _PRODUCT or (kind is not None and cast(Any, kind).data.value != "add"):
        raise r.error("the tensor language multiplies rows by columns only, and adds up")
    c = as_matrix(r, sum_)
    assert isinstance(c.type, CoopmatrixType)
    size = r.subgroup_size or _DEFAULT_SUBGROUP_SIZE
    if c.type.rows % size:
        raise r.error(
            f"the tensor language multiplies matrices of a multiple of {size} rows, and this "
            f"product has {c.type.rows} columns, which become its rows"
        )
    a, b = as_matrix(r, right, MatrixUse.A), as_matrix(r, left, MatrixUse.B)
    r.define(operation.results[0], r.number(ops.CooperativeMatrixMulAddOp(a, b, c)))


# --- memory ---


@dataclass(frozen=True)
class _Block:
    """Where a matrix is in memory.

    Attributes:
        memref: A memref of two modes.
        x: The first row.
        y: The first column.
        transpose: Whether rows of the matrix are columns of memory.
        checked: What is checked.
    """

    memref: SSAValue
    x: SSAValue
    y: SSAValue
    transpose: bool
    checked: CheckedFlag | None


def _block(
    operation: Operation, memref: SSAValue, indices: Sequence[SSAValue], r: Lowering
) -> _Block:
    """The block that a transfer accesses.

    Raises:
        ValueError: It is none that the tensor language has.
    """
    map_ = cast("AffineMapAttr", operation.properties["permutation_map"]).data
    in_bounds = [
        bool(cast("BoolAttr", each).value.data)
        for each in cast("ArrayAttr[Attribute]", operation.properties["in_bounds"])
    ]
    memory, at = memory_of(r, memref), list[Index](r.values(indices))
    rank = memory.rank
    dimensions = [each.position for each in map_.results if isinstance(each, AffineDimExpr)]
    if len(dimensions) != len(map_.results) or len(dimensions) > 2:
        raise ValueError("a matrix of the tensor language is a block of two dimensions of memory")
    if len(dimensions) == 1:
        dimensions, in_bounds = [-1, *dimensions], [True, *in_bounds]
    # The dimensions of memory that are not the matrix's have one index.
    chosen = sorted(each for each in dimensions if each >= 0)
    if len(chosen) < rank:
        sizes = memory.sizes(r)
        offsets = [0 if i in chosen else at[i] for i in range(rank)]
        extents: list[Index] = [sizes[i] if i in chosen else 1 for i in range(rank)]
        memory = part_of(r, memory, offsets, extents, [1] * rank, chosen)
        at = [at[i] for i in chosen]
    if len(chosen) == 1:
        return _line(r, memory, at[0], is_checked=not in_bounds[1])
    checked = _flag(rows=not in_bounds[1], columns=not in_bounds[0])
    x, y = r.as_value(at[1]), r.as_value(at[0])
    return _Block(with_view(r, memory), x, y, dimensions[0] > dimensions[1], checked)


def _line(r: Lowering, memory: Memory, at: Index, *, is_checked: bool) -> _Block:
    """Memory of one dimension as that of one column."""
    view = with_view(r, memory)
    (size,) = memory.sizes(r)
    column = r.number(ExpandOp(view, 0, [size, 1]))
    checked = _flag(rows=is_checked, columns=False)
    return _Block(column, r.as_value(at), r.index(0), False, checked)


def _flag(*, rows: bool, columns: bool) -> CheckedFlag | None:
    if rows and columns:
        return CheckedFlag.BOTH
    return CheckedFlag.ROWS if rows else CheckedFlag.COLS if columns else None


def _transfer_read(operation: Operation, r: Lowering) -> None:
    memref, *rest = operation.operands
    rank = memory_of(r, memref).rank
    indices, padding, mask = rest[:rank], rest[rank], rest[rank + 1 :]
    result = operation.results[0]
    block = _block(operation, memref, indices, r)
    if mask or (block.checked is not None and constant_number(padding) != 0):
        raise r.error("the tensor language pads matrices with 0 only, and has no masks of them")
    type_ = matrix_type(cast(Any, result.type), _use(result))
    load = ops.CooperativeMatrixLoadOp(
        block.memref, block.x, block.y, type_, transpose=block.transpose, checked=block.checked
    )
    r.define(result, r.number(load))


def _transfer_write(operation: Operation, r: Lowering) -> None:
    vector, memref, *rest = operation.operands
    rank = memory_of(r, memref).rank
    if rest[rank:]:
        raise r.error("the tensor language has no masks of matrices")
    block = _block(operation, memref, rest, r)
    r.emit(
        ops.CooperativeMatrixStoreOp(
            as_matrix(r, vector),
            block.memref,
            block.x,
            block.y,
            transpose=block.transpose,
            checked=block.checked,
        )
    )


# --- scattered elements ---


def _gather(operation: Operation, r: Lowering) -> None:
    base, *rest = operation.operands
    memory = memory_of(r, base)
    offsets, index_vector, mask, passed = (
        rest[: memory.rank],
        *rest[memory.rank :],
    )
    positions, masks = entries_of(r, index_vector), entries_of(r, mask)
    others = entries_of(r, passed)
    layout = _layout_like(r, positions)
    values: list[SSAValue] = []
    for entry, (position, is_there, other) in enumerate(
        zip(positions.values, masks.values, others.values, strict=True)
    ):
        at = _at(r, r.values(offsets), position)
        allowed = _really(r, layout, entry, is_there)
        values.append(
            r.choose(allowed, lambda at=at: accesses.load(r, memory, at), lambda other=other: other)
        )
    _define(r, operation.results[0], Elements(positions.shape, tuple(values)))


def _at(r: Lowering, offsets: Sequence[SSAValue], position: SSAValue) -> list[Index]:
    return [*offsets[:-1], r.add(offsets[-1], r.cast(position, INDEX))]


def _really(r: Lowering, layout: Layout, entry: int, condition: SSAValue) -> SSAValue:
    """A condition that does not hold for entries that are no components."""
    if not layout.has_padding:
        return condition
    _, column = layout.component(r, entry)
    is_one = r.pure(arithmetic.LessThanOp, r.as_value(column), r.index(layout.columns))
    return r.pure(arithmetic.AndOp, condition, is_one)


def _scatter(operation: Operation, r: Lowering) -> None:
    base, *rest = operation.operands
    memory = memory_of(r, base)
    offsets = rest[: memory.rank]
    index_vector, mask, given = rest[memory.rank :]
    positions, masks = entries_of(r, index_vector), entries_of(r, mask)
    values = entries_of(r, given)
    layout = _layout_like(r, positions)
    triples = zip(positions.values, masks.values, values.values, strict=True)
    for entry, (position, is_there, value) in enumerate(triples):
        at = _at(r, r.values(offsets), position)

        def write(value: SSAValue = value, at: list[Index] = at) -> Values:
            accesses.store(r, value, memory, at)
            return ()

        r.if_(_really(r, layout, entry, is_there), write)


# --- entries, atomic updates, prefetches ---


def _fragment_extract(operation: core_subgroup.FragmentExtractOp, r: Lowering) -> None:
    index = operation.index.value.data
    meaning = r.meaning(operation.source)
    if isinstance(meaning, Elements):
        r.define(operation.result, meaning.values[index])
        return
    matrix = as_matrix(r, operation.source)
    r.define(operation.result, r.number(ops.CooperativeMatrixExtractOp(matrix, index)))


def _fragment_insert(operation: core_subgroup.FragmentInsertOp, r: Lowering) -> None:
    value, matrix = r.value(operation.value), as_matrix(r, operation.dest)
    index = operation.index.value.data
    r.define(operation.result, r.number(ops.CooperativeMatrixInsertOp(value, matrix, index)))


_ATOMIC: Mapping[AtomicKind, type[ops.CooperativeMatrixAtomicUpdate]] = {
    AtomicKind.ADD_FLOAT: ops.CooperativeMatrixAtomicAddOp,
    AtomicKind.ADD_INTEGER: ops.CooperativeMatrixAtomicAddOp,
    AtomicKind.MAXIMUM_FLOAT: ops.CooperativeMatrixAtomicMaxOp,
    AtomicKind.MAXIMUM_SIGNED: ops.CooperativeMatrixAtomicMaxOp,
    AtomicKind.MINIMUM_FLOAT: ops.CooperativeMatrixAtomicMinOp,
    AtomicKind.MINIMUM_SIGNED: ops.CooperativeMatrixAtomicMinOp,
}


def _atomic_update(operation: core_subgroup.AtomicUpdateOp, r: Lowering) -> None:
    from xtile.translate.core_to_tensorlang.views import update

    kind, memory = operation.kind.data, memory_of(r, operation.memory)
    indices, said = r.values(operation.indices), said_modifiers(operation)
    is_used = operation.result.first_use is not None
    if not shape_of(operation.value.type):
        old = update(
            r,
            AtomicRMWKind[kind.value],
            r.value(operation.value),
            accesses.address(r, memory, indices),
            is_used=is_used,
            said=said,
            neutral=is_neutral(kind.value, operation.value),
        )
        if old is not None:
            r.define(operation.result, old)
        return
    checked = [int(each) for each in cast(Any, operation.checked).get_values()]
    is_transposed = operation.transpose is not None
    rows, columns = (0, 1) if is_transposed else (1, 0)
    flag = _flag(rows=rows in checked, columns=columns in checked)
    y, x = indices
    where = (with_view(r, memory), x, y)
    modifiers: dict[str, Any] = {"transpose": is_transposed, "checked": flag, **said._asdict()}
    if is_neutral(kind.value, operation.value):
        type_ = matrix_type(cast(Any, operation.result.type))
        load = ops.CooperativeMatrixAtomicLoadOp(*where, type_, **modifiers)
        r.define(operation.result, r.number(load))
    elif kind is AtomicKind.ASSIGN:
        if is_used:
            raise r.error("the tensor language does not tell what an atomic store replaced")
        matrix = as_matrix(r, operation.value)
        r.emit(ops.CooperativeMatrixAtomicStoreOp(matrix, *where, **modifiers))
    elif kind in _ATOMIC:
        matrix = as_matrix(r, operation.value)
        r.define(operation.result, r.number(_ATOMIC[kind](matrix, *where, **modifiers)))
    else:
        raise r.error(f"the tensor language has no atomic {kind.value} of matrices")


def _prefetch(operation: core_subgroup.PrefetchOp, r: Lowering) -> None:
    view = with_view(r, memory_of(r, operation.memory))
    rows, columns = (int(each) for each in cast(Any, operation.block).get_values())
    y, x = r.values(operation.indices)
    level = operation.level.value.data
    r.emit(ops.CooperativeMatrixPrefetchOp(level, view, x, y, columns, rows))


RULES: dict[str, Rule] = {
    "core.atomic_update": _atomic_update,
    "core.fragment_extract": _fragment_extract,
    "core.fragment_insert": _fragment_insert,
    "core.map": _map,
    "core.prefetch": _prefetch,
    "core.yield": _core_yield,
    "vector.broadcast": _broadcast,
    "vector.contract": _contract,
    "vector.gather": _gather,
    "vector.multi_reduction": _multi_reduction,
    "vector.scatter": _scatter,
    "vector.shape_cast": _shape_cast,
    "vector.transfer_read": _transfer_read,
    "vector.transfer_write": _transfer_write,
    "vector.transpose": _transpose,
}
"""The rule of each operation, by name."""
