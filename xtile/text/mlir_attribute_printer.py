"""Prints attributes and types as MLIR does, with aliases.

An attribute that gets an alias is printed as a mark. When everything is printed, all aliases are
known, and `with_aliases` puts their names in the place of the marks and their definitions around
the text. So the text is built once, though the definitions stand before it.

Source: LLVM 22, `mlir/lib/IR/AsmPrinter.cpp`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    LocationAttr,
    TupleType,
    UnitAttr,
    UnregisteredAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.printer import Printer

from xtile.text.mlir_attribute_forms import PRINTERS, print_location_contents, print_unregistered
from xtile.text.mlir_attributes import ALIAS_NAMES, DistinctAttr
from xtile.text.mlir_numbers import float_text

_MARK = re.compile("\x00(\\d+)\x01")


@dataclass(slots=True)
class _Alias:
    """An attribute that gets an alias.

    Attributes:
        name: What the alias is called, without prefix and number.
        prefix: `#` or `!`.
        is_deferred: Whether its definition may stand after the operations that use it.
        text: The definition, with marks for the aliases in it.
        depth: One more than that of the deepest attribute in it that has an alias below it.
        parts: The aliases in it.
    """

    name: str
    prefix: str
    is_deferred: bool
    text: str = ""
    depth: int = 1
    parts: list[_Alias] = field(default_factory=list["_Alias"])

    def define_before_uses(self) -> None:
        """Puts the definition, and those that it uses, before the operations."""
        if self.is_deferred:
            self.is_deferred = False
            for part in self.parts:
                part.define_before_uses()


_IS_PLAIN = re.compile(r"[ !#-\[\]-~]*").fullmatch
"""Whether a text stands in a string literal as it is, without escapes."""


@dataclass(eq=False, repr=False)
class AttributePrinter(Printer):
    """xDSL's printer with MLIR's text of attributes and types."""

    has_aliases: bool = True
    """Whether to print aliases; attributes are printed in full otherwise."""

    _aliases: dict[Attribute, _Alias] = field(default_factory=dict[Attribute, _Alias], init=False)
    _numbers: dict[Attribute, int] = field(default_factory=dict[Attribute, int], init=False)
    _resource_keys: dict[str, dict[str, None]] = field(
        default_factory=dict[str, dict[str, None]], init=False
    )
    _distinct: dict[int, int] = field(default_factory=dict[int, int], init=False)
    # What holds for the attribute that is being printed.
    _depth: int = field(default=0, init=False)
    _parts: list[_Alias] = field(default_factory=list[_Alias], init=False)
    _may_defer: bool = field(default=False, init=False)

    @property
    def resource_keys(self) -> Mapping[str, Collection[str]]:
        """The keys of the resources that were printed, by dialect and in the order of printing."""
        return self._resource_keys

    @override
    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            super().print_string(text, indent=indent)
        else:
            cast(StringIO, self.stream).write(text)

    @override
    def print_string_literal(self, string: str) -> None:
        if _IS_PLAIN(string):
            self.print_string(f'"{string}"')
        else:
            super().print_string_literal(string)

    @override
    def print_attribute(self, attribute: Attribute) -> None:
        name = _alias_name(attribute) if self.has_aliases else None
        if name is not None:
            self._print_mark(attribute, name)
            return
        outer, self._depth = self._depth, 0
        self._print_in_full(attribute)
        self._depth = max(outer, self._depth + 1 if self._depth else 0)

    @override
    def print_float(self, value: float, type: AnyFloat) -> None:
        self.print_string(float_text(value, type))

    @override
    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        super().print_attr_dict(dict(sorted(attr_dict.items())))

    @override
    def print_resource_handle(self, dialect: str, handle: str) -> None:
        self._resource_keys.setdefault(dialect, {})[handle] = None
        self.print_identifier_or_string_literal(handle)

    def print_elided(self, attribute: Attribute) -> None:
        """Prints an attribute without its type where that is `i64` or `f64`."""
        if isinstance(attribute, IntegerAttr):
            integer = cast(IntegerAttr[Any], attribute)
            if integer.type == i64:
                self.print_string(f"{integer.value.data}")
                return
        elif isinstance(attribute, FloatAttr):
            number = cast(FloatAttr[Any], attribute)
            text = float_text(number.value.data, number.type)
            if number.type == f64 and not text.startswith("0x"):
                self.print_string(text)
                return
        self.print_attribute(cast(Attribute, attribute))

    def print_location(self, location: LocationAttr, has_alias: bool) -> None:
        """Prints ` loc(...)` after an operation or an argument.

        Args:
            location: What to print.
            has_alias: Whether the location itself may be an alias; its parts always may.
        """
        outer, self._may_defer = self._may_defer, has_alias
        self.print_string(" loc(")
        if has_alias and self.has_aliases:
            self.print_attribute(location)
        else:
            print_location_contents(self, location)
        self.print_string(")")
        self._may_defer = outer

    def visit_location(self, location: LocationAttr, may_defer: bool) -> None:
        """Makes an alias for a location now, before what is printed first.

        Args:
            location: The location of an operation or of an argument.
            may_defer: Whether the alias may be defined after its use.
        """
        if not self.has_aliases:
            return
        outer = self._may_defer, self._depth
        self._may_defer = may_defer
        self._captured(lambda: self.print_attribute(location))
        self._may_defer, self._depth = outer

    def number_of_distinct(self, attribute: DistinctAttr) -> int:
        """Returns the number of a distinct attribute: they are counted in the order of printing."""
        return self._distinct.setdefault(attribute.identifier.data, len(self._distinct))

    def with_aliases(self, text: str) -> tuple[str, str, str]:
        """Puts names in the place of the marks.

        Returns:
            The definitions before the text, the text, and the definitions after it. Definitions
            end with a line end.
        """
        aliases = list(self._aliases.values())
        order = sorted(aliases, key=lambda alias: (alias.depth, alias.prefix == "#", alias.name))
        names = _unique_names(order)
        shown = [names[id(alias)] for alias in aliases]

        def named(marked: str) -> str:
            return _MARK.sub(lambda mark: shown[int(mark.group(1))], marked)

        lines = [(f"{names[id(alias)]} = {named(alias.text)}\n", alias) for alias in order]
        before = "".join(line for line, alias in lines if not alias.is_deferred)
        after = "".join(line for line, alias in lines if alias.is_deferred)
        return before, named(text), after

    def _print_mark(self, attribute: Attribute, name: str) -> None:
        alias = self._aliases.get(attribute)
        if alias is None:
            prefix = "!" if isinstance(attribute, TypeAttribute) else "#"
            alias = self._aliases[attribute] = _Alias(name, prefix, self._may_defer)
            self._numbers[attribute] = len(self._numbers)
            outer = self._depth, self._parts
            self._depth, self._parts = 0, alias.parts
            alias.text = self._captured(lambda: self._print_in_full(attribute))
            alias.depth = self._depth + 1
            self._depth, self._parts = outer
        elif not self._may_defer:
            alias.define_before_uses()
        self._parts.append(alias)
        self._depth = max(self._depth, alias.depth)
        self.print_string(f"\x00{self._numbers[attribute]}\x01")

    def _captured(self, action: Callable[[], None]) -> str:
        """Returns what an action prints."""
        outer, self.stream = self.stream, StringIO()
        action()
        text = self.stream.getvalue()
        self.stream = outer
        return text

    def _print_in_full(self, attribute: Attribute) -> None:
        function = PRINTERS.get(type(attribute))
        if function is not None:
            function(self, attribute)
        elif isinstance(attribute, UnregisteredAttr):
            print_unregistered(self, attribute)
        else:
            super().print_attribute(attribute)


def _unique_names(order: list[_Alias]) -> dict[int, str]:
    """Returns the names of aliases with prefixes and numbers, by identity."""
    names: dict[int, str] = {}
    used: set[str] = set()
    next_numbers: Counter[str] = Counter()
    for alias in order:
        name = alias.name
        if name in used:
            stem = f"{name}_" if name[-1].isdigit() else name
            while name in used:
                next_numbers[stem] += 1
                name = f"{stem}{next_numbers[stem]}"
        used.add(name)
        names[id(alias)] = alias.prefix + name
    return names


def attribute_text(attribute: Attribute) -> str:
    """Returns an attribute or a type as MLIR text without aliases."""
    stream = StringIO()
    AttributePrinter(stream=stream, has_aliases=False).print_attribute(attribute)
    return stream.getvalue()


_SHORT_TUPLE = 16


def _alias_name(attribute: Attribute) -> str | None:
    """Returns what an alias of an attribute is called, or None if it is printed in full."""
    name = ALIAS_NAMES.get(type(attribute))
    if name is None:
        return None
    if isinstance(attribute, DistinctAttr) and isinstance(attribute.referenced, UnitAttr):
        return None
    if isinstance(attribute, TupleType) and len(attribute.types) <= _SHORT_TUPLE:
        return None
    return name
