"""What became of each parameter of a kernel's source (docs/core-form.md, "Signatures").

The attribute is made of MLIR's own, so that mlir-opt reads whatever kernel has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from itertools import chain
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    MemRefType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute
from xdsl.utils.hints import isa

from xtile.dialects.core.arguments import is_noalias
from xtile.dialects.shared_attributes import string_attribute
from xtile.text.mlir_attribute_printer import attribute_text
from xtile.text.value_names import unique_names

SIGNATURE_ATTRIBUTE = "core.signature"
"""The attribute of a kernel that says what became of each parameter of its source."""


class Role(Enum):
    """What an argument of a kernel says about a parameter of the source.

    VALUE: the scalar itself.
    REAL, IMAGINARY: a part of a complex scalar.
    MEMREF: a memref, or a group as a memref of memrefs, with the mode that each dimension is.
    POINTER: a pointer, or the memory of a memref; or the address of these as an i64, where the
        language of the kernel has no pointers.
    ELEMENTS: the memory of a pointer or a memref from its first element on, as a memref with one
        dimension.
    SIZE, STRIDE: a dynamic size or stride of a memref.
    OFFSET: the dynamic offset of a memref, or of a group.
    POINTERS: the pointers of a group.
    SIZES, STRIDES: a dynamic size or stride of each memref of a group.
    COUNT: the dynamic number of pointers of a group, or of the elements behind a pointer.
    """

    VALUE = "value"
    REAL = "real"
    IMAGINARY = "imaginary"
    MEMREF = "memref"
    POINTER = "pointer"
    ELEMENTS = "elements"
    SIZE = "size"
    STRIDE = "stride"
    OFFSET = "offset"
    POINTERS = "pointers"
    SIZES = "sizes"
    STRIDES = "strides"
    COUNT = "count"


_SIGNATURES_KEPT = 64
"""How many signatures stay read: passes hand the attribute on, and each asks what it says."""

_OF_A_MODE = frozenset({Role.SIZE, Role.STRIDE, Role.SIZES, Role.STRIDES})
_POINTERS = frozenset({Role.POINTER, Role.POINTERS, Role.SIZES, Role.STRIDES})
_INTEGERS = frozenset({Role.SIZE, Role.STRIDE, Role.OFFSET, Role.COUNT})


@dataclass(frozen=True)
class Piece:
    """One argument of a kernel.

    Attributes:
        role: What it says about the parameter.
        modes: The mode of a size or a stride; for each dimension of a memref its mode; as the
            source counts them.
    """

    role: Role
    modes: tuple[int, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.role.value, *map(str, self.modes)])

    @classmethod
    def read(cls, text: str) -> Piece:
        """The piece that a text such as `size 0` names.

        Raises:
            ValueError: There is none.
        """
        word, *modes = text.split(" ")
        return cls(Role(word), tuple(map(int, modes)))


@dataclass(frozen=True)
class SourceParameter:
    """A parameter of the source.

    Attributes:
        name: Its name.
        type: Its type, as the source spells it.
        becomes: The arguments of the kernel that it became, in order.
        attributes: What the source promises of it, as the source calls it.
        is_noalias: Whether the kernel relies on it that the parameter overlaps no other, where its
            arguments do not say so any more.
    """

    name: str
    type: str
    becomes: tuple[Piece, ...]
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    is_noalias: bool = False

    def attribute(self) -> DictionaryAttr:
        """The parameter as an attribute."""
        words: dict[str, Attribute] = {
            "becomes": ArrayAttr(string_attribute(str(piece)) for piece in self.becomes),
            "name": string_attribute(self.name),
            "type": string_attribute(self.type),
        }
        if self.attributes:
            words["attributes"] = DictionaryAttr(self.attributes)
        if self.is_noalias:
            words["noalias"] = UnitAttr()
        return DictionaryAttr(dict(sorted(words.items())))


@dataclass(frozen=True)
class KernelSignature:
    """The parameters that a kernel had in its source.

    Attributes:
        language: The source's language.
        parameters: Its parameters, in order.
    """

    language: str
    parameters: tuple[SourceParameter, ...]

    def attribute(self) -> DictionaryAttr:
        """The signature as an attribute."""
        parameters = ArrayAttr(parameter.attribute() for parameter in self.parameters)
        return DictionaryAttr({"language": StringAttr(self.language), "parameters": parameters})

    def split(self, parts: Callable[[int, Piece], Iterable[Piece]]) -> KernelSignature:
        """The signature of a kernel in which arguments have become several, or others.

        Args:
            parts: What an argument of a number has become.
        """
        numbers = iter(range(sum(len(parameter.becomes) for parameter in self.parameters)))
        return replace(
            self,
            parameters=tuple(
                replace(
                    each,
                    becomes=tuple(
                        chain.from_iterable(parts(next(numbers), piece) for piece in each.becomes)
                    ),
                )
                for each in self.parameters
            ),
        )

    def relying_on(self, function: Operation) -> KernelSignature:
        """The signature with what a function's arguments say of overlaps, before they are lost."""
        flags = iter([is_noalias(argument) for argument in function.regions[0].blocks[0].args])
        parameters: list[SourceParameter] = []
        for parameter in self.parameters:
            own = [next(flags) for _ in parameter.becomes]
            parameters.append(replace(parameter, is_noalias=parameter.is_noalias or any(own)))
        return replace(self, parameters=tuple(parameters))


