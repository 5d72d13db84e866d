"""The calling convention of kernels: what arguments a parameter of a function becomes.

A memref becomes a pointer, then one i64 for each dynamic size, then one for each dynamic stride. A
group becomes a pointer to pointers, then one `i64*` for each dynamic size and stride of its memrefs
with an entry for each pointer, then its size and its offset as i64 where they are dynamic. `index`
is i64, and a complex number a vector of its two parts. A pointer is one, to addresses as i64.

The modes of a tensor language memref are counted from the first, those of an MLIR memref from the
last. Both begin with the one that is contiguous by default, so a kernel that was translated from
the tensor language has its source's arguments.

Strides of an MLIR memref without a layout follow from its sizes, and are arguments where they are
not known. A static offset of a layout is added by the kernel, a dynamic one is the last argument:
the pointer is that of element 0 of the memory, and not of the memref.

Source: calling convention of the tensor language's reference compiler (tinytc v0.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ComplexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation

from xtile.dialects.core.launch_checks import CHECKS_ATTRIBUTE, PREFERRED_ATTRIBUTE
from xtile.dialects.core.signature import (
    SIGNATURE_ATTRIBUTE,
    KernelSignature,
    Piece,
    Role,
    own_signature,
    source_signature,
)
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace as GpuAddressSpace
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.pointer_types import is_pointer
from xtile.dialects.tensorlang.attributes import AddressSpace
from xtile.dialects.tensorlang.types import BOOL, INDEX, GroupType, MemrefType, is_number

_TILE = "cuda_tile.tile"

_POINTER_DEPTHS = {Role.POINTER: 1, Role.SIZES: 1, Role.STRIDES: 1, Role.POINTERS: 2}
"""How often an argument must be followed to its number; 0 where it is one."""


DIVISIBLE_BY = 16
"""What code may rely on to divide addresses, in bytes, and numbers, if a launch finds it.

