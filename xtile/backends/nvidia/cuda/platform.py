"""NVIDIA's GPUs, and NVIDIA's assembler, which makes machine code for them."""

from __future__ import annotations

from functools import cache

from xtile.backends.gpu.platform import Assembly, Maker, Platform
from xtile.backends.gpu.session import Session
from xtile.backends.machine_code import CUBIN, MachineCode
from xtile.backends.nvidia.compiler import compiler_for
from xtile.backends.nvidia.cubins import build_cubin
from xtile.backends.nvidia.cuda.device import CudaDevice, find_devices, runs
from xtile.backends.nvidia.cuda.driver import load_driver
from xtile.backends.nvidia.tools import find_tileiras


@cache
def session_of(device: CudaDevice) -> Session:
    """The session of a GPU.

    Raises:
        DeviceError: The GPU cannot be used.
    """
    return Session(device, load_driver())


def _assemble(given: Assembly) -> MachineCode:
    program = given.program
    code = build_cubin(
        program.bytecode, given.chip, given.cache, seconds=given.seconds, source=given.source
    )
    signatures = program.signatures(given.signatures)
    return MachineCode(code, given.chip, str(find_tileiras()), signatures, program.kernels)


PLATFORM = Platform("cuda", CUBIN, find_devices, runs, session_of)
"""NVIDIA's GPUs."""

TILEIRAS = Maker(
    lambda variant: compiler_for(
        variant.chip, may_overlap=variant.may_overlap, may_wrap=variant.may_wrap
    ),
    _assemble,
    compiles_overlaps=True,
    compiles_wrapping=True,
    compiles_promises=False,
    advice="compile it with `xtile compile --may-overlap`",
)
"""NVIDIA's assembler of CUDA Tile IR."""
