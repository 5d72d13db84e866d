"""What a function of the runtime library is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FunctionType, IndexType, MemRefType
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.semantics.addresses import AddressSpace


@dataclass(frozen=True)
class Context:
    """What a function of the runtime library may use next to its arguments.

    Attributes:
        addresses: Where memory lies.
        generator: Where random numbers come from.
    """

    addresses: AddressSpace
    generator: np.random.Generator


@dataclass(frozen=True)
class RuntimeFunction:
    """A function of the runtime library.

    Attributes:
        parameters: Its parameters' types; `memref<?xf32>` stands for any memref of that rank, and
            `i64` for `index` too.
        result: Its result's type; None without one.
        run: What it does, with a `Context`, numbers and `View`s. It raises UnlocatedError.
    """

    parameters: tuple[str, ...]
    result: str | None
    run: Callable[..., Any]

    def check(self, name: str, declared: FunctionType) -> None:
        """Checks how a program declares the function.

        Raises:
            ValueError: It has other types.
        """
        given = tuple(map(_type_text, declared.inputs))
        results = tuple(map(_type_text, declared.outputs))
        expected = () if self.result is None else (self.result,)
        if (given, results) != (self.parameters, expected):
            raise ValueError(
                f"the runtime library's @{name} is {_signature(self.parameters, expected)}, but is "
                f"declared as {declared}"
            )


def _type_text(type: Attribute) -> str:
    if isinstance(type, IndexType):
        return "i64"
    if isa(type, MemRefType):
        return f"memref<{'?x' * type.get_num_dims()}{type.element_type}>"
    return str(type)


def _signature(parameters: tuple[str, ...], results: tuple[str, ...]) -> str:
    return f"({', '.join(parameters)}) -> {results[0] if results else '()'}"


ELEMENT_TYPES = {
    "I8": "i8",
    "I16": "i16",
    "I32": "i32",
    "I64": "i64",
    "Ind": "index",
    "F16": "f16",
    "BF16": "bf16",
    "F32": "f32",
    "F64": "f64",
    "C32": "complex<f32>",
    "C64": "complex<f64>",
}
"""The element type that the end of a function's name stands for."""


def unranked(suffix: str) -> str:
    """The type of a memref of any rank of the elements that a name's end stands for."""
    return f"memref<*x{ELEMENT_TYPES[suffix]}>"
