"""Ports kernels of every language to every other and back, and compares what they compute.

    python -m tests.ports.crossing [--from LANGUAGE] [--to LANGUAGE] [--kernel NAME] [--output FILE]
                                   [--jobs N]

prints a line for each port and the table of docs/conformance.md. A text is printed and read again
before it runs. Kernels that are in the file of `--output` are not ported again. With `--field`
ports are compared on exact numbers, too, and a second table counts what these say.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.ports.corpus import FAMILIES, Kernel, kernels_of
from xtile.arguments.array_arguments import flattened, takes_pointers
from xtile.arguments.errors import ArgumentError
from xtile.arguments.signature import Signature
from xtile.checking.agreement import compare
from xtile.checking.launches import Given
from xtile.checking.results import Verdict
from xtile.checking.trials import Trials
from xtile.dialects.printing import text_of
from xtile.launch.executable import Kernel as Launched
from xtile.launch.reference import load
from xtile.targets import OptionError
from xtile.text.diagnostics import DiagnosticError

_LANGUAGES: Any = {".ir": "tensorlang", ".mlir": "mlir", ".ttir": "ttir"}

SEED = 1


@dataclass(frozen=True)
class Crossing:
    """What became of a kernel in a language.

    Attributes:
        source: The kernel's language.
        kernel: Its name.
        target: The other language.
        verdict: "right", "refused" or "wrong".
        reason: Why it is refused or wrong.
        back: The verdict of the port of the port, in the kernel's language again; empty where there
            is no port.
        back_reason: Why that is refused or wrong.
        seconds: How long it took.
        exact: What the comparison on exact numbers says of the port; None without one.
        back_exact: The same of the port of the port.
        is_located: Whether each message of a refusal has its place in the text that it is about,
            or names the file of bytes, which has no lines.
    """

    source: str
    kernel: str
    target: str
    verdict: str
    reason: str
    back: str
    back_reason: str
    seconds: float
    exact: str | None = None
    back_exact: str | None = None
    is_located: bool = True


def crossings(kernel: Kernel, targets: Iterable[str], *, field: bool = False) -> Iterable[Crossing]:
    """What becomes of a kernel in languages."""
    module = kernel.read()
    trials = trials_of(kernel, module)
    if not list(trials):
        raise ArgumentError(f"{kernel.name}: there is nothing to compare")
    for target in targets:
        began = time.monotonic()
        there = _ported(trials, module, target, field)
        back = _Ported(None, "", "")
        if there.verdict == "right" and there.module is not None:
            back = _ported(trials, there.module, kernel.language, field)
        yield Crossing(
            kernel.language,
            kernel.name,
            target,
            there.verdict,
            there.reason,
            back.verdict,
            back.reason,
            round(time.monotonic() - began, 1),
            there.exact,
            back.exact,
            there.is_located and back.is_located,
        )


def verdict_of_chain(kernel: Kernel, languages: Iterable[str]) -> tuple[str, str]:
    """The verdict of a port of a port, and its reason; those of the first that is not right."""
    module = kernel.read()
    trials, made = trials_of(kernel, module), _Ported(module, "", "nothing was ported")
    for language in languages:
        assert made.module is not None
        made = _ported(trials, made.module, language, field=False)
        if made.verdict != "right":
            break
    return made.verdict, made.reason


def trials_of(kernel: Kernel, module: ModuleOp) -> Trials:
    """What ports of a kernel are compared in."""
    if kernel.arguments is None:
        return Trials(module, _first(module), Given({}, {}), SEED)
    signature = load(Launched(module, None)).signature
    given = by_name(signature, list(kernel.arguments()))
    grid = (*(kernel.grid() if kernel.grid else ()), 1, 1, 1)[:3]
    return Trials(module, None, Given(given, {}, (grid[0], grid[1], grid[2]), None, True), SEED)


def _first(module: ModuleOp) -> str:
    from xtile.arguments.kernel import kernels_of as functions_of

    return next(iter(functions_of(module)))


def by_name(signature: Signature, values: list[Any]) -> dict[str, Any]:
    """Arguments by the parameters' names; sizes and strides follow arrays where they must."""
    flat = flattened(signature, values) if takes_pointers(signature) else values
    return dict(zip((each.name for each in signature.parameters), flat, strict=True))


@dataclass(frozen=True)
class _Ported:
    """A port, its verdict, the reason of it, what the exact numbers say, and a refusal's place."""

    module: ModuleOp | None
    verdict: str
    reason: str
    exact: str | None = None
    is_located: bool = True


