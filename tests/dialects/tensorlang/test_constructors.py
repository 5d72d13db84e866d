"""Every instruction is built through its constructor, verified, printed and read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

import xtile
from tests.seeds import fresh_generator
from xtile.dialects.tensorlang import ops
from xtile.dialects.tensorlang.attributes import (
    AddressSpace,
    CheckedFlag,
    Component,
    MatrixUse,
    MemoryScope,
    MemorySemantics,
    ReduceMode,
)
from xtile.dialects.tensorlang.operation import TensorLangOperation, integer_attribute
from xtile.dialects.tensorlang.types import (
    BOOL,
    C32,
    DYNAMIC,
    F32,
    F64,
    I32,
    INDEX,
    CoopmatrixType,
    GroupType,
    MemrefType,
)

MATRIX = MemrefType.get(F32, [16, 16])
VECTOR = MemrefType.get(F32, [16])
ACC = CoopmatrixType.get(F32, 16, 16, MatrixUse.ACC)


class Body:
    """Appends operations to the block of a region."""

    def __init__(self, region: Region) -> None:
        self._block = region.block

    def __call__(self, *operations: Operation) -> Any:
        """Appends operations; returns the result of the last one."""
        self._block.add_ops(operations)
        results = operations[-1].results
        return results[0] if results else None


def kernel(parameters: Sequence[Attribute], build: Callable[..., None]) -> ops.FuncOp:
    function = ops.FuncOp("f", parameters, subgroup_size=16, work_group_size=(16, 1))
    build(Body(function.body), *function.parameters)
    return function


def check(function: ops.FuncOp) -> None:
    """Verifies a kernel, and reads back what is printed of it in both languages."""
    module = ModuleOp([function])
    xtile.verify(module)
    text = xtile.to_text(module)
    assert xtile.to_text(xtile.parse(text, language="tensorlang")) == text
    mlir = xtile.to_text(module, "mlir")
    again = xtile.parse(mlir, language="mlir")
    assert xtile.to_text(again, "mlir") == mlir
    assert again.is_structurally_equivalent(module)


def arithmetic(body: Body, *_: SSAValue) -> None:
    number = body(ops.ConstantOp(1.5, F32))
    integer = body(ops.ConstantOp(3, I32))
    complex_ = body(ops.ConstantOp(1 - 2j, C32))
    body(ops.ConstantOp(True, BOOL))
    for kind in (ops.AddOp, ops.SubOp, ops.MulOp, ops.DivOp, ops.MaxOp, ops.MinOp):
        body(kind(number, number))
    for kind in (ops.RemOp, ops.ShlOp, ops.ShrOp, ops.AndOp, ops.OrOp, ops.XorOp):
        body(kind(integer, integer))
    for kind in (ops.NegOp, ops.AbsOp):
        body(kind(number))
    body(ops.NotOp(integer))
    assert body(ops.ConjOp(complex_)).type == C32
    for kind in (ops.ImOp, ops.ReOp, ops.AbsOp):
        assert body(kind(complex_)).type == F32
    for kind in COMPARISONS:
        assert body(kind(number, number)).type == BOOL
    for kind in FUNCTIONS:
        assert body(kind(number)).type == F32
    assert body(ops.CastOp(number, F64)).type == F64
    body(ops.BarrierOp(global_fence=True, local_fence=True))
    # An operation with one result stands for it.
    body(first := ops.ConstantOp(0.0, F32), ops.AddOp(first, first))


COMPARISONS = (
    *(ops.EqualOp, ops.NotEqualOp, ops.GreaterThanOp, ops.GreaterThanEqualOp),
    *(ops.LessThanOp, ops.LessThanEqualOp),
)
FUNCTIONS = (
    *(ops.CosOp, ops.SinOp, ops.ExpOp, ops.Exp2Op, ops.LogOp, ops.Log2Op),
    *(ops.NativeCosOp, ops.NativeSinOp, ops.NativeExpOp, ops.NativeExp2Op),
    *(ops.NativeLogOp, ops.NativeLog2Op),
)


def collective(body: Body, matrix: Any, vector: Any, *_: SSAValue) -> None:
    one = body(ops.ConstantOp(1.0, F32))
    local = MemrefType.get(F32, [16, 16], address_space=AddressSpace.LOCAL)
    memory = body(ops.AllocaOp(local, alignment=64))
    body(ops.AxpbyOp(one, matrix, one, memory, transpose_a=True))
    body(ops.CumsumOp(one, matrix, 1, one, memory))
    body(ops.SumOp(one, matrix, one, vector, transpose_a=True, atomic=True))
    body(ops.GemmOp(one, matrix, matrix, one, memory, transpose_b=True))
    body(ops.GemvOp(one, matrix, vector, one, vector, transpose_a=True))
    body(ops.GerOp(one, vector, vector, one, memory, atomic=True))
    body(ops.HadamardOp(one, matrix, matrix, one, memory))
    body(ops.LifetimeStopOp(memory))


def control(body: Body, matrix: Any, *_: SSAValue) -> None:
    zero, end = body(ops.ConstantOp(0, INDEX)), body(ops.ConstantOp(16, INDEX))
    total = body(ops.ConstantOp(0.0, F32))
    loop = ops.ForOp(zero, end, init=[total], unroll=4)
    inner = Body(loop.body)
    i, carried = loop.body.block.args
    condition = inner(ops.LessThanOp(i, end))
    choice = ops.IfOp(condition, [F32], otherwise=Region(type(loop.body.block)()))
    Body(choice.then)(ops.YieldOp([carried]))
    Body(choice.otherwise)(ops.YieldOp([total]))
    inner(choice, ops.YieldOp([choice.results[0]]))
    assert body(loop).type == F32
    body(ops.ForOp(zero, end, end, unroll=False))
    foreach = ops.ForeachOp([zero, zero], [end, end])
    element = Body(foreach.body)(ops.LoadOp(matrix, foreach.body.block.args))
    Body(foreach.body)(ops.StoreOp(element, matrix, foreach.body.block.args))
    body(foreach)
    tiles = ops.ForeachTileOp([zero], [end], [16])
    assert [value.type for value in tiles.body.block.args] == [INDEX, INDEX]
    body(tiles)


def memory(body: Body, matrix: Any, vector: Any, group: Any) -> None:
    i, n = body(ops.ConstantOp(1, INDEX)), body(ops.ConstantOp(4, INDEX))
    assert body(ops.AssociatedOp(matrix)).type == BOOL
    assert body(ops.LoadOp(group, [i])).type == VECTOR
    assert body(ops.SizeOp(matrix, 1)).type == INDEX
    view = body(ops.SubviewOp(matrix, [(i, n), (3, 0)]))
    assert view.type == MemrefType.get(F32, [DYNAMIC])
    part = body(ops.SubviewOp(matrix, [(0, 8), (i, 4)]))
    assert part.type == MemrefType.get(F32, [8, 4], [1, 16])
    assert body(ops.ExpandOp(vector, 0, [2, 8])).type == MemrefType.get(F32, [2, 8])
    expanded = body(ops.ExpandOp(matrix, 1, [2, n]))
    assert expanded.type == MemrefType.get(F32, [16, 2, DYNAMIC])
    body(ops.ExpandOp(vector, 0, [n, 2], MemrefType.get(F32, [DYNAMIC, 2])))
    assert body(ops.FuseOp(matrix, 0, 1)).type == MemrefType.get(F32, [256])


def work_items(body: Body, matrix: Any, vector: Any, *_: SSAValue) -> None:
    for component in Component:
        for kind in (ops.GroupIdOp, ops.NumGroupsOp, ops.NumSubgroupsOp):
            body(kind(component))
    body(ops.SubgroupSizeOp())
    parallel = ops.ParallelOp()
    body(parallel)
    body = Body(parallel.body)
    body(ops.SubgroupIdOp(Component.Y), ops.SubgroupLinearIdOp(), ops.SubgroupLocalIdOp())
    lane, i = body(ops.ConstantOp(0, I32)), body(ops.ConstantOp(0, INDEX))
    number = body(ops.ConstantOp(1.0, F32))
    body(ops.SubgroupBroadcastOp(number, lane))
    for kind in OF_SUBGROUPS:
        assert body(kind(number)).type == F32
    at_device, sequential = MemoryScope.DEVICE, MemorySemantics.SEQUENTIALLY_CONSISTENT
    body(ops.AtomicLoadOp(vector, [i], scope=at_device, semantics=MemorySemantics.ACQUIRE))
    body(ops.AtomicStoreOp(number, vector, [i], semantics=MemorySemantics.RELEASE))
    for kind in (ops.AtomicAddOp, ops.AtomicMaxOp, ops.AtomicMinOp):
        body(kind(number, vector, [i], scope=at_device, semantics=sequential))


OF_SUBGROUPS = (
    *(ops.SubgroupExclusiveScanAddOp, ops.SubgroupExclusiveScanMaxOp),
    *(ops.SubgroupExclusiveScanMinOp, ops.SubgroupInclusiveScanAddOp),
    *(ops.SubgroupInclusiveScanMaxOp, ops.SubgroupInclusiveScanMinOp),
    *(ops.SubgroupReduceAddOp, ops.SubgroupReduceMaxOp, ops.SubgroupReduceMinOp),
)


def matrices(body: Body, memory: Any, *_: SSAValue) -> None:
    parallel = ops.ParallelOp()
    body(parallel)
    body = Body(parallel.body)
    i, number = body(ops.ConstantOp(0, INDEX)), body(ops.ConstantOp(1.0, F32))
    at = (memory, i, i)
    a = body(ops.CooperativeMatrixLoadOp(*at, _of(MatrixUse.A), checked=CheckedFlag.BOTH))
    b = body(ops.CooperativeMatrixLoadOp(*at, _of(MatrixUse.B), transpose=True))
    c = body(ops.CooperativeMatrixConstructOp(number, ACC))
    c = body(ops.CooperativeMatrixMulAddOp(a, b, c))
    assert c.type == ACC
    assert body(ops.CooperativeMatrixScaleOp(number, c)).type == ACC
    assert body(ops.CooperativeMatrixExtractOp(c, 0)).type == F32
    assert body(ops.CooperativeMatrixInsertOp(number, c, 0)).type == ACC
    body(ops.CooperativeMatrixPrefetchOp(0, *at, 16, 16))
    for kind in (
        ops.CooperativeMatrixReduceAddOp,
        ops.CooperativeMatrixReduceMaxOp,
        ops.CooperativeMatrixReduceMinOp,
    ):
        rows, columns = body(kind(ReduceMode.ROW, c)), body(kind(ReduceMode.COLUMN, c))
        assert (rows.type.shape, columns.type.shape) == ((16, 1), (1, 16))
    apply = ops.CooperativeMatrixApplyOp(c)
    assert [value.type for value in apply.body.block.args] == [I32, I32, F32]
    Body(apply.body)(ops.YieldOp([apply.body.block.args[2]]))
    assert body(apply).type == ACC
    body(ops.CooperativeMatrixStoreOp(c, *at, checked=CheckedFlag.ROWS))
    body(ops.CooperativeMatrixAtomicLoadOp(*at, ACC, semantics=MemorySemantics.ACQUIRE))
    body(ops.CooperativeMatrixAtomicStoreOp(c, *at, transpose=True, scope=MemoryScope.DEVICE))
    for kind in (
        ops.CooperativeMatrixAtomicAddOp,
        ops.CooperativeMatrixAtomicMaxOp,
        ops.CooperativeMatrixAtomicMinOp,
    ):
        body(kind(c, *at, checked=CheckedFlag.COLS))


def _of(use: MatrixUse) -> CoopmatrixType:
    return CoopmatrixType.get(F32, 16, 16, use)


KERNELS = (arithmetic, collective, control, memory, work_items, matrices)
PARAMETERS = (MATRIX, VECTOR, GroupType.get(VECTOR))


@pytest.mark.parametrize("build", KERNELS)
def test_what_is_built_is_right_and_read_back(build: Callable[..., None]) -> None:
    check(kernel(PARAMETERS, build))


def test_every_instruction_is_built() -> None:
    built = {type(op) for build in KERNELS for op in kernel(PARAMETERS, build).walk()}
    assert built == set[type[Operation]](ops.OPERATIONS)
    own: list[type[TensorLangOperation]] = ops.OPERATIONS
    assert all(getattr(ops, kind.__name__) is kind for kind in own)
    assert {kind.__name__ for kind in own} <= set(ops.__all__)


def test_parameters_may_have_attributes() -> None:
    known = {"alignment": integer_attribute(64)}
    function = ops.FuncOp("f", [MATRIX], parameter_attributes=[known])
    check(function)
    assert "%0: memref<f32x16x16> {alignment=64}" in xtile.to_text(ModuleOp([function.clone()]))


@pytest.mark.parametrize(
    ("value", "type"), [(1.0, I32), (True, I32), (1, BOOL), (1j, F32), (1.0, MATRIX)]
)
def test_constants_that_a_type_has_not(value: complex, type: Attribute) -> None:
    with pytest.raises(ValueError, match="is no constant of type"):
        ops.ConstantOp(value, type)


def test_only_memory_is_loaded_from() -> None:
    with pytest.raises(ValueError, match="expected a memref or a group, but got f32"):
        ops.LoadOp(ops.ConstantOp(1.0, F32))
    with pytest.raises(ValueError, match="expected a memref, but got f32"):
        ops.SubviewOp(ops.ConstantOp(1.0, F32), [])
    with pytest.raises(ValueError, match="expected a cooperative matrix, but got f32"):
        ops.CooperativeMatrixReduceAddOp(ReduceMode.ROW, ops.ConstantOp(1.0, F32))
    with pytest.raises(ValueError, match="memref<f32x4> has no mode 1"):
        ops.FuseOp(ops.AllocaOp(MemrefType.get(F32, [4])), 0, 1)


def test_what_is_built_runs() -> None:
    function = ops.FuncOp("product", [MATRIX, MATRIX, MATRIX])
    a, b, c = function.parameters
    one, zero = ops.ConstantOp(1.0, F32), ops.ConstantOp(0.0, F32)
    function.body.block.add_ops([one, zero, ops.GemmOp(one, a, b, zero, c, transpose_b=True)])
    generator = fresh_generator()
    left, right = (np.asfortranarray(generator.random((16, 16), np.float32)) for _ in "ab")
    result = np.full((16, 16), np.nan, np.float32, order="F")
    xtile.run(ModuleOp([function]), [left, right, result])
    np.testing.assert_allclose(result, left @ right.T, rtol=0, atol=1e-4)
