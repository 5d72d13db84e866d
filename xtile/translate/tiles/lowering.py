"""What rules need of whatever builds tiles, and how memrefs pass through control flow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, ClassVar, TypeAlias, cast

from typing_extensions import override
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from xtile.rewrite.descriptors import DescriptorLowering, Group
from xtile.rewrite.facts import IndexFacts
from xtile.rewrite.indices import Index, IndexOperation
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import TypedRebuilder
from xtile.translate.tiles.descriptors import GLOBAL_MEMORY, Complex, Descriptor
from xtile.translate.tiles.types import (
    INDEX,
    memref_type,
    part_of,
    parts_per_element,
    size_in_bytes,
)

Combine: TypeAlias = Callable[[Sequence[SSAValue], Sequence[SSAValue]], Sequence[SSAValue]]
"""Emits the combination of two tuples of numbers, of which the first comes of earlier elements."""


class TileLowering(TypedRebuilder, DescriptorLowering):
    """Rebuilds kernels at tile level in a language of tiles.

    A vector or a scalar becomes a tile, a complex scalar a `Complex`, a memref a `Descriptor`, and
    a memref of memrefs a `Group`. What is named as an operation of `arith` is emitted where it
    stands; what is called pure is emitted once, as early as its operands allow.

    Attributes:
        facts: What is known of integers.
    """

    HAS_UNSIGNED_LOOPS: ClassVar[bool]
    """Whether loops may count numbers without a sign."""

    facts: IndexFacts

    # --- what a language of tiles supplies: types ---

    @abstractmethod
    def element_of(self, type_: Attribute) -> Attribute:
        """The type of the elements of a vector, or of a scalar, of the source.

        Raises:
            ValueError: The language has no such elements.
        """

    @abstractmethod
    def tile(self, element: Attribute, shape: Sequence[int] = ()) -> Attribute:
        """The type of a tile, or of a scalar."""

    @abstractmethod
    def pointer(self, element: Attribute) -> Attribute:
        """The type of a pointer to numbers in memory."""

    @abstractmethod
    def shape(self, tile: SSAValue) -> tuple[int, ...]:
        """The shape of a tile; a scalar has none."""

    @abstractmethod
    def element(self, tile: SSAValue) -> Attribute:
        """The type of a tile's elements, or of a scalar."""

    # --- values ---

    @abstractmethod
    def constant(self, number: float, type_: Attribute) -> SSAValue:
        """A tile of equal numbers, or a scalar."""

    @abstractmethod
    def number_of(self, value: SSAValue) -> float | None:
        """The number that a scalar is, or that all elements of a tile are, if it is known."""

    @abstractmethod
    def arith(self, name: str, *operands: SSAValue) -> SSAValue:
        """What an operation of `arith` on numbers of one type gives, such as `addi`."""

    @abstractmethod
    def pure_arith(self, name: str, *operands: SSAValue) -> SSAValue:
        """The same, computed once."""

    @abstractmethod
    def upper_half(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The upper half of a product of integers without a sign."""

    @abstractmethod
    def cmpi(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """A comparison of integers, such as `slt`."""

    @abstractmethod
    def cmpf(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """A comparison of floats, such as `olt`."""

    @abstractmethod
    def pure_cmpi(self, predicate: str, a: Index, b: Index) -> SSAValue:
        """A comparison of indices, computed once."""

    @override
    @abstractmethod
    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a` where the condition holds, `b` elsewhere; one condition may choose whole tiles."""

    @abstractmethod
    def resize(self, value: SSAValue, element: Attribute, is_signed: bool = True) -> SSAValue:
        """Integers in another width: extended with their sign or with zeros, or cut off."""

    @abstractmethod
    def converted(self, value: SSAValue, element: Attribute) -> SSAValue:
        """Floats in another type, rounded to nearest; what is too large is left open."""

    @abstractmethod
    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The bits of numbers as numbers of another type of the same width."""

    @abstractmethod
    def to_float(self, value: SSAValue, element: Attribute, is_signed: bool) -> SSAValue:
        """Integers as f32 or f64."""

    @abstractmethod
    def cut_off(self, value: SSAValue, element: Attribute, is_signed: bool) -> SSAValue:
        """Floats as integers that hold them when cut off; what others become is left open."""

    # --- control flow ---

    @abstractmethod
    def counted(
        self,
        numbers: range,
        initial: Sequence[SSAValue],
        body: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """A loop over numbers in steps of 1.

        Args:
            numbers: The numbers, each of which is an i32.
            initial: What the first iteration gets.
            body: Emits an iteration, and returns what it hands on.

        Returns:
            What the last iteration hands on.
        """

    # --- several elements ---

    @abstractmethod
    def reduced(
        self,
        values: Sequence[SSAValue],
        axis: int,
        identities: Sequence[Attribute] | None,
        combine: Combine,
    ) -> Sequence[SSAValue]:
        """Combines the elements of tiles of one shape along a dimension.

        Args:
            values: The tiles.
            axis: The dimension.
            identities: A number for each tile; as a tuple they change no other. None: not known.
            combine: Emits the combination of two tuples, each with an element of each tile.
        """

    @abstractmethod
    def scanned(
        self,
        values: Sequence[SSAValue],
        axis: int,
        identities: Sequence[Attribute] | None,
        combine: Combine,
        *,
        reverse: bool = False,
    ) -> Sequence[SSAValue]:
        """Combines each element with all before it; with `reverse` with all behind it."""

    @abstractmethod
    def has_matrix_unit(self, factor: Attribute, total: Attribute) -> bool:
        """Whether products of matrices of a type are computed and added up in another, exactly."""

    @abstractmethod
    def multiplied(self, a: SSAValue, b: SSAValue, sums: SSAValue) -> SSAValue:
        """The product of two matrices, or of lists of matrices, and sums, by a matrix unit."""

    @abstractmethod
    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """The product of floats and a sum, rounded once."""

    @abstractmethod
    def extract(self, value: SSAValue, indices: Sequence[Index], shape: Sequence[int]) -> SSAValue:
        """One of the parts of a shape that a tile is cut into, by its number in each dimension."""

    @abstractmethod
    def joined(self, first: SSAValue, second: SSAValue) -> SSAValue:
        """Two tiles of one shape as the parts of a new first dimension."""

    # --- shapes ---

    @abstractmethod
    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in row-major order."""

    @abstractmethod
    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A tile repeated along its dimensions of size 1."""

    @abstractmethod
    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A scalar repeated to fill a tile."""

    @abstractmethod
    def iota(self, size: int, element: Attribute = INDEX) -> SSAValue:
        """The numbers from 0."""

    @abstractmethod
    def permute(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """The tile whose dimension i is dimension `order[i]` of a tile."""

    # --- pointers ---

    @abstractmethod
    def offset(self, pointers: SSAValue, offsets: SSAValue) -> SSAValue:
        """Pointers so many elements further."""

    @abstractmethod
    def pure_offset(self, pointers: SSAValue, offsets: SSAValue) -> SSAValue:
        """The same, computed once."""

    @override
    @abstractmethod
    def address(self, pointer: SSAValue) -> SSAValue:
        """A pointer as an integer, computed once."""

    @abstractmethod
    def pointer_at(self, address: SSAValue, element: Attribute) -> SSAValue:
        """The pointer to numbers at an address, computed once."""

    @abstractmethod
    def pointer_cast(self, pointers: SSAValue, element: Attribute) -> SSAValue:
        """The same addresses as those of numbers of another type."""

    @abstractmethod
    def load_number(self, pointer: SSAValue) -> SSAValue:
        """A number that a kernel only reads."""

    # --- promises, of which a language may make use ---

    def promise_size(self, value: SSAValue, divisor: int = 1) -> SSAValue:
        """A size of memory that is not computed here: what is known of all sizes."""
        self.facts.assume(value, is_not_negative=True)
        return self.promise_divisor(value, divisor)

    def promise_stride(self, value: SSAValue, divisor: int = 1) -> SSAValue:
        """A stride of memory that is not computed here."""
        return self.promise_size(value, divisor)

    @override
    def promise_divisor(self, value: SSAValue, divisor: int) -> SSAValue:
        """The same number or pointer, which is known to be a multiple."""
        if divisor > 1:
            self.facts.learn_divisor(value, divisor)
        return value

    def alias_set_of(self, memory: SSAValue) -> Hashable:
        """What memory accesses are ordered with, where a language orders only what it must."""
        return GLOBAL_MEMORY

    # --- in terms of those ---

    def integer(self, number: int, type_: Attribute = INDEX) -> SSAValue:
        """An integer, by default an index."""
        return self.constant(number, self.tile(type_))

    def like(self, number: float, value: SSAValue) -> SSAValue:
        """A constant of the type of a value."""
        return self.constant(number, value.type)

    @override
    def index_operation(self, operation: IndexOperation, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.pure_arith(_INDEX_OPERATIONS[operation], a, b)

    @override
    def as_value(self, number: Index) -> SSAValue:
        return self.integer(number) if isinstance(number, int) else number

    def optional_value(self, old: SSAValue | None) -> SSAValue | None:
        """What a value of the source has become, if there is one."""
        return None if old is None else self.value(old)

    @override
    def number(self, old: SSAValue) -> Index:
        return self.facts.number(self.value(old))

    @override
    def parts_per_element(self, element: Attribute) -> int:
        return parts_per_element(element)

    @override
    def is_number(self, value: SSAValue, number: int) -> SSAValue:
        return self.pure_cmpi("eq", value, number)

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """Where two conditions hold; None holds everywhere."""
        if a is None or b is None:
            return a if b is None else b
        return self.arith("andi", a, b)

    def opposite(self, condition: SSAValue) -> SSAValue:
        """Where a condition does not hold."""
        return self.arith("xori", condition, self.like(1, condition))

    def along(self, value: SSAValue, axis: int, shape: Sequence[int]) -> SSAValue:
        """A tile of one dimension, which becomes dimension `axis`, repeated along the others."""
        line = tuple(size if i == axis else 1 for i, size in enumerate(shape))
        return self.broadcast(self.reshape(value, line), shape)

    # --- values that become several ---

    @override
    def descriptor(self, old: SSAValue) -> Descriptor:
        return cast(Descriptor, super().descriptor(old))

    def complex(self, old: SSAValue) -> Complex:
        """The parts of a complex number."""
        meaning = self.meaning(old)
        assert isinstance(meaning, Complex)
        return meaning

    def flat_types(self, type_: Attribute) -> list[Attribute]:
        """The types of the values that control flow carries for a value of the source."""
        if type(type_) is MemRefType:
            memref = memref_type(type_)
            if isinstance(memref.element_type, MemRefType):
                raise self.error("a group of memrefs cannot pass through control flow")
            unknowns = layout_of(memref).unknowns
            pointer = self.tile(self.pointer(part_of(memref.element_type)))
            return [pointer, *[self.tile(INDEX)] * unknowns]
        return [self.tile_of(type_)]

    @abstractmethod
    def tile_of(self, type_: Attribute) -> Attribute:
        """The type of the tile that a vector or a scalar of the source becomes.

        Raises:
            ValueError: It has elements that tiles have not.
        """

    def flat(self, old: Sequence[SSAValue]) -> list[SSAValue]:
        """All values that values of the source have become, for control flow to carry."""
        result: list[SSAValue] = []
        for value in old:
            meaning = self.meaning(value)
            if isinstance(meaning, Descriptor):
                result += self._flat_descriptor(meaning, memref_type(value.type))
            elif isinstance(meaning, Group):
                raise self.error("a group of memrefs cannot pass through control flow")
            else:
                result.append(meaning)
        return result

    def _flat_descriptor(
        self, descriptor: Descriptor, type_: MemRefType[Attribute]
    ) -> list[SSAValue]:
        if descriptor.unbounded:
            raise self.error(
                "a view of unknown extent cannot pass through control flow; pass the pointer"
            )
        layout, scale = layout_of(type_), parts_per_element(descriptor.element)
        told = (layout.offset, *layout.sizes, *layout.strides)
        # The carried numbers count as the memory does: parts of complex numbers.
        given = (descriptor.offset, *descriptor.sizes, *descriptor.strides)
        if scale != 1 and layout.offset is not None and descriptor.offset != scale * layout.offset:
            raise self.error("a part of complex numbers cannot pass through control flow")
        unknown = [own for own, known in zip(given, told, strict=True) if known is None]
        return [descriptor.pointer, *map(self.as_value, unknown)]

    def define_flat(self, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        """Records the values that several values have become, one after the other."""
        remaining = iter(new)
        for value in old:
            self.define(value, self._from_flat(value, remaining))

    def _from_flat(self, value: SSAValue, remaining: Iterator[SSAValue]) -> Any:
        if type(value.type) is not MemRefType:
            return next(remaining)
        type_ = memref_type(value.type)
        layout, scale = layout_of(type_), parts_per_element(type_.element_type)
        pointer = next(remaining)
        known = [
            next(remaining) if number is None else number * factor
            for number, factor in zip(
                (layout.offset, *layout.sizes, *layout.strides),
                (scale, *[1] * len(layout.sizes), *[scale] * len(layout.strides)),
                strict=True,
            )
        ]
        rank = len(layout.sizes)
        return Descriptor(
            pointer,
            type_.element_type,
            known[0],
            tuple(known[1 : 1 + rank]),
            tuple(known[1 + rank :]),
            size_in_bytes(type_.element_type),
            self.alias_set_of(value),
        )


_INDEX_OPERATIONS: dict[IndexOperation, str] = {
    IndexOperation.ADD: "addi",
    IndexOperation.SUBTRACT: "subi",
    IndexOperation.MULTIPLY: "muli",
    IndexOperation.DIVIDE: "divsi",
    IndexOperation.DIVIDE_UP: "ceildivsi",
    IndexOperation.REMAINDER: "remsi",
    IndexOperation.SHIFT_RIGHT: "shrsi",
    IndexOperation.SMALLER: "minsi",
    IndexOperation.LARGER: "maxsi",
}
"""The operation of `arith` for each of indices."""
