"""Prints Triton's languages as a release of Triton does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from typing_extensions import override
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue
from xdsl.printer import Printer

from xtile.dialects.triton.operation import TritonOperation
from xtile.dialects.triton.versions import NEWEST, V3_7, Release, name_in
from xtile.text.mlir_printer import MlirPrinter


@dataclass(eq=False, repr=False)
class TritonPrinter(MlirPrinter):
    """MLIR's printer for the text of a release of Triton."""

    release: Release = NEWEST

    @override
    def print_top_level(self, operation: Operation) -> tuple[str, str]:
        # What the release has no results for takes no numbers.
        self.known_names = {**self.known_names, **dict(self._unprinted(operation))}
        return super().print_top_level(operation)

    def _unprinted(self, operation: Operation) -> Iterator[tuple[SSAValue, str]]:
        for each in operation.walk():
            if isinstance(each, TritonOperation):
                for result in each.results[each.results_in(self.release) :]:
                    yield result, f"unprinted{id(result)}"

    @override
    def _name_of(self, op: Operation) -> str:
        # MLIR's own barrier orders all memory, and Triton knows it until 3.6.
        if op.name == "gpu.barrier" and self.release >= V3_7:
            return "ttg.barrier all"
        return op.name_in(self.release) if isinstance(op, TritonOperation) else op.name

    @override
    def _print_results(self, op: Operation) -> None:
        if not isinstance(op, TritonOperation) or op.results_in(self.release) == len(op.results):
            super()._print_results(op)

    @override
    def print_attribute(self, attribute: Attribute) -> None:
        name = name_in(attribute.name, self.release)
        if name != attribute.name and isinstance(attribute, ParametrizedAttribute):
            self.print_string(f"#{name}")
            attribute.print_parameters(self)
        else:
            super().print_attribute(attribute)


def release_of(printer: Printer) -> Release:
    """The release whose text a printer prints."""
    return printer.release if isinstance(printer, TritonPrinter) else NEWEST
