"""Kernels that hold every operation of CUDA Tile IR, each with all of its modifiers somewhere.

What an earlier version lacks stands in a kernel of its own, by the version that has it.
"""

from __future__ import annotations

from typing import NamedTuple

from xtile.dialects.cuda_tile.versions import V13_1, V13_2, V13_3, V13_4, Version

INTEGERS = """
entry @integers() {
  %x = iota : tile<16xi32>
  %one = constant <i32: 1> : tile<16xi32>
  %a = addi %x, %one : tile<16xi32>
  %b = addi %a, %one overflow<no_signed_wrap> : tile<16xi32>
  %c = subi %a, %b overflow<no_unsigned_wrap> : tile<16xi32>
  %d = muli %b, %c overflow<no_wrap> : tile<16xi32>
  %e = mulhii %d, %a : tile<16xi32>
  %f = divi %e, %one signed : tile<16xi32>
  %g = divi %e, %one unsigned rounding<positive_inf> : tile<16xi32>
  %h = remi %f, %g signed : tile<16xi32>
  %i = maxi %h, %a signed : tile<16xi32>
  %j = mini %h, %i unsigned : tile<16xi32>
  %k = absi %j : tile<16xi32>
  %l = negi %k : tile<16xi32>
  %m = shli %l, %one : tile<16xi32>
  %o = shri %m, %one unsigned : tile<16xi32>
  %q = andi %o, %m : tile<16xi32>
  %r = ori %q, %l : tile<16xi32>
  %s = xori %r, %q : tile<16xi32>
  %t = cmpi less_than_or_equal %s, %r, signed : tile<16xi32> -> tile<16xi1>
  %u = select %t, %s, %r : tile<16xi1>, tile<16xi32>
  %v = exti %u signed : tile<16xi32> -> tile<16xi64>
  %w = trunci %v overflow<no_signed_wrap> : tile<16xi64> -> tile<16xi8>
  %y = constant <i8: 3> : tile<16x32xi8>
  %z = constant <i8: -2> : tile<32x16xi8>
  %zero = constant <i32: 0> : tile<16x16xi32>
  %p = mmai %y, %z, %zero signed unsigned : tile<16x32xi8>, tile<32x16xi8>, tile<16x16xi32>
  return
}
"""

FLOATS = """
entry @floats(%scalar: tile<f32>) {
  %0 = reshape %scalar : tile<f32> -> tile<1xf32>
  %a = broadcast %0 : tile<1xf32> -> tile<8xf32>
  %b = absf %a : tile<8xf32>
  %c = addf %a, %b rounding<zero> flush_to_zero : tile<8xf32>
  %d = ceil %c : tile<8xf32>
  %e = cmpf greater_than unordered %d, %a : tile<8xf32> -> tile<8xi1>
  %f = divf %a, %b rounding<approx> flush_to_zero : tile<8xf32>
  %g = floor %f : tile<8xf32>
  %h = fma %f, %g, %a rounding<negative_inf> : tile<8xf32>
  %i = maxf %h, %a flush_to_zero propagate_nan : tile<8xf32>
  %j = minf %i, %h flush_to_zero : tile<8xf32>
  %k = mulf %j, %i : tile<8xf32>
  %l = negf %k : tile<8xf32>
  %m = remf %l, %a : tile<8xf32>
  %n = subf %m, %l rounding<positive_inf> : tile<8xf32>
  %o = cos %n : tile<8xf32>
  %p = cosh %o : tile<8xf32>
  %q = exp %p : tile<8xf32>
  %r = exp2 %q flush_to_zero : tile<8xf32>
  %s = log %r : tile<8xf32>
  %t = log2 %s : tile<8xf32>
  %u = pow %t, %s : tile<8xf32>
  %v = rsqrt %u flush_to_zero : tile<8xf32>
  %w = sin %v : tile<8xf32>
  %x = sinh %w : tile<8xf32>
  %y = sqrt %x rounding<approx> flush_to_zero : tile<8xf32>
  %z = tan %y : tile<8xf32>
  %aa = tanh %z : tile<8xf32>
  %ab = ftof %aa : tile<8xf32> -> tile<8xf16>
  %ac = ftoi %ab unsigned : tile<8xf16> -> tile<8xi32>
  %ad = itof %ac signed : tile<8xi32> -> tile<8xf64>
  %ae = bitcast %ad : tile<8xf64> -> tile<8xi64>
  %af = constant <f16: 1.0> : tile<16x32xf16>
  %ag = constant <f16: -0.0> : tile<32x8xf16>
  %ah = constant <f32: 0.0> : tile<16x8xf32>
  %ai = mmaf %af, %ag, %ah : tile<16x32xf16>, tile<32x8xf16>, tile<16x8xf32>
  return
}
"""

