"""Operations that are made in one step.

xDSL works out anew for each operation how its definition groups operands and results, and makes the
attribute that says so each time. Reading and translating make operations by the thousand.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Self, TypeAlias, TypeVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import (
    Attribute,
    Block,
    BlockArgument,
    Operation,
    OpResult,
    Region,
    SSAValue,
    SSAValues,
    Use,
)
from xdsl.irdl import (
    AttributeDef,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    AttrSizedSegments,
    IRDLOperation,
    OpDef,
    OperandDef,
    OptionalDef,
    ParsePropInAttrDict,
    PropertyDef,
    ResultDef,
    VariadicDef,
)

from xtile.dialects.shared_attributes import i32_numbers_attribute

_Operand: TypeAlias = SSAValue | Operation | Sequence[SSAValue | Operation] | None
_ResultType: TypeAlias = Attribute | Sequence[Attribute] | None
_Limits: TypeAlias = Sequence[tuple[int, int | None]]
"""How few and how many operands or results each name stands for; None for any number."""

_OperationT = TypeVar("_OperationT", bound=Operation)

VALUE_CLASSES = frozenset[type]((OpResult, BlockArgument))
"""The classes of nearly all values: whether something is of one of them is found out sooner than
whether it is of an abstract class."""

_PLAIN_OPTIONS = (AttrSizedOperandSegments, AttrSizedResultSegments, ParsePropInAttrDict)
"""What a definition may say beside its operands, results, properties and attributes."""


def made(
    kind: type[_OperationT],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: Mapping[str, Attribute] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> _OperationT:
    """An operation as xDSL's `create` makes it, in half of its time.

    Args:
        kind: The operation.
        operands: All operands, one after the other.
        result_types: The types of all results.
        properties: Its properties, among them the sizes of segments; others are as by default.
        attributes: Its discardable attributes.
        successors: Where it may branch to.
        regions: Its regions.
    """
    operation = kind.__new__(kind)
    given, others = dict(properties or {}), dict(attributes or {})
    fill(operation, operands, result_types, given, others, successors, regions)
    if kind.__post_init__ is IRDLOperation.__post_init__:
        _add_defaults(cast("IRDLOperation", operation))
    else:
        operation.__post_init__()
    return operation


def fill(
    operation: Operation,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: dict[str, Attribute],
    attributes: dict[str, Attribute],
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    """Does what xDSL's constructor does, apart from defaults; the dictionaries are not copied."""
    operation._operands = SSAValues(operands)  # pyright: ignore[reportPrivateUsage]
    uses: list[Use] = []
    for index, operand in enumerate(operands):
        use = Use(operation, index)
        operand.add_use(use)
        uses.append(use)
    operation._operand_uses = tuple(uses)  # pyright: ignore[reportPrivateUsage]
    results = [OpResult(type_, operation, index) for index, type_ in enumerate(result_types)]
    operation.results = SSAValues(results)
    operation.properties = properties
    operation.attributes = attributes
    operation.location = UNKNOWN_LOC
    if successors:
        operation.successors = successors
    operation.regions = ()
    for region in regions:
        operation.add_region(region)


def _add_defaults(operation: IRDLOperation) -> None:
    """Gives an operation what it has by default.

    xDSL asks each property of each operation whether it has a default.
    """
    properties, attributes = _defaults(type(operation))
    for name, default in properties:
        operation.properties.setdefault(name, default)
    for name, default in attributes:
        operation.attributes.setdefault(name, default)


class DirectOperation(IRDLOperation, ABC):
    """An operation that is made in one step where its definition and its arguments are plain.

    Where they are not, or are wrong, xDSL makes the operation or says what is wrong.
    """

    def __init__(
        self,
        *,
        operands: Sequence[_Operand] | None = None,
        result_types: Sequence[_ResultType] | None = None,
        properties: Mapping[str, Attribute | None] | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
        successors: Sequence[Any] | None = None,
        regions: Sequence[Any] | None = None,
    ) -> None:
        is_plain = not successors and not regions
        if not is_plain or not _made(self, operands, result_types, properties, attributes):
            super().__init__(
                operands=operands,
                result_types=result_types,
                properties=properties,
                attributes=attributes,
                successors=successors,
                regions=regions,
            )

    @classmethod
    @override
    def build(
        cls,
        *,
        operands: Sequence[_Operand] | None = None,
        result_types: Sequence[_ResultType] | None = None,
        attributes: Mapping[str, Attribute | None] | None = None,
        properties: Mapping[str, Attribute | None] | None = None,
        successors: Sequence[Any] | None = None,
        regions: Sequence[Any] | None = None,
    ) -> Self:
        operation = cls.__new__(cls)
        DirectOperation.__init__(
            operation,
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
            successors=successors,
            regions=regions,
        )
        return operation

    @override
    def __post_init__(self) -> None:
        _add_defaults(self)


