"""Modules as binaries.

Source: SPIR-V specification, sections 2.3 (Physical Layout of a SPIR-V Module and Instruction) and
2.4 (Logical Layout of a Module).
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.spirv.builder import decoration
from xtile.dialects.spirv.control_flow import Edge, edges_of, ordered_blocks
from xtile.dialects.spirv.emitter import Emitter, emit, first_word
from xtile.dialects.spirv.grammar import OPENCL_SET, Entry, instructions
from xtile.dialects.spirv.instruction import Instruction, decorations_of
from xtile.dialects.spirv.interfaces import Interfaces
from xtile.dialects.spirv.module import FuncOp, ModuleOp
from xtile.dialects.spirv.requirements import Requirements, capability_number
from xtile.dialects.spirv.types import VoidType
from xtile.dialects.spirv.words import MAGIC, ArgumentError, resolve, string_words
from xtile.text.diagnostics import error_at

GENERATOR = 0
"""The generator's registered number; 0 stands for none."""

_SECTIONS = {
    "ExtInstImport": "imports",
    "EntryPoint": "entry points",
    "ExecutionMode": "execution modes",
    "ExecutionModeId": "execution modes",
    "String": "sources",
    "Source": "sources",
    "SourceContinued": "sources",
    "SourceExtension": "sources",
    "MemberName": "names",
    "Name": "names",
    "ModuleProcessed": "processes",
    "Decorate": "annotations",
    "DecorateId": "annotations",
    "DecorateString": "annotations",
    "DecorationGroup": "annotations",
    "GroupDecorate": "annotations",
    "GroupMemberDecorate": "annotations",
    "MemberDecorate": "annotations",
    "MemberDecorateString": "annotations",
}
"""Where an instruction at module level stands in a binary, unless among the declarations."""

_ORDER = (
    *("imports", "entry points", "execution modes", "sources", "names", "processes"),
    *("annotations", "declarations", "functions of others", "functions"),
)
"""The order of the sections, in which ids are given and types declared."""


def encode(module: ModuleOp, *, names: bool = True) -> bytes:
    """Encodes a module in little-endian order; equal modules give equal bytes.

    Args:
        module: The module.
        names: Whether name hints of values and names of functions become `OpName`.

    Raises:
        DiagnosticError: An instruction is not what the table says, or a type is none of SPIR-V's.
    """
    try:
        return _Encoder(module, names).encode()
    except ArgumentError as error:
        raise error_at(module, f"'spirv.module': {error}") from None


def computed_requirements(module: ModuleOp) -> tuple[list[str], list[str]]:
    """The capabilities and the extensions that `encode` computes for a module.

    Vectors may have any size here, as other tools write them.

    Raises:
        DiagnosticError: As `encode` does.
    """
    encoder = _Encoder(module, names=False, has_any_vectors=True)
    encoder.encode()
    return encoder.requirements.solve()


