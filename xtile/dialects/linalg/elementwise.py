"""Operations on each element: of `exp` and its kin of one input, of `add` and its kin of two.

Source: MLIR (LLVM 22), `Dialect/Linalg/IR/LinalgNamedStructuredOps.yaml`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects.linalg import ops
from xdsl.dialects.linalg.abstract_ops import ElementwiseOperation, NamedOperation
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import BaseAttr, OptPropertyDef

from xtile.dialects.definitions import op_definition
from xtile.dialects.linalg.assembly import NamedText, tensors
from xtile.dialects.linalg.payloads import payload
from xtile.dialects.linalg.structure import TypeFnAttr, element_type
from xtile.dialects.upstream import completes

CAST = {"cast": OptPropertyDef(BaseAttr(TypeFnAttr))}
"""How numbers are cast to the output's type, of operations that cast them."""


def named_region(name: str, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
    """The region of an operation, as its name says; an empty one if it takes no such elements."""
    body = payload(name, [element_type(value) for value in (*inputs, *outputs)])
    return Region([] if body is None else [body])


class Named(NamedText, NamedOperation):
    """An operation that xDSL lacks, whose region its name says."""

    def __init__(
        self,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        res: Sequence[Attribute] | None = None,
    ) -> None:
        super().__init__(
            inputs,
            outputs,
            result_types=[tensors(outputs) if res is None else res],
            hidden_region=self.get_hidden_region(inputs, outputs),
        )

    @classmethod
    @override
    def get_hidden_region(cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
        return named_region(cls.name, inputs, outputs)


class Elementwise(Named, ElementwiseOperation):
    """An operation on each element that xDSL lacks."""


@completes()
class AddOp(NamedText, ops.AddOp):
    """The sum of two numbers.

    ```
    linalg.add ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """


@completes(properties=CAST)
class CopyOp(NamedText, ops.CopyOp):
    """The number, cast to the type of the output.

    ```
    linalg.copy ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """


@completes()
class ExpOp(NamedText, ops.ExpOp):
    """The exponential.

    ```
    linalg.exp ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """


@completes()
class FillOp(NamedText, ops.FillOp):
    """The same number everywhere.

    ```
    linalg.fill ins(%a : f32) outs(%c : memref<4xf32>)
    ```
    """


@completes()
class LogOp(NamedText, ops.LogOp):
    """The natural logarithm.

    ```
    linalg.log ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """


@completes()
class MaxOp(NamedText, ops.MaxOp):
    """The larger number; a NaN if one is.

    ```
    linalg.max ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """


@completes()
class MinOp(NamedText, ops.MinOp):
    """The smaller number; a NaN if one is.

    ```
    linalg.min ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """


@completes()
class MulOp(NamedText, ops.MulOp):
    """The product of two numbers.

    ```
    linalg.mul ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """


@completes()
class SelectOp(NamedText, ops.SelectOp):
    """The second or the third input, as the first one says.

    ```
    linalg.select ins(%p, %a, %b : memref<4xi1>, memref<4xf32>, memref<4xf32>)
        outs(%c : memref<4xf32>)
    ```
    """


@completes()
class SqrtOp(NamedText, ops.SqrtOp):
    """The square root.

    ```
    linalg.sqrt ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """


@completes()
class SubOp(NamedText, ops.SubOp):
    """The difference of two numbers.

    ```
    linalg.sub ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """


@op_definition
class AbsOp(Elementwise):
    """The absolute value.

    ```
    linalg.abs ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.abs"


@op_definition
class CeilOp(Elementwise):
    """The number rounded up.

    ```
    linalg.ceil ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.ceil"


@op_definition
class DivOp(Elementwise):
    """The quotient; that of integers is rounded towards 0.

    ```
    linalg.div ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.div"


@op_definition
class DivUnsignedOp(Elementwise):
    """The quotient of integers without a sign.

    ```
    linalg.div_unsigned ins(%a, %b : memref<4xi32>, memref<4xi32>) outs(%c : memref<4xi32>)
    ```
    """

    name = "linalg.div_unsigned"


@op_definition
class ErfOp(Elementwise):
    """The error function.

    ```
    linalg.erf ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.erf"


@op_definition
class FloorOp(Elementwise):
    """The number rounded down.

    ```
    linalg.floor ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.floor"


@op_definition
class NegFOp(Elementwise):
    """The number with the other sign.

    ```
    linalg.negf ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.negf"


@op_definition
class PowFOp(Elementwise):
    """The first number to the power of the second.

    ```
    linalg.powf ins(%a, %b : memref<4xf32>, memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.powf"


@op_definition
class ReciprocalOp(Elementwise):
    """1 divided by the number.

    ```
    linalg.reciprocal ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.reciprocal"


@op_definition
class RoundOp(Elementwise):
    """The nearest integer; of two the one away from 0.

    ```
    linalg.round ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.round"


@op_definition
class RsqrtOp(Elementwise):
    """1 divided by the square root.

    ```
    linalg.rsqrt ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.rsqrt"


@op_definition
class SquareOp(Elementwise):
    """The number times itself.

    ```
    linalg.square ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.square"


@op_definition
class TanhOp(Elementwise):
    """The hyperbolic tangent.

    ```
    linalg.tanh ins(%a : memref<4xf32>) outs(%c : memref<4xf32>)
    ```
    """

    name = "linalg.tanh"


OPERATIONS: list[type[Operation]] = [
    AbsOp,
    AddOp,
    CeilOp,
    CopyOp,
    DivOp,
    DivUnsignedOp,
    ErfOp,
    ExpOp,
    FillOp,
    FloorOp,
    LogOp,
    MaxOp,
    MinOp,
    MulOp,
    NegFOp,
    PowFOp,
    ReciprocalOp,
    RoundOp,
    RsqrtOp,
    SelectOp,
    SqrtOp,
    SquareOp,
    SubOp,
    TanhOp,
]
"""The operations of this module."""
