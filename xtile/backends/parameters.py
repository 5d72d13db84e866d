"""The parameters that a compiled kernel has: flat numbers, each naturally aligned.

Every argument of the calling convention is one parameter, but a complex number is two, the real and
the imaginary part. An entry of CUDA Tile IR has one parameter for each of its own.

Source: seen on cubins of tileiras 13.3 and 13.5 on an H200; CUDA Tile IR 13.3, `cuda_tile.entry`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ComplexType, IntegerType, MemRefType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.arguments.calling_convention import KernelArgument, source_arguments
from xtile.arguments.errors import ArgumentError
from xtile.arguments.signature import Parameter, Signature
from xtile.dialects.core.signature import Role
from xtile.dialects.tensorlang.types import MemrefType

POINTER_SIZE = 8
"""Bytes of an address."""


@dataclass(frozen=True)
class Slot:
    """Where a parameter of a kernel lies among its parameters.

    Attributes:
        offset: Bytes before it.
        size: Its bytes.
    """

    offset: int
    size: int


def conventions_of(signature: Signature) -> tuple[tuple[KernelArgument, ...], ...]:
    """For each parameter of a function the arguments of its kernel.

    Raises:
        ArgumentError: A kernel cannot have such a parameter.
    """
    try:
        return tuple(source_arguments(parameter.type) for parameter in signature.parameters)
    except ValueError as error:
        raise ArgumentError(f"@{signature.name}: {error}") from None


def check_parameters(signatures: Iterable[Signature]) -> None:
    """Checks that kernels can have the parameters that they have.

    Raises:
        ArgumentError: One cannot.
    """
    for signature in signatures:
        conventions_of(signature)


def values_of(signature: Signature) -> Iterator[tuple[int, KernelArgument]]:
    """The parameters of machine code: the number of the source's parameter, and its part.

    Raises:
        ArgumentError: A kernel cannot have such a parameter.
    """
    for index, convention in enumerate(conventions_of(signature)):
        for part in convention:
            for _ in sizes_of(part):
                yield index, part


def numbers_of_memrefs(signature: Signature, roles: Collection[Role]) -> frozenset[int]:
    """The numbers of the parameters of machine code that are what roles say of memrefs.

    Raises:
        ArgumentError: A kernel cannot have such a parameter.
    """
    return frozenset(
        number
        for number, (index, part) in enumerate(values_of(signature))
        if part.role in roles and is_memref(signature.parameters[index])
    )


def pointers_to_memrefs(signatures: Iterable[Signature]) -> frozenset[int]:
    """The numbers of the parameters of machine code that are addresses of memrefs."""
    numbers: set[int] = set()
    for signature in signatures:
        numbers |= numbers_of_memrefs(signature, {Role.POINTER})
    return frozenset(numbers)


def is_memref(parameter: Parameter) -> bool:
    """Whether a parameter is a memref, of which a launch knows how far its memory goes."""
    return isinstance(parameter.type, MemrefType | MemRefType)


def slots_of(arguments: Iterable[KernelArgument]) -> tuple[Slot, ...]:
    """Where the parameters of a kernel lie."""
    slots: list[Slot] = []
    end = 0
    for argument in arguments:
        for size in sizes_of(argument):
            offset = end + -end % size
            slots.append(Slot(offset, size))
            end = offset + size
    return tuple(slots)


def sizes_of(argument: KernelArgument) -> tuple[int, ...]:
    """Bytes of each parameter that an argument becomes."""
    return (POINTER_SIZE,) if argument.pointer_depth else sizes_of_element(argument)


def sizes_of_element(argument: KernelArgument) -> tuple[int, ...]:
    """Bytes of each number that an argument is or points to; a complex one is two."""
    if argument.type.name == ComplexType.name:
        part = cast("ComplexType[AnyFloat]", argument.type).element_type
        return (size_of(part),) * 2
    return (size_of(argument.type),)


_BYTE = 8


def size_of(type: Attribute) -> int:
    """Bytes of a number: those of its bits, made a power of two."""
    if isa(type, IntegerType):
        bits = type.width.data
    else:
        assert isinstance(type, AnyFloat)
        bits = type.bitwidth
    return 1 << ((bits - 1) // _BYTE).bit_length()
