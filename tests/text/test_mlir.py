"""Reading and printing MLIR text."""

from __future__ import annotations

from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, IntegerAttr, ModuleOp, UnitAttr, UnknownLoc, i32
from xdsl.ir import Operation

from xtile.dialects.registry import make_context
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import MAXIMUM_NESTING, print_mlir, read_mlir
from xtile.text.mlir_number_parser import MAXIMUM_RANK
from xtile.text.source import Source, Span, source_of

FUNCTION = """\
func.func @f(%x: i32) -> i32 {
  %a, %b = "test.op"(%x, %x) : (i32, i32) -> (i32, i32)  // comment
  %c = arith.addi %a,
         %b : i32
  func.return %c : i32
}
"""


def read(text: str, context: Context | None = None) -> tuple[ModuleOp | None, Source, Diagnostics]:
    source = Source("t.mlir", text)
    diagnostics = Diagnostics()
    context = make_context() if context is None else context
    return read_mlir(source, diagnostics, context), source, diagnostics


def read_well(text: str) -> tuple[ModuleOp, Source]:
    module, source, diagnostics = read(text)
    assert diagnostics.render() == ""
    assert module is not None
    return module, source


def error_of(text: str) -> str:
    module, _, diagnostics = read(text)
    assert module is None
    return diagnostics.render()


def printed(module: ModuleOp, *, generic: bool = False, debuginfo: bool = False) -> str:
    output = StringIO()
    print_mlir(module, output, generic=generic, debuginfo=debuginfo)
    return output.getvalue()


def named(module: ModuleOp, name: str) -> Operation:
    return next(operation for operation in module.walk() if operation.name == name)


def slice_of(source: Source, span: Span | None) -> str:
    assert span is not None
    return source.text[span.start : span.end]


def test_places_of_operations() -> None:
    module, source = read_well(FUNCTION)
    assert source_of(module) is source
    test_operation = named(module, "test.op")
    text = slice_of(source, source.span_of(test_operation))
    assert text == '%a, %b = "test.op"(%x, %x) : (i32, i32) -> (i32, i32)'
    assert slice_of(source, source.span_of(named(module, "func.func"))) == FUNCTION.rstrip()


def test_places_of_operands() -> None:
    module, source = read_well(FUNCTION)
    addition = named(module, "arith.addi")
    assert [source.operand_span(addition, i) for i in range(3)] == [
        Span(FUNCTION.index("%a,\n"), FUNCTION.index("%a,\n") + 2),
        Span(FUNCTION.index("%b : "), FUNCTION.index("%b : ") + 2),
        None,
    ]
    test_operation = named(module, "test.op")
    assert source.operand_span(test_operation, 1) == Span(
        FUNCTION.index("%x, %x") + 4, FUNCTION.index("%x, %x") + 6
    )


def test_places_of_operands_in_another_order() -> None:
    text = """\
func.func @f(%x: index, %y: memref<4xi32>, %z: i32) {
  memref.store %z, %y[%x] : memref<4xi32>
  func.return
}
"""
    module, source = read_well(text)
    store = named(module, "memref.store")
    found = [slice_of(source, source.operand_span(store, i)) for i in range(3)]
    assert found == ["%z", "%y", "%x"]


def test_places_of_arguments() -> None:
    module, source = read_well(FUNCTION)
    argument = named(module, "func.func").regions[0].block.args[0]
    assert slice_of(source, source.span_of(argument)) == "%x"


def test_an_operation_without_a_location_gets_its_place() -> None:
    module, _ = read_well(FUNCTION)
    location = named(module, "arith.addi").location
    assert isinstance(location, FileLineColLoc)
    assert (location.filename.data, location.line.data, location.column.data) == ("t.mlir", 3, 8)


def test_a_location_in_the_text_stays() -> None:
    text = (
        '"test.op"() : () -> () loc("k.py":7:9)\n'
        '"test.op"() : () -> () loc(unknown)\n'
        '"test.op"() : () -> ()\n'
    )
    module, _ = read_well(text)
    locations = [operation.location for operation in module.body.block.ops]
    assert str(locations[0]) == 'loc("k.py":7:9)'
    assert isinstance(locations[1], UnknownLoc)
    assert str(locations[2]) == 'loc("t.mlir":3:1)'


