"""What `xtile` offers for texts and modules: reading, printing, verifying, translating."""

from __future__ import annotations

from typing import Literal

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.printing import text_in
from xtile.dialects.reading import UnknownLanguageError, parse, unknown_language, verify
from xtile.translate.porting import port, translate

__all__ = ["UnknownLanguageError", "parse", "port", "to_text", "translate", "verify"]


def to_text(
    module: ModuleOp, language: Literal["tensorlang", "mlir", "spirv-asm"] = "tensorlang"
) -> str:
    """Returns a module as text: in the tensor language, in MLIR, or SPIR-V as its assembler has it.

    Raises:
        DiagnosticError: The language cannot express the module.
        UnknownLanguageError: The language is none of the three.
    """
    if language == "spirv-asm":
        from xtile.backends.intel.compilation import spirv_in
        from xtile.dialects.spirv import disassemble, encode

        return disassemble(encode(spirv_in(module)))
    if language not in ("tensorlang", "mlir"):
        raise unknown_language(language, ("tensorlang", "mlir", "spirv-asm"))
    return text_in(module, language)
