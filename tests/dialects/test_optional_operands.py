"""Operations with several optional groups of operands: their text never means something else.

Each sample has every group. From it come the operations that have any of the groups, with any
number of operands, any of the optional properties and results; those that the verifier takes are
printed and read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from itertools import product

import pytest
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    VarOperandDef,
    VarResultDef,
)
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tests.conformance.cuda_tile_functions import make_testing_context
from tests.dialects.tensorlang.round_trip import ir_text, module_from_ir
from tests.dialects.upstream_text import in_function
from xtile.dialects.registry import COMPLETED_DIALECTS
from xtile.text.diagnostics import Diagnostics
from xtile.text.extensions import form_of
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source
from xtile.universe import XTILE_UNIVERSE

SIZES = "blocks in (%n, %n, %n) threads in (%n, %n, %n)"


def in_tile_kernel(line: str) -> str:
    """A CUDA Tile IR kernel of one operation."""
    tensor = "tensor_view<?x64xf32, strides=[?,1]>"
    parameters = {
        "p": "tile<8xptr<f32>>",
        "q": "tile<8xptr<i1>>",
        "m": "tile<8xi1>",
        "x": "tile<8xf32>",
        "pi": "tile<8xptr<i32>>",
        "n": "tile<8xi32>",
        "i": "tile<i32>",
        "s": "tile<ptr<f32>>",
        "t": "token",
        "pv": f"partition_view<tile=(8x8), {tensor}>",
        "v": "tile<8x8xf32>",
    }
    names = ", ".join(f"%{name}: {type}" for name, type in parameters.items())
    return f"cuda_tile.module @m {{ testing$func @k({names}) {{ {line} return }} }}"


def in_tensorlang(line: str) -> str:
    """A kernel of the tensor language in MLIR's form, of one instruction."""
    return f"tensorlang.func @k(%A: !tensorlang.memref<?x?xf32>, %n: index, %f: f32) {{\n{line}\n}}"


def in_triton_function(arguments: str, line: str) -> str:
    """A function of Triton of one operation; `#b` is a layout, `#s` one of shared memory."""
    return (
        "#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [1], "
        "order = [0]}>\n#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, "
        'order = [0]}>\nmodule attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, '
        'ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {\n'
        f"tt.func public @k({arguments}) {{\n{line}\ntt.return\n}}\n}}\n"
    )


BUFFER = {
    "p": "!tt.ptr<f32>",
    "o": "tensor<64xi32, #b>",
    "m": "tensor<64xi1, #b>",
    "x": "tensor<64xf32, #b>",
    "s": "i32",
    "l": "!ttg.memdesc<64xf32, #s, #ttg.shared_memory, mutable>",
}


def in_descriptor_function(line: str) -> str:
    """A function of Triton of one operation on a descriptor."""
    memory = "#s, #ttg.shared_memory, mutable>"
    return in_triton_function(
        f"%d: !tt.tensordesc<64xf32>, %l: !ttg.memdesc<64xf32, {memory}, "
        f"%b: !ttg.memdesc<1xi64, {memory}, %s: i32",
        line,
    )


def in_buffer_function(line: str) -> str:
    """A function of Triton of one operation on a buffer."""
    arguments = ", ".join(f"%{name}: {type}" for name, type in BUFFER.items())
    return in_triton_function(arguments, line)


