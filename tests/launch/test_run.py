"""Launches through `xtile.run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.dlpack_producer import Producer
from tests.seeds import fresh_generator
from xtile.dialects import reading
from xtile.launch import (
    DEVICES,
    ArgumentError,
    Group,
    Output,
    SanitizerError,
    UnknownDeviceError,
    reference,
)
from xtile.text.diagnostics import DiagnosticError
from xtile.text.source import Source

SCALE = """
func @scale(%alpha: f32, %A: memref<f32x4x?>, %B: memref<f32x4x?>) {
    %zero = constant 0.0 : f32
    axpby.n %alpha, %A, %zero, %B
}
"""


def random(*shape: int) -> Any:
    return np.asfortranarray(fresh_generator().standard_normal(shape).astype(np.float32))


def unwritten(*shape: int) -> Any:
    return np.full(shape, np.nan, np.float32, order="F")


# Scaling by a power of two is exact, so the tests that do no other arithmetic compare for equality.


@pytest.mark.parametrize("how", ["text", "path", "module"])
def test_kinds_of_kernels(how: str, tmp_path: Path) -> None:
    path = tmp_path / "scale.ir"
    path.write_text(SCALE)
    kernel = {"text": SCALE, "path": path, "module": xtile.parse(SCALE)}[how]
    a, b = random(4, 6), unwritten(4, 6)
    xtile.run(kernel, [2.0, a, b])
    assert np.array_equal(b, 2 * a)


def test_a_text_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def parse_source(source: Source, *rest: Any) -> Any:
        texts.append(source.text)
        return reading.parse_source(source, *rest)

    monkeypatch.setattr(reference, "parse_source", parse_source)
    file = tmp_path / "two.ir"
    first = SCALE + SCALE.replace("@scale", "@other")
    for text in (first, first.replace("%zero =", "%nought =").replace("%zero,", "%nought,")):
        file.write_text(text)
        for entry in ("scale", "other", "scale"):
            a, b = random(4, 6), unwritten(4, 6)
            xtile.run(file, [2.0, a, b], entry=entry)
            assert np.array_equal(b, 2 * a)
        assert texts.pop() == text
    assert not texts


def test_arguments_by_name_and_strided() -> None:
    a = random(4, 6)
    storage = unwritten(4, 9)
    xtile.run(SCALE, {"B": storage[:, 3:], "alpha": 0.5, "A": a})
    assert np.array_equal(storage[:, 3:], 0.5 * a)
    assert np.isnan(storage[:, :3]).all()


def test_another_leading_dimension() -> None:
    kernel = SCALE.replace("memref<f32x4x?>", "memref<f32x4x?,strided<1,?>>")
    a, storage = random(4, 6), unwritten(7, 6)
    xtile.run(kernel, [2.0, a, storage[2:6]])
    assert np.array_equal(storage[2:6], 2 * a)
    assert np.isnan(storage[[0, 1, 6]]).all()


class Exporter:
    """Has nothing but DLPack's protocol."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_dlpack_is_updated_in_place() -> None:
    a, b = random(4, 6), unwritten(4, 6)
    xtile.run(SCALE, [4.0, Exporter(a), Exporter(b)])
    assert np.array_equal(b, 4 * a)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("is_versioned", [True, False])
def test_what_is_no_array_library_is_updated_in_place(dtype: Any, is_versioned: bool) -> None:
    kernel = SCALE if dtype is np.float32 else SCALE.replace("f32", "bf16")
    a, b = (array.astype(dtype, order="F") for array in (random(4, 6), unwritten(4, 6)))
    xtile.run(kernel, [4.0, *(Producer(array, is_versioned=is_versioned) for array in (a, b))])
    assert np.array_equal(b.astype(float), 4 * a.astype(float))


def test_bf16() -> None:
    kernel = SCALE.replace("f32", "bf16")
    a = random(4, 3).astype(ml_dtypes.bfloat16, order="F")
    b = unwritten(4, 3).astype(ml_dtypes.bfloat16, order="F")
    xtile.run(kernel, [2.0, a, b])
    assert np.array_equal(b.astype(float), 2 * a.astype(float))


def test_a_group_with_different_sizes_and_offsets() -> None:
    kernel = """
    func @f(%A: group<memref<f32x?x?>x?, offset: ?>) {
        %one = constant 1.0 : f32
        %i = group_id.x : index
        %a = load %A[%i] : memref<f32x?x?>
        axpby.n %one, %a, %one, %a
    }
    """
    memory = [random(20), random(30)]
    before = [entry.copy() for entry in memory]
    xtile.run(kernel, [Group(memory, offset=2, shapes=[(3, 4), (5, 5)])], grid=(2,))
    for entry, old, count in zip(memory, before, (12, 25), strict=True):
        changed = slice(2, 2 + count)
        assert np.array_equal(entry[changed], 2 * old[changed])
        entry[changed] = old[changed]
        assert np.array_equal(entry, old)


