"""What every instruction of the tensor language has in common."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, TypeAlias, cast

from typing_extensions import override
from xdsl.dialects.builtin import I64 as I64Type
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, UnitAttr, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.construction import DirectOperation

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer

ATTRIBUTE_NAMES = frozenset(
    {"alignment", "shape_gcd", "stride_gcd", "subgroup_size", "unroll", "work_group_size"}
)
"""The attribute names that stand without quotes (reference: "Attributes")."""

COMMENTS = "tensorlang.comments"
"""The discardable attribute that keeps the comment lines before an instruction or a function."""

COMMENTS_BEHIND = "tensorlang.comments_behind"
"""The discardable attribute that keeps the comment lines behind a region's last instruction."""

BLANK_LINE = "\n"
"""Stands for a blank line between comment lines."""

TRAILING_COMMENT = "tensorlang.trailing_comment"
"""The discardable attribute that keeps the comment behind an instruction on its line."""


Operand: TypeAlias = SSAValue | Operation
"""What constructors take as an operand: a value, or the operation whose only result it is."""


class Execution(Enum):
    """Who executes an instruction (reference: "Execution model")."""

    COLLECTIVE = "collective"
    """All work-items together, in collective regions only; operands are uniform."""

    MIXED = "mixed"
    """In collective and SPMD regions."""

    SPMD = "SPMD"
    """Each work-item for itself, in SPMD regions only."""


def integer_attribute(value: int) -> IntegerAttr[I64Type]:
    """`value` as the i64 attribute in which instructions keep their integer constants."""
    return IntegerAttr(value, i64)


def integer_value(attribute: Attribute | None) -> int:
    """The value of an integer or boolean attribute.

    Raises:
        ValueError: It is another attribute, or none.
    """
    if not isinstance(attribute, IntegerAttr):
        raise ValueError(f"expected an integer attribute, but got {attribute}")
    return cast("IntegerAttr[I64Type]", attribute).value.data


def array_entries(attribute: Attribute | None) -> tuple[Attribute, ...] | None:
    """The entries of an array attribute, or None where it is another attribute."""
    if not isinstance(attribute, ArrayAttr):
        return None
    return cast("ArrayAttr[Attribute]", attribute).data


def integer_list_attribute(values: list[int]) -> DenseArrayBase[I64Type]:
    """`values` as the dense i64 array in which instructions keep integer lists."""
    return DenseArrayBase.from_list(i64, values)


def unit(flag: bool) -> UnitAttr | None:
    """The attribute in which instructions keep a modifier that is there or not."""
    return UnitAttr() if flag else None


def region_of(body: Region | None, types: Sequence[Attribute] = ()) -> Region:
    """A region that is given, or a new one with an empty block whose arguments have these types."""
    return Region(Block(arg_types=types)) if body is None else body


class Support(Protocol):
    """What verifies, reads and prints instructions, for which it must know the instructions.

    The package itself supplies it (`__init__.py`), and Python loads that before any instruction.
    """

    def verify(self, operation: TensorLangOperation) -> None:
        """Checks the restrictions of the language.

        Raises:
            VerifyException: One is broken.
        """
        ...

    def parse(self, cls: type[TensorLangOperation], parser: Parser) -> TensorLangOperation:
        """Reads what follows the name in MLIR's custom form."""
        ...

    def print(self, operation: TensorLangOperation, printer: Printer) -> None:
        """Prints what follows the name in MLIR's custom form."""
        ...


class TensorLangOperation(DirectOperation, ABC):
    """An instruction.

    `SYNTAX` describes the text after the instruction's name once, for the `.ir` reader and
    printer and for MLIR's custom form; see `syntax.py` for its notation.
    """

    EXECUTION: ClassVar[Execution] = Execution.MIXED
    SYNTAX: ClassVar[str] = ""
    OPENS_SPMD_REGION: ClassVar[bool] = False
    SUPPORT: ClassVar[Support]

    @classmethod
    def mnemonic(cls) -> str:
        """The instruction's name in the tensor language."""
        return cls.name.removeprefix("tensorlang.")

    @override
    def verify_(self) -> None:
        self.SUPPORT.verify(self)

    @classmethod
    @override
    def parse(cls, parser: Parser) -> Self:
        operation = cls.SUPPORT.parse(cls, parser)
        assert isinstance(operation, cls)
        return operation

    @override
    def print(self, printer: Printer) -> None:
        self.SUPPORT.print(self, printer)
