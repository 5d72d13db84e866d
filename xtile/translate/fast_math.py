"""What the flags of an operation let a translation do."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation


def allows_approximation(operation: Operation) -> bool:
    """Whether a function or a quotient may be approximated (`fastmath<afn>`)."""
    return has_flag(operation, FastMathFlag.APPROX_FUNC)


def has_flag(operation: Operation, flag: FastMathFlag) -> bool:
    """Whether an operation has a flag of `fastmath`."""
    flags = operation.properties.get("fastmath")
    return flags is not None and flag in cast(Any, flags).data
