"""Runs entries of CUDA Tile IR that are given as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import xtile
from xtile.arguments.errors import SanitizerError
from xtile.text.diagnostics import DiagnosticError

Array = Any


def module(parameters: str, body: str, before: str = "") -> str:
    """A module with one entry; `before` stands before it."""
    return f"cuda_tile.module @m {{\n{before}\nentry @k({parameters}) {{\n{body}\nreturn\n}}\n}}"


def run(parameters: str, body: str, *arguments: Any, before: str = "", **options: Any) -> None:
    """Runs an entry; the arrays among its arguments hold the results afterwards."""
    grid = options.pop("grid", 1)
    xtile.run(module(parameters, body, before), list(arguments), grid, **options)


def failure(parameters: str, body: str, *arguments: Any, **options: Any) -> tuple[str, str]:
    """The error that ends a launch, and the text that it marks."""
    with pytest.raises(DiagnosticError) as raised:
        run(parameters, body, *arguments, **options)
    assert not isinstance(raised.value, SanitizerError)
    (diagnostic,) = raised.value.diagnostics
    return diagnostic.message, marked(diagnostic)


def marked(diagnostic: Any) -> str:
    """The text that a diagnostic marks."""
    assert diagnostic.source is not None
    assert diagnostic.span is not None
    return diagnostic.source.text[diagnostic.span.start : diagnostic.span.end]


def reports(parameters: str, body: str, *arguments: Any, **options: Any) -> list[tuple[str, str]]:
    """The messages of the sanitizer, each with the text that it marks."""
    try:
        run(parameters, body, *arguments, sanitize=True, **options)
    except SanitizerError as error:
        return [(each.message, marked(each)) for each in error.diagnostics]
    return []


def pointers(name: str, base: str, count: int, type: str) -> str:
    """Operations that make `%name`, pointers to `count` elements from `%base` on."""
    return f"""
    %{name}_1 = reshape %{base} : tile<ptr<{type}>> -> tile<1xptr<{type}>>
    %{name}_b = broadcast %{name}_1 : tile<1xptr<{type}>> -> tile<{count}xptr<{type}>>
    %{name}_i = iota : tile<{count}xi32>
    %{name} = offset %{name}_b, %{name}_i
      : tile<{count}xptr<{type}>>, tile<{count}xi32> -> tile<{count}xptr<{type}>>
    """


def blank(*shape: int, dtype: Any = np.float32) -> Array:
    """Memory of which all that counts must be written: all bits are set."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.full(size, 0xFF, np.uint8).view(dtype).reshape(shape)


def constants(values: Sequence[int], type: str = "i32") -> str:
    """Operations that make `%c0`, `%c1`, ... with the given values."""
    lines = (f"%c{i} = constant <{type}: {v}> : tile<{type}>" for i, v in enumerate(values))
    return "\n".join(lines)
