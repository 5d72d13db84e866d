"""Modules and functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, FunctionType, IntegerAttr, StringAttr, i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpTraits, Region
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.spirv.arguments import ArgumentsAttr
from xtile.dialects.spirv.builder import decoration
from xtile.dialects.spirv.grammar import VERSIONS, Version, table_entry
from xtile.dialects.spirv.instruction import Instruction, decorations_of
from xtile.dialects.spirv.type_words import check_sizes
from xtile.dialects.spirv.words import ArgumentError, resolve

PARAMETER_DECORATIONS = "parameter_decorations"
"""The attribute of a function with the decorations of each parameter."""


class ModuleOp(Operation):
    """A module: constants, variables, functions and entry points, in one block.

    What binary modules also hold is computed by `encode`: capabilities, extensions, imports of
    OpenCL.std, types, names and the interfaces of entry points.

    Args:
        addressing_model: `Logical`, `Physical32`, `Physical64`, ...
        memory_model: `OpenCL`, `GLSL450`, ...
        version: The version of SPIR-V.
        capabilities: Capabilities to declare beside those that are computed; one that the table
            lacks is called by its number.
        extensions: Extensions to declare beside those that are computed.
    """

    name = "spirv.module"
    traits = OpTraits(lambda: (NoTerminator(), IsolatedFromAbove()))

    def __init__(
        self,
        addressing_model: str = "Physical64",
        memory_model: str = "OpenCL",
        version: Version = (1, 4),
        *,
        capabilities: Sequence[str] = (),
        extensions: Sequence[str] = (),
    ) -> None:
        properties: dict[str, Attribute] = {
            "addressing_model": StringAttr(addressing_model),
            "memory_model": StringAttr(memory_model),
            "version": ArrayAttr(IntegerAttr(number, i32) for number in version),
        }
        for key, names in (("capabilities", capabilities), ("extensions", extensions)):
            if names:
                properties[key] = ArrayAttr(StringAttr(name) for name in names)
        super().__init__(properties=properties, regions=[Region([Block()])])

    @property
    def block(self) -> Block:
        """The block with everything in the module."""
        return self.regions[0].block

    @property
    def addressing_model(self) -> str:
        """The addressing model, such as `Physical64`."""
        return self._text("addressing_model")

    @property
    def memory_model(self) -> str:
        """The memory model, such as `OpenCL`."""
        return self._text("memory_model")

    @property
    def version(self) -> Version:
        """The version of SPIR-V."""
        numbers = self.properties.get("version")
        if isa(numbers, ArrayAttr[IntegerAttr]) and len(numbers) == 2:
            return numbers.data[0].value.data, numbers.data[1].value.data
        raise VerifyException("'spirv.module' needs a version: version = [1 : i32, 4 : i32]")

    @property
    def capabilities(self) -> tuple[str, ...]:
        """The capabilities that are declared beside those that are computed."""
        return self._texts("capabilities")

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions that are declared beside those that are computed."""
        return self._texts("extensions")

    @override
    def verify_(self) -> None:
        _verify_module(self)

    def _text(self, name: str) -> str:
        attribute = self.properties.get(name)
        if isinstance(attribute, StringAttr):
            return attribute.data
        raise VerifyException(f"'spirv.module' needs the text {name}")

    def _texts(self, name: str) -> tuple[str, ...]:
        attribute = self.properties.get(name)
        if isa(attribute, ArrayAttr[StringAttr]):
            return tuple(text.data for text in attribute)
        if attribute is None:
            return ()
        raise VerifyException(f"{name} of 'spirv.module' is a list of texts")


