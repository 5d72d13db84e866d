"""Memory instructions: views, loads, stores, atomics and barriers.

Source: tensor language reference, sections "Associated", "Atomic load", "Atomic store",
"Atomic update", "Barrier", "Expand", "Fuse", "Load", "Size", "Store" and "Subview".
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, UnitAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

from xtile.dialects.definitions import op_definition
from xtile.dialects.tensorlang.attributes import (
    MemoryScope,
    MemoryScopeAttr,
    MemorySemantics,
    MemorySemanticsAttr,
)
from xtile.dialects.tensorlang.constraints import (
    BOOLEAN,
    INDEX_ONLY,
    MEMREF,
    MEMREF_OR_GROUP,
    NUMBER,
    NUMBER_OR_MEMREF,
)
from xtile.dialects.tensorlang.operation import (
    Operand,
    TensorLangOperation,
    integer_attribute,
    integer_list_attribute,
    unit,
)
from xtile.dialects.tensorlang.types import BOOL, DYNAMIC, INDEX, GroupType, MemrefType, type_text


def atomic_modifiers(
    scope: MemoryScope | None, semantics: MemorySemantics | None
) -> dict[str, Attribute | None]:
    """The modifiers of an atomic access, as properties."""
    return {
        "scope": None if scope is None else MemoryScopeAttr(scope),
        "semantics": None if semantics is None else MemorySemanticsAttr(semantics),
    }


class AtomicOperation(TensorLangOperation, ABC):
    """An atomic access; without modifiers of scope work_group and relaxed."""

    scope = opt_prop_def(MemoryScopeAttr)
    semantics = opt_prop_def(MemorySemanticsAttr)

    @property
    def memory_scope(self) -> MemoryScope:
        """The scope, which defaults to work_group."""
        return self.scope.data if self.scope else MemoryScope.WORK_GROUP

    @property
    def memory_semantics(self) -> MemorySemantics:
        """The semantics, which default to relaxed."""
        return self.semantics.data if self.semantics else MemorySemantics.RELAXED


@op_definition
class AssociatedOp(TensorLangOperation):
    """Whether a memref's or group's base address is not null ("Associated").

    ```
    %r = associated %A : bool
    ```
    """

    name = "tensorlang.associated"
    SYNTAX: ClassVar[str] = "$tensor : $result"

    tensor = operand_def(MEMREF_OR_GROUP)
    result = result_def(BOOLEAN)

    def __init__(self, tensor: Operand) -> None:
        super().__init__(operands=[tensor], result_types=[BOOL])


@op_definition
class AtomicLoadOp(AtomicOperation):
    """Loads one element atomically ("Atomic load").

    ```
    %r = atomic_load.device.acquire %A[%i] : f32
    ```
    """

    name = "tensorlang.atomic_load"
    SYNTAX: ClassVar[str] = ".scope .semantics $memref[$indices] : $result"

    memref = operand_def(MEMREF_OR_GROUP)
    indices = var_operand_def(INDEX_ONLY)
    result = result_def(NUMBER_OR_MEMREF)

    def __init__(
        self,
        memref: Operand,
        indices: Sequence[Operand] = (),
        *,
        scope: MemoryScope | None = None,
        semantics: MemorySemantics | None = None,
    ) -> None:
        super().__init__(
            operands=[memref, indices],
            properties={**atomic_modifiers(scope, semantics)},
            result_types=[element_type_of(memref)],
        )


@op_definition
class AtomicStoreOp(AtomicOperation):
    """Stores one element atomically ("Atomic store").

    ```
    atomic_store.device.release %value, %A[%i]
    ```
    """

    name = "tensorlang.atomic_store"
    SYNTAX: ClassVar[str] = ".scope .semantics $value, $memref[$indices]"

    value = operand_def(NUMBER)
    memref = operand_def(MEMREF)
    indices = var_operand_def(INDEX_ONLY)

    def __init__(
        self,
        value: Operand,
        memref: Operand,
        indices: Sequence[Operand] = (),
        *,
        scope: MemoryScope | None = None,
        semantics: MemorySemantics | None = None,
    ) -> None:
        super().__init__(
            operands=[value, memref, indices], properties={**atomic_modifiers(scope, semantics)}
        )


class AtomicUpdateOperation(AtomicOperation, ABC):
    """Updates one element atomically and returns the element before the update."""

    SYNTAX: ClassVar[str] = ".scope .semantics $value, $memref[$indices] : $result"

    value = operand_def(NUMBER)
    memref = operand_def(MEMREF)
    indices = var_operand_def(INDEX_ONLY)
    result = result_def(NUMBER)

    def __init__(
        self,
        value: Operand,
        memref: Operand,
        indices: Sequence[Operand] = (),
        *,
        scope: MemoryScope | None = None,
        semantics: MemorySemantics | None = None,
    ) -> None:
        super().__init__(
            operands=[value, memref, indices],
            properties={**atomic_modifiers(scope, semantics)},
            result_types=[SSAValue.get(value).type],
        )


@op_definition
class AtomicAddOp(AtomicUpdateOperation):
    """Adds to one element atomically ("Atomic update").

    ```
    %old = atomic_add %value, %A[%i] : f32
    ```
    """

    name = "tensorlang.atomic_add"


@op_definition
class AtomicMaxOp(AtomicUpdateOperation):
    """Raises one element to a value atomically ("Atomic update").

    ```
    %old = atomic_max %value, %A[%i] : f32
    ```
    """

    name = "tensorlang.atomic_max"


@op_definition
class AtomicMinOp(AtomicUpdateOperation):
    """Lowers one element to a value atomically ("Atomic update").

    ```
    %old = atomic_min %value, %A[%i] : f32
    ```
    """

    name = "tensorlang.atomic_min"


@op_definition
class BarrierOp(TensorLangOperation):
    """Waits until all work-items of the work-group are here ("Barrier").

    ```
    barrier.global.local
    ```

    `.global` and `.local` make accesses to that memory visible to the work-group.
    """

    name = "tensorlang.barrier"
    SYNTAX: ClassVar[str] = ".global_fence .local_fence"

    global_fence = opt_prop_def(UnitAttr)
    local_fence = opt_prop_def(UnitAttr)

    def __init__(self, *, global_fence: bool = False, local_fence: bool = False) -> None:
        fences = {"global_fence": unit(global_fence), "local_fence": unit(local_fence)}
        super().__init__(properties=fences)


@op_definition
class ExpandOp(TensorLangOperation):
    """A view in which one mode is several ("Expand").

    ```
    %r = expand %A[1 -> 2 x %n] : memref<f32x32x2x?>
    ```

    `static_expand_shape` holds a size for each new mode, DYNAMIC where the next of the
    `expand_shape` operands gives it.
    """

    name = "tensorlang.expand"
    SYNTAX: ClassVar[str] = "$memref[#mode -> expand_shape()] : $result"

    memref = operand_def(MEMREF)
    expand_shape = var_operand_def(INDEX_ONLY)
    mode = prop_def(IntegerAttr[I64])
    static_expand_shape = prop_def(DenseArrayBase[I64])
    result = result_def(MEMREF)

    def __init__(
        self,
        memref: Operand,
        mode: int,
        expand_shape: Sequence[Operand | int],
        result_type: Attribute | None = None,
    ) -> None:
        static, dynamic = split_mixed(expand_shape)
        type = SSAValue.get(memref).type
        super().__init__(
            operands=[memref, dynamic],
            properties={"mode": integer_attribute(mode), "static_expand_shape": static},
            result_types=[result_type or _expanded_type(type, mode, static)],
        )


@op_definition
class FuseOp(TensorLangOperation):
    """A view in which the modes from `from_mode` to `to_mode` are one ("Fuse").

    ```
    %r = fuse %A[1,3] : memref<f32x32x512x42>
    ```
    """

    name = "tensorlang.fuse"
    SYNTAX: ClassVar[str] = "$memref[#from_mode,#to_mode] : $result"

    memref = operand_def(MEMREF)
    from_mode = prop_def(IntegerAttr[I64])
    to_mode = prop_def(IntegerAttr[I64])
    result = result_def(MEMREF)

    def __init__(
        self,
        memref: Operand,
        from_mode: int,
        to_mode: int,
        result_type: Attribute | None = None,
    ) -> None:
        type = SSAValue.get(memref).type
        super().__init__(
            operands=[memref],
            properties={
                "from_mode": integer_attribute(from_mode),
                "to_mode": integer_attribute(to_mode),
            },
            result_types=[result_type or _fused_type(type, from_mode, to_mode)],
        )


@op_definition
class LoadOp(TensorLangOperation):
    """The element of a memref, or the memref of a group ("Load").

    ```
    %r = load %A[%i,%j] : f32
    ```
    """

    name = "tensorlang.load"
    SYNTAX: ClassVar[str] = "$memref[$indices] : $result"

    memref = operand_def(MEMREF_OR_GROUP)
    indices = var_operand_def(INDEX_ONLY)
    result = result_def(NUMBER_OR_MEMREF)

    def __init__(self, memref: Operand, indices: Sequence[Operand] = ()) -> None:
        super().__init__(operands=[memref, indices], result_types=[element_type_of(memref)])


@op_definition
class SizeOp(TensorLangOperation):
    """The size of one mode of a memref, or of a group ("Size").

    ```
    %r = size %A[1] : index
    ```
    """

    name = "tensorlang.size"
    SYNTAX: ClassVar[str] = "$tensor[#mode] : $result"

    tensor = operand_def(MEMREF_OR_GROUP)
    mode = prop_def(IntegerAttr[I64])
    result = result_def(INDEX_ONLY)

    def __init__(self, tensor: Operand, mode: int) -> None:
        super().__init__(
            operands=[tensor], properties={"mode": integer_attribute(mode)}, result_types=[INDEX]
        )


@op_definition
class StoreOp(TensorLangOperation):
    """Stores a number in a memref ("Store").

    ```
    store %value, %A[%i,%j]
    ```
    """

    name = "tensorlang.store"
    SYNTAX: ClassVar[str] = "$value, $memref[$indices]"

    value = operand_def(NUMBER)
    memref = operand_def(MEMREF)
    indices = var_operand_def(INDEX_ONLY)

    def __init__(self, value: Operand, memref: Operand, indices: Sequence[Operand] = ()) -> None:
        super().__init__(operands=[value, memref, indices])


@op_definition
class SubviewOp(TensorLangOperation):
    """A view on a block of a memref ("Subview").

    ```
    %r = subview %A[4:8,%i:%n,%j] : memref<f32x8x?,strided<1,32>>
    ```

    Each mode has an offset and a size, in elements; size 0, which is how a mode without a size
    is stored, removes the mode from the result. `static_offsets` and `static_sizes` hold
    DYNAMIC where the next of the `offsets` or `sizes` operands gives the value.
    """

    name = "tensorlang.subview"
    SYNTAX: ClassVar[str] = "$memref[slices()] : $result"

    memref = operand_def(MEMREF)
    offsets = var_operand_def(INDEX_ONLY)
    sizes = var_operand_def(INDEX_ONLY)
    static_offsets = prop_def(DenseArrayBase[I64])
    static_sizes = prop_def(DenseArrayBase[I64])
    result = result_def(MEMREF)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        memref: Operand,
        slices: Sequence[tuple[Operand | int, Operand | int]],
        result_type: Attribute | None = None,
    ) -> None:
        static_offsets, offsets = split_mixed([offset for offset, _ in slices])
        static_sizes, sizes = split_mixed([size for _, size in slices])
        super().__init__(
            operands=[memref, offsets, sizes],
            properties={"static_offsets": static_offsets, "static_sizes": static_sizes},
            result_types=[result_type or _subview_type(SSAValue.get(memref).type, static_sizes)],
        )


def element_type_of(memref: Operand) -> Attribute:
    """The type of what a load from a memref or a group returns.

    Raises:
        ValueError: It is neither.
    """
    type = SSAValue.get(memref).type
    if isinstance(type, GroupType):
        return type.element
    if isinstance(type, MemrefType):
        return type.element_type
    raise ValueError(f"expected a memref or a group, but got {type_text(type)}")


def split_mixed(
    numbers: Sequence[Operand | int],
) -> tuple[DenseArrayBase[I64], list[SSAValue]]:
    """Numbers and values as instructions keep them: DYNAMIC stands for the next of the values."""
    static = [number if isinstance(number, int) else DYNAMIC for number in numbers]
    dynamic = [SSAValue.get(number) for number in numbers if not isinstance(number, int)]
    return integer_list_attribute(static), dynamic


def _subview_type(type: Attribute, static_sizes: DenseArrayBase[I64]) -> Attribute:
    """The modes that have a size stay, with the strides that they had."""
    type = _memref_type(type)
    sizes = [int(size) for size in static_sizes.get_values()]
    kept = [mode for mode, size in enumerate(sizes) if size != 0]
    shape, strides = [sizes[mode] for mode in kept], [type.strides[mode] for mode in kept]
    return MemrefType.get(type.element_type, shape, strides, type.address_space)


def _expanded_type(type: Attribute, mode: int, static_sizes: DenseArrayBase[I64]) -> Attribute:
    """The new modes lie behind each other where the old one was."""
    type = _memref_type(type, mode)
    sizes = [int(size) for size in static_sizes.get_values()]
    strides = [type.strides[mode]]
    for size in sizes[:-1]:
        strides.append(DYNAMIC if DYNAMIC in (strides[-1], size) else strides[-1] * size)
    shape = [*type.shape[:mode], *sizes, *type.shape[mode + 1 :]]
    strides = [*type.strides[:mode], *strides, *type.strides[mode + 1 :]]
    return MemrefType.get(type.element_type, shape, strides, type.address_space)


def _fused_type(type: Attribute, first: int, last: int) -> Attribute:
    """The modes become one, whose neighbours are as far apart as the first one's."""
    type = _memref_type(type, first, last)
    fused = type.shape[first : last + 1]
    size = DYNAMIC if DYNAMIC in fused else math.prod(fused)
    shape = [*type.shape[:first], size, *type.shape[last + 1 :]]
    strides = [*type.strides[: first + 1], *type.strides[last + 1 :]]
    return MemrefType.get(type.element_type, shape, strides, type.address_space)


def _memref_type(type: Attribute, *modes: int) -> MemrefType:
    """A type that must be a memref's, with these modes."""
    if not isinstance(type, MemrefType):
        raise ValueError(f"expected a memref, but got {type_text(type)}")
    for mode in modes:
        if not 0 <= mode < type.order:
            raise ValueError(f"{type_text(type)} has no mode {mode}")
    return type