SHAPES = """
entry @shapes(%i: tile<i32>) {
  %a = constant <f32: [[1.5, -2.0], [0x7FC00000, 0xFF800000]]> : tile<2x2xf32>
  %b = permute %a [1, 0] : tile<2x2xf32> -> tile<2x2xf32>
  %c = cat %a, %b dim = 1 : tile<2x2xf32>, tile<2x2xf32> -> tile<2x4xf32>
  %d = extract %c[%i, %i] : tile<2x4xf32> -> tile<1x2xf32>
  %e = reshape %d : tile<1x2xf32> -> tile<2xf32>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
  %f = reduce %c dim=0 identities=[0.0 : f32] : tile<2x4xf32> -> tile<4xf32>
  (%l: tile<f32>, %r: tile<f32>) {
    %s = addf %l, %r : tile<f32>
    yield %s : tile<f32>
  }
  %j = iota : tile<4xi32>
  %g, %h = reduce %f, %j dim=0 identities=[0xFF800000 : f32, -1 : i32]
    : tile<4xf32>, tile<4xi32> -> tile<f32>, tile<i32>
  (%l: tile<f32>, %r: tile<f32>, %li: tile<i32>, %ri: tile<i32>) {
    %less = cmpf less_than ordered %l, %r : tile<f32> -> tile<i1>
    %value = select %less, %r, %l : tile<i1>, tile<f32>
    %index = select %less, %ri, %li : tile<i1>, tile<i32>
    yield %value, %index : tile<f32>, tile<i32>
  }
  %k = scan %c dim=1 reverse=true identities=[1.0 : f32] : tile<2x4xf32> -> tile<2x4xf32>
  (%l: tile<f32>, %r: tile<f32>) {
    %s = mulf %l, %r : tile<f32>
    yield %s : tile<f32>
  }
  %bools = constant <i1: [true, false, true, true, false, true, true, true, true, false, false,
                          false, true, false, true, false]> : tile<16xi1>
  %true = constant <i1: true> : tile<2x4xi1>
  %single = constant <i1: true> : tile<i1>
  %longs = constant <i64: [-9223372036854775808, 9223372036854775807]> : tile<2xi64>
  %shorts = constant <i16: [-1, 32767]> : tile<2xi16>
  %bytes = constant <i8: [-128, 127]> : tile<2xi8>
  %halfs = constant <f16: [1.0, -6.5e+04]> : tile<2xf16>
  %brains = constant <bf16: [1.0, 3.0e+38]> : tile<2xbf16>
  %doubles = constant <f64: [1.0, 0x7FF0000000000001]> : tile<2xf64>
  %tensors = constant <tf32: [1.0, -3.5]> : tile<2xtf32>
  %e4m3 = constant <f8E4M3FN: [1.0, 448.0]> : tile<2xf8E4M3FN>
  %e5m2 = constant <f8E5M2: [1.0, -57344.0]> : tile<2xf8E5M2>
  return
}
"""

