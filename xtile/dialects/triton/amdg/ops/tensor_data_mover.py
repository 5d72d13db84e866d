"""Blocks of tensors that gfx1250's tensor data mover copies by descriptors.

Until 3.7 a copy says which block it is; from 3.8 on `amdg.update_tensor_descriptor` moves the
descriptor there.

Source: Triton 3.6 to 3.9, `third_party/amd`, `TritonAMDGPUOps.td` and `Dialect.cpp`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Self, cast

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, UnitAttr, i1, i16, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    BaseAttr,
    SameVariadicOperandSize,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import (
    parse_indices,
    print_attributes,
    print_indices,
    print_types,
    print_values,
    split_properties,
)
from xtile.dialects.triton.encodings.shared import (
    PaddedSharedEncodingAttr,
    PartitionedSharedEncodingAttr,
    SwizzledSharedEncodingAttr,
)
from xtile.dialects.triton.operation import Operand, TritonOperation, element_of, shape_of
from xtile.dialects.triton.tt.constraints import BOOL, I32, TENSOR
from xtile.dialects.triton.tt.types import TensorDescType
from xtile.dialects.triton.ttg.constraints import (
    I32_NUMBER,
    I32_NUMBERS,
    MEMDESC,
    TOKEN,
    memdesc_of,
)
from xtile.dialects.triton.ttg.types import AsyncTokenType
from xtile.dialects.triton.versions import V3_6, V3_7, V3_8, V3_9, Release

_DESCRIPTOR = BaseAttr(TensorDescType)
_ROWS = (i16, i32)
"""The types of rows' numbers: an instruction takes 16 of the first or 8 of the second."""


class BlockCopy(TritonOperation, ABC):
    """A copy between local memory and a block of a tensor that a descriptor names."""

    desc = operand_def(_DESCRIPTOR)
    barrier = opt_operand_def(MEMDESC)

    @property
    @abstractmethod
    def memory(self) -> SSAValue:
        """The local memory."""

    @override
    def verify_(self) -> None:
        super().verify_()
        _verify_block(self.desc.type, self.memory.type)


def _verify_block(descriptor: Attribute, type_: Attribute) -> None:
    assert isinstance(descriptor, TensorDescType)
    memory = memdesc_of(type_)
    block = descriptor.block_type
    if memory.get_shape() != block.get_shape() or memory.element_type != block.element_type:
        raise VerifyException(
            f"the descriptor is {descriptor} and the memory {memory}; they must have the same "
            "shape and the same elements"
        )
    encoding = memory.encoding
    if isinstance(encoding, PartitionedSharedEncodingAttr):
        encoding = encoding.partition_layout
    is_plain = isinstance(encoding, SwizzledSharedEncodingAttr) and encoding.max_phase.data == 1
    if not is_plain and not isinstance(encoding, PaddedSharedEncodingAttr):
        raise VerifyException(
            f"the memory is {memory}; the tensor data mover takes rows after each other, padded or "
            "not, and exchanges nothing"
        )


class IndexedCopy(BlockCopy, ABC):
    """A copy that says until 3.7 which block it is of."""

    indices = var_operand_def(I32)

    @override
    def lost_in(self, release: Release) -> str | None:
        if release >= V3_8 and self.indices:
            return (
                f"{self.name} has indices until Triton 3.7; from 3.8 on "
                "amdg.update_tensor_descriptor has them"
            )
        if release < V3_8 and not self.indices:
            return f"{self.name} of Triton {release} has indices, and 3.8 and later have none"
        if release < V3_7 and self.barrier is not None:
            return f"{self.name} of Triton {release} has no barrier"
        return super().lost_in(release)

    @override
    def verify_(self) -> None:
        super().verify_()
        rank = len(cast(TensorDescType, self.desc.type).get_shape())
        if self.indices and len(self.indices) != rank:
            raise VerifyException(
                f"there are {len(self.indices)} indices; the descriptor has {rank} dimensions"
            )


