"""What an older text implies and the current revision writes as instructions.

An immediate operand becomes a `constant`, an inferred size a `size`, a `sub` or a `div`. These
stand in front of the instruction that needs them; a block never holds the same one twice.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TYPE_CHECKING

from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.tensorlang.operation import integer_attribute
from xtile.dialects.tensorlang.ops.arithmetic import ConstantOp
from xtile.dialects.tensorlang.ops.memory import SizeOp
from xtile.dialects.tensorlang.printer import constant_text
from xtile.dialects.tensorlang.types import BOOL, INDEX, type_text
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.reader import Reader

_NAME = re.compile(r"%([A-Za-z]\w*)")

_MAX_NUMBER_LENGTH = 12
"""A constant's name spells out no longer numbers."""


class ImpliedValues:
    """Inserts instructions for a reader and names their results.

    The names are readable and differ from every name of the text, so that those stay as they
    are when the module is printed.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._written: frozenset[str] | None = None
        self._function: Block | None = None
        self._names: dict[Block, dict[str, int]] = {}
        self._known: dict[Block, dict[Hashable, SSAValue]] = {}

    def constant(self, value: Attribute, type: Attribute, span: Span) -> SSAValue:
        """A constant of `type`; `value` is as `ConstantOp` keeps it."""
        text = constant_text(value)
        known = self._find((text, type))
        if known is not None:
            return known
        operation = ConstantOp.create(properties={"value": value}, result_types=[type])
        return self._remember((text, type), operation, _constant_name(text, type), span)

    def index(self, value: int, span: Span) -> SSAValue:
        """An index constant."""
        return self.constant(integer_attribute(value), INDEX, span)

    def size(self, memref: SSAValue, mode: int, span: Span) -> SSAValue:
        """The size of one mode of a memref."""
        known = self._find((memref, mode))
        if known is not None:
            return known
        operation = SizeOp.create(
            operands=[memref],
            properties={"mode": integer_attribute(mode)},
            result_types=[INDEX],
        )
        hint = self._reader.source.names.get(memref) or memref.name_hint
        name = f"{hint}_size{mode}" if hint and hint[0].isalpha() else f"size{mode}"
        return self._remember((memref, mode), operation, name, span)

    def result(self, operation: Operation, name: str, span: Span) -> SSAValue:
        """Inserts an operation with one result, which gets a name like `name`."""
        self._reader.insert(operation, span.start, span.end)
        value = operation.results[0]
        self._reader.give_name(value, self._unique(name))
        return value

    def forget(self, operation: Operation) -> None:
        """Takes back what was inserted for an instruction that is read in another way."""
        for known in self._known.values():
            for key in [key for key, value in known.items() if value.owner is operation]:
                del known[key]

    def _find(self, key: Hashable) -> SSAValue | None:
        self._enter_function()
        for block in self._reader.blocks[1:]:
            value = self._known.get(block, {}).get(key)
            if value is not None:
                return value
        return None

    def _remember(self, key: Hashable, operation: Operation, name: str, span: Span) -> SSAValue:
        value = self.result(operation, name, span)
        self._known.setdefault(self._reader.blocks[-1], {})[key] = value
        return value

    def _enter_function(self) -> None:
        function = self._reader.blocks[1] if len(self._reader.blocks) > 1 else None
        if function is not self._function:
            self._function = function
            self._names = {}
            self._known = {}

    def _unique(self, name: str) -> str:
        self._enter_function()
        if self._written is None:
            self._written = frozenset(_NAME.findall(self._reader.source.text))
        # A name may come again in regions from which this location is not seen.
        visible = [self._names[block] for block in self._reader.blocks if block in self._names]
        number = max((names.get(name, 0) for names in visible), default=0)
        candidate = f"{name}_{number - 1}" if number else name
        while candidate in self._written or any(candidate in names for names in visible):
            candidate = f"{name}_{number}"
            number += 1
        names = self._names.setdefault(self._reader.blocks[-1], {})
        names[name] = max(number, 1)
        names.setdefault(candidate, 1)
        return candidate


def _constant_name(text: str, type: Attribute) -> str:
    """`c5` for an index, `c0p5_f32` for another number, `true` or `false`."""
    if type == BOOL:
        return text
    text = text.removesuffix(".0").replace("-", "m").replace(".", "p").replace("+", "")
    number = f"c{text}" if len(text) <= _MAX_NUMBER_LENGTH and text.isalnum() else "cst"
    return number if type == INDEX else f"{number}_{type_text(type)}"