@pytest.mark.slow
def test_several_workers() -> None:
    kernel = """
    func @f(%A: memref<f32x?>) {
        %zero = constant 0 : index
        %one = constant 1 : index
        %i = group_id.x : index
        parallel {
            %x = cast %i : f32
            store %x, %A[%i]
        }
    }
    """
    a = unwritten(8)
    xtile.run(kernel, [a], grid=8, workers=2)
    assert a.tolist() == list(range(8))


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    kernel = "func @f() {\n}\n"
    xtile.run(kernel, [], grid=(2, 2), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)


@pytest.mark.parametrize("grid", [0, -1, (1, 0), (1, 1, 1, 1), (), "4", 1.5, True, (2.0,)])
def test_wrong_grids(grid: Any) -> None:
    with pytest.raises(ArgumentError) as raised:
        xtile.run("func @f() {\n}\n", [], grid=grid)
    assert str(raised.value) == f"expected a grid of up to 3 positive integers, given {grid!r}"


@pytest.mark.parametrize(
    "grid", [np.array([2, 3]), np.array(2), [np.int32(2)], range(1, 3), (np.uint8(2), 1)]
)
def test_grids_of_other_kinds(grid: Any) -> None:
    xtile.run("func @f() {\n}\n", [], grid=grid)


@pytest.mark.parametrize(
    "grid", [np.array([[1]]), np.array([1.0]), np.array([True]), np.array([]), [np.array([1])]]
)
def test_arrays_that_are_no_grids(grid: Any) -> None:
    with pytest.raises(ArgumentError, match="expected a grid of up to 3 positive integers, given"):
        xtile.run("func @f() {\n}\n", [], grid=grid)


@pytest.mark.parametrize("workers", ["2", 1.5, None, True, 0])
def test_workers_are_counted(workers: Any) -> None:
    with pytest.raises(ArgumentError, match="expected at least 1 worker, given"):
        xtile.run("func @f() {\n}\n", [], workers=workers)


NUMBERS = """func @f(%n: index, %x: f32, %G: group<memref<f32x1>x1, offset: ?>) {
}
"""


@pytest.mark.parametrize("number", [10**400, 10**5000], ids=["401", "5001"])
@pytest.mark.parametrize(
    "given",
    [
        lambda n: ([n, 1.0, None], {}),
        lambda n: ([1, -n, None], {}),
        lambda n: ([1, 1.0, Group([np.zeros(1, np.float32)], offset=n)], {}),
        lambda n: ([1, 1.0, None], {"grid": (1, n)}),
        lambda n: ([1, 1.0, None], {"block": -n}),
        lambda n: ([1, 1.0, None], {"workers": -n}),
        lambda n: ([1, 1.0, None], {"seconds": n}),
        lambda n: ([1, 1.0, None], {"build_seconds": -n}),
    ],
)
def test_messages_do_not_write_all_digits(given: Any, number: int) -> None:
    arguments, options = given(number)
    with pytest.raises(ArgumentError) as raised:
        xtile.run(NUMBERS, arguments, **options)
    assert f"integer of {401 if number == 10**400 else 5001} digits" in str(raised.value)
    assert len(str(raised.value)) < 200


def test_a_grid_may_be_a_numpy_integer() -> None:
    xtile.run("func @f() {\n}\n", [], grid=(np.int64(2), 1))


def test_no_workers() -> None:
    with pytest.raises(ArgumentError, match="expected at least 1 worker, given 0"):
        xtile.run("func @f() {\n}\n", [], workers=0)


def test_an_unknown_device() -> None:
    with pytest.raises(UnknownDeviceError) as raised:
        xtile.run(SCALE, [], device="gpu")
    assert str(raised.value) == (
        "there is no device 'gpu'; there are 'reference', 'field', 'cuda', 'hip', 'triton', "
        "'opencl', 'auto', 'pvc', 'bmg', 'dg2', 'cpu', 'cpu-avx2', 'cpu-amx', 'sm_80', "
        "'sm_86', 'sm_89', 'sm_90', 'sm_100', 'sm_103', 'sm_110', "
        "'sm_120', 'sm_121', 'gfx90a', 'gfx942', 'gfx950', 'gfx1100', "
        "'gfx1101', 'gfx1151', 'gfx1200', 'gfx1201', 'gfx1250'"
    )
    assert list(DEVICES) == ["reference", "field", "cuda", "hip", "triton", "opencl", "auto"]


