"""Atomic updates of elements of memory anywhere, with an order and a scope.

Source: CUDA Tile IR specification, "Atomics" (`atomic_rmw_tko`, `atomic_cas_tko`);
triton-lang/triton, `TritonOps.td` (`tt.atomic_rmw`, `tt.atomic_cas`).
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.atomic_kinds import AtomicKind, AtomicRMWKind, kind_of
from xtile.dialects.core.attributes import MemoryOrderAttr, MemoryScopeAttr
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.scattered import INDICES, MEMORY, verify_access
from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import as_vector

_OF_FLOATS = frozenset(
    {
        AtomicRMWKind.addf,
        AtomicRMWKind.maximumf,
        AtomicRMWKind.maxnumf,
        AtomicRMWKind.minimumf,
        AtomicRMWKind.minnumf,
        AtomicRMWKind.mulf,
    }
)


@op_definition
class AtomicRMWOp(IRDLOperation):
    """Updates elements of memory, each at once, where a mask is true; returns what they were.

    ```
    %old = core.atomic_rmw addf acq_rel device %v, %m[%row, %columns], %mask
        : vector<8xf32>, memref<?x?xf32>[index, vector<8xi32>], vector<8xi1>
    ```

    The memory is a memref with indices, or pointers, as in `core.gather_load`. Elements at one
    position are updated one after the other, in any order. The old value of an element that is left
    out is 0.
    """

    name = "core.atomic_rmw"

    T: ClassVar = VarConstraint("T", AnyAttr())

    kind = prop_def(Attribute)
    order = prop_def(MemoryOrderAttr)
    scope = prop_def(MemoryScopeAttr)
    value = operand_def(T)
    memory = operand_def(MEMORY)
    indices = var_operand_def(INDICES)
    mask = opt_operand_def(Attribute)
    result = result_def(T)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "custom<AtomicKind>($kind) $order $scope $value `,` $memory (`[` $indices^ `]`)? "
        "(`,` $mask^)? attr-dict `:` type($value) `,` type($memory) (`[` type($indices)^ `]`)? "
        "(`,` type($mask)^)?"
    )
    custom_directives: ClassVar = (AtomicKind,)

    @override
    def verify_(self) -> None:
        verify_access(self.memory, self.indices, self.mask, self.value)
        _verify_number(self.value.type)
        kind, element = kind_of(self.kind), _element(self.value.type)
        is_for_floats = kind in _OF_FLOATS
        if kind is not AtomicRMWKind.assign and is_for_floats != isinstance(element, AnyFloat):
            numbers = "floats" if is_for_floats else "integers"
            raise VerifyException(f"{kind.name} is for {numbers}, got {element}")


@op_definition
class AtomicCompareAndSwapOp(IRDLOperation):
    """Replaces elements of memory that have the bits of others; returns what they were.

    ```
    %old = core.atomic_compare_and_swap acq_rel device %expected, %new, %m[%i]
        : i32, memref<?xi32>[index]
    ```

    Each is compared and replaced at once. Everything else is as in `core.atomic_rmw`.
    """

    name = "core.atomic_compare_and_swap"

    T: ClassVar = VarConstraint("T", AnyAttr())

    order = prop_def(MemoryOrderAttr)
    scope = prop_def(MemoryScopeAttr)
    expected = operand_def(T)
    value = operand_def(T)
    memory = operand_def(MEMORY)
    indices = var_operand_def(INDICES)
    mask = opt_operand_def(Attribute)
    result = result_def(T)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format = (
        "$order $scope $expected `,` $value `,` $memory (`[` $indices^ `]`)? (`,` $mask^)? "
        "attr-dict `:` type($value) `,` type($memory) (`[` type($indices)^ `]`)? "
        "(`,` type($mask)^)?"
    )

    @override
    def verify_(self) -> None:
        verify_access(self.memory, self.indices, self.mask, self.value)
        _verify_number(self.value.type)


def _verify_number(type_: Attribute) -> None:
    if pointer_of(type_) is not None:
        raise VerifyException(
            "pointers are updated as integers: expected memory of i64 and core.pointer_to_integer, "
            f"got {type_}"
        )


def _element(type_: Attribute) -> Attribute:
    vector = as_vector(type_)
    return type_ if vector is None else vector.element_type
