"""One warp reduces instead of scanning: tileiras makes wrong code of its scans."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import read
from tests.translate.core_to_cuda_tile.entries import verify
from xtile.backends.nvidia.compilation import compile_program
from xtile.dialects.cuda_tile.bytecode import decode
from xtile.text.diagnostics import DiagnosticError
from xtile.transforms.scans_of_one_warp import avoid_scans_of_one_warp, has_scans_of_one_warp

_ONE_WARP = "optimization_hints=<sm_90 = {num_worker_warps_per_cta = 1}>"

_ALLOCATED = "%m = alloca num_elem = 8, alignment = 16 : tile<ptr<i32>>"


def kernel(
    shape: Sequence[int],
    dim: int,
    hints: str = _ONE_WARP,
    reverse: str = "false",
    allocated: str = _ALLOCATED,
) -> str:
    """A kernel that adds numbers up, each with all before it."""
    sizes, count = "x".join(map(str, shape)), int(np.prod(shape))
    return f"""
cuda_tile.module @m {{
  entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>) {hints} {{
    {allocated}
    %c0 = constant <i64: 0> : tile<i64>
    %av = make_tensor_view %a, shape = [{count}], strides = [1]
      : tensor_view<{count}xi32, strides=[1]>
    %to = make_partition_view %av
      : partition_view<tile=({count}), tensor_view<{count}xi32, strides=[1]>>
    %bv = make_tensor_view %b, shape = [{count}], strides = [1]
      : tensor_view<{count}xi32, strides=[1]>
    %from = make_partition_view %bv
      : partition_view<tile=({count}), tensor_view<{count}xi32, strides=[1]>>
    %line, %t = load_view_tko weak %from[%c0]
      : partition_view<tile=({count}), tensor_view<{count}xi32, strides=[1]>>, tile<i64>
      -> tile<{count}xi32>, token
    %x = reshape %line : tile<{count}xi32> -> tile<{sizes}xi32>
    %both = scan %x dim={dim} reverse={reverse} identities=[0 : i32]
      : tile<{sizes}xi32> -> tile<{sizes}xi32>
    (%p: tile<i32>, %q: tile<i32>) {{
      %sum = addi %p, %q : tile<i32>
      yield %sum : tile<i32>
    }}
    %flat = reshape %both : tile<{sizes}xi32> -> tile<{count}xi32>
    %e = store_view_tko weak %flat, %to[%c0] : tile<{count}xi32>,
      partition_view<tile=({count}), tensor_view<{count}xi32, strides=[1]>>, tile<i64> -> token
    return
  }}
}}
"""


def _expected(numbers: np.ndarray, dim: int, reverse: str) -> np.ndarray:
    turned = np.flip(numbers, dim) if reverse == "true" else numbers
    both = np.cumsum(turned, dim)
    return np.flip(both, dim) if reverse == "true" else both


@pytest.mark.parametrize("reverse", ["false", "true"])
@pytest.mark.parametrize(
    ("shape", "dim"),
    [
        ((8,), 0),
        ((512,), 0),
        ((1024,), 0),
        ((8, 8), 0),
        ((8, 8), 1),
        ((4, 64), 1),
        ((4, 2, 8), 1),
        ((2, 32, 4), 1),
        ((2, 2, 2, 4), 2),
    ],
)
def test_numbers(shape: Sequence[int], dim: int, reverse: str) -> None:
    module = read(kernel(shape, dim, reverse=reverse))
    assert has_scans_of_one_warp(module)
    assert avoid_scans_of_one_warp(module)
    assert " scan " not in xtile.to_text(module, "mlir")
    verify(module)
    numbers = fresh_generator().integers(-9, 10, shape).astype(np.int32)
    found = np.full(numbers.size, -1, np.int32)
    xtile.run(module, [found, numbers.ravel()], grid=(1, 1, 1))
    assert np.array_equal(found.reshape(shape), _expected(numbers, dim, reverse))


@pytest.mark.parametrize(
    ("hints", "scans", "left"),
    [
        ("", True, ""),
        (_ONE_WARP.replace("= 1}", "= 2}"), True, "num_worker_warps_per_cta = 2"),
        (_ONE_WARP, False, "num_worker_warps_per_cta = 1"),
    ],
    ids=["no hint", "two warps", "no scan"],
)
def test_others_stay(hints: str, scans: bool, left: str) -> None:
    text = kernel((8, 8), 1, hints)
    if not scans:
        text = re.sub(r"scan.*?\n    \}", "addi %x, %x : T", text, flags=re.DOTALL)
        text = text.replace(": T", ": tile<8x8xi32>")
    module = read(text)
    before = str(module)
    assert not has_scans_of_one_warp(module)
    assert not avoid_scans_of_one_warp(module)
    assert str(module) == before
    assert left in xtile.to_text(module, "mlir")


def test_several_tiles_are_refused() -> None:
    text = kernel((8, 8), 1)
    start, end = text.index("    %both = scan"), text.index("    %flat")
    together = """
    %both, %most = scan %x, %x dim=1 reverse=false identities=[0 : i32, -2147483648 : i32]
      : tile<8x8xi32>, tile<8x8xi32> -> tile<8x8xi32>, tile<8x8xi32>
    (%p: tile<i32>, %q: tile<i32>, %r: tile<i32>, %s: tile<i32>) {
      %sum = addi %p, %q : tile<i32>
      %larger = maxi %r, %s signed : tile<i32>
      yield %sum, %larger : tile<i32>, tile<i32>
    }
"""
    module = read(text[:start] + together + text[end:])
    with pytest.raises(DiagnosticError, match="several tiles are scanned together"):
        compile_program(module, "sm_90")


def test_a_hint_goes_where_nothing_is_allocated() -> None:
    hints = _ONE_WARP.replace("= 1}", "= 1, occupancy = 2}")
    module = read(kernel((8, 8), 1, hints, allocated=""))
    assert avoid_scans_of_one_warp(module)
    text = xtile.to_text(module, "mlir")
    assert "num_worker_warps_per_cta" not in text
    assert "occupancy = 2" in text
    assert " scan " in text


def test_translations_and_compilation() -> None:
    """Kernels that allocate have one warp, and users may ask for one."""
    source = """
        func @k(%a: memref<i32x8x8>, %b: memref<i32x8x8>, %i: index) {
            %one = constant 1 : i32
            %zero = constant 0 : i32
            %t = alloca : memref<i32x256x256,local>
            %u = subview %t[%i:8,0:8] : memref<i32x8x8,strided<1,256>,local>
            axpby.n %one, %a, %zero, %u
            cumsum %one, %u, 0, %zero, %b
            cumsum %one, %u, 1, %one, %b
        }
    """
    made = xtile.translate(source, "cuda_tile", chip="sm_90")
    assert isinstance(made, ModuleOp)
    text = xtile.to_text(made, "mlir")
    assert "num_worker_warps_per_cta = 1," in text
    assert "scan" not in text
    given = read(kernel((8, 8), 1))
    program = compile_program(given, "sm_90")
    assert has_scans_of_one_warp(given)
    assert not has_scans_of_one_warp(decode(program.bytecode))
