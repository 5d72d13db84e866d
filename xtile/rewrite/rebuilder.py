"""Translates a region operation by operation: the old one is walked once, a new one is built.

A translation is a `RuleTable`: for each operation a rule, which is a function that emits what the
operation becomes, and for all others `copy`, `refuse` or a rule of the translation's own. Nothing
is changed in place, so rules see the source as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeAlias, TypeVar, cast

from typing_extensions import override
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.construction import VALUE_CLASSES, made
from xtile.dialects.number_attributes import NUMBER_ATTRIBUTES, says_how_to_round
from xtile.dialects.shared_attributes import index_attribute
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.source import Source, span_of, spelling_of, with_body
from xtile.text.value_names import copy_name

Rule: TypeAlias = Callable[[Any, Any], None]
"""Emits what one operation becomes, and records what its results have become.

The second argument is the `Rebuilder`, or the class that a translation derives from it.
"""

Rules: TypeAlias = Mapping[type[Operation], Rule]
"""The rule of each class of operation."""

OperationT = TypeVar("OperationT", bound=Operation)
ResultT = TypeVar("ResultT")


NOTHING = object()
"""What is found where there is nothing, which may be None."""


def again(
    operation: OperationT,
    operands: Sequence[SSAValue] = (),
    types: Sequence[Attribute] | None = None,
    *,
    properties: Mapping[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
    successors: Sequence[Block] = (),
) -> OperationT:
    """The same operation on other operands, which is in no block yet.

    Args:
        operation: What is done again.
        operands: What it is done to.
        types: The types of its results; None for those that they have.
        properties: What takes the place of some of its properties, or is beside them.
        regions: Its regions, and none of its own.
        successors: Where it may branch to.
    """
    return made(
        type(operation),
        operands,
        operation.result_types if types is None else types,
        {**operation.properties, **properties} if properties else operation.properties,
        operation.attributes,
        successors,
        regions,
    )


def copy(operation: Operation, rebuilder: Rebuilder) -> None:
    """Emits an operation again, on what its operands have become."""
    operands = rebuilder.values(operation.operands)
    rebuilder.replace(operation, again(operation, operands, regions=rebuilder.regions(operation)))


def refuse(operation: Operation, rebuilder: Rebuilder) -> None:
    """Says that an operation has no counterpart.

    Raises:
        DiagnosticError: Always, at the operation.
    """
    name = rebuilder.result_name
    raise rebuilder.error(f"{spelling_of(operation)} cannot be translated to {name}")


def refuse_rounding(operation: Operation, rebuilder: Rebuilder) -> None:
    """Says that it cannot be said how an operation is rounded.

    Raises:
        DiagnosticError: Always, at the operation.
    """
    given = " and ".join(sorted(NUMBER_ATTRIBUTES & operation.attributes.keys()))
    name, result = spelling_of(operation), rebuilder.result_name
    raise rebuilder.error(f"{name} with {given} cannot be translated to {result}")


class RuleTable:
    """What becomes of each operation of a language.

    Args:
        rows: The rule of each operation, by its name; `copy` and `refuse` are rules.
        otherwise: The rule of all others.
        modules: For each dialect the full names of modules with more rows, in `RULES`. They are
            loaded in this order, each when an operation of the dialect is met that has no row in
            those before it.
        keeps_rounding: Whether the rules know the attributes that say how results are rounded.
            Operations that have them are refused otherwise.
    """

    def __init__(
        self,
        rows: Mapping[str, Rule] | None = None,
        otherwise: Rule = refuse,
        modules: Mapping[str, Sequence[str]] | None = None,
        keeps_rounding: bool = False,
    ) -> None:
        self._keeps_rounding = keeps_rounding
        self._rows = dict(rows or {})
        self._otherwise = otherwise
        self._modules = {dialect: list(names) for dialect, names in (modules or {}).items()}

    def get(self, name: str) -> Rule | None:
        """The rule of an operation that has a row, by the operation's name."""
        rule = self._rows.get(name)
        if rule is None and self._modules:
            dialect, _, _ = name.partition(".")
            waiting = self._modules.get(dialect, [])
            while rule is None and waiting:
                rows: Mapping[str, Rule] = import_module(waiting[0]).RULES
                del waiting[0]
                found = {key: rows[key] for key in rows if key.startswith(f"{dialect}.")}
                self._rows = found | self._rows
                rule = self._rows.get(name)
        return rule

    def rule_of(self, operation: Operation) -> Rule:
        """The rule of any operation."""
        if not self._keeps_rounding and says_how_to_round(operation):
            return refuse_rounding
        return self.get(operation.name) or self._otherwise


