"""Operations on vectors, with the types of their results and what defines their operands."""

from __future__ import annotations

NUMBERS = "\n".join(
    [
        *(f"%c{n} = arith.constant {n} : index" for n in range(9)),
        "%zero = arith.constant 0.0 : f32",
        "%one = arith.constant 1.5 : f32",
    ]
)

LOADS = """
    %a = vector.load %m[%c0] : memref<256xf32>, vector<7xf32>
    %b = vector.load %m[%c7] : memref<256xf32>, vector<7xf32>
    %p = vector.load %g[%c1, %c0, %c0] : memref<3x6x10xf32>, vector<4x6xf32>
    %q = vector.load %g[%c0, %c0, %c0] : memref<3x6x10xf32>, vector<2x3x5xf32>
    %s = memref.load %m[%c8] : memref<256xf32>
"""

RESULTS: dict[str, tuple[str, str]] = {
    # elements at positions
    "an element": ("vector.extract %a[5] : f32 from vector<7xf32>", "f32"),
    "an element of a matrix": ("vector.extract %p[3, 4] : f32 from vector<4x6xf32>", "f32"),
    "a row": ("vector.extract %p[2] : vector<6xf32> from vector<4x6xf32>", "vector<6xf32>"),
    "a matrix of several": (
        "vector.extract %q[1] : vector<3x5xf32> from vector<2x3x5xf32>",
        "vector<3x5xf32>",
    ),
    "an element somewhere": ("vector.extract %a[%n] : f32 from vector<7xf32>", "f32"),
    "an element of a row": ("vector.extract %p[2, %n] : f32 from vector<4x6xf32>", "f32"),
    "a row somewhere": (
        "vector.extract %p[%n] : vector<6xf32> from vector<4x6xf32>",
        "vector<6xf32>",
    ),
    "an element of a column": ("vector.extract %p[%n, 5] : f32 from vector<4x6xf32>", "f32"),
    "a row of several matrices": (
        "vector.extract %q[%k, %n] : vector<5xf32> from vector<2x3x5xf32>",
        "vector<5xf32>",
    ),
    "an element that is replaced": (
        "vector.insert %s, %a [4] : f32 into vector<7xf32>",
        "vector<7xf32>",
    ),
    "a row that is replaced": (
        "vector.insert %r6, %p [1] : vector<6xf32> into vector<4x6xf32>",
        "vector<4x6xf32>",
    ),
    "an element that is replaced somewhere": (
        "vector.insert %s, %a [%n] : f32 into vector<7xf32>",
        "vector<7xf32>",
    ),
    "a row that is replaced somewhere": (
        "vector.insert %r6, %p [%n] : vector<6xf32> into vector<4x6xf32>",
        "vector<4x6xf32>",
    ),
    "an element of a matrix that is replaced somewhere": (
        "vector.insert %s, %p [%n, 2] : f32 into vector<4x6xf32>",
        "vector<4x6xf32>",
    ),
    # other arrangements
    "a number everywhere": ("vector.broadcast %s : f32 to vector<19xf32>", "vector<19xf32>"),
    "a row everywhere": (
        "vector.broadcast %a : vector<7xf32> to vector<3x7xf32>",
        "vector<3x7xf32>",
    ),
    "a column everywhere": (
        "vector.broadcast %column : vector<4x1xf32> to vector<4x6xf32>",
        "vector<4x6xf32>",
    ),
    "elements": (
        "vector.from_elements %s, %one, %zero, %s, %one, %s : vector<2x3xf32>",
        "vector<2x3xf32>",
    ),
    "one element": ("vector.from_elements %s : vector<1xf32>", "vector<1xf32>"),
    "another shape": (
        "vector.shape_cast %q : vector<2x3x5xf32> to vector<6x5xf32>",
        "vector<6x5xf32>",
    ),
    "another shape whose rows are longer": (
        "vector.shape_cast %p : vector<4x6xf32> to vector<24xf32>",
        "vector<24xf32>",
    ),
    "a transposed matrix": (
        "vector.transpose %p, [1, 0] : vector<4x6xf32> to vector<6x4xf32>",
        "vector<6x4xf32>",
    ),
    "exchanged dimensions": (
        "vector.transpose %q, [2, 0, 1] : vector<2x3x5xf32> to vector<5x2x3xf32>",
        "vector<5x2x3xf32>",
    ),
    "a slice": (
        (
            "vector.extract_strided_slice %p {offsets = [1, 2], sizes = [2, 3], strides = [1, 1]} "
            ": vector<4x6xf32> to vector<2x3xf32>"
        ),
        "vector<2x3xf32>",
    ),
    "rows of a matrix": (
        (
            "vector.extract_strided_slice %p {offsets = [1], sizes = [2], strides = [1]} "
            ": vector<4x6xf32> to vector<2x6xf32>"
        ),
        "vector<2x6xf32>",
    ),
    "a slice that is replaced": (
        (
            "vector.insert_strided_slice %a, %x {offsets = [2, 3], strides = [1]} "
            ": vector<7xf32> into vector<3x12xf32>"
        ),
        "vector<3x12xf32>",
    ),
    "a shuffle": (
        "vector.shuffle %a, %b [13, 0, 6, 6, 2] : vector<7xf32>, vector<7xf32>",
        "vector<5xf32>",
    ),
    "a shuffle of rows": (
        "vector.shuffle %p, %p [7, 0, 2] : vector<4x6xf32>, vector<4x6xf32>",
        "vector<3x6xf32>",
    ),
    "a shuffle with poison": (
        "vector.shuffle %a, %b [1, -1, 8] : vector<7xf32>, vector<7xf32>",
        "vector<3xf32>",
    ),
    "two vectors in turn": (
        "vector.interleave %a, %b : vector<7xf32> -> vector<14xf32>",
        "vector<14xf32>",
    ),
    "bits of halves": (
        "arith.bitcast %bits : vector<8xi32> to vector<8xf32>",
        "vector<8xf32>",
    ),
    "bits of other numbers": (
        "vector.bitcast %w : vector<8xi64> to vector<16xf32>",
        "vector<16xf32>",
    ),
    "bits of fewer numbers": (
        "vector.bitcast %halves : vector<12xf16> to vector<6xf32>",
        "vector<6xf32>",
    ),
    # arithmetic
    "a sum": ("vector.reduction <add>, %a : vector<7xf32> into f32", "f32"),
    "a sum with a start": ("vector.reduction <add>, %a, %s : vector<7xf32> into f32", "f32"),
    "a product": ("vector.reduction <mul>, %a : vector<7xf32> into f32", "f32"),
    "the largest": ("vector.reduction <maximumf>, %a, %s : vector<7xf32> into f32", "f32"),
    "the smallest": ("vector.reduction <minnumf>, %a : vector<7xf32> into f32", "f32"),
    "sums of columns": (
        "vector.multi_reduction <add>, %p, %r6 [0] : vector<4x6xf32> to vector<6xf32>",
        "vector<6xf32>",
    ),
    "sums of rows": (
        "vector.multi_reduction <add>, %p, %r4 [1] : vector<4x6xf32> to vector<4xf32>",
        "vector<4xf32>",
    ),
    "the sum of a matrix": (
        "vector.multi_reduction <add>, %p, %s [0, 1] : vector<4x6xf32> to f32",
        "f32",
    ),
    "maxima along two dimensions": (
        "vector.multi_reduction <maxnumf>, %q, %r3 [0, 2] : vector<2x3x5xf32> to vector<3xf32>",
        "vector<3xf32>",
    ),
    "a fused sum": ("vector.fma %a, %b, %a : vector<7xf32>", "vector<7xf32>"),
    "an outer product": (
        "vector.outerproduct %r4, %r6 : vector<4xf32>, vector<6xf32>",
        "vector<4x6xf32>",
    ),
    "an outer product with a start": (
        "vector.outerproduct %r4, %r6, %p : vector<4xf32>, vector<6xf32>",
        "vector<4x6xf32>",
    ),
    "an outer product with a number": (
        "vector.outerproduct %a, %s, %b {kind = #vector.kind<maxnumf>} : vector<7xf32>, f32",
        "vector<7xf32>",
    ),
    "a matrix product": (
        (
            "vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, "
            "affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = "
            '["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %p, %t56, %t45 '
            ": vector<4x6xf32>, vector<5x6xf32> into vector<4x5xf32>"
        ),
        "vector<4x5xf32>",
    ),
    "a scalar product": (
        (
            "vector.contract {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, "
            'affine_map<(i) -> ()>], iterator_types = ["reduction"], kind = #vector.kind<add>} '
            "%a, %b, %s : vector<7xf32>, vector<7xf32> into f32"
        ),
        "f32",
    ),
    "a product that adds up one factor": (
        (
            "vector.contract {indexing_maps = [affine_map<(i, j, k, l) -> (i, k, l)>, "
            "affine_map<(i, j, k, l) -> (k, j)>, affine_map<(i, j, k, l) -> (i, j)>], "
            'iterator_types = ["parallel", "parallel", "reduction", "reduction"], '
            "kind = #vector.kind<add>} %q, %x, %t212 "
            ": vector<2x3x5xf32>, vector<3x12xf32> into vector<2x12xf32>"
        ),
        "vector<2x12xf32>",
    ),
    # accesses
    "a slice of memory": (
        (
            "vector.transfer_read %g[%c0, %n, %c2], %s {in_bounds = [true, true]} "
            ": memref<3x6x10xf32>, vector<3x7xf32>"
        ),
        "vector<3x7xf32>",
    ),
    "a slice that may be outside": (
        "vector.transfer_read %g[%k, %n, %c4], %s : memref<3x6x10xf32>, vector<6x9xf32>",
        "vector<6x9xf32>",
    ),
    "a transposed slice": (
        (
            "vector.transfer_read %g[%c1, %n, %c4], %s {in_bounds = [false, true], "
            "permutation_map = affine_map<(i, j, k) -> (k, j)>} "
            ": memref<3x6x10xf32>, vector<8x2xf32>"
        ),
        "vector<8x2xf32>",
    ),
    "a repeated slice": (
        (
            "vector.transfer_read %g[%c1, %n, %c4], %s {in_bounds = [true, true], "
            "permutation_map = affine_map<(i, j, k) -> (0, k)>} "
            ": memref<3x6x10xf32>, vector<2x5xf32>"
        ),
        "vector<2x5xf32>",
    ),
    "a masked slice": (
        (
            "vector.transfer_read %g[%c1, %n, %c4], %s, %mask26 {in_bounds = [true, false]} "
            ": memref<3x6x10xf32>, vector<2x6xf32>"
        ),
        "vector<2x6xf32>",
    ),
    "elements under a mask": (
        (
            "vector.maskedload %m[%n], %mask7, %b "
            ": memref<256xf32>, vector<7xi1>, vector<7xf32> into vector<7xf32>"
        ),
        "vector<7xf32>",
    ),
    "elements that follow each other under a mask": (
        (
            "vector.expandload %m[%n], %mask7, %b "
            ": memref<256xf32>, vector<7xi1>, vector<7xf32> into vector<7xf32>"
        ),
        "vector<7xf32>",
    ),
    "elements anywhere": (
        (
            "vector.gather %m[%n] [%where], %mask7, %b "
            ": memref<256xf32>, vector<7xi32>, vector<7xi1>, vector<7xf32> into vector<7xf32>"
        ),
        "vector<7xf32>",
    ),
    "a column of memory": (
        (
            "vector.transfer_read %columns[%n], %s {in_bounds = [true]} "
            ": memref<18xf32, strided<[10], offset: 3>>, vector<5xf32>"
        ),
        "vector<5xf32>",
    ),
    # masks
    "a sum under a mask": (
        (
            "vector.mask %mask7 { vector.reduction <add>, %a, %s : vector<7xf32> into f32 } "
            ": vector<7xi1> -> f32"
        ),
        "f32",
    ),
    "sums of columns under a mask": (
        (
            "vector.mask %mask46 { vector.multi_reduction <mul>, %p, %r6 [0] "
            ": vector<4x6xf32> to vector<6xf32> } : vector<4x6xi1> -> vector<6xf32>"
        ),
        "vector<6xf32>",
    ),
    "an outer product under a mask": (
        (
            "vector.mask %mask46 { vector.outerproduct %r4, %r6, %p "
            ": vector<4xf32>, vector<6xf32> } : vector<4x6xi1> -> vector<4x6xf32>"
        ),
        "vector<4x6xf32>",
    ),
    "a slice under a mask": (
        (
            "vector.mask %mask26, %other26 { vector.transfer_read %g[%c1, %n, %c4], %s "
            "{in_bounds = [true, true]} : memref<3x6x10xf32>, vector<2x6xf32> } "
            ": vector<2x6xi1> -> vector<2x6xf32>"
        ),
        "vector<2x6xf32>",
    ),
    "elements anywhere under a mask": (
        (
            "vector.mask %mask7 { vector.gather %m[%n] [%where], %other7, %b "
            ": memref<256xf32>, vector<7xi32>, vector<7xi1>, vector<7xf32> into vector<7xf32> } "
            ": vector<7xi1> -> vector<7xf32>"
        ),
        "vector<7xf32>",
    ),
    "a choice": ("arith.select %mask7, %a, %b : vector<7xi1>, vector<7xf32>", "vector<7xf32>"),
    "one choice for all": ("arith.select %is, %a, %b : vector<7xf32>", "vector<7xf32>"),
}
"""An operation and the type of its result; %n and %k are 0 or 1."""

