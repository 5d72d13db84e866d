"""Which tests are fast: they start no tool, repeat nothing at random, and are not marked slow.

What a test uses is read from its code, so a new test falls into the right class by itself. What a
fast test may do is checked when it runs: it starts no process and keeps the processor busy for few
seconds.
"""

from __future__ import annotations

import dis
import inspect
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FunctionType, ModuleType

import pytest

SLOW_MODULES = {
    "cuda": "NVIDIA's compiler for Python, and its driver",
    "multiprocessing": "other processes",
    "pyopencl": "builds for OpenCL's devices",
    "random": "random choices, which kernels are made of",
    "subprocess": "other processes",
    "tests.generators": "random kernels and modules, and damaged files",
    "tests.triton_releases.judges": "Triton's compilers, in other processes",
    "xtile.backends.amd": "AMD's devices, and Triton's compiler",
    "xtile.backends.elf": "machine code, which compilers make",
    "xtile.backends.gpu": "devices",
    "xtile.backends.intel": "Intel's compilers and devices",
    "xtile.backends.nvidia": "NVIDIA's compilers and devices",
    "xtile.backends.sidecar": "machine code, which compilers make",
    "xtile.backends.tools": "other processes",
    "xtile.backends.triton": "Triton's compiler",
}
"""What a fast test does not use, with what it brings: modules and packages."""

RANDOM_TESTS = "test_random_"
"""How modules are called that test many random kernels."""

SLOW_DEVICES = frozenset({"opencl", "cuda", "hip"})
"""The devices that a fast test does not name."""

MAXIMUM_SECONDS = 15.0
"""How long a fast test may keep the processor busy: more than it needs, for slow machines."""

_STARTS_A_PROCESS = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen"})
"""Python's audit events."""

_running: list[str] = []
"""The fast test that runs, if there is one."""


class NotFastError(AssertionError):
    """A test that is taken for a fast one is not."""


def is_fast(test: pytest.Function) -> bool:
    """Whether a test is fast."""
    module = test.function.__module__.rpartition(".")[2]
    if module.startswith(RANDOM_TESTS) or is_property(test) or test.get_closest_marker("slow"):
        return False
    return not any(name in SLOW_DEVICES or _is_slow(name) for name in names_used(test))


def is_property(test: pytest.Function) -> bool:
    """Whether Hypothesis tries a test on many values; its own mark comes after ours."""
    return getattr(test.obj, "is_hypothesis_test", False)


@cache
def _is_slow(module: str) -> bool:
    return any(module == slow or module.startswith(f"{slow}.") for slow in SLOW_MODULES)


def names_used(test: pytest.Function) -> frozenset[str]:
    """The modules that a test, its fixtures and what they call use, and the devices they name."""
    fixtures = tuple(found[-1].func for found in test._fixtureinfo.name2fixturedefs.values())
    parameters = test.callspec.params.values() if hasattr(test, "callspec") else ()
    functions = tuple(_functions(parameters))
    texts = {value for value in parameters if isinstance(value, str)}
    return _names_used((test.function, *fixtures, *functions), test.function.__module__) | texts


@cache
def _names_used(starts: tuple[object, ...], module: str) -> frozenset[str]:
    """The names in functions and in what they call of one module and of the helpers of tests."""
    waiting = list(_functions(starts))
    names: set[str] = set()
    seen: set[FunctionType] = set()
    while waiting:
        function = waiting.pop()
        if function not in seen and function.__module__.startswith(("tests.", module)):
            seen.add(function)
            used, called = _used_by(function)
            names |= used
            waiting += called
    return frozenset(names)


@cache
def _used_by(function: FunctionType) -> tuple[frozenset[str], tuple[FunctionType, ...]]:
    """The modules and the devices that a function names, and the functions that it may call."""
    names: set[str] = set()
    called: list[FunctionType] = []
    for code in _codes(function.__code__):
        names |= SLOW_DEVICES.intersection(c for c in code.co_consts if isinstance(c, str))
        if any(map(_is_slow, code.co_names)):
            names |= _imported(code)
        for name in code.co_names:
            value = function.__globals__.get(name)
            module = value.__name__ if isinstance(value, ModuleType) else _module_of(value)
            names.add(module)
            if isinstance(value, ModuleType) and module.startswith("tests."):
                called += _functions(vars(value).get(name) for name in code.co_names)
            else:
                called += _functions([value])
    return frozenset(names), tuple(called)


def _imported(code: CodeType) -> set[str]:
    """The modules that code imports when it runs."""
    steps = dis.get_instructions(code)
    return {step.argval for step in steps if step.opname == "IMPORT_NAME"}


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of all functions inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _module_of(value: object) -> str:
    """The module of a function, of a class, or of the class of anything else."""
    module = getattr(value, "__module__", None)
    return module if isinstance(module, str) else type(value).__module__


def _functions(values: Iterable[object]) -> Iterator[FunctionType]:
    """The functions among values, in lists and tuples of them, and those of classes."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from _functions(value)
        elif isinstance(value, type):
            yield from _functions(list(vars(value).values())) if _is_ours(value) else ()
        elif isinstance(value, property):
            yield from _functions([value.fget])
        elif callable(value):
            unwrapped = inspect.unwrap(value)
            if isinstance(unwrapped, FunctionType):
                yield unwrapped


def _is_ours(value: type) -> bool:
    return value.__module__.startswith(("tests.", "test_"))


@contextmanager
def limited(test: str) -> Iterator[None]:
    """Runs a fast test.

    Raises:
        NotFastError: It starts a process, or keeps the processor busy for too long.
    """
    before = time.process_time()
    _running.append(test)
    try:
        yield
    finally:
        _running.clear()
    seconds = time.process_time() - before
    if seconds > MAXIMUM_SECONDS:
        raise NotFastError(
            f"a fast test took {seconds:.1f} s of the processor, of at most {MAXIMUM_SECONDS} s; "
            "make it smaller, or mark it with @pytest.mark.slow"
        )


def refuse_processes(event: str, _: tuple[object, ...]) -> None:
    """Is Python's audit hook while tests run.

    Raises:
        NotFastError: A fast test starts a process.
    """
    if event in _STARTS_A_PROCESS and _running:
        raise NotFastError(
            f"a fast test starts a process ({event}); mark it with @pytest.mark.slow, or add what "
            "it uses to SLOW_MODULES in tests/fast.py"
        )
