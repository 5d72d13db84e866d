"""Accesses through one pointer and a tensor of offsets in elements, which the hardware checks.

Until 3.8 the text has no type of the pointer, and `cacheModifier` as a clause; from 3.9 on the
attribute `cachePolicy` says it.

Source: Triton 3.4 to 3.9, `third_party/amd`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.amdg.offsets import verify_contiguity, verify_offsets
from xtile.dialects.triton.assembly import (
    clear_default,
    mask_of,
    parse_more_operands,
    parse_optional_value,
    parse_short_type,
    print_attributes,
    print_short_type,
    print_values,
    split_properties,
)
from xtile.dialects.triton.operation import (
    Operand,
    element_of,
    verify_type,
    with_element,
)
from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.tt.constraints import BOOL, I32, SCALAR_POINTER, TENSOR
from xtile.dialects.triton.tt.enumerations import (
    CacheModifier,
    MemSemantic,
    MemSyncScope,
    RMWOp,
    keyword,
    number,
)
from xtile.dialects.triton.tt.keywords import (
    parse_member,
    parse_order,
    print_member,
    print_order,
    verify_member,
)
from xtile.dialects.triton.tt.ops.memory import CachedOperation, parse_cache_clauses
from xtile.dialects.triton.tt.types import (
    CachePolicyAttr,
    PointerType,
    is_float,
    is_integer,
)
from xtile.dialects.triton.ttg.constraints import (
    I32_NUMBER,
    MEMDESC,
    TOKEN,
    memdesc_of,
    verify_mutable,
)
from xtile.dialects.triton.ttg.types import AsyncTokenType, MemDescType
from xtile.dialects.triton.versions import V3_5, V3_7, V3_9, Release

_ONE = IntegerAttr(1, i32)
"""The contiguity of accesses that say none."""


class BufferOperation(CachedOperation, ABC):
    """An access through a pointer and offsets.

    `stride` is the distance of rows in bytes, a hint for the caches. `contiguity` is how many
    elements in a row one access may take.
    """

    ptr = operand_def(SCALAR_POINTER)
    offsets = operand_def(TENSOR)

    @property
    def accessed(self) -> Attribute:
        """The type of what is accessed: a tensor of the shape and the layout of the offsets."""
        assert isinstance(self.ptr.type, PointerType)
        return with_element(self.offsets.type, self.ptr.type.pointee)

    @override
    def migrate(self) -> None:
        super().migrate()
        clear_default(self, "contiguity", _ONE)

    @override
    def verify_(self) -> None:
        super().verify_()
        if element_of(self.offsets.type) != i32:
            raise VerifyException(f"offsets is {self.offsets.type}; offsets are i32")
        mask: SSAValue | None = getattr(self, "mask", None)
        verify_offsets(self.ptr, self.offsets, mask)
        verify_contiguity(self, self.offsets, self.accessed)
        if mask is not None:
            verify_type("mask", mask.type, mask_of(self.accessed))


def _pointer_to(type_: Attribute) -> PointerType:
    return PointerType(element_of(type_))


def _parse_place(parser: Parser) -> list[UnresolvedOperand]:
    """Reads `%pointer[%offsets]`."""
    pointer = parser.parse_unresolved_operand()
    parser.parse_punctuation("[")
    offsets = parser.parse_unresolved_operand()
    parser.parse_punctuation("]")
    return [pointer, offsets]


def _parse_types(parser: Parser) -> tuple[Attribute, Attribute]:
    """Reads ` : type` or ` : pointer -> type`; gives the pointer's type and the other one."""
    parser.parse_punctuation(":")
    first = parser.parse_type()
    if parser.parse_optional_punctuation("->") is None:
        return _pointer_to(first), first
    return first, parser.parse_type()


def _resolve(
    parser: Parser, values: Sequence[UnresolvedOperand], types: Sequence[Attribute]
) -> list[SSAValue]:
    """The values with the types, of which there may be more."""
    return [
        parser.resolve_operand(value, type_) for value, type_ in zip(values, types, strict=False)
    ]