@op_definition
class UpdateTensorDescriptorOp(TritonOperation):
    """A descriptor whose block is elsewhere, that ends elsewhere, or that is used on a condition.

    ```
    %d1 = amdg.update_tensor_descriptor %d add_offsets = [%i, %j] pred = %p {clamp_bounds}
      : !tt.tensordesc<64x64xf16, #shared>
    ```
    """

    name = "amdg.update_tensor_descriptor"
    SINCE: ClassVar[Release] = V3_8

    desc = operand_def(_DESCRIPTOR)
    add_offsets = var_operand_def(I32)
    set_bounds = var_operand_def(I32)
    pred = opt_operand_def(I32)
    clamp_bounds = opt_prop_def(UnitAttr)
    result = result_def(_DESCRIPTOR)

    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        desc: Operand,
        add_offsets: Sequence[Operand] = (),
        set_bounds: Sequence[Operand] = (),
        pred: Operand | None = None,
        *,
        clamp_bounds: bool = False,
    ) -> None:
        super().__init__(
            operands=[desc, add_offsets, set_bounds, pred],
            properties={"clamp_bounds": UnitAttr() if clamp_bounds else None},
            result_types=[SSAValue.get(desc).type],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        given: dict[str, list[UnresolvedOperand]] = {}
        words = ["add_offsets", "set_bounds", "pred"]
        while (word := parser.parse_optional_keyword_in(words)) is not None:
            words.remove(word)
            parser.parse_punctuation("=")
            is_one = word == "pred"
            given[word] = [parser.parse_unresolved_operand()] if is_one else parse_indices(parser)
        properties, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        numbers = [
            [parser.resolve_operand(value, i32) for value in given.get(name, ())]
            for name in ("add_offsets", "set_bounds", "pred")
        ]
        return cls.build(
            operands=[parser.resolve_operand(desc, type_), *numbers],
            properties=properties,
            attributes=attributes,
            result_types=[type_],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.desc])
        for name, values in (("add_offsets", self.add_offsets), ("set_bounds", self.set_bounds)):
            if values:
                printer.print_string(f" {name} = ")
                print_indices(printer, values)
        if self.pred is not None:
            printer.print_string(" pred =")
            print_values(printer, [self.pred])
        print_attributes(printer, self)
        print_types(printer, [self.desc.type])

    @override
    def verify_(self) -> None:
        super().verify_()
        rank = len(cast(TensorDescType, self.desc.type).get_shape())
        for name, values in (("add_offsets", self.add_offsets), ("set_bounds", self.set_bounds)):
            if values and len(values) != rank:
                raise VerifyException(
                    f"{name} has {len(values)} numbers; the descriptor has {rank} dimensions"
                )
        if not self.add_offsets and not self.set_bounds and self.pred is None:
            raise VerifyException("nothing is updated; give add_offsets, set_bounds or pred")
        if self.clamp_bounds is not None and (not self.add_offsets or self.set_bounds):
            raise VerifyException("clamp_bounds is for add_offsets without set_bounds")


def _parse_barrier(parser: Parser) -> UnresolvedOperand | None:
    """Reads `, barrier = %b`, if it is there."""
    if parser.parse_optional_punctuation(",") is None:
        return None
    parser.parse_keyword("barrier")
    parser.parse_punctuation("=")
    return parser.parse_unresolved_operand()


def _parse_types(
    parser: Parser, before: int, barrier: UnresolvedOperand | None
) -> tuple[list[Attribute], list[SSAValue], Attribute]:
    """Reads ` : a, b, barrier -> c`: the types before the barrier's, the barrier, the last type."""
    parser.parse_punctuation(":")
    types: list[Attribute] = [parser.parse_type()]
    for _ in range(before - 1):
        parser.parse_punctuation(",")
        types.append(parser.parse_type())
    resolved: list[SSAValue] = []
    if barrier is not None:
        parser.parse_punctuation(",")
        resolved = [parser.resolve_operand(barrier, parser.parse_type())]
    parser.parse_punctuation("->")
    return types, resolved, parser.parse_type()


def _print_end(
    printer: Printer,
    operation: BlockCopy,
    types: Sequence[Attribute],
    last: Attribute,
) -> None:
    """Prints the barrier, the dictionary and the types."""
    barrier = operation.barrier
    if barrier is not None:
        printer.print_string(", barrier =")
        print_values(printer, [barrier])
    print_attributes(printer, operation)
    print_types(printer, [*types, *([] if barrier is None else [barrier.type])])
    printer.print_string(" -> ")
    printer.print_attribute(last)


