"""What the rules share: points that work-items take in turn."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from xdsl.dialects import arith, complex
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, ComplexType, FloatAttr, IndexType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.subgroup import ParallelOp
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.indices import BlockDimOp, ThreadIdOp
from xtile.dialects.scf.loops import ForOp
from xtile.dialects.scf.ops import YieldOp
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.indices import Index


class Kernel(Emitter):
    """Builds a kernel at level "block".

    Attributes:
        is_in_points: Whether what is emitted is for one of many points, by one work-item.
    """

    is_in_points = False

    def one(self, type: Attribute) -> SSAValue:
        """The number 1."""
        if not isa(type, ComplexType[AnyFloat]):
            return self.constant(1, type)
        parts = [FloatAttr(value, type.element_type) for value in (1.0, 0.0)]
        return self.emit(complex.ConstantOp(ArrayAttr(parts), type)).results[0]

    @contextmanager
    def points(self, sizes: Sequence[Index]) -> Generator[Sequence[Index]]:
        """What is done for each point of a space, by the work-items in turn.

        The last dimension varies fastest, so that neighbours do what lies side by side.

        Args:
            sizes: The size of each dimension, which is not negative; there is one at least.
        """
        count: Index = 1
        for size in sizes:
            count = self.multiply(count, size)
        inside, trips = Block(), Block(arg_types=[IndexType()])
        last = self.as_value(count)
        with self.at_end_of(inside):
            first, stride = self._work_item()
            self.is_in_points = True
            with self.at_end_of(trips):
                yield self._split(trips.args[0], sizes)
                self.emit(YieldOp())
            self.is_in_points = False
            self.emit(ForOp(first, last, stride, [], Region([trips])))
        self.emit(ParallelOp.build(regions=[Region([inside])]))

    def _work_item(self) -> tuple[SSAValue, SSAValue]:
        """The number of the work-item in the work-group, and how many there are."""
        x, y, width, height = (
            self.emit(kind(along)).result
            for kind in (ThreadIdOp, BlockDimOp)
            for along in (Dimension.X, Dimension.Y)
        )
        row = self.emit(arith.MuliOp(y, width)).result
        number = self.emit(arith.AddiOp(row, x)).result
        return number, self.emit(arith.MuliOp(width, height)).result

    def _split(self, number: SSAValue, sizes: Sequence[Index]) -> list[Index]:
        positions: list[Index] = []
        rest: Index = number
        for size in reversed(sizes[1:]):
            positions.append(self.remainder(rest, size))
            rest = self.divide(rest, size)
        return [rest, *reversed(positions)]
