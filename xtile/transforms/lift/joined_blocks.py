"""Joins matrices that a subgroup has side by side, so that several products are one.

Matrix units have small matrices: a subgroup holds a large one as a grid of them, and multiplies
each row of A's with each column of B's. From what it writes, such a grid is traced back through
arithmetic, loops, branches and products to what it reads. Where nothing else needs its matrices,
each grid becomes one matrix, also where lanes hold the parts (XeGPU of lanes).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    VectorType,
)
from xdsl.dialects.vector import BroadcastOp, TransferReadOp, TransferWriteOp
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    OpResult,
    Region,
    SSAValue,
    Use,
)
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp, product_of_matrices
from xtile.dialects.walk import walk
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.rewrite.contractions import MATMUL, iteration_maps
from xtile.rewrite.kernels import rebuilt
from xtile.rewrite.rebuilder import RuleTable, again, copy
from xtile.rewrite.tile_emitter import TileEmitter, shape_of
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source
from xtile.transforms.lift.block_accesses import BlockAccess, access_of, is_undisturbed
from xtile.transforms.lift.blocks_of_lanes import Table, described_memory, tables_of_product

_ARITHMETIC = frozenset({"arith", "math"})

_BOUNDS = 3
"""The operands of a loop in front of the values that it carries."""


def join_blocks(
    kernel: FuncOp, lanes: int, source: Source | None, diagnostics: Diagnostics | None
) -> FuncOp:
    """Returns a kernel with larger matrices of subgroups, or the kernel itself.

    Args:
        kernel: A kernel of subgroups or lanes; it is not changed.
        lanes: The lanes of a subgroup.
        source: The text of the kernel, for remarks.
        diagnostics: Where remarks go; None drops them.
    """
    plan = _planned(kernel, lanes)
    if plan is None:
        return kernel
    return rebuilt(kernel, _Joining(plan, source, diagnostics))


# --- what becomes one ---


@dataclass(frozen=True)
class _Grid:
    """Matrices of one shape that lie side by side.

    Attributes:
        values: They, row by row.
        shape: Rows and columns of each.
        table: Which element of it each entry of each lane is; None where the values are matrices.
    """

    values: tuple[tuple[SSAValue, ...], ...]
    shape: tuple[int, int]
    table: Table | None

    @property
    def type(self) -> VectorType:
        """The type of the matrix that they are together."""
        rows, columns = len(self.values), len(self.values[0])
        shape = [rows * self.shape[0], columns * self.shape[1]]
        return VectorType(value_type(self.values[0][0].type), shape)

    def of(self, choose: Callable[[SSAValue], SSAValue]) -> _Grid:
        """Other values in the same places."""
        values = tuple(tuple(map(choose, row)) for row in self.values)
        return _Grid(values, self.shape, self.table)

    @property
    def all(self) -> Iterator[SSAValue]:
        """The values."""
        for row in self.values:
            yield from row


Emit: TypeAlias = "Callable[[_Joining], SSAValue]"
"""Emits what a grid becomes."""


@dataclass(frozen=True)
class _Carried:
    """A grid that a loop carries or a branch gives.

    Attributes:
        numbers: Which results these are.
        result: The grid after it.
        argument: In a loop the grid at the beginning of a turn.
        initial: In a loop the grid before it.
        yielded: The grid at the end of each region.
    """

    numbers: frozenset[int]
    result: _Grid
    argument: _Grid | None
    initial: _Grid | None
    yielded: tuple[_Grid, ...]


@dataclass
class _Plan:
    """Grids, and what becomes of them.

    Attributes:
        lanes: The lanes of a subgroup.
        known: The grids, with what emits them where they are used; None where that is done at the
            last of their operations.
        at: What is emitted at an operation: the last one of those that it replaces.
        members: The operations that are replaced.
        reads: Those of them that may stay.
        carried: What loops and branches carry.
        products: How many products become one, at most.
    """

    lanes: int
    known: dict[_Grid, Emit | None] = field(default_factory=dict["_Grid", "Emit | None"])
    at: dict[Operation, list[Callable[[_Joining], None]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    members: set[Operation] = field(default_factory=set[Operation])
    reads: set[Operation] = field(default_factory=set[Operation])
    carried: dict[Operation, list[_Carried]] = field(default_factory=lambda: defaultdict(list))
    products: int = 0

    # --- grids ---

    def has(self, grid: _Grid) -> bool:
        """Whether a grid can become one matrix; then it is planned."""
        if grid in self.known:
            return True
        owner = grid.values[0][0].owner
        if isinstance(owner, Block):
            return self._is_carried(grid, owner.parent_op())
        match owner.name:
            case "arith.constant":
                return self._is_constant(grid)
            case "scf.for" | "scf.if":
                return self._is_carried(grid, owner)
            case "vector.broadcast":
                return self._is_spread(grid)
            case "vector.contract" | "xegpu.dpas":
                return self._is_product(grid)
            case "vector.transfer_read" | "xegpu.load_nd":
                return self._is_read(grid)
            case _:
                return self._is_elementwise(grid)

    def _once(self, grid: _Grid, operations: Sequence[Operation], emit: Emit) -> bool:
        """Plans what is done at the last of some operations of one block."""
        block = operations[0].parent
        if block is None or any(each.parent is not block for each in operations):
            return False
        self.known[grid] = None
        self.members.update(operations)
        last = max(operations, key=block.get_operation_index)

        def keep(joining: _Joining) -> None:
            joining.made[grid] = emit(joining)

        self.at[last].append(keep)
        return True

    def _is_constant(self, grid: _Grid) -> bool:
        numbers: set[str] = set()
        for value in grid.all:
            attribute = cast(Operation, value.owner).properties.get("value")
            if not isinstance(value.owner, ConstantOp) or not isinstance(
                attribute, DenseIntOrFPElementsAttr
            ):
                return False
            numbers |= set(map(repr, attribute.get_values()))
        if len(numbers) != 1:
            return False
        (number, *_) = cast(
            "DenseIntOrFPElementsAttr", cast(ConstantOp, grid.values[0][0].owner).value
        ).get_values()
        type_ = grid.type
        self.known[grid] = lambda joining: joining.splat(cast(float, number), type_)
        return True

    def _is_spread(self, grid: _Grid) -> bool:
        owners = [value.owner for value in grid.all]
        sources = [each.source for each in owners if isinstance(each, BroadcastOp)]
        if len(sources) != len(owners) or len(set(map(_known_number, sources))) != 1:
            return False
        source = sources[0]
        shape = shape_of(grid.type)
        self.known[grid] = lambda joining: joining.spread(joining.value(source), shape)
        return not isinstance(source.type, VectorType)

    def _is_elementwise(self, grid: _Grid) -> bool:
        operations = _alike(grid)
        if operations is None or not _is_arithmetic(operations[0]):
            return False
        first = operations[0]
        vector = shape_of(first.results[0].type)
        is_plain = len(first.results) == 1 and not first.regions and bool(first.operands)
        if not is_plain or any(shape_of(each.type) != vector for each in first.operands):
            return False
        operands = [
            grid.of(lambda value, i=i: cast(Operation, value.owner).operands[i])
            for i in range(len(first.operands))
        ]
        if not all(map(self.has, operands)):
            return False
        type_ = grid.type

        def emit(joining: _Joining) -> SSAValue:
            new = again(first, list(map(joining.whole, operands)), [type_])
            return joining.emit(new).results[0]

        return self._once(grid, operations, emit)

    def _is_product(self, grid: _Grid) -> bool:
        operations = _alike(grid)
        parts = None if operations is None else self._factors(operations[0], grid)
        if operations is None or parts is None or len(set(operations)) != len(operations):
            return False
        (left_shape, left), (right_shape, right) = parts
        rows = grid.of(lambda value: cast(Operation, value.owner).operands[0]).values
        columns = grid.of(lambda value: cast(Operation, value.owner).operands[1]).values
        shares = all(len(set(row)) == 1 for row in rows)
        if not shares or any(row != columns[0] for row in columns):
            return False
        lhs = _Grid(tuple((row[0],) for row in rows), left_shape, left)
        rhs = _Grid((columns[0],), right_shape, right)
        sums = None
        if len(operations[0].operands) > 2:
            sums = grid.of(lambda value: cast(Operation, value.owner).operands[2])
        if not all(self.has(each) for each in (lhs, rhs, sums) if each is not None):
            return False
        attributes, type_ = operations[0].attributes, grid.type

        def emit(joining: _Joining) -> SSAValue:
            start = joining.splat(0, type_) if sums is None else joining.whole(sums)
            product = product_of_matrices(joining.whole(lhs), joining.whole(rhs), start)
            product.attributes |= attributes
            return joining.emit(product).result

        self.products = max(self.products, len(operations))
        return self._once(grid, operations, emit)

    def _factors(
        self, product: Operation, grid: _Grid
    ) -> tuple[tuple[tuple[int, int], Table | None], ...] | None:
        """The shapes and the tables of the factors of a product whose results are a grid."""
        rows, columns = grid.shape
        if isinstance(product, DpasOp) and product.is_for_lane and grid.table is not None:
            depth = shape_of(product.rhs.type)[0]
            left, right, sums = tables_of_product(product, self.lanes)
            factors = ((rows, depth), left), ((depth, columns), right)
            return factors if sums == grid.table else None
        if isinstance(product, ContractionOp) and grid.table is None:
            (depth, *more) = shape_of(product.rhs.type)
            if iteration_maps(product) == MATMUL and len(more) == 1:
                return ((rows, depth), None), ((depth, columns), None)
        return None

    def _is_read(self, grid: _Grid) -> bool:
        operations = _alike(grid)
        accesses = None if operations is None else self._side_by_side(grid, operations)
        if operations is None or accesses is None:
            return False
        first, inside, type_ = accesses[0], _inside(accesses), grid.type

        def emit(joining: _Joining) -> SSAValue:
            at = [joining.index_of(each) for each in first.indices]
            zero = joining.constant(0, type_.element_type)
            read = TransferReadOp(
                joining.memory_of(first),
                at,
                zero,
                type_,
                truth_attribute(inside),
                _map_of(first),
            )
            return joining.emit(read).result

        self.reads.update(operations)
        return self._once(grid, operations, emit)

    def _side_by_side(
        self, grid: _Grid, operations: Sequence[Operation]
    ) -> Sequence[BlockAccess] | None:
        """How some accesses of a grid are done, if they can be one."""
        accesses = [access_of(operation, self.lanes) for operation in operations]
        known = [each for each in accesses if each is not None]
        if len(known) != len(operations):
            return None
        columns, first = len(grid.values[0]), known[0]
        for number, access in enumerate(known):
            row, column = divmod(number, columns)
            there = list(first.position)
            moved = (row * grid.shape[0], column * grid.shape[1])
            for dimension, distance in zip(first.along, moved, strict=True):
                base, start = there[dimension]
                there[dimension] = base, start + distance
            is_alike = access.region == first.region and access.along == first.along
            is_alike &= access.table == grid.table and access.shape == grid.shape
            if not is_alike or list(access.position) != there:
                return None
        is_read = bool(operations[0].results)
        return known if is_undisturbed(operations, first.memory, is_read=is_read) else None

    # --- loops and branches ---

    def _is_carried(self, grid: _Grid, operation: Operation | None) -> bool:
        if not isinstance(operation, scf.ForOp | scf.IfOp):
            return False
        numbers = [_number_in(operation, value) for value in grid.all]
        known = [number for number in numbers if number is not None]
        if len(set(known)) != len(numbers):
            return False
        places = dict(zip(grid.all, known, strict=True))

        def grid_of(values: Sequence[SSAValue]) -> _Grid:
            return grid.of(lambda value: values[places[value]])

        ends = [region.block.last_op for region in operation.regions if region.blocks]
        yielded = [grid_of(end.operands) for end in ends if isinstance(end, scf.YieldOp)]
        result, argument, initial = grid_of(operation.results), None, None
        if isinstance(operation, scf.ForOp):
            argument = grid_of(operation.body.block.args[1:])
            initial = grid_of(operation.iter_args)
            self.known[argument] = None
        self.known[result] = None
        carried = _Carried(frozenset(known), result, argument, initial, tuple(yielded))
        if any(carried.numbers & each.numbers for each in self.carried[operation]):
            return False
        self.carried[operation].append(carried)
        needed = [each for each in (initial, *yielded) if each is not None]
        return all(map(self.has, needed))

    # --- writes ---

    def writes(self, grid: _Grid, operations: Sequence[Operation]) -> bool:
        """Whether writes of a grid can become one; then it is planned."""
        accesses = self._side_by_side(grid, operations)
        if accesses is None or not self.has(grid):
            return False
        first, inside = accesses[0], _inside(accesses)

        def emit(joining: _Joining) -> None:
            at = [joining.index_of(each) for each in first.indices]
            write = TransferWriteOp(
                joining.whole(grid),
                joining.memory_of(first),
                at,
                truth_attribute(inside),
                None,
                permutation_map=_map_of(first),
            )
            joining.emit(write)
            joining.remark("matrices side by side are computed and written as one")

        block = operations[0].parent
        assert block is not None
        self.members.update(operations)
        self.at[max(operations, key=block.get_operation_index)].append(emit)
        return True

    @property
    def is_closed(self) -> bool:
        """Whether nothing but grids needs what no longer is there."""
        made = [value for each in self.members - self.reads for value in each.results]
        for operation, carried in self.carried.items():
            numbers = {number for each in carried for number in each.numbers}
            values: list[SSAValue] = list(operation.results)
            if isinstance(operation, scf.ForOp):
                values += operation.body.block.args[1:]
            count = len(operation.results)
            made += [value for i, value in enumerate(values) if i % count in numbers]
        return all(self._is_replaced(use) for value in made for use in value.uses)

    def _is_replaced(self, use: Use) -> bool:
        user, number = use.operation, use.index
        if user in self.members:
            return True
        around = user.parent_op() if isinstance(user, scf.YieldOp) else user
        if around is user:
            number -= _BOUNDS
        carried = self.carried.get(around, []) if around is not None else []
        return any(number in each.numbers for each in carried)


_WRITES = frozenset({"vector.transfer_write", "xegpu.store_nd"})


def _is_arithmetic(operation: Operation) -> bool:
    return operation.dialect_name() in _ARITHMETIC or operation.name == "vector.bitcast"


def _known_number(value: SSAValue) -> object:
    """What two values have in common that are the same number for certain."""
    owner = value.owner
    return owner.value if isinstance(owner, ConstantOp) else value


def _alike(grid: _Grid) -> list[Operation] | None:
    """The operations that give the values of a grid, if they do the same."""
    owners = [value.owner for value in grid.all]
    first = owners[0]
    if not isinstance(first, Operation):
        return None
    operations = [
        each
        for each in owners
        if isinstance(each, Operation)
        and each.name == first.name
        and each.attributes == first.attributes
        and _kept_properties(each) == _kept_properties(first)
    ]
    return operations if len(operations) == len(owners) else None


def _kept_properties(operation: Operation) -> dict[str, Attribute]:
    """The properties of an operation that do not say where it reads."""
    where = ("const_offsets", "in_bounds")
    return {key: value for key, value in operation.properties.items() if key not in where}


def _number_in(operation: scf.ForOp | scf.IfOp, value: SSAValue) -> int | None:
    """Which result of a loop or branch a value is, or becomes after the turn."""
    if isinstance(value, OpResult):
        return value.index if value.op is operation else None
    if isinstance(operation, scf.IfOp) or not isinstance(value, BlockArgument):
        return None
    is_carried = value.block is operation.body.block and value.index > 0
    return value.index - 1 if is_carried else None


def _inside(accesses: Iterable[BlockAccess]) -> tuple[bool, bool]:
    """Along which dimensions no access of some needs a check."""
    rows, columns = zip(*(access.inside for access in accesses), strict=True)
    return all(rows), all(columns)


def _map_of(access: BlockAccess) -> AffineMapAttr:
    results = tuple(map(AffineDimExpr, access.along))
    return AffineMapAttr(AffineMap(len(access.indices), 0, results))


# --- where grids are ---


def _planned(kernel: FuncOp, lanes: int) -> _Plan | None:
    """What becomes one in a kernel; None where no products do."""
    written = list(_written(kernel, lanes))
    plan = _with(_Plan(lanes), written)
    if plan is None or not plan.is_closed:
        plan = _Plan(lanes)
        for grid in written:
            more = _with(plan, [grid])
            plan = more if more is not None and more.is_closed else plan
    return plan if plan.products > 1 else None


def _with(plan: _Plan, written: Iterable[tuple[_Grid, Sequence[Operation]]]) -> _Plan | None:
    """A plan with more writes; None where they cannot become one."""
    result = _Plan(plan.lanes, dict(plan.known), products=plan.products)
    result.at |= {operation: list(emitted) for operation, emitted in plan.at.items()}
    result.carried |= {operation: list(carried) for operation, carried in plan.carried.items()}
    result.members |= plan.members
    result.reads |= plan.reads
    is_possible = all(result.writes(grid, operations) for grid, operations in written)
    return result if is_possible else None


def _written(kernel: FuncOp, lanes: int) -> Iterator[tuple[_Grid, Sequence[Operation]]]:
    """The grids that a kernel writes, with the operations that do."""
    groups: dict[object, dict[tuple[int, int], tuple[Operation, BlockAccess]]] = {}
    for operation in walk(kernel):
        access = access_of(operation, lanes) if operation.name in _WRITES else None
        if access is None:
            continue
        bases = [base for base, _ in access.position]
        rows, columns = (access.position[dimension][1] for dimension in access.along)
        others = [
            number
            for dimension, (_, number) in enumerate(access.position)
            if dimension not in access.along
        ]
        element = value_type(access.value.type)
        key = (operation.parent, access.region, access.along, access.shape, access.table, element)
        group = groups.setdefault((*key, *bases, *others), {})
        group[rows, columns] = operation, access
    for group in groups.values():
        (shape,) = {access.shape for _, access in group.values()}
        rows, columns = (sorted({where[i] for where in group}) for i in (0, 1))
        if len(group) > 1 and len(rows) * len(columns) == len(group):
            members = [[group[row, column] for column in columns] for row in rows]
            values = tuple(tuple(access.value for _, access in row) for row in members)
            table = members[0][0][1].table
            yield _Grid(values, shape, table), [each for row in members for each, _ in row]


# --- the new kernel ---


class _Joining(TileEmitter):
    """Rebuilds a kernel with what a plan says."""

    def __init__(self, plan: _Plan, source: Source | None, diagnostics: Diagnostics | None) -> None:
        super().__init__(RuleTable(otherwise=_join), "tiles", source, diagnostics)
        self.plan = plan
        self.made: dict[_Grid, SSAValue] = {}

    def whole(self, grid: _Grid) -> SSAValue:
        """The matrix that a grid has become."""
        emit = self.plan.known[grid]
        return self.made[grid] if emit is None else emit(self)

    def splat(self, number: float, type_: VectorType) -> SSAValue:
        """A matrix of equal numbers, where it is used: outside of core.parallel it is another."""
        is_float = isinstance(type_.element_type, AnyFloat)
        given = float(number) if is_float else int(number)
        dense = cast(Any, DenseIntOrFPElementsAttr).from_list(type_, [given])
        return self.emit(ConstantOp(dense)).result

    def memory_of(self, access: BlockAccess) -> SSAValue:
        """The memory that an access of the source is of."""
        made = access.descriptor
        return self.value(access.memory) if made is None else described_memory(made, self)

    def index_of(self, index: SSAValue | int) -> SSAValue:
        """An index of the source."""
        return self.index(index) if isinstance(index, int) else self.value(index)


def _join(operation: Operation, joining: _Joining) -> None:
    """Emits an operation again, unless it is replaced, and the matrices that are known then."""
    plan = joining.plan
    carried = plan.carried.get(operation, [])
    if isinstance(operation, scf.ForOp) and carried:
        _loop(operation, carried, joining)
    elif isinstance(operation, scf.IfOp) and carried:
        _branch(operation, carried, joining)
    elif isinstance(operation, scf.YieldOp) and operation.parent_op() in plan.carried:
        _yield(operation, joining)
    elif operation not in plan.members or _is_kept(operation, plan):
        copy(operation, joining)
    for emit in plan.at.get(operation, []):
        emit(joining)


def _is_kept(operation: Operation, plan: _Plan) -> bool:
    """Whether a read is needed by something else, too."""
    uses = [use for result in operation.results for use in result.uses]
    return operation in plan.reads and any(use.operation not in plan.members for use in uses)


def _left(count: int, carried: Sequence[_Carried]) -> list[int]:
    """The numbers of results that are in no grid."""
    joined = {number for each in carried for number in each.numbers}
    return [number for number in range(count) if number not in joined]


def _loop(operation: scf.ForOp, carried: Sequence[_Carried], joining: _Joining) -> None:
    old, left = operation.body.block, _left(len(operation.results), carried)
    bounds = joining.values(operation.operands[:_BOUNDS])
    kept = [joining.value(operation.iter_args[number]) for number in left]
    initial = [joining.whole(each.initial) for each in carried if each.initial is not None]
    types = [value.type for value in (*kept, *initial)]
    block = Block(arg_types=[old.args[0].type, *types])
    joining.define(old.args[0], block.args[0])
    for number, argument in zip(left, block.args[1:], strict=False):
        joining.define(old.args[number + 1], argument)
    for each, argument in zip(carried, block.args[1 + len(left) :], strict=True):
        if each.argument is not None:
            joining.made[each.argument] = argument
    with joining.at_end_of(block):
        joining.translate_block(old)
    new = again(operation, [*bounds, *kept, *initial], types, regions=[Region(block)])
    _define_results(operation, joining.emit(new), left, carried, joining)


def _branch(operation: scf.IfOp, carried: Sequence[_Carried], joining: _Joining) -> None:
    left = _left(len(operation.results), carried)
    types = [operation.results[number].type for number in left]
    types += [each.result.type for each in carried]
    regions = joining.regions(operation)
    new = again(operation, joining.values(operation.operands), types, regions=regions)
    _define_results(operation, joining.emit(new), left, carried, joining)


def _define_results(
    old: Operation,
    new: Operation,
    left: Sequence[int],
    carried: Sequence[_Carried],
    joining: _Joining,
) -> None:
    for number, result in zip(left, new.results, strict=False):
        joining.define(old.results[number], result)
    for each, result in zip(carried, new.results[len(left) :], strict=True):
        joining.made[each.result] = result


def _yield(operation: scf.YieldOp, joining: _Joining) -> None:
    around = operation.parent_op()
    assert around is not None
    carried = joining.plan.carried[around]
    number = list(around.regions).index(cast(Region, operation.parent_region()))
    left = _left(len(operation.operands), carried)
    values = [joining.value(operation.operands[each]) for each in left]
    values += [joining.whole(each.yielded[number]) for each in carried]
    joining.emit(again(operation, values))
