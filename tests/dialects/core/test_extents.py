"""What may not be asked of views whose extents are not known."""

from __future__ import annotations

import pytest

from tests.dialects.core.core_text import verified

PARAMETERS = "%p: !core.ptr<f32>, %i: index, %c: i1, %x: vector<4x8xf32>, %m: memref<?x8xf32>"

VIEW = (
    "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    "%f = arith.constant 0.0 : f32\n"
    "%v = core.view %p to offset: [0], sizes: [SIZES], strides: [8, 1]\n"
    "    : !core.ptr<f32> to memref<?x8xf32>\n"
)

READ = (
    "%r = vector.transfer_read {v}[%i, %c0], %f {{in_bounds = [{a}, {b}]}}\n"
    "    : memref<?x8xf32>, vector<4x8xf32>"
)

# Each asks for the extent of dimension 0; beside it what is right without one.
PAIRS = [
    (
        "%r = memref.dim %v, %c0 : memref<?x8xf32>",
        "%r = memref.dim %v, %c1 : memref<?x8xf32>",
        "memref.dim needs the extent of dimension 0, which is not known; give core.view its size",
    ),
    (
        "%r = memref.dim %v, %i : memref<?x8xf32>",
        "%r = memref.rank %v : memref<?x8xf32>",
        "memref.dim needs the extent of dimension 0",
    ),
    (
        READ.format(v="%v", a="false", b="true"),
        READ.format(v="%v", a="true", b="false"),
        (
            "vector.transfer_read needs the extent of dimension 0, which is not known; say that "
            "it is in_bounds there, or mask it"
        ),
    ),
    (
        (
            "vector.transfer_write %x, %v[%i, %c0] {in_bounds = [false, true]}\n"
            "    : vector<4x8xf32>, memref<?x8xf32>"
        ),
        (
            "vector.transfer_write %x, %v[%i, %c0] {in_bounds = [true, true]}\n"
            "    : vector<4x8xf32>, memref<?x8xf32>"
        ),
        "vector.transfer_write needs the extent of dimension 0",
    ),
    (
        (
            "%r = core.atomic_update addf %x, %v[%i, %c0] checked [0] : vector<4x8xf32>, "
            "memref<?x8xf32> -> vector<4x8xf32>"
        ),
        (
            "%r = core.atomic_update addf %x, %v[%i, %c0] checked [1] : vector<4x8xf32>, "
            "memref<?x8xf32> -> vector<4x8xf32>"
        ),
        "core.atomic_update needs the extent of dimension 0, which is not known; leave it out of",
    ),
    (
        "%r = memref.cast %v : memref<?x8xf32> to memref<4x8xf32>",
        "%r = memref.cast %v : memref<?x8xf32> to memref<?x?xf32>",
        "memref.cast says that dimension 0 has 4 elements, of which nothing is known",
    ),
    (
        "memref.copy %v, %m : memref<?x8xf32> to memref<?x8xf32>",
        "memref.copy %m, %m : memref<?x8xf32> to memref<?x8xf32>",
        "memref.copy needs the extent of dimension 0",
    ),
    (
        (
            "%b, %o, %s:2, %t:2 = memref.extract_strided_metadata %v : memref<?x8xf32> "
            "-> memref<f32>, index, index, index, index, index\n%r = arith.addi %s#0, %i : index"
        ),
        (
            "%b, %o, %s:2, %t:2 = memref.extract_strided_metadata %v : memref<?x8xf32> "
            "-> memref<f32>, index, index, index, index, index\n%r = arith.addi %s#1, %i : index"
        ),
        "memref.extract_strided_metadata needs the extent of dimension 0",
    ),
    (
        (
            "%w = memref.transpose %v (i, j) -> (j, i) : memref<?x8xf32> to "
            "memref<8x?xf32, strided<[1, 8]>>\n"
            "%r = memref.dim %w, %c1 : memref<8x?xf32, strided<[1, 8]>>"
        ),
        (
            "%w = memref.transpose %v (i, j) -> (j, i) : memref<?x8xf32> to "
            "memref<8x?xf32, strided<[1, 8]>>\n"
            "%r = memref.dim %w, %c0 : memref<8x?xf32, strided<[1, 8]>>"
        ),
        "memref.dim needs the extent of dimension 1",
    ),
    (
        (
            "%w = scf.for %k = %c0 to %i step %c1 iter_args(%u = %m) -> (memref<?x8xf32>) {\n"
            "%z = memref.dim %u, %c0 : memref<?x8xf32>\nscf.yield %v : memref<?x8xf32>\n}"
        ),
        (
            "%w = scf.for %k = %c0 to %i step %c1 iter_args(%u = %m) -> (memref<?x8xf32>) {\n"
            "%z = memref.dim %u, %c1 : memref<?x8xf32>\nscf.yield %v : memref<?x8xf32>\n}"
        ),
        "memref.dim needs the extent of dimension 0",
    ),
    (
        (
            "%w = scf.if %c -> (memref<?x8xf32>) {\nscf.yield %m : memref<?x8xf32>\n} else {\n"
            "scf.yield %v : memref<?x8xf32>\n}\n%r = memref.dim %w, %c0 : memref<?x8xf32>"
        ),
        (
            "%w = scf.if %c -> (memref<?x8xf32>) {\nscf.yield %m : memref<?x8xf32>\n} else {\n"
            "scf.yield %m : memref<?x8xf32>\n}\n%r = memref.dim %w, %c0 : memref<?x8xf32>"
        ),
        "memref.dim needs the extent of dimension 0",
    ),
    (
        "%w = arith.select %c, %m, %v : memref<?x8xf32>\n%r = memref.dim %w, %c0 : memref<?x8xf32>",
        "%w = arith.select %c, %m, %m : memref<?x8xf32>\n%r = memref.dim %w, %c0 : memref<?x8xf32>",
        "memref.dim needs the extent of dimension 0",
    ),
]


@pytest.mark.parametrize(("wrong", "right", "message"), PAIRS)
def test_unknown_extents(wrong: str, right: str, message: str) -> None:
    _, errors = verified(PARAMETERS, VIEW.replace("SIZES", "*, 8") + wrong)
    assert len(errors) == 1
    assert message in errors[0]
    assert verified(PARAMETERS, VIEW.replace("SIZES", "*, 8") + right)[1] == []
    assert verified(PARAMETERS, VIEW.replace("SIZES", "%i, 8") + wrong)[1] == []


def test_a_subview_has_extents_of_its_own() -> None:
    text = (
        "%w = memref.subview %v[%i, 0] [4, 8] [1, 1] : memref<?x8xf32> to "
        "memref<4x8xf32, strided<[8, 1], offset: ?>>\n"
        "%r = memref.dim %w, %c0 : memref<4x8xf32, strided<[8, 1], offset: ?>>"
    )
    assert verified(PARAMETERS, VIEW.replace("SIZES", "*, 8") + text)[1] == []
