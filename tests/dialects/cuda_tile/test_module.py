"""Modules, kernels, variables and their hints: text that is right, and what is refused."""

from __future__ import annotations

import pytest

from tests.dialects.cuda_tile.hints import find_problems
from tests.dialects.cuda_tile.kernel_text import errors_of_module, printed_module
from xtile.dialects.registry import make_context
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import read_mlir
from xtile.text.source import Source

RIGHT = [
    "  cuda_tile.module @empty {\n  }",
    '  cuda_tile.module @made attributes {note = 1 : i8, producer = "xtile"} {\n  }',
    (
        "  cuda_tile.module @kernels {\n"
        "    global  @a <f32: 1.000000e+00> : tile<4xf32>\n"
        "    global private  constant @b alignment = 64 <i8: [1, 2]> : tile<2xi8>\n"
        "    entry @nothing() {\n      return\n    }\n"
        "    entry @scalars(%p: tile<ptr<f32>>, %n: tile<i32>) "
        "optimization_hints=<default = {occupancy = 2}, sm_90 = {num_cta_in_cga = 2}> {\n"
        "      %q = get_global @b : tile<ptr<i8>>\n"
        "      return\n    } {note = 1 : i8}\n  }"
    ),
    (
        "  cuda_tile.module @kernels {\n"
        "    entry @noted(%p: tile<ptr<f32>> {note = 1 : i8}, %n: tile<i32>, %m: tile<i32> {unit}) "
        "{\n"
        "      return\n    }\n  }"
    ),
]


@pytest.mark.parametrize("text", RIGHT)
def test_text_is_printed_as_it_was_read(text: str) -> None:
    module = f"module {{\n{text}\n}}\n"
    assert printed_module(module) == module
    assert printed_module(printed_module(module, generic=True)) == module


def test_prefixes_and_the_end_of_a_kernel_need_not_be_written() -> None:
    short = "cuda_tile.module @m {\n  entry @k(%p: tile<ptr<f32>>) {\n  }\n}\n"
    full = (
        "cuda_tile.module @m {\n"
        "  cuda_tile.entry @k(%p: !cuda_tile.tile<!cuda_tile.ptr<f32>>) {\n"
        "    cuda_tile.return\n  }\n}\n"
    )
    assert printed_module(short) == printed_module(full)


