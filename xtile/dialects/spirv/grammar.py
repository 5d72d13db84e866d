"""The instructions and enumerants of SPIR-V, looked up in the table `grammar.txt`.

The table is read when it is first asked, and each of its lines when that is first asked for.

Source: SPIR-V specification, section 3; `generate.py` writes the table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("grammar.txt")
"""The table, which `generate.py` writes."""

OPENCL_SET = "OpenCL.std"
"""The extended instruction set that the dialect has operations for."""

Version = tuple[int, int]
"""A version of SPIR-V: (1, 4)."""

NO_VERSION: Version = (255, 255)
"""What only extensions have: no version of SPIR-V is as large."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What may stand at one position: a kind of operand, and how often."""

    kind: str
    quantifier: str = ""
    """Empty for exactly one, `?` for at most one, `*` for any number."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One instruction or one enumerant.

    Attributes:
        name: Its name, for instructions without `Op`.
        number: Its opcode, its number in its set, or its value.
        operands: The operands of the instruction, or the parameters of the enumerant. The result
            and its type are not among them.
        has_type: Whether the instruction has the type of its result as an operand.
        has_result: Whether the instruction has a result.
        capabilities: Any one of these allows it; if there are none, nothing is needed. What a
            capability itself lists is declared along with it.
        extensions: Any one of these has it in versions before `version`.
        version: The first version that has it without an extension.
    """

    name: str
    number: int
    operands: tuple[Operand, ...]
    has_type: bool
    has_result: bool
    capabilities: tuple[str, ...]
    extensions: tuple[str, ...]
    version: Version


@dataclass(slots=True)
class Section:
    """The lines of one kind: `Instruction`, `OpenCL.std` or a kind of enumerants."""

    is_mask: bool = False
    lines: dict[str, str] = field(default_factory=dict[str, str])
    """What stands after the name, by name; an alias has the name after `=`."""
    _numbers: dict[int, str] = field(default_factory=dict[int, str])
    _entries: dict[str, Entry] = field(default_factory=dict[str, Entry])

    def get(self, name: str) -> Entry | None:
        """The entry with a name or an alias, or None."""
        entry = self._entries.get(name)
        if entry is None:
            line = self.lines.get(name)
            if line is None:
                return None
            entry = self.get(line[1:]) if line.startswith("=") else _entry(name, line)
            assert entry is not None
            self._entries[name] = entry
        return entry

    def of_number(self, number: int) -> Entry | None:
        """The entry with an opcode or a value, or None; the first of several names."""
        if not self._numbers:
            for name, line in self.lines.items():
                if not line.startswith("="):
                    self._numbers.setdefault(int(line.partition(" ")[0]), name)
        name = self._numbers.get(number)
        return None if name is None else self.get(name)

    @property
    def names(self) -> list[str]:
        """All names, without aliases."""
        return [name for name, line in self.lines.items() if not line.startswith("=")]


@cache
def sections() -> dict[str, Section]:
    """The sections of the table, by name."""
    found: dict[str, Section] = {}
    section = Section()
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name, _, rest = line[1:].partition("]")
            section = found[name] = Section(is_mask=bool(rest))
        elif line and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            section.lines[name] = rest
            _, found_alias, aliases = rest.partition(" alias:")
            if found_alias:
                for alias in aliases.split(","):
                    section.lines[alias] = f"={name}"
    return found


def instructions() -> Section:
    """The instructions of the core and of its extensions, without `Op`."""
    return sections()["Instruction"]


def opencl_instructions() -> Section:
    """The instructions of OpenCL.std."""
    return sections()[OPENCL_SET]


def extended_instructions(name: str) -> Section | None:
    """The instructions of an extended set, or None if the table has it not."""
    return sections().get(name) if "." in name else None


def generator_name(number: int) -> str | None:
    """The vendor and the name of the tool with a registered number, or None."""
    return sections()["Generator"].lines.get(str(number))


def enumerants(kind: str) -> Section | None:
    """The enumerants of a kind of operand, or None if it is not an enumeration."""
    return sections().get(kind)


def version_text(version: Version) -> str:
    """A version as people write it: `1.4`."""
    return f"{version[0]}.{version[1]}"


def _entry(name: str, line: str) -> Entry:
    number, *fields = line.split(" ")
    lists: dict[str, tuple[str, ...]] = {}
    kinds: list[str] = []
    for text in fields:
        key, colon, values = text.partition(":")
        if colon:
            lists[key] = tuple(values.split(","))
        else:
            kinds.append(text)
    return Entry(
        name=name,
        number=int(number),
        operands=tuple(_operand(kind) for kind in kinds if not kind.startswith("IdResult")),
        has_type="IdResultType" in kinds,
        has_result="IdResult" in kinds,
        capabilities=lists.get("capability", ()),
        extensions=lists.get("extension", ()),
        version=_version(*lists.get("version", ("1.0",))),
    )


def _operand(text: str) -> Operand:
    if text[-1] in "?*":
        return Operand(text[:-1], text[-1])
    return Operand(text)


def _version(text: str) -> Version:
    if text == "none":
        return NO_VERSION
    major, _, minor = text.partition(".")
    return int(major), int(minor)


VERSIONS = tuple((1, minor) for minor in range(7))
"""The versions of SPIR-V."""


def table_entry(name: str) -> Entry:
    """The entry of an instruction that the table has, such as `Decorate`."""
    entry = instructions().get(name)
    assert entry is not None
    return entry
