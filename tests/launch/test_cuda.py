"""`device="cuda"` without a GPU: compiling, what is said then, and what is kept."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.backends.nvidia.fake_driver import FakeApi, FakeGpu, FakeKernel, installed
from tests.seeds import fresh_generator
from xtile.arguments.errors import HostFunctionError
from xtile.backends.cache import Cache
from xtile.backends.machine_code import CUBIN
from xtile.backends.nvidia import cubins as cubins_module
from xtile.backends.nvidia.compilation import compile_program, compile_to_cubin
from xtile.backends.nvidia.cuda import driver as driver_module
from xtile.backends.sidecar import encode, read_machine_code, sidecar_path
from xtile.cli import main
from xtile.launch import ArgumentError, DeviceError
from xtile.launch import compiled as compiled_module
from xtile.launch import gpu_compiled as gpu_compiled_module
from xtile.launch.devices import AUTOMATIC
from xtile.launch.executable import Kernel
from xtile.launch.gpu import Wanted, wanted_of
from xtile.text.diagnostics import DiagnosticError, SourceWarning

AXPBY = """
func @axpby(%alpha: f32, %A: memref<f32x?x?>, %beta: f32, %B: memref<f32x?x?>) {
    axpby.n %alpha, %A, %beta, %B
}
"""

AXPBY_SIZES = [4, 8, 8, 8, 8, 4, 8, 8, 8, 8]
"""Bytes of the parameters: a memref is a pointer, two sizes and a stride."""

NO_DRIVER = "there is no NVIDIA GPU here: its driver is not installed"


@pytest.fixture(autouse=True)
def _no_driver(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Also where there is one."""

    def load_driver() -> None:
        raise DeviceError(NO_DRIVER)

    from xtile.backends.nvidia.cuda import device as device_module

    monkeypatch.setattr(device_module, "load_driver", load_driver)
    device_module.find_devices.cache_clear()


@pytest.fixture(name="cache")
def empty_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Cache]:
    """Nothing is kept, neither on disk nor in this process."""
    monkeypatch.setenv("XTILE_CACHE_DIR", str(tmp_path / "cache"))
    forget()
    yield Cache()
    forget()


def forget() -> None:
    """Forgets what this process has compiled."""
    gpu_compiled_module._kept.clear()
    gpu_compiled_module._files.clear()


@pytest.fixture(name="path")
def kernel_file(tmp_path: Path) -> Path:
    path = tmp_path / "axpby.ir"
    path.write_text(AXPBY)
    return path


def random(*shape: int) -> Any:
    return np.asfortranarray(fresh_generator().standard_normal(shape).astype(np.float32))


def error_of(kernel: Any, device: str = "cuda", **options: Any) -> str:
    with pytest.raises(DeviceError) as raised:
        xtile.run(kernel, [1, random(4, 5), 0, random(4, 5)], device=device, **options)
    return str(raised.value)