class _Encoder:
    def __init__(self, module: ModuleOp, names: bool, has_any_vectors: bool = False) -> None:
        self._module = module
        self.requirements = Requirements(module.version)
        self._emitter = Emitter(self.requirements, names, has_any_vectors)
        self._sections: dict[str, list[int]] = {
            **{name: [] for name in ("imports", "execution modes", "sources", "processes")},
            "names": self._emitter.names,
            "annotations": self._emitter.annotations,
            "declarations": self._emitter.declarations,
            "functions": [],
        }
        self._entry_points: list[Instruction] = []
        self._calls: dict[str, set[str]] = {}

    def encode(self) -> bytes:
        for operation in sorted(self._module.block.ops, key=_rank):
            if isinstance(operation, FuncOp):
                self._calls[operation.sym_name] = self._emitter.called = set()
                self._function(operation)
            elif isinstance(operation, Instruction):
                self._module_level(operation)
            else:
                raise error_at(operation, f"'{operation.name}' cannot stand in 'spirv.module'")
        words = self._all_words()
        for user in self._emitter.users_of_nothing:
            raise error_at(user, f"'{user.name}' uses a value or a block that is not in the module")
        data = array("I", words)
        if sys.byteorder == "big":
            data.byteswap()
        return data.tobytes()

    # --- the module itself ---

    def _module_level(self, operation: Instruction) -> None:
        section = _SECTIONS.get(operation.entry.name)
        if section == "entry points":
            self._entry_points.append(operation)
        elif section is not None:
            self._instruction(operation, self._sections[section])
        else:
            self._declaration(operation)

    def _declaration(self, operation: Instruction) -> None:
        try:
            self._emitter.declare(operation)
        except ArgumentError as error:
            raise error_at(operation, f"'{operation.name}': {error}") from None

    def _instruction(self, operation: Instruction, out: list[int]) -> None:
        try:
            self._emitter.instruction(operation, out)
        except ArgumentError as error:
            raise error_at(operation, f"'{operation.name}': {error}") from None

    def _all_words(self) -> list[int]:
        sections = self._sections
        entry_points = self._entry_point_words()
        memory_model = self._memory_model_words()
        if self._emitter.opencl is not None:
            number = self._emitter.opencl
            emit(sections["imports"], _opcode("ExtInstImport"), (number, *string_words(OPENCL_SET)))
        major, minor = self._module.version
        header = [MAGIC, major << 16 | minor << 8, GENERATOR, self._emitter.bound, 0]
        return [
            *header,
            *self._declared_requirements(),
            *sections["imports"],
            *memory_model,
            *entry_points,
            *sections["execution modes"],
            *sections["sources"],
            *sections["names"],
            *sections["processes"],
            *sections["annotations"],
            *sections["declarations"],
            *sections["functions"],
        ]

    def _declared_requirements(self) -> list[int]:
        for name in self._module.capabilities:
            self.requirements.use_capability(name)
        for name in self._module.extensions:
            self.requirements.use_extension(name)
        capabilities, extensions = self.requirements.solve()
        words: list[int] = []
        for name in capabilities:
            number = capability_number(name)
            if number is None:
                raise error_at(self._module, f"{name} is no Capability")
            emit(words, _opcode("Capability"), (number,))
        for name in extensions:
            emit(words, _opcode("Extension"), string_words(name))
        return words

    def _memory_model_words(self) -> list[int]:
        entry = _entry("MemoryModel")
        try:
            models = (self._module.addressing_model, self._module.memory_model)
            resolved = resolve(entry, models, None)
        except ArgumentError as error:
            raise error_at(self._module, f"'spirv.module': {error}") from None
        for enumerant in resolved.enumerants:
            self.requirements.use(enumerant)
        words: list[int] = []
        emit(words, entry.number, [word for word in resolved.words if isinstance(word, int)])
        return words

    def _entry_point_words(self) -> list[int]:
        words: list[int] = []
        interfaces = Interfaces(self._module, self._calls)
        for operation in self._entry_points:
            start = len(words)
            self._instruction(operation, words)
            name = operation.arguments[1]
            variables = interfaces.of(str(name))
            words += [self._emitter.refer(variable.result, operation) for variable in variables]
            words[start] = first_word(len(words) - start, _opcode("EntryPoint"))
        return words

    # --- functions ---

    def _function(self, function: FuncOp) -> None:
        emitter = self._emitter
        out = self._sections["functions"]
        number = emitter.function_id(function.sym_name)
        emitter.name(number, function.sym_name)
        decorations = decorations_of(function)
        if function.linkage is not None:
            link = decoration(("LinkageAttributes", function.sym_name, function.linkage))
            decorations = (link, *decorations)
        try:
            emitter.decorate(number, decorations)
            self._signature(function, number, out)
        except ArgumentError as error:
            raise error_at(function, f"'spirv.func': {error}") from None
        blocks = ordered_blocks(function.body)
        incoming = _incoming(function, blocks)
        for block in blocks:
            label = emitter.define(block)
            emit(out, _opcode("Label"), (label,))
            if block.name_hint is not None:
                emitter.name(label, block.name_hint)
            if block is not blocks[0]:
                self._phis(block, incoming.get(block, {}), out)
            self._instructions(block, out)
        emit(out, _opcode("FunctionEnd"), ())

    def _signature(self, function: FuncOp, number: int, out: list[int]) -> None:
        emitter = self._emitter
        type = function.function_type
        result = emitter.type_id(type.outputs.data[0] if type.outputs.data else VoidType())
        function_type = emitter.type_id(type)
        control = resolve(_entry("Function"), (function.control, None), None).words[0]
        assert isinstance(control, int)
        emit(out, _opcode("Function"), (result, number, control, function_type))
        blocks = function.body.blocks
        parameters: Sequence[SSAValue | None] = [None] * len(type.inputs.data)
        if blocks:
            parameters = function.parameters
            if function.entry_block.arg_types != type.inputs.data:
                raise ArgumentError("the parameters are not those of the function's type")
        all_decorations = function.parameter_decorations
        for index, (parameter, parameter_type) in enumerate(
            zip(parameters, type.inputs.data, strict=True)
        ):
            parameter_id = emitter.new_id() if parameter is None else emitter.define(parameter)
            emit(out, _opcode("FunctionParameter"), (emitter.type_id(parameter_type), parameter_id))
            if parameter is not None and parameter.name_hint is not None:
                emitter.name(parameter_id, parameter.name_hint)
            if index < len(all_decorations):
                emitter.decorate(parameter_id, all_decorations[index])

    def _instructions(self, block: Block, out: list[int]) -> None:
        emitter = self._emitter
        operation = block.first_op
        while operation is not None:
            if not isinstance(operation, Instruction):
                raise error_at(operation, f"'{operation.name}' cannot stand in 'spirv.func'")
            try:
                emitter.instruction(operation, out)
            except ArgumentError as error:
                raise error_at(operation, f"'{operation.name}': {error}") from None
            operation = operation.next_op

    def _phis(self, block: Block, incoming: dict[Block, Edge], out: list[int]) -> None:
        emitter = self._emitter
        for index, argument in enumerate(block.args):
            number = emitter.define(argument)
            words = [emitter.type_id(argument.type), number]
            for source, edge in incoming.items():
                user = source.last_op
                assert user is not None
                words += (emitter.refer(edge.values[index], user), emitter.refer(source, user))
            emit(out, _opcode("Phi"), words)
            if argument.name_hint is not None:
                emitter.name(number, argument.name_hint)


