"""Translating kernels that are given as modules, paths or texts."""

from __future__ import annotations

import os
from typing import Literal

from xdsl.dialects.builtin import ModuleOp

from xtile.dialects.reading import parse
from xtile.text.diagnostics import Diagnostics
from xtile.text.value_names import clone_with_names
from xtile.translate.route import Options, check_target, translate_to


def translate(
    kernel: ModuleOp | str | os.PathLike[str],
    to: str,
    *,
    chip: str | None = None,
    may_overlap: bool = False,
    exact: bool = False,
    xegpu_level: Literal["work-group", "subgroup", "vc", "lane"] | None = None,
    diagnostics: Diagnostics | None = None,
) -> ModuleOp:
    """Translates kernels to another language, or to another level of the core form.

    Memrefs of the result are row-major and have the modes of the tensor language in reverse order.
    `run` takes the arguments of the source nevertheless, because kernels say what became of them.

    Args:
        kernel: A module, or a path or a text that `parse` reads, in any language from which there
            is a way. Its kernels may be of several languages and levels.
        to: The language, or the level of the core form; `xtile-opt --routes` lists them.
        chip: The device whose instructions are used, as `xtile devices` names it; None is `pvc`
            where that is one of Intel's, and `sm_90` where it is one of NVIDIA's.
        may_overlap: Whether arguments of a kernel may overlap although it writes to one of them,
            where its language or its attributes exclude it.
        exact: Whether products of f32 stay fused multiply-adds where a chip has faster products of
            parts of them.
        xegpu_level: Who holds the vectors of kernels of XeGPU: of those that are given and do not
            say so, or of those that are made; "vc" is the form in which each work-item is a
            subgroup. None where operations tell, and for the level that a route makes by default.
        diagnostics: Collects remarks that tell why the translation chose what it did.

    Returns:
        A new module; kernels that are there already stay what they are. A module that was given
        stays as it is.

    Raises:
        DiagnosticError: A kernel has errors, there is no way for it, or it cannot be translated.
        OptionError: There is no such language or chip, or the chip is another vendor's.
    """
    check_target(to, chip)
    module = kernel if isinstance(kernel, ModuleOp) else parse(kernel)
    options = Options(chip, may_overlap=may_overlap, xegpu_level=xegpu_level, exact=exact)
    result = translate_to(module, to, options, diagnostics)
    return clone_with_names(module) if result is kernel else result


port = translate
"""The same: what it returns is the port of the kernels."""
