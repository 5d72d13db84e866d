"""The directives of arithmetic: signedness, rounding modes and comparisons.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`, the functions that `custom<..>` of `Ops.td` names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.cuda_tile.attributes import (
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    RoundingModeAttr,
    SignednessAttr,
    parse_member,
)
from xtile.dialects.cuda_tile.constraints import (
    DIVISION_MODES,
    FUNCTION_MODES,
    IEEE_MODES,
    SQUARE_ROOT_MODES,
    TO_INTEGER_MODES,
)
from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
    Signedness,
)

# Each attribute is made once: a text has one for nearly every operation.
_signedness = cache(SignednessAttr)
_predicate = cache(ComparisonPredicateAttr)
_ordering = cache(ComparisonOrderingAttr)
_rounding_mode = cache(RoundingModeAttr)


class _Member(CustomDirective, ABC):
    """A member of an enumeration, written without brackets."""

    member: AttributeVariable

    @abstractmethod
    def read(self, parser: Parser) -> Attribute:
        """Reads the member."""

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.member.set(state, self.read(parser))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(cast("EnumAttribute[StrEnum]", self.member.get(op)).data.value)


@irdl_custom_directive
class SignednessOf(_Member):
    """`custom<Signedness>($x)`: `signed` or `unsigned`."""

    member: AttributeVariable

    @override
    def read(self, parser: Parser) -> SignednessAttr:
        return _signedness(parse_member(parser, Signedness, "signedness"))


@irdl_custom_directive
class PredicateOf(_Member):
    """`custom<ComparisonPredicate>($x)`: `less_than` and others."""

    member: AttributeVariable

    @override
    def read(self, parser: Parser) -> ComparisonPredicateAttr:
        predicate = parse_member(parser, ComparisonPredicate, "comparison_predicate")
        return _predicate(predicate)


@irdl_custom_directive
class OrderingOf(_Member):
    """`custom<ComparisonOrdering>($x)`: `ordered` or `unordered`."""

    member: AttributeVariable

    @override
    def read(self, parser: Parser) -> ComparisonOrderingAttr:
        ordering = parse_member(parser, ComparisonOrdering, "comparison_ordering")
        return _ordering(ordering)


class _Rounding(CustomDirective, ABC):
    """`rounding<zero>`, which is left out for the first of the modes."""

    MODES: ClassVar[tuple[RoundingMode, ...]]

    mode: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        mode = self.MODES[0]
        if parser.parse_optional_keyword("rounding") is not None:
            with parser.in_angle_brackets():
                mode = parse_member(parser, self.MODES, "rounding mode")
        self.mode.set(state, _rounding_mode(mode))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        mode = cast("RoundingModeAttr", self.mode.get(op)).data
        if mode is not self.MODES[0]:
            state.print_whitespace(printer)
            printer.print_string(f"rounding<{mode.value}>")


@irdl_custom_directive
class NearestRounding(_Rounding):
    """`custom<IEEERoundingMode>`: to the nearest, ties to even, unless said."""

    MODES: ClassVar[tuple[RoundingMode, ...]] = IEEE_MODES

    mode: AttributeVariable


@irdl_custom_directive
class ConversionRounding(_Rounding):
    """The rounding mode of a conversion between floats."""

    MODES: ClassVar[tuple[RoundingMode, ...]] = (*IEEE_MODES, RoundingMode.NEAREST_AWAY)

    mode: AttributeVariable


@irdl_custom_directive
class DivisionRounding(_Rounding):
    """`custom<DivFOpRoundingMode>`."""

    MODES: ClassVar[tuple[RoundingMode, ...]] = DIVISION_MODES

    mode: AttributeVariable


@irdl_custom_directive
class SquareRootRounding(_Rounding):
    """`custom<SqrtOpRoundingMode>`."""

    MODES: ClassVar[tuple[RoundingMode, ...]] = SQUARE_ROOT_MODES

    mode: AttributeVariable


@irdl_custom_directive
class FullRounding(_Rounding):
    """`custom<ExpOpRoundingMode>` and `custom<TanHOpRoundingMode>`: full unless said."""

    MODES: ClassVar[tuple[RoundingMode, ...]] = FUNCTION_MODES

    mode: AttributeVariable


@irdl_custom_directive
class IntegerRounding(_Rounding):
    """`custom<IntegerRoundingMode>`: to the integer nearest to zero."""

    MODES: ClassVar[tuple[RoundingMode, ...]] = TO_INTEGER_MODES

    mode: AttributeVariable
