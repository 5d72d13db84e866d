"""Copies of gfx1250's tensor data mover: on the reference device, as tiles, and on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.judges import NEWEST, compiled
from xtile.launch import SanitizerError
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import translate

ROWS, COLUMNS = 13, 27
"""The sizes of the tensor, of which blocks are of 8 x 16."""

_D = "!tt.tensordesc<8x16xf32, #shared>"
_M = "!ttg.memdesc<8x16xf32, #shared, #smem, mutable>"

_HEAD = """
#shared = #ttg.padded_shared<[16:+4] {order = [1, 0], shape = [8, 16]}>
#index = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
                   ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %i: i32, %j: i32, %p: i32) {
    %rows = arith.constant 13 : i32
    %columns = arith.constant 27 : i32
    %stride = arith.constant 27 : i64
    %one = arith.constant 1 : i64
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %c16 = arith.constant 16 : i32
    %always = arith.constant 1 : i32
"""


def of_body(body: str, given: str = "<f32>, <8x16xf32, #shared>") -> ModuleOp:
    """A kernel with descriptors %d of the tensor at %x and %e of that at %y."""
    shape = f"[%rows, %columns], [%stride, %one] : {given}"
    makes = "\n".join(
        f"%{name} = tt.make_tensor_descriptor %{pointer}, {shape}"
        for name, pointer in (("d", "x"), ("e", "y"))
    )
    return xtile.parse(f"{_HEAD}{makes}\n{body}\ntt.return\n}}\n}}\n", language="ttgir")


def ran(module: ModuleOp, i: int, j: int, p: int = 1) -> tuple[Any, Any]:
    """The tensors at %x and %y, the same each way that the kernel is run."""
    x = fresh_generator().standard_normal((ROWS, COLUMNS)).astype(np.float32)
    found: list[Any] = []
    for way in ("as it is", "tiles", "OpenCL"):
        y = np.full((ROWS, COLUMNS), -1, np.float32)
        run = translate(module, "triton-to-core") if way == "tiles" else module
        device = "opencl" if way == "OpenCL" else "reference"
        xtile.run(run, [x, y, i, j, p], device=device, sanitize=way == "as it is")
        found.append(y)
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])
    return x, found[0]


def block(tensor: Any, i: int, j: int) -> Any:
    """A block of a tensor, with zeros outside of it."""
    padded = np.zeros((ROWS + 8, COLUMNS + 16), np.float32)
    padded[:ROWS, :COLUMNS] = tensor
    return padded[i : i + 8, j : j + 16]


COPY = f"""
  %m = ttg.local_alloc : () -> {_M}
  %from = amdg.update_tensor_descriptor %d add_offsets = [%i, %j] pred = %p {{clamp_bounds}} : {_D}
  %t = amdg.async_tdm_copy_global_to_local %from into %m : {_D} -> {_M}
  %w = amdg.async_tdm_wait %t {{num = 0 : i32}}
  %u = amdg.async_tdm_copy_local_to_global %e from %m : {_M} -> {_D}
  %v = amdg.async_tdm_wait %u {{num = 0 : i32}}
"""


@pytest.mark.parametrize(("i", "j"), [(0, 0), (8, 16), (3, 20), (13, 0)])
def test_blocks(i: int, j: int) -> None:
    """What is outside of the tensor is read as 0."""
    x, y = ran(of_body(COPY), i, j)
    np.testing.assert_array_equal(y[:8, :16], block(x, i, j))
    assert (y[8:] == -1).all()
    assert (y[:, 16:] == -1).all()


def test_blocks_before_the_tensor() -> None:
    """The hardware takes none of such a block for inside of the tensor."""
    _, y = ran(of_body(COPY), -1, 0)
    assert (y[:8, :16] == 0).all()


def test_blocks_on_a_condition() -> None:
    """Memory stays as it was where a copy is not made."""
    fill = "%ones = arith.constant dense<1.0> : tensor<8x16xf32>\n%m = ttg.local_alloc %ones : "
    body = COPY.replace(f"%m = ttg.local_alloc : () -> {_M}", f"{fill}(tensor<8x16xf32>) -> {_M}")
    for p in (0, 1):
        x, y = ran(of_body(body), 2, 2, p)
        np.testing.assert_array_equal(y[:8, :16], block(x, 2, 2) if p else 1)


def test_writing_to_the_end() -> None:
    """What is outside of the tensor is not written, whatever lies there."""
    body = f"""
      %m = ttg.local_alloc : () -> {_M}
      %t = amdg.async_tdm_copy_global_to_local %d into %m : {_D} -> {_M}
      %w = amdg.async_tdm_wait %t {{num = 0 : i32}}
      %to = amdg.update_tensor_descriptor %e add_offsets = [%i, %j] {{clamp_bounds}} : {_D}
      %u = amdg.async_tdm_copy_local_to_global %to from %m : {_M} -> {_D}
    """
    x, y = ran(of_body(body), 9, 20)
    np.testing.assert_array_equal(y[9:, 20:], x[:4, :7])
    assert (y[:9] == -1).all()
    assert (y[:, :20] == -1).all()


def test_bounds_that_are_set() -> None:
    """Offsets alone move the block and not its end; bounds are counted from the block."""
    body = COPY.replace(" pred = %p {clamp_bounds}", " set_bounds = [%c8, %p]")
    x, y = ran(of_body(body), 1, 2, 5)
    np.testing.assert_array_equal(y[:8, :5], x[1:9, 2:7])
    assert (y[:8, 5:16] == 0).all()


def test_blocks_of_3_7() -> None:
    body = f"""
      %m = ttg.local_alloc : () -> {_M}
      %t = amdg.async_tdm_copy_global_to_local %d[%i, %j] into %m, %p
        : !tt.tensordesc<tensor<8x16xf32>> -> {_M}
      %w = amdg.async_tdm_wait %t {{num = 0 : i32}}
      amdg.async_tdm_copy_local_to_global %e[%c0, %c0] from %m
        : {_M} -> !tt.tensordesc<tensor<8x16xf32>>
    """
    x, y = ran(of_body(body, "<f32>, <tensor<8x16xf32>>"), 8, 16)
    np.testing.assert_array_equal(y[:8, :16], block(x, 8, 16))


def test_rows() -> None:
    numbers = "tensor<8xi32, #index>"
    body = f"""
      %m = ttg.local_alloc : () -> {_M}
      %line = tt.make_range {{end = 8 : i32, start = 0 : i32}} : {numbers}
      %two = arith.constant dense<2> : {numbers}
      %which = arith.muli %line, %two : {numbers}
      %t = amdg.async_tdm_gather %d[%which] to %m : {numbers}, {_M} -> {_D}
      %w = amdg.async_tdm_wait %t {{num = 0 : i32}}
      %seven = arith.constant dense<7> : {numbers}
      %back = arith.subi %seven, %line : {numbers}
      %u = amdg.async_tdm_scatter %e[%back] from %m : {numbers}, {_M} -> {_D}
    """
    x, y = ran(of_body(body), 0, 0)
    taken = np.zeros((8, 16), np.float32)
    taken[:7] = x[::2, :16]
    np.testing.assert_array_equal(y[:8, :16], taken[::-1])


def test_several_blocks_at_once() -> None:
    body = f"""
      %m = ttg.local_alloc : () -> {_M}
      %n = ttg.local_alloc : () -> {_M}
      %q = amdg.update_tensor_descriptor %d add_offsets = [%i, %j] {{clamp_bounds}} : {_D}
      %r = amdg.update_tensor_descriptor %e add_offsets = [%c0, %c16] {{clamp_bounds}} : {_D}
      amdg.tdm_prefetch %d[%i, %j], %true, speculative = true : {_D}
      %t = amdg.async_tdm_fused_copy_global_to_local %d, %q into %m, %n
        {{warp_used_hints = array<i32: 3, 12>}} : {_D}, {_D} -> {_M}, {_M}
      %w = amdg.async_tdm_intrinsic_wait %t {{count = 0 : i32}}
      %u = amdg.async_tdm_copy_local_to_global %e from %m : {_M} -> {_D}
      %v = amdg.async_tdm_copy_local_to_global %r from %n : {_M} -> {_D}
    """
    x, y = ran(of_body(f"%true = arith.constant true\n{body}"), 4, 3)
    np.testing.assert_array_equal(y[:8, :16], x[:8, :16])
    np.testing.assert_array_equal(y[:8, 16:], block(x, 4, 3)[:, :11])


@pytest.mark.parametrize("left", [None, 1])
def test_copies_that_are_not_waited_for(left: int | None) -> None:
    wait = "" if left is None else f"%w = amdg.async_tdm_wait %t {{num = {left} : i32}}"
    body = COPY.replace("%w = amdg.async_tdm_wait %t {num = 0 : i32}", wait)
    x, y = np.ones((ROWS, COLUMNS), np.float32), np.ones((ROWS, COLUMNS), np.float32)
    with pytest.raises(SanitizerError, match="accesses of one program that nothing orders"):
        xtile.run(of_body(body), [x, y, 0, 0, 1], sanitize=True)


def test_memory_that_is_written_while_it_is_copied() -> None:
    body = (
        COPY.replace("%v = amdg.async_tdm_wait %u {num = 0 : i32}", "").rstrip()
        + f"""
      %ones = arith.constant dense<1.0> : tensor<8x16xf32>
      ttg.local_store %ones, %m : tensor<8x16xf32> -> {_M}
    """
    )
    x, y = np.ones((ROWS, COLUMNS), np.float32), np.ones((ROWS, COLUMNS), np.float32)
    with pytest.raises(SanitizerError, match="accesses of one program that nothing orders"):
        xtile.run(of_body(body), [x, y, 0, 0, 1], sanitize=True)


def test_barriers_are_refused() -> None:
    barrier = "!ttg.memdesc<1xi64, #row, #smem, mutable>"
    body = f"""
      %b = ttg.local_alloc : () -> {barrier}
      %m = ttg.local_alloc : () -> {_M}
      %t = amdg.async_tdm_copy_global_to_local %d into %m, barrier = %b : {_D}, {barrier} -> {_M}
    """
    row = "#row = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    text = f"{row}{_HEAD}%d = tt.make_tensor_descriptor %x, [%rows, %columns], [%stride, %one] : "
    text += f"<f32>, <8x16xf32, #shared>\n{body}\ntt.return\n}}\n}}\n"
    module = xtile.parse(text, language="ttgir")
    with pytest.raises(DiagnosticError, match=r"wait for it with amdg\.async_tdm_wait"):
        translate(module, "triton-to-core")
    x, y = np.ones((ROWS, COLUMNS), np.float32), np.ones((ROWS, COLUMNS), np.float32)
    with pytest.raises(DiagnosticError, match="arrives at a barrier cannot be executed"):
        xtile.run(module, [x, y, 0, 0, 1])


@pytest.mark.slow
def test_what_triton_makes_of_descriptors() -> None:
    """The pipelined loop for gfx1250, in which two parts of local memory take turns."""
    case = CASES["matmul_descriptors"]()
    verdict = compiled(NEWEST, case.source(), "gfx1250", "ttgir")
    assert "amdg.async_tdm_copy_global_to_local" in verdict.text
    module = xtile.parse(verdict.text, language="ttgir")
    for run in (module, translate(module, "triton-to-core")):
        arguments = case.copied_arguments()
        ones = {key for key, each in arguments.items() if type(each) is int and each == 1}
        given = [each for key, each in arguments.items() if key not in ones]
        xtile.run(run, given, case.grid, sanitize=run is module)
        case.check(arguments)


LANE = """
tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %c: i1) {
  %seven = arith.constant 7.0 : f32
  %p = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to !llvm.ptr<1>
  %q = builtin.unrealized_conversion_cast %y : !tt.ptr<f32> to !llvm.ptr<1>
  %v = amdg.masked_load %p, %c, %seven : (!llvm.ptr<1>, i1, f32) -> f32
  amdg.masked_store %q, %v, %c : !llvm.ptr<1>, f32, i1
  %one = arith.constant 1 : i32
  %r = tt.addptr %y, %one : !tt.ptr<f32>, i32
  tt.store %r, %v : !tt.ptr<f32>
  tt.return
}
"""


@pytest.mark.parametrize("condition", [False, True])
def test_accesses_of_a_lane(condition: bool) -> None:
    """Without the condition nothing is accessed: there is no memory at all then."""
    for run in (source := xtile.parse(LANE, language="ttgir"), translate(source, "triton-to-core")):
        x = np.full(1 if condition else 0, 3, np.float32)
        y = np.full(2, np.nan, np.float32)
        xtile.run(run, [x, y, condition], sanitize=True)
        np.testing.assert_array_equal(y, [3, 3] if condition else [np.nan, 7])
