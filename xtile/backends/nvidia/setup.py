"""What is missing for NVIDIA's GPUs, and the one command that adds it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from xtile.arguments.errors import DeviceError

_NVIDIA = "0x10de"

_PCI_DEVICES = Path("/sys/bus/pci/devices")

_DISPLAY_CLASS = "0x03"
"""How PCI's class of a graphics card or a 3D controller begins."""

_DRIVER = Path("/proc/driver/nvidia/version")


def has_nvidia_gpu() -> bool:
    """Whether this computer has a GPU of NVIDIA's; known on Linux only."""
    for device in _PCI_DEVICES.glob("*"):
        try:
            is_nvidia = (device / "vendor").read_text().strip() == _NVIDIA
            if is_nvidia and (device / "class").read_text().startswith(_DISPLAY_CLASS):
                return True
        except OSError:
            continue
    return _DRIVER.exists()


DRIVER = "release 580 or later of NVIDIA's driver"
"""What GPUs are launched with."""

PACKAGES = "pip install 'xtile[nvidia]'"
"""What brings the assembler and the driver's bindings."""


def assembler_problem() -> str | None:
    """Why nothing can be compiled to machine code; None if it can."""
    from xtile.backends.nvidia.tools import find_tileiras

    try:
        find_tileiras()
    except DeviceError as error:
        return str(error)
    return None


def missing(has_devices: bool) -> Iterator[str]:
    """What could be there, and the command that adds it.

    Args:
        has_devices: Whether kernels can be launched on a GPU already.
    """
    if has_devices:
        problem = assembler_problem()
        if problem is not None:
            yield f"only compiled kernels run on NVIDIA's GPU: {problem}"
    elif has_nvidia_gpu():
        if find_spec("cuda") is None:
            yield f"no package for NVIDIA's GPU: {PACKAGES}"
        else:
            yield f"no driver for NVIDIA's GPU: install {DRIVER}"
