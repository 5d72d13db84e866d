"""Functions of device code.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td` and `GPUDialect.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import (
    I32,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    attr_def,
    opt_attr_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.func import parse_outputs
from xtile.dialects.gpu.attributions import (
    attribute_array,
    dictionary_of,
    parse_arguments,
    parse_attributions,
    print_argument,
    print_attributions,
    verify_attributions,
)
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.gpu.modules import ModuleOp
from xtile.text.extensions import generic_elsewhere

KERNEL = "gpu.kernel"
"""The attribute that makes a function a kernel."""

WORKGROUP_ATTRIBUTIONS = "workgroup_attributions"
"""The attribute that counts the attributions in workgroup memory."""

LAUNCH_SIZES = ("known_block_size", "known_grid_size", "known_cluster_size")
"""The properties that promise a size of a launch."""


@generic_elsewhere
@op_definition
class FuncOp(IRDLOperation):
    """A function of the device; a kernel can be launched by the host.

    The arguments of the body are the function's, then the buffers in workgroup memory, then those
    in private memory.

    ```
    gpu.func @scale(%data: memref<64xf32>) workgroup(%tile : memref<16xf32, 3>) kernel {
      gpu.return
    }
    ```
    """

    name = "gpu.func"

    sym_name = attr_def(SymbolNameConstraint())
    kernel = opt_attr_def(UnitAttr, attr_name=KERNEL)
    workgroup_attributions = opt_attr_def(IntegerAttr)
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    workgroup_attrib_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    private_attrib_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    known_block_size = opt_prop_def(DenseArrayBase.constr(i32))
    known_grid_size = opt_prop_def(DenseArrayBase.constr(i32))
    known_cluster_size = opt_prop_def(DenseArrayBase.constr(i32))
    body = region_def()

    traits = traits_def(HasParent(ModuleOp), IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        function_type: FunctionType | tuple[Sequence[Attribute], Sequence[Attribute]],
        body: Region | None = None,
        *,
        kernel: bool = False,
        workgroup_attributions: int = 0,
        known_block_size: Sequence[int] | None = None,
        known_grid_size: Sequence[int] | None = None,
    ) -> None:
        if isinstance(function_type, tuple):
            function_type = FunctionType.from_lists(*function_type)
        super().__init__(
            attributes={
                "sym_name": StringAttr(name),
                KERNEL: UnitAttr() if kernel else None,
                WORKGROUP_ATTRIBUTIONS: IntegerAttr(workgroup_attributions, i64),
            },
            properties={
                "function_type": function_type,
                "known_block_size": _sizes(known_block_size),
                "known_grid_size": _sizes(known_grid_size),
            },
            regions=[Region(Block(arg_types=function_type.inputs)) if body is None else body],
        )

    @property
    def is_kernel(self) -> bool:
        """Whether the host can launch it."""
        return self.kernel is not None

    @property
    def arguments(self) -> Sequence[BlockArgument]:
        """The function's arguments."""
        return self.body.blocks[0].args[: len(self.function_type.inputs)]

    @property
    def workgroup_buffers(self) -> Sequence[BlockArgument]:
        """The attributions in workgroup memory."""
        start = len(self.function_type.inputs)
        return self.body.blocks[0].args[start : start + self._workgroup_count]

    @property
    def private_buffers(self) -> Sequence[BlockArgument]:
        """The attributions in private memory."""
        start = len(self.function_type.inputs) + self._workgroup_count
        return self.body.blocks[0].args[start:]

    @property
    def _workgroup_count(self) -> int:
        count = self.workgroup_attributions
        return 0 if count is None else count.value.data

    @classmethod
    @override
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name().data
        arguments = parse_arguments(parser)
        results = parse_outputs(parser)
        workgroup = parse_attributions(parser, "workgroup")
        private = parse_attributions(parser, "private")
        kernel = parser.parse_optional_keyword("kernel") is not None
        attributes = parser.parse_optional_attr_dict_with_keyword()
        named = [argument for argument, _ in (*arguments, *workgroup, *private)]
        # Without arguments, the first block may have a label of its own.
        body = parser.parse_region(named or None)
        function = FuncOp(
            name,
            ([argument.type for argument, _ in arguments], [type for type, _ in results]),
            body,
            kernel=kernel,
            workgroup_attributions=len(workgroup),
        )
        function.arg_attrs = attribute_array(arguments)
        if any(dictionary for _, dictionary in results):
            function.res_attrs = ArrayAttr(DictionaryAttr(dictionary) for _, dictionary in results)
        function.workgroup_attrib_attrs = attribute_array(workgroup)
        function.private_attrib_attrs = attribute_array(private)
        if attributes is not None:
            for key, value in attributes.data.items():
                (function.properties if key in LAUNCH_SIZES else function.attributes)[key] = value
        return function

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            for index, argument in enumerate(self.arguments):
                if index:
                    printer.print_string(", ")
                print_argument(printer, argument, dictionary_of(self.arg_attrs, index))
        _print_results(printer, self.function_type.outputs.data, self.res_attrs)
        print_attributions(
            printer, "workgroup", self.workgroup_buffers, self.workgroup_attrib_attrs
        )
        print_attributions(printer, "private", self.private_buffers, self.private_attrib_attrs)
        if self.is_kernel:
            printer.print_string(" kernel")
        sizes = {key: value for key, value in self.properties.items() if key in LAUNCH_SIZES}
        printer.print_op_attributes(
            dict(sorted({**self.attributes, **sizes}.items())),
            reserved_attr_names=("sym_name", KERNEL, WORKGROUP_ATTRIBUTIONS),
            print_keyword=True,
        )
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @override
    def verify_(self) -> None:
        if self.is_kernel and self.function_type.outputs.data:
            raise VerifyException("a kernel must not return values")
        for name in LAUNCH_SIZES:
            verify_launch_size(name, self.properties.get(name))
        if not self.body.blocks:
            raise VerifyException("expected a body with at least one block")
        self._verify_arguments()
        verify_attributions(self.workgroup_buffers, AddressSpace.WORKGROUP)
        verify_attributions(self.private_buffers, AddressSpace.PRIVATE)

    def _verify_arguments(self) -> None:
        inputs = self.function_type.inputs.data
        types = self.body.blocks[0].arg_types
        least = len(inputs) + self._workgroup_count
        if len(types) < least:
            raise VerifyException(
                f"expected at least {least} arguments of the body, got {len(types)}"
            )
        for index, (expected, type) in enumerate(zip(inputs, types, strict=False)):
            if expected != type:
                raise VerifyException(
                    f"expected argument {index} of the body to have the function's type "
                    f"{expected}, got {type}"
                )


