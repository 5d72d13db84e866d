"""What an instruction must be, by the table and by the specification.

Source: SPIR-V specification, section 2.16.1 (Universal Validation Rules).
"""

from __future__ import annotations

from xdsl.dialects.builtin import FunctionType
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.spirv.arguments import Target
from xtile.dialects.spirv.control_flow import edges_of
from xtile.dialects.spirv.grammar import table_entry
from xtile.dialects.spirv.instruction import DECORATIONS, TERMINATORS, Instruction, decorations_of
from xtile.dialects.spirv.operand_types import check_types, require_same, require_values
from xtile.dialects.spirv.type_words import check_sizes
from xtile.dialects.spirv.types import VoidType
from xtile.dialects.spirv.words import ArgumentError, resolve

_MAY_RETURN_NOTHING = frozenset(("FunctionCall", "AsmCallINTEL", "ExtInst"))
"""The instructions of the core that have a result whose type may be void."""

_VOID = VoidType()


def verify_instruction(instruction: Instruction) -> None:
    """Checks the number and the kinds of an instruction's arguments, and their types.

    Raises:
        VerifyException: They are not what the table and the specification say.
    """
    try:
        _check_result(instruction)
        _check_positions(instruction)
        resolve(instruction.entry, instruction.arguments, instruction.literal_type)
        _check_decorations(instruction)
        check_types(instruction)
        if instruction.entry.name in TERMINATORS:
            _check_terminator(instruction)
    except ArgumentError as error:
        raise VerifyException(str(error)) from None


def _check_result(instruction: Instruction) -> None:
    entry = instruction.entry
    has_result = entry.has_result or instruction.is_extended
    may_be_void = instruction.is_extended or entry.name in _MAY_RETURN_NOTHING
    if not instruction.results:
        if has_result and not may_be_void:
            raise ArgumentError("a result is missing")
        return
    if not has_result or len(instruction.results) > 1:
        raise ArgumentError(f"expected {int(has_result)} results, got {len(instruction.results)}")
    check_sizes(instruction.result.type)


def _check_positions(instruction: Instruction) -> None:
    """Checks that there are as many operands and successors as arguments stand for."""
    arguments = instruction.arguments
    targets = [argument for argument in arguments if isinstance(argument, Target)]
    values = arguments.count(None) + sum(target.forwarded for target in targets)
    if values != len(instruction.values):
        raise ArgumentError(f"expected {values} operands, got {len(instruction.values)}")
    if len(targets) != len(instruction.successors):
        raise ArgumentError(
            f"expected {len(targets)} successors, got {len(instruction.successors)}"
        )


def _check_decorations(instruction: Instruction) -> None:
    if DECORATIONS in instruction.attributes:
        for decoration in decorations_of(instruction):
            resolve(table_entry("Decorate"), (None, *decoration.data), None)


def _check_terminator(instruction: Instruction) -> None:
    """Checks what a terminator gives to blocks, or to the function's caller."""
    if instruction.parent is not None and instruction.next_op is None:
        for edge in edges_of(instruction.parent):
            types = edge.target.arg_types
            if len(edge.values) != len(types):
                message = f"a block with {len(types)} arguments is given {len(edge.values)} values"
                raise ArgumentError(message)
            for index, (value, type) in enumerate(zip(edge.values, types, strict=True)):
                require_same(value.type, type, f"argument {index + 1} of a block")
    function = instruction.parent_op()
    if function is None or function.name != "spirv.func":
        return
    type = function.properties.get("function_type")
    if not isinstance(type, FunctionType) or len(type.outputs) > 1:
        return
    (returned,) = type.outputs.data or (_VOID,)
    if instruction.entry.name == "Return" and returned != _VOID:
        raise ArgumentError(f"the function returns {returned}: use spirv.ReturnValue")
    if instruction.entry.name == "ReturnValue":
        (given, *_) = require_values(instruction, 1)
        require_same(given, returned, "the value that is returned")
