"""From Triton to level "tile" of the core form (docs/core-form-sources.md)."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from xtile.rewrite.rebuilder import RuleTable, refuse
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of, with_body
from xtile.translate.triton_to_core import (
    amd,
    arithmetic,
    blocks,
    control,
    descriptors,
    elements,
    external,
    kernels,
    local_memory,
    memory,
    products,
    shapes,
    tensor_data_mover,
    warps,
)
from xtile.translate.triton_to_core.raising import Raising

_COPIED = frozenset({"arith", "math", "ub"})
"""The dialects whose operations are the same on vectors."""


def _otherwise(operation: Operation, raising: Raising) -> None:
    rule = arithmetic.copied if operation.dialect_name() in _COPIED else refuse
    rule(operation, raising)


RULES = RuleTable(
    {
        **amd.RULES,
        **arithmetic.RULES,
        **blocks.RULES,
        **control.RULES,
        **descriptors.RULES,
        **elements.RULES,
        **external.RULES,
        **kernels.RULES,
        **local_memory.RULES,
        **memory.RULES,
        **products.RULES,
        **shapes.RULES,
        **tensor_data_mover.RULES,
        **warps.RULES,
    },
    _otherwise,
)
"""What becomes of each operation; one without a rule is refused."""


def translate_module(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Translates the kernels of Triton in a module.

    Args:
        module: The module; it is not changed.
        diagnostics: Where remarks go; None drops them.

    Returns:
        A module with a `gpu.module` of all kernels; everything else is what it was.

    Raises:
        DiagnosticError: Something cannot be translated.
    """
    raising = Raising(RULES, source_of(module), diagnostics)
    body = Block()
    with raising.at_end_of(body):
        kernels.translate_kernels(module, raising)
    return with_body(module, body, {})
