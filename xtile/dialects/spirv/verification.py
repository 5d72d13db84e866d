"""What an operation must be, by the table."""

from __future__ import annotations

from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.spirv.arguments import Target
from xtile.dialects.spirv.instruction import Instruction
from xtile.dialects.spirv.module import FuncOp, ModuleOp
from xtile.dialects.spirv.words import ArgumentError, resolve


def verify_instruction(instruction: Instruction) -> None:
    """Checks the number and the kinds of an instruction's arguments.

    Raises:
        VerifyException: They are not what the table says.
    """
    try:
        _verify_places(instruction)
        resolve(instruction.entry, instruction.arguments, _literal_type(instruction))
    except ArgumentError as error:
        raise VerifyException(str(error)) from None


def verify_spirv_module(module: ModuleOp) -> None:
    """Checks a module itself.

    Raises:
        VerifyException: It is not what the specification says.
    """


def verify_function(function: FuncOp) -> None:
    """Checks a function itself.

    Raises:
        VerifyException: It is not what the specification says.
    """


def _literal_type(instruction: Instruction) -> Attribute | None:
    if instruction.entry.name == "Switch":
        return instruction.values[0].type
    return instruction.results[0].type if instruction.results else None


def _verify_places(instruction: Instruction) -> None:
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
