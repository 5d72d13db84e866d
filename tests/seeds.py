"""The seed of the random numbers in tests: a new one in each run, or that of the environment.

A test that fails shows the seed; with it in the environment, the test gets the same numbers.
Tests of random kernels take the same kernels in each run, unless the environment gives a seed.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from random import Random

import numpy as np

SEED_VARIABLE = "XTILE_TEST_SEED"

REPEATED_VARIABLE = "XTILE_TEST_REPEATED"
"""The environment variable that says that each test runs many times."""

_calls: Counter[str] = Counter()
"""How often each test asked for a generator, and all of them for the seed."""


def given_seed() -> int | None:
    """The seed of the environment, if there is one."""
    _calls[SEED_VARIABLE] += 1
    given = os.environ.get(SEED_VARIABLE)
    return int(given) if given else None


@cache
def fresh_seed() -> int:
    """The seed of this run."""
    given = given_seed()
    return int(np.random.SeedSequence().generate_state(1)[0]) if given is None else given


def begin_run() -> None:
    """Lets what follows draw other numbers, in this process and in those that it starts."""
    os.environ[SEED_VARIABLE] = str(np.random.SeedSequence().generate_state(1)[0])
    fresh_seed.cache_clear()
    _calls.clear()


def has_drawn() -> bool:
    """Whether anything depends on the seed since the run began."""
    return bool(_calls)


def share_of(count: int) -> int:
    """How many of so many random kernels a test tries: all, or a fifth in each of many runs.

    That many kernels in each run would take hours, and so few are thousands in the end.
    """
    return -(-count // 5) if os.environ.get(REPEATED_VARIABLE) else count


_kept: list[Iterator[np.random.Generator]] = []
"""Where generators come from within `same_numbers`."""


@contextmanager
def same_numbers(name: str) -> Generator[None]:
    """Lets `fresh_generator` give the same generators for a name in each run, one after the other.

    For large corpora whose kernels are not right on all numbers, or whose tolerances are estimates.
    """
    _kept.append(_generators(zlib.crc32(name.encode())))
    try:
        yield
    finally:
        _kept.pop()


def _generators(key: int) -> Iterator[np.random.Generator]:
    number = 0
    while True:
        number += 1
        yield np.random.default_rng([key, number])


def fresh_generator() -> np.random.Generator:
    """Random numbers of this run, others for each call in a test and for each test."""
    if _kept:
        return next(_kept[-1])
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    _calls[test] += 1
    return np.random.default_rng([fresh_seed(), zlib.crc32(test.encode()), _calls[test]])


def fresh_random() -> Random:
    """The same for Python's own random numbers."""
    return Random(int(fresh_generator().integers(2**63)))


def note_on_repeating() -> str | None:
    """How to get the random numbers of this run again, if some were drawn."""
    is_given = has_drawn() and bool(os.environ.get(SEED_VARIABLE))
    if not is_given and fresh_seed.cache_info().currsize == 0:
        return None
    return f"{SEED_VARIABLE}={fresh_seed()} in the environment repeats the random numbers"
