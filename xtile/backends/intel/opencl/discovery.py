"""Finding OpenCL's platforms, those that pip installed included.

The OpenCL loader of a process reads the list of drivers once, when the platforms are asked for the
first time. Intel's OpenCL runtime for CPUs is on PyPI, but its wheel cannot tell the loader where
it is; so the loader is given a list for that moment: the user's own drivers, and the runtime if
the user has none for CPUs.

Source: ocl-icd's manual, "OCL_ICD_VENDORS"; the Khronos ICD loader's README, "Registering ICDs".
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from ctypes import CDLL
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyopencl as cl

VENDORS_VARIABLE = "OCL_ICD_VENDORS"
"""The environment variable with a directory of `.icd` files, such a file, or a driver."""

_VENDORS_DIRECTORIES = (Path("/etc/OpenCL/vendors"), Path(sys.prefix, "etc/OpenCL/vendors"))
"""Where the system and a Conda environment list drivers."""

_CPU_RUNTIME_PACKAGE = "intel-opencl-rt"
_CPU_RUNTIME = "libintelocl.so"

_CPU_ARCHITECTURE_VARIABLE = "CL_CONFIG_CPU_TARGET_ARCH"
"""What Intel's CPU runtime compiles for; it reads the variable when it is loaded."""

_ARCHITECTURE_WITH_AMX = "sapphirerapids"

_COMPILER_OPTIONS_VARIABLE = "CL_CONFIG_LLVM_OPTIONS"
"""What Intel's CPU runtime tells its LLVM; one that does not know an option ends the process."""

_SCALARS_STAY_SCALAR = "disable-x86-scalar-to-vector"
"""An option of LLVM against wrong numbers. The CPU runtime 2026.2.0 (2026.22.10) was the first that
moves chains of scalar integers to vector registers. With AVX-512, a `not` in such a chain inverts
with a register that is never set: the comparison that should fill it with ones sets a mask."""

_AMX_FLAGS = frozenset({"amx_tile", "amx_bf16", "amx_int8"})

_AVX512_FLAGS = frozenset({"avx512f", "avx512bw", "avx512dq", "avx512vl"})

_CPU_DESCRIPTION = Path("/proc/cpuinfo")

_lock = threading.Lock()
_platforms: list[cl.Platform] | None = None


def find_platforms() -> list[cl.Platform]:
    """Returns the platforms that drivers offer, in no special order; none if there is no driver."""
    global _platforms
    import pyopencl as cl

    with _lock:
        if _platforms is None:
            if has_amx():
                os.environ.setdefault(_CPU_ARCHITECTURE_VARIABLE, _ARCHITECTURE_WITH_AMX)
            with _list_of_drivers():
                try:
                    _platforms = list(cl.get_platforms())
                except cl.LogicError:
                    # CL_PLATFORM_NOT_FOUND_KHR
                    _platforms = []
        return _platforms


def has_amx() -> bool:
    """Whether this computer's CPU multiplies matrices of bf16 and i8."""
    return cpu_flags() >= _AMX_FLAGS


def has_avx512() -> bool:
    """Whether this computer's CPU has registers of 64 bytes, where it says what it has."""
    return cpu_flags() >= _AVX512_FLAGS or not cpu_flags()


def is_amx_enabled() -> bool:
    """Whether Intel's CPU runtime uses AMX in this process."""
    return has_amx() and os.environ.get(_CPU_ARCHITECTURE_VARIABLE) == _ARCHITECTURE_WITH_AMX


def compiler_options() -> str:
    """The options of LLVM that Intel's CPU runtime compiles with in this process."""
    return os.environ.get(_COMPILER_OPTIONS_VARIABLE, "")


def cpu_flags() -> frozenset[str]:
    """What the first CPU of this computer can do, in Linux' words; empty on other systems."""
    try:
        with _CPU_DESCRIPTION.open() as lines:
            for line in lines:
                if line.startswith("flags"):
                    return frozenset(line.partition(":")[2].split())
    except OSError:
        pass
    return frozenset()


