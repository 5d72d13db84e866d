"""The whole `arith` dialect; its operations are here by their names.

They are xDSL's own where these lack nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.ir import Dialect

from xtile.dialects.arith.arithmetic import RemFOp
from xtile.dialects.arith.casts import IndexCastUIOp, ScalingExtFOp, ScalingTruncFOp
from xtile.dialects.arith.extensions import OPERATIONS
from xtile.dialects.registry import operations_by_name
from xtile.text.extensions import completed

if TYPE_CHECKING:
    from xtile.dialects.arith.arithmetic import *
    from xtile.dialects.arith.casts import *
    from xtile.dialects.arith.comparisons import *

Arith = Dialect(
    "arith",
    completed(
        list(arith.Arith.operations),
        OPERATIONS,
        [IndexCastUIOp, RemFOp, ScalingExtFOp, ScalingTruncFOp],
    ),
    list(arith.Arith.attributes),
    [arith.ArithConstantMaterializationInterface()],
)

__getattr__ = operations_by_name("arith")
