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
