"""The types of the `gpu` dialect.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUBase.td` and `GPUDialect.h`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IntAttr,
    IntegerType,
    Signedness,
    StringAttr,
)
from xdsl.dialects.gpu import AsyncTokenType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

MMA_ELEMENT_TYPES: tuple[Attribute, ...] = (
    IntegerType(8, Signedness.SIGNED),
    IntegerType(8, Signedness.UNSIGNED),
    IntegerType(32),
    Float16Type(),
    Float32Type(),
    Float64Type(),
)
"""What a matrix of `gpu.subgroup_mma_*` may hold."""


@irdl_attr_definition
class MMAMatrixType(ParametrizedAttribute, TypeAttribute):
    """A matrix that a subgroup holds together: `!gpu.mma_matrix<16x16xf16, "AOp">`.

    Its operand is one of `AOp`, `BOp` and `COp`, the place that it takes in a product.
    """

    name = "gpu.mma_matrix"

    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    operand: StringAttr

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of rows and of columns."""
        return tuple(size.data for size in self.shape)

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for size in self.sizes:
                printer.print_string(f"{size}x")
            printer.print_attribute(self.element_type)
            printer.print_string(", ")
            printer.print_attribute(self.operand)

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            sizes, element_type = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            operand = StringAttr(parser.parse_str_literal())
        return (ArrayAttr(IntAttr(size) for size in sizes), element_type, operand)

    @override
    def verify(self) -> None:
        if self.operand.data not in ("AOp", "BOp", "COp"):
            raise VerifyException(f"the operand of a matrix is AOp, BOp or COp, got {self.operand}")
        if len(self.shape) != 2:
            raise VerifyException(f"a matrix has two dimensions, got {len(self.shape)}")
        if min(self.sizes) < 0:
            raise VerifyException("the dimensions of a matrix must be known")
        if self.element_type not in MMA_ELEMENT_TYPES:
            names = ", ".join(str(type) for type in MMA_ELEMENT_TYPES)
            raise VerifyException(f"a matrix holds one of {names}, got {self.element_type}")


TYPES: list[type[Attribute]] = [AsyncTokenType, MMAMatrixType]
"""Every type of the dialect."""
