"""What one of the two forms cannot say is an error at the operation, which names it."""

from __future__ import annotations

import pytest

from tests.dialects.xegpu.rfc.texts import errors_of_llvm22, errors_of_rfc, in_function

RFC = ", which cannot be said in the RFC's form of XeGPU"
LLVM22 = ", which cannot be said in LLVM 22's form of XeGPU; --xegpu-syntax=rfc prints it"
BLOCK = "!xegpu.tensor_desc<8x16xf16>"
POINTS = "!xegpu.tensor_desc<16xf32, #xegpu.scatter_tdesc_attr<>>"
MAP = "#xegpu.sg_map<wi_layout = [1, 16], wi_data = [1, 1]>"

NOT_IN_THE_RFC = {
    f"%r = xegpu.load_nd %block[%i, 0] : {BLOCK} -> vector<8x16xf16>": (
        "'xegpu.load_nd' has offsets of its own"
    ),
    f"xegpu.store_nd %a, %block[%i, 0] : vector<8x16xf16>, {BLOCK}": (
        "'xegpu.store_nd' has offsets of its own"
    ),
    f"%r = xegpu.create_nd_tdesc %m : memref<64x96xf16> -> {BLOCK}": (
        "'xegpu.create_nd_tdesc' has no offsets, and gets them where it is used"
    ),
    "%r = xegpu.load %line[%offsets], %mask : memref<640xf32>, vector<16xindex>, vector<16xi1> "
    "-> vector<16xf32>": "'xegpu.load' has a base and offsets instead of a tensor_desc",
    f"xegpu.prefetch_nd %block <{{layout = #xegpu.layout<inst_data = [8, 16]>}}> : {BLOCK}": (
        "'xegpu.prefetch_nd' has a layout of its own"
    ),
    "%r = xegpu.create_nd_tdesc %m[0, 0] : memref<64x96xf16> -> !xegpu.tensor_desc<32x32xf16, "
    "#xegpu.layout<sg_layout = [2, 2], sg_data = [16, 16]>>": (
        "'xegpu.create_nd_tdesc' has #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 16]>"
    ),
    "%r = xegpu.convert_layout %a <{input_layout = #xegpu.layout<inst_data = [8, 16]>, "
    "target_layout = #xegpu.layout<inst_data = [4, 16]>}> : vector<8x16xf16>": (
        "'xegpu.convert_layout' is an operation of LLVM 22"
    ),
    "%s = memref.alloc() : memref<4096xi8, 3>\n"
    "%d = xegpu.create_mem_desc %s : memref<4096xi8, 3> -> !xegpu.mem_desc<32x64xf16>": (
        "'xegpu.create_mem_desc' is an operation of LLVM 22"
    ),
}
"""Operations that only LLVM 22's form has, and what the RFC's lacks."""

NOT_IN_LLVM22 = {
    "XeGPU.compile_hint {hint=schedule_barrier}": "'xegpu.compile_hint' is an operation of the RFC",
    "%r = xegpu.create_nbarrier %id, %id {num_producers = 8 : i8, num_consumers = 8 : i8} "
    ": (i8, i8) -> !xegpu.nbarrier": "'xegpu.create_nbarrier' is an operation of the RFC",
    'xegpu.mfence {memory_kind = "slm", fence_op = "evict", fence_scope = "gpu"}': (
        "'xegpu.mfence' is an operation of the RFC"
    ),
    "%r = XeGPU.create_nd_tdesc %line, %i : memref<640xf32>, index "
    f"into tensor_desc<32xf32, {MAP}>\n"
    f"%v = XeGPU.load_nd %r : tensor_desc<32xf32, {MAP}> into vector<2xf32>": (
        "'xegpu.load_nd' works on the fragments that a sg_map gives to work items"
    ),
    "%r = XeGPU.create_nd_tdesc %p, %i {mode = vc} : uint64, index into "
    "tensor_desc<16xf32, boundary_check = false>": (
        "'xegpu.create_nd_tdesc' takes an address without the shape of its memory"
    ),
    "%r = XeGPU.create_tdesc %p, %offsets {mode = vc} : uint64, vector<16xindex> into "
    "tensor_desc<16xf32, #scattered, memory_scope = slm>": (
        "'xegpu.create_tdesc' takes an address outside of global memory"
    ),
    f"%r = xegpu.create_nd_tdesc %m[0, 0] {{boundary_check = false}} : memref<64x96xf16> "
    f"-> {BLOCK}": (
        "'xegpu.create_nd_tdesc' switches boundary_check off, which its result's type has on"
    ),
    "%k = arith.constant dense<true> : vector<16x8xi1>\n"
    "%r = XeGPU.load_gather %chunks, %k {transpose = [1, 0], mode = vc} : "
    "tensor_desc<16x8xf32, #scattered>, vector<16x8xi1> into vector<8x16xf32>": (
        "'xegpu.load' has a mask with one element for each element of a chunk"
    ),
}
"""Operations that only the RFC's form has, and what LLVM 22's lacks."""


@pytest.mark.parametrize(("text", "message"), NOT_IN_THE_RFC.items())
def test_the_rfc_cannot_say(text: str, message: str) -> None:
    ((position, found),) = errors_of_rfc(in_function(text))
    assert found == message + RFC
    assert position == text.splitlines()[-1]


@pytest.mark.parametrize(("text", "message"), NOT_IN_LLVM22.items())
def test_llvm22_cannot_say(text: str, message: str) -> None:
    ((position, found),) = errors_of_llvm22(in_function(text))
    assert found == message + LLVM22
    assert position == text.splitlines()[-1]


def test_every_operation_in_the_way_is_named() -> None:
    hints = "XeGPU.compile_hint\nXeGPU.compile_hint {hint = schedule_barrier}"
    assert [position for position, _ in errors_of_llvm22(in_function(hints))] == hints.splitlines()
