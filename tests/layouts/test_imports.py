"""The package stands on its own."""

from __future__ import annotations

import subprocess
import sys

LOADED = """
import sys
before = set(sys.modules)
import xtile.layouts
loaded = set(sys.modules) - before
print(*sorted(
    name for name in loaded
    if name.split(".")[0] not in sys.stdlib_module_names
    and not name.startswith(("xtile.layouts", "_distutils")) and name != "xtile"
))
"""


def test_layouts_import_nothing_but_the_standard_library() -> None:
    command = [sys.executable, "-c", LOADED]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout == "\n"
