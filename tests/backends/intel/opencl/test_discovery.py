"""Finding drivers without the user's help, and without standing in the way of the user's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xtile.backends.intel.opencl import discovery
from xtile.backends.intel.opencl.discovery import has_amx, is_amx_enabled, packaged_cpu_runtime

RUNTIME = str(packaged_cpu_runtime())

DEVICES = """
import os
from xtile.backends.intel.opencl.device import find_devices
print(sorted(device.target.name[:3] for device in find_devices()))
print(os.environ.get("OCL_ICD_VENDORS"))
"""
"""Prints the devices' families, and that the process's environment is as it was."""


def run(code: str, **variables: str) -> str:
    """Runs code in a process with some environment variables and no others of OpenCL's."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OCL_", "OPENCL_"))}
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr == ""
    return result.stdout


def test_nothing_needs_to_be_set() -> None:
    assert run(DEVICES) == "['cpu']\nNone\n"


def driver_file(directory: Path, name: str, driver: str) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"{driver}\n")
    return path


def test_other_drivers_do_not_matter(tmp_path: Path) -> None:
    vendors = tmp_path / "vendors"
    driver_file(vendors, "gone.icd", "/nonexistent/libgpu.so")
    driver_file(vendors, "unknown.icd", "libno_such_driver.so")
    driver_file(vendors, "empty.icd", "")
    (vendors / "binary.icd").write_bytes(b"\xff\xfe\x00")
    assert run(DEVICES, OCL_ICD_VENDORS=str(vendors)) == f"['cpu']\n{vendors}\n"


def test_the_users_own_cpu_runtime_is_not_loaded_twice(tmp_path: Path) -> None:
    path = driver_file(tmp_path / "vendors", "cpu.icd", RUNTIME)
    for given in (str(path.parent), str(path), RUNTIME):
        assert run(DEVICES, OCL_ICD_VENDORS=given) == f"['cpu']\n{given}\n"


def test_a_broken_cpu_runtime_of_the_user_is_replaced(tmp_path: Path) -> None:
    broken = tmp_path / "libintelocl.so"
    broken.write_bytes(b"no library")
    path = driver_file(tmp_path / "vendors", "cpu.icd", str(broken))
    assert run(DEVICES, OCL_ICD_VENDORS=str(path.parent)) == f"['cpu']\n{path.parent}\n"


def test_a_computer_without_room_for_temporary_files() -> None:
    code = (
        "import tempfile\n"
        "def full(**_): raise OSError('no space')\n"
        "tempfile.TemporaryDirectory = full\n"
    )
    assert run(code + DEVICES) == "['cpu']\nNone\n"


def test_a_process_that_has_asked_for_platforms_before(tmp_path: Path) -> None:
    code = (
        "import pyopencl\n"
        "try: print(len(pyopencl.get_platforms()))\n"
        "except pyopencl.LogicError: print(0)\n"
        "import xtile\n"
        "try: xtile.run('func @f() {\\n}\\n', [], device='opencl')\n"
        "except xtile.launch.DeviceError as error: print(error)\n"
        "print(xtile.run('func @f() {\\n}\\n', [], device='auto').device)\n"
    )
    tmp_path.joinpath("empty").mkdir()
    assert run(code, OCL_ICD_VENDORS=str(tmp_path / "empty")) == (
        "0\n"
        "there is no OpenCL device here; the packages for the CPU are installed, but OpenCL's "
        "loader does not show it; if the program uses pyopencl itself, launch with xtile before it "
        "asks for the platforms\n"
        "reference\n"
    )


def test_a_process_that_uses_the_runtime_itself() -> None:
    code = f"import pyopencl; pyopencl.get_platforms()\n{DEVICES}"
    assert run(code, OCL_ICD_VENDORS=RUNTIME) == f"['cpu']\n{RUNTIME}\n"


def test_without_pyopencl() -> None:
    code = (
        "import sys; sys.modules['pyopencl'] = None\n"
        "import xtile\n"
        "print(xtile.run('func @f() {\\n}\\n', [], device='auto').device)\n"
        "try: xtile.run('func @f() {\\n}\\n', [], device='opencl')\n"
        "except xtile.launch.DeviceError as error: print(str(error)[:33])\n"
    )
    assert run(code) == "reference\nthere is no OpenCL device here; t\n"


def test_the_runtime_is_found_outside_of_the_prefix(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # As after `pip install --user`.
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    found = packaged_cpu_runtime()
    assert found is not None
    assert found.samefile(RUNTIME)


def test_other_systems_have_no_packaged_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert packaged_cpu_runtime() is None


FLAGS = (
    "processor\t: 0\nmodel name\t: X\nflags\t\t: fpu sse2 {}\n\nprocessor\t: 1\nflags\t\t: fpu\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FLAGS.format("avx512f amx_bf16 amx_tile amx_int8"), True),
        (FLAGS.format("avx512f amx_bf16 amx_tile"), False),
        (FLAGS.format("avx512f"), False),
        ("CPU implementer\t: 0x41\n", False),
        (None, False),
    ],
)
def test_amx(
    text: str | None, expected: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    description = tmp_path / "cpuinfo"
    if text is not None:
        description.write_text(text)
    monkeypatch.setattr(discovery, "_CPU_DESCRIPTION", description)
    assert has_amx() == expected
    monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", "sapphirerapids")
    assert is_amx_enabled() == expected
    # The user's own choice counts.
    monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", "skx")
    assert not is_amx_enabled()


def test_amx_is_asked_for_before_the_runtime_is_loaded(tmp_path: Path) -> None:
    description = tmp_path / "cpuinfo"
    description.write_text(FLAGS.format("amx_bf16 amx_tile amx_int8"))
    code = (
        "import os; from pathlib import Path\n"
        "from xtile.backends.intel.opencl import discovery\n"
        f"discovery._CPU_DESCRIPTION = Path({str(description)!r})\n"
        "import pyopencl; real = pyopencl.get_platforms\n"
        "def get_platforms():\n"
        "    print(os.environ.get('CL_CONFIG_CPU_TARGET_ARCH')); return []\n"
        "pyopencl.get_platforms = get_platforms\n"
        "discovery.find_platforms()\n"
    )
    assert run(code) == "sapphirerapids\n"
    assert run(code, CL_CONFIG_CPU_TARGET_ARCH="skx") == "skx\n"


OPTION = "disable-x86-scalar-to-vector"


@pytest.mark.parametrize(
    ("contents", "given", "expected"),
    [
        ([f"... {OPTION} ..."], "", f"-{OPTION}"),
        ([f"... {OPTION} ..."], "-time-passes", f"-time-passes -{OPTION}"),
        ([f"... {OPTION} ..."], f"-{OPTION}=false", f"-{OPTION}=false"),
        # A runtime that does not know the option would end the process.
        (["an older runtime"], "", ""),
        ([f"... {OPTION} ...", "an older runtime"], "", ""),
        ([""], "", ""),
        ([None], "", ""),
        ([], "", ""),
    ],
)
def test_scalars_stay_scalar(
    contents: list[str | None],
    given: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    paths = [tmp_path / f"libintelocl.so.{number}" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        if content is not None:
            path.write_text(content)
    monkeypatch.setenv("CL_CONFIG_LLVM_OPTIONS", given)
    discovery.keep_scalars_scalar([str(path) for path in paths])
    assert discovery.compiler_options() == expected
