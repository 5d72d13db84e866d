"""Ids, types and instructions as words."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.spirv.arguments import ArgumentsAttr, ConstantId, Target
from xtile.dialects.spirv.builder import operation
from xtile.dialects.spirv.grammar import instructions
from xtile.dialects.spirv.instruction import Instruction, decorations_of
from xtile.dialects.spirv.requirements import Requirements, type_capabilities
from xtile.dialects.spirv.type_words import check_size, declaration_of
from xtile.dialects.spirv.types import VoidType
from xtile.dialects.spirv.words import (
    MAXIMUM_WORDS,
    ArgumentError,
    Function,
    Resolved,
    Word,
    resolve,
    string_words,
)

_EXTENDED_OPCODE = 12
_VOID = VoidType()


class Emitter:
    """Turns instructions into words, and collects what the module must declare for them.

    Args:
        requirements: Where the needs of instructions, enumerants and types go.
        has_names: Whether names of values are kept.
        has_any_vectors: Whether vectors may have sizes that SPIR-V does not allow.
    """

    def __init__(
        self, requirements: Requirements, has_names: bool, has_any_vectors: bool = False
    ) -> None:
        self.declarations: list[int] = []
        """The types, constants and variables."""
        self.names: list[int] = []
        self.annotations: list[int] = []
        self.called: set[str] = set()
        """The functions that were named since this was last emptied."""
        self.opencl: int | None = None
        """The id of OpenCL.std, once it is used."""
        self.bound = 1
        """One more than the largest id."""
        self._requirements = requirements
        self._sizes: dict[int, int] = {}
        self._has_names = has_names
        self._has_any_vectors = has_any_vectors
        # Values, blocks, types and arguments are looked up by identity: hashing them is slow.
        self._ids: dict[int, int] = {}
        self._undefined: dict[int, Operation] = {}
        self._types: dict[Attribute, int] = {}
        self._types_by_identity: dict[int, int] = {}
        # As long as a thing lives, nothing else has its identity.
        self._kept: list[object] = []
        self._functions: dict[str, int] = {}
        self._templates: dict[tuple[type[Instruction], int], list[Word]] = {}
        self._used: set[tuple[type[Instruction], int]] = set()
        self._strings: dict[str, list[int]] = {}

    # --- ids ---

    def new_id(self) -> int:
        """An id that is not used yet."""
        found = self.bound
        self.bound = found + 1
        return found

    def define(self, item: SSAValue | Block) -> int:
        """The id of a value or a block that is defined here."""
        key = id(item)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = self.new_id()
        elif self._undefined:
            self._undefined.pop(key, None)
        return found

    def refer(self, item: SSAValue | Block, user: Operation) -> int:
        """The id of a value or a block that an operation uses."""
        found = self._ids.get(id(item))
        if found is None:
            found = self._ids[id(item)] = self.new_id()
            self._undefined[id(item)] = user
        return found

    @property
    def users_of_nothing(self) -> Iterable[Operation]:
        """The operations that use what has not been defined so far."""
        return self._undefined.values()

    def function_id(self, name: str) -> int:
        """The id of a function."""
        found = self._functions.get(name)
        if found is None:
            found = self._functions[name] = self.new_id()
        return found

    def type_id(self, type: Attribute) -> int:
        """The id of a type, which is declared when it is first asked for.

        Raises:
            ArgumentError: SPIR-V has no such type.
        """
        found = self._types_by_identity.get(id(type))
        if found is None:
            found = self._types.get(type)
            if found is None:
                found = self._declare_type(type)
            self._types_by_identity[id(type)] = found
            self._kept.append(type)
        return found

    def _declare_type(self, type: Attribute) -> int:
        name, arguments = declaration_of(type)
        if not self._has_any_vectors:
            check_size(type)
        entry = instructions().get(name)
        assert entry is not None
        resolved = resolve(entry, arguments, None)
        self._requirements.use(entry)
        self._require(resolved)
        for capability in type_capabilities(type):
            self._requirements.use_capability(capability)
        words = [self._id_of_word(word) for word in resolved.words]
        found = self._types[type] = self.new_id()
        emit(self.declarations, entry.number, (found, *words))
        return found

    def _id_of_word(self, word: Word) -> int:
        """A word that does not depend on an instruction's operands."""
        if isinstance(word, int):
            return word
        if isinstance(word, Attribute):
            return self.type_id(word)
        if isinstance(word, ConstantId):
            return self._size(word.number)
        assert isinstance(word, Function)
        self.called.add(word.name)
        return self.function_id(word.name)

    def _size(self, number: int) -> int:
        """The id of an `i32` constant that only types have, so that no order depends on others."""
        found = self._sizes.get(number)
        if found is None:
            constant = operation("Constant", i32, number)
            self.declare(constant)
            found = self._sizes[number] = self._ids[id(constant.result)]
            self._kept.append(constant)
        return found

    # --- instructions ---

    def declare(self, instruction: Instruction) -> None:
        """Adds an instruction to the declarations, after the types that it needs."""
        words: list[int] = []
        self.instruction(instruction, words)
        self.declarations += words

    def instruction(self, instruction: Instruction, out: list[int]) -> None:
        """Appends an instruction.

        Raises:
            ArgumentError: Its arguments are not what the table says.
        """
        cls = type(instruction)
        entry = cls.entry
        values = instruction.values
        if (cls, len(values)) not in self._used:
            self._use(cls, instruction)
        start = len(out)
        out.append(0)
        if entry.has_result or cls.is_extended:
            self._result(instruction, out)
        opcode = entry.number
        if cls.is_extended:
            out.append(self._opencl_id())
            out.append(opcode)
            opcode = _EXTENDED_OPCODE
        if instruction.properties:
            self._arguments(instruction, out)
        else:
            ids = self._ids
            for value in values:
                found = ids.get(id(value))
                out.append(self.refer(value, instruction) if found is None else found)
        out[start] = first_word(len(out) - start, opcode)
        if entry.name.startswith("Atomic"):
            self._require_atomic(instruction)

    def _use(self, cls: type[Instruction], instruction: Instruction) -> None:
        """Notes that an instruction is used, and checks the number of its operands."""
        if not instruction.properties:
            resolve(cls.entry, instruction.arguments, None)
        self._used.add((cls, len(instruction.values)))
        self._requirements.use(cls.entry)

    def _result(self, instruction: Instruction, out: list[int]) -> None:
        has_type = instruction.entry.has_type or instruction.is_extended
        results = instruction.results
        if not results:
            if has_type:
                out.append(self.type_id(_VOID))
            out.append(self.new_id())
            return
        result = results[0]
        if has_type:
            out.append(self.type_id(result.type))
        number = self.define(result)
        out.append(number)
        name = result.name_hint
        if name is not None and self._has_names:
            self.name(number, name)
        if instruction.attributes:
            self.decorate(number, decorations_of(instruction))

    def _arguments(self, instruction: Instruction, out: list[int]) -> None:
        values = iter(instruction.values)
        successors = iter(instruction.successors)
        for word in self._template(instruction):
            if word is None:
                out.append(self.refer(next(values), instruction))
            elif isinstance(word, int):
                out.append(word)
            elif isinstance(word, Target):
                out.append(self.refer(next(successors), instruction))
                for _ in range(word.forwarded):
                    next(values)
            else:
                out.append(self._id_of_word(word))

    def _template(self, instruction: Instruction) -> list[Word]:
        """The words of an instruction's arguments, without the ids."""
        attribute = instruction.properties.get("arguments")
        assert isinstance(attribute, ArgumentsAttr)
        if instruction.literal_type is not None:
            return self._resolve(instruction, attribute).words
        key = (type(instruction), id(attribute))
        found = self._templates.get(key)
        if found is None:
            found = self._templates[key] = self._resolve(instruction, attribute).words
            self._kept.append(attribute)
        return found

    def _resolve(self, instruction: Instruction, attribute: ArgumentsAttr) -> Resolved:
        resolved = resolve(instruction.entry, attribute.data, instruction.literal_type)
        self._require(resolved)
        return resolved

    def _require(self, resolved: Resolved) -> None:
        for entry in resolved.enumerants:
            self._requirements.use(entry)

    def _require_atomic(self, instruction: Instruction) -> None:
        values = instruction.values
        type = instruction.results[0].type if instruction.results else values[-1].type
        self._requirements.use_atomic(instruction.entry.name, type)

    def _opencl_id(self) -> int:
        if self.opencl is None:
            self.opencl = self.new_id()
        return self.opencl

    # --- names and decorations ---

    def name(self, number: int, name: str) -> None:
        """Names an id."""
        if not self._has_names:
            return
        words = self._strings.get(name)
        if words is None:
            words = self._strings[name] = string_words(name)
        self.names += (first_word(len(words) + 2, 5), number, *words)

    def decorate(self, number: int, decorations: Iterable[ArgumentsAttr]) -> None:
        """Decorates an id."""
        for decoration in decorations:
            entry = instructions().get("Decorate")
            assert entry is not None
            resolved = resolve(entry, (None, *decoration.data), None)
            self._require(resolved)
            words = [self._id_of_word(word) for word in resolved.words[1:]]
            emit(self.annotations, entry.number, (number, *words))


def first_word(count: int, opcode: int) -> int:
    """The first word of an instruction, with the number of its words.

    Raises:
        ArgumentError: It has too many.
    """
    if count > MAXIMUM_WORDS:
        raise ArgumentError(f"has {count} words, but an instruction has at most {MAXIMUM_WORDS}")
    return count << 16 | opcode


def emit(out: list[int], opcode: int, words: Iterable[int]) -> None:
    """Appends an instruction of which all words are known.

    Raises:
        ArgumentError: It has too many.
    """
    start = len(out)
    out.append(0)
    out += words
    out[start] = first_word(len(out) - start, opcode)
