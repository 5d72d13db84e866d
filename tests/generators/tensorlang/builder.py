"""Builds one random function: the values in reach, the regions, and who executes them.

The builder knows which work-items agree on a value, because the language asks for uniform values
in many positions, and makes what an instruction needs where nothing suitable is in reach.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from random import Random
from typing import TypeVar

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from tests.generators.tensorlang import choices
from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.attributes import AddressSpace
from xtile.dialects.tensorlang.operation import (
    BLANK_LINE,
    COMMENTS,
    COMMENTS_BEHIND,
    TRAILING_COMMENT,
    TensorLangOperation,
    integer_attribute,
)
from xtile.dialects.tensorlang.ops.arithmetic import ConstantOp
from xtile.dialects.tensorlang.ops.collective import AllocaOp
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.dialects.tensorlang.syntax import MODIFIERS
from xtile.dialects.tensorlang.types import (
    BOOL,
    INDEX,
    CoopmatrixType,
    GroupType,
    MemrefType,
    is_number,
)

MAXIMUM_DEPTH = 5
"""No region of a random kernel lies deeper."""

_SUBGROUP_SIZES = (None, 8, 16, 32)
_LARGEST_SUBGROUP = 32

T = TypeVar("T")


class Level(IntEnum):
    """Who agrees on a value, or executes a region together."""

    WORK_GROUP = 0
    SUBGROUP = 1
    WORK_ITEM = 2


Maker = Callable[["Builder"], object]
"""Makes one random instruction where the builder stands, and what that needs."""


class Builder:
    """Builds one function.

    Args:
        random: The source of all choices.
        makers: What can make an instruction where the builder stands.
        budget: About how many instructions to make.
    """

    def __init__(
        self,
        random: Random,
        makers: Callable[[Builder], Sequence[Maker]],
        budget: int,
    ) -> None:
        self.random = random
        self.spmd = False
        self.level: Level = Level.WORK_GROUP
        self.depth = 0
        self.budget = budget
        self.body = self.block = Block()
        self._makers = makers
        self._visible: dict[Attribute, list[SSAValue]] = {}
        self._log: list[Attribute] = []
        self._levels: dict[SSAValue, Level] = {}
        self._subgroup_size = random.choice(_SUBGROUP_SIZES)

    # Choices

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.random.random() < probability

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self.random.choice(options)

    @property
    def subgroup_multiple(self) -> int:
        """A number of rows that every possible subgroup size divides."""
        size = self._subgroup_size or _LARGEST_SUBGROUP
        return size * self.choice((1, 1, 2))

    def flag(self, name: str) -> dict[str, Attribute]:
        """A property without a value, or nothing."""
        return {name: UnitAttr()} if self.chance(0.5) else {}

    def modifiers(self, *names: str) -> dict[str, Attribute]:
        """A random spelling of each of these modifiers."""
        values = {name: self.choice(list(MODIFIERS[name].values())) for name in names}
        return {name: value for name, value in values.items() if value is not None}

    # Values

    def level_of(self, *values: SSAValue) -> Level:
        """Who agrees on all of these values."""
        return max(
            (self._levels.get(v, Level.WORK_GROUP) for v in values), default=Level.WORK_GROUP
        )

    def see(self, value: SSAValue, level: Level = Level.WORK_GROUP) -> SSAValue:
        """Brings a value into reach until the end of the current region."""
        value.name_hint = choices.name(self.random)
        self._visible.setdefault(value.type, []).append(value)
        self._log.append(value.type)
        self._levels[value] = level
        return value

    def forget(self, value: SSAValue) -> None:
        """Takes the newest value of its type out of reach."""
        assert self._visible[value.type].pop() is value
        self._log.reverse()
        self._log.remove(value.type)
        self._log.reverse()

    def parameter(self, type: Attribute) -> SSAValue:
        """A new parameter of the function."""
        value = self.body.insert_arg(type, len(self.body.args))
        value.name_hint = choices.name(self.random)
        # In front of the values that go out of reach when a region ends.
        self._visible.setdefault(type, []).insert(0, value)
        return value

    def existing(self, type: Attribute, level: Level = Level.WORK_ITEM) -> SSAValue | None:
        """A value of this type that is in reach and that all of `level` agree on."""
        values = [v for v in self._visible.get(type, ()) if self.level_of(v) <= level]
        return self.choice(values) if values else None

    def scalar(self, type: Attribute, level: Level = Level.WORK_ITEM) -> SSAValue:
        """A value of a scalar type that all of `level` agree on."""
        value = self.existing(type, level) if self.chance(0.75) else None
        if value is not None:
            return value
        # A bool cannot be a parameter of a kernel.
        if type != BOOL and self.chance(0.4):
            return self.parameter(type)
        return self.constant(type)

    def constant(self, type: Attribute, value: Attribute | None = None) -> SSAValue:
        """A new constant."""
        value = choices.constant(self.random, type) if value is None else value
        return self.compute(ConstantOp, [], type, {"value": value})

    def small_constant(self, type: Attribute, value: int) -> SSAValue:
        """A new constant of a number type with the value of a small integer."""
        return self.constant(type, choices.plain_constant(type, value))

    def divisor(self, type: Attribute) -> SSAValue:
        """A number that is not a constant zero."""
        if self.chance(0.5):
            return self.small_constant(type, self.choice((1, 2, 3)))
        return self.parameter(type) if is_number(type) else self.matrix(type, constant=2)

    def indices(self, count: int, level: Level = Level.WORK_ITEM) -> list[SSAValue]:
        """Values of index type."""
        return [self.scalar(INDEX, level) for _ in range(count)]

    def position(self) -> list[SSAValue]:
        """The row and the column of a block of a memref, which the subgroup agrees on."""
        return self.indices(2, Level.SUBGROUP)

    def memref(self, element: Attribute, shape: Sequence[int]) -> SSAValue:
        """A memref of this element type and shape."""
        wanted = (element, tuple(shape))
        types = [t for t in self._memref_types() if (t.element_type, t.shape) == wanted]
        value = self.existing(self.choice(types)) if types and self.chance(0.7) else None
        return self._new_memref(element, shape) if value is None else value

    def any_memref(self, least_order: int = 0, elements: Sequence[Attribute] = ()) -> SSAValue:
        """A memref of at least this order, with one of these element types."""
        elements = elements or choices.NUMBERS
        types = [
            type
            for type in self._memref_types()
            if type.order >= least_order and type.element_type in elements
        ]
        value = self.existing(self.choice(types)) if types and self.chance(0.6) else None
        if value is not None:
            return value
        order = self.random.randint(least_order, choices.LARGEST_ORDER)
        return self._new_memref(self.choice(elements), choices.shape(self.random, order))

    def group(self) -> SSAValue:
        """A group."""
        types = [t for t, values in self._visible.items() if isinstance(t, GroupType) and values]
        value = self.existing(self.choice(types)) if types and self.chance(0.6) else None
        return self.parameter(choices.group_type(self.random)) if value is None else value

    def _memref_types(self) -> list[MemrefType]:
        return [t for t, values in self._visible.items() if isinstance(t, MemrefType) and values]

    def _new_memref(self, element: Attribute, shape: Sequence[int]) -> SSAValue:
        type = choices.memref_type(self.random, element, shape)
        if not self.spmd and type.allocated_elements is not None and self.chance(0.5):
            return self.alloca(type)
        # What is local cannot come from the host.
        return self.parameter(MemrefType.get(element, shape, type.strides))

    def alloca(self, type: MemrefType) -> SSAValue:
        """New local memory of the size and layout of `type`."""
        type = MemrefType.get(type.element_type, type.shape, type.strides, AddressSpace.LOCAL)
        alignment = choices.alignment(self.random, type.element_type)
        properties = {"alignment": integer_attribute(alignment)} if self.chance(0.4) else {}
        operation = self.append(AllocaOp, [], properties, [type])
        self.decorate(operation)
        return self.see(operation.results[0])

    def matrix(self, type: Attribute, constant: int | None = None) -> SSAValue:
        """A value of this coopmatrix type."""
        assert isinstance(type, CoopmatrixType)
        value = self.existing(type, Level.SUBGROUP) if constant is None else None
        if value is not None and self.chance(0.8):
            return value
        return self.constant(type) if constant is None else self.small_constant(type, constant)

    def any_matrix(
        self, components: Sequence[Attribute] = choices.NUMBERS, rows: int | None = None
    ) -> SSAValue:
        """A coopmatrix with one of these component types."""
        if rows is None:
            rows = self.choice((1, 4, 8, 16, self.subgroup_multiple))
        return self.matrix(choices.matrix_type(self.random, self.choice(components), rows))

    def value_like(self, type: Attribute, level: Level = Level.WORK_ITEM) -> SSAValue:
        """A value of a scalar or coopmatrix type."""
        return self.matrix(type) if isinstance(type, CoopmatrixType) else self.scalar(type, level)

    @property
    def may_use_matrices(self) -> bool:
        """Whether the subgroup executes this SPMD region together."""
        return self.spmd and self.level <= Level.SUBGROUP

    @property
    def needed_level(self) -> Level:
        """Who has to agree on an operand that decides what is executed."""
        return Level.WORK_ITEM if self.spmd else Level.WORK_GROUP

    @property
    def varying(self) -> Level:
        """Who agrees on what is loaded from memory, for all that a reader of the text can tell."""
        return Level.WORK_ITEM if self.spmd else Level.WORK_GROUP

    # Instructions

    def append(
        self,
        cls: type[TensorLangOperation],
        operands: Sequence[SSAValue | Sequence[SSAValue]],
        properties: Mapping[str, Attribute] | None = None,
        results: Sequence[Attribute] = (),
        regions: Sequence[Region] = (),
    ) -> TensorLangOperation:
        """Appends an instruction, whose results are not yet in reach, and returns it."""
        parts = Parts(
            result_types=list(results), properties=dict(properties or {}), regions=list(regions)
        )
        for operand in operands:
            parts.add_operands([operand] if isinstance(operand, SSAValue) else operand)
        operation = parts.build(cls)
        self._add_comments(operation)
        self.block.add_op(operation)
        return operation

    def compute(
        self,
        cls: type[TensorLangOperation],
        operands: Sequence[SSAValue | Sequence[SSAValue]],
        result: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        level: Level | None = None,
    ) -> SSAValue:
        """Appends an instruction with one result and returns the result.

        `level` says who agrees on the result; by default who agrees on all operands.
        """
        operation = self.append(cls, operands, properties, [result])
        if level is None:
            level = self.level_of(*operation.operands)
        return self.see(operation.results[0], level)

    def decorate(self, operation: TensorLangOperation) -> None:
        """Gives an instruction with a dictionary attributes that nothing knows."""
        if self.chance(0.2):
            operation.attributes.update(choices.named_attributes(self.random))

    def _add_comments(self, operation: TensorLangOperation) -> None:
        if self.chance(0.04):
            lines = choices.comment_lines(self.random)
            if self.chance(0.2):
                lines.append(BLANK_LINE)
            operation.attributes[COMMENTS] = _strings(lines)
        if self.chance(0.03):
            line = choices.comment(self.random)
            if line:
                operation.attributes[TRAILING_COMMENT] = StringAttr(line)

    def _add_closing_comments(self, block: Block) -> None:
        """Gives the end of a region comments."""
        if block.last_op is not None and self.chance(0.05):
            lines = choices.comment_lines(self.random)
            block.last_op.attributes[COMMENTS_BEHIND] = _strings(lines)

    # Regions

    def region(
        self,
        arguments: Sequence[tuple[Attribute, Level]] = (),
        *,
        spmd: bool | None = None,
        level: Level = Level.WORK_GROUP,
        end: Callable[[], object] | None = None,
    ) -> Region:
        """A region of random instructions.

        Args:
            arguments: The types of its arguments and who agrees on them.
            spmd: Whether it is an SPMD region; None for the kind of the region around it.
            level: Who executes it together, if all of the region around it do.
            end: Makes what stands at the end.
        """
        with self._inside(self.spmd if spmd is None else spmd, max(level, self.level)):
            block = self.block = Block()
            for type, argument_level in arguments:
                self.see(block.insert_arg(type, len(block.args)), argument_level)
            self.fill(self.random.randint(0, 6))
            if end is not None:
                end()
        self._add_closing_comments(block)
        return Region(block)

    @contextmanager
    def _inside(self, spmd: bool, level: Level) -> Generator[None]:
        outer = (self.block, self.spmd, self.level, self.depth)
        reach = len(self._log)
        self.spmd, self.level, self.depth = spmd, level, self.depth + 1
        yield
        while len(self._log) > reach:
            self._visible[self._log.pop()].pop()
        self.block, self.spmd, self.level, self.depth = outer

    def fill(self, count: int) -> None:
        """Appends about `count` random instructions, as far as the budget reaches."""
        for _ in range(count):
            if self.budget <= 0:
                return
            self.budget -= 1
            self.choice(self._makers(self))(self)

    # The function

    def function(self, name: str) -> FuncOp:
        """The finished function, filled up to its budget."""
        for _ in range(self.random.randint(0, 3)):
            self.parameter(self.choice(choices.NUMBERS))
        while self.budget > 0:
            self.fill(self.budget)
        self._add_closing_comments(self.body)
        properties: dict[str, Attribute] = {"sym_name": StringAttr(name), **self._launch_shape()}
        dictionaries = [self._parameter_attributes(value.type) for value in self.body.args]
        if any(dictionary.data for dictionary in dictionaries):
            properties["parameter_attributes"] = ArrayAttr(dictionaries)
        function = FuncOp.create(properties=properties, regions=[Region(self.body)])
        self.decorate(function)
        self._add_comments(function)
        function.attributes.pop(TRAILING_COMMENT, None)
        return function

    def _launch_shape(self) -> dict[str, Attribute]:
        properties: dict[str, Attribute] = {}
        if self._subgroup_size is not None:
            properties["subgroup_size"] = integer_attribute(self._subgroup_size)
        if self.chance(0.5):
            rows = (self._subgroup_size or _LARGEST_SUBGROUP) * self.choice((1, 2, 4))
            properties["work_group_size"] = ArrayAttr(
                [integer_attribute(rows), integer_attribute(self.choice((1, 2, 8)))]
            )
        return properties

    def _parameter_attributes(self, type: Attribute) -> DictionaryAttr:
        entries: dict[str, Attribute] = {}
        memref = type.element if isinstance(type, GroupType) else type
        if not isinstance(memref, MemrefType) or self.chance(0.5):
            return DictionaryAttr(entries)
        if self.chance(0.4):
            entries["alignment"] = integer_attribute(
                choices.alignment(self.random, memref.element_type)
            )
        for name, values in (("shape_gcd", memref.shape), ("stride_gcd", memref.strides)):
            if self.chance(0.4):
                entries[name] = self._divisors(values)
        if self.chance(0.1):
            entries.update(choices.named_attributes(self.random))
        return DictionaryAttr(entries)

    def _divisors(self, values: Sequence[int]) -> ArrayAttr[IntegerAttr]:
        known = values[: self.random.randint(0, len(values))]
        divisors = (
            self.choice([d for d in (1, 2, 4, 8, 16) if value < 0 or value % d == 0])
            for value in known
        )
        return ArrayAttr(integer_attribute(divisor) for divisor in divisors)


def _strings(lines: Sequence[str]) -> Attribute:
    return ArrayAttr(StringAttr(line) for line in lines)
