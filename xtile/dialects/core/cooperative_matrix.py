"""Matrices that a subgroup holds as a whole, for devices that multiply them with one instruction.

How the work-items of the subgroup share the elements is the device's matter, so there is no other
access to them than through memory. Those work-items of the subgroup that execute an operation do so
together, on equal operands: on a CPU, one of them can be enough.

Source: SPV_KHR_cooperative_matrix; for packed memory SPV_INTEL_joint_matrix, layout `PackedINTEL`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    AnyFloat,
    IndexType,
    IntAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    UnitAttr,
    f32,
    i32,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.definitions import op_definition
from xtile.dialects.memref.layouts import layout_of, verify_indices

WORD_BITS = 32
"""Bits of a word of packed memory."""


class MatrixUse(StrEnum):
    """Which part a matrix takes in D := A B + C."""

    MATRIX_A = "matrix_a"
    MATRIX_B = "matrix_b"
    ACCUMULATOR = "accumulator"


@irdl_attr_definition
class CooperativeMatrixType(ParametrizedAttribute, TypeAttribute):
    """A matrix of a subgroup: `!core.cooperative_matrix<16x32xbf16, matrix_a>`.

    Attributes:
        component_type: The type of the elements.
        rows: The number of rows.
        columns: The number of columns.
        use: The name of a `MatrixUse`.
    """

    name = "core.cooperative_matrix"

    component_type: Attribute
    rows: IntAttr
    columns: IntAttr
    use: StringAttr

    @classmethod
    def of(
        cls, rows: int, columns: int, component_type: Attribute, use: MatrixUse
    ) -> CooperativeMatrixType:
        """The type of `rows` x `columns` elements."""
        return cls(component_type, IntAttr(rows), IntAttr(columns), StringAttr(use))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows.data, self.columns.data

    @property
    def bits(self) -> int:
        """The bits of an element."""
        return cast("Any", self.component_type).bitwidth

    @property
    def packing_problem(self) -> str | None:
        """Why packed memory cannot hold the matrix; None if it can."""
        if self.use.data == MatrixUse.ACCUMULATOR:
            return "an accumulator is not packed"
        if self.bits >= WORD_BITS or WORD_BITS % self.bits:
            return f"elements of type {self.component_type} do not fill words of {WORD_BITS} bits"
        depth = self.columns.data if self.use.data == MatrixUse.MATRIX_A else self.rows.data
        if depth * self.bits % WORD_BITS:
            return f"{depth} elements of {self.component_type} are no whole words"
        return None

    @property
    def packed_shape(self) -> tuple[int, int]:
        """Rows and columns of the words that packed memory holds."""
        factors = WORD_BITS // self.bits
        if self.use.data == MatrixUse.MATRIX_A:
            return self.rows.data, self.columns.data // factors
        return self.rows.data // factors, self.columns.data

    @override
    def verify(self) -> None:
        if not isinstance(self.component_type, AnyFloat | IntegerType):
            raise VerifyException(f"a cooperative matrix has no elements of {self.component_type}")
        if min(self.shape) < 1:
            raise VerifyException("a cooperative matrix has at least one row and one column")
        if self.use.data not in list(MatrixUse):
            raise VerifyException(f"expected one of {', '.join(MatrixUse)}, got {self.use.data}")

    @classmethod
    @override
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            rows = parser.parse_shape_dimension(allow_dynamic=False)
            parser.parse_shape_delimiter()
            columns = parser.parse_shape_dimension(allow_dynamic=False)
            parser.parse_shape_delimiter()
            component = parser.parse_type()
            parser.parse_punctuation(",")
            return component, IntAttr(rows), IntAttr(columns), StringAttr(parser.parse_identifier())

    @override
    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.rows.data}x{self.columns.data}x")
            printer.print_attribute(self.component_type)
            printer.print_string(f", {self.use.data}")


@op_definition
class CooperativeMatrixLoadOp(IRDLOperation):
    """Loads a block of memory, from the element at the indices on.

    ```
    %a = core.cooperative_matrix_load %memory[%i, %k]
        : memref<64x64xbf16> -> !core.cooperative_matrix<16x32xbf16, matrix_a>
    %b = core.cooperative_matrix_load packed %pairs[%p, %j]
        : memref<32x128xbf16> -> !core.cooperative_matrix<32x16xbf16, matrix_b>
    ```

    Rows and columns lie along the last two dimensions of the memory, whose elements have the
    matrix's type or are integers with its bits. The innermost stride is 1.

    Packed memory consists of words of 32 bits, each of which has elements that follow each other
    along the depth, the first one in the lowest bits; its elements may also be words, of type i32.
    With v elements in a word, the word in row i and column p of an A holds the elements (i, v p),
    (i, v p + 1), ..; the word in row p and column j of a B holds (v p, j), (v p + 1, j), ..
    """

    name = "core.cooperative_matrix_load"

    memory = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    packed = opt_prop_def(UnitAttr)
    result = result_def(CooperativeMatrixType)

    assembly_format = (
        "(`packed` $packed^)? $memory `[` $indices `]` attr-dict "
        "`:` type($memory) `->` type($result)"
    )

    @override
    def verify_(self) -> None:
        matrix = type_of(self.result)
        _verify_block(self.memory, len(self.indices))
        if self.packed is not None and matrix.packing_problem is not None:
            raise VerifyException(matrix.packing_problem)
        if self.packed is None or not has_words(self.memory):
            _verify_elements(self.memory, matrix)


@op_definition
class CooperativeMatrixStoreOp(IRDLOperation):
    """Stores a matrix to a block of memory, from the element at the indices on.

    ```
    core.cooperative_matrix_store %c, %memory[%i, %j]
        : !core.cooperative_matrix<16x16xf32, accumulator>, memref<64x64xf32>
    ```

    Rows and columns lie along the last two dimensions of the memory, whose innermost stride is 1.
    """

    name = "core.cooperative_matrix_store"

    matrix = operand_def(CooperativeMatrixType)
    memory = operand_def(MemRefType)
    indices = var_operand_def(IndexType)

    assembly_format = (
        "$matrix `,` $memory `[` $indices `]` attr-dict `:` type($matrix) `,` type($memory)"
    )

    @override
    def verify_(self) -> None:
        _verify_block(self.memory, len(self.indices))
        _verify_elements(self.memory, type_of(self.matrix))


@op_definition
class CooperativeMatrixFillOp(IRDLOperation):
    """A matrix whose elements are all the same.

    ```
    %c = core.cooperative_matrix_fill %zero
        : f32 -> !core.cooperative_matrix<16x16xf32, accumulator>
    ```
    """

    name = "core.cooperative_matrix_fill"

    value = operand_def(Attribute)
    result = result_def(CooperativeMatrixType)

    traits = traits_def(Pure())

    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"

    @override
    def verify_(self) -> None:
        component = type_of(self.result).component_type
        if self.value.type != component:
            raise VerifyException(f"expected a number of type {component}, got {self.value.type}")


@op_definition
class CooperativeMatrixMultiplyAddOp(IRDLOperation):
    """D := A B + C, of M x K, K x N and M x N elements.

    ```
    %d = core.cooperative_matrix_multiply_add %a, %b, %c
        : !core.cooperative_matrix<16x32xbf16, matrix_a>,
          !core.cooperative_matrix<32x16xbf16, matrix_b>,
          !core.cooperative_matrix<16x16xf32, accumulator>
    ```

    Products of floats are added up in f32, in any order and with or without rounding in between;
    integers are signed and wrap around in i32.
    """

    name = "core.cooperative_matrix_multiply_add"

    a = operand_def(CooperativeMatrixType)
    b = operand_def(CooperativeMatrixType)
    c = operand_def(CooperativeMatrixType)
    result = result_def(CooperativeMatrixType)

    traits = traits_def(Pure())

    assembly_format = (
        "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    @override
    def verify_(self) -> None:
        a, b, c = (type_of(operand) for operand in self.operands)
        uses = [MatrixUse(matrix.use.data) for matrix in (a, b, c)]
        if uses != list(MatrixUse):
            raise VerifyException(f"expected {', '.join(MatrixUse)}, got {', '.join(uses)}")
        (rows, depth), (depth_of_b, columns) = a.shape, b.shape
        if depth != depth_of_b or c.shape != (rows, columns):
            raise VerifyException(f"{a} times {b} is not added to {c}")
        if a.component_type != b.component_type:
            raise VerifyException(f"{a} and {b} have elements of different types")
        wanted = i32 if isinstance(a.component_type, IntegerType) else f32
        if c.component_type != wanted:
            raise VerifyException(f"the products of {a} are added up in {wanted}")
        if self.result.type != c:
            raise VerifyException(f"the result has the type of the sums, {c}")


def type_of(value: SSAValue) -> CooperativeMatrixType:
    """The type of a value that is a matrix."""
    return cast("CooperativeMatrixType", value.type)


def is_on_cooperative_matrices(operation: Operation) -> bool:
    """Whether an operation is one of a subgroup's whole matrices, which lane level has, too."""
    return isinstance(
        operation,
        CooperativeMatrixFillOp
        | CooperativeMatrixLoadOp
        | CooperativeMatrixMultiplyAddOp
        | CooperativeMatrixStoreOp,
    )


def has_words(memory: SSAValue) -> bool:
    """Whether the elements of packed memory are words."""
    return _element_type(memory) == i32


def _element_type(memory: SSAValue) -> Attribute:
    return cast("MemRefType[Attribute]", memory.type).element_type


def _verify_block(memory: SSAValue, indices: int) -> None:
    """Checks that a memref has rows whose elements lie side by side."""
    type = cast("MemRefType[Attribute]", memory.type)
    layout = layout_of(type)
    if type.get_num_dims() < 2:
        raise VerifyException(f"expected a memref of at least two dimensions, got {type}")
    if layout is None or layout.strides[-1] != 1:
        raise VerifyException(f"the last dimension must have stride 1, got {type}")
    verify_indices([None] * indices, type)


def _verify_elements(memory: SSAValue, matrix: CooperativeMatrixType) -> None:
    """Checks that a memref holds elements of a matrix, or their bits."""
    element, component, bits = _element_type(memory), matrix.component_type, matrix.bits
    if element != component and element != IntegerType(bits):
        raise VerifyException(f"expected elements of {component} or i{bits}, got {memory.type}")
