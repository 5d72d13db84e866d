"""Takes kernels of tiles to subgroups and to lanes, verified."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.dialects.verification import verify_module
from xtile.targets.compilers import XTILE
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate_to


def distributed(
    kernel: ModuleOp | str,
    level: str = "subgroup",
    chip: str = "pvc",
    diagnostics: Diagnostics | None = None,
    *,
    may_wrap: bool = False,
) -> ModuleOp:
    """What a kernel becomes at level "subgroup" or "lane", without a matrix unit's instructions.

    Args:
        kernel: The kernel, in any language with tiles; a text is MLIR's.
        level: The level.
        chip: The GPU.
        diagnostics: Where remarks go; None drops them.
        may_wrap: Whether nothing is relied on that a launch would check.
    """
    module = xtile.parse(kernel, language="mlir") if isinstance(kernel, str) else kernel
    options = Options(chip, matrix_spelling="plain", compiler=XTILE, may_wrap=may_wrap)
    made = translate_to(module, level, options, diagnostics)
    problems = Diagnostics()
    verify_module(made, problems)
    assert not problems.has_errors, problems.render()
    return made


def tile_kernel(parameters: str, body: str) -> str:
    """A kernel at level tile."""
    return f"""
    #lhs = affine_map<(m, n, k) -> (m, k)>
    #rhs = affine_map<(m, n, k) -> (k, n)>
    #sum = affine_map<(m, n, k) -> (m, n)>
    gpu.module @kernels {{
      gpu.func @k({parameters}) kernel attributes {{core.level = "tile"}} {{
        %c0 = arith.constant 0 : index
        {body}
        gpu.return
      }}
    }}
    """
