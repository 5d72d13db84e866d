"""AMD's GPUs."""

from __future__ import annotations

from functools import cache

from xtile.backends.amd.hip.device import HipDevice, find_devices, runs
from xtile.backends.amd.hip.driver import load_driver
from xtile.backends.gpu.platform import Platform
from xtile.backends.gpu.session import Session
from xtile.backends.machine_code import HSACO


@cache
def session_of(device: HipDevice) -> Session:
    """The session of a GPU.

    Raises:
        DeviceError: The GPU cannot be used.
    """
    return Session(device, load_driver())


PLATFORM = Platform("hip", HSACO, find_devices, runs, session_of)
"""AMD's GPUs."""
