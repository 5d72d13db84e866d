"""Each operation of the RFC in its own spelling: in LLVM 22's words, and printed back."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.dialects.xegpu.rfc.texts import (
    body,
    in_function,
    print_llvm22,
    print_rfc,
    read_module,
)
from tests.mlir_opt import run_mlir_opt
from xtile.dialects.xegpu.rfc.names import OPERATIONS

BLOCK = "!xegpu.tensor_desc<8x16xf16>"
WEIGHTS = "!xegpu.tensor_desc<16x16xf16>"
POINTS = "!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>"
CHUNKS = "!xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8 : i64>>"


@dataclass(frozen=True)
class Case:
    """An operation: as the RFC spells it, as it is printed, and as LLVM 22 has it."""

    text: str
    rfc: str
    llvm22: str
    before: str = ""


CASES = {
    "create_tdesc": Case(
        "%r = XeGPU.create_tdesc %p, %offsets {mode = vc} :\n"
        "  uint64, Vector<16 x index>, into tensor_desc<16 x uint8, #scattered>",
        "%r = XeGPU.create_tdesc %p, %offsets {mode = vc} : uint64, vector<16xindex> "
        "into tensor_desc<16xuint8, #scattered>",
        "%r = xegpu.create_tdesc %p, %offsets : ui64, vector<16xindex> "
        "-> !xegpu.tensor_desc<16xui8, #xegpu.scatter_tdesc_attr<>>",
    ),
    "create_tdesc with chunks": Case(
        "%r = XeGPU.create_tdesc, %p, %offsets {chunk_size_per_lane=4, mode = vc} :\n"
        "  uint64, vector<16xindex> into tensor_desc<16x4xuint16, #scattered>",
        "%r = XeGPU.create_tdesc %p, %offsets {chunk_size_per_lane = 4, mode = vc} : uint64, "
        "vector<16xindex> into tensor_desc<16x4xuint16, #scattered>",
        "%r = xegpu.create_tdesc %p, %offsets : ui64, vector<16xindex> "
        "-> !xegpu.tensor_desc<16x4xui16, #xegpu.scatter_tdesc_attr<chunk_size = 4 : i64>>",
    ),
    "load_gather": Case(
        "%r = XeGPU.load_gather %points, %mask\n"
        "  {L1_hint = cached, L2_hint = uncached, mode = vc} :\n"
        "  tensor_desc<16xf32, #Scattered>, vector<16xi1> into vector<16xfloat>",
        "%r = XeGPU.load_gather %points, %mask {L1_hint = cached, L2_hint = uncached, mode = vc} : "
        "tensor_desc<16xf32, #scattered>, vector<16xi1> into vector<16xf32>",
        "%r = xegpu.load %points, %mask <{l1_hint = #xegpu.cache_hint<cached>, "
        f"l2_hint = #xegpu.cache_hint<uncached>}}> : {POINTS}, vector<16xi1> -> vector<16xf32>",
    ),
    "load_gather with chunks": Case(
        "%r = XeGPU.load_gather %chunks, %mask {L1 = cached, L2 = streaming, transpose=[1,0], "
        "mode = vc} :\n  tensor_desc<16x8xf32, #Scattered>, vector<16xi1> -> vector<8x16xf32>",
        "%r = XeGPU.load_gather %chunks, %mask {transpose = [1, 0], L1_hint = cached, "
        "L2_hint = streaming, mode = vc} : tensor_desc<16x8xf32, #scattered>, vector<16xi1> "
        "into vector<8x16xf32>",
        "%0 = xegpu.load %chunks, %mask <{l1_hint = #xegpu.cache_hint<cached>, "
        f"l2_hint = #xegpu.cache_hint<streaming>}}> : {CHUNKS}, vector<16xi1> -> vector<16x8xf32>\n"
        "%r = vector.transpose %0, [1, 0] : vector<16x8xf32> to vector<8x16xf32>",
    ),
    "store_scatter": Case(
        "XeGPU.store_scatter %flags, %points, %mask {mode = vc} :\n"
        "  vector<16xf32>, vector<16xi1>, tensor_desc<16xf32, #scattered>",
        "XeGPU.store_scatter %flags, %points, %mask {mode = vc} : vector<16xf32>, "
        "tensor_desc<16xf32, #scattered>, vector<16xi1>",
        f"xegpu.store %flags, %points, %mask  : vector<16xf32>, {POINTS}, vector<16xi1>",
    ),
    "store_scatter with chunks": Case(
        "XeGPU.store_scatter %t, %chunks, %mask {transpose} :\n"
        "  vector<8x16xf32>, tensor_desc<16x8xf32, #scattered>, vector<16xi1>",
        "XeGPU.store_scatter %t, %chunks, %mask {transpose = [1, 0], mode = vc} : "
        "vector<8x16xf32>, tensor_desc<16x8xf32, #scattered>, vector<16xi1>",
        "%0 = vector.transpose %t, [1, 0] : vector<8x16xf32> to vector<16x8xf32>\n"
        f"xegpu.store %0, %chunks, %mask  : vector<16x8xf32>, {CHUNKS}, vector<16xi1>",
    ),
    "update_offset": Case(
        "%r = XeGpu.update_offsets %points, %offsets {mode = vc} :\n"
        "  tensor_desc<16xf32, #scattered>, vector<16x index>, into "
        "tensor_desc<16xf32, #scattered>",
        "%r = XeGPU.update_offset %points, %offsets {mode = vc} : "
        "tensor_desc<16xf32, #scattered>, vector<16xindex> into tensor_desc<16xf32, #scattered>",
        f"%r = xegpu.update_offset %points, %offsets : {POINTS}, vector<16xindex>",
    ),
    "prefetch": Case(
        "XeGPU.prefetch %points {L1 = cached, L2 = uncached} : tensor_desc<16xf32, #scattered>",
        "XeGPU.prefetch %points {L1_hint = cached, L2_hint = uncached, mode = vc} : "
        "tensor_desc<16xf32, #scattered>",
        "xegpu.prefetch %points <{l1_hint = #xegpu.cache_hint<cached>, "
        f"l2_hint = #xegpu.cache_hint<uncached>}}> : {POINTS}",
    ),
    "atomic_rmw": Case(
        '%r = XeGPU.atomic_rmw "addf", %flags, %points, %mask {mode = vc} :\n'
        "  vector<16xf32>, tensor_desc<16xf32, #scattered>, vector<16xi1> to vector<16xf32>",
        '%r = XeGPU.atomic_rmw "addf" %flags, %points, %mask {mode = vc} : vector<16xf32>, '
        "tensor_desc<16xf32, #scattered>, vector<16xi1> into vector<16xf32>",
        f"%r = xegpu.atomic_rmw addf %points, %mask, %flags : {POINTS}, vector<16xi1>, "
        "vector<16xf32> -> vector<16xf32>",
    ),
    "atomic_rmw of the first kernels": Case(
        "%r = xegpu.atomic_rmw maxf %points, %mask, %flags {mode = vc} :\n"
        "  !xegpu.tensor_desc<16xf32, #xegpu.scattered>, vector<16xi1>, vector<16xf32> "
        "-> vector<16xf32>",
        '%r = XeGPU.atomic_rmw "maximumf" %flags, %points, %mask {mode = vc} : vector<16xf32>, '
        "tensor_desc<16xf32, #scattered>, vector<16xi1> into vector<16xf32>",
        f"%r = xegpu.atomic_rmw maximumf %points, %mask, %flags : {POINTS}, vector<16xi1>, "
        "vector<16xf32> -> vector<16xf32>",
    ),
    "create_nd_tdesc of an address": Case(
        "%r = XeGPU.create_nd_tdesc %p, %i, %j, %h, %w, %w, %one {mode =vc}\n"
        "  : uint64, index, index, index, index, index, index\n"
        "  into tensor_desc<8x32xbf16, array_length=2>",
        "%r = XeGPU.create_nd_tdesc %p, %i, %j, %h, %w, %w, %one {mode = vc} : uint64, index, "
        "index, index, index, index, index into tensor_desc<8x32xbf16, array_length = 2>",
        "%r = xegpu.create_nd_tdesc %p[%i, %j], shape : [%h, %w], strides : [%w, %one] : ui64 "
        "-> !xegpu.tensor_desc<8x32xbf16, #xegpu.block_tdesc_attr<array_length = 2 : i64>>",
    ),
    "create_nd_tdesc of a memref": Case(
        "%r = XeGPU.create_nd_tdesc  %m, %i, %j {mode =vc}\n"
        "  : memref<64x96xf16>, index, index\n  into tensor_desc<32x8xf16>",
        "%r = XeGPU.create_nd_tdesc %m, %i, %j {mode = vc} : memref<64x96xf16>, index, index "
        "into tensor_desc<32x8xf16>",
        "%r = xegpu.create_nd_tdesc %m[%i, %j] : memref<64x96xf16> -> !xegpu.tensor_desc<32x8xf16>",
    ),
    "create_nd_tdesc of one dimension": Case(
        "%r = XeGPU.create_nd_tdesc %line, %i {mode = vc} :\n"
        "  memref<640xf32>, index into tensor_desc<32xf32, #attr>",
        "%r = XeGPU.create_nd_tdesc %line, %i {mode = vc} : memref<640xf32>, index "
        "into tensor_desc<32xf32, boundary_check = false>",
        "%r = xegpu.create_nd_tdesc %line[%i] : memref<640xf32> -> !xegpu.tensor_desc<32xf32, "
        "#xegpu.block_tdesc_attr<boundary_check = false>>",
        before="#attr = !xegpu.tdesc_attr< boundary_check=false>",
    ),
    "create_nd_tdesc with a sg_map": Case(
        "%r = XeGPU.create_nd_tdesc %m, %i, %j\n"
        "  : memref<64x96xf16>, index, index\n  into tensor_desc<8x16xf16, #map>",
        "%r = XeGPU.create_nd_tdesc %m, %i, %j : memref<64x96xf16>, index, index into "
        "tensor_desc<8x16xf16, #xegpu.sg_map<wi_layout = [2, 8], wi_data = [1, 2]>>",
        "%r = xegpu.create_nd_tdesc %m[%i, %j] : memref<64x96xf16> -> !xegpu.tensor_desc<8x16xf16,"
        " #xegpu.layout<lane_layout = [2, 8], lane_data = [1, 2]>>",
        before="#map = xegpu.sg_map<wi_layout = [2, 8], wi_data = [1, 2]>",
    ),
    "create_nd_tdesc of the first kernels": Case(
        "%r = xegpu.create_nd_tdesc %p[%i, 32], [%h, %w], [%w, %one] {mode = vc} : ui64 "
        "-> !xegpu.tensor_desc<8x16xf32>",
        "%r = XeGPU.create_nd_tdesc %p[%i, 32], [%h, %w], [%w, %one] {mode = vc} : uint64 "
        "into tensor_desc<8x16xf32>",
        "%r = xegpu.create_nd_tdesc %p[%i, 32], shape : [%h, %w], strides : [%w, %one] : ui64 "
        "-> !xegpu.tensor_desc<8x16xf32>",
    ),
    "load_nd": Case(
        "%r = XeGPU.load_nd %block {L1_hint = uncached, L3_hint = read_invaldiate, mode = vc} :\n"
        "  tensor_desc<8x16xf16> into vector<8x16xf16>",
        "%r = XeGPU.load_nd %block {L1_hint = uncached, L3_hint = read_invalidate, mode = vc} : "
        "tensor_desc<8x16xf16> into vector<8x16xf16>",
        "%r = xegpu.load_nd %block <{l1_hint = #xegpu.cache_hint<uncached>, "
        f"l3_hint = #xegpu.cache_hint<read_invalidate>}}> : {BLOCK} -> vector<8x16xf16>",
    ),
    "load_nd with transpose": Case(
        "%r = XeGPU.load_nd %words {transpose = [1,0], mode = vc} :\n"
        "  tile<8x16xf32> into vector<16x8xf32>",
        "%r = XeGPU.load_nd %words {transpose = [1, 0], mode = vc} : tensor_desc<8x16xf32> "
        "into vector<16x8xf32>",
        "%r = xegpu.load_nd %words <{transpose = array<i64: 1, 0>}> : "
        "!xegpu.tensor_desc<8x16xf32> -> vector<16x8xf32>",
    ),
    "load_nd with vnni_axis 0": Case(
        "%r = XeGPU.load_nd %weights {vnni_axis = 0, mode = vc} :\n"
        "  tile<16x16xf16> into vector<8x16x2xf16>",
        "%r = XeGPU.load_nd %weights {vnni_axis = 0, mode = vc} : tensor_desc<16x16xf16> "
        "into vector<8x16x2xf16>",
        f"%r = xegpu.load_nd %weights <{{packed}}> : {WEIGHTS} -> vector<8x16x2xf16>",
    ),
    "load_nd packed": Case(
        "%r = XeGPU.load_nd %weights {packed, mode = vc} :\n"
        "  tensor_desc<16x16xf16> into vector<8x16x2xf16>",
        "%r = XeGPU.load_nd %weights {vnni_axis = 0, mode = vc} : tensor_desc<16x16xf16> "
        "into vector<8x16x2xf16>",
        f"%r = xegpu.load_nd %weights <{{packed}}> : {WEIGHTS} -> vector<8x16x2xf16>",
    ),
    "load_nd with vnni_axis 1": Case(
        "%r = XeGPU.load_nd %block {vnni_axis = 1, mode = vc} :\n"
        "  tile<8x16xf16> into vector<8x8x2xf16>\n"
        '"test.op"(%r) : (vector<8x8x2xf16>) -> ()',
        "%r = XeGPU.load_nd %block {vnni_axis = 1, mode = vc} : tensor_desc<8x16xf16> "
        'into vector<8x8x2xf16>\n"test.op"(%r) : (vector<8x8x2xf16>) -> ()',
        f"%0 = xegpu.load_nd %block  : {BLOCK} -> vector<8x16xf16>\n"
        "%r = vector.shape_cast %0 : vector<8x16xf16> to vector<8x8x2xf16>\n"
        '"test.op"(%r) : (vector<8x8x2xf16>) -> ()',
    ),
    "load_nd with transpose_bit_width": Case(
        "%r = XeGPU.load_nd %weights {transpose = [1, 0], transpose_bit_width = 32, mode = vc} :\n"
        "  tile<16x16xf16> into vector<8x32xf16>\n"
        '"test.op"(%r) : (vector<8x32xf16>) -> ()',
        "%r = XeGPU.load_nd %weights {transpose = [1, 0], transpose_bit_width = 32, mode = vc} : "
        'tensor_desc<16x16xf16> into vector<8x32xf16>\n"test.op"(%r) : (vector<8x32xf16>) -> ()',
        f"%0 = xegpu.load_nd %weights  : {WEIGHTS} -> vector<16x16xf16>\n"
        "%1 = vector.shape_cast %0 : vector<16x16xf16> to vector<16x8x2xf16>\n"
        "%2 = vector.transpose %1, [1, 0, 2] : vector<16x8x2xf16> to vector<8x16x2xf16>\n"
        "%r = vector.shape_cast %2 : vector<8x16x2xf16> to vector<8x32xf16>\n"
        '"test.op"(%r) : (vector<8x32xf16>) -> ()',
    ),
    "dpas with the accumulator first": Case(
        "%r = XeGPU.dpas %c, %a3, %b3: vector<8x16xfloat>, vector<8x8x2xf16>, "
        "vector<8x16x2xf16> -> vector<8x16xfloat>",
        "%r = XeGPU.dpas %a3, %b3, %c {mode = vc} : vector<8x8x2xf16>, vector<8x16x2xf16>, "
        "vector<8x16xf32> into vector<8x16xf32>",
        "%0 = vector.shape_cast %a3 : vector<8x8x2xf16> to vector<8x16xf16>\n"
        "%r = xegpu.dpas %0, %b3, %c : vector<8x16xf16>, vector<8x16x2xf16>, vector<8x16xf32> "
        "-> vector<8x16xf32>",
    ),
    "dpas without an accumulator": Case(
        "%r = XeGPU.dpas %a3, %b3 {mode = vc} :\n"
        "  vector<8x8x2xf16>, vector<8x16x2xf16>\n  into vector<8x16xfloat>",
        "%r = XeGPU.dpas %a3, %b3 {mode = vc} : vector<8x8x2xf16>, vector<8x16x2xf16> "
        "into vector<8x16xf32>",
        "%0 = vector.shape_cast %a3 : vector<8x8x2xf16> to vector<8x16xf16>\n"
        "%r = xegpu.dpas %0, %b3 : vector<8x16xf16>, vector<8x16x2xf16> -> vector<8x16xf32>",
    ),
    "dpas of plain matrices, whose accumulator's type is left out": Case(
        "%r = XeGPU.dpas %a, %b, %c : vector<8x16xf16>, vector<16x16xf16>\n"
        "  into vector<8x16xfloat>",
        "%r = XeGPU.dpas %a, %b, %c {mode = vc} : vector<8x16xf16>, vector<16x16xf16>, "
        "vector<8x16xf32> into vector<8x16xf32>",
        "%r = xegpu.dpas %a, %b, %c : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> "
        "-> vector<8x16xf32>",
    ),
    "store_nd": Case(
        "XeGPU.store_nd %c, %words {L1_hint = write_back, L3_hint = write_through, mode = vc} :\n"
        "  vector<8x16xfp32>, tensor_desc<8x16xfp32>",
        "XeGPU.store_nd %c, %words {L1_hint = write_back, L3_hint = write_through, mode = vc} : "
        "vector<8x16xf32>, tensor_desc<8x16xf32>",
        "xegpu.store_nd %c, %words <{l1_hint = #xegpu.cache_hint<write_back>, "
        "l3_hint = #xegpu.cache_hint<write_through>}> : vector<8x16xf32>, "
        "!xegpu.tensor_desc<8x16xf32>",
    ),
    "update_nd_offset": Case(
        "%r = XeGpu.update_nd_offset %block, %i, %j {mode = vc} :\n"
        "  tensor_desc<8x16xf16>, index, index into tensor_desc<8x16xf16>",
        "%r = XeGPU.update_nd_offset %block, %i, %j {mode = vc} : tensor_desc<8x16xf16>, index, "
        "index into tensor_desc<8x16xf16>",
        f"%r = xegpu.update_nd_offset %block, [%i, %j] : {BLOCK}",
    ),
    "update_nd_offset of the first kernels": Case(
        f"%r = xegpu.update_nd_offset %block, [0, %j] {{mode=vc}}: {BLOCK} -> {BLOCK}",
        "%r = XeGPU.update_nd_offset %block, [0, %j] {mode = vc} : tensor_desc<8x16xf16> "
        "into tensor_desc<8x16xf16>",
        f"%r = xegpu.update_nd_offset %block, [0, %j] : {BLOCK}",
    ),
    "prefetch_nd": Case(
        "XeGPU.prefetch_nd %block: tensor_desc<8x16xf16>",
        "XeGPU.prefetch_nd %block {mode = vc} : tensor_desc<8x16xf16>",
        f"xegpu.prefetch_nd %block  : {BLOCK}",
    ),
    "alloc_nbarrier": Case(
        "%n = arith.constant 24 : i8\nXeGPU.creat_nbarrier %n: Uint8_t",
        "%n = arith.constant 24 : i8\nXeGPU.alloc_nbarrier 24",
        "%n = arith.constant 24 : i8\nxegpu.alloc_nbarrier 24",
    ),
    "alloc_nbarrier of the first kernels": Case(
        "xegpu.alloc_nbarrier 5", "XeGPU.alloc_nbarrier 5", "xegpu.alloc_nbarrier 5"
    ),
    "init_nbarrier": Case(
        "%r = XeGPU.init_nbarrier %id, %id : i8, i8 into nbarrier",
        "%r = XeGPU.init_nbarrier %id, %id : i8, i8 into nbarrier",
        "%r = xegpu.init_nbarrier %id, %id : i8, i8 -> !xegpu.nbarrier",
    ),
    "init_nbarrier under the table's name": Case(
        "%r = XeGPU.alloc_nbarrier %id, %id : Uint8_t, Uint8_t -> !XeGPU.nbarrier",
        "%r = XeGPU.init_nbarrier %id, %id : i8, i8 into nbarrier",
        "%r = xegpu.init_nbarrier %id, %id : i8, i8 -> !xegpu.nbarrier",
    ),
    "nbarrier_arrive": Case(
        "XeGPU.nbarrier_arrive %barrier",
        "XeGPU.nbarrier_arrive %barrier",
        "xegpu.nbarrier_arrive %barrier : !xegpu.nbarrier",
    ),
    "nbarrier_wait": Case(
        "XeGPU.nbarrier_wait %barrier : !XeGPU.nbarrier",
        "XeGPU.nbarrier_wait %barrier",
        "xegpu.nbarrier_wait %barrier : !xegpu.nbarrier",
    ),
    "fence": Case(
        'XeGPU.fence {scope = "gpu",  memory_kind = "global", }',
        'XeGPU.fence {scope = "gpu", memory_kind = "global"}',
        "xegpu.fence memory_kind = global, fence_scope = gpu",
    ),
    "fence of shared memory": Case(
        "XeGPU.fence {scope = workgroup, memory_kind = shared}",
        'XeGPU.fence {scope = "workgroup", memory_kind = "shared"}',
        "xegpu.fence memory_kind = slm, fence_scope = workgroup",
    ),
    "mfence": Case(
        'xegpu.mfence {memory_kind = "ugm" , fence_op = "none", fence_scope = "local"}',
        'XeGPU.mfence {memory_kind = "ugm", fence_op = "none", fence_scope = "local"}',
        "xegpu.fence memory_kind = global, fence_scope = workgroup",
    ),
}

ONLY_RFC = {
    "XeGPU.compile_hint {hint=schedule_barrier}": "XeGPU.compile_hint {hint = schedule_barrier}",
    "XeGPU.compile_hint {scheduling_barrier}": "XeGPU.compile_hint {hint = schedule_barrier}",
    "xegpu.compile_hint": "XeGPU.compile_hint",
    (
        "%r = xegpu.create_nbarrier %id, %id {num_producers = 8 : i8, num_consumers = 4 : i8} "
        ": (i8, i8) -> !xegpu.nbarrier"
    ): (
        "%r = XeGPU.create_nbarrier %id, %id {num_producers = 8 : i8, num_consumers = 4 : i8} "
        ": i8, i8 into nbarrier"
    ),
}
"""What is read and printed in the RFC's form only."""


