"""Measures how often this package and mlir-opt agree on whether MLIR text is right.

    python -m tests.conformance.llvm_verdicts --tests DIRECTORY --mlir-opt PATH --output page.md

Every `.mlir` file of the directory is cut into pieces at the lines `// -----`. mlir-opt judges each
piece by reading and verifying it, without any pass, and so does this package. Where the RUN line of
a file allows operations of unknown dialects, both allow them. Pieces for LLVM's passes alone, with
schedules or with code of one lane for all, are left out: no kernel is written so.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.context import Context

from tests.conformance.llvm_reasons import REASONS
from xtile.backends.tools import find_command
from xtile.dialects.languages import mlir_parser_for
from xtile.dialects.registry import make_context
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostic, Diagnostics, Severity
from xtile.text.mlir import read_mlir
from xtile.text.source import Source

_UNREGISTERED = "-allow-unregistered-dialect"
_FOR_PASSES = re.compile(
    r"^(?!\s*//).*\b(transform\.named_sequence|gpu\.warp_execute_on_lane_0)\b", re.MULTILINE
)
_CUT = re.compile(r"^// -----.*\n?", re.MULTILINE)
_FUNCTION = re.compile(r"^[ \t]*(?P<name>gpu\.func|func\.func)\b", re.MULTILINE)
_ALIAS = re.compile(r"^[#!][\w.$-]+[ \t]*=.*$", re.MULTILINE)
_BRACE = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[{}]')


@dataclass(frozen=True)
class Disagreement:
    """A piece on which the two verdicts differ.

    Attributes:
        file: The name of the file.
        number: The number of the piece in the file, counted from 1.
        upstream: The first error of mlir-opt, or that it accepts the piece.
        ours: The first error of this package, or that it accepts the piece.
        reasons: Why verdicts differ, by file and number.
    """

    file: str
    number: int
    upstream: str
    ours: str
    reasons: Mapping[tuple[str, int], str] = field(default_factory=lambda: REASONS, repr=False)

    @property
    def reason(self) -> str:
        """Why the verdicts differ."""
        return self.reasons.get((self.file, self.number), "not known")


@dataclass
class FileResult:
    """What one file came to.

    Attributes:
        name: The name of the file.
        pieces: How many pieces it has.
        accepted: How many of them mlir-opt accepts.
        functions: How many functions those have.
        accepted_functions: How many of these functions this package accepts.
        disagreements: The pieces on which the verdicts differ.
    """

    name: str
    pieces: int = 0
    accepted: int = 0
    functions: int = 0
    accepted_functions: int = 0
    disagreements: list[Disagreement] = field(default_factory=list[Disagreement])

    @property
    def agreeing(self) -> int:
        """On how many pieces the verdicts are the same."""
        return self.pieces - len(self.disagreements)


def pieces_of(text: str) -> list[str]:
    """Returns the pieces of a file that have text, without those for LLVM's passes alone."""
    pieces = _CUT.split(text)
    return [piece for piece in pieces if piece.strip() and not _FOR_PASSES.search(piece)]


def allows_unregistered(text: str) -> bool:
    """Whether the RUN lines of a file allow operations of dialects that are not known."""
    runs = re.findall(r"^// RUN:.*$", text, re.MULTILINE)
    return any(_UNREGISTERED in line for line in runs)


def first_error(text: str, is_lenient: bool = False) -> str | None:
    """Returns the first thing that this package finds wrong with a piece; None if it is right.

    Args:
        text: The piece.
        is_lenient: Whether operations of unknown dialects are allowed.
    """
    context = make_context()
    context.allow_unregistered = is_lenient
    errors = errors_of(Source("piece.mlir", text), context)
    return errors[0].message if errors else None


def errors_of(source: Source, context: Context) -> list[Diagnostic]:
    """Returns what this package finds wrong with a piece, as far as it reads it.

    Args:
        source: The piece.
        context: The dialects that it may hold.
    """
    diagnostics = Diagnostics(limit=None)
    module = read_mlir(source, diagnostics, context, mlir_parser_for(source))
    if module is not None:
        verify_module(module, diagnostics, source)
    return [d for d in diagnostics.sorted() if d.severity is Severity.ERROR]


def first_upstream_error(text: str, mlir_opt: str, is_lenient: bool = False) -> str | None:
    """Returns the first thing that mlir-opt finds wrong with a piece; None if it is right.

    Args:
        text: The piece.
        mlir_opt: The command.
        is_lenient: Whether operations of unknown dialects are allowed.
    """
    command = [mlir_opt, _UNREGISTERED] if is_lenient else [mlir_opt]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    if done.returncode < 0:
        return f"crash with signal {-done.returncode}"
    error = re.search(r"error: (.*)", done.stderr)
    return error[1] if error is not None else "an error without words"


def functions_of(text: str) -> Iterator[str]:
    """Yields each function of a piece as a piece of its own, with the aliases it may use."""
    aliases = "\n".join(_ALIAS.findall(text))
    for match in _FUNCTION.finditer(text):
        function = text[match.start() : _end_of_function(text, match.end())]
        if match["name"] == "gpu.func":
            function = f"gpu.module @functions {{\n{function}\n}}"
        yield f"{aliases}\n{function}\n"


