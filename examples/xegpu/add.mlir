// C = A + B, element by element, for sizes that no block divides.
//
// The kernel is at lane level: each of the 16 work-items of a subgroup holds 8 elements of a block
// of 8 x 16, one column. What a block has beyond the edges is not written.
//
//   xtile run examples/xegpu/add.mlir

module @add attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add(%A: memref<20x40xf32>, %B: memref<20x40xf32>, %C: memref<20x40xf32>) kernel {
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %block_row = gpu.block_id y
      %block_column = gpu.block_id x
      %row = arith.muli %block_row, %c8 : index
      %column = arith.muli %block_column, %c16 : index
      %a = xegpu.create_nd_tdesc %A : memref<20x40xf32> -> !xegpu.tensor_desc<8x16xf32>
      %b = xegpu.create_nd_tdesc %B : memref<20x40xf32> -> !xegpu.tensor_desc<8x16xf32>
      %c = xegpu.create_nd_tdesc %C : memref<20x40xf32> -> !xegpu.tensor_desc<8x16xf32>
      %a_column = xegpu.load_nd %a[%row, %column] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
      %b_column = xegpu.load_nd %b[%row, %column] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
      %sum = arith.addf %a_column, %b_column : vector<8xf32>
      xegpu.store_nd %sum, %c[%row, %column] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
      gpu.return
    }
  }

  func.func private @printMemrefF32(memref<*xf32>)
  func.func private @verifyMemRefF32(memref<*xf32>, memref<*xf32>) -> i64
  func.func private @printI64(i64)
  func.func private @printNewline()

  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c16 = arith.constant 16 : index
    %rows = arith.constant 20 : index
    %columns = arith.constant 40 : index
    %A = gpu.alloc host_shared () : memref<20x40xf32>
    %B = gpu.alloc host_shared () : memref<20x40xf32>
    %C = gpu.alloc host_shared () : memref<20x40xf32>
    %expected = memref.alloc() : memref<20x40xf32>
    scf.for %i = %c0 to %rows step %c1 {
      scf.for %j = %c0 to %columns step %c1 {
        %i_integer = arith.index_cast %i : index to i32
        %j_integer = arith.index_cast %j : index to i32
        %a = arith.sitofp %i_integer : i32 to f32
        %b = arith.sitofp %j_integer : i32 to f32
        %sum = arith.addf %a, %b : f32
        memref.store %a, %A[%i, %j] : memref<20x40xf32>
        memref.store %b, %B[%i, %j] : memref<20x40xf32>
        memref.store %sum, %expected[%i, %j] : memref<20x40xf32>
      }
    }

    gpu.launch_func @kernels::@add blocks in (%c3, %c3, %c1) threads in (%c16, %c1, %c1)
        args(%A : memref<20x40xf32>, %B : memref<20x40xf32>, %C : memref<20x40xf32>)
    gpu.wait

    %corner = memref.subview %C[16, 34] [4, 6] [1, 1] : memref<20x40xf32> to memref<4x6xf32, strided<[40, 1], offset: 674>>
    %any_corner = memref.cast %corner : memref<4x6xf32, strided<[40, 1], offset: 674>> to memref<*xf32>
    call @printMemrefF32(%any_corner) : (memref<*xf32>) -> ()
    %any_C = memref.cast %C : memref<20x40xf32> to memref<*xf32>
    %any_expected = memref.cast %expected : memref<20x40xf32> to memref<*xf32>
    %errors = call @verifyMemRefF32(%any_C, %any_expected) : (memref<*xf32>, memref<*xf32>) -> i64
    call @printI64(%errors) : (i64) -> ()
    call @printNewline() : () -> ()

    gpu.dealloc %A : memref<20x40xf32>
    gpu.dealloc %B : memref<20x40xf32>
    gpu.dealloc %C : memref<20x40xf32>
    memref.dealloc %expected : memref<20x40xf32>
    return
  }
}
