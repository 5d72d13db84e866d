"""The classes of operations: their examples, their numbers, and how they are made."""

from __future__ import annotations

import inspect
import re
from io import StringIO

import pytest
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Block, Operation, Region
from xdsl.traits import IsTerminator, Pure

from tests.dialects.cuda_tile.kernel_text import printed_module
from xtile.dialects.cuda_tile.attributes import DivByAttr, OptimizationHintsAttr
from xtile.dialects.cuda_tile.constants import constant_attribute
from xtile.dialects.cuda_tile.dialect import OPERATIONS
from xtile.dialects.cuda_tile.enumerations import (
    AtomicRMWMode,
    ComparisonPredicate,
    MemoryOrderingSemantics,
    MemoryScope,
    Signedness,
    SymbolVisibility,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation
from xtile.dialects.cuda_tile.ops.atomics import AtomicCASTkoOp, AtomicRedViewTkoOp, AtomicRMWTkoOp
from xtile.dialects.cuda_tile.ops.control_flow import (
    AssertOp,
    BreakOp,
    ContinueOp,
    IfOp,
    ReturnOp,
    YieldOp,
)
from xtile.dialects.cuda_tile.ops.core import (
    BroadcastOp,
    CatOp,
    ConstantOp,
    ExtractOp,
    IotaOp,
    OffsetOp,
    PermuteOp,
    ReshapeOp,
    SelectOp,
)
from xtile.dialects.cuda_tile.ops.floating_point import AddFOp
from xtile.dialects.cuda_tile.ops.global_variables import GetGlobalOp, GlobalOp
from xtile.dialects.cuda_tile.ops.grid import GetNumTileBlocksOp, GetTileBlockIdOp
from xtile.dialects.cuda_tile.ops.integer import CmpIOp
from xtile.dialects.cuda_tile.ops.loops import ForOp, LoopOp
from xtile.dialects.cuda_tile.ops.memory import (
    AllocaOp,
    JoinTokensOp,
    LoadPtrTkoOp,
    MakeTokenOp,
    StorePtrTkoOp,
)
from xtile.dialects.cuda_tile.ops.miscellaneous import AssumeOp, PrintTkoOp
from xtile.dialects.cuda_tile.ops.module import EntryOp, ModuleOp
from xtile.dialects.cuda_tile.ops.packing import PackOp, UnpackOp
from xtile.dialects.cuda_tile.ops.reductions import ReduceOp, ScanOp
from xtile.dialects.cuda_tile.ops.view_access import LoadViewTkoOp, StoreViewTkoOp
from xtile.dialects.cuda_tile.ops.views import (
    GetIndexSpaceShapeOp,
    GetTensorShapeOp,
    MakeGatherScatterViewOp,
    MakePartitionViewOp,
    MakeStridedViewOp,
    MakeTensorViewOp,
)
from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
)
from xtile.dialects.cuda_tile.versions import V13_3
from xtile.dialects.registry import make_context
from xtile.text.mlir_parser import MlirParser
from xtile.text.mlir_printer import MlirPrinter
from xtile.text.source import Source

KEPT = (*range(0x19), *range(0x25, 0x34), *range(0x3A, 0x76))
"""The numbers of the operations of 13.1 to 13.3; the holes are NVIDIA's own."""

LATER = (0x76, 0x77, 0x78, 0x79, 0x7A)
"""Those of 13.4 that are known."""


def test_the_numbers_of_the_bytecode() -> None:
    opcodes = [operation.OPCODE for operation in cuda_tile_operations()]
    assert len(KEPT) == 100
    assert set(KEPT) | set(LATER) <= set(opcodes)
    assert len(opcodes) == len(set(opcodes))
    for operation in cuda_tile_operations():
        assert (operation.SINCE <= V13_3) == (operation.OPCODE in KEPT)


def cuda_tile_operations() -> list[type[CudaTileOperation]]:
    """Every operation of the dialect."""
    return [operation for operation in OPERATIONS if issubclass(operation, CudaTileOperation)]


