"""What the operations of Triton's languages share.

Source: Triton 3.9, `Dialect/Triton/IR/TritonOps.td`, `lib/Dialect/Triton/IR/Traits.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Mapping
from typing import ClassVar, TypeAlias, cast

from typing_extensions import override
from xdsl.dialects.builtin import IntegerType, NoneAttr, Signedness, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.construction import DirectOperation
from xtile.dialects.triton.versions import OLDEST, Release, name_in

Operand: TypeAlias = SSAValue | Operation
"""What constructors take as an operand: a value, or the operation whose only result it is."""


class TritonOperation(DirectOperation, ABC):
    """An operation of `tt`, `ttg` or `amdg`.

    Its operands, properties and results stand in the order of Triton's definition of it.
    """

    SINCE: ClassVar[Release] = OLDEST
    """The release that it came in with; the oldest one that is known counts as the first."""

    UNTIL: ClassVar[Release | None] = None
    """The last release that has it; None for the newest."""

    @override
    def __post_init__(self) -> None:
        # Triton's releases differ in what they write as properties and what in the dictionary.
        for name in self.get_irdl_definition().properties if self.attributes else ():
            if name in self.attributes and name not in self.properties:
                self.properties[name] = self.attributes.pop(name)
        self.migrate()
        super().__post_init__()

    def lost_in(self, release: Release) -> str | None:
        """Why a release does not have the operation; None where it does."""
        if release < self.SINCE:
            return f"{self.name} came in with Triton {self.SINCE}, and this is to be {release}"
        if self.UNTIL is not None and release > self.UNTIL:
            return f"Triton {self.UNTIL} was the last with {self.name}, and this is to be {release}"
        return None

    def results_in(self, release: Release) -> int:
        """How many of its results a release has."""
        return len(self.results)

    def migrate(self) -> None:
        """Makes what older releases say in other properties into those of the newest one."""

    def name_in(self, release: Release) -> str:
        """What a release calls the operation."""
        return name_in(self.name, release)

    @override
    def verify_(self) -> None:
        for value in (*self.operands, *self.results):
            verify_size(value.type)


LARGEST_TENSOR = 1 << 20
"""Elements of a tensor that Triton allows (`maxTensorNumElements` in its `Traits.h`)."""


def verify_size(type_: Attribute) -> None:
    """Raises a VerifyException if Triton has no tensor of that many elements."""
    if not isinstance(type_, TensorType):
        return
    count = 1
    for size in type_.get_shape():
        count *= size
    if count < 1 or count & (count - 1):
        raise VerifyException(f"a tensor has a power of two of elements, but {type_} has {count}")
    if count > LARGEST_TENSOR:
        raise VerifyException(
            f"a tensor has at most {LARGEST_TENSOR} elements, but {type_} has {count}"
        )


def as_tensor(type_: Attribute) -> TensorType[Attribute] | None:
    """The type, if it is a tensor's."""
    return cast("TensorType[Attribute]", type_) if isinstance(type_, TensorType) else None


def width_of(type_: Attribute) -> int | None:
    """The width in bits of a signless integer; None for other types."""
    # A plain look at the class: this is asked of each operand and result.
    if not isinstance(type_, IntegerType):
        return None
    integer = cast("IntegerType", type_)
    return integer.width.data if integer.signedness.data is Signedness.SIGNLESS else None


def element_of(type_: Attribute) -> Attribute:
    """The type of an element; a scalar is its own element."""
    tensor = as_tensor(type_)
    return type_ if tensor is None else tensor.element_type


def encoding_of(type_: Attribute) -> Attribute | None:
    """The layout of a tensor, if it has one."""
    if not isinstance(type_, TensorType) or isinstance(type_.encoding, NoneAttr):
        return None
    return type_.encoding


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The shape of a tensor; a scalar has none."""
    return type_.get_shape() if isinstance(type_, TensorType) else ()


def with_element(type_: Attribute, element: Attribute) -> Attribute:
    """The type with other elements and the same shape and layout."""
    if isinstance(type_, TensorType):
        return TensorType[Attribute].new((type_.shape, element, type_.encoding))
    return element


def with_shape(
    type_: Attribute, shape: Iterable[int], encoding: Attribute | None = None
) -> Attribute:
    """The tensor of another shape; the element itself for the empty shape."""
    sizes = list(shape)
    if not sizes:
        return element_of(type_)
    return TensorType(element_of(type_), sizes, *([] if encoding is None else [encoding]))


def verify_same_form(values: Mapping[str, Attribute]) -> None:
    """Checks that all types have one shape and one layout.

    Args:
        values: The types by what messages call the values.

    Raises:
        VerifyException: Two differ.
    """
    (first, expected), *others = values.items()
    for name, type_ in others:
        if shape_of(type_) != shape_of(expected) or isinstance(type_, TensorType) != isinstance(
            expected, TensorType
        ):
            raise VerifyException(
                f"{name} is {type_}, but {first} is {expected}; they must have the same shape"
            )
        if encoding_of(type_) != encoding_of(expected):
            raise VerifyException(
                f"{name} is {type_}, but {first} is {expected}; they must have the same layout"
            )


def verify_type(name: str, type_: Attribute, expected: Attribute) -> None:
    """Raises a VerifyException if a value does not have the type that others ask for."""
    if type_ != expected:
        raise VerifyException(f"{name} is {type_}; it must be {expected}")
