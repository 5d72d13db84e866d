"""Modules as bytecode.

Sections, and what they collect, stand in the order in which NVIDIA's own writer has them.

    Function = count (varint), functions, padding up to 8 bytes
    function = name, signature (varints), flags (1 byte), list of locations (varint),
               optimization hints with their tag if the flags say so, size (varint), operations
    Global   = count (varint), variables
    variable = name, type, constant, alignment, visibility, whether it is constant (varints)
    Producer = string (varint)

From 13.5 on a kernel always has hints, which the flags do not say, and after them an array of
attributes of its parameters.

Source: NVIDIA/cuda-tile 13.3.0, `BytecodeWriter.cpp`, `writeBytecode`; for 13.5 the writer of
cuda-tile 1.7.0.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Attribute, Operation

from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr, SymbolVisibilityAttr
from xtile.dialects.cuda_tile.bytecode.attribute_encoder import AttributeWriter
from xtile.dialects.cuda_tile.bytecode.byte_streams import align, write_varint
from xtile.dialects.cuda_tile.bytecode.container import write_header, write_section
from xtile.dialects.cuda_tile.bytecode.debug_encoder import DebugWriter
from xtile.dialects.cuda_tile.bytecode.operation_encoder import FunctionWriter
from xtile.dialects.cuda_tile.bytecode.tables import (
    FUNCTION_HINTS_SINCE,
    GLOBAL_FLAGS_SINCE,
    PRODUCER_SINCE,
    SECTION_ALIGNMENTS,
    FunctionFlag,
    Section,
)
from xtile.dialects.cuda_tile.bytecode.type_encoder import UnwritableError
from xtile.dialects.cuda_tile.enumerations import SymbolVisibility, number_of
from xtile.dialects.cuda_tile.ops.global_variables import GlobalOp
from xtile.dialects.cuda_tile.ops.module import EntryOp
from xtile.dialects.cuda_tile.ops.module import ModuleOp as TileModuleOp
from xtile.dialects.cuda_tile.versions import DEFAULT_VERSION, Version
from xtile.garbage import without_collections
from xtile.text.diagnostics import DiagnosticError, Diagnostics, error_at

_NO_HINTS = OptimizationHintsAttr(DictionaryAttr({}))


def encode(
    module: ModuleOp | TileModuleOp,
    version: Version = DEFAULT_VERSION,
    *,
    line_info: bool = False,
) -> bytes:
    """Writes a module as bytecode.

    Args:
        module: A verified module, or a `builtin.module` that holds nothing else.
        version: The version of the bytecode.
        line_info: Whether to make debug information of locations in files, which is lost otherwise,
            so that NVIDIA's tools name them.

    Raises:
        DiagnosticError: The version lacks something of the module, or there are several modules.
    """
    with without_collections():
        try:
            return _Encoder(version, line_info).encode(_only_module(module))
        except DiagnosticError:
            # One thing is wrong; where it is too new, so may others be.
            _check_versions(module, version)
            raise


def _check_versions(module: Operation, version: Version) -> None:
    """Checks that a version has everything in a module.

    Raises:
        DiagnosticError: It has not, which is told of everything at once.
    """
    from xtile.dialects.cuda_tile.version_check import check_versions

    diagnostics = Diagnostics()
    check_versions(module, version, diagnostics)
    if diagnostics.has_errors:
        raise DiagnosticError(diagnostics.sorted())


def _only_module(module: ModuleOp | TileModuleOp) -> TileModuleOp:
    """The module that is written.

    Raises:
        DiagnosticError: There is none, or there is something else.
    """
    if isinstance(module, TileModuleOp):
        return module
    inner = list(module.body.block.ops)
    for operation in inner:
        if not isinstance(operation, TileModuleOp):
            raise error_at(
                operation, f"a file of bytecode is a cuda_tile.module, not a {operation.name}"
            )
    if len(inner) != 1:
        raise error_at(
            inner[1] if inner else module,
            f"a file of bytecode is one cuda_tile.module, but there are {len(inner)}",
        )
    return cast("TileModuleOp", inner[0])


class _Function(NamedTuple):
    """A function that is written.

    Attributes:
        operation: The function.
        name: The number of its name.
        signature: The number of its type.
        locations: The number of its list of locations.
    """

    operation: EntryOp
    name: int
    signature: int
    positions: int


class _Encoder:
    """Writes one module."""

    def __init__(self, version: Version, line_info: bool) -> None:
        self._version = version
        self._attributes = AttributeWriter(version)
        self._debug = DebugWriter(self._attributes.strings, version, line_info)

    def encode(self, module: TileModuleOp) -> bytes:
        functions: list[_Function] = []
        variables: list[GlobalOp] = []
        for operation in module.body.block.ops:
            if isinstance(operation, EntryOp):
                functions.append(self._declare(operation))
            elif isinstance(operation, GlobalOp):
                variables.append(operation)
            else:
                message = f"{operation.name} does not stand in a module of CUDA Tile bytecode"
                raise error_at(operation, message)
        sections = [
            (Section.GLOBAL, self._globals(variables)),
            (Section.FUNCTION, self._functions(functions)),
            (Section.CONSTANT, self._attributes.constants.section()),
            (Section.DEBUG, self._debug.section()),
            (Section.TYPE, self._attributes.types.section()),
            (Section.PRODUCER, self._producer(module)),
            (Section.STRING, self._attributes.strings.section()),
        ]
        out = write_header(self._version)
        for section, contents in sections:
            if contents is not None:
                write_section(out, section, contents)
        out.append(Section.END)
        return bytes(out)

    def _declare(self, operation: EntryOp) -> _Function:
        """Collects what is known of a function without its operations."""
        attributes = self._attributes
        name = attributes.strings.index(operation.sym_name.data)
        try:
            signature = attributes.types.index(operation.properties["function_type"])
        except UnwritableError as error:
            raise error_at(operation, f"{operation.name}: {error}") from None
        return _Function(operation, name, signature, self._debug.begin_function(operation))

    def _functions(self, functions: list[_Function]) -> bytes:
        out = bytearray()
        write_varint(out, len(functions))
        for function in functions:
            self._write_function(out, function)
        align(out, SECTION_ALIGNMENTS[Section.FUNCTION])
        return bytes(out)

    def _write_function(self, out: bytearray, function: _Function) -> None:
        operation = function.operation
        hints = operation.properties.get("optimization_hints")
        is_always_hinted = self._version >= FUNCTION_HINTS_SINCE
        flags = FunctionFlag.KERNEL
        if hints is not None and not is_always_hinted:
            flags |= FunctionFlag.HAS_HINTS
        write_varint(out, function.name)
        write_varint(out, function.signature)
        out.append(flags)
        write_varint(out, function.positions)
        try:
            if hints is not None or is_always_hinted:
                self._attributes.write_tagged(out, hints or _NO_HINTS)
            if is_always_hinted:
                # Attributes of parameters mean nothing yet.
                self._attributes.write_tagged(out, ArrayAttr[Attribute]([]))
        except UnwritableError as error:
            raise error_at(operation, f"{operation.name}: {error}") from None
        self._debug.continue_function(operation, function.positions)
        writer = FunctionWriter(self._attributes, self._debug)
        body = writer.body(operation.body.block)
        write_varint(out, len(body))
        out += body

    def _globals(self, variables: list[GlobalOp]) -> bytes | None:
        if not variables:
            return None
        out = bytearray()
        write_varint(out, len(variables))
        for variable in variables:
            try:
                self._write_global(out, variable)
            except UnwritableError as error:
                raise error_at(variable, f"{variable.name}: {error}") from None
        return bytes(out)

    def _write_global(self, out: bytearray, variable: GlobalOp) -> None:
        attributes = self._attributes
        value = cast("DenseIntOrFPElementsAttr", variable.properties["value"])
        visibility = variable.properties.get("symbol_visibility")
        is_private = (
            isinstance(visibility, SymbolVisibilityAttr)
            and visibility.data is SymbolVisibility.PRIVATE
        )
        is_constant = "constant" in variable.properties
        write_varint(out, attributes.strings.index(variable.sym_name.data))
        write_varint(out, attributes.types.index(cast("Attribute", value.type)))
        write_varint(out, attributes.constants.index(value))
        write_varint(out, variable.alignment.value.data)
        if self._version >= GLOBAL_FLAGS_SINCE:
            out.append(number_of(SymbolVisibility.PRIVATE) if is_private else 0)
            out.append(is_constant)
        elif is_private or is_constant:
            what = "a private variable" if is_private else "a constant variable"
            raise UnwritableError(
                f"{what} needs version {GLOBAL_FLAGS_SINCE} of CUDA Tile IR, but "
                f"{self._version} is written"
            )

    def _producer(self, module: Operation) -> bytes | None:
        """What made the module; older versions do not say it."""
        producer = module.properties.get("producer")
        if not isinstance(producer, StringAttr) or self._version < PRODUCER_SINCE:
            return None
        out = bytearray()
        write_varint(out, self._attributes.strings.index(producer.data))
        return bytes(out)
