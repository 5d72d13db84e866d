"""What an operation must be, by the table and by the specification.

Source: SPIR-V specification, section 2.16.1 (Universal Validation Rules).
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.utils.exceptions import VerifyException

from xtile.dialects.spirv.arguments import Target
from xtile.dialects.spirv.control_flow import edges_of
from xtile.dialects.spirv.grammar import Entry, instructions
from xtile.dialects.spirv.instruction import DECORATIONS, TERMINATORS, Instruction, decorations_of
from xtile.dialects.spirv.module import FuncOp, ModuleOp
from xtile.dialects.spirv.operand_types import check_types, require_same, require_values
from xtile.dialects.spirv.type_words import check_sizes
from xtile.dialects.spirv.types import VoidType
from xtile.dialects.spirv.words import ArgumentError, resolve

VERSIONS = tuple((1, minor) for minor in range(7))
"""The versions of SPIR-V."""

_MAY_RETURN_NOTHING = frozenset(("FunctionCall", "AsmCallINTEL", "ExtInst"))
"""The instructions of the core that have a result whose type may be void."""

_VOID = VoidType()


def verify_instruction(instruction: Instruction) -> None:
    """Checks the number and the kinds of an instruction's arguments, and their types.

    Raises:
        VerifyException: They are not what the table and the specification say.
    """
    try:
        _check_result(instruction)
        _check_places(instruction)
        resolve(instruction.entry, instruction.arguments, instruction.literal_type)
        _check_decorations(instruction)
        check_types(instruction)
        if instruction.entry.name in TERMINATORS:
            _check_terminator(instruction)
    except ArgumentError as error:
        raise VerifyException(str(error)) from None


def verify_function(function: FuncOp) -> None:
    """Checks a function itself.

    Raises:
        VerifyException: It is not what the specification says.
    """
    type = function.function_type
    try:
        resolve(_FUNCTION, (function.control, None), None)
        if function.linkage is not None:
            link = ("LinkageAttributes", function.sym_name, function.linkage)
            resolve(_DECORATE, (None, *link), None)
        for part in (*type.inputs, *type.outputs):
            check_sizes(part)
        for decorations in (decorations_of(function), *function.parameter_decorations):
            for decoration in decorations:
                resolve(_DECORATE, (None, *decoration.data), None)
    except ArgumentError as error:
        raise VerifyException(str(error)) from None
    if not function.body.blocks:
        if function.linkage != "Import":
            raise VerifyException("a function without a body is another module's: linkage Import")
    elif function.linkage == "Import":
        raise VerifyException("a function of another module has no body")
    elif function.entry_block.arg_types != type.inputs.data:
        raise VerifyException("the first block's arguments are not the function's parameters")


def verify_spirv_module(module: ModuleOp) -> None:
    """Checks a module itself, and that the functions that it names are there.

    Raises:
        VerifyException: It is not what the specification says.
    """
    if module.version not in VERSIONS:
        major, minor = module.version
        raise VerifyException(f"there is no version {major}.{minor} of SPIR-V")
    try:
        resolve(_MEMORY_MODEL, (module.addressing_model, module.memory_model), None)
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


def _check_result(instruction: Instruction) -> None:
    entry = instruction.entry
    has_result = entry.has_result or instruction.is_extended
    may_be_void = instruction.is_extended or entry.name in _MAY_RETURN_NOTHING
    if not instruction.results:
        if has_result and not may_be_void:
            raise ArgumentError("a result is missing")
        return
    if not has_result or len(instruction.results) > 1:
        raise ArgumentError(f"expected {int(has_result)} results, got {len(instruction.results)}")
    check_sizes(instruction.result.type)


def _check_places(instruction: Instruction) -> None:
    """Checks that there are as many operands and successors as arguments stand for."""
    arguments = instruction.arguments
    targets = [argument for argument in arguments if isinstance(argument, Target)]
    values = arguments.count(None) + sum(target.forwarded for target in targets)
    if values != len(instruction.values):
        raise ArgumentError(f"expected {values} operands, got {len(instruction.values)}")
    if len(targets) != len(instruction.successors):
        raise ArgumentError(
            f"expected {len(targets)} successors, got {len(instruction.successors)}"
        )


def _check_decorations(instruction: Instruction) -> None:
    if DECORATIONS in instruction.attributes:
        for decoration in decorations_of(instruction):
            resolve(_DECORATE, (None, *decoration.data), None)


def _check_terminator(instruction: Instruction) -> None:
    """Checks what a terminator gives to blocks, or to the function's caller."""
    if instruction.parent is not None and instruction.next_op is None:
        for edge in edges_of(instruction.parent):
            types = edge.target.arg_types
            if len(edge.values) != len(types):
                message = f"a block with {len(types)} arguments is given {len(edge.values)} values"
                raise ArgumentError(message)
            for index, (value, type) in enumerate(zip(edge.values, types, strict=True)):
                require_same(value.type, type, f"argument {index + 1} of a block")
    function = instruction.parent_op()
    if not isinstance(function, FuncOp):
        return
    (returned,) = function.function_type.outputs.data or (_VOID,)
    if instruction.entry.name == "Return" and returned != _VOID:
        raise ArgumentError(f"the function returns {returned}: use spirv.ReturnValue")
    if instruction.entry.name == "ReturnValue":
        (type, *_) = require_values(instruction, 1)
        require_same(type, returned, "the value that is returned")


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


def _entry(name: str) -> Entry:
    entry = instructions().get(name)
    assert entry is not None
    return entry


_FUNCTION = _entry("Function")
_DECORATE = _entry("Decorate")
_MEMORY_MODEL = _entry("MemoryModel")
