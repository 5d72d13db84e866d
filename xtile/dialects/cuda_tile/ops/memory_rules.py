"""Accesses to memory.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`, `Traits.cpp` and `SharedVerifiers.h`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import (
    AnyFloat,
    Float4E2M1FNType,
    Float32Type,
    Float64Type,
    IntegerType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.cuda_tile.attributes import member_of
from xtile.dialects.cuda_tile.constraints import is_base_float
from xtile.dialects.cuda_tile.enumerations import (
    AtomicRMWMode,
    MemoryOrderingSemantics,
    MemoryScope,
)
from xtile.dialects.cuda_tile.ops.shape_rules import verify_same_shape
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PointerType,
    TensorViewType,
    TileType,
    TileView,
    is_integer,
    tile_type,
)

_EnumT = TypeVar("_EnumT", bound=StrEnum)

_Ordering = MemoryOrderingSemantics

LOAD_ORDERINGS = (_Ordering.WEAK, _Ordering.RELAXED, _Ordering.ACQUIRE)
STORE_ORDERINGS = (_Ordering.WEAK, _Ordering.RELAXED, _Ordering.RELEASE)
ATOMIC_ORDERINGS = (_Ordering.RELAXED, _Ordering.ACQUIRE, _Ordering.RELEASE, _Ordering.ACQ_REL)

_ATOMIC_WIDTHS = (32, 64)


def _member(enumeration: type[_EnumT], attribute: Attribute) -> _EnumT:
    try:
        return member_of(enumeration, attribute)
    except ValueError as error:
        raise VerifyException(str(error)) from None


def verify_ordering(
    allowed: Sequence[MemoryOrderingSemantics], ordering: Attribute, scope: Attribute | None
) -> None:
    """Checks what is said about concurrent accesses.

    Raises:
        VerifyException: The ordering is none of the allowed ones, or there is a scope where there
            may be none or the other way round.
    """
    found = _member(MemoryOrderingSemantics, ordering)
    if found not in allowed:
        raise VerifyException(
            f"memory_ordering_semantics must be one of {', '.join(allowed)}, but is {found}"
        )
    if scope is not None:
        _member(MemoryScope, scope)
    if (found is MemoryOrderingSemantics.WEAK) != (scope is None):
        has = "has no" if scope is not None else "needs a"
        raise VerifyException(f"an access that is {found} {has} memory_scope")


def verify_pointees(pointers: SSAValue, value: SSAValue) -> None:
    """Checks that pointers point to elements of a tile of their shape.

    Raises:
        VerifyException: They do not.
    """
    verify_same_shape("the values", tile_type(value), tile_type(pointers))
    pointer = tile_type(pointers).element_type
    assert isinstance(pointer, PointerType)
    element = tile_type(value).element_type
    if pointer.pointee_type != element:
        raise VerifyException(
            f"the pointers point to {pointer.pointee_type}, but the values are {element}"
        )


def verify_padding(result: SSAValue, padding: SSAValue | None) -> None:
    """Checks that the padding of a load is of the result's type.

    Raises:
        VerifyException: It is not.
    """
    if padding is not None and padding.type != result.type:
        raise VerifyException(
            f"the padding_value must be of the result's type {result.type}, but is {padding.type}"
        )


def verify_mode(mode: Attribute, element: Attribute) -> AtomicRMWMode:
    """Checks that elements can be combined so.

    Raises:
        VerifyException: They cannot.
    """
    found = _member(AtomicRMWMode, mode)
    if found is AtomicRMWMode.ADDF:
        if not is_base_float(element):
            raise VerifyException(f"addf takes f16, bf16, f32 or f64, not {element}")
    elif found is AtomicRMWMode.XCHG:
        if not _is_exchangeable(element):
            raise VerifyException(f"xchg takes i32, i64, f32 or f64, not {element}")
    elif not is_integer(element, _ATOMIC_WIDTHS):
        raise VerifyException(f"{found} takes i32 or i64, not {element}")
    return found


def verify_exchangeable(element: Attribute) -> None:
    """Checks that elements can be compared and exchanged.

    Raises:
        VerifyException: They cannot.
    """
    if not _is_exchangeable(element):
        raise VerifyException(f"the values must be i32, i64, f32 or f64, not {element}")


def _is_exchangeable(element: Attribute) -> bool:
    return is_integer(element, _ATOMIC_WIDTHS) or isinstance(element, Float32Type | Float64Type)


def verify_view_access(
    view: Attribute, indices: Sequence[SSAValue], tile: SSAValue, *, is_update: bool = False
) -> None:
    """Checks that a tile can be at indices of a view.

    Args:
        view: The type of the view.
        indices: Where in the view.
        tile: What is loaded or stored.
        is_update: Whether the indices may be of several types.

    Raises:
        VerifyException: It cannot.
    """
    assert isinstance(view, TileView)
    if len(indices) != view.index_rank:
        raise VerifyException(
            f"expected {view.index_rank} indices, one for each dimension of the view, got "
            f"{len(indices)}"
        )
    if tile.type != view.tile_type:
        raise VerifyException(f"the tiles of the view are {view.tile_type}, not {tile.type}")
    sparse = view.sparse_dim.data if isinstance(view, GatherScatterViewType) else None
    if isinstance(view.tensor_view.element_type, Float4E2M1FNType):
        _verify_packed_dimension(view.tensor_view, sparse)
    # A list, as a tile takes longer to hash than to compare with one or two others.
    scalars: list[TileType] = []
    for dimension, index in enumerate(indices):
        type = tile_type(index)
        expected = (view.get_tile_shape()[dimension],) if dimension == sparse else ()
        if type.get_shape() != expected:
            right = TileType(expected, type.element_type)
            raise VerifyException(f"index {dimension} must be a {right}, but is a {type}")
        if dimension != sparse and type not in scalars:
            scalars.append(type)
    if len(scalars) > 1 and not is_update:
        types = ", ".join(sorted(map(str, scalars)))
        raise VerifyException(f"scalar indices must be of one type, but are {types}")


def _verify_packed_dimension(tensor_view: TensorViewType, sparse: int | None) -> None:
    """Checks that it is known which neighbours share a byte.

    tileiras 13.5.37 checks this; NVIDIA/cuda-tile 13.3.0 only says so in `Types.td`.

    Raises:
        VerifyException: It is not, or the tiles are not made of such neighbours.
    """
    strides = tensor_view.get_strides()
    if strides.count(1) != 1:
        raise VerifyException(
            "two elements of f4E2M1FN share a byte, so exactly one stride must be 1, but the view "
            f"is of {tensor_view}"
        )
    if strides.index(1) == sparse:
        raise VerifyException(
            f"two elements of f4E2M1FN share a byte along dimension {sparse}, so this cannot be "
            "the sparse one"
        )


def verify_mask(pointers: SSAValue, mask: SSAValue | None) -> None:
    """Checks that a mask has a truth value for each pointer.

    Raises:
        VerifyException: It has not.
    """
    if mask is not None:
        verify_same_shape("the mask", tile_type(mask), tile_type(pointers))


def verify_view_update(view: Attribute, indices: Sequence[SSAValue], value: SSAValue) -> None:
    """Checks that the tile at indices of a view can be combined with another.

    Raises:
        VerifyException: It cannot.
    """
    assert isinstance(view, TileView)
    if isinstance(view, GatherScatterViewType):
        raise VerifyException("a gather_scatter_view cannot be updated; use a partition_view")
    if view.padding is not None:
        raise VerifyException("a view with a padding_value cannot be updated; leave it out")
    verify_view_access(view, indices, value, is_update=True)


def verify_view_mode(mode: Attribute, element: Attribute) -> None:
    """Checks that elements of a view can be combined so.

    Raises:
        VerifyException: They cannot.
    """
    if verify_mode(mode, element) is AtomicRMWMode.XCHG:
        raise VerifyException("xchg is no update of a view; use atomic_rmw_tko")


def verify_view_ordering(ordering: Attribute, scope: Attribute) -> None:
    """Checks what is said about accesses that are concurrent to the update of a view.

    Raises:
        VerifyException: It is more than there is.
    """
    verify_ordering((MemoryOrderingSemantics.RELAXED,), ordering, scope)
    if _member(MemoryScope, scope) is MemoryScope.SYS:
        raise VerifyException("the scope of an update of a view must be tl_blk or device, not sys")


def verify_allocation(count: int, alignment: int, pointer: Attribute) -> None:
    """Checks the size and the alignment of memory.

    Raises:
        VerifyException: They are negative, or the alignment is not a power of two or less than
            an element.
    """
    assert isinstance(pointer, PointerType)
    if count < 0:
        raise VerifyException(f"num_elem must not be negative, but is {count}")
    if alignment <= 0 or alignment & (alignment - 1):
        raise VerifyException(f"alignment must be a power of two, but is {alignment}")
    size = _natural_size(pointer.pointee_type)
    if alignment < size:
        raise VerifyException(
            f"alignment must be at least the {size} bytes of {pointer.pointee_type}, but is "
            f"{alignment}"
        )


def _natural_size(element: Attribute) -> int:
    """How many bytes an element has."""
    assert isinstance(element, IntegerType | AnyFloat)
    return -(-element.bitwidth // 8)
