"""Attributes as bytes.

An attribute whose location tells its kind is its contents; another one has a tag before them.

Source: NVIDIA/cuda-tile 13.3.0, `BytecodeWriter.cpp`, `writeSingleAttribute`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, TypeAttribute

from xtile.dialects.cuda_tile.attributes import (
    BoundedAttr,
    DivByAttr,
    OptimizationHintsAttr,
    SameElementsAttr,
)
from xtile.dialects.cuda_tile.bytecode.byte_streams import (
    write_numbers,
    write_signed_varint,
    write_varint,
)
from xtile.dialects.cuda_tile.bytecode.constants import ConstantWriter
from xtile.dialects.cuda_tile.bytecode.string_table import StringWriter
from xtile.dialects.cuda_tile.bytecode.tables import AttributeTag
from xtile.dialects.cuda_tile.bytecode.type_encoder import TypeWriter, UnwritableError
from xtile.dialects.cuda_tile.versions import Version
from xtile.text.mlir_numbers import bit_width, float_bits

_WORD = 1 << 64


class AttributeWriter:
    """Writes attributes, and collects the strings, types and constants that they name.

    Args:
        version: The version that is written.
    """

    def __init__(self, version: Version) -> None:
        self.version = version
        self.strings = StringWriter()
        self.types = TypeWriter(version)
        self.constants = ConstantWriter()

    def write_tagged(self, out: bytearray, attribute: Attribute) -> None:
        """Writes an attribute with its tag.

        Raises:
            UnwritableError: It has no tag, or a part of it is not in the version.
        """
        match attribute:
            case IntegerAttr():
                out.append(AttributeTag.INTEGER)
                write_varint(out, self.types.index(attribute.type))
                write_varint(out, unsigned(attribute))
            case FloatAttr():
                self._write_float(out, attribute)
            case StringAttr():
                out.append(AttributeTag.STRING)
                write_varint(out, self.strings.index(attribute.data))
            case ArrayAttr():
                out.append(AttributeTag.ARRAY)
                self.write_array(out, attribute)
            case DenseIntOrFPElementsAttr():
                out.append(AttributeTag.DENSE_ELEMENTS)
                write_varint(out, self.types.index(attribute.type))
                write_varint(out, self.constants.index(attribute))
            case DictionaryAttr():
                out.append(AttributeTag.DICTIONARY)
                self.write_dictionary(out, attribute)
            case TypeAttribute():
                out.append(AttributeTag.TYPE)
                write_varint(out, self.types.index(attribute))
            case _:
                self._write_own(out, attribute)

    def _write_own(self, out: bytearray, attribute: Attribute) -> None:
        match attribute:
            case DivByAttr():
                out.append(AttributeTag.DIV_BY)
                write_varint(out, attribute.divisor.data)
                self._write_optional(out, attribute.every, attribute.along)
            case SameElementsAttr():
                out.append(AttributeTag.SAME_ELEMENTS)
                write_numbers(out, attribute.get_values(), 8)
            case BoundedAttr():
                out.append(AttributeTag.BOUNDED)
                self._write_optional(out, attribute.lb, attribute.ub)
            case OptimizationHintsAttr():
                out.append(AttributeTag.OPTIMIZATION_HINTS)
                self.write_dictionary(out, attribute.value)
            case _:
                raise UnwritableError(f"the bytecode has no attribute such as {attribute}")

    def write_array(self, out: bytearray, attribute: ArrayAttr[Attribute]) -> None:
        """Writes how many attributes there are, and each with its tag.

        Raises:
            UnwritableError: One cannot be written.
        """
        write_varint(out, len(attribute))
        for element in attribute:
            self.write_tagged(out, element)

    def write_dictionary(self, out: bytearray, attribute: DictionaryAttr) -> None:
        """Writes how many entries there are, and each by its name, in the order of the names.

        Raises:
            UnwritableError: One cannot be written.
        """
        write_varint(out, len(attribute.data))
        for name, value in sorted(attribute.data.items(), key=_name):
            write_varint(out, self.strings.index(name))
            self.write_tagged(out, value)

    def _write_float(self, out: bytearray, attribute: FloatAttr) -> None:
        out.append(AttributeTag.FLOAT)
        write_varint(out, self.types.index(attribute.type))
        bits = float_bits(attribute.value.data, attribute.type)
        if bit_width(attribute.type) <= 8:
            out.append(bits)
        else:
            # The bits of f64 are a signed number of 64 bits, those of the others positive.
            write_signed_varint(out, bits - _WORD if bits >= _WORD >> 1 else bits)

    @staticmethod
    def _write_optional(out: bytearray, *values: IntAttr | NoneAttr) -> None:
        """Writes flags that tell which numbers there are, and the numbers."""
        out.append(sum(1 << bit for bit, value in enumerate(values) if isinstance(value, IntAttr)))
        for value in values:
            if isinstance(value, IntAttr):
                write_signed_varint(out, value.data)


def unsigned(attribute: IntegerAttr) -> int:
    """An integer as the bytecode has it: the bits of its type as a positive number."""
    return attribute.value.data & ((1 << bit_width(attribute.type)) - 1)


def _name(item: tuple[str, Attribute]) -> bytes:
    return item[0].encode("utf-8", "surrogateescape")