WRONG = {
    '"cuda_tile.entry"() <{sym_name = "k", function_type = (!cuda_tile.tile<i32>) -> (), '
    "arg_attrs = [{}, {}]}> ({^bb0(%n: !cuda_tile.tile<i32>): return}) : () -> ()": (
        "'cuda_tile.entry': expected a dictionary in arg_attrs for each of the 1 arguments, got 2"
    ),
    "entry @k(%x: tile<4xf32>) { return }": "'cuda_tile.entry': the arguments of a kernel must be "
    "scalar tiles, not !cuda_tile.tile<4xf32>",
    "entry @k(%t: token) { return }": "'cuda_tile.entry': the arguments of a kernel must be "
    "scalar tiles, not !cuda_tile.token",
    "global @g alignment = -8 <f32: 1.0> : tile<1xf32>": (
        "'cuda_tile.global': alignment must not be negative, but is -8"
    ),
    "entry @k() -> tile<f32> { return }": "'cuda_tile.entry': a kernel must return nothing",
    "entry @k(%n: tile<i32>) { return %n : tile<i32> }": "'cuda_tile.return': what a function "
    "returns must be nothing, but is !cuda_tile.tile<i32>",
    "entry @k(%n: tile<i32>) { loop { continue } continue }": "'cuda_tile.entry': the region must "
    "end with 'cuda_tile.return', not with 'cuda_tile.continue'",
    "entry @k() optimization_hints=<sm_90 = 3> { return }": "expected the hints of 'sm_90' in "
    "braces, but got 3 : i64",
    "entry @k() optimization_hints=<a = {}, a = {}> { return }": "'a' is there twice",
    "global @g <f32: 1.0> : tile<f32>": "'cuda_tile.global': the values must be a tile of one "
    "dimension, but are !cuda_tile.tile<f32>",
    "global hidden @g <f32: 1.0> : tile<1xf32>": "expect symbol name",
    '"cuda_tile.entry"() <{sym_name = "k", function_type = (!cuda_tile.tile<i8>) -> ()}> '
    "({ cuda_tile.return }) : () -> ()": "'cuda_tile.entry': the arguments of the region must be "
    "!cuda_tile.tile<i8>, but is nothing",
    "global @g <f32: 1.0> : tile<1xf32> entry @k() { %p = get_global @g : tile<ptr<i8>> return }": (
        "'cuda_tile.get_global': '@g' holds f32, but the result points to i8"
    ),
    "entry @g() { %p = get_global @g : tile<ptr<i8>> return }": "'cuda_tile.get_global': there is "
    "no global '@g'",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_is_said_where_it_stands(line: str) -> None:
    text = f"cuda_tile.module @m {{\n{line}\n}}\n"
    assert (WRONG[line], 2) in errors_of_module(text)


def test_a_name_is_given_once() -> None:
    text = "cuda_tile.module @m {\n  entry @k() {\n  }\n  entry @k() {\n  }\n}\n"
    assert errors_of_module(text)


SCOPES = """#file = #cuda_tile.di_file<"k.py" in "/home">
#unit = #cuda_tile.di_compile_unit<file = #file>
#k = #cuda_tile.di_subprogram<file = #file, line = 1, name = "k", linkageName = "k",
                              compileUnit = #unit>
#other = #cuda_tile.di_subprogram<file = #file, line = 1, name = "o", linkageName = "o",
                                  compileUnit = #unit>
#block = #cuda_tile.di_lexical_block<scope = #k, file = #file, line = 2>
#inK = #cuda_tile.di_loc<loc("k.py":2:1) in #k>
#inBlock = #cuda_tile.di_loc<loc("k.py":3:1) in #block>
#inOther = #cuda_tile.di_loc<loc("k.py":4:1) in #other>
"""
PLACES = {
    ("#inK", "#inK"): "",
    ("#inK", "#inBlock"): "",
    ('"k.py":1:1', '"k.py":2:1'): "",
    ("#inK", "unknown"): "",
    ("#inK", "callsite(#inOther at #inBlock)"): "",
    ("#inK", 'fused["k.py":1:1, #inBlock]'): "",
    ("#inOther", "#inOther"): "'cuda_tile.entry': the scope's linkageName must be \"k\" as the "
    'function is called, but is "o"',
    ("#inBlock", "#inBlock"): "the scope of a function must be a di_subprogram, but is",
    ("callsite(#inK at #inK)", "#inK"): "the location of a function must not be a call",
    ('"k.py":1:1', "#inK"): "has the scope",
    ("#inK", "#inOther"): "it must be the function's",
    ("#inK", "callsite(#inBlock at #inOther)"): "it must be the function's",
    ("#inK", '"name"(#inOther)'): "it must be the function's",
}


@pytest.mark.parametrize(("function", "operation"), PLACES)
def test_the_scopes_of_locations(function: str, operation: str) -> None:
    text = (
        f"{SCOPES}cuda_tile.module @m {{\n"
        f"  entry @k() {{\n    %t = make_token : token loc({operation})\n    return\n"
        f"  }} loc({function})\n}}\n"
    )
    message = PLACES[function, operation]
    found = errors_of_module(text)
    if message:
        assert len(found) == 1
        assert message in found[0][0]
    else:
        assert found == []


def test_a_variable_has_no_scope() -> None:
    text = f"{SCOPES}cuda_tile.module @m {{\n  global @g <f32: 1.0> : tile<1xf32> loc(#inK)\n}}\n"
    (error,) = errors_of_module(text)
    assert "'cuda_tile.global' must not have a scope in its location" in error[0]


def test_hints_of_any_name_are_read_again() -> None:
    text = (
        "module {\n  cuda_tile.module @m {\n"
        '    entry @k() optimization_hints=<"a b" = {"c d" = 1, e = "f"}> {\n'
        "      return\n    }\n  }\n}\n"
    )
    assert printed_module(text) == text


HINTS = {
    "sm_90 = {num_cta_in_cga = 2}, default = {num_worker_warps_per_cta = 8}": [],
    "sm_80 = {num_cta_in_cga = 1, occupancy = 32}": [],
    "sm_89 = {num_cta_in_cga = 2}": ["sm_89.num_cta_in_cga must be 1, but is 2 : i64"],
    "sm_100 = {num_cta_in_cga = 32}": [
        "sm_100.num_cta_in_cga must be a power of two up to 16, but is 32 : i64"
    ],
    "sm_100 = {num_worker_warps_per_cta = 12}": [
        "sm_100.num_worker_warps_per_cta must be a power of two up to 32, but is 12 : i64"
    ],
    "sm_100 = {occupancy = 0}": ["sm_100.occupancy must be 1 to 32, but is 0 : i64"],
    "sm_100 = {latency = 3}": [
        (
            "'latency' is no hint for this operation; expected one of num_cta_in_cga, "
            "num_worker_warps_per_cta, occupancy"
        )
    ],
    "sm_1 = {occupancy = 1}": [
        (
            "there is no architecture 'sm_1' to give hints for; expected default, sm_80, sm_86, "
            "sm_87, sm_88, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121"
        )
    ],
}


@pytest.mark.parametrize("hints", HINTS)
def test_hints_that_no_compiler_knows(hints: str) -> None:
    text = f"cuda_tile.module @m {{\n  entry @k() optimization_hints=<{hints}> {{\n  }}\n}}\n"
    assert errors_of_module(text) == []
    assert problems_of(text) == HINTS[hints]


@pytest.mark.parametrize(
    ("hints", "problem"),
    [
        ("latency = 10, allow_tma = false", None),
        ("latency = 11", "sm_90.latency must be 1 to 10, but is 11 : i64"),
        ("allow_tma = 1", "sm_90.allow_tma must be true or false, but is 1 : i64"),
    ],
)
def test_hints_of_accesses(hints: str, problem: str | None) -> None:
    text = (
        "cuda_tile.module @m {\n  entry @k(%p: tile<ptr<f32>>, %i: tile<i32>) {\n"
        "    %v = make_tensor_view %p, shape = [8], strides = [1] : "
        "tensor_view<8xf32, strides=[1]>\n"
        "    %w = make_partition_view %v : "
        "partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>\n"
        f"    %x, %t = load_view_tko weak %w[%i] optimization_hints = <sm_90 = {{{hints}}}> : "
        "partition_view<tile=(8), tensor_view<8xf32, strides=[1]>>, tile<i32> "
        "-> tile<8xf32>, token\n  }\n}\n"
    )
    assert errors_of_module(text) == []
    assert problems_of(text) == ([] if problem is None else [problem])


def problems_of(text: str) -> list[str]:
    """What NVIDIA's compiler does not know of the hints in a module."""
    module = read_mlir(Source("kernel.mlir", text), Diagnostics(), make_context())
    assert module is not None
    return [problem for operation in module.walk() for problem in find_problems(operation)]


def test_types_are_read_once_but_not_what_depends_on_the_text() -> None:
    text = (
        "!element = {element}\n"
        "cuda_tile.module @m {{\n"
        "  entry @k(%p: tile<ptr<!element>>, %q: tile<ptr< f32 >>, %r: tile<ptr<f32>>,\n"
        "           %s: tile<ptr<f32 // >\n  >>) {{\n  }}\n}}\n"
    )
    for element in ("f32", "f64", "f32"):
        printed = printed_module(text.format(element=element))
        assert f"@k(%p: tile<ptr<{element}>>, %q: tile<ptr<f32>>, %r: tile<ptr<f32>>, " in printed


def test_a_type_that_is_wrong_is_an_error_each_time() -> None:
    text = "cuda_tile.module @m {\n  entry @k(%p: tile<3xf32>) {\n  }\n}\n"
    for _ in range(2):
        ((message, line),) = errors_of_module(text)
        assert message.startswith("the sizes of a tile are powers of two")
        assert line == 2
