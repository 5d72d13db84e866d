"""What is missing for AMD's GPUs, and how to get it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from xtile.backends.triton.installed import PACKAGES, triton_problem

_DRIVER = Path("/sys/module/amdgpu")
_COMPUTE = Path("/dev/kfd")

ROCM = "ROCm 6 or later (https://rocm.docs.amd.com)"
"""What GPUs are launched with."""


def has_amd_gpu() -> bool:
    """Whether this computer has a GPU of AMD's that computes; known on Linux only."""
    return _COMPUTE.exists() and _DRIVER.exists()


def missing(has_devices: bool) -> Iterator[str]:
    """What could be there, and what adds it.

    Args:
        has_devices: Whether kernels can be launched on a GPU already.
    """
    problem = triton_problem()
    if has_devices and problem is not None:
        yield f"only compiled kernels run on AMD's GPU: {PACKAGES}"
    elif not has_devices and has_amd_gpu():
        yield f"no library for AMD's GPU: install {ROCM}"
