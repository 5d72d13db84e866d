"""Kernels in a module: passes that write them anew, what launches and attributes say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, TILE_HINTS_ATTRIBUTE, Level
from xtile.dialects.core.launch_checks import CHECKS_ATTRIBUTE
from xtile.dialects.core.signature import (
    SIGNATURE_ATTRIBUTE,
    KernelSignature,
    Piece,
    Role,
    SourceParameter,
    source_signature,
)
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.modules import ModuleOp as GpuModuleOp
from xtile.dialects.walk import walk
from xtile.rewrite.emitter import Emitter
from xtile.rewrite.facts import constant_of
from xtile.rewrite.rebuilder import Rebuilder, again
from xtile.text.source import attach_source, clone_with_source, source_of, with_body
from xtile.text.value_names import copy_name, unique_names

if TYPE_CHECKING:
    from xtile.targets.target import Hints

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
    """Returns a copy of a module with other kernels; the module itself where none is chosen.

    Args:
        module: The module; it is not changed.
        is_chosen: Whether a kernel is written anew.
        rebuild: Makes the new kernel from the one in `module`, whose positions its messages need.
    """
    chosen = {kernel for kernel in kernels_of(module) if is_chosen(kernel)}
    if not chosen:
        return module
    copies: dict[SSAValue, SSAValue] = {}

    def copied(operation: Operation) -> Operation:
        if operation in chosen:
            assert isinstance(operation, FuncOp)
            return rebuild(operation)
        if not isinstance(operation, DEVICE_CODE):
            return operation.clone(copies)
        copy = operation.clone_without_regions(copies)
        copy.regions[0].add_block(Block([copied(each) for each in operation.body.block.ops]))
        return copy

    result, source = copied(module), source_of(module)
    assert isinstance(result, ModuleOp)
    for old, new in copies.items():
        copy_name(new, old)
    if source is not None:
        attach_source(result, source)
    return result


def rebuilt(old: FuncOp, emitter: Emitter) -> FuncOp:
    """A kernel of the same signature, whose body is what the rules of an emitter make of it."""
    body = emitter.new_block(old.body.block, [argument.type for argument in old.body.block.args])
    with emitter.in_function(body):
        emitter.translate_block(old.body.block)
    result = again(old, regions=[Region(body)])
    result.location = old.location
    return result


def with_device_code_rebuilt(module: ModuleOp, rebuilder: Rebuilder) -> ModuleOp:
    """Returns a copy of a module in which modules of device code are translated.

    Args:
        module: The module; it is not changed.
        rebuilder: Translates them, as its rules say.
    """
    body = Block()
    with rebuilder.at_end_of(body):
        for operation in module.body.ops:
            if isinstance(operation, DEVICE_CODE):
                rebuilder.translate(operation)
            else:
                rebuilder.keep(operation)
    return with_body(module, body)


def emit_tile_kernel(
    rebuilder: Rebuilder,
    source: Operation,
    name: str,
    body: Block,
    language: str,
    parameters: Iterable[tuple[str | None, str, Role]],
) -> FuncOp:
    """Emits a kernel at level "tile", with the launch checks and the signature of its source.

    Args:
        rebuilder: Where to emit.
        source: The kernel in the language that it comes from.
        name: What the kernel is called.
        body: Its body.
        language: What signatures call the language.
        parameters: Name, type and role of each parameter, which stay what they are; what has no
            name is called by its number. A source that came from another language says itself
            what its parameters were.
    """
    kernel = rebuilder.emit(
        FuncOp(name, (body.arg_types, ()), Region(body), kernel=True, known_block_size=(1, 1, 1))
    )
    signature = source_signature(source) or _own_signature(language, list(parameters))
    kernel.attributes[LEVEL_ATTRIBUTE] = StringAttr(Level.TILE.value)
    kernel.attributes[SIGNATURE_ATTRIBUTE] = signature.attribute()
    if CHECKS_ATTRIBUTE in source.attributes:
        kernel.attributes[CHECKS_ATTRIBUTE] = source.attributes[CHECKS_ATTRIBUTE]
    return kernel


def _own_signature(
    language: str, parameters: list[tuple[str | None, str, Role]]
) -> KernelSignature:
    names = unique_names(name or str(i) for i, (name, _, _) in enumerate(parameters))
    return KernelSignature(
        language,
        tuple(
            SourceParameter(name, text, (Piece(role),))
            for name, (_, text, role) in zip(names, parameters, strict=True)
        ),
    )


def launched_block_sizes(function: FuncOp) -> set[tuple[int, ...] | None]:
    """The sizes of work-groups, in work-items, with which the module around a kernel launches it.

    Returns:
        Sizes in x, y and z; None among them for launches whose sizes are no constants. Empty if
        nothing in the module launches the kernel.
    """
    from xtile.dialects.gpu.launch_func import LaunchFuncOp

    module = function.parent_op()
    root = None if module is None else module.parent_op()
    if module is None or root is None:
        return set()
    own = [module.get_attr_or_prop("sym_name"), function.sym_name]
    return {
        _known_sizes(each.blockSizeX, each.blockSizeY, each.blockSizeZ)
        for each in walk(root)
        if isinstance(each, LaunchFuncOp)
        and [each.kernel.root_reference, *each.kernel.nested_references] == own
    }


def with_launched_sizes(module: ModuleOp) -> ModuleOp:
    """Returns a copy in which kernels say the sizes of work-groups with which all launches do.

    A kernel is then what it is in the module, where the code that launches it is taken away. It is
    the module itself where there is nothing more to say.
    """
    sizes = {
        kernel.sym_name.data: found.pop()
        for kernel in kernels_of(module)
        if kernel.known_block_size is None
        and len(found := launched_block_sizes(kernel)) == 1
        and None not in found
    }
    if not sizes:
        return module
    result = clone_with_source(module)
    for kernel in kernels_of(result):
        size = sizes.get(kernel.sym_name.data)
        if size is not None:
            kernel.known_block_size = DenseArrayBase.from_list(i32, size)
    return result


def _known_sizes(*sizes: SSAValue) -> tuple[int, ...] | None:
    known = [number for size in sizes if (number := constant_of(size)) is not None]
    return tuple(known) if len(known) == len(sizes) else None


def hints_attribute(hints: Hints) -> dict[str, Attribute]:
    """The attribute by its name; none where the compiler chooses everything itself."""
    given = {
        name: IntegerAttr(number, i32)
        for name, number in sorted(hints._asdict().items())
        if number is not None
    }
    return {TILE_HINTS_ATTRIBUTE: DictionaryAttr(given)} if given else {}