@op_definition
class AsyncTDMCopyGlobalToLocalOp(IndexedCopy):
    """Copies a block to local memory; until 3.7 where a condition holds.

    `warp_used_hint` has a bit for each warp that takes part.

    ```
    %t = amdg.async_tdm_copy_global_to_local %d into %m
      : !tt.tensordesc<64x64xf16, #shared> -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ```
    """

    name = "amdg.async_tdm_copy_global_to_local"
    SINCE: ClassVar[Release] = V3_7

    desc = operand_def(_DESCRIPTOR)
    indices = var_operand_def(I32)
    result = operand_def(MEMDESC)
    pred = opt_operand_def(I32)
    barrier = opt_operand_def(MEMDESC)
    cache = opt_prop_def(I32_NUMBER)
    warp_used_hint = opt_prop_def(I32_NUMBER)
    token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        desc: Operand,
        result: Operand,
        barrier: Operand | None = None,
        hint: int | None = None,
    ) -> None:
        super().__init__(
            operands=[desc, [], result, None, barrier],
            properties={"warp_used_hint": None if hint is None else IntegerAttr(hint, i32)},
            result_types=[AsyncTokenType()],
        )

    @property
    @override
    def memory(self) -> SSAValue:
        return self.result

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        is_old = parser.parse_optional_punctuation("[") is not None
        indices: list[UnresolvedOperand] = []
        predicate = None
        if is_old:
            indices = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, parser.parse_unresolved_operand
            )
            parser.parse_punctuation("]")
        parser.parse_keyword("into")
        result = parser.parse_unresolved_operand()
        if is_old:
            parser.parse_punctuation(",")
            predicate = parser.parse_unresolved_operand()
        barrier = _parse_barrier(parser)
        properties, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        (type_,), barriers, memory = _parse_types(parser, 1, barrier)
        return cls.build(
            operands=[
                parser.resolve_operand(desc, type_),
                [parser.resolve_operand(index, i32) for index in indices],
                parser.resolve_operand(result, memory),
                [] if predicate is None else [parser.resolve_operand(predicate, i32)],
                barriers,
            ],
            properties=properties,
            attributes=attributes,
            result_types=[AsyncTokenType()],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.desc])
        if self.indices:
            print_indices(printer, self.indices)
        printer.print_string(" into")
        print_values(printer, [self.result])
        if self.pred is not None:
            printer.print_string(",")
            print_values(printer, [self.pred])
        _print_end(printer, self, [self.desc.type], self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        if bool(self.indices) != (self.pred is not None):
            raise VerifyException("indices and pred are given together, as until Triton 3.7")


@op_definition
class AsyncTDMCopyLocalToGlobalOp(IndexedCopy):
    """Copies local memory to a block; the token is there from 3.9 on.

    ```
    %t = amdg.async_tdm_copy_local_to_global %d from %m
      : !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> !tt.tensordesc<64x64xf16, #shared>
    ```
    """

    name = "amdg.async_tdm_copy_local_to_global"
    SINCE: ClassVar[Release] = V3_6

    desc = operand_def(_DESCRIPTOR)
    indices = var_operand_def(I32)
    src = operand_def(MEMDESC)
    barrier = opt_operand_def(MEMDESC)
    cache = opt_prop_def(I32_NUMBER)
    token = result_def(TOKEN)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(self, desc: Operand, src: Operand, barrier: Operand | None = None) -> None:
        super().__init__(operands=[desc, [], src, barrier], result_types=[AsyncTokenType()])

    @property
    @override
    def memory(self) -> SSAValue:
        return self.src

    @override
    def results_in(self, release: Release) -> int:
        return 1 if release >= V3_9 else 0

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        indices = (
            parser.parse_optional_comma_separated_list(
                parser.Delimiter.SQUARE, parser.parse_unresolved_operand
            )
            or []
        )
        parser.parse_keyword("from")
        src = parser.parse_unresolved_operand()
        barrier = _parse_barrier(parser)
        properties, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        (memory,), barriers, type_ = _parse_types(parser, 1, barrier)
        return cls.build(
            operands=[
                parser.resolve_operand(desc, type_),
                [parser.resolve_operand(index, i32) for index in indices],
                parser.resolve_operand(src, memory),
                barriers,
            ],
            properties=properties,
            attributes=attributes,
            result_types=[AsyncTokenType()],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.desc])
        if self.indices:
            print_indices(printer, self.indices)
        printer.print_string(" from")
        print_values(printer, [self.src])
        _print_end(printer, self, [self.src.type], self.desc.type)


