"""`core.map`, whose region is executed on whole vectors: numbers become vectors, branches masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, VectorType, i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.core.subgroup import MapOp, YieldOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.effects import differs_between_lanes, may_fail
from xtile.dialects.memory_orders import ordering_of
from xtile.rewrite.facts import only_origin
from xtile.rewrite.rebuilder import Rule, again
from xtile.text.source import spelling_of
from xtile.translate.tiles_to_xegpu import points
from xtile.translate.tiles_to_xegpu.control import handed_on
from xtile.translate.tiles_to_xegpu.lowering import ONE_BASE, Lowering, bytes_of
from xtile.translate.tiles_to_xegpu.memory import line_of, type_of


def _map(operation: MapOp, lowering: Lowering) -> None:
    made = _OnVectors(operation, lowering).run(operation.body.block)
    for result, value in zip(operation.mapped, made, strict=True):
        lowering.define(result, value)


_SAME_ADDRESS = frozenset(
    {"core.integer_to_pointer", "core.pointer_cast", "core.pointer_to_integer"}
)
"""Operations that call an address otherwise."""


class _OnVectors:
    """A region on the numbers of an element, executed on vectors with those of all elements.

    Args:
        operation: The map.
        lowering: Where to emit.
    """

    def __init__(self, operation: MapOp, lowering: Lowering) -> None:
        self._operation = operation
        self._lowering = lowering
        self._shape = cast("VectorType[Attribute]", operation.sources[0].type).get_shape()
        self._mask: SSAValue | None = None
        row, column, *values = operation.body.block.args
        self._values: dict[SSAValue, SSAValue] = {}
        self._values.update(zip(values, lowering.values(operation.sources), strict=True))
        for axis, index in enumerate((row, column)[: len(self._shape)]):
            if index.first_use is not None:
                self._values[index] = self._indices(axis)
        if len(self._shape) == 1 and column.first_use is not None:
            self._values[column] = lowering.constant(0, self._vector_of(IndexType()))

    def _indices(self, axis: int) -> SSAValue:
        step = self._lowering.step
        return self._lowering.line(self._shape, axis, lambda: step(self._shape[axis]))

    def run(self, block: Block) -> list[SSAValue]:
        """What a block yields."""
        for operation in block.ops:
            if isinstance(operation, YieldOp | scf.YieldOp):
                return [self._vector(operand) for operand in operation.operands]
            self._execute(operation)
        return []

    def _execute(self, operation: Operation) -> None:
        match operation.name:
            case "scf.if":
                self._branch(cast(scf.IfOp, operation))
            case "memref.load":
                self._load(operation)
            case "memref.store":
                self._store(operation)
            case "memref.atomic_rmw":
                self._update(operation)
            case name if name in _SAME_ADDRESS and self._differs(operation.operands[0]):
                # A pointer of each element is its address.
                self._values[operation.results[0]] = self._vector(operation.operands[0])
            case "core.view" if self._differs(operation.operands[0]):
                self._check_view(cast(ViewOp, operation))
            case _ if not any(map(self._differs, operation.operands)):
                self._lowering.translate(operation)
            case _:
                self._compute(operation)

    def _differs(self, value: SSAValue) -> bool:
        """Whether a value is one of each element."""
        return value in self._values

    # --- numbers ---

    def _vector_of(self, element: Attribute) -> VectorType[Any]:
        return VectorType(self._lowering.type_of(element), self._shape)

    def _vector(self, value: SSAValue) -> SSAValue:
        """What a value is for each element.

        Raises:
            DiagnosticError: It is a work-item's, who holds some elements, but nobody knows which.
        """
        if value in self._values:
            return self._values[value]
        if _is_of_lane(value, set()):
            raise self._lowering.error(
                "the region of core.map computes with a number that differs between the "
                "work-items of a subgroup, and only lanes know which elements are theirs; ask "
                "for level lane"
            )
        return self._lowering.spread(self._lowering.value(value), self._shape)

    def _compute(self, operation: Operation) -> None:
        lowering = self._lowering
        if operation.dialect_name() not in ("arith", "math") or operation.regions:
            raise lowering.error(
                f"{spelling_of(operation)} cannot be computed for many elements at once, as the "
                "region of core.map is in XeGPU",
                operation,
            )
        operands = [self._vector(operand) for operand in operation.operands]
        if may_fail(operation) and self._mask is not None:
            # Where the branch is not taken the divisor may be 0.
            one = lowering.constant(1, operands[1].type)
            operands[1] = lowering.emit(SelectOp(self._mask, operands[1], one)).result
        made = again(
            operation, operands, [self._vector_of(result.type) for result in operation.results]
        )
        lowering.emit(made)
        self._values |= zip(operation.results, made.results, strict=True)

    # --- branches ---

    def _branch(self, operation: scf.IfOp) -> None:
        """Both branches, each for the elements that take it."""
        condition = self._vector(operation.cond)
        made = [self._run_under(condition, operation.true_region.block)]
        if operation.false_region.blocks:
            made.append(self._run_under(self._not(condition), operation.false_region.block))
        for result, a, b in zip(operation.results, *made, strict=True) if operation.results else ():
            chosen = self._lowering.emit(SelectOp(condition, a, b)).result
            self._values[result] = chosen

    def _run_under(self, condition: SSAValue, block: Block) -> list[SSAValue]:
        before, self._mask = self._mask, self._both(self._mask, condition)
        made = self.run(block)
        self._mask = before
        return made

    def _both(self, a: SSAValue | None, b: SSAValue) -> SSAValue:
        return b if a is None else self._lowering.emit(arith.AndIOp(a, b)).result

    def _not(self, condition: SSAValue) -> SSAValue:
        true = self._lowering.constant(1, condition.type)
        return self._lowering.emit(arith.XOrIOp(condition, true)).result

    # --- memory ---

    def _check_view(self, operation: ViewOp) -> None:
        """Checks that a view of each element's own pointer is the element that it points to."""
        if type_of(operation.result).get_shape() != (1,):
            raise self._lowering.error(
                "XeGPU's loads and stores have one base, but this memory is one of each element",
                operation,
            )

    def _access(self, memory: SSAValue, indices: Sequence[SSAValue]) -> points.Access:
        """The element of memory of each element."""
        lowering = self._lowering
        mask = self._mask or lowering.constant(1, self._vector_of(i1))
        owner = memory.owner
        if isinstance(owner, ViewOp) and self._differs(owner.pointer):
            return self._behind(owner.pointer, type_of(memory).element_type, mask)
        found = lowering.memory(memory)
        at = [self._values[i] if self._differs(i) else self._uniform(i) for i in indices]
        offsets = points.offsets_in(lowering, found, at, self._shape)
        return points.Access(line_of(lowering, found), offsets, mask, found.element)

    def _uniform(self, index: SSAValue) -> SSAValue:
        """An index that all elements have; a work-item's own is none."""
        return self._vector(index) if _is_of_lane(index, set()) else self._lowering.value(index)

    def _behind(self, pointer: SSAValue, element: Attribute, mask: SSAValue) -> points.Access:
        """The elements at addresses, counted from the pointer that these are made of."""
        lowering, addresses = self._lowering, self._values[pointer]
        origin = only_origin(self._given(pointer), _sources_of_address)
        if origin is None:
            raise lowering.error(ONE_BASE)
        base = lowering.value(origin)
        distances = lowering.emit(
            arith.SubiOp(addresses, lowering.spread(base, self._shape))
        ).result
        size = lowering.constant(bytes_of(element), addresses.type)
        numbers = lowering.emit(arith.DivSIOp(distances, size)).result
        return points.Access(base, lowering.as_indices(numbers), mask, element)

    def _given(self, value: SSAValue) -> SSAValue:
        """The vector of the source whose elements are a value of the region."""
        while isinstance(value.owner, Operation) and value.owner.name in _SAME_ADDRESS:
            value = value.owner.operands[0]
        arguments = self._operation.body.block.args[2:]
        given = dict[SSAValue, SSAValue](zip(arguments, self._operation.sources, strict=True))
        return given.get(value, value)

    def _load(self, operation: Operation) -> None:
        memory, *indices = operation.operands
        loaded = points.load(self._lowering, self._access(memory, indices))
        self._values[operation.results[0]] = loaded

    def _store(self, operation: Operation) -> None:
        value, memory, *indices = operation.operands
        access = self._access(memory, indices)
        points.store(self._lowering, self._vector(value), access)

    def _update(self, operation: Operation) -> None:
        value, memory, *indices = operation.operands
        kind = kind_of(operation.properties["kind"])
        access = self._access(memory, indices)
        ordering = ordering_of(operation)
        old = points.update(self._lowering, kind, self._vector(value), access, ordering)
        self._values[operation.results[0]] = old


