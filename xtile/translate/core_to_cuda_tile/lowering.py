"""What the rules of tile level to CUDA Tile IR share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from typing_extensions import override
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.target import Target
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.translate.core_to_cuda_tile.descriptors import Complex, Descriptor, Group
from xtile.translate.core_to_cuda_tile.index_builder import IndexBuilder
from xtile.translate.core_to_cuda_tile.memory_order import MemoryOrder
from xtile.translate.core_to_cuda_tile.memory_plan import MemoryPlan
from xtile.translate.core_to_cuda_tile.types import (
    INDEX,
    memref_type,
    part_of,
    parts_per_element,
    pointer_tile,
    scalar_tile,
    size_in_bytes,
    tile_of,
)

TARGET = "CUDA Tile IR"


class Lowering(IndexBuilder):
    """Rebuilds kernels at tile level as entries of CUDA Tile IR.

    A vector or a scalar becomes a tile, a complex scalar a `Complex`, a memref a `Descriptor`, and
    a memref of memrefs a `Group`.

    Args:
        rules: What becomes of each operation.
        target: What the code is for.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        target: What the code is for.
        plan: What must be ordered in the kernel that is being translated.
        order: The tokens of that kernel.
    """

    plan: MemoryPlan
    order: MemoryOrder

    def __init__(
        self,
        rules: RuleTable,
        target: Target,
        source: Source | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> None:
        super().__init__(rules, TARGET, source, diagnostics)
        self.target = target

    def start_function(self, function: Operation) -> None:
        """Forgets what held for the last kernel."""
        self.plan = MemoryPlan(function)
        self.order = MemoryOrder(self, self.plan)

    @override
    def translate(self, operation: Operation) -> None:
        before, self._current = self._current, operation
        try:
            self.rules.rule_of(operation)(operation, self)
        except (ValueError, VerifyException) as error:
            # What a type cannot be is found out far from the operation.
            self._current = operation
            raise self.error(f"{error}, so that this cannot be translated to {TARGET}") from error
        self._current = before

    # --- values that become several ---

    def descriptor(self, old: SSAValue) -> Descriptor:
        """What is known of a memref."""
        meaning = self.meaning(old)
        if not isinstance(meaning, Descriptor):
            raise self.error(f"a value of type {old.type} has no elements that can be accessed")
        return meaning

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
            return [pointer_tile(part_of(memref.element_type)), *[scalar_tile(INDEX)] * unknowns]
        return [tile_of(type_)]

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
            self.plan.alias_set_of(value),
        )
