"""What SPIR-V's instructions write to; what is not known here, writes wherever it has a pointer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from xtile.dialects.pointer_types import is_pointer
from xtile.dialects.spirv.types import PointerType

_ADDRESSES = frozenset(
    {
        "AccessChain",
        "Bitcast",
        "ConvertPtrToU",
        "CopyObject",
        "GenericCastToPtr",
        "GenericCastToPtrExplicit",
        "InBoundsAccessChain",
        "InBoundsPtrAccessChain",
        "PtrAccessChain",
        "PtrCastToGeneric",
        "PtrDiff",
        "PtrEqual",
        "PtrNotEqual",
        "Select",
    }
)
"""Instructions that compute with pointers, and access no memory."""

_READING = frozenset(
    {
        "AtomicLoad",
        "CL.prefetch",
        "CooperativeMatrixLoadKHR",
        "Load",
        "Subgroup2DBlockPrefetchINTEL",
        "SubgroupBlockPrefetchINTEL",
        "SubgroupBlockReadINTEL",
    }
)
"""Instructions that only read memory."""

_WRITING: Mapping[str, int] = {
    "CooperativeMatrixStoreKHR": 0,
    "Store": 0,
    "Subgroup2DBlockLoadINTEL": 9,
    "Subgroup2DBlockLoadTransformINTEL": 9,
    "Subgroup2DBlockLoadTransposeINTEL": 9,
    "Subgroup2DBlockStoreINTEL": 5,
}
"""Instructions that have several pointers, or may, and which of their operands they write to.

Source: the SPIR-V Specification, "Memory Instructions"; SPV_INTEL_2d_block_io.
"""

_CALLS = frozenset({"AsmCallINTEL", "FunctionCall"})
"""Instructions that may take any number for an address."""

_CHAINS = frozenset(
    {"AccessChain", "InBoundsAccessChain", "InBoundsPtrAccessChain", "PtrAccessChain"}
)
"""Instructions whose pointer leads into the memory of the first operand."""


def written_by(operation: Operation) -> Sequence[SSAValue]:
    """The operands that lead to memory to which an instruction may write."""
    name, operands = _name(operation), operation.operands
    if operation.successors or name in _ADDRESSES or name in _READING:
        return ()
    if name in _WRITING:
        target = operands[_WRITING[name]]
        # An address in memory of the kernel's own may be taken out again where nobody sees it.
        is_hidden = _is_own(target) and _variable(target) is None
        return operands if is_hidden else (target,)
    return operands if name in _CALLS else [each for each in operands if is_pointer(each.type)]


def flows(operation: Operation) -> Iterator[tuple[SSAValue, SSAValue]]:
    """From which operands an instruction's result, or a variable that it writes to, may follow."""
    name = _name(operation)
    sources = operation.operands[:1] if name in _CHAINS else operation.operands
    variables = map(_variable, written_by(operation))
    targets = [*operation.results, *(each for each in variables if each is not None)]
    for source in sources:
        for target in targets:
            yield source, target


def _variable(pointer: SSAValue) -> SSAValue | None:
    """The variable into which a pointer leads, if that is plain to see."""
    while isinstance(pointer.owner, Operation):
        if _name(pointer.owner) == "Variable":
            return pointer
        if _name(pointer.owner) not in _ADDRESSES or not pointer.owner.operands:
            return None
        pointer = pointer.owner.operands[0]
    return None


def _is_own(pointer: SSAValue) -> bool:
    return isinstance(pointer.type, PointerType) and (
        pointer.type.storage_class.data != "CrossWorkgroup"
    )


def _name(operation: Operation) -> str:
    return operation.name.removeprefix("spirv.")
