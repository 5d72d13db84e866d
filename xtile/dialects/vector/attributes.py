"""The attributes of the `vector` dialect, and the neutral elements of its combining kinds.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorAttributes.td`.
"""

from __future__ import annotations

import math

from typing_extensions import override
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.dialects.utils import EnumAttribute
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, irdl_attr_definition
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.upstream import is_float


class IteratorType(StrEnum):
    """What a dimension of a contraction's iterations is."""

    PARALLEL = "parallel"
    REDUCTION = "reduction"


class PrintPunctuation(StrEnum):
    """What `vector.print` prints after a value."""

    NO_PUNCTUATION = "no_punctuation"
    NEWLINE = "newline"
    COMMA = "comma"
    OPEN = "open"
    CLOSE = "close"


@irdl_attr_definition
class IteratorTypeAttr(EnumAttribute[IteratorType]):
    """`#vector.iterator_type<parallel>`."""

    name = "vector.iterator_type"

    @override
    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> IteratorType:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(IteratorType)


@irdl_attr_definition
class PrintPunctuationAttr(EnumAttribute[PrintPunctuation]):
    """`#vector.punctuation<newline>`."""

    name = "vector.punctuation"

    @override
    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.data)

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> PrintPunctuation:
        with parser.in_angle_brackets():
            return parser.parse_str_enum(PrintPunctuation)


@irdl_custom_directive
class CombiningKind(CustomDirective):
    """`<add>`, or the attribute in full: `#vector.kind<add>`."""

    kind: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        if parser.parse_optional_punctuation("<") is None:
            kind = parser.parse_attribute()
            if not isinstance(kind, CombiningKindAttr):
                parser.raise_error("expected a kind such as '<add>'", start, parser.pos)
        else:
            kind = CombiningKindAttr(parser.parse_str_enum(CombiningKindFlag))
            parser.parse_punctuation(">")
        self.kind.set(state, kind)

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        kind = self.kind.get(op)
        assert isinstance(kind, CombiningKindAttr)
        kind.print_parameter(printer)


ADD = CombiningKindAttr(CombiningKindFlag.ADD)
"""The combining kind of operations that name none."""

_ANY_KINDS = frozenset({CombiningKindFlag.ADD, CombiningKindFlag.MUL})
_FLOAT_KINDS = frozenset(
    {
        CombiningKindFlag.MINNUMF,
        CombiningKindFlag.MAXNUMF,
        CombiningKindFlag.MINIMUMF,
        CombiningKindFlag.MAXIMUMF,
    }
)


def verify_combining_kind(kind: CombiningKindAttr, element: Attribute) -> None:
    """Checks that a kind combines elements of a type.

    Raises:
        VerifyException: It does not.
    """
    is_number = isa(element, IntegerType | IndexType)
    if kind.data in _ANY_KINDS:
        if not is_number and not is_float(element):
            raise VerifyException(f"<{kind.data}> combines numbers, got {element}")
    elif kind.data in _FLOAT_KINDS:
        if not is_float(element):
            raise VerifyException(f"<{kind.data}> combines floats, got {element}")
    elif not is_number:
        raise VerifyException(f"<{kind.data}> combines integers, got {element}")


_NEUTRAL_FLOATS = {
    "add": -0.0,
    "maximumf": -math.inf,
    "maxnumf": math.nan,
    "minimumf": math.inf,
    "minnumf": math.nan,
    "mul": 1.0,
}
"""The numbers that reductions, scans and atomic updates leave out of account, by kind."""


def neutral_float(kind: str) -> float:
    """The floating number that changes no other one, for a kind such as `add` or `maxnumf`.

    A positive zero would make a sum of negative zeros positive.

    Raises:
        KeyError: The kind does not combine floating numbers.
    """
    return _NEUTRAL_FLOATS[kind]


def neutral_integer(kind: str, width: int) -> int:
    """The same of integers with so many bits, for a kind such as `add`, `maxsi` or `and`.

    It is a signed number; a mask of its bits is what an unsigned one has.

    Raises:
        KeyError: The kind does not combine integers.
    """
    highest = 1 << (width - 1)
    return {
        "add": 0,
        "and": -1,
        "maxsi": -highest,
        "maxui": 0,
        "minsi": highest - 1,
        "minui": -1,
        "mul": 1,
        "or": 0,
        "xor": 0,
    }[kind]
