"""Reductions and scans with a region keep their values, and NVIDIA's assembler takes them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.test_core_reductions import ARGMAX, BRANCHES, COMPOSE, text_of, two
from tests.transforms.distribute.kernels import printed, read, run
from tests.translate.core_to_cuda_tile.entries import assemble_for_all, lowered, run_entry

IDENTITIES = "identities [0xFF800000 : f32, 2147483647 : i32]"

HALF = """%r = core.reduce %v axis 1 : vector<8x16xf16> -> vector<8xf16> {
    ^bb0(%a: f16, %b: f16):
      %s = arith.addf %b, %a : f16
      core.yield %s : f16
    }
    vector.store %r, %o[%c0] : memref<8xf16>, vector<8xf16>"""

CASES: dict[str, tuple[str, str, str]] = {
    "argmax": (two("reduce", ARGMAX, 1, "f32", "8", IDENTITIES), "f32", "8"),
    "argmax without identities": (two("reduce", ARGMAX, 0, "f32", "16"), "f32", "16"),
    "scan": (two("scan", COMPOSE, 1, "i32", "8x16"), "i32", "8x16"),
    "reverse scan": (two("scan", COMPOSE, 0, "i32", "8x16", "reverse"), "i32", "8x16"),
    "half": (HALF, "f16", "8"),
    "branches": (
        f"""%r = core.reduce %v axis 0 identities [-2147483648 : i32]
            : vector<8x16xi32> -> vector<16xi32> {{ {BRANCHES} }}
        vector.store %r, %o[%c0] : memref<16xi32>, vector<16xi32>""",
        "i32",
        "16",
    ),
    "a captured number": (
        """%three = memref.load %places[%c0, %c0] : memref<8x16xi32>
        %r = core.scan %v axis 0 : vector<8x16xi32> -> vector<8x16xi32> {
        ^bb0(%a: i32, %b: i32):
          %c = arith.maxsi %a, %b : i32
          %d = arith.maxsi %c, %three : i32
          core.yield %d : i32
        }
        vector.store %r, %o[%c0, %c0] : memref<8x16xi32>, vector<8x16xi32>""",
        "i32",
        "8x16",
    ),
}
"""What is done with %v and %n, the type of the elements of %v and of the result, and its shape."""

DTYPES = {"f16": np.float16, "f32": np.float32, "i32": np.int32}


@pytest.mark.parametrize(("body", "element", "kept"), CASES.values(), ids=CASES)
def test_values(body: str, element: str, kept: str) -> None:
    text, random = text_of(body, element, kept), fresh_generator()
    shape = tuple(map(int, kept.split("x")))
    a = random.integers(-5, 5, (8, 16)).astype(DTYPES[element])
    b = random.permutation(128).astype(np.int32).reshape(8, 16)
    # What neither of them writes differs.
    expected, made = (
        (np.full(shape, unwritten, DTYPES[element]), np.full(shape, 77, np.int32))
        for unwritten in (500, 501)
    )
    run(read(text), a, b, *expected)
    run_entry(text, lowered(text), a, b, *made)
    np.testing.assert_array_equal(made[0], expected[0])
    np.testing.assert_array_equal(made[1], expected[1])


@pytest.mark.parametrize(("body", "element", "kept"), CASES.values(), ids=CASES)
def test_assembled(body: str, element: str, kept: str) -> None:
    assemble_for_all(lowered(text_of(body, element, kept)))


def test_what_is_known_to_change_nothing_needs_no_tile_of_truth_values() -> None:
    assert "xi1>" not in printed(lowered(text_of(*CASES["half"])))
    assert "xi1>" in printed(lowered(text_of(*CASES["argmax without identities"])))