def _ported(trials: Trials, module: ModuleOp, target: str, field: bool) -> _Ported:
    try:
        made = xtile.translate(module, target)
    except (DiagnosticError, OptionError) as error:
        return _Ported(None, "refused", _words(error), is_located=_is_located(error))
    try:
        text, ending = text_of(made)
        port = xtile.parse(text, language=_LANGUAGES[ending])
        result = compare(trials, port, sanitize=False, field=field)
    except (ArgumentError, DiagnosticError) as error:
        return _Ported(None, "wrong", _words(error))
    worst = result.worst
    if result.verdict is Verdict.AGREES:
        return _Ported(port, "right", "", result.exact)
    reason = "it ran nowhere" if worst is None else worst.error_text()
    return _Ported(port, "wrong", reason, result.exact)


def _is_located(error: DiagnosticError | OptionError) -> bool:
    return isinstance(error, DiagnosticError) and all(
        each.source is not None and (each.span is not None or each.source.data is not None)
        for each in error.diagnostics
    )


def _words(error: BaseException) -> str:
    first = str(error).splitlines()[0]
    return re.sub(r"^.*?error: ", "", first)


def main() -> None:
    """Runs the crossings that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="source", choices=list(FAMILIES))
    parser.add_argument("--to", dest="target", choices=list(FAMILIES))
    parser.add_argument("--kernel")
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--field", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    done = _read(options.output)
    tasks = list(_tasks(options, done))
    with ProcessPoolExecutor(options.jobs) as pool:
        made = {pool.submit(_ported_kernel, *task, options.field): task for task in tasks}
        for future in as_completed(made):
            try:
                found = future.result()
            except Exception as error:
                source, name, _ = made[future]
                print(f"{source} {name}: {type(error).__name__}: {_words(error)}", flush=True)
                continue
            done += found
            lines = "".join(f"{json.dumps(asdict(each))}\n" for each in found)
            print(lines, end="", flush=True)
            if options.output:
                with options.output.open("a") as file:
                    file.write(lines)
    print(table_of(done))
    print(exact_table_of(done))


def _tasks(
    options: argparse.Namespace, done: list[Crossing]
) -> Iterator[tuple[str, str, list[str]]]:
    """Kernels that are not done, each by its language and name, with the languages it goes to."""
    known = {(each.source, each.kernel, each.target) for each in done}
    for source in [options.source] if options.source else FAMILIES:
        targets = [each for each in FAMILIES if each != source and options.target in (None, each)]
        for name in list(kernels_of(source))[: options.count]:
            wanted = [each for each in targets if (source, name, each) not in known]
            if options.kernel in (None, name) and wanted:
                yield source, name, wanted


def _ported_kernel(source: str, name: str, targets: list[str], field: bool) -> list[Crossing]:
    return list(crossings(kernels_of(source)[name], targets, field=field))


def _read(path: Path | None) -> list[Crossing]:
    if path is None or not path.exists():
        return []
    return [Crossing(**json.loads(line)) for line in path.read_text().splitlines()]


def table_of(done: list[Crossing]) -> str:
    """The numbers of ports as a table: right, and in parentheses refused and wrong."""
    lines = ["| from | to | kernels | right | refused | wrong | and back: right, refused, wrong |"]
    lines.append("|---|---|--:|--:|--:|--:|---|")
    for source in FAMILIES:
        for target in FAMILIES:
            own = [each for each in done if (each.source, each.target) == (source, target)]
            if own:
                there = Counter(each.verdict for each in own)
                back = Counter(each.back for each in own)
                counts = [there[word] for word in ("right", "refused", "wrong")]
                backs = ", ".join(str(back[word]) for word in ("right", "refused", "wrong"))
                cells = [source, target, len(own), *counts, backs]
                lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def exact_table_of(done: list[Crossing]) -> str:
    """What the exact numbers say of ports, and of the ports of these back again."""
    lines = ["| from | to | agree | refused | differ | and back: agree, refused, differ |"]
    lines.append("|---|---|--:|--:|--:|---|")
    for source in FAMILIES:
        for target in FAMILIES:
            own = [each for each in done if (each.source, each.target) == (source, target)]
            there = Counter(each.exact for each in own if each.exact)
            back = Counter(each.back_exact for each in own if each.back_exact)
            if there:
                words = ("agrees", "refused", "differs")
                backs = ", ".join(str(back[word]) for word in words)
                cells = [source, target, *(there[word] for word in words), backs]
                lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
