"""From the core form at subgroup level to XeGPU at lane level.

LLVM's own pipeline distributes subgroup-level XeGPU only where all of a kernel is vectors; kernels
that also compute with each lane's scalars, as the tensor language's do, must be at lane level.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Block

from xtile.backends.intel.devices import Device
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.translate.core_to_xegpu import (
    blocks,
    complex_numbers,
    control,
    functions,
    matrices,
    memory,
    products,
    scattered,
    subgroup,
)
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.rule import Rule

RULES: dict[str, Rule] = {
    **blocks.RULES,
    **complex_numbers.RULES,
    **control.RULES,
    **functions.RULES,
    **matrices.RULES,
    **memory.RULES,
    **products.RULES,
    **scattered.RULES,
    **subgroup.RULES,
}
"""The rule of each operation that does not stay what it is."""


def translate_module(
    module: ModuleOp, device: Device, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Translates kernels at subgroup level.

    Args:
        module: The module, with one or more `gpu.module`.
        device: The GPU whose instructions are used.
        diagnostics: Where remarks go; None drops them.

    Raises:
        DiagnosticError: Something cannot be translated.
    """
    lowering = Lowering(RULES, device, source_of(module), diagnostics)
    body = Block()
    with lowering.at_end_of(body):
        lowering.translate_block(module.body.block)
    result = ModuleOp([])
    result.body.detach_block(result.body.block)
    result.body.add_block(body)
    result.attributes["gpu.container_module"] = UnitAttr()
    remove_dead_code(result)
    return result
