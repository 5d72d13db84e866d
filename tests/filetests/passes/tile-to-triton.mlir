// Any number of rows in tiles of four. Offsets have 64 bits where nothing proves that 32 are enough,
// and a mask leaves out what is behind the last row.
//
// RUN: xtile-opt %s -p tile-to-triton | filecheck %s
gpu.module @kernels {
  gpu.func @soft(%A: memref<?x64xf32>) kernel
      attributes {core.level = "tile", known_block_size = array<i32: 1, 1, 1>} {
    %row = gpu.block_id x
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %zeros = arith.constant dense<0.0> : vector<4xf32>
    %first = arith.muli %row, %c4 : index
    %a = vector.transfer_read %A[%first, %c0], %zero {in_bounds = [false, true]}
        : memref<?x64xf32>, vector<4x64xf32>
    %b = math.exp %a : vector<4x64xf32>
    %sums = vector.multi_reduction <add>, %b, %zeros [1] : vector<4x64xf32> to vector<4xf32>
    %column = vector.shape_cast %sums : vector<4xf32> to vector<4x1xf32>
    %wide = vector.broadcast %column : vector<4x1xf32> to vector<4x64xf32>
    %c = arith.divf %b, %wide : vector<4x64xf32>
    vector.transfer_write %c, %A[%first, %c0] {in_bounds = [false, true]}
        : vector<4x64xf32>, memref<?x64xf32>
    gpu.return
  }
}

// CHECK:      tt.func public @soft(%A: !tt.ptr<f32>, %A_size0: i64)
// CHECK:        %[[ROW:.*]] = tt.get_program_id x : i32
// CHECK:        %row = arith.extsi %[[ROW]] : i32 to i64
// CHECK:        %[[INSIDE:.*]] = arith.cmpi slt
// CHECK:        %a = tt.load %{{.*}}, %[[MASK:.*]], %{{.*}} : tensor<4x64x!tt.ptr<f32>>
// CHECK:        %b = math.exp %a : tensor<4x64xf32>
// CHECK:        "tt.reduce"(%b) <{axis = 1 : i32}>
// CHECK:        tt.expand_dims
// CHECK:        %c = tt.precise_divf
// CHECK:        tt.store %{{.*}}, %c, %{{.*}} : tensor<4x64x!tt.ptr<f32>>
