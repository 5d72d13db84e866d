"""Atomic updates: by one instruction where there is one, else by compare-and-swap.

Numbers of 8 and 16 bits are swapped as part of the word of 32 bits that they are in, because OpenCL
has no smaller atomic types.

Source: SPIR-V Specification, 3.52.18 "Atomic Instructions"; docs/semantics.md, 7, "Memory".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.spirv import PointerType
from xtile.rewrite.descriptors import Descriptor
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.combining import combine, narrowed, widened
from xtile.translate.xegpu_to_spirv.conversions import bitcast
from xtile.translate.xegpu_to_spirv.gpu import (
    ACQUIRE_RELEASE,
    CROSS_WORKGROUP_MEMORY,
    DEVICE_SCOPE,
    WORKGROUP_MEMORY,
    WORKGROUP_SCOPE,
)
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import bitcast_pointer, location, pointer_to
from xtile.translate.xegpu_to_spirv.regions import translate_region
from xtile.translate.xegpu_to_spirv.types import (
    bit_width,
    memory_type,
    register_type,
    storage_class_at,
)

Update = Callable[[SSAValue], SSAValue]
"""Emits what an element becomes, from what it is; both as registers hold numbers of its type."""

_INTEGERS = {
    "addi": "AtomicIAdd",
    "andi": "AtomicAnd",
    "maxs": "AtomicSMax",
    "maxu": "AtomicUMax",
    "mins": "AtomicSMin",
    "minu": "AtomicUMin",
    "ori": "AtomicOr",
    "xori": "AtomicXor",
}
"""The instruction of each kind for integers of 32 and 64 bits."""

_FLOATS: dict[str, tuple[str, tuple[Attribute, ...]]] = {
    "addf": ("AtomicFAddEXT", (f32, f64)),
    "maxnumf": ("AtomicFMaxEXT", (f16, f32, f64)),
    "minnumf": ("AtomicFMinEXT", (f16, f32, f64)),
}
"""The instruction of each kind, and the floating types that all of Intel's devices have it for.

