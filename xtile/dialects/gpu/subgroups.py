"""What the work-items of a block or a subgroup do together.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td` and `GPUDialect.cpp`.
"""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    I32,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    VectorType,
    i1,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    Pure,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.gpu.assembly import Cluster, OptionalCombiner
from xtile.dialects.gpu.attributes import (
    AllReduceOperationAttr,
    BroadcastTypeAttr,
    ShuffleModeAttr,
)
from xtile.dialects.gpu.enumerations import AllReduceOperation, BroadcastType, ShuffleMode
from xtile.dialects.upstream import (
    SIGNLESS_INTEGER_OR_FLOAT,
    TypeWhere,
    element_type,
    is_float,
    is_signless_integer_or_float,
)
from xtile.text.extensions import generic_elsewhere


def _is_scalar_or_vector(type: Attribute) -> bool:
    if isa(type, VectorType):
        is_fixed = type.get_num_scalable_dims() == 0 and len(type.get_shape()) == 1
        return is_fixed and is_signless_integer_or_float(type.element_type)
    return is_signless_integer_or_float(type)


_SCALAR_OR_VECTOR = TypeWhere(
    "a signless integer, a float, or a one-dimensional vector of them", _is_scalar_or_vector
)

_FLOAT_COMBINERS = frozenset(
    {
        AllReduceOperation.MINNUMF,
        AllReduceOperation.MAXNUMF,
        AllReduceOperation.MINIMUMF,
        AllReduceOperation.MAXIMUMF,
    }
)
_ANY_COMBINERS = frozenset({AllReduceOperation.ADD, AllReduceOperation.MUL})


def _verify_combiner(combiner: AllReduceOperation, type: Attribute) -> None:
    """Checks that a combiner is defined on a type."""
    if combiner in _ANY_COMBINERS:
        return
    element = element_type(type)
    fits = is_float(element) if combiner in _FLOAT_COMBINERS else isinstance(element, IntegerType)
    if not fits:
        kind = "floats" if combiner in _FLOAT_COMBINERS else "integers"
        raise VerifyException(f"the reduction `{combiner.value}` is for {kind}, got {type}")


@generic_elsewhere
@op_definition
class BarrierOp(IRDLOperation):
    """Waits for all work-items of the block.

    ```
    gpu.barrier
    ```
    """

    name = "gpu.barrier"

    assembly_format = "attr-dict"


@generic_elsewhere
@op_definition
class YieldOp(IRDLOperation):
    """Ends the region of another operation of this dialect.

    ```
    gpu.yield %sum : f32
    ```
    """

    name = "gpu.yield"

    values = var_operand_def()

    assembly_format = "attr-dict ($values^ `:` type($values))?"

    traits = traits_def(IsTerminator(), Pure())

    def __init__(self, *values: SSAValue) -> None:
        super().__init__(operands=[values])


@op_definition
class ShuffleOp(IRDLOperation):
    """Reads the value of another lane; the second result says whether there is one.

    ```
    %value, %valid = gpu.shuffle  xor %a, %offset, %width : f32
    ```
    """

    name = "gpu.shuffle"

    TYPE: ClassVar = VarConstraint("TYPE", _SCALAR_OR_VECTOR)

    value = operand_def(TYPE)
    offset = operand_def(i32)
    width = operand_def(i32)
    mode = prop_def(ShuffleModeAttr)
    shuffleResult = result_def(TYPE)  # noqa: N815
    valid = result_def(i1)

    assembly_format = "` ` $mode $value `,` $offset `,` $width attr-dict `:` type($value)"

    traits = traits_def(Pure())

    def __init__(
        self, value: SSAValue, offset: SSAValue, width: SSAValue, mode: ShuffleMode
    ) -> None:
        super().__init__(
            operands=[value, offset, width],
            properties={"mode": ShuffleModeAttr(mode)},
            result_types=[value.type, i1],
        )


@op_definition
class RotateOp(IRDLOperation):
    """Reads the value of the lane `offset` further on, around groups of `width` lanes.

    ```
    %value, %valid = gpu.rotate %a, 1, 16 : f32
    ```
    """

    name = "gpu.rotate"

    TYPE: ClassVar = VarConstraint("TYPE", _SCALAR_OR_VECTOR)

    value = operand_def(TYPE)
    offset = prop_def(IntegerAttr[I32])
    width = prop_def(IntegerAttr[I32])
    rotateResult = result_def(TYPE)  # noqa: N815
    valid = result_def(i1)

    assembly_format = "$value `,` $offset `,` $width attr-dict `:` type($value)"

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        offset, width = self.offset.value.data, self.width.value.data
        if not _is_power_of_two(width):
            raise VerifyException(f"the width must be a power of two, got {width}")
        if not 0 <= offset < width:
            raise VerifyException(f"the offset must be in the range [0, {width}), got {offset}")


