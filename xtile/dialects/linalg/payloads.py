"""What named operations compute of an element of each operand, in one table.

The text of a named operation does not show this. In the generic form it is the region, which
`payload` makes.

Source: MLIR (LLVM 22), `Dialect/Linalg/IR/LinalgNamedStructuredOps.yaml` and `LinalgOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, complex, math
from xdsl.dialects.builtin import AnyFloat, ComplexType, FloatAttr, IntegerType
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

Kinds = tuple[type[Operation] | None, ...]
"""What computes with floats, integers, truth values and complex numbers; None: nothing does."""

ADD: Kinds = (arith.AddfOp, arith.AddiOp, arith.OrIOp, complex.AddOp)
MULTIPLY: Kinds = (arith.MulfOp, arith.MuliOp, arith.AndIOp, complex.MulOp)

UNARY: Mapping[str, Kinds] = {
    "linalg.abs": (math.AbsFOp,),
    "linalg.ceil": (math.CeilOp,),
    "linalg.erf": (math.ErfOp,),
    "linalg.exp": (math.ExpOp,),
    "linalg.floor": (math.FloorOp,),
    "linalg.log": (math.LogOp,),
    "linalg.negf": (arith.NegfOp,),
    "linalg.round": (math.RoundOp,),
    "linalg.rsqrt": (math.RsqrtOp,),
    "linalg.sqrt": (math.SqrtOp,),
    "linalg.tanh": (math.TanhOp,),
}
"""Operations on each element of one input."""

BINARY: Mapping[str, Kinds] = {
    "linalg.add": ADD,
    "linalg.div": (arith.DivfOp, arith.DivSIOp, None, complex.DivOp),
    "linalg.div_unsigned": (None, arith.DivUIOp),
    "linalg.max": (arith.MaximumfOp, arith.MaxSIOp),
    "linalg.min": (arith.MinimumfOp, arith.MinSIOp),
    "linalg.mul": MULTIPLY,
    "linalg.powf": (math.PowFOp,),
    "linalg.sub": (arith.SubfOp, arith.SubiOp, None, complex.SubOp),
}
"""Operations on the elements of two inputs."""

CONTRACTIONS = frozenset(
    {
        "linalg.batch_matmul",
        "linalg.batch_matvec",
        "linalg.batch_vecmat",
        "linalg.dot",
        "linalg.matmul",
        "linalg.matvec",
        "linalg.vecmat",
    }
)
"""Operations that add the product of two elements to that of the output."""


def payload(name: str, types: Sequence[Attribute], is_unsigned: bool = False) -> Block | None:
    """What an operation computes of an element of each operand.

    Args:
        name: The operation.
        types: The types of the elements, that of the output last.
        is_unsigned: Whether numbers are cast as if they had no sign.

    Returns:
        A block that ends with `linalg.yield`; None if the operation has no payload of its own, or
        none for these types.
    """
    made = _MADE.get(name)
    block = Block(arg_types=types)
    result = None if made is None else made(name, block, is_unsigned)
    if result is None:
        return None
    block.add_op(YieldOp(result))
    return block


def _unary(name: str, block: Block, is_unsigned: bool) -> SSAValue | None:
    return _emit(block, UNARY[name], block.args[0])


def _binary(name: str, block: Block, is_unsigned: bool) -> SSAValue | None:
    return _emit(block, BINARY[name], block.args[0], block.args[1])


def _square(name: str, block: Block, is_unsigned: bool) -> SSAValue | None:
    return _emit(block, (arith.MulfOp,), block.args[0], block.args[0])


def _reciprocal(name: str, block: Block, is_unsigned: bool) -> SSAValue | None:
    value = block.args[0]
    if not isa(value.type, AnyFloat):
        return None
    one = arith.ConstantOp(FloatAttr(1.0, value.type))
    block.add_op(one)
    return _emit(block, (arith.DivfOp,), one.result, value)


def _select(name: str, block: Block, is_unsigned: bool) -> SSAValue | None:
    condition, a, b, _ = block.args
    return _added(block, arith.SelectOp(condition, a, b))


def _copy(name: str, block: Block, is_unsigned: bool) -> SSAValue | None:
    return cast_to(block, block.args[0], block.args[-1].type, is_unsigned)


def _fill(name: str, block: Block, is_unsigned: bool) -> SSAValue | None:
    return block.args[0]


def _contraction(name: str, block: Block, is_unsigned: bool) -> SSAValue | None:
    a, b, c = block.args
    factors = [cast_to(block, factor, c.type, is_unsigned) for factor in (a, b)]
    known = [factor for factor in factors if factor is not None]
    if len(known) < len(factors):
        return None
    product = _emit(block, MULTIPLY, *known)
    return None if product is None else _emit(block, ADD, c, product)


_MADE: Mapping[str, Callable[[str, Block, bool], SSAValue | None]] = {
    **dict.fromkeys(UNARY, _unary),
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(CONTRACTIONS, _contraction),
    "linalg.copy": _copy,
    "linalg.fill": _fill,
    "linalg.reciprocal": _reciprocal,
    "linalg.select": _select,
    "linalg.square": _square,
}
NAMED = frozenset(_MADE)
"""The operations that have a payload of their own."""


def _added(block: Block, operation: Operation) -> SSAValue:
    block.add_op(operation)
    return operation.results[0]


def _emit(block: Block, kinds: Kinds, *operands: SSAValue) -> SSAValue | None:
    position = _kind_of(operands[0].type)
    kind = kinds[position] if position is not None and position < len(kinds) else None
    if kind is None:
        return None
    return _added(block, kind(*operands))  # pyright: ignore[reportArgumentType]


def _kind_of(type: Attribute) -> int | None:
    """The position in `Kinds` of what computes with a type."""
    if isa(type, AnyFloat):
        return 0
    if isa(type, IntegerType):
        return 2 if type.width.data == 1 else 1
    return 3 if isa(type, ComplexType) else None


def cast_to(block: Block, value: SSAValue, type: Attribute, is_unsigned: bool) -> SSAValue | None:
    """A number as another type, as upstream casts numbers; None if there is no cast."""
    given = value.type
    if given == type:
        return value
    kind = _cast(given, type, is_unsigned)
    if kind is None:
        return None
    return _added(block, kind.create(operands=[value], result_types=[type]))


def _cast(given: Attribute, to: Attribute, is_unsigned: bool) -> type[Operation] | None:
    """The operation that casts numbers of a type to another one."""
    if isa(to, AnyFloat):
        if isa(given, AnyFloat):
            return arith.ExtFOp if to.bitwidth > given.bitwidth else arith.TruncFOp
        if isa(given, IntegerType):
            return arith.UIToFPOp if is_unsigned else arith.SIToFPOp
    elif isa(to, IntegerType):
        if isa(given, AnyFloat):
            return arith.FPToUIOp if is_unsigned else arith.FPToSIOp
        if isa(given, IntegerType):
            if to.width.data < given.width.data:
                return arith.TruncIOp
            return arith.ExtUIOp if is_unsigned else arith.ExtSIOp
    return None
