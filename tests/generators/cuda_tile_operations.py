"""Random operations on tiles, most of which something is wrong with."""

from __future__ import annotations

from random import Random

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, UnitAttr, i1, i8, i32, i64
from xdsl.ir import Attribute, Block, Operation

from tests.generators.cuda_tile_tiles import FLOATS, INTEGERS, random_tile, tile_value
from xtile.dialects.cuda_tile.attributes import (
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    IntegerOverflowAttr,
    RoundingModeAttr,
    SignednessAttr,
)
from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    IntegerOverflow,
    RoundingMode,
    Signedness,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.ops import (
    bitwise,
    conversions,
    core,
    floating_point,
    integer,
    mathematics,
    matrix_multiply,
    packing,
)
from xtile.dialects.cuda_tile.types import TileType
from xtile.dialects.cuda_tile.versions import DEFAULT_VERSION

MODULES = (
    bitwise,
    conversions,
    floating_point,
    integer,
    mathematics,
    matrix_multiply,
    packing,
)
REARRANGING: list[type[Operation]] = [
    core.BroadcastOp,
    core.CatOp,
    core.ExtractOp,
    core.IotaOp,
    core.OffsetOp,
    core.PermuteOp,
    core.ReshapeOp,
    core.SelectOp,
]
OPERATIONS = [
    operation
    for operation in [*(o for module in MODULES for o in module.OPERATIONS), *REARRANGING]
    if issubclass(operation, CudaTileOperation) and operation.SINCE <= DEFAULT_VERSION
]

ENUMERATIONS = {
    "comparison_ordering": (ComparisonOrderingAttr, ComparisonOrdering),
    "comparison_predicate": (ComparisonPredicateAttr, ComparisonPredicate),
    "overflow": (IntegerOverflowAttr, IntegerOverflow),
    "rounding": (RoundingModeAttr, RoundingMode),
    "rounding_mode": (RoundingModeAttr, RoundingMode),
    "signedness": (SignednessAttr, Signedness),
    "signedness_lhs": (SignednessAttr, Signedness),
    "signedness_rhs": (SignednessAttr, Signedness),
}
USUAL_ROUNDING = {
    "divi": RoundingMode.ZERO,
    "exp": RoundingMode.FULL,
    "ftoi": RoundingMode.NEAREST_INT_TO_ZERO,
    "tanh": RoundingMode.FULL,
}


def random_operation(random: Random, block: Block) -> Operation:
    """Adds an operation to a block, with tiles for its operands before it."""
    kind = random.choice(OPERATIONS)
    name = kind.name.partition(".")[2]
    properties = _properties(random, kind, name)
    if kind in matrix_multiply.OPERATIONS:
        types = _product(random, name)
        result = types[2]
    else:
        types, result = _tiles(random, kind, name, properties)
    if types and random.random() < 0.1:
        types[random.randrange(len(types))] = random_tile(random)
    if random.random() < 0.1:
        result = random_tile(random)
    operands = [tile_value(block, type) for type in types]
    operation = kind.create(operands=operands, result_types=[result], properties=properties)
    block.add_op(operation)
    return operation


def _properties(random: Random, kind: type[CudaTileOperation], name: str) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {}
    for field in kind.get_irdl_definition().properties:
        if field in ENUMERATIONS:
            attribute, enumeration = ENUMERATIONS[field]
            member = random.choice(list(enumeration))
            if field.startswith("rounding") and random.random() < 0.5:
                member = USUAL_ROUNDING.get(name, RoundingMode.NEAREST_EVEN)
            properties[field] = attribute(member)
        elif field == "dim":
            properties[field] = IntegerAttr(random.choice([0, 0, 1, 1, 2, -1]), i64)
        elif field == "permutation":
            numbers = random.sample(range(3), random.randrange(4))
            properties[field] = DenseArrayBase.from_list(i32, numbers)
        elif kind.SINCE_OF.get(field, DEFAULT_VERSION) <= DEFAULT_VERSION and random.random() < 0.3:
            properties[field] = UnitAttr()
    return properties


def _tiles(
    random: Random, kind: type[Operation], name: str, properties: dict[str, Attribute]
) -> tuple[list[TileType], TileType]:
    """The types of operands and of the result, which are often right."""
    tile = random_tile(random)
    shape = tile.get_shape()
    types = [tile] * len(kind.get_irdl_definition().operands)  # type: ignore[attr-defined]
    if kind in conversions.OPERATIONS:
        return types, random_tile(random, shape=shape)
    if kind in packing.OPERATIONS:
        return _packing(random, name)
    if name.startswith("cmp"):
        return types, TileType(shape, i1)
    if name == "select":
        return [TileType(shape, i1), tile, tile], tile
    if kind in REARRANGING:
        return _rearranged(random, name, types, properties)
    return types, tile


def _rearranged(
    random: Random, name: str, types: list[TileType], properties: dict[str, Attribute]
) -> tuple[list[TileType], TileType]:
    tile = types[-1] if types else random_tile(random)
    shape = tile.get_shape()
    if name == "extract":
        indices = [TileType((), i32)] * tile.rank
        return [types[0], *indices], random_tile(random, [tile.element_type])
    if name == "permute":
        order = properties["permutation"]
        assert isinstance(order, DenseArrayBase)
        if sorted(order.get_values()) == list(range(tile.rank)):
            permuted = tuple(shape[dimension] for dimension in order.get_values())
            return types, random_tile(random, [tile.element_type], permuted)
    if name == "reshape":
        return types, random_tile(random, [tile.element_type], (tile.number_of_elements,))
    if name == "cat" and tile.rank:
        doubled = (shape[0] * 2, *shape[1:])
        return types, random_tile(random, [tile.element_type], doubled)
    if name == "broadcast":
        sizes = [random.choice([size, 4]) if size == 1 else size for size in shape]
        return types, random_tile(random, [tile.element_type], sizes)
    return types, tile


def _packing(random: Random, name: str) -> tuple[list[TileType], TileType]:
    unpacked = random_tile(random, INTEGERS + FLOATS, (64,))
    packed = TileType((random.choice([8, 32, 64, 128, 256]),), i8)
    return ([unpacked], packed) if name == "pack" else ([packed], unpacked)


def _product(random: Random, name: str) -> list[TileType]:
    """The types of factors, accumulator and scales."""
    batch = random.choice([(), (), (2,)])
    m, k, n = (random.choice([4, 16, 32, 64]) for _ in range(3))
    factor = i8 if name == "mmai" else random.choice(FLOATS)
    accumulator = i32 if name == "mmai" else random.choice(FLOATS[:3])
    types = [
        random_tile(random, [factor], (*batch, m, k)),
        random_tile(random, [factor], (*batch, k, n)),
        random_tile(random, [accumulator], (*batch, m, n)),
    ]
    if name == "mmaf_scaled":
        scale, blocks = random.choice(FLOATS[5:]), max(1, k // random.choice([16, 32]))
        types.append(random_tile(random, [scale], (*batch, m, blocks)))
        types.append(random_tile(random, [scale], (*batch, blocks, n)))
    return types
