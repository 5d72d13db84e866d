"""Rules of the collective instructions.

Source: tensor language reference, section "Collective instructions".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, Region

from xtile.dialects.tensorlang.attributes import AddressSpace
from xtile.dialects.tensorlang.ops.collective import (
    AllocaOp,
    AxpbyOp,
    BlasA2Operation,
    BlasA3Operation,
    BlasOperation,
    CumsumOp,
    ForeachOp,
    ForeachTileOp,
    GemmOp,
    GemvOp,
    GerOp,
    HadamardOp,
    LifetimeStopOp,
    ParallelOp,
    SumOp,
)
from xtile.dialects.tensorlang.types import (
    DYNAMIC,
    NUMBER_TYPES,
    SIZE_IN_BYTES,
    MemrefType,
    is_promotable,
    promote,
    type_text,
)
from xtile.dialects.tensorlang.verifier.constants import constant_of
from xtile.dialects.tensorlang.verifier.problem import (
    Problem,
    Problems,
    at_operand,
    counted,
    listed,
    mnemonic_of,
    rule,
    shape_text,
    size_text,
)
from xtile.dialects.tensorlang.verifier.regions import block_of, subgroup_size_of

DEFAULT_ALIGNMENT = 128
"""Alignment in bytes of memory for which the kernel asks nothing else ("Calling convention")."""

_MOST_LOCAL_MEMORY = 2**31 - 1
"""Bytes: far more than any device has, which says itself what it has."""

_ORDERS = {0: "scalar (order 0)", 1: "vector (order 1)", 2: "matrix (order 2)"}


# Shapes and orders


@dataclass(frozen=True, slots=True)
class _Mode:
    """One mode of an operand: `8 rows of A`."""

    owner: str
    noun: str
    size: int


@dataclass(frozen=True, slots=True)
class _View:
    """A memref operand as an instruction sees it, that is, after its transposition."""

    name: str
    shape: tuple[int, ...]

    @property
    def rows(self) -> _Mode:
        return _Mode(self.name, "row", self.shape[0])

    @property
    def columns(self) -> _Mode:
        return _Mode(self.name, "column", self.shape[1])

    @property
    def elements(self) -> _Mode:
        return _Mode(self.name, "element", self.shape[0])


def _memref(operation: BlasOperation, operand: str) -> MemrefType:
    type: Attribute = getattr(operation, operand).type
    assert isinstance(type, MemrefType)
    return type


def _view(operation: BlasOperation, operand: str) -> _View:
    shape = _memref(operation, operand).shape
    if operation.properties.get(f"transpose_{operand}") is None or len(shape) != 2:
        return _View(operand.upper(), shape)
    return _View(f"op({operand.upper()})", (shape[1], shape[0]))


def _orders(operation: BlasOperation, **allowed: int | tuple[int, ...]) -> list[Problem]:
    """Problems with the orders of operands; `a=2` or `b=(0, 1)` says what they may be."""
    problems: list[Problem] = []
    for operand, orders in allowed.items():
        orders = orders if isinstance(orders, tuple) else (orders,)
        order = _memref(operation, operand).order
        if order not in orders:
            wanted = listed(_ORDERS[order] for order in orders)
            message = f"{operand.upper()} has order {order} but must be a {wanted}"
            problems.append(at_operand(operation, operand, message))
    return problems


def _equal(operation: BlasOperation, operand: str, left: _Mode, right: _Mode) -> Problems:
    """The problem at `operand` of two modes that differ; a dynamic mode may have any size."""
    if left.size == right.size or DYNAMIC in (left.size, right.size):
        return
    noun = "" if left.noun == right.noun else f" {counted(right.size, right.noun)}"
    other = noun or f" {right.size}"
    message = f"{left.owner} has {counted(left.size, left.noun)} but {right.owner} has{other}"
    yield at_operand(operation, operand, f"{message}; they must be equal")


def _equal_shapes(operation: BlasOperation, operand: str, left: _View, right: _View) -> Problems:
    if len(left.shape) != len(right.shape):
        message = f"{left.name} has order {len(left.shape)} but {right.name} has order "
        yield at_operand(operation, operand, f"{message}{len(right.shape)}; they must be equal")
    elif any(
        size != other and DYNAMIC not in (size, other)
        for size, other in zip(left.shape, right.shape, strict=True)
    ):
        message = f"{left.name} is {shape_text(left.shape)} but {right.name} is "
        message += f"{shape_text(right.shape)}; they must have one shape"
        yield at_operand(operation, operand, message)


@rule(AxpbyOp, reads=("a", "b"))
def axpby_shapes(operation: AxpbyOp) -> Problems:
    """B and op(A) are scalars, vectors or matrices of one shape."""
    wrong = _orders(operation, b=(0, 1, 2))
    return wrong or _equal_shapes(operation, "b", _view(operation, "b"), _view(operation, "a"))


@rule(CumsumOp, reads=("a", "b"))
def cumsum_shapes(operation: CumsumOp) -> Problems:
    """A and B have one shape, and the mode is one of theirs."""
    order, mode = _memref(operation, "a").order, operation.mode.value.data
    if order < 1:
        yield at_operand(operation, "a", "A has order 0 but must have at least one mode")
    elif not 0 <= mode < order:
        message = f"mode {mode} is not a mode of A, which has order {order}; "
        yield Problem(operation, f"{message}modes count from 0 to {order - 1}")
    yield from _equal_shapes(operation, "b", _view(operation, "b"), _view(operation, "a"))


@rule(SumOp, reads=("a", "b"))
def sum_shapes(operation: SumOp) -> Problems:
    """A matrix is summed to the vector of its rows, a vector to a scalar."""
    b_order = _memref(operation, "b").order
    wrong = _orders(operation, b=(0, 1)) or _orders(operation, a=b_order + 1)
    yield from wrong
    if not wrong and b_order == 1:
        a, b = _view(operation, "a"), _view(operation, "b")
        yield from _equal(operation, "b", b.elements, a.rows)


@rule(GemmOp, reads=("a", "b", "c"))
def gemm_shapes(operation: GemmOp) -> Problems:
    """C is the size of op(A) op(B)."""
    wrong = _orders(operation, a=2, b=2, c=2)
    yield from wrong
    if not wrong:
        a, b, c = (_view(operation, operand) for operand in "abc")
        yield from _equal(operation, "b", b.rows, a.columns)
        yield from _equal(operation, "c", c.rows, a.rows)
        yield from _equal(operation, "c", c.columns, b.columns)


@rule(GemvOp, reads=("a", "b", "c"))
def gemv_shapes(operation: GemvOp) -> Problems:
    """C is the size of op(A) b."""
    wrong = _orders(operation, a=2, b=1, c=1)
    yield from wrong
    if not wrong:
        a, b, c = (_view(operation, operand) for operand in "abc")
        yield from _equal(operation, "b", b.elements, a.columns)
        yield from _equal(operation, "c", c.elements, a.rows)


@rule(GerOp, reads=("a", "b", "c"))
def ger_shapes(operation: GerOp) -> Problems:
    """C is the size of a b^T."""
    wrong = _orders(operation, a=1, b=1, c=2)
    yield from wrong
    if not wrong:
        a, b, c = (_view(operation, operand) for operand in "abc")
        yield from _equal(operation, "c", c.rows, a.elements)
        yield from _equal(operation, "c", c.columns, b.elements)


@rule(HadamardOp, reads=("a", "b", "c"))
def hadamard_shapes(operation: HadamardOp) -> Problems:
    """A, B and C are vectors or matrices of one shape."""
    wrong = _orders(operation, a=(1, 2), b=(1, 2), c=(1, 2))
    yield from wrong
    if not wrong:
        a, b, c = (_view(operation, operand) for operand in "abc")
        yield from _equal_shapes(operation, "b", b, a)
        yield from _equal_shapes(operation, "c", c, a)


# Element types


@rule(BlasA2Operation)
def a2_types(operation: BlasA2Operation) -> Problems:
    """type(alpha) ⪯ type(A) ⪯ type(B) and type(beta) ⪯ type(B)."""
    a, b = _memref(operation, "a").element_type, _memref(operation, "b").element_type
    yield from _promotable(operation, "alpha", operation.alpha.type, a, "A")
    yield from _promotable(operation, "a", a, b, "B")
    yield from _promotable(operation, "beta", operation.beta.type, b, "B")


@rule(BlasA3Operation)
def a3_types(operation: BlasA3Operation) -> Problems:
    """type(alpha) ⪯ promote(type(A), type(B)) ⪯ type(C) and type(beta) ⪯ type(C)."""
    a, b, c = (_memref(operation, operand).element_type for operand in "abc")
    product = promote(a, b)
    if product is None:
        message = f"the element types of A and B are {type_text(a)} and {type_text(b)}; "
        yield at_operand(operation, "b", f"{message}one must be promotable to the other")
    else:
        larger = "A" if product == a else "B"
        yield from _promotable(operation, "alpha", operation.alpha.type, product, larger)
        yield from _promotable(operation, larger.lower(), product, c, "C")
    yield from _promotable(operation, "beta", operation.beta.type, c, "C")


def _promotable(
    operation: BlasOperation, operand: str, source: Attribute, target: Attribute, owner: str
) -> Problems:
    if is_promotable(source, target):
        return
    name = operand if len(operand) > 1 else f"the element type of {operand.upper()}"
    subject = f"{name} is {type_text(source)}"
    fitting = (text for text, type in NUMBER_TYPES.items() if is_promotable(type, target))
    message = f"{subject}, which cannot be promoted to {type_text(target)}, the element type of "
    yield at_operand(operation, operand, f"{message}{owner}; it must be {listed(fitting)}")


@rule(BlasOperation, reads=("beta",))
def atomic_beta(operation: BlasOperation) -> Problems:
    """An atomic update keeps (beta = 1) or forgets (beta = 0) what was there before."""
    if operation.atomic is None:
        return
    assert isinstance(operation, BlasA2Operation | BlasA3Operation)
    beta = constant_of(operation.beta)
    if beta is None or beta not in (0, 1):
        found = "is not a constant" if beta is None else f"is {beta}"
        message = f"beta {found} but must be the constant 0 or 1 where {mnemonic_of(operation)} is "
        yield at_operand(operation, "beta", f"{message}atomic")


# Loops


@rule(ForeachOp)
def foreach_bounds(operation: ForeachOp) -> Problems:
    """Every trip count has a from and a to of one integer type, and a loop variable."""
    yield from _bounds(operation)
    yield from _arguments(operation, [len(operation.to)], "loop variable")


@rule(ForeachTileOp)
def foreach_tile_bounds(operation: ForeachTileOp) -> Problems:
    """Every tile offset has a from and a to of one integer type, and a largest tile size."""
    yield from _bounds(operation)
    yield from _tile_sizes(operation)
    counts = [len(operation.to), len(operation.tile_shape)]
    yield from _arguments(operation, counts, "tile offset or size", lists=2)


def _tile_sizes(operation: ForeachTileOp) -> Problems:
    shape = [int(size) for size in operation.tile_shape.get_values()]
    count = len(operation.from_)
    if len(shape) != count:
        message = f"{counted(count, 'lower bound')} but {counted(len(shape), 'tile size')}"
        yield Problem(operation, f"{message} given; write one for each mode", "header")
    for size in shape:
        if size < 1:
            yield Problem(operation, f"tile size {size_text(size)} must be at least 1", "header")
    subgroup_size = subgroup_size_of(operation)
    if shape and subgroup_size is not None and shape[0] % subgroup_size != 0:
        message = f"the first tile size is {shape[0]} but must be a multiple of the subgroup size, "
        yield Problem(operation, f"{message}{subgroup_size}", "header")


def _bounds(operation: ForeachOp | ForeachTileOp) -> Problems:
    lower, upper = operation.from_, operation.to
    if not lower or len(lower) != len(upper):
        message = f"{counted(len(lower), 'lower bound')} but {counted(len(upper), 'upper bound')}"
        yield Problem(operation, f"{message} given; write one of each for each mode", "header")
    for i, (from_, to) in enumerate(zip(lower, upper, strict=False)):
        if from_.type != to.type:
            message = f"the upper bound is {type_text(to.type)} but the lower bound is "
            message += f"{type_text(from_.type)}; they must have one type"
            yield at_operand(operation, "to", message, i)


def _arguments(
    operation: ForeachOp | ForeachTileOp, counts: Sequence[int], noun: str, lists: int = 1
) -> Problems:
    """The region's arguments: `lists` times the types of the bounds.

    How many there must be is unknown where `counts` of other things differ from the bounds'.
    """
    types = [bound.type for bound in operation.from_]
    if all(count == len(types) for count in counts):
        yield from region_arguments(operation, operation.body, types * lists, noun)


def region_arguments(
    operation: ForeachOp | ForeachTileOp | ParallelOp,
    region: Region,
    wanted: Sequence[Attribute],
    noun: str,
) -> Problems:
    """The problem with a region whose arguments are not of the types `wanted`."""
    block = block_of(region)
    given = [argument.type for argument in block.args] if block else []
    if given == list(wanted):
        return
    if len(given) != len(wanted):
        message = f"{counted(len(given), noun)} named, but there must be {len(wanted) or 'none'}"
        yield Problem(operation, message, "header")
        return
    assert block is not None
    for argument, type in zip(block.args, wanted, strict=True):
        if argument.type != type:
            message = f"the argument is {type_text(argument.type)} but must be {type_text(type)}"
            yield Problem(operation, message, argument)


@rule(ParallelOp)
def parallel_arguments(operation: ParallelOp) -> Problems:
    """The region has no arguments."""
    return region_arguments(operation, operation.body, (), "argument")


# Local memory


@rule(AllocaOp)
def alloca_memory(operation: AllocaOp) -> Problems:
    """The memref is local, its size is known at compile time, and some device has so much."""
    type = operation.result.type
    assert isinstance(type, MemrefType)
    if type.address_space is not AddressSpace.LOCAL:
        message = f"alloca returns local memory, but {type_text(type)} is global; add ',local'"
        yield Problem(operation, message, "result")
    for what, sizes in (("mode", type.shape), ("stride", type.strides)):
        if DYNAMIC in sizes:
            message = f"{what} {sizes.index(DYNAMIC)} of {type_text(type)} is dynamic; "
            yield Problem(operation, f"{message}alloca needs a static shape", "result")
            break
    size = (type.allocated_elements or 0) * SIZE_IN_BYTES.get(type.element_type, 1)
    if size > _MOST_LOCAL_MEMORY:
        message = f"{type_text(type)} has {size} bytes, but no device has more than "
        yield Problem(operation, f"{message}{_MOST_LOCAL_MEMORY} bytes of local memory", "result")
    if operation.alignment is not None:
        yield from _alloca_alignment(operation, operation.alignment.value.data, type)


def _alloca_alignment(operation: AllocaOp, alignment: int, type: MemrefType) -> Problems:
    size = SIZE_IN_BYTES[type.element_type]
    if alignment < 1 or alignment % size != 0:
        message = f"alignment {alignment} must be a multiple of {size}, the size in bytes of "
        yield Problem(operation, f"{message}{type_text(type.element_type)}", "header")
    elif alignment > DEFAULT_ALIGNMENT:
        message = f"alignment {alignment} must not be larger than the default alignment, "
        yield Problem(operation, f"{message}{DEFAULT_ALIGNMENT} bytes", "header")


@rule(LifetimeStopOp)
def lifetime_stop_operand(operation: LifetimeStopOp) -> Problems:
    """Only what alloca returned has a lifetime to stop."""
    if not isinstance(operation.memref.owner, AllocaOp):
        message = "the lifetime of this memref cannot be stopped; lifetime_stop takes what alloca"
        yield at_operand(operation, "memref", f"{message} returned")