SAMPLES = {
    "affine.for": in_function(
        "%n: index, %f: f32",
        "%r = affine.for %i = max affine_map<(d0)[s0] -> (d0, s0)>(%n)[%n] to "
        "min affine_map<(d0)[s0] -> (d0, s0)>(%n)[%n] iter_args(%x = %f) -> (f32) "
        "{ affine.yield %x : f32 }",
    ),
    "amdg.async_tdm_copy_global_to_local": in_descriptor_function(
        "%t = amdg.async_tdm_copy_global_to_local %d[%s] into %l, %s, barrier = %b : "
        "!tt.tensordesc<64xf32>, !ttg.memdesc<1xi64, #s, #ttg.shared_memory, mutable> -> "
        "!ttg.memdesc<64xf32, #s, #ttg.shared_memory, mutable>"
    ),
    "amdg.async_tdm_copy_local_to_global": in_descriptor_function(
        "%t = amdg.async_tdm_copy_local_to_global %d[%s] from %l, barrier = %b : "
        "!ttg.memdesc<64xf32, #s, #ttg.shared_memory, mutable>, "
        "!ttg.memdesc<1xi64, #s, #ttg.shared_memory, mutable> -> !tt.tensordesc<64xf32>"
    ),
    "amdg.async_tdm_fused_copy_global_to_local": in_descriptor_function(
        "%t = amdg.async_tdm_fused_copy_global_to_local %d, %d into %l, %l "
        "{warp_used_hints = array<i32: 1, 2>} : !tt.tensordesc<64xf32>, !tt.tensordesc<64xf32> -> "
        "!ttg.memdesc<64xf32, #s, #ttg.shared_memory, mutable>, "
        "!ttg.memdesc<64xf32, #s, #ttg.shared_memory, mutable>"
    ),
    "amdg.update_tensor_descriptor": in_descriptor_function(
        "%e = amdg.update_tensor_descriptor %d add_offsets = [%s] set_bounds = [%s] pred = %s : "
        "!tt.tensordesc<64xf32>"
    ),
    "amdg.buffer_atomic_rmw": in_buffer_function(
        "%r = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %x, %p[%o], %m stride = %s : "
        "!tt.ptr<f32> -> tensor<64xf32, #b>"
    ),
    "amdg.buffer_load": in_buffer_function(
        "%r = amdg.buffer_load %p[%o], %m, %x stride = %s : !tt.ptr<f32> -> tensor<64xf32, #b>"
    ),
    "amdg.buffer_load of i1": in_triton_function(
        "%p: !tt.ptr<i1>, %o: tensor<64xi32, #b>, %m: tensor<64xi1, #b>, %s: i32",
        "%r = amdg.buffer_load %p[%o], %m, %m stride = %s : !tt.ptr<i1> -> tensor<64xi1, #b>",
    ),
    "amdg.buffer_load_to_local": in_buffer_function(
        "%r = amdg.buffer_load_to_local %p[%o] mask = %m other = %x stride = %s into %l : "
        "!tt.ptr<f32>[tensor<64xi32, #b>] tensor<64xf32, #b> -> "
        "!ttg.memdesc<64xf32, #s, #ttg.shared_memory, mutable>"
    ),
    "amdg.buffer_store": in_buffer_function(
        "amdg.buffer_store %x, %p[%o], %m stride = %s : !tt.ptr<f32> -> tensor<64xf32, #b>"
    ),
    "cf.cond_br": in_function(
        "%c: i1, %f: f32",
        "cf.cond_br %c weights([1, 2]), ^a(%f : f32), ^b(%f : f32)\n"
        "^a(%x: f32): func.return\n^b(%y: f32):",
    ),
    "cf.switch": in_function(
        "%n: i32, %f: f32",
        "cf.switch %n : i32, [default: ^a(%f : f32), 4: ^b(%f : f32)]\n"
        "^a(%x: f32): func.return\n^b(%y: f32):",
    ),
    "core.atomic_compare_and_swap": in_function(
        "%m: memref<?x?xi32>, %n: index, %v: vector<8xi32>, %k: vector<8xi1>",
        "%r = core.atomic_compare_and_swap acq_rel device %v, %v, %m[%n, %v], %k : vector<8xi32>, "
        "memref<?x?xi32>[index, vector<8xi32>], vector<8xi1>",
    ),
    "core.atomic_rmw": in_function(
        "%m: memref<?x?xi32>, %n: index, %v: vector<8xi32>, %k: vector<8xi1>",
        "%r = core.atomic_rmw addi relaxed block %v, %m[%n, %v], %k : vector<8xi32>, "
        "memref<?x?xi32>[index, vector<8xi32>], vector<8xi1>",
    ),
    "core.gather_load": in_function(
        "%m: memref<?x?xi32>, %n: index, %v: vector<8xi32>, %k: vector<8xi1>",
        "%r = core.gather_load %m[%n, %v], %k, %v : memref<?x?xi32>[index, vector<8xi32>], "
        "vector<8xi1>, vector<8xi32> -> vector<8xi32>",
    ),
    "core.scatter_store": in_function(
        "%m: memref<?x?xi32>, %n: index, %v: vector<8xi32>, %k: vector<8xi1>",
        "core.scatter_store %v, %m[%n, %v], %k : vector<8xi32>, "
        "memref<?x?xi32>[index, vector<8xi32>], vector<8xi1>",
    ),
    "core.scaled_contract": in_function(
        "%a: vector<4x64xf8E5M2>, %b: vector<64x4xf8E5M2>, %c: vector<4x4xf32>, "
        "%s: vector<4x2xf8E8M0FNU>, %t: vector<2x4xf8E8M0FNU>",
        "%d = core.scaled_contract %a, %b, %c lhs_scale %s rhs_scale %t fast : "
        "vector<4x64xf8E5M2>, vector<64x4xf8E5M2>, vector<4x4xf32> lhs_scale "
        "vector<4x2xf8E8M0FNU> rhs_scale vector<2x4xf8E8M0FNU> -> vector<4x4xf32>",
    ),
    "core.view": in_function(
        "%p: !core.ptr<f32>, %n: index",
        "%m = core.view %p to offset: [%n], sizes: [%n, *, 8], strides: [%n, %n, 1] : "
        "!core.ptr<f32> to memref<?x?x8xf32, strided<[?, ?, 1], offset: ?>>",
    ),
    "cuda_tile.atomic_cas_tko": in_tile_kernel(
        "%r, %u = atomic_cas_tko relaxed device %pi, %n, %n, %m token=%t : tile<8xptr<i32>>, "
        "tile<8xi32>, tile<8xi1> -> tile<8xi32>, token"
    ),
    "cuda_tile.atomic_red_view_tko": in_tile_kernel(
        "%u = atomic_red_view_tko relaxed device %pv[%i, %i], addf, %v token = %t inbounds = "
        "[true, false] : tile<8x8xf32>, partition_view<tile=(8x8), tensor_view<?x64xf32, "
        "strides=[?,1]>>, tile<i32> -> token"
    ),
    "cuda_tile.atomic_rmw_tko": in_tile_kernel(
        "%r, %u = atomic_rmw_tko relaxed device %pi, and, %n, %m token=%t : tile<8xptr<i32>>, "
        "tile<8xi32>, tile<8xi1> -> tile<8xi32>, token"
    ),
    "cuda_tile.load_ptr_tko": in_tile_kernel(
        "%r, %u = load_ptr_tko weak %p, %m, %x token=%t optimization_hints = <default = "
        "{latency = 3}> : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token"
    ),
    "cuda_tile.load_ptr_tko of i1": in_tile_kernel(
        "%r, %u = load_ptr_tko relaxed device %q, %m, %m token=%t : tile<8xptr<i1>>, tile<8xi1>, "
        "tile<8xi1> -> tile<8xi1>, token"
    ),
    "cuda_tile.load_view_tko": in_tile_kernel(
        "%r, %u = load_view_tko weak %pv[%i, %i] token = %t optimization_hints = <default = "
        "{latency = 3}> inbounds = [true, false] : partition_view<tile=(8x8), "
        "tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> tile<8x8xf32>, token"
    ),
    "cuda_tile.make_tensor_view": in_tile_kernel(
        "%r = make_tensor_view %s, shape = [%i, 64], strides = [%i, 1] : tile<i32> -> "
        "tensor_view<?x64xf32, strides=[?,1]>"
    ),
    "cuda_tile.make_tensor_view with a dynamic stride": in_tile_kernel(
        "%r = make_tensor_view %s, shape = [8, 64], strides = [%i, 1] : tile<i32> -> "
        "tensor_view<8x64xf32, strides=[?,1]>"
    ),
    "cuda_tile.make_tensor_view with a dynamic size": in_tile_kernel(
        "%r = make_tensor_view %s, shape = [%i, 64], strides = [64, 1] : tile<i32> -> "
        "tensor_view<?x64xf32, strides=[64,1]>"
    ),
    "cuda_tile.print_tko": in_tile_kernel(
        '%u = print_tko "%f", %x token=%t : tile<8xf32> -> token'
    ),
    "cuda_tile.print_tko of nothing": in_tile_kernel('%u = print_tko "a" token=%t -> token'),
    "cuda_tile.store_ptr_tko": in_tile_kernel(
        "%u = store_ptr_tko weak %p, %x, %m token=%t optimization_hints = <default = "
        "{latency = 3}> : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token"
    ),
    "cuda_tile.store_ptr_tko of i1": in_tile_kernel(
        "%u = store_ptr_tko weak %q, %m, %m token=%t : tile<8xptr<i1>>, tile<8xi1>, tile<8xi1> "
        "-> token"
    ),
    "cuda_tile.store_view_tko": in_tile_kernel(
        "%u = store_view_tko weak %v, %pv[%i, %i] token = %t optimization_hints = <default = "
        "{latency = 3}> inbounds = [true, false] : tile<8x8xf32>, partition_view<tile=(8x8), "
        "tensor_view<?x64xf32, strides=[?,1]>>, tile<i32> -> token"
    ),
    "gpu.alloc": in_function(
        "%n: index",
        "%t = gpu.wait async\n%m, %u = gpu.alloc async [%t] host_shared (%n)[%n] : "
        "memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>",
    ),
    "gpu.launch": in_function(
        "%n: index, %s: i32",
        "%t = gpu.wait async\n%u = gpu.launch async [%t] "
        "clusters(%cx, %cy, %cz) in (%kx = %n, %ky = %n, %kz = %n) "
        "blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) "
        "threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) "
        "dynamic_shared_memory_size %s { gpu.terminator }",
    ),
    "gpu.launch without clusters": in_function(
        "%n: index, %s: i32",
        "%t = gpu.wait async\n%u = gpu.launch async [%t] "
        "blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) "
        "threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) "
        "dynamic_shared_memory_size %s { gpu.terminator }",
    ),
    "gpu.launch_func": "module attributes {gpu.container_module} {\n"
    "gpu.module @m { gpu.func @k(%a: f32) kernel { gpu.return } }\n"
    + in_function(
        "%n: index, %s: i32, %f: f32, %q: !llvm.ptr",
        "%t = gpu.wait async\n%u = gpu.launch_func async [%t] <%q : !llvm.ptr> @m::@k "
        "clusters in (%n, %n, %n) " + SIZES + " dynamic_shared_memory_size %s args(%f : f32)",
    )
    + "}",
    "llvm.call": "llvm.func @g(f32) -> f32\n"
    + in_function(
        "%f: f32",
        '%r = "llvm.call"(%f, %f) <{callee = @g, fastmathFlags = #llvm.fastmath<none>, CConv = '
        "#llvm.cconv<ccc>, TailCallKind = #llvm.tailcallkind<none>, op_bundle_sizes = "
        "array<i32: 1>, operandSegmentSizes = array<i32: 1, 1>}> : (f32, f32) -> f32",
    ),
    "llvm.call_intrinsic": in_function(
        "%f: f32",
        '%r = "llvm.call_intrinsic"(%f, %f) <{intrin = "llvm.g", fastmathFlags = '
        "#llvm.fastmath<none>, op_bundle_sizes = array<i32: 1>, operandSegmentSizes = "
        "array<i32: 1, 1>}> : (f32, f32) -> f32",
    ),
    "llvm.cond_br": in_function(
        "%c: i1, %f: f32",
        "llvm.cond_br %c, ^a(%f : f32), ^b(%f : f32)\n^a(%x: f32): func.return\n^b(%y: f32):",
    ),
    "memref.alloc": in_function(
        "%n: index",
        "%m = memref.alloc(%n)[%n] {alignment = 8 : i64} : "
        "memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>",
    ),
    "memref.alloca": in_function(
        "%n: index",
        "%m = memref.alloca(%n)[%n] {alignment = 8 : i64} : "
        "memref<?xf32, affine_map<(d0)[s0] -> (d0 + s0)>>",
    ),
    "memref.reinterpret_cast": in_function(
        "%m: memref<?xf32>, %n: index",
        "%r = memref.reinterpret_cast %m to offset: [%n], sizes: [%n, 4], strides: [4, %n] : "
        "memref<?xf32> to memref<?x4xf32, strided<[4, ?], offset: ?>>",
    ),
    "memref.reinterpret_cast with a dynamic stride": in_function(
        "%m: memref<?xf32>, %n: index",
        "%r = memref.reinterpret_cast %m to offset: [0], sizes: [8, 4], strides: [4, %n] : "
        "memref<?xf32> to memref<8x4xf32, strided<[4, ?]>>",
    ),
    "memref.reinterpret_cast with a dynamic size": in_function(
        "%m: memref<?xf32>, %n: index",
        "%r = memref.reinterpret_cast %m to offset: [0], sizes: [%n, 4], strides: [4, 1] : "
        "memref<?xf32> to memref<?x4xf32, strided<[4, 1]>>",
    ),
    "memref.subview": in_function(
        "%m: memref<?x?xf32>, %n: index",
        "%r = memref.subview %m[%n, 0] [4, %n] [%n, 1] : "
        "memref<?x?xf32> to memref<4x?xf32, strided<[?, 1], offset: ?>>",
    ),
    "memref.subview with a dynamic stride": in_function(
        "%m: memref<?x?xf32>, %n: index",
        "%r = memref.subview %m[0, 0] [4, 8] [%n, 1] : "
        "memref<?x?xf32> to memref<4x8xf32, strided<[?, 1]>>",
    ),
    "memref.subview with a dynamic offset": in_function(
        "%m: memref<?x?xf32>, %n: index",
        "%r = memref.subview %m[%n, 0] [4, 8] [1, 1] : "
        "memref<?x?xf32> to memref<4x8xf32, strided<[?, 1], offset: ?>>",
    ),
    "memref.subview with a dynamic size": in_function(
        "%m: memref<?x?xf32>, %n: index",
        "%r = memref.subview %m[0, 0] [4, %n] [1, 1] : "
        "memref<?x?xf32> to memref<4x?xf32, strided<[?, 1]>>",
    ),
    "scf.parallel": in_function(
        "%n: index, %f: f32",
        "%r = scf.parallel (%i) = (%n) to (%n) step (%n) init (%f) -> f32 { scf.reduce(%f : f32) "
        "{ ^bb0(%a: f32, %b: f32): scf.reduce.return %a : f32 } }",
    ),
    "scf.parallel that returns nothing": in_function(
        "%n: index, %f: f32", "scf.parallel (%i) = (%n) to (%n) step (%n) { }"
    ),
    "tensorlang.for": in_tensorlang(
        "%r = tensorlang.for %i=%n,%n,%n init(%x=%f) -> (f32) { tensorlang.yield (%x) }"
    ),
    "tensorlang.for that returns nothing": in_tensorlang("tensorlang.for %i=%n,%n,%n { }"),
    "tensorlang.foreach": in_tensorlang("tensorlang.foreach (%i,%j)=(%n,%n),(%n,%n) { }"),
    "tensorlang.foreach_tile": in_tensorlang(
        "tensorlang.foreach_tile (%i,%j)=(%n,%n),(%n,%n) as (%s,%t)<=(8,8) { }"
    ),
    "tensorlang.subview": in_tensorlang(
        "%B = tensorlang.subview %A[%n:4,3:%n] : !tensorlang.memref<4x?xf32, strided<1, ?>>"
    ),
    "tensorlang.subview with a dynamic size": in_tensorlang(
        "%B = tensorlang.subview %A[1:4,3:%n] : !tensorlang.memref<4x?xf32, strided<1, ?>>"
    ),
    "tensorlang.subview with a dynamic offset": in_tensorlang(
        "%B = tensorlang.subview %A[%n:4,3:8] : !tensorlang.memref<4x8xf32, strided<1, ?>>"
    ),
    "tt.dot_scaled": in_triton_function(
        "%a: tensor<128x64xf8E4M3FN>, %s: tensor<128x2xi8>, %b: tensor<64x128xf8E5M2>, "
        "%c: tensor<128x128xf32>",
        "%r = tt.dot_scaled %a scale %s, %b scale %s, %c lhs = e4m3 rhs = e5m2 {fastMath = false} "
        ": tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<64x128xf8E5M2>, tensor<128x2xi8> "
        "-> tensor<128x128xf32>",
    ),
    "tt.load": in_triton_function(
        "%p: tensor<8x!tt.ptr<f32>>, %m: tensor<8xi1>, %x: tensor<8xf32>",
        "%r = tt.load %p, %m, %x : tensor<8x!tt.ptr<f32>>",
    ),
    "tt.load of i1": in_triton_function(
        "%p: tensor<8x!tt.ptr<i1>>, %m: tensor<8xi1>",
        "%r = tt.load %p, %m, %m : tensor<8x!tt.ptr<i1>>",
    ),
    "tt.make_tensor_descriptor": in_triton_function(
        "%p: !tt.ptr<f32>, %n: i32, %s: i64",
        "%r = tt.make_tensor_descriptor %p, [%n, %n], [%s, %s] : !tt.ptr<f32>, "
        "!tt.tensordesc<8x16xf32>",
    ),
    "tt.make_tensor_ptr": in_triton_function(
        "%p: !tt.ptr<f32>, %n: i64, %i: i32",
        "%r = tt.make_tensor_ptr %p, [%n, %n], [%n, %n], [%i, %i] {order = array<i32: 1, 0>} : "
        "<tensor<8x16xf32>>",
    ),
    "ttg.async_copy_global_to_local": in_triton_function(
        "%p: tensor<64x!tt.ptr<f32>, #b>, %m: tensor<64xi1, #b>, %x: tensor<64xf32, #b>, "
        "%l: !ttg.memdesc<64xf32, #s, #ttg.shared_memory, mutable>",
        "%r = ttg.async_copy_global_to_local %p, %l mask %m other %x : "
        "tensor<64x!tt.ptr<f32>, #b> -> <64xf32, #s, #ttg.shared_memory, mutable>",
    ),
    "vector.transfer_read": in_function(
        "%m: memref<?x?xf32>, %n: index, %f: f32, %k: vector<8xi1>",
        "%r = vector.transfer_read %m[%n, %n], %f, %k : memref<?x?xf32>, vector<8xf32>",
    ),
    "vector.transfer_write": in_function(
        "%t: tensor<?x?xf32>, %n: index, %v: vector<8xf32>, %k: vector<8xi1>",
        "%r = vector.transfer_write %v, %t[%n, %n], %k : vector<8xf32>, tensor<?x?xf32>",
    ),
    "vector.transfer_read of i1": in_function(
        "%m: memref<?xi1>, %n: index, %f: i1, %k: vector<8xi1>",
        "%r = vector.transfer_read %m[%n], %f, %k : memref<?xi1>, vector<8xi1>",
    ),
    "xegpu.create_nd_tdesc": in_function(
        "%p: i64, %n: index",
        "%r = xegpu.create_nd_tdesc %p[4, %n], shape : [%n, %n], strides : [%n, 1] : i64 -> "
        "!xegpu.tensor_desc<12x20xi8>",
    ),
    "xegpu.create_nd_tdesc of a memref": in_function(
        "%p: memref<?x?xi8>, %n: index",
        "%r = xegpu.create_nd_tdesc %p[4, %n], shape : [%n, %n], strides : [%n, 1] : "
        "memref<?x?xi8> -> !xegpu.tensor_desc<12x20xi8>",
    ),
    "xegpu.create_nd_tdesc of fewer dynamic numbers": in_function(
        "%p: i64, %n: index",
        "%r = xegpu.create_nd_tdesc %p[4, 8], shape : [%n, 40], strides : [64, 1] : i64 -> "
        "!xegpu.tensor_desc<12x20xi8>",
    ),
}
"""Texts with one operation that has all its groups, by its name and what is special about it."""


