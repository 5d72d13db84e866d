"""Launches through `xtile.run` on the OpenCL device of this computer's CPU."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pyopencl as cl
import pyopencl.array
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.backends.cache import Cache
from xtile.backends.intel.opencl.setup import available_devices
from xtile.launch import ArgumentError, DeviceArray, DeviceError, Group, LaunchResult, Output
from xtile.launch import compiled as compiled_module
from xtile.launch import opencl as opencl_module
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity, SourceWarning
from xtile.text.source import Span

SCALE = """
func @scale(%alpha: f32, %A: memref<f32x?x?>, %B: memref<f32x?x?>) {
    %zero = constant 0 : index
    %m = size %A[0] : index
    %n = size %A[1] : index
    foreach (%i,%j)=(%zero,%zero),(%m,%n) {
        %a = load %A[%i,%j] : f32
        %b = mul %alpha, %a : f32
        store %b, %B[%i,%j]
    }
}
"""

SHIFT = """
; Work-item i moves element i of the source one place on, and both are the same memory.
func @shift(%A: memref<i32x?>, %B: memref<i32x?>) {
    parallel {
        %zero = constant 0 : index
        %one = constant 1 : i32
        %a = load %A[%zero] : i32
        %b = add %a, %one : i32
        store %b, %B[%zero]
    }
}
"""


def random(*shape: int) -> Any:
    return np.asfortranarray(fresh_generator().standard_normal(shape).astype(np.float32))


def unwritten(*shape: int) -> Any:
    return np.full(shape, np.nan, np.float32, order="F")


@pytest.fixture(name="cache")
def empty_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cache:
    """Nothing is kept, neither on disk nor in this process."""
    monkeypatch.setenv("XTILE_CACHE_DIR", str(tmp_path / "cache"))
    forget()
    return Cache()


def forget() -> None:
    """Forgets what this process has compiled and built."""
    from xtile.backends.intel.opencl import session

    opencl_module._compiled.clear()
    session._sessions.clear()


@pytest.fixture(name="readings")
def count_readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the texts that are read."""
    readings: list[str] = []
    read = compiled_module.parse_source

    def parse_source(source: Any, *arguments: Any) -> Any:
        readings.append(source.name)
        return read(source, *arguments)

    monkeypatch.setattr(compiled_module, "parse_source", parse_source)
    return readings


# Scaling by a power of two is exact, so the tests that do no other arithmetic compare for equality.


@pytest.mark.parametrize("device", ["opencl", "auto", available_devices()[-1].target.name])
@pytest.mark.parametrize("how", ["text", "path", "module"])
def test_kinds_of_kernels_and_devices(how: str, device: str, tmp_path: Path) -> None:
    path = tmp_path / "scale.ir"
    path.write_text(SCALE)
    kernel = {"text": SCALE, "path": path, "module": xtile.parse(SCALE)}[how]
    a, b = random(4, 6), unwritten(4, 6)
    result = xtile.run(kernel, [2.0, a, b], device=device)
    assert np.array_equal(b, 2 * a)
    assert result.device == str(available_devices()[0])
    assert result.seconds is not None
    assert 0 < result.seconds < 100


def test_the_reference_device_has_no_clock() -> None:
    result = xtile.run(SCALE, [2.0, random(4, 6), unwritten(4, 6)])
    assert result == LaunchResult("reference", None)


def test_who_sanitizes() -> None:
    a, b = random(4, 6), unwritten(4, 6)
    assert xtile.run(SCALE, [2.0, a, b], device="auto", sanitize=True).device == "reference"
    with pytest.raises(ArgumentError, match="the device 'opencl' cannot sanitize"):
        xtile.run(SCALE, [2.0, a, b], device="opencl", sanitize=True)


def test_views_with_offsets_and_strides() -> None:
    a, storage = random(9, 8), unwritten(7, 9)
    given = a[2:6, ::2]
    target = storage[1:5, 3:7]
    xtile.run(SCALE, {"B": Output(target), "alpha": 0.5, "A": given}, device="opencl")
    assert np.array_equal(target, 0.5 * given)
    target[...] = np.nan
    assert np.isnan(storage).all()


def test_two_views_of_one_array_are_one_memory() -> None:
    memory = np.arange(10, dtype=np.int32)
    xtile.run(SHIFT, [memory[3:], memory[3:8]], device="opencl")
    assert memory.tolist() == [0, 1, 2, 4, 4, 5, 6, 7, 8, 9]


