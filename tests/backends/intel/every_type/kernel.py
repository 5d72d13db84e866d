"""Kernels that are written instruction by instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import xtile
from xtile.dialects.tensorlang.ops.function import FuncOp


@dataclass
class Kernel:
    """A kernel that is being written.

    Attributes:
        name: The function's name.
        inputs: The parameters that it reads.
        attributes: The function's attributes.
        outputs: The parameters for results.
        lines: The instructions.
    """

    name: str
    inputs: Sequence[str]
    attributes: str = "{subgroup_size=16, work_group_size=[16,2]}"
    outputs: list[str] = field(default_factory=list[str])
    lines: list[str] = field(default_factory=list[str])

    def add(self, *lines: str) -> None:
        """Appends instructions."""
        self.lines += lines

    def output(self, name: str, type: str) -> str:
        """A new parameter for results."""
        self.outputs.append(f"%to_{name}: {type}")
        return f"%to_{name}"

    def store(self, name: str, value: str, memref: str, index: str) -> None:
        """Appends the store of a result to a new parameter."""
        self.add(f"store {value}, {self.output(name, memref)}[{index}]")

    def store_bool(self, name: str, value: str, memref: str, index: str) -> None:
        """Appends the store of a truth value as 0 or 1."""
        self.add(
            f"%{name}_number = if {value} -> (i8) {{",
            "    yield (%yes)",
            "} else {",
            "    yield (%no)",
            "}",
        )
        self.store(name, f"%{name}_number", memref, index)

    def function(self) -> FuncOp:
        """The kernel, read and verified."""
        (function,) = xtile.parse(self.text, language="tensorlang").body.block.ops
        assert isinstance(function, FuncOp)
        function.detach()
        return function

    @property
    def text(self) -> str:
        """The function."""
        parameters = ", ".join([*self.inputs, *self.outputs])
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"func @{self.name}({parameters}) attributes {self.attributes} {{\n{body}\n}}\n"


WORK_ITEM = (
    "%group = subgroup_linear_id : i32",
    "%lane = subgroup_local_id : i32",
    "%lanes = subgroup_size : i32",
    "%start = mul %group, %lanes : i32",
    "%number = add %start, %lane : i32",
    "%id = cast %number : index",
    "%subgroup = cast %group : index",
)
"""Numbers the work-items of a work-group."""
