"""Compiling kernels to SPIR-V for a device: what the result is, and the steps to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from xtile.backends.intel.devices import Device
from xtile.text.diagnostics import Diagnostics


@dataclass(frozen=True)
class KernelInterface:
    """What a launch must know of a kernel.

    Attributes:
        name: The entry point.
        parameters: The types of the source function's parameters in order; what arguments of the
            kernel they are, `calling_convention` says.
        work_group_size: Work-items of a work-group in x, y and z; None if a launch chooses them.
        subgroup_size: Work-items of a subgroup; None if the driver chooses.
        local_memory: Bytes of local memory of a work-group.
    """

    name: str
    parameters: tuple[Attribute, ...]
    work_group_size: tuple[int, int, int] | None
    subgroup_size: int | None
    local_memory: int


@dataclass(frozen=True)
class Program:
    """Kernels that a driver can build.

    Attributes:
        spirv: The SPIR-V module.
        kernels: Its entry points by name.
        build_options: What the driver is told when it builds.
        is_risky: Whether building it may abort or hang in a driver, which is then found out in a
            process of its own.
    """

    spirv: bytes
    kernels: Mapping[str, KernelInterface]
    build_options: str = ""
    is_risky: bool = False


def compile_program(
    module: ModuleOp, device: Device, diagnostics: Diagnostics | None = None
) -> Program:
    """Compiles the kernels of a module.

    Args:
        module: Kernels of the tensor language, the core form or XeGPU.
        device: What they are compiled for.
        diagnostics: Collects warnings and remarks.

    Raises:
        DiagnosticError: A kernel cannot be compiled for the device.
    """
    raise NotImplementedError("kernels cannot be compiled to SPIR-V yet")
