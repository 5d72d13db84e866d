"""The meaning of the `core` dialect's products with scales.

Source: docs/core-form.md, "Scaled products".
"""

from __future__ import annotations

from xtile.dialects.core import ScaledContractOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.matrix_multiply import scaled_product
from xtile.semantics.state import State


def _scaled_contract(operation: ScaledContractOp, compiler: Compiler) -> Step:
    lhs, rhs, acc, result = compiler.slots(
        (operation.lhs, operation.rhs, operation.acc, operation.result)
    )
    scales = [
        None if each is None else compiler.slot(each)
        for each in (operation.lhs_scale, operation.rhs_scale)
    ]

    def step(state: State) -> None:
        values = state.values
        left, right = (None if slot is None else values[slot] for slot in scales)
        values[result] = scaled_product(values[lhs], values[rhs], values[acc], left, right)

    return step


HANDLERS: dict[str, Handler] = {ScaledContractOp.name: _scaled_contract}
"""The handler of each operation, by name."""
