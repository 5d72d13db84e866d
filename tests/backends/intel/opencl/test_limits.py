"""What a launch needs and a device has not is an error before the launch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import f16, f64

from tests.backends.intel.opencl.spirv_kernels import nothing, probe
from xtile.arguments.errors import ArgumentError
from xtile.arguments.signature import Signature
from xtile.backends.intel.compilation import Program
from xtile.backends.intel.opencl.device import OpenclDevice, find_devices
from xtile.backends.intel.opencl.launching import launch
from xtile.backends.intel.opencl.session import Session, own_context, own_queue

DEVICE = next(device for device in find_devices() if device.is_cpu)

NAME = str(DEVICE)


def run(
    program: Program,
    grid: tuple[int, int, int] = (1, 1, 1),
    block: tuple[int, int, int] | None = None,
    **abilities: Any,
) -> None:
    """Launches the only kernel of a program on a device with certain abilities."""
    device = OpenclDevice(DEVICE.handle, DEVICE.target)
    device.__dict__.update(abilities)
    (name,) = program.kernels
    kernel = Session(device, own_context(DEVICE)).kernel("", program, name)
    launch(kernel, device, own_queue(DEVICE), Signature(name, (), frozenset()), [], grid, block)


def refusal(*arguments: Any, **abilities: Any) -> str:
    with pytest.raises(ArgumentError) as caught:
        run(*arguments, **abilities)
    return str(caught.value)


def test_what_fits_runs() -> None:
    run(nothing(size=(DEVICE.most_work_items, 1, 1), local_memory=DEVICE.local_memory))
    run(nothing(size=None), (2, 3, 4), (5, 6, 7))
    run(nothing(size=(8, 2, 1)), (2, 3, 4), (8, 2, 1))
    for size in DEVICE.subgroup_sizes:
        run(nothing(size=(64, 1, 1), subgroup_size=size))


def test_too_many_work_items() -> None:
    most = DEVICE.most_work_items
    expected = (
        f"a work-group of @nothing has {2 * most} work-items, but one of the device {NAME} can "
        f"have {most}"
    )
    assert refusal(nothing(size=(most, 2, 1))) == expected
    assert refusal(nothing(size=None), (1, 1, 1), (2, most, 1)) == expected
    assert refusal(nothing(size=(1, 1, 128)), most_work_items_in_mode=(1024, 1024, 64)) == (
        f"a work-group of @nothing has 128 work-items in z, but one of the device {NAME} can have "
        "64"
    )


def test_another_block_than_the_kernels() -> None:
    assert refusal(nothing(size=(16, 1, 1)), (1, 1, 1), (8, 1, 1)) == (
        "@nothing has work-groups of (16, 1, 1), given block (8, 1, 1)"
    )


def test_too_much_local_memory() -> None:
    has = DEVICE.local_memory
    assert refusal(nothing(local_memory=has + 4)) == (
        f"@nothing needs {has + 4} bytes of local memory, but a work-group of the device {NAME} "
        f"can have {has}"
    )


def test_a_subgroup_size_that_is_not_there() -> None:
    assert refusal(nothing(subgroup_size=24), subgroup_sizes=(8, 16)) == (
        f"@nothing needs subgroups of 24 work-items, but those of the device {NAME} can have 8, 16"
    )


@pytest.mark.parametrize(("type", "name"), [(f16, "f16"), (f64, "f64")])
def test_types_that_are_not_there(type: Any, name: str) -> None:
    extension = {"f16": "cl_khr_fp16", "f64": "cl_khr_fp64"}[name]
    message = refusal(probe(type), extensions=DEVICE.extensions - {extension})
    assert message == f"the program of @probe computes in {name}, which the device {NAME} does not"


@pytest.mark.parametrize("mode", range(3))
def test_too_many_work_groups(mode: int) -> None:
    grid = [1, 1, 1]
    grid[mode] = 2**31
    assert refusal(nothing(), tuple(grid)) == (
        f"the grid of @nothing has 2147483648 work-groups in {'xyz'[mode]}, but a launch can have "
        "2147483647"
    )


def test_the_check_comes_before_the_build() -> None:
    # The driver could not even read this.
    unreadable = replace(nothing(local_memory=2**40), spirv=b"")
    assert "bytes of local memory" in refusal(unreadable)


def test_seconds_are_the_devices() -> None:
    session, program = Session(DEVICE, own_context(DEVICE)), nothing(size=(1, 1, 1))
    kernel = session.kernel("", program, "nothing")
    signature = Signature("nothing", (), frozenset())
    short, long = (
        np.median(
            [
                launch(kernel, DEVICE, own_queue(DEVICE), signature, [], (groups, 1, 1), None)
                for _ in range(5)
            ]
        )
        for groups in (1, 200_000)
    )
    # A hundred thousand work-groups take longer than one, on whatever machine.
    assert 0 < short < long
