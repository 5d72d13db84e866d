"""The `ub` dialect: values of which nothing is specified.

Source: MLIR (LLVM 22), `Dialect/UB/IR/UBOps.td`.
"""

from __future__ import annotations

from xdsl.dialects import ub
from xdsl.dialects.ub import PoisonAttr
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xtile.text.extensions import Extension, Table


def _verify_poison(operation: ub.PoisonOp) -> None:
    """`ub.poison`: a value of which nothing is specified: each of its elements may be any number.

    ```
    %r = ub.poison : vector<4xf32>
    ```
    """
    if not isinstance(operation.value, PoisonAttr):
        raise VerifyException(f"expected #ub.poison, the whole value, got {operation.value}")


def is_poison(value: SSAValue) -> bool:
    """Whether nothing is specified of a value."""
    return isinstance(value.owner, Operation) and value.owner.name == ub.PoisonOp.name


OPERATIONS: Table = {
    ub.PoisonOp: Extension(verify=_verify_poison),
}
"""What LLVM says of xDSL's operations."""

UB = Dialect("ub", [ub.PoisonOp, ub.UnreachableOp], [PoisonAttr])

__all__ = ["UB", "is_poison"]
