"""Kernels that say what they were in their source (`core.signature`): they take its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import IndexType, i16, i64
from xdsl.ir import Attribute

from xtile.arguments.errors import ArgumentError
from xtile.arguments.memory_types import scalar_type_of
from xtile.arguments.signature import Parameter
from xtile.dialects.core.signature import KernelSignature, Piece, Role, is_address
from xtile.dialects.reading import parse
from xtile.dialects.tensorlang.types import MemrefType
from xtile.semantics.arguments import (
    Argument,
    GroupArgument,
    MemrefArgument,
    ScalarArgument,
    WordsArgument,
)
from xtile.semantics.language import language_of
from xtile.semantics.values import Array
from xtile.text.diagnostics import DiagnosticError

_KERNEL = "gpu.module @source {{\ngpu.func @source({parameters}) kernel {{\ngpu.return\n}}\n}}\n"

_SOURCES: Mapping[str, tuple[Literal["mlir", "tensorlang"], str]] = {
    "tensorlang": ("tensorlang", "func @source({parameters}) {{\n}}\n"),
    "core": ("mlir", _KERNEL),
    "linalg": ("mlir", _KERNEL),
    "xegpu": ("mlir", _KERNEL),
    "cuda_tile": (
        "mlir",
        "cuda_tile.module @source {{\nentry @source({parameters}) {{\nreturn\n}}\n}}\n",
    ),
    "triton": ("mlir", "tt.func public @source({parameters}) {{\ntt.return\n}}\n"),
}
"""For the language of a signature how its text is read, and a function with some parameters."""


def _types_in_source(function: str, source: KernelSignature) -> list[Attribute]:
    """The types of a source's parameters.

    Args:
        function: What messages call the kernel.
        source: The source's signature.

    Raises:
        ArgumentError: They are of a language that is not known, or none of its types.
    """
    if source.language not in _SOURCES:
        known = " or ".join(f"'{each}'" for each in _SOURCES)
        raise ArgumentError(
            f"@{function}: its core.signature is of the language '{source.language}', whose "
            f"arguments are not known; expected {known}"
        )
    language, text = _SOURCES[source.language]
    parameters = ", ".join(f"%p{i}: {each.type}" for i, each in enumerate(source.parameters))
    try:
        module = parse(text.format(parameters=parameters), language=language)
    except DiagnosticError as error:
        reason = str(error).splitlines()[0]
        raise ArgumentError(f"@{function}: core.signature has no such type: {reason}") from None
    (read,) = (each for each in module.walk() if each.name.endswith((".func", ".entry")))
    return [value.type for value in language_of(read).parameters(read)]


def parameters_in_source(
    function: str, source: KernelSignature, *, relies_on: Sequence[bool]
) -> Iterator[Parameter]:
    """The parameters of a source.

    Args:
        function: What messages call the kernel.
        source: The source's signature.
        relies_on: For each argument of the kernel whether it overlaps no other.
    """
    flags = iter(relies_on)
    is_mlir = source.language != "tensorlang"
    for parameter, type in zip(source.parameters, _types_in_source(function, source), strict=True):
        is_noalias = [next(flags) for _ in parameter.becomes]
        yield Parameter(
            parameter.name,
            type,
            dict(parameter.attributes),
            may_be_address=is_mlir and scalar_type_of(type) in (i64, IndexType()),
            is_noalias=parameter.is_noalias or any(is_noalias),
        )


def written_in_source(source: KernelSignature, written: Iterable[int]) -> frozenset[int]:
    """The numbers of the parameters that a kernel writes to, by those of its arguments.

    No kernel writes to what says how large a parameter is, whatever it computes from that.
    """
    pieces = [
        (number, piece) for number, each in enumerate(source.parameters) for piece in each.becomes
    ]
    found = (pieces[index] for index in written)
    return frozenset(number for number, piece in found if piece.role not in _SIZES)


_SIZES = frozenset({Role.SIZE, Role.SIZES, Role.STRIDE, Role.STRIDES, Role.OFFSET, Role.COUNT})


def kernel_arguments_of(
    source: KernelSignature, types: Sequence[Attribute], arguments: Sequence[Argument]
) -> list[Argument]:
    """The arguments of a kernel, from those of its source.

    Args:
        source: The source's signature.
        types: The types of the kernel's parameters.
        arguments: The source's arguments.
    """
    pieces = [
        (piece, argument)
        for parameter, argument in zip(source.parameters, arguments, strict=True)
        for piece in parameter.becomes
    ]
    return [_piece(piece, type, own) for (piece, own), type in zip(pieces, types, strict=True)]


def _piece(piece: Piece, type: Attribute, argument: Argument) -> Argument:
    match argument:
        case ScalarArgument():
            return _of_number(piece.role, type, argument)
        case MemrefArgument():
            return _as_bytes(type, _of_memref(piece, type, argument))
        case GroupArgument():
            return _of_group(piece, argument)
        case _:
            return argument


def _as_bytes(type: Attribute, argument: Argument) -> Argument:
    """The memory of truth values as bytes, where a kernel of the tensor language has these."""
    if not isinstance(type, MemrefType) or not isinstance(argument, MemrefArgument):
        return argument
    base = argument.base
    if base is None or base.dtype.kind != "b":
        return argument
    return replace(argument, base=base.view(np.int8))


def _of_number(role: Role, type: Attribute, number: ScalarArgument) -> Argument:
    if role is Role.VALUE:
        # XeGPU takes bf16 as its bits.
        value: Any = number.value
        has_bits = type == i16 and getattr(value, "dtype", None) == ml_dtypes.bfloat16
        return ScalarArgument(value.view(np.int16)) if has_bits else number
    value = complex(np.asarray(number.value).item())
    return ScalarArgument(value.real if role is Role.REAL else value.imag)


def _of_memref(piece: Piece, type: Attribute, memref: MemrefArgument) -> Argument:
    if piece.role is Role.MEMREF:
        return _turned(piece, memref)
    if piece.role is Role.VALUE or is_address(piece, type):
        # The kernel takes its address as a number.
        return memref
    if piece.role is Role.ELEMENTS and memref.base is None:
        return MemrefArgument(None, (0,), (1,))
    if piece.role in (Role.POINTER, Role.ELEMENTS):
        return _pointer(memref)
    if piece.role is Role.COUNT:
        base = memref.base
        return ScalarArgument(np.int64(0 if base is None else base.size))
    return ScalarArgument(np.int64(_size_or_stride(piece, memref)))


def _of_group(piece: Piece, group: GroupArgument) -> Argument:
    match piece.role:
        case Role.MEMREF:
            entries = [_turned(piece, entry) for entry in group.entries]
            return GroupArgument(entries, 0, group.is_associated)
        case Role.POINTERS if not group.is_associated:
            return MemrefArgument(None)
        case Role.POINTERS:
            return WordsArgument([_pointer(entry) for entry in group.entries])
        case Role.COUNT:
            return ScalarArgument(np.int64(len(group.entries)))
        case Role.OFFSET:
            return ScalarArgument(np.int64(group.offset))
        case _:
            return WordsArgument([_size_or_stride(piece, entry) for entry in group.entries])


def _turned(piece: Piece, memref: MemrefArgument) -> MemrefArgument:
    """The memref whose dimensions are the modes that a piece names."""
    return replace(
        memref,
        shape=tuple(memref.shape[mode] for mode in piece.modes),
        strides=tuple(memref.strides[mode] for mode in piece.modes),
    )


def _size_or_stride(piece: Piece, memref: MemrefArgument) -> int:
    if piece.role is Role.OFFSET:
        return 0
    (mode,) = piece.modes
    return (memref.shape if piece.role in (Role.SIZE, Role.SIZES) else memref.strides)[mode]


def _pointer(memref: MemrefArgument) -> MemrefArgument:
    """Memory from the first element on; complex numbers are pairs of real ones."""
    base = memref.base
    if base is None:
        return MemrefArgument(None)
    flat, scale = _parts(base)
    return MemrefArgument(flat, flat.shape, (1,), scale * memref.offset, memref.is_initialized)


def _parts(base: Array) -> tuple[Array, int]:
    """Memory as a kernel knows it that has only pointers, and the elements of that in one."""
    if base.dtype.kind == "c":
        return base.view(f"f{base.itemsize // 2}"), 2
    return (base.view(np.int8) if base.dtype.kind == "b" else base), 1
