"""The `ub` dialect: values of which nothing is specified.

Source: MLIR (LLVM 22), `Dialect/UB/IR/UBOps.td`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects import ub
from xdsl.dialects.ub import PoisonAttr, UnreachableOp
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.upstream import completes


@completes()
class PoisonOp(ub.PoisonOp):
    """A value of which nothing is specified: each of its elements may be any number.

    ```
    %r = ub.poison : vector<4xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        if not isinstance(self.value, PoisonAttr):
            raise VerifyException(f"expected #ub.poison, the whole value, got {self.value}")


def is_poison(value: SSAValue) -> bool:
    """Whether nothing is specified of a value."""
    return isinstance(value.owner, Operation) and value.owner.name == PoisonOp.name


UB = Dialect("ub", [PoisonOp, UnreachableOp], [PoisonAttr])

__all__ = ["UB", "PoisonOp", "is_poison"]
