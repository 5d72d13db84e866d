"""Python's collector of garbage, which long kernels keep busy."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Generator[None]:
    """Lets no garbage be collected for a while.

    Each collection goes through all operations that are alive. Of a long kernel that takes more
    time than translating it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
