"""What LLVM says of operations whose classes are xDSL's: stricter verdicts, and their text.

The operations of a dialect that xDSL has are of xDSL's own classes, so that stock passes know them
and what other compilers build with them is what passes of this package see. A class derived from
xDSL's would be another one. What LLVM verifies beside xDSL, and what it reads and prints otherwise,
therefore stands in a table by xDSL's class, which the reader, the printer and the verifier ask:

    OPERATIONS = {
        arith.AddiOp: Extension(operands={"lhs": INTEGER, "rhs": INTEGER}, assembly_format="..."),
        arith.TruncFOp: Replacement("xtile.dialects.arith.casts", "TruncFOp"),
    }

Of any class, `GenericFormIf` says where only the generic form can tell all that an operation is.

`docs/xdsl-operations.md` says which operations are xDSL's, and why the others are not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AttrConstraint,
    IRDLOperation,
    OpDef,
    OperandDef,
    ParsePropInAttrDict,
    ResultDef,
)
from xdsl.irdl.declarative_assembly_format import CustomDirective
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import OpTrait

from xtile.text import EXTENSION_TABLES
from xtile.text.checked_definitions import CheckedDefinition

Verify: TypeAlias = Callable[[Any], None]
"""Raises VerifyException for an operation that is wrong."""

Parse: TypeAlias = Callable[[Parser], Operation]
"""Reads what follows an operation's name."""

Print: TypeAlias = Callable[[Any, Printer], None]
"""Prints what follows an operation's name."""

# Every command loads these: Python makes tuples with names in a tenth of the time of data classes.


class Extension(NamedTuple):
    """What LLVM says of an operation beside what xDSL's class says.

    Attributes:
        operands: What operands may be, where that differs.
        results: What results may be, where that differs.
        verify: What is checked beyond the definition, instead of what xDSL's class checks.
        assembly_format: The text; None if it is xDSL's, or `parse` and `print` are there.
        custom_directives: The directives in the format.
        parse: Reads the text, where no format says what it is.
        print: Prints the text, where no format says what it is.
        is_ambiguous: Whether the custom form would be read as another operation.
    """

    operands: Mapping[str, AttrConstraint] = MappingProxyType({})
    results: Mapping[str, AttrConstraint] = MappingProxyType({})
    verify: Verify | None = None
    assembly_format: str | None = None
    custom_directives: Sequence[type[CustomDirective]] = ()
    parse: Parse | None = None
    print: Print | None = None
    is_ambiguous: Callable[[Any], bool] | None = None


class Replacement(NamedTuple):
    """A class of ours for an operation that xDSL's class cannot hold.

    Attributes:
        module: The module that defines it.
        name: Its name there.
        adapt: Changes in place what an operation of xDSL's class holds otherwise; None where the
            class of ours derives from xDSL's and holds the same as it.
        restore: Changes it back; None where that is not done, or there is no `adapt`.
    """

    module: str
    name: str
    adapt: Callable[[Operation], None] | None = None
    restore: Callable[[Operation], None] | None = None

    def load(self) -> type[Operation]:
        """Returns the class."""
        return cast("type[Operation]", getattr(import_module(self.module), self.name))


Table: TypeAlias = Mapping[type[Operation], "Extension | Replacement"]
"""What is said of xDSL's classes of a dialect, in `OPERATIONS` of a module."""


class Form(NamedTuple):
    """How operations of a class are verified, read and printed.

    Attributes:
        kind: The class.
        verify: Checks an operation.
        parse: Reads the custom form; None if there is none.
        print: Prints the custom form; None if there is none.
        is_ambiguous: Whether the custom form would be read as another operation.
    """

    kind: type[Operation]
    verify: Verify
    parse: Parse | None
    print: Print | None
    is_ambiguous: Callable[[Any], bool]

    def dialect_name(self) -> str:
        """The dialect; xDSL's parser asks a class that it reads for this and for `parse`."""
        return self.kind.dialect_name()