@pytest.mark.parametrize("operation", cuda_tile_operations(), ids=lambda o: o.name)
def test_the_examples_of_the_docstring(operation: type[CudaTileOperation]) -> None:
    blocks = re.findall(r"```\n(.*?)```", inspect.getdoc(operation) or "", re.DOTALL)
    assert len(blocks) == 1
    for example in re.split(r"\n(?=%\w+ = )", blocks[0].strip()):
        # Outside of a module, names are printed in full.
        parser = MlirParser(make_context(), Source("example.mlir", in_full(example)))
        parsed = parser.parse_operation()
        assert isinstance(parsed, operation)
        text, _ = MlirPrinter(stream=StringIO()).print_top_level(parsed)
        assert nameless(text) == nameless(in_full(example))


def in_full(example: str) -> str:
    """An example with the dialect's name before that of its first operation."""
    return re.sub(r"^((?:%[^=]* = )?)(?!cuda_tile\.)", r"\1cuda_tile.", example, count=1)


def nameless(text: str) -> str:
    """Text without spaces and the names of values."""
    return re.sub(r"%\w+(:\d+)?(,%\w+)*", "%", re.sub(r"\s+", "", text))


@pytest.mark.parametrize("operation", cuda_tile_operations(), ids=lambda o: o.name)
def test_what_came_later_is_named_as_the_class_names_it(operation: type[CudaTileOperation]) -> None:
    definition = operation.get_irdl_definition()
    names = {
        *(name for name, _ in definition.operands),
        *(name for name, _ in definition.results),
        *definition.accessor_names,
        *definition.properties,
    }
    assert set(operation.SINCE_OF) <= names
    assert all(since > operation.SINCE for since in operation.SINCE_OF.values())


def test_the_order_of_properties_is_that_of_the_bytecode() -> None:
    for operation, names in (
        (ReduceOp, ["dim", "identities"]),
        (ScanOp, ["dim", "reverse", "identities"]),
        (GlobalOp, ["sym_name", "value", "alignment", "constant", "symbol_visibility"]),
    ):
        assert list(operation.get_irdl_definition().properties) == names


def test_terminators() -> None:
    ends = {operation.name for operation in OPERATIONS if operation.has_trait(IsTerminator)}
    assert ends == {f"cuda_tile.{name}" for name in ("break", "continue", "return", "yield")}
    assert YieldOp.has_trait(Pure)
    assert not ReturnOp.has_trait(Pure)


SCALAR = TileType((), i32)
POINTER = TileType((), PointerType.new((f32,)))
ROW = TileType((8,), f32)
TENSOR = TensorViewType(f32, [8, 8], [8, 1])
HINTS = OptimizationHintsAttr(
    DictionaryAttr({"sm_90": DictionaryAttr({"num_cta_in_cga": IntegerAttr(2, i64)})})
)


def combination() -> Region:
    """The region that adds two elements."""
    block = Block(arg_types=(TileType((), f32), TileType((), f32)))
    total = AddFOp(block.args[0], block.args[1])
    block.add_ops((total, YieldOp([total.result])))
    return Region(block)


def body_of(operations: list[Operation], end: Operation) -> Region:
    """A region without arguments."""
    return Region(Block([*operations, end]))


def kernel(operations: list[Operation], block: Block) -> str:
    """A module with a kernel of the operations, as it is printed."""
    block.add_ops((*operations, ReturnOp()))
    entry = EntryOp("kernel", block.arg_types, Region(block), optimization_hints=HINTS)
    table = GlobalOp(
        "table",
        constant_attribute(ROW, range(8)),
        alignment=16,
        constant=True,
        visibility=SymbolVisibility.PRIVATE,
    )
    module = ModuleOp("kernels", [table, entry], producer="xtile")
    module.verify()
    text, _ = MlirPrinter(stream=StringIO()).print_top_level(module)
    return text


