"""What `xtile check` does."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from xtile.checking.agreement import check
from xtile.checking.given_inputs import given_arguments, given_shapes
from xtile.checking.results import CheckResult, Verdict
from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_OK,
    Messages,
    print_table,
    write_standard_output,
)
from xtile.launch.executable import Kernel
from xtile.launch.reference import load


def run_check(options: Namespace) -> int:
    """Checks a port as the command line says; returns the exit code."""
    messages = Messages(as_json=options.json)
    return messages.answer(lambda: _answer(options, messages))


def _answer(options: Namespace, messages: Messages) -> int:
    result = _check(options)
    if not options.json:
        _print(result)
    return messages.end(EXIT_OK if result.agrees else EXIT_INPUT_WRONG, result.words())


def _check(options: Namespace) -> CheckResult:
    signature = load(Kernel(Path(options.source), options.entry)).signature
    arguments, grid = given_arguments(options, signature)
    return check(
        options.source,
        options.port,
        arguments,
        grid,
        block=options.block,
        sizes=given_shapes(options, signature),
        entry=options.entry,
        port_entry=options.port_entry,
        devices=options.device,
        field=options.field,
        seed=options.seed,
        reproducer=options.reproducer,
    )


def _print(result: CheckResult) -> None:
    print_table(result.table(), width=120)
    if result.reproducer is not None:
        write_standard_output(f"python {result.reproducer} shows the first difference\n")
    if result.verdict is Verdict.NOT_RUN:
        write_standard_output("the port ran on no device\n")
