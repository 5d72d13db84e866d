"""Contractions; products with scales, and numbers of 4 bits, of which only these have tensors.

Source: Triton 3.9, `TritonOps.td`, `tt.dot_scaled`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
)
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.scaled_products import ScaledContractOp, depths, group_size
from xtile.dialects.triton.tt.enumerations import InputPrecision, ScaleDotElemType
from xtile.dialects.triton.tt.ops.products import DotScaledOp
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.dots import LEAST_SIZE, repeated
from xtile.translate.core_to_triton.lowering import TARGET, Lowering
from xtile.translate.core_to_triton.types import is_of_tf32
from xtile.translate.tiles.products import contract
from xtile.translate.tiles.types import shape_of

if TYPE_CHECKING:
    from xtile.dialects.core.packing import UnpackOp

_ELEMENTS: dict[type[Attribute], ScaleDotElemType] = {
    Float8E4M3FNType: ScaleDotElemType.E4M3,
    Float8E5M2Type: ScaleDotElemType.E5M2,
    Float4E2M1FNType: ScaleDotElemType.E2M1,
    BFloat16Type: ScaleDotElemType.BF16,
    Float16Type: ScaleDotElemType.FP16,
}

_GROUP = 32
"""How many factors share a scale."""

_INSTEAD = "scale the factors with arith.mulf in f32, and multiply them with vector.contract"


def _scaled_contract(operation: ScaledContractOp, lowering: Lowering) -> None:
    left, right = depths(operation)
    lhs = _Side(lowering, operation.lhs, operation.lhs_scale, left)
    rhs = _Side(lowering, operation.rhs, operation.rhs_scale, right)
    total = lowering.value(operation.acc)
    rows, columns = shape_of(operation.acc.type)[-2:]
    for axis in (left - 1, left):
        total = repeated(lowering, total, axis, LEAST_SIZE)
    made = DotScaledOp(
        repeated(lowering, lhs.value, left - 1, lhs.least),
        lhs.scales(0),
        repeated(lowering, rhs.value, right + 1, rhs.least),
        rhs.scales(1),
        total,
        lhs=lhs.element,
        rhs=rhs.element,
        fast_math=operation.fast is not None,
        lhs_k_pack=lhs.packs_depth,
        rhs_k_pack=rhs.packs_depth,
    )
    result = lowering.emit(made).d
    shape = (*lowering.shape(result)[:-2], rows, columns)
    lowering.define(operation.result, lowering.extract(result, [0] * len(shape), shape))


class _Side:
    """A factor with its scales.

    Args:
        lowering: Where to emit.
        factor: The factor.
        scale: Its scales; None where it has none.
        depth: The dimension that is added up.

    Attributes:
        value: What Triton has of the factor: bytes, where it is of 4 bits.
        element: What its elements are.
        packs_depth: Whether two elements of a byte follow each other along the depth.
    """

    def __init__(
        self, lowering: Lowering, factor: SSAValue, scale: SSAValue | None, depth: int
    ) -> None:
        self._lowering, self._scale, self._depth = lowering, scale, depth
        element = value_type(factor.type)
        if type(element) not in _ELEMENTS:
            raise lowering.error(f"{TARGET} has no scaled products of {element}; {_INSTEAD}")
        self.element, self.packs_depth = _ELEMENTS[type(element)], True
        if scale is not None:
            self._check(factor, scale)
        if isinstance(element, Float4E2M1FNType):
            from xtile.dialects.core.packing import UnpackOp

            unpacked = factor.owner
            if not isinstance(unpacked, UnpackOp):
                raise lowering.error(
                    f"{TARGET} takes factors of {element} as bytes; use what core.unpack gives"
                )
            self.value = lowering.value(unpacked.source)
            self.packs_depth = unpacked.axis.value.data == depth
        else:
            self.value = lowering.value(factor)

    @property
    def least(self) -> int:
        """The least size along the dimension that is not added up."""
        return LEAST_SIZE if self.packs_depth else LEAST_SIZE // 2

    def _check(self, factor: SSAValue, scale: SSAValue) -> None:
        kind, size = value_type(scale.type), group_size(factor, scale, self._depth)
        if not isinstance(kind, Float8E8M0FNUType) or size != _GROUP:
            raise self._lowering.error(
                f"in {TARGET} {_GROUP} factors share a scale of f8E8M0FNU, and not {size} one of "
                f"{kind}; {_INSTEAD}"
            )

    def scales(self, number: int) -> SSAValue | None:
        """The scales; those of a column of the right factor (`number` 1) are a row."""
        if self._scale is None:
            return None
        value, rank = self._lowering.value(self._scale), len(shape_of(self._scale.type))
        if number == 1:
            order = [*range(rank - 2), rank - 1, rank - 2]
            value = self._lowering.permute(value, order)
        return repeated(self._lowering, value, rank - 2, LEAST_SIZE)


def _unpack(operation: UnpackOp, lowering: Lowering) -> None:
    """Nothing: scaled products take the bytes.

    Raises:
        DiagnosticError: Something else uses the numbers.
    """
    uses = [use.operation for use in operation.result.uses]
    if not all(isinstance(user, ScaledContractOp) for user in uses):
        element = value_type(operation.result.type)
        raise lowering.error(
            f"{TARGET} has no tensors of {element}; only factors of core.scaled_contract are"
        )


def _contract(operation: ContractionOp, lowering: Lowering) -> None:
    """A contraction; the factors say whether fewer bits than f32 has are enough."""
    factors = (operation.lhs, operation.rhs)
    is_short = all(is_of_tf32(each.type) for each in factors)
    with lowering.multiplying(InputPrecision.TF32 if is_short else InputPrecision.IEEE):
        contract(operation, lowering)


RULES: dict[str, Rule] = {
    "core.scaled_contract": _scaled_contract,
    "core.unpack": _unpack,
    "vector.contract": _contract,
}
"""The rule of each operation, by name."""
