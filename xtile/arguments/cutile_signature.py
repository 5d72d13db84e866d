"""What the exporter of cuTile Python says of a kernel's arguments, in the kernel's name.

An exported kernel is called `NAME_Kt1_CONSTRAINT_CONSTRAINT...`, unless its exporter chose another
name. An array is `A`, its number of dimensions and its element type, then for sets of dimensions,
as the bits of a hexadecimal number, what is known of their sizes and strides; then what is known of
the whole array:

| letter | what is known of a dimension | letter | what is known of the array |
|---|---|---|---|
| `s` | the size | `p` | what divides the address |
| `i` | what divides the size | `g` | a set of arrays that may overlap |
| `t` | the stride | `i` | its elements may overlap |
| `v` | what divides the stride | `u`, `w` | sizes and strides are u32 or i64, and not i32 |
| `l` | the least stride | | |

`S` is a number, `L` a list of arrays, `T` a tuple, and all others are constants, which the kernel
holds and nobody passes.

Source: the names that cuda-tile 1.7.0 gives to the kernels that it exports, with the calling
conventions cutile_python_v1 and v2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Dimension:
    """What a kernel knows of a dimension of an array.

    Attributes:
        size: Its size; None where any will do.
        size_divisor: What divides its size.
        stride: Its stride in elements; None where any will do.
        stride_divisor: What divides its stride.
        least_stride: The least stride; None where there is none.
    """

    size: int | None = None
    size_divisor: int = 1
    stride: int | None = None
    stride_divisor: int = 1
    least_stride: int | None = None


@dataclass(frozen=True)
class ArrayArgument:
    """An array: a pointer, then the sizes, then the strides.

    Attributes:
        element: The element type, as cuTile names it in the kernel's name.
        dimensions: What is known of each.
        may_overlap: Whether it may overlap others.
    """

    element: str
    dimensions: tuple[Dimension, ...]
    may_overlap: bool = False


@dataclass(frozen=True)
class ListArgument:
    """A list of arrays: a pointer to their addresses, sizes and strides, then their number."""

    element: ArrayArgument


@dataclass(frozen=True)
class TupleArgument:
    """Several arguments that are given as one."""

    items: tuple[ExportedArgument, ...]


@dataclass(frozen=True)
class NumberArgument:
    """A number."""

    type: str


ExportedArgument: TypeAlias = "ArrayArgument | ListArgument | TupleArgument | NumberArgument"


def exported_arguments(name: str) -> tuple[ExportedArgument, ...] | None:
    """What must be passed to an exported kernel; None for a name that does not say it.

    Args:
        name: The kernel's name.
    """
    _, mark, mangled = name.rpartition("_K")
    convention = re.match(r"t\d+(?=_|$)", mangled) if mark else None
    if convention is None:
        return None
    reader = _Reader(mangled[convention.end() :])
    try:
        arguments: list[ExportedArgument] = []
        while reader.rest:
            reader.take("_")
            argument = reader.argument()
            if argument is not None:
                arguments.append(argument)
    except _UnknownNameError:
        return None
    return tuple(arguments)


def leaves_of(arguments: Sequence[ExportedArgument]) -> Iterator[ExportedArgument]:
    """Arguments with the items of tuples in place of those."""
    for argument in arguments:
        if isinstance(argument, TupleArgument):
            yield from leaves_of(argument.items)
        else:
            yield argument


def width_of(argument: ExportedArgument) -> int:
    """The number of parameters that an argument, which is no tuple, becomes."""
    match argument:
        case ArrayArgument():
            return 1 + 2 * len(argument.dimensions)
        case ListArgument():
            return 2
        case _:
            return 1


def disjoint_arrays(name: str, parameters: int) -> frozenset[int]:
    """The parameters of an exported kernel that are pointers to arrays which overlap no others.

    Args:
        name: The kernel's name.
        parameters: How many parameters it has; none are known if the name says another number.
    """
    found: set[int] = set()
    place = 0
    for argument in leaves_of(exported_arguments(name) or ()):
        if isinstance(argument, ArrayArgument) and not argument.may_overlap:
            found.add(place)
        place += width_of(argument)
    return frozenset(found) if place == parameters else frozenset()


class _UnknownNameError(Exception):
    """A name is none that the exporter makes, or has something in it that is not known here."""


_TYPE = r"b8|bf16|tf32|f8m3fn|f8m2|f8m0fnu|[ui](?:8|16|32|64)|f(?:16|32|64)"
_NUMBER = r"_?\d+"
_CONSTANT = rf"B[01]|I{_NUMBER}|F[0-9a-f]{{16}}|Cn_|Cd_(?:{_TYPE})"
_STRING = r"Cs_(?:[a-zA-JL-Z0-9]|_[_k]|_[0-9a-f]{2}|_u[0-9a-f]{4}|_w[0-9a-f]{8})*_z"
_FACTS = {
    "s": "size",
    "i": "size_divisor",
    "t": "stride",
    "v": "stride_divisor",
    "l": "least_stride",
}
"""For each letter the attribute of `Dimension`."""


@dataclass
class _Reader:
    """Reads a name from its front.

    Attributes:
        rest: What is not read yet.
    """

    rest: str
    _constant: re.Pattern[str] = field(default=re.compile(f"{_CONSTANT}|{_STRING}"), init=False)

    def take(self, pattern: str) -> str:
        """Reads what must be there."""
        found = self.optional(pattern)
        if found is None:
            raise _UnknownNameError
        return found

    def optional(self, pattern: str) -> str | None:
        """Reads what may be there."""
        match = re.match(pattern, self.rest)
        if match is None:
            return None
        self.rest = self.rest[match.end() :]
        return match.group()

    def argument(self) -> ExportedArgument | None:
        """Reads an argument; None for a constant."""
        constant = self._constant.match(self.rest)
        if constant is not None:
            self.rest = self.rest[constant.end() :]
            return None
        match self.take("[ALST]"):
            case "A":
                return self._array()
            case "L":
                self.take(r"(?:g[0-9a-f]+)*i?A")
                return ListArgument(self._array())
            case "S":
                return NumberArgument(self.take(_TYPE))
            case _:
                items = [self.argument() for _ in range(int(self.take(r"\d+")))]
                return TupleArgument(tuple(item for item in items if item is not None))

    def _array(self) -> ArrayArgument:
        rank = int(self.take(r"\d"))
        element = self.take(_TYPE)
        dimensions: list[dict[str, int]] = [{} for _ in range(rank)]
        while (mask := self.optional(r"_[0-9a-f]+")) is not None:
            known = self._facts()
            for number in _bits(int(mask[1:], 16), rank):
                dimensions[number].update(known)
        whole = self.optional(rf"_(?=[pgiuw])(?:p{_NUMBER})?(?:g[0-9a-f]+)*i?[uw]?") or ""
        known = tuple(Dimension(**facts) for facts in dimensions)
        return ArrayArgument(element, known, may_overlap="g" in whole)

    def _facts(self) -> dict[str, int]:
        facts: dict[str, int] = {}
        for letter, attribute in _FACTS.items():
            if self.optional(letter) is not None:
                facts[attribute] = int(self.take(_NUMBER).replace("_", "-"))
        return facts


def _bits(mask: int, rank: int) -> Sequence[int]:
    if mask >> rank:
        raise _UnknownNameError
    return [number for number in range(rank) if mask >> number & 1]
