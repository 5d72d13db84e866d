"""Products of tf32 as products of f32: the tensor language has no tf32, and f32 is as exact."""

from __future__ import annotations

from xdsl.dialects.arith import TruncFOp
from xdsl.dialects.builtin import FloatTF32Type, ModuleOp, f32
from xdsl.ir import Operation

from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import Rebuilder, Rule, RuleTable, copy
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of


def multiply_in_f32(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Returns a module that does not round the factors of products from f32 to tf32.

    Everything else stays as it is; without such factors it is the module itself.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go; None drops them.
    """
    table = RuleTable(_RULES, otherwise=copy, keeps_rounding=True)
    widener = Emitter(table, "the tensor language", source_of(module), diagnostics)
    return with_kernels_replaced(module, _has_casts, lambda kernel: rebuilt(kernel, widener))


def _has_casts(operation: Operation) -> bool:
    return any(_is_of_factor(each) for each in walk(operation))


def _is_of_factor(operation: Operation) -> bool:
    """Whether an operation rounds f32 to tf32 for products only."""
    if not isinstance(operation, TruncFOp) or value_type(operation.input.type) != f32:
        return False
    return isinstance(value_type(operation.result.type), FloatTF32Type) and all(
        isinstance(use.operation, ContractionOp) and use.index < 2 for use in operation.result.uses
    )


def _cast(operation: Operation, rebuilder: Rebuilder) -> None:
    if not _is_of_factor(operation):
        copy(operation, rebuilder)
        return
    rebuilder.remark("multiplies in f32, because the tensor language has no tf32")
    rebuilder.define(operation.results[0], rebuilder.value(operation.operands[0]))


_RULES: dict[str, Rule] = {TruncFOp.name: _cast}
"""The rule of each operation, by name."""
