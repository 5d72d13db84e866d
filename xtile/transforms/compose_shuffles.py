"""Shuffles of tiles become operations on their shapes, or gathers where they are irregular.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`: `vector.shuffle`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.vector import ShuffleOp

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.walk import walk
from xtile.rewrite.kernels import rebuilt, with_kernels_replaced
from xtile.rewrite.rebuilder import RuleTable, copy
from xtile.rewrite.shuffles import shuffled
from xtile.rewrite.tile_emitter import TileEmitter, shape_of
from xtile.text.source import source_of


def compose_shuffles(module: ModuleOp) -> ModuleOp:
    """Returns a module whose kernels of tiles have no `vector.shuffle`.

    Everything else stays as it is; without one it is the module itself.

    Args:
        module: The module; it is not changed.
    """
    table = RuleTable({ShuffleOp.name: _compose}, otherwise=copy, keeps_rounding=True)
    composer = TileEmitter(table, "tiles", source_of(module))
    return with_kernels_replaced(module, _has_shuffles, lambda kernel: rebuilt(kernel, composer))


def _has_shuffles(kernel: FuncOp) -> bool:
    return level_of(kernel) is Level.TILE and any(
        operation.name == ShuffleOp.name for operation in walk(kernel)
    )


def _compose(operation: ShuffleOp, composer: TileEmitter) -> None:
    vectors = composer.values((operation.v1, operation.v2))
    # A vector without dimensions is one part.
    first, second = (
        value if shape_of(value.type) else composer.spread(value, [1]) for value in vectors
    )
    mask = operation.mask.get_values()
    composer.define(operation.result, shuffled(composer, first, second, list(mask)))
