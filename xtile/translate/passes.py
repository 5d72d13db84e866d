"""The translations as passes, for compilers that embed xDSL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import DEFAULT_CHIP, Options, translate


class TranslationFailedError(DiagnosticError, PassFailedException):
    """Something cannot be translated; xDSL's own tools know this as a failed pass."""


def replace_content(module: ModuleOp, new: ModuleOp) -> None:
    """Gives a module the operations and attributes of another one, which is left empty."""
    module.body.detach_block(module.body.block).erase()
    block = new.body.detach_block(new.body.block)
    module.body.add_block(block)
    module.attributes.update(new.attributes)


def _apply(module: ModuleOp, route: str, options: Options) -> None:
    try:
        new = translate(module, route, options)
    except DiagnosticError as error:
        raise TranslationFailedError(error.diagnostics) from error
    replace_content(module, new)


@dataclass(frozen=True)
class TensorLangToCorePass(ModulePass):
    """Translates the tensor language to the core form at block level."""

    name: ClassVar[str] = "tensorlang-to-core"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _apply(op, self.name, Options())


@dataclass(frozen=True)
class TensorLangToXeGPUPass(ModulePass):
    """Translates the tensor language to XeGPU for a chip: pvc, bmg or dg2."""

    name: ClassVar[str] = "tensorlang-to-xegpu"

    chip: str = DEFAULT_CHIP

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _apply(op, self.name, Options(self.chip))


@dataclass(frozen=True)
class CoreToXeGPUPass(ModulePass):
    """Translates the core form at subgroup level to XeGPU for a chip: pvc, bmg or dg2."""

    name: ClassVar[str] = "core-to-xegpu"

    chip: str = DEFAULT_CHIP

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _apply(op, self.name, Options(self.chip))