CONTROL = """
entry @control(%p: tile<ptr<f32>>, %n: tile<i32>, %v: tile<f32>)
    optimization_hints=<sm_100 = {num_cta_in_cga = 2, occupancy = 2},
                        sm_90 = {num_worker_warps_per_cta = 8}> {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %less = cmpi less_than %zero, %n, signed : tile<i32> -> tile<i1>
  assert %less, "n is not positive: \\22%\\22" : tile<i1>
  %a = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%s = %v) -> (tile<f32>) {
    %even = andi %i, %one : tile<i32>
    %is = cmpi equal %even, %zero, unsigned : tile<i32> -> tile<i1>
    %t = if %is -> (tile<f32>) {
      %u = addf %s, %v : tile<f32>
      yield %u : tile<f32>
    } else {
      yield %s : tile<f32>
    }
    continue %t : tile<f32>
  }
  for %i in (%zero to %n, step %one) : tile<i32> {
    if %less {
      assert %less, "never" : tile<i1>
    }
    continue
  }
  %b = loop iter_values(%i = %zero) : tile<i32> -> tile<f32> {
    %end = cmpi greater_than %i, %n, signed : tile<i32> -> tile<i1>
    if %end {
      break %a : tile<f32>
    }
    %j = addi %i, %one : tile<i32>
    continue %j : tile<i32>
  }
  loop {
    break
  }
  return
}
"""

POINTERS = """
global @table alignment = 16 <f32: [1.0, 2.0]> : tile<2xf32>
entry @pointers(%base: tile<ptr<f32>>, %ints: tile<ptr<i32>>) {
  %p = assume div_by<16>, %base : tile<ptr<f32>>
  %0 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %1 = broadcast %0 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %i = iota : tile<8xi32>
  %ib = assume bounded<0, ?>, %i : tile<8xi32>
  %ic = assume bounded<?, 1000>, %ib : tile<8xi32>
  %ie = assume bounded<-5, 7>, %ic : tile<8xi32>
  %if = assume same_elements<[1]>, %ie : tile<8xi32>
  %q = offset %1, %if : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %qa = assume div_by<32, every 8 along 0>, %q : tile<8xptr<f32>>
  %m = constant <i1: true> : tile<8xi1>
  %z = constant <f32: 0.0> : tile<8xf32>
  %t = make_token : token
  %x, %t1 = load_ptr_tko weak %qa : tile<8xptr<f32>> -> tile<8xf32>, token
  %y, %t2 = load_ptr_tko relaxed device %q, %m, %z token=%t
    : tile<8xptr<f32>>, tile<8xi1>, tile<8xf32> -> tile<8xf32>, token
  %w, %t3 = load_ptr_tko weak %q, %m token=%t2
    optimization_hints=<sm_90 = {latency = 3}>
    : tile<8xptr<f32>>, tile<8xi1> -> tile<8xf32>, token
  %t4 = store_ptr_tko weak %q, %x : tile<8xptr<f32>>, tile<8xf32> -> token
  %t5 = store_ptr_tko release sys %q, %y, %m token=%t4
    : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> token
  %t6 = join_tokens %t5, %t3, %t1 : token
  %old, %t7 = atomic_rmw_tko acq_rel sys %q, addf, %x, %m token=%t6
    : tile<8xptr<f32>>, tile<8xf32>, tile<8xi1> -> tile<8xf32>, token
  %k = constant <i32: 7> : tile<i32>
  %old2, %t8 = atomic_rmw_tko relaxed device %ints, umax, %k
    : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  %old3, %t9 = atomic_cas_tko acquire tl_blk %ints, %k, %old2 token=%t8
    : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  %l = ptr_to_int %q : tile<8xptr<f32>> -> tile<8xi64>
  %n = int_to_ptr %l : tile<8xi64> -> tile<8xptr<f16>>
  %o = ptr_to_ptr %n : tile<8xptr<f16>> -> tile<8xptr<i8>>
  %g = get_global @table : tile<ptr<f32>>
  return
}
"""

