"""Launching kernels: `run`, the checks of its arguments, and the devices."""

from __future__ import annotations

from xtile.arguments.arrays import Output
from xtile.arguments.device_memory import DeviceArray
from xtile.arguments.errors import ArgumentError, DeviceError, SanitizerError, UnknownDeviceError
from xtile.arguments.groups import Group
from xtile.launch.devices import DEVICES, Device
from xtile.launch.executable import LaunchResult
from xtile.launch.run import run

__all__ = [
    "DEVICES",
    "ArgumentError",
    "Device",
    "DeviceArray",
    "DeviceError",
    "Group",
    "LaunchResult",
    "Output",
    "SanitizerError",
    "UnknownDeviceError",
    "run",
]
