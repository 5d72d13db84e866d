"""tf32 as a type of factors: on the reference device, as CUDA Tile IR, and for lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import function_of, printed, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_kernel,
)
from xtile.semantics.upstream.numbers import FLOATS
from xtile.targets.compilers import XTILE
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.transforms.pad import pad
from xtile.translate.route import Options, translate, translate_to

M, N, K = 16, 32, 16

PRODUCT = """
%c0 = arith.constant 0 : index
%z = arith.constant 0.0 : f32
%zero = arith.constant dense<0.0> : vector<{m}x{n}xf32>
%x = vector.transfer_read %a[%c0, %c0], %z {{in_bounds = [true, true]}}
    : memref<{m}x{k}xf32>, vector<{m}x{k}xf32>
%y = vector.transfer_read %b[%c0, %c0], %z {{in_bounds = [true, true]}}
    : memref<{k}x{n}xf32>, vector<{k}x{n}xf32>
%p = arith.truncf %x : vector<{m}x{k}xf32> to vector<{m}x{k}x{type}>
%q = arith.truncf %y : vector<{k}x{n}xf32> to vector<{k}x{n}x{type}>
%s = vector.contract {{
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                     affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
    %p, %q, %zero : vector<{m}x{k}x{type}>, vector<{k}x{n}x{type}> into vector<{m}x{n}xf32>
vector.transfer_write %s, %o[%c0, %c0] {{in_bounds = [true, true]}}
    : vector<{m}x{n}xf32>, memref<{m}x{n}xf32>
"""

PARAMETERS = "%a: memref<{m}x{k}xf32>, %b: memref<{k}x{n}xf32>, %o: memref<{m}x{n}xf32>"


def product(m: int = M, n: int = N, k: int = K, type: str = "tf32") -> str:
    sizes = {"m": m, "n": n, "k": k, "type": type}
    return tile_kernel(PARAMETERS.format(**sizes), PRODUCT.format(**sizes))


_ONE_SUBGROUP = (
    'core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32, '
    "known_block_size = array<i32: 16, 1, 1>"
)


def subgroup_product() -> str:
    return product().replace('core.level = "tile"', _ONE_SUBGROUP)


def arrays(m: int = M, n: int = N, k: int = K) -> list[Any]:
    rng = fresh_generator()
    return [
        rng.standard_normal((m, k), np.float32),
        rng.standard_normal((k, n), np.float32),
        np.full((m, n), np.nan, np.float32),
    ]


def as_tf32(values: Any) -> Any:
    """Numbers with 11 significant bits, by arithmetic."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(fraction * 2**11), exponent - 11)


def check(a: Any, b: Any, out: Any) -> None:
    """Sums of exact products in f32; products of unrounded factors are farther away."""
    expected = as_tf32(a) @ as_tf32(b)
    scale = np.abs(as_tf32(a)) @ np.abs(as_tf32(b))
    assert (np.abs(out - expected) <= 2**-20 * scale).all()
    assert (np.abs(out - a.astype(np.float64) @ b) > 2**-20 * scale).any()


def test_on_the_reference_device() -> None:
    a, b, out = arrays()
    run(read(product()), a, b, out)
    check(a, b, out)


def test_as_cuda_tile() -> None:
    module = lowered(product())
    (line,) = [each for each in printed(module).splitlines() if "mmaf" in each]
    assert line.endswith("tile<16x16xtf32>, tile<16x32xtf32>, tile<16x32xf32>")
    assemble_for_all(module, ["sm_90"])
    a, b, out = arrays()
    run_entry(product(), module, a, b, out)
    check(a, b, out)


def test_factors_of_f32_stay_f32() -> None:
    text = product(type="tf32").replace("arith.truncf %x", "math.absf %x")
    text = text.replace("to vector<16x16xtf32>", "").replace("%q = arith.truncf", "%q = math.absf")
    text = text.replace("to vector<16x32xtf32>", "").replace("tf32", "f32")
    assert "tf32" not in printed(lowered(text))


def test_sizes_that_are_no_powers_of_two() -> None:
    module = pad(read(product(5, 7, 9)))
    assert "vector<8x16xtf32>" in printed(module)
    a, b, out = arrays(5, 7, 9)
    run(module, a, b, out)
    check(a, b, out)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("route", "chip"), [("core-to-xegpu", "pvc"), ("core-to-lane", "dg2"), ("core-to-lane", "cpu")]
)
def test_for_lanes(route: str, chip: str) -> None:
    """Without an instruction the text has no tf32, which LLVM and SPIR-V do not have."""
    module = translate(read(subgroup_product()), route, Options(chip))
    assert "tf32" not in printed(module)
    assert "xegpu.dpas" not in printed(module)
    a, b, out = arrays()
    run(module, a, b, out)
    check(a, b, out)


@pytest.mark.parametrize("chip", ["pvc", "bmg"])
@pytest.mark.parametrize("rows", [2, 6, 8, 16, 24, 64])
@pytest.mark.parametrize("factor", ["loaded", "computed"])
def test_on_the_matrix_unit(chip: str, rows: int, factor: str) -> None:
    """A that is loaded comes in blocks of 8 columns; of others lanes exchange halves of rows."""
    text = product(rows, 32, 24 if factor == "loaded" else 32)
    if factor == "computed":
        type_ = f"vector<{rows}x32xf32>"
        text = text.replace(
            "%p = arith.truncf %x", f"%h = arith.negf %x : {type_}\n%p = arith.truncf %h"
        )
    text = text.replace('core.level = "tile"', _ONE_SUBGROUP)
    diagnostics = Diagnostics()
    module = translate(read(text), "core-to-lane", Options(chip), diagnostics)
    assert not [each.message for each in diagnostics if "matrix unit" in each.message]
    assert "xegpu.dpas" in printed(module)
    assert ("gpu.shuffle" in printed(module)) == (factor == "computed")
    a, b, out = arrays(rows, 32, 24 if factor == "loaded" else 32)
    run(module, a, b, out)
    check(a, b, out if factor == "loaded" else -out)


def test_as_xegpu_of_work_groups() -> None:
    """It has vectors of tf32, which dpas multiplies, there and back."""
    module = translate_to(read(product(64, 64, 32)), "xegpu", Options("pvc"))
    assert "xegpu.dpas" in printed(module)
    assert "vector<64x32xtf32>, vector<32x64xtf32>, vector<64x64xf32>" in printed(module)
    again = translate_to(module, "lane", Options("pvc", compiler=XTILE))
    assert "xegpu.dpas" in printed(again)
    for made in (module, again):
        a, b, out = arrays(64, 64, 32)
        run(made, a, b, out)
        check(a, b, out)


@pytest.mark.parametrize("rows", [1, 5])
def test_a_row_alone_is_no_product_of_the_matrix_unit(rows: int) -> None:
    """Of 16 lanes 8 would have nothing of it."""
    text = product(rows).replace('core.level = "tile"', _ONE_SUBGROUP)
    diagnostics = Diagnostics()
    module = translate(read(text), "core-to-lane", Options("pvc"), diagnostics)
    (message,) = [each.message for each in diagnostics if "matrix unit" in each.message]
    assert message.endswith(f"{rows} rows of 8 cannot be dealt to 16 lanes")
    a, b, out = arrays(rows)
    run(module, a, b, out)
    check(a, b, out)


def test_as_the_tensor_language() -> None:
    """It has no tf32 and multiplies in f32, which loses nothing; a remark says so."""
    diagnostics = Diagnostics()
    module = translate(read(product()), "core-to-tensorlang", Options(), diagnostics)
    found = [each.message for each in diagnostics]
    assert found.count("multiplies in f32, because the tensor language has no tf32") == 2
    a, b, out = arrays()
    xtile.run(module, (a, b, out), 1)
    scale = np.abs(a.astype(np.float64)) @ np.abs(b)
    assert (np.abs(out - a.astype(np.float64) @ b) <= 2**-20 * scale).all()


def test_on_an_opencl_device() -> None:
    a, b, out = arrays()
    xtile.run(read(subgroup_product()), (a, b, out), 1, "opencl")
    check(a, b, out)


CASTS = """
%c0 = arith.constant 0 : index
%z = arith.constant 0.0 : f32
%t = arith.constant dense<0.1> : vector<64xtf32>
%x = vector.load %a[%c0] : memref<64xf32>, vector<64xf32>
%p = arith.truncf %x {mode} : vector<64xf32> to vector<64xtf32>
%q = arith.addf %p, %t : vector<64xtf32>
%c = arith.cmpf ogt, %q, %t : vector<64xtf32>
%r = arith.select %c, %q, %p : vector<64xi1>, vector<64xtf32>
%s = arith.extf %r : vector<64xtf32> to vector<64xf32>
vector.store %s, %o[%c0] : memref<64xf32>, vector<64xf32>
"""


@pytest.mark.parametrize("mode", ["", "downward", "upward", "toward_zero"])
def test_casts_and_arithmetic(mode: str) -> None:
    text = tile_kernel("%a: memref<64xf32>, %o: memref<64xf32>", CASTS.replace("{mode}", mode))
    a = fresh_generator().standard_normal(64, np.float32)
    a[:8] = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4028235e38]
    out, made = (np.full(64, np.nan, np.float32) for _ in range(2))
    run(read(text), a, out)
    run_entry(text, lowered(text), a, made)
    np.testing.assert_array_equal(out.view(np.uint32), made.view(np.uint32))
    exact = a.astype(np.float64)
    fraction, exponent = np.frexp(exact)
    functions: dict[str, Any] = {
        "": np.rint,
        "downward": np.floor,
        "upward": np.ceil,
        "toward_zero": np.trunc,
    }
    rounded = np.ldexp(functions[mode](fraction * 2**11), exponent - 11)
    tenth = float(as_tf32(np.float64(0.1)))
    expected = as_tf32(rounded + tenth)
    expected = np.where(expected > tenth, expected, rounded)
    np.testing.assert_array_equal(out[8:], expected[8:].astype(np.float32))