def verify_operation(operation: Operation) -> None:
    """Checks an operation itself, without what stands in its regions.

    Raises:
        VerifyException: It is wrong.
    """
    # The class of an operation that is not registered is made anew for each context.
    if operation.name == UnregisteredOp.name:
        operation.verify_()
    else:
        form_of(type(operation)).verify(operation)


_LLVM_FORMS: dict[type[Operation], Form] = {}
"""The forms of classes whose custom forms only LLVM's text has."""

OperationT = TypeVar("OperationT", bound=Operation)


def generic_elsewhere(kind: type[OperationT]) -> type[OperationT]:
    """Has a printer that knows nothing of this table, such as xDSL's, print the generic form.

    It is for operations of dialects of xDSL's whose custom forms xDSL's parser does not read.
    """
    _LLVM_FORMS[kind] = _form_of_class(kind)
    kind.print = Operation.print
    return kind


@dataclass(frozen=True)
class GenericFormIf(OpTrait):
    """Prints an operation in MLIR's generic form where its custom form is another one's.

    ```
    @never_ambiguous
    @op_definition
    class LoadOp(IRDLOperation):
        traits = traits_def(GenericFormIf(reads_as_mask))
    ```

    Attributes:
        is_ambiguous: Whether it must be so for an operation.
    """

    is_ambiguous: Callable[[Operation], bool]


def needs_generic_form(operation: Operation) -> bool:
    """Whether the custom form of an operation would be read as another operation."""
    traits = operation.get_traits_of_type(GenericFormIf)
    return any(trait.is_ambiguous(operation) for trait in traits)


def never_ambiguous(cls: type[OperationT]) -> type[OperationT]:
    """Has a printer that knows nothing of `GenericFormIf`, such as xDSL's, stop instead.

    The operation's `print` raises ValueError where its custom form would be another one's.
    """
    print_custom_form = cls.print

    def print(self: OperationT, printer: Printer) -> None:
        if needs_generic_form(self):
            raise ValueError(f"only the generic form can say what this '{self.name}' is")
        print_custom_form(self, printer)

    cls.print = print
    return cls


@cache
def replacement_of(kind: type[Operation]) -> Replacement | None:
    """Returns what says which class of ours there is for a class of xDSL's."""
    row = _described(kind)
    return row if isinstance(row, Replacement) else None


@cache
def form_of(kind: type[Operation]) -> Form:
    """Returns how operations of a class are verified, read and printed."""
    row = _described(kind)
    if isinstance(row, Replacement) and row.adapt is None:
        return _of_derived(_form_of_class(row.load()))
    if isinstance(row, Extension):
        return _extended(cast("type[IRDLOperation]", kind), row)
    return _LLVM_FORMS.get(kind) or _form_of_class(kind)


def _described(kind: type[Operation]) -> Extension | Replacement | None:
    """What is said of a class of xDSL's; the tables of classes of ours are not loaded for it."""
    return table_of(kind).get(kind) if kind.__module__.startswith("xdsl.") else None


def table_of(kind: type[Operation]) -> Table:
    """Returns what is said of xDSL's operations of the dialect that a class belongs to."""
    module = EXTENSION_TABLES.get(kind.dialect_name())
    return {} if module is None else cast(Table, import_module(module).OPERATIONS)


_NO_PARSE = vars(Operation)["parse"].__func__
"""The method that classes without a custom form have."""


def _form_of_class(kind: type[Operation]) -> Form:
    has_parse = getattr(kind.parse, "__func__", None) is not _NO_PARSE
    has_print = kind.print is not Operation.print
    may_be_ambiguous = bool(kind.get_traits_of_type(GenericFormIf))
    return Form(
        kind,
        kind.verify_,
        kind.parse if has_parse else None,
        kind.print if has_print else None,
        needs_generic_form if may_be_ambiguous else _never,
    )


