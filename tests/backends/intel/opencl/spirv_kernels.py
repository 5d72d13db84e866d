"""SPIR-V that no translation has made, for tests of what runs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    ComplexType,
    FunctionType,
    IntegerType,
    VectorType,
    f32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.arguments.calling_convention import KernelArgument, kernel_arguments
from xtile.backends.intel.compilation import KernelInterface, Program
from xtile.dialects.spirv import FuncOp, ModuleOp, PointerType, encode, operation
from xtile.dialects.tensorlang.types import FLOATING_TYPES, SIZE_IN_BYTES, MemrefType

GLOBAL = "CrossWorkgroup"

WORDS = MemrefType.get(i64, (64,))
"""The memory in which `probe` stores what it was given."""


def make_program(
    module: ModuleOp,
    name: str,
    parameters: Sequence[Attribute] = (),
    *,
    size: tuple[int, int, int] | None = (1, 1, 1),
    subgroup_size: int | None = None,
    local_memory: int = 0,
    is_risky: bool = False,
) -> Program:
    """A program of one kernel, as a compiler would describe it."""
    interface = KernelInterface(name, tuple(parameters), size, subgroup_size, local_memory)
    return Program(encode(module), {name: interface}, is_risky=is_risky)


class Writer:
    """Writes a kernel, instruction by instruction."""

    def __init__(self, name: str, types: Sequence[Attribute]) -> None:
        self.function = FuncOp(name, FunctionType.from_lists(list(types), []))
        self.module = ModuleOp()
        self._constants: dict[int, SSAValue] = {}

    def do(self, name: str, *arguments: Any) -> None:
        """Adds an instruction without a result."""
        self.function.entry_block.add_op(operation(name, None, *arguments))

    def emit(self, name: str, type: Attribute, *arguments: Any) -> SSAValue:
        """Adds an instruction; returns its result."""
        made = operation(name, type, *arguments)
        self.function.entry_block.add_op(made)
        return made.results[0]

    def number(self, value: int) -> SSAValue:
        """A constant of type i64."""
        if value not in self._constants:
            made = operation("Constant", i64, value)
            self.module.block.add_op(made)
            self._constants[value] = made.results[0]
        return self._constants[value]

    def load(self, pointer: SSAValue, position: int) -> SSAValue:
        """Loads 8 bytes of an array."""
        assert isinstance(pointer.type, PointerType)
        at = self.emit("InBoundsPtrAccessChain", pointer.type, pointer, self.number(position))
        return self.emit("Load", pointer.type.pointee, at, ("Aligned", 8))

    def store(self, value: SSAValue, pointer: SSAValue, position: int) -> None:
        """Stores 8 bytes in an array."""
        at = self.emit("InBoundsPtrAccessChain", pointer.type, pointer, self.number(position))
        self.do("Store", at, value, ("Aligned", 8))

    def finish(self) -> ModuleOp:
        """Ends the kernel; returns its module."""
        self.do("Return")
        name = self.function.sym_name
        entry: Operation = operation("EntryPoint", None, "Kernel", name, name)
        self.module.block.add_ops([entry, self.function])
        return self.module


def probe(parameter: Attribute, entries: int = 0) -> Program:
    """A kernel that stores the arguments that it is given for a parameter, as words of 64 bits.

    Its first parameter is where it stores them. Of an array it stores the entries, of a pointer to
    numbers the address.

    Args:
        parameter: The second parameter.
        entries: The number of entries of a group.
    """
    arguments = kernel_arguments(parameter)
    types = [PointerType(i64, GLOBAL), *(_type(argument) for argument in arguments)]
    writer = Writer("probe", types)
    out, *given = writer.function.parameters
    words = [
        word
        for argument, value in zip(arguments, given, strict=True)
        for word in _words(writer, argument, value, entries)
    ]
    for position, word in enumerate(words):
        writer.store(word, out, position)
    return make_program(writer.finish(), "probe", [WORDS, parameter])


def _type(argument: KernelArgument) -> Attribute:
    """The type that a kernel has for an argument."""
    type = argument.type
    if argument.pointer_depth:
        # What they point to is not looked at, or is an integer.
        type = i64
    elif isinstance(type, ComplexType):
        type = VectorType(type.element_type, [2])
    elif str(type) == "bf16":
        type = IntegerType(16)
    for _ in range(argument.pointer_depth):
        type = PointerType(type, GLOBAL)
    return type


def _words(
    writer: Writer, argument: KernelArgument, value: SSAValue, entries: int
) -> Iterator[SSAValue]:
    if argument.pointer_depth == 0:
        yield from _number_words(writer, value)
    elif argument.role.name == "POINTER":
        yield writer.emit("ConvertPtrToU", i64, value)
    else:
        for position in range(entries):
            entry = writer.load(value, position)
            is_pointer = isinstance(entry.type, PointerType)
            yield writer.emit("ConvertPtrToU", i64, entry) if is_pointer else entry


def _number_words(writer: Writer, value: SSAValue) -> Iterator[SSAValue]:
    """The bits of a number as i64, two of them for c64."""
    type = value.type
    if isinstance(type, VectorType):
        if type.element_type == f32:
            yield writer.emit("Bitcast", i64, value)
            return
        for part in range(2):
            element = writer.emit("CompositeExtract", type.element_type, value, part)
            yield writer.emit("Bitcast", i64, element)
        return
    bits = IntegerType(8 * SIZE_IN_BYTES[type])
    integer = writer.emit("Bitcast", bits, value) if type in FLOATING_TYPES else value
    yield integer if bits == i64 else writer.emit("UConvert", i64, integer)


def nothing(name: str = "nothing", **interface: Any) -> Program:
    """A kernel that does nothing, with what a test wants its interface to say."""
    return make_program(Writer(name, []).finish(), name, **interface)


def broken(operand: str) -> Program:
    """A program that brings the compiler of Intel's CPU runtime down.

    No encoder makes such a module, so a word of a right one is changed.

    Args:
        operand: What a number is added to: `type` or `nothing`.
    """
    writer = Writer("broken", [PointerType(f32, GLOBAL)])
    (pointer,) = writer.function.parameters
    number = writer.emit("Load", f32, pointer, ("Aligned", 4))
    total = writer.emit("FAdd", f32, number, number)
    writer.do("Store", pointer, total, ("Aligned", 4))
    right = make_program(writer.finish(), "broken", [MemrefType.get(f32)])
    words = list(memoryview(right.spirv).cast("I"))
    positions = _positions(words)
    # OpTypeFloat: id, width. OpFAdd: type, id, operand 1, operand 2.
    ids = {"type": words[positions[_TYPE_FLOAT] + 1], "nothing": words[_BOUND]}
    words[positions[_FADD] + 3] = ids[operand]
    words[_BOUND] += 1
    spirv = b"".join(word.to_bytes(4, "little") for word in words)
    return Program(spirv, right.kernels, is_risky=True)


_BOUND = 3
"""The word of the header with the bound of ids."""

_HEADER = 5
_TYPE_FLOAT = 22
_FADD = 129


def _positions(words: Sequence[int]) -> dict[int, int]:
    """Where an instruction of each opcode is."""
    positions: dict[int, int] = {}
    position = _HEADER
    while position < len(words):
        positions[words[position] & 0xFFFF] = position
        position += words[position] >> 16
    return positions
