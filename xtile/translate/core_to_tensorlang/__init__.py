"""From the core form, at any level, to the tensor language (docs/core-form-targets.md)."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from xtile.dialects.core.attributes import Level
from xtile.dialects.tensorlang.ops.function import FuncOp
from xtile.rewrite.kernels import DEVICE_CODE
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of, with_body
from xtile.transforms.compose_flush import compose_flush
from xtile.translate.core_to_tensorlang.lowering import Lowering
from xtile.translate.core_to_tensorlang.rules import RULES
from xtile.translate.core_to_tensorlang.tf32 import multiply_in_f32


def translate_module(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Translates kernels to functions of the tensor language.

    Args:
        module: The module, with one or more `gpu.module`.
        diagnostics: Where remarks go; None drops them.

    Returns:
        A module with one function for each kernel, and the functions of the tensor language that
        were there already. Functions of the host have no text there and are left out.

    Raises:
        DiagnosticError: Something has no counterpart; the reasons are in docs/core-form-targets.md.
    """
    module = compose_flush(multiply_in_f32(module, diagnostics))
    lowering = Lowering(RULES[Level.BLOCK], source_of(module), diagnostics)
    body = Block()
    with lowering.at_end_of(body):
        for operation in module.body.block.ops:
            if isinstance(operation, DEVICE_CODE):
                lowering.translate(operation)
            elif isinstance(operation, FuncOp):
                lowering.keep(operation)
    return with_body(module, body, {})
