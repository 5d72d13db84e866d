"""Reading and printing MLIR's locations."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import FileLineColLoc, LocationAttr, UnknownLoc

from tests.text.mlir_text import error_of, printed, read_well
from xtile.text.mlir_attributes import FileLineColRange


def location_of(text: str) -> LocationAttr:
    return next(iter(read_well(f'"a"() : () -> () {text}').body.block.ops)).location


@pytest.mark.parametrize(
    "text",
    [
        "loc(unknown)",
        'loc("a.py":3:4)',
        'loc("a.py":3:4 to :9)',
        'loc("a.py":3:4 to 5:2)',
        'loc("name")',
        'loc("name"("a.py":1:2))',
        'loc(callsite("a" at "b":1:2))',
        'loc(fused["a", "b"])',
        'loc(fused<#foo.bar>["a"])',
        'loc(callsite("f"("a.py":3:4 to :9) at fused["x", callsite("y" at "z")]))',
    ],
)
def test_all_forms(text: str) -> None:
    module = read_well(f'"a"() : () -> () {text}')
    assert f"() -> () {text}\n" in printed(module, debuginfo=True, local_scope=True)


def test_a_range_is_a_place_of_a_file() -> None:
    location = location_of('loc("a.py":3:4 to 5:6)')
    assert isinstance(location, FileLineColRange)
    assert isinstance(location, FileLineColLoc)
    assert (location.line.data, location.end_line.data, location.end_column.data) == (3, 5, 6)


def test_a_range_of_one_place_is_that_place() -> None:
    assert location_of('loc("a.py":3:4 to 3:4)') == location_of('loc("a.py":3:4)')


def test_locations_are_fused_as_in_mlir() -> None:
    assert location_of("loc(fused[unknown])") == UnknownLoc()
    assert location_of('loc(fused["a", unknown, "a"])') == location_of('loc("a")')
    assert location_of('loc(fused[fused["a", "b"], "c"])') == location_of('loc(fused["a","b","c"])')


def test_arguments_have_locations() -> None:
    module = read_well(
        'func.func @f(%x: i32 loc("arg"), %y: i32) {\n  func.return\n}\n'
        '"a"() ({\n^bb0(%z: i32 loc("z"), %w: i32 loc(unknown)):\n}) : () -> ()\n'
    )
    text = printed(module, debuginfo=True, local_scope=True)
    assert '@f(%x: i32 loc("arg"), %y: i32 loc("t.mlir":1:34)) {' in text
    assert '^bb0(%z: i32 loc("z"), %w: i32 loc(unknown)):' in text


@pytest.mark.parametrize(
    "text",
    [
        'gpu.func @f(%x: f32 loc("a":1:2)) kernel {{\n{0}  gpu.return loc(unknown)\n{0}}}',
        (
            'tt.func public @f(%x: f32 loc("a":1:2), %n: i32 {{tt.divisibility = 16 : i32}} '
            'loc("a":1:9)) {{\n{0}  tt.return loc(unknown)\n{0}}}'
        ),
    ],
)
def test_arguments_of_kernels_have_locations(text: str) -> None:
    """A kernel of each dialect prints them by itself."""
    is_gpu = text.startswith("gpu")
    text = text.format("    " if is_gpu else "  ") + " loc(unknown)"
    whole = f"gpu.module @m {{\n    {text}\n  }} loc(unknown)" if is_gpu else text
    module = read_well(f"module {{\n  {whole}\n}} loc(unknown)\n")
    assert text in printed(module, debuginfo=True, local_scope=True)


def test_the_location_of_a_loop_is_behind_its_regions() -> None:
    text = (
        "%r = scf.while (%a = %x) : (i1) -> i1 {\n    scf.condition(%a) %a : i1 loc(unknown)\n"
        '  } do {\n  ^bb0(%b: i1 loc(unknown)):\n    scf.yield %b : i1 loc(unknown)\n  } loc("w")'
    )
    module = read_well(
        f"func.func @f(%x: i1) {{\n  {text}\n  func.return loc(unknown)\n}} loc(unknown)\n"
    )
    printed_text = printed(module, debuginfo=True, local_scope=True)
    assert "(%a = %x) : (i1) -> i1 {\n" in printed_text
    assert printed_text.count('loc("w")') == 1
    assert read_well(printed_text).is_structurally_equivalent(module)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("loc(3)", "1.22: error: expected a location: "),
        ("loc(#foo.bar)", "1.22-29: error: expected a location, but this is another attribute"),
        ('loc("a":1)', "1.27: error: Expected ':' before the column of a location"),
        ('loc(callsite("a" "b"))', "1.35-37: error: Expected 'at' between callee and caller"),
        ('loc("a"', "1.25: error: Expected ')' after a location"),
    ],
)
def test_wrong_locations(text: str, message: str) -> None:
    assert error_of(f'"a"() : () -> () {text}').startswith(f"t.mlir:{message}")
