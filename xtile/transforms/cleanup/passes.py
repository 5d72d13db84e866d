"""The clean-up as a pass, for compilers that embed xDSL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xtile.text.diagnostics import DiagnosticError
from xtile.transforms.cleanup import clean_up
from xtile.translate.contracts import CONTRACTS, check
from xtile.translate.passes import TranslationFailedError, replace_content


@dataclass(frozen=True)
class CoreCleanupPass(ModulePass):
    """Folds constants, resolves control flow, and shares and removes computations of kernels.

    Raises:
        TranslationFailedError: There is no kernel.
    """

    name: ClassVar[str] = "core-cleanup"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            check(op, self.name, [CONTRACTS[self.name]])
        except DiagnosticError as error:
            raise TranslationFailedError(error.diagnostics) from None
        replace_content(op, clean_up(op))
