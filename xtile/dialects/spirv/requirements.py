"""Which capabilities and extensions a module must declare.

Source: SPIR-V specification, section 2.16 (Validation), 3.2.30 (Capability); for what depends on
types, section 2.16.1 and the extensions that are named below.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    VectorType,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xtile.dialects.spirv.grammar import Entry, Version, enumerants
from xtile.dialects.spirv.types import CooperativeMatrixType
from xtile.dialects.spirv.words import WORD_MASK

INTEGER_CAPABILITIES = {8: "Int8", 16: "Int16", 64: "Int64"}
"""The capability of each width of integers; those of 32 bits need none."""

FLOAT_CAPABILITIES = {16: "Float16", 64: "Float64"}
"""The capability of each width of IEEE floats; those of 32 bits need none."""

LARGEST_VECTOR = 4
"""Vectors with more components need the capability Vector16."""

PREFERRED = ("Kernel", "Addresses")
"""What is chosen where the table lists alternatives; else it is the first of them."""

ATOMIC_CAPABILITIES: dict[tuple[str, type[Attribute]], str] = {
    (f"Atomic{operation}EXT", float_type): f"AtomicFloat{width}{family}EXT"
    for operation, family in (("FAdd", "Add"), ("FMin", "MinMax"), ("FMax", "MinMax"))
    for float_type, width in ((Float16Type, 16), (Float32Type, 32), (Float64Type, 64))
}
"""The capability of a floating-point atomic, which the type decides.

Source: SPV_EXT_shader_atomic_float_add, SPV_EXT_shader_atomic_float_min_max,
SPV_EXT_shader_atomic_float16_add.
"""


class Requirements:
    """Collects what a module uses, and finds the fewest declarations that allow it.

    Args:
        version: The module's version of SPIR-V.
    """

    def __init__(self, version: Version) -> None:
        self._version = version
        self._capabilities: dict[tuple[str, ...], None] = {}
        self._extensions: dict[tuple[str, ...], None] = {}
        self._seen: set[int] = set()

    def use(self, entry: Entry) -> None:
        """Adds what an instruction or an enumerant needs."""
        # The table has each entry once.
        if id(entry) in self._seen:
            return
        self._seen.add(id(entry))
        if entry.capabilities:
            self._capabilities[entry.capabilities] = None
        if entry.extensions and entry.version > self._version:
            self._extensions[entry.extensions] = None

    def use_capability(self, name: str) -> None:
        """Adds a capability itself."""
        self._capabilities[name,] = None

    def use_extension(self, name: str) -> None:
        """Adds an extension itself."""
        self._extensions[name,] = None

    def use_atomic(self, name: str, type: Attribute) -> None:
        """Adds what an atomic instruction needs for a type of values."""
        capability = ATOMIC_CAPABILITIES.get((name, type.__class__))
        if capability is not None:
            self.use_capability(capability)
        elif isa(type, IntegerType) and type.width.data == 64:
            self.use_capability("Int64Atomics")

    def solve(self) -> tuple[list[str], list[str]]:
        """The capabilities and the extensions to declare, each sorted by number or by name."""
        capabilities = _choose(self._capabilities, declared_with, PREFERRED)
        section = enumerants("Capability")
        assert section is not None
        for name in capabilities:
            entry = section.get(name)
            if entry is not None and entry.extensions and entry.version > self._version:
                self._extensions[entry.extensions] = None
        extensions = _choose(self._extensions, lambda chosen: set(chosen), ())
        capabilities.sort(key=lambda name: capability_number(name) or 0)
        return capabilities, sorted(extensions)


def declared_with(capabilities: Iterable[str]) -> set[str]:
    """Capabilities with all that they declare implicitly."""
    section = enumerants("Capability")
    assert section is not None
    found: set[str] = set()
    waiting = list(capabilities)
    while waiting:
        name = waiting.pop()
        entry = section.get(name)
        if entry is not None and entry.name not in found:
            found.add(entry.name)
            waiting += entry.capabilities
    return found


def type_capabilities(type: Attribute) -> Iterator[str]:
    """The capabilities of a type that the table does not have."""
    capability = None
    if isa(type, VectorType):
        capability = "Vector16" if type.get_shape()[0] > LARGEST_VECTOR else None
    elif isinstance(type, CooperativeMatrixType):
        is_bfloat = isinstance(type.component_type, BFloat16Type)
        capability = "BFloat16CooperativeMatrixKHR" if is_bfloat else None
    elif isa(type, IntegerType):
        capability = INTEGER_CAPABILITIES.get(type.width.data)
    elif isinstance(type, Float16Type | Float64Type):
        capability = FLOAT_CAPABILITIES[type.bitwidth]
    if capability is not None:
        yield capability


def _choose(
    alternatives: Iterable[tuple[str, ...]],
    closure: Callable[[Iterable[str]], set[str]],
    preferred: Collection[str],
) -> list[str]:
    """Chooses one of each group of alternatives, those first that leave no choice."""
    chosen: list[str] = []
    allowed: set[str] = set()
    for group in sorted(alternatives, key=len):
        has_choice = len(group) > 1
        if has_choice and not allowed.isdisjoint(group):
            continue
        best = next((name for name in preferred if name in group), group[0])
        chosen.append(best)
        allowed |= closure((best,))
    return chosen


def capability_number(name: str) -> int | None:
    """The number of a capability; one that is not in the table is called by its number."""
    section = enumerants("Capability")
    entry = None if section is None else section.get(name)
    if entry is not None:
        return entry.number
    is_word = name.isascii() and name.isdigit() and len(name) <= 10 and int(name) <= WORD_MASK
    return int(name) if is_word else None
