"""Modules as text: in a language that is named, or in that of their kernels."""

from __future__ import annotations

from io import StringIO
from typing import Literal

from xdsl.dialects.builtin import ModuleOp


def text_in(module: ModuleOp, language: Literal["tensorlang", "mlir"]) -> str:
    """A module as text of a language.

    Raises:
        DiagnosticError: The tensor language cannot express the module.
    """
    output = StringIO()
    if language == "tensorlang":
        from xtile.dialects.tensorlang.printer import print_module

        print_module(module, output)
    else:
        from xtile.dialects.normalisation import normalised
        from xtile.text.mlir import print_mlir

        print_mlir(normalised(module), output)
    return output.getvalue()


def text_of(module: ModuleOp) -> tuple[str, str]:
    """A module as text of the language of its kernels, and how the name of a file with it ends.

    Raises:
        DiagnosticError: The tensor language cannot express the module.
    """
    names = {operation.name for operation in module.walk()}
    if "tensorlang.func" in names:
        return text_in(module, "tensorlang"), ".ir"
    return text_in(module, "mlir"), ".ttir" if "tt.func" in names else ".mlir"