def _of_derived(form: Form) -> Form:
    """The form of a class of ours, for operations of the class that it derives from."""
    print_own = form.print
    assert print_own is not None

    def verify(operation: Operation) -> None:
        with _as_one_of(form.kind, operation):
            form.verify(operation)

    def print(operation: Operation, printer: Printer) -> None:
        with _as_one_of(form.kind, operation):
            print_own(operation, printer)

    return form._replace(verify=verify, print=print)


@contextmanager
def _as_one_of(kind: type[Operation], operation: Operation) -> Generator[None]:
    """Has an operation another class for a while, and the properties that this has by default."""
    before = operation.__class__, operation.properties
    # An assembly format asks the operation's class for its definition.
    operation.__class__ = kind
    operation.properties = {**default_properties(kind), **operation.properties}
    try:
        yield
    finally:
        operation.__class__, operation.properties = before


@cache
def default_properties(kind: type[Operation]) -> Mapping[str, Attribute]:
    """Returns the properties that operations of a class have where nobody says otherwise."""
    properties = cast("type[IRDLOperation]", kind).get_irdl_definition().properties
    return {
        name: each.default_value
        for name, each in properties.items()
        if each.default_value is not None
    }


class _Reader:
    """What a format asks of the class that it reads, with another definition than the class's."""

    def __init__(self, kind: type[IRDLOperation], definition: OpDef) -> None:
        # `operands` and its like look for the accessors here.
        vars(self).update(vars(kind))
        self.build = kind.build
        self.create = kind.create
        self.get_irdl_definition = lambda: definition


def _extended(kind: type[IRDLOperation], row: Extension) -> Form:
    known = kind.get_irdl_definition()
    definition = replace(
        known,
        operands=_constrained(known.operands, row.operands),
        results=_constrained(known.results, row.results),
        # As in MLIR, properties that the format does not show stand in its dictionary.
        options=[*known.options, ParsePropInAttrDict()],
        custom_directives={
            **known.custom_directives,
            **{directive.__name__: directive for directive in row.custom_directives},
        },
    )
    CheckedDefinition.of(definition)
    text = row.assembly_format or known.assembly_format
    verify = _verify(definition, row.verify)
    is_ambiguous = row.is_ambiguous or _never
    if row.parse is not None or text is None:
        plain = _form_of_class(kind)
        return Form(kind, verify, row.parse or plain.parse, row.print or plain.print, is_ambiguous)
    from xtile.text.assembly_formats import AssemblyFormat

    program = AssemblyFormat.of(definition, text)
    reader = cast("type[IRDLOperation]", _Reader(kind, definition))

    def parse(parser: Parser) -> Operation:
        return program.parse(parser, reader)

    def print(operation: IRDLOperation, printer: Printer) -> None:
        program.print(printer, operation)

    return Form(kind, verify, parse, print, is_ambiguous)


def _verify(definition: OpDef, further: Verify | None) -> Verify:
    if further is None:
        return definition.verify

    def verify(operation: IRDLOperation) -> None:
        definition.verify(operation)
        further(operation)

    return verify


def _never(_: object) -> bool:
    return False


DefinitionT = TypeVar("DefinitionT", OperandDef, ResultDef)


def _constrained(
    definitions: Sequence[tuple[str, DefinitionT]], constraints: Mapping[str, AttrConstraint]
) -> list[tuple[str, DefinitionT]]:
    """Returns definitions of operands or results with other constraints."""
    return [
        (name, type(known)(constraints[name]) if name in constraints else known)
        for name, known in definitions
    ]


def completed(
    known: Sequence[type[Operation]], table: Table, further: Sequence[type[Operation]] = ()
) -> list[type[Operation]]:
    """Returns the operations of a dialect: xDSL's, ours in place of some, and further ones.

    Args:
        known: xDSL's.
        table: What is said of them.
        further: Those that xDSL lacks.
    """
    rows = ((kind, table.get(kind)) for kind in known)
    return [
        *(row.load() if isinstance(row, Replacement) else kind for kind, row in rows),
        *further,
    ]