def test_locations_survive_printing_and_reading() -> None:
    module, _ = read_well(FUNCTION)
    text = printed(module, debuginfo=True)
    again, _ = read_well(text)
    assert printed(again, debuginfo=True) == text
    assert 'loc("t.mlir":3:8)' in text


def test_generic_form() -> None:
    module, _ = read_well("func.func private @f()")
    assert '"func.func"() <{' in printed(module, generic=True)
    assert printed(module) == "module {\n  func.func private @f()\n}\n"


def test_resources_are_printed() -> None:
    text = """\
module {
  "test.op"() {a = dense_resource<blob> : tensor<1xi64>} : () -> ()
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x080000000100000000000000"
    }
  }
#-}
"""
    module, _ = read_well(text)
    assert printed(module) == text


@pytest.mark.parametrize("text", ["", "\n", "// only a comment\n"])
def test_an_empty_text_is_an_empty_module(text: str) -> None:
    module, _ = read_well(text)
    assert len(module.body.block.ops) == 0


def test_a_syntax_error_is_located() -> None:
    assert error_of('"test.op"() : () ->\n') == ("t.mlir:2.1: error: type expected\n\n~")
    assert error_of("func.func @f() {\n  )\n}") == (
        "t.mlir:2.3: error: unexpected text in block definition\n  )\n  ~"
    )
    assert error_of("%") == ("t.mlir:1.1: error: expected a name after this character\n%\n~")


def test_an_operand_that_only_a_region_of_the_operation_defines() -> None:
    text = (
        "func.func @f(%c: index) {\n"
        "  scf.for %i = %c to %d step %c {\n"
        "    %d = arith.constant 1 : index\n"
        "  }\n"
        "  return\n"
        "}\n"
    )
    assert error_of(text).startswith(
        "t.mlir:2.22-23: error: %d is not defined here: only a region of this operation defines it"
    )


def test_a_value_that_nothing_defines_is_an_error_at_its_use() -> None:
    text = (
        'func.func @f() {\n  "test.op"(%x) : (i32) -> ()\n  %x = "test.op"() : () -> i32\n'
        '  return\n}\nfunc.func @g() {\n  "test.op"(%x) : (i32) -> ()\n  return\n}\n'
    )
    assert error_of(text).startswith("t.mlir:7.13-14: error: %x is used but not defined")


def test_what_is_no_operation() -> None:
    assert error_of("}") == "t.mlir:1.1: error: expected an operation\n}\n~"


def test_operations_with_dictionaries_of_one_text_do_not_share_them() -> None:
    same = "%x = arith.constant {a = 1 : i32, b} 1 : i32\n"
    module, source = read_well(same + same.replace("x", "y"))
    first, second = module.body.block.ops
    assert (
        slice_of(source, source.span_of(second)) == "%y = arith.constant {a = 1 : i32, b} 1 : i32"
    )
    del first.attributes["a"]
    assert list(first.attributes) == ["b"]
    assert second.attributes == {"a": IntegerAttr(1, i32), "b": UnitAttr()}


def test_a_dictionary_that_is_wrong_behind_one_that_is_right() -> None:
    error = error_of(
        "%x = arith.constant {a = 1 : i32} 1 : i32\n%y = arith.constant {a = 1 : i32, a} 1 : i32\n"
    )
    assert "t.mlir:2.38: error: Duplicate key 'a' in dictionary attribute" in error


def test_an_unknown_operation_is_located() -> None:
    assert error_of('"no.such"() : () -> ()') == (
        "t.mlir:1.1-9: error: Operation no.such is not registered\n"
        '"no.such"() : () -> ()\n'
        "~~~~~~~~~"
    )


def test_the_custom_form_of_an_unknown_operation() -> None:
    context = make_context()
    context.allow_unregistered = True
    _, _, diagnostics = read("%x = no.such 1", context)
    assert diagnostics.render() == (
        "t.mlir:1.6-12: error: Operation no.such is not registered, and of such operations only "
        'the generic form can be read: "no.such"(...)\n'
        "%x = no.such 1\n"
        "     ~~~~~~~"
    )


