"""What all tests share: a cache of their own, and properties without a limit of time.

Machines that run the tests are shared, so time says nothing about the code.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from xtile.backends.cache import DIRECTORY_VARIABLE

settings.register_profile("xtile", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("xtile")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_tests() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Tests neither use nor change what the user's own cache holds."""
    before = os.environ.get(DIRECTORY_VARIABLE)
    with tempfile.TemporaryDirectory(prefix="xtile-tests-") as directory:
        os.environ[DIRECTORY_VARIABLE] = directory
        yield
    if before is None:
        del os.environ[DIRECTORY_VARIABLE]
    else:
        os.environ[DIRECTORY_VARIABLE] = before
