"""How tiles of the output become `alpha result + beta output`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.blas import BlasA2Operation, BlasA3Operation
from xtile.rewrite.indices import Index
from xtile.transforms.blas_updates import BlasUpdate, output_of
from xtile.transforms.distribute import numbers
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import Operand, operand_of
from xtile.transforms.tile_linalg.spans import Span
from xtile.transforms.tile_linalg.tiles import Tile


class Update(BlasUpdate[Kernel, Operand, Tile]):
    """The update of one operation's output, an operand."""

    def apply(self, result: Tile, indices: Sequence[Index], spans: Sequence[Span]) -> None:
        """Updates a tile of the output with a tile of results in the accumulation type."""
        if self.is_atomic:
            scaled = self._narrow(self._scaled(self.alpha, result))
            self.output.update_atomically(self.atomic_kind, scaled, indices, spans)
            return
        total = self._narrow(self._with_old(result, indices, spans))
        self.output.write(total, indices, spans)

    def _scaled(self, factor: Tile | None, tile: Tile) -> Tile:
        if factor is None:
            return tile
        spread = tiles.broadcast(self.kernel, factor, tile.shape)
        return tiles.multiply(self.kernel, spread, tile)

    def _with_old(self, result: Tile, indices: Sequence[Index], spans: Sequence[Span]) -> Tile:
        """`alpha result + beta output`, where the output is not read if beta is 0."""
        kernel = self.kernel

        def without_old() -> Tile:
            return self._scaled(self.alpha, result)

        def with_old() -> Tile:
            # The output is asked for before the results are waited for.
            old = self.output.read(indices, spans)
            scaled, old = without_old(), tiles.converted(kernel, old, self.wide)
            return tiles.add(kernel, scaled, self._scaled(self.beta, old))

        if self.keeps is not None:
            return with_old() if self.keeps else without_old()
        assert self.keeps_value is not None
        parts = kernel.choose_all(
            self.keeps_value,
            lambda: tiles.complete(kernel, with_old()).parts,
            lambda: tiles.complete(kernel, without_old()).parts,
        )
        return Tile(tuple(parts), self.wide, result.shape)

    def _narrow(self, tile: Tile) -> Tile:
        """A tile in the element type of the output."""
        return tiles.converted(self.kernel, tile, self.element)


def update_of(operation: BlasA2Operation | BlasA3Operation, kernel: Kernel) -> Update:
    """The update that an operation makes of its output.

    Raises:
        DiagnosticError: An atomic update whose beta is not known to be 0 or 1.
    """
    output = operand_of(kernel, output_of(operation))

    def factor(old: SSAValue, wide: Attribute) -> Tile | None:
        if numbers.constant_of(old) == 1:
            return None
        return tiles.converted(kernel, tiles.scalar(kernel, kernel.value(old)), wide)

    return Update.of(operation, kernel, output, output.element, factor)
