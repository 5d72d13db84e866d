"""What `xtile compile` does."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.backends.compiling import compile as compile_kernels
from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_OK,
    EXIT_TOOL_FAILED,
    EXIT_USAGE_WRONG,
    is_colored,
)
from xtile.dialects.reading import UnknownLanguageError
from xtile.targets import OptionError
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity


def run_compile(options: Namespace) -> int:
    """Compiles kernels as the command line says; returns the exit code."""
    directory = os.path.dirname(options.output)
    if directory and not os.path.isdir(directory):
        return _fail(f"-o {options.output}: there is no directory {directory}", EXIT_USAGE_WRONG)
    try:
        return _compile(options)
    except OptionError as error:
        return _fail(str(error), EXIT_USAGE_WRONG)
    except DeviceError as error:
        return _fail(str(error), EXIT_TOOL_FAILED)
    except ArgumentError as error:
        return _fail(str(error), EXIT_INPUT_WRONG)
    except DiagnosticError as error:
        _show(error.diagnostics)
        return EXIT_INPUT_WRONG
    except OSError as error:
        reason = error.strerror or str(error)
        return _fail(f"cannot write {options.output}: {reason}", EXIT_INPUT_WRONG)
    except UnknownLanguageError:
        message = (
            f"{options.kernel}: expected a file ending with .ir, .mlir, .ttir, .ttgir or .tileirbc"
        )
        return _fail(message, EXIT_USAGE_WRONG)


def _compile(options: Namespace) -> int:
    diagnostics = Diagnostics()
    compile_kernels(
        Path(options.kernel),
        options.output,
        chip=options.chip,
        entry=options.entry,
        level=options.level,
        warps=options.num_warps,
        stages=options.num_stages,
        through=options.through,
        build_seconds=options.build_seconds,
        may_overlap=options.may_overlap,
        launch_checks=options.launch_checks,
        diagnostics=diagnostics,
    )
    shown = (
        each for each in diagnostics if options.remarks or each.severity is not Severity.REMARK
    )
    _show(list(shown))
    return EXIT_OK


def _show(diagnostics: Sequence[Diagnostic]) -> None:
    """Writes diagnostics to standard error."""
    colored = is_colored("auto")
    for diagnostic in diagnostics:
        sys.stderr.write(diagnostic.render(colored) + "\n")


def _fail(message: str, code: int) -> int:
    """Writes one line of error to standard error; returns the exit code."""
    sys.stderr.write(f"xtile: error: {message}\n")
    return code
