"""Small modules that several tests look at."""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType, f32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.spirv import FuncOp, ModuleOp, PointerType, operation
from xtile.dialects.spirv.builder import BuildArgument

GLOBAL = PointerType(f32, "CrossWorkgroup")


class Kernel:
    """A module with a kernel `f`, to whose last block instructions are added.

    Args:
        parameters: The types of the kernel's parameters.
        version: The version of SPIR-V.
    """

    def __init__(self, *parameters: Attribute, version: tuple[int, int] = (1, 4)) -> None:
        self.module = ModuleOp(version=version)
        self.function = FuncOp("f", FunctionType.from_lists(parameters, []))
        self.block = self.function.entry_block
        self.parameters = self.function.parameters
        entry_point = operation("EntryPoint", None, "Kernel", "f", "f")
        self.module.block.add_ops([entry_point, self.function])

    def declare(self, name: str, type: Attribute | None, *arguments: BuildArgument) -> SSAValue:
        """Adds an instruction to the module itself, before the kernel."""
        made = operation(name, type, *arguments)
        self.module.block.insert_op_before(made, self.function)
        return made.results[0] if made.results else self.parameters[0]

    def add(self, name: str, type: Attribute | None, *arguments: BuildArgument) -> SSAValue | None:
        """Adds an instruction to the last block."""
        made = operation(name, type, *arguments)
        self.block.add_op(made)
        return made.results[0] if made.results else None

    def value(self, name: str, type: Attribute, *arguments: BuildArgument) -> SSAValue:
        """Adds an instruction that has a result."""
        made = self.add(name, type, *arguments)
        assert made is not None
        return made

    def constant(self, type: Attribute, number: float) -> SSAValue:
        """Adds a constant to the module."""
        return self.declare("Constant", type, number)

    def finish(self) -> ModuleOp:
        """Ends the kernel."""
        self.add("Return", None)
        return self.module

    @property
    def last(self) -> Operation:
        """The last instruction."""
        assert self.block.last_op is not None
        return self.block.last_op


def copy_kernel() -> ModuleOp:
    """A kernel that copies one element."""
    kernel = Kernel(GLOBAL, GLOBAL, i64)
    source, target, index = kernel.parameters
    source.name_hint = "source"
    position = kernel.value("InBoundsPtrAccessChain", GLOBAL, source, index)
    element = kernel.value("Load", f32, position, ("Aligned", 4))
    element.name_hint = "element"
    kernel.add("Store", None, target, element, ("Aligned", 4))
    return kernel.finish()
