"""Code that relies on what launches check: here, that offsets of pointers do not wrap around."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.backends.nvidia.fake_driver import FakeApi, FakeKernel, installed
from tests.backends.nvidia.gpu_arrays import Interface
from xtile.backends.nvidia.compilation import compile_program
from xtile.backends.nvidia.cuda import platform
from xtile.cli import main
from xtile.launch import ArgumentError
from xtile.launch.gpu_prepared import prepare
from xtile.targets import OptionError

KERNEL = """
tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %a: i32, %b: i32) {
  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %ab = arith.muli %a, %b : i32
  %each = tt.splat %ab : i32 -> tensor<16xi32>
  %scaled = arith.muli %i, %each : tensor<16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %from = tt.addptr %xs, %scaled : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %value = tt.load %from : tensor<16x!tt.ptr<f32>>
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %to = tt.addptr %outs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %to, %value : tensor<16x!tt.ptr<f32>>
  tt.return
}
"""
"""Reads every a b-th number."""


@pytest.fixture(name="api")
def fake_api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    api = FakeApi(kernels={"k": FakeKernel([8, 8, 4, 4], lambda *values: None)})
    with installed(monkeypatch, api):
        yield api


def _arrays() -> list[Any]:
    return [np.zeros(64, np.float32), np.full(16, np.nan, np.float32)]


def test_only_code_without_checks_accesses_through_pointers() -> None:
    module = xtile.parse(KERNEL, language="ttir")
    relying, other = (compile_program(module, "sm_90", may_wrap=each) for each in (False, True))
    (check, *_) = relying.kernels["k"].checks
    assert str(check).endswith("is from -2147483648 to 2147483647")
    assert other.kernels["k"].checks == ()
    assert relying.bytecode != other.bytecode


def test_launches_for_which_a_check_fails_get_another_cubin(api: FakeApi) -> None:
    for a, b in ((1, 2), (2, 1)):
        xtile.run(KERNEL, [*_arrays(), a, b], device="cuda")
    assert len(api.loaded) == 1
    for _ in range(2):
        xtile.run(KERNEL, [*_arrays(), 65536, 65536], device="cuda")
    assert len(api.loaded) == 2
    # What is known of arrays on the GPU is not taken for what is known of numbers.
    arrays = [Interface(each) for each in _arrays()]
    for a in (1, 65536, 1):
        xtile.run(KERNEL, [*arrays, a, a], device="cuda")
    assert len(api.loaded) == len(set(api.loaded)) == 2
    assert len(api.launches) == 7


def test_a_launch_that_is_prepared(api: FakeApi) -> None:
    arrays = [Interface(each) for each in _arrays()]
    for a in (1, 65536):
        prepare(KERNEL, [*arrays, a, a]).enqueue()
    assert len(set(api.loaded)) == 2


@pytest.fixture(name="kernel")
def kernel_file(tmp_path: Path) -> Path:
    path = tmp_path / "k.ttir"
    path.write_text(KERNEL)
    return path


def test_a_cubin_says_what_launches_check(api: FakeApi, kernel: Path, tmp_path: Path) -> None:
    cubin = tmp_path / "k.cubin"
    command = ["compile", str(kernel), "--chip", "sm_90", "-o", str(cubin)]
    assert main([*command, "--launch-checks"]) == 0
    words = json.loads((tmp_path / "k.cubin.json").read_text())
    assert len(words["kernels"][0]["checks"]) > 0
    for source, binary in ((cubin, None), (kernel, cubin)):
        xtile.run(source, [*_arrays(), 1, 2], device="cuda", binary=binary)
        with pytest.raises(ArgumentError, match=r"@k was translated for launches in which .*argum"):
            xtile.run(source, [*_arrays(), 65536, 65536], device="cuda", binary=binary)
    assert main(command) == 0
    assert json.loads((tmp_path / "k.cubin.json").read_text())["kernels"][0]["checks"] == []
    xtile.run(cubin, [*_arrays(), 65536, 65536], device="cuda")
    assert len(api.launches) == 3


def test_bytecode_does_not_say_what_launches_check(
    kernel: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = kernel.parent / "k.tileirbc"
    with pytest.raises(OptionError, match="no file beside it would say what launches check"):
        xtile.compile(kernel, path, launch_checks=True)
    assert main(["compile", str(kernel), "-o", str(path), "--launch-checks"]) == 2
    assert capsys.readouterr().err == (
        f"xtile: error: {path}: no file beside it would say what launches check; expected "
        "one of .cubin, .hsaco, .spv\n"
    )
    assert not path.exists()


PRODUCT = """
func @k(%A: memref<f16x4096x16>, %B: memref<f16x16x4096>, %C: memref<f32x4096x4096>)
        attributes {subgroup_size=16, work_group_size=[16,1]} {
    %c0 = constant 0 : index
    %c64 = constant 64 : index
    %x = group_id.x : index
    %y = group_id.y : index
    %i = mul %x, %c64 : index
    %j = mul %y, %c64 : index
    parallel {
        %none = constant 0.0 : coopmatrix<f32x64x64,matrix_acc>
        %a = cooperative_matrix_load %A[%i,%c0] : coopmatrix<f16x64x16,matrix_a>
        %b = cooperative_matrix_load %B[%c0,%j] : coopmatrix<f16x16x64,matrix_b>
        %ab = cooperative_matrix_mul_add %a, %b, %none : coopmatrix<f32x64x64,matrix_acc>
        cooperative_matrix_store %ab, %C[%i,%j]
    }
}
"""


def _itself(bytecode: bytes, *_: object, **__: object) -> bytes:
    return bytecode


def test_large_launches_get_code_for_several_work_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen work-groups are one block of 256 x 256 where there are at least 2048 of them."""
    api = FakeApi(kernels={"k": FakeKernel([8, 8, 8], lambda *values: None)})
    shapes = ((np.float16, (4096, 16)), (np.float16, (16, 4096)), (np.float32, (4096, 4096)))
    arrays = [Interface(np.zeros(shape, type_, order="F")) for type_, shape in shapes]
    # What is loaded need not be machine code, and the assembler takes seconds.
    monkeypatch.setattr(platform, "build_cubin", _itself)
    grids = ((64, 32, 1), (32, 65, 1), (63, 32, 1), (1, 1, 1), (64, 64, 1))
    with installed(monkeypatch, api):
        for grid, loaded in zip(grids, (1, 1, 2, 2, 2), strict=True):
            xtile.run(PRODUCT, arrays, grid, device="cuda")
            assert len(set(api.loaded)) == len(api.loaded) == loaded
    assert [launch[0] for launch in api.launches] == list(grids)


def test_files_keep_the_work_groups_of_the_source() -> None:
    """They are for small launches as well; with launch checks they are for large ones."""
    module = xtile.parse(PRODUCT, language="tensorlang")
    large, small = (compile_program(module, "sm_90", may_wrap=each) for each in (False, True))
    assert large.bytecode != small.bytecode
    assert [str(check) for check in large.kernels["k"].preferred] == [
        "((blocks x * blocks y) * blocks z) is from 2048 to 9223372036854775807"
    ]
    assert large.kernels["k"].checks == small.kernels["k"].preferred == ()