NEEDS = {
    "%r6": "vector.load %m[%c8] : memref<256xf32>, vector<6xf32>",
    "%r4": "vector.load %m[%c6] : memref<256xf32>, vector<4xf32>",
    "%r3": "vector.load %m[%c6] : memref<256xf32>, vector<3xf32>",
    "%x": "vector.load %h[%c0, %c0] : memref<8x12xf32>, vector<3x12xf32>",
    "%column": "vector.load %h[%c1, %c1] : memref<8x12xf32>, vector<4x1xf32>",
    "%t56": "vector.load %h[%c1, %c1] : memref<8x12xf32>, vector<5x6xf32>",
    "%t45": "vector.load %h[%c2, %c3] : memref<8x12xf32>, vector<4x5xf32>",
    "%t212": "vector.load %h[%c3, %c0] : memref<8x12xf32>, vector<2x12xf32>",
    "%other26": "vector.load %h[%c2, %c4] : memref<8x12xf32>, vector<2x6xf32>",
    "%bits": "vector.load %i[%c0] : memref<64xi32>, vector<8xi32>",
    "%w": "vector.load %l[%c0] : memref<32xi64>, vector<8xi64>",
    "%halves": "vector.load %half[%c0] : memref<64xf16>, vector<12xf16>",
    "%mask7": "vector.create_mask %c5 : vector<7xi1>",
    "%other7": "vector.constant_mask [3] : vector<7xi1>",
    "%mask26": "vector.create_mask %c2, %c4 : vector<2x6xi1>",
    "%mask46": "vector.create_mask %c3, %c4 : vector<4x6xi1>",
    "%where": "arith.constant dense<[3, 0, 30, 7, 11, 250, 900]> : vector<7xi32>",
    "%is": "arith.cmpi eq, %n, %c0 : index",
    "%columns": (
        "memref.reinterpret_cast %g to offset: [3], sizes: [18], strides: [10] "
        ": memref<3x6x10xf32> to memref<18xf32, strided<[10], offset: 3>>"
    ),
}
"""What defines the other operands."""