_Defaults: TypeAlias = Sequence[tuple[str, Attribute]]
"""What attributes are where nobody says otherwise."""


@cache
def _defaults(kind: type[IRDLOperation]) -> tuple[_Defaults, _Defaults]:
    """The properties and the attributes that operations of a class have by default."""
    definition = kind.get_irdl_definition()
    return _defaults_of(definition.properties), _defaults_of(definition.attributes)


def _defaults_of(known: Mapping[str, PropertyDef] | Mapping[str, AttributeDef]) -> _Defaults:
    return [
        (name, each.default_value)
        for name, each in known.items()
        if each.default_value is not None and not isinstance(each, OptionalDef)
    ]


def _made(
    operation: IRDLOperation,
    operands: Sequence[_Operand] | None,
    result_types: Sequence[_ResultType] | None,
    properties: Mapping[str, Attribute | None] | None,
    attributes: Mapping[str, Attribute | None] | None,
) -> bool:
    """Makes an operation; False if xDSL has to, or has to say what is wrong."""
    plain = _plain_definition(type(operation))
    if plain is None:
        return False
    operand_limits, result_limits, segments = plain
    values = _in_order(operands or (), operand_limits, _value)
    types = _in_order(result_types or (), result_limits, _type)
    if values is None or types is None:
        return False
    given = {False: _present(attributes), True: _present(properties)}
    for option in segments:
        _, sizes = values if isinstance(option, AttrSizedOperandSegments) else types
        given[option.as_property][option.attribute_name] = i32_numbers_attribute(sizes)
    fill(operation, values[0], types[0], given[True], given[False])
    operation.__post_init__()
    return True


@cache
def _plain_definition(
    kind: type[IRDLOperation],
) -> tuple[_Limits, _Limits, Sequence[AttrSizedSegments]] | None:
    """The limits of operands and results, and what says them; None for other definitions."""
    definition: OpDef = kind.get_irdl_definition()
    is_plain = all(isinstance(option, _PLAIN_OPTIONS) for option in definition.options)
    if not is_plain or definition.regions or definition.successors:
        return None
    segments = [each for each in definition.options if isinstance(each, AttrSizedSegments)]
    return _limits(definition.operands), _limits(definition.results), segments


def _limits(definitions: Iterable[tuple[str, OperandDef | ResultDef]]) -> _Limits:
    return [
        (0, 1 if isinstance(each, OptionalDef) else None)
        if isinstance(each, VariadicDef)
        else (1, 1)
        for _, each in definitions
    ]


_PartT = TypeVar("_PartT", SSAValue, Attribute)


def _in_order(
    given: Sequence[object], limits: _Limits, single: Callable[[object], _PartT | None]
) -> tuple[list[_PartT], tuple[int, ...]] | None:
    """What is given for each name, one after the other, and how much that is for each.

    Args:
        given: One part, several or None for each name.
        limits: How few and how many there may be for each.
        single: Returns one part; None if it is none.

    Returns:
        The parts and their numbers; None if something is given that xDSL has to look at.
    """
    if len(given) != len(limits):
        return None
    parts: list[_PartT] = []
    sizes: list[int] = []
    for each, (least, most) in zip(given, limits, strict=True):
        size = 0
        if isinstance(each, list | tuple):
            for item in cast("Sequence[object]", each):
                part = single(item)
                if part is None:
                    return None
                parts.append(part)
                size += 1
        elif (part := single(each)) is not None:
            parts.append(part)
            size = 1
        elif each is not None or most is None:
            return None
        if size < least or (most is not None and size > most):
            return None
        sizes.append(size)
    return parts, tuple(sizes)


def _value(given: object) -> SSAValue | None:
    if given.__class__ in VALUE_CLASSES:
        return cast("SSAValue", given)
    if isinstance(given, Operation) and len(given.results) == 1:
        return given.results[0]
    return None


def _type(given: object) -> Attribute | None:
    return given if isinstance(given, Attribute) else None


def _present(given: Mapping[str, Attribute | None] | None) -> dict[str, Attribute]:
    """The attributes that are there."""
    return {name: each for name, each in (given or {}).items() if each is not None}
