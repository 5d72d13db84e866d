"""Functions that tell the time.

Source: MLIR (LLVM 22), `ExecutionEngine/CRunnerUtils.cpp` and `RunnerUtils.cpp`.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

from xtile.host.runtime.function import Context, RuntimeFunction


def _seconds(context: Context) -> np.float64:
    """Seconds since 1970."""
    return np.float64(time.time())


def _nanoseconds(context: Context) -> np.int64:
    return np.int64(time.time_ns())


def _print_flops(context: Context, operations: Any) -> None:
    """Shows operations for each second."""
    sys.stderr.write(f"{operations / 1e9:f} GFLOPS\n")


FUNCTIONS: dict[str, RuntimeFunction] = {
    "nanoTime": RuntimeFunction((), "i64", _nanoseconds),
    "printFlops": RuntimeFunction(("f64",), None, _print_flops),
    "rtclock": RuntimeFunction((), "f64", _seconds),
}
"""The functions by name."""
