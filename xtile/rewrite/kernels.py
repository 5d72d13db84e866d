"""Passes that write kernels of a module anew and leave everything else as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.modules import ModuleOp as GpuModuleOp
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.rebuilder import Rebuilder
from xtile.text.source import attach_source, source_of
from xtile.text.value_names import give_name

DEVICE_CODE = (ModuleOp, GpuModuleOp)
"""What holds device code in a module; everything else in it is of the host."""


def kernels_of(module: ModuleOp | GpuModuleOp) -> Iterator[FuncOp]:
    """The functions of a module and of those in it, in the order of the text."""
    for operation in module.body.block.ops:
        if isinstance(operation, FuncOp):
            yield operation
        elif isinstance(operation, DEVICE_CODE):
            yield from kernels_of(operation)


def with_kernels_replaced(
    module: ModuleOp, is_chosen: Callable[[FuncOp], bool], rebuild: Callable[[FuncOp], FuncOp]
) -> ModuleOp:
    """Returns a copy of a module with other kernels.

    Args:
        module: The module; it is not changed.
        is_chosen: Whether a kernel is written anew.
        rebuild: Makes the new kernel from the one in `module`, whose positions its messages need.
    """
    copies: dict[SSAValue, SSAValue] = {}

    def copied(operation: Operation) -> Operation:
        if isinstance(operation, FuncOp) and is_chosen(operation):
            return rebuild(operation)
        if not isinstance(operation, DEVICE_CODE):
            return operation.clone(copies)
        copy = operation.clone_without_regions(copies)
        copy.regions[0].add_block(Block([copied(each) for each in operation.body.block.ops]))
        return copy

    result, source = copied(module), source_of(module)
    assert isinstance(result, ModuleOp)
    for old, new in copies.items():
        give_name(new, old.name_hint)
    if source is not None:
        attach_source(result, source)
    return result


def rebuilt(old: FuncOp, emitter: Emitter) -> FuncOp:
    """A kernel of the same signature, whose body is what the rules of an emitter make of it."""
    body = emitter.new_block(old.body.block, [argument.type for argument in old.body.block.args])
    with emitter.in_function(body):
        emitter.translate_block(old.body.block)
    result = FuncOp.create(
        properties=old.properties.copy(),
        attributes=old.attributes.copy(),
        regions=[Region(body)],
    )
    result.location = old.location
    return result


def with_device_code_rebuilt(module: ModuleOp, rebuilder: Rebuilder) -> ModuleOp:
    """Returns a copy of a module in which modules of device code are translated.

    Args:
        module: The module; it is not changed.
        rebuilder: Translates them, as its rules say.
    """
    body, source = Block(), source_of(module)
    with rebuilder.at_end_of(body):
        for operation in module.body.ops:
            if isinstance(operation, DEVICE_CODE):
                rebuilder.translate(operation)
            else:
                rebuilder.keep(operation)
    result = ModuleOp([], module.attributes.copy())
    result.body.detach_block(result.body.block).erase()
    result.body.add_block(body)
    if source is not None:
        attach_source(result, source)
    return result
