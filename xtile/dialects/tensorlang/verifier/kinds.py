"""Whether operands, results, properties and regions are of the kinds an instruction asks for.

The kinds are those of the instruction's definition. The other rules run only where they are right,
and rely on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from xdsl.dialects.builtin import I64, DenseArrayBase, IntegerAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    BaseAttr,
    OptionalDef,
    OptPropertyDef,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    VariadicDef,
    VerificationContext,
    irdl_to_attr_constraint,
)
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.tensorlang.constraints import TypeAmong, description
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops.control import ForOp, IfOp, YieldOp
from xtile.dialects.tensorlang.types import PoisonType, type_text
from xtile.dialects.tensorlang.verifier.problem import Problem, counted, mnemonic_of

_SEGMENTS = AttrSizedOperandSegments.attribute_name
_I64_ATTRIBUTE = irdl_to_attr_constraint(IntegerAttr[I64])


@dataclass(frozen=True, slots=True)
class _Slot:
    """The location of one operand or result, or of several in a row.

    `allowed` holds types, and classes any instance of which will do. `most` is None where any
    number of values will do.
    """

    name: str
    allowed: frozenset[Attribute | type[Attribute]]
    description: str
    least: int = 1
    most: int | None = 1


@dataclass(frozen=True, slots=True, eq=False)
class _Slots:
    """The operands or the results of an instruction."""

    what: str
    slots: tuple[_Slot, ...]
    has_segments: bool = False
    layouts: dict[object, Sequence[_Slot] | None] = field(
        default_factory=dict[object, Sequence[_Slot] | None]
    )
    """The slot of each value, by what decides it: the number of values or the segment sizes."""


@dataclass(frozen=True, slots=True, eq=False)
class _Signature:
    """An instruction's definition, prepared for checking."""

    operands: _Slots
    results: _Slots
    properties: dict[str, Callable[[Attribute], bool]]
    required: tuple[str, ...]
    regions: int


def check_kinds(operation: TensorLangOperation, problems: list[Problem]) -> bool:
    """Appends what is wrong to `problems`; returns whether the other rules may run.

    They may not run either where an operand or result is poison, which a reader has reported
    already.
    """
    before = len(problems)
    signature = _signature(type(operation))
    known = _check_values(operation, signature.operands, operation.operand_types, problems)
    known &= _check_values(operation, signature.results, operation.result_types, problems)
    _check_properties(operation, signature, problems)
    _check_regions(operation, signature.regions, problems)
    return known and len(problems) == before


def has_right_results(operation: TensorLangOperation) -> bool:
    """Whether the results are of the kinds of the definition."""
    problems: list[Problem] = []
    results = _signature(type(operation)).results
    return _check_values(operation, results, operation.result_types, problems) and not problems


# The definition


@cache
def _signature(cls: type[TensorLangOperation]) -> _Signature:
    definition = cls.get_irdl_definition()
    properties = definition.properties
    return _Signature(
        _Slots(
            "operand",
            tuple(_slot(name, slot.constr, slot) for name, slot in definition.operands),
            any(isinstance(option, AttrSizedOperandSegments) for option in definition.options),
        ),
        _Slots(
            "result", tuple(_slot(name, slot.constr, slot) for name, slot in definition.results)
        ),
        {name: _property_test(slot.constr) for name, slot in properties.items()},
        tuple(name for name, slot in properties.items() if not isinstance(slot, OptPropertyDef)),
        len(definition.regions),
    )


def _slot(name: str, constraint: RangeConstraint, definition: object) -> _Slot:
    element = _element_constraint(constraint)
    allowed = _allowed(element), description(element)
    if not isinstance(definition, VariadicDef):
        return _Slot(name.rstrip("_"), *allowed)
    return _Slot(name.rstrip("_"), *allowed, 0, 1 if isinstance(definition, OptionalDef) else None)


def _element_constraint(constraint: RangeConstraint) -> AttrConstraint:
    while isinstance(constraint, RangeLengthConstraint):
        constraint = constraint.constraint
    assert isinstance(constraint, RangeOf)
    return constraint.constr


def _allowed(constraint: AttrConstraint) -> frozenset[Attribute | type[Attribute]]:
    if isinstance(constraint, TypeAmong):
        return constraint.types | frozenset(constraint.classes)
    assert isinstance(constraint, BaseAttr)
    return frozenset({constraint.attr})


def _property_test(constraint: AttrConstraint) -> Callable[[Attribute], bool]:
    """Whether a value satisfies a property's constraint; quick for the frequent ones."""
    if constraint == _I64_ATTRIBUTE:
        return _is_i64
    if isinstance(constraint, BaseAttr):
        cls: type[Attribute] = constraint.attr
        return lambda value: isinstance(value, cls)

    def test(value: Attribute) -> bool:
        try:
            constraint.verify(value, VerificationContext())
        except VerifyException:
            return False
        return True

    return test


def _is_i64(value: Attribute) -> bool:
    return isinstance(value, IntegerAttr) and cast("IntegerAttr", value).type == i64


# Operands and results


