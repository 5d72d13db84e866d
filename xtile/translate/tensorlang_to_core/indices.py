"""Arithmetic on `index` values, each of which is emitted where it is asked for."""

from __future__ import annotations

from typing_extensions import override
from xdsl.ir import SSAValue

from xtile.dialects.tensorlang.types import INDEX
from xtile.dialects.tensorlang.verifier.constants import integer_of
from xtile.rewrite.indices import ARITH_OPERATIONS, Index, IndexArithmetic, IndexOperation
from xtile.rewrite.rebuilder import Rebuilder
from xtile.translate.tensorlang_to_core.casts import convert
from xtile.translate.tensorlang_to_core.emit import emit


class Indices(IndexArithmetic):
    """Computes with indices of the source.

    Args:
        rebuilder: Where to emit.
    """

    def __init__(self, rebuilder: Rebuilder) -> None:
        self._rebuilder = rebuilder

    @override
    def as_value(self, number: Index) -> SSAValue:
        return self._rebuilder.index(number) if isinstance(number, int) else number

    @override
    def index_operation(self, operation: IndexOperation, a: SSAValue, b: SSAValue) -> SSAValue:
        return emit(self._rebuilder, ARITH_OPERATIONS[operation].name, [a, b], INDEX)

    def number(self, old: SSAValue) -> Index:
        """What a value of the source, of any integer type, is as an index."""
        known = integer_of(old)
        if known is not None:
            return known
        r = self._rebuilder
        value = r.value(old)
        return r.shared(("as index", value), (value,), lambda: convert(r, value, INDEX))
