"""What is known of integers that no operation tells.

Source: CUDA Tile IR specification, "assume" (`bounded`, `same_elements`, `div_by`);
triton-lang/triton, `AxisInfo.h` (`tt.divisibility`, `tt.contiguity`, `tt.constancy`).
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    i64,
)
from xdsl.ir import Attribute
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.core.pointers import PointerType
from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import as_vector, bits_of


@op_definition
class AssumeOp(IRDLOperation):
    """An integer or a pointer, or a vector of some, of which something is known.

    ```
    %b = core.assume %a at_least 0 at_most 4095 divisible_by 16 : index
    %w = core.assume %v equal [4, 1] contiguous 8 along 1 divisible_by 8 : vector<4x16xi32>
    ```

    Bounds are signed numbers. `equal` cuts a vector into groups of some sizes with equal elements.
    `contiguous` cuts it into groups along a dimension, each element of which is 1 more than the one
    before it; then `divisible_by` is about the first ones. Of pointers, `divisible_by` is a number
    of bytes and `contiguous` says that the elements pointed to follow each other; they have no
    bounds. Where something does not hold, anything may happen.
    """

    name = "core.assume"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(T)
    at_least = opt_prop_def(IntegerAttr[I64])
    at_most = opt_prop_def(IntegerAttr[I64])
    equal = opt_prop_def(DenseArrayBase.constr(i64))
    contiguous = opt_prop_def(IntegerAttr[I64])
    along = opt_prop_def(IntegerAttr[I64])
    divisible_by = opt_prop_def(IntegerAttr[I64])
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = (
        "$value (`at_least` $at_least^)? (`at_most` $at_most^)? (`equal` $equal^)? "
        "(`contiguous` $contiguous^ `along` $along)? (`divisible_by` $divisible_by^)? attr-dict "
        "`:` type($value)"
    )

    @property
    def least(self) -> int | None:
        """The least number that it may be; None if nothing says so."""
        return _number(self.at_least)

    @property
    def most(self) -> int | None:
        """The greatest number that it may be; None if nothing says so."""
        return _number(self.at_most)

    @property
    def groups(self) -> tuple[int, ...] | None:
        """The sizes of the groups whose elements are equal."""
        return None if self.equal is None else tuple(map(int, self.equal.get_values()))

    @property
    def run(self) -> tuple[int, int] | None:
        """How many elements follow each other, and along which dimension."""
        length, along = _number(self.contiguous), _number(self.along)
        return None if length is None or along is None else (length, along)

    @property
    def divisor(self) -> int:
        """What divides each element, or the first one of each group that is contiguous."""
        return 1 if self.divisible_by is None else self.divisible_by.value.data

    @override
    def verify_(self) -> None:
        vector = as_vector(self.value.type)
        element = self.value.type if vector is None else vector.element_type
        shape = () if vector is None else vector.get_shape()
        if not isa(element, IntegerType | IndexType | PointerType):
            raise VerifyException(f"expected integers or pointers, got {self.value.type}")
        if not self.properties:
            raise VerifyException(
                "expected at_least, at_most, equal, contiguous or divisible_by with what is known"
            )
        self._verify_bounds(element)
        if self.divisible_by is not None and self.divisible_by.value.data < 1:
            raise VerifyException(f"expected a divisor of 1 or more, got {self.divisor}")
        if self.groups is not None:
            _verify_sizes(self.groups, shape)
        if self.run is not None:
            length, along = self.run
            if not 0 <= along < len(shape):
                raise VerifyException(f"{self.value.type} has no dimension {along}")
            _verify_sizes((length,), shape[along : along + 1])

    def _verify_bounds(self, element: Attribute) -> None:
        if isinstance(element, PointerType) and not self.least is self.most is None:
            raise VerifyException(f"pointers have no bounds, got {self.value.type}")
        limit = 2 ** (bits_of(element) - 1)
        for bound in (self.least, self.most):
            if bound is not None and not -limit <= bound < limit:
                raise VerifyException(f"{bound} is no signed number of type {element}")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise VerifyException(f"nothing is at least {self.least} and at most {self.most}")


def _number(attribute: IntegerAttr[I64] | None) -> int | None:
    return None if attribute is None else attribute.value.data


def _verify_sizes(sizes: tuple[int, ...], shape: tuple[int, ...]) -> None:
    fits = len(sizes) == len(shape) and all(
        1 <= size <= length for size, length in zip(sizes, shape, strict=True)
    )
    if not fits:
        raise VerifyException(f"groups of sizes {list(sizes)} do not fit into sizes {list(shape)}")