Source: tileiras 13.5, remark "base pointer not 16-byte aligned"; Triton 3.9, `tt.divisibility`.
"""


@dataclass(frozen=True)
class KernelArgument:
    """One argument of a kernel.

    Attributes:
        role: What it says about the parameter.
        type: The type of the number that it is or points to. A complex number is a vector of its
            two parts; bf16 and integers are passed as their bits.
        mode: For sizes and strides, which one, as the parameter's type counts them.
    """

    role: Role
    type: Attribute
    mode: int | None = None

    @property
    def pointer_depth(self) -> int:
        """0 for a number, 1 for a pointer to numbers, 2 for a pointer to such pointers."""
        return _POINTER_DEPTHS.get(self.role, 0)


def kernel_arguments(type: Attribute) -> tuple[KernelArgument, ...]:
    """The arguments that a parameter of a type becomes, in order.

    Args:
        type: A type of the tensor language, a memref or scalar of MLIR, or one of an entry of CUDA
            Tile IR.

    Raises:
        ValueError: A kernel can have no such parameter; the message says why.
    """
    if isinstance(type, GroupType):
        return _group_arguments(type.element, type.size, type.offset)
    if isinstance(type, MemRefType):
        memref = cast("MemRefType[Attribute]", type)
        if isinstance(memref.element_type, MemRefType):
            return _group_arguments(*_upstream_group(memref), offset=0)
    if isinstance(type, MemrefType | MemRefType):
        return _memref_arguments(cast("MemrefType | MemRefType[Attribute]", type))
    if type.name == _TILE:
        return (_tile_argument(type),)
    if is_pointer(type):
        pointee: Attribute = getattr(type, "pointee_type", getattr(type, "pointee", type))
        return (KernelArgument(Role.POINTER, i64 if is_pointer(pointee) else pointee),)
    return (KernelArgument(Role.VALUE, _scalar_type(type)),)


def source_arguments(type: Attribute) -> tuple[KernelArgument, ...]:
    """What a parameter of a kernel's source is passed as.

    As `kernel_arguments`, but for truth values: a translation that takes one passes a byte for it.

    Raises:
        ValueError: A kernel can have no such parameter; the message says why.
    """
    return kernel_arguments(i8 if type == BOOL else type)


def _tile_argument(type: Attribute) -> KernelArgument:
    # The dialect is loaded for kernels that are written in it.
    from xtile.dialects.cuda_tile.types import PointerType, TileType

    assert isinstance(type, TileType)
    element: Attribute = type.element_type
    if isinstance(element, PointerType):
        return KernelArgument(Role.POINTER, element.pointee_type)
    return KernelArgument(Role.VALUE, element)


@dataclass(frozen=True)
class _Layout:
    """What is dynamic in a memref type: modes, innermost first, and whether its offset is."""

    element_type: Attribute
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    has_dynamic_offset: bool


def _memref_arguments(type: MemrefType | MemRefType[Attribute]) -> tuple[KernelArgument, ...]:
    layout = _layout(type)
    offset = (KernelArgument(Role.OFFSET, i64),) if layout.has_dynamic_offset else ()
    return (
        KernelArgument(Role.POINTER, layout.element_type),
        *_for_modes(Role.SIZE, layout.sizes),
        *_for_modes(Role.STRIDE, layout.strides),
        *offset,
    )


def _group_arguments(
    element: MemrefType | MemRefType[Attribute], size: int, offset: int
) -> tuple[KernelArgument, ...]:
    layout = _layout(element)
    if layout.has_dynamic_offset:
        raise ValueError(
            f"the memrefs of a group have one offset, but {element} leaves its own open"
        )
    count = (KernelArgument(Role.COUNT, i64),) if size == DYNAMIC_INDEX else ()
    group_offset = (KernelArgument(Role.OFFSET, i64),) if offset == DYNAMIC_INDEX else ()
    return (
        KernelArgument(Role.POINTERS, layout.element_type),
        *_for_modes(Role.SIZES, layout.sizes),
        *_for_modes(Role.STRIDES, layout.strides),
        *count,
        *group_offset,
    )


def _for_modes(role: Role, modes: Sequence[int]) -> Iterator[KernelArgument]:
    return (KernelArgument(role, i64, mode) for mode in modes)


def _upstream_group(type: MemRefType[Attribute]) -> tuple[MemRefType[Attribute], int]:
    """The memrefs and the size of a memref of memrefs, which is what a group is in MLIR."""
    element = cast("MemRefType[Attribute]", type.element_type)
    if type.get_num_dims() != 1 or not isinstance(type.layout, NoneAttr):
        raise ValueError(f"a group has one dimension and no layout, but {type} is a parameter")
    return element, type.get_shape()[0]


def _layout(type: MemrefType | MemRefType[Attribute]) -> _Layout:
    if _is_local(type):
        raise ValueError("local memory cannot be passed to a kernel; use global memory")
    if isinstance(type, MemrefType):
        modes: Sequence[int] = range(type.order)
        strides: Sequence[int | None] = type.strides
        shape, has_dynamic_offset = type.shape, False
    else:
        modes = range(type.get_num_dims())[::-1]
        strides = _upstream_strides(type)
        shape, has_dynamic_offset = type.get_shape(), type.get_offset() is None
    return _Layout(
        type.element_type,
        tuple(mode for mode in modes if shape[mode] == DYNAMIC_INDEX),
        tuple(mode for mode in modes if strides[mode] in (DYNAMIC_INDEX, None)),
        has_dynamic_offset,
    )


def _upstream_strides(type: MemRefType[Attribute]) -> Sequence[int | None]:
    strides = type.get_strides()
    if strides is None:
        raise ValueError(f"the layout {type.layout} of {type} is not one of strides")
    return strides


def _is_local(type: MemrefType | MemRefType[Attribute]) -> bool:
    if isinstance(type, MemrefType):
        return type.address_space is AddressSpace.LOCAL
    space = type.memory_space
    if isinstance(space, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", space).value.data == _LOCAL_SPACE_NUMBER
    return isinstance(space, AddressSpaceAttr) and space.data is not GpuAddressSpace.GLOBAL


_LOCAL_SPACE_NUMBER = 3
"""What LLVM numbers local memory of OpenCL kernels as."""


def keep_signature(
    kernel: FuncOp,
    made: Operation,
    *,
    splits_complex: bool = False,
    own_language: str | None = None,
) -> None:
    """Lets what a kernel has become say, as the kernel did, what it was in its source.

    Args:
        kernel: The kernel.
        made: What it has become, which has the arguments of the calling convention.
        splits_complex: Whether a complex number has become two arguments.
        own_language: What the kernel is written in, if one that says nothing is its own source.
    """
    signature = source_signature(kernel)
    if signature is None and own_language is not None:
        signature = own_signature(kernel, own_language, len(kernel.arguments))
    for name in (CHECKS_ATTRIBUTE, PREFERRED_ATTRIBUTE):
        if name in kernel.attributes:
            made.attributes[name] = kernel.attributes[name]
    if signature is not None:
        types = [argument.type for argument in kernel.arguments]
        flat = _flattened(signature.relying_on(kernel), types, splits_complex)
        made.attributes[SIGNATURE_ATTRIBUTE] = flat.attribute()


def _flattened(
    signature: KernelSignature, types: Sequence[Attribute], splits_complex: bool
) -> KernelSignature:
    def parts(number: int, piece: Piece) -> Iterator[Piece]:
        type = types[number]
        if piece.role is Role.MEMREF:
            for each in kernel_arguments(type):
                modes = () if each.mode is None else (piece.modes[each.mode],)
                yield Piece(each.role, modes)
        elif piece.role is Role.ELEMENTS:
            for each in kernel_arguments(type):
                yield Piece(Role.POINTER if each.role is Role.POINTER else Role.COUNT)
        elif piece.role is Role.VALUE and is_pointer(type):
            yield Piece(Role.POINTER)
        elif piece.role is Role.VALUE and splits_complex and isinstance(type, ComplexType):
            yield from (Piece(Role.REAL), Piece(Role.IMAGINARY))
        else:
            yield piece

    return signature.split(parts)


def _scalar_type(type: Attribute) -> Attribute:
    """The type in which a scalar is passed."""
    if type == BOOL:
        raise ValueError("a truth value cannot be passed to a kernel; pass an i8 and compare it")
    if not is_number(type):
        raise ValueError(f"a value of type {type} cannot be passed to a kernel")
    return i64 if type == INDEX else type
