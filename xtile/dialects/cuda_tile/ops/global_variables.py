"""Variables of a module.

Source: CUDA Tile IR specification, "Operations", "Core"; NVIDIA/cuda-tile 13.3.0, `Ops.td`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FlatSymbolRefAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    IRDLOperation,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface, SymbolTable
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.attributes import SymbolVisibilityAttr
from xtile.dialects.cuda_tile.constants import ConstantWithoutResult, tile_of
from xtile.dialects.cuda_tile.constraints import CONSTANT, SCALAR_POINTER
from xtile.dialects.cuda_tile.enumerations import SymbolVisibility
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.types import PointerType, TileType, tile_type
from xtile.dialects.cuda_tile.versions import V13_3, Version
from xtile.dialects.definitions import op_definition


@irdl_custom_directive
class Visibility(CustomDirective):
    """`private`, or nothing for what is public."""

    visibility: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        keyword = parser.parse_optional_keyword_in([member.value for member in SymbolVisibility])
        if keyword is not None:
            self.visibility.set(state, SymbolVisibilityAttr(SymbolVisibility(keyword)))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        visibility = self.visibility.get(op)
        state.print_whitespace(printer)
        if visibility == SymbolVisibilityAttr(SymbolVisibility.PRIVATE):
            printer.print_string("private ")


@op_definition
class GlobalOp(CudaTileOperation):
    """A variable in global memory with its first values.

    ```
    global private constant @table alignment = 16 <f32: [1.000000e+00, 2.000000e+00]> : tile<2xf32>
    ```
    """

    name = "cuda_tile.global"
    OPCODE: ClassVar[int] = 0x31
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType(
        {"constant": V13_3, "symbol_visibility": V13_3}
    )

    sym_name = prop_def(SymbolNameConstraint())
    value = prop_def(CONSTANT)
    alignment = prop_def(IntegerAttr.constr(i64), default_value=IntegerAttr(0, i64))
    constant = opt_prop_def(UnitAttr)
    symbol_visibility = prop_def(
        SymbolVisibilityAttr, default_value=SymbolVisibilityAttr(SymbolVisibility.PUBLIC)
    )

    traits = traits_def(SymbolOpInterface())
    assembly_format = (
        "custom<Visibility>($symbol_visibility) (`constant` $constant^)? $sym_name "
        "(`alignment` `=` $alignment^)? attr-dict custom<ConstantWithoutResult>($value)"
    )
    custom_directives: ClassVar = (Visibility, ConstantWithoutResult)

    def __init__(
        self,
        name: str,
        value: DenseIntOrFPElementsAttr,
        *,
        alignment: int = 0,
        constant: bool = False,
        visibility: SymbolVisibility = SymbolVisibility.PUBLIC,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "value": value,
                "alignment": IntegerAttr(alignment, i64),
                "constant": UnitAttr() if constant else None,
                "symbol_visibility": SymbolVisibilityAttr(visibility),
            }
        )

    @override
    def verify_(self) -> None:
        type = tile_of(self.value)
        if not isinstance(type, TileType) or type.rank != 1:
            raise VerifyException(f"the values must be a tile of one dimension, but are {type}")
        if self.alignment.value.data < 0:
            raise VerifyException(
                f"alignment must not be negative, but is {self.alignment.value.data}"
            )


@op_definition
class GetGlobalOp(CudaTileOperation):
    """The address of a variable.

    ```
    %p = get_global @table : tile<ptr<f32>>
    ```
    """

    name = "cuda_tile.get_global"
    OPCODE: ClassVar[int] = 0x2C

    global_name = prop_def(FlatSymbolRefAttrConstr, prop_name="name")
    result = result_def(SCALAR_POINTER)

    traits = traits_def(Pure())
    assembly_format = "$name attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, name: str | FlatSymbolRefAttr, result_type: Attribute) -> None:
        symbol = SymbolRefAttr(name) if isinstance(name, str) else name
        super().__init__(properties={"name": symbol}, result_types=(result_type,))

    @override
    def verify_(self) -> None:
        variable = SymbolTable.lookup_symbol(self, self.global_name)
        name = self.global_name.root_reference.data
        if not isinstance(variable, GlobalOp):
            raise VerifyException(f"there is no global '@{name}'")
        values, pointer = tile_of(variable.value), tile_type(self.result).element_type
        assert isinstance(values, TileType)
        assert isinstance(pointer, PointerType)
        if pointer.pointee_type != values.element_type:
            raise VerifyException(
                f"'@{name}' holds {values.element_type}, but the result points to "
                f"{pointer.pointee_type}"
            )


OPERATIONS: list[type[Operation]] = [GetGlobalOp, GlobalOp]
"""Every operation of this module."""