class FuncOp(Operation):
    """A function, whose body's first block has the parameters as arguments.

    A function of another module has no body. Functions are called by their names.

    Args:
        name: The name, which is also the one that it is linked by.
        function_type: The types of the parameters, and of the result if there is one.
        linkage: `Import`, `Export` or `LinkOnceODR`; None if it is not linked.
        control: The function control: `None`, or `Inline|Pure` and the like.
        parameter_decorations: The decorations of each parameter, as `decorate` takes them.
    """

    name = "spirv.func"
    traits = OpTraits(lambda: ())

    def __init__(
        self,
        name: str,
        function_type: FunctionType,
        *,
        linkage: str | None = None,
        control: str = "None",
        parameter_decorations: Sequence[Sequence[str | tuple[str | int | float, ...]]] = (),
    ) -> None:
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "function_type": function_type,
            "function_control": StringAttr(control),
        }
        if linkage is not None:
            properties["linkage"] = StringAttr(linkage)
        blocks = [] if linkage == "Import" else [Block(arg_types=function_type.inputs)]
        super().__init__(properties=properties, regions=[Region(blocks)])
        if any(parameter_decorations):
            self.attributes[PARAMETER_DECORATIONS] = ArrayAttr(
                ArrayAttr(map(decoration, decorations)) for decorations in parameter_decorations
            )

    @property
    def sym_name(self) -> str:
        """The function's name."""
        attribute = self.properties.get("sym_name")
        if isinstance(attribute, StringAttr):
            return attribute.data
        raise VerifyException("'spirv.func' needs the text sym_name")

    @property
    def function_type(self) -> FunctionType:
        """The types of the parameters and of the result."""
        attribute = self.properties.get("function_type")
        if isinstance(attribute, FunctionType) and len(attribute.outputs) <= 1:
            return attribute
        raise VerifyException("'spirv.func' needs a function_type with at most one result")

    @property
    def linkage(self) -> str | None:
        """How it is linked, or None."""
        attribute = self.properties.get("linkage")
        return attribute.data if isinstance(attribute, StringAttr) else None

    @property
    def control(self) -> str:
        """The function control."""
        attribute = self.properties.get("function_control")
        return attribute.data if isinstance(attribute, StringAttr) else "None"

    @property
    def body(self) -> Region:
        """The blocks; none if the function is another module's."""
        return self.regions[0]

    @property
    def entry_block(self) -> Block:
        """The first block, whose arguments are the parameters."""
        block = self.body.first_block
        assert block is not None, "a function of another module has no body"
        return block

    @property
    def parameters(self) -> tuple[BlockArgument, ...]:
        """The parameters."""
        return self.entry_block.args

    @property
    def parameter_decorations(self) -> tuple[tuple[ArgumentsAttr, ...], ...]:
        """The decorations of each parameter; empty if there are none at all."""
        attribute = self.attributes.get(PARAMETER_DECORATIONS)
        if isa(attribute, ArrayAttr[ArrayAttr[ArgumentsAttr]]):
            return tuple(decorations.data for decorations in attribute)
        return ()

    @override
    def verify_(self) -> None:
        _verify_function(self)


def _verify_function(function: FuncOp) -> None:
    """Checks a function itself.

    Raises:
        VerifyException: It is not what the specification says.
    """
    type = function.function_type
    try:
        resolve(table_entry("Function"), (function.control, None), None)
        if function.linkage is not None:
            link = ("LinkageAttributes", function.sym_name, function.linkage)
            resolve(table_entry("Decorate"), (None, *link), None)
        for part in (*type.inputs, *type.outputs):
            check_sizes(part)
        for decorations in (decorations_of(function), *function.parameter_decorations):
            for decoration in decorations:
                resolve(table_entry("Decorate"), (None, *decoration.data), None)
    except ArgumentError as error:
        raise VerifyException(str(error)) from None
    if not function.body.blocks:
        if function.linkage != "Import":
            raise VerifyException("a function without a body is another module's: linkage Import")
    elif function.linkage == "Import":
        raise VerifyException("a function of another module has no body")
    elif function.entry_block.arg_types != type.inputs.data:
        raise VerifyException("the first block's arguments are not the function's parameters")


def _verify_module(module: ModuleOp) -> None:
    """Checks a module itself, and that the functions that it names are there.

    Raises:
        VerifyException: It is not what the specification says.
    """
    if module.version not in VERSIONS:
        major, minor = module.version
        raise VerifyException(f"there is no version {major}.{minor} of SPIR-V")
    try:
        resolve(table_entry("MemoryModel"), (module.addressing_model, module.memory_model), None)
    except ArgumentError as error:
        raise VerifyException(str(error)) from None
    functions: set[str] = set()
    for operation in module.block.ops:
        if isinstance(operation, FuncOp):
            if operation.sym_name in functions:
                raise VerifyException(f"there are two functions {operation.sym_name}")
            functions.add(operation.sym_name)
        elif not isinstance(operation, Instruction):
            raise VerifyException(f"'{operation.name}' cannot stand in 'spirv.module'")
    for name in _named_functions(module):
        if name not in functions:
            raise VerifyException(f"there is no function {name}")


def _named_functions(module: ModuleOp) -> Iterator[str]:
    """The names of functions that are called or are entry points."""
    for operation in module.walk():
        if isinstance(operation, Instruction) and operation.entry.name in _NAMES_FUNCTION:
            index = _NAMES_FUNCTION[operation.entry.name]
            if index < len(operation.arguments):
                name = operation.arguments[index]
                if isinstance(name, str):
                    yield name


_NAMES_FUNCTION = {
    "FunctionCall": 0,
    "EntryPoint": 1,
    "ExecutionMode": 0,
    "ExecutionModeId": 0,
    "EnqueueKernel": 6,
}
"""Which argument of an instruction is a function."""
