// MLIR's text comes out as mlir-opt prints it, in the generic form, too, and with the locations of
// the source.
//
// RUN: xtile-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: xtile-opt %s --print-debuginfo | filecheck %s --check-prefix=DEBUG
gpu.module @kernels {
  gpu.func @add(%x: memref<4xi32>) kernel {
    %i = gpu.thread_id x
    %a = memref.load %x[%i] : memref<4xi32>
    %b = arith.addi %a, %a overflow<nsw> : i32
    memref.store %b, %x[%i] : memref<4xi32>
    gpu.return
  }
}

// GENERIC:      %b = "arith.addi"(%a, %a) <{overflowFlags = #arith.overflow<nsw>}> : (i32, i32) -> i32
// GENERIC:    }) {gpu.kernel, sym_name = "add", workgroup_attributions = 0 : i64} : () -> ()

// DEBUG:      %b = arith.addi %a, %a overflow<nsw> : i32 loc(#[[PLACE:.*]])
// DEBUG:      #[[PLACE]] = loc("{{.*}}text_forms.mlir":10:10)
