"""A kernel of the corpus with its arguments, and what it must compute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.kernel_arguments import Array, assert_close, blank, integers, normal, rounding
from tests.triton_releases.source import Source

__all__ = ["BF16", "F16", "F32", "Array", "Case", "blank", "integers", "normal", "rounding"]

F16 = np.float16
F32 = np.float32
BF16 = ml_dtypes.bfloat16

FUNCTIONS = Path(__file__).parent / "jit"
"""The folder with the functions of Triton; only a process that has Triton imports them."""

_TYPES = {
    np.dtype(type_): name
    for type_, name in (
        (bool, "i1"),
        (np.float16, "fp16"),
        (np.float32, "fp32"),
        (np.float64, "fp64"),
        (ml_dtypes.bfloat16, "bf16"),
        (ml_dtypes.float8_e4m3fn, "fp8e4nv"),
        (ml_dtypes.float8_e5m2, "fp8e5"),
        (ml_dtypes.float8_e4m3fnuz, "fp8e4b8"),
        (ml_dtypes.float8_e5m2fnuz, "fp8e5b16"),
        *((f"int{bits}", f"i{bits}") for bits in (8, 16, 32, 64)),
        *((f"uint{bits}", f"u{bits}") for bits in (8, 16, 32, 64)),
    )
}
"""Triton's names of types."""

_DIVISOR = 16
"""What Triton's launcher tells the compiler of numbers and addresses that it divides."""


@dataclass(frozen=True)
class Case:
    """A kernel, what it is launched with, and what must be there afterwards.

    Attributes:
        function: A module of `jit` and a function in it, with a dot between them.
        arguments: For each parameter that is not a constant an array or a number, in their order;
            outputs are NaN or another number that is wrong.
        wanted: For the names of outputs what they hold in the end.
        grid: The programs along each dimension.
        constants: The parameters that are `tl.constexpr`; types by their names, as "tl.float16".
        tolerance: How far floats may be away, as part of the largest number in the output.
        warps: The warps of a program.
        stages: The stages of loops that are pipelined.
        debug: Whether assertions are kept.
    """

    function: str
    arguments: Mapping[str, Any]
    wanted: Mapping[str, Array]
    grid: tuple[int, ...] = (1,)
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tolerance: float = 0.0
    warps: int = 4
    stages: int = 2
    debug: bool = False

    def source(self) -> Source:
        """What Triton's compiler is given, as Triton's own launcher does it."""
        module, function = self.function.split(".")
        given = self.arguments
        ones = {n: 1 for n, a in given.items() if type(a) is int and a == 1}
        divisible = [n for n, a in given.items() if n not in ones and _is_divisible(a)]
        return Source(
            file=str(FUNCTIONS / f"{module}.py"),
            function=function,
            signature={n: _type_of(a) for n, a in given.items() if n not in ones},
            constants={**self.constants, **ones},
            divisible=divisible,
            warps=self.warps,
            stages=self.stages,
            debug=self.debug,
        )

    def copied_arguments(self) -> dict[str, Any]:
        """The arguments, of which a kernel may change the arrays."""
        return {n: a.copy() if isinstance(a, np.ndarray) else a for n, a in self.arguments.items()}

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Compares the outputs of a kernel that ran.

        Raises:
            AssertionError: One is wrong.
        """
        for name, wanted in self.wanted.items():
            assert_close(arguments[name], np.asarray(wanted), self.tolerance)


def _type_of(argument: Any) -> str:
    match argument:
        case np.ndarray():
            return f"*{_TYPES[argument.dtype]}"
        case np.generic():
            return _TYPES[argument.dtype]
        case float():
            return "fp32"
        case _:
            return "i32" if -(2**31) <= argument < 2**31 else "i64"


def _is_divisible(argument: Any) -> bool:
    if isinstance(argument, np.ndarray):
        return True
    return isinstance(argument, int | np.integer) and int(argument) % _DIVISOR == 0
