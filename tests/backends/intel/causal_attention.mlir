#q = #xegpu.layout<sg_layout = [8, 1], sg_data = [8, 64]>
#k = #xegpu.layout<sg_layout = [8, 1], sg_data = [32, 64]>
#kt = #xegpu.layout<sg_layout = [1, 8], sg_data = [64, 32]>
#s = #xegpu.layout<sg_layout = [8, 1], sg_data = [8, 32]>
#o = #xegpu.layout<sg_layout = [8, 1], sg_data = [8, 64]>
#v = #xegpu.layout<sg_layout = [8, 1], sg_data = [32, 64]>
#row = #xegpu.slice<#s, dims = [1]>
#orow = #xegpu.slice<#o, dims = [1]>
gpu.module @kernels {
  gpu.func @attention(%Q: memref<1024x64xf16>, %K: memref<1024x64xf16>, %V: memref<1024x64xf16>,
                      %O: memref<1024x64xf32>, %scale: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<64x32xf32>
    %none = arith.constant dense<0xFF800000> : vector<64x32xf32>
    %acc0 = arith.constant dense<0.0> : vector<64x64xf32>
    %m0 = arith.constant dense<0xFF800000> : vector<64xf32>
    %l0 = arith.constant dense<0.0> : vector<64xf32>
    %i = gpu.block_id x
    %first = arith.muli %i, %c64 : index
    %end = arith.addi %first, %c64 : index
    %qd = xegpu.create_nd_tdesc %Q : memref<1024x64xf16> -> !xegpu.tensor_desc<64x64xf16, #q>
    %kd = xegpu.create_nd_tdesc %K : memref<1024x64xf16> -> !xegpu.tensor_desc<32x64xf16, #k>
    %vd = xegpu.create_nd_tdesc %V : memref<1024x64xf16> -> !xegpu.tensor_desc<32x64xf16, #v>
    %od = xegpu.create_nd_tdesc %O : memref<1024x64xf32> -> !xegpu.tensor_desc<64x64xf32, #o>
    %q = xegpu.load_nd %qd[%first, %c0] : !xegpu.tensor_desc<64x64xf16, #q> -> vector<64x64xf16>
    %rows = vector.step : vector<64xindex>
    %firsts = vector.broadcast %first : index to vector<64xindex>
    %row = arith.addi %rows, %firsts : vector<64xindex>
    %rowc = vector.shape_cast %row : vector<64xindex> to vector<64x1xindex>
    %rowb = vector.broadcast %rowc : vector<64x1xindex> to vector<64x32xindex>
    %columns = vector.step : vector<32xindex>
    %scales = vector.broadcast %scale : f32 to vector<64x32xf32>
    %r:3 = scf.for %j = %c0 to %end step %c32 iter_args(%m = %m0, %l = %l0, %acc = %acc0)
        -> (vector<64xf32>, vector<64xf32>, vector<64x64xf32>) {
      %k = xegpu.load_nd %kd[%j, %c0] : !xegpu.tensor_desc<32x64xf16, #k> -> vector<32x64xf16>
      %kt = vector.transpose %k, [1, 0] : vector<32x64xf16> to vector<64x32xf16>
      %dot = xegpu.dpas %q, %kt, %zero {layout_a = #q, layout_b = #kt, layout_cd = #s}
          : vector<64x64xf16>, vector<64x32xf16>, vector<64x32xf32> -> vector<64x32xf32>
      %scaled = arith.mulf %dot, %scales : vector<64x32xf32>
      %js = vector.broadcast %j : index to vector<32xindex>
      %column = arith.addi %columns, %js : vector<32xindex>
      %columnb = vector.broadcast %column : vector<32xindex> to vector<64x32xindex>
      %seen = arith.cmpi sge, %rowb, %columnb : vector<64x32xindex>
      %scores = arith.select %seen, %scaled, %none : vector<64x32xi1>, vector<64x32xf32>
      %largest = vector.multi_reduction <maximumf>, %scores, %m [1] : vector<64x32xf32> to vector<64xf32>
      %mc = vector.shape_cast %largest : vector<64xf32> to vector<64x1xf32>
      %mb = vector.broadcast %mc : vector<64x1xf32> to vector<64x32xf32>
      %d = arith.subf %scores, %mb : vector<64x32xf32>
      %p = math.exp2 %d : vector<64x32xf32>
      %dm = arith.subf %m, %largest : vector<64xf32>
      %alpha = math.exp2 %dm : vector<64xf32>
      %la = arith.mulf %l, %alpha : vector<64xf32>
      %total = vector.multi_reduction <add>, %p, %la [1] : vector<64x32xf32> to vector<64xf32>
      %ac = vector.shape_cast %alpha : vector<64xf32> to vector<64x1xf32>
      %ab = vector.broadcast %ac : vector<64x1xf32> to vector<64x64xf32>
      %old = arith.mulf %acc, %ab : vector<64x64xf32>
      %ph = arith.truncf %p : vector<64x32xf32> to vector<64x32xf16>
      %v = xegpu.load_nd %vd[%j, %c0] : !xegpu.tensor_desc<32x64xf16, #v> -> vector<32x64xf16>
      %new = xegpu.dpas %ph, %v, %old {layout_a = #s, layout_b = #v, layout_cd = #o}
          : vector<64x32xf16>, vector<32x64xf16>, vector<64x64xf32> -> vector<64x64xf32>
      scf.yield %largest, %total, %new : vector<64xf32>, vector<64xf32>, vector<64x64xf32>
    }
    %lc = vector.shape_cast %r#1 : vector<64xf32> to vector<64x1xf32>
    %lb = vector.broadcast %lc : vector<64x1xf32> to vector<64x64xf32>
    %out = arith.divf %r#2, %lb : vector<64x64xf32>
    xegpu.store_nd %out, %od[%first, %c0] : vector<64x64xf32>, !xegpu.tensor_desc<64x64xf32, #o>
    gpu.return
  }
}
