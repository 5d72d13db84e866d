"""What is several values, but no vector or memref: descriptors of XeGPU, in control flow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from xdsl.ir import Attribute, SSAValue

if TYPE_CHECKING:
    from xtile.translate.xegpu_to_spirv.lowering import Lowering


class Carried(ABC):
    """The meaning of a value of the source that loops and branches can carry as several values."""

    @abstractmethod
    def flat(self, lowering: Lowering) -> list[SSAValue]:
        """The values, in an order that the type of the source's value fixes."""

    @classmethod
    @abstractmethod
    def rebuilt(cls, type_: Attribute, values: Iterator[SSAValue]) -> Self:
        """The meaning of a value of a type, made from the next of some values.

        Args:
            type_: The type of the source's value.
            values: Values as `flat` gives them; it takes as many as there are.
        """
