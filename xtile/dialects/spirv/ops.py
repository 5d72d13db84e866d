"""SPIR-V's instructions, each by its name: `FAddOp` is `OpFAdd`.

They are made from Khronos's table when they are first asked for. What is no identifier, such as
`CL.exp`, `xtile.dialects.spirv.instruction_class` has.
"""

from __future__ import annotations

from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.instruction_classes import instruction_class
from xtile.dialects.spirv.module import FuncOp, ModuleOp

__all__ = ["FuncOp", "ModuleOp"]


def __getattr__(name: str) -> type[Instruction]:
    """Makes the class of an instruction."""
    try:
        if not name.endswith("Op"):
            raise ValueError(f"{name} is no operation")
        return instruction_class(name.removesuffix("Op"))
    except ValueError:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'") from None
