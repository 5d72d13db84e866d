"""Writes polynomials as indices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, SSAValue

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shared_attributes import INDEX
from xtile.dialects.walk import walk
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import RuleTable
from xtile.rewrite.tile_emitter import TileEmitter
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.structure.polynomials import Atom, Polynomial, Rounds


class Numbers(TileEmitter):
    """Rebuilds a kernel, of whose values there are polynomials.

    Args:
        kernel: The kernel.
        rules: The rule of each operation.
        form: What the kernel becomes, for messages.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self,
        kernel: FuncOp,
        rules: RuleTable,
        form: str,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, form, source, diagnostics)
        values: list[SSAValue] = [argument for block in _blocks(kernel) for argument in block.args]
        values += [result for operation in walk(kernel) for result in operation.results]
        self._order = {value: i for i, value in enumerate(values)}

    def number(self, polynomial: Polynomial) -> Index:
        """Emits a polynomial as an index."""
        added: list[Index] = []
        subtracted: list[Index] = []
        for product, factor in polynomial.terms.items():
            is_negative = factor < 0 and bool(product)
            number: Index = -factor if is_negative else factor
            for atom in sorted(product, key=self._position):
                number = self.multiply(self._atom(atom), number)
            (subtracted if is_negative else added).append(number)
        return self.subtract(self.add_all(added), self.add_all(subtracted))

    def number_of(self, value: SSAValue) -> SSAValue:
        """A number of the source as an index."""
        return self._cast(self.value(value))

    def extreme(self, numbers: Sequence[Polynomial], *, is_least: bool) -> Index:
        """The least or the greatest of some numbers."""
        first, *others = (self.number(each) for each in numbers)
        for other in others:
            first = self.smaller(first, other) if is_least else self.larger(first, other)
        return first

    def _position(self, atom: Atom) -> int:
        value = atom if isinstance(atom, SSAValue) else atom.loop.body.block.args[0]
        return self._order[value]

    def _atom(self, atom: Atom) -> Index:
        if isinstance(atom, SSAValue):
            return self.number_of(atom)
        loop = atom.loop
        lower, known = self.number_of(loop.lb), constant_of(loop.step)
        step = self.number_of(loop.step) if known is None else known
        if isinstance(atom, Rounds):
            variable = self.number_of(loop.body.block.args[0])
            return self.divide(self.subtract(variable, lower), step)
        length = self.subtract(self.number_of(loop.ub), lower)
        return self.divide_up(self.larger(length, 0), step)

    def _cast(self, value: SSAValue) -> SSAValue:
        if isinstance(value.type, IndexType):
            return value
        return self.shared(
            (IndexCastOp, value), (value,), lambda: self.emit(IndexCastOp(value, INDEX)).result
        )


def _blocks(kernel: FuncOp) -> Iterator[Block]:
    for operation in (kernel, *walk(kernel)):
        for region in operation.regions:
            yield from region.blocks
