"""The sanitizer follows elements that no load gave a value, to where a result depends on them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.semantics.cuda_tile.entries import blank, constants, marked, module, pointers
from xtile.arguments.errors import SanitizerError
from xtile.cli import main
from xtile.launch.devices import REFERENCE
from xtile.launch.executable import Kernel
from xtile.launch.run import launch
from xtile.text.diagnostics import Diagnostic, Severity, SourceWarning

VIEW = "partition_view<tile=(4x8), tensor_view<3x5xf32, strides=[5,1]>>"
PADDED = VIEW.replace("(4x8),", "(4x8), padding_value = zero,")
ROW = "partition_view<tile=(4), tensor_view<3xf32, strides=[1]>>"
PARAMETERS = "%a: tile<ptr<f32>>, %b: tile<ptr<f32>>"


def loading(view: str = VIEW) -> str:
    """Loads a tile of 4 x 8 from a matrix of 3 x 5, as %x."""
    return f"""
    {constants([0, 1, 2, 3, 4, 5])}
    %tensor = make_tensor_view %a, shape = [3, 5], strides = [5, 1]
      : tensor_view<3x5xf32, strides=[5,1]>
    %view = make_partition_view %tensor : {view}
    %x, %t = load_view_tko weak %view[%c0, %c0] : {view}, tile<i32> -> tile<4x8xf32>, token
    """


def storing(value: str, size: int = 3) -> str:
    """Stores a tile of 4 to a vector of 3."""
    view = ROW.replace("3xf32", f"{size}xf32")
    return f"""
    %out = make_tensor_view %b, shape = [{size}], strides = [1]
      : tensor_view<{size}xf32, strides=[1]>
    %target = make_partition_view %out : {view}
    %u = store_view_tko weak {value}, %target[%c0] : tile<4xf32>, {view}, tile<i32> -> token
    """


def reducing(value: str, result: str, by: str = "addf", identity: str = "0.0") -> str:
    """The sums, or other functions, of the rows of a tile."""
    return f"""
    {result} = reduce {value} dim=1 identities=[{identity} : f32] : tile<4x8xf32> -> tile<4xf32>
    (%p: tile<f32>, %q: tile<f32>) {{ %r = {by} %p, %q : tile<f32> yield %r : tile<f32> }}
    """


MASK = """
    %i = iota : tile<8xi32>
    %i2 = reshape %i : tile<8xi32> -> tile<1x8xi32>
    %i3 = broadcast %i2 : tile<1x8xi32> -> tile<4x8xi32>
    %five = constant <i32: 5> : tile<4x8xi32>
    %m = cmpi less_than %i3, %five, signed : tile<4x8xi32> -> tile<4x8xi1>
    %z = constant <f32: 0.0> : tile<4x8xf32>
    """


def diagnostics(parameters: str, body: str, *arguments: Any) -> list[Diagnostic]:
    """What the sanitizer says."""
    executable = REFERENCE.load(Kernel(module(parameters, body), None))
    try:
        return list(launch(executable, arguments, 1, REFERENCE, sanitize=True).warnings)
    except SanitizerError as error:
        return error.diagnostics


def warnings(parameters: str, body: str, *arguments: Any) -> list[tuple[str, str, list[str]]]:
    """The messages of warnings, what they mark, and what their notes mark; there are no errors."""
    found = diagnostics(parameters, body, *arguments)
    assert all(each.severity is Severity.WARNING for each in found), found
    return [(each.message, _line(each), [_line(note) for note in each.notes]) for each in found]


def _line(diagnostic: Diagnostic) -> str:
    return re.split(r"\s+:|\(", marked(diagnostic).split("\n")[0])[0].strip()


LOAD = "%x, %t = load_view_tko weak %view[%c0, %c0]"


def numbers() -> Any:
    return np.arange(15, dtype=np.float32)


def test_a_sum_over_the_edge_is_a_warning() -> None:
    body = loading() + reducing("%x", "%s") + storing("%s")
    assert warnings(PARAMETERS, body, numbers(), blank(3)) == [
        (
            (
                "element [0] of what is stored depends on an element that is unspecified; in "
                "work-group (0,0,0)"
            ),
            "%u = store_view_tko weak %s, %target[%c0]",
            [LOAD],
        )
    ]


@pytest.mark.parametrize(
    ("by", "identity"),
    [("maxf", "0xFF800000"), ("minf", "0x7F800000"), ("addf", "0.0"), ("mulf", "1.0")],
)
def test_every_function_of_the_row_depends_on_it(by: str, identity: str) -> None:
    body = loading() + reducing("%x", "%s", by, identity) + storing("%s")
    assert len(warnings(PARAMETERS, body, numbers(), blank(3))) == 1
    masked = loading() + MASK + "%y = select %m, %x, %z : tile<4x8xi1>, tile<4x8xf32>"
    body = masked + reducing("%y", "%s", by, identity) + storing("%s")
    assert warnings(PARAMETERS, body, numbers(), blank(3)) == []


def test_padding_specifies_it() -> None:
    b = blank(3)
    body = loading(PADDED) + reducing("%x", "%s") + storing("%s")
    assert warnings(PARAMETERS, body, numbers(), b) == []
    assert b.tolist() == [10, 35, 60]


def test_what_is_masked_again_when_it_is_stored_is_clean() -> None:
    body = f"""
    {loading()}
    %y = mulf %x, %x rounding<nearest_even> : tile<4x8xf32>
    %out = make_tensor_view %b, shape = [3, 5], strides = [5, 1]
      : tensor_view<3x5xf32, strides=[5,1]>
    %target = make_partition_view %out : {VIEW}
    %u = store_view_tko weak %y, %target[%c0, %c0] : tile<4x8xf32>, {VIEW}, tile<i32> -> token
    """
    a, b = numbers(), blank(3, 5)
    assert warnings(PARAMETERS, body, a, b) == []
    np.testing.assert_array_equal(b.ravel(), a * a)


def product(k: str) -> str:
    """The product of two matrices of 4 x K and K x 4, both loaded without padding."""
    left = f"partition_view<tile=(4x8), tensor_view<4x{k}xf32, strides=[{k},1]>>"
    right = f"partition_view<tile=(8x4), tensor_view<{k}x4xf32, strides=[4,1]>>"
    out = "partition_view<tile=(4x4), tensor_view<4x4xf32, strides=[4,1]>>"
    return f"""
    {constants([0])}
    %ta = make_tensor_view %a, shape = [4, {k}], strides = [{k}, 1]
      : tensor_view<4x{k}xf32, strides=[{k},1]>
    %tb = make_tensor_view %b, shape = [{k}, 4], strides = [4, 1]
      : tensor_view<{k}x4xf32, strides=[4,1]>
    %tc = make_tensor_view %c, shape = [4, 4], strides = [4, 1]
      : tensor_view<4x4xf32, strides=[4,1]>
    %va = make_partition_view %ta : {left}
    %vb = make_partition_view %tb : {right}
    %vc = make_partition_view %tc : {out}
    %x, %t0 = load_view_tko weak %va[%c0, %c0] : {left}, tile<i32> -> tile<4x8xf32>, token
    %y, %t1 = load_view_tko weak %vb[%c0, %c0] : {right}, tile<i32> -> tile<8x4xf32>, token
    %zero = constant <f32: 0.0> : tile<4x4xf32>
    %p = mmaf %x, %y, %zero : tile<4x8xf32>, tile<8x4xf32>, tile<4x4xf32>
    %u = store_view_tko weak %p, %vc[%c0, %c0] : tile<4x4xf32>, {out}, tile<i32> -> token
    """


def test_a_product_over_the_edge_names_both_loads() -> None:
    three = f"{PARAMETERS}, %c: tile<ptr<f32>>"
    a, b, c = (np.ones(n, np.float32) for n in (28, 28, 16))
    ((message, at, notes),) = warnings(three, product("7"), a, b, c)
    assert message.startswith("element [0, 0] of what is stored depends on")
    assert at.startswith("%u = store_view_tko")
    assert notes == [
        "%x, %t0 = load_view_tko weak %va[%c0, %c0]",
        "%y, %t1 = load_view_tko weak %vb[%c0, %c0]",
    ]
    assert warnings(three, product("8"), *(np.ones(n, np.float32) for n in (32, 32, 16))) == []


FIRST = """
    %part = extract %x[%c0, %c0] : tile<4x8xf32> -> tile<1x1xf32>
    %good = reshape %part : tile<1x1xf32> -> tile<f32>
    %half = extract %x[%c3, %c0] : tile<4x8xf32> -> tile<1x8xf32>
    %rest = extract %half[%c0, %c5] : tile<1x8xf32> -> tile<1x1xf32>
    %bad = reshape %rest : tile<1x1xf32> -> tile<f32>
    %limit = constant <f32: 3.0> : tile<f32>
    %is_good = cmpf less_than ordered %good, %limit : tile<f32> -> tile<i1>
    %is_bad = cmpf less_than ordered %bad, %limit : tile<f32> -> tile<i1>
    %good_number = ftoi %good signed : tile<f32> -> tile<i32>
    %bad_number = ftoi %bad signed : tile<f32> -> tile<i32>
    %one = constant <f32: 1.0> : tile<f32>
    """

SINKS = {
    "if %is_{} {{ yield }}": "the condition",
    "for %k in (%c0 to %{}_number, step %c1) : tile<i32> {{ continue }}": "a bound of the loop",
    'assert %is_{}, "so" : tile<i1>': "the assertion",
    '%u = print_tko "%f\\n", %{} : tile<f32> -> token': "what is printed",
    "%w = offset %b, %{}_number : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>\n"
    "%u = store_ptr_tko weak %w, %one, %always : tile<ptr<f32>>, tile<f32>, tile<i1> -> token": (
        "the pointer"
    ),
    "%u = store_ptr_tko weak %b, %one, %is_{} : tile<ptr<f32>>, tile<f32>, tile<i1> -> token": (
        "the mask"
    ),
    "%u = store_ptr_tko weak %b, %{} : tile<ptr<f32>>, tile<f32> -> token": "what is stored",
    "%o, %u = atomic_rmw_tko relaxed device %b, addf, %{} : tile<ptr<f32>>, tile<f32> "
    "-> tile<f32>, token": "what is stored",
    "%o, %u = atomic_cas_tko relaxed device %b, %one, %{} : tile<ptr<f32>>, tile<f32> "
    "-> tile<f32>, token": "what is stored",
    "%l, %u = load_view_tko weak %padded[%c0, %{}_number] : " + PADDED + ", tile<i32> "
    "-> tile<4x8xf32>, token": "the index",
    "%tv = make_tensor_view %b, shape = [%{}_number], strides = [1] : tile<i32> -> "
    "tensor_view<?xf32, strides=[1]>": "a pointer, size or stride of the view",
}


def sink_messages(sink: str, which: str) -> list[str]:
    """The sanitizer's messages about an operation that is given something good or bad."""
    before = f"""
    {loading()} {FIRST}
    %padded = make_partition_view %tensor : {PADDED}
    %always = constant <i1: true> : tile<i1>
    """
    line = sink.format(which)
    found = diagnostics(
        PARAMETERS, before + line, np.zeros(15, np.float32), np.zeros(16, np.float32)
    )
    return [each.message for each in found]


