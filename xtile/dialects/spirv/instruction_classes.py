"""One class for each instruction, made from the table, that checks what it is made of."""

from __future__ import annotations

from typing import cast

from typing_extensions import override
from xdsl.ir import (
    OpTraits,
)
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.spirv.grammar import instructions, opencl_instructions
from xtile.dialects.spirv.instruction import TERMINATORS, Instruction
from xtile.dialects.spirv.mathematics import FUNCTIONS, FunctionOperation
from xtile.dialects.verification import NamesBlocks

EXTENDED_PREFIX = "CL."
"""What the names of the instructions of OpenCL.std begin with."""

MERGES = frozenset(("LoopMerge", "SelectionMerge"))
"""The instructions that name blocks before a terminator."""


class CheckedInstruction(Instruction):
    """An instruction that is verified by the table and by the specification."""

    name = "spirv.checked_instruction"

    @override
    def verify_(self) -> None:
        from xtile.dialects.spirv.verification import verify_instruction

        verify_instruction(self)


class MergeInstruction(CheckedInstruction):
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


class FunctionInstruction(FunctionOperation, CheckedInstruction):
    """A function of OpenCL.std that MLIR's own dialect has too, under the same name.

    In `spirv.module` it is the instruction, and elsewhere what mlir-opt takes it for.
    """

    name = "spirv.function_instruction"

    @override
    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is None or parent.name in _IN_BINARIES:
            CheckedInstruction.verify_(self)
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
    base = MergeInstruction if name in MERGES else CheckedInstruction
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
