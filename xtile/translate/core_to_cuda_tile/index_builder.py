"""Index arithmetic that folds: a number that is known needs no operation.

Tiles of memory can be accessed through views only where their indices are known to be multiples of
a number, and not to be negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typing_extensions import override
from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SignednessAttr
from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.dialects.cuda_tile.ops import control_flow, core, miscellaneous, reductions
from xtile.dialects.cuda_tile.ops.miscellaneous_rules import MAXIMUM_DIVISOR
from xtile.dialects.cuda_tile.types import is_integer
from xtile.rewrite.facts import IndexFacts
from xtile.rewrite.indices import Index
from xtile.targets.nvidia import GREATEST_SIZE, GREATEST_STRIDE
from xtile.translate.core_to_cuda_tile.tile_builder import TileBuilder
from xtile.translate.core_to_cuda_tile.types import element_type, scalar_tile, tile_type
from xtile.translate.tiles.lowering import Combine
from xtile.translate.tiles.types import number_attribute


class IndexBuilder(TileBuilder):
    """Emits indices, which are integers of 64 bits.

    Attributes:
        facts: What is known of them.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.facts = TileFacts()

    @override
    def constant(self, number: float, type_: Attribute) -> SSAValue:
        value = super().constant(number, type_)
        tile = tile_type(value)
        if not tile.rank and is_integer(tile.element_type):
            self.facts.learn_number(value, int(number))
        return value

    @override
    def divide_exactly(self, a: Index, b: int) -> Index:
        """The quotient of an index that is a multiple of a positive number, part by part."""
        if isinstance(a, int):
            return a // b
        if b == 1:
            return a
        owner = a.owner
        if isinstance(owner, Operation) and owner.name in _SPLIT:
            x, y = (self.facts.number(operand) for operand in owner.operands)
            parts = _SPLIT[owner.name](self, x, y, b)
            if parts is not None:
                return parts
        return self.divide(a, b)

    @override
    def promise_size(self, value: SSAValue, divisor: int = 1) -> SSAValue:
        """A size of memory that is not computed here: what is known of all sizes."""
        bounds = BoundedAttr(0, GREATEST_SIZE)
        bounded = self.pure(miscellaneous.AssumeOp, value, bounds)
        return self.promise_divisor(bounded, divisor)

    @override
    def promise_stride(self, value: SSAValue, divisor: int = 1) -> SSAValue:
        """A stride of memory that is not computed here: views need positive ones."""
        bounds = BoundedAttr(1, GREATEST_STRIDE)
        bounded = self.pure(miscellaneous.AssumeOp, value, bounds)
        return self.promise_divisor(bounded, divisor)

    # --- several elements ---

    @override
    def reduced(
        self,
        values: Sequence[SSAValue],
        axis: int,
        identities: Sequence[Attribute] | None,
        combine: Combine,
    ) -> Sequence[SSAValue]:
        # The region of a reduction has the later element of each pair first.
        sources, known, body = self._combination(values, identities, combine, earlier=1)
        made = reductions.ReduceOp(sources, axis, known, body)
        return self.emit(made).results[: len(values)]

    @override
    def scanned(
        self,
        values: Sequence[SSAValue],
        axis: int,
        identities: Sequence[Attribute] | None,
        combine: Combine,
        *,
        reverse: bool = False,
    ) -> Sequence[SSAValue]:
        sources, known, body = self._combination(values, identities, combine, earlier=0)
        made = reductions.ScanOp(sources, axis, known, body, reverse=reverse)
        return self.emit(made).results[: len(values)]

    def _combination(
        self,
        values: Sequence[SSAValue],
        identities: Sequence[Attribute] | None,
        combine: Combine,
        earlier: int,
    ) -> tuple[Sequence[SSAValue], Sequence[Attribute], Region]:
        """The tiles, their identities and the region of a reduction or scan.

        Where no identities are known, a last tile of truth values says that elements count; its
        identity says that they do not.

        Args:
            values: The tiles.
            identities: Their identities.
            combine: What the region does.
            earlier: Which of each pair of the region's arguments is the earlier one.
        """
        sources, known = [*values], identities
        if known is None:
            sources.append(self.constant(1, tile_type(values[0]).with_element_type(i1)))
            known = [number_attribute(0, element_type(source)) for source in sources]
        types = [scalar_tile(element_type(source)) for source in sources]
        block = Block(arg_types=[type_ for type_ in types for _ in range(2)])
        pairs = block.args[earlier::2], block.args[1 - earlier :: 2]
        count = len(values)
        with self.in_function(block):
            combined = combine(pairs[0][:count], pairs[1][:count])
            if identities is None:
                combined = self._where_both_count(*pairs, combined)
            self.emit(control_flow.YieldOp(combined))
        return sources, known, Region(block)

    def _where_both_count(
        self,
        earlier: Sequence[SSAValue],
        later: Sequence[SSAValue],
        combined: Sequence[SSAValue],
    ) -> list[SSAValue]:
        """The combination of two tuples of which one or both may stand for nothing."""
        counts, other_counts = earlier[-1], later[-1]
        chosen: list[SSAValue] = []
        for a, b, both in zip(earlier, later, combined, strict=False):
            chosen.append(self.select(counts, self.select(other_counts, both, a), b))
        return [*chosen, self.arith("ori", counts, other_counts)]

    @override
    def extract(self, value: SSAValue, indices: Sequence[Index], shape: Sequence[int]) -> SSAValue:
        numbers = [
            self.integer(index, i32) if isinstance(index, int) else self.resize(index, i32)
            for index in indices
        ]
        return self.compute(core.ExtractOp, value, numbers, tuple(shape))

    @override
    def joined(self, first: SSAValue, second: SSAValue) -> SSAValue:
        halves = [self.reshape(each, (1, *self.shape(each))) for each in (first, second)]
        return self.compute(core.CatOp, *halves, 0)

    # --- sizes ---

    def clamped_size(self, size: Index) -> Index:
        """A size that may be negative or too large, as one that views take."""
        if isinstance(size, int):
            return min(max(size, 0), GREATEST_SIZE)
        if self._is_promised(size):
            return size
        divisor = max(1, self.facts.divisor(size))
        limits = (self.integer(0), self.integer(GREATEST_SIZE // divisor * divisor))
        size = self.smaller(self.larger(size, limits[0]), limits[1])
        return self.promise_size(self.as_value(size), divisor)

    def _is_promised(self, size: SSAValue) -> bool:
        """Whether all of a size that views need is known."""
        owner = size.owner
        while isinstance(owner, Operation) and owner.name == "cuda_tile.assume":
            if isinstance(owner.properties["predicate"], BoundedAttr):
                return True
            owner = owner.operands[0].owner
        return False

    @override
    def promise_divisor(self, value: SSAValue, divisor: int) -> SSAValue:
        """The same number or pointer, which is known to be a multiple.

        CUDA Tile IR can say so of powers of two only; what else divides it is known here.
        """
        if divisor <= 1:
            return value
        power = min(divisor & -divisor, MAXIMUM_DIVISOR)
        if power > 1:
            value = self.pure(miscellaneous.AssumeOp, value, DivByAttr(power))
        self.facts.learn_divisor(value, divisor)
        return value


def _quotient_of_sum(builder: IndexBuilder, x: Index, y: Index, by: int) -> Index | None:
    facts = builder.facts
    if facts.divisor(x) % by or facts.divisor(y) % by:
        return None
    return builder.add(builder.divide_exactly(x, by), builder.divide_exactly(y, by))


def _quotient_of_product(builder: IndexBuilder, x: Index, y: Index, by: int) -> Index | None:
    for factor, other in ((y, x), (x, y)):
        if isinstance(factor, int) and factor % by == 0:
            return builder.multiply(other, factor // by)
    for factor, other in ((y, x), (x, y)):
        if builder.facts.divisor(factor) % by == 0:
            return builder.multiply(other, builder.divide_exactly(factor, by))
    return None


_SPLIT = {"cuda_tile.addi": _quotient_of_sum, "cuda_tile.muli": _quotient_of_product}
"""Operations that are divided by dividing their operands."""


_NAMES = {
    "cuda_tile.addi": "arith.addi",
    "cuda_tile.assume": "core.assume",
    "cuda_tile.divi": "arith.divsi",
    "cuda_tile.exti": "arith.extsi",
    "cuda_tile.maxi": "arith.maxsi",
    "cuda_tile.mini": "arith.minsi",
    "cuda_tile.muli": "arith.muli",
    "cuda_tile.offset": "core.pointer_add",
    "cuda_tile.remi": "arith.remsi",
    "cuda_tile.select": "arith.select",
    "cuda_tile.subi": "arith.subi",
    "cuda_tile.trunci": "arith.trunci",
}

_UNSIGNED_NAMES = {
    "cuda_tile.divi": "arith.divui",
    "cuda_tile.exti": "arith.extui",
    "cuda_tile.maxi": "arith.maxui",
    "cuda_tile.mini": "arith.minui",
    "cuda_tile.remi": "arith.remui",
}


class TileFacts(IndexFacts):
    """What is known of each integer of CUDA Tile IR, if nothing overflows."""

    @override
    def name_of(self, operation: Operation) -> str:
        names = _UNSIGNED_NAMES if _is_unsigned(operation) else _NAMES
        return names.get(operation.name, operation.name)

    @override
    def promise_of(self, assume: Operation) -> tuple[int, int | None]:
        predicate = assume.properties["predicate"]
        divisor = predicate.divisor.data if isinstance(predicate, DivByAttr) else 1
        return divisor, predicate.lower_bound if isinstance(predicate, BoundedAttr) else None


def _is_unsigned(operation: Operation) -> bool:
    signedness = operation.properties.get("signedness")
    return isinstance(signedness, SignednessAttr) and signedness.data is Signedness.UNSIGNED
