"""What the rules of lane level to SPIR-V share: blocks, constants, values that become several."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from typing_extensions import override
from xdsl.dialects.builtin import MemRefType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.construction import VALUE_CLASSES
from xtile.rewrite.descriptors import Descriptor, DescriptorLowering, Group
from xtile.rewrite.folding import INDEX_WIDTH, wrap
from xtile.rewrite.indices import Index, IndexOperation
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.text.value_names import give_name
from xtile.translate.xegpu_to_spirv.blocks import BlockBuilder, block_of
from xtile.translate.xegpu_to_spirv.kernel import Kernel
from xtile.translate.xegpu_to_spirv.types import (
    check_length,
    is_vector,
    memref_type,
    natural_alignment,
    piece_types,
)

if TYPE_CHECKING:
    from xtile.translate.xegpu_to_spirv.lowering import Lowering

_INDEX_OPERATIONS = {
    IndexOperation.ADD: "IAdd",
    IndexOperation.SUBTRACT: "ISub",
    IndexOperation.MULTIPLY: "IMul",
    IndexOperation.DIVIDE: "UDiv",
    IndexOperation.REMAINDER: "UMod",
    IndexOperation.SHIFT_RIGHT: "ShiftRightArithmetic",
}
"""The instruction for each operation on indices that addresses need."""

Pieces = tuple[SSAValue, ...]
"""A vector: the vectors of legal lengths that it is cut into, in order."""


class Carried(ABC):
    """The meaning of a value of the source that loops and branches can carry as several values."""

    @abstractmethod
    def flat(self, lowering: Lowering) -> list[SSAValue]:
        """The values, in an order that the type of the source's value fixes."""

    @classmethod
    @abstractmethod
    def rebuilt(cls, type_: Attribute, values: Iterator[SSAValue]) -> Self:
        """The meaning of a value of a type, made from the next of some values.

        Args:
            type_: The type of the source's value.
            values: Values as `flat` gives them; it takes as many as there are.
        """


