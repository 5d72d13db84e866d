"""From the lane level of the core form and of XeGPU to SPIR-V kernels of OpenCL.

One `gpu.module` or several become one `spirv.module` with an entry point for each kernel, for
Physical64 addressing, in SPIR-V 1.4.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xtile.backends.intel.devices import Device
from xtile.dialects.spirv import ModuleOp as SpirvModuleOp
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.rules import RULES, rebuilt
from xtile.translate.xegpu_to_spirv.types import element_type


def translate_module(
    module: ModuleOp, device: Device, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Translates kernels at lane level.

    Args:
        module: The module, with one or more `gpu.module`.
        device: What the code is for.
        diagnostics: Where remarks go; None drops them.

    Returns:
        A module with one `spirv.module`.

    Raises:
        DiagnosticError: Something cannot be translated.
    """
    lowering = Lowering(RULES, rebuilt, device, source_of(module), diagnostics)
    for operation in module.body.block.ops:
        lowering.translate(operation)
    if device.missing_types:
        _check_types(lowering)
    lowering.constants.remove_unused()
    target = SpirvModuleOp()
    block = target.block
    for declaration in list(lowering.declarations.ops):
        declaration.detach()
        block.add_op(declaration)
    block.add_ops([*lowering.entry_points, *lowering.functions])
    return ModuleOp([target])


def _check_types(lowering: Lowering) -> None:
    """Checks that a device can compute with all numbers.

    Raises:
        DiagnosticError: It cannot.
    """
    device = lowering.device
    for function in lowering.functions:
        for operation in function.walk():
            for result in operation.results:
                element = element_type(result.type)
                if element in device.missing_types:
                    raise lowering.error(
                        f"{device.name} has no numbers of type {element}", operation
                    )