def test_directed_rounding_at_the_ends() -> None:
    """The neighbours of zero, of the largest number and of infinity."""
    tf32 = FLOATS["tf32"]
    values = np.array([0, -0.0, np.float32(3.4011621e38), np.inf], np.float32)
    up = tf32.next_after(values, np.False_)
    assert up.view(np.uint32).tolist() == [0x2000, 0x2000, 0x7F800000, 0x7F800000]
    down = tf32.next_after(values, np.True_)
    assert down.view(np.uint32)[[0, 1, 3]].tolist() == [0x80002000, 0x80002000, 0x7F7FE000]


SUBGROUP_REFUSED = {
    "memory": (
        "%m: memref<16x16xtf32>",
        "",
        "tf32 lies in registers only; keep it in memory as f32",
    ),
    "sums": (
        "%m: memref<16x16xf32>, %o: memref<16xf32>",
        """%c0 = arith.constant 0 : index
        %z = arith.constant 0.0 : f32
        %x = vector.transfer_read %m[%c0, %c0], %z : memref<16x16xf32>, vector<16x16xf32>
        %t = arith.truncf %x : vector<16x16xf32> to vector<16x16xtf32>
        %n = arith.constant dense<0.0> : vector<16xtf32>
        %r = vector.multi_reduction <add>, %t, %n [0] : vector<16x16xtf32> to vector<16xtf32>
        %w = arith.extf %r : vector<16xtf32> to vector<16xf32>
        vector.transfer_write %w, %o[%c0] : vector<16xf32>, memref<16xf32>""",
        "numbers of tf32 are not combined; cast them to f32 with arith.extf first",
    ),
}


@pytest.mark.parametrize("name", SUBGROUP_REFUSED)
@pytest.mark.parametrize("chip", ["pvc", "cpu"])
def test_refused_for_lanes(name: str, chip: str) -> None:
    parameters, body, message = SUBGROUP_REFUSED[name]
    text = tile_kernel(parameters, body).replace(
        'core.level = "tile"', 'core.level = "subgroup", intel_reqd_sub_group_size = 16 : i32'
    )
    with pytest.raises(DiagnosticError, match=message):
        translate(read(text), "core-to-lane", Options(chip))


def test_a_kernel_of_the_text_is_what_is_run() -> None:
    """The type is MLIR's own, and is printed as it was read."""
    text = printed(read(product()))
    assert "arith.truncf %x : vector<16x16xf32> to vector<16x16xtf32>" in text
    assert function_of(read(text)).sym_name.data == "k"
