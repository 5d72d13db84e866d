"""Attributes from bytes; `attribute_encoder.py` describes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    FloatData,
    IntegerAttr,
    IntegerType,
    StringAttr,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.attributes import (
    BoundedAttr,
    DivByAttr,
    OptimizationHintsAttr,
    SameElementsAttr,
)
from xtile.dialects.cuda_tile.bytecode.byte_streams import ByteReader
from xtile.dialects.cuda_tile.bytecode.constants import ConstantReader
from xtile.dialects.cuda_tile.bytecode.string_table import StringReader
from xtile.dialects.cuda_tile.bytecode.tables import AttributeTag
from xtile.dialects.cuda_tile.bytecode.type_decoder import TypeReader
from xtile.dialects.cuda_tile.types import TileType, is_float
from xtile.text.mlir_numbers import AnyFloat, bit_width, float_from_bits

_MAXIMUM_DEPTH = 64
"""How deep arrays and dictionaries may nest."""

_EVERY, _ALONG = 1, 2

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")


class AttributeReader:
    """Reads attributes.

    Args:
        strings: The file's strings.
        types: The file's types.
        constants: The file's constants.
    """

    def __init__(self, strings: StringReader, types: TypeReader, constants: ConstantReader) -> None:
        self.strings = strings
        self.types = types
        self.constants = constants
        self._depth = 0
        self._readers: dict[int, Callable[[ByteReader], Attribute]] = {
            AttributeTag.INTEGER: self._read_integer,
            AttributeTag.FLOAT: self._read_float,
            AttributeTag.BOOL: read_boolean,
            AttributeTag.TYPE: self.types.get,
            AttributeTag.STRING: self.read_string,
            AttributeTag.ARRAY: self.read_array,
            AttributeTag.DENSE_ELEMENTS: self._read_elements,
            AttributeTag.DIV_BY: _read_div_by,
            AttributeTag.SAME_ELEMENTS: _read_same_elements,
            AttributeTag.DICTIONARY: self.read_dictionary,
            AttributeTag.OPTIMIZATION_HINTS: self.read_hints,
            AttributeTag.BOUNDED: _read_bounded,
        }

    def read_tagged(self, reader: ByteReader) -> Attribute:
        """Reads an attribute with its tag.

        Raises:
            DiagnosticError: It is damaged, or nests too deeply.
        """
        start = reader.position
        tag = reader.varint()
        read = self._readers.get(tag)
        if read is None:
            raise reader.error(f"there is no attribute with the tag {tag}", start)
        if self._depth == _MAXIMUM_DEPTH:
            raise reader.error(f"attributes nest more than {_MAXIMUM_DEPTH} deep", start)
        self._depth += 1
        attribute = read(reader)
        self._depth -= 1
        return attribute

    def read_string(self, reader: ByteReader) -> StringAttr:
        """Reads the number of a string.

        Raises:
            DiagnosticError: There is no such string.
        """
        return StringAttr(self.strings.get(reader))

    def read_array(self, reader: ByteReader) -> ArrayAttr[Attribute]:
        """Reads attributes with their tags.

        Raises:
            DiagnosticError: One is damaged.
        """
        return ArrayAttr(self.read_tagged(reader) for _ in range(reader.count("elements")))

    def read_dictionary(self, reader: ByteReader) -> DictionaryAttr:
        """Reads named attributes.

        Raises:
            DiagnosticError: One is damaged, or two have one name.
        """
        entries: dict[str, Attribute] = {}
        for _ in range(reader.count("entries", 2)):
            start = reader.position
            name = self.strings.get(reader)
            if not name or name in entries:
                problem = f"a second entry {name!r}" if name else "an entry without a name"
                raise reader.error(f"a dictionary has {problem}", start)
            entries[name] = self.read_tagged(reader)
        return DictionaryAttr(dict(sorted(entries.items())))

    def read_hints(self, reader: ByteReader) -> OptimizationHintsAttr:
        """Reads hints for each architecture.

        Raises:
            DiagnosticError: They are damaged.
        """
        start = reader.position
        hints = self.read_dictionary(reader)
        inner = [value.data for value in hints.data.values() if isinstance(value, DictionaryAttr)]
        for name in (name for names in (hints.data, *inner) for name in names):
            # Text has no way to write any other name.
            if _IDENTIFIER.fullmatch(name) is None:
                raise reader.error(f"the name of a hint is an identifier, got {name!r}", start)
        try:
            return OptimizationHintsAttr(hints)
        except VerifyException as error:
            raise reader.error(str(error), start) from None

    def _read_integer(self, reader: ByteReader) -> IntegerAttr:
        type = self.types.get_of(reader, IntegerType, "the type of an integer")
        return read_integer(reader, type)

    def _read_float(self, reader: ByteReader) -> FloatAttr:
        start = reader.position
        type = self.types.get(reader)
        if not is_float(type):
            raise reader.error(f"expected the type of a float, got {type.name}", start)
        element = cast("AnyFloat", type)
        width = bit_width(element)
        start = reader.position
        bits = reader.byte() if width <= 8 else reader.word()
        if bits >> width:
            raise reader.error(f"{bits:#x} has more bits than {type}", start)
        # The bits of NaN are kept, which the constructor does not do.
        return FloatAttr.new((FloatData(float_from_bits(bits, element)), element))

    def _read_elements(self, reader: ByteReader) -> Attribute:
        return self.constants.get(reader, self.types.get_of(reader, TileType, "a tile"))


def read_boolean(reader: ByteReader) -> IntegerAttr:
    """Reads a byte that is true unless it is 0.

    Raises:
        DiagnosticError: There is none.
    """
    return IntegerAttr(int(reader.byte() != 0), 1)


def read_integer(reader: ByteReader, type: IntegerType) -> IntegerAttr:
    """Reads the bits of an integer as a positive number.

    Raises:
        DiagnosticError: It has more bits than the type.
    """
    width = type.width.data
    if width == 1:
        return read_boolean(reader)
    start = reader.position
    bits = reader.varint()
    if bits >> width:
        raise reader.error(f"{bits} has more bits than {type}", start)
    return IntegerAttr(bits - (1 << width) if bits >> (width - 1) else bits, type)


def _read_div_by(reader: ByteReader) -> DivByAttr:
    divisor = reader.varint()
    every, along = _read_optional(reader)
    return DivByAttr(divisor, every, along)


def _read_bounded(reader: ByteReader) -> BoundedAttr:
    return BoundedAttr(*_read_optional(reader))


def _read_same_elements(reader: ByteReader) -> SameElementsAttr:
    return SameElementsAttr(reader.fixed_numbers(reader.count("numbers", 8), 8, signed=True))


def _read_optional(reader: ByteReader) -> tuple[int | None, int | None]:
    """Reads flags that tell which of two numbers there are, and the numbers."""
    start = reader.position
    flags = reader.byte()
    if flags & ~(_EVERY | _ALONG):
        raise reader.error(f"the flags are {flags:#x}; known are 0x3", start)
    first = reader.signed_varint() if flags & _EVERY else None
    second = reader.signed_varint() if flags & _ALONG else None
    return first, second
