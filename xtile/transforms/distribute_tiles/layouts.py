"""How many subgroups a work-group has, and which part of each vector a subgroup holds.

One grid of subgroups spreads all vectors of a kernel. It is cut for the largest product, or else
the largest vector, so that a subgroup holds whole blocks of the matrix unit and its vectors take
as many of its registers as the chip has to spare. `docs/intel-gpus.md`, "Work-groups", states the
rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.attributes import subgroup_grid_of
from xtile.dialects.core.reductions import ReduceOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shapes import as_vector
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.walk import walk
from xtile.dialects.xegpu.layout import LayoutAttr, SliceAttr
from xtile.rewrite.contractions import factors_of
from xtile.targets.target import Target
from xtile.transforms.distribute_tiles.products_alone import is_product_alone

Layout = LayoutAttr | SliceAttr

_ROWS = 8
"""The rows of a block of the matrix unit's sums, and of a block that is stored."""

_BYTES = 4
"""The bytes of an element, of most of the vectors that a subgroup holds at once."""


class Layouts:
    """The layouts of a kernel's vectors.

    Args:
        kernel: The kernel at level "tile".
        chip: What it is made for.

    Attributes:
        grid: The subgroups along the rows and the columns of matrices.
        lanes: The lanes of a subgroup.
    """

    def __init__(self, kernel: FuncOp, chip: Target) -> None:
        self.lanes = chip.subgroup_size
        self._anchor = _anchor(kernel)
        held = chip.registers * chip.register_size // (chip.vector_share * _BYTES)
        is_alone = is_product_alone(kernel, chip)
        best = 2 * held if is_alone else held
        most = min(-(-prod(self._anchor) // best), chip.most_work_items // chip.subgroup_size)
        whole = _reduced_alone(kernel)
        # Rows are dealt out one by one where nothing else can be.
        rows = 1 if whole and not _products(kernel) else min(_ROWS, self._anchor[0])
        given = subgroup_grid_of(kernel)
        if given is None or not self._fits(given, chip, held):
            unit = rows, chip.subgroup_size
            # A square needs the fewest numbers of its factors.
            weights = (1, 1) if is_alone else unit
            given = _grid(self._anchor, most, unit, whole, weights)
        self.grid = given
        self._of_values: dict[SSAValue, Layout] = {}
        self._spread(list(walk(kernel)))

    def _fits(self, grid: tuple[int, int], chip: Target, held: int) -> bool:
        """Whether a chip has so many subgroups, and registers for twice what is best for it."""
        count = prod(grid)
        is_small = prod(self._anchor) <= 2 * held * count
        return is_small and count * chip.subgroup_size <= chip.most_work_items

    @property
    def subgroups(self) -> int:
        """The subgroups of a work-group."""
        return prod(self.grid)

    def of_value(self, value: SSAValue) -> Layout | None:
        """How a vector of the kernel is spread, where its shape alone does not tell."""
        return self._of_values.get(value)

    def of_shape(self, shape: Sequence[int]) -> LayoutAttr:
        """How vectors of a shape are spread."""
        rows, columns = self.grid
        if len(shape) == 1:
            return _layout([_part(shape[0], rows * columns)])
        *outer, height, width = shape
        inner = (_part(height, rows), _part(width, columns))
        return _layout([*((1, size) for size in outer), *inner])

    def of_left(self, height: int, depth: int) -> LayoutAttr:
        """How the left factor of a product is spread: each subgroup has whole rows."""
        rows, columns = self.grid
        return self._shared((height, depth), (_part(height, rows), (columns, depth)))

    def of_right(self, depth: int, width: int) -> LayoutAttr:
        """How the right factor is spread: each subgroup has whole columns."""
        rows, columns = self.grid
        return self._shared((depth, width), ((rows, depth), _part(width, columns)))

    def _shared(self, shape: tuple[int, int], parts: Sequence[tuple[int, int]]) -> LayoutAttr:
        layout = _layout(parts)
        return layout if layout.is_distributable(shape) else self.of_shape(shape)

    def of_points(self, count: int) -> LayoutAttr:
        """The layout by which each of some points, a multiple of the lanes, is one subgroup's."""
        return _layout([_part(count, self.subgroups)])

    # --- what the vectors of a kernel are for ---

    def _spread(self, operations: Sequence[Operation]) -> None:
        """Spreads vectors as those want it who use them, or else as they were made."""
        for operation in reversed(operations):
            for result in operation.results:
                layout = self._wanted_by_all(result)
                if layout is not None:
                    self._of_values[result] = layout
        for operation in operations:
            for result in operation.results:
                layout = self._made(operation, result)
                if layout is not None:
                    self._of_values[result] = layout

    def _wanted_by_all(self, value: SSAValue) -> Layout | None:
        """How all users of a vector want it spread; None if they differ, or take any."""
        wanted = {self._wanted(use.operation, use.index) for use in value.uses}
        return wanted.pop() if len(wanted) == 1 else None

    def _wanted(self, user: Operation, index: int) -> Layout | None:
        """How a user of a vector wants it spread; None if it takes any."""
        shape = _shape(user.operands[index])
        if isinstance(user, ContractionOp):
            (left, left_is_turned), (right, right_is_turned) = factors_of(user) or _NO_FACTORS
            if index == left and not left_is_turned:
                return self.of_left(*shape)
            return self.of_right(*shape) if index == right and not right_is_turned else None
        if _is_elementwise(user):
            return self.of_value(user.results[0])
        if isinstance(user, MultiDimReductionOp):
            return self._reduced(user) if index == 1 else None
        if isinstance(user, scf.YieldOp):
            around = user.parent_op()
            is_choice = isinstance(around, scf.IfOp)
            return self._wanted_by_all(around.results[index]) if is_choice else None
        if user.name not in ("vector.shape_cast", "vector.broadcast"):
            return None
        if len(shape) not in (1, 2):
            return self._of_matrix(user, shape)
        given = self._whole(user.results[0])
        if given is None:
            return None
        if len(shape) == 2:
            return given if 1 in shape else None
        is_column = _shape(user.results[0])[1] == 1 and user.name == "vector.shape_cast"
        return SliceAttr(given, [1 if is_column else 0])

    def _of_matrix(self, user: Operation, shape: Sequence[int]) -> Layout | None:
        """How a vector is spread of which a matrix is made by leaving out sizes of 1."""
        result = user.results[0]
        layout = self.of_value(result)
        kept = tuple(size for size in shape if size > 1)
        if user.name != "vector.shape_cast" or not isinstance(layout, LayoutAttr):
            return None
        if kept != _shape(result):
            return None
        own = zip(layout.effective_sg_layout, layout.effective_sg_data, strict=True)
        return _layout([next(own) if size > 1 else (1, 1) for size in shape])

    def _whole(self, value: SSAValue) -> LayoutAttr | None:
        """How a matrix is spread that a row or a column is repeated to."""
        if len(_shape(value)) != 2:
            return None
        layout = self.of_value(value)
        if 1 in _shape(value) and layout is None:
            return None
        return layout if isinstance(layout, LayoutAttr) else self.of_shape(_shape(value))

    def _made(self, operation: Operation, result: SSAValue) -> Layout | None:
        """How a vector is spread because of what it was made of; None if it may be otherwise."""
        if len(_shape(result)) != 1:
            return None
        if isinstance(operation, MultiDimReductionOp | ReduceOp):
            return self._reduced(operation)
        if _is_elementwise(operation):
            own = (self.of_value(operand) for operand in operation.operands)
            return next((layout for layout in own if isinstance(layout, SliceAttr)), None)
        return None

    def _reduced(self, operation: MultiDimReductionOp | ReduceOp) -> Layout | None:
        """The layout of a matrix that is reduced, without the dimension that is left out."""
        source = operation.operands[0]
        if len(_shape(source)) != 2:
            return None
        axes, whole = _axes(operation), self._whole(source)
        return None if whole is None or len(axes) != 1 else SliceAttr(whole, axes)


_NO_FACTORS = ((-1, False), (-1, False))


def _layout(parts: Sequence[tuple[int, int]]) -> LayoutAttr:
    """The layout with so many subgroups along each dimension, each of which holds so much."""
    return LayoutAttr([count for count, _ in parts], [size for _, size in parts])


def _part(size: int, count: int) -> tuple[int, int]:
    """The subgroups along a dimension and what each holds: all of it where it cannot be dealt."""
    return (count, size // count) if size % count == 0 else (1, size)


def _grid(
    anchor: tuple[int, int],
    most: int,
    unit: tuple[int, int],
    whole: frozenset[int],
    weights: tuple[int, int],
) -> tuple[int, int]:
    """The subgroups along rows and columns, a power of two, each of which holds whole blocks.

    Args:
        anchor: The rows and columns that are dealt out.
        most: How many subgroups are enough.
        unit: The rows and columns of a block.
        whole: The dimensions that one subgroup has as a whole, so that it reduces them alone.
        weights: How many rows, and columns, count as one where the longer side is halved.
    """
    grid = [1, 1]
    while prod(grid) < most:
        sides = [
            size // (count * weight) if i not in whole and size % (2 * count * part) == 0 else 0
            for i, (size, count, part, weight) in enumerate(
                zip(anchor, grid, unit, weights, strict=True)
            )
        ]
        if not any(sides):
            break
        grid[sides.index(max(sides))] *= 2
    return grid[0], grid[1]


def _reduced_alone(kernel: FuncOp) -> frozenset[int]:
    """Whether rows or columns of matrices are reduced; neither counts where both are."""
    found: set[int] = set()
    for operation in walk(kernel):
        is_reduction = isinstance(operation, MultiDimReductionOp | ReduceOp)
        if is_reduction and len(_shape(operation.operands[0])) == 2:
            found.update(_axes(operation))
    return frozenset(found) if len(found) == 1 else frozenset()


def _axes(operation: MultiDimReductionOp | ReduceOp) -> list[int]:
    """The dimensions that a reduction leaves out."""
    if isinstance(operation, ReduceOp):
        return [operation.axis.value.data]
    return list(operation.reduction_dims.get_values())


def _anchor(kernel: FuncOp) -> tuple[int, int]:
    """The rows and columns of the largest product, or else of the largest vector."""
    shape = max(_products(kernel) or _shapes(kernel), key=prod, default=(1,))
    return (1, shape[0]) if len(shape) == 1 else (shape[-2], shape[-1])


def _products(kernel: FuncOp) -> list[tuple[int, ...]]:
    """The shapes of products."""
    return [
        _shape(operation.result)
        for operation in walk(kernel)
        if isinstance(operation, ContractionOp) and len(_shape(operation.result)) > 1
    ]


def _shapes(kernel: FuncOp) -> Iterator[tuple[int, ...]]:
    for operation in walk(kernel):
        for result in operation.results:
            if shape := _shape(result):
                yield shape


def _shape(value: SSAValue) -> tuple[int, ...]:
    vector = as_vector(value.type)
    return () if vector is None else vector.get_shape()


def _is_elementwise(operation: Operation) -> bool:
    is_arithmetic = operation.dialect_name() in ("arith", "math")
    return is_arithmetic and bool(operation.operands) and bool(_shape(operation.results[0]))