def _stride(parser: Parser, stride: UnresolvedOperand | None) -> list[SSAValue]:
    return [] if stride is None else [parser.resolve_operand(stride, i32)]


def _print_place(printer: Printer, operation: BufferOperation) -> None:
    """Prints `%pointer[%offsets]`."""
    printer.print_ssa_value(operation.ptr)
    with printer.in_square_brackets():
        printer.print_ssa_value(operation.offsets)


def _print_more(printer: Printer, values: Sequence[SSAValue | None]) -> None:
    """Prints `, %value` for each that is there."""
    for value in values:
        if value is not None:
            printer.print_string(", ")
            printer.print_ssa_value(value)


def _print_cache(printer: Printer, operation: BufferOperation) -> None:
    """Prints the clause for the caches where the release has one."""
    modifier = operation.cache_policy.modifier
    if release_of(printer) < V3_9 and modifier is not CacheModifier.NONE:
        printer.print_string(f" cacheModifier = {keyword(modifier)}")


def _print_stride(printer: Printer, stride: SSAValue | None) -> None:
    if stride is not None:
        printer.print_string(" stride =")
        print_values(printer, [stride])


def _print_rest(printer: Printer, operation: BufferOperation, shown: Sequence[str] = ()) -> None:
    """Prints the dictionary."""
    release = release_of(printer)
    hidden = [] if release >= V3_9 else ["cachePolicy"]
    # Until 3.6 what is contiguous is found out by the compiler.
    hidden += [] if release >= V3_7 else ["contiguity"]
    print_attributes(printer, operation, [*shown, *hidden])


def _print_types(printer: Printer, operation: BufferOperation, type_: Attribute) -> None:
    """Prints ` : type`, with the pointer's type before it where the release has that."""
    printer.print_string(" : ")
    if release_of(printer) >= V3_9:
        printer.print_attribute(operation.ptr.type)
        printer.print_string(" -> ")
    printer.print_attribute(type_)


def _contiguity(count: int) -> IntegerAttr | None:
    return None if count == 1 else IntegerAttr(count, i32)


