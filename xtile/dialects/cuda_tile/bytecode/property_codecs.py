"""How each kind of property is written and read, by the constraint that its class has.

Source: NVIDIA/cuda-tile 13.3.0, `BytecodeWriter.cpp`, `writeOpAttribute`, and
`BytecodeReader.cpp`, `parseOpAttribute`; for arrays of `i1` the writer of cuda-tile 1.7.0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import AttrConstraint
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.cuda_tile.attributes import AssumePredicateAttr, OptimizationHintsAttr
from xtile.dialects.cuda_tile.bytecode.attribute_decoder import AttributeReader, read_integer
from xtile.dialects.cuda_tile.bytecode.attribute_encoder import AttributeWriter, unsigned
from xtile.dialects.cuda_tile.bytecode.byte_streams import ByteReader, write_numbers, write_varint
from xtile.dialects.cuda_tile.bytecode.type_encoder import UnwritableError
from xtile.dialects.cuda_tile.types import TileType


class Codec(ABC):
    """Writes and reads the properties of one kind."""

    @abstractmethod
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        """Writes a property.

        Raises:
            UnwritableError: It is of another kind, or the version has not all of it.
        """

    @abstractmethod
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute | None:
        """Reads a property of an operation whose results have the types `results`.

        It is None where what is read means the same as no property.

        Raises:
            DiagnosticError: It is damaged.
        """


class FlagCodec(Codec):
    """A property that is there or not, which the operation's flags tell."""

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        pass

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        return UnitAttr()


class MemberCodec(Codec):
    """A member of an enumeration, as its number."""

    def __init__(self, kind: type[EnumAttribute[StrEnum]]) -> None:
        self.members = [kind(member) for member in kind.enum_type]
        # By identity: there is one of each member.
        self._numbers = {id(member.data): number for number, member in enumerate(self.members)}
        self._name = kind.name

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        out.append(self._numbers[id(cast("EnumAttribute[StrEnum]", value).data)])

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        start = reader.position
        number = reader.varint()
        if number >= len(self.members):
            raise reader.error(f"{self._name} has no member {number}", start)
        return self.members[number]


class IntegerCodec(Codec):
    """An integer of a fixed width; one bit takes a byte."""

    def __init__(self, type: IntegerType) -> None:
        self.type = type

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        write_varint(out, unsigned(cast("IntegerAttr", value)))

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        return read_integer(reader, self.type)


class StringCodec(Codec):
    """A string, as its number."""

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        assert isinstance(value, StringAttr)
        write_varint(out, writer.strings.index(value.data))

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        return attributes.read_string(reader)


class SymbolCodec(Codec):
    """A symbol, as the number of its name."""

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        assert isinstance(value, SymbolRefAttr)
        if value.nested_references.data:
            raise UnwritableError(f"the symbol {value} has several names; expected one")
        write_varint(out, writer.strings.index(value.root_reference.data))

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        start = reader.position
        name = attributes.read_string(reader)
        if not name.data:
            raise reader.error("a symbol has no name", start)
        return SymbolRefAttr(name)


class TypeCodec(Codec):
    """A type, as its number."""

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        write_varint(out, writer.types.index(value))

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        return attributes.types.get(reader)


class ElementsCodec(Codec):
    """A constant, as its number; its type is that of the operation's first result."""

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        constant = cast("DenseIntOrFPElementsAttr", value)
        write_varint(out, writer.constants.index(constant))

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        type = results[0] if results else None
        if not isinstance(type, TileType):
            raise reader.error("the operation has a constant, but no tile as its result")
        return attributes.constants.get(reader, type)


class NumbersCodec(Codec):
    """Integers of a fixed width, each in as many bytes as it needs."""

    def __init__(self, type: IntegerType) -> None:
        self.type = type
        self._size = (type.width.data + 7) // 8

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        assert isinstance(value, DenseArrayBase)
        write_numbers(out, [int(number) for number in value.get_values()], self._size)

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        count = reader.count("numbers", self._size)
        numbers = reader.fixed_numbers(count, self._size, signed=True)
        return DenseArrayBase.from_list(self.type, numbers)


class BooleansCodec(Codec):
    """A truth value for each index, which takes a byte; all are false where it is missing."""

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        assert isinstance(value, DenseArrayBase)
        write_numbers(out, [int(bool(number)) for number in value.get_values()], 1)

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute | None:
        count = reader.count("truth values")
        start = reader.position
        numbers = reader.fixed_numbers(count, 1)
        if any(number > 1 for number in numbers):
            raise reader.error("a truth value is 0 or 1", start)
        return DenseArrayBase.from_list(i1, numbers) if any(numbers) else None


class ArrayCodec(Codec):
    """Attributes of any kind, each with its tag."""

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        writer.write_array(out, cast("ArrayAttr[Attribute]", value))

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        return attributes.read_array(reader)


class HintsCodec(Codec):
    """Optimization hints, which need no tag."""

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        assert isinstance(value, OptimizationHintsAttr)
        writer.write_dictionary(out, value.value)

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        return attributes.read_hints(reader)


class PredicateCodec(Codec):
    """What `assume` says, with its tag."""

    @override
    def write(self, writer: AttributeWriter, out: bytearray, value: Attribute) -> None:
        writer.write_tagged(out, value)

    @override
    def read(
        self, attributes: AttributeReader, reader: ByteReader, results: Sequence[Attribute]
    ) -> Attribute:
        start = reader.position
        predicate = attributes.read_tagged(reader)
        if not isinstance(predicate, AssumePredicateAttr):
            raise reader.error(f"{predicate.name} is nothing that can be assumed", start)
        return predicate


_CODECS: tuple[tuple[type, type[Codec]], ...] = (
    (UnitAttr, FlagCodec),
    (DenseIntOrFPElementsAttr, ElementsCodec),
    (OptimizationHintsAttr, HintsCodec),
    (AssumePredicateAttr, PredicateCodec),
    (ArrayAttr, ArrayCodec),
    (SymbolRefAttr, SymbolCodec),
    (StringAttr, StringCodec),
    (TypeAttribute, TypeCodec),
)
"""The kinds that only the attribute's class tells, the outer ones before those inside of them."""


def codec_of(constraint: AttrConstraint) -> Codec:
    """What writes and reads the properties that a constraint allows.

    Raises:
        TypeError: The bytecode has no such properties.
    """
    parts = list(_parts(constraint))
    classes = [part for part in parts if isinstance(part, type)]
    for part in classes:
        if issubclass(part, EnumAttribute):
            return MemberCodec(cast("type[EnumAttribute[StrEnum]]", part))
    integers: list[IntegerType] = [part for part in parts if isinstance(part, IntegerType)]
    if DenseArrayBase in classes and integers:
        if integers[0] == i1:
            return BooleansCodec()
        return NumbersCodec(integers[0])
    if IntegerAttr in classes and integers:
        return IntegerCodec(integers[0])
    for kind, codec in _CODECS:
        if any(issubclass(part, kind) for part in classes):
            return codec()
    raise TypeError(f"there is no way to write a property with the constraint {constraint}")


def _parts(constraint: object) -> Iterator[object]:
    """Yields the classes and the attributes that a constraint names, from the outside in."""
    if isinstance(constraint, type | Attribute):
        yield constraint
    elif isinstance(constraint, tuple | frozenset | list):
        for part in constraint:  # pyright: ignore[reportUnknownVariableType]
            yield from _parts(part)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(constraint, AttrConstraint):
        whole = cast("AttrConstraint", constraint)
        yield from whole.get_bases() or ()
        for field in fields(whole) if is_dataclass(whole) else ():
            yield from _parts(getattr(whole, field.name))
