"""What `xtile compile` does."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path

from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.backends.compiling import compile as compile_kernels
from xtile.command import EXIT_INPUT_WRONG, EXIT_OK, EXIT_TOOL_FAILED, EXIT_USAGE_WRONG
from xtile.dialects.reading import UnknownLanguageError
from xtile.messages import Messages
from xtile.targets import OptionError
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics, Severity


def run_compile(options: Namespace) -> int:
    """Compiles kernels as the command line says; returns the exit code."""
    messages = Messages(as_json=options.json)
    directory = os.path.dirname(options.output)
    if directory and not os.path.isdir(directory):
        problem = f"-o {options.output}: there is no directory {directory}"
        return messages.fail(problem, EXIT_USAGE_WRONG)
    try:
        messages.show(_compile(options))
    except OptionError as error:
        return messages.fail(str(error), EXIT_USAGE_WRONG)
    except DeviceError as error:
        return messages.fail(str(error), EXIT_TOOL_FAILED)
    except ArgumentError as error:
        return messages.fail(str(error), EXIT_INPUT_WRONG)
    except DiagnosticError as error:
        messages.show(error.diagnostics)
        return messages.end(EXIT_INPUT_WRONG)
    except OSError as error:
        reason = error.strerror or str(error)
        return messages.fail(f"cannot write {options.output}: {reason}", EXIT_INPUT_WRONG)
    except UnknownLanguageError:
        return messages.fail(
            f"{options.kernel}: expected a file ending with .ir, .mlir, .ttir, .ttgir or .tileirbc",
            EXIT_USAGE_WRONG,
        )
    return messages.end(EXIT_OK, {"output": options.output})


def _compile(options: Namespace) -> list[Diagnostic]:
    """Writes the file; returns what is to be said of it."""
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
        exact=options.exact,
        launch_checks=options.launch_checks,
        diagnostics=diagnostics,
    )
    return [each for each in diagnostics if options.remarks or each.severity is not Severity.REMARK]
