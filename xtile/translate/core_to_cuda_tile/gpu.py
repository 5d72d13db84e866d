"""Where a tile block stands in the grid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.dialects.cuda_tile.ops import conversions, grid
from xtile.dialects.gpu.indices import dimension_number
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import scalar_tile
from xtile.translate.tiles.types import INDEX


def _of_grid(kind: Callable[[], Operation]) -> Rule:
    """The rule of a number for each dimension of the grid, as an index."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        numbers = lowering.shared(kind, (), lambda: lowering.emit(kind()).results)
        value = lowering.pure(
            conversions.ExtIOp,
            numbers[dimension_number(operation)],
            scalar_tile(INDEX),
            signedness=Signedness.UNSIGNED,
        )
        lowering.define(operation.results[0], value)

    return rule


def _grid_dim(operation: Operation, lowering: Lowering) -> None:
    function = operation.parent_op()
    while function is not None and function.name != "gpu.func":
        function = function.parent_op()
    sizes = None if function is None else function.properties.get("known_grid_size")
    if isa(sizes, DenseArrayBase):
        number = int(cast(Any, sizes).get_values()[dimension_number(operation)])
        lowering.define(operation.results[0], lowering.integer(number))
    else:
        _of_grid(grid.GetNumTileBlocksOp)(operation, lowering)


RULES: dict[str, Rule] = {
    "gpu.block_id": _of_grid(grid.GetTileBlockIdOp),
    "gpu.grid_dim": _grid_dim,
}
"""The rule of each operation, by name."""
