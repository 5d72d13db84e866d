"""Optimization hints.

The dialect takes any hint: what a compiler does not know it ignores. These are the ones that
NVIDIA's compiler knows, which its tests of messages ask for.

Source: NVIDIA/cuda-tile 13.3.0, `Attributes.cpp`, `verifyParamWithContext`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr

DEFAULT = "default"
"""The hints of all architectures that have none of their own."""

ARCHITECTURES = (
    "sm_80",
    "sm_86",
    "sm_87",
    "sm_88",
    "sm_89",
    "sm_90",
    "sm_100",
    "sm_103",
    "sm_110",
    "sm_120",
    "sm_121",
)
"""The architectures that may be named."""

_SINGLE_CTA = ("sm_80", "sm_86", "sm_87", "sm_88", "sm_89")
"""The architectures without clusters."""

_MAXIMUM_CTAS = 16
_MAXIMUM_WARPS = 32

_ENTRY = ("num_cta_in_cga", "num_worker_warps_per_cta", "occupancy")
_POINTER = ("latency",)
_VIEW = ("latency", "allow_tma")

HINTS_OF = {
    "cuda_tile.entry": _ENTRY,
    "cuda_tile.load_ptr_tko": _POINTER,
    "cuda_tile.store_ptr_tko": _POINTER,
    "cuda_tile.load_view_tko": _VIEW,
    "cuda_tile.store_view_tko": _VIEW,
}
"""The hints of each operation that may have any."""


def find_problems(operation: Operation) -> Iterator[str]:
    """Yields the hints of an operation that NVIDIA's compiler does not know."""
    hints = operation.properties.get("optimization_hints")
    known = HINTS_OF.get(operation.name, ())
    if not isinstance(hints, OptimizationHintsAttr):
        return
    for architecture, values in hints.value.data.items():
        if architecture != DEFAULT and architecture not in ARCHITECTURES:
            names = ", ".join((DEFAULT, *ARCHITECTURES))
            yield f"there is no architecture '{architecture}' to give hints for; expected {names}"
        elif isinstance(values, DictionaryAttr):
            for name, value in values.data.items():
                yield from _problem(architecture, name, value, known)


def _problem(
    architecture: str, name: str, value: Attribute, known: tuple[str, ...]
) -> Iterator[str]:
    if name not in known:
        expected = ", ".join(known)
        yield f"'{name}' is no hint for this operation; expected one of {expected}"
        return
    problem = _CHECKS[name](value, architecture)
    if problem is not None:
        yield f"{architecture}.{name} must be {problem}, but is {value}"


def _number(value: Attribute) -> int | None:
    return value.value.data if isinstance(value, IntegerAttr) else None


def _check_ctas(value: Attribute, architecture: str) -> str | None:
    number = _number(value)
    if architecture in _SINGLE_CTA:
        return None if number == 1 else "1"
    return _check_power(number, _MAXIMUM_CTAS)


def _check_warps(value: Attribute, architecture: str) -> str | None:
    return _check_power(_number(value), _MAXIMUM_WARPS)


def _check_power(number: int | None, maximum: int) -> str | None:
    if number is None or not 0 < number <= maximum or number & (number - 1):
        return f"a power of two up to {maximum}"
    return None


def _check_boolean(value: Attribute, architecture: str) -> str | None:
    return None if isa(value, BoolAttr) else "true or false"


def _check_range(value: Attribute, maximum: int) -> str | None:
    number = _number(value)
    return None if number is not None and 1 <= number <= maximum else f"1 to {maximum}"


_CHECKS: dict[str, Callable[[Attribute, str], str | None]] = {
    "num_cta_in_cga": _check_ctas,
    "num_worker_warps_per_cta": _check_warps,
    "occupancy": lambda value, _: _check_range(value, 32),
    "latency": lambda value, _: _check_range(value, 10),
    "allow_tma": _check_boolean,
}
