"""What the rules share: types, the values of functions that are called, what loops carry.

A tensor becomes a vector, a pointer one of the core form, a descriptor the memref that it
describes; layouts are left out, because they say where elements are and not what they are.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from typing_extensions import override
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    i1,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.shared_attributes import vector_of
from xtile.dialects.triton.operation import as_tensor
from xtile.dialects.triton.tt.types import PointerType, TensorDescType
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import RuleTable
from xtile.rewrite.tile_emitter import TileEmitter, shape_of
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source


def core_type(type_: Attribute) -> Attribute:
    """What a type becomes.

    Raises:
        ValueError: Nothing; the message says why.
    """
    tensor = as_tensor(type_)
    if tensor is not None:
        element, shape = core_type(tensor.element_type), tensor.get_shape()
        return vector_of(shape, element) if shape else element
    if isinstance(type_, PointerType):
        if type_.is_block:
            raise ValueError(f"{type_} cannot be an argument of a function of the core form")
        return CorePointerType.to(type_.pointee)
    if isinstance(type_, TensorDescType):
        return memref_of(type_)
    return type_


def memref_of(descriptor: TensorDescType) -> MemRefType[Attribute]:
    """The memref that a descriptor describes, whose last stride is 1."""
    block = descriptor.block_type
    rank = len(block.get_shape())
    strides = [*[NoneAttr()] * (rank - 1), 1]
    return MemRefType(block.element_type, [DYNAMIC_INDEX] * rank, StridedLayoutAttr(strides, 0))


class Carried(Protocol):
    """What a value has become that is no value: loops and branches hand on what changes of it."""

    def parts(self, raising: Raising) -> list[SSAValue]:
        """The values that loops and branches hand on."""
        ...

    def of_parts(self, parts: Iterable[SSAValue]) -> Carried:
        """The same with what was handed on."""
        ...


class Raising(TileEmitter):
    """Builds kernels at level "tile".

    Attributes:
        facts: What is known of the integers that were emitted.
    """

    def __init__(
        self, rules: RuleTable, source: Source | None, diagnostics: Diagnostics | None
    ) -> None:
        super().__init__(rules, "the core form", source, diagnostics)
        self.facts = Facts()

    def type(self, type_: Attribute) -> Attribute:
        """What a type becomes.

        Raises:
            DiagnosticError: Nothing, at the operation that is being translated.
        """
        try:
            return core_type(type_)
        except ValueError as error:
            raise self.error(str(error)) from None

    def types(self, old: Iterable[SSAValue]) -> list[Attribute]:
        """The types of what values become."""
        return [self.type(value.type) for value in old]

    def optional(self, old: SSAValue | None) -> list[SSAValue]:
        """What a value has become, if there is one."""
        return [] if old is None else [self.value(old)]

    @override
    def value(self, old: SSAValue) -> SSAValue:
        meaning: SSAValue | Carried = self.meaning(old)
        if isinstance(meaning, SSAValue):
            return meaning
        raise self.error(
            "a pointer to a block, a descriptor, or local memory, is only loaded from, stored to "
            "and viewed"
        )

    @override
    def values(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        return [self.value(each) for each in old]

    def combined(self, conditions: SSAValue, kind: CombiningKindFlag) -> SSAValue:
        """Whether all or any of some conditions hold, as `AND` or `OR` says."""
        rank = len(shape_of(conditions.type))
        if not rank:
            return conditions
        properties = {
            "kind": CombiningKindAttr(kind),
            "reduction_dims": DenseArrayBase.from_list(i64, range(rank)),
        }
        neutral = self.constant(int(kind is CombiningKindFlag.AND), i1)
        return self.compute(MultiDimReductionOp, [conditions, neutral], i1, properties)

    # --- what loops and branches hand on ---

    def parts(self, old: SSAValue) -> list[SSAValue]:
        """The values of the core form that a value is."""
        meaning: SSAValue | Carried = self.meaning(old)
        return [meaning] if isinstance(meaning, SSAValue) else meaning.parts(self)

    def all_parts(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        """The values of the core form that values are."""
        return [part for value in old for part in self.parts(value)]

    def define_parts(
        self, old: Iterable[SSAValue], like: Iterable[SSAValue], parts: Iterable[SSAValue]
    ) -> None:
        """Records what values have become that are handed on.

        Args:
            old: The values.
            like: Values that are as these are, such as the initial ones of a loop.
            parts: What is handed on.
        """
        rest = iter(parts)
        for value, example in zip(old, like, strict=True):
            meaning: SSAValue | Carried = self.meaning(example)
            if isinstance(meaning, SSAValue):
                self.define(value, next(rest))
            else:
                count = len(meaning.parts(self))
                self.define(value, meaning.of_parts([next(rest) for _ in range(count)]))

    # --- promises ---

    def promised(self, value: SSAValue, promises: Mapping[str, Attribute]) -> SSAValue:
        """A value of which `tt.divisibility` and its kin say something."""
        element = getattr(value.type, "element_type", value.type)
        if isinstance(element, AnyFloat):
            return value
        divisor = _numbers(promises.get("tt.divisibility"))
        run = _numbers(promises.get("tt.contiguity"))
        known: dict[str, int] = {}
        if divisor is not None and divisor[-1] > 1:
            known["divisible_by"] = divisor[-1]
        shape = shape_of(value.type)
        if shape and run is not None and len(run) == len(shape) and 1 < run[-1] <= shape[-1]:
            known |= {"contiguous": run[-1], "along": len(shape) - 1}
        elif shape and "divisible_by" in known:
            # Without runs it is about the first element of a run of unknown length.
            return value
        if not known:
            return value
        properties = {name: IntegerAttr(number, i64) for name, number in known.items()}
        return self.compute(AssumeOp, [value], value.type, properties)

    # --- calls ---

    @contextmanager
    def calling(self) -> Generator[None]:
        """Translates the body of a function that is called, whose values may be defined again."""
        before = self._values
        self._values = dict(before)
        try:
            yield
        finally:
            self._values = before

    def index_of(self, value: SSAValue) -> Index:
        """An integer of the source, which has a sign, as an index."""
        number = constant_of(value)
        if number is not None:
            return number
        new = self.value(value)
        return new if isinstance(new.type, IndexType) else self.as_index(new, is_signed=True)


def constant_of(old: SSAValue) -> int | None:
    """The number that a scalar is, if it is a constant."""
    operation = old.owner
    if not isinstance(operation, Operation) or operation.name != "arith.constant":
        return None
    value: Any = operation.properties.get("value")
    return int(value.value.data) if isinstance(value, IntegerAttr) else None


def _numbers(attribute: Attribute | None) -> list[int] | None:
    """The numbers of a promise: one for each dimension, or one for a scalar."""
    if attribute is None:
        return None
    given: Any = attribute
    if isinstance(attribute, IntegerAttr):
        return [int(given.value.data)]
    return [int(number) for number in given.get_values()]
