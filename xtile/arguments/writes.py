"""Which parameters a kernel may write to, and which of them are locks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    TensorType,
    UnrankedMemRefType,
    VectorType,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.effects import (
    COMPARED,
    is_pure,
    leaves_memory,
    may_access,
    written_operands,
)
from xtile.dialects.pointer_types import is_pointer
from xtile.dialects.tensorlang.types import GroupType, MemrefType

_Sources: TypeAlias = "dict[SSAValue, frozenset[int]]"
"""For a value the parameters that it may follow from."""


def written_parameters(function: Operation) -> frozenset[int]:
    """The indices of the memref and group parameters that an operation may write to."""
    if any(_is_of_pointers(value.type) for value in _values(function)) or _writes_addresses(
        function
    ):
        return _of_parameters(function, written_pointers(function))
    roots = {_root(each) for op in function.walk() for each in _written_memrefs(op)}
    if not all(_is_root(root, function) for root in roots):
        return _of_parameters(function, written_pointers(function))
    written = {root.index for root in roots if isinstance(root, BlockArgument)}
    return _of_parameters(function, written)


def _of_parameters(function: Operation, arguments: Iterable[int]) -> frozenset[int]:
    """Those of the body's arguments that are parameters; behind them local memory may be some."""
    type = function.get_attr_or_prop("function_type")
    if not isinstance(type, FunctionType):
        return frozenset(arguments)
    return frozenset(index for index in arguments if index < len(type.inputs))


def _writes_addresses(function: Operation) -> bool:
    """Whether an operation writes to an address that is a number, as those of XeGPU may."""
    targets = (target for each in function.walk() for target in written_operands(each))
    return any(target.type == i64 for target in targets)


def _values(function: Operation) -> Iterator[SSAValue]:
    """The parameters of a function and all results in it."""
    for block in function.regions[0].blocks if function.regions else ():
        yield from block.args
    for operation in function.walk():
        yield from operation.results


def _written_memrefs(operation: Operation) -> Sequence[SSAValue]:
    """The memrefs that an operation writes to, or that a function may write to that it calls."""
    return operation.operands if operation.name == "func.call" else written_operands(operation)


def _root(value: SSAValue) -> SSAValue:
    """What a view is a view on: a parameter, the result of alloca, or what one of several is."""
    while isinstance(value.owner, Operation) and value.owner.operands:
        source = value.owner.operands[0]
        if not _is_memory(source.type):
            return value
        value = source
    return value


def _is_root(value: SSAValue, function: Operation) -> bool:
    """Whether memory is a parameter of a function or allocated, and no other value's."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return owner.parent_op() is function and owner is function.regions[0].blocks[0]
    return not owner.regions and not any(_is_memory(each.type) for each in owner.operands)


def _is_memory(type: Attribute) -> bool:
    """Whether a value of a type leads to memory, which what is made of it leads to as well."""
    memory = MemrefType | GroupType | MemRefType | UnrankedMemRefType
    return isinstance(type, memory) or type.name == "xegpu.tensor_desc"


# Kernels that compute with pointers


def written_pointers(kernel: Operation) -> frozenset[int]:
    """The indices of the parameters from whose value an address follows that is written to.

    An address may lie in memory itself, as those of a list of arrays do.
    """
    sources = _sources(kernel)
    written: set[int] = set()
    for operation in kernel.walk():
        for target in _targets(operation):
            written.update(sources.get(target, ()))
    return frozenset(written)


def locks(kernel: Operation) -> Mapping[int, int]:
    """The parameters that lead to locks, by their indices, and the number of a lock that is free.

    A lock is what a loop swaps as long as it does not hold a number that the kernel writes down.
    """
    spinning = [each for each in kernel.walk() if each.name in COMPARED and _is_in_while(each)]
    sources = _sources(kernel) if spinning else {}
    return {
        parameter: free
        for operation in spinning
        if (free := _number(operation.operands[COMPARED[operation.name]])) is not None
        for target in written_operands(operation)
        for parameter in sources.get(target, ())
    }


def _is_in_while(operation: Operation) -> bool:
    around = operation.parent_op()
    while around is not None and around.name not in _WHILE:
        around = around.parent_op()
    return around is not None


_WHILE = frozenset({"cuda_tile.loop", "scf.while"})
"""Loops that do not count their turns."""


def _number(value: SSAValue) -> int | None:
    """The integer that a kernel writes down for all elements of a value."""
    while isinstance(value.owner, Operation) and value.owner.name in _SAME_NUMBERS:
        value = value.owner.operands[0]
    if not isinstance(value.owner, Operation):
        return None
    attribute = value.owner.get_attr_or_prop("value")
    if isinstance(attribute, DenseIntOrFPElementsAttr) and attribute.is_splat():
        return int(attribute.get_values()[0])
    return attribute.value.data if isa(attribute, IntegerAttr) else None


_SAME_NUMBERS = frozenset(
    {
        "arith.bitcast",
        "arith.extsi",
        "arith.index_cast",
        "cuda_tile.broadcast",
        "cuda_tile.reshape",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.reshape",
        "tt.splat",
        "ttg.convert_layout",
        "vector.broadcast",
        "vector.shape_cast",
    }
)
"""Operations whose elements are numbers of their only operand."""


def _sources(kernel: Operation) -> _Sources:
    """What each value of a kernel follows from."""
    blocks = kernel.regions[0].blocks
    sources: _Sources = {
        argument: frozenset([argument.index])
        for argument in blocks[0].args
        if _leads_to_memory(argument.type)
    }
    while sum(_flow(block, sources) for block in blocks):
        pass
    return sources


def _targets(operation: Operation) -> Sequence[SSAValue]:
    """The operands that lead to memory to which an operation may write.

    An instruction of SPIR-V of which nothing is known writes wherever it has a pointer.
    """
    if operation.name in _CALLS:
        return operation.operands
    if operation.name.startswith("spirv.") and not may_access(operation):
        is_known = operation.successors or leaves_memory(operation)
        return () if is_known else [each for each in operation.operands if is_pointer(each.type)]
    targets = written_operands(operation)
    # An address in memory of the kernel's own may be taken out again where nobody sees it.
    is_hidden = any(_is_own(target) and _variable(target) is None for target in targets)
    return operation.operands if is_hidden else targets


_CALLS = frozenset({"spirv.AsmCallINTEL", "spirv.FunctionCall", "tt.call"})
"""Operations that may take any operand for an address."""


def _is_own(pointer: SSAValue) -> bool:
    """Whether a pointer of SPIR-V leads to memory of the kernel's own."""
    storage_class: Attribute | None = getattr(pointer.type, "storage_class", None)
    return storage_class not in (None, StringAttr("CrossWorkgroup"))


