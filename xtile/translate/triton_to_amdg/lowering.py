"""Rebuilds functions of `tt` with a layout for each tensor."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.triton.encodings.distributed import SliceEncodingAttr
from xtile.dialects.triton.encodings.encoding import DistributedEncodingAttr
from xtile.dialects.triton.operation import element_of, encoding_of, shape_of
from xtile.dialects.triton.ttg.ops import ConvertLayoutOp
from xtile.rewrite.rebuilder import Rebuilder, RuleTable
from xtile.targets.target import Target
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.translate.triton_to_amdg.blocked import Machine
from xtile.translate.triton_to_amdg.choice import Choice
from xtile.translate.triton_to_amdg.shapes import axis_of

TARGET = "Triton with layouts"

Layout = DistributedEncodingAttr

_MAY_TRAP = ("arith.divsi", "arith.divui", "arith.remsi", "arith.remui")
"""What is not computed where the source does not compute it."""


class Lowering(Rebuilder):
    """Rebuilds functions with layouts.

    Args:
        rules: What becomes of each operation.
        chip: What the layouts are for.
        machine: The lanes and warps of programs.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        blocks: What the blocks of the function have become.
    """

    def __init__(
        self,
        rules: RuleTable,
        chip: Target,
        machine: Machine,
        source: Source | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> None:
        super().__init__(rules, TARGET, source, diagnostics)
        self.chip = chip
        self.machine = machine
        self._choice: Choice | None = None
        self.blocks: dict[Block, Block] = {}
        self._made_there: dict[tuple[Block, Operation, Layout], SSAValue] = {}

    @property
    def choice(self) -> Choice:
        """The layouts of the function that is translated."""
        assert self._choice is not None
        return self._choice

    @contextmanager
    def choosing(self, function: Operation) -> Generator[None]:
        """Translates a function for a while."""
        self._choice = Choice(function, self.chip, self.machine)
        yield
        self._choice = None

    @override
    def translate(self, operation: Operation) -> None:
        if operation.results and all(map(self._is_made_where_used, operation.results)):
            return
        super().translate(operation)

    def _is_made_where_used(self, value: SSAValue) -> bool:
        return self._choice is not None and self._choice.is_cheap(value)

    def default(self, type_: Attribute) -> Attribute:
        """A type with the default layout, if it is a tensor's."""
        return with_layout(type_, self.choice.default(type_)) if shape_of(type_) else type_

    # --- values in layouts ---

    def in_layout(self, old: SSAValue, layout: Layout | None) -> SSAValue:
        """What a value of the source has become, in a layout; any one for None."""
        if not shape_of(old.type):
            return self.value(old)
        if self.choice.is_cheap(old):
            return self._made(old, layout or self.choice.default(old.type))
        return self.converted(self.value(old), layout)

    def all_in(self, old: Iterable[SSAValue], layout: Layout | None) -> list[SSAValue]:
        """What several values have become, in one layout."""
        return [self.in_layout(value, layout) for value in old]

    def converted(self, value: SSAValue, layout: Layout | None) -> SSAValue:
        """A tensor in another layout."""
        if layout is None or encoding_of(value.type) == layout:
            return value
        type_ = with_layout(value.type, layout)
        return self.shared(
            (value, layout), [value], lambda: self.emit(ConvertLayoutOp(value, type_)).result
        )

    def _made(self, old: SSAValue, layout: Layout) -> SSAValue:
        """A cheap value, computed in a layout."""
        operation = cast("Operation", old.owner)
        own = layout
        if operation.name == "tt.expand_dims":
            own = SliceEncodingAttr(axis_of(operation), layout)
        operands = self.all_in(operation.operands, own)

        def make() -> SSAValue:
            return self.emit(retyped(operation, operands, layout)).results[0]

        if operation.name in _MAY_TRAP:
            return self._made_inside(operation, layout, make)
        made = self.shared((old, layout), operands, make)
        if made.name_hint is None:
            made.name_hint = old.name_hint
        return made

    def _made_inside(
        self, operation: Operation, layout: Layout, make: Callable[[], SSAValue]
    ) -> SSAValue:
        """What `make` emits in the block where the source has it, and no further out."""
        assert operation.parent is not None
        block = self.blocks[operation.parent]
        key = block, operation, layout
        if key not in self._made_there:
            with self.at_end_of(block):
                self._made_there[key] = make()
        return self._made_there[key]


def with_layout(type_: Attribute, layout: Layout | None) -> Attribute:
    """A tensor's type with a layout; others stay as they are."""
    shape = shape_of(type_)
    return type_ if not shape or layout is None else TensorType(element_of(type_), shape, layout)


def layout_of(type_: Attribute) -> Layout | None:
    """The layout of a tensor's type, if it has one."""
    found = encoding_of(type_)
    return found if isinstance(found, DistributedEncodingAttr) else None


def _with_layout(value: Any, layout: Layout | None) -> Attribute:
    """The elements of a tensor with a layout."""
    type_: Any = with_layout(value.type, layout)
    return DenseIntOrFPElementsAttr(type_, value.data)


def retyped(operation: Operation, operands: Sequence[SSAValue], layout: Layout | None) -> Operation:
    """The same operation on other operands, whose results have a layout."""
    properties = operation.properties.copy()
    value: Any = properties.get("value")
    if operation.name == "arith.constant" and isinstance(value, DenseIntOrFPElementsAttr):
        properties["value"] = _with_layout(value, layout)
    return type(operation).create(
        operands=operands,
        result_types=[with_layout(result.type, layout) for result in operation.results],
        properties=properties,
        attributes=operation.attributes.copy(),
    )
