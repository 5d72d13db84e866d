"""Writes kernels and cleans them up."""

from __future__ import annotations

from tests.transforms.distribute.kernels import printed, read
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.cleanup import clean_up


def kernel(body: str, parameters: str = "") -> str:
    """The text of a module with one kernel."""
    return (
        f"gpu.module @m {{\ngpu.func @k({parameters}) kernel "
        f'attributes {{core.level = "subgroup"}} {{\n{body}\ngpu.return\n}}\n}}\n'
    )


def cleaned(body: str, parameters: str = "") -> list[str]:
    """The lines of a kernel's body when it is cleaned up, which is verified."""
    module = read(kernel(body, parameters))
    before = printed(module)
    result = clean_up(module)
    assert printed(module) == before
    found = Diagnostics()
    verify_module(result, found)
    assert not found.has_errors, found.render()
    lines = [line[6:] for line in printed(result).splitlines()]
    return lines[3 : lines.index("gpu.return")]
