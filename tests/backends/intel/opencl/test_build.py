"""Building programs, and what is kept of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyopencl as cl
import pytest
from xdsl.dialects.builtin import i32

from tests.backends.intel.opencl import spirv_kernels
from xtile.arguments.errors import DeviceError
from xtile.backends.build_error import BuildError
from xtile.backends.cache import Cache
from xtile.backends.intel.compilation import Program
from xtile.backends.intel.opencl import build as module
from xtile.backends.intel.opencl.build import build
from xtile.backends.intel.opencl.device import OpenclDevice, find_devices
from xtile.backends.intel.opencl.session import own_context


@pytest.fixture(name="device")
def find_device() -> OpenclDevice:
    return next(device for device in find_devices() if device.is_cpu)


@pytest.fixture(name="cache")
def make_cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture(name="builds")
def count_builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is built from SPIR-V, and where."""
    builds: list[str] = []
    here, elsewhere = module.build_here, module.build_in_process

    def build_here(*arguments: object) -> object:
        builds.append("here")
        return here(*arguments)  # type: ignore[arg-type]

    def build_in_process(*arguments: object) -> object:
        builds.append("elsewhere")
        return elsewhere(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "build_here", build_here)
    monkeypatch.setattr(module, "build_in_process", build_in_process)
    return builds


def try_building(
    device: OpenclDevice, program: Program, cache: Cache, seconds: float | None = None
) -> str:
    with pytest.raises(DeviceError) as caught:
        build(device, own_context(device), program, cache, seconds)
    return str(caught.value)


def test_a_binary_is_built_once(device: OpenclDevice, cache: Cache, builds: list[str]) -> None:
    program, context = spirv_kernels.nothing(), own_context(device)
    for _ in range(3):
        built = build(device, context, program, cache)
        assert cl.Kernel(built, "nothing").num_args == 0
    assert builds == ["here"]
    assert cache.usage().entries == {"binary": 1}


def test_other_options_and_other_drivers_have_other_binaries(
    device: OpenclDevice, cache: Cache, builds: list[str]
) -> None:
    program, context = spirv_kernels.nothing(), own_context(device)
    build(device, context, program, cache)
    build(device, context, replace(program, build_options="-cl-opt-disable"), cache)
    other = OpenclDevice(device.handle, device.target)
    other.__dict__["driver"] = "another"
    build(other, context, program, cache)
    assert builds == ["here"] * 3


@pytest.mark.parametrize("content", [b"", b"no binary", None])
def test_binaries_that_the_driver_does_not_take_are_built_again(
    device: OpenclDevice, cache: Cache, builds: list[str], content: bytes | None
) -> None:
    program, context = spirv_kernels.nothing(), own_context(device)
    build(device, context, program, cache)
    (path,) = cache.directory.iterdir()
    entry = cache.get(path.stem)
    assert entry is not None
    cache.put(path.stem, {}, entry.content[:1000] if content is None else content)
    built = build(device, context, program, cache)
    assert cl.Kernel(built, "nothing").num_args == 0
    assert builds == ["here", "here"]
    assert cache.get(path.stem) == entry


def test_a_refused_program_is_not_tried_again(
    device: OpenclDevice, cache: Cache, builds: list[str]
) -> None:
    program = replace(spirv_kernels.nothing(), spirv=spirv_kernels.nothing().spirv[:20])
    first = try_building(device, program, cache)
    assert first == (
        f"the device {device} cannot build the kernel: clBuildProgram: BUILD_PROGRAM_FAILURE\n"
        "Compilation started\nUnsupported SPIR-V module\nSPIR-V module has no instructions\n"
        "Compilation failed"
    )
    second = try_building(device, program, cache)
    remembered = "FAILURE (in an earlier attempt; `xtile cache clear` forgets it)\n"
    assert second == first.replace("FAILURE\n", remembered)
    assert builds == ["here"]
    cache.clear()
    assert try_building(device, program, cache) == first


def test_risky_programs_are_built_elsewhere_first(
    device: OpenclDevice, cache: Cache, builds: list[str]
) -> None:
    program = spirv_kernels.nothing(is_risky=True)
    for _ in range(2):
        built = build(device, own_context(device), program, cache)
        assert cl.Kernel(built, "nothing").num_args == 0
    assert builds == ["elsewhere"]


def test_a_driver_that_dies_leaves_this_process_alive(
    device: OpenclDevice, cache: Cache, builds: list[str]
) -> None:
    program = spirv_kernels.broken("type")
    first = try_building(device, program, cache)
    assert first.startswith(f"the device {device} cannot build the kernel: it died of SIGSEGV\n")
    # What the driver says when it dies.
    assert "PLEASE submit a bug report" in first
    assert "in an earlier attempt" in try_building(device, program, cache)
    assert builds == ["elsewhere"]


def test_a_driver_that_ends_the_process(device: OpenclDevice, cache: Cache) -> None:
    message = try_building(device, spirv_kernels.broken("nothing"), cache)
    first, _, log = message.partition("\n")
    start = f"the device {device} cannot build the kernel: it ended the process with code "
    assert first.startswith(start)
    assert int(first.removeprefix(start)) > 0
    assert "references an id that is not defined" in log


def test_a_limit_of_time(device: OpenclDevice, cache: Cache, builds: list[str]) -> None:
    program = spirv_kernels.nothing()
    first = try_building(device, program, cache, seconds=0.001)
    assert first == f"the device {device} cannot build the kernel: it was not done after 0.001 s"
    assert "in an earlier attempt" in try_building(device, program, cache, seconds=0.001)
    assert builds == ["elsewhere"]
    # More time may be enough.
    built = build(device, own_context(device), program, cache, seconds=100)
    assert cl.Kernel(built, "nothing").num_args == 0
    assert builds == ["elsewhere"] * 2


def test_shortages_are_not_remembered(
    device: OpenclDevice, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise BuildError("clBuildProgram: OUT_OF_HOST_MEMORY", "no memory")

    program = spirv_kernels.nothing()
    with monkeypatch.context() as patch:
        patch.setattr(module, "build_here", fail)
        assert try_building(device, program, cache).endswith("OUT_OF_HOST_MEMORY\nno memory")
    assert cache.usage().entries == {}
    build(device, own_context(device), program, cache)


def test_a_device_that_the_other_process_does_not_find(device: OpenclDevice, cache: Cache) -> None:
    other = OpenclDevice(device.handle, device.target)
    other.__dict__["identity"] = "a device of this process only"
    message = try_building(other, spirv_kernels.nothing(is_risky=True), cache)
    assert "the process that builds it found no such device" in message


def test_binaries_do_not_fit_other_cpus(
    device: OpenclDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xtile.backends.intel.opencl import discovery

    monkeypatch.setattr(discovery, "cpu_flags", lambda: frozenset({"sse2"}))
    assert OpenclDevice(device.handle, device.target).identity != device.identity


def test_a_binary_of_the_cache_does_the_same(device: OpenclDevice, cache: Cache) -> None:
    context, program = own_context(device), spirv_kernels.probe(i32)
    queue = cl.CommandQueue(context)
    for number in (7, 8):
        kernel = cl.Kernel(build(device, context, program, cache), "probe")
        out = np.full(64, -1)
        kernel.set_args(cl.SVM(out), np.int32(number))
        cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,)).wait()
        assert out[0] == number
        assert (out[1:] == -1).all()
