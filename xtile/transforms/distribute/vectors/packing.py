"""Parts of a product's factors in local memory, in the form in which matrix units load them.

What reaches beyond the ends of a factor is 0 there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, IntegerType, UnitAttr, i32
from xdsl.ir import Attribute, SSAValue

from xtile.backends.intel.devices import CooperativeMatrix
from xtile.dialects.arith.casts import ExtUIOp
from xtile.dialects.core import CooperativeMatrixLoadOp, CooperativeMatrixType, MatrixUse
from xtile.dialects.core.cooperative_matrix import WORD_BITS
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Index, Kernel, element_type
from xtile.transforms.distribute.overlap import local_buffer
from xtile.transforms.distribute.product import Product
from xtile.transforms.distribute.vectors.values import is_contiguous, load, spread, store

_VECTOR = 16
"""Elements of a vector."""

Limit = tuple[Index, Index]
"""A number, and what it must be below."""


@dataclass(frozen=True)
class Range:
    """Neighbouring rows or columns.

    Attributes:
        start: The first one.
        length: How many.
    """

    start: Index
    length: Index

    @classmethod
    def of(cls, kernel: Kernel, start: Index, size: Index, most: int) -> Range:
        """Those from `start` on, up to `size` or to the number `most`, in steps of which it is."""
        if isinstance(size, int) and (size % most == 0 or isinstance(start, int)):
            return cls(start, most if size % most == 0 else min(most, size))
        return cls(start, kernel.minimum(kernel.subtract(size, start), most))

    def whole(self, kernel: Kernel, length: int) -> Index:
        """How many pieces of a length are inside."""
        return kernel.divide(self.length, length)

    def covering(self, kernel: Kernel, length: int) -> Index:
        """How many pieces of a length cover all."""
        return kernel.divide(kernel.add(self.length, length - 1), length)


@dataclass(frozen=True)
class Packing:
    """Memory for a strip of op(A) and a panel of op(B).

    The strip has the rows of all its matrices one below the other, for one matrix of the depth
    after the other. The panel has words with neighbours along the depth: for each matrix of its
    columns one column of matrices.

    Attributes:
        kernel: The kernel that is being built.
        product: The product.
        matrix: The cooperative matrices.
        height: The rows of the strip, a multiple of a matrix's.
        columns: The columns of the panel, a multiple of a matrix's.
        depth: The columns of the strip and the rows of the panel, a multiple of a matrix's.
    """

    kernel: Kernel
    product: Product
    matrix: CooperativeMatrix
    height: int
    columns: int
    depth: int

    # --- the strip of op(A) ---

    @property
    def strip(self) -> SSAValue:
        """The memory of the strip."""
        shape = (self.height * self.depth // self.matrix.depth, self.matrix.depth)
        return self._buffer("strip", self.matrix.inputs, shape)

    def pack_rows(self, rows: Range, depth: Range) -> None:
        """Packs rows of op(A)."""
        kernel, product, length = self.kernel, self.product, self.matrix.depth

        def line(row: Index, step: Index, is_inside: bool) -> None:
            k = kernel.multiply(step, length)
            at = kernel.add(kernel.multiply(step, self.height), row)
            has_neighbours = not product.is_a_transposed and is_contiguous(product.a)
            if is_inside and has_neighbours:
                for place in range(0, length, _VECTOR):
                    part = kernel.add(kernel.add(depth.start, k), place)
                    source = product.at_a(kernel.add(rows.start, row), part)
                    vector = load(kernel, product.a, source, _VECTOR)
                    store(kernel, vector, self.strip, (at, place), _VECTOR)
                return
            with kernel.loop(0, length, name="element") as elements:
                offset = kernel.add(k, elements.index)
                limits = [] if is_inside else [(row, rows.length), (offset, depth.length)]
                source = product.at_a(kernel.add(rows.start, row), kernel.add(depth.start, offset))
                value = self._element(product.a, source, limits)
                kernel.store(value, self.strip, (at, elements.index))

        steps = depth.whole(kernel, length), depth.covering(kernel, length)
        _for_each_line(kernel, (rows.length, self.height), steps, line)

    def load_a(self, row: int, step: Index) -> SSAValue:
        """The matrix of op(A) from a row of the strip on."""
        kernel = self.kernel
        at = kernel.add(kernel.multiply(step, self.height), row)
        type_ = CooperativeMatrixType.of(
            self.matrix.rows, self.matrix.depth, self.matrix.inputs, MatrixUse.MATRIX_A
        )
        return _load(kernel, self.strip, at, type_, {})

    # --- the panel of op(B) ---

    @property
    def factors(self) -> int:
        """Neighbours along the depth in a word."""
        return WORD_BITS // cast("FixedBitwidthType", self.matrix.inputs).bitwidth

    @property
    def panel(self) -> SSAValue:
        """The memory of the panel."""
        width = self.matrix.columns
        shape = (self.columns // width * self.depth // self.factors, width)
        return self._buffer("panel", i32, shape)

    def pack_columns(self, columns: Range, depth: Range, width: int) -> None:
        """Packs columns of op(B), as many as a multiple of a width that covers them."""
        kernel, product, count = self.kernel, self.product, self.matrix.columns
        has_neighbours = not product.is_b_transposed and is_contiguous(product.b)

        def line(word: Index, tile: Index, is_inside: bool) -> None:
            at = kernel.add(kernel.multiply(tile, self.depth // self.factors), word)
            column = kernel.multiply(tile, count)
            if is_inside and has_neighbours:
                words = self._words(columns, depth, word, column, _VECTOR, is_inside)
                store(kernel, words, self.panel, (at, 0), _VECTOR)
                return
            with kernel.loop(0, count, name="element") as elements:
                place = kernel.add(column, elements.index)
                words = self._words(columns, depth, word, place, 1, is_inside)
                kernel.store(words, self.panel, (at, elements.index))

        steps = depth.covering(kernel, self.matrix.depth)
        words = kernel.multiply(steps, self.matrix.depth // self.factors)
        tiles = kernel.multiply(columns.covering(kernel, width), width // count)
        _for_each_line(
            kernel,
            (depth.whole(kernel, self.factors), words),
            (columns.whole(kernel, count), tiles),
            line,
        )

    def _words(
        self,
        columns: Range,
        depth: Range,
        word: Index,
        column: Index,
        width: int,
        is_inside: bool,
    ) -> SSAValue:
        """Words of neighbouring columns, of which the first factor has the lowest bits."""
        kernel, product = self.kernel, self.product
        result: SSAValue | None = None
        for factor in range(self.factors):
            k = kernel.add(kernel.multiply(word, self.factors), factor)
            source = product.at_b(kernel.add(depth.start, k), kernel.add(columns.start, column))
            if width > 1:
                value = load(kernel, product.b, source, width)
            else:
                limits = [] if is_inside else [(k, depth.length), (column, columns.length)]
                value = self._element(product.b, source, limits)
            shifted = self._shifted(value, factor, width)
            result = shifted if result is None else kernel.emit(arith.OrIOp(result, shifted)).result
        assert result is not None
        return result

    def _shifted(self, value: SSAValue, factor: int, width: int) -> SSAValue:
        """The bits of factors in their place of words."""
        kernel = self.kernel
        bits = WORD_BITS // self.factors
        if not numbers.is_integer(value.type):
            type_ = numbers.like(value.type, IntegerType(bits))
            value = kernel.emit(arith.BitcastOp(value, type_)).result
        word = numbers.like(value.type, i32)
        extended = kernel.emit(ExtUIOp(value, cast("IntegerType", word))).result
        if factor == 0:
            return extended
        shift = spread(kernel, kernel.constant(bits * factor, i32), width)
        return kernel.emit(arith.ShLIOp(extended, shift)).result

    def load_b(self, step: Index, column: Index) -> SSAValue:
        """The matrix of op(B) from a column of the panel on, a multiple of a matrix's."""
        kernel = self.kernel
        words = self.matrix.depth // self.factors
        # A column of matrices has so many words for each of its columns.
        first = kernel.multiply(column, self.depth // self.factors // self.matrix.columns)
        at = kernel.add(first, kernel.multiply(step, words))
        type_ = CooperativeMatrixType.of(
            self.matrix.depth, self.matrix.columns, self.matrix.inputs, MatrixUse.MATRIX_B
        )
        return _load(kernel, self.panel, at, type_, {"packed": UnitAttr()})

    # --- both ---

    def _buffer(self, name: str, element: Attribute, shape: tuple[int, int]) -> SSAValue:
        kernel = self.kernel
        return kernel.shared(
            (name, element, shape), (), lambda: local_buffer(kernel, element, shape)
        )

    def _element(
        self, memory: SSAValue, indices: Sequence[Index], limits: Sequence[Limit]
    ) -> SSAValue:
        """An element of a factor; 0 where a number is not below its limit."""
        kernel = self.kernel
        conditions = [
            kernel.compare("slt", number, limit)
            for number, limit in limits
            if not (isinstance(number, int) and isinstance(limit, int) and number < limit)
        ]
        if not conditions:
            return kernel.load(memory, indices)
        is_inside = conditions[0]
        for condition in conditions[1:]:
            is_inside = kernel.pure(arith.AndIOp, is_inside, condition)
        nothing = numbers.zero(kernel, element_type(memory))
        return kernel.choose(is_inside, lambda: kernel.load(memory, indices), lambda: nothing)


def _for_each_line(
    kernel: Kernel,
    rows: tuple[Index, Index],
    columns: tuple[Index, Index],
    line: Callable[[Index, Index, bool], None],
) -> None:
    """Emits the loops over a rectangle of which a part is inside: how much of it, and all of it."""
    (inner_rows, all_rows), (inner_columns, all_columns) = rows, columns
    regions = (
        (0, inner_rows, 0, inner_columns, True),
        (0, inner_rows, inner_columns, all_columns, False),
        (inner_rows, all_rows, 0, all_columns, False),
    )
    for row, end_row, column, end_column, is_inside in regions:
        if end_row == row or end_column == column:
            continue
        with (
            kernel.loop(row, end_row, name="row") as row_loop,
            kernel.loop(column, end_column, name="column") as column_loop,
        ):
            line(row_loop.index, column_loop.index, is_inside)


def _load(
    kernel: Kernel,
    memory: SSAValue,
    row: Index,
    type_: CooperativeMatrixType,
    properties: dict[str, Attribute],
) -> SSAValue:
    at = [kernel.value_of(row), kernel.index(0)]
    operation = CooperativeMatrixLoadOp(
        operands=[memory, at], result_types=[type_], properties=properties
    )
    return kernel.emit(operation).result
