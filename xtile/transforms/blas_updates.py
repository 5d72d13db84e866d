"""What linear algebra does with its output: `alpha result + beta output`, perhaps atomically."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.attributes import AtomicKind
from xtile.dialects.core.blas import BlasA2Operation, BlasA3Operation
from xtile.rewrite.emitter import Emitter
from xtile.semantics.accumulation import accumulation_type
from xtile.transforms.distribute import numbers

KernelT = TypeVar("KernelT", bound=Emitter)
OutputT = TypeVar("OutputT")
FactorT = TypeVar("FactorT")


@dataclass(frozen=True)
class BlasUpdate(Generic[KernelT, OutputT, FactorT]):
    """The update of one operation's output.

    Attributes:
        kernel: The kernel that is being built.
        output: The memory that is updated.
        element: The type of its elements.
        wide: The accumulation type, in which results are given.
        alpha: The factor of the result, in the accumulation type; None is 1.
        beta: The factor of the old elements, in the accumulation type; None is 1.
        keeps: Whether beta is not 0, as far as it is known.
        keeps_value: Whether beta is not 0, where that is known only at run time.
        is_atomic: Whether elements are updated atomically.
    """

    kernel: KernelT
    output: OutputT
    element: Attribute
    wide: Attribute
    alpha: FactorT | None
    beta: FactorT | None
    keeps: bool | None
    keeps_value: SSAValue | None
    is_atomic: bool

    @classmethod
    def of(
        cls,
        operation: BlasA2Operation | BlasA3Operation,
        kernel: KernelT,
        output: OutputT,
        element: Attribute,
        factor: Callable[[SSAValue, Attribute], FactorT | None],
    ) -> Self:
        """The update that an operation makes.

        Args:
            operation: The operation.
            kernel: The kernel that is being built.
            output: The memory that is updated.
            element: The type of its elements.
            factor: Makes a factor of the source one in the accumulation type; None is 1.

        Raises:
            DiagnosticError: An atomic update whose beta is not known to be 0 or 1.
        """
        wide, known = accumulation_type(element), numbers.constant_of(operation.beta)
        is_atomic = operation.atomic is not None
        if is_atomic and known not in (0, 1):
            raise kernel.error("an atomic update needs a constant beta, 0 or 1")
        return cls(
            kernel,
            output,
            element,
            wide,
            factor(operation.alpha, wide),
            None if known == 0 else factor(operation.beta, wide),
            None if known is None else known != 0,
            numbers.is_not_zero(kernel, kernel.value(operation.beta)) if known is None else None,
            is_atomic,
        )

    @property
    def atomic_kind(self) -> AtomicKind:
        """How an atomic update changes an element: beta = 0 replaces it."""
        if not self.keeps:
            return AtomicKind.ASSIGN
        is_integer = numbers.is_integer(self.element)
        return AtomicKind.ADD_INTEGER if is_integer else AtomicKind.ADD_FLOAT


def output_of(operation: BlasA2Operation | BlasA3Operation) -> SSAValue:
    """The memory that an operation updates."""
    return operation.b if isinstance(operation, BlasA2Operation) else operation.c
