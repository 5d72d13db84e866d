"""Prints Triton's languages as a release of Triton does."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.printer import Printer

from xtile.dialects.triton.versions import NEWEST, Release
from xtile.text.mlir_printer import MlirPrinter


@dataclass(eq=False, repr=False)
class TritonPrinter(MlirPrinter):
    """MLIR's printer for the text of a release of Triton."""

    release: Release = NEWEST


def release_of(printer: Printer) -> Release:
    """The release whose text a printer prints."""
    return printer.release if isinstance(printer, TritonPrinter) else NEWEST
