"""What the commands of this package share: exit codes, how they end, and what they say."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from xtile.interrupts import EXIT_INTERRUPTED, Interrupts

if TYPE_CHECKING:
    from rich.console import RenderableType

    from xtile.text.diagnostics import Diagnostic

EXIT_OK = 0
EXIT_INPUT_WRONG = 1
EXIT_USAGE_WRONG = 2
EXIT_TOOL_FAILED = 3

TRACE_VARIABLE = "XTILE_TRACE"
"""The environment variable that, if set, lets an internal error show its Python trace."""

JSON_VERSION = 1
"""The version of the objects; keys may be added without another version."""

_FILE_WIDTH = 200
"""Columns of a table that goes to a file or a pipe."""

_RECURSION_LIMIT = 10_000
"""Python frames that a command may use; xDSL works by recursion over nested regions."""


class CommandError(Exception):
    """What a command says without a trace, because its user can do something about it.

    Attributes:
        EXIT_CODE: That of a command which it ends.
    """

    EXIT_CODE: ClassVar[int] = EXIT_INPUT_WRONG


class OutputError(Exception):
    """Standard output takes no more, for example because its disk is full."""


def run_command(name: str, body: Callable[[], int]) -> int:
    """Runs a command so that its user never meets a Python trace.

    Args:
        name: What messages call the command.
        body: The command; returns its exit code.

    Returns:
        The exit code: that of `body`; `EXIT_OK` if the reader of the output went away;
        `EXIT_INTERRUPTED` after an interrupt from the keyboard; `EXIT_TOOL_FAILED` if standard
        output cannot be written, and after a defect of the command, which are reported.

    Raises:
        SystemExit: `body` raised it, or the process got SIGTERM; the code is 143.
    """
    recursion_limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(recursion_limit, _RECURSION_LIMIT))
    interrupts = Interrupts()
    try:
        with interrupts:
            code = body()
        return EXIT_INTERRUPTED if interrupts.has_come else code
    except BrokenPipeError:
        _discard_standard_streams()
        return EXIT_OK
    except OutputError as error:
        sys.stderr.write(f"{name}: error: cannot write standard output: {error}\n")
        _discard_standard_streams()
        return EXIT_TOOL_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    # Nothing but a defect comes here, and a user cannot do anything with a trace.
    except Exception as error:
        # A library that was being loaded may make anything of an interrupt.
        return EXIT_INTERRUPTED if interrupts.has_come else _report_internal_error(name, error)
    finally:
        # A command can be called within a program that has a limit of its own.
        sys.setrecursionlimit(recursion_limit)


def run_in_child(body: Callable[[], int], explain: Callable[[int], str]) -> int:
    """Runs what may end the process that it runs in, such as a driver, in a child process.

    Args:
        body: What to run; returns an exit code.
        explain: What to tell, in one line, where a signal of this number ends the child.

    Returns:
        The child's exit code; `EXIT_TOOL_FAILED` if a signal ended it.
    """
    from xtile.processes import run_forked

    sys.stdout.flush()
    sys.stderr.flush()

    def run_and_flush() -> int:
        code = run_command("xtile", body)
        sys.stdout.flush()
        sys.stderr.flush()
        return code

    code = run_forked(run_and_flush)
    if code < 0:
        sys.stderr.write(f"{explain(-code)}\n")
        return EXIT_TOOL_FAILED
    return code


def write_standard_output(text: str | bytes) -> None:
    """Writes text to standard output as UTF-8, or bytes as they are.

    Raises:
        BrokenPipeError: The reader of the output went away.
        OutputError: The output cannot be written.
    """
    # The text may have characters that the terminal's own encoding lacks.
    data = text.encode("utf-8") if isinstance(text, str) else text
    stream = getattr(sys.stdout, "buffer", None)
    try:
        if stream is None:
            sys.stdout.write(data.decode("utf-8"))
        else:
            sys.stdout.flush()
            stream.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.strerror or str(error)) from error


def print_table(content: RenderableType, width: int = _FILE_WIDTH) -> None:
    """Prints a table to standard output; off a terminal it has at most `width` columns.

    Raises:
        BrokenPipeError: The reader of the output went away.
    """
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else width)
    # rich itself would end the process if the reader of the output has gone.
    with console.capture() as capture:
        console.print(content)
    write_standard_output(capture.get())


def html_of(content: RenderableType, width: int = _FILE_WIDTH) -> str:
    """A table as HTML, for notebooks."""
    from io import StringIO

    from rich.console import Console

    console = Console(width=width, record=True, file=StringIO())
    console.print(content)
    page = '<pre style="overflow-x: auto; line-height: 1.2">{code}</pre>'
    return console.export_html(inline_styles=True, code_format=page)


def is_colored(choice: str) -> bool:
    """Whether messages have colours, where `choice` is `auto`, `always` or `never`."""
    if choice == "auto":
        return sys.stderr.isatty() and "NO_COLOR" not in os.environ
    return choice == "always"


class Messages:
    """What one command says until it ends: on standard error, or one object of JSON.

    Args:
        name: The command, in front of errors that are about no text.
        as_json: Whether all goes into one object, which is printed at the end.
    """

    def __init__(self, *, as_json: bool, name: str = "xtile") -> None:
        self.as_json = as_json
        self._name = name
        self._diagnostics: list[Diagnostic] = []

    def answer(self, body: Callable[[], int]) -> int:
        """Runs what a command does and shows why it cannot be done; returns the exit code."""
        from xtile.text.diagnostics import DiagnosticError

        try:
            return body()
        except BrokenPipeError:
            # The reader of the output went away.
            raise
        except DiagnosticError as error:
            self.show(error.diagnostics)
            return self.end(EXIT_INPUT_WRONG)
        except CommandError as error:
            return self.fail(str(error), error.EXIT_CODE)
        except OSError as error:
            return self.fail(str(error), EXIT_INPUT_WRONG)

    def show(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Shows diagnostics."""
        if self.as_json:
            self._diagnostics += diagnostics
            return
        colored = is_colored("auto")
        for diagnostic in diagnostics:
            sys.stderr.write(diagnostic.render(colored) + "\n")

    def fail(self, message: str, code: int) -> int:
        """Shows an error that is about no text, and ends; returns the exit code."""
        if not self.as_json:
            sys.stderr.write(f"{self._name}: error: {message}\n")
        return self.end(code, {"error": message})

    def end(self, code: int, words: Mapping[str, Any] | None = None) -> int:
        """Prints the object, if there is to be one; returns the exit code."""
        if self.as_json:
            import json

            from xtile.text.diagnostics import words_of

            diagnostics = [words_of(each) for each in self._diagnostics]
            content = {
                "version": JSON_VERSION,
                "exit_code": code,
                "error": None,
                "diagnostics": diagnostics,
                **(words or {}),
            }
            write_standard_output(json.dumps(content, indent=1) + "\n")
        return code


def _discard_standard_streams() -> None:
    """Lets Python's own flush at exit succeed after the reader of the output has gone."""
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(null, stream.fileno())


def show_trace() -> None:
    """Shows the Python trace of the error that is handled, where a user asks for it."""
    if os.environ.get(TRACE_VARIABLE):
        import traceback

        traceback.print_exc()


def _report_internal_error(name: str, error: Exception) -> int:
    """Shows a defect in one line, and how to see more."""
    show_trace()
    reason = " ".join(str(error).split())
    sys.stderr.write(
        f"{name}: internal error: {type(error).__name__}: {reason}\n"
        f"This is a defect of xtile. Set {TRACE_VARIABLE}=1 to see where it happened.\n"
    )
    return EXIT_TOOL_FAILED
