"""Matrices that lanes multiply together, and which part of them a lane holds.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `dpas`; docs/semantics.md, "XeGPU".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Attribute

from xtile.dialects.shared_attributes import integer_type, vector_of
from xtile.dialects.xegpu.operation import shape_of, shape_text
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.layouts.intel import (
    SYSTOLIC_DEPTH,
    WORD,
    elements_of_a_word,
    neighbours_of_a_row,
)
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    bit_width,
    element_type,
    piece_types,
    register_type,
)


@dataclass(frozen=True)
class Product:
    """D (rows x lanes) := A (rows x depth) B (depth x lanes) + C.

    Attributes:
        rows: The rows of A, C and D.
        depth: The columns of A and rows of B.
        lanes: The columns of B, C and D.
        factor: The type of the elements of A and B.
        sum: The type of the elements of C and D.
    """

    rows: int
    depth: int
    lanes: int
    factor: Attribute
    sum: Attribute

    @property
    def neighbours(self) -> int:
        """How many elements of a row of A a lane holds one after the other."""
        return neighbours_of_a_row(self.depth, bit_width(self.factor), self.lanes)

    @property
    def left_word(self) -> Attribute:
        """What a lane has of a row of A: an element, or a word with several of them."""
        if self.factor == f32:
            return f32
        bits = SYSTOLIC_DEPTH * WORD // self.lanes
        return register_type(self.factor) if bit_width(self.factor) == bits else integer_type(bits)

    @property
    def right_word(self) -> Attribute:
        """What a lane has of rows of B that fill 32 bits."""
        return f32 if self.factor == f32 else i32

    @property
    def sum_types(self) -> tuple[Attribute, ...]:
        """The types of the pieces of a lane's part of C or D: its column."""
        return piece_types(vector_of((self.rows,), self.sum))

    @property
    def sum_type(self) -> Attribute:
        """The type of a lane's part of C or D, where it is one piece."""
        (type_,) = self.sum_types
        return type_


def product_of(operation: DpasOp, lowering: Lowering) -> Product:
    """The product of a subgroup whose lanes hold the operands.

    Raises:
        DiagnosticError: The operands are not what a lane holds.
    """
    if not operation.is_for_lane:
        raise lowering.error(
            f"{shape_text(shape_of(operation.lhs.type))} times "
            f"{shape_text(shape_of(operation.rhs.type))} are the matrices of a subgroup; only code "
            "of one lane can be translated to SPIR-V, whose parts of them are vectors of one "
            "dimension"
        )
    lanes = lowering.kernel.lanes_together
    shapes = [shape_of(value.type) for value in (operation.lhs, operation.rhs, operation.result)]
    left, depth, rows = (prod(shape) for shape in shapes)
    factor, total = (element_type(value.type) for value in (operation.rhs, operation.result))
    if left * lanes != rows * depth or depth % elements_of_a_word(bit_width(factor)):
        raise lowering.error(
            f"lanes that hold {left}, {depth} and {rows} elements do not make up matrices: in a "
            f"subgroup of {lanes}, whose product has as many columns, they are parts of "
            f"{rows}x{depth} times {depth}x{lanes}"
        )
    return Product(rows, depth, lanes, factor, total)
