"""Vectors of the core form: other shapes, reads and writes of memory, products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BoolAttr,
    IndexType,
    MemRefType,
    VectorType,
)
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xtile.dialects.shared_attributes import numbers_attribute, truth_attribute, vector_of
from xtile.dialects.vector.contractions import product_of_matrices
from xtile.dialects.vector.elements import StepOp
from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.emitter import Emitter, element_type, rank
from xtile.rewrite.indices import Index
from xtile.text.mlir_attributes import splat_constant


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The sizes of a vector; a number has none."""
    type_ = value.type
    return type_.get_shape() if isinstance(type_, VectorType) else ()


def elements_of(value: SSAValue) -> Attribute:
    """The type of a vector's elements."""
    return cast("VectorType[Attribute]", value.type).element_type


class VectorEmitter(Emitter):
    """Emits operations on vectors; those that change nothing are left out."""

    def splat(self, number: int, element: Attribute, shape: Sequence[int]) -> SSAValue:
        """A vector of a small number."""
        attribute = splat_constant(vector_of(tuple(shape), element), number)
        return self.shared(
            attribute, (), lambda: self.emit(arith.ConstantOp(cast("Any", attribute))).result
        )

    def reshaped(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The elements in the same order in another shape."""
        if shape_of(value) == tuple(shape):
            return value
        type_ = vector_of(tuple(shape), elements_of(value))
        return self.emit(ShapeCastOp.build(operands=[value], result_types=[type_])).results[0]

    def transposed(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """The dimensions in another order."""
        if list(order) == sorted(order):
            return value
        shape = shape_of(value)
        type_ = vector_of(tuple(shape[dimension] for dimension in order), elements_of(value))
        operation = TransposeOp.build(
            operands=[value],
            properties={"permutation": numbers_attribute(tuple(order))},
            result_types=[type_],
        )
        return self.emit(operation).results[0]

    def repeated(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A number or a vector as often as a shape has it, along new dimensions or those of 1."""
        if shape_of(value) == tuple(shape):
            return value
        element = elements_of(value) if shape_of(value) else value.type
        return self.emit(BroadcastOp(value, vector_of(tuple(shape), element))).results[0]

    def counted(self, count: int) -> SSAValue:
        """The indices from 0 on."""
        type_ = vector_of((count,), IndexType())
        return self.shared(
            ("step", count), (), lambda: self.emit(StepOp.build(result_types=[type_])).results[0]
        )

    # --- memory ---

    def read(
        self,
        memory: SSAValue,
        indices: Sequence[Index],
        shape: Sequence[int],
        *,
        is_checked: bool,
        order: Sequence[int] | None = None,
    ) -> SSAValue:
        """The block of the last dimensions of memory that begins at the indices.

        Args:
            memory: The memory.
            indices: The first index of each dimension of the memory.
            shape: The sizes of the block, in the order of the memory's dimensions.
            is_checked: Whether what lies outside of the memory's shape is 0.
            order: For each dimension of the result that of the block; None: the same.
        """
        dimensions = list(range(len(shape)) if order is None else order)
        element = element_type(memory)
        operation = TransferReadOp(
            memory,
            [self.as_value(index) for index in indices],
            self.constant(0, element),
            cast("Any", vector_of(tuple(shape[i] for i in dimensions), element)),
            _inside(memory, indices, shape, dimensions, is_checked=is_checked),
            _map(rank(memory), dimensions),
        )
        return self.emit(operation).result

    def write(
        self, value: SSAValue, memory: SSAValue, indices: Sequence[Index], *, is_checked: bool
    ) -> None:
        """Writes a block of the last dimensions of memory, but not beyond its shape if checked."""
        dimensions = list(range(len(shape_of(value))))
        operation = TransferWriteOp(
            value,
            memory,
            [self.as_value(index) for index in indices],
            _inside(memory, indices, shape_of(value), dimensions, is_checked=is_checked),
            permutation_map=_map(rank(memory), dimensions),
        )
        self.emit(operation)

    # --- products ---

    def product(self, lhs: SSAValue, rhs: SSAValue, total: SSAValue) -> SSAValue:
        """`lhs rhs + total` of matrices."""
        return self.emit(product_of_matrices(lhs, rhs, total)).result


def _inside(
    memory: SSAValue,
    indices: Sequence[Index],
    shape: Sequence[int],
    order: Sequence[int],
    *,
    is_checked: bool,
) -> ArrayAttr[BoolAttr]:
    """For each dimension of what is moved whether it is not checked, or lies inside for certain."""
    sizes = cast("MemRefType[Attribute]", memory.type).get_shape()[-len(shape) :]

    def is_inside(dimension: int) -> bool:
        start = indices[len(indices) - len(shape) + dimension]
        # A size that is not known is negative.
        return isinstance(start, int) and 0 <= start <= sizes[dimension] - shape[dimension]

    return truth_attribute(tuple(not is_checked or is_inside(each) for each in order))


def _map(rank: int, dimensions: Sequence[int]) -> AffineMapAttr:
    """The map of an access of the last dimensions of memory."""
    first = rank - len(dimensions)
    results = tuple(AffineDimExpr(first + dimension) for dimension in dimensions)
    return AffineMapAttr(AffineMap(rank, 0, results))
