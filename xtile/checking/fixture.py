"""A fixture of pytest: `xtile_check(source, port)` fails where a port differs from its source.

A project's `conftest.py` has the line `pytest_plugins = ["xtile.checking.fixture"]`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from xtile.checking.results import CheckResult


@pytest.fixture
def xtile_check() -> Callable[..., CheckResult]:
    """A function that takes what `xtile.check` takes, and fails the test unless both agree."""
    from xtile.checking.agreement import check

    def assert_agrees(*arguments: Any, **options: Any) -> CheckResult:
        result = check(*arguments, **options)
        result.assert_agrees()
        return result

    return assert_agrees
