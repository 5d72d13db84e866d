"""Modules, errors and reports in notebooks: `%load_ext xtile`."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from xtile.text.diagnostics import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from types import TracebackType

_COLORS = (
    (re.compile(r"(//[^\n]*|(?<![\w#]);[^\n]*)"), "#6a737d"),
    (re.compile(r"(?<![\w&])(%[\w$.-]+(?:#\d+)?)"), "#005cc5"),
    (re.compile(r"(@[\w$.-]+)"), "#6f42c1"),
    (re.compile(r"(?<![\w.%@#!])((?!span|style)[a-z_]\w*\.[a-z]\w*)"), "#d73a49"),
)
"""What has a colour: comments, values, functions, operations; in this order."""

_SEVERITIES = {"error": "#c00", "warning": "#a60", "remark": "#06c", "note": "#666"}


def load_ipython_extension(shell: Any) -> None:
    """Lets a shell of IPython show modules as text in colours, and mistakes in kernels as messages.

    Args:
        shell: The `InteractiveShell`.
    """
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(ModuleOp, html_of_module)
    formatters["text/html"].for_type(DiagnosticError, html_of_error)
    shell.set_custom_exc((DiagnosticError,), _show_error)


def html_of_module(module: ModuleOp) -> str:
    """A module as the text of its language, in colours."""
    from xtile.dialects.printing import text_of

    try:
        text, _ = text_of(module)
    except DiagnosticError:
        text = str(module)
    return html_of_text(text)


def html_of_text(text: str) -> str:
    """The text of a kernel in colours."""
    lines = [_colored(line) for line in text.splitlines()]
    return f'<pre style="overflow-x: auto; line-height: 1.3">{chr(10).join(lines)}</pre>'


def _colored(line: str) -> str:
    parts = [(line, "")]
    for pattern, color in _COLORS:
        parts = [
            piece
            for text, known in parts
            for piece in ([(text, known)] if known else _split(pattern, text, color))
        ]
    return "".join(
        f'<span style="color: {color}">{escape(text)}</span>' if color else escape(text)
        for text, color in parts
    )


def _split(pattern: re.Pattern[str], text: str, color: str) -> list[tuple[str, str]]:
    """Pieces of a text, each second of which a pattern matches and has a colour."""
    pieces = pattern.split(text)
    return [(piece, color if n % 2 else "") for n, piece in enumerate(pieces) if piece]


def html_of_error(error: DiagnosticError) -> str:
    """What is wrong with a kernel, each message with its line."""
    return "".join(map(_html_of_diagnostic, error.diagnostics))


def _html_of_diagnostic(diagnostic: Diagnostic) -> str:
    color = _SEVERITIES[diagnostic.severity.value]
    first, *rest = diagnostic.render().splitlines()
    head = f'<b style="color: {color}">{escape(first)}</b>'
    return f'<pre style="overflow-x: auto">{chr(10).join([head, *map(escape, rest)])}</pre>'


def _show_error(
    shell: Any, kind: type[BaseException], error: DiagnosticError, trace: TracebackType, **_: Any
) -> None:
    """Shows mistakes in a kernel without the trace of Python, which says nothing of them."""
    from IPython.display import HTML, display  # pyright: ignore

    display(HTML(html_of_error(error)))  # pyright: ignore
