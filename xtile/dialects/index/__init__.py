"""The `index` dialect: integers as wide as an address of the target.

Source: MLIR (LLVM 22), `Dialect/Index/IR/IndexOps.td`.
"""

from __future__ import annotations

from abc import ABC
from enum import auto

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, IntegerType, i1
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Dialect, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Commutative, NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.definitions import op_definition
from xtile.dialects.upstream import TypeWhere, is_index

_INTEGER = TypeWhere(
    "an integer or an index", lambda type: isinstance(type, IntegerType) or is_index(type)
)


class IndexCmpPredicate(StrEnum):
    """What `index.cmp` compares; `s` is signed, `u` unsigned."""

    EQ = auto()
    NE = auto()
    SLT = auto()
    SLE = auto()
    SGT = auto()
    SGE = auto()
    ULT = auto()
    ULE = auto()
    UGT = auto()
    UGE = auto()


@irdl_attr_definition
class IndexCmpPredicateAttr(EnumAttribute[IndexCmpPredicate], SpacedOpaqueSyntaxAttribute):
    """A comparison: `#index<cmp_predicate slt>`."""

    name = "index.cmp_predicate"


class BinaryOperation(IRDLOperation, ABC):
    """An operation on two indices."""

    lhs = operand_def(IndexType())
    rhs = operand_def(IndexType())
    result = result_def(IndexType())

    assembly_format = "$lhs `,` $rhs attr-dict"

    def __init__(self, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(operands=[lhs, rhs], result_types=[IndexType()])


@op_definition
class AddOp(BinaryOperation):
    """The sum: `%c = index.add %a, %b`."""

    name = "index.add"
    traits = traits_def(Commutative(), Pure())


@op_definition
class SubOp(BinaryOperation):
    """The difference: `%c = index.sub %a, %b`."""

    name = "index.sub"
    traits = traits_def(Pure())


@op_definition
class MulOp(BinaryOperation):
    """The product: `%c = index.mul %a, %b`."""

    name = "index.mul"
    traits = traits_def(Commutative(), Pure())


@op_definition
class DivSOp(BinaryOperation):
    """The signed quotient, rounded to zero: `%c = index.divs %a, %b`."""

    name = "index.divs"
    traits = traits_def(NoMemoryEffect())


@op_definition
class DivUOp(BinaryOperation):
    """The unsigned quotient, rounded to zero: `%c = index.divu %a, %b`."""

    name = "index.divu"
    traits = traits_def(NoMemoryEffect())


@op_definition
class CeilDivSOp(BinaryOperation):
    """The signed quotient, rounded up: `%c = index.ceildivs %a, %b`."""

    name = "index.ceildivs"
    traits = traits_def(NoMemoryEffect())


@op_definition
class CeilDivUOp(BinaryOperation):
    """The unsigned quotient, rounded up: `%c = index.ceildivu %a, %b`."""

    name = "index.ceildivu"
    traits = traits_def(NoMemoryEffect())


@op_definition
class FloorDivSOp(BinaryOperation):
    """The signed quotient, rounded down: `%c = index.floordivs %a, %b`."""

    name = "index.floordivs"
    traits = traits_def(NoMemoryEffect())


@op_definition
class RemSOp(BinaryOperation):
    """The signed remainder, of the dividend's sign: `%c = index.rems %a, %b`."""

    name = "index.rems"
    traits = traits_def(NoMemoryEffect())


@op_definition
class RemUOp(BinaryOperation):
    """The unsigned remainder: `%c = index.remu %a, %b`."""

    name = "index.remu"
    traits = traits_def(NoMemoryEffect())


@op_definition
class MaxSOp(BinaryOperation):
    """The signed maximum: `%c = index.maxs %a, %b`."""

    name = "index.maxs"
    traits = traits_def(Commutative(), Pure())


@op_definition
class MaxUOp(BinaryOperation):
    """The unsigned maximum: `%c = index.maxu %a, %b`."""

    name = "index.maxu"
    traits = traits_def(Commutative(), Pure())


@op_definition
class MinSOp(BinaryOperation):
    """The signed minimum: `%c = index.mins %a, %b`."""

    name = "index.mins"
    traits = traits_def(Commutative(), Pure())


@op_definition
class MinUOp(BinaryOperation):
    """The unsigned minimum: `%c = index.minu %a, %b`."""

    name = "index.minu"
    traits = traits_def(Commutative(), Pure())


@op_definition
class ShlOp(BinaryOperation):
    """The left shift: `%c = index.shl %a, %b`."""

    name = "index.shl"
    traits = traits_def(Pure())


@op_definition
class ShrSOp(BinaryOperation):
    """The right shift that keeps the sign: `%c = index.shrs %a, %b`."""

    name = "index.shrs"
    traits = traits_def(Pure())


@op_definition
class ShrUOp(BinaryOperation):
    """The right shift that fills with zeros: `%c = index.shru %a, %b`."""

    name = "index.shru"
    traits = traits_def(Pure())


@op_definition
class AndOp(BinaryOperation):
    """The bitwise and: `%c = index.and %a, %b`."""

    name = "index.and"
    traits = traits_def(Commutative(), Pure())


@op_definition
class OrOp(BinaryOperation):
    """The bitwise or: `%c = index.or %a, %b`."""

    name = "index.or"
    traits = traits_def(Commutative(), Pure())


@op_definition
class XOrOp(BinaryOperation):
    """The bitwise exclusive or: `%c = index.xor %a, %b`."""

    name = "index.xor"
    traits = traits_def(Commutative(), Pure())


class CastOperation(IRDLOperation, ABC):
    """A change between an index and an integer of fixed width."""

    input = operand_def(_INTEGER)
    output = result_def(_INTEGER)

    assembly_format = "$input attr-dict `:` type($input) `to` type($output)"

    traits = traits_def(Pure())

    def __init__(self, input: SSAValue, type: Attribute) -> None:
        super().__init__(operands=[input], result_types=[type])

    @override
    def verify_(self) -> None:
        if is_index(self.input.type) == is_index(self.output.type):
            raise VerifyException(
                f"expected a cast between an index and an integer, got {self.input.type} to "
                f"{self.output.type}"
            )


@op_definition
class CastSOp(CastOperation):
    """Extends by the sign: `%b = index.casts %a : index to i64`."""

    name = "index.casts"


@op_definition
class CastUOp(CastOperation):
    """Extends with zeros: `%b = index.castu %a : i32 to index`."""

    name = "index.castu"


@op_definition
class CmpOp(IRDLOperation):
    """Compares: `%c = index.cmp slt(%a, %b)`."""

    name = "index.cmp"

    pred = prop_def(IndexCmpPredicateAttr)
    lhs = operand_def(IndexType())
    rhs = operand_def(IndexType())
    result = result_def(i1)

    assembly_format = "$pred `(` $lhs `,` $rhs `)` attr-dict"

    traits = traits_def(Pure())

    def __init__(self, predicate: IndexCmpPredicate, lhs: SSAValue, rhs: SSAValue) -> None:
        super().__init__(
            operands=[lhs, rhs],
            properties={"pred": IndexCmpPredicateAttr(predicate)},
            result_types=[i1],
        )


@op_definition
class SizeOfOp(IRDLOperation):
    """How many bits an index has: `%bits = index.sizeof`."""

    name = "index.sizeof"

    result = result_def(IndexType())

    assembly_format = "attr-dict"

    traits = traits_def(Pure())


@op_definition
class ConstantOp(IRDLOperation):
    """A constant: `%c4 = index.constant 4`."""

    name = "index.constant"

    value = prop_def(IntegerAttr[IndexType])
    result = result_def(IndexType())

    assembly_format = "attr-dict $value"

    traits = traits_def(Pure())

    def __init__(self, value: int) -> None:
        super().__init__(
            properties={"value": IntegerAttr(value, IndexType())}, result_types=[IndexType()]
        )


@op_definition
class BoolConstantOp(IRDLOperation):
    """A truth value: `%true = index.bool.constant true`."""

    name = "index.bool.constant"

    value = prop_def(BoolAttr)
    result = result_def(i1)

    assembly_format = "attr-dict $value"

    traits = traits_def(Pure())


Index = Dialect(
    "index",
    [
        AddOp,
        AndOp,
        BoolConstantOp,
        CastSOp,
        CastUOp,
        CeilDivSOp,
        CeilDivUOp,
        CmpOp,
        ConstantOp,
        DivSOp,
        DivUOp,
        FloorDivSOp,
        MaxSOp,
        MaxUOp,
        MinSOp,
        MinUOp,
        MulOp,
        OrOp,
        RemSOp,
        RemUOp,
        ShlOp,
        ShrSOp,
        ShrUOp,
        SizeOfOp,
        SubOp,
        XOrOp,
    ],
    [IndexCmpPredicateAttr],
)