def _variable(pointer: SSAValue) -> SSAValue | None:
    """The variable into which a pointer leads, if that is plain to see."""
    while isinstance(pointer.owner, Operation):
        if pointer.owner.name == "spirv.Variable":
            return pointer
        if not is_pure(pointer.owner) or not pointer.owner.operands:
            return None
        pointer = pointer.owner.operands[0]
    return None


_TILES = ("cuda_tile.tile", TensorType.name, VectorType.name)


def _is_of_pointers(type: Attribute) -> bool:
    """Whether a value is a pointer, or a tile of pointers."""
    is_tile = type.name in _TILES
    element: Attribute = getattr(type, "element_type", type) if is_tile else type
    return is_pointer(element)


def _leads_to_memory(type: Attribute) -> bool:
    """Whether a value of a type is an address, or may be one."""
    if _is_of_pointers(type) or _is_memory(type):
        return True
    if type.name.startswith("cuda_tile.") and type.name.endswith("_view"):
        return True
    if type.name in ("spirv.array", "spirv.struct", "tt.tensordesc"):
        return True
    element = getattr(type, "element_type", type)
    return element == i64 or isinstance(element, IndexType)


_NONE: frozenset[int] = frozenset()

_TELLS_SIZE = frozenset({"memref.dim", "memref.rank", "tensorlang.size"})
"""Operations on memory whose results tell nothing of where it is."""


def _flow(block: Block, sources: _Sources) -> bool:
    """Passes on what values come from; whether anything was new."""
    is_new = False
    for operation in block.walk():
        if operation.name in _TELLS_SIZE:
            continue
        for source, target in _edges(operation):
            found, known = sources.get(source, _NONE), sources.get(target, _NONE)
            if not found <= known and _leads_to_memory(target.type):
                sources[target] = known | found
                is_new = True
    return is_new


def _edges(operation: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """From which operands results may follow, or values of regions or of blocks branched to.

    So may what a variable holds that is written to.
    """
    if operation.successors:
        # What a branch forwards stands behind its conditions, in the order of its successors.
        forwarded = [argument for block in operation.successors for argument in block.args]
        yield from zip(reversed(operation.operands), reversed(forwarded), strict=False)
        return
    targets = [*operation.results, *_arguments(operation)]
    around = operation.parent_op()
    while around is not None and operation.name in _TERMINATORS and around.name in _PASSING:
        targets += [*around.results, *_arguments(around)]
        around = around.parent_op()
    variables = map(_variable, _targets(operation))
    targets += [each for each in variables if each is not None]
    for source in operation.operands[:1] if operation.name in _CHAINS else operation.operands:
        for target in targets:
            yield source, target


_CHAINS = frozenset(
    {"spirv.AccessChain", "spirv.InBoundsAccessChain"}
    | {"spirv.InBoundsPtrAccessChain", "spirv.PtrAccessChain"}
)
"""Instructions whose pointer leads into the memory of the first operand."""


def _arguments(operation: Operation) -> Iterator[SSAValue]:
    for region in operation.regions:
        for block in region.blocks:
            yield from block.args


_TERMINATORS = frozenset(
    {
        "cuda_tile.break",
        "cuda_tile.continue",
        "cuda_tile.yield",
        "scf.condition",
        "scf.yield",
    }
)

_PASSING = frozenset(
    {"cuda_tile.for", "cuda_tile.if", "cuda_tile.loop", "scf.for", "scf.if", "scf.while"}
)
"""What the operands of a terminator are passed on by, however deep it lies in them."""
