"""What operations and types tell about themselves, and what is refused beside the corpus."""

from __future__ import annotations

import inspect
import re
from io import StringIO

import pytest
from xdsl.dialects.builtin import f16, f32, i8
from xdsl.ir import Operation
from xdsl.parser import Parser

from tests.dialects.upstream_text import in_function, read
from tests.mlir_opt import run_mlir_opt
from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.registry import make_context
from xtile.dialects.xegpu.attributes import (
    BlockTensorDescAttr,
    MemLayoutAttr,
    MemorySpace,
    RangeAttr,
    ScatterTensorDescAttr,
)
from xtile.dialects.xegpu.dialect import OPERATIONS
from xtile.dialects.xegpu.layout import LayoutAttr
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.dialects.xegpu.ops.block import LoadNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp
from xtile.dialects.xegpu.types import MemDescType, TensorDescType
from xtile.text.mlir_printer import MlirPrinter


def parse(text: str) -> Operation:
    """Reads one operation whose operands are defined nowhere."""
    return Parser(make_context(), text).parse_operation()


def example_of(operation: type[Operation]) -> str:
    """The example in a class's docstring, in one line."""
    match = re.search(r"```\n(.*?)```", inspect.cleandoc(operation.__doc__ or ""), re.DOTALL)
    assert match is not None, operation
    return match[1].strip()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_the_example_of_the_docstring(operation: type[Operation]) -> None:
    for example in re.split(r"\n(?=%u)", example_of(operation)):
        parsed = parse(example)
        assert isinstance(parsed, operation)
        text, _ = MlirPrinter(stream=StringIO()).print_top_level(parsed)
        given, printed = (
            re.sub(r"%\w+", "%", re.sub(r"\s+", "", form)) for form in (example, text)
        )
        assert printed == given


def test_every_operation_of_llvm_is_there() -> None:
    assert sorted(operation.name.removeprefix("xegpu.") for operation in OPERATIONS) == [
        "alloc_nbarrier",
        "atomic_rmw",
        "convert_layout",
        "create_mem_desc",
        "create_nd_tdesc",
        "create_tdesc",
        "dpas",
        "fence",
        "init_nbarrier",
        "load",
        "load_matrix",
        "load_nd",
        "nbarrier_arrive",
        "nbarrier_wait",
        "prefetch",
        "prefetch_nd",
        "store",
        "store_matrix",
        "store_nd",
        "update_nd_offset",
        "update_offset",
    ]


def test_sizes_of_a_region() -> None:
    known = parse(
        "%t = xegpu.create_nd_tdesc %m[1, %i] : memref<48x?xf16, strided<[?, 1], offset: ?>> "
        "-> !xegpu.tensor_desc<12x20xf16>"
    )
    assert isinstance(known, CreateNdDescOp)
    assert known.mixed_offsets == [1, known.offsets[0]]
    assert known.mixed_sizes == [48, None]
    assert known.mixed_strides == [None, 1]
    given = parse(
        "%t = xegpu.create_nd_tdesc %p, shape : [%h, 80], strides : [96, 1] : i64 "
        "-> !xegpu.tensor_desc<12x20xf16>"
    )
    assert isinstance(given, CreateNdDescOp)
    assert given.mixed_offsets == []
    assert given.mixed_sizes == [given.shape[0], 80]
    assert given.mixed_strides == [96, 1]


def test_parts_of_a_lane() -> None:
    part = parse("%v = xegpu.load_nd %t : !xegpu.tensor_desc<12x20xf16> -> vector<15xf16>")
    whole = parse("%v = xegpu.load_nd %t : !xegpu.tensor_desc<48xf16> -> vector<48xf16>")
    assert isinstance(part, LoadNdOp)
    assert isinstance(whole, LoadNdOp)
    assert (part.is_for_lane, whole.is_for_lane) == (True, False)
    store = parse("xegpu.store_nd %v, %t : vector<15xf16>, !xegpu.tensor_desc<12x20xf16>")
    assert isinstance(store, StoreNdOp)
    assert store.is_for_lane
    product = parse("%d = xegpu.dpas %a, %b : vector<6xf16>, vector<14xf16> -> vector<6xf32>")
    assert isinstance(product, DpasOp)
    assert product.is_for_lane


def test_transposition() -> None:
    load = parse(
        "%v = xegpu.load_nd %t <{transpose = array<i64: 1, 0>}> "
        ": !xegpu.tensor_desc<12x20xf32> -> vector<20x12xf32>"
    )
    assert isinstance(load, LoadNdOp)
    assert load.permutation == (1, 0)


def test_ignored_transposition() -> None:
    # mlir-opt only warns about a dimension that the block does not have.
    load = (
        "%v = xegpu.load_nd %t <{transpose = array<i64: 5, 0>}> "
        ": !xegpu.tensor_desc<12x20xf32> -> vector<12x20xf32>"
    )
    piece = in_function("%t: !xegpu.tensor_desc<12x20xf32>", load)
    assert not isinstance(read(piece), str)
    result = run_mlir_opt(piece)
    assert result.returncode == 0
    assert "Invalid transpose attr" in result.stderr
    parsed = parse(load)
    assert isinstance(parsed, LoadNdOp)
    assert parsed.permutation is None


