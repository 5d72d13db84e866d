"""What the text of instructions is read from and written to.

A directive is one piece of an instruction's text. It reads from an `Input` and writes to an
`Output`, of which there are two each: `.ir` text and MLIR's custom form. `syntax.py` makes the
directives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Generic, Protocol, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, LocationAttr, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments

from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
)

NamedT = TypeVar("NamedT")


@dataclass(frozen=True, slots=True)
class Definition:
    """A value's name where the text introduces it, before its type is known."""

    name: str
    start: int
    end: int


class NameTable(Generic[NamedT]):
    """Names and what they stand for: `%name` and its value, `$name` and its definition.

    A name is visible in the region that defines it and in the regions within; it must not be
    defined again there, but sibling regions may use it anew.
    """

    def __init__(self) -> None:
        self._visible: dict[str, tuple[NamedT, Definition]] = {}
        # For each region its names, and what they stand for outside of it.
        self._scopes: list[dict[str, tuple[NamedT, Definition] | None]] = [{}]

    def enter(self) -> None:
        """Opens a region."""
        self._scopes.append({})

    def leave(self) -> None:
        """Closes the innermost region and forgets its names."""
        for name, outer in self._scopes.pop().items():
            if outer is None:
                del self._visible[name]
            else:
                self._visible[name] = outer

    def get(self, name: str) -> NamedT | None:
        """What a visible name stands for."""
        entry = self._visible.get(name)
        return None if entry is None else entry[0]

    def define(self, definition: Definition, named: NamedT) -> Definition | None:
        """Makes a name visible; returns the earlier definition where there is one."""
        entry = self._visible.get(definition.name)
        if entry is not None:
            return entry[1]
        self._visible[definition.name] = (named, definition)
        self._scopes[-1][definition.name] = None
        return None

    def redefine(self, definition: Definition, named: NamedT) -> None:
        """Lets a visible name stand for something else until the end of the innermost region."""
        name = definition.name
        self._scopes[-1].setdefault(name, self._visible[name])
        self._visible[name] = (named, definition)


class Input(Protocol):
    """Text that an instruction is read from; each method reads one piece or raises."""

    def operand(self) -> SSAValue:
        """A value that is used."""
        ...

    def index_operands(self, close: str) -> list[SSAValue]:
        """Comma-separated values up to, and without, the punctuation `close`."""
        ...

    def definition(self) -> Definition:
        """The name of a value that the instruction introduces for its region."""
        ...

    def integer(self, what: str) -> int:
        """An integer constant; `what` it is, for the error message."""
        ...

    def index_or_operand(self, what: str) -> int | SSAValue:
        """A non-negative integer constant or a value."""
        ...

    def punctuation(self, text: str) -> None:
        """The given punctuation or keyword."""
        ...

    def optional_punctuation(self, text: str) -> bool:
        """The given punctuation or keyword, if it is there."""
        ...

    def next_is(self, text: str) -> bool:
        """Whether the given punctuation comes next."""
        ...

    def modifier(self, spellings: Mapping[str, Attribute | None]) -> str | None:
        """One of the given modifiers, if it is there."""
        ...

    def missing_modifier(self, spellings: Sequence[str]) -> Exception:
        """The error to raise where one of `spellings` had to stand."""
        ...

    def type(self) -> Attribute:
        """A type."""
        ...

    def parameter_type(self) -> Attribute:
        """The type of a parameter; a wrong one need not end the reading of the others."""
        ...

    def parameter_dictionary(self) -> dict[str, Attribute]:
        """The attribute dictionary of a parameter, or nothing."""
        ...

    def constant(self) -> Attribute:
        """A constant, as `ConstantOp.value` holds it."""
        ...

    def dictionary(self) -> dict[str, Attribute]:
        """An attribute dictionary in braces, or nothing."""
        ...

    def symbol(self) -> str:
        """A global identifier without the `@`."""
        ...

    def region(self, arguments: Sequence[tuple[Definition, Attribute]] = ()) -> Region:
        """A region in braces with the given arguments."""
        ...


class Output(Protocol):
    """Text that an instruction is printed to."""

    def write(self, text: str, /) -> None:
        """Plain text."""
        ...

    def modifier(self, spelling: str) -> None:
        """One modifier."""
        ...

    def operand(self, value: SSAValue) -> None:
        """The name of a value."""
        ...

    def type(self, type: Attribute) -> None:
        """A type."""
        ...

    def constant(self, value: Attribute) -> None:
        """What `ConstantOp.value` holds."""
        ...

    def dictionary(self, entries: Mapping[str, Attribute], lead: str) -> None:
        """`lead` and a dictionary in braces; nothing where there are no entries."""
        ...

    def discardable(self, operation: Operation) -> Mapping[str, Attribute]:
        """The discardable attributes that this text shows in the operation's dictionary."""
        ...

    def symbol(self, name: str) -> None:
        """A global identifier."""
        ...

    def region(self, region: Region) -> None:
        """A space and a region in braces, without its arguments."""
        ...


@dataclass(slots=True)
class Parts:
    """The parts of an operation that is being read."""

    operands: list[SSAValue] = field(default_factory=list[SSAValue])
    segments: list[int] = field(default_factory=list[int])
    result_types: list[Attribute] = field(default_factory=list[Attribute])
    properties: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    attributes: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    regions: list[Region] = field(default_factory=list[Region])

    def add_operands(self, values: Sequence[SSAValue]) -> None:
        """Appends the values of one operand definition."""
        self.operands.extend(values)
        self.segments.append(len(values))

    def build(
        self, cls: type[TensorLangOperation], location: LocationAttr | None = None
    ) -> TensorLangOperation:
        """The operation, unverified."""
        if _has_segments(cls):
            self.properties[AttrSizedOperandSegments.attribute_name] = DenseArrayBase.from_list(
                i32, self.segments
            )
        return cls.create(
            operands=self.operands,
            result_types=self.result_types,
            properties=self.properties,
            attributes=self.attributes,
            regions=self.regions,
            location=location,
        )


@cache
def _has_segments(cls: type[TensorLangOperation]) -> bool:
    return any(
        isinstance(option, AttrSizedOperandSegments) for option in cls.get_irdl_definition().options
    )


class Directive(Protocol):
    """One piece of an instruction's text."""

    def read(self, source: Input, parts: Parts) -> None:
        """Reads the piece into `parts`."""
        ...

    def write(self, output: Output, operation: TensorLangOperation) -> None:
        """Prints the piece of `operation`."""
        ...


def split_dictionary(
    entries: Mapping[str, Attribute], properties: Sequence[str], parts: Parts
) -> None:
    """Puts the entries named in `properties` there, the others among the attributes."""
    for name, value in entries.items():
        (parts.properties if name in properties else parts.attributes)[name] = value


def write_dictionary(
    output: Output, operation: TensorLangOperation, properties: Sequence[str], lead: str
) -> None:
    """Prints the named properties and the discardable attributes as one dictionary."""
    entries = {
        name: operation.properties[name] for name in properties if name in operation.properties
    }
    output.dictionary({**entries, **output.discardable(operation)}, lead)


def write_list(output: Output, values: Sequence[SSAValue]) -> None:
    """Prints values with commas between them."""
    for i, value in enumerate(values):
        if i:
            output.write(",")
        output.operand(value)
