"""What every instruction has; `instruction_classes.py` makes the class of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import (
    Attribute,
    Block,
    Operation,
    OpResult,
    OpTraits,
    SSAValue,
)

from xtile.dialects.construction import fill
from xtile.dialects.spirv.arguments import Argument, ArgumentsAttr
from xtile.dialects.spirv.grammar import Entry
from xtile.dialects.spirv.mathematics import ARGUMENTS

DECORATIONS = "decorations"
"""The attribute that holds what an instruction's result, or a function, is decorated with."""

TERMINATORS = frozenset(
    (
        *("Branch", "BranchConditional", "Switch", "Return", "ReturnValue", "Unreachable"),
        *("Kill", "TerminateInvocation", "IgnoreIntersectionKHR", "TerminateRayKHR"),
        *("EmitMeshTasksEXT", "AbortKHR"),
    )
)
"""The instructions that end a block.

Source: SPIR-V specification, section 2.2.5 (Control Flow), "Termination Instruction".
"""

NUMBERS_OF_RESULT = frozenset(("Constant", "SpecConstant"))
"""The instructions whose literal number is of the type of the result."""


class Instruction(Operation):
    """An instruction of SPIR-V.

    Its operands are the values among the instruction's arguments, and its successors are the
    blocks. Everything else is in the property `arguments`, which instructions that take values only
    have not.
    """

    name = "spirv.instruction"
    traits = OpTraits(lambda: ())
    entry: ClassVar[Entry]
    is_extended: ClassVar[bool] = False
    """Whether it belongs to OpenCL.std."""

    def __init__(
        self,
        operands: Sequence[SSAValue],
        result_type: Attribute | None,
        arguments: ArgumentsAttr | None = None,
        successors: Sequence[Block] = (),
    ) -> None:
        fill(
            self,
            operands,
            () if result_type is None else (result_type,),
            {} if arguments is None else {ARGUMENTS: arguments},
            {},
            successors=successors,
        )

    @property
    def result(self) -> OpResult:
        """The only result."""
        return self.results[0]

    @property
    def values(self) -> tuple[SSAValue, ...]:
        """The operands, as they are stored."""
        return self._operands

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """All arguments in the order of the grammar; None stands for the next operand."""
        attribute = self.properties.get(ARGUMENTS)
        if isinstance(attribute, ArgumentsAttr):
            return attribute.data
        return (None,) * len(self._operands)

    @property
    def literal_type(self) -> Attribute | None:
        """The type of literals that depend on the context, or None."""
        if self.entry.name == "Switch" and self._operands:
            return self._operands[0].type
        if self.entry.name in NUMBERS_OF_RESULT and self.results:
            return self.results[0].type
        return None


def decorations_of(target: Operation) -> tuple[ArgumentsAttr, ...]:
    """What an instruction's result or a function is decorated with."""
    attribute = target.attributes.get(DECORATIONS)
    if attribute is None:
        return ()
    return cast(ArrayAttr[ArgumentsAttr], attribute).data