@op_definition
class BufferLoadOp(BufferOperation):
    """What is in memory at offsets; where the mask is false `other`, or 0 without it.

    ```
    %x = amdg.buffer_load %p[%o], %mask, %other {contiguity = 4 : i32}
      : !tt.ptr<f32> -> tensor<1024xf32, #line>
    ```
    """

    name = "amdg.buffer_load"

    ptr = operand_def(SCALAR_POINTER)
    offsets = operand_def(TENSOR)
    stride = opt_operand_def(I32)
    mask = opt_operand_def(BOOL)
    other = opt_operand_def(TENSOR)
    cachePolicy = opt_prop_def()  # noqa: N815
    contiguity = opt_prop_def(I32_NUMBER)
    result = result_def(TENSOR)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        ptr: Operand,
        offsets: Operand,
        mask: Operand | None = None,
        other: Operand | None = None,
        *,
        stride: Operand | None = None,
        policy: CachePolicyAttr | None = None,
        contiguity: int = 1,
    ) -> None:
        pointer = SSAValue.get(ptr).type
        assert isinstance(pointer, PointerType)
        super().__init__(
            operands=[ptr, offsets, stride, mask, other],
            properties={"cachePolicy": policy, "contiguity": _contiguity(contiguity)},
            result_types=[with_element(SSAValue.get(offsets).type, pointer.pointee)],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        place = _parse_place(parser)
        more = parse_more_operands(parser, 2)
        properties = parse_cache_clauses(parser)
        stride = parse_optional_value(parser, "stride")
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        pointer, type_ = _parse_types(parser)
        values = _resolve(parser, [*place, *more], _types_of(pointer, type_))
        return cls.build(
            operands=[values[0], values[1], _stride(parser, stride), values[2:3], values[3:]],
            properties={**properties, **given},
            attributes=attributes,
            result_types=[type_],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_place(printer, self)
        _print_more(printer, [self.mask, self.other])
        _print_cache(printer, self)
        _print_stride(printer, self.stride)
        _print_rest(printer, self)
        _print_types(printer, self, self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        if self.other is not None and self.mask is None:
            raise VerifyException("other is given without a mask; it is what masked elements are")
        verify_type("the result", self.result.type, self.accessed)
        if self.other is not None:
            verify_type("other", self.other.type, self.accessed)


def _types_of(pointer: Attribute, type_: Attribute) -> list[Attribute]:
    """The types of a pointer, offsets, a mask and other values."""
    return [pointer, with_element(type_, i32), with_element(type_, i1), type_]


@op_definition
class BufferLoadToLocalOp(BufferOperation):
    """Copies what is in memory at offsets to local memory.

    ```
    %t = amdg.buffer_load_to_local %p[%o] mask = %mask into %m
      : !tt.ptr<f16>[tensor<8x8xi32, #blocked>]  -> <8x8xf16, #shared, #smem, mutable>
    ```
    """

    name = "amdg.buffer_load_to_local"

    dest = operand_def(MEMDESC)
    ptr = operand_def(SCALAR_POINTER)
    offsets = operand_def(TENSOR)
    mask = opt_operand_def(BOOL)
    other = opt_operand_def(TENSOR)
    stride = opt_operand_def(I32)
    cachePolicy = opt_prop_def()  # noqa: N815
    contiguity = opt_prop_def(I32_NUMBER)
    token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        dest: Operand,
        ptr: Operand,
        offsets: Operand,
        mask: Operand | None = None,
        other: Operand | None = None,
        *,
        stride: Operand | None = None,
        policy: CachePolicyAttr | None = None,
        contiguity: int = 1,
    ) -> None:
        super().__init__(
            operands=[dest, ptr, offsets, mask, other, stride],
            properties={"cachePolicy": policy, "contiguity": _contiguity(contiguity)},
            result_types=[AsyncTokenType()],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        place = _parse_place(parser)
        mask = parse_optional_value(parser, "mask")
        other = parse_optional_value(parser, "other")
        stride = parse_optional_value(parser, "stride")
        properties = parse_cache_clauses(parser)
        parser.parse_keyword("into")
        dest = parser.parse_unresolved_operand()
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        pointer = parse_short_type(parser, PointerType)
        with parser.in_square_brackets():
            offsets = parser.parse_type()
        type_ = None if other is None else parser.parse_type()
        parser.parse_punctuation("->")
        memory = parse_short_type(parser, MemDescType)
        masks = with_element(offsets, i1)
        return cls.build(
            operands=[
                parser.resolve_operand(dest, memory),
                *_resolve(parser, place, [pointer, offsets]),
                [] if mask is None else [parser.resolve_operand(mask, masks)],
                [] if other is None or type_ is None else [parser.resolve_operand(other, type_)],
                _stride(parser, stride),
            ],
            properties={**properties, **given},
            attributes=attributes,
            result_types=[AsyncTokenType()],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        _print_place(printer, self)
        for word, value in (("mask", self.mask), ("other", self.other), ("stride", self.stride)):
            if value is not None:
                printer.print_string(f" {word} =")
                print_values(printer, [value])
        _print_cache(printer, self)
        printer.print_string(" into")
        print_values(printer, [self.dest])
        _print_rest(printer, self)
        printer.print_string(" : ")
        if release_of(printer) >= V3_9:
            printer.print_attribute(self.ptr.type)
        else:
            print_short_type(printer, self.ptr.type)
        with printer.in_square_brackets():
            printer.print_attribute(self.offsets.type)
        printer.print_string(" ")
        if self.other is not None:
            printer.print_attribute(self.other.type)
        printer.print_string(" -> ")
        print_short_type(printer, self.dest.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        memory = memdesc_of(self.dest.type)
        verify_mutable(memory)
        if memory.element_type != element_of(self.accessed):
            raise VerifyException(
                f"dest is {memory}, but the pointer is {self.ptr.type}; they must have the same "
                "elements"
            )
        if self.other is not None:
            verify_type("other", self.other.type, self.accessed)


@op_definition
class BufferStoreOp(BufferOperation):
    """Writes values to memory at offsets where the mask, if any, is true.

    ```
    amdg.buffer_store %x, %p[%o], %mask : !tt.ptr<f32> -> tensor<1024xf32, #line>
    ```
    """

    name = "amdg.buffer_store"

    value = operand_def(TENSOR)
    ptr = operand_def(SCALAR_POINTER)
    offsets = operand_def(TENSOR)
    stride = opt_operand_def(I32)
    mask = opt_operand_def(BOOL)
    cachePolicy = opt_prop_def()  # noqa: N815
    contiguity = opt_prop_def(I32_NUMBER)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        value: Operand,
        ptr: Operand,
        offsets: Operand,
        mask: Operand | None = None,
        *,
        stride: Operand | None = None,
        policy: CachePolicyAttr | None = None,
        contiguity: int = 1,
    ) -> None:
        super().__init__(
            operands=[value, ptr, offsets, stride, mask],
            properties={"cachePolicy": policy, "contiguity": _contiguity(contiguity)},
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        place = _parse_place(parser)
        more = parse_more_operands(parser, 1)
        properties = parse_cache_clauses(parser)
        stride = parse_optional_value(parser, "stride")
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        pointer, type_ = _parse_types(parser)
        values = _resolve(parser, [*place, *more], _types_of(pointer, type_))
        return cls.build(
            operands=[
                parser.resolve_operand(value, type_),
                values[0],
                values[1],
                _stride(parser, stride),
                values[2:],
            ],
            properties={**properties, **given},
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.value])
        printer.print_string(", ")
        _print_place(printer, self)
        _print_more(printer, [self.mask])
        _print_cache(printer, self)
        _print_stride(printer, self.stride)
        _print_rest(printer, self)
        _print_types(printer, self, self.value.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_type("value", self.value.type, self.accessed)


class BufferAtomicOperation(BufferOperation, ABC):
    """An access that other programs see as a whole."""

    sem = prop_def(I32_NUMBER)
    scope = prop_def(I32_NUMBER)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(MemSemantic, "sem", self.sem)
        verify_member(MemSyncScope, "scope", self.scope)
        if self.scope.value.data == MemSyncScope.SYS:
            raise VerifyException(
                "scope is sys, which Triton cannot compile for buffers; expected gpu or cta, or "
                "use "
                "tt.atomic_rmw"
            )


@op_definition
class BufferAtomicRMWOp(BufferAtomicOperation):
    """Updates memory at offsets where the mask is true, and gives what was there before.

    ```
    %old = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %x, %p[%o], %mask
      : !tt.ptr<f32> -> tensor<1024xf32, #line>
    ```
    """

    name = "amdg.buffer_atomic_rmw"

    atomic_rmw_op = prop_def(I32_NUMBER)
    ptr = operand_def(SCALAR_POINTER)
    offsets = operand_def(TENSOR)
    value = operand_def(TENSOR)
    stride = opt_operand_def(I32)
    sem = prop_def(I32_NUMBER)
    scope = prop_def(I32_NUMBER)
    mask = opt_operand_def(BOOL)
    result = result_def(TENSOR)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        update: RMWOp,
        ptr: Operand,
        offsets: Operand,
        value: Operand,
        mask: Operand | None = None,
        *,
        stride: Operand | None = None,
        sem: MemSemantic = MemSemantic.ACQ_REL,
        scope: MemSyncScope = MemSyncScope.GPU,
    ) -> None:
        super().__init__(
            operands=[ptr, offsets, value, stride, mask],
            properties={
                "atomic_rmw_op": number(update),
                "sem": number(sem),
                "scope": number(scope),
            },
            result_types=[SSAValue.get(value).type],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        update = parse_member(parser, RMWOp)
        parser.parse_punctuation(",")
        order = parse_order(parser)
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        place = _parse_place(parser)
        more = parse_more_operands(parser, 1)
        stride = parse_optional_value(parser, "stride")
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        pointer, type_ = _parse_types(parser)
        values = _resolve(parser, [*place, *more], _types_of(pointer, type_))
        return cls.build(
            operands=[
                values[0],
                values[1],
                parser.resolve_operand(value, type_),
                _stride(parser, stride),
                values[2:],
            ],
            properties={"atomic_rmw_op": update, **order, **given},
            attributes=attributes,
            result_types=[type_],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_member(printer, RMWOp, self.atomic_rmw_op)
        printer.print_string(",")
        print_order(printer, self.sem, self.scope)
        print_values(printer, [self.value])
        printer.print_string(", ")
        _print_place(printer, self)
        _print_more(printer, [self.mask])
        _print_stride(printer, self.stride)
        _print_rest(printer, self, ["atomic_rmw_op", "sem", "scope"])
        _print_types(printer, self, self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(RMWOp, "atomic_rmw_op", self.atomic_rmw_op)
        verify_type("value", self.value.type, self.accessed)
        verify_type("the result", self.result.type, self.accessed)
        update, element = RMWOp(self.atomic_rmw_op.value.data), element_of(self.accessed)
        floats = (RMWOp.FADD, RMWOp.EXCH, RMWOp.MAX, RMWOp.MIN)
        if is_float(element) and update not in floats:
            raise VerifyException(
                f"{keyword(update)} is for integers, but the elements are {element}; expected one "
                f"of {', '.join(map(keyword, floats))}"
            )
        if is_integer(element) and update is RMWOp.FADD:
            raise VerifyException(f"fadd is for floats, but the elements are {element}; use add")
        if getattr(element, "bitwidth", 64) < 16:
            raise VerifyException(
                f"the elements are {element}; buffers update elements of 16 bits or more"
            )


@op_definition
class BufferAtomicCASOp(BufferAtomicOperation):
    """Writes `val` where memory at offsets holds `cmp`, and gives what was there before.

    ```
    %old = amdg.buffer_atomic_cas acq_rel, gpu, %cmp, %val, %p[%o]
      : !tt.ptr<i32> -> tensor<1024xi32, #line>
    ```
    """

    name = "amdg.buffer_atomic_cas"
    SINCE: ClassVar[Release] = V3_5

    ptr = operand_def(SCALAR_POINTER)
    offsets = operand_def(TENSOR)
    cmp = operand_def(TENSOR)
    val = operand_def(TENSOR)
    stride = opt_operand_def(I32)
    sem = prop_def(I32_NUMBER)
    scope = prop_def(I32_NUMBER)
    result = result_def(TENSOR)

    def __init__(
        self,
        ptr: Operand,
        offsets: Operand,
        cmp: Operand,
        val: Operand,
        *,
        stride: Operand | None = None,
        sem: MemSemantic = MemSemantic.ACQ_REL,
        scope: MemSyncScope = MemSyncScope.GPU,
    ) -> None:
        super().__init__(
            operands=[ptr, offsets, cmp, val, stride],
            properties={"sem": number(sem), "scope": number(scope)},
            result_types=[SSAValue.get(val).type],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        order = parse_order(parser)
        cmp = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        val = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        place = _parse_place(parser)
        stride = parse_optional_value(parser, "stride")
        given, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        pointer, type_ = _parse_types(parser)
        return cls.build(
            operands=[
                *_resolve(parser, place, _types_of(pointer, type_)),
                *_resolve(parser, [cmp, val], [type_, type_]),
                _stride(parser, stride),
            ],
            properties={**order, **given},
            attributes=attributes,
            result_types=[type_],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_order(printer, self.sem, self.scope)
        print_values(printer, [self.cmp, self.val])
        printer.print_string(", ")
        _print_place(printer, self)
        _print_stride(printer, self.stride)
        _print_rest(printer, self, ["sem", "scope"])
        _print_types(printer, self, self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        for name, value in (("cmp", self.cmp), ("val", self.val), ("the result", self.result)):
            verify_type(name, value.type, self.accessed)


OPERATIONS: list[type[Operation]] = [
    BufferLoadOp,
    BufferLoadToLocalOp,
    BufferStoreOp,
    BufferAtomicRMWOp,
    BufferAtomicCASOp,
]
"""Every operation of this module."""
