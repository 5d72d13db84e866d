"""Operations that are made in one step are those that xDSL makes, and errors are xDSL's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import pytest
from xdsl.dialects import arith, cf, scf, test
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)

from xtile.dialects.construction import DirectOperation, made
from xtile.dialects.definitions import op_definition
from xtile.dialects.xegpu.ops.scattered import PrefetchOp


@op_definition
class _GroupsOp(DirectOperation):
    name = "test.groups"

    first = operand_def()
    many = var_operand_def()
    perhaps = opt_operand_def()
    result = result_def()
    results_too = var_result_def()
    result_perhaps = opt_result_def()
    said = prop_def(AnyAttr(), default_value=IntegerAttr(7, i64))
    more = opt_prop_def()

    irdl_options = (
        AttrSizedOperandSegments(as_property=True),
        AttrSizedResultSegments(as_property=False),
    )


def _seen(operation: Operation) -> object:
    return (
        list(operation.operands),
        [(each.type, each.index, each.owner is operation) for each in operation.results],
        list(operation.properties.items()),
        list(operation.attributes.items()),
        len(operation.regions),
        [use.operation is operation for value in operation.operands for use in value.uses],
    )


def _outcome(make: Any, arguments: Mapping[str, Any]) -> object:
    """What an operation is that is made with arguments, or what is wrong with them."""
    try:
        operation = make(**arguments)
    except (ValueError, TypeError) as error:
        return type(error), str(error)
    seen = _seen(operation)
    operation.erase()
    return seen


def _made_by_xdsl(**arguments: Any) -> Operation:
    operation = _GroupsOp.__new__(_GroupsOp)
    IRDLOperation.__init__(operation, **arguments)
    return operation


_VALUES = test.TestOp(result_types=(i1, i32, i64)).results
_ONE = test.TestOp(result_types=(i1,))
_TWO = test.TestOp(result_types=(i1, i1))
_X, _Y, _Z = _VALUES
_SAID = StringAttr("more")

_OPERANDS: Sequence[Sequence[object] | None] = [
    (_X, (), None),
    (_X, [_Y, _Z, _Y], _Z),
    ([_X], _Y, (_Z,)),
    (_ONE, [_ONE, _Z], _ONE),
    (_VALUES[:1], _VALUES, ()),
    (_X, None, None),
    (_TWO, (), None),
    (_X, (_TWO,), None),
    (None, (), None),
    ((), (), None),
    ((_X, _Y), (), None),
    (_X, (), (_Y, _Z)),
    (_X, ()),
    (_X, (), None, None),
    (),
    None,
]
_RESULTS: Sequence[Sequence[object] | None] = [
    (i32, (i1, i64), None),
    ([i32], (), i1),
    (i32, i64, (i1,)),
    (i32, [], []),
    (i32, None, None),
    (None, (), None),
    (i32, (), (i1, i1)),
    ((), (), None),
    (i32, ()),
    None,
]


@pytest.mark.parametrize("operands", _OPERANDS)
@pytest.mark.parametrize("results", _RESULTS)
def test_operands_and_results(
    operands: Sequence[object] | None, results: Sequence[object] | None
) -> None:
    arguments = {"operands": operands, "result_types": results}
    expected = _outcome(_made_by_xdsl, arguments)
    assert _outcome(_GroupsOp, arguments) == expected
    assert _outcome(_GroupsOp.build, arguments) == expected


def test_properties_and_attributes() -> None:
    arguments: Mapping[str, Any] = {
        "operands": (_X, (_Y, _Z), None),
        "result_types": (i32, (), None),
        "properties": {"more": StringAttr("more"), "said": None},
        "attributes": {"here": StringAttr("here"), "not": None},
    }
    operation = _GroupsOp(**arguments)
    assert [str(each) for each in operation.properties.values()] == [
        '"more"',
        "array<i32: 1, 2, 0>",
        "7 : i64",
    ]
    assert list(operation.attributes) == ["here", "resultSegmentSizes"]
    assert list(operation.many) == [_Y, _Z]
    operation.erase()
    assert _outcome(_GroupsOp, arguments) == _outcome(_made_by_xdsl, arguments)


def test_what_is_given_stays_as_it_is() -> None:
    properties: dict[str, Attribute | None] = {"said": IntegerAttr(1, i32)}
    operation = _GroupsOp(
        operands=(_X, (), None), result_types=(i32, (), None), properties=properties
    )
    operation.properties["more"] = StringAttr("new")
    assert list(properties) == ["said"]
    operation.erase()


def test_regions_are_refused_as_by_xdsl() -> None:
    arguments = {
        "operands": (_X, (), None),
        "result_types": (i32, (), None),
        "regions": (Region(),),
    }
    outcome = _outcome(_GroupsOp, arguments)
    assert outcome == _outcome(_made_by_xdsl, arguments)
    assert "Expected 0" in str(outcome)


def test_sizes_of_groups_are_made_once() -> None:
    first, second = (
        _GroupsOp(operands=(cast("SSAValue", _X), (_Y, _Z), None), result_types=(i32, (), None))
        for _ in range(2)
    )
    name = "operandSegmentSizes"
    assert first.properties[name] is second.properties[name]
    first.erase()
    second.erase()


_KINDS: Sequence[tuple[type[Operation], Mapping[str, Any]]] = [
    (_GroupsOp, {"operands": [_X, _Y], "result_types": [i32], "properties": {"more": _SAID}}),
    (arith.AddiOp, {"operands": [_Y, _Y], "result_types": [i32]}),
    (arith.AddfOp, {"operands": [_X, _X], "result_types": [i1], "attributes": {"here": _SAID}}),
    # What kernels give as an attribute becomes the property that it is.
    (PrefetchOp, {"operands": [_X], "attributes": {"l1_hint": _SAID, "here": _SAID}}),
    (scf.ForOp, {"operands": [_X, _X, _X, _Y], "result_types": [i32], "regions": 2}),
    (cf.BranchOp, {"operands": [_X], "successors": [Block(arg_types=[i1])]}),
]


@pytest.mark.parametrize(("kind", "given"), _KINDS)
def test_what_is_made_is_what_xdsl_creates(kind: type[Operation], given: Mapping[str, Any]) -> None:
    def seen(make: Callable[..., Operation]) -> object:
        regions = [Region(Block()) for _ in range(given.get("regions", 0))]
        operation = make(**{"operands": (), "result_types": (), **given, "regions": regions})
        assert [region.parent for region in operation.regions] == [operation] * len(regions)
        uses = [use.operation for block in operation.successors for use in block.uses]
        found = _seen(operation), list(operation.successors), uses == [operation] * len(uses)
        place = operation.location, operation.parent, operation.next_op, operation.prev_op
        operation.erase()
        return found, place

    assert seen(partial(made, kind)) == seen(kind.create)


def test_the_dictionaries_of_what_is_made_are_its_own() -> None:
    properties, attributes = {"more": _SAID}, {"here": _SAID}
    operation = made(_GroupsOp, [_X], [i32], properties, attributes)
    operation.properties["said"] = operation.attributes["there"] = _SAID
    assert (list(properties), list(attributes)) == (["more"], ["here"])
    operation.erase()
