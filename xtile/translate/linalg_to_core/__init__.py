"""From `linalg`, and from loops of `affine`, to the core form at level "block" (docs/linalg.md)."""

from __future__ import annotations

from functools import cache

from xdsl.dialects.builtin import (
    FunctionType,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.hints import isa

from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, Level
from xtile.dialects.core.signature import SIGNATURE_ATTRIBUTE, own_signature
from xtile.dialects.effects import OF_WORK_ITEMS
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.gpu.functions import KERNEL, FuncOp, ReturnOp
from xtile.dialects.gpu.modules import ModuleOp as GpuModuleOp
from xtile.dialects.linalg.kernels import first_of_linalg, is_parallel
from xtile.dialects.linalg.structure import is_structured
from xtile.dialects.registry import COMPLETED_DIALECTS, OWN_DIALECTS
from xtile.dialects.walk import walk
from xtile.rewrite.rebuilder import Rebuilder, RuleTable
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import source_of, spelling_of
from xtile.translate.linalg_to_core import affine, structured
from xtile.translate.linalg_to_core.kernel import Kernel

_ALLOCATIONS = ("memref.alloc", "memref.alloca")

LINALG = "linalg"
"""What signatures call the language."""

_TENSOR = (
    "works on tensors, which have no memory; make them memrefs first, with mlir-opt's "
    "-one-shot-bufferize"
)


def translate_module(module: ModuleOp, diagnostics: Diagnostics | None = None) -> ModuleOp:
    """Translates the kernels of a module that are written in `linalg`.

    Args:
        module: The module; it is not changed.
        diagnostics: Collects remarks; None drops them.

    Returns:
        A module with the kernels at level "block" of the core form; everything else is what it was.

    Raises:
        DiagnosticError: An operation has no counterpart.
    """
    return Kernel(_RULES, "the core form", source_of(module), diagnostics).module(module)


def _function(operation: Operation, kernel: Kernel) -> None:
    """A kernel, of our own class or of xDSL's, which says in a property what it is."""
    if first_of_linalg(operation) is None:
        kernel.keep(operation)
        return
    _check(operation, kernel)
    old = operation.regions[0].block
    body = kernel.new_block(old, [argument.type for argument in old.args])
    with kernel.in_function(body):
        kernel.translate_block(old)
    type_ = operation.properties["function_type"]
    assert isinstance(type_, FunctionType)
    result = kernel.emit(FuncOp(_name(operation), type_, Region([body])))
    result.properties |= _known_properties(operation, FuncOp)
    result.attributes |= operation.attributes
    result.attributes[LEVEL_ATTRIBUTE] = StringAttr(Level.BLOCK.value)
    result.attributes.setdefault(SIGNATURE_ATTRIBUTE, own_signature(operation, LINALG).attribute())
    if KERNEL in operation.attributes or "kernel" in operation.properties:
        result.attributes[KERNEL] = UnitAttr()


def _check(function: Operation, kernel: Kernel) -> None:
    """Checks that a kernel holds only what a whole work-group can do once.

    Raises:
        DiagnosticError: It holds something else.
    """
    _, *inside = walk(function)
    for operation in (*inside, function):
        name = spelling_of(operation)
        if any(map(_is_tensor, (*operation.operands, *operation.results))):
            raise kernel.error(f"{name} {_TENSOR}", operation)
        if any(
            _is_tensor(arg) for region in operation.regions for b in region.blocks for arg in b.args
        ):
            raise kernel.error(f"{name} {_TENSOR}", operation)
        if operation.name in OF_WORK_ITEMS and not is_parallel(operation):
            raise kernel.error(
                f"{name} tells work-items apart, but a kernel of linalg is what the whole "
                "work-group does once; use gpu.block_id, or core.parallel around it",
                operation,
            )
        if operation.name in _ALLOCATIONS and not is_parallel(operation) and _is_private(operation):
            raise kernel.error(
                f"{name} is memory of each work-item, but a kernel of linalg is what the whole "
                "work-group does once; use memref.alloca of a memref in "
                "#gpu.address_space<workgroup>",
                operation,
            )
        if is_structured(operation) and is_parallel(operation):
            raise kernel.error(
                f"{name} is work of the work-group and no part of core.parallel", operation
            )


def _is_private(operation: Operation) -> bool:
    """Whether an operation makes memory that work-items do not share."""
    type_ = operation.results[0].type
    space = type_.memory_space if isa(type_, MemRefType) else None
    return not isinstance(space, AddressSpaceAttr) or space.data is not AddressSpace.WORKGROUP


def _is_tensor(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType | UnrankedTensorType)


def _module(operation: Operation, kernel: Kernel) -> None:
    """A module of device code, of our own class or of xDSL's."""
    body = Block()
    with kernel.at_end_of(body):
        kernel.translate_block(operation.regions[0].block)
    result = kernel.emit(GpuModuleOp(_name(operation), Region([body])))
    result.attributes |= operation.attributes


def _name(operation: Operation) -> str:
    name = operation.get_attr_or_prop("sym_name")
    assert isinstance(name, StringAttr | SymbolRefAttr)
    return name.data if isinstance(name, StringAttr) else name.root_reference.data


def _known_properties(operation: Operation, kind: type[IRDLOperation]) -> dict[str, Attribute]:
    """The properties of an operation that a class has, too."""
    known = kind.get_irdl_definition().properties
    return {name: given for name, given in operation.properties.items() if name in known}


def _end_of_module(operation: Operation, kernel: Kernel) -> None:
    """What xDSL ends modules of device code with."""


def _return(operation: Operation, kernel: Kernel) -> None:
    kernel.emit(ReturnOp())


def _host(operation: Operation, kernel: Rebuilder) -> None:
    kernel.keep(operation)


# --- operations of xDSL's builders, as the classes that this package completes them in ---


def _copy_completed(operation: Operation, rebuilder: Rebuilder) -> None:
    """Emits an operation again, as the class that knows upstream's text and restrictions."""
    kind = _completed_class(operation)
    rebuilder.replace(
        operation,
        kind.create(
            operands=rebuilder.values(operation.operands),
            result_types=operation.result_types,
            properties=operation.properties.copy(),
            attributes=operation.attributes.copy(),
            regions=rebuilder.regions(operation),
        ),
    )


def _completed_class(operation: Operation) -> type[Operation]:
    """The class of an operation's name, or its own where there is no other."""
    if type(operation).__module__.startswith("xtile."):
        return type(operation)
    return _classes(operation.dialect_name()).get(operation.name, type(operation))


@cache
def _classes(dialect: str) -> dict[str, type[Operation]]:
    made = {**COMPLETED_DIALECTS, **OWN_DIALECTS}.get(dialect)
    return {} if made is None else {each.name: each for each in made().operations}


_RULES = RuleTable(
    {
        "builtin.module": _copy_completed,
        "func.func": _host,
        "gpu.func": _function,
        "gpu.module": _module,
        "gpu.module_end": _end_of_module,
        "gpu.return": _return,
        **affine.RULES,
        **structured.RULES,
    },
    otherwise=_copy_completed,
)
"""What becomes of each operation; those of the core form stay what they are."""
