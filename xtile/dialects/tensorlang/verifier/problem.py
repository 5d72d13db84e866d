"""What a rule reports: a problem, and the part of the instruction that it is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.types import DYNAMIC, PoisonType

Part = int | Literal["result", "header"] | BlockArgument | None
"""What to underline: an operand by its index, the result, what stands in front of the regions,
an argument of a region, or the whole instruction."""


@dataclass(frozen=True, slots=True)
class Note:
    """A further location that explains a problem."""

    item: Operation | SSAValue
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken restriction.

    Attributes:
        operation: The instruction that breaks it.
        message: What is wrong and what would be right; without a final full stop.
        part: The part of the instruction that is wrong.
        notes: Further locations that explain the problem.
    """

    operation: Operation
    message: str
    part: Part = None
    notes: tuple[Note, ...] = ()


Problems = Iterable[Problem]
Rule = Callable[[Any], Problems]
RuleT = TypeVar("RuleT", bound=Rule)

_PLURALS = {"index": "indices", "tile offset or size": "tile offsets and sizes"}

_RULES: dict[type[TensorLangOperation], list[Rule]] = {}
_READS: dict[Rule, tuple[str, ...]] = {}


def rule(
    *classes: type[TensorLangOperation], reads: tuple[str, ...] | None = None
) -> Callable[[RuleT], RuleT]:
    """Registers a rule for instructions, or for all instructions of a family's base class.

    A rule may assume that operands, results and properties are of the kinds that the instruction's
    definition asks for. `reads` names the operands and results whose types it reads; it then runs
    even where others are poison.
    """

    def register(function: RuleT) -> RuleT:
        if reads is not None:
            _READS[function] = reads
        for cls in classes:
            _RULES.setdefault(cls, []).append(function)
        return function

    return register


def registered_rules() -> list[tuple[type[TensorLangOperation], Rule]]:
    """Every rule, with each instruction or family that it is registered for."""
    return [(cls, function) for cls, functions in _RULES.items() for function in functions]


@cache
def rules_of(cls: type[TensorLangOperation]) -> tuple[Rule, ...]:
    """The rules for one instruction: its families' first, then its own."""
    return tuple(function for base in reversed(cls.__mro__) for function in _RULES.get(base, ()))


def reads_poison(function: Rule, operation: IRDLOperation) -> bool:
    """Whether a rule for `operation` may read the type of a poison operand or result."""
    reads = _READS.get(function)
    if reads is None:
        return True
    values = (value for name in reads for value in _values(operation, name))
    return any(isinstance(value.type, PoisonType) for value in values)


def _values(operation: IRDLOperation, name: str) -> Sequence[SSAValue]:
    """The operands or results that the definition calls `name`."""
    values: SSAValue | tuple[SSAValue, ...] | None = getattr(operation, name)
    if values is None:
        return ()
    return values if isinstance(values, tuple) else (values,)


def at_operand(operation: IRDLOperation, name: str, message: str, entry: int = 0) -> Problem:
    """The problem with an operand; with the given entry of a variadic one."""
    return Problem(operation, message, operand_index(operation, name) + entry)


def operand_index(operation: IRDLOperation, name: str) -> int:
    """The index of the first operand that the definition calls `name`."""
    index = 0
    for defined, _ in operation.get_irdl_definition().operands:
        if defined == name:
            return index
        index += len(_values(operation, defined))
    raise ValueError(f"{operation.name} has no operand {name}")


def mnemonic_of(operation: Operation) -> str:
    """What messages call an operation."""
    return operation.name.removeprefix("tensorlang.")


def shape_text(shape: Iterable[int]) -> str:
    """`4x?`, with `?` for a dynamic size."""
    return "x".join(map(size_text, shape))


def size_text(size: int) -> str:
    """A size or stride, or `?` where it is dynamic."""
    return "?" if size == DYNAMIC else str(size)


def counted(count: int, noun: str) -> str:
    """`1 row`, `2 rows`, `no rows`."""
    plural = _PLURALS.get(noun, f"{noun}s")
    return f"{count or 'no'} {noun if count == 1 else plural}"


def listed(words: Iterable[str], conjunction: str = "or") -> str:
    """`a`, `a or b`, `a, b or c`."""
    *front, last = words
    return f"{', '.join(front)} {conjunction} {last}" if front else last
