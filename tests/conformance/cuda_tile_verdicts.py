"""Measures how often this package and NVIDIA's own tools agree on CUDA Tile IR text.

    python -m tests.conformance.cuda_tile_verdicts --tests DIRECTORY --output conformance.md

The directory is `test/Dialect/CudaTile` of NVIDIA/cuda-tile. Every `.mlir` file of it is cut into
pieces at the lines `// -----`. The verdict of NVIDIA's tools is what the file states: a piece is
wrong if a comment in it expects an error, or a file if its RUN line expects the tool to fail; every
other piece is right. Errors of passes do not count: only reading and verifying is compared.

Files that state what is printed are printed, and FileCheck compares.

NVIDIA's tests wrap much of their text in `testing$func`, which is no public operation;
`tests.conformance.cuda_tile_functions` stands in for it.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from tests.conformance.cuda_tile_functions import make_testing_context
from tests.conformance.cuda_tile_printed import compare_text
from tests.conformance.cuda_tile_reasons import REASONS
from tests.conformance.llvm_verdicts import (
    Disagreement,
    allows_unregistered,
    disagreement_table,
    errors_of,
    pieces_of,
    table,
    write_report,
)
from tests.dialects.cuda_tile.hints import find_problems
from xtile.dialects.cuda_tile.version_check import check_versions
from xtile.dialects.cuda_tile.versions import V13_3
from xtile.text.diagnostics import Diagnostic, Diagnostics
from xtile.text.expected import expected_error_lines
from xtile.text.mlir import read_mlir
from xtile.text.source import Source, span_of

SUBJECT = "the measurement of CUDA Tile IR"
"""What the marks of the tables in the page are called."""

_RUN = re.compile(r"^// RUN: (.*)$", re.MULTILINE)
_ACCEPTED = "accepted"


@dataclass
class FileResult:
    """What one file came to.

    Attributes:
        name: The name of the file.
        pieces: How many pieces it has.
        wrong: How many of them NVIDIA's tools refuse.
        located: How many of these this package refuses at a line where an error is expected.
        unlocated: How many of these state no line.
        disagreements: The pieces on which the verdicts differ.
        elsewhere: The pieces that are refused at other lines only, with our first error.
    """

    name: str
    pieces: int = 0
    wrong: int = 0
    located: int = 0
    unlocated: int = 0
    disagreements: list[Disagreement] = field(default_factory=list[Disagreement])
    elsewhere: list[Disagreement] = field(default_factory=list[Disagreement])

    @property
    def agreeing(self) -> int:
        """On how many pieces the verdicts are the same."""
        return self.pieces - len(self.disagreements)

    def add(self, other: FileResult) -> None:
        """Adds what another file came to."""
        self.pieces += other.pieces
        self.wrong += other.wrong
        self.located += other.located
        self.unlocated += other.unlocated
        self.disagreements += other.disagreements
        self.elsewhere += other.elsewhere


@dataclass(frozen=True)
class Rules:
    """What the RUN lines of a file say about its pieces.

    Attributes:
        is_lenient: Whether operations of unknown dialects are allowed.
        hints_are_errors: Whether unknown optimization hints are errors.
        states_errors: Whether comments state the errors of reading and verifying.
        is_refused: Whether the tool must fail, on every piece.
    """

    is_lenient: bool
    hints_are_errors: bool
    states_errors: bool
    is_refused: bool


def rules_of(text: str) -> Rules:
    """Returns what the first RUN line of a file says."""
    runs = _RUN.findall(text)
    run = runs[0] if runs else ""
    return Rules(
        is_lenient=allows_unregistered(text),
        hints_are_errors="-Werr-hints" in run,
        # What a pass of the tests finds is no matter of reading and verifying.
        states_errors="-verify-diagnostics" in run and "--test-" not in run,
        is_refused=run.startswith("not "),
    )


def expected_errors(source: Source, rules: Rules) -> list[int | None]:
    """Returns the lines at which NVIDIA's tools find errors in a piece; None is an unknown line."""
    if rules.is_refused:
        return [None]
    return expected_error_lines(source, "//") if rules.states_errors else []


def compare(files: Iterable[Path]) -> list[FileResult]:
    """Judges every piece of the files."""
    return [_compare_file(path) for path in files]


