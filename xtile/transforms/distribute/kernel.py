"""Emits the code of one work-item: loops over its share, and index arithmetic that folds."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE
from xtile.dialects.gpu.indices import LaneIdOp, SubgroupIdOp
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.distribute.configuration import Configuration


class Kernel(Emitter):
    """Rebuilds one kernel, from block level to subgroup level.

    Args:
        rules: What becomes of each operation.
        barriers: The operations of the source that a barrier must precede.
        target: What it is made for.
        configuration: The sizes of work-group and subgroup.
        source: The text of the source, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        local_bytes: Bytes of local memory that have been allocated beside the kernel's own.
        buffers: Local memory for one operation after the other, by its purpose and element type.
    """

    def __init__(
        self,
        rules: RuleTable,
        barriers: frozenset[Operation],
        target: LaneTarget,
        configuration: Configuration,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, f"subgroups of {target.name}", source, diagnostics)
        self._barriers = barriers
        self.target = target
        self.subgroup_size = configuration.subgroup_size
        self.subgroups = configuration.subgroups
        self.local_bytes = 0
        self.buffers: dict[tuple[str, Attribute], SSAValue] = {}

    @override
    def translate(self, operation: Operation) -> None:
        if operation in self._barriers:
            self.emit(BarrierOp())
        super().translate(operation)

    def barrier(self) -> None:
        """Waits for all work-items."""
        self.emit(BarrierOp())

    # --- where a work-item stands ---

    @property
    def is_alone(self) -> bool:
        """Whether a work-group is one work-item."""
        return self.subgroups * self.subgroup_size == 1

    @property
    def lane(self) -> SSAValue:
        """The number of the work-item in its subgroup."""
        return self._named("lane", LaneIdOp)

    @property
    def subgroup(self) -> Index:
        """The number of the subgroup in its work-group."""
        return 0 if self.subgroups == 1 else self._named("subgroup", SubgroupIdOp)

    @property
    def work_item(self) -> SSAValue:
        """The number of the work-item in its work-group."""
        first = self.multiply(self.subgroup, self.subgroup_size)
        result = self.as_value(self.add(first, self.lane))
        if result.name_hint is None:
            result.name_hint = "work_item"
        return result

    @property
    def is_first(self) -> SSAValue:
        """Whether this is work-item 0."""
        return self.compare("eq", self.work_item, 0)

    def _named(self, name: str, make: Callable[[], LaneIdOp | SubgroupIdOp]) -> SSAValue:
        def emit() -> SSAValue:
            result = self.emit(make()).result
            result.name_hint = name
            return result

        return self.shared(name, (), emit)

    @property
    @override
    def loop_attributes(self) -> Mapping[str, Attribute]:
        """Loops of a CPU stay loops."""
        if self.target.vector_unit is None:
            return {}
        return {UNROLL_ATTRIBUTE: BoolAttr.from_bool(False)}

    # --- control flow ---

    @contextmanager
    def once(self) -> Generator[None]:
        """What is done once by a work-group: by work-item 0."""
        if self.is_alone:
            yield
        elif self.target.vector_unit is None:
            with self.when(self.is_first):
                yield
        else:
            # CPUs' drivers see that one lane is left where the lane's own number decides.
            with self._in_first_subgroup(), self.when(self.compare("eq", self.lane, 0)):
                yield

    def _in_first_subgroup(self) -> AbstractContextManager[None]:
        """What only the first subgroup does."""
        if self.subgroups == 1:
            return nullcontext()
        return self.when(self.compare("eq", self.subgroup, 0))

    @contextmanager
    def spread(self, start: Index, stop: Index, step: int, name: str) -> Generator[Index]:
        """The numbers `start`, `start + step`, ... below `stop`, where 0 <= start < step."""
        if isinstance(stop, int) and not isinstance(start, int):
            if stop == step:
                yield start
                return
            if stop < step:
                with self.when(self.compare("slt", start, stop)):
                    yield start
                return
            if stop % step == 0:
                # A loop whose number of iterations is the same for all work-items.
                with self.loop(0, stop, step, name=name) as loop:
                    yield self.add(loop.index, start)
                return
        with self.loop(start, stop, step, name=name) as loop:
            yield loop.index
