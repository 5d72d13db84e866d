"""Narrow elements in bytes, along any dimension of a tile.

Source: CUDA Tile IR, `pack`, `unpack`; triton-lang/triton, `TritonOps.td` (`tt.fp4_to_fp`, and the
operands of `tt.dot_scaled`).
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import I64, FixedBitwidthType, IntegerAttr, VectorType, i8, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import vector_type, verify_type
from xtile.dialects.upstream import TypeWhere

_WIDTHS = (1, 2, 4)
"""The widths in bits of elements of which several fill a byte."""


def _has_elements(type: Attribute, widths: tuple[int, ...]) -> bool:
    if not isinstance(type, VectorType):
        return False
    element = cast("VectorType[Attribute]", type).element_type
    return isinstance(element, FixedBitwidthType) and element.bitwidth in widths


BYTES = TypeWhere("a vector of i8", lambda type: _has_elements(type, (8,)) and _of_bytes(type))
NARROW = TypeWhere(
    "a vector of elements of 1, 2 or 4 bits", lambda type: _has_elements(type, _WIDTHS)
)


def _of_bytes(type: Attribute) -> bool:
    return cast("VectorType[Attribute]", type).element_type == i8


class PackingOperation(IRDLOperation, ABC):
    """Elements and the bytes that hold them, several along a dimension in each."""

    traits = traits_def(Pure())
    assembly_format: ClassVar[str | None] = (
        "$source `axis` $axis attr-dict `:` type($source) `->` type($result)"
    )

    def __init__(self, source: SSAValue, axis: int, type: Attribute) -> None:
        super().__init__(
            operands=[source],
            properties={"axis": IntegerAttr(axis, i64)},
            result_types=[type],
        )


def _verify(axis: int, elements: VectorType[Attribute], bytes_: Attribute, what: str) -> None:
    """Checks that bytes have the elements of a vector.

    Raises:
        VerifyException: They do not.
    """
    shape = list(elements.get_shape())
    if not 0 <= axis < len(shape):
        raise VerifyException(f"expected an axis from 0 to {len(shape) - 1}, got {axis}")
    in_byte = 8 // cast(FixedBitwidthType, elements.element_type).bitwidth
    if shape[axis] % in_byte:
        raise VerifyException(
            f"expected whole bytes, but {elements} has {shape[axis]} elements along {axis}, "
            f"no multiple of {in_byte}"
        )
    shape[axis] //= in_byte
    verify_type(bytes_, VectorType(i8, shape), what)


@op_definition
class PackOp(PackingOperation):
    """The bytes that hold the elements of a tile, several along a dimension in each.

    ```
    %r = core.pack %v axis 1 : vector<8x32xf4E2M1FN> -> vector<8x16xi8>
    ```

    The first element lies in the lowest bits.
    """

    name = "core.pack"

    source = operand_def(NARROW)
    axis = prop_def(IntegerAttr[I64])
    result = result_def(BYTES)

    @override
    def verify_(self) -> None:
        _verify(self.axis.value.data, vector_type(self.source), self.result.type, "the result")


@op_definition
class UnpackOp(PackingOperation):
    """The elements that the bytes of a tile hold, several along a dimension in each.

    ```
    %r = core.unpack %v axis 1 : vector<8x16xi8> -> vector<8x32xf4E2M1FN>
    ```

    The first element lies in the lowest bits.
    """

    name = "core.unpack"

    source = operand_def(BYTES)
    axis = prop_def(IntegerAttr[I64])
    result = result_def(NARROW)

    @override
    def verify_(self) -> None:
        _verify(self.axis.value.data, vector_type(self.result), self.source.type, "the operand")
