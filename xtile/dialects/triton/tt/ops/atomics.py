"""Atomic accesses.

Source: Triton 3.9, `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import (
    mask_of,
    parse_more_operands,
    pointee_of,
    print_attributes,
    print_types,
    print_values,
)
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    verify_type,
    with_element,
)
from xtile.dialects.triton.tt.constraints import BOOL, INTEGER, POINTER, VALUE
from xtile.dialects.triton.tt.enumerations import MemSemantic, MemSyncScope, RMWOp, number
from xtile.dialects.triton.tt.keywords import (
    RMW,
    Scope,
    Semantic,
    parse_order,
    print_order,
    verify_member,
)
from xtile.dialects.triton.versions import V3_9, Release


class AtomicOperation(TritonOperation, ABC):
    """An access that other programs see as a whole."""

    sem = prop_def(IntegerAttr.constr(i32))
    scope = prop_def(IntegerAttr.constr(i32))

    @property
    def semantic(self) -> MemSemantic:
        """How it is ordered with others."""
        return MemSemantic(self.sem.value.data)

    @property
    def sync_scope(self) -> MemSyncScope:
        """With whom it is ordered."""
        return MemSyncScope(self.scope.value.data)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(MemSemantic, "sem", self.sem)
        verify_member(MemSyncScope, "scope", self.scope)


def _order(sem: MemSemantic, scope: MemSyncScope) -> dict[str, Attribute | None]:
    return {"sem": number(sem), "scope": number(scope)}


def _verify_mask(mask: SSAValue | None, value: Attribute) -> None:
    if mask is not None:
        verify_type("mask", mask.type, mask_of(value))


@op_definition
class AtomicRMWOp(AtomicOperation):
    """Updates memory where the mask is true, and gives what was there before.

    ```
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x, %mask
      : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
    ```
    """

    name = "tt.atomic_rmw"

    atomic_rmw_op = prop_def(IntegerAttr.constr(i32))
    ptr = operand_def(POINTER)
    val = operand_def(VALUE)
    mask = opt_operand_def(BOOL)
    result = result_def(VALUE)

    assembly_format = (
        "custom<RMW>($atomic_rmw_op) `,` custom<Semantic>($sem) `,` custom<Scope>($scope) `,` "
        "$ptr `,` $val (`,` $mask^)? attr-dict `:` functional-type(operands, $result)"
    )
    custom_directives: ClassVar = (RMW, Semantic, Scope)

    def __init__(
        self,
        update: RMWOp,
        ptr: Operand,
        val: Operand,
        mask: Operand | None = None,
        *,
        sem: MemSemantic = MemSemantic.ACQ_REL,
        scope: MemSyncScope = MemSyncScope.GPU,
    ) -> None:
        super().__init__(
            operands=[ptr, val, mask],
            properties={"atomic_rmw_op": number(update), **_order(sem, scope)},
            result_types=[SSAValue.get(val).type],
        )

    @property
    def update(self) -> RMWOp:
        """How memory and operand are combined."""
        return RMWOp(self.atomic_rmw_op.value.data)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(RMWOp, "atomic_rmw_op", self.atomic_rmw_op)
        verify_type("val", self.val.type, pointee_of(self.ptr.type))
        verify_type("the result", self.result.type, self.val.type)
        _verify_mask(self.mask, self.val.type)


@op_definition
class AtomicCASOp(AtomicOperation):
    """Writes `val` where memory holds `cmp`, and gives what was there before.

    ```
    %old = tt.atomic_cas acq_rel, gpu, %p, %cmp, %val : (!tt.ptr<i32>, i32, i32) -> i32
    ```
    """

    name = "tt.atomic_cas"

    ptr = operand_def(POINTER)
    cmp = operand_def(VALUE)
    val = operand_def(VALUE)
    result = result_def(VALUE)

    assembly_format = (
        "custom<Semantic>($sem) `,` custom<Scope>($scope) `,` $ptr `,` $cmp `,` $val attr-dict `:` "
        "functional-type(operands, $result)"
    )
    custom_directives: ClassVar = (Semantic, Scope)

    def __init__(
        self,
        ptr: Operand,
        cmp: Operand,
        val: Operand,
        *,
        sem: MemSemantic = MemSemantic.ACQ_REL,
        scope: MemSyncScope = MemSyncScope.GPU,
    ) -> None:
        super().__init__(
            operands=[ptr, cmp, val],
            properties=_order(sem, scope),
            result_types=[SSAValue.get(val).type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        pointee = pointee_of(self.ptr.type)
        for name, value in (("cmp", self.cmp), ("val", self.val), ("the result", self.result)):
            verify_type(name, value.type, pointee)


@op_definition
class AtomicLoadOp(AtomicOperation):
    """An atomic load.

    ```
    %x = tt.atomic_load acquire, gpu, %p, %mask
      : (tensor<8x!tt.ptr<i32>>, tensor<8xi1>) -> tensor<8xi32>
    ```
    """

    name = "tt.atomic_load"
    SINCE: ClassVar[Release] = V3_9

    ptr = operand_def(POINTER)
    mask = opt_operand_def(BOOL)
    result = result_def(VALUE)

    assembly_format = (
        "custom<Semantic>($sem) `,` custom<Scope>($scope) `,` $ptr (`,` $mask^)? attr-dict `:` "
        "functional-type(operands, $result)"
    )
    custom_directives: ClassVar = (Semantic, Scope)

    def __init__(
        self,
        ptr: Operand,
        mask: Operand | None = None,
        *,
        sem: MemSemantic = MemSemantic.ACQUIRE,
        scope: MemSyncScope = MemSyncScope.GPU,
    ) -> None:
        super().__init__(
            operands=[ptr, mask],
            properties=_order(sem, scope),
            result_types=[pointee_of(SSAValue.get(ptr).type)],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        if self.semantic not in (MemSemantic.RELAXED, MemSemantic.ACQUIRE):
            raise VerifyException("an atomic load is relaxed or acquire")
        verify_type("the result", self.result.type, pointee_of(self.ptr.type))
        _verify_mask(self.mask, self.result.type)


@op_definition
class AtomicStoreOp(AtomicOperation):
    """An atomic store.

    ```
    tt.atomic_store release, gpu, %p, %x, %mask : tensor<8x!tt.ptr<i32>>
    ```
    """

    name = "tt.atomic_store"
    SINCE: ClassVar[Release] = V3_9

    ptr = operand_def(POINTER)
    value = operand_def(VALUE)
    mask = opt_operand_def(BOOL)

    def __init__(
        self,
        ptr: Operand,
        value: Operand,
        mask: Operand | None = None,
        *,
        sem: MemSemantic = MemSemantic.RELEASE,
        scope: MemSyncScope = MemSyncScope.GPU,
    ) -> None:
        super().__init__(operands=[ptr, value, mask], properties=_order(sem, scope))

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        order = parse_order(parser)
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        operands = [ptr, parser.parse_unresolved_operand(), *parse_more_operands(parser, 1)]
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        types = [type_, pointee_of(type_), mask_of(pointee_of(type_))]
        values = [
            parser.resolve_operand(operand, each)
            for operand, each in zip(operands, types, strict=False)
        ]
        return cls.build(
            operands=[values[0], values[1], values[2:]], properties=order, attributes=attributes
        )

    @override
    def print(self, printer: Printer) -> None:
        print_order(printer, self.sem, self.scope)
        print_values(printer, self.operands)
        print_attributes(printer, self, ["sem", "scope"])
        print_types(printer, [self.ptr.type])

    @override
    def verify_(self) -> None:
        super().verify_()
        if self.semantic not in (MemSemantic.RELAXED, MemSemantic.RELEASE):
            raise VerifyException("an atomic store is relaxed or release")
        verify_type("value", self.value.type, pointee_of(self.ptr.type))
        _verify_mask(self.mask, self.value.type)


@op_definition
class AtomicPollOp(AtomicOperation):
    """Loads again and again until memory holds what is expected, or the time is over.

    ```
    %done = tt.atomic_poll acquire, gpu, %p, %expected timeout %ns : !tt.ptr<i32>, i32 -> i1
    ```
    """

    name = "tt.atomic_poll"
    SINCE: ClassVar[Release] = V3_9

    ptr = operand_def(POINTER)
    expected = operand_def(INTEGER)
    timeout = opt_operand_def(i64)
    result = result_def(BOOL)

    assembly_format = (
        "custom<Semantic>($sem) `,` custom<Scope>($scope) `,` $ptr `,` $expected "
        "(`timeout` $timeout^)? attr-dict `:` type($ptr) `,` type($expected) `->` type($result)"
    )
    custom_directives: ClassVar = (Semantic, Scope)

    def __init__(
        self,
        ptr: Operand,
        expected: Operand,
        timeout: Operand | None = None,
        *,
        sem: MemSemantic = MemSemantic.ACQUIRE,
        scope: MemSyncScope = MemSyncScope.GPU,
    ) -> None:
        super().__init__(
            operands=[ptr, expected, timeout],
            properties=_order(sem, scope),
            result_types=[with_element(SSAValue.get(expected).type, i1)],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_type("expected", self.expected.type, pointee_of(self.ptr.type))
        verify_type("the result", self.result.type, mask_of(self.expected.type))


OPERATIONS: list[type[Operation]] = [
    AtomicRMWOp,
    AtomicCASOp,
    AtomicLoadOp,
    AtomicStoreOp,
    AtomicPollOp,
]
"""Every operation of this module."""
