"""What the rules of tile level to Triton share."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from typing_extensions import override
from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.dialects.number_attributes import saturates, says_how_to_round
from xtile.dialects.triton.tt.enumerations import InputPrecision
from xtile.rewrite.rebuilder import RuleTable, refuse_rounding
from xtile.targets import vendor_of
from xtile.targets.target import Target
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.translate.core_to_triton.barriers import Barriers
from xtile.translate.core_to_triton.dots import dot
from xtile.translate.core_to_triton.tensor_builder import TensorBuilder
from xtile.translate.core_to_triton.types import is_of_scales

TARGET = "Triton"


class Lowering(TensorBuilder):
    """Rebuilds kernels at tile level as functions of Triton.

    Args:
        rules: What becomes of each operation.
        target: What the code is for.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.

    Attributes:
        target: What the code is for.
        precision: How factors of f32 are multiplied.
        barriers: Where threads of a program wait for each other.
    """

    def __init__(
        self,
        rules: RuleTable,
        target: Target,
        source: Source | None = None,
        diagnostics: Diagnostics | None = None,
    ) -> None:
        super().__init__(rules, TARGET, source, diagnostics)
        self.target = target
        self.precision = InputPrecision.IEEE
        self.barriers = Barriers()

    @contextmanager
    def multiplying(self, precision: InputPrecision) -> Generator[None]:
        """Multiplies factors of f32 with a precision for a while."""
        before, self.precision = self.precision, precision
        try:
            yield
        finally:
            self.precision = before

    @property
    def vendor(self) -> str:
        """Who makes the chip."""
        return vendor_of(self.target.name).name

    @override
    def translate(self, operation: Operation) -> None:
        if says_how_to_round(operation) and not saturates(operation):
            # Directions, and zeros for subnormal numbers, have no word.
            refuse_rounding(operation, self)
        self._refuse_arithmetic_on_scales(operation)
        if self.barriers.is_before(operation):
            self.emit(BarrierOp())
        super().translate(operation)

    def _refuse_arithmetic_on_scales(self, operation: Operation) -> None:
        """Checks that scales, which are bytes here, are only moved.

        Raises:
            DiagnosticError: Something is computed with them.
        """
        values = (*operation.operands, *operation.results)
        is_computed = operation.dialect_name() in _COMPUTING or operation.name in _COMBINING
        if (
            is_computed
            and operation.name not in _MOVING
            and any(is_of_scales(v.type) for v in values)
        ):
            raise self.error(
                f"{TARGET} has no arithmetic on f8E8M0FNU; scales are those of core.scaled_contract"
            )

    # --- products ---

    @override
    def has_matrix_unit(self, factor: Attribute, total: Attribute) -> bool:
        return (factor, total) in _MATRIX_UNITS

    @override
    def multiplied(self, a: SSAValue, b: SSAValue, sums: SSAValue) -> SSAValue:
        return dot(self, a, b, sums, self.precision)


_COMPUTING = ("arith", "math")
_MOVING = ("arith.bitcast", "arith.constant", "arith.select")
_COMBINING = (
    "core.atomic_rmw",
    "core.print",
    "core.reduce",
    "core.scan",
    "vector.contract",
    "vector.multi_reduction",
    "vector.scan",
)

_MATRIX_UNITS: frozenset[tuple[Attribute, Attribute]] = frozenset(
    {
        *((factor, f32) for factor in (f16, bf16, f32)),
        *((factor(), f32) for factor in (Float8E4M3FNType, Float8E4M3FNUZType)),
        *((factor(), f32) for factor in (Float8E5M2Type, Float8E5M2FNUZType)),
        (f64, f64),
        (i8, i32),
    }
)
"""The types of factors and sums of `tt.dot`, whose precision is that of IEEE for f32."""
