// Complex numbers become their two parts. Memory still holds complex numbers; (a + bi)(c + di)
// takes four products.
//
// RUN: xtile-opt %s -p core-split-complex | filecheck %s
gpu.module @kernels {
  gpu.func @rotate(%z: memref<64xcomplex<f32>>, %w: complex<f32>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %z[%i] : memref<64xcomplex<f32>>
    %b = complex.mul %a, %w : complex<f32>
    memref.store %b, %z[%i] : memref<64xcomplex<f32>>
    gpu.return
  }
}

// CHECK:      %[[RE:.*]] = complex.re %a
// CHECK:      %[[IM:.*]] = complex.im %a
// CHECK-NOT:  complex.mul
// CHECK:      %[[AC:.*]] = arith.mulf %[[RE]], %w_re
// CHECK:      %[[BD:.*]] = arith.mulf %[[IM]], %w_im
// CHECK:      %b_re = arith.subf %[[AC]], %[[BD]]
// CHECK:      %b_im = arith.addf
// CHECK:      %[[B:.*]] = complex.create %b_re, %b_im
// CHECK-NEXT: memref.store %[[B]], %z[%i]
