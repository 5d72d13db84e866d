"""The `spirv` dialect: SPIR-V's instructions, binaries and assembler text.

```
module = ModuleOp()
f = FuncOp("f", FunctionType.from_lists([PointerType(f32, "CrossWorkgroup")], []))
x = operation("Load", f32, f.parameters[0], ("Aligned", 4))
f.entry_block.add_ops([x, operation("Return", None)])
module.block.add_ops([operation("EntryPoint", None, "Kernel", "f", "f"), f])
data = encode(module)
```

Source: SPIR-V specification 1.6, unified; `grammar.txt` has its instructions and enumerants.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.spirv.arguments import ArgumentsAttr
    from xtile.dialects.spirv.assembler import assemble
    from xtile.dialects.spirv.builder import decorate, operation
    from xtile.dialects.spirv.decoder import decode
    from xtile.dialects.spirv.dialect import SPIRV
    from xtile.dialects.spirv.disassembler import disassemble
    from xtile.dialects.spirv.encoder import encode
    from xtile.dialects.spirv.instruction import Instruction
    from xtile.dialects.spirv.instruction_classes import instruction_class
    from xtile.dialects.spirv.module import FuncOp, ModuleOp
    from xtile.dialects.spirv.types import (
        ArrayType,
        CooperativeMatrixType,
        IdType,
        OtherType,
        PointerType,
        StructType,
        VoidType,
    )

_MODULES = {
    "ArgumentsAttr": "arguments",
    "assemble": "assembler",
    "decode": "decoder",
    "disassemble": "disassembler",
    "SPIRV": "dialect",
    "encode": "encoder",
    "Instruction": "instruction",
    "decorate": "builder",
    "instruction_class": "instruction_classes",
    "operation": "builder",
    "FuncOp": "module",
    "ModuleOp": "module",
    "ArrayType": "types",
    "CooperativeMatrixType": "types",
    "IdType": "types",
    "OtherType": "types",
    "PointerType": "types",
    "StructType": "types",
    "VoidType": "types",
}
"""The module of each name, which is loaded when the name is first asked for."""

__all__ = [
    "SPIRV",
    "ArgumentsAttr",
    "ArrayType",
    "CooperativeMatrixType",
    "FuncOp",
    "IdType",
    "Instruction",
    "ModuleOp",
    "OtherType",
    "PointerType",
    "StructType",
    "VoidType",
    "assemble",
    "decode",
    "decorate",
    "disassemble",
    "encode",
    "instruction_class",
    "operation",
]


def __getattr__(name: str) -> object:
    """Imports a module when one of its names is first asked for."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