VIEWS = """
entry @views(%p: tile<ptr<f32>>, %m: tile<i64>, %s: tile<i64>, %i: tile<i32>) {
  %t = make_token : token
  %a = make_tensor_view %p, shape = [%m, 64], strides = [%s, 1]
    : tile<i64> -> tensor_view<?x64xf32, strides=[?,1]>
  %b = make_tensor_view %p, shape = [32, 64], strides = [64, 1]
    : tensor_view<32x64xf32, strides=[64,1]>
  %c = make_partition_view %a
    : partition_view<tile=(8x16), padding_value = neg_inf, tensor_view<?x64xf32, strides=[?,1]>>
  %d = make_partition_view %b
    : partition_view<tile=(16x8), tensor_view<32x64xf32, strides=[64,1]>, dim_map=[1, 0]>
  %x, %t1 = load_view_tko weak %c[%i, %i] token = %t
    : partition_view<tile=(8x16), padding_value = neg_inf, tensor_view<?x64xf32, strides=[?,1]>>,
      tile<i32> -> tile<8x16xf32>, token
  %y, %t2 = load_view_tko relaxed device %d[%i, %i]
    optimization_hints=<sm_100 = {allow_tma = false, latency = 2}>
    : partition_view<tile=(16x8), tensor_view<32x64xf32, strides=[64,1]>, dim_map=[1, 0]>, tile<i32>
    -> tile<16x8xf32>, token
  %t3 = store_view_tko weak %x, %c[%i, %i] token = %t1
    : tile<8x16xf32>,
      partition_view<tile=(8x16), padding_value = neg_inf, tensor_view<?x64xf32, strides=[?,1]>>,
      tile<i32> -> token
  %t4 = store_view_tko release sys %y, %d[%i, %i]
    optimization_hints=<sm_90 = {latency = 4}>
    : tile<16x8xf32>,
      partition_view<tile=(16x8), tensor_view<32x64xf32, strides=[64,1]>, dim_map=[1, 0]>, tile<i32>
    -> token
  %rows, %columns = get_index_space_shape %c
    : partition_view<tile=(8x16), padding_value = neg_inf, tensor_view<?x64xf32, strides=[?,1]>>
    -> tile<i64>
  %height, %width = get_tensor_shape %a : tensor_view<?x64xf32, strides=[?,1]> -> tile<i64>
  return
}
"""

SINCE_2 = """
entry @since_2(%v: tile<f32>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %a = atan2 %v, %v : tile<f32>
  %b = tanh %a rounding<approx> : tile<f32>
  %c = negi %one overflow<no_signed_wrap> : tile<i32>
  %e = constant <f8E8M0FNU: [1.0, 0.5]> : tile<2xf8E8M0FNU>
  for unsigned %i in (%zero to %n, step %one) : tile<i32> {
    continue
  }
  %t = make_token : token
  %t1 = print_tko "i = %i\\0A", %n token=%t : tile<i32> -> token
  %t2 = print_tko "done" -> token
  %t3 = join_tokens %t1, %t2 : token
  return
}
"""

SINCE_3 = """
global private constant @table alignment = 32 <i32: [1, 2]> : tile<2xi32>
entry @since_3(%p: tile<ptr<f32>>, %v: tile<f32>, %i: tile<i32>) {
  %a = alloca num_elem = 64, alignment = 16 : tile<ptr<f32>>
  %b = exp %v rounding<approx> : tile<f32>
  %bytes = constant <i8: [-8, 7]> : tile<2xi8>
  %nibbles = unpack %bytes : tile<2xi8> -> tile<4xi4>
  %c = pack %nibbles : tile<4xi4> -> tile<2xi8>
  %d = unpack %c : tile<2xi8> -> tile<4xf4E2M1FN>
  %quarters = constant <f4E2M1FN: [0.5, -6.0]> : tile<2xf4E2M1FN>
  %e = constant <f8E4M3FN: 1.0> : tile<128x64xf8E4M3FN>
  %f = constant <f8E4M3FN: 2.0> : tile<64x128xf8E4M3FN>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %g = mmaf %e, %f, %zero fast_acc
    : tile<128x64xf8E4M3FN>, tile<64x128xf8E4M3FN>, tile<128x128xf32>
  %view = make_tensor_view %p, shape = [32, 64], strides = [64, 1]
    : tensor_view<32x64xf32, strides=[64,1]>
  %h = make_strided_view %view
    : strided_view<tile=(4x8), traversal_strides=[2,4], padding_value = nan,
                   tensor_view<32x64xf32, strides=[64,1]>, dim_map=[1, 0]>
  %j = make_gather_scatter_view %view
    : gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<32x64xf32, strides=[64,1]>,
                          sparse_dim=0>
  %rows = iota : tile<4xi32>
  %x, %t = load_view_tko weak %j[%rows, %i]
    : gather_scatter_view<tile=(4x8), padding_value = zero, tensor_view<32x64xf32, strides=[64,1]>,
                          sparse_dim=0>, tile<4xi32>, tile<i32>
    -> tile<4x8xf32>, token
  %tiles = make_partition_view %view
    : partition_view<tile=(4x8), tensor_view<32x64xf32, strides=[64,1]>>
  %t1 = atomic_red_view_tko relaxed device %tiles[%i, %i], addf, %x token = %t
    : tile<4x8xf32>, partition_view<tile=(4x8), tensor_view<32x64xf32, strides=[64,1]>>, tile<i32>
    -> token
  return
}
"""

