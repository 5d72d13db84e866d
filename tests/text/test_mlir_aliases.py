"""Reading and printing MLIR's aliases."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i32
from xdsl.ir import ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition

from tests.text.mlir_text import error_of, printed, read, read_well
from xtile.text.mlir_attributes import ALIAS_NAMES


def attributes_of(text: str) -> dict[str, str]:
    operation = next(iter(read_well(text).body.block.ops))
    return {name: str(value) for name, value in operation.attributes.items() if name != "op_name__"}


def test_aliases_before_and_after_their_definition() -> None:
    text = """\
#before = 1 : i32
"a"() {a = #before, b = #after, c = !type} : () -> ()
#after = [#before, #last]
!type = tensor<2x!element>
!element = f32
#last = "x"
"""
    assert attributes_of(text) == {"a": "1 : i32", "b": '[1 : i32, "x"]', "c": "tensor<2xf32>"}


def test_aliases_in_the_text_of_unknown_dialects() -> None:
    text = """\
#map = affine_map<(d0) -> (d0 + 1)>
!t = vector<4x!e>
!e = f16
"a"() {a = #foo.x<#map, "#map", {b = !t}>, c = !foo.y<!t>, d = #foo.z<#foo.map, #n>} : () -> ()
"""
    printed_attributes = printed(read_well(text)).split("\n")[1]
    assert 'a = #foo.x<affine_map<(d0) -> (d0 + 1)>, "#map", {b = vector<4xf16>}>' in (
        printed_attributes
    )
    assert "c = !foo.y<vector<4xf16>>, d = #foo.z<#foo.map, #n>" in printed_attributes


def test_an_alias_that_is_not_defined() -> None:
    assert error_of('"a"() {a = #nope} : () -> ()') == (
        "t.mlir:1.12-16: error: alias '#nope' is not defined; add a line '#nope = ...'"
    )


def test_an_alias_that_is_defined_twice() -> None:
    _, diagnostics = read("#a = 1\n#b = 2\n#a = 3\n")
    assert diagnostics.render().split("\n") == [
        "t.mlir:3.1-2: error: alias '#a' is defined twice; use another name",
        "#a = 3",
        "~~",
        "t.mlir:1.1-2: note: it is defined here first",
        "#a = 1",
        "~~",
    ]


def test_an_alias_that_is_defined_by_itself() -> None:
    assert error_of('"a"() {a = #x} : () -> ()\n#x = [#y]\n#y = [#x]') == (
        "t.mlir:2.1-2: error: alias '#x' is defined by itself"
    )


def test_an_alias_with_a_dot() -> None:
    assert "the name of an alias has no dot" in error_of("#a.b = 1")


def test_aliases_are_printed_once_for_each_value() -> None:
    text = """\
#map = affine_map<(d0) -> (d0 + 1)>
#map1 = affine_map<(d0) -> (d0 + 2)>
#set = affine_set<(d0) : (d0 >= 0)>
module {
  "a"() {a = #map, b = [#map1, #map], c = #set, d = memref<2xf32, #map>} : () -> ()
}
"""
    assert printed(read_well(text)) == text


def test_locations_are_defined_after_the_operations() -> None:
    text = """\
#loc2 = loc("x")
#loc3 = loc("arg")
module {
  "a"() {a = #loc2} : () -> () loc(#loc1)
  "b"() ({
  ^bb0(%x: i32 loc("arg")):
  }) : () -> () loc(#loc4)
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("f.py":1:2)
#loc4 = loc(callsite(#loc1 at #loc2))
"""
    module = read_well(text)
    assert printed(module, debuginfo=True) == text


@irdl_attr_definition
class _Layout(ParametrizedAttribute):
    name = "toy.layout"


def test_a_dialect_names_its_aliases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ALIAS_NAMES, _Layout, "layout")
    module = read_well('"a"() : () -> ()')
    operation = next(iter(module.body.block.ops))
    operation.attributes.update({"x": _Layout(), "y": UnitAttr(), "z": IntegerAttr(1, i32)})
    assert printed(module) == (
        '#layout = #toy.layout\nmodule {\n  "a"() {x = #layout, y, z = 1 : i32} : () -> ()\n}\n'
    )


def test_names_with_a_digit_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ALIAS_NAMES, IntegerAttr, "v1")
    text = printed(read_well('"a"() {a = 1 : i32, b = 2 : i32} : () -> ()'))
    assert text.startswith("#v1 = 1 : i32\n#v1_1 = 2 : i32\nmodule {\n")
