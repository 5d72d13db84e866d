"""NVIDIA's GPUs, and NVIDIA's assembler, which makes machine code for them."""

from __future__ import annotations

from functools import cache

from xtile.arguments.signature import Signature
from xtile.backends.gpu.platform import Assembly, Maker, Platform
from xtile.backends.gpu.session import Session
from xtile.backends.machine_code import CUBIN, KernelInterface, MachineCode, Promises
from xtile.backends.nvidia.compiler import compiler_for
from xtile.backends.nvidia.cubins import build_cubin
from xtile.backends.nvidia.cuda.device import CudaDevice, find_devices, runs
from xtile.backends.nvidia.cuda.driver import load_driver
from xtile.backends.nvidia.tools import find_tileiras
from xtile.backends.parameters import numbers_of_memrefs
from xtile.dialects.core.signature import Role


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


def _usable(signature: Signature, kernel: KernelInterface) -> Promises:
    """The addresses and strides of memrefs, which decide how hardware copies blocks."""
    return Promises(numbers_of_memrefs(signature, {Role.POINTER, Role.STRIDE}))


TILEIRAS = Maker(
    compiler_for,
    _assemble,
    compiles_overlaps=True,
    compiles_wrapping=True,
    usable=_usable,
    advice="compile it with `xtile compile --may-overlap`",
)
"""NVIDIA's assembler of CUDA Tile IR."""
