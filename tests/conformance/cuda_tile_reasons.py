"""Why verdicts on the test files of NVIDIA/cuda-tile 13.3.0 differ.

By file and number of the piece, counted from 1.
"""

REASONS: dict[tuple[str, int], str] = {
    ("arith_invalid.mlir", 189): (
        "what is missing would end the line; xtile points at what stands in its place, in the next"
    ),
}
