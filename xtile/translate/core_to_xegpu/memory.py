"""Memory of scalars: bf16 through its bits, local memory as a global variable, atomics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    StringAttr,
    UnitAttr,
    UnrealizedConversionCastOp,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.core.attributes import ComplexPart
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.memory_orders import Ordering, ordering_of
from xtile.dialects.memref import allocation
from xtile.dialects.memref.access import ATOMIC_KINDS, AtomicYieldOp, GenericAtomicRMWOp
from xtile.rewrite.facts import constant_of
from xtile.rewrite.memref_layouts import layout_of, mixed
from xtile.rewrite.rebuilder import Rule, block_of
from xtile.transforms.distribute.local_memory import size_in_bytes
from xtile.translate.core_to_xegpu.bfloat16 import narrow, widen
from xtile.translate.core_to_xegpu.lowering import (
    LOCAL_MEMORY_SPACE,
    Lowering,
    carried_type,
)
from xtile.translate.core_to_xegpu.views import metadata_of, static_strides, strided_view, type_of

_ATOMIC_ARITHMETIC: dict[str, type[arith.FloatingPointLikeBinaryOperation]] = {
    "addf": arith.AddfOp,
    "mulf": arith.MulfOp,
    "maximumf": arith.MaximumfOp,
    "minimumf": arith.MinimumfOp,
    "maxnumf": arith.MaxnumfOp,
    "minnumf": arith.MinnumfOp,
}
"""What an atomic update of a float computes, by upstream's name of its kind."""


def reinterpreted(lowering: Lowering, memory: SSAValue, element: Attribute) -> SSAValue:
    """The same memory with elements of another type; offset, sizes and strides keep their numbers.

    Where the types have not the same size, only the address is of use.
    """
    type_ = cast("MemRefType[Attribute]", memory.type)
    if type_.element_type == element:
        return memory
    target = MemRefType(element, type_.shape, type_.layout, type_.memory_space)
    return lowering.shared(
        ("reinterpreted", memory, element),
        (memory,),
        lambda: lowering.emit(UnrealizedConversionCastOp.get([memory], [target])).results[0],
    )


def _alloca(operation: Operation, lowering: Lowering) -> None:
    """Local memory becomes a variable of the module, as SPIR-V has it."""
    type_ = cast("MemRefType[Attribute]", carried_type(operation.results[0].type))
    if type_.memory_space != LOCAL_MEMORY_SPACE:
        from xtile.translate.core_to_xegpu.copying import copy

        copy(operation, lowering)
        return
    name = f"local_{len(lowering.globals)}"
    variable = _variable_type(type_)
    _count_local_memory(lowering, variable)
    lowering.globals.append(
        allocation.GlobalOp.build(
            properties={
                "sym_name": StringAttr(name),
                "sym_visibility": StringAttr("private"),
                "type": variable,
                "initial_value": UnitAttr(),
                "alignment": operation.properties.get("alignment"),
            }
        )
    )
    memory = lowering.emit(memref.GetGlobalOp(name, variable)).results[0]
    if variable != type_:
        strides = [0 if stride is None else stride for stride in static_strides(type_)]
        memory = strided_view(lowering, memory, 0, type_.get_shape(), strides)
    lowering.define(operation.results[0], memory)


def _count_local_memory(lowering: Lowering, variable: MemRefType[Attribute]) -> None:
    """Counts the variables of a kernel, which do not share memory.

    Raises:
        DiagnosticError: A work-group cannot have so much.
    """
    size = math.prod(variable.get_shape()) * size_in_bytes(variable.element_type)
    lowering.local_bytes += size
    target = lowering.target
    most = target.chip.local_memory
    if lowering.local_bytes > most:
        raise lowering.error(
            f"a work-group of {target.name} can have {most} bytes of local memory, "
            f"but with these {size} the kernel needs {lowering.local_bytes}"
        )


def _variable_type(type_: MemRefType[Attribute]) -> MemRefType[Attribute]:
    """The type of a variable that holds a memref, which must be without gaps for LLVM."""
    if isinstance(type_.layout, NoneAttr):
        return type_
    count = layout_of(type_).allocated_elements()
    return MemRefType(type_.element_type, [count], NoneAttr(), type_.memory_space)


def _complex_part(operation: ComplexPartOp, lowering: Lowering) -> None:
    """Every second number of the same memory."""
    first = int(operation.part.data is ComplexPart.IMAGINARY)
    source = lowering.value(operation.source)
    element = operation.result.type.element_type

    def view() -> SSAValue:
        whole = metadata_of(lowering, source)
        offset = lowering.add(lowering.multiply(whole.offset, 2), first)
        strides = [lowering.multiply(stride, 2) for stride in whole.strides]
        numbers = reinterpreted(lowering, source, element)
        return strided_view(lowering, numbers, offset, whole.sizes, strides)

    part = lowering.shared((ComplexPartOp, source, first), (source,), view)
    lowering.define(operation.result, part)


def _atomic_rmw(operation: Operation, lowering: Lowering) -> None:
    value, memory, *indices = lowering.values(operation.operands)
    kind = cast("IntegerAttr[IntegerType]", operation.properties["kind"]).value.data
    element = operation.results[0].type
    ordering = ordering_of(operation)
    old = update(lowering, ATOMIC_KINDS[kind], value, memory, indices, element, ordering)
    lowering.define(operation.results[0], old)


