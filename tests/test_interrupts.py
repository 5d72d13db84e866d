"""Ctrl-C, SIGTERM and limits of time: what ends a launch, and that no process is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import xtile
from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.command import EXIT_TOOL_FAILED, run_command
from xtile.launch.time_limit import time_limit

ENDLESS = """
func @endless(%A: memref<i64x4>) {
    %zero = constant 0 : index
    %one = constant 1 : index
    %n = constant 9000000000000000000 : index
    parallel {
      store 1 : i64, %A[%one]
      for %i = %zero, %n {
        %v = load %A[%zero] : i64
        %w = cast %i : i64
        %x = xor %v, %w : i64
        %y = mul %x, %x : i64
        store %y, %A[%zero]
      }
    }
}
""".replace("store 1 : i64, %A[%one]", "%started = constant 1 : i64\n store %started, %A[%one]")

HOST = """
func.func @main() {
  %true = arith.constant true
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    scf.yield
  }
  return
}
"""

TILES = """
cuda_tile.module @kernels {
  entry @endless() {
    loop {
      continue
    }
    return
  }
}
"""

ENDLESS_COMMANDS = [
    pytest.param("k.ir", ENDLESS, ["--arg", "A=zeros:4"], id="reference"),
    pytest.param("k.ir", ENDLESS, ["--arg", "A=zeros:4", "--sanitize"], id="sanitizer"),
    pytest.param(
        "k.ir", ENDLESS, ["--arg", "A=zeros:4", "--workers", "2", "--grid", "2"], id="workers"
    ),
    pytest.param("k.mlir", HOST, [], id="host"),
    pytest.param("k.mlir", TILES, [], id="tiles"),
    pytest.param("k.ir", ENDLESS, ["--arg", "A=zeros:4", "--device", "opencl"], id="opencl"),
]

PATIENCE = 60.0


@pytest.fixture(name="start")
def make_start(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    def start(name: str, text: str, options: list[str]) -> subprocess.Popen[str]:
        kernel = tmp_path / name
        kernel.write_text(text)
        return subprocess.Popen(
            [sys.executable, "-m", "xtile.cli", "run", str(kernel), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    return start


@pytest.mark.parametrize(("name", "text", "options"), ENDLESS_COMMANDS)
def test_a_limit_of_time(
    start: Callable[..., subprocess.Popen[str]], name: str, text: str, options: list[str]
) -> None:
    process = start(name, text, [*options, "--seconds", "0.5"])
    said, _ = process.communicate(timeout=PATIENCE)
    function = "main" if text is HOST else "endless"
    assert process.returncode == EXIT_TOOL_FAILED
    assert said.startswith(f"xtile: error: @{function} was not done after 0.5 s"), said
    assert said.count("\n") == 1
    assert_all_ended(process.pid)


@pytest.mark.parametrize(
    ("name", "text", "options", "number"),
    [
        (*case.values, number)
        for case in ENDLESS_COMMANDS
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
        if number == signal.SIGINT or case.id in ("workers", "opencl")
    ],
)
def test_a_signal_ends_all_processes(
    start: Callable[..., subprocess.Popen[str]],
    name: str,
    text: str,
    options: list[str],
    number: int,
) -> None:
    process = start(name, text, options)
    wait_until_it_computes(process)
    os.kill(process.pid, number)
    said, _ = process.communicate(timeout=PATIENCE)
    expected = -number if number == signal.SIGKILL else 128 + number
    assert (process.returncode, said) == (expected, "")
    assert_all_ended(process.pid)


def test_the_signal_of_a_terminal(start: Callable[..., subprocess.Popen[str]]) -> None:
    process = start("k.ir", ENDLESS, ["--arg", "A=zeros:4", "--workers", "2", "--grid", "2"])
    wait_until_it_computes(process)
    os.killpg(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (130, "")
    assert_all_ended(process.pid)


IN_PYTHON = """
import os, signal, sys, threading, time
import numpy as np
import xtile
from xtile.launch import DeviceError

array, kernel, device, seconds = np.zeros(4, np.int64), *sys.argv[1:3], eval(sys.argv[3])
def interrupt():
    while array[1] == 0:
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)
if seconds is None:
    threading.Thread(target=interrupt, daemon=True).start()
try:
    xtile.run(kernel, [array], device=device, seconds=seconds)
except (KeyboardInterrupt, DeviceError) as error:
    print(type(error).__name__, array[1])
    sys.exit(7)
"""


@pytest.mark.parametrize("seconds", ["3", "None"])
@pytest.mark.parametrize("device", ["reference", "opencl"])
def test_an_endless_launch_in_python(tmp_path: Path, device: str, seconds: str) -> None:
    kernel = tmp_path / "k.ir"
    kernel.write_text(ENDLESS)
    done = subprocess.run(
        [sys.executable, "-c", IN_PYTHON, str(kernel), device, seconds],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    error = "KeyboardInterrupt" if seconds == "None" else "DeviceError"
    assert (done.returncode, done.stdout, done.stderr) == (7, f"{error} 1\n", "")


AFTERWARDS = """
import sys
import numpy as np
import xtile
from xtile.launch import DeviceError

