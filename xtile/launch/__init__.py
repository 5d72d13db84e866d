"""Launching kernels: `run`, the checks of its arguments, and the devices."""

from __future__ import annotations

from xtile.launch.arrays import Output
from xtile.launch.devices import DEVICES, Device, DeviceError
from xtile.launch.errors import ArgumentError, SanitizerError
from xtile.launch.groups import Group
from xtile.launch.run import run

__all__ = [
    "DEVICES",
    "ArgumentError",
    "Device",
    "DeviceError",
    "Group",
    "Output",
    "SanitizerError",
    "run",
]