class Rebuilder:
    """Builds the target's operations, at the end of the current block.

    Args:
        rules: What becomes of each operation of the source language.
        result_name: What messages call what is built.
        source: The text of the source, for messages; None if there is none.
        diagnostics: Where remarks and warnings go; None drops them.
    """

    def __init__(
        self,
        rules: RuleTable,
        result_name: str,
        source: Source | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> None:
        self.rules = rules
        self.result_name = result_name
        self._source = source
        self._diagnostics = diagnostics
        self._values: dict[SSAValue, Any] = {}
        self._open: list[Block] = [Block()]
        self._current: Operation | None = None
        # By key first, because what a key is made of takes longest to hash.
        self._shared: dict[Hashable, dict[Block, Any]] = {}
        self._reusable: dict[Hashable, dict[Block, Any]] = {}
        self._function_depth = 0

    # --- what has become of the source ---

    def value(self, old: SSAValue) -> SSAValue:
        """What a value of the source has become."""
        return self._values[old]

    def values(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        """What several values of the source have become."""
        return [self._values[value] for value in old]

    def meaning(self, old: SSAValue) -> Any:
        """What a rule recorded with `define` for a value of the source."""
        return self._values[old]

    def define(self, old: SSAValue, new: Any) -> None:
        """Records what a value has become: a value, or whatever the rules agree on."""
        self._values[old] = new
        if new.__class__ in VALUE_CLASSES and new.name_hint is None:
            copy_name(new, old)

    def replace(self, old: Operation, new: OperationT) -> OperationT:
        """Emits `new`, whose results are what the results of `old` have become."""
        self.emit(new)
        for was, becomes in zip(old.results, new.results, strict=True):
            self.define(was, becomes)
        return new

    # --- building ---

    def emit(self, operation: OperationT) -> OperationT:
        """Appends an operation, with the location of the one that is being translated."""
        if self._current is not None:
            operation.location = self._current.location
        self._open[-1].add_op(operation)
        return operation

    def shared(
        self, key: Hashable, operands: Iterable[SSAValue], make: Callable[[], ResultT]
    ) -> ResultT:
        """What `make` emits, once for each key and as far out as the operands allow.

        An operation that is being built is not in its block yet, so what is appended to an
        enclosing block stands before it: loop-invariant code is born outside of the loop.
        """
        block = self._innermost(operands)
        known = self._shared.setdefault(key, {})
        found = known.get(block, NOTHING)
        if found is NOTHING:
            before, self._open = self._open, self._up_to(block)
            try:
                found = known[block] = make()
            finally:
                self._open = before
        return found

    def reused(self, key: Hashable, make: Callable[[], ResultT]) -> ResultT:
        """What `make` emits, here, unless this block or one around it has done so with the key.

        For what must not be moved out of a branch or loop, which may not be executed.
        """
        known = self._reusable.setdefault(key, {})
        if known:
            for block in reversed(self._open):
                if block in known:
                    return known[block]
        new = known[self._open[-1]] = make()
        return new

    def index(self, number: int) -> SSAValue:
        """An `index` constant, shared by the function."""
        return self.shared(("index", number), (), lambda: self._index(number))

    def _index(self, number: int) -> SSAValue:
        value = index_attribute(number)
        constant = self.emit(made(ConstantOp, (), (value.type,), {"value": value}))
        constant.result.name_hint = f"c{number}" if number >= 0 else f"cm{-number}"
        return constant.result

    def _innermost(self, values: Iterable[SSAValue]) -> Block:
        """The innermost open block that defines one of the values, or the function's."""
        blocks = self._open
        depth = min(self._function_depth, len(blocks) - 1)
        for value in values:
            block = block_of(value)
            for deeper in range(len(blocks) - 1, depth, -1):
                if blocks[deeper] is block:
                    depth = deeper
                    break
        return blocks[depth]

    def depth(self, number: int | SSAValue) -> int:
        """How deep in loops and branches a number is born; one that is known is in none."""
        if isinstance(number, int):
            return 0
        block = block_of(number)
        return self._open.index(block) if block in self._open else 0

    @property
    def block(self) -> Block:
        """The block that operations are appended to."""
        return self._open[-1]

    @property
    def open_blocks(self) -> Sequence[Block]:
        """The block that operations are appended to, after those around it."""
        return self._open

    @contextmanager
    def at_end_of(self, block: Block) -> Generator[Block]:
        """Appends to another block for a while: a new one, or one of those that are open."""
        before, self._open = self._open, self._up_to(block)
        try:
            yield block
        finally:
            self._open = before

    def _up_to(self, block: Block) -> list[Block]:
        """The open blocks that end at `block`: a new one, or one of those that are open."""
        blocks = self._open
        if blocks[-1] is block:
            return blocks
        return blocks[: blocks.index(block) + 1] if block in blocks else [*blocks, block]

    @contextmanager
    def in_function(self, body: Block) -> Generator[Block]:
        """Appends to the body of a function, where shared constants go."""
        before = self._function_depth
        self._function_depth = len(self._open)
        with self.at_end_of(body):
            yield body
        self._function_depth = before

    def new_block(self, old: Block | None, types: Sequence[Attribute]) -> Block:
        """A block whose arguments are what those of `old` have become."""
        block = Block(arg_types=types)
        if old is not None:
            with self.at_end_of(block):  # `define` may emit operations.
                for was, becomes in zip(old.args, block.args, strict=True):
                    self.define(was, becomes)
        return block

    def keep(self, operation: Operation) -> None:
        """Emits a copy of an operation that uses no value from outside of it."""
        before, self._current = self._current, operation
        self.emit(operation.clone())
        self._current = before

    # --- walking ---

    def translate_block(self, old: Block) -> None:
        """Translates the operations of a block to the end of the current one."""
        for operation in old.ops:
            self.translate(operation)

    def translate_into(self, old: Region, block: Block) -> Region:
        """Translates the operations of a region's block into `block`, and returns its region."""
        with self.at_end_of(block):
            if old.blocks.first is not None:
                self.translate_block(old.block)
        return Region([block])

    def region(self, old: Region) -> Region:
        """A region of at most one block, with its operations translated."""
        block = old.blocks.first
        if block is None:
            return Region()
        types = [argument.type for argument in block.args]
        return self.translate_into(old, self.new_block(block, types))

    def regions(self, operation: Operation) -> list[Region]:
        """The regions of an operation, each of at most one block, translated."""
        return [self.region(region) for region in operation.regions]

    def module(self, old: ModuleOp, attributes: Mapping[str, Attribute] | None = None) -> ModuleOp:
        """A module with its operations translated, and its attributes unless others are given."""
        body = Block()
        with self.at_end_of(body):
            self.translate_block(old.body.block)
        return with_body(old, body, attributes)

    def translate(self, operation: Operation) -> None:
        """Applies the rule of one operation.

        Raises:
            DiagnosticError: The operation is refused.
        """
        before, self._current = self._current, operation
        self.rules.rule_of(operation)(operation, self)
        self._current = before

    @contextmanager
    def using(self, rules: RuleTable) -> Generator[None]:
        """Applies other rules for a while."""
        before, self.rules = self.rules, rules
        try:
            yield
        finally:
            self.rules = before

    def old_function(self) -> Operation:
        """The function of the source that holds the operation that is being translated."""
        operation = self._current
        assert operation is not None
        while not operation.has_trait(SymbolOpInterface):
            operation = operation.parent_op()
            assert operation is not None
        return operation

    # --- messages ---

    def error(self, message: str, operation: Operation | None = None) -> DiagnosticError:
        """An error at an operation, by default the one that is being translated."""
        return DiagnosticError([self._diagnostic(Severity.ERROR, message, operation)])

    @property
    def tells_reasons(self) -> bool:
        """Whether anybody reads remarks."""
        return self._diagnostics is not None

    def remark(self, message: str, operation: Operation | None = None) -> None:
        """Tells why the translation chose what it did, at the position."""
        if self._diagnostics is not None:
            self._diagnostics.add(self._diagnostic(Severity.REMARK, message, operation))

    def _diagnostic(
        self, severity: Severity, message: str, operation: Operation | None
    ) -> Diagnostic:
        about = operation or self._current
        span = None if about is None else span_of(about, self._source)
        return Diagnostic(severity, message, self._source, span)


class TypedRebuilder(Rebuilder):
    """Rebuilds operations in a language that lacks some of their types.

    What a type cannot be is found out far from the operation; the error is at the operation.
    """

    @override
    def translate(self, operation: Operation) -> None:
        try:
            super().translate(operation)
        except (ValueError, VerifyException) as error:
            self._current = operation
            name = self.result_name
            raise self.error(f"{error}, so that this cannot be translated to {name}") from error


def block_of(value: SSAValue) -> Block:
    """The block that defines a value."""
    if isinstance(value, OpResult):
        assert value.op.parent is not None
        return value.op.parent
    return cast("BlockArgument", value).block
