"""What a parser knows already, so that a text says the same thing twice without being read twice.

Parts of dialects that read and print import this instead of the parser of MLIR text, whose modules
a command that only prints does not load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.parser import AttrParser

if TYPE_CHECKING:
    from xdsl.ir import Attribute
    from xdsl.irdl import AttrSizedSegments


@dataclass(frozen=True, slots=True)
class KnownTypes:
    """What operands and results of some types were found to be.

    Attributes:
        given: The types that the text gives; they are kept because they are known by their ids.
        operands: The types of all operands.
        results: The types of all results.
        sizes: The attributes that say how many operands or results each name stands for.
    """

    given: Sequence[Attribute]
    operands: Sequence[Attribute]
    results: Sequence[Attribute]
    sizes: Sequence[tuple[AttrSizedSegments, Attribute]]


class SkippingParser(AttrParser):
    """A parser that can go on after text that is known.

    Attributes:
        known_types: The types of operations by their classes and the types that their text gives.
    """

    known_types: dict[tuple[object, ...], KnownTypes]

    # No abstract methods: whether something is of an abstract class takes Python longer to say.

    @property
    def previous_end(self) -> int:
        """The offset after the last character that was read."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """All of the text."""
        raise NotImplementedError

    def skip_to(self, offset: int) -> None:
        """Goes on after text that is known, at an offset between two tokens."""
        raise NotImplementedError
