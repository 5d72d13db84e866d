"""Rebuilds a kernel from block level to tile level."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from typing_extensions import override
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.attributes import INDEPENDENT_ATTRIBUTE
from xtile.dialects.gpu.functions import FuncOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import RuleTable
from xtile.rewrite.tile_emitter import TileEmitter
from xtile.targets.target import Hints, Target
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.tile_linalg.spans import SizeFacts, Span, span_of

if TYPE_CHECKING:
    from xtile.transforms.lift.work_group import WorkGroup
    from xtile.transforms.tile_linalg.local_memory import LocalMemory

_MOST_ELEMENTS = 2**24
"""Of a tile."""


class Kernel(TileEmitter):
    """Rebuilds one kernel, from block level to tile level.

    Args:
        rules: What becomes of each operation.
        function: The kernel.
        local: Its local memory that can be tiles.
        target: The architecture.
        source: The text of the source, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        hints: How to compile the kernel, by the size of the largest product that asks for it.
    """

    def __init__(
        self,
        rules: RuleTable,
        function: FuncOp,
        local: LocalMemory,
        target: Target,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, f"tiles of {target.name}", source, diagnostics)
        self._is_in_order = False
        self.target = target
        self.facts = SizeFacts(function)
        self.hints: tuple[int, Hints] = (0, target.tiles.elementwise_hints)
        self.local = local

    @property
    @override
    def loop_attributes(self) -> Mapping[str, Attribute]:
        """Loops over tiles access memory of their own in each iteration."""
        return {} if self._is_in_order else {INDEPENDENT_ATTRIBUTE: UnitAttr()}

    @contextmanager
    def in_order(self) -> Generator[None]:
        """Emits loops whose iterations may depend on each other."""
        before, self._is_in_order = self._is_in_order, True
        try:
            yield
        finally:
            self._is_in_order = before

    def work_group(self) -> WorkGroup:
        """The sizes of the work-group whose code is being translated."""
        from xtile.transforms.lift.work_group import work_group_of

        function = self.old_function()
        assert isinstance(function, FuncOp)
        try:
            return work_group_of(function)
        except ValueError as error:
            raise self.error(str(error)) from error

    def use_hints(self, work: int, hints: Hints) -> None:
        """Compiles the kernel for an operation, unless another one has more work."""
        if work > self.hints[0]:
            self.hints = work, hints

    def span(self, size: Index, most: int, is_whole: bool = False) -> Span:
        """Cuts a size into tiles of at most so many numbers, or not at all if it is whole."""
        return span_of(size, _MOST_ELEMENTS if is_whole else most, self.facts)

    @contextmanager
    def tiles(self, spans: list[Span], names: str = "ijkl") -> Generator[list[Index]]:
        """Loops over all tiles; gives the first number of each dimension's tile."""
        if not spans:
            yield []
            return
        first, *others = spans
        # A size that is not known may be 0 or less, and then there is no tile.
        stop = first.tile if first.is_one else first.size
        with (
            self.loop(0, stop, first.tile, name=names[:1] or "i") as loop,
            self.tiles(others, names[1:]) as indices,
        ):
            yield [loop.index, *indices]

    def pure_with_type(
        self, kind: Callable[..., Any], type: Attribute, *operands: SSAValue
    ) -> SSAValue:
        """The result of an operation without effects that is told its type, computed once."""
        return self.shared(
            (kind, type, *operands),
            operands,
            lambda: self.emit(kind(*operands, type)).results[0],
        )
