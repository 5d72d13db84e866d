"""Memory of complex numbers as memory of their parts, because vectors hold no complex numbers."""

from __future__ import annotations

from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import AnyFloat, ComplexType, MemRefType, StridedLayoutAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.core.attributes import ComplexPart
from xtile.dialects.definitions import op_definition


@irdl_attr_definition
class ComplexPartAttr(EnumAttribute[ComplexPart], SpacedOpaqueSyntaxAttribute):
    """`#core<complex_part real>`."""

    name = "core.complex_part"


@op_definition
class ComplexPartOp(IRDLOperation):
    """The real or the imaginary parts of the complex numbers in memory, as memory of their own.

    ```
    %re = core.complex_part real %m
        : memref<4x8xcomplex<f32>> to memref<4x8xf32, strided<[16, 2]>>
    ```

    Strides and offset are twice those of the source; that of the imaginary parts is 1 more.
    """

    name = "core.complex_part"

    part = prop_def(ComplexPartAttr)
    source = operand_def(MemRefType)
    result = result_def(MemRefType)

    traits = traits_def(Pure())

    def __init__(self, source: SSAValue, part: ComplexPart) -> None:
        super().__init__(
            operands=[source],
            result_types=[part_type(source.type, part)],
            properties={"part": ComplexPartAttr(part)},
        )

    assembly_format = "$part $source attr-dict `:` type($source) `to` type($result)"

    @override
    def verify_(self) -> None:
        expected = part_type(self.source.type, self.part.data)
        if self.result.type != expected:
            raise VerifyException(f"expected the type {expected}, got {self.result.type}")


def part_type(source: Attribute, part: ComplexPart) -> MemRefType[Attribute]:
    """The type of the memory of one of the parts.

    Args:
        source: The type of the memory of complex numbers.
        part: Which part.

    Raises:
        VerifyException: The source holds no complex numbers, or its strides cannot be known.
    """
    if not isa(source, MemRefType) or not _is_complex(source.element_type):
        raise VerifyException(f"expected a memref of complex numbers, got {source}")
    strides, offset = source.get_strides(), source.get_offset()
    if strides is None:
        raise VerifyException(f"expected a memref with strides, got {source}")
    element = cast("ComplexType[AnyFloat]", source.element_type).element_type
    layout = StridedLayoutAttr(
        [None if stride is None else 2 * stride for stride in strides],
        None if offset is None else 2 * offset + (part is ComplexPart.IMAGINARY),
    )
    return MemRefType(element, source.get_shape(), layout, source.memory_space)


def _is_complex(type: Attribute) -> bool:
    return isinstance(type, ComplexType)