def keep_scalars_scalar(runtimes: Sequence[str]) -> None:
    """Switches off what computes wrong numbers in Intel's CPU runtimes, if they know the option."""
    options = compiler_options()
    if _SCALARS_STAY_SCALAR in options or not runtimes:
        return
    if all(map(_moves_scalars_to_vectors, runtimes)):
        os.environ[_COMPILER_OPTIONS_VARIABLE] = f"{options} -{_SCALARS_STAY_SCALAR}".lstrip()


def _moves_scalars_to_vectors(runtime: str) -> bool:
    try:
        with open(runtime, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return content.find(_SCALARS_STAY_SCALAR.encode()) >= 0
    except (OSError, ValueError):
        # The system looks up a name without a directory; an empty file cannot be mapped.
        return False


@contextmanager
def _list_of_drivers() -> Generator[None]:
    """Shows the loader all drivers, if one of them is not on the lists that it reads."""
    runtime = packaged_cpu_runtime()
    drivers = _users_drivers()
    users_runtimes = [driver for driver in drivers if _is_cpu_runtime(driver)]
    if users_runtimes or runtime is None:
        keep_scalars_scalar(users_runtimes)
        yield
        return
    keep_scalars_scalar([str(runtime)])
    before = os.environ.get(VENDORS_VARIABLE)
    with _directory_of([*drivers, str(runtime)]) as directory:
        os.environ[VENDORS_VARIABLE] = str(runtime) if directory is None else directory
        try:
            yield
        finally:
            if before is None:
                del os.environ[VENDORS_VARIABLE]
            else:
                os.environ[VENDORS_VARIABLE] = before


@contextmanager
def _directory_of(drivers: Sequence[str]) -> Generator[str | None]:
    """A directory with an `.icd` file for each driver; None if nothing can be written."""
    with ExitStack() as stack:
        try:
            directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="xtile-opencl-"))
            for number, driver in enumerate(drivers):
                Path(directory, f"{number}.icd").write_text(f"{driver}\n")
        except OSError:
            directory = None
        yield directory


def _users_drivers() -> list[str]:
    """The drivers on the lists that the loader reads, without those that are not there."""
    given = os.environ.get(VENDORS_VARIABLE)
    paths = [Path(given)] if given else list(_VENDORS_DIRECTORIES)
    drivers: list[str] = []
    for path in paths:
        if path.is_dir():
            drivers += [_driver_of(file) for file in sorted(path.glob("*.icd"))]
        elif path.suffix == ".icd":
            drivers.append(_driver_of(path))
        elif given:
            drivers.append(given)
    # A name without a directory is looked up by the system.
    return [
        driver for driver in drivers if driver and (os.sep not in driver or os.path.exists(driver))
    ]


def _driver_of(file: Path) -> str:
    """The library that an `.icd` file names; empty if it cannot be read."""
    try:
        return file.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _is_cpu_runtime(driver: str) -> bool:
    """Whether a driver is Intel's runtime for CPUs, and one that works."""
    if not os.path.basename(driver).startswith(_CPU_RUNTIME):
        return False
    try:
        # The loader will load it, too.
        CDLL(driver)
    except OSError:
        return False
    return True


def packaged_cpu_runtime() -> Path | None:
    """Intel's OpenCL runtime for CPUs that pip installed; None if it did not."""
    if sys.platform != "linux":
        return None
    usual = Path(sys.prefix, "lib", _CPU_RUNTIME)
    if usual.exists():
        return usual
    from importlib.metadata import PackageNotFoundError, files

    try:
        installed = files(_CPU_RUNTIME_PACKAGE) or []
    except PackageNotFoundError:
        return None
    paths = [Path(str(file.locate())) for file in installed if file.name == _CPU_RUNTIME]
    return next((path.resolve() for path in paths if path.exists()), None)
