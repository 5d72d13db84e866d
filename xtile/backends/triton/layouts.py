"""The text that Triton gets, and which layouts are in it: those of `triton-to-amdg`, or none.

A kernel gets the former unless something in it has none, a launch has tuned it for the passes of
Triton, or it is asked for the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any, Literal

from xdsl.dialects.builtin import ModuleOp

from xtile.arguments.errors import DeviceError
from xtile.targets import AMD, OptionError, vendor_of
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity
from xtile.text.source import Source, clone_with_source, source_of

if TYPE_CHECKING:
    from xtile.dialects.triton.versions import Release

Through = Literal["ttir", "amdg"]
"""The last language before Triton's machine code: without layouts, or with those of xtile."""

TTIR: Through = "ttir"
AMDG: Through = "amdg"


@dataclass(frozen=True)
class Options:
    """How Triton compiles; what is None is its own choice, or the kernel's.

    Attributes:
        warps: The warps of a program.
        stages: The stages of loops that are pipelined.
        through: What Triton gets; None for layouts of xtile where the kernel can have them.
    """

    warps: int | None = None
    stages: int | None = None
    through: Through | None = None

    def words(self) -> dict[str, int]:
        """By the names that Triton gives them."""
        given = {"num_warps": self.warps, "num_stages": self.stages}
        return {name: value for name, value in given.items() if value is not None}


_UNTUNED = {"num_ctas": 1, "num_stages": 2, "matrix_instr_nonkdim": 0, "kpack": 1}
"""What Triton's own passes take that `triton-to-amdg` does not, with what says nothing.

Source: Triton 3.9, `third_party/amd/backend/compiler.py`, `HIPOptions`."""


def text_with_layouts(
    module: ModuleOp,
    chip: str,
    release: Release,
    told: Mapping[str, Any],
    options: Options,
    diagnostics: Diagnostics | None = None,
) -> str | None:
    """The text of a kernel of `tt` with the layouts of xtile.

    Args:
        module: The kernel.
        chip: The architecture.
        release: The release of Triton that reads the text.
        told: What Triton's compiler is told beside it.
        options: What was asked for.
        diagnostics: Collects warnings and remarks.

    Returns:
        The text; None, with a remark, where Triton's own passes find layouts.

    Raises:
        DiagnosticError: The layouts of xtile are asked for, and the kernel has none.
        OptionError: They are asked for, and the chip is not AMD's.
    """
    if options.through == TTIR:
        return None
    if vendor_of(chip) is not AMD:
        if options.through == AMDG:
            raise OptionError(f"xtile has layouts for AMD's chips, and {chip} is none of them")
        return None
    tuned = [f"{name} = {told[name]}" for name, no in _UNTUNED.items() if told.get(name, no) != no]
    if tuned and options.through is None:
        reason = f"{', '.join(tuned)} is for Triton's own passes, which find its layouts"
        _remark(Diagnostic(Severity.REMARK, reason, source_of(module), None), diagnostics)
        return None
    found = Diagnostics()
    try:
        text = text_for(_laid_out(module, chip, told.get("num_warps"), found), release, found)
    except DiagnosticError as error:
        if options.through == AMDG:
            raise
        for each in error.diagnostics:
            _remark(_as_reason(each), diagnostics)
        return None
    for each in found:
        _remark(each, diagnostics)
    return text


def text_for(module: ModuleOp, release: Release, diagnostics: Diagnostics | None = None) -> str:
    """The text of a module as a release of Triton reads it, with locations in the source.

    Raises:
        DiagnosticError: The release cannot say what is in the module.
    """
    from xtile.dialects.triton.adapt import printer_for
    from xtile.dialects.triton_dumps import ATTRIBUTE
    from xtile.text.mlir import print_mlir

    copy, output = clone_with_source(module), StringIO()
    printer = printer_for(copy, release, diagnostics)
    copy.attributes.pop(ATTRIBUTE, None)
    print_mlir(copy, output, debuginfo=True, printer_class=printer)
    return output.getvalue()


def _laid_out(module: ModuleOp, chip: str, warps: int | None, diagnostics: Diagnostics) -> ModuleOp:
    from xtile.translate.route import Options as RouteOptions
    from xtile.translate.route import translate

    options = RouteOptions(chip, warps=warps)
    return translate(module, "triton-to-amdg", options, diagnostics)


def remark_of_failure(
    error: DeviceError | DiagnosticError, source: Source | None, diagnostics: Diagnostics | None
) -> None:
    """Tells that Triton fails on the layouts of xtile, so that it finds its own."""
    said = str(error).strip().splitlines()[0]
    message = f"Triton finds the layouts, because it fails on those of xtile: {said}"
    _remark(Diagnostic(Severity.REMARK, message, source, None), diagnostics)


def _as_reason(error: Diagnostic) -> Diagnostic:
    message = f"Triton's own passes find the layouts of this kernel: {error.message}"
    return Diagnostic(Severity.REMARK, message, error.source, error.span)


def _remark(diagnostic: Diagnostic, diagnostics: Diagnostics | None) -> None:
    if diagnostics is not None:
        diagnostics.add(diagnostic)
