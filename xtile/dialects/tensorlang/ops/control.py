"""Structured control flow.

Source: tensor language reference, sections "For", "If" and "Yield".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsTerminator, NoTerminator

from xtile.dialects.definitions import op_definition
from xtile.dialects.tensorlang.constraints import BOOLEAN, INTEGER, SCALAR_OR_MATRIX
from xtile.dialects.tensorlang.operation import (
    Operand,
    TensorLangOperation,
    integer_attribute,
    region_of,
)


@op_definition
class ForOp(TensorLangOperation):
    """A sequential loop over [from; to) with loop-carried values ("For").

    ```
    %sum = for %i=%from,%to,%step init(%s=%zero) -> (f32) {
        %next = add %s, %x : f32
        yield (%next)
    } attributes{unroll=4}
    ```

    The region's arguments are the loop variable, then the loop-carried values. `unroll` is a
    BoolAttr (do or do not unroll) or an IntegerAttr (partial unroll count).
    """

    name = "tensorlang.for"
    SYNTAX: ClassVar[str] = "for()"

    from_ = operand_def(INTEGER)
    to = operand_def(INTEGER)
    step = opt_operand_def(INTEGER)
    init = var_operand_def(SCALAR_OR_MATRIX)
    unroll = opt_prop_def(Attribute)
    results_ = var_result_def(SCALAR_OR_MATRIX)
    body = region_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(NoTerminator())

    def __init__(
        self,
        from_: Operand,
        to: Operand,
        step: Operand | None = None,
        init: Sequence[Operand] = (),
        body: Region | None = None,
        *,
        unroll: bool | int | None = None,
    ) -> None:
        carried = [SSAValue.get(value).type for value in init]
        super().__init__(
            operands=[from_, to, step, init],
            properties={"unroll": None if unroll is None else _unroll_attribute(unroll)},
            result_types=[carried],
            regions=[region_of(body, [SSAValue.get(from_).type, *carried])],
        )


@op_definition
class IfOp(TensorLangOperation):
    """A conditional, which may return values ("If").

    ```
    %x = if %condition -> (i32) {
        yield (%a)
    } else {
        yield (%b)
    }
    ```

    Without an else the second region is empty.
    """

    name = "tensorlang.if"
    SYNTAX: ClassVar[str] = "if()"

    condition = operand_def(BOOLEAN)
    results_ = var_result_def(SCALAR_OR_MATRIX)
    then = region_def()
    otherwise = region_def()
    traits = traits_def(NoTerminator())

    def __init__(
        self,
        condition: Operand,
        result_types: Sequence[Attribute] = (),
        then: Region | None = None,
        otherwise: Region | None = None,
    ) -> None:
        super().__init__(
            operands=[condition],
            result_types=[result_types],
            regions=[region_of(then), Region() if otherwise is None else otherwise],
        )


@op_definition
class YieldOp(TensorLangOperation):
    """Returns values from an if, a for or a cooperative_matrix_apply ("Yield").

    ```
    yield (%a, %b)
    ```
    """

    name = "tensorlang.yield"
    SYNTAX: ClassVar[str] = "($values)"

    values = var_operand_def(SCALAR_OR_MATRIX)
    traits = traits_def(IsTerminator())

    def __init__(self, values: Sequence[Operand] = ()) -> None:
        super().__init__(operands=[values])


def _unroll_attribute(unroll: bool | int) -> Attribute:
    return BoolAttr.from_bool(unroll) if isinstance(unroll, bool) else integer_attribute(unroll)
