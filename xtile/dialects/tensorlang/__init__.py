"""The tensor language dialect (Intel's tinytc).

Source: tensor language reference of tinytc v0.4.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.ir import Dialect, Operation

from xtile.dialects.tensorlang import attributes, types
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops import OPERATIONS

if TYPE_CHECKING:
    from xdsl.parser import Parser
    from xdsl.printer import Printer


class _Support:
    """What instructions need of modules that know all of them; each is loaded when it is used."""

    def verify(self, operation: TensorLangOperation) -> None:
        from xdsl.utils.exceptions import VerifyException

        from xtile.dialects.tensorlang.verifier import operation_problems

        for problem in operation_problems(operation):
            raise VerifyException(problem.message)

    def parse(self, cls: type[TensorLangOperation], parser: Parser) -> TensorLangOperation:
        from xtile.dialects.tensorlang.mlir_assembly import parse_operation

        return parse_operation(cls, parser)

    def print(self, operation: TensorLangOperation, printer: Printer) -> None:
        from xtile.dialects.tensorlang.mlir_assembly import print_operation

        print_operation(operation, printer)


TensorLangOperation.SUPPORT = _Support()

_operations: list[type[Operation]] = [*OPERATIONS]

TensorLang = Dialect(
    "tensorlang",
    _operations,
    [
        types.VoidType,
        types.MemrefType,
        types.GroupType,
        types.CoopmatrixType,
        attributes.AddressSpaceAttr,
        attributes.MatrixUseAttr,
        attributes.CheckedFlagAttr,
        attributes.MemoryScopeAttr,
        attributes.MemorySemanticsAttr,
        attributes.ComponentAttr,
        attributes.ReduceModeAttr,
    ],
)
