"""Kernels keep their signature, their hints and their variables; what has no form is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.cuda_tile.entries import marked, module, pointers
from tests.translate.cuda_tile_to_core.raised import WAYS, lowered_again, raised, results
from xtile.arguments.cutile_signature import disjoint_arrays
from xtile.arguments.errors import ArgumentError
from xtile.dialects.core.arguments import is_noalias
from xtile.dialects.gpu.functions import FuncOp
from xtile.text.diagnostics import DiagnosticError

RMS_NORM = Path(__file__).parents[3] / "examples" / "cutile" / "rms_norm.mlir"

COPY = f"""
{pointers("p", "a", 4, "i32")}
{pointers("q", "o", 4, "i32")}
%x, %t = load_ptr_tko weak %p : tile<4xptr<i32>> -> tile<4xi32>, token
%u = store_ptr_tko weak %q, %x : tile<4xptr<i32>>, tile<4xi32> -> token
"""


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_takes_the_arguments_of_its_source(way: str) -> None:
    x = fresh_generator().standard_normal((10, 150)).astype(np.float32)
    weight = fresh_generator().standard_normal(150).astype(np.float32)
    made = WAYS[way](RMS_NORM.read_text())
    found = np.full((10, 150), np.nan, np.float32)
    xtile.run(made, [x, weight, found, 1e-5], grid=3)
    wanted = np.full((10, 150), np.nan, np.float32)
    xtile.run(RMS_NORM, [x, weight, wanted, 1e-5], grid=3)
    np.testing.assert_array_equal(found, wanted)
    xtile.run(made, {"arg0": x, "arg5": weight, "arg8": found, "arg13": 1e-5}, grid=3)
    with pytest.raises(ArgumentError, match="f32 array of 2 dimensions"):
        xtile.run(made, [weight, weight, found, 1e-5], grid=3)


@pytest.mark.parametrize("device", ["reference", "opencl"])
@pytest.mark.parametrize("flag", [True, False])
def test_truth_values_are_passed_as_bytes(device: str, flag: bool) -> None:
    text = module(
        "%o: tile<ptr<i32>>, %flag: tile<i1>, %n: tile<i32>",
        """
        %seven = constant <i32: 7> : tile<i32>
        %v = select %flag, %n, %seven : tile<i1>, tile<i32>
        %t = store_ptr_tko weak %o, %v : tile<ptr<i32>>, tile<i32> -> token
        """,
    )
    for each in (text, *(way(text) for way in WAYS.values())):
        out = np.full(1, 77, np.int32)
        xtile.run(each, [out, flag, 5], device=device)
        assert out.tolist() == [5 if flag else 7]


@pytest.mark.parametrize("way", WAYS)
def test_a_list_of_arrays_and_an_address_are_taken(way: str) -> None:
    text = module(
        "%l: tile<ptr<i64>>, %n: tile<i64>, %o: tile<ptr<i64>>",
        """
        %w, %t = load_ptr_tko weak %l : tile<ptr<i64>> -> tile<i64>, token
        %p = int_to_ptr %w : tile<i64> -> tile<ptr<i64>>
        %x, %u = load_ptr_tko weak %p : tile<ptr<i64>> -> tile<i64>, token
        %q = int_to_ptr %n : tile<i64> -> tile<ptr<i64>>
        %y, %v = load_ptr_tko weak %q : tile<ptr<i64>> -> tile<i64>, token
        %s = addi %x, %y : tile<i64>
        %d = store_ptr_tko weak %o, %s : tile<ptr<i64>>, tile<i64> -> token
        """,
    )
    a, b, o = (np.array([number], np.int64) for number in (3, 4, -1))
    xtile.run(WAYS[way](text), [[a], b, o])
    assert o.tolist() == [7]


def test_parameters_have_the_names_and_types_of_the_source() -> None:
    text = xtile.to_text(raised(module("%a: tile<ptr<i32>>, %o: tile<ptr<i32>>", COPY)), "mlir")
    assert '{becomes = ["pointer"], name = "a", type = "tile<ptr<i32>>"}' in text
    assert "core.noalias" not in text
    with pytest.raises(ArgumentError, match="its parameters are a, o"):
        xtile.run(text, {"b": np.zeros(4, np.int32)})


def test_arrays_that_an_exporter_calls_disjoint_are() -> None:
    made = raised(RMS_NORM.read_text())
    (kernel,) = (each for each in made.walk() if isinstance(each, FuncOp))
    disjoint = [arg.index for arg in kernel.arguments if is_noalias(arg)]
    assert disjoint == [0, 5, 8]
    name = kernel.sym_name.data.replace("_A1f32_1t1_", "_A1f32_1t1_ga_")
    assert disjoint_arrays(name, 14) == {0, 8}
    assert disjoint_arrays(name, 13) == set()
    assert disjoint_arrays("rms_norm", 14) == set()


def test_several_entries_become_several_kernels() -> None:
    text = module("%a: tile<ptr<i32>>, %o: tile<ptr<i32>>", COPY)
    text = text.replace("entry @k", "entry @nothing() {\nreturn\n}\nentry @k")
    a, o = np.arange(4, dtype=np.int32), np.full(4, -1, np.int32)
    xtile.run(raised(text), [a, o], entry="k")
    assert o.tolist() == [0, 1, 2, 3]


def test_hints_of_each_architecture_are_kept() -> None:
    hints = "optimization_hints=<default = {occupancy = 2}, sm_90 = {num_worker_warps_per_cta = 8}>"
    text = module("", "").replace("entry @k()", f"entry @k() {hints}")
    assert hints in xtile.to_text(lowered_again(text), "mlir").replace("\n", " ")


@pytest.mark.parametrize("way", WAYS)
def test_variables_and_memory_of_a_kernel(way: str) -> None:
    body = """
    %g = get_global @table : tile<ptr<i32>>
    %one = constant <i32: 1> : tile<i32>
    %g1 = offset %g, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %x, %t = load_ptr_tko weak %g1 : tile<ptr<i32>> -> tile<i32>, token
    %m = alloca num_elem = 4, alignment = 16 : tile<ptr<i32>>
    %u = store_ptr_tko weak %m, %x : tile<ptr<i32>>, tile<i32> -> token
    %y, %v = load_ptr_tko weak %m token=%u : tile<ptr<i32>> -> tile<i32>, token
    %w = store_ptr_tko weak %o, %y : tile<ptr<i32>>, tile<i32> -> token
    """
    before = "global private constant @table alignment = 16 <i32: [2, 3, 5, 7]> : tile<4xi32>"
    text = module("%o: tile<ptr<i32>>", body, before)
    assert results(WAYS[way](text), [np.full(1, -1, np.int32)])[0].tolist() == [3]


@pytest.mark.parametrize(
    ("parameters", "body", "place"),
    [
        ("%a: tile<ptr<f4E2M1FN>>", "", "entry @k(%a: tile<ptr<f4E2M1FN>>) {"),
        (
            "%a: tile<ptr<i8>>",
            "%p = ptr_to_ptr %a : tile<ptr<i8>> -> tile<ptr<f4E2M1FN>>",
            "%p = ptr_to_ptr %a : tile<ptr<i8>> -> tile<ptr<f4E2M1FN>>",
        ),
    ],
)
def test_elements_that_share_bytes_are_refused(parameters: str, body: str, place: str) -> None:
    with pytest.raises(DiagnosticError) as found:
        raised(module(parameters, body))
    (error,) = found.value.diagnostics
    assert error.message == (
        "memory of f4E2M1FN holds two in a byte here and one in the core form; keep i8 in memory, "
        "and use unpack and pack"
    )
    assert marked(error).startswith(place)


def test_a_part_that_is_not_there_is_an_error() -> None:
    text = module(
        "",
        """%v = iota : tile<8xi32>
        %n = constant <i32: 2> : tile<i32>
        %x = extract %v[%n] : tile<8xi32> -> tile<4xi32>""",
    )
    with pytest.raises(DiagnosticError, match="there is no part 2 along dimension 0: a size of 8"):
        raised(text)


def test_what_keeps_loads_from_being_repeated_is_no_arithmetic_again() -> None:
    """A reduction of the only element, of bits, which ports of ours have for the assembler."""
    text = module(
        "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>",
        f"""
        {pointers("pp", "p", 4, "f32")}
        {pointers("qq", "q", 4, "f32")}
        %x, %t = load_ptr_tko weak %pp : tile<4xptr<f32>> -> tile<4xf32>, token
        %bits = bitcast %x : tile<4xf32> -> tile<4xi32>
        %column = reshape %bits : tile<4xi32> -> tile<4x1xi32>
        %same = reduce %column dim=1 identities=[0 : i32] : tile<4x1xi32> -> tile<4xi32>
        (%a: tile<i32>, %b: tile<i32>) {{
          %c = ori %a, %b : tile<i32>
          yield %c : tile<i32>
        }}
        %y = bitcast %same : tile<4xi32> -> tile<4xf32>
        %u = store_ptr_tko weak %qq, %y : tile<4xptr<f32>>, tile<4xf32> -> token
        """,
    )
    core = xtile.to_text(raised(text), "mlir")
    assert "core.scatter_store %x, %qq" in core
    assert "core.reduce" not in core
    x = np.array([np.nan, -0.0, 1e-40, 2.5], np.float32)
    for port in (core, xtile.translate(text, "tensorlang")):
        y = np.full(4, 7.0, np.float32)
        xtile.run(port, [x, y], grid=1)
        np.testing.assert_array_equal(y.view(np.uint32), x.view(np.uint32))


@pytest.mark.parametrize(
    ("combination", "identity", "size"), [("ori", 1, 1), ("ori", 0, 2), ("andi", 0, 1)]
)
def test_other_reductions_stay(combination: str, identity: int, size: int) -> None:
    count = 4 // size
    text = module(
        "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>",
        f"""
        {pointers("pp", "p", 4, "i32")}
        {pointers("qq", "q", count, "i32")}
        %x, %t = load_ptr_tko weak %pp : tile<4xptr<i32>> -> tile<4xi32>, token
        %rows = reshape %x : tile<4xi32> -> tile<{count}x{size}xi32>
        %y = reduce %rows dim=1 identities=[{identity} : i32]
            : tile<{count}x{size}xi32> -> tile<{count}xi32>
        (%a: tile<i32>, %b: tile<i32>) {{
          %c = {combination} %a, %b : tile<i32>
          yield %c : tile<i32>
        }}
        %u = store_ptr_tko weak %qq, %y : tile<{count}xptr<i32>>, tile<{count}xi32> -> token
        """,
    )
    assert "core.reduce" in xtile.to_text(raised(text), "mlir")
