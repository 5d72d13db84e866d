"""The forms that a kernel has on its way, as text whose lines know the source's lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import StringIO
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from xtile.text.source import Source, source_of, span_of

_LOCATION = re.compile(r' ?loc\((?:unknown|"(?P<file>[^"]*)":(?P<line>\d+):\d+|[^()]*)\)')


@dataclass(frozen=True)
class Form:
    """A kernel at one point of its way.

    Attributes:
        name: What made it: a step of the translation, or a tool.
        seconds: How long that took.
        text: The text.
        origins: For each line of the text the line of the source that it was made of, from 1;
            0 where that is not known.
        is_of_a_tool: Whether an assembler or a disassembler made it, and no translation.
    """

    name: str
    seconds: float
    text: str
    origins: tuple[int, ...]
    is_of_a_tool: bool = False

    def words(self) -> dict[str, Any]:
        """The form as JSON holds it."""
        return {
            "name": self.name,
            "seconds": round(self.seconds, 6),
            "text": self.text,
            "origins": list(self.origins),
        }


def form_of(name: str, seconds: float, module: ModuleOp, source: Source | None) -> Form:
    """A module as a form, in the language of its kernels."""
    if any(operation.name == "tensorlang.func" for operation in module.walk()):
        return _tensorlang(name, seconds, module, source)
    return _mlir(name, seconds, module, source)


def _mlir(name: str, seconds: float, module: ModuleOp, source: Source | None) -> Form:
    """MLIR is printed with locations, which are taken out of the lines again."""
    from xtile.dialects.normalisation import normalised
    from xtile.text.mlir import print_mlir

    output = StringIO()
    print_mlir(normalised(module), output, debuginfo=True, local_scope=True)
    lines: list[str] = []
    origins: list[int] = []
    opened: list[int] = []
    for number, line in enumerate(output.getvalue().splitlines()):
        origin = _origin(line, source)
        text = _LOCATION.sub("", line).rstrip()
        lines.append(text)
        origins.append(origin)
        if text.startswith(tuple(" }")) and text.lstrip().startswith("}") and opened:
            # The location of an operation stands behind its region.
            first = opened.pop()
            origins[first] = origins[first] or origin
        if text.endswith("{"):
            opened.append(number)
    return Form(name, seconds, "\n".join(lines) + "\n", tuple(origins))


def _origin(line: str, source: Source | None) -> int:
    found = [match for match in _LOCATION.finditer(line) if match["line"]]
    known = [each for each in found if source is None or each["file"] == source.name]
    return int(known[-1]["line"]) if known else 0


def _tensorlang(name: str, seconds: float, module: ModuleOp, source: Source | None) -> Form:
    """The tensor language is read again: its operations come in the order of those printed."""
    from xtile.dialects.printing import text_in
    from xtile.dialects.reading import parse

    text = text_in(module, "tensorlang")
    origins = [0] * len(text.splitlines())
    again = parse(text, language="tensorlang", check=False)
    printed = source_of(again)
    pairs = zip(module.walk(), again.walk(), strict=False)
    for made, read in pairs if printed is not None else ():
        if made.name != read.name:
            break
        assert printed is not None
        before, after = span_of(made, source), printed.span_of(read)
        if before is not None and after is not None and source is not None:
            line = printed.position(after.start)[0] - 1
            origins[line] = origins[line] or source.position(before.start)[0]
    return Form(name, seconds, text, tuple(origins))


def plain_form(name: str, seconds: float, text: str) -> Form:
    """A text of a tool, whose lines know no source."""
    return Form(name, seconds, text, (0,) * len(text.splitlines()), is_of_a_tool=True)
