"""The `memref` dialect against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

DYNAMIC = "memref<?x?xf32, strided<[?, ?], offset: ?>>"
INDICES = "%i: index, %j: index, %k: index"

RIGHT = {
    "alloc": in_function(
        "%n: index",
        "%0 = memref.alloc() : memref<4xf32>\n"
        "%1 = memref.alloc(%n, %n) {alignment = 64 : i64, a} : memref<?x2x?xi8, 1>\n"
        "%2 = memref.alloc()[%n] : memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>\n"
        "memref.dealloc %0 : memref<4xf32>",
    ),
    "alloca": in_function(
        "%n: index",
        "%0 = memref.alloca() : memref<4xf32>\n"
        "%1 = memref.alloca(%n) {alignment = 16 : i64} : memref<?xi8>\n"
        "%2 = memref.alloca()[%n] : memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>",
    ),
    "alloca_scope": in_function(
        "%x: f32",
        "memref.alloca_scope {\n%0 = memref.alloca() : memref<4xf32>\n}\n"
        "%1:2 = memref.alloca_scope -> (f32, f32) {\n"
        "memref.alloca_scope.return %x, %x : f32, f32\n} {a}",
    ),
    "realloc": in_function(
        "%a: memref<4xf32>, %n: index",
        "%0 = memref.realloc %a : memref<4xf32> to memref<8xf32>\n"
        "%1 = memref.realloc %0(%n) {alignment = 8 : i64} : memref<8xf32> to memref<?xf32>",
    ),
    "assume_alignment": in_function(
        "%a: memref<4xf32>", "%0 = memref.assume_alignment %a, 16 {a} : memref<4xf32>"
    ),
    "distinct_objects": in_function(
        "%a: memref<4xf32>, %b: memref<8xf32>",
        "%0, %1 = memref.distinct_objects %a, %b : memref<4xf32>, memref<8xf32>",
    ),
    "load and store": in_function(
        f"%a: memref<4x8xf32>, %s: memref<f32>, {INDICES}",
        "%0 = memref.load %a[%i, %j] : memref<4x8xf32>\n"
        "%1 = memref.load %s[] {a} : memref<f32>\n"
        "%2 = memref.load %a[%i, %j] {nontemporal = true} : memref<4x8xf32>\n"
        "%3 = memref.load %a[%i, %j] {alignment = 16 : i64} : memref<4x8xf32>\n"
        "memref.store %0, %a[%i, %j] : memref<4x8xf32>\n"
        "memref.store %1, %s[] {a} : memref<f32>\n"
        "memref.store %2, %a[%i, %j] {alignment = 16 : i64, nontemporal = true} : "
        "memref<4x8xf32>",
    ),
    "load of vectors and memrefs": in_function(
        f"%a: memref<4xvector<8xf16>>, %b: memref<?xmemref<4xf32>>, {INDICES}",
        "%0 = memref.load %a[%i] : memref<4xvector<8xf16>>\n"
        "%1 = memref.load %b[%i] : memref<?xmemref<4xf32>>",
    ),
    "dim and rank": in_function(
        f"%a: memref<?x8xf32>, %u: memref<*xf32>, {INDICES}",
        "%0 = memref.dim %a, %i : memref<?x8xf32>\n"
        "%1 = memref.dim {a} %u, %i : memref<*xf32>\n"
        "%2 = memref.rank %a : memref<?x8xf32>\n"
        "%3 = memref.rank %u {a} : memref<*xf32>",
    ),
    "cast": in_function(
        "%a: memref<4x8xf32>, %u: memref<*xf32, 1>",
        "%0 = memref.cast %a : memref<4x8xf32> to memref<?x8xf32>\n"
        "%1 = memref.cast %0 {a} : memref<?x8xf32> to memref<4x?xf32>\n"
        "%2 = memref.cast %a : memref<4x8xf32> to memref<*xf32>\n"
        "%3 = memref.cast %u : memref<*xf32, 1> to memref<4x?xf32, 1>\n"
        f"%4 = memref.cast %a : memref<4x8xf32> to {DYNAMIC}\n"
        f"%5 = memref.cast %4 : {DYNAMIC} to "
        "memref<4x?xf32, strided<[8, 1], offset: 3>>",
    ),
    "memory_space_cast": in_function(
        "%a: memref<4xf32, 1>, %u: memref<*xf32, 1>",
        "%0 = memref.memory_space_cast %a : memref<4xf32, 1> to memref<4xf32>\n"
        "%1 = memref.memory_space_cast %u {a} : memref<*xf32, 1> to memref<*xf32, 3>",
    ),
    "copy": in_function(
        "%a: memref<4xf32>, %b: memref<?xf32, 1>, %u: memref<*xf32>",
        "memref.copy %a, %b : memref<4xf32> to memref<?xf32, 1>\n"
        "memref.copy %a, %u {a} : memref<4xf32> to memref<*xf32>",
    ),
    "extract_aligned_pointer_as_index": in_function(
        "%a: memref<4xf32>, %u: memref<*xf32>",
        "%0 = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index\n"
        "%1 = memref.extract_aligned_pointer_as_index %u : memref<*xf32> -> index {a}",
    ),
    "extract_strided_metadata": in_function(
        f"%a: {DYNAMIC}",
        "%0, %1, %2:2, %3:2 = memref.extract_strided_metadata %a : "
        f"{DYNAMIC} -> memref<f32>, index, index, index, index, index",
    ),
    "reinterpret_cast": in_function(
        f"%a: memref<64xf32>, %u: memref<*xf32>, {INDICES}",
        "%0 = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [8, 1] : "
        "memref<64xf32> to memref<8x8xf32>\n"
        "%1 = memref.reinterpret_cast %u to offset: [%i], sizes: [%j, 4], strides: [%k, 1] "
        "{a} : memref<*xf32> to memref<?x4xf32, strided<[?, 1], offset: ?>>\n"
        "%2 = memref.reinterpret_cast %a to offset: [5], sizes: [], strides: [] : "
        "memref<64xf32> to memref<f32, strided<[], offset: 5>>",
    ),
    "reshape": in_function(
        "%u: memref<*xf32>, %a: memref<4x4xf32>, %s: memref<2xindex>, %t: memref<?xi32>",
        "%0 = memref.reshape %u(%s) : (memref<*xf32>, memref<2xindex>) -> memref<?x?xf32>\n"
        "%1 = memref.reshape %a(%t) {a} : (memref<4x4xf32>, memref<?xi32>) -> memref<*xf32>",
    ),
    "expand_shape": in_function(
        "%a: memref<?x8xf32>, %s: memref<f32>, %n: index",
        "%0 = memref.expand_shape %a [[0, 1], [2]] output_shape [%n, 4, 8] : "
        "memref<?x8xf32> into memref<?x4x8xf32>\n"
        "%1 = memref.expand_shape %s [] output_shape [1, 1] {a} : "
        "memref<f32> into memref<1x1xf32>",
    ),
    "collapse_shape": in_function(
        "%a: memref<4x8x2xf32>, %s: memref<1x1xf32>",
        "%0 = memref.collapse_shape %a [[0, 1], [2]] {a} : "
        "memref<4x8x2xf32> into memref<32x2xf32>\n"
        "%1 = memref.collapse_shape %s [] : memref<1x1xf32> into memref<f32>",
    ),
    "subview": in_function(
        f"%a: memref<16x32xf32>, %b: {DYNAMIC}, {INDICES}",
        "%0 = memref.subview %a[0, 0] [8, 8] [1, 1] : "
        "memref<16x32xf32> to memref<8x8xf32, strided<[32, 1]>>\n"
        "%1 = memref.subview %a[%i, 4] [%j, 8] [1, %k] {a} : "
        "memref<16x32xf32> to memref<?x8xf32, strided<[32, ?], offset: ?>>\n"
        "%2 = memref.subview %a[2, 4] [1, 8] [1, 1] : "
        "memref<16x32xf32> to memref<8xf32, strided<[1], offset: 68>>\n"
        f"%3 = memref.subview %b[%i, %j] [4, 4] [2, 2] : {DYNAMIC} to "
        "memref<4x4xf32, strided<[?, ?], offset: ?>>",
    ),
    "subview in a memory space": in_function(
        "%a: memref<16xf32, #gpu.address_space<workgroup>>",
        "%0 = memref.subview %a[4] [8] [1] : memref<16xf32, #gpu.address_space<workgroup>> to "
        "memref<8xf32, strided<[1], offset: 4>, #gpu.address_space<workgroup>>",
    ),
    "layouts that are maps": in_function(
        "%a: memref<?x?xf32>, %b: memref<64xf32, affine_map<(d0)[s0] -> (d0 * 2 + s0)>>, %n: index",
        "%0 = memref.transpose %a (i, j) -> (j, i) : memref<?x?xf32> to "
        "memref<?x?xf32, affine_map<(d0, d1)[s0] -> (d1 * s0 + d0)>>\n"
        "%1 = memref.subview %b[4] [8] [%n] : memref<64xf32, affine_map<(d0)[s0] -> "
        "(d0 * 2 + s0)>> to memref<8xf32, strided<[?], offset: ?>>",
    ),
    "transpose": in_function(
        "%a: memref<4x?xf32>",
        "%0 = memref.transpose %a (d0, d1) -> (d1, d0) : "
        "memref<4x?xf32> to memref<?x4xf32, strided<[1, ?]>>\n"
        "%1 = memref.transpose %a (d0, d1) -> (d0, d1) {a} : "
        "memref<4x?xf32> to memref<4x?xf32, strided<[?, 1]>>",
    ),
    "view": in_function(
        f"%a: memref<2048xi8>, {INDICES}",
        "%0 = memref.view %a[%i][] : memref<2048xi8> to memref<16x4xf32>\n"
        "%1 = memref.view %a[%i][%j] {a} : memref<2048xi8> to memref<?x4xf32>",
    ),
    "atomic_rmw": in_function(
        f"%a: memref<4xf32>, %b: memref<4xi32>, %x: f32, %n: i32, {INDICES}",
        "%0 = memref.atomic_rmw addf %x, %a[%i] : (f32, memref<4xf32>) -> f32\n"
        "%1 = memref.atomic_rmw maxs %n, %b[%i] {a} : (i32, memref<4xi32>) -> i32",
    ),
    **{
        f"atomic_rmw {kind}": in_function(
            f"%b: memref<4x4xi32>, %n: i32, {INDICES}",
            f"%0 = memref.atomic_rmw {kind} %n, %b[%i, %j] : (i32, memref<4x4xi32>) -> i32",
        )
        for kind in ("addi", "andi", "assign", "maxu", "mins", "minu", "muli", "ori", "xori")
    },
    **{
        f"atomic_rmw {kind}": in_function(
            f"%b: memref<f16>, %x: f16, {INDICES}",
            f"%0 = memref.atomic_rmw {kind} %x, %b[] : (f16, memref<f16>) -> f16",
        )
        for kind in ("maximumf", "maxnumf", "minimumf", "minnumf", "mulf")
    },
    "generic_atomic_rmw": in_function(
        f"%a: memref<4x4xf32>, {INDICES}",
        "%0 = memref.generic_atomic_rmw %a[%i, %j] : memref<4x4xf32> {\n^bb0(%x: f32):\n"
        "%y = arith.negf %x : f32\nmemref.atomic_yield %y : f32\n} {a}",
    ),
    "prefetch": in_function(
        f"%a: memref<4x4xf32>, {INDICES}",
        "memref.prefetch %a[%i, %j], read, locality<3>, data : memref<4x4xf32>\n"
        "memref.prefetch %a[%i, %j], write, locality<0>, instr : memref<4x4xf32>",
    ),
    "global": (
        "memref.global @a : memref<4xf32>\n"
        'memref.global "private" constant @b : memref<2x2xi32> = dense<[[1, 2], [3, 4]]>\n'
        'memref.global "private" @c : memref<2xf32> = uninitialized\n'
        "memref.global constant @d : memref<4xi8> = dense<7> {alignment = 64 : i64, a}\n"
        "memref.global @e : memref<i32> = dense<7>\n"
        + in_function("", "%0 = memref.get_global @b : memref<2x2xi32> {a}")
    ),
}

WRONG = {
    "alloc without its size": (
        in_function("", "%0 = memref.alloc() : memref<?xf32>"),
        "expected 1 sizes for memref<?xf32>, got 0",
    ),
    "alloc without its symbol": (
        in_function("", "%0 = memref.alloca() : memref<4xf32, affine_map<(d0)[s0] -> (d0 + s0)>>"),
        "expected 1 symbol operands",
    ),
    "alignment that is no power of two": (
        in_function("", "%0 = memref.alloc() {alignment = 63 : i64} : memref<4xf32>"),
        "the alignment must be a power of two, got 63",
    ),
    "assume_alignment of 7": (
        in_function("%a: memref<4xf32>", "%0 = memref.assume_alignment %a, 7 : memref<4xf32>"),
        "the alignment must be a power of two, got 7",
    ),
    "load with too few indices": (
        in_function("%a: memref<4x4xf32>, %i: index", "%0 = memref.load %a[%i] : memref<4x4xf32>"),
        "expected 2 indices for memref<4x4xf32>, got 1",
    ),
    "store with too many indices": (
        in_function(
            "%a: memref<4xf32>, %i: index, %x: f32",
            "memref.store %x, %a[%i, %i] : memref<4xf32>",
        ),
        "expected 1 indices for memref<4xf32>, got 2",
    ),
    "store of another type": (
        in_function(
            "%a: memref<4xf32>, %i: index, %x: i32", "memref.store %x, %a[%i] : memref<4xf32>"
        ),
        "operand is used with type f32",
    ),
    "dim of a tensor": (
        in_function("%a: tensor<4xf32>, %i: index", "%0 = memref.dim %a, %i : tensor<4xf32>"),
        "expected a memref, got tensor<4xf32>",
    ),
    "cast to another shape": (
        in_function("%a: memref<4xf32>", "%0 = memref.cast %a : memref<4xf32> to memref<8xf32>"),
        "memref<4xf32> cannot be cast to memref<8xf32>",
    ),
    "cast to another element type": (
        in_function("%a: memref<4xf32>", "%0 = memref.cast %a : memref<4xf32> to memref<4xi32>"),
        "memref<4xf32> cannot be cast to memref<4xi32>",
    ),
    "cast to another rank": (
        in_function("%a: memref<4xf32>", "%0 = memref.cast %a : memref<4xf32> to memref<4x1xf32>"),
        "memref<4xf32> cannot be cast to memref<4x1xf32>",
    ),
    "cast to another memory space": (
        in_function("%a: memref<4xf32>", "%0 = memref.cast %a : memref<4xf32> to memref<?xf32, 1>"),
        "memref<4xf32> cannot be cast to memref<?xf32, 1",
    ),
    "cast to other strides": (
        in_function(
            "%a: memref<4x4xf32>",
            "%0 = memref.cast %a : memref<4x4xf32> to memref<4x4xf32, strided<[5, 1]>>",
        ),
        "memref<4x4xf32> cannot be cast to memref<4x4xf32, strided<[5, 1]>>",
    ),
    "memory_space_cast to another shape": (
        in_function(
            "%a: memref<4xf32, 1>",
            "%0 = memref.memory_space_cast %a : memref<4xf32, 1> to memref<8xf32>",
        ),
        "must differ in the memory space only",
    ),
    "copy of another shape": (
        in_function(
            "%a: memref<4xf32>, %b: memref<8xf32>",
            "memref.copy %a, %b : memref<4xf32> to memref<8xf32>",
        ),
        "expected compatible shapes, got memref<4xf32> and memref<8xf32>",
    ),
    "reinterpret_cast to other sizes": (
        in_function(
            "%a: memref<64xf32>",
            "%0 = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [8, 1] : "
            "memref<64xf32> to memref<8x4xf32, strided<[8, 1]>>",
        ),
        "expected a result of the sizes 8, 8, got memref<8x4xf32, strided<[8, 1]>>",
    ),
    "reinterpret_cast to another offset": (
        in_function(
            "%a: memref<64xf32>",
            "%0 = memref.reinterpret_cast %a to offset: [1], sizes: [8], strides: [1] : "
            "memref<64xf32> to memref<8xf32, strided<[1], offset: 2>>",
        ),
        "expected a result of offset 1, got memref<8xf32, strided<[1], offset: 2>>",
    ),
    "reinterpret_cast without the size that is no constant": (
        in_function(
            "%a: memref<64xf32>",
            '%0 = "memref.reinterpret_cast"(%a) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, '
            "static_offsets = array<i64: 0>, static_sizes = array<i64: -9223372036854775808>, "
            "static_strides = array<i64: 1>}> : (memref<64xf32>) -> memref<?xf32>",
        ),
        "expected 1 values for memref<?xf32>, got 0",
    ),
    "expand_shape to other sizes": (
        in_function(
            "%a: memref<8xf32>",
            "%0 = memref.expand_shape %a [[0, 1]] output_shape [2, 3] : "
            "memref<8xf32> into memref<2x3xf32>",
        ),
        "the dimensions 0, 1 of memref<2x3xf32> do not make up 8 in memref<8xf32>",
    ),
    "collapse_shape to other sizes": (
        in_function(
            "%a: memref<4x2xf32>",
            "%0 = memref.collapse_shape %a [[0, 1]] : memref<4x2xf32> into memref<6xf32>",
        ),
        "the dimensions 0, 1 of memref<4x2xf32> do not make up 6 in memref<6xf32>",
    ),
    "subview with another layout": (
        in_function(
            "%a: memref<16x32xf32>",
            "%0 = memref.subview %a[0, 0] [8, 8] [1, 1] : memref<16x32xf32> to memref<8x8xf32>",
        ),
        "expected memref<8x8xf32, strided<[32, 1]>> or one of lower rank, got memref<8x8xf32>",
    ),
    "subview with too few offsets": (
        in_function(
            "%a: memref<16x32xf32>",
            "%0 = memref.subview %a[0] [8, 8] [1, 1] : "
            "memref<16x32xf32> to memref<8x8xf32, strided<[32, 1]>>",
        ),
        "expected 2 offsets, sizes and strides, got 1, 2 and 2",
    ),
    "subview of another element type": (
        in_function(
            "%a: memref<16xf32>",
            "%0 = memref.subview %a[0] [8] [1] : memref<16xf32> to memref<8xi32, strided<[1]>>",
        ),
        "expected memref<8xf32, strided<[1]>> or one of lower rank",
    ),
    "subview that leaves its source": (
        in_function(
            "%a: memref<16xf32>",
            "%0 = memref.subview %a[12] [8] [1] : "
            "memref<16xf32> to memref<8xf32, strided<[1], offset: 12>>",
        ),
        "dimension 0 of the subview ends at 19, but the source has 16 elements there",
    ),
    "transpose that is no permutation": (
        in_function(
            "%a: memref<4x4xf32>",
            "%0 = memref.transpose %a (d0, d1) -> (d0, d0) : "
            "memref<4x4xf32> to memref<4x4xf32, strided<[4, 1]>>",
        ),
        "expected a permutation of 2 dimensions, got (d0, d1) -> (d0, d0)",
    ),
    "transpose to another type": (
        in_function(
            "%a: memref<4x8xf32>",
            "%0 = memref.transpose %a (d0, d1) -> (d1, d0) : memref<4x8xf32> to memref<8x4xf32>",
        ),
        "expected memref<8x4xf32, strided<[1, 8]>>, got memref<8x4xf32>",
    ),
    "view of floats": (
        in_function(
            "%a: memref<64xf32>, %i: index",
            "%0 = memref.view %a[%i][] : memref<64xf32> to memref<16xf32>",
        ),
        "expected a memref of i8 of rank 1, got memref<64xf32>",
    ),
    "view in another memory space": (
        in_function(
            "%a: memref<64xi8, 1>, %i: index",
            "%0 = memref.view %a[%i][] : memref<64xi8, 1> to memref<16xf32>",
        ),
        "expected equal memory spaces, got",
    ),
    "dim of a scalar": (
        in_function("%a: memref<f32>, %i: index", "%0 = memref.dim %a, %i : memref<f32>"),
        "expected a memref with dimensions, got memref<f32>",
    ),
    "global that nobody sees": (
        'memref.global "secret" @a : memref<4xf32>',
        "the visibility is one of public, private, nested, got secret",
    ),
    "view without its size": (
        in_function(
            "%a: memref<64xi8>, %i: index",
            "%0 = memref.view %a[%i][] : memref<64xi8> to memref<?xf32>",
        ),
        "expected 1 sizes for memref<?xf32>, got 0",
    ),
    "atomic_rmw of floats by integers": (
        in_function(
            "%a: memref<4xf32>, %x: f32, %i: index",
            "%0 = memref.atomic_rmw addi %x, %a[%i] : (f32, memref<4xf32>) -> f32",
        ),
        "addi is for integers, got f32",
    ),
    "atomic_rmw of integers by floats": (
        in_function(
            "%a: memref<4xi32>, %x: i32, %i: index",
            "%0 = memref.atomic_rmw addf %x, %a[%i] : (i32, memref<4xi32>) -> i32",
        ),
        "addf is for floats, got i32",
    ),
    "atomic_rmw with too few indices": (
        in_function(
            "%a: memref<4x4xi32>, %x: i32, %i: index",
            "%0 = memref.atomic_rmw addi %x, %a[%i] : (i32, memref<4x4xi32>) -> i32",
        ),
        "expected 2 indices for memref<4x4xi32>, got 1",
    ),
    "generic_atomic_rmw of another type": (
        in_function(
            "%a: memref<4xf32>, %i: index, %n: i32",
            "%0 = memref.generic_atomic_rmw %a[%i] : memref<4xf32> {\n^bb0(%x: f32):\n"
            "memref.atomic_yield %n : i32\n}",
        ),
        "expected a value of type f32, got i32",
    ),
    "prefetch with locality 4": (
        in_function(
            "%a: memref<4xf32>, %i: index",
            "memref.prefetch %a[%i], read, locality<4>, data : memref<4xf32>",
        ),
        "the locality must be from 0 to 3, got 4",
    ),
    "global of unknown size": (
        "memref.global @a : memref<?xf32>",
        "the sizes of a global must be known, got memref<?xf32>",
    ),
    "get_global of nothing": (
        in_function("", "%0 = memref.get_global @a : memref<4xf32>"),
        "'@a' does not reference a memref.global",
    ),
    "get_global of unknown size": (
        "memref.global @a : memref<4xf32>\n"
        + in_function("", "%0 = memref.get_global @a : memref<8xf32>"),
        "the type of '@a' is memref<4xf32>, got memref<8xf32>",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
