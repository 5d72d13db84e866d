"""What all tests share: a cache, properties without a limit of time, the seed of random numbers.

Machines that run the tests are shared, so time says nothing about the code.

Tests that draw random numbers have the mark `random`; `.ci/random-tests` repeats them. Those that
take little time have the mark `fast` (tests/fast.py).
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from functools import cache

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from tests.fast import is_fast, is_property, limited, refuse_processes
from tests.seeds import REPEATED_VARIABLE, begin_run, fresh_random, has_drawn, note_on_repeating
from tests.triton_releases.folders import ALL_VARIABLE, RELEASES_VARIABLE
from xtile.backends.cache import DIRECTORY_VARIABLE
from xtile.checking import agreement
from xtile.ports import command as port_command

CACHE_VARIABLE = "XTILE_TEST_CACHE"
"""The environment variable with a directory in which compiled kernels stay for the next run."""

settings.register_profile("xtile", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("xtile")

sys.addaudithook(refuse_processes)

# Until the tests begin, almost all that is made stays: to look for garbage in it takes long.
gc.disable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options: more runs, more releases of Triton, all kernels instead of samples."""
    parser.addoption(
        "--random-runs",
        type=int,
        default=1,
        metavar="N",
        help="how often each test that draws random numbers runs, with a fresh seed each time",
    )
    parser.addoption(
        "--triton-all",
        metavar="DIR",
        help="a folder with more releases of Triton, each unpacked into a folder of its name",
    )
    parser.addoption(
        "--all-on-triton",
        action="store_true",
        help="run all kernels of tests at tile level as what they become for Triton, not a sample",
    )
    parser.addoption(
        "--all-ports",
        action="store_true",
        help="run every kernel of the corpora as the tensor language, and not a sample",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Lets options say what the environment says otherwise.

    What checks ports in this process draws its inputs from the seed of the tests.
    """
    for module in (agreement, port_command):
        setattr(module, "fresh_seed", lambda: fresh_random().getrandbits(32))  # noqa: B010
    given = config.getoption("--triton-all")
    if given:
        os.environ[RELEASES_VARIABLE] = given
    if config.getoption("--all-on-triton"):
        os.environ[ALL_VARIABLE] = "1"
    if config.getoption("--random-runs") > 1:
        os.environ[REPEATED_VARIABLE] = "1"
    if config.getoption("--all-ports"):
        os.environ["XTILE_ALL_PORTS"] = "1"


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_tests() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Tests neither use nor change what the user's own cache holds."""
    before = os.environ.get(DIRECTORY_VARIABLE)
    kept = os.environ.get(CACHE_VARIABLE)
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="xtile-tests-") as new:
        os.environ[DIRECTORY_VARIABLE] = new
        yield
    if before is None:
        del os.environ[DIRECTORY_VARIABLE]
    else:
        os.environ[DIRECTORY_VARIABLE] = before


@pytest.fixture(scope="session", autouse=True)
def _interrupts_of_the_tests() -> None:  # pyright: ignore[reportUnusedFunction]
    """Ctrl-C ends the processes that tests start, also where a shell runs the tests behind it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_LONGEST = ("test_driver_functions", "test_offline_builds")
"""Modules whose tests take many seconds each."""

_OF_CHECKS = ("tests.checking.", "tests.ports.")
"""Packages whose tests draw numbers through `xtile.check`."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that are fast, and those of modules or with fixtures that draw numbers."""
    for item in items:
        assert isinstance(item, pytest.Function)
        assert item.module is not None
        name = item.module.__name__
        draws = name.startswith(_OF_CHECKS) or _draws_random_numbers(name)
        if draws or "rng" in item.fixturenames or is_property(item):
            item.add_marker(pytest.mark.random)
        if is_fast(item):
            item.add_marker(pytest.mark.fast)
    # A worker that began the longest tests last would be alone at the end.
    items.sort(key=lambda item: item.path.stem not in _LONGEST)


def pytest_collection_finish() -> None:
    """Lets garbage be collected from here on, but not looked for in what all tests are made of."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 20)
    gc.enable()


@cache
def _draws_random_numbers(module: str) -> bool:
    """Whether a module of the tests uses `tests.seeds`, or a module of the tests that does."""
    values = vars(sys.modules[module]).values()
    origins = {getattr(value, "__module__", None) for value in values} - {module}
    used = {origin for origin in origins if isinstance(origin, str) and origin in sys.modules}
    return "tests.seeds" in used or any(
        _draws_random_numbers(name) for name in used if name.startswith("tests.")
    )


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """With `-n`, all tests of a file run in one process: many share what was compiled once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "loadfile"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Repeats a test that draws random numbers, until it fails or has run as often as is wanted.

    A test of a module that draws numbers may draw none itself; then it runs once.
    """
    runs = item.config.getoption("--random-runs")
    if runs == 1 or item.get_closest_marker("random") is None:
        return None
    assert isinstance(item, pytest.Function)
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports: list[pytest.TestReport] = []
    for _ in range(runs):
        begin_run()
        item._initrequest()  # Its fixtures are made anew.
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        if any(report.failed for report in reports) or not (is_property(item) or has_drawn()):
            break
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """A fast test keeps to what fast tests may do."""
    with nullcontext() if item.get_closest_marker("fast") is None else limited(item.nodeid):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails shows the seed of its random numbers."""
    report = yield
    note = note_on_repeating() if report.failed else None
    if note is not None:
        report.sections.append(("random numbers", note))
    return report