def own_signature(function: Operation, language: str, count: int | None = None) -> KernelSignature:
    """The signature of a kernel whose parameters stay what they are.

    What has no name is called by its number.

    Args:
        function: The kernel, as its source has it.
        language: What messages call its language.
        count: How many of the body's arguments are parameters; None for all.
    """
    arguments = function.regions[0].blocks[0].args[:count]
    names = unique_names(arg.name_hint or str(number) for number, arg in enumerate(arguments))
    return KernelSignature(
        language,
        tuple(
            SourceParameter(name, attribute_text(argument.type), (_own_piece(argument.type),))
            for name, argument in zip(names, arguments, strict=True)
        ),
    )


def _own_piece(type: Attribute) -> Piece:
    if isa(type, MemRefType):
        return Piece(Role.MEMREF, tuple(range(type.get_num_dims())))
    return Piece(Role.VALUE)


def source_language(function: Operation) -> str | None:
    """The language of the source of a kernel; None if the kernel does not say.

    Raises:
        ValueError: The attribute is malformed; the message says how.
    """
    attribute = function.attributes.get(SIGNATURE_ATTRIBUTE)
    if attribute is None:
        return None
    return _text(_words(attribute)["language"], "language")


def source_signature(function: Operation) -> KernelSignature | None:
    """The signature that a kernel had in its source; None if it does not say.

    Raises:
        ValueError: The attribute is malformed; the message says how.
    """
    attribute = function.attributes.get(SIGNATURE_ATTRIBUTE)
    if attribute is None:
        return None
    return _read(attribute)


@lru_cache(_SIGNATURES_KEPT)
def _read(attribute: Attribute) -> KernelSignature:
    words = _words(attribute)
    language, parameters = _text(words["language"], "language"), words["parameters"]
    if not isinstance(parameters, ArrayAttr):
        raise ValueError("parameters must be an array")
    given = cast("ArrayAttr[Attribute]", parameters).data
    return KernelSignature(language, tuple(map(_parameter, given)))


def _words(attribute: Attribute) -> Mapping[str, Attribute]:
    return _dictionary(attribute, {"language", "parameters"}, set(), SIGNATURE_ATTRIBUTE)


def _parameter(attribute: Attribute) -> SourceParameter:
    needed, allowed = {"becomes", "name", "type"}, {"attributes", "noalias"}
    words = _dictionary(attribute, needed, allowed, "a parameter")
    name, becomes = _text(words["name"], "name"), words["becomes"]
    if not isinstance(becomes, ArrayAttr):
        raise ValueError(f"what '{name}' becomes must be an array")
    pieces: list[Piece] = []
    for each in cast("ArrayAttr[Attribute]", becomes).data:
        try:
            pieces.append(Piece.read(_text(each, "becomes")))
        except ValueError:
            known = ", ".join(role.value for role in Role)
            raise ValueError(
                f"'{name}' becomes {each}; expected one of {known}, and modes behind it"
            ) from None
    promises = words.get("attributes", DictionaryAttr({}))
    if not isinstance(promises, DictionaryAttr):
        raise ValueError(f"the attributes of '{name}' must be a dictionary")
    type = _text(words["type"], "type")
    return SourceParameter(name, type, tuple(pieces), dict(promises.data), "noalias" in words)


