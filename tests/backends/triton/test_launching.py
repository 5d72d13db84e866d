"""`device="triton"`: Triton's cubins on NVIDIA's GPUs, with a driver whose GPU is Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.backends.amd.fake_hip import FakeHip
from tests.backends.amd.fake_hip import installed as hip_installed
from tests.backends.nvidia.fake_driver import FakeApi, FakeGpu, FakeKernel, installed
from tests.backends.nvidia.fake_gpu import floats
from xtile.backends.elf import find_damage
from xtile.backends.machine_code import CUBIN
from xtile.backends.sidecar import write_machine_code
from xtile.backends.triton.compilation import compile_with_triton
from xtile.cli import main
from xtile.launch.gpu_compiled import platform_named

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"

POINTER, NUMBER = 8, 4


@pytest.fixture(name="api")
def one_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    api = FakeApi()
    with installed(monkeypatch, api):
        yield api
    assert not api.live


def test_a_kernel_of_triton(api: FakeApi) -> None:
    """Threads of a block and the addresses of scratch memory are what Triton says."""
    values: list[tuple[int, ...]] = []

    def body(block: Any, x: int, y: int, *rest: int) -> None:
        values.append(rest)
        floats(y, 1000)[:] = 2 * floats(x, 1000)

    api.kernels = {"scale": FakeKernel([POINTER, POINTER, NUMBER, NUMBER, POINTER, POINTER], body)}
    x, y = np.arange(1000, dtype=np.float32), np.full(1000, np.nan, np.float32)
    result = xtile.run(EXAMPLES / "triton" / "scale.ttir", [x, y, 2.0, 1000], 4, "triton")
    assert (result.device, result.seconds) == ("sm_90 (Fake H200)", 1.5e-3)
    np.testing.assert_array_equal(y, 2 * x)
    assert (api.launches, api.blocks) == ([((4, 1, 1), 0)], [(4 * 32, 0)])
    assert values == [(0x40000000, 1000, 0, 0)] * 4
    (code,) = api.loaded
    assert find_damage(code, CUBIN) is None


def test_shared_memory(api: FakeApi) -> None:
    """A product passes its factors through it."""
    api.kernels = {"product": FakeKernel([POINTER] * 5, lambda *_: None)}
    a, b = (np.zeros(shape, np.float16, order="F") for shape in ((32, 64), (64, 8)))
    c = np.zeros((32, 8), np.float32, order="F")
    xtile.run(EXAMPLES / "matrix_unit.ir", [a, b, c], 1, "triton:0")
    ((threads, shared),) = api.blocks
    assert threads == 4 * 32
    # At least B is there, padded to 16 columns.
    assert shared >= 2 * 16 * 64
    assert api.reserved == []


def test_much_shared_memory(api: FakeApi, tmp_path: Path) -> None:
    """More than 48 KiB must be asked for."""
    path = tmp_path / "scale.cubin"
    made = compile_with_triton(xtile.parse(EXAMPLES / "triton" / "scale.ttir"), "sm_90")
    kernels = {"scale": replace(made.kernels["scale"], shared=100_000)}
    write_machine_code(path, replace(made, kernels=kernels))
    api.kernels = {
        "scale": FakeKernel([POINTER, POINTER, NUMBER, NUMBER, POINTER, POINTER], lambda *_: None)
    }
    x = np.zeros(8, np.float32)
    for _ in range(2):
        xtile.run(path, [x, x.copy(), 1.0, 8], 1, "cuda")
    assert (api.reserved, api.blocks) == ([100_000], [(128, 100_000)] * 2)


def test_which_gpu_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA's where there are any, and else AMD's."""
    with installed(monkeypatch, FakeApi((FakeGpu(),))), hip_installed(monkeypatch, FakeHip()):
        assert platform_named("triton").platform.device == "cuda"
    with installed(monkeypatch, FakeApi(())), hip_installed(monkeypatch, FakeHip()):
        assert platform_named("triton").platform.device == "hip"


def test_without_a_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    path = EXAMPLES / "triton" / "scale.ttir"
    arguments = ["--arg", "n=8", "--arg", "alpha=1", "--rand", "--size", "x=8", "--size", "y=8"]
    assert main(["run", str(path), "--device", "triton", *arguments]) == 3
    error = capsys.readouterr().err
    assert "the kernel compiles for sm_90" in error
