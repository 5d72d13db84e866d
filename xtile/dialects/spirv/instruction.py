"""The operations of the dialect: one class for each instruction, made from the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, UnknownLoc
from xdsl.ir import (
    Attribute,
    Block,
    Operation,
    OpResult,
    OpTraits,
    SSAValue,
    SSAValues,
    Use,
)
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.spirv.arguments import Argument, ArgumentsAttr
from xtile.dialects.spirv.grammar import Entry, instructions, opencl_instructions
from xtile.dialects.spirv.mathematics import ARGUMENTS, FUNCTIONS, FunctionOperation
from xtile.dialects.verification import NamesBlocks

EXTENDED_PREFIX = "CL."
"""What the names of the instructions of OpenCL.std begin with."""

DECORATIONS = "decorations"
"""The attribute that holds what an instruction's result, or a function, is decorated with."""

_UNKNOWN_LOCATION = UnknownLoc()
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

MERGES = frozenset(("LoopMerge", "SelectionMerge"))
"""The instructions that name blocks before a terminator."""


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
        # This does what xDSL's constructor does for an operation without regions, in a third of its
        # time.
        self._operands = SSAValues(operands)
        uses: list[Use] = []
        for index, operand in enumerate(operands):
            use = Use(self, index)
            operand.add_use(use)
            uses.append(use)
        self._operand_uses = tuple(uses)
        self.results = SSAValues(() if result_type is None else (OpResult(result_type, self, 0),))
        self.properties = {} if arguments is None else {ARGUMENTS: arguments}
        self.attributes = {}
        self.location = _UNKNOWN_LOCATION
        self._successors = ()
        self._successor_uses = ()
        if successors:
            self.successors = successors
        self.regions = ()
        self.parent = None
        self._next_op = None
        self._prev_op = None

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

    @override
    def verify_(self) -> None:
        from xtile.dialects.spirv.verification import verify_instruction

        verify_instruction(self)


class MergeInstruction(Instruction):
    """`OpLoopMerge` or `OpSelectionMerge`, which names blocks but does not branch to them."""

    name = "spirv.merge"
    traits = OpTraits(lambda: (NamesBlocks(),))

    @override
    def verify(self, verify_nested_ops: bool = True) -> None:
        # xDSL's own would have an operation with successors be the last of its block.
        self.verify_()

    @override
    def verify_(self) -> None:
        following = self.next_op
        if not (isinstance(following, Instruction) and following.entry.name in TERMINATORS):
            raise VerifyException("must stand before the terminator of its block")
        super().verify_()


class FunctionInstruction(FunctionOperation, Instruction):
    """A function of OpenCL.std that MLIR's own dialect has too, under the same name.

    In `spirv.module` it is the instruction, and elsewhere what mlir-opt takes it for.
    """

    name = "spirv.function_instruction"

    @override
    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is None or parent.name in _IN_BINARIES:
            Instruction.verify_(self)
        else:
            FunctionOperation.verify_(self)


_IN_BINARIES = ("spirv.func", "spirv.module")
"""What instructions of a binary stand in."""

_classes: dict[str, type[Instruction]] = {}


def instruction_class(name: str) -> type[Instruction]:
    """The class of an instruction, such as `FAdd` or `CL.exp`.

    Raises:
        ValueError: There is no such instruction.
    """
    found = _classes.get(name)
    if found is not None:
        return found
    is_extended = name.startswith(EXTENDED_PREFIX)
    section = opencl_instructions() if is_extended else instructions()
    entry = section.get(name.removeprefix(EXTENDED_PREFIX) if is_extended else name)
    if entry is None:
        raise ValueError(f"SPIR-V has no instruction {name}")
    official = f"{EXTENDED_PREFIX if is_extended else ''}{entry.name}"
    if official != name:
        _classes[name] = instruction_class(official)
        return _classes[name]
    base = MergeInstruction if name in MERGES else Instruction
    contents: dict[str, object] = {
        "name": f"spirv.{name}",
        "entry": entry,
        "is_extended": is_extended,
    }
    if name in FUNCTIONS:
        base = FunctionInstruction
        contents["function"] = FUNCTIONS[name]
    if name in TERMINATORS:
        contents["traits"] = OpTraits(lambda: (IsTerminator(),))
    made = cast(type[Instruction], type(entry.name, (base,), contents))
    _classes[name] = made
    return made


def decorations_of(target: Operation) -> tuple[ArgumentsAttr, ...]:
    """What an instruction's result or a function is decorated with."""
    attribute = target.attributes.get(DECORATIONS)
    if attribute is None:
        return ()
    return cast(ArrayAttr[ArgumentsAttr], attribute).data
