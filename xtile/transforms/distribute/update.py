"""How an element of the output becomes `alpha result + beta element`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    i64,
)
from xdsl.dialects.memref import AtomicRMWOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute
from xtile.dialects.core import (
    AtomicKind,
    AtomicKindAttr,
    AtomicUpdateOp,
    BlasA2Operation,
    BlasA3Operation,
)
from xtile.rewrite.emitter import element_type
from xtile.rewrite.indices import Index
from xtile.semantics.accumulation import accumulation_type
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Kernel


@dataclass(frozen=True)
class Update:
    """The update of one operation's output.

    Attributes:
        kernel: The kernel that is being built.
        output: The memref that is updated.
        wide: The accumulation type, in which results are given.
        alpha: The factor of the result, in the accumulation type; None is 1.
        beta: The factor of the old element, in the accumulation type; None is 1.
        keeps: Whether beta is not 0, as far as it is known.
        keeps_value: Whether beta is not 0, where that is known only at run time.
        is_atomic: Whether elements are updated atomically.
    """

    kernel: Kernel
    output: SSAValue
    wide: Attribute
    alpha: SSAValue | None
    beta: SSAValue | None
    keeps: bool | None
    keeps_value: SSAValue | None
    is_atomic: bool

    def apply(self, result: SSAValue, indices: Sequence[Index]) -> None:
        """Updates one element with a result in the accumulation type."""
        scaled = self.scale(result)
        if self.is_atomic:
            emit_atomic(self.kernel, self.atomic_kind, self.narrow(scaled), self.output, indices)
            return
        total = self.combine(scaled, lambda: self.kernel.load(self.output, indices))
        self.kernel.store(self.narrow(total), self.output, indices)

    def scale(self, result: SSAValue) -> SSAValue:
        """`alpha result`."""
        if self.alpha is None:
            return result
        return numbers.multiply(self.kernel, self.alpha, result)

    def combine(self, scaled: SSAValue, load: Callable[[], SSAValue]) -> SSAValue:
        """`scaled + beta element`, where the element is not loaded if beta is 0."""

        def with_old() -> SSAValue:
            old = numbers.cast_number(self.kernel, load(), scaled.type)
            if self.beta is not None:
                old = numbers.multiply(self.kernel, self.beta, old)
            return numbers.add(self.kernel, scaled, old)

        if self.keeps is not None:
            return with_old() if self.keeps else scaled
        assert self.keeps_value is not None
        return self.kernel.choose(self.keeps_value, with_old, lambda: scaled)

    def narrow(self, value: SSAValue) -> SSAValue:
        """A number or vector of numbers in the element type of the output."""
        target = numbers.like(value.type, element_type(self.output))
        return numbers.cast_number(self.kernel, value, target)

    @property
    def atomic_kind(self) -> AtomicRMWKind:
        """How an atomic update changes an element: beta = 0 replaces it."""
        if not self.keeps:
            return AtomicRMWKind.assign
        is_integer = numbers.is_integer(element_type(self.output))
        return AtomicRMWKind.addi if is_integer else AtomicRMWKind.addf


def update_of(operation: BlasA2Operation | BlasA3Operation, kernel: Kernel) -> Update:
    """The update that an operation makes of its output.

    Raises:
        DiagnosticError: An atomic update whose beta is not known to be 0 or 1.
    """
    old_output = operation.b if isinstance(operation, BlasA2Operation) else operation.c
    output = kernel.value(old_output)
    wide = accumulation_type(element_type(output))
    alpha, beta = kernel.value(operation.alpha), kernel.value(operation.beta)
    known = numbers.constant_of(operation.beta)
    is_atomic = operation.atomic is not None
    if is_atomic and known not in (0, 1):
        raise kernel.error("an atomic update needs a constant beta, 0 or 1")
    return Update(
        kernel,
        output,
        wide,
        _factor(kernel, operation.alpha, alpha, wide),
        None if known == 0 else _factor(kernel, operation.beta, beta, wide),
        None if known is None else known != 0,
        numbers.is_not_zero(kernel, beta) if known is None else None,
        is_atomic,
    )


def _factor(kernel: Kernel, old: SSAValue, value: SSAValue, wide: Attribute) -> SSAValue | None:
    """A factor in the accumulation type; None if it is 1 and the product is exact."""
    if numbers.constant_of(old) == 1 and not numbers.is_complex(wide):
        return None
    return numbers.cast_number(kernel, value, wide)


_CORE_KINDS = {
    AtomicRMWKind.addf: AtomicKind.ADD_FLOAT,
    AtomicRMWKind.addi: AtomicKind.ADD_INTEGER,
    AtomicRMWKind.assign: AtomicKind.ASSIGN,
}


def emit_atomic(
    kernel: Kernel,
    kind: AtomicRMWKind,
    value: SSAValue,
    memory: SSAValue,
    indices: Sequence[Index],
) -> None:
    """Updates an element atomically; upstream's operation has no index and no complex numbers."""
    at = [kernel.as_value(index) for index in indices]
    if isinstance(value.type, IndexType) or numbers.is_complex(value.type):
        emit_atomic_block(kernel, kind, value, memory, at, ())
        return
    attribute: IntegerAttr = kind_attribute(kind)
    kernel.emit(
        AtomicRMWOp(
            operands=[value, memory, at],
            result_types=[value.type],
            properties={"kind": attribute},
        )
    )


def emit_atomic_block(
    kernel: Kernel,
    kind: AtomicRMWKind,
    value: SSAValue,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    checked: Sequence[int],
) -> None:
    """Updates an element or a block atomically; `checked` dimensions may reach beyond the end."""
    kernel.emit(
        AtomicUpdateOp(
            operands=[value, memory, indices],
            result_types=[value.type],
            properties={
                "kind": AtomicKindAttr(_CORE_KINDS[kind]),
                "checked": DenseArrayBase.from_list(i64, checked),
            },
        )
    )
