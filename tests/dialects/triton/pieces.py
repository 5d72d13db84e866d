"""Functions of the `tt` dialect, right and wrong ones, which the real Tritons judge too."""

from __future__ import annotations

from dataclasses import dataclass

from xtile.dialects.triton.versions import NEWEST, OLDEST, V3_5, V3_7, V3_9, Release


@dataclass(frozen=True)
class Piece:
    """A function.

    Attributes:
        arguments: Its arguments.
        body: Its operations, without the last one.
        wrong: What xtile says of it; None if it is right.
        since: The first release that has the operations; of a wrong piece, that sees the mistake.
        until: The last release that has them.
    """

    arguments: str
    body: str
    wrong: str | None = None
    since: Release = OLDEST
    until: Release = NEWEST

    @property
    def text(self) -> str:
        """The module."""
        return (
            f"module {{\n  tt.func public @f({self.arguments}) {{\n    {self.body}\n"
            "    tt.return\n  }\n}\n"
        )


P, P8 = "!tt.ptr<f32>", "tensor<8x!tt.ptr<f32>>"
F8, I8, B8 = "tensor<8xf32>", "tensor<8xi32>", "tensor<8xi1>"
_REDUCE = """"tt.reduce"(%x) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }}) : (tensor<4x8xf32>) -> {result}"""
_SCAN = """%r = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>"""
_DESC = "!tt.tensordesc<8x16xf32>"

