// What an operation is, its loops, maps and body say: this generic one is a product of A and the transpose
// of B, this reduction has no counterpart that is collective. So its rows are points, which the work-items
// take in turn, with a loop inside.
//
// RUN: xtile-opt %s -p linalg-to-core | filecheck %s
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>
gpu.module @kernels {
  gpu.func @rows(%A: memref<?x?xf32>, %B: memref<?x?xf32>, %C: memref<?x?xf32>, %max: memref<?xf32>) kernel {
    linalg.generic {indexing_maps = [#a, #b, #c],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : memref<?x?xf32>, memref<?x?xf32>) outs(%C : memref<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.reduce { arith.maximumf } ins(%C : memref<?x?xf32>) outs(%max : memref<?xf32>)
        dimensions = [1]
    gpu.return
  }
}

// CHECK:      core.level = "block"
// CHECK:      core.gemm transpose_b %{{.*}}, %A, %B, %{{.*}}, %C
// CHECK:      core.parallel {
// CHECK:      scf.for %[[ROW:.*]] = %
// CHECK:      memref.load %max[%[[ROW]]]
// CHECK:      scf.for %[[COLUMN:.*]] = %c0 to
// CHECK:      memref.load %C[%[[ROW]], %[[COLUMN]]]
// CHECK:      arith.maximumf
// CHECK:      memref.store %{{.*}}, %max[%[[ROW]]]