_OF_FIRST = frozenset({"core.assume", "vector.broadcast", "vector.shape_cast", "vector.transpose"})
"""Operations whose addresses are those of their first operand."""


def _sources_of_address(value: SSAValue) -> list[SSAValue] | None:
    """The values that addresses are made of; none for the address of a pointer."""
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in ("arith.addi", *_OF_FIRST, _ADDRESS):
        return handed_on(value)
    if owner.name == _ADDRESS:
        return []
    if owner.name in _OF_FIRST:
        return [owner.operands[0]]
    return [each for each in owner.operands if _is_address(each, set())] or None


_ADDRESS = "core.pointer_to_integer"


def _is_address(value: SSAValue, seen: set[SSAValue]) -> bool:
    """Whether a value is an address, and not a distance between some."""
    if value in seen:
        return False
    seen.add(value)
    sources = _sources_of_address(value)
    return sources == [] or any(_is_address(each, seen) for each in sources or ())


def _is_of_lane(value: SSAValue, seen: set[SSAValue]) -> bool:
    """Whether the lanes of a subgroup may have different numbers for a value."""
    if value in seen:
        return False
    seen.add(value)
    owner = value.owner
    if isinstance(value, BlockArgument):
        around = value.block.parent_op()
        if around is None or around.name == "gpu.func":
            return False
        owner = around
    assert isinstance(owner, Operation)
    if differs_between_lanes(owner):
        return True
    ends = [block.last_op for region in owner.regions for block in region.blocks]
    handed = [operand for end in ends if end is not None for operand in end.operands]
    return any(_is_of_lane(each, seen) for each in (*owner.operands, *handed))


RULES: dict[str, Rule] = {MapOp.name: _map}
"""The rule of each operation, by name."""
