"""Why verdicts on the test files of NVIDIA/cuda-tile 13.3.0 differ.

By file and number of the piece, counted from 1.
"""

REASONS: dict[tuple[str, int], str] = {}
