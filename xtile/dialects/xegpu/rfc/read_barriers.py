"""The RFC's operations on named barriers, fences, and hints."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i8, i64
from xdsl.ir import Operation, SSAValue

from xtile.dialects.xegpu.attributes import (
    FenceScope,
    FenceScopeAttr,
    MemorySpace,
    MemorySpaceAttr,
)
from xtile.dialects.xegpu.ops.barriers import (
    AllocNbarrierOp,
    FenceOp,
    InitNbarrierOp,
    NbarrierArriveOp,
    NbarrierWaitOp,
)
from xtile.dialects.xegpu.rfc.common import Properties, leftover, result_type, take_mode
from xtile.dialects.xegpu.rfc.names import MEMORY_SPACES
from xtile.dialects.xegpu.rfc.operands import resolve
from xtile.dialects.xegpu.rfc.operation_text import OperationText
from xtile.dialects.xegpu.rfc.operations import (
    SCHEDULE_BARRIER,
    CompileHintOp,
    CreateNbarrierOp,
    MfenceOp,
)
from xtile.dialects.xegpu.types import NbarrierType


def read_alloc_nbarrier(text: OperationText) -> Operation:
    """Reads `alloc_nbarrier %n : i8` or `alloc_nbarrier 8`.

    The RFC's table also calls `init_nbarrier` so, which has two operands.
    """
    if len(text.operands) == 2:
        return read_init_nbarrier(text)
    number = text.literal
    if number is None:
        (count,) = resolve(text, 1)
        number = _constant(text, count)
    return AllocNbarrierOp.build(
        properties={"nbarrier_num": IntegerAttr(number, i64)}, attributes=leftover(text)
    )


def read_init_nbarrier(text: OperationText) -> Operation:
    """Reads `init_nbarrier %id, %threads : i8, i8 into nbarrier`."""
    return InitNbarrierOp.build(
        operands=[*resolve(text, 2)],
        attributes=leftover(text),
        result_types=[result_type(text, NbarrierType())],
    )


def read_create_nbarrier(text: OperationText) -> Operation:
    """Reads `create_nbarrier %id, %role {num_producers = 8, num_consumers = 8} : (i8, i8)`."""
    values = resolve(text, 2)
    take_mode(text)
    properties: Properties = {}
    for name in ("num_producers", "num_consumers"):
        number = text.take_integer(name)
        if number is None:
            text.error(f"{text.spelling} needs {name}")
        properties[name] = IntegerAttr(number, i8)
    return CreateNbarrierOp.build(
        operands=[*values],
        properties=properties,
        attributes=leftover(text),
        result_types=[result_type(text, NbarrierType())],
    )


def read_nbarrier_arrive(text: OperationText) -> Operation:
    """Reads `nbarrier_arrive %b`, with or without the type."""
    return NbarrierArriveOp.build(operands=[*resolve(text, 1)], attributes=leftover(text))


def read_nbarrier_wait(text: OperationText) -> Operation:
    """Reads `nbarrier_wait %b`, with or without the type."""
    return NbarrierWaitOp.build(operands=[*resolve(text, 1)], attributes=leftover(text))


def read_fence(text: OperationText) -> Operation:
    """Reads `fence {scope = gpu, memory_kind = global}`, the values in quotes or not."""
    spaces = (*MemorySpace, *MEMORY_SPACES)
    space = text.take_keyword("memory_kind", spaces)
    scope = text.take_keyword("scope", (*FenceScope,)) or text.take_keyword(
        "fence_scope", (*FenceScope,)
    )
    if space is None or scope is None:
        text.error(f"{text.spelling} needs scope and memory_kind")
    return FenceOp.build(
        properties={
            "memory_kind": MemorySpaceAttr(MemorySpace(MEMORY_SPACES.get(space, space))),
            "fence_scope": FenceScopeAttr(FenceScope(scope)),
        },
        attributes=leftover(text),
    )


def read_mfence(text: OperationText) -> Operation:
    """Reads `mfence {memory_kind = "ugm", fence_op = "none", fence_scope = "local"}`."""
    properties: Properties = {}
    for name in ("memory_kind", "fence_op", "fence_scope"):
        given = text.take(name)
        if given is None or given.keyword is None:
            text.error(f"{text.spelling} needs {name} as a string")
        properties[name] = StringAttr(given.keyword)
    return MfenceOp.build(properties=properties, attributes=leftover(text))


def read_compile_hint(text: OperationText) -> Operation:
    """Reads `compile_hint {hint = schedule_barrier}`, or what the RFC and kernels write for it."""
    hint = text.take_keyword("hint", (SCHEDULE_BARRIER, "scheduling_barrier"))
    for name in ("scheduling_barrier", SCHEDULE_BARRIER):
        if text.take_flag(name):
            hint = name
    properties: Properties = {} if hint is None else {"hint": StringAttr(SCHEDULE_BARRIER)}
    return CompileHintOp.build(properties=properties, attributes=leftover(text))


BARRIER_READERS: dict[str, Callable[[OperationText], Operation]] = {
    "xegpu.alloc_nbarrier": read_alloc_nbarrier,
    "xegpu.compile_hint": read_compile_hint,
    "xegpu.create_nbarrier": read_create_nbarrier,
    "xegpu.fence": read_fence,
    "xegpu.init_nbarrier": read_init_nbarrier,
    "xegpu.mfence": read_mfence,
    "xegpu.nbarrier_arrive": read_nbarrier_arrive,
    "xegpu.nbarrier_wait": read_nbarrier_wait,
}
"""What reads the operations of this module, by their names in the dialect."""


def _constant(text: OperationText, value: SSAValue) -> int:
    """Returns the number that an operand is known to be.

    Raises:
        ParseError: It is known only at run time, and the hardware allocates barriers before.
    """
    owner = value.owner
    number = owner.properties.get("value") if isinstance(owner, Operation) else None
    if not isinstance(number, IntegerAttr):
        text.error(f"{text.spelling} takes a constant number of barriers, not a value of run time")
    return number.value.data
