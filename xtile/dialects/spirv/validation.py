"""Checks whole modules, also what spirv-val does not know yet."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.spirv.dominance import Dominators
from xtile.dialects.spirv.grammar import NO_VERSION, Entry, Version, version_text
from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.module import FuncOp, ModuleOp
from xtile.dialects.spirv.words import ArgumentError, resolve
from xtile.text.diagnostics import Diagnostic, DiagnosticError
from xtile.text.operation_errors import error_at


def validate(module: ModuleOp) -> None:
    """Checks each operation, that values are defined where they are used, and the version.

    The module's version of SPIR-V must have what the module uses, unless an extension adds it.

    Raises:
        DiagnosticError: Something is wrong; every error is in it.
    """
    diagnostics: list[Diagnostic] = []
    for operation, message in _problems(module):
        diagnostics += error_at(operation, message).diagnostics
    if diagnostics:
        raise DiagnosticError(diagnostics)


def _problems(module: ModuleOp) -> Iterator[tuple[Operation, str]]:
    version = (1, 0)
    for operation in module.walk():
        try:
            operation.verify_()
        except VerifyException as error:
            yield operation, f"'{operation.name}': {error}"
        if isinstance(operation, ModuleOp):
            version = operation.version
            yield from _misplaced(operation.block, set())
        elif isinstance(operation, FuncOp):
            yield from _undominated(operation)
        elif isinstance(operation, Instruction):
            yield from _problems_of_version(operation, version)


def _problems_of_version(
    instruction: Instruction, version: Version
) -> Iterator[tuple[Operation, str]]:
    """Yields what a version of SPIR-V lacks and no extension adds."""
    for entry in _entries(instruction):
        if version < entry.version != NO_VERSION and not entry.extensions:
            needed, given = version_text(entry.version), version_text(version)
            message = f"{entry.name} needs SPIR-V {needed}, but the module's version is {given}"
            yield instruction, f"'{instruction.name}': {message}"


def _entries(instruction: Instruction) -> list[Entry]:
    """The entries of an instruction and of its enumerants."""
    try:
        resolved = resolve(instruction.entry, instruction.arguments, instruction.literal_type)
    except ArgumentError:
        return [instruction.entry]
    return [instruction.entry, *resolved.enumerants]


# --- values ---


def _undominated(function: FuncOp) -> Iterator[tuple[Operation, str]]:
    """Yields the operands in a function that are not defined on every path to their use."""
    dominators = Dominators(function.body)
    for block in function.body.blocks:
        yield from _misplaced(block, set[SSAValue](), dominators)


def _misplaced(
    block: Block, defined: set[SSAValue], dominators: Dominators | None = None
) -> Iterator[tuple[Operation, str]]:
    """Yields the operands in a block that are not defined before it, nor before them in it.

    Args:
        block: The block.
        defined: The values that are defined so far.
        dominators: The dominators of the block's function; None for the module's own block.
    """
    is_reached = dominators is None or dominators.is_reached(block)
    for operation in block.ops:
        if isinstance(operation, Instruction) and is_reached:
            for index, operand in enumerate(operation.values):
                owner = operand.owner if isinstance(operand.owner, Block) else operand.owner.parent
                is_here = owner is block and not isinstance(operand.owner, Block)
                if is_here and operand not in defined and dominators is not None:
                    yield operation, _message(operation, index, "before its definition")
                elif owner is not block and not _reaches(owner, block, dominators):
                    yield operation, _message(operation, index, "where it is not defined")
        defined.update(operation.results)


def _reaches(owner: Block | None, block: Block, dominators: Dominators | None) -> bool:
    """Whether a block's values are defined in another block."""
    if owner is None:
        return False
    if owner.parent is block.parent:
        return dominators is not None and dominators.dominates(owner, block)
    function = block.parent_op()
    return function is not None and owner is function.parent


def _message(operation: Operation, index: int, where: str) -> str:
    return f"operand {index + 1} of '{operation.name}' is used {where}"