@pytest.mark.parametrize("sink", SINKS)
def test_what_decides_or_leaves_the_kernel(sink: str) -> None:
    assert sink_messages(sink, "good") == []
    # What is unspecified may be a size or position that there is not, which is an error, too.
    assert (
        f"{SINKS[sink]} depends on an element that is unspecified; in work-group (0,0,0)"
    ) in sink_messages(sink, "bad")


def test_it_goes_through_branches_and_loops() -> None:
    body = f"""
    {loading()}
    %true = constant <i1: true> : tile<i1>
    %y = if %true -> (tile<4x8xf32>) {{ yield %x : tile<4x8xf32> }}
      else {{ %z = negf %x : tile<4x8xf32> yield %z : tile<4x8xf32> }}
    %l = for %k in (%c0 to %c3, step %c1) : tile<i32> iter_values(%v = %y) -> (tile<4x8xf32>) {{
      %w = addf %v, %v rounding<nearest_even> : tile<4x8xf32>
      continue %w : tile<4x8xf32>
    }}
    %o = loop iter_values(%v = %l) : tile<4x8xf32> -> tile<4x8xf32> {{ break %v : tile<4x8xf32> }}
    """
    end = reducing("%o", "%s") + storing("%s")
    ((_, at, notes),) = warnings(PARAMETERS, body + end, numbers(), blank(3))
    assert (at, notes) == ("%u = store_view_tko weak %s, %target[%c0]", [LOAD])