class Lowering(BlockBuilder, DescriptorLowering):
    """Rebuilds kernels at lane level as SPIR-V.

    A vector becomes `Pieces`, a memref a `Descriptor`, a memref of memrefs a `Group`; every other
    value becomes one value.

    Args:
        rules: What becomes of each operation.
        rebuilt: Makes what a value of a type of XeGPU becomes, from the next of some values.
        target: What the code is for.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self,
        rules: RuleTable,
        rebuilt: Callable[[Attribute, Iterator[SSAValue]], Carried],
        target: LaneTarget,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, source, diagnostics)
        self._rebuilt = rebuilt
        self.target = target
        self.functions: list[Operation] = []
        self.entry_points: list[Operation] = []
        self.kernel = Kernel()
        self.builtins: dict[str, SSAValue] = {}
        self.globals: dict[str, Operation] = {}
        self.variables: dict[str, SSAValue] = {}
        self.callees: dict[str, Operation] = {}
        self.calls: list[Operation] = []
        self.sums: dict[SSAValue, tuple[SSAValue, int]] = {}

    @override
    def translate(self, operation: Operation) -> None:
        before, self._current = self._current, operation
        try:
            for result in operation.results:
                if is_vector(result.type):
                    check_length(result.type)
            self.rules.rule_of(operation)(operation, self)
        except ValueError as error:
            # What a type cannot be is found out far from the operation.
            self._current = operation
            raise self.error(str(error)) from error
        self._current = before

    # --- indices ---

    @override
    def number(self, old: SSAValue) -> Index:
        value = self._values[old]
        number = self.constants.numbers.get(value)
        return value if number is None else number

    @override
    def is_number(self, value: SSAValue, number: int) -> SSAValue:
        return self.compute("IEqual", i1, value, self.integer(number, i64))

    @override
    def address(self, pointer: SSAValue) -> SSAValue:
        return self.shared_compute("ConvertPtrToU", i64, pointer)

    @override
    def as_value(self, number: Index) -> SSAValue:
        return self.integer(number, i64) if isinstance(number, int) else number

    @override
    def index_operation(self, operation: IndexOperation, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.shared_compute(_INDEX_OPERATIONS[operation], i64, a, b)

    @override
    def add(self, a: Index, b: Index) -> Index:
        if isinstance(a, int):
            a, b = b, a
        total = super().add(a, b)
        if isinstance(b, int) and b and not isinstance(total, int):
            self.learn_sum(total, a, b)
        return total

    def learn_sum(self, total: SSAValue, a: Index, b: Index) -> None:
        """Records that an index is the sum of two others, of which one may be known."""
        if isinstance(a, int):
            a, b = b, a
        if isinstance(b, int) and not isinstance(a, int):
            base, constant = self.sums.get(a, (a, 0))
            self.sums[total] = base, constant + b

    @override
    def multiply(self, a: Index, b: Index) -> Index:
        return super().multiply(b, a) if isinstance(a, int) else super().multiply(a, b)

    def linear(
        self, offset: Index, indices: Iterable[Index], strides: Iterable[Index]
    ) -> tuple[Index, int]:
        """`offset + indices[0] * strides[0] + ..` as a part that varies and one that is known.

        What varies least is added up first, so that loops do not do it again.
        """
        known = 0
        varying: list[SSAValue] = []
        for number, factor in zip((offset, *indices), (1, *strides), strict=True):
            if isinstance(factor, int) and not isinstance(number, int):
                number, constant = self.sums.get(number, (number, 0))
                known += constant * factor
            product = self.multiply(number, factor)
            if isinstance(product, int):
                known += product
            else:
                varying.append(product)
        return self.add_all(varying), wrap(known, INDEX_WIDTH)

    # --- values that become several ---

    @override
    def define(self, old: SSAValue, new: Any) -> None:
        self._values[old] = new
        name = old.name_hint
        if name is None or type(new) not in VALUE_CLASSES or new.name_hint is not None:
            return
        if block_of(new) is not self.declarations:
            give_name(new, name)

    def pieces(self, old: SSAValue) -> Pieces:
        """The pieces of a vector; those of a number are the number."""
        meaning = self._values[old]
        return cast(Pieces, meaning) if isinstance(meaning, tuple) else (meaning,)

    def define_pieces(self, old: SSAValue, pieces: Sequence[SSAValue]) -> None:
        """Records the pieces of a vector, or the only one of a number."""
        self.define(old, tuple(pieces) if is_vector(old.type) else pieces[0])

    def flat(self, old: Sequence[SSAValue]) -> list[SSAValue]:
        """All values that these values have become, for control flow to carry."""
        result: list[SSAValue] = []
        for value in old:
            meaning = self._values[value]
            if isinstance(meaning, Descriptor):
                result += self._flat_descriptor(meaning, memref_type(value.type))
            elif isinstance(meaning, Carried):
                result += meaning.flat(self)
            elif isinstance(meaning, Group):
                raise self.error("a group of memrefs cannot pass through control flow")
            else:
                result += self.pieces(value)
        return result

    def flat_types(self, type_: Attribute) -> tuple[Attribute, ...]:
        """The types of the values that a number or a vector becomes; none for other types."""
        return () if type(type_) is MemRefType else piece_types(type_)

    def _flat_descriptor(
        self, descriptor: Descriptor, type_: MemRefType[Attribute]
    ) -> list[SSAValue]:
        layout = layout_of(type_)
        told = (layout.offset, *layout.sizes, *layout.strides)
        given = (descriptor.offset, *descriptor.sizes, *descriptor.strides)
        unknown = [own for own, known in zip(given, told, strict=True) if known is None]
        return [descriptor.pointer, *map(self.as_value, unknown)]

    def define_flat(self, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        """Records the values that several values have become, one after the other."""
        remaining = list(new)
        for value in old:
            kind = type(value.type)
            if kind is MemRefType:
                type_ = memref_type(value.type)
                layout = layout_of(type_)
                count = 1 + layout.unknowns
                element = type_.element_type
                offset, sizes, strides = layout.filled(remaining[1:count])
                alignment = natural_alignment(element)
                location = offset, tuple(sizes), tuple(strides)
                self.define(value, Descriptor(remaining[0], element, *location, alignment))
            elif value.type.name.startswith("xegpu."):
                rest = iter(remaining)
                self.define(value, self._rebuilt(value.type, rest))
                remaining, count = list(rest), 0
            else:
                count = len(piece_types(value.type))
                self.define_pieces(value, remaining[:count])
            remaining = remaining[count:]

    def condition(self, value: SSAValue) -> SSAValue:
        """What a truth value of the source has become."""
        return cast(SSAValue, self._values[value])
