"""Functions of a binary as operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr
from xdsl.ir import Attribute, Block, Region, SSAValue

from xtile.dialects.spirv.arguments import ArgumentsAttr
from xtile.dialects.spirv.binary import RawInstruction
from xtile.dialects.spirv.instruction import DECORATIONS, TERMINATORS
from xtile.dialects.spirv.instruction_decoder import InstructionDecoder
from xtile.dialects.spirv.module import PARAMETER_DECORATIONS, FuncOp
from xtile.dialects.spirv.words import enumerant_argument

_LINES = ("Line", "NoLine")


@dataclass(slots=True)
class _RawBlock:
    """The instructions of a block between its label and its end."""

    label: RawInstruction
    phis: list[RawInstruction] = field(default_factory=list[RawInstruction])
    body: list[RawInstruction] = field(default_factory=list[RawInstruction])

    @property
    def number(self) -> int:
        """The label's id."""
        assert self.label.result is not None
        return self.label.result


class FunctionDecoder:
    """Builds a function from its instructions, from `OpFunction` to `OpFunctionEnd`."""

    def __init__(self, decoder: InstructionDecoder, raws: Sequence[RawInstruction]) -> None:
        self._decoder = decoder
        self._head = raws[0]
        parameters = 1
        while raws[parameters].name == "FunctionParameter":
            parameters += 1
        self._parameters = raws[1:parameters]
        self._raw_blocks = self._split(raws[parameters:-1])
        self._incoming: dict[int, list[dict[int, int]]] = {}
        self._edges: set[tuple[int, int]] = set()

    def decode(self) -> FuncOp:
        """The function.

        Raises:
            DiagnosticError: It is damaged.
        """
        type = self._function_type()
        for parameter in self._parameters:
            self._decoder.reserve(parameter)
        blocks = self._blocks(type)
        for raw_block, block in zip(self._raw_blocks, blocks, strict=True):
            self._fill(raw_block, block)
        self._check_phis()
        self._decoder.labels.clear()
        return self._function(type, blocks)

    # --- structure ---

    def _split(self, raws: Sequence[RawInstruction]) -> list[_RawBlock]:
        """Splits what follows the parameters into blocks."""
        found: list[_RawBlock] = []
        current: _RawBlock | None = None
        for raw in raws:
            if raw.name == "Label":
                if current is not None:
                    raise self._decoder.error(raw, "stands in a block that has no end yet")
                current = _RawBlock(raw)
                found.append(current)
            elif current is not None:
                self._add(raw, current)
                if raw.name in TERMINATORS:
                    current = None
            elif raw.name not in _LINES:
                raise self._decoder.error(raw, "stands in a function but in none of its blocks")
        if current is not None:
            raise self._decoder.error(current.label, f"%{current.number} is a block without an end")
        return found

    def _add(self, raw: RawInstruction, block: _RawBlock) -> None:
        if raw.name != "Phi":
            block.body.append(raw)
        elif all(other.name in _LINES for other in block.body):
            block.phis.append(raw)
        else:
            raise self._decoder.error(raw, "must stand at the start of its block")

    def _blocks(self, type: FunctionType) -> list[Block]:
        """The blocks with their arguments, which are defined from here on."""
        blocks: list[Block] = []
        for raw_block in self._raw_blocks:
            raws: Sequence[RawInstruction] = raw_block.phis
            types: Sequence[Attribute] = [self._decoder.type(raw, raw.type) for raw in raws]
            if not blocks:
                if raws:
                    raise self._decoder.error(raws[0], "the first block has no branches to it")
                raws, types = self._parameters, type.inputs.data
            else:
                self._incoming[raw_block.number] = [_sources(raw) for raw in raws]
            block = Block(arg_types=types)
            blocks.append(block)
            self._decoder.reserve(raw_block.label)
            self._decoder.labels[raw_block.number] = block
            self._decoder.give_name(raw_block.number, block)
            for raw, argument in zip(raws, block.args, strict=True):
                if raw.name == "Phi":
                    self._decoder.reserve(raw)
                assert raw.result is not None
                self._decoder.define(raw.result, argument)
        return blocks

    def _fill(self, raw_block: _RawBlock, block: Block) -> None:
        for raw in raw_block.body:
            if raw.name in _LINES:
                self._decoder.set_line(raw)
                continue
            self._decoder.reserve(raw)
            if raw.name in TERMINATORS:
                made = self._decoder.build(raw, lambda label: self._forwarded(raw_block, label))
            else:
                made = self._decoder.build(raw)
            block.add_op(made)

    # --- branches ---

    def _forwarded(self, source: _RawBlock, label: int) -> Sequence[SSAValue]:
        """What a branch to a label gives to the block's arguments."""
        if label not in self._incoming:
            raise self._decoder.error(source.body[-1], "no branch may go to the first block")
        self._edges.add((source.number, label))
        values: list[SSAValue] = []
        for sources in self._incoming[label]:
            number = sources.get(source.number)
            if number is None:
                message = f"OpPhi of %{label} has no value for the branch from %{source.number}"
                raise self._decoder.error(source.body[-1], message)
            values.append(self._decoder.value(source.body[-1], number))
        return values

    def _check_phis(self) -> None:
        for block in self._raw_blocks:
            for phi in block.phis:
                for source in _sources(phi):
                    if (source, block.number) not in self._edges:
                        message = f"%{source} does not branch to %{block.number}"
                        raise self._decoder.error(phi, message)

    # --- the function itself ---

    def _function_type(self) -> FunctionType:
        head = self._head
        type = self._decoder.type(head, head.id_at(1))
        if not isinstance(type, FunctionType):
            raise self._decoder.error(head, f"%{head.id_at(1)} is no type of functions")
        result = self._decoder.type(head, head.type)
        returned = self._decoder.type_of_nothing if not type.outputs.data else type.outputs.data[0]
        if result != returned:
            raise self._decoder.error(head, "its result is not that of its type")
        types = tuple(self._decoder.type(raw, raw.type) for raw in self._parameters)
        if types != type.inputs.data:
            raise self._decoder.error(head, "its parameters are not those of its type")
        return type

    def _function(self, type: FunctionType, blocks: list[Block]) -> FuncOp:
        decoder, number = self._decoder, self._head.result
        assert number is not None
        name = decoder.functions[number]
        properties: dict[str, Attribute] = {"sym_name": StringAttr(name), "function_type": type}
        control = enumerant_argument("FunctionControl", self._head.number_at(0))
        if not isinstance(control, str):
            raise decoder.error(self._head, f"there is no function control {control}")
        properties["function_control"] = StringAttr(control)
        attributes: dict[str, Attribute] = {}
        decorations = list(decoder.annotations.decorations.get(number, ()))
        linkage = linkage_of(decorations)
        if linkage is not None:
            decorations.remove(linkage)
            kind = linkage.data[2]
            if not isinstance(kind, str):
                raise decoder.error(self._head, f"there is no linkage type {kind}")
            properties["linkage"] = StringAttr(kind)
        if decorations:
            attributes[DECORATIONS] = ArrayAttr(decorations)
        of_parameters = [decoder.parameter_decorations(raw.result or 0) for raw in self._parameters]
        if any(of_parameters):
            attributes[PARAMETER_DECORATIONS] = ArrayAttr(of_parameters)
        return FuncOp.create(properties=properties, attributes=attributes, regions=[Region(blocks)])


def linkage_of(decorations: Sequence[ArgumentsAttr]) -> ArgumentsAttr | None:
    """The decoration that links a function, with its name and how; None if there is none."""
    return next((known for known in decorations if known.data[0] == "LinkageAttributes"), None)


def _sources(phi: RawInstruction) -> dict[int, int]:
    """The value of an `OpPhi` for each block before it."""
    numbers = [phi.id_at(index) for index in range(len(phi.operands))]
    return dict(zip(numbers[1::2], numbers[::2], strict=True))
