"""Modules as the text of the language that their kernels are in."""

from __future__ import annotations

from io import StringIO

from xdsl.dialects.builtin import ModuleOp


def text_of(module: ModuleOp) -> tuple[str, str]:
    """A module as text, and what the name of a file with it ends with.

    Raises:
        DiagnosticError: The tensor language cannot express the module.
    """
    output = StringIO()
    names = {operation.name for operation in module.walk()}
    if "tensorlang.func" in names:
        from xtile.dialects.tensorlang.printer import print_module

        print_module(module, output)
        return output.getvalue(), ".ir"
    from xtile.dialects.normalisation import normalised
    from xtile.text.mlir import print_mlir

    print_mlir(normalised(module), output)
    return output.getvalue(), ".ttir" if "tt.func" in names else ".mlir"
