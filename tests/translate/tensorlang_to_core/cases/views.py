"""Views on memory."""

from __future__ import annotations

from tests.translate.tensorlang_to_core.case import Case

# ruff: noqa: E501

CASES = [
    Case(
        "size",
        """
%a = size %A[0] : index
%b = size %A[1] : index
%c = size %G[0] : index
%d = size %H[0] : index
""",
        """
%c4 = arith.constant 4 : index
%c0 = arith.constant 0 : index
%b = memref.dim %A, %c0 : memref<?x4xf32>
%c = memref.dim %G, %c0 : memref<?xmemref<4xf32>>
%c5 = arith.constant 5 : index
""",
        parameters="%A: memref<f32x4x?>, %G: group<memref<f32x4>x?>, %H: group<memref<f32x4>x5>",
    ),
    Case(
        "associated",
        """
%a = associated %A : bool
%b = associated %G : bool
""",
        """
%0 = memref.extract_aligned_pointer_as_index %A : memref<?x4xf32> -> index
%c0 = arith.constant 0 : index
%a = arith.cmpi ne, %0, %c0 : index
%1 = memref.extract_aligned_pointer_as_index %G : memref<?xmemref<4xf32>> -> index
%b = arith.cmpi ne, %1, %c0 : index
""",
        parameters="%A: memref<f32x4x?>, %G: group<memref<f32x4>x?>",
    ),
    Case(
        "subview with known numbers",
        """
%a = subview %A[2:4,3] : memref<f32x4>
%b = subview %A[0:8,0:16] : memref<f32x8x16>
""",
        """
%a = memref.subview %A[3, 2] [1, 4] [1, 1] : memref<32x8xf32> to memref<4xf32, strided<[1], offset: 26>>
%b = memref.subview %A[0, 0] [16, 8] [1, 1] : memref<32x8xf32> to memref<16x8xf32>
""",
        parameters="%A: memref<f32x8x32>",
    ),
    Case(
        "subview",
        """
%a = subview %A[%i:%n,0:%n,1] : memref<f32x?x?>
%b = subview %a[%i,0:%n] : memref<f32x?,strided<?>>
""",
        """
%a = memref.subview %A[1, 0, %i] [1, %n, %n] [1, 1, 1] : memref<4x?x?xf32, strided<[?, ?, 1]>> to memref<?x?xf32, strided<[?, 1], offset: ?>>
%b = memref.subview %a[0, %i] [%n, 1] [1, 1] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
""",
        parameters="%A: memref<f32x?x?x4>, %i: index, %n: index",
    ),
    Case(
        "subview of padding",
        """
%a = subview %A[0:48,0:9] : memref<f32x48x9>
%b = subview %a[%i:40,2] : memref<f32x40>
%c = subview %b[1:39] : memref<f32x39>
%d = subview %A[%i:48,%n] : memref<f32x48>
""",
        """
%a = memref.reinterpret_cast %A to offset: [0], sizes: [9, 48], strides: [48, 1] : memref<9x35xf32, strided<[48, 1]>> to memref<9x48xf32>
%b = memref.subview %a[2, %i] [1, 40] [1, 1] : memref<9x48xf32> to memref<40xf32, strided<[1], offset: ?>>
%c = memref.subview %b[1] [39] [1] : memref<40xf32, strided<[1], offset: ?>> to memref<39xf32, strided<[1], offset: ?>>
%c48 = arith.constant 48 : index
%0 = arith.muli %n, %c48 : index
%1 = arith.addi %0, %i : index
%d = memref.reinterpret_cast %A to offset: [%1], sizes: [48], strides: [1] : memref<9x35xf32, strided<[48, 1]>> to memref<48xf32, strided<[1], offset: ?>>
""",
        parameters="%A: memref<f32x35x9,strided<1,48>>, %i: index, %n: index",
    ),
    Case(
        "expand with known sizes",
        "%a = expand %A[1 -> 4 x 8] : memref<f32x8x4x8>",
        """
%a = memref.reinterpret_cast %A to offset: [0], sizes: [8, 4, 8], strides: [32, 8, 1] : memref<32x8xf32> to memref<8x4x8xf32>
""",
        parameters="%A: memref<f32x8x32>",
    ),
    Case(
        "expand",
        "%a = expand %A[0 -> %n x 2 x %m] : memref<f32x?x2x?x32>",
        """
%c2 = arith.constant 2 : index
%0 = arith.muli %n, %c2 : index
%1:6 = memref.extract_strided_metadata %A : memref<32x?xf32, strided<[?, 1]>> -> memref<f32>, index, index, index, index, index
%a = memref.reinterpret_cast %A to offset: [0], sizes: [32, %m, 2, %n], strides: [%1#4, %0, %n, 1] : memref<32x?xf32, strided<[?, 1]>> to memref<32x?x2x?xf32, strided<[?, ?, ?, 1]>>
""",
        parameters="%A: memref<f32x?x32>, %n: index, %m: index",
    ),
    Case(
        "fuse with known sizes",
        "%a = fuse %A[0,1] : memref<f32x32x2>",
        """
%a = memref.reinterpret_cast %A to offset: [0], sizes: [2, 32], strides: [32, 1] : memref<2x4x8xf32> to memref<2x32xf32>
""",
        parameters="%A: memref<f32x8x4x2>",
    ),
    Case(
        "fuse",
        "%a = fuse %A[1,2] : memref<f32x8x?x3>",
        """
%0:10 = memref.extract_strided_metadata %A : memref<3x?x?x8xf32, strided<[?, ?, 8, 1]>> -> memref<f32>, index, index, index, index, index, index, index, index, index
%1 = arith.muli %0#3, %0#4 : index
%a = memref.reinterpret_cast %A to offset: [0], sizes: [3, %1, 8], strides: [%0#6, 8, 1] : memref<3x?x?x8xf32, strided<[?, ?, 8, 1]>> to memref<3x?x8xf32, strided<[?, 8, 1]>>
""",
        parameters="%A: memref<f32x8x?x?x3>",
    ),
    Case(
        "fuse of a mode that may have size 1",
        "%a = fuse %A[1,2] : memref<f32x8x?,strided<1,?>>",
        """
%0:8 = memref.extract_strided_metadata %A : memref<3x?x8xf32, strided<[?, ?, 1]>> -> memref<f32>, index, index, index, index, index, index, index
%c3 = arith.constant 3 : index
%1 = arith.muli %c3, %0#3 : index
%c1 = arith.constant 1 : index
%2 = arith.cmpi eq, %0#3, %c1 : index
%3 = arith.select %2, %0#5, %0#6 : index
%a = memref.reinterpret_cast %A to offset: [0], sizes: [%1, 8], strides: [%3, 1] : memref<3x?x8xf32, strided<[?, ?, 1]>> to memref<?x8xf32, strided<[?, 1]>>
""",
        parameters="%A: memref<f32x8x?x3,strided<1,?,?>>",
    ),
    Case(
        "fuse of a view",
        """
%s = subview %A[0:8,0:%n,%i] : memref<f32x8x?>
%a = fuse %s[0,1] : memref<f32x?>
""",
        """
%s = memref.subview %A[%i, 0, 0] [1, %n, 8] [1, 1, 1] : memref<?x?x8xf32, strided<[?, 8, 1]>> to memref<?x8xf32, strided<[8, 1], offset: ?>>
%0:6 = memref.extract_strided_metadata %s : memref<?x8xf32, strided<[8, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
%c8 = arith.constant 8 : index
%1 = arith.muli %0#2, %c8 : index
%a = memref.reinterpret_cast %s to offset: [%0#1], sizes: [%1], strides: [1] : memref<?x8xf32, strided<[8, 1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
""",
        parameters="%A: memref<f32x8x?x?>, %i: index, %n: index",
    ),
    Case(
        "load of a group's memref",
        "%a = load %G[%i] : memref<f32x?x8>",
        "%a = memref.load %G[%i] : memref<?xmemref<8x?xf32, strided<[?, 1]>>>",
        parameters="%G: group<memref<f32x?x8>x?>, %i: index",
    ),
    Case(
        "load from a group with an offset",
        "%a = load %G[%i] : memref<f32x4>",
        """
%0 = memref.load %G[%i] : memref<5xmemref<4xf32>>
%a = memref.reinterpret_cast %0 to offset: [7], sizes: [4], strides: [1] : memref<4xf32> to memref<4xf32, strided<[1], offset: 7>>
""",
        parameters="%G: group<memref<f32x4>x5, offset: 7>, %i: index",
    ),
    Case(
        "load from a group with a dynamic offset",
        "%a = load %G[%i] : memref<f32x?x8>",
        """
%0 = memref.load %G[%i] : memref<?xmemref<8x?xf32, strided<[?, 1]>>>
%1:6 = memref.extract_strided_metadata %0 : memref<8x?xf32, strided<[?, 1]>> -> memref<f32>, index, index, index, index, index
%a = memref.reinterpret_cast %0 to offset: [%G_offset], sizes: [8, %1#3], strides: [%1#4, 1] : memref<8x?xf32, strided<[?, 1]>> to memref<8x?xf32, strided<[?, 1], offset: ?>>
""",
        parameters="%G: group<memref<f32x?x8>x?, offset: ?>, %i: index",
    ),
]