def test_a_kernel_with_a_mistake() -> None:
    with pytest.raises(DiagnosticError) as raised:
        xtile.run("func @f(%A: memref<f32x4>) {\n    axpby %A, %A, %A, %A\n}\n", [None])
    assert "<text>:2" in str(raised.value)


def test_no_kernel() -> None:
    with pytest.raises(ArgumentError) as raised:
        xtile.run(3, [])  # type: ignore[arg-type]
    assert str(raised.value) == ("expected a kernel as a path, a text or a module, given an int")


def test_a_module_is_verified() -> None:
    module = xtile.parse(
        "func @f(%A: memref<f32x4>) {\n    %x = size %A[3] : index\n}\n", check=False
    )
    with pytest.raises(DiagnosticError):
        xtile.run(module, [np.zeros(4, np.float32)])


def test_the_sanitizer_reports() -> None:
    kernel = """
    func @f(%A: memref<f32x?>) {
        %c9 = constant 9 : index
        parallel {
            %x = load %A[%c9] : f32
        }
    }
    """
    with pytest.raises(SanitizerError) as raised:
        xtile.run(kernel, [random(8)], sanitize=True)
    message = str(raised.value)
    assert message.startswith("<text>:5.")
    assert "9" in message


def test_the_sanitizer_is_silent_on_a_correct_kernel() -> None:
    xtile.run(SCALE, [2.0, random(4, 6), unwritten(4, 6)], sanitize=True)


def test_an_output_must_not_be_read() -> None:
    kernel = SCALE.replace("constant 0.0", "constant 1.0")
    with pytest.raises(SanitizerError):
        xtile.run(kernel, [2.0, random(4, 6), unwritten(4, 6)], sanitize=True)


def test_a_declared_output_must_not_be_read() -> None:
    kernel = """
    func @f(%A: memref<i32x4>, %B: memref<i32x4>) {
        %one = constant 1 : i32
        axpby.n %one, %A, %one, %B
    }
    """
    a, b = np.ones(4, np.int32), np.ones(4, np.int32)
    xtile.run(kernel, [a, b], sanitize=True)
    assert b.tolist() == [2] * 4
    with pytest.raises(SanitizerError):
        xtile.run(kernel, [a, Output(b)], sanitize=True)


def test_the_sanitizer_reports_broken_promises() -> None:
    kernel = "func @f(%A: memref<f32x?> {shape_gcd=[4]}) {\n}\n"
    with pytest.raises(SanitizerError) as raised:
        xtile.run(kernel, [random(6)], sanitize=True)
    assert str(raised.value).startswith("<text>:1.9-10: error: ")


@pytest.mark.parametrize("sanitize", [False, True])
@pytest.mark.parametrize(("size", "expected"), [("?", 0), ("3", 3)])
def test_a_null_group(size: str, expected: int, sanitize: bool) -> None:
    kernel = f"""func @f(%G: group<memref<f32x4>x{size}, offset: ?>, %out: memref<i64x2>) {{
        %zero = constant 0 : index  %one = constant 1 : index
        %is = associated %G : bool
        %there = if %is -> (i64) {{ %a = constant 1 : i64 yield (%a) }}
            else {{ %b = constant 0 : i64 yield (%b) }}
        %n = size %G[0] : index
        %size = cast %n : i64
        store %there, %out[%zero]
        store %size, %out[%one]
    }}"""
    out = np.full(2, -1, np.int64)
    xtile.run(kernel, [None, out], sanitize=sanitize)
    assert out.tolist() == [0, expected]
    xtile.run(kernel, [[np.zeros(4, np.float32)] * 3, out], sanitize=sanitize)
    assert out.tolist() == [1, 3]


@pytest.mark.parametrize("sanitize", [False, True])
@pytest.mark.parametrize("size", ["?", "3"])
def test_a_load_from_a_null_group_is_located(size: str, sanitize: bool) -> None:
    kernel = f"""func @f(%G: group<memref<f32x4>x{size}>) {{
  %zero = constant 0 : index
  %a = load %G[%zero] : memref<f32x4>
}}"""
    with pytest.raises(DiagnosticError) as error:
        xtile.run(kernel, [None], sanitize=sanitize)
    first = str(error.value).splitlines()[0]
    assert first == "<text>:3.8-37: error: %G is not associated: its pointer is null"
