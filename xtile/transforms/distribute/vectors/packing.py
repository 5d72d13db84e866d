"""Copies parts of a product's factors to local memory, in the form that matrix units load.

What is inside of a factor is copied with vectors, what is at its ends element by element. What
reaches beyond them becomes 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i32
from xdsl.ir import SSAValue

from xtile.dialects.arith.casts import ExtUIOp
from xtile.dialects.core.cooperative_matrix import WORD_BITS
from xtile.rewrite.emitter import element_type
from xtile.rewrite.indices import Index
from xtile.rewrite.transposition import interleaved
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.product import Product
from xtile.transforms.distribute.vectors.packed_memory import PackedMemory
from xtile.transforms.distribute.vectors.values import is_contiguous, load, spread, store

_VECTOR = 16
"""Elements of a vector."""

_SQUARE = 8
"""Rows and columns of what is transposed in registers: more take more code, and are not faster."""


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
        return cls(start, kernel.smaller(kernel.subtract(size, start), most))

    def whole(self, kernel: Kernel, length: int) -> Index:
        """How many pieces of a length are inside."""
        return kernel.divide(self.length, length)

    def covering(self, kernel: Kernel, length: int) -> Index:
        """How many pieces of a length cover all."""
        return kernel.divide(kernel.add(self.length, length - 1), length)


@dataclass(frozen=True)
class _Lines:
    """A part of a factor: rows of op(A) or columns of op(B), with elements along the depth.

    Attributes:
        kernel: The kernel that is being built.
        memory: The factor.
        position: Where the factor has an element, from the line and its number in it.
        lines: Which lines.
        depth: Which elements.
    """

    kernel: Kernel
    memory: SSAValue
    position: Callable[[Index, Index], tuple[Index, Index]]
    lines: Range
    depth: Range

    def vector(self, line: Index, k: Index, width: int) -> SSAValue:
        """Elements that are neighbours in memory, from an element on."""
        return load(self.kernel, self.memory, self._at(line, k), width)

    def element(self, line: Index, k: Index, is_inside: bool) -> SSAValue:
        """One element, or 0 if it is not inside; whether it is may be known."""
        kernel = self.kernel
        if is_inside:
            return kernel.load(self.memory, self._at(line, k))
        has_line = kernel.compare("slt", line, self.lines.length)
        has_element = kernel.compare("slt", k, self.depth.length)
        nothing = numbers.zero(kernel, element_type(self.memory))
        return kernel.choose(
            kernel.pure(arith.AndIOp, has_line, has_element),
            lambda: kernel.load(self.memory, self._at(line, k)),
            lambda: nothing,
        )

    def _at(self, line: Index, k: Index) -> tuple[Index, Index]:
        kernel = self.kernel
        return self.position(kernel.add(self.lines.start, line), kernel.add(self.depth.start, k))


def pack_rows(memory: PackedMemory, product: Product, rows: Range, depth: Range) -> None:
    """Packs rows of op(A) into the strip."""
    kernel, length = memory.kernel, memory.matrix.depth
    source = _Lines(kernel, product.a, product.at_a, rows, depth)
    has_vectors, is_transposed = is_contiguous(product.a), product.is_a_transposed
    count, part = (_SQUARE, _SQUARE) if has_vectors and is_transposed else (1, length)

    def put(value: SSAValue, row: Index, step: Index, k: Index, width: int) -> None:
        store(kernel, value, memory.strip, (memory.row_in_strip(row, step), k), width)

    def pack(i: Index, j: Index, is_inside: bool) -> None:
        row, k = kernel.multiply(i, count), kernel.multiply(j, part)
        step = kernel.divide(j, length // part)
        first = kernel.multiply(kernel.remainder(j, length // part), part)
        if not (is_inside and has_vectors):
            with kernel.loop(0, count, name="row") as m, kernel.loop(0, part, name="k") as n:
                line = kernel.add(row, m.index)
                value = source.element(line, kernel.add(k, n.index), is_inside)
                put(value, line, step, kernel.add(first, n.index), 1)
        elif is_transposed:
            vectors = [source.vector(row, kernel.add(k, n), count) for n in range(part)]
            for m, vector in enumerate(interleaved(kernel, vectors)):
                put(vector, kernel.add(row, m), step, first, part)
        else:
            for n in range(0, length, _VECTOR):
                put(source.vector(row, kernel.add(k, n), _VECTOR), row, step, n, _VECTOR)

    steps = kernel.multiply(depth.covering(kernel, length), length // part)
    inside = rows.whole(kernel, count), depth.whole(kernel, part)
    _for_each_block(kernel, inside, (memory.height // count, steps), pack)


def pack_columns(
    memory: PackedMemory, product: Product, columns: Range, depth: Range, width: int
) -> None:
    """Packs columns of op(B) into the panel, as many as a multiple of the width."""
    kernel, length, factors = memory.kernel, memory.matrix.columns, memory.factors
    source = _Lines(kernel, product.b, lambda column, k: product.at_b(k, column), columns, depth)
    has_vectors, is_transposed = is_contiguous(product.b), product.is_b_transposed
    count, part = (_SQUARE, _SQUARE) if has_vectors and is_transposed else (length, factors)

    def put(value: SSAValue, tile: Index, word: Index, position: Index, width: int) -> None:
        store(kernel, value, memory.panel, (memory.row_in_panel(tile, word), position), width)

    def pack(j: Index, i: Index, is_inside: bool) -> None:
        column, k = kernel.multiply(i, count), kernel.multiply(j, part)
        tile = kernel.divide(i, length // count)
        first = kernel.multiply(kernel.remainder(i, length // count), count * factors)
        word = kernel.multiply(j, part // factors)
        if not (is_inside and has_vectors):
            with kernel.loop(0, count, name="column") as m, kernel.loop(0, part, name="k") as n:
                value = source.element(
                    kernel.add(column, m.index), kernel.add(k, n.index), is_inside
                )
                row = kernel.add(word, kernel.divide(n.index, factors))
                position = kernel.add(first, kernel.multiply(m.index, factors))
                position = kernel.add(position, kernel.remainder(n.index, factors))
                put(value, tile, row, position, 1)
            return
        if not is_transposed:
            words = _words(
                kernel, [source.vector(column, kernel.add(k, n), count) for n in range(part)]
            )
            row = memory.row_in_panel(tile, word)
            store(kernel, words, memory.panel_of_words, (row, 0), count)
            return
        lines = [source.vector(kernel.add(column, n), k, part) for n in range(count)]
        for n, vector in enumerate(interleaved(kernel, lines, factors)):
            row, position = kernel.add(word, n // factors), kernel.add(first, n % factors * count)
            put(vector, tile, row, position, count)

    steps = kernel.multiply(
        depth.covering(kernel, memory.matrix.depth), memory.matrix.depth // part
    )
    tiles = kernel.multiply(columns.covering(kernel, width), width // count)
    inside = depth.whole(kernel, part), columns.whole(kernel, count)
    _for_each_block(kernel, inside, (steps, tiles), pack)


def _words(kernel: Kernel, vectors: Sequence[SSAValue]) -> SSAValue:
    """The words whose factors are in these vectors, of which the first has the lowest bits.

    That is faster than to interleave them.
    """
    bits = WORD_BITS // len(vectors)
    words: SSAValue | None = None
    for number, value in enumerate(vectors):
        if not numbers.is_integer(value.type):
            type_ = numbers.like(value.type, IntegerType(bits))
            value = kernel.emit(arith.BitcastOp(value, type_)).result
        part = kernel.emit(
            ExtUIOp(value, cast("IntegerType", numbers.like(value.type, i32)))
        ).result
        if number:
            shift = spread(kernel, kernel.constant(bits * number, i32), _VECTOR)
            part = kernel.emit(arith.ShLIOp(part, shift)).result
        words = part if words is None else kernel.emit(arith.OrIOp(words, part)).result
    assert words is not None
    return words


def _for_each_block(
    kernel: Kernel,
    inside: tuple[Index, Index],
    all_: tuple[Index, Index],
    pack: Callable[[Index, Index, bool], None],
) -> None:
    """Emits the loops over rows and columns of blocks, of which the first ones are inside."""
    (rows, columns), (all_rows, all_columns) = inside, all_
    regions = (
        (0, rows, 0, columns, True),
        (0, rows, columns, all_columns, False),
        (rows, all_rows, 0, all_columns, False),
    )
    for row, end_row, column, end_column, is_inside in regions:
        if end_row == row or end_column == column:
            continue
        with (
            kernel.loop(row, end_row, name="row") as row_loop,
            kernel.loop(column, end_column, name="column") as column_loop,
        ):
            pack(row_loop.index, column_loop.index, is_inside)
