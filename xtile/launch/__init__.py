"""Launching kernels: `run`, the checks of its arguments, and the devices."""

from __future__ import annotations

from xtile.launch.arrays import Output
from xtile.launch.device_memory import DeviceArray
from xtile.launch.devices import DEVICES, Device, LaunchResult
from xtile.launch.errors import ArgumentError, DeviceError, SanitizerError, UnknownDeviceError
from xtile.launch.groups import Group
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
