"""Definitions of operations that work out once what xDSL works out for each operation.

That is how many operands and results each name may stand for, which constraint each has, and which
traits check something. What this check refuses, xDSL's checks again: all messages are xDSL's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias, cast

from typing_extensions import override
from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttributeDef,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    AttrSizedSegments,
    OpDef,
    OperandDef,
    OptionalDef,
    PropertyDef,
    RangeConstraint,
    RangeOf,
    ResultDef,
    VariadicDef,
    VerificationContext,
)
from xdsl.irdl.constraints import EqIntConstraint, RangeLengthConstraint
from xdsl.irdl.operations import VarIRConstruct, irdl_op_verify_regions, verify_variadic_size
from xdsl.traits import IsolatedFromAbove, OpTrait
from xdsl.utils.exceptions import VerifyException

_Check: TypeAlias = Callable[[Operation, Sequence[SSAValue], VerificationContext], None]
"""Checks the operands or the results of an operation; raises VerifyException."""

_Constraints: TypeAlias = Sequence[tuple[str, AttrConstraint, bool]]
"""The names of attributes, what they may be, and whether they may be missing."""


class CheckedDefinition(OpDef):
    """A definition with a check that is put together when the first operation is verified."""

    @classmethod
    def of(cls, definition: OpDef) -> OpDef:
        """Gives a definition the check."""
        definition.__class__ = cls
        return definition

    @override
    def verify(self, op: Operation) -> None:
        try:
            self.check(op)
        except VerifyException:
            super().verify(op)

    def check(self, op: Operation) -> None:
        """Checks an operation, with messages that say nothing.

        Raises:
            VerifyException: It is wrong, or this check does not know.
        """
        context = VerificationContext()
        self._check_operands(op, op._operands, context)  # pyright: ignore[reportPrivateUsage]
        self._check_results(op, op.results, context)
        if self.regions or op.regions:
            irdl_op_verify_regions(op, self, context)
        if self.successors or op.successors:
            verify_variadic_size(op, self, VarIRConstruct.SUCCESSOR)
        _check_attributes(self._property_constraints, op.properties, context)
        if not self.properties.keys() >= op.properties.keys():
            raise VerifyException("a property is not defined")
        _check_attributes(self._attribute_constraints, op.attributes, context)
        for verify in self._trait_checks:
            verify(op)

    @cached_property
    def _check_operands(self) -> _Check:
        return _check_of(self.operands, self._segments(AttrSizedOperandSegments))

    @cached_property
    def _check_results(self) -> _Check:
        return _check_of(self.results, self._segments(AttrSizedResultSegments))

    def _segments(self, kind: type[AttrSizedSegments]) -> AttrSizedSegments | None:
        return next((option for option in self.options if isinstance(option, kind)), None)

    @cached_property
    def _property_constraints(self) -> _Constraints:
        return _constraints(self.properties)

    @cached_property
    def _attribute_constraints(self) -> _Constraints:
        return _constraints(self.attributes)

    @cached_property
    def _trait_checks(self) -> Iterable[Callable[[Operation], None]]:
        return [
            _check_isolation if type(trait) is IsolatedFromAbove else trait.verify
            for trait in self.traits
            if type(trait).verify is not OpTrait.verify
        ]


def _constraints(known: Mapping[str, PropertyDef] | Mapping[str, AttributeDef]) -> _Constraints:
    return [(name, each.constr, isinstance(each, OptionalDef)) for name, each in known.items()]


def _check_attributes(
    constraints: _Constraints, attributes: Mapping[str, Attribute], context: VerificationContext
) -> None:
    for name, constraint, is_optional in constraints:
        value = attributes.get(name)
        if value is not None:
            constraint.verify(value, context)
        elif not is_optional:
            raise VerifyException("an attribute is missing")


def _check_isolation(op: Operation) -> None:
    """Checks that what stands in an operation uses no values from outside of it.

    xDSL goes up from each operand to the operation. Here a set has the blocks that were met.
    """
    inside: set[Block] = set()
    regions = list(op.regions)
    while regions:
        region = regions.pop()
        inside.update(region.blocks)
        for block in region.blocks:
            for child in block.ops:
                for operand in child.operands:
                    owner = operand.owner
                    # Nearly all values are of the same block.
                    if owner is block or owner.parent is block:
                        continue
                    around = owner if isinstance(owner, Block) else owner.parent
                    if around not in inside:
                        raise VerifyException("a value is not defined in the operation")
                if child.regions and not child.has_trait(IsolatedFromAbove):
                    regions += child.regions


def _check_of(
    definitions: Sequence[tuple[str, OperandDef]] | Sequence[tuple[str, ResultDef]],
    segments: AttrSizedSegments | None,
) -> _Check:
    """Returns what checks operands or results, whose numbers an attribute may say."""
    ranges = [each.constr for _, each in definitions]
    variadic = [i for i, (_, each) in enumerate(definitions) if isinstance(each, VariadicDef)]
    singles = [each for each in map(_of_single, ranges) if each is not None]
    if segments is None and not variadic and len(singles) == len(ranges):
        return _check_of_singles(singles)
    optional = [i for i in variadic if isinstance(definitions[i][1], OptionalDef)]

    def check(op: Operation, values: Sequence[SSAValue], context: VerificationContext) -> None:
        if segments is not None:
            sizes = _sizes_in(segments, op)
        else:
            sizes = [1] * len(ranges)
            if len(variadic) == 1:
                sizes[variadic[0]] += len(values) - len(sizes)
        is_right = (
            len(sizes) == len(ranges)
            and sum(sizes) == len(values)
            and all(size == 1 or (size >= 0 and i in variadic) for i, size in enumerate(sizes))
            and all(sizes[i] < 2 for i in optional)
        )
        if not is_right:
            raise VerifyException("there are too few or too many")
        types, start = [value.type for value in values], 0
        for constraint, size in zip(ranges, sizes, strict=True):
            constraint.verify(types[start : start + size], context)
            start += size

    return check


def _check_of_singles(constraints: Sequence[AttrConstraint]) -> _Check:
    count = len(constraints)

    def check(op: Operation, values: Sequence[SSAValue], context: VerificationContext) -> None:
        if len(values) != count:
            raise VerifyException("there are too few or too many")
        for value, constraint in zip(values, constraints, strict=True):
            constraint.verify(value.type, context)

    return check


def _of_single(constraint: RangeConstraint) -> AttrConstraint | None:
    """What the one of a range of one may be; None if the range may be longer or shorter."""
    if not isinstance(constraint, RangeLengthConstraint) or constraint.length != EqIntConstraint(1):
        return None
    inner = constraint.constraint
    return inner.constr if isinstance(inner, RangeOf) else None


def _sizes_in(segments: AttrSizedSegments, op: Operation) -> Sequence[int]:
    """The numbers that an operation says for each name.

    Raises:
        VerifyException: It says none.
    """
    attribute = segments.container(op).get(segments.attribute_name)
    if not isinstance(attribute, DenseArrayBase):
        raise VerifyException("there is no attribute")
    sizes = cast("DenseArrayBase", attribute)
    if sizes.elt_type is not i32 and sizes.elt_type != i32:
        raise VerifyException("the numbers have another type")
    return memoryview(sizes.data.data).cast("i")
