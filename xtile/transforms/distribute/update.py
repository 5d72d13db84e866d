"""How an element of the output becomes `alpha result + beta element`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    i64,
)
from xdsl.dialects.memref import AtomicRMWOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute
from xtile.dialects.core.attributes import AtomicKind
from xtile.dialects.core.blas import BlasA2Operation, BlasA3Operation
from xtile.dialects.core.subgroup import AtomicKindAttr, AtomicUpdateOp
from xtile.rewrite.emitter import element_type
from xtile.rewrite.indices import Index
from xtile.transforms.blas_updates import BlasUpdate, output_of
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Kernel


class Update(BlasUpdate[Kernel, SSAValue, SSAValue]):
    """The update of one operation's output, a memref."""

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
        target = numbers.like(value.type, self.element)
        return numbers.cast_number(self.kernel, value, target)


def update_of(operation: BlasA2Operation | BlasA3Operation, kernel: Kernel) -> Update:
    """The update that an operation makes of its output.

    Raises:
        DiagnosticError: An atomic update whose beta is not known to be 0 or 1.
    """
    output = kernel.value(output_of(operation))

    def factor(old: SSAValue, wide: Attribute) -> SSAValue | None:
        """A factor that is 1 is left out where the product is exact."""
        if numbers.constant_of(old) == 1 and not numbers.is_complex(wide):
            return None
        return numbers.cast_number(kernel, kernel.value(old), wide)

    return Update.of(operation, kernel, output, element_type(output), factor)


def emit_atomic(
    kernel: Kernel,
    kind: AtomicKind,
    value: SSAValue,
    memory: SSAValue,
    indices: Sequence[Index],
) -> None:
    """Updates an element atomically; upstream's operation has no index and no complex numbers."""
    at = [kernel.as_value(index) for index in indices]
    if isinstance(value.type, IndexType) or numbers.is_complex(value.type):
        emit_atomic_block(kernel, kind, value, memory, at, ())
        return
    attribute: IntegerAttr = kind_attribute(AtomicRMWKind[kind.value])
    kernel.emit(
        AtomicRMWOp(
            operands=[value, memory, at],
            result_types=[value.type],
            properties={"kind": attribute},
        )
    )


def emit_atomic_block(
    kernel: Kernel,
    kind: AtomicKind,
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
                "kind": AtomicKindAttr(kind),
                "checked": DenseArrayBase.from_list(i64, checked),
            },
        )
    )
