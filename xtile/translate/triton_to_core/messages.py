"""What a kernel checks and prints.

Source: Triton 3.9, `TritonOps.td`, `tt.assert` and `tt.print`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat, StringAttr
from xdsl.dialects.cf import AssertOp
from xdsl.dialects.vector import CombiningKindFlag

from xtile.dialects.core.printing import PrintOp
from xtile.dialects.triton.tt.ops import AssertOp as TritonAssertOp
from xtile.dialects.triton.tt.ops import PrintOp as TritonPrintOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import Rule
from xtile.translate.triton_to_core.raising import Raising


def _assert(operation: TritonAssertOp, raising: Raising) -> None:
    """A tensor of conditions holds where all of them do."""
    condition = raising.combined(raising.value(operation.condition), CombiningKindFlag.AND)
    raising.emit(AssertOp(condition, operation.message))


def _print(operation: TritonPrintOp, raising: Raising) -> None:
    values = raising.values(operation.args)
    signs = [int(sign) for sign in operation.isSigned.get_values()]
    is_hex = operation.hex.value.data != 0
    words = [
        "%f" if isinstance(value_type(value.type), AnyFloat) else _conversion(is_hex, sign)
        for value, sign in zip(values, signs, strict=True)
    ]
    text = operation.prop_prefix.data.replace("%", "%%") + ", ".join(words) + "\n"
    raising.emit(PrintOp.build(operands=[values], properties={"format": StringAttr(text)}))


def _conversion(is_hex: bool, sign: int) -> str:
    return "%x" if is_hex else "%d" if sign else "%u"


RULES: dict[str, Rule] = {"tt.assert": _assert, "tt.print": _print}
"""The rule of each operation, by name."""