Sources: SPV_EXT_shader_atomic_float_add, SPV_EXT_shader_atomic_float_min_max; what drivers build.
"""

_SWAPPED = (32, 64)
"""The widths in bits of numbers that are exchanged as they are."""

_ACQUIRE = 0x2


class _Ordering:
    """The scope and the semantics of updates of a kind of memory."""

    def __init__(self, lowering: Lowering, storage_class: str) -> None:
        is_local = storage_class == "Workgroup"
        memory = WORKGROUP_MEMORY if is_local else CROSS_WORKGROUP_MEMORY
        self.scope = lowering.integer(WORKGROUP_SCOPE if is_local else DEVICE_SCOPE, i32)
        self.both = lowering.integer(ACQUIRE_RELEASE | memory, i32)
        self.acquire = lowering.integer(_ACQUIRE | memory, i32)


def _atomic_rmw(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    memory = lowering.descriptor(target)
    number = cast("IntegerAttr[IntegerType]", operation.properties["kind"]).value.data
    pointer = pointer_to(lowering, memory, location(lowering, memory, lowering.numbers(indices)))
    old = update(lowering, AtomicRMWKind(number).name, lowering.value(value), memory, pointer)
    lowering.define(operation.results[0], old)


def update(
    lowering: Lowering, kind: str, value: SSAValue, memory: Descriptor, pointer: SSAValue
) -> SSAValue:
    """Updates an element atomically and returns what it was before.

    Args:
        lowering: Where to emit.
        kind: Upstream's name of the update, such as `addf`.
        value: The operand.
        memory: The memref of the element.
        pointer: Points to the element.
    """
    element = memory.element
    ordering = _Ordering(lowering, storage_class_at(memory.pointer))
    if bit_width(memory_type(element)) in _SWAPPED:
        if kind == "assign":
            return _exchange(lowering, ordering, value, pointer)
        if kind in _INTEGERS:
            arguments = (pointer, ordering.scope, ordering.both, value)
            return lowering.compute(_INTEGERS[kind], value.type, *arguments)
    instruction, types = _FLOATS.get(kind, ("", ()))
    if element in types:
        arguments = (pointer, ordering.scope, ordering.both, value)
        return lowering.compute(instruction, value.type, *arguments)

    def changed(old: SSAValue) -> SSAValue:
        if kind == "assign":
            return value
        a, b = (widened(lowering, number, element) for number in (old, value))
        return narrowed(lowering, combine(lowering, kind, a, b), element)

    return _compare_and_swap(lowering, memory, pointer, changed)


def _exchange(
    lowering: Lowering, ordering: _Ordering, value: SSAValue, pointer: SSAValue
) -> SSAValue:
    """Stores a number and returns what was there."""
    bits = IntegerType(bit_width(value.type))
    words = bitcast_pointer(lowering, pointer, bits)
    stored = bitcast(lowering, value, bits)
    arguments = (words, ordering.scope, ordering.both, stored)
    old = lowering.compute("AtomicExchange", bits, *arguments)
    return bitcast(lowering, old, value.type)


def _generic_atomic_rmw(operation: Operation, lowering: Lowering) -> None:
    """What the element becomes is computed by a region, perhaps several times."""
    target, *indices = operation.operands
    memory = lowering.descriptor(target)
    pointer = pointer_to(lowering, memory, location(lowering, memory, lowering.numbers(indices)))
    (region,) = operation.regions
    known = _update_of_bits(region.block)
    if known is not None:
        lowering.define(operation.results[0], _update_bits(lowering, *known, memory, pointer))
        return

    def changed(old: SSAValue) -> SSAValue:
        lowering.define(region.block.args[0], old)
        last = translate_region(region, lowering)
        assert last is not None
        return lowering.value(last.operands[0])

    lowering.define(operation.results[0], _compare_and_swap(lowering, memory, pointer, changed))


def _update_of_bits(block: Block) -> tuple[str, SSAValue] | None:
    """The kind and the operand of a float's update that is written as one of its bits.

    LLVM's SPIR-V backend has no other (`xtile/translate/core_to_xegpu/memory.py`).
    """
    operations = list(block.ops)
    names = [operation.name for operation in operations]
    if len(names) != 4 or names[0] != "arith.bitcast" or names[2] != "arith.bitcast":
        return None
    first, second, third, last = operations
    kind = second.name.removeprefix("arith.")
    old = first.results[0]
    is_chain = (
        first.operands[0] is block.args[0]
        and old in second.operands
        and third.operands[0] is second.results[0]
        and last.operands[0] is third.results[0]
    )
    if not is_chain or kind not in _FLOATS or old.type not in _FLOATS[kind][1]:
        return None
    a, b = second.operands
    value = b if a is old else a
    return None if value is old else (kind, value)


def _update_bits(
    lowering: Lowering, kind: str, value: SSAValue, memory: Descriptor, pointer: SSAValue
) -> SSAValue:
    """Updates a float in memory of its bits, and returns the bits of what it was before."""
    element = value.type
    floats = replace(memory, element=element)
    own = bitcast_pointer(lowering, pointer, element)
    old = update(lowering, kind, lowering.value(value), floats, own)
    return bitcast(lowering, old, register_type(memory.element))


def _compare_and_swap(
    lowering: Lowering, memory: Descriptor, pointer: SSAValue, changed: Update
) -> SSAValue:
    """Tries to replace an element until nobody else did meanwhile, and returns what it was."""
    stored = memory_type(memory.element)
    if bit_width(stored) in _SWAPPED:
        word = _WholeWord(lowering, pointer, memory.element)
    else:
        word = _PartOfWord(lowering, pointer, memory.element)
    ordering = _Ordering(lowering, storage_class_at(memory.pointer))
    first = lowering.compute(
        "AtomicLoad", word.type, word.pointer, ordering.scope, ordering.acquire
    )
    header = Block(arg_types=[word.type])
    body, after, end = Block(), Block(), Block()
    (expected,) = header.args
    with lowering.inside(header):
        lowering.do("LoopMerge", end, after, "None")
        lowering.do("Branch", body)
        lowering.continue_in(body)
        old = word.element(expected)
        wanted = word.with_element(expected, changed(old))
        found = lowering.compute(
            "AtomicCompareExchange",
            word.type,
            word.pointer,
            ordering.scope,
            ordering.both,
            ordering.acquire,
            wanted,
            expected,
        )
        is_done = lowering.compute("IEqual", i1, found, expected)
        lowering.do("Branch", after)
        lowering.continue_in(after)
        lowering.do("BranchConditional", is_done, end, (header, found))
    lowering.do("Branch", (header, first))
    lowering.continue_in(end)
    return old


class _WholeWord:
    """An element of 32 or 64 bits, which is swapped as its bits."""

    def __init__(self, lowering: Lowering, pointer: SSAValue, element: Attribute) -> None:
        self._lowering = lowering
        self._register = register_type(element)
        self.type = IntegerType(bit_width(self._register))
        self.pointer = bitcast_pointer(lowering, pointer, self.type)

    def element(self, word: SSAValue) -> SSAValue:
        """The element, as registers hold it."""
        return bitcast(self._lowering, word, self._register)

    def with_element(self, word: SSAValue, new: SSAValue) -> SSAValue:
        """The word with another element."""
        return bitcast(self._lowering, new, self.type)


class _PartOfWord:
    """An element of 8 or 16 bits, which is swapped with its neighbours."""

    def __init__(self, lowering: Lowering, pointer: SSAValue, element: Attribute) -> None:
        self._lowering = lowering
        self._element = element
        self.type = i32
        self._bits = i8 if bit_width(memory_type(element)) == i8.bitwidth else i16
        address = lowering.compute("ConvertPtrToU", i64, pointer)
        start = lowering.compute("BitwiseAnd", i64, address, lowering.integer(~3, i64))
        storage_class = cast(PointerType, pointer.type).storage_class
        self.pointer = lowering.compute("ConvertUToPtr", PointerType(i32, storage_class), start)
        byte = lowering.compute("BitwiseAnd", i64, address, lowering.integer(3, i64))
        narrow = lowering.compute("UConvert", i32, byte)
        self._shift = lowering.compute("ShiftLeftLogical", i32, narrow, lowering.integer(3, i32))
        mask = lowering.integer(2**self._bits.bitwidth - 1, i32)
        self._mask = lowering.compute("ShiftLeftLogical", i32, mask, self._shift)

    def element(self, word: SSAValue) -> SSAValue:
        """The element, as registers hold it."""
        lowering = self._lowering
        shifted = lowering.compute("ShiftRightLogical", i32, word, self._shift)
        bits = lowering.compute("UConvert", self._bits, shifted)
        if self._element == i1:
            return lowering.compute("INotEqual", i1, bits, lowering.integer(0, self._bits))
        return bitcast(lowering, bits, register_type(self._element))

    def with_element(self, word: SSAValue, new: SSAValue) -> SSAValue:
        """The word with another element."""
        lowering = self._lowering
        if self._element == i1:
            one, zero = lowering.integer(1, self._bits), lowering.integer(0, self._bits)
            bits = lowering.select(new, one, zero)
        else:
            bits = bitcast(lowering, new, self._bits)
        wide = lowering.compute("UConvert", i32, bits)
        moved = lowering.compute("ShiftLeftLogical", i32, wide, self._shift)
        kept = lowering.compute("Not", i32, self._mask)
        others = lowering.compute("BitwiseAnd", i32, word, kept)
        return lowering.compute("BitwiseOr", i32, others, moved)


RULES: dict[str, Rule] = {
    "memref.atomic_rmw": _atomic_rmw,
    "memref.generic_atomic_rmw": _generic_atomic_rmw,
}
"""The rule of each operation, by name."""
