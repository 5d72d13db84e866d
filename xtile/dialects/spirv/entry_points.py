"""The kernels of a module of SPIR-V: the functions that its entry points name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xtile.dialects.spirv.arguments import Argument
from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.module import FuncOp, ModuleOp

KERNEL = "Kernel"
"""The execution model of the entry points that OpenCL launches."""


def entry_points(module: ModuleOp) -> dict[str, str]:
    """The function of each kernel, by the name that a device knows the kernel by."""
    return {name: function for name, function, _ in _entry_points(module)}


def entry_point_of(function: FuncOp) -> str | None:
    """The name that a device knows a function by; None if it is no kernel."""
    module = function.parent_op()
    if not isinstance(module, ModuleOp) or not function.body.blocks:
        return None
    return next(
        (name for name, named, _ in _entry_points(module) if named == function.sym_name), None
    )


def execution_modes(module: ModuleOp, function: str) -> dict[str, tuple[int, ...]]:
    """The numbers of each mode that a function is executed in, by the mode's name."""
    modes: dict[str, tuple[int, ...]] = {}
    for arguments, _ in _of_name(module, ("ExecutionMode",)):
        of, mode, *numbers = arguments
        if of == function:
            modes[str(mode)] = tuple(number for number in numbers if isinstance(number, int))
    return modes


def erase_kernel(function: FuncOp) -> None:
    """Takes a kernel out of its module; as a function it stays where others call it."""
    module, name = function.parent_op(), function.sym_name
    assert isinstance(module, ModuleOp)
    of_kernel = [each for _, named, each in _entry_points(module) if named == name]
    modes = _of_name(module, ("ExecutionMode", "ExecutionModeId"))
    of_kernel += [each for arguments, each in modes if arguments[0] == name]
    for instruction in of_kernel:
        instruction.detach()
        instruction.erase()
    if not any(_calls(each, name) for each in module.walk()):
        function.detach()
        function.erase(safe_erase=False)


def _calls(operation: object, name: str) -> bool:
    return (
        isinstance(operation, Instruction)
        and operation.entry.name == "FunctionCall"
        and operation.arguments[0] == name
    )


def _entry_points(module: ModuleOp) -> Iterator[tuple[str, str, Instruction]]:
    """The name of each kernel, that of its function, and the instruction that says so."""
    for (model, function, name, *_), instruction in _of_name(module, ("EntryPoint",)):
        if model == KERNEL:
            yield str(name), str(function), instruction


def _of_name(
    module: ModuleOp, names: Sequence[str]
) -> Iterator[tuple[tuple[Argument, ...], Instruction]]:
    for operation in module.block.ops:
        if isinstance(operation, Instruction) and operation.entry.name in names:
            yield operation.arguments, operation