def test_a_later_iteration_that_is_specified_is_clean() -> None:
    """What was unspecified in one iteration says nothing of the next."""
    view = "partition_view<tile=(4), tensor_view<6xf32, strides=[1]>>"
    body = f"""
    {constants([0, 1, 2])}
    %tensor = make_tensor_view %a, shape = [6], strides = [1] : tensor_view<6xf32, strides=[1]>
    %view = make_partition_view %tensor : {view}
    for %k in (%c0 to %c2, step %c1) : tile<i32> {{
      %place = subi %c1, %k : tile<i32>
      %x, %t = load_view_tko weak %view[%place] : {view}, tile<i32> -> tile<4xf32>, token
      %y = negf %x : tile<4xf32>
      %first = cmpi equal %k, %c1, signed : tile<i32> -> tile<i1>
      if %first {{ {storing("%y").replace("%c0", "%k2")} }}
      continue
    }}
    """.replace("%k2", "%zero").replace(
        "%tensor = make", "%zero = constant <i32: 0> : tile<i32>\n%tensor = make", 1
    )
    b = blank(3)
    assert warnings(PARAMETERS, body, np.arange(6, dtype=np.float32), b) == []
    assert b.tolist() == [0, -1, -2]


MASKED = f"""
    {pointers("p", "a", 4, "f32")}
    %three = constant <i32: 3> : tile<4xi32>
    %mask = cmpi less_than %p_i, %three, signed : tile<4xi32> -> tile<4xi1>
    %zeros = constant <f32: 0.0> : tile<4xf32>
    %x, %t = load_ptr_tko weak %p, %mask : tile<4xptr<f32>>, tile<4xi1> -> tile<4xf32>, token
    """


