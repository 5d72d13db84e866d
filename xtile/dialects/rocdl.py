"""The `rocdl` dialect: what AMD's GPUs have beside other dialects, as far as Triton's text has it.

Source: MLIR (LLVM 22), `Dialect/LLVMIR/ROCDLOps.td`.
"""

from __future__ import annotations

from typing import Self

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, i16, i32
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from xtile.dialects.compilation import ROCDLTargetAttr
from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.printer import release_of
from xtile.dialects.triton.versions import V3_9


@op_definition
class SetPrioOp(IRDLOperation):
    """How soon the instructions of a wave are issued, from 0 to 3.

    ```
    rocdl.s.setprio 1
    ```
    """

    name = "rocdl.s.setprio"

    priority = prop_def(IntegerAttr.constr(i16))

    def __init__(self, priority: int) -> None:
        super().__init__(properties={"priority": IntegerAttr(priority, i16)})

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        operation = cls(parser.parse_integer(allow_boolean=False))
        operation.attributes.update(parser.parse_optional_attr_dict())
        return operation

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.priority.value.data}")
        printer.print_op_attributes(self.attributes)


_GROUPS = (
    "non_mem_non_sideeffect",
    "valu",
    "salu",
    "mfma_wmma",
    "all_vmem",
    "vmem_read",
    "vmem_write",
    "all_ds",
    "ds_read",
    "ds_write",
    "transcendentals",
)
"""The groups of instructions, each a bit of a mask."""


@op_definition
class SchedBarrierOp(IRDLOperation):
    """What instructions may be moved across: groups of them, or none.

    Before Triton 3.9 the groups are a number in the text.

    ```
    rocdl.sched.barrier none
    ```
    """

    name = "rocdl.sched.barrier"

    mask = prop_def(IntegerAttr.constr(i32))

    def __init__(self, mask: int) -> None:
        super().__init__(properties={"mask": IntegerAttr(mask, i32)})

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        mask = parser.parse_optional_integer(allow_boolean=False)
        if mask is None:
            mask = _parse_group(parser)
            while parser.parse_optional_punctuation("|") is not None:
                mask |= _parse_group(parser)
        operation = cls(mask)
        operation.attributes.update(parser.parse_optional_attr_dict())
        return operation

    @override
    def print(self, printer: Printer) -> None:
        mask = self.mask.value.data
        names = [name for bit, name in enumerate(_GROUPS) if mask >> bit & 1]
        words = "|".join(names) or "none"
        printer.print_string(f" {words if release_of(printer) >= V3_9 else mask}")
        printer.print_op_attributes(self.attributes)


def _parse_group(parser: Parser) -> int:
    start = parser.pos
    word = parser.parse_identifier()
    if word == "none":
        return 0
    if word not in _GROUPS:
        known = ", ".join(("none", *_GROUPS))
        parser.raise_error(f"expected one of {known}", start, start + len(word))
    return 1 << _GROUPS.index(word)


@op_definition
class WorkitemIdXOp(IRDLOperation):
    """The work-item's number in its work-group, along x.

    ```
    %t = rocdl.workitem.id.x : i32
    ```
    """

    name = "rocdl.workitem.id.x"

    res = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


ROCDL = Dialect("rocdl", [SchedBarrierOp, SetPrioOp, WorkitemIdXOp], [ROCDLTargetAttr])
