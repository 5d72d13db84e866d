"""How tiles of the output become `alpha result + beta output`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core import AtomicKind, BlasA2Operation, BlasA3Operation
from xtile.rewrite.indices import Index
from xtile.semantics.accumulation import accumulation_type
from xtile.transforms.distribute import numbers
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import Operand, operand_of
from xtile.transforms.tile_linalg.spans import Span
from xtile.transforms.tile_linalg.tiles import Tile


@dataclass(frozen=True)
class Update:
    """The update of one operation's output.

    Attributes:
        kernel: The kernel that is being built.
        output: The memref that is updated.
        wide: The accumulation type, in which results are given.
        alpha: The factor of the result, in the accumulation type; None is 1.
        beta: The factor of the old elements, in the accumulation type; None is 1.
        keeps: Whether beta is not 0, as far as it is known.
        keeps_value: Whether beta is not 0, where that is known only at run time.
        is_atomic: Whether elements are updated atomically.
    """

    kernel: Kernel
    output: Operand
    wide: Attribute
    alpha: Tile | None
    beta: Tile | None
    keeps: bool | None
    keeps_value: SSAValue | None
    is_atomic: bool

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
        return tiles.converted(self.kernel, tile, self.output.element)

    @property
    def atomic_kind(self) -> AtomicKind:
        """How an atomic update changes an element: beta = 0 replaces it."""
        if not self.keeps:
            return AtomicKind.ASSIGN
        is_integer = numbers.is_integer(self.output.element)
        return AtomicKind.ADD_INTEGER if is_integer else AtomicKind.ADD_FLOAT


def update_of(operation: BlasA2Operation | BlasA3Operation, kernel: Kernel) -> Update:
    """The update that an operation makes of its output.

    Raises:
        DiagnosticError: An atomic update whose beta is not known to be 0 or 1.
    """
    is_of_two = isinstance(operation, BlasA2Operation)
    output = operand_of(kernel, operation.b if is_of_two else operation.c)
    wide = accumulation_type(output.element)
    known = numbers.constant_of(operation.beta)
    is_atomic = operation.atomic is not None
    if is_atomic and known not in (0, 1):
        raise kernel.error("an atomic update needs a constant beta, 0 or 1")
    beta = kernel.value(operation.beta)
    return Update(
        kernel,
        output,
        wide,
        _factor(kernel, operation.alpha, wide),
        None if known == 0 else _factor(kernel, operation.beta, wide),
        None if known is None else known != 0,
        numbers.is_not_zero(kernel, beta) if known is None else None,
        is_atomic,
    )


def _factor(kernel: Kernel, old: SSAValue, wide: Attribute) -> Tile | None:
    """A factor in the accumulation type; None if it is 1."""
    if numbers.constant_of(old) == 1:
        return None
    return tiles.converted(kernel, tiles.scalar(kernel, kernel.value(old)), wide)
