"""All cases of the corpus, by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from tests.triton_kernels.case import FUNCTIONS, Case

FAMILIES = [
    import_module(f"tests.triton_kernels.{file.stem}") for file in sorted(FUNCTIONS.glob("*.py"))
]

CASES: dict[str, Callable[[], Case]] = {
    make.__name__: make for family in FAMILIES for make in family.CASES
}
"""The makers of cases; a case has fresh arguments each time."""
