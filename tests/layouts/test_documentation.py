"""What docs/layouts.md shows is what its code prints."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "layouts.md"


def test_the_code_prints_what_stands_below_it() -> None:
    text = PAGE.read_text()
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.DOTALL)
    assert len(examples) == text.count("```python") == 3
    names: dict[str, object] = {}
    for code, shown in examples:
        output = StringIO()
        with redirect_stdout(output):
            exec(compile(code, PAGE.name, "exec"), names)
        assert output.getvalue() == shown


def test_the_page_names_what_there_is() -> None:
    import xtile.layouts.amd
    import xtile.layouts.intel
    import xtile.layouts.triton

    text = PAGE.read_text()
    for module in (xtile.layouts.amd, xtile.layouts.intel, xtile.layouts.triton):
        for name, value in vars(module).items():
            is_own = getattr(value, "__module__", "") == module.__name__ and name[0] != "_"
            if is_own and name not in ("elements_of_a_word",):
                assert name in text, name
