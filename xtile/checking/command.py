"""What `xtile check` does."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.checking.agreement import check
from xtile.checking.given_inputs import given_arguments, given_shapes
from xtile.checking.results import CheckResult, Verdict
from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_OK,
    EXIT_TOOL_FAILED,
    EXIT_USAGE_WRONG,
    Messages,
    print_table,
    write_standard_output,
)
from xtile.dialects.reading import UnknownLanguageError
from xtile.launch.executable import Kernel
from xtile.launch.reference import load
from xtile.targets import OptionError
from xtile.text.diagnostics import DiagnosticError


def run_check(options: Namespace) -> int:
    """Checks a port as the command line says; returns the exit code."""
    messages = Messages(as_json=options.json)
    try:
        result = _check(options)
    except (OptionError, UnknownLanguageError) as error:
        return messages.fail(str(error), EXIT_USAGE_WRONG)
    except DeviceError as error:
        return messages.fail(str(error), EXIT_TOOL_FAILED)
    except DiagnosticError as error:
        messages.show(error.diagnostics)
        return messages.end(EXIT_INPUT_WRONG)
    except (ArgumentError, OSError) as error:
        return messages.fail(str(error), EXIT_INPUT_WRONG)
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