@generic_elsewhere
@op_definition
class ReturnOp(IRDLOperation):
    """Ends a `gpu.func`.

    ```
    gpu.return %sum, %product : f32, f32
    ```
    """

    name = "gpu.return"

    arguments = var_operand_def()

    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    traits = traits_def(HasParent(FuncOp), IsTerminator())

    def __init__(self, arguments: Sequence[SSAValue | Operation] = ()) -> None:
        super().__init__(operands=[arguments])

    @override
    def verify_(self) -> None:
        function = self.parent_op()
        if not isinstance(function, FuncOp):
            return
        expected = function.function_type.outputs.data
        if len(expected) != len(self.arguments):
            raise VerifyException(
                f"expected {len(expected)} operands, as '@{function.sym_name.data}' returns, "
                f"got {len(self.arguments)}"
            )
        for index, (type, operand) in enumerate(zip(expected, self.arguments, strict=True)):
            if type != operand.type:
                raise VerifyException(
                    f"expected operand {index} of type {type}, got {operand.type}"
                )


def verify_launch_size(name: str, sizes: Attribute | None) -> None:
    """Checks the attribute that promises a size of a launch.

    Raises:
        VerifyException: It is not an array of three i32.
    """
    if sizes is None:
        return
    if not isa(sizes, DenseArrayBase[I32]):
        raise VerifyException(f"{name} must be a dense i32 array, got {sizes}")
    if len(sizes) != 3:
        raise VerifyException(f"{name} must have 3 elements, got {len(sizes)}")


def _sizes(sizes: Sequence[int] | None) -> DenseArrayBase[I32] | None:
    return None if sizes is None else DenseArrayBase.from_list(i32, sizes)


def _print_results(
    printer: Printer, types: Sequence[Attribute], attributes: ArrayAttr[DictionaryAttr] | None
) -> None:
    if not types:
        return
    printer.print_string(" -> ")
    bare = len(types) == 1 and attributes is None and not isinstance(types[0], FunctionType)
    if bare:
        printer.print_attribute(types[0])
        return
    with printer.in_parens():
        for index, type in enumerate(types):
            if index:
                printer.print_string(", ")
            printer.print_attribute(type)
            dictionary = dictionary_of(attributes, index)
            if dictionary is not None:
                printer.print_op_attributes(dictionary.data)


OPERATIONS: list[type[Operation]] = [
    FuncOp,
    ReturnOp,
]
"""The operations of this module."""
