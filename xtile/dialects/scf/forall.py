"""`scf.forall`, whose iterations may be the work-items of a device.

Source: MLIR (LLVM 22), `Dialect/SCF/IR/SCFOps.td` and `SCF.cpp`.
"""

# Operands and properties are named as upstream names them.
# ruff: noqa: N815

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    I64,
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    TensorType,
    i64,
)
from xdsl.dialects.utils import parse_dynamic_index_list_without_types, print_dynamic_index_list
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsTerminator,
    NoTerminator,
    RecursiveMemoryEffect,
)
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.scf.assembly import (
    ensure_terminator,
    parse_assignments,
    parse_optional_results,
    print_assignments,
    resolve_assignments,
)
from xtile.dialects.scf.loops import verify_types


@irdl_op_definition
class ForallOp(IRDLOperation):
    """Counts in several dimensions at once, in any order; results are put together by regions.

    ```
    scf.forall (%i, %j) in (%n, 8) {
    } {mapping = [#gpu.thread<y>, #gpu.thread<x>]}
    ```
    """

    name = "scf.forall"

    dynamicLowerBound = var_operand_def(IndexType())
    dynamicUpperBound = var_operand_def(IndexType())
    dynamicStep = var_operand_def(IndexType())
    outputs = var_operand_def(TensorType)
    staticLowerBound = prop_def(DenseArrayBase.constr(i64))
    staticUpperBound = prop_def(DenseArrayBase.constr(i64))
    staticStep = prop_def(DenseArrayBase.constr(i64))
    mapping = opt_prop_def(ArrayAttr)
    res = var_result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    traits = traits_def(RecursiveMemoryEffect())

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.staticUpperBound)

    @property
    def variables(self) -> Sequence[BlockArgument]:
        """The loop variables."""
        return self.body.block.args[: self.rank]

    @property
    def is_normalized(self) -> bool:
        """Whether every dimension counts from 0 by 1."""
        return not any(self.staticLowerBound.get_values()) and all(
            step == 1 for step in self.staticStep.get_values()
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ForallOp:
        variables = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        place = parser.pos
        if parser.parse_optional_keyword("in") is not None:
            lower = _Bounds([], [0] * len(variables))
            upper = _Bounds.parse(parser)
            step = _Bounds([], [1] * len(variables))
        else:
            parser.parse_punctuation("=")
            lower = _Bounds.parse(parser)
            parser.parse_keyword("to")
            upper = _Bounds.parse(parser)
            parser.parse_keyword("step")
            step = _Bounds.parse(parser)
        if len(upper.static) != len(variables):
            parser.raise_error(
                f"expected {len(upper.static)} loop variables, one for each bound, "
                f"got {len(variables)}",
                place,
                parser.pos,
            )
        place = parser.pos
        assignments = []
        types: list[Attribute] = []
        if parser.parse_optional_keyword("shared_outs") is not None:
            assignments = parse_assignments(parser)
            types = parse_optional_results(parser)
        outputs, tensors = resolve_assignments(parser, assignments, types, place)
        indices = [variable.resolve(IndexType()) for variable in variables]
        body = parser.parse_region([*indices, *outputs])
        ensure_terminator(body, InParallelOp.empty)
        attributes = parser.parse_optional_attr_dict()
        return ForallOp.build(
            operands=[lower.dynamic, upper.dynamic, step.dynamic, tensors],
            properties={
                "staticLowerBound": lower.attribute,
                "staticUpperBound": upper.attribute,
                "staticStep": step.attribute,
                "mapping": attributes.pop("mapping", None),
            },
            attributes={**attributes},
            result_types=[types],
            regions=[body],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" (")
        printer.print_list(self.variables, printer.print_ssa_value)
        parts = (
            (") = ", self.dynamicLowerBound, self.staticLowerBound),
            (" to ", self.dynamicUpperBound, self.staticUpperBound),
            (" step ", self.dynamicStep, self.staticStep),
        )
        if self.is_normalized:
            parts = ((") in ", self.dynamicUpperBound, self.staticUpperBound),)
        for keyword, dynamic, static in parts:
            printer.print_string(keyword)
            print_dynamic_index_list(
                printer,
                DYNAMIC_INDEX,
                dynamic,
                static.get_values(),
                delimiter=Parser.Delimiter.PAREN,
            )
        if self.outputs:
            printer.print_string(" shared_outs")
            print_assignments(printer, self.body.block.args[self.rank :], self.outputs)
            printer.print_string(" -> ")
            with printer.in_parens():
                printer.print_list(self.res.types, printer.print_attribute)
        printer.print_string(" ")
        printer.print_region(
            self.body,
            print_entry_block_args=False,
            print_empty_block=False,
            print_block_terminators=bool(self.res),
        )
        attributes = {**self.attributes}
        if self.mapping is not None:
            attributes["mapping"] = self.mapping
        printer.print_op_attributes(dict(sorted(attributes.items())))

    @override
    def verify_(self) -> None:
        bounds = (
            ("lower bounds", self.dynamicLowerBound, self.staticLowerBound),
            ("upper bounds", self.dynamicUpperBound, self.staticUpperBound),
            ("steps", self.dynamicStep, self.staticStep),
        )
        for name, dynamic, static in bounds:
            values = static.get_values()
            if len(values) != self.rank:
                raise VerifyException(f"expected {self.rank} {name}, got {len(values)}")
            unknown = list(values).count(DYNAMIC_INDEX)
            if unknown != len(dynamic):
                raise VerifyException(
                    f"expected values for {unknown} of the {name}, got {len(dynamic)}"
                )
        verify_types("results", self.outputs.types, self.res.types)
        expected = [*[IndexType()] * self.rank, *self.outputs.types]
        verify_types("arguments of the body", expected, self.body.block.arg_types)
        if self.mapping is not None and self.mapping.data and len(self.mapping) != self.rank:
            raise VerifyException(
                f"expected a mapping of {self.rank} dimensions, got {len(self.mapping)}"
            )
        if not isinstance(self.body.block.last_op, InParallelOp):
            raise VerifyException("the body must end with an scf.forall.in_parallel")


@irdl_op_definition
class InParallelOp(IRDLOperation):
    """Ends an `scf.forall`, and says how its iterations put the results together.

    ```
    scf.forall.in_parallel {
    }
    ```
    """

    name = "scf.forall.in_parallel"

    body = region_def("single_block")

    traits = lazy_traits_def(lambda: (HasParent(ForallOp), IsTerminator(), NoTerminator()))

    @staticmethod
    def empty() -> InParallelOp:
        """Returns one for a loop without results."""
        return InParallelOp(regions=[[Block()]])

    @classmethod
    @override
    def parse(cls, parser: Parser) -> InParallelOp:
        body = parser.parse_region()
        if not body.blocks:
            body.add_block(Block())
        attributes = parser.parse_optional_attr_dict()
        return InParallelOp(regions=[body], attributes={**attributes})

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)
        printer.print_op_attributes(self.attributes)


class _Bounds:
    """`(0, %n)`: bounds that are known or values."""

    def __init__(self, dynamic: Sequence[SSAValue], static: Sequence[int]) -> None:
        self.dynamic = dynamic
        self.static = static

    @property
    def attribute(self) -> DenseArrayBase[I64]:
        """The known bounds."""
        return DenseArrayBase.from_list(i64, self.static)

    @staticmethod
    def parse(parser: Parser) -> _Bounds:
        dynamic, static = parse_dynamic_index_list_without_types(
            parser, DYNAMIC_INDEX, delimiter=parser.Delimiter.PAREN
        )
        values = [parser.resolve_operand(value, IndexType()) for value in dynamic]
        return _Bounds(values, static)


OPERATIONS: list[type[Operation]] = [ForallOp, InParallelOp]
"""The operations of this module."""
