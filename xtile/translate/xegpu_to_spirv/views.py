"""Memrefs that are made of others, and what is asked of them.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`; docs/semantics.md, 7, "Memory".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, UnrankedMemRefType
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from xtile.rewrite import descriptors
from xtile.rewrite.descriptors import Descriptor, Group
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import bitcast_pointer
from xtile.translate.xegpu_to_spirv.types import memory_type, memref_type, natural_alignment


def _cast(operation: Operation, lowering: Lowering) -> None:
    if isinstance(operation.results[0].type, UnrankedMemRefType):
        raise lowering.error("a memref without a rank cannot be translated to SPIR-V")
    descriptors.RULES[operation.name](operation, lowering)


def _unrealized_conversion_cast(operation: Operation, lowering: Lowering) -> None:
    """A memref's memory with elements of another type; its numbers stay.

    What changes no type in SPIR-V, such as index to i64, changes nothing.
    """
    if len(operation.operands) != 1 or len(operation.results) != 1:
        raise lowering.error("a conversion cast of several values cannot be translated to SPIR-V")
    (result,) = operation.results
    meaning = lowering.meaning(operation.operands[0])
    if isinstance(meaning, Descriptor) and isa(result.type, MemRefType):
        element = result.type.element_type
        pointer = bitcast_pointer(lowering, meaning.pointer, memory_type(element))
        lowering.define(result, replace(meaning, pointer=pointer, element=element))
        return
    if isinstance(meaning, Group) and isa(result.type, MemRefType):
        type_ = memref_type(result.type.element_type)
        if memory_type(type_.element_type) == memory_type(meaning.type.element_type):
            # Of bf16, whose memory is that of its bits.
            lowering.define(result, replace(meaning, type=type_))
            return
    given = tuple(value.type for value in lowering.flat(operation.operands))
    if lowering.flat_types(result.type) != given:
        raise lowering.error(
            f"a conversion cast from {operation.operands[0].type} to {result.type} cannot be "
            "translated to SPIR-V"
        )
    lowering.define(result, meaning)


def _view(operation: Operation, lowering: Lowering) -> None:
    """Bytes as elements of another type, without gaps."""
    source = lowering.descriptor(operation.operands[0])
    shift, *dynamic = lowering.numbers(operation.operands[1:])
    type_ = memref_type(operation.results[0].type)
    given = iter(dynamic)
    sizes = [next(given) if size == DYNAMIC_INDEX else size for size in type_.get_shape()]
    strides = _row_major(lowering, sizes)
    pointer = source.pointer
    byte = lowering.add(source.offset, shift)
    if byte != 0:
        pointer = lowering.shared_compute(
            "InBoundsPtrAccessChain", pointer.type, pointer, lowering.as_value(byte)
        )
    element = type_.element_type
    pointer = bitcast_pointer(lowering, pointer, memory_type(element))
    alignment = natural_alignment(element)
    view = Descriptor(pointer, element, 0, tuple(sizes), tuple(strides), alignment)
    lowering.define(operation.results[0], view)


def _row_major(lowering: Lowering, sizes: Sequence[Index]) -> list[Index]:
    strides: list[Index] = []
    stride: Index = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = lowering.multiply(stride, size)
    return strides


def _distinct_objects(operation: Operation, lowering: Lowering) -> None:
    for source, result in zip(operation.operands, operation.results, strict=True):
        lowering.define(result, lowering.meaning(source))


RULES: dict[str, Rule] = {
    **descriptors.RULES,
    "builtin.unrealized_conversion_cast": _unrealized_conversion_cast,
    "memref.cast": _cast,
    "memref.distinct_objects": _distinct_objects,
    "memref.view": _view,
}
"""The rule of each operation, by name."""
