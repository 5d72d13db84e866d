"""The pass: block-level kernels become code of each work-item."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.ir import Attribute, Operation, Region

from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.rewrite.kernels import with_kernels_replaced
from xtile.rewrite.rebuilder import Rebuilder
from xtile.text.source import Source, source_of
from xtile.transforms.distribute.barriers import place_barriers
from xtile.transforms.distribute.configuration import (
    SUBGROUP_SIZE,
    Configuration,
    choose_configuration,
)
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.rules import RULES

if TYPE_CHECKING:
    from xtile.targets.lanes import LaneTarget
    from xtile.text.diagnostics import Diagnostics


def distribute(
    module: ModuleOp, target: LaneTarget, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Returns a new module whose block-level kernels are at subgroup level.

    Everything else stays as it is.

    Args:
        module: The module; it is not changed.
        target: What they are made for, which decides about sizes and matrix units.
        diagnostics: Where remarks go that tell why a choice was made; None drops them.

    Raises:
        DiagnosticError: A kernel cannot be distributed.
    """
    source = source_of(module)
    return with_kernels_replaced(
        module,
        lambda kernel: level_of(kernel) is Level.BLOCK,
        lambda kernel: _distribute(kernel, target, source, diagnostics),
    )


def _distribute(
    function: FuncOp, target: LaneTarget, source: Source | None, diagnostics: Diagnostics | None
) -> FuncOp:
    """Returns a new kernel at subgroup level."""
    try:
        configuration = choose_configuration(function, target)
    except ValueError as error:
        raise Rebuilder(RULES, target.name, source).error(str(error), function) from None
    kernel = _kernel(function, target, configuration, source, diagnostics)
    old = function.body.block
    body = kernel.new_block(old, [arg.type for arg in old.args])
    with kernel.in_function(body):
        kernel.translate_block(old)
    result = FuncOp.create(
        properties=function.properties
        | {"known_block_size": DenseArrayBase.from_list(i32, configuration.block_size)},
        attributes=_attributes(function, configuration),
        regions=[Region(body)],
    )
    result.location = function.location
    return result


def _kernel(
    function: FuncOp,
    target: LaneTarget,
    configuration: Configuration,
    source: Source | None,
    diagnostics: Diagnostics | None,
) -> Kernel:
    """What rebuilds a kernel for a device."""
    if target.vector_unit is None:
        rules, barriers = RULES, place_barriers(function)
    else:
        from xtile.transforms.distribute.vectors.rules import RULES as rules

        barriers = place_barriers(function, is_work_of_first=True)
    if configuration.is_one_work_item:
        barriers = frozenset[Operation]()
    return Kernel(rules, barriers, target, configuration, source, diagnostics)


def _attributes(function: FuncOp, configuration: Configuration) -> dict[str, Attribute]:
    """The attributes of a distributed kernel; of one work-item there are no subgroups."""
    attributes = {**function.attributes, LEVEL_ATTRIBUTE: StringAttr(Level.SUBGROUP)}
    attributes.pop(SUBGROUP_SIZE, None)
    if not configuration.is_one_work_item:
        attributes[SUBGROUP_SIZE] = IntegerAttr(configuration.subgroup_size, i32)
    return attributes