PIECES: dict[str, Piece] = {
    # --- pointers ---
    "int_to_ptr": Piece("%x: i64", f"%r = tt.int_to_ptr %x : i64 -> {P}"),
    "ptr_to_int": Piece(f"%x: {P8}", f"%r = tt.ptr_to_int %x : {P8} -> tensor<8xi64>"),
    "bitcast": Piece(f"%x: {F8}", f"%r = tt.bitcast %x : {F8} -> {I8}"),
    "bitcast of pointers": Piece(f"%x: {P}", f"%r = tt.bitcast %x : {P} -> !tt.ptr<i8>"),
    "bitcast to other bits": Piece(
        f"%x: {F8}",
        f"%r = tt.bitcast %x : {F8} -> tensor<8xi16>",
        "f32 has 32 bits, but i16 has 16; they must be as many",
    ),
    "addptr": Piece(f"%p: {P8}, %i: {I8}", f"%r = tt.addptr %p, %i : {P8}, {I8}"),
    "addptr of a scalar": Piece(f"%p: {P}, %i: i64", f"%r = tt.addptr %p, %i : {P}, i64"),
    "addptr of another shape": Piece(
        f"%p: {P8}, %i: tensor<4xi32>",
        f"%r = tt.addptr %p, %i : {P8}, tensor<4xi32>",
        "they must have the same shape",
    ),
    # --- numbers ---
    "fp_to_fp": Piece(
        f"%x: {F8}", f"%r = tt.fp_to_fp %x, rounding = rtne : {F8} -> tensor<8xf8E5M2>"
    ),
    "fp_to_fp wider": Piece(
        "%x: tensor<8xf8E5M2>", f"%r = tt.fp_to_fp %x : tensor<8xf8E5M2> -> {F8}"
    ),
    "fp_to_fp without rounding": Piece(
        f"%x: {F8}",
        f"%r = tt.fp_to_fp %x : {F8} -> tensor<8xf8E5M2>",
        "f8E5M2 is narrower than f32; say `rounding = rtne` or `rounding = rtz`",
    ),
    "clampf": Piece(f"%x: {F8}", f"%r = tt.clampf %x, %x, %x, propagateNan = all : {F8}"),
    "clampf of what": Piece(
        f"%x: {F8}",
        f"%r = tt.clampf %x, %x, %x, propagateNan = some : {F8}",
        "'some' was found where one of these is expected: none, all",
    ),
    "precise_sqrt": Piece("%x: f32", "%r = tt.precise_sqrt %x : f32"),
    "precise_divf": Piece(f"%x: {F8}", f"%r = tt.precise_divf %x, %x : {F8}"),
    "approx_divf": Piece(f"%x: {F8}", f"%r = tt.approx_divf %x, %x : {F8}", since=V3_9),
    "mulhiui": Piece(f"%x: {I8}", f"%r = tt.mulhiui %x, %x : {I8}"),
    # --- programs ---
    "get_program_id": Piece("", "%r = tt.get_program_id y : i32"),
    "get_program_id of w": Piece("", "%r = tt.get_program_id w : i32", "is expected: x, y, z"),
    "get_num_programs": Piece("", "%r = tt.get_num_programs z : i32"),
    "make_range": Piece("", "%r = tt.make_range {end = 12 : i32, start = 4 : i32} : tensor<8xi32>"),
    "make_range of too few": Piece(
        "",
        "%r = tt.make_range {end = 8 : i32, start = 4 : i32} : tensor<8xi32>",
        "the range from 4 to 8 has 4 numbers, but the result is tensor<8xi32>",
    ),
    "make_range of nothing": Piece(
        "",
        "%r = tt.make_range {end = 4 : i32, start = 4 : i32} : tensor<8xi32>",
        "the range from 4 to 4 is empty; start must be less",
    ),
    # --- shapes ---
    "splat": Piece("%x: f32", "%r = tt.splat %x : f32 -> tensor<4x8xf32>"),
    "splat of another type": Piece(
        "%x: f32", "%r = tt.splat %x : f32 -> tensor<8xi32>", "must have the same elements"
    ),
    "unsplat": Piece("%x: tensor<1xf32>", "%r = tt.unsplat %x : tensor<1xf32>", since=V3_5),
    "unsplat of more": Piece(
        f"%x: {F8}", f"%r = tt.unsplat %x : {F8}", "src has one element, but is tensor<8xf32>"
    ),
    "expand_dims": Piece(
        f"%x: {F8}", f"%r = tt.expand_dims %x {{axis = 1 : i32}} : {F8} -> tensor<8x1xf32>"
    ),
    "expand_dims elsewhere": Piece(
        f"%x: {F8}",
        f"%r = tt.expand_dims %x {{axis = 0 : i32}} : {F8} -> tensor<8x1xf32>",
        "it must have src's shape with 1 at 0",
    ),
    "reshape": Piece(
        "%x: tensor<4x8xf32>",
        "%r = tt.reshape %x allow_reorder : tensor<4x8xf32> -> tensor<32xf32>",
    ),
    "reshape to fewer": Piece(
        "%x: tensor<4x8xf32>",
        "%r = tt.reshape %x : tensor<4x8xf32> -> tensor<16xf32>",
        "src has 32 elements, but the result 16; they must be the same",
    ),
    "broadcast": Piece(
        "%x: tensor<8x1xf32>", "%r = tt.broadcast %x : tensor<8x1xf32> -> tensor<8x4xf32>"
    ),
    "broadcast of 2": Piece(
        "%x: tensor<8x2xf32>",
        "%r = tt.broadcast %x : tensor<8x2xf32> -> tensor<8x4xf32>",
        "dimension 1 has size 2 in src, but 4 in the result; only sizes of 1 change",
    ),
    "cat": Piece(f"%x: {F8}", f"%r = tt.cat %x, %x : {F8} -> tensor<16xf32>"),
    "join": Piece(f"%x: {F8}", f"%r = tt.join %x, %x : {F8} -> tensor<8x2xf32>"),
    "split": Piece("%x: tensor<8x2xf32>", f"%r, %s = tt.split %x : tensor<8x2xf32> -> {F8}"),
    "trans": Piece(
        "%x: tensor<4x8xf32>",
        "%r = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<8x4xf32>",
    ),
    "trans to another shape": Piece(
        "%x: tensor<4x8xf32>",
        "%r = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x8xf32> -> tensor<4x8xf32>",
        "it must have src's sizes in the order [1, 0]",
    ),
    "gather": Piece(
        "%x: tensor<8x4xf32>, %i: tensor<2x4xi32>",
        "%r = tt.gather %x[%i] {axis = 0 : i32} : "
        "(tensor<8x4xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>",
    ),
    "gather along another axis": Piece(
        "%x: tensor<8x4xf32>, %i: tensor<2x4xi32>",
        "%r = tt.gather %x[%i] {axis = 1 : i32} : "
        "(tensor<8x4xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>",
        "only the sizes along axis may differ",
    ),
    "histogram": Piece(f"%x: {I8}", f"%r = tt.histogram %x : {I8} -> tensor<16xi32>"),
    "histogram with a mask": Piece(
        f"%x: {I8}, %m: {B8}", f"%r = tt.histogram %x, %m : {I8} -> tensor<16xi32>"
    ),
    "a tensor of 12": Piece(
        "%x: f32",
        "%r = tt.splat %x : f32 -> tensor<12xf32>",
        "a tensor has a power of two of elements, but tensor<12xf32> has 12",
    ),
    "the largest tensor": Piece("%x: f32", "%r = tt.splat %x : f32 -> tensor<1024x1024xf32>"),
    "a tensor that is too large": Piece(
        "%x: f32",
        "%r = tt.splat %x : f32 -> tensor<1024x2048xf32>",
        "a tensor has at most 1048576 elements, but tensor<1024x2048xf32> has 2097152",
    ),
    # --- memory ---
    "load": Piece(f"%p: {P8}, %m: {B8}, %x: {F8}", f"%r = tt.load %p, %m, %x : {P8}"),
    "load of a scalar": Piece(f"%p: {P}", f"%r = tt.load %p {{isVolatile = true}} : {P}"),
    "load of nothing": Piece(
        f"%p: {F8}", f"%r = tt.load %p : {F8}", "expected a pointer or a tensor of pointers"
    ),
    "store": Piece(f"%p: {P8}, %m: {B8}, %x: {F8}", f"tt.store %p, %x, %m : {P8}"),
    "store of a policy": Piece(
        f"%p: {P8}, %x: {F8}",
        "tt.store %p, %x {cachePolicy = #tt.cache_policy<cache_modifier = cs, "
        f"eviction_policy = evict_last>}} : {P8}",
        since=V3_9,
    ),
    # --- atomics ---
    "atomic_rmw": Piece(
        f"%p: {P8}, %m: {B8}, %x: {F8}",
        f"%r = tt.atomic_rmw fadd, acq_rel, gpu, %p, %x, %m : ({P8}, {F8}, {B8}) -> {F8}",
    ),
    "atomic_rmw of no kind": Piece(
        f"%p: {P8}, %x: {F8}",
        f"%r = tt.atomic_rmw fsub, acq_rel, gpu, %p, %x : ({P8}, {F8}) -> {F8}",
        "'fsub' was found where one of these is expected: and, or, xor, add, fadd, ",
    ),
    "atomic_cas": Piece(
        "%p: !tt.ptr<i32>, %x: i32",
        "%r = tt.atomic_cas relaxed, sys, %p, %x, %x : (!tt.ptr<i32>, i32, i32) -> i32",
    ),
    "atomic_load": Piece(
        f"%p: {P8}", f"%r = tt.atomic_load acquire, gpu, %p : ({P8}) -> {F8}", since=V3_9
    ),
    "atomic_store": Piece(
        f"%p: {P8}, %x: {F8}", f"tt.atomic_store release, gpu, %p, %x : {P8}", since=V3_9
    ),
    "atomic_poll": Piece(
        "%p: !tt.ptr<i32>, %x: i32, %t: i64",
        "%r = tt.atomic_poll acquire, gpu, %p, %x timeout %t : !tt.ptr<i32>, i32 -> i1",
        since=V3_9,
    ),
    # --- products ---
    "dot": Piece(
        "%a: tensor<16x32xf32>, %b: tensor<32x16xf32>, %c: tensor<16x16xf32>",
        "%r = tt.dot %a, %b, %c, inputPrecision = tf32 : "
        "tensor<16x32xf32> * tensor<32x16xf32> -> tensor<16x16xf32>",
    ),
    "dot of other depths": Piece(
        "%a: tensor<16x32xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>",
        "%r = tt.dot %a, %b, %c : tensor<16x32xf32> * tensor<16x16xf32> -> tensor<16x16xf32>",
        "a has 32 columns, but b has 16 rows; they must be the same",
    ),
    "dot_scaled": Piece(
        "%a: tensor<128x64xf8E4M3FN>, %s: tensor<128x2xi8>, %b: tensor<32x128xi8>, "
        "%c: tensor<128x128xf32>",
        "%r = tt.dot_scaled %a scale %s, %b scale %s, %c lhs = e4m3 rhs = e2m1 {fastMath = false} "
        ": tensor<128x64xf8E4M3FN>, tensor<128x2xi8> * tensor<32x128xi8>, tensor<128x2xi8> "
        "-> tensor<128x128xf32>",
    ),
    # --- aggregates ---
    "reduce": Piece(
        "%x: tensor<4x8xf32>", "%r = " + _REDUCE.format(axis=1, result="tensor<4xf32>")
    ),
    "reduce to another shape": Piece(
        "%x: tensor<4x8xf32>",
        "%r = " + _REDUCE.format(axis=1, result="tensor<8xf32>"),
        "its shape without dimension 1",
    ),
    "reduce along nothing": Piece(
        "%x: tensor<4x8xf32>",
        "%r = " + _REDUCE.format(axis=2, result="tensor<4xf32>"),
        "axis is 2; it must be 0 to 1",
        since=V3_7,
    ),
    "scan": Piece("%x: tensor<4x8xf32>", _SCAN),
    "map_elementwise": Piece(
        f"%x: {F8}",
        f"""%r = "tt.map_elementwise"(%x) <{{pack = 1 : i32}}> ({{
    ^bb0(%a: f32):
      %c = arith.addf %a, %a : f32
      tt.map_elementwise.return %c : f32
    }}) : ({F8}) -> {F8}""",
        since=V3_5,
    ),
    # --- others ---
    "extern_elementwise": Piece(
        f"%x: {F8}",
        '%r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, '
        f'symbol = "__nv_expf"}} : ({F8}) -> {F8}',
    ),
    "elementwise_inline_asm": Piece(
        f"%x: {I8}",
        '%r = tt.elementwise_inline_asm "shl.b32 $0, $1, 3;" {constraints = "=r,r", '
        f"packed_element = 1 : i32, pure = true}} %x : {I8} -> {I8}",
    ),
    "print": Piece(
        f"%x: {I8}", f'tt.print " x: " {{hex = false, isSigned = array<i32: 1>}} : %x : {I8}'
    ),
    "assert": Piece(f"%x: {B8}", f'tt.assert %x, "no" : {B8}'),
    # --- descriptors and blocks ---
    "make_tensor_descriptor": Piece(
        f"%p: {P}, %n: i32, %s: i64",
        f"%r = tt.make_tensor_descriptor %p, [%n, %n], [%s, %s] : {P}, {_DESC}",
    ),
    "make_tensor_descriptor of another type": Piece(
        f"%p: {P}, %n: i32, %s: i64",
        f"%r = tt.make_tensor_descriptor %p, [%n, %n], [%s, %s] : {P}, {F8}",
        "expected a type !tt.tensordesc<...>, but got tensor<8xf32>",
    ),
    "descriptor_load": Piece(
        f"%d: {_DESC}, %i: i32",
        f"%r = tt.descriptor_load %d[%i, %i] : {_DESC} -> tensor<8x16xf32>",
    ),
    "descriptor_store": Piece(
        f"%d: {_DESC}, %i: i32, %x: tensor<8x16xf32>",
        f"tt.descriptor_store %d[%i, %i], %x : {_DESC}, tensor<8x16xf32>",
    ),
    "descriptor_reduce": Piece(
        f"%d: {_DESC}, %i: i32, %x: tensor<8x16xf32>",
        f"tt.descriptor_reduce add, %d[%i, %i], %x : {_DESC}, tensor<8x16xf32>",
    ),
    "descriptor_gather": Piece(
        "%d: !tt.tensordesc<1x16xf32>, %i: tensor<32xi32>, %y: i32",
        "%r = tt.descriptor_gather %d[%i, %y] : "
        "(!tt.tensordesc<1x16xf32>, tensor<32xi32>, i32) -> tensor<32x16xf32>",
    ),
    "descriptor_scatter": Piece(
        "%d: !tt.tensordesc<1x16xf32>, %i: tensor<32xi32>, %y: i32, %x: tensor<32x16xf32>",
        "tt.descriptor_scatter %d[%i, %y], %x : "
        "!tt.tensordesc<1x16xf32>, tensor<32xi32>, i32, tensor<32x16xf32>",
    ),
    "a descriptor as it was": Piece(
        "%d: !tt.tensordesc<tensor<8x16xf32>>, %i: i32",
        "%r = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<tensor<8x16xf32>> -> tensor<8x16xf32>",
    ),
    "a block": Piece(
        f"%p: {P}, %n: i64, %i: i32",
        "%b = tt.make_tensor_ptr %p, [%n, %n], [%n, %n], [%i, %i] {order = array<i32: 1, 0>} : "
        "<tensor<8x16xf32>>\n"
        "    %q = tt.advance %b, [%i, %i] : <tensor<8x16xf32>>\n"
        "    %r = tt.load %q {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : "
        "!tt.ptr<tensor<8x16xf32>>\n"
        "    tt.store %b, %r {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<8x16xf32>>",
        until=V3_7,
    ),
    "a load as it was": Piece(
        f"%p: {P8}",
        f"%r = tt.load %p cacheModifier = cg evictionPolicy = evict_first : {P8}",
    ),
}
"""All pieces, by what they are about."""
