"""The counter of code lines passes over what is no code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.code_lines import code_lines, main

EXAMPLE = '''"""A module
of two lines."""

from os import (
    path,
)

LIMIT = 3  # a comment beside code
"""What it limits."""


def half(x: int) -> str:
    """A function."""
    import math  # inside

    # Why.
    text = """two
lines"""
    return text * math.floor(x / 2)
'''


def test_only_code_counts() -> None:
    assert code_lines(EXAMPLE) == 5
    assert code_lines("") == 0
    assert code_lines('x = f(\n    1,\n\n    "#",\n)\n') == 4


def test_table_has_folders_and_their_sum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    package = tmp_path / "package"
    (package / "text" / "deep").mkdir(parents=True)
    (package / "a.py").write_text("x = 1\ny = 2\n")
    (package / "text" / "b.py").write_text(EXAMPLE)
    (package / "text" / "deep" / "c.py").write_text("z = 3\n")
    main([str(package)])
    assert capsys.readouterr().out.splitlines() == [
        "      6 lines in    2 files  package/text",
        "      2 lines in    1 files  package",
        "      8 lines in    3 files  all",
    ]
    main([str(package), "--depth", "2"])
    assert "      1 lines in    1 files  package/text/deep\n" in capsys.readouterr().out
