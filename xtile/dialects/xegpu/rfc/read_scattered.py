"""The RFC's operations on scattered points: `create_tdesc` and what uses its descriptors."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import Operation

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.dialects.xegpu.ops.descriptors import CreateDescOp, UpdateOffsetOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, PrefetchOp, StoreScatterOp
from xtile.dialects.xegpu.rfc.common import (
    Properties,
    integer_array,
    leftover,
    memory_scope,
    result_type,
    simt,
    take_hints,
    take_mode,
)
from xtile.dialects.xegpu.rfc.names import ATOMIC_KINDS, TRANSPOSE
from xtile.dialects.xegpu.rfc.operands import (
    descriptor_of,
    resolve,
    take_descriptor,
    take_mask,
)
from xtile.dialects.xegpu.rfc.operation_text import OperationText
from xtile.dialects.xegpu.types import TensorDescType


def read_create_tdesc(text: OperationText) -> Operation:
    """Reads `create_tdesc %base, %offsets {chunk_size_per_lane = 8, mode = vc}`.

    The size of the chunks is a part of the descriptor's type in the dialect.
    """
    source, offsets = resolve(text, 2)
    descriptor = result_type(text)
    if not isinstance(descriptor, TensorDescType):
        text.error(f"{text.spelling} makes a tensor_desc, not {descriptor}")
    take_mode(text, descriptor)
    for name in ("chunk_size", "chunk_size_per_lane"):
        given = text.attributes.get(name)
        size = text.take_integer(name)
        if given is not None and size != descriptor.chunk_size:
            text.error(
                f"{name} is {size}, but the result's type has chunks of {descriptor.chunk_size}; "
                "they must be the same",
                given.position,
            )
    return CreateDescOp.build(
        operands=[source, offsets],
        attributes={**leftover(text), **memory_scope(source, descriptor)},
        result_types=[descriptor],
    )


def read_update_offset(text: OperationText) -> Operation:
    """Reads `update_offset %t, %offsets`."""
    values = resolve(text, 2)
    source = take_descriptor(text, values)
    descriptor = descriptor_of(text, source)
    take_mode(text, descriptor)
    return UpdateOffsetOp.build(
        operands=[source, values[0]],
        attributes=leftover(text),
        result_types=[result_type(text, descriptor)],
    )


def read_prefetch(text: OperationText) -> Operation:
    """Reads `prefetch %t {L1_hint = cached, mode = vc}`."""
    (source,) = resolve(text, 1)
    take_mode(text, descriptor_of(text, source))
    return PrefetchOp.build(
        operands=[source, []],
        properties=take_hints(text),
        attributes=leftover(text),
        result_types=[],
    )


def read_load_gather(text: OperationText) -> Operation:
    """Reads `load_gather %t, %mask {transpose = [1, 0], mode = vc}`."""
    values = resolve(text, 2)
    source = take_descriptor(text, values)
    descriptor = descriptor_of(text, source)
    mode = take_mode(text, descriptor)
    value = result_type(text)
    attributes = {**_take_transpose(text), **simt(mode, value, descriptor)}
    return LoadGatherOp.build(
        operands=[source, [], values[0]],
        properties=take_hints(text),
        attributes={**leftover(text), **attributes},
        result_types=[value],
    )


def read_store_scatter(text: OperationText) -> Operation:
    """Reads `store_scatter %v, %t, %mask {mode = vc}`."""
    values = resolve(text, 3)
    target = take_descriptor(text, values)
    descriptor = descriptor_of(text, target)
    mode = take_mode(text, descriptor)
    mask = take_mask(text, values)
    attributes = {**_take_transpose(text), **simt(mode, values[0].type, descriptor)}
    return StoreScatterOp.build(
        operands=[values[0], target, [], mask],
        properties=take_hints(text),
        attributes={**leftover(text), **attributes},
        result_types=[],
    )


def read_atomic_rmw(text: OperationText) -> Operation:
    """Reads `atomic_rmw addf %v, %t, %mask`, the operands in any order and the kind in quotes."""
    values = resolve(text, 3)
    source = take_descriptor(text, values)
    take_mode(text, descriptor_of(text, source))
    mask = take_mask(text, values)
    return AtomicRMWOp.build(
        operands=[source, mask, values[0]],
        properties={"kind": kind_attribute(_kind(text))},
        attributes=leftover(text),
        result_types=[result_type(text, values[0].type)],
    )


SCATTERED_READERS: dict[str, Callable[[OperationText], Operation]] = {
    "xegpu.atomic_rmw": read_atomic_rmw,
    "xegpu.create_tdesc": read_create_tdesc,
    "xegpu.load": read_load_gather,
    "xegpu.prefetch": read_prefetch,
    "xegpu.store": read_store_scatter,
    "xegpu.update_offset": read_update_offset,
}
"""What reads the operations of this module, by their names in the dialect."""


def _kind(text: OperationText) -> AtomicRMWKind:
    """Returns the kind of an atomic update.

    Raises:
        ParseError: There is no such kind.
    """
    kind = text.kind or ""
    name = ATOMIC_KINDS.get(kind, kind)
    if name not in AtomicRMWKind.__members__:
        kinds = ", ".join([*AtomicRMWKind.__members__, *ATOMIC_KINDS])
        text.error(f"there is no atomic update '{name}'; expected one of {kinds}")
    return AtomicRMWKind[name]


def _take_transpose(text: OperationText) -> Properties:
    """Takes `transpose`, which later revisions write without the permutation.

    Raises:
        ParseError: It is another permutation than the one that the hardware has.
    """
    given = text.take("transpose")
    if given is None or given.flag is False:
        return {}
    if given.flag is None and given.integers != (1, 0):
        text.error("transpose must be [1, 0], or stand alone", given.position)
    return {TRANSPOSE: integer_array((1, 0))}
