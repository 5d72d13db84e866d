"""What a tile compiler is told of a kernel, as an attribute of it."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, i32
from xdsl.ir import Attribute

from xtile.dialects.core.attributes import TILE_HINTS_ATTRIBUTE
from xtile.targets.target import Hints


def hints_attribute(hints: Hints) -> dict[str, Attribute]:
    """The attribute by its name; none where the compiler chooses everything itself."""
    given = {
        name: IntegerAttr(number, i32)
        for name, number in sorted(hints._asdict().items())
        if number is not None
    }
    return {TILE_HINTS_ATTRIBUTE: DictionaryAttr(given)} if given else {}
