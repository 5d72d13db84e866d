"""Directives of the declarative assembly format."""

from __future__ import annotations

from io import StringIO
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.dialects.test import Test
from xdsl.ir import Dialect
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from xtile.text.directives import Oilist, PropDict
from xtile.text.mlir import print_mlir


@irdl_custom_directive
class Hints(PropDict):
    l1: AttributeVariable
    flag: AttributeVariable
    count: AttributeVariable


@irdl_op_definition
class HintedOp(IRDLOperation):
    name = "toy.hinted"
    l1 = opt_prop_def(StringAttr)
    flag = opt_prop_def(UnitAttr)
    count = prop_def(IntegerAttr, default_value=IntegerAttr(1, i32))
    label = opt_prop_def(StringAttr)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "custom<Hints>($l1, $flag, $count) attr-dict"
    custom_directives: ClassVar = (Hints,)


@irdl_custom_directive
class Clauses(Oilist):
    private: VariadicOperandVariable
    level: AttributeVariable
    nowait: AttributeVariable


@irdl_op_definition
class ClausedOp(IRDLOperation):
    name = "toy.claused"
    private = var_operand_def(i32)
    shared = var_operand_def(i32)
    level = opt_prop_def(IntegerAttr)
    nowait = opt_prop_def(UnitAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = "`of` $shared custom<Clauses>($private, $level, $nowait) attr-dict"
    custom_directives: ClassVar = (Clauses,)


def parser_of(text: str) -> Parser:
    context = Context()
    for dialect in (Builtin, Test, Dialect("toy", [HintedOp, ClausedOp])):
        context.load_dialect(dialect)
    return Parser(context, text)


def round_trip(text: str) -> str:
    output = StringIO()
    print_mlir(parser_of(text).parse_module(), output)
    lines = output.getvalue().split("\n")
    return next(line.strip() for line in lines if "toy." in line)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("toy.hinted", "toy.hinted"),
        ("toy.hinted <{flag}>", "toy.hinted <{flag}>"),
        ('toy.hinted <{l1 = "a", flag}>', 'toy.hinted <{flag, l1 = "a"}>'),
        ("toy.hinted <{count = 1 : i32}>", "toy.hinted"),
        ("toy.hinted <{count = 2 : i32}> {x}", "toy.hinted <{count = 2 : i32}> {x}"),
        ('toy.hinted {label = "b"}', 'toy.hinted {label = "b"}'),
    ],
)
def test_prop_dict(text: str, printed: str) -> None:
    assert round_trip(text) == printed


def test_prop_dict_sets_properties() -> None:
    operation = parser_of('toy.hinted <{l1 = "a", flag}> {y}').parse_operation()
    assert operation.properties == {
        "l1": StringAttr("a"),
        "flag": UnitAttr(),
        "count": IntegerAttr(1, i32),
    }
    assert operation.attributes == {"y": UnitAttr()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "toy.hinted <{l2}>",
            "there is no property 'l2' here; expected one of 'count', 'flag', 'l1'",
        ),
        ("toy.hinted <{flag, flag}>", "property 'flag' is given twice; it may be given once"),
        ("toy.hinted <{flag}", "Expected '>' after the properties"),
    ],
)
def test_wrong_prop_dict(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parser_of(text).parse_operation()


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("of %a", "of %a"),
        ("of %a nowait", "of %a nowait"),
        ("of %a level 2 : i32 private %a, %b", "of %a private %a, %b level 2 : i32"),
        ("of %a nowait level 2 : i32 {x}", "of %a level 2 : i32 nowait {x}"),
    ],
)
def test_oilist(text: str, printed: str) -> None:
    values = '%a, %b = "test.op"() : () -> (i32, i32)\n'
    assert round_trip(f"{values}toy.claused {text}") == f"toy.claused {printed}"


def test_a_clause_that_is_given_twice() -> None:
    values = '%a = "test.op"() : () -> i32\n'
    with pytest.raises(ParseError, match="clause 'nowait' is given twice"):
        parser_of(f"{values}toy.claused of %a nowait nowait").parse_module()
