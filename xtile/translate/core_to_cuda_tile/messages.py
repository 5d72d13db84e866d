"""What kernels print, and where they stop.

Source: CUDA Tile IR specification, "print_tko", "assert".
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.ops import control_flow
from xtile.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.memory_plan import OUTPUT


def _print(operation: Operation, lowering: Lowering) -> None:
    """Texts come out in the order of the program, as writes of one position."""
    text = cast("StringAttr", operation.properties["format"]).data
    token = lowering.order.before_write(OUTPUT)
    printed = lowering.emit(PrintTkoOp(text, lowering.values(operation.operands), token))
    lowering.order.after_write(OUTPUT, printed.result_token)


def _assert(operation: Operation, lowering: Lowering) -> None:
    (condition,) = lowering.values(operation.operands)
    message = cast(Any, operation.properties["msg"]).data
    lowering.emit(control_flow.AssertOp(condition, message))


RULES: dict[str, Rule] = {
    "cf.assert": _assert,
    "core.print": _print,
    "gpu.printf": _print,
}
"""The rule of each operation, by name."""
