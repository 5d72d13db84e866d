"""From Triton's `tt` to `ttg` and `amdg`, for a chip of AMD (docs/translations.md).

The text has a layout for each tensor, so that no pass of Triton's runs on it: what is written here
is what is compiled.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.ir import Operation

from xtile.dialects.triton.module_attributes import BLOCKS, LANES, TARGET, WARPS
from xtile.dialects.triton.operation import shape_of
from xtile.dialects.triton.tt.ops.products import DotOp
from xtile.dialects.walk import walk
from xtile.targets.target import Target
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.translate.triton_to_amdg.blocked import Machine
from xtile.translate.triton_to_amdg.lowering import Lowering
from xtile.translate.triton_to_amdg.pipelining import pipeline_loops
from xtile.translate.triton_to_amdg.pointers import split_pointers
from xtile.translate.triton_to_amdg.rules import RULES
from xtile.translate.triton_to_amdg.scaled_products import compose_scaled


def translate_module(
    module: ModuleOp,
    chip: Target,
    diagnostics: Diagnostics | None = None,
    warps: int | None = None,
) -> ModuleOp:
    """Gives each tensor of a module of `tt` a layout.

    Args:
        module: The module.
        chip: What it is for.
        diagnostics: Where remarks go; None drops them.
        warps: The warps of a program; None for as many as its tensors keep busy.

    Returns:
        A module of `ttg` and `amdg`.

    Raises:
        DiagnosticError: Something has no layout here.
    """
    lanes = chip.subgroup_size
    machine = Machine(lanes, warps or _warps(module, lanes))
    lowering = Lowering(RULES, chip, machine, source_of(module), diagnostics)
    split = split_pointers(compose_scaled(module, chip))
    remove_dead_code(split)
    result = lowering.module(split, module.attributes)
    for name, number in ((BLOCKS, 1), (WARPS, machine.warps), (LANES, lanes)):
        result.attributes[name] = IntegerAttr(number, i32)
    result.attributes[TARGET] = StringAttr(f"hip:{chip.name}")
    remove_dead_code(result)
    pipeline_loops(result, chip)
    remove_dead_code(result)
    return result


_FEW, _MANY = 4, 8
"""The warps of a program, and of one with large products."""

_LARGE = 128 * 256
"""The elements of the result of a large product."""

_FAIR = 4
"""The elements of the largest tensor for which it is worthwhile to have another lane."""


def _warps(module: Operation, lanes: int) -> int:
    """As many warps as tensors keep busy."""
    results = [(each, result) for each in walk(module) for result in each.results]
    if any(isinstance(each, DotOp) and prod(shape_of(d.type)) >= _LARGE for each, d in results):
        return _MANY
    largest = max((prod(shape_of(result.type)) for _, result in results), default=1)
    warps = 1
    while warps < _FEW and warps * lanes * _FAIR < largest:
        warps *= 2
    return warps