def test_a_mask_without_padding_leaves_it_unspecified() -> None:
    body = constants([0]) + MASKED
    ((message, _, notes),) = warnings(
        PARAMETERS, body + storing("%x", 4), np.ones(3, np.float32), blank(4)
    )
    assert message.startswith("element [3] of what is stored")
    assert notes == ["%x, %t = load_ptr_tko weak %p, %mask"]
    assert warnings(PARAMETERS, body + storing("%x", 3), np.ones(3, np.float32), blank(3)) == []
    padded = """
    %y, %t2 = load_ptr_tko weak %p, %mask, %{}
      : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
    """
    for padding, count in (("zeros", 0), ("x", 1)):
        text = body + padded.format(padding) + storing("%y", 4)
        assert len(warnings(PARAMETERS, text, np.ones(3, np.float32), blank(4))) == count


def test_integers_and_truth_values() -> None:
    """`andi` with 0 ends it, and so does the comparison that any number passes."""
    body = f"""
    {constants([0])}
    {pointers("p", "a", 4, "i32")}
    %three = constant <i32: 3> : tile<4xi32>
    %mask = cmpi less_than %p_i, %three, signed : tile<4xi32> -> tile<4xi1>
    %x, %t = load_ptr_tko weak %p, %mask : tile<4xptr<i32>>, tile<4xi1> -> tile<4xi32>, token
    %bits = constant <i32: [-1, -1, -1, {{}}]> : tile<4xi32>
    %y = andi %x, %bits : tile<4xi32>
    {pointers("o", "b", 4, "i32")}
    %u = store_ptr_tko weak %o, %y : tile<4xptr<i32>>, tile<4xi32> -> token
    """
    parameters = PARAMETERS.replace("f32", "i32")
    for bits, count in ((0, 0), (1, 1), (255, 1), (-1, 1)):
        a, b = np.arange(3, dtype=np.int32), np.zeros(4, np.int32)
        assert len(warnings(parameters, body.format(bits), a, b)) == count, bits


