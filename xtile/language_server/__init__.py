"""`xtile lsp`: kernels in an editor (docs/editors.md)."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from xtile.command import EXIT_OK, EXIT_TOOL_FAILED


def run_language_server() -> int:
    """Answers an editor over standard input and output; returns the exit code."""
    if find_spec("pygls") is None:
        sys.stderr.write(
            "xtile: error: pygls, which speaks to editors, is not here; add it with: "
            "pip install 'xtile[lsp]'\n"
        )
        return EXIT_TOOL_FAILED
    from xtile.language_server.server import serve

    serve()
    return EXIT_OK
