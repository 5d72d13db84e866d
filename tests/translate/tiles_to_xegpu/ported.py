"""Takes kernels to XeGPU at level work-group or subgroup, verified, printed and read again."""

from __future__ import annotations

import os

from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.dialects.verification import verify_module
from xtile.text.diagnostics import Diagnostics
from xtile.translate.route import Options, translate_to

TAKES_ALL = os.environ.get("XTILE_WHOLE_CORPUS") == "1"
"""Whether tests run whole collections of kernels in place of samples."""


def as_xegpu(
    kernel: ModuleOp | str,
    chip: str = "pvc",
    diagnostics: Diagnostics | None = None,
    level: str = "work-group",
    *,
    may_wrap: bool = False,
) -> ModuleOp:
    """What a kernel becomes.

    Args:
        kernel: The kernel, in any language from which there is a way; a text is MLIR's.
        chip: The GPU.
        diagnostics: Where remarks go; None drops them.
        level: The level of XeGPU.
        may_wrap: Whether nothing is relied on that a launch would check.
    """
    module = xtile.parse(kernel, language="mlir") if isinstance(kernel, str) else kernel
    options = Options(chip, xegpu_level=level, may_wrap=may_wrap)
    made = translate_to(module, "xegpu", options, diagnostics)
    problems = Diagnostics()
    verify_module(made, problems)
    assert not problems.has_errors, problems.render()
    return xtile.parse(text_of(made), language="mlir")


def text_of(module: ModuleOp) -> str:
    """The text of a module, as mlir-opt reads it."""
    return xtile.to_text(module, "mlir")


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
