"""Loops of host code whose iterations do not depend on each other run at once.

Hosts fill and compare memory with loops over every element, often of millions. Such a loop runs in
lockstep, as the work-items of a kernel do, where no order of the iterations shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

HANDLERS: dict[str, Callable[[Any, Any], Any]] = {}
"""The handler of each operation, by name."""
