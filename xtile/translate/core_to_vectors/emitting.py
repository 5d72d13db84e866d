"""Accesses of memory by vectors, loops, branches, and arithmetic of indices."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import MemRefType, VectorType, i1, i8, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.arith.casts import ExtUIOp, TruncIOp
from xtile.dialects.construction import made
from xtile.dialects.core.attributes import UNROLL_ATTRIBUTE
from xtile.dialects.core.pointers import PointerType
from xtile.dialects.memref import access
from xtile.dialects.shared_attributes import FALSE, INDEX
from xtile.dialects.vector.types import vector_of
from xtile.rewrite.indices import Index
from xtile.translate.core_to_xegpu.bfloat16 import element_of, like
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.memory import reinterpreted

_FEW_PIECES = 4


class Emitter(Lowering):
    """Emits the code of a work-item that computes with vectors.

    Attributes:
        assumed: The conditions that hold where code is being emitted.
    """

    assumed: frozenset[SSAValue] = frozenset()

    # --- accesses ---

    def load(
        self, memory: SSAValue, indices: Sequence[Index], width: int, element: Attribute
    ) -> SSAValue:
        """Neighbouring elements of memory: a vector, or a scalar for one element."""
        positions = [self.as_value(index) for index in indices]
        memory, type_ = self._with_numbers(memory, element)
        if width == 1:
            scalar = made(access.LoadOp, (memory, *positions), (type_,))
            value = self.emit(scalar).results[0]
        else:
            load = made(vector.LoadOp, (memory, *positions), (vector_of(type_, width),))
            value = self.emit(load).results[0]
        if element == i1 and type_ == i8:
            return self.emit(TruncIOp(value, cast("Any", like(value, i1)))).result
        return value

    def store(
        self,
        value: SSAValue,
        memory: SSAValue,
        indices: Sequence[Index],
        streamed: Mapping[str, Mapping[str, Attribute]] | None = None,
    ) -> None:
        """Stores a vector, or a scalar, in neighbouring elements of memory.

        Args:
            value: The vector or the scalar.
            memory: The memref.
            indices: Those of the first element.
            streamed: Properties and attributes of a store of a vector that goes past the caches.
        """
        positions = [self.as_value(index) for index in indices]
        memory, type_ = self._with_numbers(memory, element_of(value))
        if type_ == i8 and element_of(value) == i1:
            value = self.emit(ExtUIOp(value, cast("Any", like(value, i8)))).result
        if isinstance(value.type, VectorType):
            hints = streamed or {}
            given = hints.get("properties"), hints.get("attributes")
            self.emit(made(vector.StoreOp, (value, memory, *positions), (), *given))
        else:
            self.emit(made(access.StoreOp, (value, memory, *positions), ()))

    def _with_numbers(self, memory: SSAValue, element: Attribute) -> tuple[SSAValue, Attribute]:
        """The memory and the type of its elements; tiles hold pointers as their addresses."""
        type_ = cast("MemRefType[Attribute]", memory.type).element_type
        if isinstance(type_, PointerType) and element == i64:
            return reinterpreted(self, memory, i64), i64
        return memory, type_

    def broadcast(self, scalar: SSAValue, width: int) -> SSAValue:
        """The vector of equal scalars, as far out as the scalar is known."""
        if width == 1:
            return scalar
        type_ = vector_of(scalar.type, width)
        owner = scalar.owner
        if isinstance(owner, arith.ConstantOp):
            return self.constant(cast("Any", owner.value).value.data, type_)
        return self.shared(
            ("broadcast", scalar, type_),
            (scalar,),
            lambda: self.emit(made(vector.BroadcastOp, (scalar,), (type_,))).results[0],
        )

    # --- control flow ---

    def cover(
        self, count: int, width: int, emit: Callable[[Index, int], None], few: int = _FEW_PIECES
    ) -> None:
        """Goes through `count` components in pieces of `width`, and of less at the end.

        A few pieces are no loop, so that the driver can keep them in registers.
        """
        whole = count - count % width
        if whole > few * width:
            with self.loop(0, whole, width, name="at") as at:
                emit(at, width)
        else:
            for at in range(0, whole, width):
                emit(at, width)
        for start, length in rests(whole, count, width):
            emit(start, length)

    @contextmanager
    def loop(self, start: Index, stop: Index, step: int = 1, name: str = "i") -> Generator[Index]:
        """A loop that stays one; what runs once for certain is no loop."""
        with self.carrying_loop(start, stop, (), step, name) as (index, _, _):
            yield index

    @contextmanager
    def carrying_loop(
        self,
        start: Index,
        stop: Index,
        initial: Sequence[SSAValue],
        step: int = 1,
        name: str = "i",
    ) -> Generator[tuple[Index, Sequence[SSAValue], list[SSAValue]]]:
        """A loop with values that are handed on.

        Yields the variable, the values of the last iteration, and a list to put the next ones in,
        which afterwards holds the results.
        """
        if isinstance(start, int) and isinstance(stop, int) and start < stop <= start + step:
            results: list[SSAValue] = []
            yield start, initial, results
            return
        block = Block(arg_types=[INDEX, *(value.type for value in initial)])
        block.args[0].name_hint = name
        if isinstance(start, int) and start >= 0:
            self.facts.assume(block.args[0], step if start == 0 else 1, True)
        results = []
        with self.at_end_of(block):
            yield block.args[0], block.args[1:], results
            self.emit(made(scf.YieldOp, results, ()))
        bounds = (self.as_value(start), self.as_value(stop), self.index(step))
        types = [value.type for value in initial]
        kept = {UNROLL_ATTRIBUTE: FALSE}
        loop = made(
            scf.ForOp, (*bounds, *initial), types, attributes=kept, regions=(Region([block]),)
        )
        results[:] = self.emit(loop).results

    @contextmanager
    def when(self, condition: SSAValue | None) -> Generator[None]:
        """What is only done where a condition holds; None always does."""
        if condition is None:
            yield
            return
        block = Block()
        with self.at_end_of(block):
            yield
            self.emit(made(scf.YieldOp, (), ()))
        self.emit(made(scf.IfOp, (condition,), (), regions=(Region([block]), Region())))

    def either(
        self,
        condition: SSAValue | None,
        then: Callable[[], None],
        otherwise: Callable[[], None],
    ) -> None:
        """Does one of two things; without a condition the first."""
        if condition is None:
            then()
            return
        regions: list[Region] = []
        for emit in (then, otherwise):
            block = Block()
            with self.at_end_of(block):
                emit()
                self.emit(made(scf.YieldOp, (), ()))
            regions.append(Region([block]))
        self.emit(made(scf.IfOp, (condition,), (), regions=regions))

    @contextmanager
    def assuming(self, conditions: Iterable[SSAValue]) -> Generator[None]:
        """Where conditions hold."""
        before = self.assumed
        self.assumed = before.union(conditions)
        yield
        self.assumed = before

    def is_at_least(self, a: Index, b: Index) -> SSAValue:
        """Whether an index is not smaller than another one."""
        return self.compare("sge", a, b)


def rests(first: int, last: int, width: int) -> list[tuple[int, int]]:
    """Where the pieces begin that cover the numbers from `first` to `last`, and their lengths."""
    result: list[tuple[int, int]] = []
    while first < last:
        while width > last - first:
            width //= 2
        result.append((first, width))
        first += width
    return result