def test_tiles_are_made_and_rearranged() -> None:
    block = Block(arg_types=(SCALAR, POINTER))
    index, _ = block.args
    iota = IotaOp(TileType((8,), i32))
    zero = ConstantOp.of(ROW, [0.0])
    square = ReshapeOp(zero.result, (4, 2))
    turned = PermuteOp(square.result, (1, 0))
    row = ReshapeOp(zero.result, (1, 8))
    wide = BroadcastOp(row.result, (2, 8))
    truth = ConstantOp.of(TileType((8,), i1), [1, 0] * 4)
    packed = PackOp(zero.result)
    operations: list[Operation] = [
        iota, zero, square, turned, row, wide, truth,
        CatOp(zero.result, zero.result, 0),
        ExtractOp(square.result, (index, index), (2, 2)),
        SelectOp(truth.result, zero.result, zero.result),
        packed,
        UnpackOp(packed.result, f32),
        GetTileBlockIdOp(),
        GetNumTileBlocksOp(),
        ReduceOp([zero.result], 0, [FloatAttr(0.0, f32)], combination()),
        ScanOp([zero.result], 0, [FloatAttr(0.0, f32)], combination(), reverse=True),
    ]  # fmt: skip
    text = kernel(operations, block)
    for line in (
        '@kernels attributes {producer = "xtile"} {',
        "global private  constant @table alignment = 16 <f32: [0.000000e+00, 1.000000e+00, ",
        "optimization_hints=<sm_90 = {num_cta_in_cga = 2}> {",
        "constant <i1: [true, false, true, false, true, false, true, false]> : tile<8xi1>",
        "[1, 0] : tile<4x2xf32> -> tile<2x4xf32>",
        ": tile<1x8xf32> -> tile<2x8xf32>",
        "dim = 0 : tile<8xf32>, tile<8xf32> -> tile<16xf32>",
        ": tile<4x2xf32> -> tile<2x2xf32>",
        ": tile<8xi1>, tile<8xf32>",
        ": tile<8xf32> -> tile<32xi8>",
        ": tile<32xi8> -> tile<8xf32>",
        ":3 = get_tile_block_id : tile<i32>",
        ":3 = get_num_tile_blocks : tile<i32>",
        "dim=0 identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<f32>",
        "dim=0 reverse=true identities=[0.000000e+00 : f32] : tile<8xf32> -> tile<8xf32>",
    ):
        assert line in text
    assert printed_module(text).count("\n") == text.count("\n") + 2


def test_memory_is_accessed() -> None:
    block = Block(arg_types=(SCALAR, POINTER))
    index, pointer = block.args
    token = MakeTokenOp()
    number = ConstantOp.of(TileType((), f32), [1.0])
    memory = AllocaOp(4, 16, POINTER, is_global=True)
    load = LoadPtrTkoOp(
        pointer,
        token=token.result,
        ordering=MemoryOrderingSemantics.ACQUIRE,
        scope=MemoryScope.SYS,
        optimization_hints=HINTS,
    )
    store = StorePtrTkoOp(memory.result, load.result, token=load.result_token)
    cas = AtomicCASTkoOp(pointer, number.result, number.result)
    rmw = AtomicRMWTkoOp(pointer, AtomicRMWMode.ADDF, number.result, scope=MemoryScope.TL_BLK)
    operations: list[Operation] = [
        token,
        number,
        memory,
        load,
        store,
        cas,
        rmw,
        JoinTokensOp((cas.result_token, rmw.result_token)),
        OffsetOp(pointer, index),
        AssumeOp(pointer, DivByAttr(16)),
        GetGlobalOp("table", POINTER),
        PrintTkoOp("%f", [load.result], token.result),
    ]
    text = kernel(operations, block)
    for line in (
        "alloca num_elem = 4, alignment = 16 global : tile<ptr<f32>>",
        "load_ptr_tko acquire sys %",
        "optimization_hints = <sm_90 = {num_cta_in_cga = 2}> : tile<ptr<f32>> -> tile<f32>, token",
        "store_ptr_tko weak %",
        "atomic_cas_tko relaxed device %",
        "atomic_rmw_tko relaxed tl_blk %",
        ", addf, %",
        "= assume div_by<16>, %",
        "get_global @table : tile<ptr<f32>>",
        'print_tko "%f", %',
    ):
        assert line in text
    assert printed_module(text).count("\n") == text.count("\n") + 2