def test_what_an_update_leaves_out() -> None:
    body = f"""
    {constants([0])}
    {pointers("p", "a", 4, "f32")}
    %three = constant <i32: 3> : tile<4xi32>
    %mask = cmpi less_than %p_i, %three, signed : tile<4xi32> -> tile<4xi1>
    %ones = constant <f32: 1.0> : tile<4xf32>
    %x, %t = atomic_rmw_tko relaxed device %p, addf, %ones, %mask
      : tile<4xptr<f32>>, tile<4xf32>, tile<4xi1> -> tile<4xf32>, token
    """
    for size, count in ((4, 1), (3, 0)):
        text = body + storing("%x", size)
        assert len(warnings(PARAMETERS, text, np.ones(3, np.float32), blank(size))) == count


def test_the_exit_code_stays_and_the_place_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.mlir").write_text(module(PARAMETERS, loading() + reducing("%x", "%s") + storing("%s")))
    command = ["run", "k.mlir", "--arg", "a=ones:15", "--arg", "b=nan:3", "--quiet"]
    assert main(command) == 0
    assert capsys.readouterr().err == ""
    assert main([*command, "--sanitize"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("k.mlir:")]
    assert [re.sub(r"\d+\.\d+(-\d+)?:", "", line) for line in lines] == [
        (
            "k.mlir: warning: element [0] of what is stored depends on an element that is "
            "unspecified; in work-group (0,0,0)"
        ),
        "k.mlir: note: an element that this does not reach has no padding",
    ]


def test_python_warns_and_errors_come_with_the_warnings() -> None:
    body = loading() + reducing("%x", "%s") + storing("%s")
    with pytest.warns(SourceWarning, match="depends on an element that is unspecified"):
        xtile.run(module(PARAMETERS, body), [numbers(), blank(3)], sanitize=True)
    wrong = body + '%f = constant <i1: false> : tile<i1>\n assert %f, "never" : tile<i1>'
    with pytest.raises(SanitizerError) as raised:
        xtile.run(module(PARAMETERS, wrong), [numbers(), blank(3)], sanitize=True)
    assert [each.severity for each in raised.value.diagnostics] == [
        Severity.WARNING,
        Severity.ERROR,
    ]


@pytest.mark.parametrize(
    ("value", "type", "sign", "is_warned_of"),
    [
        ("127.9", "i8", "signed", False),
        ("128.0", "i8", "signed", True),
        ("-0.9", "i8", "unsigned", False),
        ("-1.0", "i8", "unsigned", True),
        ("255.5", "i8", "unsigned", False),
        ("3.0e9", "i32", "signed", True),
        ("3.0e9", "i32", "unsigned", False),
        ("3.0e9", "i64", "signed", False),
        ("0.3", "i1", "signed", False),
        ("7.0", "i1", "unsigned", False),
    ],
)
def test_casts_out_of_range(value: str, type: str, sign: str, is_warned_of: bool) -> None:
    body = f"""
    %x = constant <f32: {value}> : tile<4xf32>
    %n = ftoi %x {sign} : tile<4xf32> -> tile<4x{type}>
    %c0 = constant <i32: 0> : tile<i32>
    %y = itof %n signed rounding<nearest_even> : tile<4x{type}> -> tile<4xf32>
    {storing("%y")}
    """
    found = warnings(PARAMETERS, body, np.zeros(1, np.float32), np.zeros(3, np.float32))
    message = "element [0] of what is stored depends on an element that is unspecified"
    assert all(each[0].startswith(message) for each in found)
    assert [each[2] for each in found] == ([[f"%n = ftoi %x {sign}"]] if is_warned_of else [])