def test_further_places_are_notes() -> None:
    text = 'func.func @f() {\n^a:\n  "test.op"()[^b] : () -> ()\n}'
    assert error_of(text) == (
        "t.mlir:4.2: error: region ends with missing block declarations for block(s) b\n"
        "}\n"
        " ~\n"
        't.mlir:3.15-16: note: reference to block "^b" without implementation\n'
        '  "test.op"()[^b] : () -> ()\n'
        "              ~~"
    )


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        ("1000 : i8", "Integer value 1000 is out of range for type i8 which supports values"),
        ("0xFFFFFFFFFF : f32", "0xFFFFFFFFFF has more bits than the 32 of f32"),
        (
            "!gpu.async.token<1>",
            "'gpu.async.token' has the wrong number of parameters; it takes no parameters",
        ),
    ],
)
def test_an_exception_of_a_constructor_is_located(attribute: str, message: str) -> None:
    line = f'  "test.op"() {{a = {attribute}}} : () -> ()'
    lines = error_of(f"func.func @f() {{\n{line}\n}}").split("\n")
    assert lines[0].startswith("t.mlir:2.20-")
    assert message in lines[0]
    assert lines[1] == line
    assert attribute.startswith(line[lines[2].index("~") : len(lines[2])])


def test_a_huge_integer_is_an_error() -> None:
    message = error_of(f'"test.op"() {{a = {"9" * 5000}}} : () -> ()')
    assert message.startswith("t.mlir:1.1-5017: error: an integer has too many digits\n")


@pytest.mark.parametrize(
    ("opening", "closing"),
    [('"a.b"() ({', "}) : () -> ()"), ("[", "]"), ("{a = ", "}"), ("tuple<", ">")],
)
def test_deep_nesting_is_an_error(opening: str, closing: str) -> None:
    assert f"brackets nest deeper than {MAXIMUM_NESTING} levels" in error_of(
        f'"test.op"() {{a = {opening * 10_000}{closing * 10_000}}} : () -> ()'
    )


@pytest.mark.slow
@pytest.mark.parametrize("type", ["vector<{}f32>", "!cuda_tile.tile<{}f32>", "memref<{}f32>"])
def test_a_shape_has_a_limit(type: str) -> None:
    """Reading a million sizes would take hours."""
    fits = type.format("1x" * MAXIMUM_RANK)
    read_well(f'"test.op"() {{a = {fits}, b = {fits}}} : () -> ()')
    message = f"error: a shape has at most {MAXIMUM_RANK} dimensions"
    assert message in error_of(f'"test.op"() {{a = {type.format("1x" * 1_000_000)}}} : () -> ()')


def test_nesting_that_python_does_not_allow_is_an_error() -> None:
    depth = MAXIMUM_NESTING - 2
    text = f'"test.op"() {{a = {"[" * depth}{"]" * depth}}} : () -> ()'
    assert "error: the text nests too deeply" in error_of(text)


@settings(deadline=None)
@given(st.data())
def test_damaged_text_never_raises(data: st.DataObject) -> None:
    text = FUNCTION
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(start + 8, len(text))))
        text = text[:start] + data.draw(st.text(max_size=6)) + text[end:]
    module, _, diagnostics = read(text)
    assert (module is None) == diagnostics.has_errors
    diagnostics.render()


def test_text_beyond_ascii_survives() -> None:
    module, _ = read_well('"test.op"() {a = "é ∑"} : () -> ()')
    text = printed(module)
    again, _ = read_well(text)
    assert printed(again) == text
    assert str(named(again, "test.op").attributes["a"]) == str(
        named(module, "test.op").attributes["a"]
    )


def test_a_string_that_is_not_closed_is_an_error() -> None:
    message = error_of('"test.op"() {a = "' + "x" * 1000 + "} : () -> ()")
    assert "End of file reached before closing string literal." in message
    assert "closing string literal" in error_of('"' + "x" * 1000)
