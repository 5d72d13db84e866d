"""What is wrong in the RFC's form, with the location and the words of the message."""

from __future__ import annotations

import pytest

from tests.dialects.xegpu.rfc.texts import errors, in_function

BLOCK = "tensor_desc<8x16xf16>"

WRONG = {
    # The operands and their types.
    "XeGPU.prefetch_nd %block, %words : tensor_desc<8x16xf16>": (
        "XeGPU.prefetch_nd has 2 operands; it takes 1"
    ),
    "%r = XeGPU.load_nd %block {mode = vc} : tensor_desc<8x32xf16> into vector<8x16xf16>": (
        "the operand is of type !xegpu.tensor_desc<8x16xf16>, but it is written as "
        "!xegpu.tensor_desc<8x32xf16>"
    ),
    "%r = XeGPU.load_nd %block {mode = vc} : into vector<8x16xf16>": (
        "the operand is of type !xegpu.tensor_desc<8x16xf16>, but its type is not written"
    ),
    f"XeGPU.prefetch_nd %block : {BLOCK}, vector<8xf32>": (
        "the type vector<8xf32> is written, but no operand has it"
    ),
    "%r = XeGPU.load_gather %points, %flags : tensor_desc<16xf32, #scattered>, vector<16xf32> "
    "into vector<16xf32>": (
        "'xegpu.load': operand 'mask' at position 1 does not verify: expected a vector of i1 or an "
        "i1, got vector<16xf32>"
    ),
    "XeGPU.store_nd %a, %b : vector<8x16xf16>, vector<16x16xf16>": (
        "XeGPU.store_nd takes one tensor_desc, but has 0"
    ),
    "%r = XeGPU.create_nd_tdesc %m, %i:2 : memref<64x96xf16>, index, index into "
    "tensor_desc<8x16xf16>": ("%i:2 needs an operation with 2 results, but %i stands for 1"),
    "%r = XeGPU.create_nd_tdesc %p, %i, %j : uint64, index, index into tensor_desc<8x16xf16>": (
        "XeGPU.create_nd_tdesc has 2 indices after the base; it takes the offsets, the shape and "
        "the strides with 2 indices each, or the offsets of a memref"
    ),
    "%r = XeGPU.create_nd_tdesc %p[%i, %j], [%h, %w] : uint64 into tensor_desc<8x16xf16>": (
        "XeGPU.create_nd_tdesc takes one list of offsets, or the lists of offsets, shape and "
        "strides"
    ),
    "XeGPU.alloc_nbarrier %id : i8": (
        "XeGPU.alloc_nbarrier takes a constant number of barriers, not a value of run time"
    ),
    # The attributes.
    f"%r = XeGPU.load_nd %block {{vnni_axis = 2}} : {BLOCK} into vector<8x16xf16>": (
        "vnni_axis is 2; it must be 0 or 1"
    ),
    f"%r = XeGPU.load_nd %block {{vnni_axis = vc}} : {BLOCK} into vector<8x16xf16>": (
        "vnni_axis must be a number"
    ),
    f"%r = XeGPU.load_nd %block {{mode = scalar}} : {BLOCK} into vector<8x16xf16>": (
        "mode must be one of vc, simt"
    ),
    f"%r = XeGPU.load_nd %block {{mode = vc, mode = vc}} : {BLOCK} into vector<8x16xf16>": (
        "attribute 'mode' is given twice; it may be given once"
    ),
    f"%r = XeGPU.load_nd %block {{L1 = cached, l1_hint = cached}} : {BLOCK} "
    "into vector<8x16xf16>": "l1_hint is given twice; it may be given once",
    f"%r = XeGPU.load_nd %block {{L1 = warm}} : {BLOCK} into vector<8x16xf16>": (
        "L1 must be one of cached, uncached, streaming, read_invalidate, write_back, write_through"
    ),
    f"%r = XeGPU.load_nd %block {{speed = fast}} : {BLOCK} into vector<8x16xf16>": (
        "XeGPU.load_nd has no attribute 'speed'"
    ),
    "%r = XeGPU.load_gather %chunks, %mask {transpose = [0, 1]} : tensor_desc<16x8xf32, "
    "#scattered>, vector<16xi1> into vector<8x16xf32>": "transpose must be [1, 0], or stand alone",
    "%r = XeGPU.create_tdesc %p, %offsets {chunk_size_per_lane = 4} : uint64, vector<16xindex> "
    "into tensor_desc<16x8xf32, #scattered>": (
        "chunk_size_per_lane is 4, but the result's type has chunks of 8; they must be the same"
    ),
    "XeGPU.fence {scope = gpu}": "XeGPU.fence needs scope and memory_kind",
    "XeGPU.fence {scope = world, memory_kind = global}": "scope must be one of workgroup, gpu",
    "XeGPU.compile_hint {hint = faster}": (
        "hint must be one of schedule_barrier, scheduling_barrier"
    ),
    '%r = XeGPU.atomic_rmw "divf" %flags, %points, %mask : vector<16xf32>, '
    "tensor_desc<16xf32, #scattered>, vector<16xi1> into vector<16xf32>": (
        "there is no atomic update 'divf'; expected one of addf, addi, andi, assign, maximumf, "
        "maxnumf, maxs, maxu, minimumf, minnumf, mins, minu, mulf, muli, ori, xori, maxf, minf"
    ),
    # The types.
    "%r = XeGPU.create_tdesc %p, %offsets : uint64, vector<16xindex> "
    "into tensor_desc<16xf32, #scattered, array_length = 2>": (
        "a scattered descriptor has no array_length"
    ),
    "%r = XeGPU.create_tdesc %p, %offsets : uint64, vector<16xindex> "
    "into tensor_desc<16xf32, #scattered, colour = 2>": (
        "tensor_desc has no 'colour'; it has array_length, boundary_check, chunk_size, "
        "chunk_size_per_lane, map, memory_scope, memory_space, scattered, sg"
    ),
    "%r = XeGPU.create_tdesc %p, %offsets : uint64, vector<16xindex> "
    "into tensor_desc<16xf32, #scattered, memory_scope = cloud>": (
        "'cloud' is no memory space; expected one of global, slm"
    ),
    "%r = XeGPU.create_nd_tdesc %m, %i, %j : memref<64x96xf16>, index, index "
    "into tensor_desc<8x16xf16, #xegpu.sg_map<wi_layout = [2, 8]>>": (
        "a sg_map needs both wi_layout and wi_data"
    ),
    "%r = XeGPU.create_nd_tdesc %m, %i, %j : memref<64x96xf16>, index, index "
    "into tensor_desc<8x16xf16, #xegpu.sg_map<wi_size = [2, 8], wi_data = [1, 1]>>": (
        "unexpected 'wi_size' in a sg_map, which has wi_layout and wi_data once each"
    ),
    "%r = XeGPU.create_nd_tdesc %line, %i : memref<640xf32>, index "
    "into tensor_desc<32xf32, #xegpu.sg_map<wi_layout = [2, 8], wi_data = [1, 1]>>": (
        "the outer sizes of a sg_map are not 1; they must be 1 for a descriptor of one dimension"
    ),
    "%r = XeGPU.create_nd_tdesc %m, %i, %j {mode = vc} : memref<64x96xf16>, index, index "
    "into tensor_desc<8x16xf16, #xegpu.sg_map<wi_layout = [2, 8], wi_data = [1, 1]>>": (
        "mode = vc excludes a sg_map: the vectors belong to the subgroup as a whole"
    ),
    "%r = XeGPU.load_nd %block {mode = vc} : tensor_desc<8x16xf16>": (
        "expected '->', 'into' or 'to' and the type of XeGPU.load_nd's result"
    ),
    # What only the verifier sees.
    f"%r = XeGPU.load_nd %block {{vnni_axis = 1, mode = vc}} : {BLOCK} into vector<4x16x2xf16>": (
        "'xegpu.load_nd': the result has the shape 4x16x2; this load delivers 8x8x2"
    ),
    f"%r = XeGPU.load_nd %block {{vnni_axis = 1, transpose = [1, 0]}} : {BLOCK} "
    "into vector<16x4x2xf16>": "'xegpu.load_nd': vnni_axis excludes transpose and packed",
    "%r = XeGPU.load_nd %weights {transpose = [1, 0], transpose_bit_width = 64} : "
    "tensor_desc<16x16xf16> into vector<8x32xf16>": (
        "'xegpu.load_nd': transpose_bit_width must be 32"
    ),
    "%r = XeGPU.load_nd %weights {transpose_bit_width = 32} : tensor_desc<16x16xf16> "
    "into vector<8x32xf16>": (
        "'xegpu.load_nd': transpose_bit_width needs a block of 2 dimensions and transpose = [1, 0]"
    ),
    "%r = XeGPU.dpas %a3, %a3, %c {mode = vc} : vector<8x8x2xf16>, vector<8x8x2xf16>, "
    "vector<8x16xf32> into vector<8x16xf32>": (
        "'xegpu.dpas': vector<8x8x2xf16> times vector<8x8x2xf16> is no vector<8x16xf32>; the "
        "columns of the first must be the rows of the second, without the split for VNNI"
    ),
    "%r = XeGPU.load_gather %chunks, %mask {transpose} : tensor_desc<16x8xf32, #scattered>, "
    "vector<16xi1> into vector<16x8xf32>": (
        "'xegpu.load': the value is vector<16x8xf32>; it must be vector<8x16xf32>"
    ),
    f"%r = XeGPU.load_nd %block {{vnni_axis = 1, L1 = write_back}} : {BLOCK} "
    "into vector<8x8x2xf16>": (
        "'xegpu.load_nd': l1_hint is write_back; it must be one of cached, uncached, streaming, "
        "read_invalidate"
    ),
}
"""Operations and what is wrong with them."""


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_error(text: str, message: str) -> None:
    found = errors(in_function(text))
    assert [words for _, words in found] == [message]


def test_error_of_an_attribute_is_at_the_attribute() -> None:
    load = "%r = XeGPU.load_nd %block {L1 = warm} : tensor_desc<8x16xf16> into vector<8x16xf16>"
    text = in_function(load)
    ((position, _),) = errors(text)
    assert position == "L1 = warm"


def test_error_of_an_operand_is_at_the_operand() -> None:
    text = in_function("XeGPU.prefetch_nd %block : tensor_desc<8x32xf16>")
    ((position, _),) = errors(text)
    assert position == "%block"


def test_error_of_llvm22s_form_is_as_without_the_rfcs() -> None:
    ((position, message),) = errors("func.func @f() {\nxegpu.prefetch_nd 4\nreturn\n}")
    assert (position, message) == ("4", "operand expected")


def test_unknown_operation() -> None:
    ((position, message),) = errors(in_function("XeGPU.load_all %block"))
    assert (position, message) == ("XeGPU.load_all", "Operation XeGPU.load_all is not registered")
