"""Loads and stores through pointers.

Until 3.8 the text says `cacheModifier` and `evictionPolicy` as clauses; from 3.9 on the attribute
`cachePolicy` holds both. Until 3.7 there are pointers to blocks, whose accesses say which edges
they check and how they pad.

Source: Triton 3.4 to 3.9, `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, UnitAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
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
    mask_of,
    parse_more_operands,
    pointee_of,
    print_attributes,
    print_types,
    print_values,
    split_properties,
)
from xtile.dialects.triton.operation import Operand, TritonOperation, shape_of, verify_type
from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.tt.constraints import BOOL, POINTER, VALUE
from xtile.dialects.triton.tt.enumerations import (
    CacheModifier,
    EvictionPolicy,
    PaddingOption,
    keyword,
    keywords,
    member,
)
from xtile.dialects.triton.tt.keywords import verify_member
from xtile.dialects.triton.tt.types import CachePolicyAttr, PointerType
from xtile.dialects.triton.versions import V3_9

_CLAUSES: Mapping[str, type[CacheModifier] | type[EvictionPolicy]] = {
    "cacheModifier": CacheModifier,
    "evictionPolicy": EvictionPolicy,
}
"""The clauses of 3.4 to 3.8, and what they say."""


class CachedOperation(TritonOperation, ABC):
    """An access that may say how it uses the caches."""

    cachePolicy = opt_prop_def()  # noqa: N815

    @override
    def migrate(self) -> None:
        if "cache" not in self.properties and "evict" not in self.properties:
            return
        old = {name: self.properties.pop(name, None) for name in ("cache", "evict")}
        policy = CachePolicyAttr(
            member(CacheModifier, old["cache"], CacheModifier.NONE),
            member(EvictionPolicy, old["evict"], EvictionPolicy.EVICT_NORMAL),
        )
        if not policy.is_default:
            self.properties["cachePolicy"] = policy

    @property
    def cache_policy(self) -> CachePolicyAttr:
        """How the caches are used."""
        policy = self.cachePolicy
        return policy if isinstance(policy, CachePolicyAttr) else CachePolicyAttr()


def parse_cache_clauses(parser: Parser) -> dict[str, Attribute]:
    """Reads `cacheModifier = cg evictionPolicy = evict_first`, in any order, as a policy.

    Raises:
        ParseError: A clause is given twice, or names nothing.
    """
    found: dict[str, int] = {}
    start = parser.pos
    while (clause := parser.parse_optional_keyword_in(list(_CLAUSES))) is not None:
        if clause in found:
            parser.raise_error(f"{clause} is given twice", start, start + len(clause))
        parser.parse_punctuation("=")
        start = parser.pos
        word = parser.parse_identifier()
        members = keywords(_CLAUSES[clause])
        if word not in members:
            message = f"expected {clause} to be one of {', '.join(members)}"
            parser.raise_error(message, start, start + len(word))
        found[clause] = int(members[word])
        start = parser.pos
    if not found:
        return {}
    policy = CachePolicyAttr(
        CacheModifier(found.get("cacheModifier", CacheModifier.NONE)),
        EvictionPolicy(found.get("evictionPolicy", EvictionPolicy.EVICT_NORMAL)),
    )
    return {} if policy.is_default else {"cachePolicy": policy}


def print_cache_clauses(printer: Printer, policy: CachePolicyAttr) -> None:
    """Prints what `parse_cache_clauses` reads; nothing of what is so by default."""
    if policy.modifier is not CacheModifier.NONE:
        printer.print_string(f" cacheModifier = {keyword(policy.modifier)}")
    if policy.eviction is not EvictionPolicy.EVICT_NORMAL:
        printer.print_string(f" evictionPolicy = {keyword(policy.eviction)}")


def print_cached(printer: Printer, operation: CachedOperation) -> None:
    """Prints the clauses for the caches and the dictionary, as the release has them."""
    defaults: dict[str, Attribute] = {"isVolatile": BoolAttr.from_bool(False)}
    if release_of(printer) >= V3_9:
        print_attributes(printer, operation, defaults=defaults)
        return
    print_cache_clauses(printer, operation.cache_policy)
    print_attributes(printer, operation, ["cachePolicy"], {**defaults, "boundaryCheck": NO_CHECK})


NO_CHECK = DenseArrayBase.from_list(i32, [])


def verify_block_access(operation: TritonOperation, pointer: Attribute) -> None:
    """Checks `boundaryCheck` and `padding`, which accesses through pointers to blocks have.

    Raises:
        VerifyException: They name no dimensions, or something else is accessed.
    """
    check = operation.properties.get("boundaryCheck")
    verify_member(PaddingOption, "padding", operation.properties.get("padding"))
    if not isinstance(check, DenseArrayBase):
        return
    rank = len(shape_of(pointee_of(pointer)))
    is_block = isinstance(pointer, PointerType) and pointer.is_block
    dimensions = [int(each) for each in check.get_values()]
    if dimensions and not is_block:
        raise VerifyException(
            "boundaryCheck is for pointers to blocks, which tt.make_tensor_ptr makes; others have "
            "a mask"
        )
    if len(set(dimensions)) != len(dimensions) or any(not 0 <= d < rank for d in dimensions):
        raise VerifyException(
            f"boundaryCheck is {dimensions}; it must name dimensions of 0 to {rank - 1} once each"
        )


@op_definition
class LoadOp(CachedOperation):
    """What is in memory where pointers point.

    Where the mask is false the result is `other`, or unspecified without it.

    ```
    %x = tt.load %p, %mask, %other : tensor<128x!tt.ptr<f32>>
    ```
    """

    name = "tt.load"

    ptr = operand_def(POINTER)
    mask = opt_operand_def(BOOL)
    other = opt_operand_def(VALUE)
    boundaryCheck = opt_prop_def(DenseArrayBase.constr(i32))  # noqa: N815
    padding = opt_prop_def(IntegerAttr.constr(i32))
    cachePolicy = opt_prop_def()  # noqa: N815
    isVolatile = opt_prop_def(IntegerAttr)  # noqa: N815
    result = result_def(VALUE)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        ptr: Operand,
        mask: Operand | None = None,
        other: Operand | None = None,
        *,
        policy: CachePolicyAttr | None = None,
        is_volatile: bool = False,
    ) -> None:
        super().__init__(
            operands=[ptr, mask, other],
            properties={
                "cachePolicy": policy,
                "isVolatile": BoolAttr.from_bool(True) if is_volatile else None,
            },
            result_types=[pointee_of(SSAValue.get(ptr).type)],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        ptr = parser.parse_unresolved_operand()
        more = parse_more_operands(parser, 2)
        properties = parse_cache_clauses(parser)
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        pointee = pointee_of(type_)
        types = [type_, mask_of(pointee), pointee]
        values = [
            parser.resolve_operand(operand, each)
            for operand, each in zip([ptr, *more], types, strict=False)
        ]
        return cls.build(
            operands=[values[0], values[1:2], values[2:]],
            properties={**properties, **given},
            attributes=attributes,
            result_types=[pointee],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, self.operands)
        print_cached(printer, self)
        print_types(printer, [self.ptr.type])

    @override
    def verify_(self) -> None:
        super().verify_()
        pointee = pointee_of(self.ptr.type)
        verify_type("the result", self.result.type, pointee)
        if self.mask is not None:
            verify_type("mask", self.mask.type, mask_of(pointee))
        if self.other is not None:
            verify_type("other", self.other.type, pointee)
            if self.mask is None:
                raise VerifyException(
                    "other is given without a mask; it is what masked elements are"
                )
        verify_block_access(self, self.ptr.type)


@op_definition
class StoreOp(CachedOperation):
    """Writes values where pointers point and the mask, if any, is true.

    ```
    tt.store %p, %x, %mask : tensor<128x!tt.ptr<f32>>
    ```
    """

    name = "tt.store"

    ptr = operand_def(POINTER)
    value = operand_def(VALUE)
    mask = opt_operand_def(BOOL)
    boundaryCheck = opt_prop_def(DenseArrayBase.constr(i32))  # noqa: N815
    cachePolicy = opt_prop_def()  # noqa: N815
    ignore_cta = opt_prop_def(UnitAttr)

    def __init__(
        self,
        ptr: Operand,
        value: Operand,
        mask: Operand | None = None,
        *,
        policy: CachePolicyAttr | None = None,
    ) -> None:
        super().__init__(operands=[ptr, value, mask], properties={"cachePolicy": policy})

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        operands = [ptr, parser.parse_unresolved_operand(), *parse_more_operands(parser, 1)]
        properties = parse_cache_clauses(parser)
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        pointee = pointee_of(type_)
        types = [type_, pointee, mask_of(pointee)]
        values = [
            parser.resolve_operand(operand, each)
            for operand, each in zip(operands, types, strict=False)
        ]
        return cls.build(
            operands=[values[0], values[1], values[2:]],
            properties={**properties, **given},
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, self.operands)
        print_cached(printer, self)
        print_types(printer, [self.ptr.type])

    @override
    def verify_(self) -> None:
        super().verify_()
        pointee = pointee_of(self.ptr.type)
        verify_type("value", self.value.type, pointee)
        if self.mask is not None:
            verify_type("mask", self.mask.type, mask_of(pointee))
        verify_block_access(self, self.ptr.type)


OPERATIONS: list[type[Operation]] = [LoadOp, StoreOp]
"""Every operation of this module."""
