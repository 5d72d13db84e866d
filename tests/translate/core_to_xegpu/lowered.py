"""Writes kernels in core form at subgroup level, and lowers them to XeGPU."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.lane_targets import for_llvm
from tests.transforms.distribute.kernels import read
from xtile.dialects.verification import verify_module
from xtile.targets import INTEL
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.core_to_xegpu import translate_module

_LINES_IN_FRONT = 2


@dataclass(frozen=True)
class Lowered:
    """What a kernel has become.

    Attributes:
        module: The module.
        remarks: For each remark the line of the body that it is at, from 1 on, and its text.
    """

    module: ModuleOp
    remarks: list[tuple[int, str]]

    @property
    def body(self) -> list[str]:
        """The lines of the kernel's body without their indentation."""
        lines = [line.strip() for line in xtile.to_text(self.module, "mlir").splitlines()]
        start = next(i for i, line in enumerate(lines) if line.startswith("gpu.func"))
        return lines[start + 1 : lines.index("gpu.return")]

    @property
    def names(self) -> list[str]:
        """The names of all operations."""
        return [operation.name for operation in self.module.walk()]


def kernel(parameters: str, body: str, attributes: str = "") -> str:
    """The text of a module with one kernel."""
    attributes = f", {attributes}" if attributes else ""
    return (
        f"gpu.module @m {{\ngpu.func @k({parameters}) kernel "
        f'attributes {{core.level = "subgroup"{attributes}}} {{\n{body}\ngpu.return\n}}\n}}\n'
    )


def lower(parameters: str, body: str, chip: str = "pvc", attributes: str = "") -> Lowered:
    """Lowers a kernel, whose result is verified.

    Raises:
        DiagnosticError: It cannot be lowered.
    """
    remarks = Diagnostics()
    module = translate_module(
        read(kernel(parameters, body, attributes)), for_llvm(INTEL.chips[chip]), remarks
    )
    found = Diagnostics()
    verify_module(module, found)
    assert not found.has_errors, found.render()
    return Lowered(
        module,
        [
            (remark.source.position(remark.span.start)[0] - _LINES_IN_FRONT, remark.message)
            for remark in remarks
            if remark.source is not None and remark.span is not None
        ],
    )


def refusal(parameters: str, body: str, chip: str = "pvc", attributes: str = "") -> str:
    """The messages with which the lowering of a kernel is refused."""
    try:
        lower(parameters, body, chip, attributes)
    except DiagnosticError as error:
        return "\n".join(diagnostic.message for diagnostic in error.diagnostics)
    raise AssertionError("the kernel was lowered")
