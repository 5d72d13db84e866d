"""What instructions of the tensor language become: a row for each form that makes a difference."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent, indent

from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.translate.tensorlang_to_core import translate_module

_INDENTATION = 6
"""Of a function's operations in MLIR text."""


@dataclass(frozen=True)
class Case:
    """Instructions, and the core form's operations that they become.

    Attributes:
        name: Names the row.
        source: The instructions.
        expected: The operations; those of an SPMD region behind the constants in front of it.
        parameters: The function's parameters.
        is_spmd: Whether the instructions stand in a `parallel` region.
        attributes: The function's attributes.
    """

    name: str
    source: str
    expected: str
    parameters: str = ""
    is_spmd: bool = False
    attributes: str = ""

    def module(self) -> ModuleOp:
        """The source as a module."""
        body = dedent(self.source).strip()
        if self.is_spmd:
            body = f"parallel {{\n{indent(body, '    ')}\n}}"
        attributes = f" attributes {self.attributes}" if self.attributes else ""
        text = f"func @f({self.parameters}){attributes} {{\n{indent(body, '    ')}\n}}\n"
        return xtile.parse(text, language="tensorlang")

    def translated(self) -> str:
        """What the instructions have become, without the function around it."""
        text = xtile.to_text(translate_module(self.module()), "mlir")
        lines = [line[_INDENTATION:] for line in text.splitlines()]
        first = next(i for i, line in enumerate(text.splitlines()) if "gpu.func" in line) + 1
        lines = lines[first : lines.index("gpu.return")]
        if self.is_spmd:
            start, end = lines.index("core.parallel {"), lines.index("}")
            lines = lines[:start] + [line[2:] for line in lines[start + 1 : end]]
        return "\n".join(lines)
