"""Code that relies on what launches find of memory: that 16 divides addresses and strides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation

import xtile
from tests.backends.nvidia.fake_driver import FakeApi, FakeKernel, installed
from tests.backends.nvidia.gpu_arrays import Interface
from xtile.backends.gpu import launching
from xtile.backends.nvidia.compilation import compile_program
from xtile.dialects.cuda_tile.attributes import DivByAttr
from xtile.dialects.cuda_tile.bytecode import decode
from xtile.launch import ArgumentError
from xtile.launch.gpu_prepared import prepare

KERNEL = """
func @k(%n: index, %A: memref<f32x?x?>, %B: memref<f32x16x?> {alignment=64}) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f32
    axpby.n %one, %A, %zero, %B
}
"""
"""Machine code has n; the address, the sizes and the stride of A; the address and a size of B."""

N, A, A_STRIDE, B, COUNT = 0, 1, 4, 5, 7


@pytest.fixture(name="api")
def fake_api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    api = FakeApi(kernels={"k": FakeKernel([8] * COUNT, lambda *values: None)})
    with installed(monkeypatch, api):
        yield api


def matrix(rows: int = 16, columns: int = 32, offset: int = 0) -> Any:
    """An array in Fortran's order whose address 64 divides, but for some bytes."""
    memory = np.zeros(rows * columns * 4 + 128, np.uint8)
    start = -memory.__array_interface__["data"][0] % 64 + offset
    return memory[start:][: rows * columns * 4].view(np.float32).reshape((rows, columns), order="F")


@pytest.mark.parametrize(
    ("divisible", "divided", "promises"),
    [
        (None, {A, A_STRIDE, B}, 3),
        ({A}, {A, B}, 2),
        ({A_STRIDE, N}, {A_STRIDE, B}, 2),
        ((), set[int](), 1),
    ],
)
def test_code_for_what_is_found(divisible: Any, divided: set[int], promises: int) -> None:
    module = xtile.parse(KERNEL, language="tensorlang")
    program = compile_program(module, "sm_90", divisible=divisible)
    divisors = program.kernels["k"].divisors
    assert {i for i, divisor in enumerate(divisors) if divisor == 16} == divided
    # B's own promise is there in any case.
    assert len(list(_divided(program.bytecode))) == promises


def _divided(bytecode: bytes) -> Iterator[Operation]:
    """What the assembler is told of divisors of parameters and of what they are bounded to."""
    for operation in decode(bytecode).walk():
        predicate = operation.properties.get("predicate")
        if isinstance(predicate, DivByAttr) and predicate.divisor.data >= 16:
            yield operation


def test_kernels_of_other_languages_are_what_they_are() -> None:
    text = "tt.func public @k(%x: !tt.ptr<f32>) {\n tt.return\n}"
    module = xtile.parse(text, language="ttir")
    program = compile_program(module, "sm_90", divisible=None)
    assert program.kernels["k"].divisors == ()


@pytest.mark.parametrize("kind", [np.asarray, Interface])
def test_each_launch_gets_code_that_fits(api: FakeApi, kind: Any) -> None:
    aligned, between, odd = matrix(), matrix(offset=8), matrix(18)[:16]
    for _ in range(2):
        xtile.run(KERNEL, [1, kind(aligned), kind(matrix())], device="cuda")
    assert len(api.loaded) == 1
    for array in (between, between, aligned):
        xtile.run(KERNEL, [1, kind(array), kind(matrix())], device="cuda")
    assert len(set(api.loaded)) == 2
    for array in (odd, between, aligned, odd):
        xtile.run(KERNEL, [1, kind(array), kind(matrix())], device="cuda")
    assert len(set(api.loaded)) == 3
    assert len(api.launches) == 9


def test_each_launch_is_of_the_code_that_fits(
    api: FakeApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known of a layout does not hold for another address."""
    launched: list[tuple[int, ...]] = []
    run: Callable[..., float] = getattr(launching, "_run")  # noqa: B009

    def seen(kernel: Any, *rest: Any) -> float:
        launched.append(kernel.interface.divisors)
        return run(kernel, *rest)

    monkeypatch.setattr(launching, "_run", seen)
    arrays = [matrix(), matrix(offset=4), matrix(18)[:16]]
    expected = [(1, 16, 1, 1, 16, 16, 1), (1, 1, 1, 1, 16, 16, 1), (1, 16, 1, 1, 1, 16, 1)]
    for number in [0, 1, 2, 0, 1, 2, 2, 1, 0]:
        xtile.run(KERNEL, [1, Interface(arrays[number]), Interface(matrix())], device="cuda")
        assert launched[-1] == expected[number]
    assert len(api.launches) == 9


def test_a_launch_that_is_prepared(api: FakeApi) -> None:
    for array in (matrix(), matrix(offset=4)):
        prepare(KERNEL, [1, Interface(array), Interface(matrix())]).enqueue()
    assert len(set(api.loaded)) == 2


def test_a_cubin_relies_on_addresses_if_launches_check_them(api: FakeApi, tmp_path: Path) -> None:
    cubin = tmp_path / "k.cubin"
    for launch_checks in (True, False):
        xtile.compile(
            xtile.parse(KERNEL, language="tensorlang"),
            cubin,
            chip="sm_90",
            launch_checks=launch_checks,
        )
        xtile.run(cubin, [1, matrix(18)[:16], matrix()], device="cuda")
        misplaced = [1, Interface(matrix(offset=4)), Interface(matrix())]
        if launch_checks:
            with pytest.raises(ArgumentError, match="argument 1 of @k: expected an address that"):
                xtile.run(cubin, misplaced, device="cuda")
        else:
            xtile.run(cubin, misplaced, device="cuda")
