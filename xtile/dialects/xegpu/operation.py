"""What the dialect's operations share.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, TypeAlias

from typing_extensions import override
from xdsl.dialects.builtin import DYNAMIC_INDEX, ContainerType, DenseArrayBase, VectorType, i64
from xdsl.dialects.utils.dynamic_index_list import get_dynamic_index_list
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import opt_prop_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.construction import DirectOperation
from xtile.dialects.xegpu.assembly import integers
from xtile.dialects.xegpu.attributes import (
    READ_POLICIES,
    WRITE_POLICIES,
    CachePolicy,
    CachePolicyAttr,
)
from xtile.dialects.xegpu.constraints import CACHE_HINT, LAYOUT
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.types import TensorDescType


class XeGPUOperation(DirectOperation, ABC):
    """An operation whose properties may also be given in its attribute dictionary.

    Upstream takes an inherent attribute for a property wherever the text gives it, and kernels give
    cache hints in either position.
    """

    @override
    def __post_init__(self) -> None:
        for name in self.get_irdl_definition().properties:
            if name in self.attributes and name not in self.properties:
                self.properties[name] = self.attributes.pop(name)
        super().__post_init__()


Operand: TypeAlias = SSAValue | Operation
"""What constructors take as an operand: a value, or the operation whose only result it is."""


def split_mixed(
    numbers: Sequence[Operand | int] | None,
) -> tuple[DenseArrayBase | None, list[SSAValue]]:
    """A list such as `[%i, 4]` as operations keep it: its numbers, and the values among them."""
    if numbers is None:
        return None, []
    constants = [number if isinstance(number, int) else DYNAMIC_INDEX for number in numbers]
    values = [SSAValue.get(number) for number in numbers if not isinstance(number, int)]
    return DenseArrayBase.from_list(i64, constants), values


def hint_properties(
    l1_hint: CachePolicy | None,
    l2_hint: CachePolicy | None,
    l3_hint: CachePolicy | None,
    layout: DistributeLayoutAttr | None,
) -> dict[str, Attribute | None]:
    """What loads, prefetches and stores have in common, as properties."""
    hints = {"l1_hint": l1_hint, "l2_hint": l2_hint, "l3_hint": l3_hint}
    properties: dict[str, Attribute | None] = {
        name: None if hint is None else CachePolicyAttr(hint) for name, hint in hints.items()
    }
    return {**properties, "layout": layout}


def block_type(descriptor: Operand) -> VectorType[Attribute]:
    """The vector that a whole block is, as a subgroup loads it.

    Raises:
        ValueError: It is not the descriptor of one block.
    """
    type = SSAValue.get(descriptor).type
    if not isinstance(type, TensorDescType) or type.is_scattered or type.array_length != 1:
        raise ValueError(f"a load by {type} needs a result_type")
    return VectorType(type.element_type, type.get_shape())


class CachedOperation(XeGPUOperation, ABC):
    """A load, a prefetch or a store: an operation with cache hints."""

    POLICIES: ClassVar[tuple[CachePolicy, ...]]
    """The policies that its hints may have."""

    l1_hint = opt_prop_def(CACHE_HINT)
    l2_hint = opt_prop_def(CACHE_HINT)
    l3_hint = opt_prop_def(CACHE_HINT)
    layout = opt_prop_def(LAYOUT)

    def verify_hints(self) -> None:
        """Checks the policies of the cache hints.

        Raises:
            VerifyException: One of them is not for this kind of access.
        """
        for name in ("l1_hint", "l2_hint", "l3_hint"):
            hint = self.properties.get(name)
            if isinstance(hint, CachePolicyAttr) and hint.data not in self.POLICIES:
                allowed = ", ".join(policy.value for policy in self.POLICIES)
                raise VerifyException(f"{name} is {hint.data.value}; it must be one of {allowed}")


class ReadingOperation(CachedOperation, ABC):
    """A load or a prefetch."""

    POLICIES: ClassVar[tuple[CachePolicy, ...]] = READ_POLICIES


class WritingOperation(CachedOperation, ABC):
    """A store."""

    POLICIES: ClassVar[tuple[CachePolicy, ...]] = WRITE_POLICIES


def is_for_workgroup(operation: Operation) -> bool:
    """Whether a layout of an operation, or of one of its descriptors, spreads over subgroups."""
    return any(layout.is_for_workgroup for layout in layouts_of(operation))


def layouts_of(operation: Operation) -> list[DistributeLayoutAttr]:
    """The layouts of an operation and of its descriptors. This is asked of whole kernels."""
    found = [*operation.properties.values(), *operation.attributes.values()]
    for value in (*operation.operands, *operation.results):
        type_ = value.type
        if type(type_) is TensorDescType:
            found.append(type_.layout)
    return [each for each in found if isinstance(each, DistributeLayoutAttr)]


def mixed(values: Sequence[SSAValue], constants: Attribute | None) -> list[SSAValue | int]:
    """The operands and numbers of a list such as `[%i, 4]`, in order; none if it is absent."""
    return get_dynamic_index_list(integers(constants), values, DYNAMIC_INDEX)


def verify_positions(values: Sequence[SSAValue], constants: Attribute | None, name: str) -> None:
    """Raises a VerifyException if a list has not as many operands as positions for them."""
    positions = integers(constants).count(DYNAMIC_INDEX)
    if positions != len(values):
        raise VerifyException(
            f"{name} has a place for {positions} operands, but is given {len(values)}"
        )


def tensor_desc(value: SSAValue) -> TensorDescType:
    """The type of a descriptor operand.

    Raises:
        VerifyException: It is something else.
    """
    type = value.type
    if not isinstance(type, TensorDescType):
        raise VerifyException(f"expected a tensor_desc, but got {type}")
    return type


def expect_block(descriptor: TensorDescType) -> None:
    """Raises a VerifyException if the descriptor is scattered."""
    if descriptor.is_scattered:
        raise VerifyException(
            f"{descriptor} describes scattered points; expected one that describes a block"
        )


def expect_scattered(descriptor: TensorDescType) -> None:
    """Raises a VerifyException if the descriptor describes a block."""
    if not descriptor.is_scattered:
        raise VerifyException(
            f"{descriptor} describes a block; expected one with a scatter_tdesc_attr"
        )


def expect_same_element_type(name: str, type: Attribute, other_name: str, other: Attribute) -> None:
    """Raises a VerifyException if two values do not have the same element type."""
    first, second = element_type(type), element_type(other)
    if first != second:
        raise VerifyException(
            f"{name} has elements of type {first}, but {other_name} of type {second}; "
            "they must be the same"
        )


def points(descriptor: TensorDescType) -> tuple[int, ...]:
    """The shape of a scattered descriptor without the dimension of its chunks."""
    shape = descriptor.get_shape()
    return shape[:-1] if descriptor.chunk_size > 1 else shape


def verify_offsets(offsets: Sequence[SSAValue | int], descriptor: TensorDescType) -> None:
    """Raises a VerifyException if there is not one offset for each dimension."""
    if len(offsets) != descriptor.rank:
        raise VerifyException(
            f"expected one offset for each of the {descriptor.rank} dimensions of the descriptor, "
            f"got {len(offsets)}"
        )


def element_type(type: Attribute) -> Attribute:
    """The type of one element; a scalar is its own element."""
    return type.get_element_type() if isa(type, ContainerType) else type


def shape_of(type: Attribute) -> tuple[int, ...]:
    """The shape of a vector or a descriptor; a scalar has the shape 1."""
    return type.get_shape() if isinstance(type, VectorType | TensorDescType) else (1,)


def shape_text(shape: Sequence[int]) -> str:
    """A shape as it is written in types: `8x16`."""
    return "x".join("?" if size == DYNAMIC_INDEX else str(size) for size in shape)
