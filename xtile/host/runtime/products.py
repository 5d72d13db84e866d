"""Products of matrices on the host, as references for kernels.

Source: IMEX, `ExecutionEngine/ImexRunnerUtils.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from xtile.host.memory import writable
from xtile.host.runtime.function import Context, RuntimeFunction, unranked
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import View


def _gemm(rounded_to: type) -> Callable[[Context, View, View, View], None]:
    """C + A B with products and sums in f32, rounded once to a type and held as f32."""

    def run(context: Context, a: View, b: View, c: View) -> None:
        left, right, result = a.array(), b.array(), writable(c)
        shapes = left.shape, right.shape, result.shape
        if any(len(shape) != 2 for shape in shapes):
            raise UnlocatedError(f"expected three matrices, got memrefs of the shapes {shapes}")
        if (left.shape[0], right.shape[1]) != result.shape or left.shape[1] != right.shape[0]:
            raise UnlocatedError(f"matrices of the shapes {shapes} do not fit together")
        with np.errstate(all="ignore"):
            product = np.matmul(left.astype(np.float32), right.astype(np.float32))
            result[...] = (result + product).astype(rounded_to).astype(np.float32)

    return run


FUNCTIONS: dict[str, RuntimeFunction] = {
    f"gemm{source}{source}{result}": RuntimeFunction(
        (unranked(source), unranked(source), unranked("F32")), None, _gemm(rounded_to)
    )
    for source, result, rounded_to in (
        ("F16", "F32", np.float32),
        ("F16", "F16", np.float16),
        ("BF16", "F32", np.float32),
        ("BF16", "BF16", ml_dtypes.bfloat16),
        ("F32", "F32", np.float32),
    )
}
"""The functions by name."""
