"""Accesses, products and reductions of matrices that have become tiles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import vector
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseArrayBase,
    Float16Type,
    IntegerType,
    VectorType,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.vector.attributes import neutral_float, neutral_integer
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.facts import constant_of
from xtile.text.mlir_attributes import splat_constant
from xtile.text.source import spelling_of
from xtile.transforms.distribute import numbers
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.foreach.accesses import Part, view_of
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import inside_of
from xtile.transforms.tile_linalg.products import use_product_hints
from xtile.transforms.tile_linalg.spans import known_size, power_of_two
from xtile.transforms.tile_linalg.tiles import Tile


@dataclass(frozen=True)
class Matrix:
    """The type of a matrix, and of the tile that it becomes.

    Attributes:
        element: The type of the components.
        shape: The sizes.
    """

    element: Attribute
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def tile_shape(self) -> tuple[int, ...]:
        """The sizes of the tile."""
        return tuple(map(power_of_two, self.shape))

    @property
    def tile_type(self) -> VectorType[Attribute]:
        """The type of the tile."""
        return VectorType(self.element, self.tile_shape)

    @property
    def is_tile(self) -> bool:
        """Whether the tile has nothing beyond the matrix."""
        return self.shape == self.tile_shape

    def has_more(self, dimension: int) -> bool:
        """Whether the tile is larger along a dimension."""
        return self.shape[dimension] != self.tile_shape[dimension]


def matrix_of(value: SSAValue) -> Matrix | None:
    """The matrix that a value of the source is, if it is one."""
    if not isa(value.type, VectorType):
        return None
    return Matrix(value.type.element_type, value.type.get_shape())


def tile_type_of(value: SSAValue) -> Attribute:
    """The type of what a value of the source becomes."""
    matrix = matrix_of(value)
    return value.type if matrix is None else matrix.tile_type


def replaced(
    operation: Operation,
    operands: Sequence[SSAValue],
    properties: Mapping[str, Attribute] | None = None,
) -> Operation:
    """The same operation on tiles."""
    return type(operation).create(
        operands=operands,
        result_types=[tile_type_of(result) for result in operation.results],
        properties={**operation.properties, **(properties or {})},
        attributes=operation.attributes.copy(),
    )


def inside(kernel: Kernel, matrix: Matrix, dimensions: Iterable[int]) -> SSAValue | None:
    """Where a tile is inside of its matrix along some dimensions; None: everywhere."""
    result: SSAValue | None = None
    for dimension in dimensions:
        if matrix.has_more(dimension):
            size = matrix.shape[dimension]
            condition = inside_of(kernel, matrix.tile_shape, dimension, 0, size)
            result = kernel.both(result, condition)
    return result


def filled(
    kernel: Kernel, tile: SSAValue, matrix: Matrix, dimensions: Iterable[int], number: float
) -> SSAValue:
    """A tile with a number beyond its matrix along some dimensions."""
    condition = inside(kernel, matrix, dimensions)
    if condition is None:
        return tile
    type_ = cast("Any", VectorType(tiles.element_of(tile.type), matrix.tile_shape))
    attribute = splat_constant(type_, number)
    key = ("filler", repr(number), type_)
    filler = kernel.shared(key, (), lambda: kernel.emit(ConstantOp(attribute)).result)
    return kernel.pure(SelectOp, condition, tile, filler)


# --- memory ---


@dataclass(frozen=True)
class _Access:
    """Where a tile is in memory.

    Attributes:
        memory: The memory.
        indices: The first indices.
        is_inside: For each dimension of the tile whether it is certainly inside of the memory.
        mask: Which elements are accessed, in the order of the memory's dimensions; None: all.
    """

    memory: SSAValue
    indices: Sequence[SSAValue]
    is_inside: Sequence[bool]
    mask: SSAValue | None


def _access(
    operation: vector.TransferReadOp | vector.TransferWriteOp, matrix: Matrix, kernel: Kernel
) -> _Access:
    """Leaves out what the tile has beyond the matrix: by the size of a view, or by a mask."""
    if operation.mask is not None:
        raise kernel.error("a masked access of a matrix is not lifted to tiles yet")
    memory, indices = kernel.value(operation.source), kernel.values(operation.indices)
    inside_flags = [bool(each.value.data) for each in operation.in_bounds]
    order = [each for each in dimensions_of(operation.permutation_map) if each is not None]
    if len(order) != matrix.rank or len(indices) != matrix.rank:
        raise kernel.error("this access of a matrix is not lifted to tiles yet")
    larger = [dimension for dimension in range(matrix.rank) if matrix.has_more(dimension)]
    if all(inside_flags[dimension] for dimension in larger):
        return _viewed(kernel, matrix, _Access(memory, indices, inside_flags, None), order, larger)
    condition = inside(kernel, matrix, larger)
    if condition is not None and order != sorted(order):
        mask = Tile((condition,), i1, matrix.tile_shape)
        back = [order.index(dimension) for dimension in range(len(order))]
        condition = tiles.transposed(kernel, mask, back).parts[0]
    return _Access(memory, indices, inside_flags, condition)


def _viewed(
    kernel: Kernel, matrix: Matrix, access: _Access, order: Sequence[int], larger: Sequence[int]
) -> _Access:
    """The access to a view that ends where the matrix does."""
    if not larger:
        return access
    parts: list[Part] = [Part(0, None)] * matrix.rank
    indices, is_inside = list(access.indices), list(access.is_inside)
    for dimension in larger:
        position, size = order[dimension], matrix.shape[dimension]
        first = constant_of(indices[position])
        if first != 0 or known_size(access.memory, position) != size:
            parts[position] = Part(indices[position] if first is None else first, size)
        indices[position] = kernel.index(0)
        is_inside[dimension] = False
    memory = access.memory
    if any(part.is_cut for part in parts):
        memory = view_of(kernel, memory, parts, [True] * matrix.rank)
    return _Access(memory, indices, is_inside, None)


def read(operation: vector.TransferReadOp, kernel: Kernel) -> None:
    """Reads a tile."""
    matrix = matrix_of(operation.result)
    assert matrix is not None
    elements = math.prod(matrix.tile_shape)
    if elements >= kernel.target.tiles.large_elements:
        kernel.use_hints(elements, kernel.target.tiles.large_hints)
    access = _access(operation, matrix, kernel)
    new = vector.TransferReadOp(
        access.memory,
        access.indices,
        kernel.value(operation.padding),
        matrix.tile_type,
        truth_attribute(tuple(access.is_inside)),
        operation.permutation_map,
        access.mask,
    )
    kernel.replace(operation, new)


def write(operation: vector.TransferWriteOp, kernel: Kernel) -> None:
    """Writes a tile."""
    matrix = matrix_of(operation.vector)
    assert matrix is not None
    access = _access(operation, matrix, kernel)
    kernel.emit(
        vector.TransferWriteOp(
            kernel.value(operation.vector),
            access.memory,
            access.indices,
            truth_attribute(tuple(access.is_inside)),
            access.mask,
            operation.permutation_map,
        )
    )


def atomic_update(operation: AtomicUpdateOp, kernel: Kernel) -> None:
    """Updates a block of memory, once for each tile."""
    matrix = matrix_of(operation.value)
    if matrix is None:
        raise kernel.error(
            f"{spelling_of(operation)} of a number is done by every work-item here, which is not "
            "lifted to tiles yet; do it in foreach"
        )
    value, memory = kernel.value(operation.value), kernel.value(operation.memory)
    indices = kernel.values(operation.indices)
    checked = {int(dimension) for dimension in operation.checked.get_values()}
    order = list(range(matrix.rank))
    if operation.transpose is not None:
        order.reverse()
    larger = [dimension for dimension in range(matrix.rank) if matrix.has_more(dimension)]
    if any(order[dimension] in checked for dimension in larger):
        raise kernel.error(
            "a checked atomic update of a matrix whose sizes are no powers of two is not lifted to "
            "tiles yet"
        )
    is_inside = [order[dimension] not in checked for dimension in range(matrix.rank)]
    access = _Access(memory, indices, is_inside, None)
    access = _viewed(kernel, matrix, access, order, larger)
    positions = [order[d] for d, is_in in enumerate(access.is_inside) if not is_in]
    new = AtomicUpdateOp.build(
        operands=[value, access.memory, access.indices],
        result_types=[matrix.tile_type],
        properties={
            "kind": operation.kind,
            "checked": DenseArrayBase.from_list(i64, sorted(positions)),
            "transpose": operation.transpose,
        },
    )
    kernel.replace(operation, new)


# --- products and reductions ---


def contract(operation: ContractionOp, kernel: Kernel) -> None:
    """Multiplies tiles; beyond the matrices' depth they are 0."""
    left, right = matrix_of(operation.lhs), matrix_of(operation.rhs)
    total = matrix_of(operation.acc)
    assert left is not None
    assert right is not None
    if total is None or left.rank != 2 or right.rank != 2:
        raise kernel.error("this product is not lifted to tiles yet")
    if left.tile_shape[1] > 1:
        use_product_hints(kernel, left.element, math.prod(total.tile_shape))
    factors: list[SSAValue] = []
    for value, matrix, depth in ((operation.lhs, left, 1), (operation.rhs, right, 0)):
        factor = filled(kernel, kernel.value(value), matrix, [depth], 0)
        if not _is_multiplied(matrix.element, total.element):
            target = VectorType(total.element, matrix.tile_shape)
            factor = numbers.cast_number(kernel, factor, target)
        factors.append(factor)
    kernel.replace(operation, replaced(operation, [*factors, kernel.value(operation.acc)]))


def _is_multiplied(factor: Attribute, total: Attribute) -> bool:
    """Whether matrix units multiply factors of a type and add up in another one."""
    if isinstance(factor, BFloat16Type | Float16Type):
        return total == f32
    return factor == total or (factor == i8 and total == i32)


def reduce(operation: MultiDimReductionOp, kernel: Kernel) -> None:
    """Reduces a tile, which beyond the matrix has what changes nothing."""
    matrix = matrix_of(operation.source)
    assert matrix is not None
    dimensions = [int(dimension) for dimension in operation.reduction_dims.get_values()]
    neutral = _neutral(str(operation.kind.data), matrix.element)
    if neutral is None:
        raise kernel.error("this reduction is not lifted to tiles yet")
    source = filled(kernel, kernel.value(operation.source), matrix, dimensions, neutral)
    kernel.replace(operation, replaced(operation, [source, kernel.value(operation.acc)]))


def _neutral(kind: str, element: Attribute) -> float | None:
    """The number that a reduction of a kind leaves out; None if it has none for such numbers."""
    try:
        if isa(element, IntegerType):
            return neutral_integer(kind, element.width.data)
        return neutral_float(kind)
    except KeyError:
        return None