def test_every_operation_of_the_rfc_is_here() -> None:
    texts = "\n".join([*(case.text for case in CASES.values()), *ONLY_RFC])
    names = set(re.findall(r"(?i:xegpu)\.(\w+)", texts))
    # LLVM 22 has these names too, and reads them itself.
    assert set(OPERATIONS) - names == {"load", "store", "update_offset"}


@pytest.mark.parametrize("name", CASES)
def test_prints_what_it_read_in_the_rfcs_form(name: str) -> None:
    case = CASES[name]
    module = read_module(in_function(case.text, case.before))
    printed = print_rfc(module)
    assert body(printed) == case.rfc
    assert read_module(printed).is_structurally_equivalent(module)


@pytest.mark.parametrize(("text", "expected"), ONLY_RFC.items())
def test_prints_what_only_the_rfc_has(text: str, expected: str) -> None:
    module = read_module(in_function(text))
    printed = print_rfc(module)
    assert body(printed) == expected
    assert read_module(printed).is_structurally_equivalent(module)


@pytest.mark.parametrize("name", CASES)
def test_prints_what_it_read_in_llvm22s_form(name: str) -> None:
    case = CASES[name]
    assert body(print_llvm22(read_module(in_function(case.text, case.before)))) == case.llvm22


def test_mlir_opt_accepts_all_of_llvm22s_form() -> None:
    modules = [read_module(in_function(case.text, case.before)) for case in CASES.values()]
    text = "\n// -----\n".join(print_llvm22(module) for module in modules)
    result = run_mlir_opt(text, "-split-input-file", "-allow-unregistered-dialect")
    assert result.stderr == ""
    assert result.returncode == 0
