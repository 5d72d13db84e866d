"""Local memory for parts of a product's factors, in the form in which matrix units load them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, UnitAttr, i8, i32
from xdsl.dialects.memref import ViewOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.cooperative_matrix import (
    WORD_BITS,
    CooperativeMatrixLoadOp,
    CooperativeMatrixType,
    MatrixUse,
)
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.indices import Index
from xtile.targets.products import BUILTIN_TYPES
from xtile.targets.target import MatrixUnit
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.local_memory import local_buffer


@dataclass(frozen=True)
class PackedMemory:
    """A strip of op(A) and a panel of op(B).

    The strip has matrices below each other, for one matrix of the depth after the other. The panel
    has rows of words of 32 bits, which hold neighbours along the depth, for one matrix of the
    columns after the other.

    Attributes:
        kernel: The kernel that is being built.
        matrix: The cooperative matrices.
        height: The rows of the strip, a multiple of a matrix's.
        columns: The columns of the panel, a multiple of a matrix's.
        depth: The columns of the strip and the rows of the panel, a multiple of a matrix's.
    """

    kernel: Kernel
    matrix: MatrixUnit
    height: int
    columns: int
    depth: int

    @property
    def _type(self) -> FixedBitwidthType:
        """The type of the factors' elements."""
        return BUILTIN_TYPES[self.matrix.a]

    @property
    def factors(self) -> int:
        """Neighbours along the depth in a word."""
        return WORD_BITS // self._type.bitwidth

    @property
    def words(self) -> int:
        """Rows of words in a matrix of op(B)."""
        return self.matrix.depth // self.factors

    @property
    def strip(self) -> SSAValue:
        """The memory of the strip."""
        shape = (self.height * self.depth // self.matrix.depth, self.matrix.depth)
        return self._buffer("strip", self._type, shape)

    @property
    def panel(self) -> SSAValue:
        """The memory of the panel, as elements."""
        return self._view_of_panel(self._type, self.factors)

    @property
    def panel_of_words(self) -> SSAValue:
        """The memory of the panel, as words."""
        return self._view_of_panel(i32, 1)

    def _view_of_panel(self, element: Attribute, count: int) -> SSAValue:
        """The panel with elements of a type, of which so many make a word."""
        kernel, width = self.kernel, self.matrix.columns
        rows = self.columns // width * self.depth // self.factors
        size = rows * width * WORD_BITS // 8
        memory = kernel.shared(("panel", size), (), lambda: local_buffer(kernel, i8, (size,)))
        space = cast("AnyMemRef", memory.type).memory_space
        type_ = MemRefType(element, (rows, width * count), memory_space=space)
        return kernel.shared(
            ("panel", memory, type_),
            (memory,),
            lambda: kernel.emit(
                ViewOp.build(operands=[memory, kernel.index(0), []], result_types=[type_])
            ).results[0],
        )

    def _buffer(self, name: str, element: Attribute, shape: tuple[int, int]) -> SSAValue:
        kernel = self.kernel
        return kernel.shared(
            (name, element, shape), (), lambda: local_buffer(kernel, element, shape)
        )

    def row_in_strip(self, row: Index, step: Index) -> Index:
        """The row of the strip's memory with a row of op(A), for one matrix of the depth."""
        kernel = self.kernel
        return kernel.add(kernel.multiply(step, self.height), row)

    def row_in_panel(self, tile: Index, word: Index) -> Index:
        """The row of the panel's memory with a row of words, for one matrix of the columns."""
        kernel = self.kernel
        return kernel.add(kernel.multiply(tile, self.depth // self.factors), word)

    def load_a(self, row: int, step: Index) -> SSAValue:
        """The matrix of op(A) from a row of the strip on."""
        type_ = CooperativeMatrixType.of(
            self.matrix.rows, self.matrix.depth, self._type, MatrixUse.MATRIX_A
        )
        return self._load(self.strip, self.row_in_strip(row, step), type_, {})

    def load_b(self, step: Index, tile: Index) -> SSAValue:
        """The matrix of op(B) with a number along the columns of the panel."""
        type_ = CooperativeMatrixType.of(
            self.matrix.depth, self.matrix.columns, self._type, MatrixUse.MATRIX_B
        )
        row = self.row_in_panel(tile, self.kernel.multiply(step, self.words))
        return self._load(self.panel, row, type_, {"packed": UnitAttr()})

    def _load(
        self,
        memory: SSAValue,
        row: Index,
        type_: CooperativeMatrixType,
        properties: dict[str, Attribute],
    ) -> SSAValue:
        kernel = self.kernel
        at = [kernel.as_value(row), kernel.index(0)]
        operation = CooperativeMatrixLoadOp(
            operands=[memory, at], result_types=[type_], properties=properties
        )
        return kernel.emit(operation).result
