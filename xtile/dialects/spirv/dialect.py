"""The whole `spirv` dialect, which loads every module of it."""

from xdsl.ir import Dialect, Operation

from xtile.dialects.compilation import SPIRV as TARGETS
from xtile.dialects.spirv.arguments import ArgumentsAttr
from xtile.dialects.spirv.grammar import instructions, opencl_instructions
from xtile.dialects.spirv.instruction_classes import EXTENDED_PREFIX, instruction_class
from xtile.dialects.spirv.mathematics import FUNCTIONS, operation_class
from xtile.dialects.spirv.module import FuncOp, ModuleOp
from xtile.dialects.spirv.types import TYPES

_COMPUTED = frozenset(("Capability", "Extension", "MemoryModel", "Function", "Label", "Phi"))
"""What binaries hold that the dialect has no operations for."""

INSTRUCTIONS: list[type[Operation]] = [
    *(
        instruction_class(name)
        for name in instructions().names
        if name not in _COMPUTED and not name.startswith("Type")
    ),
    *(instruction_class(EXTENDED_PREFIX + name) for name in opencl_instructions().names),
]
"""The operation of each instruction."""

GLSL_FUNCTIONS: list[type[Operation]] = [
    operation_class(name) for name in FUNCTIONS if name.startswith("GL.")
]
"""The functions of GLSL.std.450, which are operations of MLIR's own dialect only."""

SPIRV = Dialect(
    "spirv",
    [ModuleOp, FuncOp, *INSTRUCTIONS, *GLSL_FUNCTIONS],
    [*TARGETS.attributes, *TYPES, ArgumentsAttr],
)
