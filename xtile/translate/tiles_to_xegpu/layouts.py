"""Layouts: which part of each vector of a work-group each of its subgroups holds."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Sequence
from contextlib import contextmanager
from typing import ClassVar

from typing_extensions import override
from xdsl.ir import Operation, SSAValue

from xtile.dialects.xegpu.layout import LayoutAttr, SliceAttr
from xtile.rewrite.rebuilder import OperationT, ResultT, RuleTable
from xtile.rewrite.tile_emitter import shape_of
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.distribute_tiles.layouts import Layout, Layouts
from xtile.translate.tiles_to_xegpu.lowering import Lowering, ProductLayouts


class WorkGroupLowering(Lowering):
    """Rebuilds kernels at tile level as XeGPU whose vectors belong to the work-group.

    Attributes:
        layouts: The layouts of the kernel that is being rebuilt.
        waits: The operations of it that a barrier must precede.
    """

    LEVEL: ClassVar[str] = "work-group"

    layouts: Layouts
    waits: frozenset[Operation]

    def __init__(
        self,
        rules: RuleTable,
        target: LaneTarget,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, target, source, diagnostics)
        self.waits = frozenset()
        self._laid_out: tuple[tuple[int, ...], Layout] | None = None

    @override
    def translate(self, operation: Operation) -> None:
        if operation in self.waits:
            before, self._current = self._current, operation
            self.barrier()
            self._current = before
        super().translate(operation)

    @override
    def emit(self, operation: OperationT) -> OperationT:
        """Appends an operation, whose vectors get layouts."""
        if operation.dialect_name() != "xegpu":
            for number, result in enumerate(operation.results):
                shape = shape_of(result.type)
                if shape:
                    name = f"layout_result_{number}"
                    operation.attributes.setdefault(name, self.layout_of(shape))
        return super().emit(operation)

    @override
    def shared(
        self, key: Hashable, operands: Iterable[SSAValue], make: Callable[[], ResultT]
    ) -> ResultT:
        return super().shared((key, self._wanted_layout()), operands, make)

    # --- layouts ---

    @override
    def layout_of(self, shape: Sequence[int]) -> Layout:
        wanted = self._wanted_layout()
        if wanted is not None and wanted[0] == tuple(shape):
            return wanted[1]
        return self.layouts.of_shape(shape)

    @override
    def layout_of_block(self, shape: Sequence[int]) -> LayoutAttr:
        layout = self.layout_of(shape)
        return layout if isinstance(layout, LayoutAttr) else self.layouts.of_shape(shape)

    @override
    def layouts_of_product(self, rows: int, depth: int, columns: int) -> ProductLayouts:
        layouts = self.layouts
        left, right = layouts.of_left(rows, depth), layouts.of_right(depth, columns)
        return left, right, layouts.of_shape((rows, columns))

    @override
    def layout_of_points(self, count: int) -> LayoutAttr:
        return self.layouts.of_points(count)

    @property
    @override
    def points_at_once(self) -> int:
        return self.layouts.subgroups * self.lanes

    @override
    def spread_of(self, value: SSAValue) -> Layout | None:
        owner = value.owner
        if not isinstance(owner, Operation):
            return None
        number = owner.results.index(value)
        found = owner.properties.get("layout") or owner.attributes.get(f"layout_result_{number}")
        return found if isinstance(found, LayoutAttr | SliceAttr) else None

    def _wanted_layout(self) -> tuple[tuple[int, ...], Layout] | None:
        """A shape whose vectors are spread in a way of their own, and how."""
        if self._laid_out is not None:
            return self._laid_out
        for result in () if self._current is None else self._current.results:
            layout = self.layouts.of_value(result)
            if layout is not None:
                return shape_of(result.type), layout
        return None

    @contextmanager
    @override
    def laid_out(self, shape: Sequence[int], layout: Layout | None) -> Generator[None]:
        before = self._laid_out
        self._laid_out = before if layout is None else (tuple(shape), layout)
        try:
            yield
        finally:
            self._laid_out = before

    @override
    def line(self, shape: Sequence[int], axis: int, make: Callable[[], SSAValue]) -> SSAValue:
        """A vector of a shape, in which each line along an axis is what `make` emits.

        The line is spread as the vector is, without the other dimensions.
        """
        whole = self.layout_of(shape)
        if len(shape) == 1:
            return make()
        assert isinstance(whole, LayoutAttr)
        others = [dimension for dimension in range(len(shape)) if dimension != axis]
        with self.laid_out([shape[axis]], SliceAttr(whole, others)):
            line = make()
        unit = [size if dimension == axis else 1 for dimension, size in enumerate(shape)]
        with self.laid_out(unit, whole):
            thin = self.reshape(line, unit)
        with self.laid_out(shape, whole):
            return self.spread(thin, shape)