PARAMETERS = (
    "%m: memref<256xf32>, %g: memref<3x6x10xf32>, %h: memref<8x12xf32>, %i: memref<64xi32>, "
    "%l: memref<32xi64>, %half: memref<64xf16>, %n: index, %k: index, %out: memref<256xf32>"
)


STORED = {
    "neighbours": "vector.store %a, %out[%n] : memref<256xf32>, vector<7xf32>",
    "a matrix": "vector.store %p, %wide[%k, %n] : memref<16x16xf32>, vector<4x6xf32>",
    "a column": (
        "vector.transfer_write %a, %column[%n] {in_bounds = [true]} "
        ": vector<7xf32>, memref<16xf32, strided<[16], offset: 3>>"
    ),
    "a slice": (
        "vector.transfer_write %p, %wide[%n, %k] {in_bounds = [true, true]} "
        ": vector<4x6xf32>, memref<16x16xf32>"
    ),
    "a slice that may be outside": (
        "vector.transfer_write %p, %wide[%c13, %c12] : vector<4x6xf32>, memref<16x16xf32>"
    ),
    "a slice at negative indices": (
        "vector.transfer_write %p, %wide[%m1, %n] {in_bounds = [false, true]} "
        ": vector<4x6xf32>, memref<16x16xf32>"
    ),
    "a transposed slice": (
        "vector.transfer_write %p, %wide[%n, %k] {in_bounds = [true, true], permutation_map = "
        "affine_map<(i, j) -> (j, i)>} : vector<4x6xf32>, memref<16x16xf32>"
    ),
    "a masked slice": (
        "vector.transfer_write %p, %wide[%n, %k], %mask46 {in_bounds = [true, true]} "
        ": vector<4x6xf32>, memref<16x16xf32>"
    ),
    "elements under a mask": (
        "vector.maskedstore %out[%n], %mask7, %a : memref<256xf32>, vector<7xi1>, vector<7xf32>"
    ),
    "elements that follow each other": (
        "vector.compressstore %out[%n], %mask7, %a : memref<256xf32>, vector<7xi1>, vector<7xf32>"
    ),
    "elements anywhere": (
        "vector.scatter %out[%n] [%where], %mask7, %a "
        ": memref<256xf32>, vector<7xi32>, vector<7xi1>, vector<7xf32>"
    ),
    "a slice under a mask": (
        "vector.mask %mask46 { vector.transfer_write %p, %wide[%n, %k] {in_bounds = [true, true]} "
        ": vector<4x6xf32>, memref<16x16xf32> } : vector<4x6xi1>"
    ),
}

STORE_NEEDS = {
    "%wide": (
        "memref.expand_shape %out [[0, 1]] output_shape [16, 16] "
        ": memref<256xf32> into memref<16x16xf32>"
    ),
    "%column": (
        "memref.reinterpret_cast %out to offset: [3], sizes: [16], strides: [16] "
        ": memref<256xf32> to memref<16xf32, strided<[16], offset: 3>>"
    ),
    "%c13": "arith.constant 13 : index",
    "%c12": "arith.constant 12 : index",
    "%m1": "arith.constant -1 : index",
    "%mask7": (
        "arith.constant dense<[true, false, true, true, false, true, false]> : vector<7xi1>"
    ),
    "%mask46": NEEDS["%mask46"],
    "%where": NEEDS["%where"],
}