class Exporter:
    """Has nothing but DLPack's protocol."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


def test_dlpack() -> None:
    a, b = random(4, 6), unwritten(4, 6)
    xtile.run(SCALE, [4.0, Exporter(a), Exporter(b)], device="opencl")
    assert np.array_equal(b, 4 * a)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("i8", np.int8),
        ("i16", np.int16),
        ("i32", np.int32),
        ("i64", np.int64),
        ("index", np.int64),
        ("bf16", ml_dtypes.bfloat16),
        ("f16", np.float16),
        ("f32", np.float32),
        ("f64", np.float64),
        ("c32", np.complex64),
        ("c64", np.complex128),
    ],
)
def test_scalars_and_memory_of_every_type(name: str, dtype: Any) -> None:
    kernel = f"""
    func @f(%a: {name}, %A: memref<{name}x2>) {{
        parallel {{
            %zero = constant 0 : index
            %one = constant 1 : index
            %b = load %A[%zero] : {name}
            %c = add %a, %b : {name}
            store %c, %A[%one]
        }}
    }}
    """
    number = 3 + 2j if name.startswith("c") else 3
    array = np.array([number, 77], dtype)
    xtile.run(kernel, [number, array], device="opencl")
    assert array.tolist() == [number, 2 * number]


def test_groups_with_offsets_and_null_pointers() -> None:
    kernel = """
    func @f(%A: group<memref<f32x?>x?, offset: ?>, %N: memref<i32x?>) {
        parallel {
            %zero = constant 0 : index
            %two = constant 2.0 : f32
            %one = constant 1 : i32
            %i = group_id.x : index
            %a = load %A[%i] : memref<f32x?>
            %is = associated %a : bool
            if %is {
                %n = size %a[0] : index
                %x = load %a[%zero] : f32
                %y = mul %two, %x : f32
                store %y, %a[%zero]
                %m = cast %n : i32
                store %m, %N[%i]
            }
        }
    }
    """
    memory = [random(20), None, random(30)]
    before = [None if entry is None else entry.copy() for entry in memory]
    sizes = np.full(3, -1, np.int32)
    xtile.run(
        kernel,
        [Group(memory, offset=2, shapes=[(5,), None, (7,)]), sizes],
        grid=3,
        device="opencl",
    )
    # The pointer that is moved by the offset is not null.
    assert sizes.tolist()[::2] == [5, 7]
    for entry, old in zip(memory[::2], before[::2], strict=True):
        assert entry[2] == 2 * old[2]
        entry[2] = old[2]
        assert np.array_equal(entry, old)


def test_an_integer_may_be_an_address() -> None:
    kernel = """
    gpu.module @m {
      gpu.func @f(%a: index, %out: memref<1xindex>) kernel {
        %zero = arith.constant 0 : index
        memref.store %a, %out[%zero] : memref<1xindex>
        gpu.return
      }
    }
    """
    array, out = np.zeros(5), np.zeros(1, np.int64)
    xtile.run(kernel, [array, out], device="opencl")
    assert out[0] == array.ctypes.data


def test_blocks() -> None:
    kernel = """
    gpu.module @m {
      gpu.func @f(%out: memref<6x4xi32>) kernel {
        %x = gpu.global_id x
        %y = gpu.global_id y
        %n = gpu.block_dim x
        %v = arith.index_cast %n : index to i32
        memref.store %v, %out[%y, %x] : memref<6x4xi32>
        gpu.return
      }
    }
    """
    out = np.zeros((6, 4), np.int32)
    xtile.run(kernel, [out], grid=(2, 2), block=(2, 3), device="opencl")
    assert (out == 2).all()


def test_what_cannot_be_compiled_is_located() -> None:
    with pytest.raises(DiagnosticError) as caught:
        xtile.run("func @f(%a: bool) {\n}\n", [True], device="opencl")
    assert "<text>:1.1-19: error: a truth value cannot be passed to a kernel" in str(caught.value)


def test_wrong_arguments_are_told_as_on_the_reference_device() -> None:
    with pytest.raises(ArgumentError) as caught:
        xtile.run(SCALE, [2.0, random(4, 6), unwritten(4, 6).astype(float)], device="opencl")
    assert str(caught.value).startswith(
        "argument 'B' (memref<f32x?x?>): expected elements of type float32"
    )
    read_only = unwritten(4, 6)
    read_only.flags.writeable = False
    with pytest.raises(ArgumentError, match="the kernel writes to it, but the given array is read"):
        xtile.run(SCALE, [2.0, read_only, read_only], device="opencl")


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    xtile.run(
        "func @f() {\n}\n",
        [],
        grid=(2, 2),
        device="opencl",
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(4, 4)]


def test_too_large_a_grid() -> None:
    with pytest.raises(ArgumentError, match="has 4294967296 work-groups in x, but a launch can"):
        xtile.run("func @f() {\n}\n", [], grid=2**32, device="opencl")
    with pytest.raises(ArgumentError, match="expected a grid of up to 3 positive integers"):
        xtile.run("func @f() {\n}\n", [], grid=-1, device="opencl")


class TestPyopencl:
    @pytest.fixture(name="context")
    def make_context(self) -> cl.Context:
        return cl.Context([available_devices()[-1].handle])

    @pytest.fixture(name="queue")
    def make_queue(self, context: cl.Context) -> cl.CommandQueue:
        return cl.CommandQueue(context)

    def test_arrays_in_a_queue_of_the_caller(self, queue: cl.CommandQueue) -> None:
        a = random(4, 6)
        given = cl.array.to_device(queue, a)
        result = cl.array.zeros(queue, (4, 6), np.float32, order="F")
        launched = xtile.run(SCALE, [2.0, given, result], device=queue)
        assert np.array_equal(result.get(), 2 * a)
        # The queue measures no times.
        assert launched.seconds is None

    def test_buffers(self, queue: cl.CommandQueue) -> None:
        a = random(4, 6)
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        given, result = (cl.Buffer(queue.context, flags, hostbuf=a) for _ in range(2))
        arrays = [DeviceArray(buffer, (4, 6)) for buffer in (given, result)]
        xtile.run(SCALE, [2.0, *arrays], device=queue)
        b = unwritten(4, 6)
        cl.enqueue_copy(queue, b, result)
        assert np.array_equal(b, 2 * a)

    def test_svm(self, queue: cl.CommandQueue) -> None:
        a = random(4, 6)
        flags = cl.svm_mem_flags.READ_WRITE
        result = cl.SVMAllocation(queue.context, a.nbytes, 0, flags)
        xtile.run(SCALE, [2.0, cl.SVM(a), DeviceArray(result, (4, 6))], device=queue)
        b = unwritten(4, 6)
        cl.enqueue_copy(queue, cl.SVM(b), result)
        assert np.array_equal(b, 2 * a)

    def test_a_queue_with_a_clock(self, queue: cl.CommandQueue) -> None:
        properties = cl.command_queue_properties.PROFILING_ENABLE
        timed = cl.CommandQueue(queue.context, properties=properties)
        result = xtile.run(SCALE, [2.0, random(40, 60), unwritten(40, 60)], device=timed)
        assert result.seconds is not None
        assert result.seconds > 0

    def test_the_reference_device_has_no_such_memory(self, queue: cl.CommandQueue) -> None:
        given = cl.array.to_device(queue, random(4, 6))
        with pytest.raises(ArgumentError) as caught:
            xtile.run(SCALE, [2.0, given, unwritten(4, 6)])
        assert str(caught.value) == (
            "argument 'A' (memref<f32x?x?>): memory of an OpenCL device is given, but "
            "the kernel runs on the device 'reference'"
        )

    def test_what_is_no_device(self) -> None:
        with pytest.raises(ArgumentError, match="expected the name of a device, a pyopencl"):
            xtile.run(SCALE, [], device=3)  # type: ignore[arg-type]

    def test_many_contexts(self) -> None:
        device = available_devices()[-1].handle
        for _ in range(20):
            context = cl.Context([device])
            a, b = random(4, 6), unwritten(4, 6)
            xtile.run(SCALE, [2.0, a, b], device=cl.CommandQueue(context))
            assert np.array_equal(b, 2 * a)

    def test_a_context_that_is_gone(self) -> None:
        queue = cl.CommandQueue(cl.Context([available_devices()[-1].handle]))
        with pytest.raises(ArgumentError) as caught:
            xtile.run(SCALE, [2.0, random(4, 6), unwritten(4, 6)], device=queue)
        assert str(caught.value) == (
            "the queue cannot be used: clRetainContext failed: INVALID_CONTEXT; its context must "
            "be kept as long as the queue"
        )


class TestCache:
    def test_a_text_is_read_once(self, cache: Cache, readings: list[str]) -> None:
        for _ in range(2):
            for _ in range(2):
                a, b = random(4, 6), unwritten(4, 6)
                xtile.run(SCALE, [2.0, a, b], device="opencl")
                assert np.array_equal(b, 2 * a)
            # What comes next is as in a new process.
            forget()
        assert readings == ["<text>"]
        assert cache.usage().entries == {"binary": 1, "program": 1}

    def test_other_texts_are_other_kernels(self, cache: Cache, readings: list[str]) -> None:
        for factor in (2.0, 4.0, 2.0, 4.0):
            kernel = SCALE.replace("mul %alpha, %a", "mul %f, %a").replace(
                "        %b", f"        %f = constant {factor} : f32\n        %b"
            )
            a, b = random(4, 6), unwritten(4, 6)
            xtile.run(kernel, [1.0, a, b], device="opencl")
            assert np.array_equal(b, factor * a)
        assert len(readings) == 2

    def test_a_file_that_changes(self, cache: Cache, tmp_path: Path) -> None:
        path = tmp_path / "kernel.ir"
        for operation, expected in (("mul", 8.0), ("add", 6.0)):
            path.write_text(SCALE.replace("mul", operation))
            b = unwritten(1, 1)
            xtile.run(path, [2.0, np.full((1, 1), 4, np.float32), b], device="opencl")
            assert b[0, 0] == expected

    def test_a_module_that_changes(self, cache: Cache) -> None:
        module = xtile.parse(SCALE)
        b = unwritten(1, 1)
        four = np.full((1, 1), 4, np.float32)
        xtile.run(module, [2.0, four, b], device="opencl")
        assert b[0, 0] == 8
        from xdsl.rewriter import Rewriter

        from xtile.dialects.tensorlang.ops.arithmetic import AddOp, MulOp

        (old,) = (op for op in module.walk() if isinstance(op, MulOp))
        new = AddOp.create(operands=old.operands, result_types=[old.results[0].type])
        Rewriter.replace_op(old, new)
        xtile.run(module, [2.0, four, b], device="opencl")
        assert b[0, 0] == 6

    @pytest.mark.parametrize("cut", [0, 20, -1])
    def test_damaged_entries(self, cut: int, cache: Cache, readings: list[str]) -> None:
        for _ in range(2):
            a, b = random(4, 6), unwritten(4, 6)
            xtile.run(SCALE, [2.0, a, b], device="opencl")
            assert np.array_equal(b, 2 * a)
            for path in cache.directory.iterdir():
                path.write_bytes(path.read_bytes()[:cut])
            forget()
        assert len(readings) == 2

    def test_no_directory_for_the_cache(
        self, cache: Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        file = tmp_path / "file"
        file.write_text("")
        monkeypatch.setenv("XTILE_CACHE_DIR", str(file / "cache"))
        a, b = random(4, 6), unwritten(4, 6)
        xtile.run(SCALE, [2.0, a, b], device="opencl")
        assert np.array_equal(b, 2 * a)

    def test_warnings_come_each_time(
        self, cache: Cache, readings: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def warn(module: Any, diagnostics: Diagnostics, source: Any) -> None:
            note = Diagnostic(Severity.NOTE, "here", source, Span(1, 5))
            diagnostics.warning(source, Span(6, 8), "old spelling", [note])
            diagnostics.warning(None, None, "something else")

        monkeypatch.setattr("xtile.dialects.reading.verify_module", warn)
        told: list[list[str]] = []
        for device in ("reference", "opencl", "opencl", "opencl"):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                xtile.run("\nfunc @f() {\n}\n", [], device=device)
            told.append([str(w.message) for w in caught if w.category is SourceWarning])
            forget()
        assert readings == ["<text>"]
        assert told[0][0].startswith("<text>:2.6-7: warning: old spelling\nfunc @f() {\n     ~~")
        assert told[0][0].endswith("~~~~")
        assert told[0][1] == "warning: something else"
        assert told[1:] == told[:1] * 3

    def test_errors_are_not_kept(self, cache: Cache) -> None:
        for _ in range(2):
            with pytest.raises(DiagnosticError):
                xtile.run("func @f( {\n}\n", [], device="opencl")
        assert cache.usage().entries == {}

    def test_promises_are_kept_in_mind(self, cache: Cache, readings: list[str]) -> None:
        kernel = "func @f(%A: memref<f32x?> {alignment=64, shape_gcd=[4]}) {\n}\n"
        for _ in range(2):
            xtile.run(kernel, [np.zeros(8, np.float32)], device="opencl")
            with pytest.raises(ArgumentError, match=r"divisible by shape_gcd=\[4\]"):
                xtile.run(kernel, [np.zeros(6, np.float32)], device="opencl")
            forget()
        assert len(readings) == 1

    def test_entries_and_functions_of_the_host(self, cache: Cache, readings: list[str]) -> None:
        kernel = """
        func.func @main() { return }
        gpu.module @m {
          gpu.func @one(%out: memref<i32>) kernel {
            %v = arith.constant 1 : i32
            memref.store %v, %out[] : memref<i32>
            gpu.return
          }
          gpu.func @two(%out: memref<i32>) kernel {
            %v = arith.constant 2 : i32
            memref.store %v, %out[] : memref<i32>
            gpu.return
          }
        }
        """
        for _ in range(2):
            for entry, expected in (("one", 1), ("two", 2)):
                out = np.zeros((), np.int32)
                xtile.run(kernel, [out], entry=entry, device="opencl")
                assert out == expected
            with pytest.raises(ArgumentError, match="the kernel has no function 'three'; it has"):
                xtile.run(kernel, [], entry="three", device="opencl")
            xtile.run(kernel, [], device="opencl")  # The host's main.
            forget()
        assert len(readings) == 1

    def test_kernels_beside_one_that_the_device_cannot_run(
        self, cache: Cache, readings: list[str]
    ) -> None:
        kernel = """
        gpu.module @m {
          gpu.func @one(%out: memref<i32>) kernel {
            %v = arith.constant 7 : i32
            memref.store %v, %out[] : memref<i32>
            gpu.return
          }
          gpu.func @tiles(%out: memref<4xf32>) kernel
              attributes {core.level = "tile", known_block_size = array<i32: 1, 1, 1>} {
            %v = arith.constant dense<1.0> : vector<4xf32>
            %c0 = arith.constant 0 : index
            %w = arith.addf %v, %v {core.rounding = "upward"} : vector<4xf32>
            vector.store %w, %out[%c0] : memref<4xf32>, vector<4xf32>
            gpu.return
          }
        }
        """
        refused = r"<text>:12.\S+: error: arith.addf with core.rounding cannot be translated to"
        for _ in range(2):
            out = np.zeros((), np.int32)
            xtile.run(kernel, [out], entry="one", device="opencl")
            assert out == 7
            with pytest.raises(DiagnosticError, match=refused):
                xtile.run(kernel, [np.zeros(4, np.float32)], entry="tiles", device="opencl")
            with pytest.raises(DiagnosticError, match=refused):
                xtile.run(kernel, [out], device="opencl")
            forget()

    def test_mistakes_beside_functions_of_the_host_are_located(self, cache: Cache) -> None:
        kernel = """
        func.func @main() { return }
        gpu.module @m {
          gpu.func @f(%a: i1) kernel {
            gpu.return
          }
        }
        """
        with pytest.raises(DiagnosticError, match=r"<text>:4.11-\S+: error: a truth value"):
            xtile.run(kernel, [True], entry="f", device="opencl")

    def test_many_threads(self, cache: Cache, readings: list[str]) -> None:
        failures: list[Any] = []

        def work(number: int) -> None:
            try:
                for count in range(20):
                    a, b = random(4, 6 + number), unwritten(4, 6 + number)
                    xtile.run(SCALE, [2.0**count, a, b], device="opencl")
                    if not np.array_equal(b, 2.0**count * a):
                        failures.append((number, count))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert readings == ["<text>"]


def test_no_such_device() -> None:
    missing = next(
        name for name in ("pvc", "bmg") if name not in {d.target.name for d in available_devices()}
    )
    with pytest.raises(DeviceError) as caught:
        xtile.run(SCALE, [], device=missing)
    there = ", ".join(f"'{device.target.name}'" for device in available_devices())
    assert str(caught.value) == f"there is no OpenCL device '{missing}' here; there is {there}"


def test_a_limit_of_time_for_the_build(cache: Cache) -> None:
    a, b = random(4, 6), unwritten(4, 6)
    with pytest.raises(
        DeviceError, match=r"cannot build the kernel: it was not done after 0.001 s"
    ):
        xtile.run(SCALE, [2.0, a, b], device="opencl", build_seconds=0.001)
    assert np.isnan(b).all()
    xtile.run(SCALE, [2.0, a, b], device="opencl", build_seconds=100)
    assert np.array_equal(b, 2 * a)


@pytest.mark.parametrize("seconds", [0, -1.5, float("inf"), float("nan"), "1", True])
def test_a_limit_of_time_that_is_none(seconds: Any) -> None:
    with pytest.raises(ArgumentError, match="expected build_seconds as a positive number, given"):
        xtile.run(SCALE, [2.0, random(4, 6), unwritten(4, 6)], build_seconds=seconds)


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("")
    script = f"""
import numpy, xtile
B = numpy.zeros((4, 6), numpy.float32, order="F")
xtile.run({SCALE!r}, [2.0, numpy.ones_like(B), B], device="opencl")
assert (B == 2).all()
"""
    given = {"HOME": str(home), "XDG_CACHE_HOME": str(home), "XTILE_CACHE_DIR": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
