"""What the flags of an operation let a translation do."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation


def allows_approximation(operation: Operation) -> bool:
    """Whether a function may be approximated (`fastmath<afn>`)."""
    flags = operation.properties.get("fastmath")
    return flags is not None and FastMathFlag.APPROX_FUNC in cast(Any, flags).data