def _dictionary(
    attribute: Attribute, needed: set[str], allowed: set[str], what: str
) -> Mapping[str, Attribute]:
    if not isinstance(attribute, DictionaryAttr) or not needed <= {*attribute.data} <= (
        needed | allowed
    ):
        raise ValueError(f"{what} must be a dictionary of {', '.join(sorted(needed))}")
    return attribute.data


def _text(attribute: Attribute, what: str) -> str:
    if not isinstance(attribute, StringAttr):
        raise ValueError(f"{what} must be a string, given {attribute}")
    return attribute.data


# --- what is wrong with a signature ---


def find_problems(function: Operation, types: Sequence[Attribute]) -> Iterator[str]:
    """What is wrong with the signature of a kernel, in words.

    Args:
        function: The kernel.
        types: The types of its arguments.
    """
    try:
        signature = source_signature(function)
    except ValueError as error:
        yield f"{SIGNATURE_ATTRIBUTE}: {error}"
        return
    if signature is None:
        return
    names = [parameter.name for parameter in signature.parameters]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f"{SIGNATURE_ATTRIBUTE}: two parameters are called '{name}'"
    pieces = [(each.name, piece) for each in signature.parameters for piece in each.becomes]
    if len(pieces) != len(types):
        yield (
            f"{SIGNATURE_ATTRIBUTE}: its parameters become {len(pieces)} arguments, but the kernel "
            f"has {len(types)}"
        )
        return
    for number, ((name, piece), type) in enumerate(zip(pieces, types, strict=True)):
        problem = _problem_of(piece, type)
        if problem is not None:
            what = f"'{piece}' of '{name}' is argument {number} of type {type}"
            yield f"{SIGNATURE_ATTRIBUTE}: {what}, but {problem}"


def _problem_of(piece: Piece, type: Attribute) -> str | None:
    """Why an argument of a type cannot be what it is said to be."""
    role, modes = piece.role, piece.modes
    if role is Role.MEMREF:
        rank = _rank(type)
        if rank is None:
            return "only a memref can be one"
        if sorted(modes) != list(range(rank)):
            return f"each of its {rank} dimensions is a mode of its own"
        return None
    if role is Role.ELEMENTS:
        return (
            None if _rank(type) == 1 and not modes else "only a memref of one dimension can be it"
        )
    if len(modes) != (role in _OF_A_MODE):
        return "it needs the number of a mode" if role in _OF_A_MODE else "it has no mode"
    if role in _POINTERS and not _is_pointer(type) and not is_address(piece, type):
        return "only a pointer can be it"
    if role in _INTEGERS and not _is_integer(type):
        return "only an index or an i64 can be it"
    if role not in _POINTERS and (_is_pointer(type) or isinstance(type, MemRefType)):
        return "memory cannot be it"
    return None


def _rank(type: Attribute) -> int | None:
    """The dimensions of a memref, or of the memrefs of a group."""
    if not isa(type, MemRefType):
        return None
    entry = type.element_type
    return _rank(entry) if isa(entry, MemRefType) else type.get_num_dims()


def _is_pointer(type: Attribute) -> bool:
    return _scalar(type).name.rpartition(".")[2] in ("ptr", "pointer")


def is_address(piece: Piece, type: Attribute) -> bool:
    """Whether an argument of a type is a pointer of the source as a number."""
    return piece.role is Role.POINTER and type == i64


def _is_integer(type: Attribute) -> bool:
    return _scalar(type) in (i64, IndexType())


def _scalar(type: Attribute) -> Attribute:
    """The type of a number, which is that of the only element of a scalar tile."""
    if isinstance(type, ParametrizedAttribute) and type.name == _TILE:
        return type.parameters[1]
    return type


_TILE = "cuda_tile.tile"
