"""Products with scales, where CUDA Tile IR has them.

Source: CUDA Tile IR specification, "mmaf_scaled".
"""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.scaled_products import ScaledContractOp, depths, group_size
from xtile.dialects.cuda_tile.ops.matrix_multiply import BLOCK_SIZES, MmaFScaledOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import TARGET, Lowering
from xtile.translate.core_to_cuda_tile.types import element_of, scalar_tile
from xtile.translate.tiles.types import shape_of

_INSTEAD = "scale the factors with arith.mulf in f32, and multiply them with vector.contract"


def _scaled_contract(operation: ScaledContractOp, lowering: Lowering) -> None:
    factors = operation.lhs, operation.rhs
    scales = operation.lhs_scale, operation.rhs_scale
    types = [element_of(each.type) for each in factors]
    kinds = {element_of(each.type) for each in scales if each is not None}
    if types[0] != types[1] or len(kinds) > 1:
        names = " and ".join(str(each) for each in dict.fromkeys((*types, *kinds)))
        raise lowering.error(
            f"{TARGET} has scaled products of factors of one type with scales of one type, not of "
            f"{names}; {_INSTEAD}"
        )
    (kind,) = kinds
    sizes = {
        group_size(factor, scale, depth)
        for factor, scale, depth in zip(factors, scales, depths(operation), strict=True)
        if scale is not None
    }
    _check(lowering, types[0], kind, sizes)
    (size,) = sizes
    given = [
        _scale(lowering, factor, scale, depth, kind, size)
        for factor, scale, depth in zip(factors, scales, depths(operation), strict=True)
    ]
    a, b, total = lowering.values((*factors, operation.acc))
    lowering.define(operation.result, lowering.compute(MmaFScaledOp, a, b, total, *given))


def _check(lowering: Lowering, factor: Attribute, kind: Attribute, sizes: set[int]) -> None:
    """Checks that there is an instruction.

    Raises:
        DiagnosticError: There is none.
    """
    allowed = BLOCK_SIZES.get((type(factor), type(kind)), ())
    if sizes <= set(allowed) and len(sizes) == 1:
        return
    if not allowed:
        message = f"{TARGET} has no products of {factor} with scales of {kind}"
    else:
        found = " and ".join(map(str, sorted(sizes)))
        wanted = " or ".join(map(str, allowed))
        message = f"in {TARGET} {wanted} factors of {factor} share a scale of {kind}, not {found}"
    raise lowering.error(f"{message}; {_INSTEAD}")


def _scale(
    lowering: Lowering,
    factor: SSAValue,
    scale: SSAValue | None,
    depth: int,
    kind: Attribute,
    size: int,
) -> SSAValue:
    """The scales of a factor; 1 where it has none."""
    if scale is not None:
        return lowering.value(scale)
    shape = list(shape_of(factor.type))
    shape[depth] //= size
    one = lowering.constant(1.0, scalar_tile(kind))
    return lowering.spread(one, shape)


RULES: dict[str, Rule] = {"core.scaled_contract": _scaled_contract}
"""The rule of each operation, by name."""
