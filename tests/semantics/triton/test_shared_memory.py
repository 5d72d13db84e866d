"""Shared memory, asynchronous copies, and buffer operations."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.triton.programs import computed
from xtile.launch import SanitizerError
from xtile.text.diagnostics import DiagnosticError

_LAYOUTS = """
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [16, 4],
  warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
"""


def _module(parameters: str, body: str) -> Any:
    text = (
        f'{_LAYOUTS}module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, '
        f'ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32}} {{\n'
        f"tt.func public @kernel({parameters}) {{\n{body}\ntt.return\n}}\n}}\n"
    )
    return xtile.parse(text, language="mlir", check=False)


_T = "tensor<16x32xf32, #blocked>"
_P = "tensor<16x32x!tt.ptr<f32>, #blocked>"

_I = "tensor<16x32xi32, #blocked>"
_ROWS = "tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked}>>"
_COLUMNS = "tensor<32xi32, #ttg.slice<{dim = 0, parent = #blocked}>>"

_ADDRESSES = f"""
%row = tt.make_range {{end = 16 : i32, start = 0 : i32}} : {_ROWS}
%column = tt.make_range {{end = 32 : i32, start = 0 : i32}} : {_COLUMNS}
%rows = tt.expand_dims %row {{axis = 1 : i32}} : {_ROWS} -> tensor<16x1xi32, #blocked>
%columns = tt.expand_dims %column {{axis = 0 : i32}} : {_COLUMNS} -> tensor<1x32xi32, #blocked>
%c32 = arith.constant dense<32> : tensor<16x1xi32, #blocked>
%scaled = arith.muli %rows, %c32 : tensor<16x1xi32, #blocked>
%a = tt.broadcast %scaled : tensor<16x1xi32, #blocked> -> {_I}
%b = tt.broadcast %columns : tensor<1x32xi32, #blocked> -> {_I}
%offsets = arith.addi %a, %b : {_I}
%xs = tt.splat %x : !tt.ptr<f32> -> {_P}
%xp = tt.addptr %xs, %offsets : {_P}, {_I}
%ys = tt.splat %y : !tt.ptr<f32> -> {_P}
%yp = tt.addptr %ys, %offsets : {_P}, {_I}
%v = tt.load %xp : {_P}
"""


def _ran(body: str, *, sanitize: bool = True) -> tuple[Any, Any]:
    """What `%x` holds and what becomes of `%y`."""
    x = fresh_generator().standard_normal((16, 32)).astype(np.float32)
    y = np.full((16, 32), np.nan, np.float32)
    module = _module("%x: !tt.ptr<f32>, %y: !tt.ptr<f32>", _ADDRESSES + body)
    xtile.run(module, [x, y], sanitize=sanitize)
    return x, y


_STORE = f"tt.store %yp, %w : {_P}"
_M = "!ttg.memdesc<16x32xf32, #shared, #smem, mutable>"


def test_alloc_store_load_dealloc() -> None:
    x, y = _ran(f"""
    %m = ttg.local_alloc : () -> {_M}
    ttg.local_store %v, %m : {_T} -> {_M}
    ttg.barrier local
    %w = ttg.local_load %m : {_M} -> {_T}
    ttg.local_dealloc %m : {_M}
    {_STORE}
    """)
    np.testing.assert_array_equal(y, x)


def test_alloc_with_a_tensor_and_views() -> None:
    """A transposed view of one of several buffers, a part, and another shape."""
    whole = "!ttg.memdesc<16x32xf32, #shared, #smem>"
    transposed = "!ttg.memdesc<32x16xf32, #shared1, #smem>"
    tensor = "tensor<32x16xf32, #blocked>"
    x, y = _ran(f"""
    %m = ttg.local_alloc %v : ({_T}) -> {whole}
    %t = ttg.memdesc_trans %m {{order = array<i32: 1, 0>}} : {whole} -> {transposed}
    %u = ttg.local_load %t : {transposed} -> {tensor}
    %r = tt.reshape %u : {tensor} -> {_T}
    %w = ttg.convert_layout %r : {_T} -> {_T}
    {_STORE}
    """)
    np.testing.assert_array_equal(y, x.T.reshape(16, 32))


def test_one_of_several_buffers() -> None:
    many = "!ttg.memdesc<2x16x32xf32, #shared, #smem, mutable>"
    one = "!ttg.memdesc<16x32xf32, #shared, #smem, mutable, 2x16x32>"
    x, y = _ran(f"""
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %m = ttg.local_alloc : () -> {many}
    %p = ttg.memdesc_index %m[%zero] : {many} -> {one}
    %q = ttg.memdesc_index %m[%one] : {many} -> {one}
    %twice = arith.addf %v, %v : {_T}
    ttg.local_store %v, %p : {_T} -> {one}
    ttg.local_store %twice, %q : {_T} -> {one}
    %a0 = ttg.local_load %p : {one} -> {_T}
    %b0 = ttg.local_load %q : {one} -> {_T}
    %w = arith.addf %a0, %b0 : {_T}
    {_STORE}
    """)
    np.testing.assert_array_equal(y, x + 2 * x)


def test_index_outside() -> None:
    many = "!ttg.memdesc<2x16x32xf32, #shared, #smem, mutable>"
    one = "!ttg.memdesc<16x32xf32, #shared, #smem, mutable, 2x16x32>"
    with pytest.raises(DiagnosticError, match="the index 2 lies outside of 2 parts"):
        _ran(
            f"""
        %two = arith.constant 2 : i32
        %m = ttg.local_alloc : () -> {many}
        %p = ttg.memdesc_index %m[%two] : {many} -> {one}
        """,
            sanitize=False,
        )


def test_what_nothing_wrote_and_what_was_given_back() -> None:
    body = f"%m = ttg.local_alloc : () -> {_M}\n%w = ttg.local_load %m : {_M} -> {_T}\n{_STORE}"
    with pytest.raises(SanitizerError, match="is read, but nothing was written to it"):
        _ran(body)
    body = f"""
    %m = ttg.local_alloc %v : ({_T}) -> {_M}
    ttg.local_dealloc %m : {_M}
    %w = ttg.local_load %m : {_M} -> {_T}
    {_STORE}
    """
    with pytest.raises(DiagnosticError, match="is accessed after its deallocation"):
        _ran(body, sanitize=False)


def _copied(wait: str) -> str:
    return f"""
    %m = ttg.local_alloc : () -> {_M}
    %n = ttg.local_alloc : () -> {_M}
    %t0 = ttg.async_copy_global_to_local %xp, %m : {_P} -> {_M}
    %g0 = ttg.async_commit_group tokens %t0
    %t1 = ttg.async_copy_global_to_local %xp, %n : {_P} -> {_M}
    %g1 = ttg.async_commit_group tokens %t1
    {wait}
    %w = ttg.local_load %m : {_M} -> {_T}
    {_STORE}
    """


def test_asynchronous_copies() -> None:
    x, y = _ran(_copied("%d = ttg.async_wait %g0 {num = 1 : i32}"))
    np.testing.assert_array_equal(y, x)
    for wait in ("", "%d = ttg.async_wait %g0 {num = 2 : i32}"):
        x, y = _ran(_copied(wait), sanitize=False)
        np.testing.assert_array_equal(y, x)
        with pytest.raises(SanitizerError, match="accesses of one program that nothing orders"):
            _ran(_copied(wait))


def test_gather_and_scatter() -> None:
    x, y = _ran(f"""
    %m = ttg.local_alloc %v : ({_T}) -> {_M}
    %fifteen = arith.constant dense<15> : {_I}
    %rb = tt.broadcast %rows : tensor<16x1xi32, #blocked> -> {_I}
    %i = arith.subi %fifteen, %rb : {_I}
    %w = ttg.local_gather %m[%i] {{axis = 0 : i32}} : {_M}, {_I} -> {_T}
    {_STORE}
    """)
    np.testing.assert_array_equal(y, x[::-1])


def test_fp4_to_fp() -> None:
    packed = fresh_generator().integers(-128, 128, (8, 16), np.int8)
    body = "%r0 = ttg.fp4_to_fp %0 {axis = 1 : i32} : tensor<8x16xi8> -> tensor<8x32xbf16>"
    (found,) = computed(body, [packed], [((8, 32), "bf16")])
    bits = packed.view(np.uint8)
    halves = np.stack([bits & 15, bits >> 4], axis=-1).reshape(8, 32)
    expected = halves.view(ml_dtypes.float4_e2m1fn).astype(np.float32)
    np.testing.assert_array_equal(found.astype(np.float32), expected)


# Buffer operations


def test_buffer_load_and_store() -> None:
    """A load without `other` gives 0 where its mask is false."""
    x, y = _ran(f"""
    %half = arith.constant dense<256> : {_I}
    %m = arith.cmpi slt, %offsets, %half : tensor<16x32xi32, #blocked>
    %u = amdg.buffer_load %x[%offsets], %m : !tt.ptr<f32> -> {_T}
    amdg.buffer_store %u, %y[%offsets] : !tt.ptr<f32> -> {_T}
    """)
    np.testing.assert_array_equal(y[:8], x[:8])
    assert (y[8:] == 0).all()


def test_buffer_offset_outside() -> None:
    for start, shown in ((-1, "-4"), (2**29, "2147483648")):
        with pytest.raises(DiagnosticError, match=f"is {shown} bytes, but a buffer operation"):
            _ran(
                f"""
                %one = arith.constant dense<1> : {_I}
                %past = arith.constant dense<{start + 1}> : {_I}
                %c = arith.subi %past, %one : {_I}
                %u = amdg.buffer_load %x[%c] : !tt.ptr<f32> -> {_T}
                """,
                sanitize=False,
            )


def test_buffer_contiguity() -> None:
    body = """
    %u = amdg.buffer_load %x[%{offsets}] {{contiguity = 4 : i32}} : !tt.ptr<f32> -> {type}
    amdg.buffer_store %u, %y[%{offsets}] : !tt.ptr<f32> -> {type}
    """
    x, y = _ran(body.format(offsets="offsets", type=_T))
    np.testing.assert_array_equal(y, x)
    with pytest.raises(SanitizerError, match="contiguity = 4 is promised, but does not hold"):
        _ran(body.format(offsets="a", type=_T))


@pytest.mark.parametrize("bounds", [(0, 6), (3, 32), (2, 3), (5, 30), (7, 7)])
def test_a_mask_may_cut_what_is_contiguous(bounds: tuple[int, int]) -> None:
    """Triton makes the access shorter by what it knows of the mask."""
    low, high = bounds
    body = f"""
    %low = arith.constant dense<{low}> : {_I}
    %high = arith.constant dense<{high}> : {_I}
    %from = arith.cmpi sge, %b, %low : {_I}
    %below = arith.cmpi slt, %b, %high : {_I}
    %k = arith.andi %from, %below : tensor<16x32xi1, #blocked>
    %u = amdg.buffer_load %x[%{{offsets}}], %k {{{{contiguity = 4 : i32}}}} : !tt.ptr<f32> -> {_T}
    amdg.buffer_store %u, %y[%offsets], %k {{{{contiguity = 4 : i32}}}} : !tt.ptr<f32> -> {_T}
    """
    x, y = _ran(body.format(offsets="offsets"))
    np.testing.assert_array_equal(y[:, low:high], x[:, low:high])
    assert np.isnan(np.delete(y, np.s_[low:high], 1)).all()
    if high - low > 4:
        with pytest.raises(SanitizerError, match="contiguity = 4 is promised, but does not hold"):
            _ran(body.format(offsets="a"))


def test_buffer_atomic_rmw() -> None:
    x, y = _ran(f"""
    %zero = arith.constant dense<0.0> : {_T}
    amdg.buffer_store %zero, %y[%offsets] : !tt.ptr<f32> -> {_T}
    %o = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %v, %y[%offsets] : !tt.ptr<f32> -> {_T}
    %p = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %v, %y[%offsets] : !tt.ptr<f32> -> {_T}
    %same = arith.cmpf oeq, %p, %v : {_T}
    tt.assert %same, "the old value" : tensor<16x32xi1, #blocked>
    """)
    np.testing.assert_array_equal(y, x + x)


def test_slices_and_concatenation() -> None:
    part = "tensor<16x16xf32, #blocked>"
    x, y = _ran(f"""
    %p = amdg.extract_slice %v [0, 0] : {_T} to {part}
    %q = amdg.extract_slice %v [0, 16] : {_T} to {part}
    %w = amdg.concat %q, %p : {part}, {part} -> {_T}
    {_STORE}
    """)
    np.testing.assert_array_equal(y, np.concatenate([x[:, 16:], x[:, :16]], axis=1))
