"""What kernels print, and where they stop.

Source: Triton 3.9, `TritonOps.td`, `tt.print` and `tt.assert`.
"""

from __future__ import annotations

import re
from typing import Any, cast

from xdsl.dialects.builtin import IntegerType, StringAttr
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from xtile.dialects.triton.tt import ops as tt
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.lowering import Lowering

_CONVERSION = re.compile(r"%[-+ #0-9.]*(?:hh|h|ll|l)?([a-zA-Z])")


def _print(operation: Operation, lowering: Lowering) -> None:
    """A print for each text with the numbers behind it, which commas may separate."""
    format_ = cast("StringAttr", operation.properties["format"]).data.replace("%%", "\0")
    texts, letters = _CONVERSION.split(format_)[::2], _CONVERSION.split(format_)[1::2]
    values = lowering.values(operation.operands)
    begin = 0
    for end in range(1, len(texts)):
        if end + 1 < len(texts) and texts[end] == ", ":
            continue
        signs = [letter in "di" for letter in letters[begin:end]]
        of_integers = [isa(lowering.element(each), IntegerType) for each in values[begin:end]]
        lowering.emit(
            tt.PrintOp(
                _plain(texts[begin]),
                values[begin:end],
                hex="x" in letters[begin:end],
                is_signed=[sign and whole for sign, whole in zip(signs, of_integers, strict=True)],
            )
        )
        begin = end
    rest = _plain(texts[-1]).strip()
    if rest or not values:
        lowering.emit(tt.PrintOp(_plain(texts[-1]), []))


def _plain(text: str) -> str:
    """The text of a print, which ends its line by itself."""
    return text.replace("\0", "%").removesuffix("\n")


def _assert(operation: Operation, lowering: Lowering) -> None:
    (condition,) = lowering.values(operation.operands)
    message: str = cast("Any", operation.properties["msg"]).data
    lowering.emit(tt.AssertOp(condition, message))


RULES: dict[str, Rule] = {"cf.assert": _assert, "core.print": _print, "gpu.printf": _print}
"""The rule of each operation, by name."""
