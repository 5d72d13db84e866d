"""Barriers, waits and hints.

Source: Triton 3.4 to 3.9, `third_party/amd`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, i1, i32, i64
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.amdg.attributes import SchedHintVariantAttr
from xtile.dialects.triton.assembly import print_attributes, split_properties
from xtile.dialects.triton.module_attributes import BLOCKS, blocks_around
from xtile.dialects.triton.operation import Operand, TritonOperation
from xtile.dialects.triton.ttg.constraints import I32_NUMBER, MEMDESC, TOKEN, memdesc_of
from xtile.dialects.triton.ttg.types import AsyncTokenType
from xtile.dialects.triton.versions import V3_6, V3_7, Release


@op_definition
class CondBarrierOp(TritonOperation):
    """Warps for which a condition holds wait for each other; it orders no memory.

    ```
    amdg.cond_barrier %p
    ```
    """

    name = "amdg.cond_barrier"

    pred = operand_def(i1)

    assembly_format = "$pred attr-dict"

    def __init__(self, pred: Operand) -> None:
        super().__init__(operands=[pred])


@op_definition
class InstructionSchedHintOp(TritonOperation):
    """How the instructions of the block are to be interleaved, until 3.7.

    ```
    amdg.instruction_sched_hint {variant = #amdg.SchedHintVariant<none>}
    ```
    """

    name = "amdg.instruction_sched_hint"
    UNTIL: ClassVar[Release | None] = V3_7

    variant = prop_def(SchedHintVariantAttr)
    numDsReadsA = opt_prop_def()  # noqa: N815
    numDsReadsB = opt_prop_def()  # noqa: N815
    numDsWritesA = opt_prop_def()  # noqa: N815
    numDsWritesB = opt_prop_def()  # noqa: N815
    numGlobalLoadsA = opt_prop_def()  # noqa: N815
    numGlobalLoadsB = opt_prop_def()  # noqa: N815
    isBufferLoadsAEnabled = opt_prop_def()  # noqa: N815
    isBufferLoadsBEnabled = opt_prop_def()  # noqa: N815
    numMMAs = opt_prop_def()  # noqa: N815

    assembly_format = "attr-dict"

    def __init__(self, variant: SchedHintVariantAttr) -> None:
        super().__init__(properties={"variant": variant})


@op_definition
class AsyncWaitOp(TritonOperation):
    """Waits until no more than so many instructions that copy run.

    ```
    %t1 = amdg.async_wait %t {num_inst = 0 : i32}
    ```
    """

    name = "amdg.async_wait"
    SINCE: ClassVar[Release] = V3_6

    asyncToken = var_operand_def(TOKEN)  # noqa: N815
    num_inst = prop_def(I32_NUMBER)
    retToken = result_def(TOKEN)  # noqa: N815

    assembly_format = "($asyncToken^)? attr-dict"

    def __init__(self, tokens: Sequence[Operand], num_inst: int) -> None:
        super().__init__(
            operands=[tokens],
            properties={"num_inst": IntegerAttr(num_inst, i32)},
            result_types=[AsyncTokenType()],
        )


@op_definition
class AsyncTDMWaitOp(TritonOperation):
    """Waits until no more than so many operations of the tensor data mover run.

    ```
    %t1 = amdg.async_tdm_wait %t {num = 0 : i32}
    ```
    """

    name = "amdg.async_tdm_wait"
    SINCE: ClassVar[Release] = V3_6

    asyncToken = var_operand_def(TOKEN)  # noqa: N815
    num = prop_def(I32_NUMBER)
    retToken = result_def(TOKEN)  # noqa: N815

    def __init__(self, tokens: Sequence[Operand], num: int) -> None:
        super().__init__(
            operands=[tokens],
            properties={"num": IntegerAttr(num, i32)},
            result_types=[AsyncTokenType()],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        given = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        tokens = [parser.resolve_operand(each, AsyncTokenType()) for each in given or ()]
        properties, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        return cls.build(
            operands=[tokens],
            properties=properties,
            attributes=attributes,
            result_types=[AsyncTokenType()],
        )

    @override
    def print(self, printer: Printer) -> None:
        # Without tokens there are two blanks, as Triton prints it.
        printer.print_string(" ")
        printer.print_list(self.asyncToken, printer.print_ssa_value)
        print_attributes(printer, self)


@op_definition
class AsyncTDMIntrinsicWaitOp(TritonOperation):
    """Waits until no more than so many instructions of the tensor data mover run.

    ```
    %t1 = amdg.async_tdm_intrinsic_wait %t {count = 0 : i32}
    ```
    """

    name = "amdg.async_tdm_intrinsic_wait"
    SINCE: ClassVar[Release] = V3_7

    asyncToken = var_operand_def(TOKEN)  # noqa: N815
    count = prop_def(I32_NUMBER)
    retToken = result_def(TOKEN)  # noqa: N815

    assembly_format = "($asyncToken^)? attr-dict"

    def __init__(self, tokens: Sequence[Operand], count: int) -> None:
        super().__init__(
            operands=[tokens],
            properties={"count": IntegerAttr(count, i32)},
            result_types=[AsyncTokenType()],
        )


def _verify_barrier(operation: Operation, type_: Attribute) -> None:
    memory = memdesc_of(type_)
    shape, most = memory.get_shape(), blocks_around(operation)
    if memory.element_type != i64 or len(shape) != 1 or shape[0] > most:
        raise VerifyException(
            f"the barrier is {memory}; a barrier is one i64, or one for each block of a cluster"
        )


def _verify_count(count: IntegerAttr) -> None:
    if count.value.data < 1:
        raise VerifyException(f"count is {count.value.data}; one arrives at least")


def _verify_cluster(operation: Operation) -> None:
    if blocks_around(operation) == 1:
        raise VerifyException(f"{BLOCKS} is 1; there are no other blocks to wait for")


@op_definition
class InitBarrierOp(TritonOperation):
    """Makes local memory a barrier at which so many arrive.

    ```
    amdg.init_barrier %b, 2 : !ttg.memdesc<1xi64, #row, #smem, mutable>
    ```
    """

    name = "amdg.init_barrier"
    SINCE: ClassVar[Release] = V3_6

    alloc = operand_def(MEMDESC)
    count = prop_def(I32_NUMBER)

    assembly_format = "$alloc `,` $count attr-dict `:` type($alloc)"

    def __init__(self, alloc: Operand, count: int) -> None:
        super().__init__(operands=[alloc], properties={"count": IntegerAttr(count, i32)})

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_barrier(self, self.alloc.type)
        _verify_count(self.count)


@op_definition
class WaitBarrierOp(TritonOperation):
    """Waits until a phase of a barrier is over.

    ```
    amdg.wait_barrier %b, %phase : !ttg.memdesc<1xi64, #row, #smem, mutable>
    ```
    """

    name = "amdg.wait_barrier"
    SINCE: ClassVar[Release] = V3_6

    alloc = operand_def(MEMDESC)
    phase = operand_def(i32)

    assembly_format = "$alloc `,` $phase attr-dict `:` type($alloc)"

    def __init__(self, alloc: Operand, phase: Operand) -> None:
        super().__init__(operands=[alloc, phase])

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_barrier(self, self.alloc.type)


@op_definition
class ArriveBarrierOp(TritonOperation):
    """Arrives at a barrier so many times; the result is the parity of the phase before.

    ```
    %phase = amdg.arrive_barrier %b, 2 : !ttg.memdesc<1xi64, #row, #smem, mutable> -> i32
    ```
    """

    name = "amdg.arrive_barrier"
    SINCE: ClassVar[Release] = V3_6

    alloc = operand_def(MEMDESC)
    count = prop_def(I32_NUMBER)
    result = result_def(i32)

    assembly_format = "$alloc `,` $count attr-dict `:` type($alloc) `->` type($result)"

    def __init__(self, alloc: Operand, count: int) -> None:
        super().__init__(
            operands=[alloc], properties={"count": IntegerAttr(count, i32)}, result_types=[i32]
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_barrier(self, self.alloc.type)
        _verify_count(self.count)


@op_definition
class AsyncCopyMbarrierArriveOp(TritonOperation):
    """Arrives at a barrier once the copies before it are done.

    ```
    amdg.async_copy_mbarrier_arrive %b : !ttg.memdesc<1xi64, #row, #smem, mutable>
    ```
    """

    name = "amdg.async_copy_mbarrier_arrive"
    SINCE: ClassVar[Release] = V3_6

    barrier = operand_def(MEMDESC)

    assembly_format = "$barrier attr-dict `:` type($barrier)"

    def __init__(self, barrier: Operand) -> None:
        super().__init__(operands=[barrier])

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_barrier(self, self.barrier.type)


@op_definition
class ClusterBarrierArriveOp(TritonOperation):
    """Arrives at the barrier of all blocks of a cluster.

    ```
    amdg.cluster_barrier_arrive
    ```
    """

    name = "amdg.cluster_barrier_arrive"
    SINCE: ClassVar[Release] = V3_7

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_cluster(self)


@op_definition
class ClusterBarrierWaitOp(TritonOperation):
    """Waits until all blocks of a cluster have arrived.

    ```
    amdg.cluster_barrier_wait
    ```
    """

    name = "amdg.cluster_barrier_wait"
    SINCE: ClassVar[Release] = V3_7

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_cluster(self)


OPERATIONS: list[type[Operation]] = [
    CondBarrierOp,
    InstructionSchedHintOp,
    AsyncWaitOp,
    AsyncTDMWaitOp,
    AsyncTDMIntrinsicWaitOp,
    InitBarrierOp,
    WaitBarrierOp,
    ArriveBarrierOp,
    AsyncCopyMbarrierArriveOp,
    ClusterBarrierArriveOp,
    ClusterBarrierWaitOp,
]
"""Every operation of this module."""
