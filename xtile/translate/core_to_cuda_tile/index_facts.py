"""What is known of emitted integers without running: constants, divisors, signs and bounds.

Tiles of memory can be accessed through views only where their indices are known to be multiples of
a number, and not to be negative.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.attributes import BoundedAttr, DivByAttr, SignednessAttr
from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.translate.tiles.index_facts import IndexFacts

_NAMES = {
    "cuda_tile.addi": "arith.addi",
    "cuda_tile.assume": "core.assume",
    "cuda_tile.divi": "arith.divsi",
    "cuda_tile.exti": "arith.extsi",
    "cuda_tile.maxi": "arith.maxsi",
    "cuda_tile.mini": "arith.minsi",
    "cuda_tile.muli": "arith.muli",
    "cuda_tile.offset": "core.pointer_add",
    "cuda_tile.remi": "arith.remsi",
    "cuda_tile.select": "arith.select",
    "cuda_tile.subi": "arith.subi",
    "cuda_tile.trunci": "arith.trunci",
}

_UNSIGNED_NAMES = {
    "cuda_tile.divi": "arith.divui",
    "cuda_tile.exti": "arith.extui",
    "cuda_tile.maxi": "arith.maxui",
    "cuda_tile.mini": "arith.minui",
    "cuda_tile.remi": "arith.remui",
}


class TileFacts(IndexFacts):
    """What is known of each integer of CUDA Tile IR, if nothing overflows."""

    @override
    def name_of(self, operation: Operation) -> str:
        names = _UNSIGNED_NAMES if _is_unsigned(operation) else _NAMES
        return names.get(operation.name, operation.name)

    @override
    def promise_of(self, assume: Operation) -> tuple[int, int | None]:
        predicate = assume.properties["predicate"]
        divisor = predicate.divisor.data if isinstance(predicate, DivByAttr) else 1
        return divisor, predicate.lower_bound if isinstance(predicate, BoundedAttr) else None


def _is_unsigned(operation: Operation) -> bool:
    signedness = operation.properties.get("signedness")
    return isinstance(signedness, SignednessAttr) and signedness.data is Signedness.UNSIGNED
