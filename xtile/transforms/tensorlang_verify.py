"""The pass that checks every rule of the tensor language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.text.operation_errors import expect_dialect
from xtile.text.verification import verify_module


class VerificationFailedError(DiagnosticError, PassFailedException):
    """The module breaks a rule; xDSL's own tools know this as a failed pass."""


@dataclass(frozen=True)
class TensorLangVerifyPass(ModulePass):
    """Checks a module as `xtile-opt` does, and fails with every error that it finds.

    Raises:
        VerificationFailedError: The module has errors, or nothing of the tensor language.
    """

    name: ClassVar[str] = "tensorlang-verify"

    @override
    def apply(self, ctx: Context, op: ModuleOp) -> None:
        try:
            expect_dialect(op, self.name, "tensorlang", "functions of the tensor language")
        except DiagnosticError as error:
            raise VerificationFailedError(error.diagnostics) from None
        diagnostics = Diagnostics()
        verify_module(op, diagnostics)
        if diagnostics.has_errors:
            raise VerificationFailedError(diagnostics.sorted())