def test_views_are_made_and_accessed() -> None:
    block = Block(arg_types=(SCALAR, POINTER))
    index, pointer = block.args
    tensor = MakeTensorViewOp(pointer, TENSOR)
    dynamic = MakeTensorViewOp(
        pointer, TensorViewType(f32, [DYNAMIC_INDEX], [DYNAMIC_INDEX]), [index], [index]
    )
    tiles = MakePartitionViewOp(tensor.result, PartitionViewType([2, 4], TENSOR))
    strided = MakeStridedViewOp(tensor.result, StridedViewType([2, 4], [1, 4], TENSOR))
    rows = MakeGatherScatterViewOp(tensor.result, GatherScatterViewType([2, 4], TENSOR, 0))
    load = LoadViewTkoOp(tiles.result, [index, index])
    operations: list[Operation] = [
        tensor,
        dynamic,
        tiles,
        strided,
        rows,
        load,
        StoreViewTkoOp(load.tile, strided.result, [index, index], load.result_token),
        AtomicRedViewTkoOp(tiles.result, [index, index], AtomicRMWMode.ADDF, load.tile),
        GetTensorShapeOp(dynamic.result),
        GetIndexSpaceShapeOp(rows.result, SCALAR),
    ]
    text = kernel(operations, block)
    for line in (
        "shape = [8, 8], strides = [8, 1] : tensor_view<8x8xf32, strides=[8,1]>",
        ": tile<i32> -> tensor_view<?xf32, strides=[?]>",
        "tile<i32> -> tile<2x4xf32>, token",
        "store_view_tko weak %",
        "atomic_red_view_tko relaxed device %",
        ": tensor_view<?xf32, strides=[?]> -> tile<i64>",
        "sparse_dim=0> -> tile<i32>",
    ):
        assert line in text
    assert printed_module(text).count("\n") == text.count("\n") + 2


def test_regions_are_made() -> None:
    block = Block(arg_types=(SCALAR, POINTER))
    index, _ = block.args
    condition = CmpIOp(ComparisonPredicate.EQUAL, index, index, signedness=Signedness.SIGNED)
    truth = condition.result
    counted = Block(arg_types=(SCALAR, SCALAR))
    counted.add_op(ContinueOp([counted.args[1]]))
    endless = Block(arg_types=(SCALAR,))
    inner = IfOp(truth, (), body_of([], BreakOp([endless.args[0]])))
    endless.add_ops((inner, ContinueOp([endless.args[0]])))
    operations: list[Operation] = [
        condition,
        AssertOp(truth, "they are equal"),
        IfOp(truth, (SCALAR,), body_of([], YieldOp([index])), body_of([], YieldOp([index]))),
        ForOp(index, index, index, [index], Region(counted), unsigned_cmp=True),
        LoopOp([index], (SCALAR,), Region(endless)),
    ]
    text = kernel(operations, block)
    for line in (
        "assert %",
        "-> (tile<i32>) {",
        "for unsigned %",
        "iter_values(%",
        ": tile<i32> -> tile<i32> {",
        "break %",
    ):
        assert line in text
    assert printed_module(text).count("\n") == text.count("\n") + 2


@pytest.mark.parametrize(
    ("type", "values", "data"),
    [
        (TileType((2,), i8), [-1, 200], b"\xff\xc8"),
        (TileType((), i32), [-2], b"\xfe\xff\xff\xff"),
        (TileType((4,), f32), [1.0], b"\x00\x00\x80\x3f" * 4),
    ],
)
def test_constants_of_numbers(type: TileType, values: list[float], data: bytes) -> None:
    assert constant_attribute(type, values).data.data == data
