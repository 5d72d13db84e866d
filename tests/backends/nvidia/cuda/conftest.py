"""What the tests of launches share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backends.nvidia.fake_driver import FakeApi, installed
from tests.backends.nvidia.fake_gpu import Gpu


@pytest.fixture(name="gpu")
def one_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    """One GPU, on which nothing may be left afterwards."""
    api = FakeApi()
    with installed(monkeypatch, api):
        yield Gpu(tmp_path, api)
    assert not api.live
    assert api.depth == 0
