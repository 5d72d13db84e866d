"""What the sample of `test_crossing.py` refuses, by kernel and language, with the words."""

from __future__ import annotations

THERE: dict[tuple[str, str], dict[str, str]] = {
    ("cuda_tile", "quantize_e4m3"): {
        "tensorlang": "parameter %5: the tensor language has no memory of f8E4M3FN"
    },
}
"""The ports that are refused."""

BACK: dict[tuple[str, str], dict[str, str]] = {
    ("tensorlang", "example_softmax"): {
        "triton": (
            "tt.bitcast cannot be translated: the tensor language does not take the bits of "
            "vector<16x1xf32> for vector<16x1xi32>; compute the number, or keep it in memory as "
            "what it is"
        )
    },
}
"""The ports whose way back to the kernel's own language is refused."""