def _incoming(function: FuncOp, blocks: list[Block]) -> dict[Block, dict[Block, Edge]]:
    """The branches to each block that has arguments, by the block that they come from."""
    incoming: dict[Block, dict[Block, Edge]] = {}
    for block in blocks:
        for edge in edges_of(block):
            if len(edge.values) != len(edge.target.args):
                raise error_at(
                    block.last_op or function,
                    f"a branch gives {len(edge.values)} values to a block with "
                    f"{len(edge.target.args)} arguments",
                )
            if not edge.values:
                continue
            before = incoming.setdefault(edge.target, {}).setdefault(block, edge)
            if before != edge:
                raise error_at(
                    block.last_op or function,
                    "branches of one instruction to the same block give it different values; "
                    "let one of them go through a block of its own",
                )
    return incoming


def _rank(operation: Operation) -> int:
    """The position of an operation's section."""
    if isinstance(operation, FuncOp):
        return _ORDER.index("functions" if operation.body.blocks else "functions of others")
    if isinstance(operation, Instruction):
        return _ORDER.index(_SECTIONS.get(operation.entry.name, "declarations"))
    return len(_ORDER)


def _entry(name: str) -> Entry:
    entry = instructions().get(name)
    assert entry is not None
    return entry


def _opcode(name: str) -> int:
    return _entry(name).number
