"""Operations of `ttg` and `amdg`, right and wrong ones, which the real Tritons judge too.

What values they use is read from their types; layouts are those of `modules.LAYOUTS`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xtile.dialects.triton.versions import (
    NEWEST,
    OLDEST,
    V3_5,
    V3_6,
    V3_7,
    V3_8,
    V3_9,
    Release,
)


@dataclass(frozen=True)
class LayoutPiece:
    """Some operations.

    Attributes:
        body: Their text.
        wrong: What xtile says of it; None if it is right.
        since: The first release that has them; of wrong ones, that sees the mistake.
        until: The last release that has them; of wrong ones, that sees the mistake.
        taken: Why Triton takes what xtile refuses on purpose.
        blocks: The blocks of a cluster.
        not_in: Releases between these two that do not.
    """

    body: str
    wrong: str | None = None
    since: Release = OLDEST
    until: Release = NEWEST
    taken: str | None = None
    blocks: int = 1
    not_in: tuple[Release, ...] = ()

    def is_seen_by(self, release: Release) -> bool:
        """Whether a release has the operations; of wrong ones, whether it sees the mistake."""
        return self.since <= release <= self.until and release not in self.not_in


_M = "!ttg.memdesc<64x64xf16, #shared, #smem, mutable>"
_FIXED = "!ttg.memdesc<64x64xf16, #shared, #smem>"
_MANY = "!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>"
_T = "tensor<64x64xf16, #blocked>"
_F, _I, _B = (f"tensor<1024x{element}, #line>" for element in ("f32", "i32", "i1"))
_BARRIER = "!ttg.memdesc<1xi64, #row, #smem, mutable>"

_MEMORY = {
    "alloc without a tensor": LayoutPiece(f"%m = ttg.local_alloc : () -> {_M}"),
    "alloc that nobody writes": LayoutPiece(
        f"%m = ttg.local_alloc : () -> {_FIXED}", "holds a tensor from the beginning"
    ),
    "alloc of other elements": LayoutPiece(
        f"%m = ttg.local_alloc %x : (tensor<64x64xf32, #blocked>) -> {_FIXED}",
        "the same shape and the same elements",
    ),
    "alloc of another shape": LayoutPiece(
        f"%m = ttg.local_alloc %x : (tensor<64x32xf16, #blocked>) -> {_FIXED}",
        "the same shape and the same elements",
    ),
    "alloc of a part": LayoutPiece(
        "%m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable, 64x64>",
        "a part of what was allocated; it must be all of it",
    ),
    "store": LayoutPiece(f"ttg.local_store %x, %m : {_T} -> {_M}"),
    "store to what is fixed": LayoutPiece(
        f"ttg.local_store %x, %m : {_T} -> {_FIXED}", "only mutable memory can"
    ),
    "store of several": LayoutPiece(
        "ttg.local_store %x, %m : tensor<2x64x64xf16, #ttg.blocked<{sizePerThread = [1, 1, 4], "
        "threadsPerWarp = [1, 4, 16], warpsPerCTA = [1, 4, 1], order = [2, 1, 0]}>> -> " + _MANY,
        "holds several tensors",
        since=V3_5,
    ),
    "load": LayoutPiece(f"%x = ttg.local_load %m : {_M} -> {_T}"),
    "load of other elements": LayoutPiece(
        f"%x = ttg.local_load %m : {_M} -> tensor<64x64xf32, #blocked>",
        "the same shape and the same elements",
    ),
    "dealloc": LayoutPiece(f"ttg.local_dealloc %m : {_M}"),
    "gather": LayoutPiece(
        f"%x = ttg.local_gather %m[%i] {{axis = 1 : i32}} : {_M}, tensor<64x32xi32, #blocked> "
        "-> tensor<64x32xf16, #blocked>",
        since=V3_7,
    ),
    "gather along nothing": LayoutPiece(
        f"%x = ttg.local_gather %m[%i] {{axis = 2 : i32}} : {_M}, tensor<64x64xi32, #blocked> "
        f"-> {_T}",
        "axis is 2",
    ),
    "gather with other layouts": LayoutPiece(
        f"%x = ttg.local_gather %m[%i] {{axis = 0 : i32}} : {_M}, tensor<64x64xi32, #blocked1> "
        f"-> {_T}",
        "must have the same layout",
    ),
    "gather by floats": LayoutPiece(
        f"%x = ttg.local_gather %m[%i] {{axis = 0 : i32}} : {_M}, {_T} -> {_T}",
        "expected a tensor of integers",
    ),
    "scatter": LayoutPiece(
        f"ttg.local_scatter %m[%i], %x {{axis = 0 : i32}} : {_M}, tensor<64x64xi32, #blocked>, "
        f"{_T}",
        since=V3_7,
    ),
    "scatter of another shape": LayoutPiece(
        f"ttg.local_scatter %m[%i], %x {{axis = 0 : i32}} : {_M}, tensor<32x64xi32, #blocked>, "
        f"{_T}",
        "must have the same shape",
    ),
    "scatter of other elements": LayoutPiece(
        f"ttg.local_scatter %m[%i], %x {{axis = 0 : i32}} : {_M}, tensor<64x64xi32, #blocked>, "
        "tensor<64x64xf32, #blocked>",
        "elements",
    ),
}

_VIEWS = {
    "index": LayoutPiece(f"%n = ttg.memdesc_index %m[%i] : {_MANY} -> {_M}"),
    "index of other elements": LayoutPiece(
        f"%n = ttg.memdesc_index %m[%i] : {_MANY} -> "
        "!ttg.memdesc<64x64xf32, #shared, #smem, mutable>",
        "elements",
    ),
    "index to another layout": LayoutPiece(
        f"%n = ttg.memdesc_index %m[%i] : {_MANY} -> "
        "!ttg.memdesc<64x64xf16, #shared1, #smem, mutable>",
        "the same layout",
        since=V3_8,
    ),
    "index to another shape": LayoutPiece(
        f"%n = ttg.memdesc_index %m[%i] : {_MANY} -> "
        "!ttg.memdesc<32x64xf16, #shared, #smem, mutable>",
        "shape",
        since=V3_5,
    ),
    "index to the same rank": LayoutPiece(
        f"%n = ttg.memdesc_index %m[%i] : {_MANY} -> {_MANY}",
        "so the result has the shape [64, 64]",
    ),
    "subslice": LayoutPiece(
        f"%n = ttg.memdesc_subslice %m[32, 0] : {_M} -> "
        "!ttg.memdesc<32x64xf16, #shared, #smem, mutable, 64x64>",
    ),
    "subslice off its tile": LayoutPiece(
        f"%n = ttg.memdesc_subslice %m[0, 16] : {_M} -> "
        "!ttg.memdesc<64x32xf16, #shared, #smem, mutable, 64x64>",
        "it is a multiple of 32 up to 32",
    ),
    "subslice beyond the end": LayoutPiece(
        f"%n = ttg.memdesc_subslice %m[64, 0] : {_M} -> "
        "!ttg.memdesc<32x64xf16, #shared, #smem, mutable, 64x64>",
        "it is a multiple of 32 up to 32",
        since=V3_8,
    ),
    "subslice that moves": LayoutPiece(
        f"%n = ttg.memdesc_subslice %m[0, 8] : {_M} -> {_M}",
        "the offset",
        since=V3_9,
    ),
    "subslice of another whole": LayoutPiece(
        f"%n = ttg.memdesc_subslice %m[32, 0] : {_M} -> "
        "!ttg.memdesc<32x64xf16, #shared, #smem, mutable>",
        "allocat",
        since=V3_9,
    ),
    "trans": LayoutPiece(
        f"%n = ttg.memdesc_trans %m {{order = array<i32: 1, 0>}} : {_M} -> "
        "!ttg.memdesc<64x64xf16, #shared1, #smem, mutable>"
    ),
    "trans to the same layout": LayoutPiece(
        f"%n = ttg.memdesc_trans %m {{order = array<i32: 1, 0>}} : {_M} -> {_M}",
        "the layout of the result must have the elements where src has them",
    ),
    "trans to another shape": LayoutPiece(
        "%n = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : "
        "!ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<64x32xf16, #shared1, #smem>",
        "in this order its shape is [32, 64]",
    ),
    "reshape": LayoutPiece(
        f"%n = ttg.memdesc_reshape %m : {_M} -> !ttg.memdesc<32x128xf16, #shared, #smem, mutable>",
        not_in=(V3_5,),
    ),
    "reshape to another layout": LayoutPiece(
        f"%n = ttg.memdesc_reshape %m : {_M} -> !ttg.memdesc<32x128xf16, #shared1, #smem, mutable>",
        "the layout of the result must have the elements where src has them",
    ),
    "reshape to fewer": LayoutPiece(
        f"%n = ttg.memdesc_reshape %m : {_M} -> !ttg.memdesc<64x32xf16, #shared, #smem, mutable>",
        "they must be as many",
    ),
    "reshape to other elements": LayoutPiece(
        f"%n = ttg.memdesc_reshape %m : {_M} -> !ttg.memdesc<64x64xbf16, #shared, #smem, mutable>",
        "the same elements",
    ),
    "reinterpret": LayoutPiece(
        f"%n = ttg.memdesc_reinterpret %m : {_M} -> "
        "!ttg.memdesc<64x32xf32, #shared1, #smem, mutable>"
    ),
    "reinterpret as fixed": LayoutPiece(
        f"%n = ttg.memdesc_reinterpret %m : {_M} -> {_FIXED}",
        "both mutable or none",
        since=V3_8,
    ),
}

_LAYOUTS = {
    "convert_layout": LayoutPiece(
        f"%y = ttg.convert_layout %x : {_T} -> tensor<64x64xf16, #blocked1>"
    ),
    "convert_layout of elements": LayoutPiece(
        f"%y = ttg.convert_layout %x : {_T} -> tensor<64x64xf32, #blocked>",
        "only the layout may be another one",
    ),
    "a layout of another rank": LayoutPiece(
        "%y = ttg.convert_layout %x : tensor<64xf16, #blocked> -> tensor<64xf16, #line>",
        "its layout is one of tensors of rank 2",
    ),
    "a layout of fewer lanes": LayoutPiece(
        "%y = ttg.convert_layout %x : tensor<64xf16, #line> -> tensor<64xf16, #ttg.blocked<{"
        "sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>>",
        "its layout is for 32, but ttg.threads-per-warp is 64",
    ),
    "a layout of more warps": LayoutPiece(
        "%y = ttg.convert_layout %x : tensor<64xf16, #line> -> tensor<64xf16, #ttg.blocked<{"
        "sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [8], order = [0]}>>",
        "its layout is for 8, but the warps here are 4",
    ),
    "a layout of one block": LayoutPiece(
        f"%y = ttg.convert_layout %x : {_T} -> tensor<64x64xf16, #blocked1>",
        "is for 1 blocks, but ttg.num-ctas is 2",
        blocks=2,
    ),
    "memory of one block": LayoutPiece(
        f"ttg.local_dealloc %m : {_M}",
        "is for 1 blocks, but ttg.num-ctas is 2",
        blocks=2,
        since=V3_7,
    ),
    "a layout of memory": LayoutPiece(
        "%y = tt.splat %x : f16 -> tensor<64x64xf16, #shared>", "is one of local memory"
    ),
    "fp4_to_fp": LayoutPiece(
        "%y = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<64x64xi8, #blocked> -> "
        "tensor<64x128xf16, #blocked2>"
    ),
    "fp4_to_fp to the same size": LayoutPiece(
        "%y = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<64x64xi8, #blocked> -> "
        "tensor<64x64xbf16, #blocked>",
        "has two floats in each element along axis 1",
    ),
    "fp4_to_fp to the same layout": LayoutPiece(
        "%y = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<64x64xi8, #blocked> -> "
        "tensor<64x128xbf16, #blocked>",
        "the first bit of the registers",
        since=V3_6,
    ),
    "fp4_to_fp to f32": LayoutPiece(
        "%y = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<64x64xi8, #blocked> -> "
        "tensor<64x128xf32, #blocked2>",
        "f16 or bf16",
    ),
}

_COPIES = {
    "async_copy": LayoutPiece(
        "%t = ttg.async_copy_global_to_local %p, %m mask %k other %x : "
        "tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem, mutable>"
    ),
    "async_copy to what is fixed": LayoutPiece(
        "%t = ttg.async_copy_global_to_local %p, %m : "
        "tensor<64x64x!tt.ptr<f16>, #blocked> -> <64x64xf16, #shared, #smem>",
        "only mutable memory can",
    ),
    "async_wait": LayoutPiece("%t = ttg.async_wait %a, %b {num = 1 : i32}"),
    "async_commit_group": LayoutPiece("%t = ttg.async_commit_group"),
    "buffer_load_to_local": LayoutPiece(
        "%t = amdg.buffer_load_to_local %p[%o] mask = %k into %m : !tt.ptr<f16>"
        "[tensor<64x64xi32, #blocked>]  -> <64x64xf16, #shared, #smem, mutable>"
    ),
    "buffer_load_to_local of others": LayoutPiece(
        "%t = amdg.buffer_load_to_local %p[%o] into %m : !tt.ptr<f32>"
        "[tensor<64x64xi32, #blocked>]  -> <64x64xf16, #shared, #smem, mutable>",
        "they must have the same elements",
    ),
}

_WARPS = {
    "barrier": LayoutPiece("ttg.barrier local"),
    "barrier of several": LayoutPiece("ttg.barrier global_read|global_write"),
    "warp_specialize": LayoutPiece(
        "%y = ttg.warp_specialize(%a, %b)\ndefault {\n  ttg.warp_yield %a : i32\n}\n"
        "partition0(%c: i32, %d: f32) num_warps(2) {\n  ttg.warp_return\n} : (i32, f32) -> i32"
    ),
    "warp_specialize of 3": LayoutPiece(
        "ttg.warp_specialize()\ndefault {\n  ttg.warp_yield\n}\n"
        "partition0() num_warps(3) {\n  ttg.warp_return\n} : () -> ()",
        "these must be powers of two",
    ),
    "warp_specialize with other types": LayoutPiece(
        "ttg.warp_specialize(%a)\ndefault {\n  ttg.warp_yield\n}\n"
        "partition0(%c: f32) num_warps(4) {\n  ttg.warp_return\n} : (i32) -> ()",
        "partition 0 has 1 arguments",
    ),
    "warp_specialize with fewer": LayoutPiece(
        "ttg.warp_specialize(%a)\ndefault {\n  ttg.warp_yield\n}\n"
        "partition0() num_warps(4) {\n  ttg.warp_return\n} : (i32) -> ()",
        "partition 0 has 0 arguments",
    ),
    "warp_yield of too few": LayoutPiece(
        "%y = ttg.warp_specialize()\ndefault {\n  ttg.warp_yield\n}\n : () -> i32",
        "0 values are given",
    ),
    "partitions with layouts": LayoutPiece(
        "ttg.warp_specialize()\ndefault {\n  ttg.warp_yield\n}\npartition0() num_warps(2) {\n"
        "  %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.blocked<{"
        "sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [2], order = [0]}>>\n"
        "  ttg.warp_return\n} : () -> ()"
    ),
    "partitions with layouts of others": LayoutPiece(
        "ttg.warp_specialize()\ndefault {\n  ttg.warp_yield\n}\npartition0() num_warps(2) {\n"
        "  %x = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #line>\n"
        "  ttg.warp_return\n} : () -> ()",
        "its layout is for 4, but the warps here are 2",
    ),
    "warp_specialize in another": LayoutPiece(
        "ttg.warp_specialize()\ndefault {\n  ttg.warp_specialize()\n  default {\n"
        "    ttg.warp_yield\n  }\n  : () -> ()\n  ttg.warp_yield\n}\n : () -> ()",
        "cannot stand in another one",
    ),
    "mask": LayoutPiece('%y = "ttg.mask"(%p) ({\n  ttg.mask.return %x : i32\n}) : (i1) -> i32'),
    "predicate_stage": LayoutPiece(
        "%q = ttg.predicate_stage %i, %n, %s maxStage 2 stage 1 : i32 -> i1"
    ),
    "init_barrier": LayoutPiece(f"amdg.init_barrier %b, 2 : {_BARRIER}", since=V3_6),
    "init_barrier for none": LayoutPiece(f"amdg.init_barrier %b, 0 : {_BARRIER}", "count is 0"),
    "init_barrier in other memory": LayoutPiece(
        "amdg.init_barrier %b, 1 : !ttg.memdesc<1xi32, #row, #smem, mutable>",
        "a barrier is one i64",
    ),
    "wait_barrier in other memory": LayoutPiece(
        "amdg.wait_barrier %b, %p : !ttg.memdesc<2xi64, #row, #smem, mutable>",
        "a barrier is one i64",
    ),
    "arrive_barrier of none": LayoutPiece(
        f"%p = amdg.arrive_barrier %b, 0 : {_BARRIER} -> i32", "count is 0"
    ),
    "cluster_barrier of one block": LayoutPiece("amdg.cluster_barrier_arrive", "ttg.num-ctas is 1"),
}

_BUFFERS = {
    "buffer_load": LayoutPiece(f"%x = amdg.buffer_load %p[%o], %k, %y : !tt.ptr<f32> -> {_F}"),
    "buffer_load of others": LayoutPiece(
        f"%x = amdg.buffer_load %p[%o] : !tt.ptr<f16> -> {_F}", "the result is"
    ),
    "buffer_store of others": LayoutPiece(
        f"amdg.buffer_store %x, %p[%o] : !tt.ptr<f16> -> {_F}", "value is"
    ),
    "buffer_load in threes": LayoutPiece(
        f"%x = amdg.buffer_load %p[%o] {{contiguity = 3 : i32}} : !tt.ptr<f32> -> {_F}",
        "contiguity is 3; it must be a power of two",
        taken="it ends with an error where it is compiled",
    ),
    "buffer_load in eights": LayoutPiece(
        f"%x = amdg.buffer_load %p[%o] {{contiguity = 8 : i32}} : !tt.ptr<f32> -> {_F}",
        "a thread holds 4 elements in a row",
        taken="it ends with an error where it is compiled",
    ),
    "a negative offset": LayoutPiece(
        f"%o = arith.constant dense<-4> : {_I}\n"
        f"%x = amdg.buffer_load %p[%o] : !tt.ptr<f32> -> {_F}",
        "an offset is -4; offsets of buffers are not negative",
        taken="it computes with another address",
    ),
    "an offset of 2 GiB": LayoutPiece(
        f"%o = arith.constant dense<536870912> : {_I}\n"
        f"%x = amdg.buffer_load %p[%o] : !tt.ptr<f32> -> {_F}",
        "a buffer has less than 2^31 bytes",
        taken="it computes with another address",
    ),
    "offsets that are not in a row": LayoutPiece(
        f"%o = arith.constant dense<0> : {_I}\n"
        f"%x = amdg.buffer_load %p[%o] {{contiguity = 4 : i32}} : !tt.ptr<f32> -> {_F}",
        "but all offsets are 0",
        taken="it loads other elements",
    ),
    "add of floats": LayoutPiece(
        f"%y = amdg.buffer_atomic_rmw add, acq_rel, gpu, %x, %p[%o] : !tt.ptr<f32> -> {_F}",
        "add is for integers, but the elements are f32",
        taken="it aborts where it is compiled",
    ),
    "an update for the system": LayoutPiece(
        f"%y = amdg.buffer_atomic_rmw fadd, acq_rel, sys, %x, %p[%o] : !tt.ptr<f32> -> {_F}",
        "scope is sys",
        taken="it ends with an error where it is compiled",
    ),
}

_REGISTERS = {
    "concat": LayoutPiece(
        "%y = amdg.concat %a, %b : tensor<16x64xf32, #blocked>, tensor<16x64xf32, #blocked> -> "
        "tensor<32x64xf32, #blocked>"
    ),
    "concat within a tile": LayoutPiece(
        "%y = amdg.concat %a, %b : tensor<8x64xf32, #blocked>, tensor<8x64xf32, #blocked> -> "
        "tensor<16x64xf32, #blocked>",
        "hold other elements of the result",
    ),
    "concat of too few": LayoutPiece(
        "%y = amdg.concat %a : tensor<16x64xf32, #blocked> -> tensor<32x64xf32, #blocked>",
        "there are 1 sources, but 2 make up the result",
    ),
    "concat to other elements": LayoutPiece(
        "%y = amdg.concat %a : tensor<16x64xf32, #blocked> -> tensor<16x64xf16, #blocked>",
        "they must have the same elements",
    ),
    "concat of two types": LayoutPiece(
        "%y = amdg.concat %a, %b : tensor<16x64xf32, #blocked>, tensor<16x64xf32, #blocked1> -> "
        "tensor<32x64xf32, #blocked>",
        "they must all have one",
    ),
    "extract_slice": LayoutPiece(
        "%y = amdg.extract_slice %x [16, 0] : tensor<32x64xf32, #blocked> to "
        "tensor<16x64xf32, #blocked>"
    ),
    "extract_slice within a tile": LayoutPiece(
        "%y = amdg.extract_slice %x [8, 0] : tensor<32x64xf32, #blocked> to "
        "tensor<16x64xf32, #blocked>",
        "it is a multiple of 16 from 0 to 16",
    ),
    "extract_slice beyond the end": LayoutPiece(
        "%y = amdg.extract_slice %x [32, 0] : tensor<32x64xf32, #blocked> to "
        "tensor<16x64xf32, #blocked>",
        "it is a multiple of 16 from 0 to 16",
    ),
    "extract_slice of other elements": LayoutPiece(
        "%y = amdg.extract_slice %x [0, 0] : tensor<32x64xf32, #blocked> to "
        "tensor<16x64xf16, #blocked>",
        "they must have the same elements",
    ),
    "extract_slice of fewer dimensions": LayoutPiece(
        "%y = amdg.extract_slice %x [0] : tensor<32x64xf32, #blocked> to "
        "tensor<16x64xf32, #blocked>",
        "they must be as many",
    ),
    "in_thread_transpose of linear": LayoutPiece(
        "%y = amdg.in_thread_transpose %x : tensor<64x128xf16, #linear> -> "
        "tensor<64x128xf16, #linear>",
        "its layout must be #ttg.blocked",
    ),
    "in_thread_transpose of nothing": LayoutPiece(
        "%y = amdg.in_thread_transpose %x : tensor<64x128xf16, #squares> -> "
        "tensor<64x128xf16, #squares>",
        "transposed in each thread they hold",
    ),
    "upcast_mxfp of blocks": LayoutPiece(
        "%y = amdg.upcast_mxfp %x, %s fp_type = e4m3 {fastMath = true} : "
        "tensor<64x64xi8, #blocked>, tensor<64x2xi8, #blocked> -> tensor<64x64xf16, #blocked>",
        "its layout must be #ttg.dot_op",
    ),
    "upcast_mxfp with too few scales": LayoutPiece(
        "%y = amdg.upcast_mxfp %x, %s fp_type = e4m3 {fastMath = true} : "
        "tensor<64x64xi8, #dot>, tensor<64x1xi8, #blocked> -> tensor<64x64xf16, #dot>",
        "it must have the shape [64, 2], one scale for 32 numbers along K",
    ),
    "upcast_mxfp to f32": LayoutPiece(
        "%y = amdg.upcast_mxfp %x, %s fp_type = e4m3 {fastMath = true} : "
        "tensor<64x64xi8, #dot>, tensor<64x2xi8, #blocked> -> tensor<64x64xf32, #dot>",
        "its elements are f16 or bf16",
        taken="it makes f16 of it",
    ),
    "scaled_upcast_fp4 of fewer scales": LayoutPiece(
        "%y = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<64x64xi8, #blocked>, "
        "tensor<64x64xbf16, #blocked2> -> tensor<64x128xbf16, #blocked2>",
        "must hold numbers of one scale",
    ),
    "scaled_upcast_fp8 of another layout": LayoutPiece(
        "%y = amdg.scaled_upcast_fp8 %x scale %s : tensor<64x64xf8E4M3FN, #blocked>, "
        "tensor<64x64xbf16, #blocked1> -> tensor<64x64xbf16, #blocked>",
        "they must have the same layout",
    ),
    "local_load_packed_transposed to blocks": LayoutPiece(
        "%x = amdg.local_load_packed_transposed %m : "
        "!ttg.memdesc<16x64xi8, #shared1, #smem, mutable> -> tensor<32x32xi8, #blocked>",
        "its layout must be #ttg.dot_op",
    ),
    "local_load_packed_transposed in rows": LayoutPiece(
        "%x = amdg.local_load_packed_transposed %m : "
        "!ttg.memdesc<16x64xi8, #shared, #smem, mutable> -> tensor<32x32xi8, #packed>",
        "its order begins with [0, 1]",
    ),
    "local_load_packed_transposed of a size": LayoutPiece(
        "%x = amdg.local_load_packed_transposed %m : "
        "!ttg.memdesc<64x16xi8, #shared1, #smem, mutable> -> tensor<32x32xi8, #packed>",
        "one size is doubled",
    ),
}

_DESCRIPTOR = "!tt.tensordesc<64x64xf16, #shared>"

_TENSOR_DATA_MOVER = {
    "update_tensor_descriptor": LayoutPiece(
        "%e = amdg.update_tensor_descriptor %d add_offsets = [%i, %j] set_bounds = [%m, %n] "
        f"pred = %p : {_DESCRIPTOR}",
        since=V3_8,
    ),
    "update_tensor_descriptor by nothing": LayoutPiece(
        f"%e = amdg.update_tensor_descriptor %d : {_DESCRIPTOR}", "nothing is updated"
    ),
    "update_tensor_descriptor by one": LayoutPiece(
        f"%e = amdg.update_tensor_descriptor %d add_offsets = [%i] : {_DESCRIPTOR}",
        "add_offsets has 1 numbers; the descriptor has 2 dimensions",
    ),
    "clamped bounds that are given": LayoutPiece(
        "%e = amdg.update_tensor_descriptor %d add_offsets = [%i, %j] set_bounds = [%m, %n] "
        f"{{clamp_bounds}} : {_DESCRIPTOR}",
        "clamp_bounds is for add_offsets without set_bounds",
    ),
    "copy with indices": LayoutPiece(
        "%t = amdg.async_tdm_copy_global_to_local %d[%i, %j] into %m, %p : "
        f"!tt.tensordesc<64x64xf16> -> {_M}",
        since=V3_7,
        until=V3_7,
    ),
    "copy with a hint": LayoutPiece(
        f"%t = amdg.async_tdm_copy_global_to_local %d into %m {{warp_used_hint = 3 : i32}} : "
        f"{_DESCRIPTOR} -> {_M}",
        since=V3_8,
    ),
    "copy of another shape": LayoutPiece(
        f"%t = amdg.async_tdm_copy_global_to_local %d into %m : {_DESCRIPTOR} -> "
        "!ttg.memdesc<64x32xf16, #shared, #smem, mutable>",
        "they must have the same shape and the same elements",
        taken="it writes beyond the memory",
    ),
    "copy of other elements": LayoutPiece(
        f"%t = amdg.async_tdm_copy_global_to_local %d into %m : {_DESCRIPTOR} -> "
        "!ttg.memdesc<64x64xf32, #shared, #smem, mutable>",
        "they must have the same shape and the same elements",
        taken="it copies bytes that are no such elements",
    ),
    "store with a barrier": LayoutPiece(
        f"%t = amdg.async_tdm_copy_local_to_global %d from %m, barrier = %b : {_M}, {_BARRIER} "
        f"-> {_DESCRIPTOR}",
        since=V3_8,
    ),
    "gather of rows": LayoutPiece(
        f"%t = amdg.async_tdm_gather %d[%r] to %m : tensor<64xi16>, {_M} -> {_DESCRIPTOR}",
        since=V3_8,
    ),
    "gather of rows of floats": LayoutPiece(
        f"%t = amdg.async_tdm_gather %d[%r] to %m : tensor<64xf32>, {_M} -> {_DESCRIPTOR}",
        "expected one dimension of i16 or i32",
    ),
    "gather of rows of three dimensions": LayoutPiece(
        "%t = amdg.async_tdm_gather %d[%r] to %m : tensor<64xi32>, "
        "!ttg.memdesc<2x64x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<2x64x64xf16>",
        "rows are of 2 dimensions",
    ),
    "scatter to rows": LayoutPiece(
        f"%t = amdg.async_tdm_scatter %d[%r] from %m : tensor<64xi32>, {_M} -> {_DESCRIPTOR}",
        since=V3_8,
    ),
    "prefetch": LayoutPiece(
        f"amdg.tdm_prefetch %d[%i, %j], %p, speculative = false : {_DESCRIPTOR}", since=V3_7
    ),
    "fused copies of the same warps": LayoutPiece(
        "%t = amdg.async_tdm_fused_copy_global_to_local %d, %e into %m, %n "
        f"{{warp_used_hints = array<i32: 3, 2>}} : {_DESCRIPTOR}, {_DESCRIPTOR} -> {_M}, {_M}",
        "each copy has warps, and no two have the same",
    ),
    "one fused copy": LayoutPiece(
        "%t = amdg.async_tdm_fused_copy_global_to_local %d into %m "
        f"{{warp_used_hints = array<i32: 3>}} : {_DESCRIPTOR} -> {_M}",
        "there are 2 to 4 of each",
    ),
    "scaled_downcast of a scale for 4": LayoutPiece(
        "%y = amdg.scaled_downcast_fp8 %x scale %s {axis = 1 : i32} : "
        "tensor<64x128xbf16, #blocked2>, tensor<64x32xi8, #scales> -> "
        "tensor<64x128xf8E4M3FN, #blocked2>",
        "stands for 8 numbers or more",
    ),
    "scaled_downcast in another layout": LayoutPiece(
        "%y = amdg.scaled_downcast_fp8 %x scale %s {axis = 1 : i32} : "
        "tensor<64x128xbf16, #blocked2>, tensor<64x4xi8, #blocked2> -> "
        "tensor<64x128xf8E4M3FN, #blocked2>",
        "images must be",
    ),
    "masked_load by a number": LayoutPiece(
        "%x = amdg.masked_load %p, %c, %y : (i64, i1, f32) -> f32", "expected !llvm.ptr"
    ),
}

LAYOUT_PIECES = {
    **_MEMORY,
    **_VIEWS,
    **_LAYOUTS,
    **_COPIES,
    **_WARPS,
    **_BUFFERS,
    **_REGISTERS,
    **_TENSOR_DATA_MOVER,
}
"""All pieces, by what they are about."""
