"""Copies that run beside what follows them, and waits for them.

Source: Triton 3.4 to 3.9, `TritonGPUOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i32
from xdsl.ir import Operation
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import (
    clear_default,
    mask_of,
    parse_optional_value,
    parse_short_type,
    pointee_of,
    print_attributes,
    print_short_type,
    print_values,
    split_properties,
)
from xtile.dialects.triton.operation import Operand, TritonOperation, verify_type
from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.tt.constraints import BOOL, POINTER, VALUE
from xtile.dialects.triton.tt.ops.memory import (
    CachedOperation,
    parse_cache_clauses,
    print_cache_clauses,
)
from xtile.dialects.triton.tt.types import CachePolicyAttr
from xtile.dialects.triton.ttg.constraints import (
    I32_NUMBER,
    MEMDESC,
    TOKEN,
    memdesc_of,
    verify_mutable,
)
from xtile.dialects.triton.ttg.types import AsyncTokenType, MemDescType
from xtile.dialects.triton.versions import V3_5, V3_9

ONE = IntegerAttr(1, i32)


@op_definition
class AsyncWaitOp(TritonOperation):
    """Waits until no more than so many groups of copies run.

    ```
    %t1 = ttg.async_wait %t {num = 0 : i32}
    ```
    """

    name = "ttg.async_wait"

    asyncToken = var_operand_def(TOKEN)  # noqa: N815
    num = prop_def(I32_NUMBER)
    retToken = result_def(TOKEN)  # noqa: N815

    assembly_format = "($asyncToken^)? attr-dict"

    def __init__(self, tokens: Sequence[Operand], num: int) -> None:
        super().__init__(
            operands=[tokens],
            properties={"num": IntegerAttr(num, i32)},
            result_types=[AsyncTokenType()],
        )


@op_definition
class AsyncCommitGroupOp(TritonOperation):
    """Makes the copies before it a group that can be waited for.

    ```
    %t1 = ttg.async_commit_group tokens %t
    ```
    """

    name = "ttg.async_commit_group"

    inputTokens = var_operand_def(TOKEN)  # noqa: N815
    asyncToken = result_def(TOKEN)  # noqa: N815

    def __init__(self, tokens: Sequence[Operand] = ()) -> None:
        super().__init__(operands=[tokens], result_types=[AsyncTokenType()])

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        parser.parse_optional_keyword("tokens")
        tokens: list[UnresolvedOperand] = []
        first = parser.parse_optional_unresolved_operand()
        if first is not None:
            tokens.append(first)
            while parser.parse_optional_punctuation(",") is not None:
                tokens.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        operands = [parser.resolve_operand(token, AsyncTokenType()) for token in tokens]
        return cls.build(
            operands=[operands], result_types=[AsyncTokenType()], attributes=attributes
        )

    @override
    def print(self, printer: Printer) -> None:
        if self.inputTokens:
            if release_of(printer) >= V3_5:
                printer.print_string(" tokens")
            print_values(printer, self.inputTokens)
        print_attributes(printer, self)


@op_definition
class AsyncCopyGlobalToLocalOp(CachedOperation):
    """Copies what is where pointers point to local memory; where the mask is false, `other`.

    `contiguity` is how many elements in a row one access may copy.

    ```
    %t = ttg.async_copy_global_to_local %p, %m mask %k
      : tensor<8x8x!tt.ptr<f16>, #blocked> -> <8x8xf16, #shared, #smem, mutable>
    ```
    """

    name = "ttg.async_copy_global_to_local"

    src = operand_def(POINTER)
    result = operand_def(MEMDESC)
    mask = opt_operand_def(BOOL)
    other = opt_operand_def(VALUE)
    cachePolicy = opt_prop_def()  # noqa: N815
    isVolatile = opt_prop_def(IntegerAttr)  # noqa: N815
    contiguity = opt_prop_def(I32_NUMBER)
    token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        src: Operand,
        result: Operand,
        mask: Operand | None = None,
        other: Operand | None = None,
        *,
        policy: CachePolicyAttr | None = None,
        is_volatile: bool = False,
        contiguity: int = 1,
    ) -> None:
        super().__init__(
            operands=[src, result, mask, other],
            properties={
                "cachePolicy": policy,
                "isVolatile": BoolAttr.from_bool(True) if is_volatile else None,
                "contiguity": IntegerAttr(contiguity, i32),
            },
            result_types=[AsyncTokenType()],
        )

    @override
    def migrate(self) -> None:
        super().migrate()
        clear_default(self, "contiguity", ONE)
        clear_default(self, "isVolatile", BoolAttr.from_bool(False))

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        src = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        result = parser.parse_unresolved_operand()
        mask = parse_optional_value(parser, "mask")
        other = parse_optional_value(parser, "other")
        properties = parse_cache_clauses(parser)
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_punctuation("->")
        memory = parse_short_type(parser, MemDescType)
        pointee = pointee_of(source)
        return cls.build(
            operands=[
                parser.resolve_operand(src, source),
                parser.resolve_operand(result, memory),
                [] if mask is None else [parser.resolve_operand(mask, mask_of(pointee))],
                [] if other is None else [parser.resolve_operand(other, pointee)],
            ],
            properties={**properties, **given},
            attributes=attributes,
            result_types=[AsyncTokenType()],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.src, self.result])
        for keyword, value in (("mask", self.mask), ("other", self.other)):
            if value is not None:
                printer.print_string(f" {keyword}")
                print_values(printer, [value])
        if release_of(printer) < V3_9:
            print_cache_clauses(printer, self.cache_policy)
            print_attributes(printer, self, ["cachePolicy"])
        else:
            print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.src.type)
        printer.print_string(" -> ")
        print_short_type(printer, self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_mutable(memdesc_of(self.result.type))
        pointee = pointee_of(self.src.type)
        if self.mask is not None:
            verify_type("mask", self.mask.type, mask_of(pointee))
        if self.other is not None:
            verify_type("other", self.other.type, pointee)


OPERATIONS: list[type[Operation]] = [AsyncWaitOp, AsyncCommitGroupOp, AsyncCopyGlobalToLocalOp]
"""Every operation of this module."""
