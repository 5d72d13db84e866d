"""Binaries as modules.

What `encode` computes is not kept: capabilities and extensions that it declares anyway, and the
interfaces of entry points. Nor are the order of blocks, and decorations of `OpPhi`'s results.

Source: SPIR-V specification, section 2.4 (Logical Layout of a Module).
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation

from xtile.dialects.spirv.annotation_decoder import AnnotationDecoder
from xtile.dialects.spirv.binary import Binary, Number, RawInstruction, read_binary
from xtile.dialects.spirv.encoder import computed_requirements
from xtile.dialects.spirv.function_decoder import FunctionDecoder, linkage_of
from xtile.dialects.spirv.grammar import OPENCL_SET
from xtile.dialects.spirv.instruction import TERMINATORS, Instruction
from xtile.dialects.spirv.instruction_classes import MERGES
from xtile.dialects.spirv.instruction_decoder import InstructionDecoder
from xtile.dialects.spirv.module import ModuleOp
from xtile.dialects.spirv.requirements import declared_with
from xtile.dialects.spirv.words import enumerant_argument
from xtile.text.source import attach_source


def decode(data: bytes, name: str = "<binary>") -> ModuleOp:
    """Reads a binary of either byte order.

    Args:
        data: The binary.
        name: What messages call it.

    Raises:
        DiagnosticError: It is damaged, which is told with the byte, or it has a type that contains
            itself, or one that consists of thousands of types.
    """
    return _Decoder(read_binary(data, name)).decode()


class _Decoder:
    def __init__(self, binary: Binary) -> None:
        self._binary = binary
        self._annotations = AnnotationDecoder(binary)
        self._raws = self._without_annotations()
        functions = self._function_names()
        self._decoder = InstructionDecoder(binary, self._annotations.found, functions)
        self._models: tuple[str, str] | None = None
        self._capabilities: list[str] = []
        self._extensions: list[str] = []
        self._head: list[Operation] = []
        self._declarations: list[Operation] = []
        self._sizes: dict[int, Instruction] = {}
        self._with_ids: list[RawInstruction] = []
        self._functions: list[Operation] = []

    def decode(self) -> ModuleOp:
        index = 0
        while index < len(self._raws):
            raw = self._raws[index]
            end = index + 1
            if raw.name == "Function":
                end = self._end_of_function(index)
                self._decoder.reserve(raw)
                function = FunctionDecoder(self._decoder, self._raws[index:end])
                self._functions.append(function.decode())
            else:
                self._module_level(raw)
            index = end
        return self._module()

    def _module(self) -> ModuleOp:
        if self._models is None:
            end = 4 * len(self._raws)
            raise self._binary.error(end, "a module needs an OpMemoryModel, and there is none")
        module = ModuleOp(*self._models, self._binary.version)
        of_types = self._annotations.operations(self._decoder)
        late = [
            *map(self._decoder.build, self._with_ids),
            *self._annotations.operations_with_ids(self._decoder),
        ]
        self._drop_sizes()
        module.block.add_ops([*self._head, *of_types, *self._declarations, *late])
        module.block.add_ops(self._functions)
        attach_source(module, self._binary.source)
        self._keep_requirements(module)
        return module

    # --- before the rest ---

    def _without_annotations(self) -> list[RawInstruction]:
        return [raw for raw in self._binary.instructions if not self._annotations.take(raw)]

    def _function_names(self) -> dict[int, str]:
        """A name for each function: that of its linkage, its name or that of its entry point."""
        entries = {raw.id_at(1): raw.text_at(2) for raw in self._raws if raw.name == "EntryPoint"}
        names: dict[int, str] = {}
        counts: dict[str, int] = {}
        for raw in self._raws:
            if raw.name == "Function" and raw.result is not None:
                names[raw.result] = self._unique(self._function_name(raw.result, entries), counts)
        return names

    def _function_name(self, number: int, entries: dict[int, str]) -> str:
        linkage = linkage_of(self._annotations.found.decorations.get(number, ()))
        if linkage is not None:
            return str(linkage.data[1])
        return self._annotations.found.names.get(number) or entries.get(number) or "function"

    def _unique(self, name: str, counts: dict[str, int]) -> str:
        """The name, with a number if it is taken."""
        unique = name
        while unique in counts:
            counts[name] += 1
            unique = f"{name}_{counts[name]}"
        counts[unique] = 1
        return unique

    # --- the module's own instructions ---

    def _end_of_function(self, start: int) -> int:
        """The index after the end of a function."""
        for index in range(start + 1, len(self._raws)):
            raw = self._raws[index]
            if raw.name == "FunctionEnd":
                return index + 1
            if raw.name == "Function":
                raise self._decoder.error(raw, "stands in a function that has no end yet")
        raise self._decoder.error(self._raws[start], "the function has no OpFunctionEnd")

    def _module_level(self, raw: RawInstruction) -> None:
        self._decoder.reserve(raw)
        take = _TAKES.get(raw.name)
        if take is not None:
            take(self, raw)
        elif raw.name.startswith("Type"):
            self._decoder.types.read(raw)
        elif raw.name in _ONLY_IN_FUNCTIONS:
            raise self._decoder.error(raw, "stands in no function")
        else:
            self._declarations.append(self._decoder.build(raw))

    def take_capability(self, raw: RawInstruction) -> None:
        """Takes `OpCapability`."""
        self._capabilities.append(str(enumerant_argument("Capability", raw.number_at(0))))

    def take_extension(self, raw: RawInstruction) -> None:
        """Takes `OpExtension`."""
        self._extensions.append(raw.text_at(0))

    def take_import(self, raw: RawInstruction) -> None:
        """Takes `OpExtInstImport`: the dialect knows the instructions of OpenCL.std itself."""
        if raw.text_at(0) != OPENCL_SET:
            self._head.append(self._decoder.build(raw))

    def take_memory_model(self, raw: RawInstruction) -> None:
        """Takes `OpMemoryModel`."""
        models = [enumerant_argument(*operand) for operand in _enumerants(raw)]
        addressing, memory = models
        if not (isinstance(addressing, str) and isinstance(memory, str)):
            raise self._decoder.error(raw, f"there are no models with the numbers {models}")
        self._models = (addressing, memory)

    def take_entry_point(self, raw: RawInstruction) -> None:
        """Takes `OpEntryPoint` without its interface."""
        del raw.operands[3:]
        self._head.append(self._decoder.build(raw))

    def take_head(self, raw: RawInstruction) -> None:
        """Takes an instruction that stands before the declarations."""
        if raw.name == "String" and raw.result is not None:
            self._decoder.strings[raw.result] = raw.text_at(0)
        self._head.append(self._decoder.build(raw))

    def take_with_ids(self, raw: RawInstruction) -> None:
        """Takes an instruction that names constants, which are defined later."""
        self._with_ids.append(raw)

    def take_line(self, raw: RawInstruction) -> None:
        """Takes `OpLine` or `OpNoLine`."""
        self._decoder.set_line(raw)

    def take_constant(self, raw: RawInstruction) -> None:
        """Takes `OpConstant`, to which types may refer."""
        number = raw.operands[0].value
        assert raw.result is not None
        if isinstance(number, Number) and not number.type.is_float:
            self._decoder.constants[raw.result] = number.bits
            self._sizes[raw.result] = made = self._decoder.build(raw)
            self._declarations.append(made)
        else:
            self._declarations.append(self._decoder.build(raw))

    # --- at the end ---

    def _drop_sizes(self) -> None:
        """Drops constants that only types refer to, for which `encode` makes its own."""
        dropped = {
            made
            for number, made in self._sizes.items()
            if number in self._decoder.types.referenced and made.result.first_use is None
        }
        self._declarations = [made for made in self._declarations if made not in dropped]

    def _keep_requirements(self, module: ModuleOp) -> None:
        """Keeps what the binary declares and `encode` would not."""
        capabilities, extensions = computed_requirements(module)
        known = declared_with(capabilities)
        for key, names in (
            ("capabilities", [name for name in self._capabilities if name not in known]),
            ("extensions", [name for name in self._extensions if name not in extensions]),
        ):
            if names:
                module.properties[key] = ArrayAttr(StringAttr(name) for name in names)


_TAKES: dict[str, Callable[[_Decoder, RawInstruction], None]] = {
    "Capability": _Decoder.take_capability,
    "Extension": _Decoder.take_extension,
    "ExtInstImport": _Decoder.take_import,
    "MemoryModel": _Decoder.take_memory_model,
    "EntryPoint": _Decoder.take_entry_point,
    "ExecutionMode": _Decoder.take_head,
    "ExecutionModeId": _Decoder.take_with_ids,
    "String": _Decoder.take_head,
    "Source": _Decoder.take_head,
    "SourceContinued": _Decoder.take_head,
    "SourceExtension": _Decoder.take_head,
    "ModuleProcessed": _Decoder.take_head,
    "Line": _Decoder.take_line,
    "NoLine": _Decoder.take_line,
    "Constant": _Decoder.take_constant,
}
"""What takes each instruction at module level that is no plain declaration."""

_ONLY_IN_FUNCTIONS = frozenset(
    (*TERMINATORS, *MERGES, "Label", "Phi", "FunctionParameter", "FunctionEnd")
)


def _enumerants(raw: RawInstruction) -> list[tuple[str, int]]:
    return [(kind, value) for kind, value in raw.operands if isinstance(value, int)]
