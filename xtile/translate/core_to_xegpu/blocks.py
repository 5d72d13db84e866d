"""Matrices in memory: block loads and stores where they are legal, gathers elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import product
from typing import cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    IntegerType,
    VectorType,
    bf16,
    i32,
)
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.hints import isa

from xtile.dialects.core.subgroup import PrefetchOp
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.ub import is_poison
from xtile.layouts.intel import VectorLayout, vector_layout
from xtile.rewrite.folding import constant_number
from xtile.rewrite.rebuilder import Rule
from xtile.targets.blocks import Action, shape_obstacle
from xtile.targets.target import BlockShapes
from xtile.translate.core_to_xegpu import row_blocks, scattered
from xtile.translate.core_to_xegpu import xegpu_operations as xegpu
from xtile.translate.core_to_xegpu.fragments import (
    BlockForm,
    Fragment,
    of_values,
    spans,
)
from xtile.translate.core_to_xegpu.legality import (
    Block,
    Surface,
    aligned,
    is_transposed,
    obstacles,
    remedy,
    surface_of,
)
from xtile.translate.core_to_xegpu.lowering import (
    LOCAL_MEMORY_SPACE,
    Lowering,
    carried_type,
)
from xtile.translate.core_to_xegpu.views import size_of, type_of


def _check(lowering: Lowering, operation: TransferReadOp | TransferWriteOp) -> None:
    """Checks that a transfer asks for nothing that no access of blocks does.

    Raises:
        DiagnosticError: It has a mask, or may read another number than 0 beyond the edge.
    """
    if operation.mask is not None:
        raise lowering.error("a transfer of a subgroup's vector cannot have a mask")
    is_inside = all(bool(bound) for bound in operation.in_bounds)
    if isinstance(operation, TransferReadOp) and not is_inside and not is_poison(operation.padding):
        number = constant_number(operation.padding)
        if number != 0:
            given = "no constant" if number is None else str(number)
            raise lowering.error(f"what is read beyond the edge must be 0, but is {given}")


def _line(lowering: Lowering, operation: Operation, first_index: int) -> scattered.Line:
    """The elements that a transfer of a vector of one dimension accesses.

    Raises:
        DiagnosticError: They do not lie along a dimension of the memref.
    """
    permutation = cast(AffineMapAttr, operation.properties["permutation_map"]).data
    (along,) = permutation.results
    if not isinstance(along, AffineDimExpr):
        raise lowering.error("a vector must lie along a dimension of the memref")
    (bound,) = cast("ArrayAttr[BoolAttr]", operation.properties["in_bounds"])
    memory = lowering.value(operation.operands[first_index])
    start = operation.operands[first_index + 1 : first_index + 1 + permutation.num_dims]
    return scattered.Line(memory, along.position, tuple(lowering.numbers(start)), not bool(bound))


def _is_line(value: SSAValue) -> bool:
    return len(cast("VectorType[Attribute]", value.type).get_shape()) == 1


def _block(lowering: Lowering, operation: Operation, first_index: int) -> Block:
    """The block that a transfer accesses.

    Raises:
        DiagnosticError: It is not a block of two dimensions of a two-dimensional memref.
    """
    permutation = cast(AffineMapAttr, operation.properties["permutation_map"])
    rows = dimensions_of(permutation)
    if rows not in ([0, 1], [1, 0]) or permutation.data.num_dims != 2:
        raise lowering.error("a matrix must be a block of a two-dimensional memref")
    bounds = cast("ArrayAttr[BoolAttr]", operation.properties["in_bounds"])
    row = 0 if rows == [0, 1] else 1
    inside = [bool(bound) for bound in bounds]
    memory = lowering.value(operation.operands[first_index])
    indices = lowering.numbers(operation.operands[first_index + 1 : first_index + 3])
    # in_bounds counts dimensions of the vector.
    checked = (not inside[row], not inside[1 - row])
    return Block(memory, row, (indices[0], indices[1]), checked)


_WORD = 4
"""Bytes of what a transposed load moves."""

# --- reads ---


def _read(operation: TransferReadOp, lowering: Lowering) -> None:
    _check(lowering, operation)
    if _is_line(operation.result):
        line, type_ = _line(lowering, operation, 0), operation.result.type
        fragment = scattered.load(lowering, line, lowering.layout(type_), type_.element_type)
        lowering.define(operation.result, fragment)
        return
    block = _block(lowering, operation, 0)
    result = operation.results[0]
    type_ = cast("VectorType[Attribute]", result.type)
    layout = lowering.layout(type_)
    element = type_.element_type
    loaded = _block_load(lowering, block, layout, element, result)
    fragment = loaded if isinstance(loaded, Fragment) else row_blocks.load(lowering, block, layout)
    if fragment is None:
        if type_of(block.memory).memory_space != LOCAL_MEMORY_SPACE:
            lowering.remark(f"loads element by element: {loaded}")
        fragment = scattered.load(lowering, block, layout, element)
    lowering.define(result, fragment)


def _block_load(
    lowering: Lowering, block: Block, layout: VectorLayout, element: Attribute, result: SSAValue
) -> Fragment | str:
    """A read by block loads, or why they are not legal."""
    from xtile.translate.core_to_xegpu.products import form_of_operand

    form, whole = form_of_operand(lowering, result), layout
    if form.width is not None:
        layout = vector_layout(layout.rows, layout.columns, layout.lanes, form.width)
    unfit = _unfit(lowering, layout, element, form.width)
    surface = unfit if unfit is not None else surface_of(lowering, block)
    if isinstance(surface, str):
        return surface
    is_turned = is_transposed(block, surface.view)
    if is_turned:
        layout = whole
    misfit = _no_transposed_load if is_turned else _no_load
    missing = misfit(lowering, surface, layout, element, form)
    reason = _reason(lowering, block, surface, element, missing)
    if reason is not None:
        return reason
    surface = aligned(lowering, surface, size_of(element))
    load = _load_transposed if is_turned else _load
    return load(lowering, surface, layout, element, form)


def _reason(
    lowering: Lowering, block: Block, surface: Surface, element: Attribute, missing: str | None
) -> str | None:
    """All that keeps a block from being accessed at once, and what to promise where that helps.

    Args:
        lowering: The translation.
        block: The block.
        surface: What it is a part of.
        element: The type of its elements.
        missing: Which instruction there is not; None if there is one.
    """
    size = size_of(element)
    found = obstacles(lowering, block, surface, size)
    if missing is not None:
        return ", ".join([missing, *found])
    if not found:
        return None
    advice = remedy(lowering, block, surface, size) if lowering.tells_reasons else None
    return "; ".join(filter(None, (", ".join(found), advice)))


def _unfit(
    lowering: Lowering, layout: VectorLayout, element: Attribute, width: int | None = None
) -> str | None:
    """Why a matrix is no number of blocks of a width, or as wide as the subgroup; None if it is."""
    if layout.width != (width or lowering.subgroup_size) or layout.has_padding:
        return f"the matrix has {layout.columns} columns, no multiple of {lowering.subgroup_size}"
    if isa(element, IntegerType) and element.width.data == 1:
        return "elements have one bit"
    return None


def _no_load(
    lowering: Lowering, surface: Surface, layout: VectorLayout, element: Attribute, form: BlockForm
) -> str | None:
    """Why there is no instruction that loads blocks of a matrix; None if there is."""
    action = Action.LOAD_TRANSFORMED if form.is_packed else Action.LOAD
    width = layout.width * form.neighbours
    step = layout.row_step
    heights = {length * step for _, length in spans(layout, form.rows // step)}
    return _no_access(lowering, action, size_of(element), heights, {width})


def _no_access(
    lowering: Lowering, action: Action, size: int, heights: Set[int], widths: Set[int]
) -> str | None:
    """Why there is no instruction for one of the blocks of some heights and widths."""
    access = lowering.target.block_access
    assert access is not None
    problems = (
        shape_obstacle(access, action, size, rows, columns)
        for rows, columns in product(sorted(heights), sorted(widths))
    )
    return next(filter(None, problems), None)


def _load(
    lowering: Lowering, surface: Surface, layout: VectorLayout, element: Attribute, form: BlockForm
) -> Fragment:
    width, step = layout.width * form.neighbours, layout.row_step
    piece = form.rows // step
    values: list[SSAValue] = []
    for first_column in range(0, layout.columns, width):
        column = lowering.add(surface.column, first_column)
        for first, entries in spans(layout, piece):
            descriptor = xegpu.descriptor(lowering, surface, (entries * step, width), element)
            location = lowering.add(surface.row, first * step), column
            length = entries * form.neighbours
            loaded = xegpu.load_nd(lowering, descriptor, location, length, packed=form.is_packed)
            values.append(_bits(lowering, loaded))
    return of_values(layout, values, piece, form.neighbours)


def _bits(lowering: Lowering, value: SSAValue) -> SSAValue:
    """bf16 is carried as its bits; see `operands.as_operand` for the way back."""
    vector_type = cast("VectorType[Attribute]", value.type)
    if not isinstance(vector_type.element_type, BFloat16Type):
        return value
    target = VectorType(IntegerType(16), vector_type.get_shape())
    return lowering.emit(arith.BitcastOp(value, target)).result


def _no_transposed_load(
    lowering: Lowering, surface: Surface, layout: VectorLayout, element: Attribute, form: BlockForm
) -> str | None:
    """Why there is no instruction that transposes blocks of a matrix; None if there is."""
    access = lowering.target.block_access
    assert access is not None
    shapes = access.load_transposed.get(_WORD)
    size = size_of(element)
    per_word = _WORD // size
    if shapes is None or per_word == 0:
        return f"there is no transposed load of elements of {size * 8} bits"
    if layout.entries % per_word != 0 or lowering.facts.divisor(surface.column) % per_word != 0:
        return "the rows of the matrix are no whole words of 32 bits in memory"
    step = max(shapes.widths) * per_word
    counts = {min(step, layout.entries - i) // per_word for i in range(0, layout.entries, step)}
    # What a wider block reads beyond the matrix is in the memory or is padding.
    widths = {max(shapes.widths)} if surface.is_exact else counts
    return _no_access(lowering, Action.LOAD_TRANSPOSED, _WORD, {layout.width}, widths)


def _load_transposed(
    lowering: Lowering, surface: Surface, layout: VectorLayout, element: Attribute, form: BlockForm
) -> Fragment:
    """Loads words of 32 bits: a lane gets consecutive elements of a row of memory.

    They are the words that the matrix unit wants of its right operand, too.
    """
    from xtile.translate.core_to_xegpu.pieces import slice_of, vector_bitcast

    access = lowering.target.block_access
    assert access is not None
    shapes = access.load_transposed[_WORD]
    size = size_of(element)
    per_word = _WORD // size
    step = max(shapes.widths) * per_word
    # What is no right operand is not packed, and its neighbours are those of a fragment.
    piece = min(form.rows, step)
    words = xegpu.as_words(lowering, surface, per_word)
    pieces: list[SSAValue] = []
    for w in range(layout.blocks):
        row = lowering.add(surface.row, w * layout.width)
        entries: list[SSAValue] = []
        for first in range(0, layout.entries, step):
            count = min(step, layout.entries - first) // per_word
            # What a wider block reads beyond the matrix is in the memory or is padding.
            length = next(width for width in sorted(shapes.widths) if width >= count)
            shape = (layout.width, length)
            descriptor = xegpu.descriptor(lowering, words, shape, i32, size * per_word)
            column = lowering.add(words.column, first // per_word)
            whole = xegpu.load_nd(lowering, descriptor, (row, column), length, transpose=True)
            loaded = slice_of(lowering, whole, 0, count)
            carried = carried_type(element)
            target = VectorType(carried, [count * per_word])
            cast_ = vector_bitcast(lowering, loaded, target)
            entries.append(cast_)
        pieces += _regroup(lowering, entries, layout, piece)
    return of_values(layout, pieces, piece)


def _regroup(
    lowering: Lowering, parts: list[SSAValue], layout: VectorLayout, piece: int
) -> list[SSAValue]:
    """Cuts vectors of consecutive entries into pieces."""
    from xtile.translate.core_to_xegpu.pieces import slice_of

    starts: list[tuple[int, int, SSAValue]] = []
    position = 0
    for part in parts:
        length = cast("VectorType[Attribute]", part.type).get_shape()[0]
        starts.append((position, length, part))
        position += length
    result: list[SSAValue] = []
    for first, length in spans(layout, piece):
        start, _, part = next(s for s in starts if s[0] <= first < s[0] + s[1])
        result.append(slice_of(lowering, part, first - start, length))
    return result


# --- writes ---


def _write(operation: TransferWriteOp, lowering: Lowering) -> None:
    _check(lowering, operation)
    if _is_line(operation.vector):
        line = _line(lowering, operation, 1)
        scattered.store(lowering, line, lowering.fragment(operation.vector))
        return
    target = _block(lowering, operation, 1)
    old = operation.operands[0]
    fragment = lowering.fragment(old)
    element = cast("VectorType[Attribute]", old.type).element_type
    problem = _block_store(lowering, target, fragment, element)
    if problem is None or row_blocks.store(lowering, target, fragment):
        return
    if type_of(target.memory).memory_space != LOCAL_MEMORY_SPACE:
        lowering.remark(f"stores element by element: {problem}")
    scattered.store(lowering, target, fragment)


def _block_store(
    lowering: Lowering, target: Block, fragment: Fragment, element: Attribute
) -> str | None:
    """Stores by block stores; returns why not, if they are not legal."""
    unfit = _unfit(lowering, fragment.layout, element)
    surface = unfit if unfit is not None else surface_of(lowering, target)
    if isinstance(surface, str):
        return surface
    missing = _no_store(lowering, surface, target, fragment.layout, element)
    reason = _reason(lowering, target, surface, element, missing)
    if reason is None:
        _store(lowering, aligned(lowering, surface, size_of(element)), fragment, element)
    return reason


def _no_store(
    lowering: Lowering, surface: Surface, target: Block, layout: VectorLayout, element: Attribute
) -> str | None:
    """Why there is no instruction that stores blocks of a matrix; None if there is."""
    if is_transposed(target, surface.view):
        return "there is no transposed block store"
    lengths = {length for _, length in spans(layout)}
    return _no_access(lowering, Action.STORE, size_of(element), lengths, {layout.width})


def _store(lowering: Lowering, surface: Surface, fragment: Fragment, element: Attribute) -> None:
    from xtile.translate.core_to_xegpu.pieces import vector_bitcast

    layout = fragment.layout
    for w, block in enumerate(fragment.blocks):
        column = lowering.add(surface.column, w * layout.width)
        for (first, length), value in zip(spans(layout), block, strict=True):
            descriptor = xegpu.descriptor(lowering, surface, (length, layout.width), element)
            row = lowering.add(surface.row, first)
            typed = value
            if isinstance(element, BFloat16Type):
                typed = vector_bitcast(lowering, value, VectorType(bf16, [length]))
            xegpu.store_nd(lowering, typed, descriptor, (row, column))


# --- prefetches ---


def _prefetch(operation: PrefetchOp, lowering: Lowering) -> None:
    memory, indices = lowering.value(operation.memory), lowering.numbers(operation.indices)
    element = type_of(operation.memory).element_type
    target = Block(memory, 0, (indices[0], indices[1]), (False, False))
    surface = surface_of(lowering, target)
    access = lowering.target.block_access
    shapes = None if access is None else access.prefetch.get(size_of(element))
    missing = None if shapes is not None else "elements are too large"
    if isinstance(surface, str):
        reason = surface
    else:
        reason = _reason(lowering, target, surface, element, missing)
    if isinstance(surface, str) or shapes is None or reason is not None:
        lowering.remark(f"prefetches nothing: {reason}")
        return
    surface = aligned(lowering, surface, size_of(element))
    rows, columns = cast("tuple[int, int]", operation.block.get_values())
    if is_transposed(target, surface.view):
        rows, columns = columns, rows
    width, height = shapes.widths[0], _height_of(shapes, rows)
    for column, count in _side_by_side(shapes, columns):
        descriptor = xegpu.descriptor(lowering, surface, (height, width), element, count=count)
        for row in range(0, rows, height):
            start = (lowering.add(surface.row, row), lowering.add(surface.column, column))
            xegpu.prefetch_nd(lowering, descriptor, start, operation.level.value.data)


def _height_of(shapes: BlockShapes, rows: int) -> int:
    """The height of the blocks that have so many rows: of one block if there is one."""
    return next((height for height in shapes.heights if height >= rows), shapes.heights[-1])


def _side_by_side(shapes: BlockShapes, columns: int) -> Iterator[tuple[int, int]]:
    """The first column, and the number of blocks, of what one instruction accesses of a row."""
    width, column = shapes.widths[0], 0
    while column < columns:
        wanted = -(-(columns - column) // width)
        count = max(count for count in shapes.counts if count <= wanted)
        yield column, count
        column += count * width


RULES: dict[str, Rule] = {
    PrefetchOp.name: _prefetch,
    vector.TransferReadOp.name: _read,
    vector.TransferWriteOp.name: _write,
}