SINCE_4 = """
entry @since_4(%p: tile<ptr<f32>>, %i: tile<i32>) {
  %t = gdc_wait_tko -> token
  %x, %t1 = load_ptr_tko weak %p token=%t : tile<ptr<f32>> -> tile<f32>, token
  %row = reshape %x : tile<f32> -> tile<1x1xf32>
  %part = broadcast %row : tile<1x1xf32> -> tile<2x4xf32>
  %zero = constant <f32: 0.0> : tile<4x8xf32>
  %whole = insert %part, %zero[%i, %i] : tile<2x4xf32>, tile<4x8xf32>
  %t2 = memory_fence_alias_tko %t1
  %rounded = ftof %x rounding<nearest_away> : tile<f32> -> tile<tf32>
  %power = fpowi %x, %i : tile<f32>, tile<i32>
  %t3 = store_ptr_tko weak %p, %x token=%t2 : tile<ptr<f32>>, tile<f32> -> token
  %t4 = gdc_launch_dependents_tko token = %t3 -> token
  %t5 = print_tko "%f", %whole token=%t4 : tile<4x8xf32> -> token
  return
}
"""

SCALED = """
entry @scaled() {
  %e = constant <f8E4M3FN: 1.0> : tile<128x64xf8E4M3FN>
  %f = constant <f8E4M3FN: 2.0> : tile<64x128xf8E4M3FN>
  %se = constant <f8E8M0FNU: 1.0> : tile<128x2xf8E8M0FNU>
  %sf = constant <f8E8M0FNU: 2.0> : tile<2x128xf8E8M0FNU>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %g = mmaf_scaled %e, %f, %zero, %se, %sf
    : tile<128x64xf8E4M3FN>, tile<64x128xf8E4M3FN>, tile<128x128xf32>, tile<128x2xf8E8M0FNU>,
      tile<2x128xf8E8M0FNU>
  return
}
"""


class Kernel(NamedTuple):
    """A kernel.

    Attributes:
        since: The version that has everything in it.
        chip: An architecture that has everything in it.
        body: What stands in the module.
    """

    since: Version
    chip: str
    body: str

    @property
    def text(self) -> str:
        """The text of a module."""
        return f"cuda_tile.module @kernels {{\n{self.body}}}\n"


KERNELS = {
    "integers": Kernel(V13_1, "sm_90", INTEGERS),
    "floats": Kernel(V13_1, "sm_90", FLOATS),
    "shapes": Kernel(V13_1, "sm_90", SHAPES),
    "control": Kernel(V13_1, "sm_90", CONTROL),
    "pointers": Kernel(V13_1, "sm_90", POINTERS),
    "views": Kernel(V13_1, "sm_90", VIEWS),
    "since_2": Kernel(V13_2, "sm_100", SINCE_2),
    "since_3": Kernel(V13_3, "sm_100", SINCE_3),
    "since_4": Kernel(V13_4, "sm_100", SINCE_4),
    "scaled": Kernel(V13_3, "sm_100", SCALED),
}
"""Every kernel by its name."""
