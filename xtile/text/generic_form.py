"""Operations whose custom form cannot tell all that they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.traits import OpTrait


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
