"""What the sanitizer found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from xdsl.ir import Operation, SSAValue

from xtile.dialects.effects import read_operands
from xtile.semantics.errors import located
from xtile.semantics.unspecified import TO_INTEGERS
from xtile.text.diagnostics import Diagnostic, Severity


class Kind(Enum):
    """The mistakes that are looked for."""

    OUT_OF_BOUNDS = "out of bounds"
    """An index outside of the memref's shape, or a subview that reaches beyond it."""

    UNINITIALIZED = "uninitialized"
    """A read of local memory, or of an output, that nothing was written to."""

    LIFETIME = "lifetime"
    """An access after lifetime_stop."""

    CONFLICT = "conflict"
    """Two work-items access an element, one writes, and no barrier is between; or one tile block
    or two access it, and no token or release orders them."""

    BARRIER = "barrier"
    """A barrier that some work-items do not reach."""

    NOT_UNIFORM = "not uniform"
    """An operand or the control flow differs in a subgroup where it must not."""

    INDEX_OVERFLOW = "index overflow"
    """Arithmetic on index values that does not give the exact result."""

    BROKEN_PROMISE = "broken promise"
    """An argument, operand or result that is not what an attribute says, such as `alignment`."""

    UNSPECIFIED = "unspecified"
    """What a kernel stores, prints or decides by depends on an element that no load gave a value;
    a warning."""

    FAILURE = "failure"
    """An instruction that cannot be executed; the launch ends there."""


@dataclass(frozen=True)
class Report:
    """A mistake, found at one instruction. It is reported once, where it occurs first.

    Attributes:
        kind: What kind of mistake it is.
        operation: The instruction; the function for a broken promise.
        message: What is wrong, with the work-item and the index.
        group: The work-group's id, if it matters.
        work_item: The linear number of the work-item in its work-group: subgroup_linear_id times
            subgroup_size plus subgroup_local_id. None if all work-items act together.
        index: The index of the element in the memref, if there is one.
        other: The instruction that an access conflicts with.
        parameter: The parameter whose promise is broken.
        origins: The instructions that left elements unspecified.
    """

    kind: Kind
    operation: Operation
    message: str
    group: tuple[int, int, int] | None = None
    work_item: int | None = None
    index: tuple[int, ...] | None = None
    other: Operation | None = None
    parameter: SSAValue | None = None
    origins: tuple[Operation, ...] = ()

    def diagnostic(self) -> Diagnostic:
        """The report at the instruction's or the parameter's position."""
        is_warning = self.kind is Kind.UNSPECIFIED
        severity = Severity.WARNING if is_warning else Severity.ERROR
        main = located(self.operation, self.message, severity)
        span = main.span
        if self.parameter is not None and main.source is not None:
            span = main.source.span_of(self.parameter) or span
        notes: tuple[Diagnostic, ...] = ()
        if self.other is not None and self.other is not self.operation:
            notes = (located(self.other, "the other access is here", Severity.NOTE),)
        notes += tuple(located(each, _origin_text(each), Severity.NOTE) for each in self.origins)
        return Diagnostic(main.severity, main.message, main.source, span, notes)


def _origin_text(origin: Operation) -> str:
    """What a note says of an instruction that left elements unspecified."""
    if read_operands(origin):
        return "an element that this does not reach has no padding"
    if origin.name in TO_INTEGERS:
        return "a number that this gets is out of the range of the integers, or is no number"
    return "what this gives is unspecified"


def word_of(operation: Operation) -> str:
    """What messages call an instruction."""
    return operation.name.split(".")[-1]
