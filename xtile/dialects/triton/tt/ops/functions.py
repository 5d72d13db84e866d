"""Functions, calls and returns.

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.dialects.builtin import ModuleOp as BuiltinModuleOp
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import (
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    CallableOpInterface,
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    Pure,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.module_attributes import LANES, TARGET
from xtile.dialects.triton.operation import Operand, TritonOperation, encoding_of
from xtile.targets import AMD

_RESERVED = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


def _verify_target(module: Operation | None) -> None:
    """Checks that layouts are made for the chip that a module names, which Triton does not.

    Raises:
        VerifyException: It names none, or one whose warps have another number of lanes.
    """
    lanes = None if module is None else module.attributes.get(LANES)
    if module is None or not isinstance(lanes, IntegerAttr):
        return
    target = module.attributes.get(TARGET)
    if not isinstance(target, StringAttr):
        raise VerifyException(
            f"the module has {LANES} and no {TARGET}; say what its layouts are made for, such as "
            f'{TARGET} = "hip:gfx942"'
        )
    _, _, name = target.data.partition("hip:")
    chip = AMD.chips.get(name)
    if chip is not None and chip.subgroup_size != lanes.value.data:
        raise VerifyException(
            f"{LANES} is {lanes.value.data}, but a warp of {name} has {chip.subgroup_size} lanes"
        )


class _Callable(CallableOpInterface):
    @classmethod
    @override
    def get_callable_region(cls, op: Operation) -> Region:
        assert isinstance(op, FuncOp)
        return op.body

    @classmethod
    @override
    def get_argument_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.inputs.data

    @classmethod
    @override
    def get_result_types(cls, op: Operation) -> tuple[Attribute, ...]:
        assert isinstance(op, FuncOp)
        return op.function_type.outputs.data


@op_definition
class FuncOp(TritonOperation):
    """A kernel where it is public, else a function that kernels call.

    ```
    tt.func public @scale(%p: !tt.ptr<f32> {tt.divisibility = 16
      : i32}, %n: i32) attributes {noinline = false} {
      tt.return
    }
    ```
    """

    name = "tt.func"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(StringAttr)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    body = region_def()

    traits = traits_def(
        HasParent(BuiltinModuleOp), IsolatedFromAbove(), SymbolOpInterface(), _Callable()
    )

    def __init__(
        self,
        name: str,
        function_type: FunctionType | tuple[Sequence[Attribute], Sequence[Attribute]],
        body: Region | None = None,
        *,
        visibility: str | None = "public",
        arg_attrs: ArrayAttr[DictionaryAttr] | None = None,
        res_attrs: ArrayAttr[DictionaryAttr] | None = None,
    ) -> None:
        if isinstance(function_type, tuple):
            function_type = FunctionType.from_lists(*function_type)
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": function_type,
                "sym_visibility": None if visibility is None else StringAttr(visibility),
                "arg_attrs": arg_attrs,
                "res_attrs": res_attrs,
            },
            regions=[Region(Block(arg_types=function_type.inputs)) if body is None else body],
        )

    @property
    def is_public(self) -> bool:
        """Whether others than this module may call or launch it."""
        return self.sym_visibility is None or self.sym_visibility.data == "public"

    @property
    def is_declaration(self) -> bool:
        """Whether it has no body."""
        return not self.body.blocks

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        visibility = parser.parse_optional_visibility_keyword()
        name, inputs, outputs, region, extra, arg_attrs, res_attrs = parse_func_op_like(
            parser, reserved_attr_names=_RESERVED
        )
        function = cls(
            name,
            (list(inputs), list(outputs)),
            region,
            visibility=None if visibility is None else visibility.data,
            arg_attrs=arg_attrs,
            res_attrs=res_attrs,
        )
        if extra is not None:
            function.attributes.update(extra.data)
        return function

    @override
    def print(self, printer: Printer) -> None:
        from xtile.text.mlir_printer import MlirPrinter

        if isinstance(printer, MlirPrinter):
            # Arguments with their locations have MLIR's text.
            printer.print_function(self)
            return
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            self.attributes,
            arg_attrs=self.arg_attrs,
            res_attrs=self.res_attrs,
            reserved_attr_names=_RESERVED,
            print_empty_outputs=False,
        )

    @override
    def verify_(self) -> None:
        _verify_target(self.parent_op())
        if self.is_declaration:
            return
        expected = self.function_type.inputs.data
        if tuple(self.body.blocks[0].arg_types) != expected:
            raise VerifyException(
                "the first block's arguments must have the types of the function's"
            )
        if _has_layouts(self):
            from xtile.dialects.triton.layout_checks import verify_layouts

            verify_layouts(self)


def _has_layouts(function: FuncOp) -> bool:
    """Whether the values of a function have layouts, as in `ttg`."""
    values = (value for op in function.walk() for value in (*op.operands, *op.results))
    return any(
        encoding_of(value.type) is not None or value.type.name == "ttg.memdesc" for value in values
    )


class _CalleeExists(SymbolUserOpInterface):
    @override
    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        function = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(function, FuncOp):
            raise VerifyException(f"{op.callee} is no function of this module")
        given = FunctionType.from_lists(list(op.arguments.types), list(op.result_types))
        if function.function_type != given:
            raise VerifyException(
                f"{op.callee} is {function.function_type}, but is called as {given}"
            )


@op_definition
class CallOp(TritonOperation):
    """Calls a function of the module.

    ```
    %z = tt.call @add(%x, %y) : (f32, f32) -> f32
    ```
    """

    name = "tt.call"

    callee = prop_def(FlatSymbolRefAttr)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    arguments = var_operand_def()
    res = var_result_def()

    traits = traits_def(_CalleeExists())
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"

    def __init__(
        self, callee: str, arguments: Sequence[Operand], result_types: Sequence[Attribute]
    ) -> None:
        super().__init__(
            operands=[arguments],
            properties={"callee": SymbolRefAttr(callee)},
            result_types=[result_types],
        )


@op_definition
class ReturnOp(TritonOperation):
    """Returns from a function.

    ```
    tt.return %x : f32
    ```
    """

    name = "tt.return"

    srcs = var_operand_def()

    traits = lazy_traits_def(lambda: (HasParent(FuncOp), IsTerminator(), Pure()))
    assembly_format = "attr-dict ($srcs^ `:` type($srcs))?"

    def __init__(self, *srcs: Operand) -> None:
        super().__init__(operands=[srcs])

    @override
    def verify_(self) -> None:
        function = self.parent_op()
        assert isinstance(function, FuncOp)
        expected = function.function_type.outputs.data
        if tuple(self.srcs.types) != expected:
            types = ", ".join(str(each) for each in expected) or "nothing"
            raise VerifyException(f"{function.sym_name.data} returns {types}")


OPERATIONS: list[type[Operation]] = [FuncOp, CallOp, ReturnOp]
"""Every operation of this module."""
