"""Whether a driver has kept to the sizes of subgroups that kernels ask for.

Intel's CPU runtime makes a subgroup of the work-items that it computes with one vector instruction.
If it fails to vectorize a kernel, only its log says so: subgroups then have one work-item, whatever
the kernel asks for, and the runtime reports the size that was asked for.

Source: SPIR-V Specification, sections 3.6 "Execution Mode" and 3.21 "BuiltIn"; logs of Intel's CPU
runtime 2026.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

Words: TypeAlias = "memoryview[int]"

_KERNEL = re.compile(r'^Kernel "(.+)" was (not|successfully) vectorized', re.MULTILINE)
_INSTRUCTIONS = re.compile(r"(\d+) instructions in function")
"""What a log has for each kernel, in the same order; instructions of other functions follow."""

_EMPTY = 2
"""The instructions of a kernel of which the optimizer has left nothing."""

_FIRST_INSTRUCTION = 5
_ENTRY_POINT, _EXECUTION_MODE, _FUNCTION, _DECORATE = 15, 16, 54, 71
_SUBGROUP_SIZE = 35
_BUILTIN = 11
_OF_SUBGROUPS = frozenset({36, 37, 38, 39, 40, 41})
"""SubgroupSize, SubgroupMaxSize, NumSubgroups, NumEnqueuedSubgroups, SubgroupId and
SubgroupLocalInvocationId."""


def without_subgroups(spirv: bytes, log: str) -> list[str]:
    """The kernels that a driver has built with other subgroups than they ask for.

    Only those count that could notice: a kernel that knows the numbers neither of subgroups nor of
    the work-items in them is right with any.

    Args:
        spirv: The module, which names the variables of each kernel as SPIR-V 1.4 does.
        log: What the driver said about it.
    """
    suspects = _not_vectorized(log)
    if not suspects:
        return []
    needs_subgroups = _kernels_with_subgroups(spirv)
    return [name for name in suspects if name in needs_subgroups]


def _not_vectorized(log: str) -> list[str]:
    """The kernels that do something, but not with vectors."""
    kernels, counts = _KERNEL.findall(log), _INSTRUCTIONS.findall(log)
    if len(counts) < len(kernels):
        return [name for name, how in kernels if how == "not"]
    return [
        name
        for (name, how), count in zip(kernels, counts, strict=False)
        if how == "not" and int(count) > _EMPTY
    ]


def _kernels_with_subgroups(spirv: bytes) -> set[str]:
    """The kernels that ask for subgroups of several work-items and can tell them apart."""
    entries: list[tuple[str, int, list[int]]] = []
    sizes: dict[int, int] = {}
    variables: set[int] = set()
    for opcode, operands in _instructions(spirv):
        if opcode == _ENTRY_POINT:
            text = operands[2:].tobytes().partition(b"\0")[0]
            interface = operands[2 + len(text) // 4 + 1 :].tolist()
            entries.append((text.decode(), operands[1], interface))
        elif opcode == _EXECUTION_MODE and operands[1] == _SUBGROUP_SIZE:
            sizes[operands[0]] = operands[2]
        elif opcode == _DECORATE and operands[1] == _BUILTIN and operands[2] in _OF_SUBGROUPS:
            variables.add(operands[0])
    return {
        name
        for name, function, interface in entries
        if sizes.get(function, 1) > 1 and not variables.isdisjoint(interface)
    }


def _instructions(spirv: bytes) -> Iterator[tuple[int, Words]]:
    """The instructions in front of the first function: their opcodes and operands."""
    words: Words = memoryview(spirv).cast("I")
    position = _FIRST_INSTRUCTION
    while position < len(words):
        count, opcode = words[position] >> 16, words[position] & 0xFFFF
        if opcode == _FUNCTION:
            return
        yield opcode, words[position + 1 : position + count]
        position += count
