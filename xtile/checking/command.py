"""What `xtile check` does."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
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
    is_colored,
    print_table,
    write_standard_output,
)
from xtile.dialects.reading import UnknownLanguageError
from xtile.launch.executable import Kernel
from xtile.launch.reference import load
from xtile.targets import OptionError
from xtile.text.diagnostics import Diagnostic, DiagnosticError


def run_check(options: Namespace) -> int:
    """Checks a port as the command line says; returns the exit code."""
    try:
        result = _check(options)
    except OptionError as error:
        return _fail(str(error), EXIT_USAGE_WRONG)
    except DeviceError as error:
        return _fail(str(error), EXIT_TOOL_FAILED)
    except DiagnosticError as error:
        _show(error.diagnostics)
        return EXIT_INPUT_WRONG
    except UnknownLanguageError as error:
        return _fail(str(error), EXIT_USAGE_WRONG)
    except (ArgumentError, OSError) as error:
        return _fail(str(error), EXIT_INPUT_WRONG)
    _print(result, options)
    return EXIT_OK if result.agrees else EXIT_INPUT_WRONG


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


def _print(result: CheckResult, options: Namespace) -> None:
    if options.json:
        write_standard_output(json.dumps(result.words(), indent=2) + "\n")
        return
    print_table(result.table(), width=120)
    if result.reproducer is not None:
        write_standard_output(f"python {result.reproducer} shows the first difference\n")
    if result.verdict is Verdict.NOT_RUN:
        write_standard_output("the port ran on no device\n")


def _show(diagnostics: Sequence[Diagnostic]) -> None:
    colored = is_colored("auto")
    for diagnostic in diagnostics:
        sys.stderr.write(diagnostic.render(colored) + "\n")


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"xtile: error: {message}\n")
    return code