def _operations() -> Iterator[type[IRDLOperation]]:
    """The operations with a text of their own and more than one optional group of operands.

    Those of `linalg` are left out: their text names both groups, `ins(..)` and `outs(..)`.
    """
    dialects = {**XTILE_UNIVERSE.all_dialects, **COMPLETED_DIALECTS}
    for load in dialects.values():
        for operation in load().operations:
            if (
                issubclass(operation, IRDLOperation)
                and operation.dialect_name() != "linalg"
                and form_of(operation).print is not None
                and len(_optional_operands(operation)) > 1
            ):
                yield operation


def _optional_operands(operation: type[IRDLOperation]) -> list[str]:
    operands = operation.get_irdl_definition().operands
    return [name for name, kind in operands if isinstance(kind, (OptOperandDef, VarOperandDef))]


@pytest.mark.slow
def test_there_is_a_sample_of_each_operation() -> None:
    sampled = {name.partition(" ")[0] for name in SAMPLES}
    assert sampled == {operation.name for operation in _operations()}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_text_keeps_which_operands_an_operation_has(name: str) -> None:
    checked = 0
    for module in _variants(name):
        text = _printed(module)
        again = _read(text)
        assert module.is_structurally_equivalent(again), text
        assert _printed(again) == text
        kind = name.partition(" ")[0]
        operation = _find(module, kind)
        if form_of(type(operation)).is_ambiguous(operation):
            assert f'"{kind}"' in text
            if not type(operation).__module__.startswith("xdsl."):
                with pytest.raises(ValueError, match="only the generic form can say"):
                    Printer(StringIO()).print_op(module)
        else:
            assert f'"{kind}"' not in text
        checked += 1
    assert checked


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.startswith("tensorlang.")])
def test_the_tensor_language_keeps_it_in_its_own_text(name: str) -> None:
    for module in _variants(name):
        text = ir_text(module)
        assert module.is_structurally_equivalent(module_from_ir(text)), text