class TestWithoutGpu:
    def test_what_is_said_of_a_file(self, path: Path) -> None:
        assert error_of(path) == (
            f"{NO_DRIVER}; the kernel compiles for sm_90, and `xtile compile {path} --chip sm_90 "
            "-o k.cubin` writes the cubin"
        )

    def test_what_is_said_of_a_text(self) -> None:
        assert "`xtile compile KERNEL --chip sm_100 -o k.cubin`" in error_of(AXPBY, "sm_100")

    def test_mistakes_come_first(self) -> None:
        with pytest.raises(DiagnosticError, match="expected"):
            xtile.run("func @f(%a: f32x) {\n}\n", [], device="cuda")
        with pytest.raises(ArgumentError, match="the kernel has no function 'g'; it has 'axpby'"):
            xtile.run(AXPBY, [], device="cuda", entry="g")

    def test_what_cannot_be_compiled(self) -> None:
        kernel = (
            "func @f(%g: group<memref<f32x9>x16>) {\n    parallel {\n"
            "        %a = subgroup_local_id : i32\n        %i = cast %a : index\n"
            "        %m = load %g[%i] : memref<f32x9>\n    }\n}\n"
        )
        with pytest.raises(DiagnosticError) as raised:
            xtile.run(kernel, [], device="cuda")
        assert "memory that differs between work-items" in str(raised.value)
        with pytest.raises(DiagnosticError, match="memory that differs between work-items"):
            xtile.run(kernel + AXPBY, [], device="cuda", entry="f")

    def test_what_stands_beside_what_cannot_be_compiled(self) -> None:
        kernel = (
            "func @f(%g: group<memref<f32x9>x16>) {\n    parallel {\n"
            "        %a = subgroup_local_id : i32\n        %i = cast %a : index\n"
            "        %m = load %g[%i] : memref<f32x9>\n    }\n}\n"
        )
        arguments = [1, random(4, 5), 0, random(4, 5)]
        with pytest.raises(DeviceError, match=NO_DRIVER):
            xtile.run(kernel + AXPBY, arguments, device="cuda", entry="axpby")

    def test_what_the_assembler_cannot_compile_has_its_place(self) -> None:
        kernel = """\
cuda_tile.module @kernels {
  entry @k(%p: tile<ptr<f8E4M3FN>>) {
    %v = make_tensor_view %p, shape = [64], strides = [1] : tensor_view<64xf8E4M3FN, strides=[1]>
    return
  }
}
"""
        with pytest.raises(DiagnosticError) as raised:
            xtile.run(kernel, [np.zeros(64, ml_dtypes.float8_e4m3fn)], device="sm_80")
        (diagnostic,) = raised.value.diagnostics
        assert diagnostic.render().splitlines()[:2] == [
            (
                "<text>:3.10: error: Incompatibility with architecture 'sm_80': unsupported type "
                "'f8E4M3FN'"
            ),
            kernel.splitlines()[2],
        ]
        # The architecture has the type.
        with pytest.raises(DeviceError, match="the kernel compiles for sm_90"):
            xtile.run(kernel, [np.zeros(64, ml_dtypes.float8_e4m3fn)], device="sm_90")

    def test_the_command(self, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["run", str(path), "--device", "cuda"]) == 3
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith(f"xtile: error: {NO_DRIVER}; the kernel compiles for sm_90")
        assert captured.err.count("\n") == 1

    def test_code_of_the_host(self) -> None:
        kernel = """
        func.func @main() {
          return
        }
        gpu.module @kernels {
          gpu.func @k(%a: f32) kernel attributes {core.level = "block"} {
            gpu.return
          }
        }
        """
        with pytest.raises(HostFunctionError, match="@main is a function of the host, which runs"):
            xtile.run(kernel, [], device="cuda")
        assert "the kernel compiles for sm_90" in error_of(kernel, entry="k")

    def test_a_cubin(self, path: Path, tmp_path: Path) -> None:
        cubin = tmp_path / "k.cubin"
        xtile.compile(path, cubin)
        assert error_of(cubin) == f"{NO_DRIVER}; the cubin is for sm_90"
        assert error_of(path, binary=cubin) == f"{NO_DRIVER}; the cubin is for sm_90"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("cuda", Wanted()),
        ("cuda:0", Wanted(ordinal=0)),
        ("cuda:12", Wanted(ordinal=12)),
        ("sm_100", Wanted(chip="sm_100")),
        *((name, None) for name in ("cuda:", "cuda:x", "cuda:-1", "cuda:²", "sm_7", "sm", "gpu")),
    ],
)
def test_names_of_devices(name: str, wanted: Wanted | None) -> None:
    assert wanted_of(name) == wanted


@pytest.mark.parametrize("name", ["cuda:x", "sm_75"])
def test_an_unknown_device(name: str) -> None:
    with pytest.raises(DeviceError, match=f"there is no device '{name}'; there are 'reference', "):
        xtile.run(AXPBY, [], device=name)


