"""Every operation is built through its constructor, verified, printed and read back."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    f32,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tests.dialects.cuda_tile.kernel_text import OPERANDS, kernel, read_kernel
from xtile.dialects.cuda_tile import ops
from xtile.dialects.cuda_tile.constants import constant_attribute
from xtile.dialects.cuda_tile.enumerations import (
    AtomicRMWMode,
    ComparisonOrdering,
    ComparisonPredicate,
    IntegerOverflow,
    MemoryOrderingSemantics,
    MemoryScope,
    RoundingMode,
    Signedness,
)
from xtile.dialects.registry import all_dialects
from xtile.text.mlir import print_mlir

SIGNED = Signedness.SIGNED


class Body:
    """Appends operations to a kernel whose parameters are the values of `OPERANDS`."""

    def __init__(self) -> None:
        module, _, _ = read_kernel(kernel(""))
        assert module is not None
        self.module = module
        self._block: Block = _function(module).regions[0].block
        self.values: dict[str, Any] = dict(zip(OPERANDS, self._block.args, strict=True))

    def __call__(self, *operations: Operation) -> Any:
        """Appends operations; returns the first result of the last one."""
        last = self._block.last_op
        assert last is not None
        self._block.insert_ops_before(operations, last)
        results = operations[-1].results
        return results[0] if results else None

    def __getattr__(self, name: str) -> Any:
        return self.values[name]


def _function(module: ModuleOp) -> Operation:
    return next(op for op in module.walk() if op.name == "cuda_tile.testing$func")


def tile(text: str) -> Any:
    """A type, as text has it."""
    module, _, _ = read_kernel(
        f"cuda_tile.module @m {{\n  testing$func @f(%a: {text}) {{\n    return\n  }}\n}}\n"
    )
    assert module is not None
    return _function(module).regions[0].block.args[0].type


def region(types: list[Attribute], build: Callable[..., list[Operation]]) -> Region:
    block = Block(arg_types=types)
    block.add_ops(build(*block.args))
    return Region(block)


def numbers(b: Body) -> None:
    for kind in (ops.AbsFOp, ops.CeilOp, ops.FloorOp, ops.NegFOp, *FUNCTIONS):
        assert b(kind(b.x)).type == b.x.type
    for kind in (ops.AddFOp, ops.SubFOp, ops.MulFOp, ops.DivFOp):
        b(kind(b.x, b.x, rounding_mode=RoundingMode.ZERO, flush_to_zero=True))
    for kind in (ops.MaxFOp, ops.MinFOp):
        b(kind(b.x, b.x, propagate_nan=True))
    b(ops.RemFOp(b.x, b.x), ops.FmaOp(b.x, b.x, b.x), ops.PowOp(b.x, b.x))
    b(ops.Atan2Op(b.x, b.x), ops.FPowIOp(b.x, b.n), ops.SqrtOp(b.x))
    less = ComparisonPredicate.LESS_THAN
    b(ops.CmpFOp(less, ComparisonOrdering.ORDERED, b.x, b.x))
    assert b(ops.CmpIOp(less, b.n, b.n, signedness=SIGNED)).type == b.m.type
    for kind in (ops.AndIOp, ops.OrIOp, ops.XOrIOp, ops.MulhiIOp):
        b(kind(b.n, b.n))
    for kind in (ops.AddIOp, ops.SubIOp, ops.MulIOp, ops.ShLIOp):
        b(kind(b.n, b.n, overflow=IntegerOverflow.NSW))
    for kind in (ops.MaxIOp, ops.MinIOp, ops.RemIOp, ops.ShRIOp, ops.DivIOp):
        b(kind(b.n, b.n, signedness=SIGNED))
    b(ops.AbsIOp(b.n), ops.NegIOp(b.n))
    b(ops.SelectOp(b.m, b.x, b.x))
    # An operation with one result stands for it.
    one = ops.ConstantOp(1.0, b.x.type)
    total = ops.AddFOp(one, b.x)
    b(one, total, ops.ReshapeOp(total, [4, 2]))


FUNCTIONS = (
    *(ops.CosOp, ops.CosHOp, ops.ExpOp, ops.Exp2Op, ops.LogOp, ops.Log2Op, ops.RsqrtOp),
    *(ops.SinOp, ops.SinHOp, ops.TanOp, ops.TanHOp),
)


def conversions(b: Body) -> None:
    b(ops.BitcastOp(b.x, b.n.type), ops.FToFOp(b.x, b.h.type))
    b(ops.ExtIOp(b.n, tile("tile<8xi64>"), signedness=SIGNED))
    b(ops.TruncIOp(b.n, tile("tile<8xi8>")))
    b(ops.FToIOp(b.x, b.n.type, signedness=SIGNED))
    b(ops.IToFOp(b.n, b.x.type, signedness=SIGNED))
    address = b(ops.PtrToIntOp(b.p, tile("tile<8xi64>")))
    b(ops.IntToPtrOp(address, b.p.type), ops.PtrToPtrOp(b.p, b.pi.type))


def shapes(b: Body) -> None:
    b(ops.ConstantOp(1.5, b.x.type), ops.ConstantOp(range(8), b.n.type))
    b(ops.ConstantOp(constant_attribute(b.x.type, [0.0])))
    b(ops.IotaOp(b.n.type), ops.OffsetOp(b.p, b.n))
    column = b(ops.ReshapeOp(b.x, [8, 1]))
    b(ops.BroadcastOp(column, [8, 4]), ops.CatOp(b.v, b.v, 1))
    b(ops.ExtractOp(b.x, [b.i], [4]), ops.InsertOp(b.y, b.x, [b.i]), ops.PermuteOp(b.v, [1, 0]))
    packed = b(ops.PackOp(b.x))
    b(ops.UnpackOp(packed, f32))


def products(b: Body) -> None:
    b(ops.MmaFOp(b.v, b.v, b.v))
    bytes_ = b(ops.TruncIOp(b.w, tile("tile<8x8xi8>")))
    b(ops.MmaIOp(bytes_, bytes_, b.w, signedness_lhs=SIGNED, signedness_rhs=SIGNED))
    factor = b(ops.ConstantOp(1.0, tile("tile<32x32xf8E4M3FN>")))
    scale = b(ops.ConstantOp(1.0, tile("tile<32x1xf8E8M0FNU>")))
    other = b(ops.ConstantOp(1.0, tile("tile<1x32xf8E8M0FNU>")))
    b(
        ops.MmaFScaledOp(
            factor, factor, b(ops.ConstantOp(0.0, tile("tile<32x32xf32>"))), scale, other
        )
    )


def memory(b: Body) -> None:
    token = b(ops.MakeTokenOp())
    token = b(ops.JoinTokensOp([token, b.t]))
    acquire, device = MemoryOrderingSemantics.ACQUIRE, MemoryScope.DEVICE
    b(ops.LoadPtrTkoOp(b.p, b.m, b.x, token, ordering=acquire, scope=device))
    b(ops.StorePtrTkoOp(b.p, b.x, b.m, token), ops.LoadPtrTkoOp(b.p))
    b(ops.MemoryFenceAliasTkoOp(token))
    b(ops.AtomicCASTkoOp(b.pi, b.n, b.n, b.m), ops.AtomicRMWTkoOp(b.pi, AtomicRMWMode.ADD, b.n))
    b(ops.AllocaOp(16, 128, tile("tile<ptr<f32>>")))
    b(ops.PrintTkoOp("%d", [b.i]), ops.AssertOp(b.c, "no"))
    b(ops.GdcWaitTkoOp(), ops.GdcLaunchDependentsTkoOp())
    b(ops.GetGlobalOp("table", tile("tile<ptr<i32>>")))


def views(b: Body) -> None:
    tensor = tile("tensor_view<?x64xf32, strides=[64,1]>")
    view = b(ops.MakeTensorViewOp(b.q, tensor, [b.i]))
    for kind, name in (
        (ops.MakePartitionViewOp, "pv"),
        (ops.MakeStridedViewOp, "sv"),
        (ops.MakeGatherScatterViewOp, "gv"),
    ):
        b(kind(b.tv, b.values[name].type))
    b(ops.GetTensorShapeOp(view), ops.GetIndexSpaceShapeOp(b.pv))
    b(ops.LoadViewTkoOp(b.pz, [b.i, b.i]), ops.StoreViewTkoOp(b.v, b.pv, [b.i, b.i], b.t))
    b(ops.AtomicRedViewTkoOp(b.pv, [b.i, b.i], AtomicRMWMode.ADDF, b.v))


def control(b: Body) -> None:
    b(ops.GetTileBlockIdOp(), ops.GetNumTileBlocksOp())
    scalar, truth = tile("tile<f32>"), b.c
    body = region([scalar, scalar], lambda x, y: [s := ops.AddFOp(x, y), ops.YieldOp(s.results)])
    b(ops.ReduceOp([b.x], 0, [FloatAttr(0.0, f32)], body))
    body = region([scalar, scalar], lambda x, y: [s := ops.AddFOp(x, y), ops.YieldOp(s.results)])
    b(ops.ScanOp([b.x], 0, [FloatAttr(0.0, f32)], body, reverse=True))
    loop = region([b.i.type, b.f.type], lambda _, total: [ops.ContinueOp([total])])
    assert b(ops.ForOp(b.i, b.i, b.i, [b.f], loop)).type == b.f.type
    ends = [region([], lambda: [ops.BreakOp([b.f])]), region([], lambda: [ops.YieldOp()])]

    def turns(total: SSAValue) -> list[Operation]:
        return [ops.IfOp(truth, [], *ends), ops.ContinueOp([total])]

    b(ops.LoopOp([b.f], [b.f.type], region([b.f.type], turns)))
    b(ops.AssumeOp(b.i, predicate()))


def predicate() -> Any:
    """What may be assumed of an integer, from text."""
    line = "%a = assume div_by<8>, %i : tile<i32>"
    module, _, _ = read_kernel(kernel(line))
    assert module is not None
    found = (op for op in module.walk() if op.name == "cuda_tile.assume")
    return next(found).properties["predicate"]


BUILDERS = (numbers, conversions, shapes, products, memory, views, control)


def built(build: Callable[[Body], None]) -> ModuleOp:
    """A module with an entry, a global variable and what a builder appends to a function."""
    body = Body()
    build(body)
    (module,) = body.module.body.block.ops
    table = constant_attribute(tile("tile<4xi32>"), [1, 2, 3, 4])
    entry = ops.EntryOp("entry", [tile("tile<ptr<f32>>"), tile("tile<i32>")])
    if entry.body.block.last_op is None:
        entry.body.block.add_op(ops.ReturnOp())
    module.regions[0].block.add_ops([entry])
    first = module.regions[0].block.first_op
    assert first is not None
    module.regions[0].block.insert_op_before(ops.GlobalOp("table", table, alignment=16), first)
    return body.module


@pytest.mark.parametrize("build", BUILDERS)
def test_what_is_built_is_right_and_read_back(build: Callable[[Body], None]) -> None:
    module = built(build)
    stream = StringIO()
    print_mlir(module, stream)
    again, diagnostics, _ = read_kernel(stream.getvalue())
    assert diagnostics.sorted() == []
    assert again is not None
    assert again.is_structurally_equivalent(module)


def test_every_operation_is_built() -> None:
    found = {type(op) for build in BUILDERS for op in built(build).walk()}
    kernels = ops.ModuleOp("kernels", [ops.EntryOp("f", [], Region(Block([ops.ReturnOp()])))])
    kernels.verify()
    known = set(all_dialects()["cuda_tile"]().operations)
    assert known - found - {type(kernels)} == set()


def test_a_constant_of_numbers_needs_a_type() -> None:
    assert ops.ConstantOp(IntegerAttr(3, i32).value.data, tile("tile<i32>")).result.type == tile(
        "tile<i32>"
    )
    with pytest.raises(ValueError, match="needs a result_type"):
        ops.ConstantOp(1.0)