def update(
    lowering: Lowering,
    kind: str,
    value: SSAValue,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    element: Attribute,
    ordering: Ordering,
) -> SSAValue:
    """Updates one element atomically and returns what it was before.

    Floats are updated by compare-and-swap of their bits, because float atomics need an extension
    of SPIR-V; `index` is an i64.

    Args:
        lowering: Where to emit.
        kind: Upstream's name of the update.
        value: The operand; a bf16 as its bits.
        memory: The memref.
        indices: The location in it.
        element: The type of the number in the source.
        ordering: What it orders, and for whom.
    """
    if isinstance(element, IndexType):
        wide = lowering.emit(arith.IndexCastOp(value, i64)).result
        words = reinterpreted(lowering, memory, i64)
        old = _update_integer(lowering, kind, wide, words, indices, ordering)
        return lowering.emit(arith.IndexCastOp(old, element)).result
    if isinstance(element, IntegerType):
        return _update_integer(lowering, kind, value, memory, indices, ordering)
    bits_type = IntegerType(_width(element))
    words = reinterpreted(lowering, memory, bits_type)
    if kind == "assign" or kind == "ori":
        bits = _to_bits(lowering, value, bits_type)
        old = _update_integer(lowering, kind, bits, words, indices, ordering)
    else:
        old = _compare_and_swap(lowering, kind, value, words, indices, element, ordering)
    return _from_bits(lowering, old, element)


def _width(element: Attribute) -> int:
    if isinstance(element, Float16Type | BFloat16Type):
        return 16
    return 32 if isinstance(element, Float32Type) else 64


def _to_bits(lowering: Lowering, value: SSAValue, bits_type: IntegerType) -> SSAValue:
    if value.type == bits_type:
        return value
    return lowering.emit(arith.BitcastOp(value, bits_type)).result


def _from_bits(lowering: Lowering, bits: SSAValue, element: Attribute) -> SSAValue:
    if isinstance(element, BFloat16Type):
        return bits
    return lowering.emit(arith.BitcastOp(bits, element)).result


def _update_integer(
    lowering: Lowering,
    kind: str,
    value: SSAValue,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    ordering: Ordering,
) -> SSAValue:
    operation = memref.AtomicRMWOp.build(
        operands=[value, memory, list(indices)],
        result_types=[value.type],
        properties={"kind": IntegerAttr(ATOMIC_KINDS.index(kind), i64)},
        attributes=ordering.attributes,
    )
    return lowering.emit(operation).results[0]


def _compare_and_swap(
    lowering: Lowering,
    kind: str,
    value: SSAValue,
    words: SSAValue,
    indices: Sequence[SSAValue],
    element: Attribute,
    ordering: Ordering,
) -> SSAValue:
    type_ = cast("MemRefType[IntegerType]", words.type).element_type
    is_bfloat16 = isinstance(element, BFloat16Type)
    operand = widen(lowering, value) if is_bfloat16 else value
    block = Block(arg_types=[type_])
    with lowering.at_end_of(block):
        bits = block.args[0]
        current = widen(lowering, bits) if is_bfloat16 else _from_bits(lowering, bits, element)
        result = lowering.emit(_ATOMIC_ARITHMETIC[kind](current, operand)).results[0]
        new = narrow(lowering, result) if is_bfloat16 else _to_bits(lowering, result, type_)
        lowering.emit(AtomicYieldOp.build(operands=[new]))
    operation = GenericAtomicRMWOp.build(
        operands=[words, list(indices)],
        result_types=[type_],
        regions=[Region([block])],
        attributes=ordering.attributes,
    )
    return lowering.emit(operation).results[0]


def _dim(operation: Operation, lowering: Lowering) -> None:
    """A size, of which the attributes of a parameter can tell a divisor."""
    memory, dimension = lowering.values(operation.operands)
    number = constant_of(dimension)
    size = None if number is None else type_of(memory).get_shape()[number]
    if size not in (None, DYNAMIC_INDEX):
        lowering.define(operation.results[0], lowering.index(size))
        return
    owner = memory.owner
    if number is not None and isinstance(owner, ViewOp) and number not in owner.unknown_extents:
        own = mixed(owner.static_sizes, owner.sizes)[number]
        lowering.define(operation.results[0], lowering.as_value(own))
        return
    result = lowering.emit(memref.DimOp(memory, dimension)).results[0]
    if number is not None:
        lowering.learn_size(memory, number, result)
    lowering.define(operation.results[0], result)


def _assume(operation: AssumeOp, lowering: Lowering) -> None:
    """The same value; what is assumed of it where it is born is known of it everywhere."""
    old = operation.value
    lowering.define(operation.result, lowering.meaning(old))
    if isinstance(old.type, VectorType) or block_of(old) is not operation.parent_block():
        return
    value, facts = lowering.value(old), lowering.facts
    divisor, least = facts.promise_of(operation)
    known = facts.is_not_negative(value) or (least is not None and least >= 0)
    bound = max(least or 0, facts.least(value))
    facts.assume(value, math.lcm(divisor, facts.divisor(value)), known, bound)


RULES: dict[str, Rule] = {
    AssumeOp.name: _assume,
    memref.AllocaOp.name: _alloca,
    ComplexPartOp.name: _complex_part,
    memref.AtomicRMWOp.name: _atomic_rmw,
    memref.DimOp.name: _dim,
}
