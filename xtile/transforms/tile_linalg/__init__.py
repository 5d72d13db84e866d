"""Rewrites block-level kernels in core form as loops over tiles, for compilers of tiles.

Source and result are `gpu.func`s whose attribute `core.level` is "block" and "tile". In the result
every value belongs to the whole work-group, and vectors are tiles, whose sizes are powers of two.
docs/core-form-levels.md says what becomes of what.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    DenseArrayBase,
    ModuleOp,
    StringAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, Region

from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroup_sizes import DEFAULT_SUBGROUP_SIZE, given_subgroup_size
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.walk import walk_block
from xtile.rewrite.kernels import hints_attribute, with_kernels_replaced
from xtile.rewrite.tile_emitter import shape_of
from xtile.targets.target import Hints
from xtile.text.source import Source, source_of
from xtile.transforms.join_branches import join_branches
from xtile.transforms.lift import with_blocks_joined
from xtile.transforms.split_complex import split_complex
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.local_memory import local_memory_of
from xtile.transforms.tile_linalg.products import use_hints_of_contractions
from xtile.transforms.tile_linalg.rules import RULES

if TYPE_CHECKING:
    from xtile.targets.target import Target
    from xtile.text.diagnostics import Diagnostics

_SUBGROUP_SIZE = "intel_reqd_sub_group_size"


def tile_linalg(
    module: ModuleOp, target: Target, diagnostics: Diagnostics | None = None
) -> ModuleOp:
    """Returns a new module whose block-level kernels are at tile level.

    Everything else stays as it is.

    Args:
        module: The module; it is not changed.
        target: The architecture, which decides about the sizes of tiles.
        diagnostics: Where remarks go that tell why a choice was made; None drops them.

    Raises:
        DiagnosticError: A kernel cannot be written with tiles.
    """
    module = join_branches(split_complex(module), diagnostics)
    source = source_of(module)
    return with_kernels_replaced(
        module,
        lambda kernel: level_of(kernel) is Level.BLOCK,
        lambda kernel: _tiled(kernel, target, source, diagnostics),
    )


def _tiled(
    function: FuncOp, target: Target, source: Source | None, diagnostics: Diagnostics | None
) -> FuncOp:
    """Returns a new kernel at tile level."""
    lanes = given_subgroup_size(function) or DEFAULT_SUBGROUP_SIZE
    function = with_blocks_joined(function, lanes, source, diagnostics)
    local = local_memory_of(function, target)
    kernel = Kernel(RULES, function, local, target, source, diagnostics)
    old = function.body.block
    body = kernel.new_block(old, [arg.type for arg in old.args])
    kernel.facts.add_promises(body)
    with kernel.in_function(body):
        kernel.translate_block(old)
    use_hints_of_contractions(kernel, body)
    operations = walk_block(body)
    has_products = any(isinstance(each, ContractionOp) for each in operations)
    if not has_products:
        _use_hints_of_large_tiles(kernel, operations)
    size = DenseArrayBase.from_list(i32, [1, 1, 1])
    result = FuncOp.create(
        properties=function.properties | {"known_block_size": size},
        attributes=_attributes(function, _hints(kernel, has_products)),
        regions=[Region(body)],
    )
    result.location = function.location
    return result


def _use_hints_of_large_tiles(kernel: Kernel, operations: Sequence[Operation]) -> None:
    """Compiles a kernel without products for the largest tile that it reads, if that is large."""
    reads = [each for each in operations if each.name == "vector.transfer_read"]
    elements = max((prod(shape_of(each.results[0].type)) for each in reads), default=0)
    tiles = kernel.target.tiles
    if elements >= tiles.large_elements:
        is_whole = elements >= tiles.whole_elements
        kernel.use_hints(elements, tiles.whole_hints if is_whole else tiles.large_hints)


def _hints(kernel: Kernel, has_products: bool) -> Hints:
    """How to compile a kernel; None of it where only products of work-items ask for something.

    What those are compiled as is known when their shapes are.
    """
    work, hints = kernel.hints
    return Hints() if not work and has_products else hints


def _attributes(function: FuncOp, hints: Hints) -> dict[str, Attribute]:
    """The attributes of a kernel at tile level, which has no subgroups."""
    attributes = {**function.attributes, LEVEL_ATTRIBUTE: StringAttr(Level.TILE)}
    attributes.pop(_SUBGROUP_SIZE, None)
    return attributes | hints_attribute(hints)
