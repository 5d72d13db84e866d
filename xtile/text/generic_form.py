"""Operations whose custom form cannot tell all that they are.

@never_ambiguous
@op_definition
class LoadOp(IRDLOperation):
traits = traits_def(GenericFormIf(reads_as_mask))
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from xdsl.ir import Operation
from xdsl.printer import Printer
from xdsl.traits import OpTrait

_OperationT = TypeVar("_OperationT", bound=Operation)


@dataclass(frozen=True)
class GenericFormIf(OpTrait):
    """Prints an operation in MLIR's generic form where its custom form is another one's.

    Attributes:
        is_ambiguous: Whether it must be so for an operation.
    """

    is_ambiguous: Callable[[Operation], bool]


def needs_generic_form(operation: Operation) -> bool:
    """Whether the custom form of an operation would be read as another operation."""
    traits = operation.get_traits_of_type(GenericFormIf)
    return any(trait.is_ambiguous(operation) for trait in traits)


def never_ambiguous(cls: type[_OperationT]) -> type[_OperationT]:
    """Has a printer that knows nothing of `GenericFormIf`, such as xDSL's, stop instead.

    The operation's `print` raises ValueError where its custom form would be another one's.
    """
    print_custom_form = cls.print

    def print(self: _OperationT, printer: Printer) -> None:
        if needs_generic_form(self):
            raise ValueError(f"only the generic form can say what this '{self.name}' is")
        print_custom_form(self, printer)

    cls.print = print
    return cls
