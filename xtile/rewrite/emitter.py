"""Emits code in upstream's dialects: loops, conditions, accesses of memory."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    ComplexType,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    i64,
)
from xdsl.dialects.memref import DimOp, SubviewOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.construction import made
from xtile.dialects.core.attributes import ComplexPart
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.memref.access import LoadOp, StoreOp
from xtile.dialects.memref.views import subview_type
from xtile.rewrite.indices import ArithBuilder, Index
from xtile.rewrite.rebuilder import Rebuilder

AnyMemRef: TypeAlias = MemRefType[Attribute]


@dataclass
class Loop:
    """What the body of a loop sees, and what is left after it.

    Attributes:
        index: The loop variable.
        carried: What the previous iteration has handed on.
        results: What the last iteration hands on; the body sets it.
    """

    index: Index
    carried: Sequence[SSAValue]
    results: Sequence[SSAValue] = field(default_factory=tuple)


class Emitter(ArithBuilder):
    """Emits the code that a pass on the core form makes of one operation."""

    @property
    def loop_attributes(self) -> Mapping[str, Attribute]:
        """The attributes of the loops that are emitted."""
        return {}

    # --- constants and sizes ---

    def constant(self, number: float, type: Attribute) -> SSAValue:
        """A constant of an integer, index or floating type."""

        def emit() -> SSAValue:
            if isinstance(type, AnyFloat):
                value = FloatAttr(number, type)
            else:
                value = IntegerAttr(int(number), cast("IndexType", type))
            return self.emit(made(arith.ConstantOp, (), (type,), {"value": value})).result

        if isinstance(type, IndexType):
            return self.index(int(number))
        # 0 and -0 are equal.
        return self.shared(("constant", repr(number), type), (), emit)

    def size(self, *equal: tuple[SSAValue, int]) -> Index:
        """The size of a memref along a dimension; of several equal ones, one that is known."""
        for memory, dimension in equal:
            size = _static_size(memory, dimension)
            if size is not None:
                return size
        memory, dimension = equal[0]
        return self.pure(DimOp, memory, self.index(dimension))

    # --- control flow ---

    @contextmanager
    def loop(
        self,
        start: Index,
        stop: Index,
        step: int = 1,
        initial: Sequence[SSAValue] = (),
        name: str = "i",
    ) -> Generator[Loop]:
        """The loop from `start` to `stop`; one that certainly runs once is no loop."""
        if isinstance(start, int) and isinstance(stop, int) and start < stop <= start + step:
            yield Loop(start, list(initial))
            return
        block = Block(arg_types=[IndexType(), *(value.type for value in initial)])
        block.args[0].name_hint = name
        for argument in block.args[1:]:
            argument.name_hint = "sum"
        first, last, stride = (self.as_value(bound) for bound in (start, stop, step))
        loop = Loop(block.args[0], block.args[1:])
        with self.at_end_of(block):
            yield loop
            self.emit(scf.YieldOp(*loop.results))
        operation = scf.ForOp(first, last, stride, initial, Region(block))
        operation.attributes |= self.loop_attributes
        loop.results = self.emit(operation).results

    def nest(
        self,
        sizes: Sequence[Index],
        initial: Sequence[SSAValue],
        body: Callable[[Sequence[Index], Sequence[SSAValue]], Sequence[SSAValue]],
    ) -> Sequence[SSAValue]:
        """Loops that carry values.

        Args:
            sizes: How far each counts.
            initial: The values at the beginning.
            body: Emits what is done for some numbers, and returns the new values.
        """
        if not sizes:
            return body((), initial)
        with self.loop(0, sizes[0], initial=initial) as loop:
            loop.results = self.nest(
                sizes[1:],
                loop.carried,
                lambda rest, values: body((loop.index, *rest), values),
            )
        return loop.results

    @contextmanager
    def when(self, condition: SSAValue) -> Generator[None]:
        """What only those work-items do for which the condition holds."""
        block = Block()
        with self.at_end_of(block):
            yield
            self.emit(scf.YieldOp())
        self.emit(scf.IfOp(condition, [], Region(block)))

    # --- memory ---

    def load(self, memory: SSAValue, indices: Sequence[Index]) -> SSAValue:
        """The element at the indices."""
        values = [self.as_value(index) for index in indices]
        return self.emit(LoadOp.get(memory, values)).res

    def store(self, value: SSAValue, memory: SSAValue, indices: Sequence[Index]) -> None:
        """Replaces the element at the indices."""
        values = [self.as_value(index) for index in indices]
        self.emit(StoreOp.get(value, memory, values))


def subview(
    emitter: Emitter, memory: SSAValue, offsets: Sequence[Index], sizes: Sequence[Index]
) -> SSAValue:
    """The part of memory that has so many elements from an offset on along each dimension."""
    ones = [1] * len(sizes)
    first, count = ([n if isinstance(n, int) else None for n in each] for each in (offsets, sizes))
    type_: Attribute = subview_type(memory.type, first, count, ones)
    values = [[n for n in each if not isinstance(n, int)] for each in (offsets, sizes)]
    no_strides: list[SSAValue] = []

    def emit() -> SSAValue:
        operation = SubviewOp.build(
            operands=[memory, *values, no_strides],
            result_types=[type_],
            properties={
                "static_offsets": _static_numbers(offsets),
                "static_sizes": _static_numbers(sizes),
                "static_strides": _static_numbers(ones),
            },
        )
        return emitter.emit(operation).results[0]

    unknown = [value for each in values for value in each]
    return emitter.shared((SubviewOp, memory, *offsets, *sizes), (memory, *unknown), emit)


def _static_numbers(numbers: Sequence[Index]) -> DenseArrayBase:
    static = [number if isinstance(number, int) else DYNAMIC_INDEX for number in numbers]
    return DenseArrayBase.from_list(i64, static)


def element_type(memory: SSAValue) -> Attribute:
    """The type of a memref's elements."""
    return cast("AnyMemRef", memory.type).element_type


def rank(memory: SSAValue) -> int:
    """The number of a memref's dimensions."""
    return cast("AnyMemRef", memory.type).get_num_dims()


def _static_size(memory: SSAValue, dimension: int) -> int | None:
    size = cast("AnyMemRef", memory.type).get_shape()[dimension]
    return None if size == DYNAMIC_INDEX else size


def part_views(rebuilder: Rebuilder, memory: SSAValue) -> list[SSAValue]:
    """The memory of each part of the numbers in memory; that of real numbers is itself."""
    if not isinstance(element_type(memory), ComplexType):
        return [memory]
    return [part_view(rebuilder, memory, part) for part in ComplexPart]


def part_view(rebuilder: Rebuilder, memory: SSAValue, part: ComplexPart) -> SSAValue:
    """The memory of one part of the complex numbers in memory."""
    return rebuilder.shared(
        (ComplexPartOp, memory, part),
        (memory,),
        lambda: rebuilder.emit(ComplexPartOp(memory, part)).result,
    )
