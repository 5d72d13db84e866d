"""Marks of the pipeliner, memory of a program's own, and assembly.

Source: Triton 3.9, `TritonGPUOps.td`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from typing_extensions import override
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, UnitAttr, i1, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.assembly import print_attributes, print_types, print_values
from xtile.dialects.triton.operation import Operand, TritonOperation, verify_type
from xtile.dialects.triton.tt.constraints import SCALAR_POINTER
from xtile.dialects.triton.ttg.constraints import I32_NUMBER
from xtile.dialects.triton.ttg.types import MemDescType
from xtile.dialects.triton.versions import V3_9, Release


@op_definition
class PredicateStageOp(TritonOperation):
    """Whether a stage of a pipelined loop still has an iteration to do.

    ```
    %p = ttg.predicate_stage %iv, %ub, %step maxStage 2 stage 0 : i32 -> i1
    ```
    """

    name = "ttg.predicate_stage"

    iv = operand_def(AnyAttr())
    ub = operand_def(AnyAttr())
    step = operand_def(AnyAttr())
    maxStage = prop_def(I32_NUMBER)  # noqa: N815
    stage = prop_def(I32_NUMBER)
    result = result_def(i1)

    traits = traits_def(Pure())

    def __init__(self, iv: Operand, ub: Operand, step: Operand, max_stage: int, stage: int) -> None:
        super().__init__(
            operands=[iv, ub, step],
            properties={"maxStage": IntegerAttr(max_stage, i32), "stage": IntegerAttr(stage, i32)},
            result_types=[i1],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        values = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, parser.parse_unresolved_operand
        )
        parser.parse_keyword("maxStage")
        max_stage = parser.parse_integer()
        parser.parse_keyword("stage")
        stage = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position, type_ = parser.pos, parser.parse_type()
        parser.parse_punctuation("->")
        parser.parse_type()
        if len(values) != 3:
            parser.raise_error("expected three values: iv, ub and step", position, parser.pos)
        iv, ub, step = (parser.resolve_operand(value, type_) for value in values)
        made = cls(iv, ub, step, max_stage, stage)
        made.attributes.update(attributes)
        return made

    @override
    def print(self, printer: Printer) -> None:
        print_values(printer, self.operands)
        stages = self.maxStage.value.data, self.stage.value.data
        printer.print_string(f" maxStage {stages[0]} stage {stages[1]}")
        print_attributes(printer, self, ["maxStage", "stage"])
        print_types(printer, [self.iv.type])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    @override
    def verify_(self) -> None:
        super().verify_()
        for name, value in (("ub", self.ub), ("step", self.step)):
            verify_type(name, value.type, self.iv.type)


@op_definition
class MaskOp(TritonOperation):
    """Runs its region where a condition holds; else its results are unspecified.

    ```
    %y = "ttg.mask"(%p) ({
      ttg.mask.return %x : i32
    }) : (i1) -> i32
    ```
    """

    name = "ttg.mask"

    pred = operand_def(i1)
    result = var_result_def(AnyAttr())
    region = region_def("single_block")

    def __init__(self, pred: Operand, region: Region, result_types: Sequence[Attribute]) -> None:
        super().__init__(operands=[pred], regions=[region], result_types=[result_types])


@op_definition
class MaskReturnOp(TritonOperation):
    """Ends the region of `ttg.mask` with its results.

    ```
    %y = "ttg.mask"(%p) ({
      ttg.mask.return %x : i32
    }) : (i1) -> i32
    ```
    """

    name = "ttg.mask.return"

    result = var_operand_def(AnyAttr())

    traits = traits_def(Pure(), IsTerminator(), HasParent(MaskOp))
    assembly_format = "$result attr-dict `:` type($result)"

    def __init__(self, values: Sequence[Operand] = ()) -> None:
        super().__init__(operands=[values])


@op_definition
class GlobalScratchAllocOp(TritonOperation):
    """So many bytes of global memory that belong to the program.

    ```
    %p = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 64 : i32} : !tt.ptr<i8>
    ```
    """

    name = "ttg.global_scratch_alloc"

    nbytes = prop_def(I32_NUMBER)
    alignment = prop_def(I32_NUMBER)
    third_party_allocation = opt_prop_def(UnitAttr)
    shared_cluster_state = opt_prop_def(UnitAttr)
    result = result_def(SCALAR_POINTER)

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, nbytes: int, alignment: int, result_type: Attribute) -> None:
        super().__init__(
            properties={
                "nbytes": IntegerAttr(nbytes, i32),
                "alignment": IntegerAttr(alignment, i32),
            },
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        alignment = self.alignment.value.data
        if self.nbytes.value.data < 0 or alignment < 1 or alignment & (alignment - 1):
            raise VerifyException(
                f"nbytes is {self.nbytes.value.data} and alignment {alignment}; bytes are not "
                "negative, and an alignment is a power of two"
            )


@op_definition
class InlineAsmOp(TritonOperation):
    """Assembly that each thread runs once, on all elements that it holds.

    ```
    %y = ttg.inline_asm "v_mov_b32 $0, $1" {constraints = "=v,v", pure = true} %x
      : (tensor<64xi32, #line>) -> tensor<64xi32, #line>
    ```
    """

    name = "ttg.inline_asm"
    SINCE: ClassVar[Release] = V3_9

    asm_string = prop_def(StringAttr)
    constraints = prop_def(StringAttr)
    pure = prop_def(IntegerAttr.constr(i1))
    args = var_operand_def(AnyAttr())
    result = var_result_def(AnyAttr())

    assembly_format = "$asm_string attr-dict ($args^)? `:` functional-type($args, $result)"

    def __init__(
        self,
        asm_string: str,
        constraints: str,
        args: Sequence[Operand],
        result_types: Sequence[Attribute],
        *,
        pure: bool = False,
    ) -> None:
        super().__init__(
            operands=[args],
            properties={
                "asm_string": StringAttr(asm_string),
                "constraints": StringAttr(constraints),
                "pure": BoolAttr.from_bool(pure),
            },
            result_types=[result_types],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        if self.pure.value.data and any(_is_memory(value) for value in self.args):
            raise VerifyException("assembly that takes local memory is not pure; say pure = false")


def _is_memory(value: SSAValue) -> bool:
    return isinstance(value.type, MemDescType)


OPERATIONS: list[type[Operation]] = [
    PredicateStageOp,
    MaskOp,
    MaskReturnOp,
    GlobalScratchAllocOp,
    InlineAsmOp,
]
"""Every operation of this module."""
