"""What Triton compiles: a function of a file with the types of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """A function with `triton.jit`, and what a launch would tell the compiler.

    Attributes:
        file: The path of the function's file.
        function: The function's name.
        signature: Triton's name of the type of each parameter that is passed, such as `*fp32`.
        constants: The values of all other parameters; a text that begins with `tl.` is a type.
        divisible: The pointers and numbers that 16 divides. A pointer's memory is below 2 GB.
        warps: The warps of a program.
        stages: The stages of loops that are pipelined.
        debug: Whether assertions of the kernel and of integers that overflow are kept.
    """

    file: str
    function: str
    signature: Mapping[str, str]
    constants: Mapping[str, Any]
    divisible: Sequence[str]
    warps: int = 4
    stages: int = 2
    debug: bool = False
