"""The devices that a kernel can be launched on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from xdsl.ir import Operation

from xtile.launch.binding import BoundArgument
from xtile.launch.errors import ArgumentError

Grid = tuple[int, int, int]

Progress = Callable[[int, int], None]
"""Called with the number of work-groups that are done and that there are."""


class Launch(Protocol):
    """Runs a function on a device until all work-groups are done."""

    def __call__(
        self,
        function: Operation,
        arguments: Sequence[BoundArgument],
        grid: Grid,
        block: Grid | None,
        *,
        sanitize: bool,
        workers: int,
        progress: Progress | None,
    ) -> None:
        """Runs the function; the arrays hold the results afterwards.

        `block` is the size of a work-group, in languages in which a launch gives it.
        """
        ...


@dataclass(frozen=True)
class Device:
    """Something that runs kernels.

    Attributes:
        name: What `device=` calls it.
        description: One line about it.
        launch: Runs a function.
        can_sanitize: Whether it can look for mistakes while it runs.
    """

    name: str
    description: str
    launch: Launch
    can_sanitize: bool


class DeviceError(ArgumentError):
    """There is no such device here."""


def _launch_on_reference(
    function: Operation,
    arguments: Sequence[BoundArgument],
    grid: Grid,
    block: Grid | None,
    *,
    sanitize: bool,
    workers: int,
    progress: Progress | None,
) -> None:
    # numpy's engine is loaded when something runs on it.
    from xtile.launch.reference import launch_on_reference

    launch_on_reference(
        function, arguments, grid, block, sanitize=sanitize, workers=workers, progress=progress
    )


DEVICES: dict[str, Device] = {
    device.name: device
    for device in (
        Device(
            "reference",
            "the language's meaning in numpy, on the CPU",
            _launch_on_reference,
            can_sanitize=True,
        ),
    )
}
"""Every device by name."""


def find_device(name: str) -> Device:
    """Returns the device of that name.

    Raises:
        DeviceError: There is none.
    """
    device = DEVICES.get(name)
    if device is None:
        available = ", ".join(f"'{known}'" for known in DEVICES)
        raise DeviceError(f"there is no device '{name}'; available: {available}")
    return device