def _compare_file(path: Path) -> FileResult:
    result = FileResult(path.name)
    text = path.read_text(encoding="utf-8")
    rules = rules_of(text)
    # What precedes the first cut may hold RUN lines only.
    pieces = [piece for piece in pieces_of(text) if _has_text(piece)]
    for number, piece in enumerate(pieces, start=1):
        _compare_piece(result, number, Source("piece.mlir", piece), rules)
    return result


def _has_text(piece: str) -> bool:
    return any(line.strip() and not line.startswith("// ") for line in piece.splitlines())


def _compare_piece(result: FileResult, number: int, source: Source, rules: Rules) -> None:
    expected = expected_errors(source, rules)
    errors = _errors_of(source, rules)
    theirs = f"an error in line {expected[0]}" if expected else _ACCEPTED
    ours = _position(errors[0]) if errors else _ACCEPTED
    difference = Disagreement(result.name, number, theirs, ours, REASONS)
    result.pieces += 1
    result.wrong += bool(expected)
    if bool(expected) != bool(errors):
        result.disagreements.append(difference)
    elif None in expected:
        result.unlocated += 1
    elif expected and not {_line(error) for error in errors}.isdisjoint(expected):
        result.located += 1
    elif expected:
        result.elsewhere.append(difference)


def _errors_of(source: Source, rules: Rules) -> list[Diagnostic]:
    """What this package finds wrong with a piece, if nothing that came after 13.3 may be used."""
    errors = errors_of(source, make_testing_context(is_lenient=rules.is_lenient))
    if errors:
        return errors
    diagnostics = Diagnostics(limit=None)
    context = make_testing_context(is_lenient=rules.is_lenient)
    module = read_mlir(source, diagnostics, context)
    if module is not None:
        check_versions(module, V13_3, diagnostics, source)
        if rules.hints_are_errors:
            _check_hints(module, diagnostics, source)
    return diagnostics.sorted()


def _check_hints(module: ModuleOp, diagnostics: Diagnostics, source: Source) -> None:
    for operation in module.walk():
        for problem in find_problems(operation):
            diagnostics.error(source, span_of(operation, source), problem)


def _line(error: Diagnostic) -> int | None:
    if error.source is None or error.span is None:
        return None
    return error.source.position(error.span.start)[0]


def _position(error: Diagnostic) -> str:
    return f"line {_line(error)}: {error.message}"


_COLUMNS = (
    "file",
    "pieces",
    "wrong",
    "agree",
    "disagree",
    "refused at the stated line",
    "without a stated line",
)


def report(results: Sequence[FileResult], printed: Mapping[str, bool]) -> str:
    """Returns the tables as Markdown.

    Args:
        results: What the files came to.
        printed: Whether the text of a file is printed as it states.
    """
    total = FileResult("**all**")
    for result in results:
        total.add(result)
    share = 100 * total.agreeing / max(1, total.pieces)
    lines = [
        *table(_COLUMNS, [_row(result) for result in [*results, total]]),
        "",
        f"The verdicts agree on {total.agreeing} of {total.pieces} pieces ({share:.1f} %).",
        "",
        *disagreement_table("cuda-tile-opt", total.disagreements),
        (
            f"{sum(printed.values())} of the {len(printed)} files that state what is printed are "
            "printed so, from the custom and from the generic form."
        ),
        "",
        *(f"- not so: {name}" for name, is_right in printed.items() if not is_right),
    ]
    if total.elsewhere:
        lines += ["Refused at another line than stated:", ""]
        lines += disagreement_table("cuda-tile-opt", total.elsewhere)
    return "\n".join(lines)


def _row(result: FileResult) -> list[str | int]:
    return [
        result.name,
        result.pieces,
        result.wrong,
        result.agreeing,
        len(result.disagreements),
        result.located,
        result.unlocated,
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares, prints the tables and writes them to a page if one is given."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.cuda_tile_verdicts")
    parser.add_argument("--tests", type=Path, required=True, help="a folder of .mlir files")
    parser.add_argument("--output", type=Path, help="the page that the tables are put into")
    options = parser.parse_args(arguments)
    files = sorted(options.tests.glob("*.mlir"))
    if not files:
        parser.error(f"there are no .mlir files in {options.tests}")
    tables = report(compare(files), compare_text(files))
    print(tables)
    if options.output is not None:
        write_report(options.output, tables, SUBJECT)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