class RowCopy(BlockCopy, ABC):
    """A copy of rows that a tensor names; the descriptor's block is one of all of them."""

    WORD: ClassVar[str]

    @property
    def rows(self) -> SSAValue:
        """The numbers of the rows."""
        return self.operands[1]

    @property
    @override
    def memory(self) -> SSAValue:
        return self.operands[2]

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        desc = parser.parse_unresolved_operand()
        (rows,) = parse_indices(parser)
        parser.parse_keyword(cls.WORD)
        memory = parser.parse_unresolved_operand()
        barrier = _parse_barrier(parser)
        properties, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        (rows_type, memory_type), barriers, type_ = _parse_types(parser, 2, barrier)
        return cls.build(
            operands=[
                parser.resolve_operand(desc, type_),
                parser.resolve_operand(rows, rows_type),
                parser.resolve_operand(memory, memory_type),
                barriers,
            ],
            properties=properties,
            attributes=attributes,
            result_types=[AsyncTokenType()],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.desc])
        print_indices(printer, [self.rows])
        printer.print_string(f" {self.WORD}")
        print_values(printer, [self.memory])
        _print_end(printer, self, [self.rows.type, self.memory.type], self.desc.type)

    @override
    def verify_(self) -> None:
        if len(cast(TensorDescType, self.desc.type).get_shape()) != 2:
            raise VerifyException(f"the descriptor is {self.desc.type}; rows are of 2 dimensions")
        super().verify_()
        if element_of(self.rows.type) not in _ROWS or len(shape_of(self.rows.type)) != 1:
            raise VerifyException(
                f"the rows are {self.rows.type}; expected one dimension of i16 or i32"
            )


@op_definition
class AsyncTDMGatherOp(RowCopy):
    """Copies rows to local memory.

    ```
    %t = amdg.async_tdm_gather %d[%rows] to %m
      : tensor<64xi32>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      -> !tt.tensordesc<64x64xf16, #shared>
    ```
    """

    name = "amdg.async_tdm_gather"
    SINCE: ClassVar[Release] = V3_8
    WORD: ClassVar[str] = "to"

    desc = operand_def(_DESCRIPTOR)
    src_row_indices = operand_def(TENSOR)
    dst = operand_def(MEMDESC)
    barrier = opt_operand_def(MEMDESC)
    token = result_def(TOKEN)

    def __init__(
        self, desc: Operand, rows: Operand, dst: Operand, barrier: Operand | None = None
    ) -> None:
        super().__init__(operands=[desc, rows, dst, barrier], result_types=[AsyncTokenType()])


@op_definition
class AsyncTDMScatterOp(RowCopy):
    """Copies local memory to rows.

    ```
    %t = amdg.async_tdm_scatter %d[%rows] from %m
      : tensor<64xi32>, !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
      -> !tt.tensordesc<64x64xf16, #shared>
    ```
    """

    name = "amdg.async_tdm_scatter"
    SINCE: ClassVar[Release] = V3_8
    WORD: ClassVar[str] = "from"

    desc = operand_def(_DESCRIPTOR)
    dst_row_indices = operand_def(TENSOR)
    src = operand_def(MEMDESC)
    barrier = opt_operand_def(MEMDESC)
    retToken = result_def(TOKEN)  # noqa: N815

    def __init__(
        self, desc: Operand, rows: Operand, src: Operand, barrier: Operand | None = None
    ) -> None:
        super().__init__(operands=[desc, rows, src, barrier], result_types=[AsyncTokenType()])