def _variants(name: str) -> Iterator[ModuleOp]:
    """The sample's module with each set of operands, properties and results that is right."""
    kind = name.partition(" ")[0]
    sample = _find(_read(SAMPLES[name]), kind)
    definition = sample.get_irdl_definition()
    counts = [
        range(len(values) + 1) if isinstance(operand, (OptOperandDef, VarOperandDef)) else (1,)
        for values, (_, operand) in zip(_groups(sample), definition.operands, strict=True)
    ]
    optional = [
        property
        for property, kind in definition.properties.items()
        if isinstance(kind, OptPropertyDef) and property in sample.properties
    ]
    has_results = [
        isinstance(result, (OptResultDef, VarResultDef)) for _, result in definition.results
    ]
    choices = [
        *counts,
        *[(False, True)] * len(optional),
        (False, True) if any(has_results) else (True,),
    ]
    for choice in product(*choices):
        module = _read(SAMPLES[name])
        flags = choice[len(counts) :]
        dropped = {name for name, is_kept in zip(optional, flags, strict=False) if not is_kept}
        _replace(_find(module, kind), choice[: len(counts)], dropped, has_results=bool(flags[-1]))
        try:
            module.verify()
        except VerifyException:
            continue
        yield module


def _replace(
    operation: IRDLOperation, counts: Sequence[int], dropped: set[str], *, has_results: bool
) -> None:
    """Replaces an operation by one with the first operands of each group, and fewer properties."""
    properties = {n: v for n, v in operation.properties.items() if n not in dropped}
    attributes = dict(operation.attributes)
    where = properties if "operandSegmentSizes" in properties else attributes
    if "operandSegmentSizes" in where:
        where["operandSegmentSizes"] = DenseArrayBase.from_list(i32, list(counts))
    kept = [values[:count] for values, count in zip(_groups(operation), counts, strict=True)]
    block = operation.parent
    assert block is not None
    block.insert_op_before(
        type(operation).create(
            operands=[value for values in kept for value in values],
            result_types=operation.result_types if has_results else [],
            properties=properties,
            attributes=attributes,
            successors=operation.successors,
            regions=[operation.detach_region(region) for region in list(operation.regions)],
        ),
        operation,
    )
    operation.detach()
    operation.erase()


def _printed(module: ModuleOp, *, generic: bool = False) -> str:
    stream = StringIO()
    print_mlir(module, stream, generic=generic)
    return stream.getvalue()


def _read(text: str) -> ModuleOp:
    diagnostics = Diagnostics()
    module = read_mlir(
        Source("sample.mlir", text), diagnostics, make_testing_context(is_lenient=False)
    )
    assert module is not None, diagnostics.render() + text
    return module


def _find(module: ModuleOp, name: str) -> IRDLOperation:
    (found,) = (each for each in module.walk() if each.name == name)
    assert isinstance(found, IRDLOperation)
    return found


def _groups(operation: IRDLOperation) -> list[Sequence[SSAValue]]:
    """The operands of an operation as it defines them; those that it always has, too."""
    operands = operation.get_irdl_definition().operands
    values = [getattr(operation, name) for name, _ in operands]
    return [() if v is None else (v,) if isinstance(v, SSAValue) else tuple(v) for v in values]
