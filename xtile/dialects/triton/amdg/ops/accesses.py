"""Accesses that are no buffer's: of one lane on a condition, and copies from local memory.

Source: Triton 3.5 to 3.9, `third_party/amd`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, FunctionType, IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import (
    clear_default,
    mask_of,
    parse_operands,
    parse_optional_value,
    pointee_of,
    print_attributes,
    print_types,
    print_values,
    split_properties,
)
from xtile.dialects.triton.operation import Operand, TritonOperation, verify_type
from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.tt.constraints import BOOL, POINTER
from xtile.dialects.triton.tt.enumerations import CacheModifier, keyword, number
from xtile.dialects.triton.tt.keywords import parse_member
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
    verify_same_elements,
)
from xtile.dialects.triton.ttg.types import AsyncTokenType
from xtile.dialects.triton.versions import V3_5, V3_7, V3_9, Release

_FLAGS = {"volatile": "isVolatile", "forceNoAlias": "forceNoAlias"}
"""The words of flags, and the properties that they are."""


class LaneAccess(TritonOperation, ABC):
    """What a lane accesses through a pointer of LLVM where a condition holds."""

    cache = opt_prop_def(I32_NUMBER)
    forceNoAlias = opt_prop_def(IntegerAttr)  # noqa: N815

    @override
    def migrate(self) -> None:
        clear_default(self, "cache", number(CacheModifier.NONE))
        for name in _FLAGS.values():
            clear_default(self, name, BoolAttr.from_bool(False))

    @override
    def verify_(self) -> None:
        super().verify_()
        if self.operands[0].type.name != "llvm.ptr":
            raise VerifyException(f"ptr is {self.operands[0].type}; expected !llvm.ptr")


def _parse_clauses(parser: Parser) -> dict[str, Attribute]:
    """Reads ` cacheModifier = cg volatile true forceNoAlias true`."""
    properties: dict[str, Attribute] = {}
    if parser.parse_optional_keyword("cacheModifier") is not None:
        parser.parse_punctuation("=")
        properties["cache"] = parse_member(parser, CacheModifier)
    for word, name in _FLAGS.items():
        if parser.parse_optional_keyword(word) is not None:
            properties[name] = BoolAttr.from_bool(parser.parse_boolean())
    return properties


def _print_clauses(printer: Printer, operation: LaneAccess) -> None:
    cache = operation.cache
    if cache is not None:
        modifier = CacheModifier(cache.value.data)
        printer.print_string(f" cacheModifier = {keyword(modifier)}")
    for word, name in _FLAGS.items():
        flag = operation.properties.get(name)
        if isinstance(flag, IntegerAttr):
            printer.print_string(f" {word} {'true' if flag.value.data else 'false'}")
    print_attributes(printer, operation, ["cache", *_FLAGS.values()])


@op_definition
class MaskedLoadOp(LaneAccess):
    """What a pointer points to where a condition holds, and another value where it does not.

    `multicastMask` has a bit for each block of the cluster that asks for the same.

    ```
    %x = amdg.masked_load %p, %c, %y cacheModifier = cg : (!llvm.ptr<1>, i1, f32) -> f32
    ```
    """

    name = "amdg.masked_load"
    SINCE: ClassVar[Release] = V3_5

    ptr = operand_def(AnyAttr())
    mask = operand_def(BOOL)
    falseVal = operand_def(AnyAttr())  # noqa: N815
    multicastMask = opt_operand_def(AnyAttr())  # noqa: N815
    cache = opt_prop_def(I32_NUMBER)
    isVolatile = opt_prop_def(IntegerAttr)  # noqa: N815
    forceNoAlias = opt_prop_def(IntegerAttr)  # noqa: N815
    result = result_def(AnyAttr())

    def __init__(
        self,
        ptr: Operand,
        mask: Operand,
        otherwise: Operand,
        multicast: Operand | None = None,
        *,
        cache: CacheModifier = CacheModifier.NONE,
    ) -> None:
        super().__init__(
            operands=[ptr, mask, otherwise, multicast],
            properties={"cache": number(cache)},
            result_types=[SSAValue.get(otherwise).type],
        )

    @override
    def lost_in(self, release: Release) -> str | None:
        if self.multicastMask is not None and release < V3_7:
            return f"{self.name} of Triton {release} has no multicastMask"
        if self.isVolatile is not None and release < V3_9:
            return f"{self.name} of Triton {release} is never volatile"
        return super().lost_in(release)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        position, values = parser.pos, parse_operands(parser)
        properties = _parse_clauses(parser)
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType):
            parser.raise_error("expected a type such as (!llvm.ptr<1>, i1, f32) -> f32")
        operands = parser.resolve_operands(values, list(type_.inputs.data), position)
        return cls.build(
            operands=[*operands[:3], operands[3:]],
            properties={**properties, **given},
            attributes=attributes,
            result_types=list(type_.outputs.data),
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, self.operands)
        _print_clauses(printer, self)
        types = [operand.type for operand in self.operands]
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(types, [self.result.type]))


@op_definition
class MaskedStoreOp(LaneAccess):
    """Writes a value to what a pointer points to where a condition holds.

    ```
    amdg.masked_store %p, %x, %c cacheModifier = cs : !llvm.ptr<1>, f32, i1
    ```
    """

    name = "amdg.masked_store"
    SINCE: ClassVar[Release] = V3_5

    ptr = operand_def(AnyAttr())
    value = operand_def(AnyAttr())
    mask = operand_def(BOOL)
    cache = opt_prop_def(I32_NUMBER)
    forceNoAlias = opt_prop_def(IntegerAttr)  # noqa: N815

    def __init__(
        self,
        ptr: Operand,
        value: Operand,
        mask: Operand,
        *,
        cache: CacheModifier = CacheModifier.NONE,
    ) -> None:
        super().__init__(operands=[ptr, value, mask], properties={"cache": number(cache)})

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        position, values = parser.pos, parse_operands(parser)
        properties = _parse_clauses(parser)
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        types: Sequence[Attribute] = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_type
        )
        return cls.build(
            operands=parser.resolve_operands(values, types, position),
            properties={**properties, **given},
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, self.operands)
        _print_clauses(printer, self)
        print_types(printer, [operand.type for operand in self.operands])


@op_definition
class AsyncCopyLocalToGlobalOp(CachedOperation):
    """Copies local memory to where pointers point, where the mask is true.

    ```
    %t = amdg.async_copy_local_to_global %m, %p mask %k
      : !ttg.memdesc<8x8xf16, #shared, #smem, mutable> -> tensor<8x8x!tt.ptr<f16>, #blocked>
    ```
    """

    name = "amdg.async_copy_local_to_global"
    SINCE: ClassVar[Release] = V3_7

    src = operand_def(MEMDESC)
    dst = operand_def(POINTER)
    mask = opt_operand_def(BOOL)
    cachePolicy = opt_prop_def()  # noqa: N815
    contiguity = opt_prop_def(I32_NUMBER)
    token = result_def(TOKEN)

    def __init__(
        self,
        src: Operand,
        dst: Operand,
        mask: Operand | None = None,
        *,
        policy: CachePolicyAttr | None = None,
        contiguity: int = 1,
    ) -> None:
        super().__init__(
            operands=[src, dst, mask],
            properties={"cachePolicy": policy, "contiguity": IntegerAttr(contiguity, i32)},
            result_types=[AsyncTokenType()],
        )

    @override
    def migrate(self) -> None:
        super().migrate()
        clear_default(self, "contiguity", IntegerAttr(1, i32))

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        src, dst = parse_operands(parser)
        mask = parse_optional_value(parser, "mask")
        properties = parse_cache_clauses(parser)
        if parser.parse_optional_keyword("cachePolicy") is not None:
            parser.parse_punctuation("=")
            properties["cachePolicy"] = parser.parse_attribute()
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        memory = parser.parse_type()
        parser.parse_punctuation("->")
        pointers = parser.parse_type()
        masks = mask_of(pointee_of(pointers))
        return cls.build(
            operands=[
                parser.resolve_operand(src, memory),
                parser.resolve_operand(dst, pointers),
                [] if mask is None else [parser.resolve_operand(mask, masks)],
            ],
            properties={**properties, **given},
            attributes=attributes,
            result_types=[AsyncTokenType()],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.src, self.dst])
        if self.mask is not None:
            printer.print_string(" mask")
            print_values(printer, [self.mask])
        if release_of(printer) < V3_9:
            print_cache_clauses(printer, self.cache_policy)
        elif self.cachePolicy is not None:
            printer.print_string(" cachePolicy = ")
            printer.print_attribute(self.cachePolicy)
        print_attributes(printer, self, ["cachePolicy"])
        print_types(printer, [self.src.type])
        printer.print_string(" -> ")
        printer.print_attribute(self.dst.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        pointee = pointee_of(self.dst.type)
        verify_same_elements("what is pointed to", pointee, memdesc_of(self.src.type))
        if self.mask is not None:
            verify_type("mask", self.mask.type, mask_of(pointee))


OPERATIONS: list[type[Operation]] = [MaskedLoadOp, MaskedStoreOp, AsyncCopyLocalToGlobalOp]
"""Every operation of this module."""
