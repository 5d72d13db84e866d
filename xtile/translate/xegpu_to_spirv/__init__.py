"""From the lane level of the core form and of XeGPU to SPIR-V kernels of OpenCL.

One `gpu.module` or several become one `spirv.module` with an entry point for each kernel, for
Physical64 addressing, in SPIR-V 1.4.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.spirv import ModuleOp as SpirvModuleOp
from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.lanes import LaneTarget
from xtile.targets.products import BUILTIN_TYPES
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.split_complex import split_complex
from xtile.translate.xegpu_to_spirv.lowering import Carried, Lowering
from xtile.translate.xegpu_to_spirv.types import element_type

_MODULES = {
    "arith": ("arithmetic", "comparisons", "conversions", "divisions", "literals"),
    "builtin": ("views",),
    "cf": ("printing",),
    "complex": ("memory",),
    "core": ("cooperative_matrices", "pointers"),
    "func": ("functions", "regions"),
    "gpu": ("functions", "gpu", "printing", "subgroup"),
    "index": ("arithmetic", "comparisons", "conversions", "divisions", "literals"),
    "math": ("mathematics",),
    "memref": ("allocation", "atomics", "memory", "regions", "reshapes", "views"),
    "scf": ("control", "regions"),
    "spirv": ("extended_functions",),
    "ub": ("literals",),
    "vector": (
        "mathematics",
        "vectors.arithmetic",
        "vectors.masks",
        "vectors.memory",
        "vectors.positions",
        "vectors.shapes",
        "vectors.transfers",
    ),
    "xegpu": ("xegpu.rules",),
}
"""For each dialect the modules with the RULES of its operations, loaded when a kernel has one."""

RULES = RuleTable(
    modules={
        dialect: [f"{__name__}.{name}" for name in names] for dialect, names in _MODULES.items()
    }
)
"""What becomes of each operation; one without a rule is refused."""


def _rebuilt(type_: Attribute, values: Iterator[SSAValue]) -> Carried:
    """What a value of a type of XeGPU is, made from the next of some values."""
    from xtile.translate.xegpu_to_spirv.xegpu.rules import rebuilt

    return rebuilt(type_, values)


def translate_module(
    module: ModuleOp, target: LaneTarget, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Translates kernels at lane level.

    Args:
        module: The module, with one or more `gpu.module`.
        target: What the code is for.
        diagnostics: Where remarks go; None drops them.

    Returns:
        A module with one `spirv.module`.

    Raises:
        DiagnosticError: Something cannot be translated.
    """
    module = split_complex(module)
    lowering = Lowering(RULES, _rebuilt, target, source_of(module), diagnostics)
    for operation in module.body.block.ops:
        lowering.translate(operation)
    if target.chip.missing_types:
        _check_types(lowering)
    lowering.constants.remove_unused()
    result = SpirvModuleOp()
    block = result.block
    for declaration in list(lowering.declarations.ops):
        declaration.detach()
        block.add_op(declaration)
    block.add_ops([*lowering.entry_points, *lowering.functions])
    return ModuleOp([result])


def _check_types(lowering: Lowering) -> None:
    """Checks that a chip can compute with all numbers.

    Raises:
        DiagnosticError: It cannot.
    """
    missing = {BUILTIN_TYPES[name] for name in lowering.target.chip.missing_types}
    for function in lowering.functions:
        for operation in function.walk():
            for result in operation.results:
                element = element_type(result.type)
                if element in missing:
                    name = lowering.target.name
                    raise lowering.error(f"{name} has no numbers of type {element}", operation)