def test_chunk_sizes() -> None:
    by_type = parse(
        "%v = xegpu.load %t, %k : !xegpu.tensor_desc<12x6xf16, "
        "#xegpu.scatter_tdesc_attr<chunk_size = 6>>, vector<12xi1> -> vector<12x6xf16>"
    )
    given = parse(
        "%v = xegpu.load %p[%o], %k <{chunk_size = 5}> "
        ": i64, vector<12xindex>, vector<12xi1> -> vector<12x5xi8>"
    )
    assert isinstance(by_type, LoadGatherOp)
    assert isinstance(given, LoadGatherOp)
    assert (by_type.effective_chunk_size, given.effective_chunk_size) == (6, 5)


def test_kind_of_an_update() -> None:
    update = parse(example_of(AtomicRMWOp).replace("addf", "maximumf"))
    assert isinstance(update, AtomicRMWOp)
    assert update.update is AtomicRMWKind.maximumf


def test_descriptors() -> None:
    block = TensorDescType((12, 20), f16, BlockTensorDescAttr(array_length=3))
    assert (block.rank, block.number_of_elements, block.array_length) == (2, 240, 3)
    assert (block.chunk_size, block.is_scattered, block.layout_or_none) == (1, False, None)
    assert block.memory_space is MemorySpace.GLOBAL
    points = TensorDescType(
        (12, 6),
        f32,
        ScatterTensorDescAttr(MemorySpace.SLM, 6),
        LayoutAttr(lane_layout=[12, 1], lane_data=[1, 2]),
    )
    assert (points.chunk_size, points.array_length, points.is_scattered) == (6, 1, True)
    assert points.memory_space is MemorySpace.SLM
    assert points.layout_or_none == LayoutAttr(lane_layout=[12, 1], lane_data=[1, 2])
    assert (points.get_num_dims(), points.get_element_type()) == (2, f32)


def test_matrices() -> None:
    rows = MemDescType((20, 28), f16)
    assert (rows.strides, rows.block_shape, rows.is_column_major) == ((28, 1), (20, 28), False)
    columns = MemDescType((20, 28), i8, MemLayoutAttr(stride=[1, 20], block=[10, 14]))
    assert (columns.strides, columns.block_shape) == ((1, 20), (10, 14))
    assert columns.is_column_major
    assert (columns.get_num_dims(), columns.get_element_type()) == (2, i8)


def test_attributes_that_are_made() -> None:
    assert str(RangeAttr(2, 5)) == "#xegpu.range<[2 : i64, 5 : i64]>"
    text = "#xegpu.block_tdesc_attr<array_length = 2 : i64, boundary_check = false>"
    assert str(BlockTensorDescAttr(array_length=2, boundary_check=False)) == text


@pytest.mark.parametrize(
    ("arguments", "operation", "message"),
    [
        (
            "%t: !xegpu.tensor_desc<12x20xindex>",
            "",
            "the element type is index; it must be an integer or a float",
        ),
        (
            "%m: memref<20x28xf16>",
            "%d = xegpu.create_mem_desc %m : memref<20x28xf16> -> !xegpu.mem_desc<20x28xf16>",
            "in shared memory, such as memref<4096xi8, 3>",
        ),
        (
            "%d: !xegpu.mem_desc<20x28xf16, #xegpu.mem_layout<stride = 4>>",
            "",
            "stride is 4 : i64; it must be a list of integers such as [16, 1]",
        ),
        ("%d: !xegpu.mem_desc<f16>", "", "a mem_desc has at least one dimension"),
    ],
)
def test_refused_where_mlir_opt_crashes_or_prints_what_it_cannot_read(
    arguments: str, operation: str, message: str
) -> None:
    assert message in str(read(in_function(arguments, operation)))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            """%v = "xegpu.load_nd"(%t, %i) <{const_offsets = array<i64: 0, 1>}>
              : (!xegpu.tensor_desc<12x20xf16>, index) -> vector<12x20xf16>""",
            "the list of offsets has a place for 0 operands, but is given 1",
        ),
        (
            """%v = "xegpu.load_nd"(%t, %i, %i)
              : (!xegpu.tensor_desc<12x20xf16>, index, index) -> vector<12x20xf16>""",
            "the list of offsets has a place for 0 operands, but is given 2",
        ),
    ],
)
def test_refused_where_mlir_opt_drops_a_part(operation: str, message: str) -> None:
    piece = in_function("%t: !xegpu.tensor_desc<12x20xf16>, %i: index", operation)
    result = run_mlir_opt(piece)
    assert result.returncode == 0
    assert "%arg0[0, 1]" in result.stdout or "%arg0  :" in result.stdout
    assert message in str(read(piece))
