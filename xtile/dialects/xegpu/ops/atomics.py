"""Atomic updates of scattered points.

Source: MLIR (LLVM 22), `XeGPUOps.td`, `atomic_rmw`; `Dialect/Arith/IR/ArithBase.td`,
`AtomicRMWKindAttr`.
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.atomic_kinds import AtomicKind, AtomicRMWKind, kind_of
from xtile.dialects.definitions import op_definition
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.xegpu.constraints import LAYOUT, MASK, TENSOR_DESC, VALUE
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.operation import (
    Operand,
    XeGPUOperation,
    expect_same_element_type,
    shape_of,
    shape_text,
)


@op_definition
class AtomicRMWOp(XeGPUOperation):
    """Updates each point that the mask allows, and returns what was there before.

    ```
    %old = xegpu.atomic_rmw addf %t, %k, %v
      : !xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xf32>
      -> vector<16xf32>
    ```
    """

    name = "xegpu.atomic_rmw"

    kind = prop_def(IntegerAttr.constr(i64))
    tensorDesc = operand_def(TENSOR_DESC)  # noqa: N815
    mask = operand_def(MASK)
    value = operand_def(VALUE)
    layout = opt_prop_def(LAYOUT)
    result = result_def(VALUE)

    assembly_format = (
        "custom<AtomicKind>($kind) $tensorDesc `,` $mask `,` $value attr-dict `:` "
        "type($tensorDesc) `,` type($mask) `,` type($value) `->` type($result)"
    )
    custom_directives: ClassVar = (AtomicKind,)

    def __init__(
        self,
        kind: AtomicRMWKind,
        tensor_desc: Operand,
        mask: Operand,
        value: Operand,
        *,
        layout: DistributeLayoutAttr | None = None,
    ) -> None:
        super().__init__(
            operands=[tensor_desc, mask, value],
            properties={"kind": IntegerAttr(int(kind), i64), "layout": layout},
            result_types=[SSAValue.get(value).type],
        )

    @property
    def update(self) -> AtomicRMWKind:
        """How memory and value are combined."""
        return kind_of(self.kind)

    @override
    def verify_(self) -> None:
        kind_of(self.kind)
        ordering_of(self)
        descriptor = self.tensorDesc.type
        values = {"value": self.value.type, "result": self.result.type}
        for name, type in values.items():
            expect_same_element_type("the descriptor", descriptor, f"the {name}", type)
            if shape_of(type) != shape_of(descriptor):
                raise VerifyException(
                    f"the {name} has the shape {shape_text(shape_of(type))}; it must be the "
                    f"descriptor's shape {shape_text(shape_of(descriptor))}"
                )


OPERATIONS: list[type[Operation]] = [AtomicRMWOp]
"""Every operation of this module."""
