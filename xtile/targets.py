"""The output languages, as xDSL targets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, ClassVar

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target


@dataclass(frozen=True)
class TensorLangTarget(Target):
    """The tensor language's own text, in its current revision."""

    name: ClassVar[str] = "tensorlang"

    @override
    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        from xtile.dialects.tensorlang.printer import print_module

        print_module(module, output)