@op_definition
class AsyncTDMFusedCopyGlobalToLocalOp(TritonOperation):
    """Copies 2 to 4 blocks at once, each by warps of its own.

    ```
    %t = amdg.async_tdm_fused_copy_global_to_local %d, %e into %m, %n
      {warp_used_hints = array<i32: 3, 12>}
      : !tt.tensordesc<64x64xf16, #shared>, !tt.tensordesc<64x64xf16, #shared>
      -> !ttg.memdesc<64x64xf16, #shared, #smem, mutable>,
        !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
    ```
    """

    name = "amdg.async_tdm_fused_copy_global_to_local"
    SINCE: ClassVar[Release] = V3_9

    descs = var_operand_def(_DESCRIPTOR)
    dests = var_operand_def(MEMDESC)
    warp_used_hints = prop_def(I32_NUMBERS)
    cache = opt_prop_def(I32_NUMBER)
    token = result_def(TOKEN)

    irdl_options = (SameVariadicOperandSize(),)
    assembly_format = "$descs `into` $dests attr-dict `:` type($descs) `->` type($dests)"

    def __init__(
        self, descs: Sequence[Operand], dests: Sequence[Operand], hints: Sequence[int]
    ) -> None:
        super().__init__(
            operands=[descs, dests],
            properties={"warp_used_hints": DenseArrayBase.from_list(i32, hints)},
            result_types=[AsyncTokenType()],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        hints = [int(hint) for hint in self.warp_used_hints.get_values()]
        if not 2 <= len(self.descs) <= 4 or len(hints) != len(self.descs):
            raise VerifyException(
                f"there are {len(self.descs)} descriptors and {len(hints)} numbers in "
                "warp_used_hints; there are 2 to 4 of each"
            )
        for desc, dest in zip(self.descs, self.dests, strict=True):
            _verify_block(desc.type, dest.type)
        taken = 0
        for hint in hints:
            if hint & taken or hint == 0:
                raise VerifyException(
                    f"warp_used_hints is {hints}; each copy has warps, and no two have the same"
                )
            taken |= hint


@op_definition
class TDMPrefetchOp(TritonOperation):
    """Brings a block into the second cache.

    ```
    amdg.tdm_prefetch %d[%i, %j], %p, speculative = true : !tt.tensordesc<64x64xf16, #shared>
    ```
    """

    name = "amdg.tdm_prefetch"
    SINCE: ClassVar[Release] = V3_7

    desc = operand_def(_DESCRIPTOR)
    indices = var_operand_def(I32)
    pred = operand_def(BOOL)
    speculative = prop_def(IntegerAttr)
    returnOffsets = opt_prop_def(UnitAttr)  # noqa: N815
    maybeOffsets = opt_result_def(TENSOR)  # noqa: N815

    def __init__(
        self, desc: Operand, indices: Sequence[Operand], pred: Operand, *, speculative: bool
    ) -> None:
        super().__init__(
            operands=[desc, indices, pred],
            properties={"speculative": BoolAttr.from_bool(speculative)},
            result_types=[[]],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        desc, indices = parser.parse_unresolved_operand(), parse_indices(parser)
        parser.parse_punctuation(",")
        predicate = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        parser.parse_keyword("speculative")
        parser.parse_punctuation("=")
        speculative = parser.parse_boolean()
        has_offsets = parser.parse_optional_keyword("returnOffsets") is not None
        properties, attributes = split_properties(cls, parser.parse_optional_attr_dict())
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        results: list[Attribute] = []
        if has_offsets:
            properties["returnOffsets"] = UnitAttr()
            parser.parse_punctuation("->")
            results.append(parser.parse_type())
        properties["speculative"] = BoolAttr.from_bool(speculative)
        return cls.build(
            operands=[
                parser.resolve_operand(desc, type_),
                [parser.resolve_operand(index, i32) for index in indices],
                parser.resolve_operand(predicate, i1),
            ],
            properties=properties,
            attributes=attributes,
            result_types=[results],
        )

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, [self.desc])
        print_indices(printer, self.indices)
        printer.print_string(",")
        print_values(printer, [self.pred])
        word = "true" if self.speculative.value.data else "false"
        printer.print_string(f", speculative = {word}")
        if self.returnOffsets is not None:
            printer.print_string(" returnOffsets")
        print_attributes(printer, self, ["speculative", "returnOffsets"])
        print_types(printer, [self.desc.type])
        if self.maybeOffsets is not None:
            printer.print_string(" -> ")
            printer.print_attribute(self.maybeOffsets.type)


OPERATIONS: list[type[Operation]] = [
    UpdateTensorDescriptorOp,
    AsyncTDMCopyGlobalToLocalOp,
    AsyncTDMCopyLocalToGlobalOp,
    AsyncTDMGatherOp,
    AsyncTDMScatterOp,
    AsyncTDMFusedCopyGlobalToLocalOp,
    TDMPrefetchOp,
]
"""Every operation of this module."""
