"""What the rules share: private memory, loops over components, and the parts of matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects import arith, scf, vector
from xdsl.dialects.builtin import BoolAttr, ComplexType, IndexType, IntegerType, MemRefType, VectorType, i1, i8
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.backends.intel.devices import Device, VectorUnit
from xtile.dialects.arith.casts import ExtUIOp, TruncIOp
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.indices import ThreadIdOp
from xtile.dialects.memref import access, allocation
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.distribute.overlap import size_in_bytes
from xtile.translate.core_to_vectors.kinds import is_view
from xtile.translate.core_to_vectors.matrix import Matrix, Place, shape_of
from xtile.translate.core_to_vectors.plan import Plan, plan_of
from xtile.translate.core_to_xegpu.lowering import Lowering, Number, carried_type
from xtile.translate.rule import Rule

UNROLL_ATTRIBUTE = "core.unroll"
"""The attribute of a loop that says whether to unroll it."""


class Vectors(Lowering):
    """Rebuilds kernels so that one work-item does the work of a subgroup.

    Args:
        rules: The rule of each operation, by the operation's name. Others are copied.
        device: A device with a vector unit.
        source: The text of the kernel, for messages.
        diagnostics: Where remarks go; None drops them.
    """

    def __init__(
        self,
        rules: dict[str, Rule],
        device: Device,
        source: Source | None,
        diagnostics: Diagnostics | None,
    ) -> None:
        super().__init__(rules, device, source, diagnostics)
        self.plan = Plan()
        self.block_size = (1, 1, 1)
        self._free: dict[tuple[Attribute, int], list[SSAValue]] = {}
        self._allocated = 0

    @property
    def vector_unit(self) -> VectorUnit:
        """The vector registers of the device."""
        unit = self.device.vector_unit
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

    def subgroup(self) -> Number:
        """The number of the subgroup whose work this work-item does."""
        if self.subgroups == 1:
            return 0

        def emit() -> SSAValue:
            result = self.emit(ThreadIdOp(Dimension.Y)).result
            result.name_hint = "subgroup"
            return result

        return self.shared("subgroup", (), emit)

    def spread_over_lanes(self, function: FuncOp) -> None:
        """Translates a kernel so that a work-item is a lane of a subgroup."""
        from xtile.translate.core_to_xegpu import rules_of

        lanes = Lowering(rules_of(function), self.device, self._source, self._diagnostics)
        lanes.globals = self.globals
        with lanes.at_end_of(self.block):
            lanes.translate(function)

    @override
    def rule_of(self, operation: Operation) -> Rule:
        from xtile.translate.core_to_vectors.elementwise import copy_or_compute

        return self._rules_by_name.get(operation.name, copy_or_compute)

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
        if isinstance(type_, VectorType):
            return [VectorType(self.component_type(type_), type_.get_shape())]
        return super().types(type_)

    @override
    def define_flat(self, old: Sequence[SSAValue], new: Sequence[SSAValue]) -> None:
        remaining = list(new)
        for value in old:
            count = len(self.types(value.type))
            own, remaining = remaining[:count], remaining[count:]
            self.define(value, tuple(own) if isinstance(value.type, ComplexType) else own[0])

    @override
    def value(self, old: SSAValue) -> SSAValue:
        meaning = self.meaning(old)
        if isinstance(meaning, Matrix):
            # A constant or a broadcast that a work-item uses.
            return meaning.piece(Place(0, 0, 0), meaning.count)
        return super().value(old)

    @override
    def flat(self, old: Sequence[SSAValue]) -> list[SSAValue]:
        result: list[SSAValue] = []
        for value in old:
            if isinstance(value.type, VectorType):
                result.append(self.value(value))
            else:
                result += super().flat([value])
        return result

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
        bytes_ = max(4, *(8 if isinstance(e, IndexType) else _size(e) for e in elements))
        return self.vector_unit.bytes // bytes_

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
            others=frozenset(),
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
            aligned=frozenset(),
            others=frozenset(),
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
            aligned=frozenset().union(*(operand.aligned for operand in operands)),
            others=frozenset().union(*(operand.others for operand in operands)),
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
        operation = allocation.AllocaOp.get(element, alignment, [count])
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

    # --- accesses ---

    def load(
        self, memory: SSAValue, indices: Sequence[Number], width: int, element: Attribute
    ) -> SSAValue:
        """Neighbouring elements of memory: a vector, or a scalar for one element."""
        places = [self.as_value(index) for index in indices]
        type_ = cast("MemRefType[Attribute]", memory.type).element_type
        if width == 1:
            load = access.LoadOp.build(operands=[memory, places], result_types=[type_])
            value = self.emit(load).results[0]
        else:
            value = self.emit(_vector_load(memory, places, VectorType(type_, [width]))).results[0]
        if element == i1 and type_ == i8:
            return self.emit(TruncIOp(value, cast("Any", _like(value, i1)))).result
        return value

    def store(self, value: SSAValue, memory: SSAValue, indices: Sequence[Number]) -> None:
        """Stores a vector, or a scalar, in neighbouring elements of memory."""
        places = [self.as_value(index) for index in indices]
        type_ = cast("MemRefType[Attribute]", memory.type).element_type
        if type_ == i8 and _element(value) == i1:
            value = self.emit(ExtUIOp(value, cast("Any", _like(value, i8)))).result
        if isinstance(value.type, VectorType):
            self.emit(vector.StoreOp.build(operands=[value, memory, places]))
        else:
            self.emit(access.StoreOp.build(operands=[value, memory, places]))

    def broadcast(self, scalar: SSAValue, width: int) -> SSAValue:
        """The vector of equal scalars, as far out as the scalar is known."""
        if width == 1:
            return scalar
        type_ = VectorType(scalar.type, [width])
        owner = scalar.owner
        if isinstance(owner, arith.ConstantOp):
            return self.constant(cast("Any", owner.value).value.data, type_)
        return self.shared(
            ("broadcast", scalar, type_),
            (scalar,),
            lambda: self.emit(vector.BroadcastOp(scalar, type_)).results[0],
        )

    # --- going through matrices ---

    def store_matrix(self, matrix: Matrix, buffer: SSAValue) -> None:
        """Stores all components in private memory, row by row."""
        if matrix.buffer is buffer:
            return
        self.each_piece(
            matrix, lambda place, width: self.store(matrix.piece(place, width), buffer, [place.flat])
        )

    def each_piece(self, matrix: Matrix, emit: Callable[[Place, int], None]) -> None:
        """Goes through the components of a matrix, as many at once as it likes."""
        if matrix.is_flat:
            self.cover(matrix.count, matrix.width, lambda at, n: emit(Place(at, 0, at), n))
            return
        with self.loop(0, matrix.shape[0], name="row") as row:
            self.each_piece_of_row(matrix, row, emit)

    def each_piece_of_row(
        self, matrix: Matrix, row: Number, emit: Callable[[Place, int], None]
    ) -> None:
        """Goes through the components of one row."""
        columns = matrix.shape[1]
        start = self.multiply(row, columns)
        self.cover(
            columns, matrix.width, lambda at, n: emit(Place(self.add(start, at), row, at), n)
        )

    def cover(self, count: int, width: int, emit: Callable[[Number, int], None]) -> None:
        """Goes through `count` components in pieces of `width`, and of less at the end."""
        whole = count - count % width
        if whole:
            with self.loop(0, whole, width, name="at") as at:
                emit(at, width)
        for start, length in rests(whole, count, width):
            emit(start, length)

    @contextmanager
    def loop(
        self, start: Number, stop: Number, step: int = 1, name: str = "i"
    ) -> Generator[Number]:
        """A loop that stays one; what runs once for certain is no loop."""
        with self.carrying_loop(start, stop, (), step, name) as (index, _, _):
            yield index

    @contextmanager
    def carrying_loop(
        self,
        start: Number,
        stop: Number,
        initial: Sequence[SSAValue],
        step: int = 1,
        name: str = "i",
    ) -> Generator[tuple[Number, Sequence[SSAValue], list[SSAValue]]]:
        """A loop with values that are handed on.

        Yields the variable, the values of the last iteration, and a list to put the next ones in,
        which afterwards holds the results.
        """
        if isinstance(start, int) and isinstance(stop, int) and start < stop <= start + step:
            results: list[SSAValue] = []
            yield start, initial, results
            return
        block = Block(arg_types=[IndexType(), *(value.type for value in initial)])
        block.args[0].name_hint = name
        if isinstance(start, int) and start >= 0:
            self.facts.assume(block.args[0], step if start == 0 else 1, True)
        results = []
        with self.at_end_of(block):
            yield block.args[0], block.args[1:], results
            self.emit(scf.YieldOp(*results))
        bounds = (self.as_value(start), self.as_value(stop), self.index(step))
        loop = scf.ForOp(*bounds, initial, Region([block]))
        loop.attributes[UNROLL_ATTRIBUTE] = BoolAttr.from_bool(False)
        results[:] = self.emit(loop).results

    @contextmanager
    def when(self, condition: SSAValue | None) -> Generator[None]:
        """What is only done where a condition holds; None always does."""
        if condition is None:
            yield
            return
        block = Block()
        with self.at_end_of(block):
            yield
            self.emit(scf.YieldOp())
        self.emit(scf.IfOp(condition, [], Region([block])))

    def either(
        self,
        condition: SSAValue | None,
        then: Callable[[], None],
        otherwise: Callable[[], None],
    ) -> None:
        """Does one of two things; without a condition the first."""
        if condition is None:
            then()
            return
        regions: list[Region] = []
        for emit in (then, otherwise):
            block = Block()
            with self.at_end_of(block):
                emit()
                self.emit(scf.YieldOp())
            regions.append(Region([block]))
        self.emit(scf.IfOp(condition, [], *regions))

    # --- integers ---

    def subtract(self, a: Number, b: Number) -> Number:
        """The difference of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        return a if b == 0 else self._shared_binary(arith.SubiOp, a, b)

    def smaller(self, a: Number, b: Number) -> Number:
        """The smaller one of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return self._shared_binary(arith.MinSIOp, a, b)

    def larger(self, a: Number, b: Number) -> Number:
        """The larger one of two indices."""
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return self._shared_binary(arith.MaxSIOp, a, b)

    def is_at_least(self, a: Number, b: Number) -> SSAValue:
        """Whether an index is not smaller than another one."""
        return self._compare("sge", a, b)


def rests(first: int, last: int, width: int) -> list[tuple[int, int]]:
    """Where the pieces begin that cover the numbers from `first` to `last`, and their lengths."""
    result: list[tuple[int, int]] = []
    while first < last:
        while width > last - first:
            width //= 2
        result.append((first, width))
        first += width
    return result


def _vector_load(memory: SSAValue, indices: list[SSAValue], type_: Attribute) -> Operation:
    return vector.LoadOp.build(operands=[memory, indices], result_types=[type_])


def _element(value: SSAValue) -> Attribute:
    type_ = value.type
    return cast("VectorType[Attribute]", type_).element_type if isinstance(type_, VectorType) else type_


def _like(value: SSAValue, element: Attribute) -> Attribute:
    if isinstance(value.type, VectorType):
        return VectorType(element, cast("VectorType[Attribute]", value.type).get_shape())
    return element


def _size(element: Attribute) -> int:
    if isinstance(element, IntegerType) and element.width.data == 1:
        return 1
    return size_in_bytes(element)
