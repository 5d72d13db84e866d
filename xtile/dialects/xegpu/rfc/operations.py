"""Operations that the RFC or the first kernels have and LLVM 22 does not.

Source: RFC, `compile_hint`; the dialect of mlir-extensions of April 2024.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import I8, IntegerAttr, StringAttr, i8
from xdsl.ir import Operation
from xdsl.irdl import (
    EqAttrConstraint,
    IRDLOperation,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from xtile.dialects.definitions import op_definition
from xtile.dialects.xegpu.types import NbarrierType

SCHEDULE_BARRIER = "schedule_barrier"
"""The hint that keeps the lower-level compiler from moving instructions across it."""


@op_definition
class CompileHintOp(IRDLOperation):
    """Passes a hint to the lower-level compiler; the first kernels give none and mean the barrier.

    ```
    xegpu.compile_hint {hint = "schedule_barrier"}
    ```
    """

    name = "xegpu.compile_hint"

    hint = opt_prop_def(StringAttr)

    assembly_format: ClassVar = "attr-dict"


@op_definition
class CreateNbarrierOp(IRDLOperation):
    """Binds this thread to a named barrier as its producer, its consumer or both.

    ```
    %b = xegpu.create_nbarrier %id, %role {num_consumers = 16 : i8, num_producers = 16 : i8}
      : (i8, i8) -> !xegpu.nbarrier
    ```
    """

    name = "xegpu.create_nbarrier"

    nbarrier_id = operand_def(EqAttrConstraint(i8))
    nbarrier_role = operand_def(EqAttrConstraint(i8))
    num_producers = prop_def(IntegerAttr[I8])
    num_consumers = prop_def(IntegerAttr[I8])
    result = result_def(NbarrierType)

    assembly_format: ClassVar = (
        "$nbarrier_id `,` $nbarrier_role attr-dict "
        "`:` `(` type($nbarrier_id) `,` type($nbarrier_role) `)` `->` type($result)"
    )


@op_definition
class MfenceOp(IRDLOperation):
    """Orders memory accesses, in the words of the load/store unit.

    ```
    xegpu.mfence {fence_op = "none", fence_scope = "local", memory_kind = "ugm"}
    ```
    """

    name = "xegpu.mfence"

    memory_kind = prop_def(StringAttr)
    fence_op = prop_def(StringAttr)
    fence_scope = prop_def(StringAttr)

    assembly_format: ClassVar = "attr-dict"


OPERATIONS: list[type[Operation]] = [CompileHintOp, CreateNbarrierOp, MfenceOp]
"""Every operation of this module."""