def _check_values(
    operation: TensorLangOperation,
    slots: _Slots,
    types: Sequence[Attribute],
    problems: list[Problem],
) -> bool:
    """Checks the number and the types of values.

    Returns False if one is poison, or as wrong as what is reported elsewhere.
    """
    layout = _layout(operation, slots, len(types))
    if layout is None:
        problems.append(Problem(operation, _count_message(operation, slots, len(types))))
        return True
    known = True
    for index, (type_, slot) in enumerate(zip(types, layout, strict=True)):
        if type(type_) in slot.allowed or type_ in slot.allowed:
            continue
        if isinstance(type_, PoisonType) or _is_consequence(operation, slot, type_):
            known = False
            continue
        message = f"{_slot_text(slots.what, layout, index)} must be {slot.description}, "
        part = index if slots.what == "operand" else "result"
        problems.append(Problem(operation, f"{message}but its type is {type_text(type_)}", part))
    return known


def _is_consequence(operation: TensorLangOperation, slot: _Slot, type_: Attribute) -> bool:
    """Whether an if or a for says that it cannot return a type that it is given."""
    if slot.name not in ("init", "values"):
        return False
    statement = operation.parent_op() if isinstance(operation, YieldOp) else operation
    return isinstance(statement, IfOp | ForOp) and type_ in statement.result_types


def _slot_text(what: str, layout: Sequence[_Slot], index: int) -> str:
    """`operand alpha`, `operand 2 of indices`, `the result` or `result 2`."""
    slot = layout[index]
    entry = index - layout.index(slot) + 1
    if what == "result":
        return f"result {entry}" if slot.most is None else "the result"
    return f"operand {entry} of {slot.name}" if slot.most is None else f"operand {slot.name}"


def _layout(operation: TensorLangOperation, slots: _Slots, count: int) -> Sequence[_Slot] | None:
    """The slot of each of `count` values; None if they do not fit."""
    key: object = count
    if slots.has_segments:
        segments = operation.properties.get(_SEGMENTS)
        if not isinstance(segments, DenseArrayBase):
            return None
        key = (count, *(int(size) for size in segments.get_values()))
    try:
        return slots.layouts[key]
    except KeyError:
        sizes = key[1:] if isinstance(key, tuple) else _deduced_sizes(slots.slots, count)
        layout = slots.layouts[key] = _laid_out(slots.slots, sizes, count)
        return layout


def _laid_out(
    slots: Sequence[_Slot], sizes: Sequence[int] | None, count: int
) -> Sequence[_Slot] | None:
    if sizes is None or len(sizes) != len(slots) or sum(sizes) != count:
        return None
    for slot, size in zip(slots, sizes, strict=True):
        if size < slot.least or (slot.most is not None and size > slot.most):
            return None
    return [slot for slot, size in zip(slots, sizes, strict=True) for _ in range(size)]


def _deduced_sizes(slots: Sequence[_Slot], count: int) -> Sequence[int] | None:
    """The sizes of slots of which at most one takes several values."""
    rest = count - sum(slot.least for slot in slots)
    if sum(slot.least != slot.most for slot in slots) > 1:
        return None
    return [slot.least if slot.least == slot.most else rest for slot in slots]


def _count_message(operation: TensorLangOperation, slots: _Slots, count: int) -> str:
    name = mnemonic_of(operation)
    if slots.has_segments:
        lists = ", ".join(slot.name for slot in slots.slots)
        return f"{_SEGMENTS} of {name} must give the number of operands in each of {lists}"
    least = sum(slot.least for slot in slots.slots)
    bound = "at least " if any(slot.most is None for slot in slots.slots) else ""
    verb = "takes" if slots.what == "operand" else "returns"
    return f"{name} {verb} {bound}{counted(least, slots.what)} but has {count or 'none'}"


# Properties and regions


def _check_properties(
    operation: TensorLangOperation, signature: _Signature, problems: list[Problem]
) -> None:
    properties = operation.properties
    for name in signature.required:
        if properties.get(name) is None and name != _SEGMENTS:
            problems.append(Problem(operation, f"{mnemonic_of(operation)} needs a {name}"))
    for name, value in properties.items():
        test = signature.properties.get(name)
        if test is None:
            message = f"{mnemonic_of(operation)} has no property '{name}'"
            problems.append(Problem(operation, message))
        elif not test(value):
            message = f"{name} of {mnemonic_of(operation)} cannot be {value}"
            problems.append(Problem(operation, message, "header"))


def _check_regions(operation: TensorLangOperation, count: int, problems: list[Problem]) -> None:
    regions = operation.regions
    if not regions and not count:
        return
    if len(regions) != count:
        message = f"{mnemonic_of(operation)} has {counted(count, 'region')}, "
        message += f"but {len(regions) or 'none'} {'is' if len(regions) == 1 else 'are'} given"
        problems.append(Problem(operation, message, "header"))
    for index, region in enumerate(regions):
        if len(region.blocks) > 1:
            message = "a region is one list of instructions; it must not have several blocks"
            problems.append(Problem(operation, message, "header"))
        elif not region.blocks and not (index == 1 and isinstance(operation, IfOp)):
            message = "a region needs a block, which may be empty"
            problems.append(Problem(operation, message, "header"))
