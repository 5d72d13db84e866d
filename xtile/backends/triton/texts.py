"""Modules as text that a release of Triton reads."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp

from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.source import clone_with_source

if TYPE_CHECKING:
    from xtile.dialects.triton.versions import Release


def text_for(module: ModuleOp, release: Release, diagnostics: Diagnostics | None = None) -> str:
    """The text of a module as a release of Triton reads it, with locations in the source.

    Raises:
        DiagnosticError: The release cannot say what is in the module.
    """
    from functools import partial

    from xtile.dialects.triton.adapt import adapt
    from xtile.dialects.triton.printer import TritonPrinter
    from xtile.dialects.triton_dumps import ATTRIBUTE
    from xtile.text.mlir import print_mlir
    from xtile.text.mlir_printer import MlirPrinter

    copy, found = clone_with_source(module), Diagnostics()
    adapt(copy, release, found)
    if found.has_errors:
        raise DiagnosticError(found.sorted())
    for remark in found:
        if diagnostics is not None:
            diagnostics.add(remark)
    copy.attributes.pop(ATTRIBUTE, None)
    printer = cast("type[MlirPrinter]", partial(TritonPrinter, release=release))
    output = StringIO()
    print_mlir(copy, output, debuginfo=True, printer_class=printer)
    return output.getvalue()
