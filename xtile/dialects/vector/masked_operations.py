"""The execution of operations under masks.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from typing_extensions import override
from xdsl.dialects import vector
from xdsl.dialects.builtin import i1
from xdsl.dialects.vector import ReductionOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.scf.assembly import parse_optional_results, print_optional_results
from xtile.dialects.shapes import vector_type, verify_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.gathers import GatherOp
from xtile.dialects.vector.products import OuterProductOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp, transfer_mask_type
from xtile.dialects.vector.types import (
    MASK,
    make_vector,
    mask_type,
)


@op_definition
class YieldOp(IRDLOperation):
    """Ends the region of another operation of this dialect, and gives its results.

    ```
    vector.yield %v : vector<8xf32>
    ```
    """

    name = "vector.yield"

    values = var_operand_def()

    traits = traits_def(Pure(), IsTerminator())

    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[values])


def _mask_of_contraction(operation: Operation) -> Attribute:
    return make_vector(i1, cast(ContractionOp, operation).iteration_sizes())


def _mask_of_operand(operation: Operation) -> Attribute:
    return mask_type(vector_type(operation.operands[0]))


def _mask_of_result(operation: Operation) -> Attribute:
    return mask_type(vector_type(operation.results[0]))


def _mask_of_transfer(operation: Operation) -> Attribute:
    transfer = cast(vector.TransferReadOp | vector.TransferWriteOp, operation)
    moved = transfer.results[0] if isinstance(transfer, TransferReadOp) else transfer.operands[0]
    return transfer_mask_type(vector_type(moved), transfer.permutation_map.data)


MASKABLE: dict[type[Operation], Callable[[Operation], Attribute]] = {
    ContractionOp: _mask_of_contraction,
    GatherOp: _mask_of_result,
    MultiDimReductionOp: _mask_of_operand,
    OuterProductOp: _mask_of_result,
    ReductionOp: _mask_of_operand,
    TransferReadOp: _mask_of_transfer,
    TransferWriteOp: _mask_of_transfer,
}
"""The operations that can be masked, with the type of the mask that each needs."""


@op_definition
class MaskOp(IRDLOperation):
    """Executes an operation only for the elements where a mask is true.

    The other elements of the result are those of `passthru`, if it is there.

    ```
    %r = vector.mask %m { vector.reduction <add>, %v : vector<8xi32> into i32 }
        : vector<8xi1> -> i32
    ```
    """

    name = "vector.mask"

    mask = operand_def(MASK)
    passthru = opt_operand_def()
    results_ = var_result_def()
    mask_region = region_def("single_block")

    @property
    def masked(self) -> Operation | None:
        """The operation that is masked; None if there is none."""
        first = self.mask_region.block.first_op
        return None if isinstance(first, YieldOp) else first

    @classmethod
    @override
    def parse(cls, parser: Parser) -> MaskOp:
        mask = parser.parse_unresolved_operand()
        passthru = None
        if parser.parse_optional_punctuation(",") is not None:
            passthru = parser.parse_unresolved_operand()
        region = parser.parse_region()
        _end_with_yield(region)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type = parser.parse_type()
        results = parse_optional_results(parser)
        if passthru is not None and not results:
            parser.raise_error(
                "what passes through needs a result: expected '-> type'", start, parser.pos
            )
        return cls.build(
            operands=[
                parser.resolve_operand(mask, type),
                None if passthru is None else parser.resolve_operand(passthru, results[0]),
            ],
            result_types=[results],
            regions=[region],
            attributes=attributes,
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(" { ")
        first = self.mask_region.block.first_op
        assert first is not None
        _print_without_results(printer, first)
        printer.print_string(" }")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.mask.type)
        print_optional_results(printer, self.results.types)

    @override
    def verify_(self) -> None:
        operations = list(self.mask_region.block.ops)
        end = operations[-1] if operations else None
        if not isinstance(end, YieldOp):
            raise VerifyException("expected a vector.yield at the end of the region")
        if len(operations) > 2:
            raise VerifyException(f"expected one operation to mask, got {len(operations) - 1}")
        if len(end.values) != len(self.results):
            raise VerifyException(
                f"expected a vector.yield of {len(self.results)} values, got {len(end.values)}"
            )
        if self.masked is not None:
            self._verify_masked(self.masked, end)

    def _verify_masked(self, masked: Operation, end: YieldOp) -> None:
        expected_mask = next(
            (of for kind, of in MASKABLE.items() if isinstance(masked, kind)), None
        )
        if expected_mask is None:
            raise VerifyException(f"'{masked.name}' cannot be masked")
        if tuple(end.values) != tuple(masked.results):
            raise VerifyException("the vector.yield must give the results of the masked operation")
        if tuple(self.results.types) != tuple(masked.results.types):
            raise VerifyException("the results must have the types of the masked operation's")
        verify_type(self.mask.type, expected_mask(masked), "the mask")
        if self.passthru is None:
            return
        if not isinstance(masked, TransferReadOp):
            raise VerifyException(f"nothing can pass through '{masked.name}'")
        verify_type(self.passthru.type, masked.results[0].type, "what passes through")


def _end_with_yield(region: Region) -> None:
    """Adds the vector.yield that the text leaves out, of what the masked operation results in."""
    if not region.blocks:
        region.add_block(Block())
    block = region.blocks[0]
    operations = list(block.ops)
    if operations and isinstance(operations[-1], YieldOp):
        return
    block.add_op(YieldOp(*(operations[0].results if len(operations) == 1 else ())))


def _print_without_results(printer: Printer, operation: Operation) -> None:
    if type(operation).print is Operation.print:
        printer.print_string_literal(operation.name)
        printer.print_op_with_default_format(operation)
    else:
        printer.print_string(operation.name)
        operation.print(printer)
