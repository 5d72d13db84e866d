"""The GPUs that `device=` means, and what makes machine code for them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from xtile.launch.executable import CUDA_NAME, HIP_NAME, TRITON_NAME

if TYPE_CHECKING:
    from xtile.backends.gpu.platform import Maker, Platform

_CUDA = "xtile.backends.nvidia.cuda.platform"
_HIP = "xtile.backends.amd.hip.device"
_TRITON = "xtile.backends.triton.compiler"


@dataclass(frozen=True)
class GpuPlatform:
    """GPUs with what makes machine code for them.

    Attributes:
        name: What `device=` calls the first of them.
        platform: The GPUs.
        maker: What makes their machine code.
    """

    name: str
    platform: Platform
    maker: Maker


def platform_named(name: str) -> GpuPlatform:
    """The GPUs of a name: NVIDIA's, AMD's, or those that Triton compiles for.

    Triton makes code for both vendors; where there are GPUs of neither, it is NVIDIA's.
    """
    platform = _platform_of(name)
    maker: Maker = (
        import_module(_CUDA).TILEIRAS if name == CUDA_NAME else import_module(_TRITON).TRITON
    )
    return GpuPlatform(name, platform, maker)


def _platform_of(name: str) -> Platform:
    cuda: Platform = import_module(_CUDA).PLATFORM
    if name == CUDA_NAME:
        return cuda
    hip: Platform = import_module(_HIP).PLATFORM
    is_hip = name == HIP_NAME or (not cuda.available_devices() and bool(hip.available_devices()))
    return hip if is_hip else cuda


NAMES = (CUDA_NAME, HIP_NAME, TRITON_NAME)
"""What `device=` calls GPUs."""
