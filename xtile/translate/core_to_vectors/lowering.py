"""What the rules share: private memory, loops over components, and the parts of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    MemRefType,
    VectorType,
    i1,
    i8,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.indices import ThreadIdOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import RuleTable
from xtile.targets.lanes import LaneTarget, VectorUnit
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.distribute.local_memory import size_in_bytes
from xtile.translate.core_to_vectors.emitting import Emitter
from xtile.translate.core_to_vectors.kinds import is_view
from xtile.translate.core_to_vectors.matrix import Matrix, Place, shape_of
from xtile.translate.core_to_vectors.plan import Plan, plan_of
from xtile.translate.core_to_xegpu.lowering import carried_type

_NOTHING: frozenset[SSAValue] = frozenset()

_LEAST_SIZE = 4
"""Bytes of the smallest components that a register is full of; smaller ones are widened."""


class Vectors(Emitter):
    """Rebuilds kernels so that one work-item does the work of a subgroup.

    Args:
        rules: What becomes of each operation.
        target: A chip with a vector unit.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    SPREADS_VECTORS: ClassVar[bool] = False

    def __init__(
        self,
        rules: RuleTable,
        target: LaneTarget,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, target, source, diagnostics)
        self.plan = Plan()
        self.block_size = (1, 1, 1)
        self._free: dict[tuple[Attribute, int], list[SSAValue]] = {}
        self._allocated = 0

    @property
    def vector_unit(self) -> VectorUnit:
        """The vector registers of the device."""
        unit = self.target.vector_unit
        assert unit is not None
        return unit

    def begin_function(self, function: FuncOp, matrices: frozenset[SSAValue]) -> None:
        """Forgets the private memory of the last kernel, and plans the next one."""
        if function.known_block_size is not None:
            x, y, z = function.known_block_size.get_values()
            self.block_size = (x, y, z)
        self.plan = plan_of(function, matrices)
        self._free = {}

    @property
    def subgroups(self) -> int:
        """The subgroups of a work-group in the source."""
        return -(-math.prod(self.block_size) // self.subgroup_size)

    def subgroup(self) -> Index:
        """The number of the subgroup whose work this work-item does."""
        if self.subgroups == 1:
            return 0

        def emit() -> SSAValue:
            result = self.emit(ThreadIdOp(Dimension.Y)).result
            result.name_hint = "subgroup"
            return result

        return self.shared("subgroup", (), emit)

    def spread_over_lanes(self, function: FuncOp, matrices: frozenset[SSAValue]) -> None:
        """Translates a kernel so that a work-item is a lane of a subgroup."""
        from xtile.translate.core_to_vectors.spreading import Spread

        lanes = Spread(function, matrices, self.target, self._source, self._diagnostics)
        lanes.globals = self.globals
        with lanes.at_end_of(self.block):
            lanes.translate(function)

    @override
    def translate(self, operation: Operation) -> None:
        super().translate(operation)
        self.release_after(operation)

    # --- values ---

    def is_matrix(self, old: SSAValue) -> bool:
        """Whether a vector of the source belongs to a subgroup."""
        return old in self.plan.matrices

    @override
    def types(self, type_: Attribute) -> list[Attribute]:
        if isa(type_, VectorType):
            element = self.component_type(type_)
            is_same = element == type_.element_type
            return [type_ if is_same else VectorType(element, type_.get_shape())]
        return super().types(type_)

    @override
    def value(self, old: SSAValue) -> SSAValue:
        meaning = self.meaning(old)
        if isinstance(meaning, Matrix):
            # A constant or a broadcast that a work-item uses.
            return meaning.piece(Place(0, 0, 0), meaning.count)
        return super().value(old)

    @override
    def values(self, old: Iterable[SSAValue]) -> list[SSAValue]:
        return [self.value(value) for value in old]

    @override
    def flat(self, old: Sequence[SSAValue]) -> list[SSAValue]:
        return self.values(old)

    @override
    def define_flat(self, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        for value, becomes in zip(old, new, strict=True):
            self.define(value, becomes)

    # --- matrices ---

    def matrix(self, old: SSAValue) -> Matrix:
        """What a matrix of the source has become."""
        meaning = self.meaning(old)
        if not isinstance(meaning, Matrix):
            raise self.error(f"a value of type {old.type} is not a matrix of a subgroup")
        return meaning

    def define_matrix(self, old: SSAValue, new: Matrix) -> None:
        """Records a new matrix, which is stored unless it is computed where it is used."""
        owner = old.owner
        if isinstance(owner, Operation) and owner in self.plan.deferred:
            self.define(old, new)
            return
        target = self.target_of(old)
        if target is None:
            target = self.allocate(new.element, new.count)
        self.store_matrix(new, target)
        self.define(old, self.stored(target, new.shape, new.element))

    def target_of(self, old: SSAValue) -> SSAValue | None:
        """The memory that a matrix must be stored in, if it is known before."""
        variable = self.plan.targets.get(old)
        return None if variable is None else self.matrix(variable).buffer

    def new_buffer(self, old: SSAValue) -> SSAValue:
        """Memory for a matrix of the source."""
        rows, columns = shape_of(old.type)
        return self.target_of(old) or self.allocate(self.component_type(old.type), rows * columns)

    def component_type(self, type_: Attribute) -> Attribute:
        """The type of a matrix's components as they are carried."""
        return carried_type(cast("VectorType[Attribute]", type_).element_type)

    def width_of(self, *elements: Attribute) -> int:
        """How many components a vector register holds; those of less than 4 bytes are widened."""
        sizes = (size_in_bytes(element) for element in elements)
        return self.vector_unit.bytes // max(_LEAST_SIZE, *sizes)

    def stored(self, buffer: SSAValue, shape: tuple[int, int], element: Attribute) -> Matrix:
        """The matrix that is in private memory."""

        def piece(place: Place, width: int) -> SSAValue:
            return self.load(buffer, [place.flat], width, element)

        return Matrix(
            shape,
            element,
            piece,
            is_flat=True,
            aligned=frozenset({buffer}),
            others=_NOTHING,
            width=self.width_of(element),
            buffer=buffer,
        )

    def splat(self, scalar: SSAValue, shape: tuple[int, int]) -> Matrix:
        """The matrix whose components are all the same."""

        def piece(place: Place, width: int) -> SSAValue:
            return self.broadcast(scalar, width)

        return Matrix(
            shape,
            scalar.type,
            piece,
            is_flat=True,
            aligned=_NOTHING,
            others=_NOTHING,
            width=self.width_of(scalar.type),
            scalar=scalar,
        )

    def computed(
        self,
        operands: Sequence[Matrix],
        element: Attribute,
        compute: Callable[[Place, int, list[SSAValue]], SSAValue],
        is_flat: bool = True,
    ) -> Matrix:
        """A matrix of which each component depends on those of the operands in its place."""

        def piece(place: Place, width: int) -> SSAValue:
            return compute(place, width, [operand.piece(place, width) for operand in operands])

        return Matrix(
            operands[0].shape,
            element,
            piece,
            is_flat=is_flat and all(operand.is_flat for operand in operands),
            aligned=_NOTHING.union(*(operand.aligned for operand in operands)),
            others=_NOTHING.union(*(operand.others for operand in operands)),
            width=min(self.width_of(element), *(operand.width for operand in operands)),
            cost=1 + sum(operand.cost for operand in operands),
        )

    def reshaped(self, matrix: Matrix, shape: tuple[int, int]) -> Matrix:
        """The same components, row by row, in another shape."""
        if not matrix.is_flat:
            matrix = self.in_memory(matrix)
        return replace(matrix, shape=shape)

    def in_memory(self, matrix: Matrix) -> Matrix:
        """The same matrix in private memory, which is kept until the kernel ends."""
        if matrix.buffer is not None:
            return matrix
        buffer = self.allocate(matrix.element, matrix.count)
        self.store_matrix(matrix, buffer)
        return self.stored(buffer, matrix.shape, matrix.element)

    # --- private memory ---

    def allocate(self, element: Attribute, count: int) -> SSAValue:
        """Private memory that nobody uses."""
        element = i8 if element == i1 else element
        free = self._free.get((element, count))
        if free:
            return free.pop()
        self._allocated += 1
        return self.shared(("buffer", self._allocated), (), lambda: self._alloca(element, count))

    def _alloca(self, element: Attribute, count: int) -> SSAValue:
        alignment = self.vector_unit.bytes
        operation = memref.AllocaOp.get(element, alignment, [count])
        result = self.emit(operation).memref
        result.name_hint = "buffer"
        return result

    def free(self, buffer: SSAValue) -> None:
        """Gives private memory back."""
        type_ = cast("MemRefType[Attribute]", buffer.type)
        self._free.setdefault((type_.element_type, type_.get_shape()[0]), []).append(buffer)

    @contextmanager
    def temporary(self, matrix: Matrix) -> Generator[Matrix]:
        """The matrix in private memory, for a while."""
        made = self.in_memory(matrix)
        yield made
        if made is not matrix and made.buffer is not None:
            self.free(made.buffer)

    def release_after(self, operation: Operation) -> None:
        """Gives the memory of those matrices back that nobody needs any more."""
        for old in self.plan.released.get(operation, ()):
            # A loop's variables have the memory of its results.
            owner = old.owner
            if not isinstance(owner, Operation) or is_view(owner) or old in self.plan.targets:
                continue
            meaning = self._values.get(old)
            if isinstance(meaning, Matrix) and meaning.buffer is not None:
                self.free(meaning.buffer)

    # --- going through matrices ---

    def store_matrix(self, matrix: Matrix, buffer: SSAValue) -> None:
        """Stores all components in private memory, row by row."""
        if matrix.buffer is buffer:
            return
        self.each_piece(
            matrix,
            lambda place, width: self.store(matrix.piece(place, width), buffer, [place.flat]),
        )

    def each_piece(self, matrix: Matrix, emit: Callable[[Place, int], None]) -> None:
        """Goes through the components of a matrix, as many at once as it likes."""
        if matrix.is_flat:
            self.cover(matrix.count, matrix.width, lambda at, n: emit(Place(at, 0, at), n))
            return
        with self.loop(0, matrix.shape[0], name="row") as row:
            self.each_piece_of_row(matrix, row, emit)

    def each_piece_of_row(
        self, matrix: Matrix, row: Index, emit: Callable[[Place, int], None]
    ) -> None:
        """Goes through the components of one row."""
        columns = matrix.shape[1]
        start = self.multiply(row, columns)
        self.cover(
            columns, matrix.width, lambda at, n: emit(Place(self.add(start, at), row, at), n)
        )
