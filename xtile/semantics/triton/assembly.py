"""Inline assembly on elements: PTX and GCN instructions that compute each element on its own.

What an instruction computes is said here in operations of `arith` and `math`. An `Arithmetic` makes
numbers of that (`external.py`), or operations (`xtile/translate/triton_to_core/assembly.py`).
Approximations are as exact as everywhere here.

Source: NVIDIA, "Parallel Thread Execution ISA"; AMD, "CDNA3 Instruction Set Architecture"; Triton
3.9, `TritonOps.td` (`elementwise_inline_asm`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute

from xtile.dialects.shapes import bits_of
from xtile.semantics.triton.assembly_instructions import Step, instruction
from xtile.semantics.triton.assembly_registers import Arithmetic, Machine, Register, V

_REGISTER_BITS = 32

_IGNORED = (".reg", "nanosleep", "s_nop", "s_sleep", "s_waitcnt", "bar.sync", "membar")
"""Statements without a result."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Program:
    """Assembly that computes results from operands.

    Args:
        text: The assembly.
        constraints: For each result and each operand, with commas between them, the kind of
            register; that of an operand may be the number of the result that it shares one with.

    Raises:
        ValueError: An instruction is not known.
    """

    def __init__(self, text: str, constraints: str = "") -> None:
        self._text = text
        inputs = [each for each in constraints.split(",") if not each.strip().startswith("=")]
        self._shared = {n: int(each) for n, each in enumerate(inputs) if each.strip().isdigit()}
        self._steps = [self._compiled(each) for each in _statements(text)]

    def run(
        self,
        numbers: Arithmetic[V],
        operands: Sequence[tuple[Sequence[V], Attribute]],
        results: Sequence[Attribute],
    ) -> list[list[V]]:
        """Computes the elements of a group.

        Args:
            numbers: What computes.
            operands: For each operand as many elements as are computed at once, and their type.
            results: The types of the results' elements.

        Returns:
            As many elements of each result.

        Raises:
            ValueError: An instruction reads what nothing wrote.
        """
        machine = Machine(numbers)
        pack = len(operands[0][0]) if operands else 1
        names = (f"${number}" for number in range(2**16))
        targets = [
            [next(names) for _ in range(0, pack, _per_register(type, pack))] for type in results
        ]
        flat = [name for each in targets for name in each]
        given = [each for operand in operands for each in _registers(machine, *operand)]
        for number, register in enumerate(given):
            machine.registers[next(names)] = register
            if number in self._shared:
                machine.registers[flat[self._shared[number]]] = register
        for step in self._steps:
            step(machine)
        pairs = zip(targets, results, strict=True)
        return [
            [element for name in each for element in _elements(machine, name, type, pack)]
            for each, type in pairs
        ]

    def _compiled(self, statement: str) -> Step:
        match = re.fullmatch(r"([\w.]+)\s+(.*)", statement, re.DOTALL)
        if match is None:
            raise self._unknown(statement)
        mnemonic, rest = match.groups()
        operands = [each.strip() for each in re.split(r",(?![^{]*\})", rest)]
        step = instruction(mnemonic, operands)
        if step is None:
            raise self._unknown(statement)
        return step

    def _unknown(self, statement: str) -> ValueError:
        text = " ".join(self._text.split())
        return ValueError(
            f"the instruction '{statement}' is not known; the inline assembly is \"{text}\""
        )


def _per_register(type: Attribute, pack: int) -> int:
    """How many elements of a group of `pack` are in a register."""
    return min(pack, max(1, _REGISTER_BITS // bits_of(type)))


def _registers(
    machine: Machine[V], elements: Sequence[V], type: Attribute
) -> Iterator[Register[V]]:
    """An operand's registers."""
    count = _per_register(type, len(elements))
    for first in range(0, len(elements), count):
        parts = elements[first : first + count]
        if count == 1:
            yield Register(parts[0], type)
        else:
            yield Register(machine.join(parts, type), IntegerType(bits_of(type) * count))


def _elements(machine: Machine[V], name: str, type: Attribute, pack: int) -> list[V]:
    """The elements in a register of a result."""
    count = _per_register(type, pack)
    if count == 1:
        return [machine.read(name, type)]
    whole = machine.read(name, IntegerType(bits_of(type) * count))
    return machine.split(whole, count, type)


def _statements(text: str) -> Iterator[str]:
    """The instructions of a text, without comments and blocks."""
    plain = _COMMENT.sub(" ", text)
    for each in re.split(r"[;\n]", plain):
        # A brace at the beginning or the end is a block's, one in between a group of registers.
        statement = re.sub(r"^[\s{}]+|\s+$", "", each)
        if statement and not statement.startswith(_IGNORED):
            yield " ".join(statement.split())
