"""PyTorch takes gigabytes, so the tests do not install it; its tests are there where it is."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["test_torch.py"]