class TestCompiled:
    def test_once_for_each_process(self, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
        readings: list[str] = []
        read = compiled_module.parse_source

        def parse_source(source: Any, *arguments: Any) -> Any:
            readings.append(source.name)
            return read(source, *arguments)

        monkeypatch.setattr(compiled_module, "parse_source", parse_source)
        runs: list[str] = []
        assemble = cubins_module.assemble

        def counted(bytecode: bytes, chip: str, *arguments: Any, **options: Any) -> bytes:
            runs.append(chip)
            return assemble(bytecode, chip, *arguments, **options)

        monkeypatch.setattr(cubins_module, "assemble", counted)
        for _ in range(2):
            error_of(AXPBY)
            forget()
        assert (len(readings), runs) == (1, ["sm_90"])
        assert dict(cache.usage().entries) == {"cubin": 1, "program": 1}
        error_of(AXPBY, "sm_80")
        assert runs == ["sm_90", "sm_80"]

    def test_a_file_that_changes(self, cache: Cache, path: Path) -> None:
        error_of(path)
        path.write_text(AXPBY.replace("@axpby", "@other"))
        with pytest.raises(ArgumentError, match="it has 'other'"):
            xtile.run(path, [], device="cuda", entry="axpby")

    def test_warnings_are_shown_each_time(self, cache: Cache) -> None:
        old = "func @f(%a: group<memref<f32x4>>) {\n}\n"
        told: list[list[str]] = []
        for _ in range(3):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                with pytest.raises(DeviceError):
                    xtile.run(old, [[]], device="cuda")
            told.append([str(w.message) for w in caught if w.category is SourceWarning])
        assert told[0]
        assert told[1:] == told[:1] * 2

    def test_a_limit_of_time(self, cache: Cache) -> None:
        message = error_of(AXPBY, build_seconds=0.001)
        assert "for sm_90, cannot build the kernel: it was not done after 0.001 s" in message


class TestAutomatic:
    def test_a_gpu_comes_first(self, monkeypatch: pytest.MonkeyPatch, cache: Cache) -> None:
        api = FakeApi(kernels={"axpby": FakeKernel(AXPBY_SIZES, lambda *values: None)})
        with installed(monkeypatch, api):
            arrays = random(4, 5), random(4, 5)
            result = xtile.run(AXPBY, [1, arrays[0], 0, arrays[1]], device="auto")
        assert result.device == "sm_90 (Fake H200)"

    def test_what_it_cannot_run_goes_on(
        self, monkeypatch: pytest.MonkeyPatch, cache: Cache
    ) -> None:
        kernel = (
            "func @f(%g: group<memref<f32x9>x16>) {\n    parallel {\n"
            "        %a = subgroup_local_id : i32\n        %i = cast %a : index\n"
            "        %m = load %g[%i] : memref<f32x9>\n    }\n}\n"
        )
        with installed(monkeypatch, FakeApi()):
            memory = [np.zeros(9, np.float32) for _ in range(16)]
            result = xtile.run(kernel, [memory], device="auto")
        assert result.device.startswith("cpu")

    def test_a_gpu_that_is_too_old(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with installed(monkeypatch, FakeApi((FakeGpu("Old", (7, 5)),))):
            executable = AUTOMATIC.load(Kernel(AXPBY, None))
        assert type(executable).__name__ == "OpenclExecutable"


class TestDriver:
    @pytest.fixture(autouse=True)
    def _library(self, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore
        monkeypatch.setattr(driver_module, "has_library", lambda: True)

    def test_no_library(self, monkeypatch: pytest.MonkeyPatch) -> None:
        imported: list[str] = []
        monkeypatch.setattr(driver_module, "import_module", imported.append)
        monkeypatch.setattr(driver_module, "has_library", lambda: False)
        with pytest.raises(DeviceError, match=r"^there is no NVIDIA GPU here: its driver is not"):
            driver_module.load_driver.__wrapped__()
        # Loading the package takes a tenth of a second.
        assert not imported

    def test_a_library_that_is_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(driver_module, "_LIBRARY", "libc.so.6")
        assert driver_module.has_library()
        monkeypatch.setattr(driver_module, "_LIBRARY", "libno_such.so.1")
        assert driver_module.has_library() == (sys.platform != "linux")

    def test_no_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def import_module(name: str) -> Any:
            raise ModuleNotFoundError(name)

        monkeypatch.setattr(driver_module, "import_module", import_module)
        with pytest.raises(DeviceError) as raised:
            driver_module.load_driver.__wrapped__()
        assert str(raised.value) == (
            "there is no NVIDIA GPU to use: the package cuda-bindings is missing; "
            "pip install 'xtile[nvidia]'"
        )

    @pytest.mark.parametrize("error", [RuntimeError("Failed to dlopen"), OSError("libcuda")])
    def test_no_driver(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        class Api:
            def cuInit(self, flags: int) -> Any:
                raise error

        monkeypatch.setattr(driver_module, "import_module", lambda name: Api())  # pyright: ignore
        with pytest.raises(DeviceError, match=r"^there is no NVIDIA GPU here: its driver is not"):
            driver_module.load_driver.__wrapped__()

    def test_a_driver_that_fails(self, monkeypatch: pytest.MonkeyPatch) -> None:
        api = FakeApi(failures={"cuInit": 1})
        monkeypatch.setattr(driver_module, "import_module", lambda name: api)  # pyright: ignore
        with pytest.raises(DeviceError, match="cuInit: CUDA_ERROR_INVALID_VALUE: what the driver"):
            driver_module.load_driver.__wrapped__()


class TestBinaries:
    @pytest.fixture(name="cubin")
    def compiled(self, tmp_path: Path) -> Path:
        path = tmp_path / "k.cubin"
        xtile.compile(AXPBY, path, chip="sm_90")
        return path

    def run(self, monkeypatch: pytest.MonkeyPatch, kernel: Any, **options: Any) -> str:
        api = FakeApi(kernels={"axpby": FakeKernel(AXPBY_SIZES, lambda *values: None)})
        arguments = [1, random(4, 5), 0, random(4, 5)]
        with installed(monkeypatch, api):
            return xtile.run(kernel, arguments, device="cuda", **options).device

    def test_with_the_source_and_the_sidecar(
        self, monkeypatch: pytest.MonkeyPatch, cubin: Path
    ) -> None:
        assert self.run(monkeypatch, AXPBY, binary=cubin) == "sm_90 (Fake H200)"

    def test_with_the_source_alone(self, monkeypatch: pytest.MonkeyPatch, cubin: Path) -> None:
        sidecar_path(cubin).unlink()
        assert self.run(monkeypatch, AXPBY, binary=cubin) == "sm_90 (Fake H200)"

    def test_with_the_sidecar_alone(self, monkeypatch: pytest.MonkeyPatch, cubin: Path) -> None:
        assert self.run(monkeypatch, cubin) == "sm_90 (Fake H200)"

    def test_of_another_source(self, monkeypatch: pytest.MonkeyPatch, cubin: Path) -> None:
        with pytest.raises(ArgumentError) as raised:
            self.run(monkeypatch, AXPBY.replace("f32", "f64"), binary=cubin)
        assert str(raised.value) == (
            f"the sidecar of {cubin} has no kernel @axpby with the parameters of the kernel's "
            "source; compile it again with `xtile compile`"
        )

    def test_both_as_the_kernel(self, monkeypatch: pytest.MonkeyPatch, cubin: Path) -> None:
        with pytest.raises(
            ArgumentError, match="machine code is given as the kernel; leave the binary"
        ):
            self.run(monkeypatch, cubin, binary=cubin)

    def test_the_command_on_another_device(
        self, cubin: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        for device in ("reference", "opencl"):
            assert main(["run", str(cubin), "--device", device]) == 2
            assert capsys.readouterr().err == (
                f"xtile: error: {cubin}: expected a file ending with .ir, .mlir, .ttir, "
                ".ttgir or .tileirbc; a "
                "cubin runs with --device cuda\n"
            )

    def test_on_the_reference_device(self, cubin: Path) -> None:
        with pytest.raises(ArgumentError, match="the device 'reference' runs no binaries; use an"):
            xtile.run(AXPBY, [], binary=cubin)

    def test_what_is_written_tells_everything(self, cubin: Path) -> None:
        written = read_machine_code(cubin, CUBIN)
        made = compile_to_cubin(xtile.parse(AXPBY))
        assert written == made
        assert sidecar_path(cubin).read_text() == encode(made)
        assert written.signatures["axpby"].written == {3}

    def test_bytecode(self, tmp_path: Path) -> None:
        path = tmp_path / "k.tileirbc"
        xtile.compile(AXPBY, path, chip="sm_100")
        assert path.read_bytes() == compile_program(xtile.parse(AXPBY), "sm_100").bytecode
