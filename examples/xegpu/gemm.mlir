// C = A B with random A and B, compared with the host's own product.
//
// The kernel is at subgroup level: each subgroup of 16 work-items computes a block of 8 x 16.
//
//   xtile run examples/xegpu/gemm.mlir

module @gemm attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%A: memref<128x96xf16>, %B: memref<96x64xf16>, %C: memref<128x64xf32>) kernel {
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %depth = arith.constant 96 : index
      %block_row = gpu.block_id x
      %block_column = gpu.block_id y
      %row = arith.muli %block_row, %c8 : index
      %column = arith.muli %block_column, %c16 : index

      %a = xegpu.create_nd_tdesc %A : memref<128x96xf16> -> !xegpu.tensor_desc<8x16xf16>
      %b = xegpu.create_nd_tdesc %B : memref<96x64xf16> -> !xegpu.tensor_desc<16x16xf16>
      %c = xegpu.create_nd_tdesc %C : memref<128x64xf32> -> !xegpu.tensor_desc<8x16xf32>
      %zero = arith.constant dense<0.0> : vector<8x16xf32>
      %sum = scf.for %k = %c0 to %depth step %c16 iter_args(%partial = %zero) -> (vector<8x16xf32>) {
        %a_block = xegpu.load_nd %a[%row, %k] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
        %b_block = xegpu.load_nd %b[%k, %column] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
        %next = xegpu.dpas %a_block, %b_block, %partial : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
        scf.yield %next : vector<8x16xf32>
      }
      xegpu.store_nd %sum, %c[%row, %column] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
      gpu.return
    }
  }

  func.func private @fillResource1DRandomF16(memref<*xf16>, f32, f32, i1)
  func.func private @gemmF16F16F32(memref<*xf16>, memref<*xf16>, memref<*xf32>)
  func.func private @printAllcloseF32(memref<*xf32>, memref<*xf32>)
  func.func private @printMaxErrorF32(memref<*xf32>, memref<*xf32>)

  func.func @main() {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %least = arith.constant -1.0 : f32
    %largest = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %is_integer = arith.constant false

    %A = memref.alloc() : memref<128x96xf16>
    %B = memref.alloc() : memref<96x64xf16>
    %any_A = memref.cast %A : memref<128x96xf16> to memref<*xf16>
    %any_B = memref.cast %B : memref<96x64xf16> to memref<*xf16>
    call @fillResource1DRandomF16(%any_A, %least, %largest, %is_integer) : (memref<*xf16>, f32, f32, i1) -> ()
    call @fillResource1DRandomF16(%any_B, %least, %largest, %is_integer) : (memref<*xf16>, f32, f32, i1) -> ()

    %device_A = gpu.alloc () : memref<128x96xf16>
    %device_B = gpu.alloc () : memref<96x64xf16>
    %device_C = gpu.alloc () : memref<128x64xf32>
    gpu.memcpy %device_A, %A : memref<128x96xf16>, memref<128x96xf16>
    gpu.memcpy %device_B, %B : memref<96x64xf16>, memref<96x64xf16>
    gpu.launch_func @kernels::@gemm blocks in (%c16, %c4, %c1) threads in (%c16, %c1, %c1)
        args(%device_A : memref<128x96xf16>, %device_B : memref<96x64xf16>, %device_C : memref<128x64xf32>)
    gpu.wait
    %C = memref.alloc() : memref<128x64xf32>
    gpu.memcpy %C, %device_C : memref<128x64xf32>, memref<128x64xf32>

    %expected = memref.alloc() : memref<128x64xf32>
    gpu.memset %expected, %zero : memref<128x64xf32>, f32
    %any_C = memref.cast %C : memref<128x64xf32> to memref<*xf32>
    %any_expected = memref.cast %expected : memref<128x64xf32> to memref<*xf32>
    call @gemmF16F16F32(%any_A, %any_B, %any_expected) : (memref<*xf16>, memref<*xf16>, memref<*xf32>) -> ()
    call @printAllcloseF32(%any_C, %any_expected) : (memref<*xf32>, memref<*xf32>) -> ()
    call @printMaxErrorF32(%any_C, %any_expected) : (memref<*xf32>, memref<*xf32>) -> ()

    gpu.dealloc %device_A : memref<128x96xf16>
    gpu.dealloc %device_B : memref<96x64xf16>
    gpu.dealloc %device_C : memref<128x64xf32>
    memref.dealloc %A : memref<128x96xf16>
    memref.dealloc %B : memref<96x64xf16>
    memref.dealloc %C : memref<128x64xf32>
    memref.dealloc %expected : memref<128x64xf32>
    return
  }
}
