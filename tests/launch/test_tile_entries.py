"""Launches of CUDA Tile IR: by the command, from bytecode, and with lists of arrays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.arguments.binding import bind
from xtile.arguments.errors import ArgumentError
from xtile.arguments.groups import Group
from xtile.arguments.kernel import find_function, signature_of
from xtile.arguments.words import WordsView
from xtile.cli import main
from xtile.dialects.cuda_tile.bytecode import decode, encode
from xtile.text.diagnostics import DiagnosticError

VECTOR = "tensor_view<?xf32, strides=[1]>"
TILES = f"partition_view<tile=(16), {VECTOR}>"

SCALE = f"""
cuda_tile.module @m {{
  entry @scale(%n: tile<i32>, %alpha: tile<f32>, %x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {{
    %i, %j, %k = get_tile_block_id : tile<i32>
    %tx = make_tensor_view %x, shape = [%n], strides = [1] : tile<i32> -> {VECTOR}
    %ty = make_tensor_view %y, shape = [%n], strides = [1] : tile<i32> -> {VECTOR}
    %px = make_partition_view %tx : {TILES}
    %py = make_partition_view %ty : {TILES}
    %a, %t = load_view_tko weak %px[%i] : {TILES}, tile<i32> -> tile<16xf32>, token
    %s = reshape %alpha : tile<f32> -> tile<1xf32>
    %b = broadcast %s : tile<1xf32> -> tile<16xf32>
    %c = mulf %a, %b : tile<16xf32>
    %u = store_view_tko weak %c, %py[%i] : tile<16xf32>, {TILES}, tile<i32> -> token
    return
  }}
}}
"""

ARGUMENTS = ("--arg", "n=40", "--arg", "alpha=2", "--rand", "--size", "x=40", "--arg", "y=nan:40")


@pytest.fixture(autouse=True)
def _in_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(tmp_path)
    Path("scale.mlir").write_text(SCALE)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--sanitize",), ("--workers", "2")])
def test_text(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    saved = ("--out", "x=x.npy", "--out", "y=y.npy")
    assert main(["run", "scale.mlir", *ARGUMENTS, "--grid", "3", *saved, *options]) == 0
    assert np.array_equal(np.load("y.npy"), 2 * np.load("x.npy"))
    captured = capsys.readouterr()
    assert captured.err == ""
    rows = [line.split() for line in captured.out.splitlines() if "tile<" in line]
    assert [row[1::2][:3] for row in rows[2:]] == [
        ["x", "!cuda_tile.tile<ptr<f32>>", "│"],
        ["y", "!cuda_tile.tile<ptr<f32>>", "yes"],
    ]


def test_bytecode(capsys: pytest.CaptureFixture[str]) -> None:
    Path("scale.tileirbc").write_bytes(encode(xtile.parse("scale.mlir")))
    # Bytecode has no names.
    named = {"n": "0", "alpha": "1", "x": "2", "y": "3"}
    options = [re.sub(r"^(\w+)(?==)", lambda m: named[m[0]], each) for each in ARGUMENTS]
    saved = ("--out", "2=x.npy", "--out", "3=y.npy")
    assert main(["run", "scale.tileirbc", *options, "--grid", "3", *saved]) == 0
    assert np.array_equal(np.load("y.npy"), 2 * np.load("x.npy"))
    sanitized = ["run", "scale.tileirbc", *options, "--grid", "4", *saved, "--sanitize"]
    assert main(sanitized) == 1
    assert capsys.readouterr().err == (
        "scale.tileirbc: error: byte 46 (Function): the index [3] lies outside of the view's index "
        "space [3] in dimension 0\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_tile_outside_of_the_index_space_is_a_warning(
    workers: str, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = ("--out", "x=x.npy", "--out", "y=y.npy", "--workers", workers)
    assert main(["run", "scale.mlir", *ARGUMENTS, "--grid", "4", *saved]) == 0
    assert np.array_equal(np.load("y.npy"), 2 * np.load("x.npy"))
    what = (
        "the index [3] lies outside of the view's index space [3] in dimension 0; that is "
        "undefined, and here the access is left out, as on NVIDIA's GPUs"
    )
    warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert [re.sub(r"-\d+:", ":", line) for line in warnings] == [
        f"scale.mlir:9.5: warning: {what}",
        f"scale.mlir:13.5: warning: {what}",
    ]


def test_an_error_in_bytecode_is_at_the_source_that_it_names() -> None:
    scope = """#cuda_tile.di_subprogram<file = #file, line = 3, name = "k", linkageName = "k",
      compileUnit = #cuda_tile.di_compile_unit<file = #file>, scopeLine = 3>"""
    text = f"""
    #file = #cuda_tile.di_file<"kernels.py" in "/home">
    #position = #cuda_tile.di_loc<loc("/home/kernels.py":5:8) in {scope}>
    cuda_tile.module @m {{
      entry @k() {{
        %x = constant <i1: false> : tile<i1> loc(#position)
        assert %x, "no" : tile<i1> loc(#position)
        return loc(#position)
      }} loc(#position)
    }}
    """
    module = ModuleOp([decode(encode(xtile.parse(text)), "k.tileirbc")])
    with pytest.raises(DiagnosticError) as raised:
        xtile.run(module, [])
    assert str(raised.value).startswith("error: /home/kernels.py:5.8: the assertion does not hold")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--rand",), "'x' (!cuda_tile.tile<ptr<f32>>): its shape is not known; GIVE --size x="),
        (
            ("--arg", "x=zeros"),
            "'x' (!cuda_tile.tile<ptr<f32>>): its shape is not known; GIVE zeros:",
        ),
        (("--arg", "n=x"), "'n' (!cuda_tile.tile<i32>): expected a number, given 'x'"),
    ],
)
def test_wrong_arguments(
    options: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [] if "n=x" in options else ["--arg", "n=4"]
    assert main(["run", "scale.mlir", *given, "--arg", "alpha=1", *options]) == 1
    example = "16x16" if "GIVE" in problem else ""
    message = problem.replace("GIVE", "give it, e.g.") + example
    assert capsys.readouterr().err == f"xtile: error: argument {message}\n"


POINTERS = (
    "cuda_tile.module @m { entry @k(%l: tile<ptr<i64>>, %o: tile<ptr<f32>>) { BODY return } }"
)

LOAD = """
%c1 = constant <i32: 1> : tile<i32>
%q = offset %l, %c1 : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
%w, %t0 = load_ptr_tko weak %q : tile<ptr<i64>> -> tile<i64>, token
%v, %t1 = load_ptr_tko weak %l : tile<ptr<i64>> -> tile<i64>, token
%p = int_to_ptr %w : tile<i64> -> tile<ptr<f32>>
%r = offset %p, %v : tile<ptr<f32>>, tile<i64> -> tile<ptr<f32>>
%x, %t = load_ptr_tko weak %r : tile<ptr<f32>> -> tile<f32>, token
%u = store_ptr_tko weak %o, %x : tile<ptr<f32>>, tile<f32> -> token
"""


class TestLists:
    def test_addresses_and_numbers(self) -> None:
        a, o = np.array([5, 6, 7], np.float32), np.zeros(1, np.float32)
        for given in ([2, a], (np.int64(2), a), Group([2, a])):
            o[:] = 0
            xtile.run(POINTERS.replace("BODY", LOAD), [given, o])
            assert o[0] == 7

    def test_arrays_of_addresses_are_memory_like_any_other(self) -> None:
        o = np.zeros(1, np.float32)
        # An address below that of all memory is one on the null pointer.
        with pytest.raises(DiagnosticError, match="the address 3 is null"):
            xtile.run(POINTERS.replace("BODY", LOAD), [np.array([0, 3]), o])

    def test_null_pointers(self) -> None:
        o = np.zeros(1, np.float32)
        with pytest.raises(DiagnosticError, match="the address 0 is null"):
            xtile.run(POINTERS.replace("BODY", LOAD), [[0, None], o])

    @pytest.mark.parametrize(
        ("value", "problem"),
        [
            ([2**63], "entry 0: 9223372036854775808 does not fit into 64 bits"),
            (["a"], "entry 0: expected a numpy array or an object with __dlpack__, given a str"),
            ([np.zeros(3)[::-1]], "entry 0: expected strides of at least 0, given strides (-1,)"),
            (Group([], offset=1), "expected a list, or a group without offset and shapes"),
        ],
    )
    def test_what_does_not_fit(self, value: Any, problem: str) -> None:
        signature = signature_of(find_function(POINTERS.replace("BODY", ""), None))
        with pytest.raises(ArgumentError, match=re.escape(problem)):
            bind(signature, [value, None])

    def test_what_is_bound(self) -> None:
        a = np.zeros((2, 3), np.int16)
        signature = signature_of(find_function(POINTERS.replace("BODY", ""), None))
        words, null = bind(signature, [[a, 2, None], 0])
        assert isinstance(words, WordsView)
        memory, *numbers = words.entries
        assert numbers == [2, 0]
        assert not isinstance(memory, int)
        assert np.shares_memory(memory.memory, a)
        assert null is None

    def test_arrays_that_are_written_must_be_writable(self) -> None:
        a = np.zeros(3, np.float32)
        a.flags.writeable = False
        o = np.zeros(1, np.float32)
        xtile.run(POINTERS.replace("BODY", LOAD), [[2, a], o])
        store = LOAD.replace("%o, %x", "%r, %x")
        with pytest.raises(ArgumentError, match="entry 1: the kernel writes to it, but the given"):
            xtile.run(POINTERS.replace("BODY", store), [[2, a], o])


def written(body: str) -> list[int]:
    """The parameters %a, %b and %c that a body may write to."""
    pointer = "tile<ptr<f32>>"
    parameters = ", ".join(f"%{name}: {pointer}" for name in "abc")
    text = f"cuda_tile.module @m {{ entry @k({parameters}, %n: tile<i32>) {{ {body} return }} }}"
    return sorted(signature_of(find_function(text, None)).written)


def stored(pointer: str) -> str:
    return f"""
    %one = constant <f32: 1.0> : tile<f32>
    %t = store_ptr_tko weak {pointer}, %one : tile<ptr<f32>>, tile<f32> -> token
    """


class TestWrittenParameters:
    def test_nothing(self) -> None:
        assert written("%x, %t = load_ptr_tko weak %a : tile<ptr<f32>> -> tile<f32>, token") == []

    def test_pointers(self) -> None:
        assert written(stored("%b")) == [1]
        offset = "%p = offset %c, %n : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>"
        assert written(offset + stored("%p")) == [2]

    def test_views(self) -> None:
        made = f"""
        %z = constant <f32: 1.0> : tile<16xf32>
        %ta = make_tensor_view %a, shape = [%n], strides = [1] : tile<i32> -> {VECTOR}
        %tb = make_tensor_view %b, shape = [%n], strides = [1] : tile<i32> -> {VECTOR}
        %pa = make_partition_view %ta : {TILES}
        %pb = make_partition_view %tb : {TILES}
        """
        store = f"%t = store_view_tko weak %z, %pb[%n] : tile<16xf32>, {TILES}, tile<i32> -> token"
        red = f"""%t = atomic_red_view_tko relaxed device %pa[%n], addf, %z
          : tile<16xf32>, {TILES}, tile<i32> -> token"""
        assert written(made + store) == [1]
        assert written(made + red) == [0]

    def test_pointers_in_loops_and_conditions(self) -> None:
        body = f"""
        %true = constant <i1: true> : tile<i1>
        %p, %q = loop iter_values(%x = %a, %y = %b) : tile<ptr<f32>>, tile<ptr<f32>>
            -> tile<ptr<f32>>, tile<ptr<f32>> {{
          %z = if %true -> (tile<ptr<f32>>) {{
            if %true {{ break %c, %c : tile<ptr<f32>>, tile<ptr<f32>> }}
            yield %x : tile<ptr<f32>>
          }} else {{
            continue %y, %x : tile<ptr<f32>>, tile<ptr<f32>>
          }}
          continue %z, %z : tile<ptr<f32>>, tile<ptr<f32>>
        }}
        {stored("%p")}
        """
        assert written(body) == [0, 1, 2]

    def test_addresses_as_integers(self) -> None:
        body = f"""
        %i = ptr_to_int %a : tile<ptr<f32>> -> tile<i64>
        %c8 = constant <i64: 8> : tile<i64>
        %j = addi %i, %c8 : tile<i64>
        %p = int_to_ptr %j : tile<i64> -> tile<ptr<f32>>
        {stored("%p")}
        """
        assert written(body) == [0]