def compare(files: Iterable[Path], mlir_opt: str) -> list[FileResult]:
    """Judges every piece of the files twice."""
    results = (_compare_file(path, mlir_opt) for path in files)
    return [result for result in results if result.pieces]


def _compare_file(path: Path, mlir_opt: str) -> FileResult:
    result = FileResult(path.name)
    text = path.read_text(encoding="utf-8")
    is_lenient = allows_unregistered(text)
    for number, piece in enumerate(pieces_of(text), start=1):
        upstream = first_upstream_error(piece, mlir_opt, is_lenient)
        ours = first_error(piece, is_lenient)
        result.pieces += 1
        if (upstream is None) != (ours is None):
            result.disagreements.append(
                Disagreement(path.name, number, upstream or "accepted", ours or "accepted")
            )
        if upstream is None:
            result.accepted += 1
            functions = list(functions_of(piece))
            result.functions += len(functions)
            result.accepted_functions += sum(
                ours is None or first_error(function, is_lenient) is None for function in functions
            )
    return result


def _end_of_function(text: str, start: int) -> int:
    """Returns where a function ends: at the brace of its body, or with its line if it has none."""
    line_end = text.find("\n", start)
    depth = 0
    for match in _BRACE.finditer(text, start):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            # A dictionary of attributes may stand before the body.
            if depth == 0 and not _goes_on(text, match.end()):
                return match.end()
        if depth == 0 and 0 <= line_end < match.start():
            break
    return len(text) if line_end < 0 else line_end


def _goes_on(text: str, end: int) -> bool:
    """Whether a function goes on after a closing brace."""
    rest = text[end:].split("\n", 1)[0].split("//", 1)[0].strip()
    return rest != ""


def report(results: Sequence[FileResult]) -> str:
    """Returns the tables as Markdown."""
    rows = [_row(result) for result in results]
    total = FileResult("**all**")
    for result in results:
        total.pieces += result.pieces
        total.accepted += result.accepted
        total.functions += result.functions
        total.accepted_functions += result.accepted_functions
        total.disagreements += result.disagreements
    share = 100 * total.agreeing / max(1, total.pieces)
    lines = [
        *table(_COLUMNS, [*rows, _row(total)]),
        "",
        f"The verdicts agree on {total.agreeing} of {total.pieces} pieces ({share:.1f} %).",
        "",
        *disagreement_table("mlir-opt", total.disagreements),
    ]
    return "\n".join(lines)


def disagreement_table(upstream: str, disagreements: Sequence[Disagreement]) -> list[str]:
    """Returns the lines of a table of disagreements, none if there are none.

    Args:
        upstream: What gives the other verdict.
        disagreements: The pieces on which the verdicts differ.
    """
    if not disagreements:
        return []
    rows = [
        [item.file, item.number, item.upstream, item.ours, item.reason] for item in disagreements
    ]
    return [*table(("file", "piece", upstream, "xtile", "reason"), rows), ""]


def table(columns: Sequence[str], rows: Iterable[Sequence[str | int]]) -> list[str]:
    """Returns the lines of a table in Markdown."""
    return [_table_row(columns), _table_row(["---"] * len(columns)), *map(_table_row, rows)]


_COLUMNS = (
    "file",
    "pieces",
    "accepted by mlir-opt",
    "agree",
    "disagree",
    "functions in accepted pieces",
    "of these accepted by xtile",
)


def _row(result: FileResult) -> list[str | int]:
    return [
        result.name,
        result.pieces,
        result.accepted,
        result.agreeing,
        len(result.disagreements),
        result.functions,
        result.accepted_functions,
    ]


def _table_row(cells: Iterable[str | int]) -> str:
    texts = (str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return f"| {' | '.join(texts)} |"


def write_report(path: Path, tables: str, subject: str = "the measurement") -> None:
    """Puts the tables into a page, between its two marks.

    Args:
        path: The page; where it has no such marks, marks and tables are appended.
        tables: What stands between the marks.
        subject: What the marks call it.
    """
    begin, end = f"<!-- begin of {subject} -->\n", f"<!-- end of {subject} -->\n"
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    if begin not in page:
        page += f"{begin}{end}"
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    path.write_text(f"{before}{begin}\n{tables}\n{end}{after}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares, prints the tables and writes them to a page if one is given."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.llvm_verdicts")
    parser.add_argument("--tests", type=Path, required=True, help="a folder of .mlir files")
    parser.add_argument("--mlir-opt", default="mlir-opt-22", help="the mlir-opt that judges")
    parser.add_argument("--output", type=Path, help="the page that the tables are put into")
    options = parser.parse_args(arguments)
    files = sorted(options.tests.glob("*.mlir"))
    if not files:
        parser.error(f"there are no .mlir files in {options.tests}")
    mlir_opt = find_command(options.mlir_opt)
    if mlir_opt is None:
        parser.error(f"there is no command {options.mlir_opt}; --mlir-opt names another")
    tables = report(compare(files, mlir_opt))
    print(tables)
    if options.output is not None:
        write_report(options.output, tables)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
