"""What a launch must know of a function; also in words, for the cache and beside machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from xdsl.context import Context
from xdsl.ir import Attribute
from xdsl.parser import Parser

from xtile.arguments.errors import ArgumentError
from xtile.arguments.launch_checks import LaunchCheck, check_of, words_of
from xtile.arguments.memory_types import (
    GroupMemory,
    MemoryType,
    group_memory_of,
    integers_of,
    memory_type_of,
)
from xtile.dialects.tensorlang.types import type_text

KindT = TypeVar("KindT")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function.

    Attributes:
        name: Its name without `%`.
        type: Its type.
        attributes: Its named attributes: alignment (bytes), shape_gcd, stride_gcd.
        may_be_address: Whether it is an integer in which a kernel may take a pointer.
        is_noalias: Whether a compiled kernel relies on it that what is written through it is
            accessed through no other parameter, and the reverse.
    """

    name: str
    type: Attribute
    attributes: dict[str, Attribute]
    may_be_address: bool = False
    is_noalias: bool = False

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return f"argument '{self.name}' ({self.type_text})"

    @cached_property
    def type_text(self) -> str:
        """The type as its language writes it."""
        return type_text(self.type)

    @cached_property
    def memory(self) -> MemoryType | None:
        """What an array must be to be the argument; None for what is neither memref nor pointer.

        Raises:
            ArgumentError: The type is a memref for which no array can be passed.
        """
        type = self._passed_by(memory_type_of)
        return None if type is None else self._with_promises(type)

    @cached_property
    def group(self) -> GroupMemory | None:
        """What a list of arrays must be to be the argument; None for what is no group.

        Raises:
            ArgumentError: The type is a group for which no arrays can be passed.
        """
        type = self._passed_by(group_memory_of)
        return None if type is None else replace(type, element=self._with_promises(type.element))

    def _passed_by(self, kind: Callable[[Attribute], KindT]) -> KindT:
        try:
            return kind(self.type)
        except ValueError as error:
            raise ArgumentError(f"{self}: {error}") from None

    def _with_promises(self, type: MemoryType) -> MemoryType:
        return replace(type, stride_divisors=integers_of(self.attributes.get("stride_gcd")))

    @property
    def is_memory(self) -> bool:
        """Whether the argument is an array, or a group of arrays."""
        return self.group is not None or self.memory is not None


@dataclass(frozen=True)
class Signature:
    """The parameters of a function, and what it does to them.

    Attributes:
        name: The function's name.
        parameters: Its parameters.
        written: The indices of the memref and group parameters that it may write to.
        checks: What it relies on that only a launch can tell.
    """

    name: str
    parameters: tuple[Parameter, ...]
    written: frozenset[int]
    checks: tuple[LaunchCheck, ...] = ()

    @cached_property
    def has_disjoint_memory(self) -> bool:
        """Whether the kernel relies on it that parameters which it writes do not overlap others."""
        memory = [each for each in self.parameters if each.is_memory or each.may_be_address]
        return len(memory) > 1 and any(each.is_noalias for each in memory)

    def with_overlaps(self) -> Signature:
        """The signature of the kernel compiled for arguments that overlap."""
        return replace(
            self, parameters=tuple(replace(each, is_noalias=False) for each in self.parameters)
        )

    def without_overlaps(self, numbers: Sequence[int]) -> Signature:
        """The signature of the kernel compiled for some arguments that do not overlap others."""
        parameters = [
            replace(each, is_noalias=each.is_noalias or i in numbers)
            for i, each in enumerate(self.parameters)
        ]
        return replace(self, parameters=tuple(parameters))

    def with_checks(self, checks: Sequence[LaunchCheck]) -> Signature:
        """The signature of the kernel compiled to code that relies on something more."""
        return replace(self, checks=tuple(dict.fromkeys((*self.checks, *checks))))


_MAIN = "main"
"""The function of the host that runs where none is named."""


def choose_entry(kernels: Sequence[str], hosts: Sequence[str], entry: str | None) -> str:
    """Returns `entry`, or the host's `main`, or the only function there is.

    A function of the host can be named; where there is no kernel, it can be the only one.

    Args:
        kernels: The names of the kernels.
        hosts: The names of the functions of the host.
        entry: The name of a function, if one is named.

    Raises:
        ArgumentError: There is no such function, or several and no `entry`.
    """
    if entry is None and _MAIN in hosts:
        return _MAIN
    functions = hosts if entry in hosts or not kernels else kernels
    if not functions:
        raise ArgumentError("the kernel has no function to launch")
    names = ", ".join(f"'{name}'" for name in functions)
    if entry is None:
        if len(functions) > 1:
            raise ArgumentError(f"the kernel has several functions; choose entry from {names}")
        return functions[0]
    if entry not in functions:
        raise ArgumentError(f"the kernel has no function '{entry}'; it has {names}")
    return entry


# --- in words that JSON can hold ---


def signature_words(signature: Signature) -> dict[str, Any]:
    """What JSON can hold of a signature."""
    return {
        "name": signature.name,
        "parameters": [_parameter_words(parameter) for parameter in signature.parameters],
        "written": sorted(signature.written),
        "checks": [words_of(check) for check in signature.checks],
    }


def _parameter_words(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "type": str(parameter.type),
        "attributes": {name: str(value) for name, value in parameter.attributes.items()},
        "may_be_address": parameter.may_be_address,
        "is_noalias": parameter.is_noalias,
    }


def signature_of_words(words: dict[str, Any], context: Context) -> Signature:
    """The signature that `signature_words` describes.

    Raises:
        ParseError: A type cannot be read.
    """
    parameters = tuple(_parameter(parameter, context) for parameter in words["parameters"])
    checks = tuple(map(check_of, words.get("checks", ())))
    return Signature(words["name"], parameters, frozenset(words["written"]), checks)


def _parameter(words: dict[str, Any], context: Context) -> Parameter:
    return Parameter(
        words["name"],
        Parser(context, words["type"]).parse_type(),
        {name: _attribute(text, context) for name, text in words["attributes"].items()},
        words["may_be_address"],
        words["is_noalias"],
    )


def _attribute(text: str, context: Context) -> Attribute:
    return Parser(context, text).parse_attribute()