@op_definition
class SubgroupBroadcastOp(IRDLOperation):
    """Gives every lane the value of one lane.

    ```
    %value = gpu.subgroup_broadcast %a,  specific_lane %lane : f32
    ```
    """

    name = "gpu.subgroup_broadcast"

    TYPE: ClassVar = VarConstraint("TYPE", TypeWhere("a type", lambda _: True))

    src = operand_def(TYPE)
    lane = opt_operand_def(i32)
    broadcast_type = prop_def(BroadcastTypeAttr)
    result = result_def(TYPE)

    assembly_format = "$src `,` ` ` $broadcast_type ($lane^)? attr-dict `:` type($result)"

    @override
    def verify_(self) -> None:
        is_specific = self.broadcast_type.data is BroadcastType.SPECIFIC_LANE
        if is_specific and self.lane is None:
            raise VerifyException("a `specific_lane` broadcast needs a lane")
        if not is_specific and self.lane is not None:
            raise VerifyException("only a `specific_lane` broadcast has a lane")


@generic_elsewhere
@op_definition
class AllReduceOp(IRDLOperation):
    """Combines the values of all work-items of the block, with a combiner or by a region.

    ```
    %sum = gpu.all_reduce  add %a uniform {
    } : (f32) -> f32
    ```
    """

    name = "gpu.all_reduce"

    TYPE: ClassVar = VarConstraint("TYPE", SIGNLESS_INTEGER_OR_FLOAT)

    value = operand_def(TYPE)
    op = opt_prop_def(AllReduceOperationAttr)
    uniform = opt_prop_def(UnitAttr)
    result = result_def(TYPE)
    body = region_def()

    assembly_format = (
        "custom<OptionalCombiner>($op) $value (`uniform` $uniform^)? $body attr-dict "
        "`:` functional-type(operands, results)"
    )
    custom_directives = (OptionalCombiner,)

    traits = traits_def(IsolatedFromAbove())

    @override
    def verify_(self) -> None:
        if (self.op is None) != bool(self.body.blocks):
            raise VerifyException("expected either a combiner or a body that is not empty")
        if self.op is not None:
            _verify_combiner(self.op.data, self.result.type)
        else:
            self._verify_body()

    def _verify_body(self) -> None:
        type = self.result.type
        types = self.body.blocks[0].arg_types
        if tuple(types) != (type, type):
            names = ", ".join(str(type) for type in types) or "none"
            raise VerifyException(f"expected two arguments of the body of type {type}, got {names}")
        ends = [block.last_op for block in self.body.blocks]
        yields = [end for end in ends if isinstance(end, YieldOp)]
        if not yields:
            raise VerifyException("expected a gpu.yield in the body")
        for end in yields:
            if tuple(end.values.types) != (type,):
                names = ", ".join(str(type) for type in end.values.types) or "none"
                raise VerifyException(f"expected a gpu.yield of one {type}, got {names}")


@op_definition
class SubgroupReduceOp(IRDLOperation):
    """Combines the values of all lanes of a subgroup, or of clusters of its lanes.

    ```
    %sum = gpu.subgroup_reduce  add %a cluster(size = 4, stride = 2) : (f32) -> f32
    ```
    """

    name = "gpu.subgroup_reduce"

    TYPE: ClassVar = VarConstraint("TYPE", _SCALAR_OR_VECTOR)

    value = operand_def(TYPE)
    op = prop_def(AllReduceOperationAttr)
    uniform = opt_prop_def(UnitAttr)
    cluster_size = opt_prop_def(IntegerAttr[I32])
    cluster_stride = prop_def(IntegerAttr[I32], default_value=IntegerAttr(1, i32))
    result = result_def(TYPE)

    assembly_format = (
        "` ` $op $value (`uniform` $uniform^)? custom<Cluster>($cluster_size, $cluster_stride) "
        "attr-dict `:` functional-type(operands, results)"
    )
    custom_directives = (Cluster,)

    @override
    def verify_(self) -> None:
        type = self.result.type
        _verify_combiner(self.op.data, type)
        stride = self.cluster_stride.value.data
        if self.cluster_size is None and stride != 1:
            raise VerifyException("a cluster stride needs a cluster size")
        if self.cluster_size is not None and not _is_power_of_two(self.cluster_size.value.data):
            size = self.cluster_size.value.data
            raise VerifyException(f"the cluster size must be a power of two, got {size}")
        if not _is_power_of_two(stride):
            raise VerifyException(f"the cluster stride must be a power of two, got {stride}")


def _is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


OPERATIONS: list[type[Operation]] = [
    AllReduceOp,
    BarrierOp,
    RotateOp,
    ShuffleOp,
    SubgroupBroadcastOp,
    SubgroupReduceOp,
    YieldOp,
]
"""The operations of this module."""
