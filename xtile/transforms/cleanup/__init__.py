"""Cleans a kernel in core form up in one walk.

Constants are folded, branches and loops that constants decide are resolved, common subexpressions
are computed once, loop-invariant integer arithmetic moves out of loops, and what nobody uses goes.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xtile.rewrite.kernels import with_device_code_rebuilt
from xtile.text.source import source_of
from xtile.transforms.cleanup.dead_code import remove_dead_code
from xtile.transforms.cleanup.rebuild import Cleaner


def clean_up(module: ModuleOp) -> ModuleOp:
    """Returns a cleaned-up module; the given one stays as it is."""
    result = with_device_code_rebuilt(module, Cleaner(source_of(module)))
    remove_dead_code(result)
    return result
