"""C's format strings on numbers, as in `gpu.printf`.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`; ISO C11, 7.21.6.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xtile.dialects.core.printing import CONVERSION
from xtile.semantics.upstream.numbers import Kind, Number
from xtile.semantics.values import Value

_SIGNED = "di"
_UNSIGNED = "uxXocp"
_FLOATING = "eEfFgG"


Converter: TypeAlias = Callable[[Value], str]
"""Shows a number."""


def _plain(value: Value, convert: Converter) -> str:
    return convert(value)


def formatter(
    text: str, types: Sequence[Number], show: Callable[[Value, Converter], str] = _plain
) -> Callable[[Sequence[Value]], str]:
    """The function that fills values into a format string.

    Args:
        text: The format string.
        types: The types of the values' numbers.
        show: Shows a value, with what shows one of its numbers.

    Raises:
        ValueError: The string does not fit the numbers.
    """
    conversions = [match for match in CONVERSION.finditer(text) if match["letter"] != "%"]
    if len(conversions) != len(types):
        raise ValueError(
            f"the format string has {len(conversions)} conversions, but there are {len(types)} "
            "values"
        )
    converters = [_converter(match, type) for match, type in zip(conversions, types, strict=True)]

    def fill(values: Sequence[Value]) -> str:
        texts = iter(
            show(value, converter) for converter, value in zip(converters, values, strict=True)
        )
        return CONVERSION.sub(lambda match: "%" if match["letter"] == "%" else next(texts), text)

    return fill


def _converter(match: re.Match[str], type: Number) -> Converter:
    letter, flags = match["letter"], match["flags"]
    kind = Kind.FLOAT if letter in _FLOATING else Kind.INTEGER
    if letter not in _SIGNED + _UNSIGNED + _FLOATING or type.kind is not kind:
        raise ValueError(f"'{match[0]}' cannot show a value of type {type.text}")
    python = {"i": "d", "u": "d", "p": "x"}.get(letter, letter)
    pattern = f"{'0x' if letter == 'p' else ''}%{flags}{python}"

    def convert(value: Any) -> str:
        if kind is Kind.FLOAT:
            return pattern % float(value)
        sign = type.signed if letter in _SIGNED else type.unsigned
        return pattern % int(sign(value))

    return convert
