// C = max(A B + bias, 0), where the bias is the same for all rows.
//
// The kernel is at work-group level: a work-group of 8 subgroups computes the whole result, and the
// layouts say which part each subgroup has.
//
//   xtile run examples/xegpu/rectified_product.mlir

#a = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32], inst_data = [8, 16]>
#b = #xegpu.layout<sg_layout = [4, 2], sg_data = [32, 32], inst_data = [16, 16]>
#c = #xegpu.layout<sg_layout = [4, 2], sg_data = [16, 32], inst_data = [8, 16]>

module @rectified_product attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rectified_product(%A: memref<64x128xbf16>, %B: memref<128x64xbf16>,
                                %bias: memref<64x64xf32>, %C: memref<64x64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %depth = arith.constant 128 : index
      %a = xegpu.create_nd_tdesc %A : memref<64x128xbf16> -> !xegpu.tensor_desc<64x32xbf16, #a>
      %b = xegpu.create_nd_tdesc %B : memref<128x64xbf16> -> !xegpu.tensor_desc<32x64xbf16, #b>
      %d = xegpu.create_nd_tdesc %bias : memref<64x64xf32> -> !xegpu.tensor_desc<64x64xf32, #c>
      %c = xegpu.create_nd_tdesc %C : memref<64x64xf32> -> !xegpu.tensor_desc<64x64xf32, #c>
      %start = xegpu.load_nd %d[%c0, %c0] {layout = #c} : !xegpu.tensor_desc<64x64xf32, #c> -> vector<64x64xf32>
      %sum = scf.for %k = %c0 to %depth step %c32 iter_args(%partial = %start) -> (vector<64x64xf32>) {
        %a_tile = xegpu.load_nd %a[%c0, %k] {layout = #a} : !xegpu.tensor_desc<64x32xbf16, #a> -> vector<64x32xbf16>
        %b_tile = xegpu.load_nd %b[%k, %c0] {layout = #b} : !xegpu.tensor_desc<32x64xbf16, #b> -> vector<32x64xbf16>
        %next = xegpu.dpas %a_tile, %b_tile, %partial {layout_a = #a, layout_b = #b, layout_cd = #c} : vector<64x32xbf16>, vector<32x64xbf16>, vector<64x64xf32> -> vector<64x64xf32>
        scf.yield %next : vector<64x64xf32>
      }
      %zero = arith.constant {layout_result_0 = #c} dense<0.0> : vector<64x64xf32>
      %rectified = arith.maximumf %sum, %zero {layout_result_0 = #c} : vector<64x64xf32>
      xegpu.store_nd %rectified, %c[%c0, %c0] {layout = #c} : vector<64x64xf32>, !xegpu.tensor_desc<64x64xf32, #c>
      gpu.return
    }
  }

  func.func private @fillResource1DRandomBF16(memref<*xbf16>, f32, f32, i1)
  func.func private @gemmBF16BF16F32(memref<*xbf16>, memref<*xbf16>, memref<*xf32>)
  func.func private @printAllcloseF32(memref<*xf32>, memref<*xf32>)

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %size = arith.constant 64 : index
    %work_items = arith.constant 128 : index
    %least = arith.constant -1.0 : f32
    %largest = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %step = arith.constant 0.125 : f32
    %is_integer = arith.constant false

    %A = gpu.alloc host_shared () : memref<64x128xbf16>
    %B = gpu.alloc host_shared () : memref<128x64xbf16>
    %bias = gpu.alloc host_shared () : memref<64x64xf32>
    %C = gpu.alloc host_shared () : memref<64x64xf32>
    %expected = memref.alloc() : memref<64x64xf32>
    %any_A = memref.cast %A : memref<64x128xbf16> to memref<*xbf16>
    %any_B = memref.cast %B : memref<128x64xbf16> to memref<*xbf16>
    %any_C = memref.cast %C : memref<64x64xf32> to memref<*xf32>
    %any_expected = memref.cast %expected : memref<64x64xf32> to memref<*xf32>
    call @fillResource1DRandomBF16(%any_A, %least, %largest, %is_integer) : (memref<*xbf16>, f32, f32, i1) -> ()
    call @fillResource1DRandomBF16(%any_B, %least, %largest, %is_integer) : (memref<*xbf16>, f32, f32, i1) -> ()
    scf.for %i = %c0 to %size step %c1 {
      scf.for %j = %c0 to %size step %c1 {
        %j_integer = arith.index_cast %j : index to i32
        %j_float = arith.sitofp %j_integer : i32 to f32
        %value = arith.mulf %j_float, %step : f32
        memref.store %value, %bias[%i, %j] : memref<64x64xf32>
        memref.store %value, %expected[%i, %j] : memref<64x64xf32>
      }
    }

    gpu.launch_func @kernels::@rectified_product blocks in (%c1, %c1, %c1) threads in (%work_items, %c1, %c1)
        args(%A : memref<64x128xbf16>, %B : memref<128x64xbf16>, %bias : memref<64x64xf32>, %C : memref<64x64xf32>)
    gpu.wait

    call @gemmBF16BF16F32(%any_A, %any_B, %any_expected) : (memref<*xbf16>, memref<*xbf16>, memref<*xf32>) -> ()
    scf.for %i = %c0 to %size step %c1 {
      scf.for %j = %c0 to %size step %c1 {
        %value = memref.load %expected[%i, %j] : memref<64x64xf32>
        %rectified = arith.maximumf %value, %zero : f32
        memref.store %rectified, %expected[%i, %j] : memref<64x64xf32>
      }
    }
    call @printAllcloseF32(%any_C, %any_expected) : (memref<*xf32>, memref<*xf32>) -> ()

    gpu.dealloc %A : memref<64x128xbf16>
    gpu.dealloc %B : memref<128x64xbf16>
    gpu.dealloc %bias : memref<64x64xf32>
    gpu.dealloc %C : memref<64x64xf32>
    memref.dealloc %expected : memref<64x64xf32>
    return
  }
}