kernel = sys.argv[1]
for array in (np.array([0, 0, 0, 9 * 10**18]), np.array([0, 0, 0, 3])):
    try:
        xtile.run(kernel, [array], device="opencl", seconds=0.5)
        print(array)
    except DeviceError as error:
        print(error)
"""


def test_a_launch_beside_one_that_never_ends(tmp_path: Path) -> None:
    """It would wait without a word."""
    kernel = tmp_path / "k.ir"
    length = "%three = constant 3 : index\n%m = load %A[%three] : i64\n%n = cast %m : index"
    constant = "%n = constant 9000000000000000000 : index"
    kernel.write_text(ENDLESS.replace(constant, length))
    done = subprocess.run(
        [sys.executable, "-c", AFTERWARDS, str(kernel)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    first, second = done.stdout.splitlines()
    assert first.startswith("@endless was not done after 0.5 s"), done.stdout + done.stderr
    assert second.endswith(
        " still runs an earlier launch of @endless, which was not waited for; a new process can "
        "launch kernels"
    )


def test_a_launch_after_one_that_took_too_long() -> None:
    """The device is free again when it is done with it."""
    free = subprocess.run(
        [sys.executable, "-c", ONCE_IT_IS_DONE],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (free.stdout, free.stderr) == ("busy\nfree\n", "")


ONCE_IT_IS_DONE = """
import threading
from xtile.backends.waiting import TimeLimitError, check_is_free, wait_until_done
from xtile.launch import DeviceError

done = threading.Event()
try:
    wait_until_done(done.is_set, done.wait, 0.01, device="d", name="f")
except TimeLimitError:
    pass
check_is_free("another")
try:
    check_is_free("d")
except DeviceError:
    print("busy")
done.set()
while True:
    try:
        check_is_free("d")
    except DeviceError:
        continue
    print("free")
    break
"""


@pytest.mark.slow
def test_a_limit_that_is_not_reached_ends_nothing() -> None:
    with time_limit(0.05, "f"):
        pass
    begun = time.monotonic()
    while time.monotonic() - begun < 0.2:
        pass


@pytest.mark.slow
def test_an_alarm_in_the_last_moment_is_not_heard_later() -> None:
    for _ in range(200):
        # About as long as the limit, so that some of the alarms ring as the body ends.
        with suppress(DeviceError), time_limit(0.001, "f"):
            time.sleep(0.0009)
        begun = time.monotonic()
        while time.monotonic() - begun < 0.001:
            pass


@pytest.mark.slow
def test_functions_can_be_traced_after_a_limit() -> None:
    """Python 3.11 hung there, also in a debugger and under coverage."""
    code = (
        "import sys\n"
        "from xtile.arguments.errors import DeviceError\n"
        "from xtile.launch.time_limit import time_limit\n"
        "with time_limit(60, 'f'): pass\n"
        "try:\n"
        "    with time_limit(0.01, 'f'):\n"
        "        while True: pass\n"
        "except DeviceError as error: print(error)\n"
        "def called(): print('called')\n"
        "sys.setprofile(lambda *_: None)\n"
        "called()\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert result.stdout == "@f was not done after 0.01 s\ncalled\n", result.stderr


def test_a_limit_holds_in_any_thread() -> None:
    raised: list[BaseException] = []

    def compute() -> None:
        try:
            with time_limit(0.05, "f"):
                while True:
                    pass
        except DeviceError as error:
            raised.append(error)

    thread = threading.Thread(target=compute)
    thread.start()
    thread.join(PATIENCE)
    assert [str(error) for error in raised] == ["@f was not done after 0.05 s"]


@pytest.mark.parametrize("seconds", [0, -1.0, float("inf"), float("nan"), True, "1"])
def test_no_limit_of_time(seconds: object) -> None:
    with pytest.raises(ArgumentError, match="expected seconds as a positive number"):
        xtile.run(ENDLESS, [np.zeros(4, np.int64)], seconds=seconds)  # pyright: ignore


def test_what_a_library_makes_of_an_interrupt_is_no_defect(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def body() -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(PATIENCE)
        except KeyboardInterrupt:
            raise ImportError("numpy was interrupted") from None
        return 0

    assert run_command("xtile", body) == 130
    assert capsys.readouterr().err == ""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def wait_until_it_computes(process: subprocess.Popen[str]) -> None:
    """Waits until all processes of a session have computed for a while after they were loaded."""
    deadline = time.monotonic() + PATIENCE
    used = 0.0
    while used < 1.5 and time.monotonic() < deadline:
        time.sleep(0.1)
        used = sum(seconds for seconds in processor_seconds(process.pid))


def assert_all_ended(session: int) -> None:
    """Asserts that no process of a session is left, after some time in which it may end."""
    deadline = time.monotonic() + PATIENCE
    while processor_seconds(session) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processor_seconds(session) == []


def processor_seconds(session: int) -> list[float]:
    """What each process of a session that is no zombie has used of the processor."""
    result: list[float] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            result.append((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
    return result
