"""Assumptions and output.

Source: CUDA Tile IR specification, "Operations", "Miscellaneous"; NVIDIA/cuda-tile 13.3.0,
`Ops.td`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
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

from xtile.dialects.core.printing import verify_format
from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    BoundedAttr,
    DivByAttr,
    SameElementsAttr,
)
from xtile.dialects.cuda_tile.constraints import ASSUME_PREDICATE, TILE, TOKEN, VALUE, SameType
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.miscellaneous_rules import verify_predicate
from xtile.dialects.cuda_tile.type_text import DIALECT_PREFIX
from xtile.dialects.cuda_tile.types import TokenType
from xtile.dialects.cuda_tile.versions import V13_2, Version
from xtile.dialects.definitions import op_definition

_PREDICATES: dict[str, type[AssumePredicateAttr]] = {
    kind.name.removeprefix(DIALECT_PREFIX): kind
    for kind in (DivByAttr, SameElementsAttr, BoundedAttr)
}


@irdl_custom_directive
class AssumePredicate(CustomDirective):
    """`div_by<16>`, with or without `#cuda_tile.` before it."""

    predicate: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        name = parser.parse_optional_keyword_in(_PREDICATES)
        if name is not None:
            kind = _PREDICATES[name]
            self.predicate.set(state, kind.new(kind.parse_parameters(parser)))
            return
        attribute = parser.parse_optional_attribute()
        if not isinstance(attribute, AssumePredicateAttr):
            known = ", ".join(_PREDICATES)
            parser.raise_error(f"expected one of {known}", start, max(start, parser.pos))
        self.predicate.set(state, attribute)

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        predicate = self.predicate.get(op)
        assert isinstance(predicate, AssumePredicateAttr)
        printer.print_string(predicate.name.removeprefix(DIALECT_PREFIX))
        predicate.print_parameters(printer)


@op_definition
class AssumeOp(CudaTileOperation):
    """A value of which something is known; where it does not hold, anything may happen.

    ```
    %b = assume div_by<16>, %a : tile<ptr<f32>>
    ```
    """

    name = "cuda_tile.assume"
    OPCODE: ClassVar[int] = 0x06

    T: ClassVar = SameType("T", VALUE)

    value = operand_def(T)
    predicate = prop_def(ASSUME_PREDICATE)
    result = result_def(T)

    assembly_format = (
        "custom<AssumePredicate>($predicate) `,` $value attr-dict `:` "
        "custom<CudaTileType>(type($value))"
    )
    custom_directives: ClassVar = (CudaTileType, AssumePredicate)

    def __init__(self, value: Operand, predicate: AssumePredicateAttr) -> None:
        super().__init__(
            operands=(value,),
            properties={"predicate": predicate},
            result_types=(SSAValue.get(value).type,),
        )

    @override
    def verify_(self) -> None:
        verify_predicate(self.predicate, self.value.type)


@op_definition
class PrintTkoOp(CudaTileOperation):
    """Prints tiles as C's `printf` does, element by element.

    ```
    %t1 = print_tko "x = %f; ", %x token=%t : tile<8xf32> -> token
    ```
    """

    name = "cuda_tile.print_tko"
    OPCODE: ClassVar[int] = 0x55
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType(
        {"token": V13_2, "result_token": V13_2}
    )

    text = prop_def(StringAttr, prop_name="str")
    args = var_operand_def(TILE)
    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$str (`,` $args^)? (`token` `` `=` `` $token^)? attr-dict "
        "(`:` custom<CudaTileType>(type($args))^)? `->` "
        "custom<CudaTileType>(type($result_token))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(
        self, text: str, args: Sequence[Operand] = (), token: Operand | None = None
    ) -> None:
        super().__init__(
            operands=(args, token),
            properties={"str": StringAttr(text)},
            result_types=(TokenType(),),
        )

    @override
    def verify_(self) -> None:
        verify_format(self.text.data, len(self.args))


OPERATIONS: list[type[Operation]] = [AssumeOp, PrintTkoOp]
"""Every operation of this module."""
